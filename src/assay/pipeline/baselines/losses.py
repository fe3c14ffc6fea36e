"""Tests whether any measure that gates read shows a loss since a baseline.

The tests are one-sided, and all measures of all arms share one error budget (stats/losses.py): if a system is
no worse, the chance that any of its measures shows a loss is at most 5 %.

Items that failed, in the baseline or now, are counted once with the best and once with the worst value. If
the two results differ, the comparison is undecided. A system that now fails on more items than a gate allows
fails the comparison in any case.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import cached_property

import msgspec
import numpy as np
from numpy.typing import NDArray

from assay.core.block import FAILED
from assay.core.protocols import Measure
from assay.core.records import LOSS_SHOWN, NO_LOSS_SHOWN, ClauseResult, Comparison
from assay.gates.decision import undecided_clause
from assay.gates.readiness import describe_failing
from assay.pipeline.baselines.diff import NEW, OLD, VersionPair, best_and_worst, gain_of
from assay.report.wording import p_value, quantity
from assay.stats.losses import LossTest, detectable_loss, loss_tests
from assay.stats.rows import Column, Rows

Floats = NDArray[np.float64]
Place = tuple[str, str]  # arm and measure
TEST = "sign flips, one-sided mid-p"
TIMES = {1: "once", 2: "twice"}


@dataclasses.dataclass(frozen=True)
class BaselineLosses:
    """The losses of arms from one version to another. `allowed` is the share of items that may fail."""

    pair: VersionPair
    name: str
    arms: Sequence[str]
    measures: Sequence[Measure]
    broken: Mapping[Place, str]  # why a measure could not be computed for an arm
    allowed: float

    @cached_property
    def comparisons(self) -> dict[Place, Comparison]:
        """The differences, now minus then, with the p-value of a loss, if there are values to compare."""
        return {
            place: msgspec.structs.replace(
                one,
                p=test.p,
                p_adjusted=test.p_adjusted,
                p_wilcoxon=None,
                test=TEST,
                mde=self._mde(place, test),
            )
            if (test := self._plain.get(place)) is not None
            else one
            for place, one in self._compared.items()
        }

    @property
    def clauses(self) -> list[ClauseResult]:
        return [self._clause(*place) for place in self.comparisons]

    def _clause(self, arm: str, measure: str) -> ClauseResult:
        """Turns a comparison into a clause. It fails if a loss is shown; without a value it is undecided."""
        place, one = (arm, measure), self.comparisons[arm, measure]
        text, rows = loss_text(self._named[measure], arm, self.name), self._rows[arm]
        if place in self.broken:
            return undecided_clause(text, self.broken[place].rstrip("."), one.n)
        now = rows.column(NEW, measure)
        broke, asked = int((now.status == FAILED).sum()), int(now.expected.sum())
        if reason := describe_failing(arm, broke, asked, self.allowed):
            return ClauseResult(text, False, None, None, None, asked, reason)
        failed = self._failed(arm)
        failures = f"; {quantity(failed, 'item')} failed" if failed else ""
        if place not in self._plain:
            return undecided_clause(
                text, f"{one.refused or 'no item has a figure on both sides'}{failures}", one.n
            )
        lost = {tests[place].shown for tests in self._ends or [self._plain]}
        holds = None if len(lost) > 1 else not lost.pop()
        if failed:
            unturned = "; counted at either end of the range, it does not change this"
            failures += ", and could turn it" if holds is None else unturned
        p = p_value(one.p_adjusted).replace("<", "< ")
        varying = self._lost_by_chance(arm, measure)
        lost_items = f"{one.losses} lost" + (f" ({varying} vary by themselves)" if varying else "")
        found = f"{lost_items}, {one.wins} won, {one.ties} unchanged, p {'' if '<' in p else '= '}{p}"
        return ClauseResult(
            text,
            holds,
            one.difference,
            one.low,
            one.high,
            one.n,
            f"{found}{failures}; {self._churn(arm, measure)}",
            mde=one.mde,
            shows={True: NO_LOSS_SHOWN, False: LOSS_SHOWN, None: ""}[holds],
        )

    def _lost_by_chance(self, arm: str, measure: str) -> int:
        """Counts the items that lost and whose scores vary by themselves."""
        varied = self.pair.churn(arm, measure)[1]
        moved = self.pair.moved(arm, self._named[measure]) if varied else []
        return sum(each.item_id in varied and gain_of(each, self._named[measure]) < 0 for each in moved)

    def _churn(self, arm: str, measure: str) -> str:
        """Says in words how much the system's scores vary by themselves."""
        items, varied, repeats = self.pair.churn(arm, measure)
        if not items:
            return "churn not measured"
        times = TIMES.get(repeats, f"{repeats} times")
        return f"repeated {times}: {len(varied)} of {quantity(len(items), 'item')} changed"

    # ------------------------------------------------------------------------------------ the test

    @cached_property
    def _named(self) -> dict[str, Measure]:
        return {measure.name: measure for measure in self.measures}

    @cached_property
    def _rows(self) -> dict[str, Rows]:
        return {arm: self.pair.rows(arm) for arm in self.arms}

    def _failed(self, arm: str) -> int:
        """Counts the items on which a measure failed in one of the two versions."""
        return self.pair.failed(arm, [each for each in self.measures if (arm, each.name) not in self.broken])

    @cached_property
    def _comparable(self) -> list[Place]:
        """The arms and measures that have a value in both versions for some item, from the same judges."""
        found = self._compared.items()
        return [place for place, one in found if one.p is not None and place not in self.broken]

    @cached_property
    def _compared(self) -> dict[Place, Comparison]:
        """The differences, now minus then, computed like the differences between two systems."""
        arms = self.arms if self.measures and self.pair.items else []
        by_arm = {arm: self.pair.arm(arm, self.measures).comparisons for arm in arms}
        return {(arm, one.measure): one for arm, found in by_arm.items() for one in found}

    @cached_property
    def _plain(self) -> dict[Place, LossTest]:
        """The tests on the items that have a value in both versions."""
        return self._tested(self._rows)

    @cached_property
    def _ends(self) -> list[dict[Place, LossTest]]:
        """The tests with failed items counted against the newer version, and then in its favour.

        The list is empty if no item failed.
        """
        if not any(self._failed(arm) for arm in self.arms):
            return []
        best, worst = best_and_worst(self.measures)
        # what counts for the older version counts against the newer
        sides = [(best, worst), (worst, best)]
        return [self._tested({arm: self.pair.rows(arm, *each) for arm in self.arms}) for each in sides]

    def _tested(self, rows: Mapping[str, Rows]) -> dict[Place, LossTest]:
        columns = [self._gains(rows[arm], measure) for arm, measure in self._comparable]
        if not columns:
            return {}
        return dict(
            zip(self._comparable, loss_tests(np.column_stack(columns), self.pair.resamples), strict=True)
        )

    def _gains(self, rows: Rows, measure: str) -> Floats:
        """Returns the improvement of each cluster; items without a value in both versions add 0."""
        old, new = self._sides(rows, measure)
        shared = old.counted & new.counted
        raised = np.where(shared, new.values - old.values, 0.0)
        turned = raised if self._named[measure].better == "higher" else -raised
        return np.bincount(rows.clusters, weights=turned).astype(np.float64)

    def _sides(self, rows: Rows, measure: str) -> tuple[Column, Column]:
        return rows.column(OLD, measure), rows.column(NEW, measure)

    def _mde(self, place: Place, test: LossTest) -> float | None:
        """Returns the smallest loss that this many items would show with 80 % power; None if one is shown."""
        arm, name = place
        measure, rows = self._named[name], self._rows[arm]
        worst = measure.low if measure.better == "higher" else measure.high
        if test.shown or worst is None:
            return None
        old, new = self._sides(rows, name)
        shared = old.counted & new.counted
        # items of a cluster are lost together
        codes = np.unique(rows.clusters[shared], return_inverse=True)[1]
        worth, gains = (
            np.bincount(codes, weights=each[shared]).astype(np.float64)
            for each in (np.abs(old.values - worst), new.values - old.values)
        )
        found = detectable_loss(worth, float(np.mean(gains**2)), test.level)
        return None if found is None else found * len(worth) / int(shared.sum())


def loss_text(measure: Measure, arm: str, name: str) -> str:
    """Returns the text of the clause that an arm is no worse than a baseline."""
    side = ">=" if measure.better == "higher" else "<="
    return f"{measure.name}({arm}) {side} {measure.name}({name})"
