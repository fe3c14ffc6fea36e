"""Why two systems were not compared on a measure, as reports say it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from assay.core.records import Arm, Comparison, Estimate
from assay.core.results import Results
from assay.report import wording as say

NAMED = 3  # systems named where several were refused alike
_EXAMPLES = re.compile(r"\s*\([^()]*\)$")  # the items that a reason names


class MissingTrace(NamedTuple):
    """A system that tells no way to its hits, and how many items a measure of the way leaves out for that."""

    system: str
    items: int


@dataclass(frozen=True)
class Refusals:
    """What refused comparisons say, with causes that the results show."""

    results: Results

    @cached_property
    def _tracing(self) -> set[str]:
        """The arms that tell how they came to a hit."""
        return set(self.results.traced)

    def untraced(self, one: Comparison) -> MissingTrace | None:
        """The side that gives no trace, where that is why a measure applies to the other side alone."""
        if not one.refused or one.where:
            return None
        sides = [self._estimate(system, one) for system in (one.a, one.b)]
        for mine, other in (sides, sides[::-1]):
            if mine is None or other is None or mine.n_expected >= other.n_expected:
                continue
            if not self._traces(mine) and self._traces(other):
                return MissingTrace(mine.system, other.n_expected - mine.n_expected)
        return None

    def _estimate(self, system: str, one: Comparison) -> Estimate | None:
        made = (each for each in say.overall(self.results, one.measure) if each.system == system)
        return next((each for each in made if each.factors.items() <= one.factors.items()), None)

    def _traces(self, one: Estimate) -> bool:
        return any(arm == one.system or arm.startswith(f"{one.system}[") for arm in self._tracing)

    def unapplied(self, one: Comparison) -> str:
        """That a measure applies to no item of one side, where that is so."""
        for system in (one.b, one.a) if one.refused and not one.where else ():
            made = self._estimate(system, one)
            if made is not None and not made.n_expected:
                return f"it applies to no item of {system}"
        return ""

    def note(self, one: Comparison) -> str:
        """Why there is no comparison, or the smallest difference it could have seen where it saw none."""
        return say.comparison_note(one, self.why(one))

    def why(self, one: Comparison) -> str:
        """The reason of a refusal."""
        lacking = self.untraced(one)
        if lacking is None:
            return self.unapplied(one) or one.refused or ""
        left_out = say.quantity(lacking.items, "item")
        return f"{lacking.system} gives no trace, so {one.measure} does not apply to {left_out}"

    def lines(self, comparisons: Sequence[Comparison]) -> list[str]:
        """What was refused: a line for each reason, with the measures, and the pairs that it holds for."""
        untraced: dict[str, dict[str, int]] = {}
        measures: dict[tuple[str, str, str], list[str]] = {}
        for one in (one for one in comparisons if one.refused):
            if lacking := self.untraced(one):
                untraced.setdefault(lacking.system, {})[one.measure] = lacking.items
            else:
                # Which items they are stands in the other reports, which have room for it.
                reason = self.unapplied(one) or _EXAMPLES.sub("", one.refused or "")
                side = Arm(one.a, one.factors).name
                measures.setdefault((side, one.b, reason), []).append(one.measure)
        sides: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
        for (side, other, reason), names in measures.items():
            sides.setdefault((other, reason, tuple(names)), []).append(side)
        return [
            *_untraced_lines(untraced),
            *(
                f"not compared, {say.first_names(found, NAMED)} - {other} ({why}): {', '.join(names)}"
                for (other, why, names), found in sides.items()
            ),
        ]


def _untraced_lines(untraced: dict[str, dict[str, int]]) -> list[str]:
    """A line for all systems whose missing trace leaves out the same."""
    alike: dict[tuple[tuple[str, int], ...], list[str]] = {}
    for system, left_out in untraced.items():
        alike.setdefault(tuple(left_out.items()), []).append(system)
    lines = []
    for ((first, count), *rest), systems in alike.items():
        verb = "gives" if len(systems) == 1 else "give"
        told = f"{first} does not apply to {say.quantity(count, 'item')}"
        told += "".join(f", {name} to {n}" for name, n in rest)
        lines.append(f"not compared: {' and '.join(systems)} {verb} no trace, so {told}")
    return lines
