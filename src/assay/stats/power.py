"""What a study of this size can find: power, smallest detectable difference, items still needed.

The formulas are those of Student's t for paired differences. They plan; no p-value comes from them.
"""

from __future__ import annotations

import math

from scipy import special

ALPHA, POWER = 0.05, 0.8


def power_of(effect: float, deviation: float, n: int, alpha: float = ALPHA) -> float:
    """The chance that n paired rows show a true mean difference; `deviation` is that of the differences.

    NaN where n < 2. Without any spread every difference but zero is found.
    """
    if n < 2:
        return math.nan
    if deviation == 0:
        return float(effect != 0)
    shift = abs(effect) * math.sqrt(n) / deviation
    bar = special.stdtrit(n - 1, 1 - alpha / 2)
    return float(special.stdtr(n - 1, shift - bar) + special.stdtr(n - 1, -shift - bar))


def minimum_detectable_effect(deviation: float, n: int, alpha: float = ALPHA, power: float = POWER) -> float:
    """The smallest true mean difference that n paired rows find with this power; NaN where n < 2."""
    if n < 2:
        return math.nan
    reach = special.stdtrit(n - 1, 1 - alpha / 2) + special.stdtrit(n - 1, power)
    return float(reach * deviation / math.sqrt(n))


def detectable_difference(low: float, high: float, level: float = 1 - ALPHA, power: float = POWER) -> float:
    """The smallest true difference found with this power, given how wide its interval came out."""
    reach = special.ndtri((1 + level) / 2)
    return float((reach + special.ndtri(power)) / reach * (high - low) / 2)


def chance_to_decide(
    margin: float, truth: float, slack: float, error: float, n: int, more: int, reach: float
) -> float:
    """The chance that so many more rows decide an open clause, given the rows there are.

    `margin` is the estimate, more is nearer to passing; `truth` is what the new rows are drawn from, `error`
    the standard error now, `reach` how many of them the bound will keep away. The clause will hold where the
    estimate passes and its bound is above -`slack`, and fail where its bound is below zero.
    """
    share = n / (n + more)
    later = error * math.sqrt(share)
    centre, spread = share * margin + (1 - share) * truth, later * math.sqrt(1 - share)
    holds_from, fails_to = max(0.0, reach * later - slack), -reach * later
    return float(special.ndtr((centre - holds_from) / spread) + special.ndtr((fails_to - centre) / spread))
