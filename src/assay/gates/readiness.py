"""Says why the rows of a clause allow no decision at any value, and how failed rows count."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from assay.core.block import FAILED, PENDING, UNJUDGED
from assay.core.records import Arm, Item
from assay.core.registry import as_plugin_error
from assay.gates.evaluator import Evaluator, FailureValues
from assay.gates.expansion import call_directions
from assay.gates.operand import CHOICES, Mean, Operand, StatisticOperand, means_of
from assay.gates.syntax import Arithmetic, Call, Clause, Condition

MOST_FAILING = 6  # columns with failed rows; all combinations of their ends are tried
Bools = NDArray[np.bool_]


def explain_undecidable(means: Sequence[Mean], evaluator: Evaluator) -> str:
    """Says why missing, unjudged or unpaired rows allow no decision; empty if they allow one."""
    if absent := [mean.system for mean in means if mean.system not in evaluator.rows.systems]:
        return f"{absent[0]} was not run"
    if broken := [evaluator.broken[mean.column] for mean in means if mean.column in evaluator.broken]:
        return broken[0].rstrip(".")
    if reason := _not_run(means, evaluator):
        return reason
    for n, word in (
        (count_items(means, evaluator, PENDING), "not run yet"),
        (count_items(means, evaluator, UNJUDGED), "not judged"),
        (_left_out(means, evaluator), "left out by --where"),
    ):
        if n:
            return f"{n} item{'s' * (n != 1)} {word}"
    failing = [mean for mean in means if count_items([mean], evaluator, FAILED)]
    if len({mean.column for mean in failing}) > MOST_FAILING:
        return f"more than {MOST_FAILING} columns have failed items"
    if unbounded := [mean for mean in failing if mean.measure.high is None]:
        n, name = count_items(unbounded, evaluator, FAILED), unbounded[0].measure.name
        return f"{n} failed items, and {name} has no upper end to count them at"
    return _why_unpaired(means, evaluator)


def explain_no_rows(operands: Mapping[Call, Operand], evaluator: Evaluator, way: FailureValues) -> str:
    """Says which part of a clause applies to no row, or lacks a number that it needs; empty if none."""
    for call, found in operands.items():
        if (
            isinstance(found, StatisticOperand)
            and found.tag
            and (n := _without_number(found, evaluator, way))
        ):
            return f"{n} item{'s' * (n != 1)} without a number for {found.tag}"
        if not evaluator.used(found, way).any():
            if isinstance(found, StatisticOperand) and found.label is not None:
                return f"no item has two judgments of {found.label!r}"
            return "no item applies" if len(operands) == 1 else f"no item applies to {call}"
    return ""


def _without_number(found: StatisticOperand, evaluator: Evaluator, way: FailureValues) -> int:
    """Returns how many rows have all scores of a statistic, but no number for the tag that weighs them."""
    columns = [evaluator.values(mean, way) for mean in found.columns]
    there = ~np.isnan(columns).any(axis=0)
    return int(np.sum(there & np.isnan(evaluator.rows.numbers(found.tag))))


def ways_to_count_failures(means: Sequence[Mean], evaluator: Evaluator) -> list[FailureValues]:
    """Returns all ways to count failed rows: each column with failed rows, at each end of its range."""
    failing = {mean.column: mean.measure for mean in means if count_items([mean], evaluator, FAILED)}
    ends = [(each.low, math.inf if each.high is None else each.high) for each in failing.values()]
    return [dict(zip(failing, chosen, strict=True)) for chosen in itertools.product(*ends)]


def failing_systems(means: Sequence[Mean], evaluator: Evaluator, share: float) -> dict[Mean, str]:
    """Returns the means whose system failed on more than a share of its items, each with the reason.

    Empty if some of these items were left out or not run, or if a measure broke.
    """
    if any(mean.column in evaluator.broken or mean.system not in evaluator.rows.systems for mean in means):
        return {}
    if _not_run(means, evaluator) or _left_out(means, evaluator):
        return {}
    found = {}
    for mean in means:
        column, inside = evaluator.rows.column(*mean.column), evaluator.rows.mask(mean.where)
        failed, asked = (
            int(_by_item(rows & inside, evaluator).sum())
            for rows in (column.status == FAILED, column.expected)
        )
        if reason := describe_failing(mean.system, failed, asked, share):
            found[mean] = reason
    return found


def is_candidate(mean: Mean, clause: Clause, operands: Mapping[Call, Operand], *, kills: bool) -> bool:
    """Whether a better value of a mean brings go nearer; otherwise the mean is only a reference.

    For a statistic over several systems the answer is unknown, so each of its systems counts as a candidate.
    """
    for call, rises in call_directions(Arithmetic("-", clause.left, clause.right), operands):
        if call.name in CHOICES:
            continue
        found = operands[call]
        if isinstance(found, StatisticOperand) and len({each.system for each in found.columns}) > 1:
            return True
        higher_is_better = mean.measure.better == "higher"
        nearer_to_go = higher_is_better if rises is None else (rises == clause.upward) != kills
        if mean in means_of(found) and nearer_to_go == higher_is_better:
            return True
    return False


def count_asked(means: Sequence[Mean], evaluator: Evaluator) -> int:
    """Returns the number of items that the means of a clause are about."""
    rows = np.zeros(len(evaluator.rows), dtype=bool)
    for mean in means:
        rows |= evaluator.rows.column(*mean.column).expected & evaluator.rows.mask(mean.where)
    return int(_by_item(rows, evaluator).sum())


def describe_failing(system: str, failed: int, asked: int, share: float) -> str:
    """Says that a system failed on more items than a gate allows; empty if it did not."""
    if failed <= share * asked:
        return ""
    return (
        f"{system} failed on {failed} of {asked} items, more than the {100 * share:g} % that the gate allows"
    )


def count_items(means: Sequence[Mean], evaluator: Evaluator, code: int) -> int:
    """Returns the number of items with a status in any of the columns."""
    rows = np.zeros(len(evaluator.rows), dtype=bool)
    for mean in means:
        rows |= (evaluator.rows.column(*mean.column).status == code) & evaluator.rows.mask(mean.where)
    return int(_by_item(rows, evaluator).sum())


def _not_run(means: Sequence[Mean], evaluator: Evaluator) -> str:
    """Names the values of a factor that a clause needs and that were not run; empty if all were run.

    Some of the values must not decide for all: `stage=10k|50k` is undecided if only 10k was run.
    """
    asked = ((mean.system, condition) for mean in means for condition in mean.where)
    return next(filter(None, (_unmet(condition, system, evaluator) for system, condition in asked)), "")


def _unmet(condition: Condition, system: str, evaluator: Evaluator) -> str:
    """Says why the arms do not meet a condition on a factor; empty if they do, or if it is about a tag."""
    name, run = condition.name, factor_values_run(condition.name, evaluator)
    if not run or "*" in condition.values:
        return ""
    if condition.sign or not condition.equal:
        return "" if any(condition.met_by([value]) for value in run) else describe_only_run(name, run)
    if absent := [value for value in condition.values if value not in run]:
        return f"{name} {' and '.join(absent)} {_was(absent)} not run"
    own = {
        arm.factors.get(name) for arm in evaluator.rows.arms(system)
    }  # None: the system does not have the factor
    if absent := [value for value in condition.values if own.isdisjoint({None, value})]:
        return f"{system} was not run at {name} {' and '.join(absent)}"
    return ""


def factor_values_run(name: str, evaluator: Evaluator) -> list[str]:
    """Returns the values of a factor that arms were run with; empty if no arm has the factor."""
    return list(dict.fromkeys(combo[name] for combo in evaluator.rows.combinations if name in combo))


def describe_only_run(name: str, run: Sequence[str]) -> str:
    """Says that only these values of a factor were run."""
    return f"only {name} {' and '.join(run)} {_was(run)} run"


def _was(values: Sequence[str]) -> str:
    return "was" if len(values) == 1 else "were"


def _left_out(means: Sequence[Mean], evaluator: Evaluator) -> int:
    """Returns how many items of a clause a selection left out. The others must not decide for all."""
    found: set[str] = set()
    for mean, block in itertools.product(means, evaluator.left_out):
        if block.arm.system == mean.system and not block.lacks(mean.measure.needs):
            with as_plugin_error(f"{mean.measure.name} broke on {block.arm.name}"):
                pairs = zip(block.items, mean.measure.applies(block), strict=True)
            found |= {item.item_id for item, applies in pairs if applies and _meets(item, block.arm, mean)}
    return len(found)


def _meets(item: Item, arm: Arm, mean: Mean) -> bool:
    """Whether an item under an arm is in the slice of a mean."""
    return all(
        condition.met_by([*filter(None, [arm.factors.get(condition.name)]), *item.values(condition.name)])
        for condition in mean.where
    )


def _why_unpaired(means: Sequence[Mean], evaluator: Evaluator) -> str:
    """Says why means cannot be compared: systems need the same rows, slices of factors the same items."""
    for one, other in itertools.combinations(means, 2):
        same = one.measure.name == other.measure.name and _tags(one, evaluator) == _tags(other, evaluator)
        if one.system == other.system and not same:
            continue  # measures and slices of one system may be compared with each other
        rows = [_expected(mean, evaluator) for mean in (one, other)]
        if one.where != other.where:
            rows = [_by_item(each, evaluator) for each in rows]
        differ = rows[0] != rows[1]
        if differ.any():
            pair = " and ".join(dict.fromkeys([one.system, other.system]))
            return f"unpaired: {pair} differ on {evaluator.rows.name_items(differ)}"
    return ""


def _tags(mean: Mean, evaluator: Evaluator) -> list[Condition]:
    """Returns the conditions of a mean that are about items, not about arms."""
    factors = evaluator.rows.combinations[0]
    return [condition for condition in mean.where if condition.name not in factors]


def _expected(mean: Mean, evaluator: Evaluator) -> Bools:
    """Returns the rows that have a value, or would have one if they had not failed."""
    column = evaluator.rows.column(*mean.column)
    expected: Bools = evaluator.rows.mask(mean.where) & (column.counted | (column.status == FAILED))
    return expected


def _by_item(rows: Bools, evaluator: Evaluator) -> Bools:
    return np.asarray(rows.reshape(-1, len(evaluator.rows.items)).any(axis=0))
