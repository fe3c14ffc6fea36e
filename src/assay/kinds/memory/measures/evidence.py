"""Evidence: which of the nodes that prove an answer are among those a memory returns.

What is evidence is read from the label "relevance", as rankings read it, from grade 1 on: gold, rules or
people may say so. What "the first k" means for a system that returns paths is named in the measure:
over="paths" is the nodes of all paths, path after path; over="best_path" the steps of the first;
over="hits" the ranking. Every node counts once. A response without paths is read hit by hit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from assay.core.block import Block, View
from assay.core.errors import UsageError
from assay.core.records import Response
from assay.kinds.memory.walk import Over, returned_nodes, walk_expectations
from assay.measures.declaration import Declaration, DeclaredMeasure

FIRST_ADDRESS = "assay.measures.evidence"

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
HITS = frozenset({"hits"})


evidence_declaration = partial(Declaration, at="rank", blank=HITS)


@dataclass(frozen=True)
class EvidenceMeasure(DeclaredMeasure, ABC):
    """A measure of the evidence among the nodes returned: from 0 to 1, 0 when nothing came back."""

    least: ClassVar[float] = 1.0  # where no label reaches it, there is no evidence to find
    over: Over = "paths"
    cutoff: int | None = None

    def __post_init__(self) -> None:
        if self.cutoff is not None and self.cutoff < 1:
            raise UsageError(f"{self.family}: cutoff is {self.cutoff}, and must be at least 1.")

    @property
    def needs(self) -> frozenset[str]:
        """Over paths it says itself what is not judged: the first k hits are not the nodes it counts."""
        labels = frozenset({"labels"})
        return HITS | labels if self.over == "hits" else labels

    def applies(self, block: Block) -> Bools:
        if block.lacks(HITS):
            return np.zeros(len(block.items), dtype=bool)
        # an unprimed twin is there to be compared with, and expects nothing of its own
        primed = np.array([each.unprimed_of is None for each in walk_expectations(block.items)], dtype=bool)
        applies: Bools = block.rankable & primed & (block.highest_in(View()) >= self.least)
        return applies

    def values(self, block: Block) -> Floats:
        return self.of(self._found(block), block.gains.relevant(1), block)

    @abstractmethod
    def of(self, found: Floats, there: Ints, block: Block) -> Floats:
        """The values, from how much evidence was found and how much there is. NaN: it is not known."""

    def _found(self, block: Block) -> Floats:
        if self.over == "hits":
            found: Ints = np.count_nonzero(block.gains.top(self.cutoff) >= 1, axis=1)
            return found.astype(np.float64)
        grades: dict[str, dict[str, float]] = {}
        for item_id, doc_id, grade in block.relevance.iter_rows():
            if grade >= 0:  # a negative grade is no judgment
                grades.setdefault(item_id, {})[doc_id] = grade
        pairs = zip(block.items, block.responses, strict=True)
        return np.array(
            [self._count(response, grades.get(item.item_id, {}), block) for item, response in pairs],
            dtype=float,
        )

    def _count(self, response: Response | None, grades: Mapping[str, float], block: Block) -> float:
        if response is None:
            return np.nan
        units = block.corpus.units
        returned = (
            unit for node in returned_nodes(response, self.over) for unit in units.get(node) or (node,)
        )
        counted = list(dict.fromkeys(returned))[: self.cutoff]
        if block.labels.world("relevance") == "open" and any(node not in grades for node in counted):
            return np.nan
        return sum(grades.get(node, 0) >= 1 for node in counted)


@dataclass(frozen=True)
class EvidenceHit(EvidenceMeasure):
    """Evidence hit: 1 where at least as many pieces of evidence are returned as the item asks for, else 0.

    The item's gold says how many in `minimum_evidence_matches`, 1 where it says nothing; where people struck
    out so much that fewer are left, all that are left. With 1 it is `Success` of the nodes counted, with as
    many as there are `Complete`. 0 when nothing is evidence.

    Thorne et al., "FEVER", NAACL 2018, for evidence that must be complete; Yang et al., "HotpotQA", EMNLP
    2018, for supporting facts.
    """

    declares: ClassVar[Declaration] = evidence_declaration("EvidenceHit", binary=True, pooled=False)

    def of(self, found: Floats, there: Ints, block: Block) -> Floats:
        asked = np.array(
            [each.minimum_evidence_matches for each in walk_expectations(block.items)], dtype=np.int64
        )
        met = (found >= np.minimum(asked, there)) & (there > 0)
        return np.where(np.isnan(found), np.nan, met.astype(float))


@dataclass(frozen=True)
class EvidenceRecall(EvidenceMeasure):
    """Evidence recall: the fraction of all evidence that is among the nodes returned.

    Over "hits" it is `R`. 0 when nothing is evidence.

    van Rijsbergen, "Information Retrieval", 2nd ed., chapter 7, 1979.
    """

    declares: ClassVar[Declaration] = evidence_declaration("EvidenceRecall")

    def of(self, found: Floats, there: Ints, block: Block) -> Floats:
        return found / np.maximum(there, 1)
