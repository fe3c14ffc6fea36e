"""What to do about an open clause: how many more items are likely to decide it, or what to ask instead."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from scipy import special

from assay.core.records import Advice
from assay.gates.looks import Looking
from assay.gates.margin import Estimated, Margin
from assay.gates.syntax import Clause
from assay.stats.power import POWER, chance_to_decide

MOST_TIMES, MOST_ITEMS = 9, 300  # more than this many times the items, and than this many, nobody collects
COMPARED = "ask whether what may be lost is small enough, as in >= M(old) - 0.02, or decide by cost"
ABSOLUTE = "the value lies too near to the threshold; move the threshold, or decide by other evidence"


@dataclass(frozen=True)
class Plan:
    """An undecided margin, turned so that more passes, what its bound must show, and how sure that is."""

    margin: Margin
    bound: Estimated
    level: float
    plain: float  # the level of a single clause at its first look
    compares: bool  # systems or slices, and not one of them with a number

    def chances(self, more: int, steps: int, looking: Looking) -> tuple[float, float]:
        """The chance that more items decide it if the effect is what it looks like, and if there is none."""
        whole, n = self.margin.whole, self.margin.n
        now, later = (_reach(looking.level_after(each, self.plain)) for each in (0, steps))
        reach, slack = _reach(self.level) * later / now, self.bound.value - whole.value
        error = (whole.high - whole.low) / 2 / _reach(self.level)
        alike = whole.value - self.margin.gain.value  # the margin of systems that are all alike
        as_it_looks, by_luck = (
            chance_to_decide(whole.value, truth, slack, error, n, more, reach)
            for truth in (whole.value, alike)
        )
        return as_it_looks, by_luck


def advice_on(clause: Clause, plan: Plan, looking: Looking) -> Advice | None:
    """The number of items that is likely to decide an open clause, or what to do instead of collecting any.

    Sizes are those of the next looks: a decision in between would cost as much and know less.
    """
    if not plan.margin.whole.low < plan.margin.whole.high:
        return None
    for steps in itertools.count(1):
        more = looking.size_after(steps) - looking.seen
        if more > max(MOST_TIMES * plan.margin.n, MOST_ITEMS):
            break
        likely, by_luck = plan.chances(more, steps, looking)
        if likely >= POWER:
            return Advice(more, ", ".join(map(str, clause.where)), likely, by_luck)
    return Advice(None, instead=COMPARED if plan.compares else ABSOLUTE)


def _reach(level: float) -> float:
    """How many standard errors a bound of this level keeps away."""
    return float(special.ndtri((1 + level) / 2))
