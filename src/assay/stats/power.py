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


def items_to_settle(value: float, low: float, high: float, n: int, threshold: float = 0.0) -> int | None:
    """How many more items until an interval of the present spread excludes the threshold.

    Intervals shrink with the root of n; the estimate is taken to stay where it is. Zero where the interval
    excludes the threshold already, None where no number would do: the estimate lies on the threshold, or
    there is no interval.
    """
    distance = abs(value - threshold)
    reach = value - low if value > threshold else high - value
    if not math.isfinite(distance) or not math.isfinite(reach) or distance == 0:
        return None
    if distance > reach:
        return 0
    return math.floor(n * (reach / distance) ** 2) + 1 - n
