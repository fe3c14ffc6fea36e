"""Deciding one plain clause: holds, fails, or is open, with the reason.

Over one system the estimate decides. Over several, the clause holds where the estimate passes and the
interval of the difference excludes a loss (or, where the clause tolerates a loss, a larger one); it fails
where the interval excludes passing; in between it is open. `on: estimate` and `on: interval` override.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import msgspec
import numpy as np

from assay.core.block import FAILED
from assay.core.errors import PluginError, UsageError
from assay.core.records import (
    GAIN_SHOWN,
    LOSS_SHOWN,
    NOT_GUARDED,
    THRESHOLD_SHOWN,
    ClauseResult,
)
from assay.gates.budget import Levels
from assay.gates.closed_form import explain_missing_interval
from assay.gates.evaluate import Evaluator
from assay.gates.gate_file import GateFile
from assay.gates.leaf import Mean, Operand, means_of
from assay.gates.looks import NextLook, UndecidedMargin, advise
from assay.gates.margin import BoundedValue, Margin, clause_margins
from assay.gates.readiness import (
    count_asked,
    count_items,
    explain_no_rows,
    explain_undecidable,
    failing_systems,
    is_candidate,
    ways_to_count_failures,
)
from assay.gates.syntax import WITHIN, Call, Clause, Rule
from assay.stats.power import detectable_difference

SLACK = 1e-12  # 0.1 + 0.2 >= 0.3 holds
PASSES_UNDECIDED = "the estimate passes, but its interval does not exclude a loss"
FAILS_UNDECIDED = "the estimate fails, but its interval does not exclude passing"


def means_in(leaves: Mapping[Call, Operand]) -> list[Mean]:
    """The columns of scores that the leaves of a clause read."""
    return list(dict.fromkeys(mean for found in leaves.values() for mean in means_of(found)))


def decision_rule(clause: Clause, on: Rule | None, means: Sequence[Mean]) -> str:
    """What a clause is decided on: over several systems or slices the difference, over one the estimate.

    `on` is what its gate says. A level of its own is one of an interval, whatever the gate says.
    """
    sure = clause.level is not None
    if clause.on or (on and not (sure and on == "estimate")):
        return clause.on or on or ""
    several = {(system, mean.where) for mean in means for system in mean.systems}
    if clause.chosen or clause.op == WITHIN or len(several) > 1:
        return "difference"
    return "interval" if sure else "estimate"


def is_guarded(clause: Clause, rules: GateFile, evaluator: Evaluator) -> bool:
    """Whether an interval decides a clause, and not its estimate only."""
    return decision_rule(clause, rules.on, means_in(evaluator.leaves(clause))) != "estimate"


def decide_plain_clause(
    clause: Clause,
    rules: GateFile,
    evaluator: Evaluator,
    *,
    kills: bool,
    shared: Levels | None,
    looking: NextLook | None,
) -> ClauseResult:
    """The result of a clause without `for`, `max`, `min` and `within`."""
    leaves = evaluator.leaves(clause)
    means, own = means_in(leaves), clause.level or evaluator.level
    level = shared or Levels(own, own)
    failing = failing_systems(means, evaluator, rules.max_failed)
    for mean, reason in failing.items():
        if is_candidate(mean, clause, leaves, kills=kills):  # it failed too often for any figure to count
            return ClauseResult(clause.text, kills, None, None, None, count_asked(means, evaluator), reason)
    if reason := explain_undecidable(means, evaluator):
        return undecided_clause(clause.text, reason)
    ways = ways_to_count_failures(means, evaluator)
    if reason := explain_no_rows(leaves, evaluator, ways[0]):
        return undecided_clause(clause.text, reason)
    on = decision_rule(clause, rules.on, means)
    try:
        margins = clause_margins(
            clause,
            leaves,
            evaluator,
            ways,
            subsets=rules.interval == "subsets",
            levels=(level.holds, level.fails) if clause.upward else (level.fails, level.holds),
            strict=rules.strict and on != "estimate",
        )
    except (UsageError, PluginError) as error:  # a statistic that breaks, or that the raters do not suit
        return undecided_clause(clause.text, str(error))
    margins = margins if clause.upward else [-margin for margin in margins]
    least = min(margins, key=lambda margin: margin.whole.value)
    if evaluator.identical(clause, leaves):
        value, reason = (
            least.whole.value,
            f"the answers are identical on all {_items(count_asked(means, evaluator))}",
        )
        certain = replace(least, whole=BoundedValue(value, value, value))
        return _shown(clause, passes(clause, value), [certain], level.holds, reason)
    failed = count_items(means, evaluator, FAILED)
    holds, undecided = _outcome(clause, rules, margins, on, kills, failed, failing)
    fewest = min(evaluator.clusters(found, ways[0]) for found in leaves.values())
    if fewest < rules.min_items:
        undecided = f"only {_items(fewest)}; the gate asks for at least {rules.min_items}"
    if undecided:
        return _shown(clause, None, margins, level.holds, undecided)
    short = explain_missing_interval(leaves, evaluator, ways[0], level.holds) if _endless(least) else ""
    notes = [_why(clause, holds, least, on, short), _about_infinite(least), _about_failed(failed, rules)]
    found = _shown(clause, holds, margins, level.holds, "; ".join(filter(None, notes)))
    advice = None
    if holds is None and not short:
        compares = len({(mean.system, mean.where) for mean in means}) > 1
        plan = UndecidedMargin(least, _must_not_lose(least, on), level.holds, evaluator.level, compares)
        advice = advise(clause, plan, looking or NextLook.of_size(least.n))
    return msgspec.structs.replace(found, shows=_label(clause, holds, margins, on, kills), advice=advice)


def _outcome(
    clause: Clause,
    rules: GateFile,
    margins: Sequence[Margin],
    on: str,
    kills: bool,
    failed: int,
    failing: Mapping[Mean, str],
) -> tuple[bool | None, str]:
    """What a clause comes to over every way of counting failed items, and why it cannot be decided at all."""
    if any(math.isnan(margin.whole.value) for margin in margins):
        return None, "the value is undefined"
    outcomes = {_rule(clause, margin, on) for margin in margins}
    if rules.failures == "worst":
        outcomes = {_worst(outcomes, kills)}
    if len(outcomes) > 1:
        return None, f"{_items(failed)} failed, and could turn it: it differs between the ends of the range"
    holds = outcomes.pop()
    if failing and holds is not kills:  # what is compared with says too little to pass anything by
        return None, f"{next(iter(failing.values()))}, so there is too little to compare with"
    return holds, ""


def _why(clause: Clause, holds: bool | None, margin: Margin, on: str, short: str) -> str:
    """Why a clause is open, or that its estimate decided where the interval would not have."""
    if holds is None:
        return short or _why_undecided(clause, margin)
    if on != "estimate" or holds is _rule(clause, margin, "interval"):
        return ""
    known = not math.isnan(margin.whole.low)
    why = "the interval lies on both sides of the threshold" if known else "there is no interval"
    return f"decided on the estimate: {short or why}"


def _label(clause: Clause, holds: bool | None, margins: Sequence[Margin], on: str, kills: bool) -> str:
    """What a decided clause rests on; a kill condition is also shown not to be met."""
    if on == "estimate":
        return NOT_GUARDED
    if holds is None or (holds is False and not kills):
        return ""
    if holds is False or all(passes(clause, margin.whole.low) for margin in margins):
        return THRESHOLD_SHOWN
    return LOSS_SHOWN if kills else GAIN_SHOWN


def _endless(margin: Margin) -> bool:
    """Whether the interval lacks an end that so few items do not reach."""
    return margin.most is None and not (math.isfinite(margin.whole.low) and math.isfinite(margin.whole.high))


def _worst(outcomes: set[bool | None], kills: bool) -> bool | None:
    """Of several outcomes the one that speaks most against go."""
    order: tuple[bool | None, ...] = (True, None, False) if kills else (False, None, True)
    return next(outcome for outcome in order if outcome in outcomes)


def _items(number: int) -> str:
    return f"{number} item{'s' * (number != 1)}"


def _rule(clause: Clause, margin: Margin, on: str) -> bool | None:
    """True, False or open, by the rule at the top of this file; the margin is turned so that more passes."""
    meets = passes(clause, margin.whole.value)
    if on == "estimate":
        return meets
    if meets and passes(clause, _must_not_lose(margin, on).low):
        return True
    return False if not meets and _fails(clause, margin.whole.high) else None


def passes(clause: Clause, value: float) -> bool:
    """Whether a margin, turned so that more is nearer to passing, passes."""
    return value > SLACK if clause.op in {">", "<"} else value >= -SLACK


def _fails(clause: Clause, value: float) -> bool:
    return not math.isnan(value) and not passes(clause, value)


def _must_not_lose(margin: Margin, on: str) -> BoundedValue:
    """What the interval must show of a passing clause: where it demands more than no loss, only no loss."""
    return margin.gain if on == "difference" and margin.gain.value > margin.whole.value else margin.whole


def _why_undecided(clause: Clause, margin: Margin) -> str:
    if math.isnan(margin.whole.low):
        return "too few items tell the systems apart for an interval"
    if passes(clause, margin.whole.value):
        return PASSES_UNDECIDED
    return FAILS_UNDECIDED


def _about_infinite(margin: Margin) -> str:
    """What an infinite side stands for: no report can print it as a number."""
    sides = (("the left side", margin.left), ("the right side", margin.right))
    return "; ".join(f"{side} is above {margin.most:g}" for side, value in sides if margin.boundless(value))


def _about_failed(failed: int, rules: GateFile) -> str:
    if not failed:
        return ""
    if rules.failures == "worst":
        return f"{_items(failed)} failed; counted at the end of the range that is worse for go"
    return f"{_items(failed)} failed; counted at either end of the range, it does not change this"


def _shown(
    clause: Clause,
    holds: bool | None,
    margins: Sequence[Margin],
    level: float,
    reason: str,
) -> ClauseResult:
    """The result with its evidence: of several ways to count failures, the least favourable and the hull."""
    least = min(margins, key=lambda margin: margin.whole.value)
    hull = BoundedValue(
        least.whole.value,
        float(np.min([margin.whole.low for margin in margins])),
        float(np.max([margin.whole.high for margin in margins])),
    )
    margin = hull if clause.upward else -hull
    value, low, high, left, right = (
        figure if least.boundless(figure) else _number(figure)
        for figure in (margin.value, margin.low, margin.high, least.left, least.right)
    )
    return ClauseResult(
        clause.text,
        holds,
        value,
        low,
        high,
        least.n,
        reason,
        left=left,
        right=right,
        mde=_number(detectable_difference(hull.low, hull.high, level)) or None,
    )


def undecided_clause(text: str, reason: str, n: int = 0) -> ClauseResult:
    """A clause that nothing decides."""
    return ClauseResult(text, None, None, None, None, n, reason)


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
