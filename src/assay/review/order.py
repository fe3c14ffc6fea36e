"""What to review first, and when to stop: the marks that can still change which of two arms finds more.

A pair of arms is compared by the difference of their lifts, row by row. The subset interval of its mean
lies above a threshold, below it, or around it. The threshold is zero to tell which arm is better, and 0.30
if a gate asks for that much more. An open passage raises or lowers its row if it turns out to be a semantic
match; a passage that both arms returned does neither. Both ends of the interval rise with every row, so the
two extreme completions bound all others: a threshold at which they agree is closed.

The order is planned backwards, for the open threshold that is nearest to the expected difference. Suppose
everything is judged and turns out as the marks so far predict: which passages could have been left open
without a change of the decision? Those come last, and every import makes a new plan. If one arm wins, they
are mostly passages of that arm: left open, one costs only the chance that it is a match, while an open
passage of the other arm counts as a match in full. If neither wins, whole items are left: a single row,
however large, hardly moves an interval that needs many. After the planned passages come those of pairs
without an open threshold, and at the very end those that change no pair.

What the order can reveal: passages near its end more often belong to the arm that leads, and those that
cannot matter were mostly returned by both. Within equal urgency a seeded hash decides, never an arm's name
or its ranking. A form must not show this order: it takes a batch, and shuffles the passages of an item.
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
from assay.measures.semantic import KEYWORD_MATCH, SEMANTIC_MATCH
from assay.review.pool import Candidate, Pool
from assay.stats.columns import TIE
from assay.stats.intervals import Interval
from assay.stats.subsets import subset_mean_intervals

if TYPE_CHECKING:
    from assay.core.protocols import Bools, Floats

Decision = Literal["a", "b", "neither"]

USUAL = 0.3  # the share of semantic matches to expect before anybody has judged anything
USUAL_WEIGHT = 4.0  # as many marks as that guess is worth
ITEM_WEIGHT = 10.0  # as many marks of an item as its arm's rate is worth
REACH = 1.96  # deviations from zero at which the sign-flip test is near 2.5 %


# ------------------------------------------------------------------------------------ what is open


@dataclass(frozen=True, eq=False)
class LiftDifference:
    """The difference of two arms' lifts, a - b, as far as the marks so far determine it."""

    pool: Pool
    a: str
    b: str

    def __post_init__(self) -> None:
        for arm in (self.a, self.b):
            if arm not in self.pool.arms:
                raise UsageError(f"There is no arm {arm!r} to compare. {did_you_mean(arm, self.pool.arms)}")

    @cached_property
    def row(self) -> NDArray[np.intp]:
        """The row of every candidate: the position of its item in the pool."""
        place = {item.item_id: row for row, item in enumerate(self.pool.items)}
        return np.array([place[each.item_id] for each in self.pool.candidates], dtype=np.intp)

    @cached_property
    def pull(self) -> Floats:
        """What every candidate adds to its row if it is a semantic match."""
        shares = [self._share(each, self.a) - self._share(each, self.b) for each in self.pool.candidates]
        return np.where(np.abs(shares) <= TIE, 0.0, shares)

    def _share(self, candidate: Candidate, arm: str) -> float:
        return 1 / self.pool.returned[candidate.item_id, arm] if arm in candidate.arms else 0.0

    @cached_property
    def open(self) -> Bools:
        return np.array([each.mark is None for each in self.pool.candidates], dtype=bool)

    @cached_property
    def found(self) -> Bools:
        """The candidates marked as semantic matches."""
        return np.array([each.mark == SEMANTIC_MATCH for each in self.pool.candidates], dtype=bool)

    @cached_property
    def known(self) -> Floats:
        """Each row from the marks so far."""
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
        """Each candidate's chance to be a semantic match: its arm's rate, drawn towards its item's."""
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
        """Each row as the marks so far predict it."""
        return self.known + self.by_row(np.where(self.open, self.pull * self.chances, 0.0))

    def by_row(self, values: Floats) -> Floats:
        """The sum over the candidates of each row."""
        return _sums(self.row, values, len(self.pool.items))


def _sums(row: NDArray[np.intp], values: Floats, rows: int) -> Floats:
    return np.bincount(row, weights=values, minlength=rows).astype(np.float64)


# ---------------------------------------------------------------------------------------- the order


