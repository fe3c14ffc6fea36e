"""How far two results for one query lie apart: 0 is the same, 1 is nothing in common."""

from __future__ import annotations

import math
from collections.abc import Sequence

from assay.core.records import Hit


def result_distance(a: Sequence[Hit], b: Sequence[Hit]) -> float:
    """The total variation distance of two results: ½ Σ |p − q| over everything that either holds.

    p and q are the scores of each result, made to add up to 1: negative ones count 0, of several spans of a
    document the best counts, and where nothing scores above 0 every hit weighs the same. Two empty results
    are the same; an empty one has nothing in common with any other. The order of the hits plays no part.
    """
    if not a or not b:
        return 0.0 if not a and not b else 1.0
    p, q = result_shares(a), result_shares(b)
    apart = 0.5 * math.fsum(abs(p.get(doc, 0.0) - q.get(doc, 0.0)) for doc in p.keys() | q.keys())
    return min(apart, 1.0)  # rounding may carry the sum of shares over 1


def result_shares(hits: Sequence[Hit]) -> dict[str, float]:
    """The scores of a result by document, made to add up to 1; nothing for an empty one."""
    if not hits:
        return {}
    weights: dict[str, float] = {}
    for hit in hits:
        weights[hit.doc_id] = max(weights.get(hit.doc_id, 0.0), hit.score)
    # the largest first, so that no sum of finite scores overflows
    if not (most := max(weights.values())):
        return dict.fromkeys(weights, 1 / len(weights))
    scaled = {doc: weight / most for doc, weight in weights.items()}
    total = math.fsum(scaled.values())  # exact, so the same scores in another order give the same shares
    return {doc: weight / total for doc, weight in scaled.items()}
