"""What a clause's expression is worth on the rows of a study: point, leave-one-out values, resamples.

A value is one array: the point estimate first, then one value a left-out cluster, then one a resample. All
values of a clause come from the same draws, so arithmetic on them, `max` over systems included, is the joint
bootstrap of the whole expression.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from assay.errors import UsageError, did_you_mean
from assay.gates.syntax import Binary, Call, Clause, Condition, Expression, Negate, Number
from assay.measures.parse import make_measure
from assay.plugins import STATISTICS, Registry
from assay.protocols import Measure, Statistic
from assay.records import Judgment
from assay.spec import Spec
from assay.stats.resample import (
    bootstrap_weights,
    cluster_sums,
    jackknife_means,
    plain_means,
    resampled_means,
)
from assay.stats.rows import Rows

Floats = NDArray[np.float64]
FUNCTIONS = {"max": np.maximum, "min": np.minimum}


@dataclass(frozen=True)
class Mean:
    """A leaf: the mean of one measure of one system over a slice."""

    call: Call
    system: str
    measure: Measure
    where: tuple[Condition, ...]


@dataclass(frozen=True)
class Spanning:
    """A leaf: a statistic over columns of scores, or over raters' judgments of a label."""

    call: Call
    statistic: Statistic
    columns: tuple[Mean, ...] = ()
    label: str | None = None
    where: tuple[Condition, ...] = ()


Leaf = Mean | Spanning


def calls(expression: Expression) -> Iterator[Call]:
    """Every call of an expression that stands for a number, functions such as `max` looked through."""
    match expression:
        case Call(name=name, args=args) if name in FUNCTIONS:
            for arg in args:
                yield from calls(arg)
        case Call():
            yield expression
        case Negate(operand=operand):
            yield from calls(operand)
        case Binary(left=left, right=right):
            yield from calls(left)
            yield from calls(right)


def leaf(call: Call, systems: Sequence[str], registry: Registry, where: tuple[Condition, ...] = ()) -> Leaf:
    """What a call refers to; a name that is neither measure nor statistic nor system is an error."""
    place = (*where, *call.where)
    if call.name in registry.names(STATISTICS):
        return _spanning(call, systems, registry, place)
    measure = make_measure(call.name, dict(call.params), call.at, registry)
    if not call.args and len(systems) == 1:
        return Mean(call, systems[0], measure, place)
    if len(call.args) != 1 or not isinstance(call.args[0], Call):
        raise UsageError(
            f"column {call.column}: {call.head} needs one system, as in {call.head}({systems[0]})"
        )
    return Mean(call, _system(call.args[0], systems), measure, place)


def _spanning(
    call: Call, systems: Sequence[str], registry: Registry, where: tuple[Condition, ...]
) -> Spanning:
    statistic: Statistic = registry.create(STATISTICS, Spec(call.name, dict(call.params)))
    args = [arg for arg in call.args if isinstance(arg, Call)]
    if len(args) != len(call.args) or not args:
        raise UsageError(f"column {call.column}: {call.name} takes measures or a label, not numbers")
    if statistic.reads == "judgments":
        return Spanning(call, statistic, label=args[0].name, where=where)
    columns = [leaf(arg, systems, registry, where) for arg in args]
    means = tuple(column for column in columns if isinstance(column, Mean))
    if len(means) != len(columns):
        raise UsageError(f"column {call.column}: {call.name} takes measures, not statistics of them")
    return Spanning(call, statistic, means, where=where)


def _system(call: Call, systems: Sequence[str]) -> str:
    if call.name not in systems:
        raise UsageError(
            f"column {call.column}: there is no system {call.name!r}. {did_you_mean(call.name, systems)}"
        )
    return call.name


@dataclass(frozen=True)
class Scope:
    """What resampling draws for one clause: the clusters that any of its leaves has rows in."""

    codes: NDArray[np.int64]  # the cluster of every row, -1 outside
    n: int

    @property
    def length(self) -> int:
        """How long a value is without its resamples."""
        return 1 + self.n


