"""Computes the value of a clause's expression: the estimate, leave-one-out values and resamples.

All of them are in one array: first the estimate, then one value per left-out cluster, then one per resample.
All values of a clause come from the same draws. So arithmetic on them, and `max` over systems, is the joint
bootstrap of the whole expression.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from assay.core.block import Block
from assay.core.records import Arm, Judgment
from assay.core.registry import Registry, as_plugin_error
from assay.gates.operand import CHOICES, Mean, Operand, StatisticOperand, calls_in, means_of, resolve_call
from assay.gates.syntax import Arithmetic, Call, Clause, Expression, ItemTest, Negation, Number
from assay.measures.same_answers import StoredAnswers, reads_only_answers
from assay.stats.columns import TIE
from assay.stats.resample import (
    Draws,
    chunk_sizes,
    cluster_sums,
    jackknife_means,
    plain_means,
    weighted_means,
)
from assay.stats.rows import Rows

if TYPE_CHECKING:
    from assay.stats.checked_judge import PredictionPowered
    from assay.stats.prediction_powered import PredictionPoweredMean


Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Weights = Callable[[int], Iterable[Floats]]  # yields resampling weights for this number of clusters
FailureValues = Mapping[tuple[str, str], float]  # the value of failed rows, by system and measure


_PASSES: dict[str, Callable[[Floats], Bools]] = {  # by sign: says where left minus right passes
    ">": lambda gap: gap > TIE,
    ">=": lambda gap: gap >= -TIE,
    "<": lambda gap: gap < -TIE,
    "<=": lambda gap: gap <= TIE,
    "=": lambda gap: np.abs(gap) <= TIE,
    "!=": lambda gap: np.abs(gap) > TIE,
}


def value_of(expression: Expression, values: Mapping[Call, Floats]) -> Floats:
    """Returns the value of an expression, element by element, given the values of its calls."""
    match expression:
        case Number(value=value):
            return np.array([value])
        case Negation(operand=operand):
            return -value_of(operand, values)
        case Arithmetic(op=op, left=left, right=right):
            return combine(op, value_of(left, values), value_of(right, values))
        case Call(name=name, args=args) if name in CHOICES:
            choose = np.maximum if name == "max" else np.minimum
            return reduce(choose, (value_of(arg, values) for arg in args))
        case Call():
            return values[expression]
        case ItemTest(left=left, op=op, right=right):
            gap = combine("-", value_of(left, values), value_of(right, values))
            return np.where(np.isnan(gap), np.nan, _PASSES[op](gap))


def combine(op: str, left: Floats, right: Floats) -> Floats:
    """Returns a sum, difference, product or ratio. A ratio to zero and infinity minus infinity are NaN."""
    with np.errstate(invalid="ignore"):
        match op:
            case "+":
                return left + right
            case "-":
                return left - right
            case "*":
                return left * right
        quotient: Floats = left / np.where(right == 0, np.nan, right)
        return quotient


@dataclass(frozen=True)
class Scope:
    """The clusters that resampling draws for a clause: all clusters in which one of its operands has rows."""

    codes: NDArray[np.int64]  # the cluster of every row, -1 outside
    n: int

    @cached_property
    def size(self) -> int:
        """The number of rows in all clusters."""
        return int((self.codes >= 0).sum())

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256(self.codes.tobytes()).hexdigest()


@dataclass(frozen=True, eq=False)
class Evaluator:
    """Evaluates clauses on the rows of a study.

    `systems` are the systems that clauses may name; by default all that were run. `raters` are the raters
    whose agreement counts if a clause names none; by default everybody who judged.
    """

    rows: Rows
    registry: Registry
    judgments: Sequence[Judgment] = ()
    resamples: int = 10_000
    seed: int = 0
    level: float = 0.95
    systems: Sequence[str] = ()
    raters: Sequence[str] | None = None
    prediction_powered: PredictionPowered | None = None  # set if people checked a paid judge
    left_out: Sequence[Block] = ()  # the items that a selection leaves out
    broken: Mapping[tuple[str, str], str] = field(
        default_factory=dict
    )  # why a measure broke, by system and measure
    same_answers: StoredAnswers | None = None  # says whether two systems gave the same answers

    @cached_property
    def draws(self) -> Draws:
        return Draws(self.resamples, self.seed)

    def operands(self, clause: Clause) -> dict[Call, Operand]:
        """Returns the operands of both sides of a clause, by call."""
        found = [*calls_in(clause.left), *calls_in(clause.right)]
        systems = self.systems or self.rows.systems
        return {call: resolve_call(call, systems, self.registry, clause.where, clause) for call in found}

    def values(self, mean: Mean, counting: FailureValues, seed: int | None = None) -> Floats:
        """Returns a mean's values, of one seed or of all; NaN outside its slice or without a value."""
        column = self.rows.column(*mean.column)
        if mean.column in counting:
            column = column.imputed(counting[mean.column])
        values = column.values
        if seed is not None:
            values = self.rows.by_seed(*mean.column).get(seed, values)
        return np.where(self.rows.mask(mean.where) & column.counted, values, np.nan)

    def arms(self, mean: Mean) -> list[Arm]:
        """Returns the arms of a mean's system that meet its conditions on factors."""
        inside = self.rows.mask(mean.where).reshape(-1, len(self.rows.items))
        combos = zip(self.rows.combinations, inside, strict=True)
        chosen = [self.rows.arm(mean.system, combo) for combo, items in combos if items.any()]
        return list({arm.name: arm for arm in chosen if arm is not None}.values())

    def corrected_mean(
        self, mean: Mean, counting: FailureValues, level: float
    ) -> PredictionPoweredMean | None:
        """Returns the mean, corrected by people's labels; None if there is nothing to correct."""
        if self.prediction_powered is None:
            return None
        arms, items = [arm.name for arm in self.arms(mean)], self.rows.item_ids(mean.where)
        failed = counting.get(mean.column)
        return self.prediction_powered.mean(arms, mean.measure, items, level, failed)

    def under_seed(self, found: Operand, seed: int, weights: Floats, scope: Scope) -> Floats:
        """Returns the value of an operand under one seed, for each row of cluster weights."""
        columns, rows = self.columns(found, {}, seed)
        drawn = weights[:, scope.codes[rows]]
        if isinstance(found, Mean):
            with np.errstate(invalid="ignore"):  # a resample may hold none of the rows
                mean: Floats = drawn @ columns[0] / drawn.sum(axis=1)
            return mean
        with as_plugin_error(f"{found.name} broke"):
            return np.asarray(found.statistic.values(columns, drawn))

    def used(self, found: Operand, counting: FailureValues) -> Bools:
        """Returns the rows that an operand is computed on, as a mask."""
        rows = np.zeros(len(self.rows), dtype=bool)
        rows[self.columns(found, counting)[1]] = True
        return rows

    def clusters(self, found: Operand, counting: FailureValues) -> int:
        """Returns the number of clusters that an operand is computed on."""
        return len(np.unique(self.rows.clusters[self.used(found, counting)]))

    def identical(self, clause: Clause, operands: Mapping[Call, Operand]) -> bool:
        """Whether a clause compares systems with the same answers, so that its margin is certain."""
        first, *others = operands.values()
        systems = {mean.system for found in operands.values() for mean in means_of(found)}
        if self.same_answers is None or len(systems) < 2 or any(each.kind != first.kind for each in others):
            return False
        # the margin of equal values must not depend on them: `a >= b - 0.02`, not `a >= 1.1 * b`
        anything = dict.fromkeys(operands, np.array([0.25, 0.75]))
        margin = combine("-", value_of(clause.left, anything), value_of(clause.right, anything))
        if np.isnan(margin).any() or np.ptp(margin) > TIE:
            return False
        pairs = (pair for each in others for pair in zip(means_of(first), means_of(each), strict=True))
        return all(self._same(one, other) for one, other in pairs)

    def _same(self, one: Mean, other: Mean) -> bool:
        """Whether two operands have the same scores because the answers are the same."""
        if self.same_answers is None or one.where != other.where or not reads_only_answers(one.measure):
            return False
        inside = self.rows.mask(one.where)
        left, right = (self.rows.column(*mean.column) for mean in (one, other))
        asked = inside & left.expected
        if not asked.any() or not np.array_equal(asked, inside & right.expected):
            return False
        if not np.allclose(left.values[asked], right.values[asked], rtol=0, atol=TIE, equal_nan=True):
            return False
        for combo, chosen in zip(
            self.rows.combinations, asked.reshape(-1, len(self.rows.items)), strict=True
        ):
            items = [item.item_id for item, here in zip(self.rows.items, chosen, strict=True) if here]
            arms = [self.rows.arm(mean.system, combo) for mean in (one, other)]
            known = [arm for arm in arms if arm is not None]
            if items and (len(known) < 2 or not self.same_answers.on(known[0], known[1], items)):
                return False
        return True

    def scope(self, operands: Iterable[Operand], counting: FailureValues) -> Scope:
        """Returns the clusters that resampling draws for a clause."""
        used = np.any([self.used(found, counting) for found in operands], axis=0)
        codes = np.full(len(self.rows), -1, dtype=np.int64)
        present, codes[used] = np.unique(self.rows.clusters[used], return_inverse=True)
        return Scope(codes, len(present))

    def drawn(
        self,
        operands: Mapping[Call, Operand],
        ways: Sequence[FailureValues],
        scope: Scope,
        *,
        subsets: bool = False,
    ) -> list[dict[Call, Floats]]:
        """Returns the values of every call, for each way to count failed rows, from the same resamples."""
        self.draw_ahead([(found, way) for way in ways for found in operands.values()], scope, subsets=subsets)
        return [
            {
                call: self._drawn[self._key(found, way, scope, subsets=subsets)]
                for call, found in operands.items()
            }
            for way in ways
        ]

    def draw_ahead(
        self, wanted: Iterable[tuple[Operand, FailureValues]], scope: Scope, *, subsets: bool = False
    ) -> None:
        """Resamples what many operands read, all means in one product. Earlier results are kept and used.

        Clauses of a gate mostly read the same columns, and one product for all of them is many times faster.
        """
        weights = self._subsets if subsets else self.draws.weights
        columns: dict[tuple[object, ...], tuple[Mean, FailureValues]] = {}
        for found, way in wanted:
            key = self._key(found, way, scope, subsets=subsets)
            if key not in self._drawn:
                if isinstance(found, Mean):
                    columns[key] = found, way
                else:
                    self._drawn[key] = self._statistic(found, way, scope, weights)
        if not columns:
            return
        # sorted, because a column's place in a product may change its last bit
        ordered = sorted(columns, key=str)
        inside = scope.codes >= 0
        table = np.column_stack([self.values(*columns[key]) for key in ordered])[inside]
        sums = cluster_sums(table, scope.codes[inside])
        drawn = weighted_means(weights(scope.n), *sums)
        whole = np.vstack([plain_means(*sums), jackknife_means(*sums), drawn])
        self._drawn.update(zip(ordered, np.ascontiguousarray(whole.T), strict=True))

    @cached_property
    def _drawn(self) -> dict[tuple[object, ...], Floats]:
        return {}

    def _key(self, found: Operand, way: FailureValues, scope: Scope, *, subsets: bool) -> tuple[object, ...]:
        """Returns everything that the resampled values of an operand depend on."""
        if isinstance(found, Mean):
            return (*found.column, found.where, way.get(found.column), subsets, scope.digest)
        failed = tuple(way.get(mean.column) for mean in found.columns)
        return repr(found), failed, subsets, scope.digest

    def _subsets(self, n: int) -> Iterator[Floats]:
        from assay.stats.subsets import subset_weights

        return subset_weights(n, self.resamples, self.seed)

    def _statistic(
        self, found: StatisticOperand, counting: FailureValues, scope: Scope, weights: Weights
    ) -> Floats:
        columns, rows = self.columns(found, counting)
        parts = list[Floats]()
        with as_plugin_error(f"{found.name} broke"):
            for drawn in itertools.chain([np.ones((1, scope.n))], weights(scope.n)):
                parts.append(np.asarray(found.statistic.values(columns, drawn[:, scope.codes[rows]])))
                if parts[-1].shape != (len(drawn),):
                    raise ValueError("it did not give one value for each resample")
            jackknife = self._left_out_one(found, columns, scope.codes[rows], scope.n)
        return np.concatenate([parts[0], jackknife, *parts[1:]])

    @staticmethod
    def _left_out_one(
        found: StatisticOperand, columns: Sequence[Floats], codes: NDArray[np.int64], n: int
    ) -> Floats:
        """Returns the statistic without each cluster; NaN without a jackknife, as for quantiles and ranks."""
        if not found.traits.smooth:
            return np.full(n, np.nan)
        parts, start = list[Floats](), 0
        for size in chunk_sizes(n, n):
            left_out = np.arange(start, start + size)
            parts.append(np.asarray(found.statistic.values(columns, 1.0 - (left_out[:, None] == codes))))
            start += size
        return np.concatenate(parts)

    def columns(
        self, found: Operand, counting: FailureValues, seed: int | None = None
    ) -> tuple[list[Floats], NDArray[np.int64]]:
        """Returns the columns of an operand over the rows that all of them have, and these rows."""
        if isinstance(found, StatisticOperand) and found.label is not None:
            return self._marks(found)
        columns = [self.values(mean, counting, seed) for mean in means_of(found)]
        if isinstance(found, StatisticOperand) and found.test is not None:
            columns = [value_of(found.test, dict(zip(found.calls, columns, strict=True)))]
        if isinstance(found, StatisticOperand) and found.tag:
            columns.append(self.rows.numbers(found.tag))
        rows = np.flatnonzero(~np.isnan(columns).any(axis=0))
        return [column[rows] for column in columns], rows

    def _marks(self, found: StatisticOperand) -> tuple[list[Floats], NDArray[np.int64]]:
        """Returns one column of marks per rater, and the rows of the marked items.

        Only what two or more raters judged is included.
        """
        from assay.judges.labels import shared_ratings

        place = {
            self.rows.item_of(int(row)).item_id: row for row in np.flatnonzero(self.rows.mask(found.where))
        }
        marks = [mark for mark in self.judgments if mark.label == found.label and mark.item_id in place]
        everybody = list(dict.fromkeys(mark.judge for mark in marks)) if self.raters is None else self.raters
        shared = shared_ratings(marks, found.raters or everybody)
        raters = dict.fromkeys(rater for by in shared.values() for rater in by)
        columns = [np.array([by.get(rater, np.nan) for by in shared.values()]) for rater in raters]
        return columns, np.array([place[thing[0]] for thing in shared], dtype=np.int64)
