"""Orders the open passages: first those whose marks can change which of two arms finds more.

Two arms are compared by the difference of their lifts, with one row per item. The subset interval of the mean
difference lies above a threshold, below it, or around it. The threshold is 0 for the question which arm is
better, and 0.30 if a gate asks for 0.30 more. An open passage raises or lowers the row of its item if it
turns out to be a semantic match. A passage of both arms changes nothing if both returned equally many
passages for the item. Both ends of the interval rise with every row. So the two extreme ways to mark the open
passages bound all others. If they lead to the same decision at a threshold, the threshold is closed.
Otherwise it is open.

The order is planned backwards, for the open threshold that is nearest to the expected difference. The plan
supposes that every passage is judged, and that the marks turn out as the marks so far predict. It then finds
the passages that could have been left open without a change of the decision. These passages come last. Every
import makes a new plan.

If one arm wins, the passages left open are mostly passages of that arm. Leaving such a passage open costs
only the chance that it is a match. An open passage of the other arm counts in full as a match. If neither arm
wins, whole items are left open, because one row, however large, hardly moves an interval that needs many
rows. After the planned passages come the passages of pairs without an open threshold. Passages that change no
pair come at the very end.

The order can reveal something. Passages near its end more often belong to the arm that is ahead, and most
passages that cannot matter were returned by both arms. Among equally urgent passages a seeded hash decides,
never an arm's name or its ranking. A form must not show this order: it takes a batch, and shuffles the
passages of an item.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from assay.core.dataset import digest
from assay.core.errors import UsageError, did_you_mean
from assay.measures.marks import KEYWORD_MATCH, SEMANTIC_MATCH
from assay.review.pool import Candidate, Pool
from assay.stats.columns import TIE
from assay.stats.intervals import Interval
from assay.stats.subsets import subset_mean_intervals

if TYPE_CHECKING:
    from assay.core.protocols import Bools, Floats

Decision = Literal["a", "b", "neither"]

USUAL = 0.3  # the share of semantic matches to expect before anybody has judged anything
USUAL_WEIGHT = 4.0  # the number of marks that this guess counts as
ITEM_WEIGHT = 10.0  # the number of marks of an item that its arm's rate counts as
REACH = 1.96  # deviations from zero at which the sign-flip test is near 2.5 %


# ------------------------------------------------------------------------------------ what is open


@dataclass(frozen=True, eq=False)
class LiftDifference:
    """The difference of the lifts of two arms, `a` - `b`, as far as the marks so far determine it."""

    pool: Pool
    a: str
    b: str

    def __post_init__(self) -> None:
        for arm in (self.a, self.b):
            if arm not in self.pool.arms:
                raise UsageError(f"There is no arm {arm!r} to compare. {did_you_mean(arm, self.pool.arms)}")

    @cached_property
    def row(self) -> NDArray[np.intp]:
        """The row of each candidate: the position of its item in the pool."""
        place = {item.item_id: row for row, item in enumerate(self.pool.items)}
        return np.array([place[each.item_id] for each in self.pool.candidates], dtype=np.intp)

    @cached_property
    def pull(self) -> Floats:
        """The value that each candidate adds to its row if it is a semantic match."""
        shares = [self._share(each, self.a) - self._share(each, self.b) for each in self.pool.candidates]
        return np.where(np.abs(shares) <= TIE, 0.0, shares)

    def _share(self, candidate: Candidate, arm: str) -> float:
        return 1 / self.pool.returned[candidate.item_id, arm] if arm in candidate.arms else 0.0

    @cached_property
    def open(self) -> Bools:
        return np.array([each.mark is None for each in self.pool.candidates], dtype=bool)

    @cached_property
    def found(self) -> Bools:
        """Whether each candidate is marked as a semantic match."""
        return np.array([each.mark == SEMANTIC_MATCH for each in self.pool.candidates], dtype=bool)

    @cached_property
    def known(self) -> Floats:
        """The value of each row from the marks so far. Open passages add nothing."""
        return self.by_row(np.where(self.found, self.pull, 0.0))

    @cached_property
    def ends(self) -> Floats:
        """The smallest and the largest value that each row can still have."""
        least, most = (
            self.by_row(np.where(self.open, part, 0.0))
            for part in (np.minimum(self.pull, 0.0), np.maximum(self.pull, 0.0))
        )
        return np.array([self.known + least, self.known + most])

    @cached_property
    def chances(self) -> Floats:
        """The chance of each candidate to be a semantic match.

        It is the share of matches among the judged passages of its item that favour the same arm, drawn
        towards that share over all items.
        """
        by_rule = [each.mark == KEYWORD_MATCH and not each.by_person for each in self.pool.candidates]
        judged = ~self.open & ~np.array(by_rule, dtype=bool)
        chances = np.zeros(len(judged))
        for side in (self.pull > 0, self.pull < 0):
            marked, found = side & judged, side & self.found
            usual = (found.sum() + USUAL * USUAL_WEIGHT) / (marked.sum() + USUAL_WEIGHT)
            there, of = self.by_row(found.astype(float)), self.by_row(marked.astype(float))
            chances[side] = ((there + usual * ITEM_WEIGHT) / (of + ITEM_WEIGHT))[self.row[side]]
        return chances

    @cached_property
    def expected(self) -> Floats:
        """The value of each row that the marks so far predict."""
        return self.known + self.by_row(np.where(self.open, self.pull * self.chances, 0.0))

    def by_row(self, values: Floats) -> Floats:
        """Returns, for each row, the sum of the values of its candidates."""
        return _sums(self.row, values, len(self.pool.items))


def _sums(row: NDArray[np.intp], values: Floats, rows: int) -> Floats:
    return np.bincount(row, weights=values, minlength=rows).astype(np.float64)


# ---------------------------------------------------------------------------------------- the order


def decisive_order(
    pool: Pool, pairs: Sequence[tuple[str, str]], seed: int = 0, thresholds: Sequence[float] = (0.0,)
) -> list[Candidate]:
    """Returns the open candidates, most decisive first. Candidates that change no pair come last.

    The thresholds apply to the difference a - b of every pair: `lift(a) > lift(b) + 0.3` has the threshold
    0.3. Ask for a new order after every import of marks, because new marks change what is worth asking next.
    """
    contests = [LiftDifference(pool, a, b) for a, b in pairs]
    lot = {each.key: _random_key(seed, *each.key) for each in pool.open}
    first = dict.fromkeys(lot, len(lot))
    for contest, open_ones in zip(contests, _open_thresholds(contests, thresholds), strict=True):
        for threshold in _nearest(open_ones, contest):
            for urgency, each in enumerate(_order(contest, threshold, lot, seed)):
                first[each.key] = min(first[each.key], urgency)
    pulling = {
        pool.candidates[place].key for each in contests for place in np.flatnonzero(each.pull).tolist()
    }
    return sorted(pool.open, key=lambda each: (first[each.key], each.key not in pulling, lot[each.key]))


def _open_thresholds(contests: Sequence[LiftDifference], thresholds: Sequence[float]) -> list[list[float]]:
    """Returns, for each pair, the thresholds at which further marks can change the decision."""
    if not contests:
        return []
    ends = subset_mean_intervals(np.vstack([each.ends for each in contests]).T)
    return [
        [each for each in thresholds if _decided(least, each) != _decided(most, each)]
        for least, most in zip(ends[::2], ends[1::2], strict=True)
    ]


def _decided(interval: Interval, threshold: float) -> Decision:
    low, high = interval.low - threshold, interval.high - threshold
    return "a" if low > TIE else "b" if high < -TIE else "neither"


def _nearest(thresholds: Sequence[float], contest: LiftDifference) -> list[float]:
    """Returns the threshold nearest to the expected difference.

    Returns two thresholds if the difference is midway between them.
    """
    away = {each: abs(float(contest.expected.mean()) - each) for each in thresholds}
    return [each for each, far in away.items() if far <= min(away.values()) + TIE]


def _random_key(seed: int, *parts: str) -> str:
    return digest(part.encode() for part in (str(seed), *parts))


def _order(
    contest: LiftDifference, threshold: float, lot: Mapping[tuple[str, str], str], seed: int
) -> list[Candidate]:
    """Returns the open candidates that can change this pair, first those that the decision depends on."""
    candidates, able = contest.pool.candidates, np.flatnonzero(contest.open & (contest.pull != 0)).tolist()
    matter = sorted(able, key=lambda place: lot[candidates[place].key])
    plan = _Forecast.of(contest, threshold, np.array(matter, dtype=np.intp))
    left = plan.left_open()
    spared = {matter[each] for each in left}
    needed = [candidates[place] for place in matter if place not in spared]
    if plan.towards == "neither":  # item by item, because only whole items can be left open
        needed.sort(key=lambda each: _random_key(seed, each.item_id))
    return needed + [candidates[matter[each]] for each in reversed(left)]


@dataclass(eq=False)
class _Forecast:
    """The rows to expect after some passages are judged, at both extremes of the passages left open.

    The decision of the sign-flip test is predicted by its normal approximation: the sum of the rows over the
    root of the sum of their squares, both as expected. Each row is its value minus the threshold. The
    prediction may be wrong. It serves only for planning: whether a threshold is open does not depend on it.
    """

    row: NDArray[np.intp]  # the row of each passage that matters
    step: Floats  # (2 × passages): the change at each extreme if the passage is left open
    noise: Floats  # the variance of what each passage will add, until it is left open
    ends: Floats  # (2 × rows): the rows at the extremes; leaving passages open moves them
    spread: Floats  # the variance of each row
    towards: Decision

    @classmethod
    def of(cls, contest: LiftDifference, threshold: float, matter: NDArray[np.intp]) -> _Forecast:
        """Returns the forecast for the case that no passage is left open and every row is as expected."""
        pull, chance, row = contest.pull[matter], contest.chances[matter], contest.row[matter]
        noise, rows = pull**2 * chance * (1 - chance), len(contest.pool.items)
        expected = contest.expected - threshold
        step = np.array([np.minimum(pull, 0.0), np.maximum(pull, 0.0)]) - pull * chance
        spread = _sums(row, noise, rows)
        deviations = expected.sum() / np.sqrt(max(float(np.sum(expected**2 + spread)), TIE))
        towards: Decision = "a" if deviations > REACH else "b" if deviations < -REACH else "neither"
        return cls(row, step, noise, np.array([expected, expected]), spread, towards)

    def left_open(self) -> list[int]:
        """Returns as many passages as can be left open, least important first."""
        best = self._copy()._singles([])
        whole: list[int] = []
        while self.towards == "neither" and (more := self._item(whole)):
            whole += more
            best = max(best, self._copy()._singles(whole), key=len)
        return best

    def _copy(self) -> _Forecast:
        return replace(self, ends=self.ends.copy(), spread=self.spread.copy())

    def _singles(self, before: Sequence[int]) -> list[int]:
        """Leaves passages open one by one, always the one that costs least, as long as the decision stays.

        Returns the passages left open, beginning with `before`.
        """
        left, waiting = list(before), np.ones(len(self.row), dtype=bool)
        waiting[left] = False
        while waiting.any():
            margins = np.where(waiting, self._margins(self.step, self.noise, self.row), -np.inf)
            each = int(margins.argmax())
            if margins[each] < 0:
                break
            self.ends[:, self.row[each]] += self.step[:, each]
            self.spread[self.row[each]] -= self.noise[each]
            waiting[each] = False
            left.append(each)
        return left

    def _item(self, before: Sequence[int]) -> list[int]:
        """Leaves open all passages of the item that costs least per passage, and returns them.

        If that would change the decision, or if no item is left, it changes nothing and returns no passage.
        """
        rows = np.arange(len(self.spread))
        size = np.bincount(np.delete(self.row, before), minlength=len(rows))
        step = np.array([_sums(self.row, end, len(rows)) for end in self.step])
        margins = self._margins(step, self.spread, rows)
        lost = self._margins(np.zeros((2, 1)), np.zeros(1), rows[:1]) - margins
        row = int(np.where(size > 0, lost / np.maximum(size, 1), np.inf).argmin())
        if margins[row] < 0 or not size[row]:
            return []
        self.ends[:, row] += step[:, row]
        self.spread[row] = 0.0
        return [int(each) for each in np.flatnonzero(self.row == row)]

    def _margins(self, step: Floats, noise: Floats, row: NDArray[np.intp]) -> Floats:
        """Returns how far the decision is from turning, after each single change of one row."""
        sums = self.ends.sum(axis=1, keepdims=True) + step
        squares = (self.ends**2).sum(axis=1, keepdims=True) + self.spread.sum() - noise
        squares = squares + step * (2 * self.ends[:, row] + step)
        low, high = np.array([-1.0, 1.0])[:, None] * sums / np.sqrt(np.maximum(squares, TIE))
        turned = {"a": low, "b": high, "neither": np.maximum(low, high)}[self.towards]
        return np.asarray((REACH if self.towards == "neither" else -REACH) - turned, dtype=np.float64)