@dataclass
class Evaluator:
    """Evaluates clauses over the rows of a study.

    `impute` says at which end of the range ("low" or "high") a system's failed rows count; systems it does
    not name leave theirs out.
    """

    rows: Rows
    registry: Registry
    judgments: Sequence[Judgment] = ()
    resamples: int = 10_000
    seed: int = 0
    level: float = 0.95

    def leaves(self, clause: Clause) -> dict[Call, Leaf]:
        """The leaves of both sides of a clause."""
        found = [*calls(clause.left), *calls(clause.right)]
        return {call: leaf(call, self.rows.systems, self.registry, clause.where) for call in found}

    def values(self, mean: Mean, impute: Mapping[str, str]) -> Floats:
        """A leaf's values, NaN for every row outside its slice or without a value."""
        column = self.rows.column(mean.system, mean.measure.name)
        end = impute.get(mean.system)
        bound = mean.measure.high if end == "high" else mean.measure.low
        if end is not None and bound is not None:
            column = column.imputed(bound)
        return np.where(self.rows.mask(mean.where) & column.counted, column.values, np.nan)

    def scope(self, leaves: Iterable[Leaf], impute: Mapping[str, str]) -> Scope:
        """The clusters that one clause draws from."""
        used = np.zeros(len(self.rows), dtype=bool)
        for found in leaves:
            for mean in means_of(found):
                used |= ~np.isnan(self.values(mean, impute))
            if isinstance(found, Spanning) and found.label is not None:
                used[self._marks(found)[1]] = True
        codes = np.full(len(self.rows), -1, dtype=np.int64)
        present, codes[used] = np.unique(self.rows.clusters[used], return_inverse=True)
        return Scope(codes, len(present))

    def value(
        self, expression: Expression, leaves: Mapping[Call, Leaf], impute: Mapping[str, str], scope: Scope
    ) -> Floats:
        """Point, leave-one-out values and resamples of an expression; a constant is an array of one."""
        match expression:
            case Number(value=value):
                return np.array([value])
            case Negate(operand=operand):
                return -self.value(operand, leaves, impute, scope)
            case Binary(op=op, left=left, right=right):
                sides = (self.value(side, leaves, impute, scope) for side in (left, right))
                return _combined(op, *sides)
            case Call(name=name, args=args) if name in FUNCTIONS:
                return reduce(FUNCTIONS[name], (self.value(arg, leaves, impute, scope) for arg in args))
            case Call():
                found = leaves[expression]
                if isinstance(found, Mean):
                    return self._mean(found, impute, scope)
                return self._statistic(found, impute, scope)

    def _mean(self, mean: Mean, impute: Mapping[str, str], scope: Scope) -> Floats:
        inside = scope.codes >= 0
        sums, counts = cluster_sums(self.values(mean, impute)[inside], scope.codes[inside])
        return np.concatenate(
            [
                plain_means(sums, counts),
                jackknife_means(sums, counts)[:, 0],
                resampled_means(sums, counts, self.resamples, self.seed)[:, 0],
            ]
        )

    def _statistic(self, found: Spanning, impute: Mapping[str, str], scope: Scope) -> Floats:
        columns, rows = self._marks(found) if found.label else self._paired(found, impute)
        if not len(rows):
            return np.full(scope.length + self.resamples, np.nan)
        parts = [found.statistic.values(columns, np.ones((1, len(rows))))]
        parts.append(np.full(scope.n, np.nan))  # quantiles and ranks have no consistent jackknife
        parts += [
            found.statistic.values(columns, weights[:, scope.codes[rows]])
            for weights in bootstrap_weights(scope.n, self.resamples, self.seed)
        ]
        return np.concatenate(parts)

    def _paired(self, found: Spanning, impute: Mapping[str, str]) -> tuple[list[Floats], NDArray[np.int64]]:
        columns = [self.values(mean, impute) for mean in found.columns]
        rows = np.flatnonzero(~np.isnan(np.array(columns)).any(axis=0))
        return [column[rows] for column in columns], rows

    def _marks(self, found: Spanning) -> tuple[list[Floats], NDArray[np.int64]]:
        """One column a rater, one entry a thing two or more judged, and the row each belongs to."""
        kept = self.rows.mask(found.where)
        place = {item.item_id: row for row, item in enumerate(self.rows.items) if kept[row]}
        marks: dict[tuple[str, str | None, str | None], dict[str, float]] = {}
        for mark in self.judgments:
            if mark.label == found.label and mark.item_id in place:
                marks.setdefault((mark.item_id, mark.target, mark.arm), {})[mark.judge] = mark.grade
        shared = {thing: by for thing, by in marks.items() if len(by) > 1}
        raters = list(dict.fromkeys(judge for by in shared.values() for judge in by))
        columns = [np.array([by.get(rater, np.nan) for by in shared.values()]) for rater in raters]
        return columns, np.array([place[item] for item, _, _ in shared], dtype=np.int64)


def means_of(found: Leaf) -> tuple[Mean, ...]:
    """The columns of scores a leaf reads."""
    return (found,) if isinstance(found, Mean) else found.columns


def _combined(op: str, left: Floats, right: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        match op:
            case "+":
                return left + right
            case "-":
                return left - right
            case "*":
                return left * right
        ratio: Floats = np.where(right == 0, np.nan, left / right)
        return ratio
