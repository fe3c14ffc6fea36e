"""Ranking measures. Each is a few lines of NumPy over the gain matrix.

They equal the measures of trec_eval on the whole list, or on its first `cutoff` ranks. A document is relevant
if its grade is at least `rel`. An item for which nothing is relevant scores 0. If no label of the golden set
reaches `rel`, the measure applies to no item. `of` scores a gain matrix, `values` a block.

A measure reads passages, or with view="document" the documents of the passages: the first passage of a
document represents it. `label` names the label that is read, by default "relevance". "review|relevance" reads
people's marks, and the label "relevance" for all that people did not mark.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from assay.core.block import Block, Level, View
from assay.core.errors import UsageError
from assay.core.gains import GainMatrix, Ints
from assay.measures.declaration import Declaration, DeclaredMeasure
from assay.measures.parse import measure_name

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
POSITIVE = float(np.nextafter(0, 1))  # the lowest grade with a gain


ranking_declaration = partial(Declaration, needs=frozenset({"hits", "labels"}), at="rank")


@dataclass(frozen=True)
class RankingMeasure(DeclaredMeasure, ABC):
    """A measure that reads only the gain matrix: higher is better, from 0 to 1, 0 if nothing came back."""

    view: Level = field(default="passage", kw_only=True)
    label: str = field(default="relevance", kw_only=True)

    def __post_init__(self) -> None:
        for name in ("cutoff", "rel"):
            value = getattr(self, name, None)
            if value is not None and value < 1:
                raise UsageError(f"{self.family}: {name} is {value}, and must be at least 1.")

    @property
    def seen_in(self) -> View:
        """The view and the label that the measure reads."""
        return View(self.view, self.label)

    @property
    def least(self) -> float | None:
        """The lowest grade that counts as relevant. None: the measure applies whatever the grades are."""
        return float(getattr(self, "rel", POSITIVE))

    def applies(self, block: Block) -> Bools:
        reached = self.least is None or block.highest_in(self.seen_in) >= self.least
        return block.rankable_in(self.seen_in) & reached

    def values(self, block: Block) -> Floats:
        return self.of(block.gains_in(self.seen_in))

    @abstractmethod
    def of(self, gains: GainMatrix) -> Floats: ...


@dataclass(frozen=True)
class NDCG(RankingMeasure):
    """Normalised discounted cumulative gain: DCG divided by the DCG of the ideal ranking.

    DCG = Σ gain(grade_i) / log2(i + 1) over ranks i = 1 … cutoff. The ideal ranking holds every label, the
    best first, down to the same cut-off. With dcg="log2" (as in trec_eval) the gain is the grade; with
    dcg="exp-log2" it is 2^grade − 1. Range 0 to 1; 0 if nothing is relevant.

    Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", TOIS 20(4), 2002; the
    exponential gain is from Burges et al., "Learning to rank using gradient descent", ICML 2005.
    """

    declares: ClassVar[Declaration] = ranking_declaration("nDCG")
    cutoff: int | None = None
    dcg: Literal["log2", "exp-log2"] = "log2"

    def of(self, gains: GainMatrix) -> Floats:
        return _ratio(self._dcg(gains.top(self.cutoff)), self._dcg(gains.ideal[:, : self.cutoff]))

    def _dcg(self, grades: Floats) -> Floats:
        gain = np.nan_to_num(grades)
        if self.dcg == "exp-log2":
            gain = np.exp2(gain) - 1
        total: Floats = gain @ (1 / np.log2(np.arange(2, gain.shape[1] + 2)))
        return total


@dataclass(frozen=True)
class RR(RankingMeasure):
    """Reciprocal rank: 1 / the rank of the first relevant document, 0 if there is none within the cut-off.

    Range 0 to 1; 0 if nothing is relevant. The cut-off is always printed, `RR@inf` if there is none.

    Kantor and Voorhees, "The TREC-5 confusion track", Information Retrieval 2, 2000.
    """

    declares: ClassVar[Declaration] = ranking_declaration("RR", pooled=False)
    cutoff: int | None = None
    rel: int = 1

    @property
    def name(self) -> str:
        return measure_name(self, uncut="@inf")

    def of(self, gains: GainMatrix) -> Floats:
        hit = gains.top(self.cutoff) >= self.rel
        if not hit.size:
            return np.zeros(len(gains))
        return np.where(hit.any(axis=1), 1 / (hit.argmax(axis=1) + 1), 0.0)


@dataclass(frozen=True)
class P(RankingMeasure):
    """Precision: the share of the ranks within the cut-off that is relevant.

    With a cut-off, the number of relevant documents is divided by the cut-off, even if fewer documents came
    back. Without a cut-off, it is divided by the number of documents that came back. Range 0 to 1; 0 if
    nothing is relevant.

    van Rijsbergen, "Information Retrieval", 2nd ed., chapter 7, 1979.
    """

    declares: ClassVar[Declaration] = ranking_declaration("P", pooled=False)
    cutoff: int | None = None
    rel: int = 1

    def of(self, gains: GainMatrix) -> Floats:
        found = _count(gains.top(self.cutoff) >= self.rel)
        return found / self.cutoff if self.cutoff else _ratio(found, gains.returned)


@dataclass(frozen=True)
class R(RankingMeasure):
    """Recall: the fraction of all relevant documents found within the cut-off.

    Range 0 to 1; 0 if nothing is relevant. (`Success` says whether any relevant document was found.)

    van Rijsbergen, "Information Retrieval", 2nd ed., chapter 7, 1979.
    """

    declares: ClassVar[Declaration] = ranking_declaration("R")
    cutoff: int | None = None
    rel: int = 1

    def of(self, gains: GainMatrix) -> Floats:
        return _ratio(_count(gains.top(self.cutoff) >= self.rel), gains.relevant(self.rel))


@dataclass(frozen=True)
class AP(RankingMeasure):
    """Average precision: the precision at each relevant document's rank, averaged over all relevant ones.

    Σ P@i over the ranks i ≤ cutoff that hold a relevant document, divided by the number of all relevant
    documents, even if the cut-off is smaller than this number. Range 0 to 1; 0 if nothing is relevant.

    Harman, "Evaluation issues in information retrieval", IPM 28(4), 1992.
    """

    declares: ClassVar[Declaration] = ranking_declaration("AP")
    cutoff: int | None = None
    rel: int = 1

    def of(self, gains: GainMatrix) -> Floats:
        hit = gains.top(self.cutoff) >= self.rel
        row, rank = np.nonzero(hit)
        count = _count(hit)
        before = np.cumsum(count) - count
        precision = (np.arange(1, len(row) + 1) - before[row]) / (rank + 1)
        return _ratio(np.bincount(row, weights=precision, minlength=len(gains)), gains.relevant(self.rel))


@dataclass(frozen=True)
class Complete(RankingMeasure):
    """Whether every relevant document is found within the cut-off: all-evidence recall of multi-hop sets.

    1 or 0. It is 0 if nothing is relevant, and if there are more relevant documents than ranks in the
    cut-off.

    As "both supporting passages in the first k" in Yang et al., "HotpotQA", EMNLP 2018, and its successors.
    """

    declares: ClassVar[Declaration] = ranking_declaration("Complete", binary=True)
    cutoff: int | None = None
    rel: int = 1

    def of(self, gains: GainMatrix) -> Floats:
        found, there = _count(gains.top(self.cutoff) >= self.rel), gains.relevant(self.rel)
        return np.where((found == there) & (there > 0), 1.0, 0.0)


@dataclass(frozen=True)
class Success(RankingMeasure):
    """Success: 1 if any relevant document is within the cut-off, else 0.

    Range 0 or 1; 0 if nothing is relevant. Also known as Hit@k.

    Craswell and Hawking, "Overview of the TREC-2004 web track", TREC 2004.
    """

    declares: ClassVar[Declaration] = ranking_declaration("Success", binary=True, pooled=False)
    cutoff: int | None = None
    rel: int = 1

    def of(self, gains: GainMatrix) -> Floats:
        return (gains.top(self.cutoff) >= self.rel).any(axis=1).astype(float)


@dataclass(frozen=True)
class Rprec(RankingMeasure):
    """R-precision: the precision at rank R, where R is how many documents are relevant.

    Range 0 to 1; 0 if nothing is relevant.

    Buckley and Voorhees, "Evaluating evaluation measure stability", SIGIR 2000.
    """

    declares: ClassVar[Declaration] = ranking_declaration("Rprec", at="")
    rel: int = 1

    def of(self, gains: GainMatrix) -> Floats:
        relevant = gains.relevant(self.rel)
        within = np.arange(gains.grades.shape[1]) < relevant[:, None]
        return _ratio(_count(within & (gains.grades >= self.rel)), relevant)


@dataclass(frozen=True)
class Judged(RankingMeasure):
    """Judged: the share of what was returned within the cut-off that has a judgment.

    The number of judged documents is divided by the cut-off, or by the number of documents that came back, if
    that is smaller. 0 if nothing came back. A negative label does not count as a judgment. Range 0 to 1; a
    higher value does not mean more relevance.

    Buckley and Voorhees, "Retrieval evaluation with incomplete information", SIGIR 2004, on why it matters.
    """

    # it needs no labels, because it counts hits without a label, also in an open world
    declares: ClassVar[Declaration] = ranking_declaration(
        "Judged", needs=frozenset({"hits", "judgments"}), pooled=False
    )
    least: ClassVar[float | None] = None
    cutoff: int | None = None

    def of(self, gains: GainMatrix) -> Floats:
        grades = gains.top(self.cutoff)
        return _ratio(_count(~np.isnan(grades)), np.minimum(gains.returned, grades.shape[1]))


def _count(hit: Bools) -> Ints:
    count: Ints = np.count_nonzero(hit, axis=1)
    return count


def _ratio(part: Ints | Floats, whole: Ints | Floats) -> Floats:
    """Divides `part` by `whole`. The result is 0 where `whole` is 0."""
    return np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)
