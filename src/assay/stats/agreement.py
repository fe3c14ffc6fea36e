"""Agreement of raters beyond chance, and rank correlation, with weighted rows.

Every function takes columns and (resamples × n) weights, and returns one value per resample. Without weights
it returns one value. An undefined value is NaN. For example, if only one category occurs, raters cannot
disagree by chance, and neither 1 nor 0 would be true.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from assay.core.errors import UsageError, did_you_mean
from assay.stats.columns import finite_pair, ratio

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from assay.core.protocols import Floats

KAPPA_WEIGHTS = {"none": np.sign, "linear": np.abs, "quadratic": np.square}  # of categories apart
ALPHA_LEVELS = ("nominal", "ordinal", "interval")


def cohen_kappa(
    a: ArrayLike,
    b: ArrayLike,
    scheme: str = "none",
    weights: Floats | None = None,
    levels: Sequence[float] | None = None,
) -> Floats:
    """Returns Cohen's kappa of two raters: 1 - observed / expected disagreement, at most 1.

    Rows without a rating by one of the raters (NaN) do not count. `scheme` says how the weight of a
    disagreement grows with the number of categories between the ratings: not at all, linearly or
    quadratically (Cohen, 1968). `levels` are all categories of the scale, so that a category that nobody used
    still counts as a step. By default only the categories that occur count.
    """
    if scheme not in KAPPA_WEIGHTS:
        raise UsageError(f"There are no {scheme!r} weights for kappa. {did_you_mean(scheme, KAPPA_WEIGHTS)}")
    ratings = np.column_stack([np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)])
    both = ~np.isnan(ratings).any(axis=1)
    counts = _weights(weights, len(ratings))[:, both]
    categories, code = _coded(ratings[both], levels)
    first, second = code.reshape(-1, 2).T
    ranks = np.arange(len(categories))
    cost = KAPPA_WEIGHTS[scheme](np.abs(ranks[:, None] - ranks)).astype(np.float64)
    each = np.eye(len(categories))
    observed = counts @ cost[first, second] * counts.sum(axis=1)
    expected = np.sum((counts @ each[first]) @ cost * (counts @ each[second]), axis=1)
    return 1 - ratio(observed, expected)


def krippendorff_alpha(
    raters: Sequence[ArrayLike], level: str = "nominal", weights: Floats | None = None
) -> Floats:
    """Returns Krippendorff's alpha of two or more raters, at most 1. NaN marks a missing rating.

    Rows with fewer than two ratings do not count. The distance of two ratings is 0 or 1 (nominal), the square
    of their difference (interval), or the square of the difference of their mean ranks (ordinal).
    """
    if level not in ALPHA_LEVELS:
        raise UsageError(f"There is no level {level!r} for alpha. {did_you_mean(level, ALPHA_LEVELS)}")
    if len(raters) < 2:
        raise UsageError(f"Agreement needs two raters or more, not {len(raters)}.")
    ratings = np.column_stack([np.asarray(rater, dtype=np.float64) for rater in raters])
    pairable = np.sum(~np.isnan(ratings), axis=1) >= 2
    ratings = ratings[pairable]
    counts = _weights(weights, len(pairable))[:, pairable]
    categories = np.unique(ratings[~np.isnan(ratings)])
    used = np.sum(ratings[:, :, None] == categories, axis=1).astype(np.float64)  # (rows × categories)
    others = used.sum(axis=1) - 1
    margins = counts @ used
    total = margins.sum(axis=1)
    if level == "nominal":
        observed = total - counts @ (np.sum(used * (used - 1), axis=1) / others)
        expected = total**2 - np.sum(margins**2, axis=1)
    else:
        shifted = (categories - categories[:1])[None, :]  # smaller numbers keep more digits when squared
        places = shifted if level == "interval" else np.cumsum(margins, axis=1) - margins / 2
        squares = np.sum(margins * places**2, axis=1)
        # Over all ordered pairs among m numbers p, squared differences add up to 2 (m Σp² - (Σp)²).
        within = (places**2 @ used.T) * (others + 1) - (places @ used.T) ** 2
        observed = 2 * np.sum(counts * within / others, axis=1)
        expected = 2 * (total * squares - np.sum(margins * places, axis=1) ** 2)
    # rounding may leave a trace of expected disagreement where there is none
    several = np.sum(margins > 0, axis=1) > 1
    return 1 - ratio(observed * (total - 1), np.where(several, expected, 0.0))


def spearman(a: ArrayLike, b: ArrayLike, weights: Floats | None = None) -> Floats:
    """Returns Spearman's rank correlation. Ties have their mean rank. NaN if a column is constant."""
    left, right = finite_pair(a, b)
    counts = _weights(weights, len(left))
    x, y = _centred_ranks(left, counts), _centred_ranks(right, counts)
    shared, own, other = (np.sum(counts * one * two, axis=1) for one, two in ((x, y), (x, x), (y, y)))
    return ratio(shared, np.sqrt(own * other))


def kendall(a: ArrayLike, b: ArrayLike, weights: Floats | None = None) -> Floats:
    """Returns Kendall's tau-b (Kendall, 1945): pairs of rows in the same order minus pairs in opposite order.

    The difference is divided by √(a · b), where a and b are the numbers of pairs that differ in the first and
    in the second column. A row that is drawn twice ties with itself, and so counts in neither number. NaN if
    a column is constant.
    """
    left, right = finite_pair(a, b)
    counts = _weights(weights, len(left))
    alike = (np.sign(left[:, None] - left) * np.sign(right[:, None] - right)).astype(np.float32)
    # whole numbers far below 2^24: single precision holds them exactly, in half the time
    both = np.sum((counts.astype(np.float32) @ alike) * counts, axis=1)
    return ratio(both, np.sqrt(_untied(left, counts) * _untied(right, counts)))


def _untied(column: Floats, counts: Floats) -> Floats:
    """Returns twice the number of pairs of rows that differ in a column, for each resample."""
    order = np.argsort(column, kind="stable")
    first = np.flatnonzero(np.diff(column[order], prepend=np.nan) != 0)  # of each distinct value
    groups = np.add.reduceat(counts[:, order], first, axis=1) if len(order) else counts
    found: Floats = counts.sum(axis=1) ** 2 - np.sum(groups**2, axis=1)
    return found


def _coded(ratings: Floats, levels: Sequence[float] | None) -> tuple[Floats, NDArray[np.intp]]:
    """Returns the categories in rising order, and the index of each rating among them."""
    if levels is None:
        return np.unique(ratings, return_inverse=True)
    categories = np.unique(np.asarray(levels, dtype=np.float64))
    if (strange := np.setdiff1d(ratings, categories)).size:
        scale = ", ".join(f"{each:g}" for each in categories)
        raise UsageError(f"A grade of {strange[0]:g} is not on the scale {scale}. Give all of its levels.")
    return categories, np.searchsorted(categories, ratings)


def _weights(weights: Floats | None, n: int) -> Floats:
    return np.ones((1, n)) if weights is None else weights


def _centred_ranks(column: Floats, counts: Floats) -> Floats:
    """Returns mean ranks minus their mean, for each resample: (resamples × n)."""
    values, code = np.unique(column, return_inverse=True)
    order = np.argsort(code, kind="stable")
    last = np.searchsorted(code[order], np.arange(len(values)), side="right") - 1
    through = np.cumsum(counts[:, order], axis=1)[:, last]  # rows up to and with each distinct value
    middle = through - np.diff(through, axis=1, prepend=0) / 2
    ranks: Floats = middle - counts.sum(axis=1, keepdims=True) / 2
    return ranks[:, code]