def decisive_order(
    pool: Pool, pairs: Sequence[tuple[str, str]], seed: int = 0, thresholds: Sequence[float] = (0.0,)
) -> list[Candidate]:
    """The open candidates, most decisive first; last those that change no pair.

    The thresholds are of the difference a - b of every pair: 0.3 for `lift(a) > lift(b) + 0.3`. To be asked
    again whenever marks came in: what they say of the arms changes what is worth asking next.
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
    """For each pair the thresholds at which further marks can change the decision."""
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
    """The threshold nearest to the expected difference; two if it is midway between them."""
    away = {each: abs(float(contest.expected.mean()) - each) for each in thresholds}
    return [each for each, far in away.items() if far <= min(away.values()) + TIE]


def _random_key(seed: int, *parts: str) -> str:
    return digest(part.encode() for part in (str(seed), *parts))


def _order(
    contest: LiftDifference, threshold: float, lot: Mapping[tuple[str, str], str], seed: int
) -> list[Candidate]:
    """The open candidates that can change this pair, those first that its threshold depends on."""
    candidates, able = contest.pool.candidates, np.flatnonzero(contest.open & (contest.pull != 0)).tolist()
    matter = sorted(able, key=lambda place: lot[candidates[place].key])
    plan = _Forecast.of(contest, threshold, np.array(matter, dtype=np.intp))
    left = plan.left_open()
    spared = {matter[each] for each in left}
    needed = [candidates[place] for place in matter if place not in spared]
    if plan.towards == "neither":  # item by item, because whole items are what can be left
        needed.sort(key=lambda each: _random_key(seed, each.item_id))
    return needed + [candidates[matter[each]] for each in reversed(left)]


@dataclass(eq=False)
class _Forecast:
    """The rows to expect once some passages are judged, at both extremes of those left open.

    How the sign-flip test would decide is foretold by its normal form, the sum of the rows over the root of
    the sum of their squares, both as expected. The rows are those above the threshold. Planning may err:
    whether a threshold is open does not rely on it.
    """

    row: NDArray[np.intp]  # of each passage that matters
    step: Floats  # (2 × passages): what leaving one open changes at either extreme
    noise: Floats  # the variance of what each passage will add, until it is left open
    ends: Floats  # (2 × rows): the rows at the extremes; leaving passages open moves them
    spread: Floats  # the variance of each row
    towards: Decision

    @classmethod
    def of(cls, contest: LiftDifference, threshold: float, matter: NDArray[np.intp]) -> _Forecast:
        """The rows if nothing is left open, and everything turns out as expected."""
        pull, chance, row = contest.pull[matter], contest.chances[matter], contest.row[matter]
        noise, rows = pull**2 * chance * (1 - chance), len(contest.pool.items)
        expected = contest.expected - threshold
        step = np.array([np.minimum(pull, 0.0), np.maximum(pull, 0.0)]) - pull * chance
        spread = _sums(row, noise, rows)
        deviations = expected.sum() / np.sqrt(max(float(np.sum(expected**2 + spread)), TIE))
        towards: Decision = "a" if deviations > REACH else "b" if deviations < -REACH else "neither"
        return cls(row, step, noise, np.array([expected, expected]), spread, towards)

    def left_open(self) -> list[int]:
        """As many passages as can be left open, the least important first."""
        best = self._copy()._singles([])
        whole: list[int] = []
        while self.towards == "neither" and (more := self._item(whole)):
            whole += more
            best = max(best, self._copy()._singles(whole), key=len)
        return best

    def _copy(self) -> _Forecast:
        return replace(self, ends=self.ends.copy(), spread=self.spread.copy())

    def _singles(self, before: Sequence[int]) -> list[int]:
        """Leaves one passage after another open, the one that costs least, while the decision stays."""
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
        """All passages of the item that costs least per passage, if the decision stays without them."""
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
        """How far the decision is from turning after each single change of one row."""
        sums = self.ends.sum(axis=1, keepdims=True) + step
        squares = (self.ends**2).sum(axis=1, keepdims=True) + self.spread.sum() - noise
        squares = squares + step * (2 * self.ends[:, row] + step)
        low, high = np.array([-1.0, 1.0])[:, None] * sums / np.sqrt(np.maximum(squares, TIE))
        turned = {"a": low, "b": high, "neither": np.maximum(low, high)}[self.towards]
        return np.asarray((REACH if self.towards == "neither" else -REACH) - turned, dtype=np.float64)
