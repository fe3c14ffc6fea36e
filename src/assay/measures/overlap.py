"""Measures of two systems: how far their rankings of an item agree. Relevance plays no part.

The measure names the other system: `RBO(against='old')`. In a gate this is `RBO(new, old)`. There is no value
if the other system did not run in the same study.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.core.block import Block
from assay.core.errors import UsageError
from assay.measures.declaration import Declaration, DeclaredMeasure

# an empty ranking can be compared too
agreement_declaration = partial(
    Declaration, needs=frozenset({"hits"}), at="rank", absent=None, blank=frozenset()
)


@dataclass(frozen=True)
class _RankingSimilarity(DeclaredMeasure, ABC):
    """A measure from 0 to 1 of how alike two rankings are; higher is more alike.

    Two empty rankings have the value 1. An empty ranking and one with documents have the value 0.
    """

    against: str = field(kw_only=True)  # the other system
    cutoff: int | None = None

    def __post_init__(self) -> None:
        if self.cutoff is not None and self.cutoff < 1:
            raise UsageError(f"{self.family} is taken of the first 1 or more, not of {self.cutoff}.")

    def applies(self, block: Block) -> NDArray[np.bool_]:
        return np.ones(len(block.items), dtype=bool)

    def values(self, block: Block) -> NDArray[np.float64]:
        if block.beside is None:
            return np.full(len(block.items), np.nan)
        mine, theirs = (_rankings(each, self.cutoff) for each in (block, block.beside))
        pairs = ((mine.get(item, []), theirs.get(item, [])) for item in block.item_ids)
        return np.array([self.alike(*pair) if any(pair) else 1.0 for pair in pairs], dtype=np.float64)

    @abstractmethod
    def alike(self, one: Sequence[str], other: Sequence[str]) -> float:
        """Returns how far two rankings agree. At most one of them is empty."""


def _rankings(block: Block, cutoff: int | None) -> dict[str, list[str]]:
    """Returns the documents of each item, the best first."""
    best = block.ranking.sort("item", "score", "doc", descending=[False, True, True])
    listed = best.group_by("item", maintain_order=True).agg(pl.col("doc"))
    return {item: docs[:cutoff] for item, docs in listed.iter_rows()}


@dataclass(frozen=True)
class RBO(_RankingSimilarity):
    """Rank-biased overlap, extrapolated: the overlap at every depth; deeper ones weigh less by `p`.

    (1 - p)/p · [Σ_{d≤l} X_d/d · p^d + Σ_{s<d≤l} X_s (d - s)/(s d) · p^d] + [(X_l - X_s)/l + X_s/s] · p^l

    The rankings have s and l ≥ s documents. X_d is the number of documents that are among the first d of both
    rankings. With p = 0.9 the first ten ranks have 86 % of the weight.

    Webber, Moffat and Zobel, "A similarity measure for indefinite rankings", ACM TOIS 28(4), 2010.
    """

    p: float = field(default=0.9, kw_only=True)

    declares: ClassVar[Declaration] = agreement_declaration("RBO")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.p < 1:
            raise UsageError(f"p of RBO lies between 0 and 1, as 0.9 does; not {self.p:g}.")

    def alike(self, one: Sequence[str], other: Sequence[str]) -> float:
        short, long = sorted((one, other), key=len)
        s, l = len(short), len(long)  # noqa: E741 (as in the paper)
        if s == 0:
            return 0.0
        place = {doc: rank for rank, doc in enumerate(short, 1)}
        # a document in both rankings counts from the deeper of its two ranks on
        shared = [max(rank, place[doc]) for rank, doc in enumerate(long, 1) if doc in place]
        depth = np.arange(1, l + 1)
        overlap = np.cumsum(np.bincount(shared, minlength=l + 1)[1:]).astype(np.float64)
        seen, all_seen = overlap[s - 1], overlap[-1]
        weight = self.p**depth
        beyond = depth > s
        total = np.sum(overlap / depth * weight)
        total += np.sum(seen * (depth[beyond] - s) / (s * depth[beyond]) * weight[beyond])
        rest = ((all_seen - seen) / l + seen / s) * self.p**l
        return float(min((1 - self.p) / self.p * total + rest, 1.0))


@dataclass(frozen=True)
class Overlap(_RankingSimilarity):
    """The share of the first k documents that both systems return, in any order.

    |A ∩ B| / max(|A|, |B|), where A and B are the first k documents of each system. Two rankings with fewer
    than k documents can therefore have the value 1.
    """

    declares: ClassVar[Declaration] = agreement_declaration("Overlap")

    def alike(self, one: Sequence[str], other: Sequence[str]) -> float:
        return len({*one} & {*other}) / max(len(one), len(other))
