"""Decides clauses: a clause passes, fails or is undecided, with the reason.

A clause about one system is decided by its estimate. A clause about several systems passes if the estimate
passes and the interval of the difference excludes a loss. If the clause tolerates a loss, the interval must
exclude a larger loss. The clause fails if the interval excludes passing. Otherwise it is undecided. The rules
`on: estimate` and `on: interval` override this.

A clause with `for`, `max`, `min` or `within` is first written out as plain clauses. Its result follows from
their results.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import msgspec
import numpy as np

from assay.core.block import FAILED
from assay.core.errors import PluginError, UsageError
from assay.core.records import (
    GAIN_SHOWN,
    LABELS,
    LOSS_SHOWN,
    NOT_GUARDED,
    THRESHOLD_SHOWN,
    ClauseResult,
)
from assay.gates.evaluator import Evaluator, FailureValues, Scope
from assay.gates.expansion import ClauseGroup, Levels, expand_clause, share_levels
from assay.gates.gate import GateFile
from assay.gates.intervals import explain_missing_interval
from assay.gates.looks import NextLook, UndecidedMargin, advise
from assay.gates.margin import BoundedValue, Margin, clause_margins, margin_deviations
from assay.gates.operand import Mean, Operand, means_of
from assay.gates.readiness import (
    count_asked,
    count_items,
    describe_only_run,
    explain_no_rows,
    explain_undecidable,
    factor_values_run,
    failing_systems,
    is_candidate,
    ways_to_count_failures,
)
from assay.gates.syntax import WITHIN, Call, Clause, Rule
from assay.stats.planning import detectable_difference

SLACK = 1e-12  # 0.1 + 0.2 >= 0.3 holds
PASSES_UNDECIDED = "the estimate passes, but its interval does not exclude a loss"
FAILS_UNDECIDED = "the estimate fails, but its interval does not exclude passing"


def means_in(operands: Mapping[Call, Operand]) -> list[Mean]:
    """Returns the columns of scores that the operands of a clause read."""
    return list(dict.fromkeys(mean for found in operands.values() for mean in means_of(found)))


def decision_rule(clause: Clause, on: Rule | None, means: Sequence[Mean]) -> str:
    """Returns what decides a clause: the "difference" of systems or slices, the "estimate" or the "interval".

    `on` is the rule of its gate. If a clause has its own level, the rule "estimate" of its gate is ignored.
    """
    sure = clause.level is not None
    if clause.on or (on and not (sure and on == "estimate")):
        return clause.on or on or ""
    several = {(system, mean.where) for mean in means for system in mean.systems}
    if clause.chosen or clause.op == WITHIN or len(several) > 1:
        return "difference"
    return "interval" if sure else "estimate"


def is_guarded(clause: Clause, rules: GateFile, evaluator: Evaluator) -> bool:
    """Whether the interval decides a clause, and not only its estimate."""
    return decision_rule(clause, rules.on, means_in(evaluator.operands(clause))) != "estimate"


def decide_plain_clause(
    clause: Clause,
    rules: GateFile,
    evaluator: Evaluator,
    *,
    kills: bool,
    shared: Levels | None,
    looking: NextLook | None,
) -> ClauseResult:
    """Returns the result of a clause without `for`, `max`, `min` and `within`."""
    operands = evaluator.operands(clause)
    means, own = means_in(operands), clause.level or evaluator.level
    level = shared or Levels(own, own)
    failing = failing_systems(means, evaluator, rules.max_failed)
    for mean, reason in failing.items():
        if is_candidate(mean, clause, operands, kills=kills):  # it failed too often for any value to count
            return ClauseResult(clause.text, kills, None, None, None, count_asked(means, evaluator), reason)
    if reason := explain_undecidable(means, evaluator):
        return undecided_clause(clause.text, reason)
    ways = ways_to_count_failures(means, evaluator)
    if reason := explain_no_rows(operands, evaluator, ways[0]):
        return undecided_clause(clause.text, reason)
    on = decision_rule(clause, rules.on, means)
    try:
        margins = clause_margins(
            clause,
            operands,
            evaluator,
            ways,
            subsets=rules.interval == "subsets",
            levels=(level.holds, level.fails) if clause.upward else (level.fails, level.holds),
            strict=rules.strict and on != "estimate",
        )
    except (UsageError, PluginError) as error:  # the statistic broke, or the raters do not fit it
        return undecided_clause(clause.text, str(error))
    margins = margins if clause.upward else [-margin for margin in margins]
    least = min(margins, key=lambda margin: margin.whole.value)
    if evaluator.identical(clause, operands):
        value, reason = (
            least.whole.value,
            f"the answers are identical on all {_items(count_asked(means, evaluator))}",
        )
        certain = replace(least, whole=BoundedValue(value, value, value))
        return _shown(clause, passes(clause, value), [certain], level.holds, reason)
    failed = count_items(means, evaluator, FAILED)
    holds, undecided = _outcome(clause, rules, margins, on, kills, failed, failing)
    fewest = min(evaluator.clusters(found, ways[0]) for found in operands.values())
    if fewest < rules.min_items:
        undecided = f"only {_items(fewest)}; the gate asks for at least {rules.min_items}"
    if undecided:
        return _shown(clause, None, margins, level.holds, undecided)
    short = explain_missing_interval(operands, evaluator, ways[0], level.holds) if _endless(least) else ""
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
    """Returns whether a clause passes for every way to count failed items, or None with the reason."""
    if any(math.isnan(margin.whole.value) for margin in margins):
        return None, "the value is undefined"
    outcomes = {_rule(clause, margin, on) for margin in margins}
    if rules.failures == "worst":
        worst_first = (True, None, False) if kills else (False, None, True)
        outcomes = {next(each for each in worst_first if each in outcomes)}
    if len(outcomes) > 1:
        return None, f"{_items(failed)} failed, and could turn it: it differs between the ends of the range"
    holds = outcomes.pop()
    if failing and holds is not kills:  # a comparison with a system that failed so often proves nothing
        return None, f"{next(iter(failing.values()))}, so there is too little to compare with"
    return holds, ""


def _why(clause: Clause, holds: bool | None, margin: Margin, on: str, short: str) -> str:
    """Says why a clause is undecided, or that only the estimate decided it and the interval would not."""
    if holds is None:
        if short or math.isnan(margin.whole.low):
            return short or "too few items tell the systems apart for an interval"
        return PASSES_UNDECIDED if passes(clause, margin.whole.value) else FAILS_UNDECIDED
    if on != "estimate" or holds is _rule(clause, margin, "interval"):
        return ""
    known = not math.isnan(margin.whole.low)
    why = "the interval lies on both sides of the threshold" if known else "there is no interval"
    return f"decided on the estimate: {short or why}"


def _label(clause: Clause, holds: bool | None, margins: Sequence[Margin], on: str, kills: bool) -> str:
    """Returns the label of what a decided clause shows. A kill condition that is not met has one too."""
    if on == "estimate":
        return NOT_GUARDED
    if holds is None or (holds is False and not kills):
        return ""
    if holds is False or all(passes(clause, margin.whole.low) for margin in margins):
        return THRESHOLD_SHOWN
    return LOSS_SHOWN if kills else GAIN_SHOWN


def _endless(margin: Margin) -> bool:
    """Whether an end of the interval is missing because there are too few items to reach it."""
    return margin.most is None and not (math.isfinite(margin.whole.low) and math.isfinite(margin.whole.high))


def _items(number: int) -> str:
    return f"{number} item{'s' * (number != 1)}"


def _rule(clause: Clause, margin: Margin, on: str) -> bool | None:
    """Whether a clause passes, by the rule of this module. Larger margins must be nearer to passing."""
    meets = passes(clause, margin.whole.value)
    if on == "estimate":
        return meets
    if meets and passes(clause, _must_not_lose(margin, on).low):
        return True
    fails = not math.isnan(margin.whole.high) and not passes(clause, margin.whole.high)
    return False if not meets and fails else None


def passes(clause: Clause, value: float) -> bool:
    """Whether a margin passes. Larger margins must be nearer to passing."""
    return value > SLACK if clause.op in {">", "<"} else value >= -SLACK


def _must_not_lose(margin: Margin, on: str) -> BoundedValue:
    """Returns the value whose interval must exclude a loss for the clause to pass.

    If the clause requires a gain, the estimate must reach it, but the interval need not show it.
    """
    return margin.gain if on == "difference" and margin.gain.value > margin.whole.value else margin.whole


def _about_infinite(margin: Margin) -> str:
    """Says what is known about an infinite side, which no report can print as a number."""
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
    """Returns the result: the estimate with failures counted in the worst way, an interval over all ways."""
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
    """Returns the result of a clause that cannot be decided."""
    return ClauseResult(text, None, None, None, None, n, reason)


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


WORDS = {True: "passes", False: "fails", None: "undecided"}
ORDER = (True, None, False)


def levels_for(
    part: ClauseGroup | Clause, rules: GateFile, evaluator: Evaluator, looking: NextLook | None = None
) -> dict[Clause, Levels]:
    """Returns the levels of each clause of a group, with `for`, `max` and `min` written out."""
    tree = expand_clause(part, evaluator.rows.known_values, evaluator.operands)
    ready: dict[Clause, tuple[dict[Call, Operand], FailureValues, Scope]] = {}
    for clause in tree.clauses() if isinstance(tree, ClauseGroup) else ():
        operands = evaluator.operands(clause)
        means = means_in(operands)
        if decision_rule(clause, rules.on, means) == "estimate" or explain_undecidable(means, evaluator):
            continue
        if evaluator.identical(clause, operands):  # its margin is certain, so it takes no share
            continue
        way = ways_to_count_failures(means, evaluator)[0]
        if not explain_no_rows(operands, evaluator, way):
            ready[clause] = operands, way, evaluator.scope(operands.values(), way)
    for scope in {scope.digest: scope for _, _, scope in ready.values()}.values():
        same = [(operands, way) for operands, way, other in ready.values() if other.digest == scope.digest]
        evaluator.draw_ahead([(each, way) for operands, way in same for each in operands.values()], scope)
    moved = {
        clause: margin_deviations(clause, operands, evaluator, way)
        for clause, (operands, way, _) in ready.items()
    }

    def levels_of_one(clause: Clause) -> tuple[float, float]:
        plain = evaluator.level
        return (plain, plain) if looking is None else looking.levels(clause.text, plain)

    return share_levels(tree, moved, levels_of_one, by_number=rules.interval == "subsets")


def decide_clause(
    clause: Clause,
    rules: GateFile,
    evaluator: Evaluator,
    *,
    kills: bool = False,
    levels: Mapping[Clause, Levels] | None = None,
    looking: NextLook | None = None,
) -> ClauseResult:
    """Returns the result of a clause, from the results of the plain clauses that it is written out as.

    `kills` says that it is a kill condition. Without `levels` it counts as the only clause of its gate.
    """
    tree = expand_clause(clause, evaluator.rows.known_values, evaluator.operands)
    if isinstance(tree, ClauseGroup) and clause.each is not None and len(tree.parts) < max(tree.need, 1):
        name = clause.each.condition.name
        if not tree.parts and (run := factor_values_run(name, evaluator)):
            return undecided_clause(clause.text, describe_only_run(name, run))
        known_values = f"only {len(tree.parts)} values of {name} to repeat it for"
        return undecided_clause(clause.text, f"{known_values}, and {max(tree.need, 1)} are asked for")
    known = levels_for(clause, rules, evaluator, looking) if levels is None else levels

    def result(part: ClauseGroup | Clause) -> ClauseResult:
        if isinstance(part, Clause):
            return decide_plain_clause(
                part, rules, evaluator, kills=kills, shared=known.get(part), looking=looking
            )
        found = [result(each) for each in part.parts]
        if part.band is not None:
            return _inside(clause, found[0], found[1], part.band)
        yes, perhaps = (sum(each.holds is holds for each in found) for holds in (True, None))
        best_first = sorted(found, key=lambda one: (ORDER.index(one.holds), _shortfall(clause, one.value)))
        outcomes = ", ".join(itertools.starmap(_in_short, zip(part.names, found, strict=True)))
        holds = True if yes >= part.need else None if yes + perhaps >= part.need else False
        labels = [one.shows for one in best_first[: part.need] if one.holds is holds]
        return msgspec.structs.replace(
            best_first[part.need - 1],  # the result that decides the group
            text=clause.text,
            holds=holds,
            shows=max(labels, key=LABELS.index, default=""),  # the weakest
            reason=f"{yes} of {len(found)} pass: {outcomes}",
        )

    return result(tree)


def _shortfall(clause: Clause, value: float | None) -> float:
    """Returns how far a margin is from passing, to compare the plain clauses of one clause."""
    if value is None:
        return math.inf
    return abs(value) if clause.op == WITHIN else -value if clause.upward else value


def _inside(clause: Clause, above: ClauseResult, below: ClauseResult, band: float) -> ClauseResult:
    """Returns the result of a `within`: the difference, with the interval that must be inside the band."""
    ends = (above.holds, below.holds)
    holds = False if False in ends else None if None in ends else True
    if above.value is None or above.right is None:
        return msgspec.structs.replace(above, text=clause.text, holds=holds)
    side = "above" if above.holds is False else "below"
    place = {True: "", False: f"the difference lies {side} the band", None: "the interval leaves the band"}
    own = (note for each in (above, below) if each.holds is holds for note in each.reason.split("; "))
    notes = [note for note in dict.fromkeys(own) if note not in {PASSES_UNDECIDED, FAILS_UNDECIDED}]
    # the level at which an end passes may be lower than the level at which it fails
    low, high = (below.low, above.high) if holds else (above.low, below.high)
    first, last = (-band, band) if holds else (band, -band)
    known = low is not None and high is not None
    return msgspec.structs.replace(
        above,
        text=clause.text,
        holds=holds,
        value=above.value + band,
        low=None if low is None else low + first,
        high=None if high is None else high + last,
        right=above.right - band,
        reason="; ".join(filter(None, [place[holds] if known else "", *notes])),
        advice=above.advice if above.holds is None else below.advice,
    )


def _in_short(value: str, result: ClauseResult) -> str:
    """Returns the outcome for one value with its margin, or with the reason if there is no margin."""
    shown = result.reason if result.value is None else f"{result.value:+.3g}"
    return f"{value} {WORDS[result.holds]} ({shown})"
