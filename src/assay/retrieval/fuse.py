"""Merges several rankings into one, by ranks or by comparable scores; and measures how much results differ.

Both fusions rank every position that any ranking has. They add up what the rankings give to a position, and
put equal sums in corpus order.
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

    The score of a position is the sum of 1 / (k + rank) over the rankings that have the position. Ranks count
    from 1. Only the order of the rankings matters, not their scores. A small k favours the first positions of
    each ranking.
    """

    version: ClassVar[str] = "1"

    k: int = 60

    def __post_init__(self) -> None:
        if self.k < 0:
            raise UsageError(f"rrf: k is {self.k}. It has to be 0 or more; 60 is usual.")

    def fuse(self, rankings: Sequence[Ranking]) -> Ranking:
        """Returns a ranking of all positions that at least one of the rankings has."""
        given = [1.0 / (self.k + np.arange(1, len(ranking.positions) + 1)) for ranking in rankings]
        return _sum_by_position(rankings, given, absent=[0.0] * len(rankings))


@dataclass(frozen=True)
class WeightedFusion:
    """A weighted sum of normalised scores (Fox and Shaw, TREC-2 1994).

    For lexical with dense rankings see Bruch, Gai and Ingber, TOIS 2023. `weights` has a number for each
    ranking; they are not scaled. If it is empty, all rankings have the same weight, and the weights add up to
    1. `norm` makes the scores of the rankings comparable:

    minmax   (s − lowest) / (highest − lowest): from 0 to 1 (Lee, SIGIR 1997)
    max      s / largest magnitude, which is the highest score if none is negative (Lee, SIGIR 1997)
    sum      (s − lowest) / the sum of these: together 1 (Montague and Aslam, CIKM 2001)
    zscore   (s − mean) / standard deviation, also called ZMUV (Montague and Aslam, CIKM 2001)
    rank     1 − (rank − 1) / length: from 1 downwards (Renda and Straccia, SAC 2003)
    none     s: the scores are comparable already

    If a ranking does not have a position, the position gets 0 from it, or the lowest normalised score of the
    ranking if that is below 0. So it never gets more than a position that the ranking has. If all scores of a
    ranking are equal, minmax gives each position 1, and sum gives each an equal share, so that a found
    position still counts; zscore gives each 0.
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
        """Returns a ranking of all positions that at least one of the rankings has."""
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
    """Normalises the scores of one ranking, the best first, as `WeightedFusion` describes."""
    if norm == "none" or not len(scores):
        return scores
    if norm == "rank":
        return 1.0 - np.arange(len(scores)) / len(scores)
    if norm == "max":
        return _divide(scores, np.abs(scores).max(), where_zero=0.0)
    above = scores - scores.min()
    if norm == "zscore":
        # computed from the lowest score, so that equal scores give exact zeros
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
    """Adds up, for each position, the values from all rankings.

    `given` has the values of the positions of each ranking. `absent` has the value of each ranking for the
    positions that it does not have.
    """
    if not rankings:
        return NOTHING
    positions, slots = np.unique(np.concatenate([r.positions for r in rankings]), return_inverse=True)
    table = np.repeat(np.array(absent)[:, np.newaxis], len(positions), axis=1)
    start = 0
    for row, values in zip(table, given, strict=True):
        row[slots[start : start + len(values)]] = values
        start += len(values)
    # sums begin with the smallest value, so that equal values from different rankings give an exact tie
    table.sort(axis=0)
    scores: Floats = table.sum(axis=0)
    order = np.argsort(-scores, kind="stable")
    return Ranking(positions[order], scores[order])


def result_distance(a: Sequence[Hit], b: Sequence[Hit]) -> float:
    """Returns the total variation distance of two results: ½ Σ |p − q| over all documents.

    The distance of equal results is 0, and that of results without a common document is 1. p and q are the
    scores of each result by document, scaled to the sum 1. Negative scores count as 0. If a document has
    several spans, the best score counts. If no score is above 0, all documents count the same. Two empty
    results are equal; an empty result shares nothing with any other. The order of the hits does not matter.
    """
    if not a or not b:
        return 0.0 if not a and not b else 1.0
    p, q = result_shares(a), result_shares(b)
    apart = 0.5 * math.fsum(abs(p.get(doc, 0.0) - q.get(doc, 0.0)) for doc in p.keys() | q.keys())
    return min(apart, 1.0)  # rounding may lift the sum of shares above 1


def result_shares(hits: Sequence[Hit]) -> dict[str, float]:
    """Returns the scores of a result by document, scaled to the sum 1. An empty result gives no shares."""
    if not hits:
        return {}
    weights: dict[str, float] = {}
    for hit in hits:
        weights[hit.doc_id] = max(weights.get(hit.doc_id, 0.0), hit.score)
    # divided by the largest, so that no sum of finite scores overflows
    if not (most := max(weights.values())):
        return dict.fromkeys(weights, 1 / len(weights))
    scaled = {doc: weight / most for doc, weight in weights.items()}
    total = math.fsum(scaled.values())  # exact: the order of scores changes no share
    return {doc: weight / total for doc, weight in scaled.items()}
