"""How several rankings become one, by ranks or by scores made comparable; and how far two results differ.

Both fusions take what any ranking holds, add up what each ranking gives it, and put equal sums in corpus
order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from assay.core.errors import UsageError
from assay.core.parts import NOTHING, Floats, Ranking
from assay.core.records import Hit

Norm = Literal["minmax", "max", "sum", "zscore", "rank", "none"]


@dataclass(frozen=True)
class RRF:
    """Reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009).

    A position scores the sum of 1 / (k + rank) over the rankings that have it; ranks count from 1. The
    scores of the rankings do not matter, only their order. A small k favours what any ranking has on top.
    """

    version: ClassVar[str] = "1"

    k: int = 60

    def __post_init__(self) -> None:
        if self.k < 0:
            raise UsageError(f"rrf: k is {self.k}. It has to be 0 or more; 60 is usual.")

    def fuse(self, rankings: Sequence[Ranking]) -> Ranking:
        """One ranking of all positions that any of the rankings has."""
        given = [1.0 / (self.k + np.arange(1, len(ranking.positions) + 1)) for ranking in rankings]
        return _sum_by_position(rankings, given, absent=[0.0] * len(rankings))


@dataclass(frozen=True)
class WeightedFusion:
    """A weighted sum of normalised scores (Fox and Shaw, TREC-2 1994; for lexical with dense rankings
    Bruch, Gai and Ingber, TOIS 2023).

    `weights` has one number per ranking, used as given; none: equal ones with the sum 1. `norm` makes the
    scores of the rankings comparable:

    minmax   (s − lowest) / (highest − lowest): from 0 to 1 (Lee, SIGIR 1997)
    max      s / largest magnitude, which is the highest where none is negative (Lee, SIGIR 1997)
    sum      (s − lowest) / the sum of these: together 1 (Montague and Aslam, CIKM 2001)
    zscore   (s − mean) / standard deviation, also called ZMUV (Montague and Aslam, CIKM 2001)
    rank     1 − (rank − 1) / length: from 1 downwards (Renda and Straccia, SAC 2003)
    none     s: the scores are comparable already

    A position that a ranking does not have gets 0 from it, or its lowest normalised score if that is below 0:
    never more than any position that it has. If all scores are equal, minmax gives each 1 and sum an equal
    share, so that being found still counts; zscore gives each 0.
    """

    first_address: ClassVar[str] = "assay.retrieval.fuse:Weighted"
    version: ClassVar[str] = "1"

    weights: tuple[float, ...] = ()
    norm: Norm = "minmax"

    def __post_init__(self) -> None:
        usable = np.isfinite(self.weights).all() and all(weight >= 0 for weight in self.weights)
        if not usable or (self.weights and not any(self.weights)):
            given = list(self.weights)
            raise UsageError(f"weighted: the weights are {given}. Give numbers from 0 up, one above 0.")

    def fuse(self, rankings: Sequence[Ranking]) -> Ranking:
        """One ranking of all positions that any of the rankings has."""
        weights = self.weights or (1.0 / max(len(rankings), 1),) * len(rankings)
        if len(weights) != len(rankings):
            raise UsageError(
                f"weighted: {len(weights)} weights for {len(rankings)} rankings. "
                "Give a weight for each ranking, or none for equal ones."
            )
        normed = [_normalize(ranking.scores, self.norm) for ranking in rankings]
        given = [weight * scores for weight, scores in zip(weights, normed, strict=True)]
        return _sum_by_position(rankings, given, absent=[float(scores.min(initial=0.0)) for scores in given])


def _normalize(scores: Floats, norm: Norm) -> Floats:
    """The scores of one ranking, best first, normalised as `WeightedFusion` describes."""
    if norm == "none" or not len(scores):
        return scores
    if norm == "rank":
        return 1.0 - np.arange(len(scores)) / len(scores)
    if norm == "max":
        return _divide(scores, np.abs(scores).max(), where_zero=0.0)
    above = scores - scores.min()
    if norm == "zscore":
        # relative to the lowest, so that equal scores give exact zeros
        around = above - above.mean()
        return _divide(around, np.sqrt(np.mean(around * around)), where_zero=0.0)
    if norm == "sum":
        return _divide(above, above.sum(), where_zero=1.0 / len(scores))
    return _divide(above, above.max(), where_zero=1.0)


def _divide(scores: Floats, by: float, where_zero: float) -> Floats:
    return scores / by if by > 0 else np.full(len(scores), where_zero)


def _sum_by_position(
    rankings: Sequence[Ranking], given: Sequence[Floats], absent: Sequence[float]
) -> Ranking:
    """Adds up, for each position, what the rankings that have it give, and what the others give for
    absence."""
    if not rankings:
        return NOTHING
    positions, slots = np.unique(np.concatenate([r.positions for r in rankings]), return_inverse=True)
    table = np.repeat(np.array(absent)[:, np.newaxis], len(positions), axis=1)
    start = 0
    for row, values in zip(table, given, strict=True):
        row[slots[start : start + len(values)]] = values
        start += len(values)
    # smallest first, so that positions with the same values from different rankings tie exactly
    table.sort(axis=0)
    scores: Floats = table.sum(axis=0)
    order = np.argsort(-scores, kind="stable")
    return Ranking(positions[order], scores[order])


def result_distance(a: Sequence[Hit], b: Sequence[Hit]) -> float:
    """The total variation distance of two results: ½ Σ |p − q| over all documents; 0 is equal, 1 nothing
    shared.

    p and q are the scores of each result, scaled to the sum 1: negative ones count 0, the best of several
    spans of a document counts, and if nothing scores above 0 all hits weigh the same. Two empty results are
    equal; an empty one shares nothing with any other. The order of the hits does not matter.
    """
    if not a or not b:
        return 0.0 if not a and not b else 1.0
    p, q = result_shares(a), result_shares(b)
    apart = 0.5 * math.fsum(abs(p.get(doc, 0.0) - q.get(doc, 0.0)) for doc in p.keys() | q.keys())
    return min(apart, 1.0)  # rounding may lift the sum of shares above 1


def result_shares(hits: Sequence[Hit]) -> dict[str, float]:
    """The scores of a result by document, scaled to the sum 1; empty for an empty result."""
    if not hits:
        return {}
    weights: dict[str, float] = {}
    for hit in hits:
        weights[hit.doc_id] = max(weights.get(hit.doc_id, 0.0), hit.score)
    # divided by the largest, so that no sum of finite scores overflows
    if not (most := max(weights.values())):
        return dict.fromkeys(weights, 1 / len(weights))
    scaled = {doc: weight / most for doc, weight in weights.items()}
    total = math.fsum(scaled.values())  # exact, so the same scores in another order give the same shares
    return {doc: weight / total for doc, weight in scaled.items()}
