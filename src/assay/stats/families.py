"""Decides which of several differences are real, with one error rate for the whole family.

A difference is shown (better or worse) if its interval excludes zero, at a confidence level that its family
shares. For this level, all differences of the family must pass one bar. The largest deviation of the family
passes this bar no more often than a single deviation may pass the plain bar (max-T; Westfall and Young, 1993;
Romano and Wolf, 2005). So systems that move together cost little. The bar is turned back into a confidence
level, so that every kind of interval can use it. If a study bounds the share of false discoveries instead,
the level is that of Benjamini and Yekutieli (2005).

A difference that a gate decides was declared before the run. It belongs to the family of its gate, is decided
at the gate's level, and does not make the other differences harder to show.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy import special

from assay.stats.columns import TIE
from assay.stats.intervals import Interval

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Adjustment = Callable[[Floats], Floats]


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjusts p-values step-down (Holm, 1979), which bounds the chance of any false discovery."""
    return _adjusted(p_values, lambda p: np.maximum.accumulate(p * np.arange(len(p), 0, -1)))


def benjamini_hochberg(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjusts p-values step-up (Benjamini and Hochberg, 1995), which bounds the false discovery rate."""
    return _adjusted(
        p_values, lambda p: np.minimum.accumulate((p * len(p) / np.arange(1, len(p) + 1))[::-1])[::-1]
    )


def _adjusted(p_values: Sequence[float | None], adjust: Adjustment) -> list[float | None]:
    """Adjusts p-values, and returns them in their own order. `adjust` works on ascending p-values.

    A p-value that is None or NaN was not tested: it stays as it is and does not count.
    """
    tested = [index for index, p in enumerate(p_values) if p is not None and not np.isnan(p)]
    p = np.array([p_values[index] for index in tested], dtype=np.float64)
    order = np.argsort(p, kind="stable")
    adjusted = list(p_values)
    for rank, value in zip(order, np.minimum(adjust(p[order]), 1.0), strict=True):
        adjusted[tested[rank]] = float(value)
    return adjusted


BETTER, WORSE, NOT_SHOWN = "better", "worse", ""
CORRECTIONS: dict[str, Callable[[Sequence[float | None]], list[float | None]]] = {
    "holm": holm,
    "benjamini-hochberg": benjamini_hochberg,
    "none": list,
}


def shared_level(deviations: Sequence[Floats], level: float) -> float:
    """Returns one level for several one-sided bounds, so that all of them together hold at `level`.

    Each column holds the errors of one estimate in the resamples; larger errors are nearer to a wrong claim.
    If the resamples are missing or do not match, or an estimate never changes, the bounds share equally
    (Bonferroni).
    """
    tail, number = (1 - level) / 2, len(deviations)
    sizes = {len(each) for each in deviations}
    bar = np.inf
    if len(sizes) == 1 and all(sizes):
        table = np.nan_to_num(np.column_stack(deviations), nan=-np.inf, neginf=-np.inf)
        moving = [column for column in table.T if np.isfinite(column).all() and column.std() > TIE]
        if len(moving) == number:
            highest = np.max([column / column.std() for column in moving], axis=0)
            bar = float(np.quantile(highest, 1 - tail))
    return 1 - 2 * float(np.clip(special.ndtr(-bar), tail / number, tail))


def shown_direction(low: float, high: float, *, upward: bool) -> str:
    """Returns what the interval of a difference shows: better, worse or nothing.

    `upward` says that larger differences are better.
    """
    if low > 0:
        return BETTER if upward else WORSE
    if high < 0:
        return WORSE if upward else BETTER
    return NOT_SHOWN


@dataclass(frozen=True)
class GateDifference:
    """A difference that a clause of a gate decides, with its interval at the levels of this clause."""

    gate: str
    a: str
    b: str
    measure: str
    rows: Bools
    low: float
    high: float
    level: float
    sharing: int  # clauses of one gate with the same number share an error budget


class DecidableDifference(Protocol):
    """A record of a difference: values, p-value and family. `FamilyDecisions` fills in the decision."""

    @property
    def difference(self) -> float | None: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...
    @property
    def p(self) -> float | None: ...
    @property
    def family(self) -> str: ...
    @property
    def mde(self) -> float | None: ...
    @property
    def wins(self) -> int: ...
    @property
    def losses(self) -> int: ...
    @property
    def shown(self) -> str: ...
    @property
    def level(self) -> float | None: ...


Record = TypeVar("Record", bound=DecidableDifference)


@dataclass(frozen=True)
class Contrast(Generic[Record]):
    """A comparison, with all that is needed to decide it."""

    record: Record
    upward: bool  # whether more is better
    interval_at: Callable[[float], Interval]
    moved: Floats  # the error of the difference in each resample
    declared: GateDifference | None = None

    @property
    def identical(self) -> bool:
        """Whether both systems agree on every row, so that there is no difference to show."""
        return self.record.wins == self.record.losses == 0

    def shown_at(self, level: float) -> str:
        found = self.interval_at(level)
        return shown_direction(found.low, found.high, upward=self.upward)


@dataclass
class _Family(Generic[Record]):
    """The comparisons of one measure, or of one gate, that are known so far."""

    members: list[int] = field(default_factory=list)
    number: int = 0  # members with a difference to decide
    highest: Floats | None = None  # the largest deviation of any member, in each resample
    stuck: bool = False  # a member differs, but no resample changes its difference
    open: dict[int, Contrast[Record]] = field(default_factory=dict)  # not decided until the level is known

    def take(self, moved: Floats) -> None:
        """Adds a member, and updates the largest deviation of each resample."""
        self.number += 1
        deviation = float(np.nanstd(moved)) if len(moved) else 0.0
        if not deviation > TIE:
            self.stuck = True
            return
        size = np.nan_to_num(np.abs(moved)) / deviation
        if self.highest is not None and len(size) != len(self.highest):
            self.stuck = True
            return
        self.highest = size if self.highest is None else np.maximum(self.highest, size)

    def level(self, level: float) -> float:
        """Returns the level at which all members together hold as surely as a single one holds at `level`."""
        if self.number < 2 or self.highest is None:
            return level
        alpha = 1 - level
        bar = np.inf if self.stuck else float(np.quantile(self.highest, level))
        return 1 - float(np.clip(2 * special.ndtr(-bar), alpha / self.number, alpha))


class FamilyDecisions(Generic[Record]):
    """Decides comparisons family by family. They are added one at a time, and most need not stay in memory.

    If the plain interval contains zero, the comparison is shown at no level of its family. If the interval
    excludes zero at the level of the largest possible family, the comparison is shown at all levels.
    """

    def __init__(self, correction: str, level: float, most: int) -> None:
        self.correction, self.level = correction, level
        self._surest = 1 - (1 - level) / max(most, 1)
        self._records: list[Record] = []
        self._families: dict[tuple[object, ...], _Family[Record]] = {}

    def add(self, contrast: Contrast[Record]) -> None:
        place, one, declared = len(self._records), contrast.record, contrast.declared
        if declared is not None:
            ends = _ends_for(one.difference or 0.0, declared)
            shown = shown_direction(*ends, upward=contrast.upward)
            one = _with(one, family=f"gate {declared.gate}", shown=shown, level=declared.level)
        key = (one.family, declared.sharing if declared else None)
        family = self._families.setdefault(key, _Family())
        family.members.append(place)
        self._records.append(one)
        if declared is not None or one.difference is None or contrast.identical:
            return
        family.take(contrast.moved)
        if one.low is None or one.high is None:
            return
        plain = shown_direction(one.low, one.high, upward=contrast.upward)
        if plain and (self.correction == "none" or contrast.shown_at(self._surest)):
            self._records[place] = _with(one, shown=plain)
        elif plain:
            family.open[place] = contrast

    def records(self) -> list[Record]:
        """Returns all comparisons, decided and with adjusted p-values, in the order in which they were added.

        A difference that is shown has no minimum detectable effect.
        """
        for (_, gate), family in self._families.items():
            adjust = CORRECTIONS[self.correction if gate is None else "holm"]
            adjusted = adjust([self._records[place].p for place in family.members])
            level = self._level_of(family) if gate is None else None
            for place, p in zip(family.members, adjusted, strict=True):
                one = self._records[place]
                shown = (
                    one.shown
                    if level is None or place not in family.open
                    else family.open[place].shown_at(level)
                )
                self._records[place] = _with(
                    one,
                    p_adjusted=p,
                    shown=shown,
                    level=None if one.difference is None else level or one.level,
                    mde=None if shown else one.mde,
                )
        return self._records

    def _level_of(self, family: _Family[Record]) -> float:
        if self.correction == "none":
            return self.level
        if self.correction == "holm":
            return family.level(self.level)
        # the more differences are shown, the lower the level may be: find the largest consistent number
        certain = sum(bool(self._records[place].shown) for place in family.members)
        number = certain + len(family.open)
        while number > 0:
            level = 1 - (1 - self.level) * number / family.number
            found = certain + sum(bool(each.shown_at(level)) for each in family.open.values())
            if found == number:
                return level
            number = found
        return 1 - (1 - self.level) / max(family.number, 1)


def _with(record: Record, **changes: object) -> Record:
    return msgspec.structs.replace(record, **changes)  # type: ignore[type-var]  # every record is a Struct


def _ends_for(difference: float, declared: GateDifference) -> tuple[float, float]:
    """Returns the ends of a gate's interval.

    An end at zero excludes a loss, and a clause asks for no more. So this end counts as beyond zero.
    """
    low, high = declared.low, declared.high
    if abs(low) <= TIE < difference:
        low = TIE
    if abs(high) <= TIE < -difference:
        high = -TIE
    return low, high
