"""Deciding one clause: holds, fails, or is open, with the reason.

Over one system the estimate decides. Over several, the clause holds where the estimate passes and the
interval of the difference excludes a loss (or, where the clause tolerates a loss, a larger one); it fails
where the interval excludes passing; in between it is open. `on: estimate` and `on: interval` override.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import msgspec
import numpy as np

from assay.errors import PluginError, UsageError
from assay.gates.advice import Plan, advice_on
from assay.gates.budget import Levels, levels_of
from assay.gates.closed_form import unreached
from assay.gates.evaluate import Counting, Evaluator, Scope
from assay.gates.leaf import Leaf, Mean, means_of
from assay.gates.looks import Looking
from assay.gates.margin import Estimated, Margin, deviations, margins_of
from assay.gates.parts import Group, written_out
from assay.gates.readiness import (
    asked,
    count,
    failing_systems,
    is_candidate,
    only_run,
    values_run,
    ways_to_count_failures,
    why_none,
    why_open,
)
from assay.gates.syntax import WITHIN, Call, Clause, Rule
from assay.measures.block import FAILED
from assay.records import (
    GAIN_SHOWN,
    LABELS,
    LOSS_SHOWN,
    NOT_GUARDED,
    THRESHOLD_SHOWN,
    Advice,
    ClauseResult,
)
from assay.stats.power import detectable_difference
from assay.study_file import GateFile

SLACK = 1e-12  # 0.1 + 0.2 >= 0.3 holds
WORDS = {True: "holds", False: "fails", None: "open"}
ORDER = (True, None, False)
PASSES_OPEN = "the estimate passes, but its interval does not exclude a loss"
FAILS_OPEN = "the estimate fails, but its interval does not exclude passing"


def levels_within(
    part: Group | Clause, rules: GateFile, evaluator: Evaluator, looking: Looking | None = None
) -> dict[Clause, Levels]:
    """How sure each clause of a part of a gate must be, `for`, `max` and `min` written out."""
    tree = written_out(part, evaluator.rows.known_values)
    ready: dict[Clause, tuple[dict[Call, Leaf], Counting, Scope]] = {}
    for clause in tree.clauses() if isinstance(tree, Group) else ():
        leaves = evaluator.leaves(clause)
        means = _means(leaves)
        if rule_of(clause, rules.on, means) == "estimate" or why_open(means, evaluator):
            continue
        if evaluator.identical(clause, leaves):  # certain, so that it takes no share
            continue
        way = ways_to_count_failures(means, evaluator)[0]
        if not why_none(leaves, evaluator, way):
            ready[clause] = leaves, way, evaluator.scope(leaves.values(), way)
    for scope in {scope.digest: scope for _, _, scope in ready.values()}.values():
        same = [(leaves, way) for leaves, way, other in ready.values() if other.digest == scope.digest]
        evaluator.draw_ahead([(each, way) for leaves, way in same for each in leaves.values()], scope)
    moved = {clause: deviations(clause, leaves, evaluator, way) for clause, (leaves, way, _) in ready.items()}

    def alone(clause: Clause) -> tuple[float, float]:
        plain = evaluator.level
        return (plain, plain) if looking is None else looking.levels(clause.text, plain)

    return levels_of(tree, moved, alone, by_number=rules.interval == "subsets")


def decide_clause(
    clause: Clause,
    rules: GateFile,
    evaluator: Evaluator,
    *,
    kills: bool = False,
    levels: Mapping[Clause, Levels] | None = None,
    looking: Looking | None = None,
) -> ClauseResult:
    """The result of a clause, from those of the clauses that it stands for. `kills`: it is against go.

    `levels` are those of a whole gate; without them the clause is decided as if it were all of one.
    """
    tree = written_out(clause, evaluator.rows.known_values)
    if isinstance(tree, Group) and clause.each is not None and len(tree.parts) < max(tree.need, 1):
        name = clause.each.condition.name
        if not tree.parts and (run := values_run(name, evaluator)):
            return _open(clause, only_run(name, run))
        known_values = f"only {len(tree.parts)} values of {name} to repeat it for"
        return _open(clause, f"{known_values}, and {max(tree.need, 1)} are asked for")
    known = levels_within(clause, rules, evaluator, looking) if levels is None else levels

    def result(part: Group | Clause) -> ClauseResult:
        if isinstance(part, Clause):
            failing = _failing(part, rules, evaluator, kills)
            return failing or _decided(part, rules, evaluator, kills, known.get(part), looking)
        found = [result(each) for each in part.parts]
        if part.band is not None:
            return _inside(clause, found[0], found[1], part.band)
        yes, perhaps = (sum(each.holds is holds for each in found) for holds in (True, None))
        best_first = sorted(found, key=lambda one: (ORDER.index(one.holds), _shortfall(clause, one.value)))
        outcomes = ", ".join(itertools.starmap(_in_short, zip(part.names, found, strict=True)))
        holds = True if yes >= part.need else None if yes + perhaps >= part.need else False
        labels = [one.shows for one in best_first[: part.need] if one.holds is holds]
        return msgspec.structs.replace(
            best_first[part.need - 1],  # the one that the rest hangs on
            text=clause.text,
            holds=holds,
            shows=max(labels, key=LABELS.index, default=""),  # the weakest
            reason=f"{yes} of {len(found)} hold: {outcomes}",
        )

    return result(tree)


def _shortfall(clause: Clause, value: float | None) -> float:
    """How far a margin is from passing, compared with others of the clause."""
    if value is None:
        return math.inf
    return abs(value) if clause.op == WITHIN else -value if clause.upward else value


def _inside(clause: Clause, above: ClauseResult, below: ClauseResult, band: float) -> ClauseResult:
    """A `within` from its two ends: the difference itself, with the interval that must lie in the band."""
    ends = (above.holds, below.holds)
    holds = False if False in ends else None if None in ends else True
    if above.value is None or above.right is None:
        return msgspec.structs.replace(above, text=clause.text, holds=holds)
    side = "above" if above.holds is False else "below"
    place = {True: "", False: f"the difference lies {side} the band", None: "the interval leaves the band"}
    own = (note for each in (above, below) if each.holds is holds for note in each.reason.split("; "))
    notes = [note for note in dict.fromkeys(own) if note not in {PASSES_OPEN, FAILS_OPEN}]
    known = below.low is not None and above.high is not None
    return msgspec.structs.replace(
        above,
        text=clause.text,
        holds=holds,
        value=above.value + band,
        low=None if below.low is None else below.low - band,
        high=None if above.high is None else above.high + band,
        right=above.right - band,
        reason="; ".join(filter(None, [place[holds] if known else "", *notes])),
        advice=above.advice if above.holds is None else below.advice,
    )


def _in_short(value: str, result: ClauseResult) -> str:
    """One value's outcome with its margin; only where there is none, why."""
    shown = result.reason if result.value is None else f"{result.value:+.3g}"
    return f"{value} {WORDS[result.holds]} ({shown})"


def _means(leaves: Mapping[Call, Leaf]) -> list[Mean]:
    return list(dict.fromkeys(mean for found in leaves.values() for mean in means_of(found)))


def rule_of(clause: Clause, on: Rule | None, means: Sequence[Mean]) -> str:
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
    return rule_of(clause, rules.on, _means(evaluator.leaves(clause))) != "estimate"


def _failing(clause: Clause, rules: GateFile, evaluator: Evaluator, kills: bool) -> ClauseResult | None:
    """A clause that is against go because its system failed too often for any figure; None if it did not."""
    leaves = evaluator.leaves(clause)
    means = _means(leaves)
    for mean, reason in failing_systems(means, evaluator, rules.max_failed).items():
        if is_candidate(mean, clause, leaves, kills=kills):
            return ClauseResult(clause.text, kills, None, None, None, asked(means, evaluator), reason)
    return None


def _decided(
    clause: Clause,
    rules: GateFile,
    evaluator: Evaluator,
    kills: bool,
    shared: Levels | None,
    looking: Looking | None,
) -> ClauseResult:
    leaves = evaluator.leaves(clause)
    own = clause.level or evaluator.level
    means, level = _means(leaves), shared or Levels(own, own)
    if reason := why_open(means, evaluator):
        return _open(clause, reason)
    ways = ways_to_count_failures(means, evaluator)
    if reason := why_none(leaves, evaluator, ways[0]):
        return _open(clause, reason)
    on = rule_of(clause, rules.on, means)
    try:
        ends = (level.holds, level.fails) if clause.upward else (level.fails, level.holds)
        margins = margins_of(
            clause,
            leaves,
            evaluator,
            ways,
            subsets=rules.interval == "subsets",
            levels=ends,
            strict=rules.strict and on != "estimate",
        )
    except (UsageError, PluginError) as error:  # a statistic that breaks, or that the raters do not suit
        return _open(clause, str(error))
    if not clause.upward:
        margins = [-margin for margin in margins]
    least = min(margins, key=lambda margin: margin.whole.value)
    if evaluator.identical(clause, leaves):
        value, n = least.whole.value, asked(means, evaluator)
        certain = replace(least, whole=Estimated(value, value, value))
        reason = f"the answers are identical on all {_items(n)}"
        return _shown(clause, _passes(clause, value), [certain], level.holds, reason)
    fewest = min(evaluator.clusters(found, ways[0]) for found in leaves.values())
    if fewest < rules.min_items:
        reason = f"only {_items(fewest)}; the gate asks for at least {rules.min_items}"
        return _shown(clause, None, margins, level.holds, reason)
    if any(math.isnan(margin.whole.value) for margin in margins):
        return _shown(clause, None, margins, level.holds, "the value is undefined")
    outcomes = {_rule(clause, margin, on) for margin in margins}
    failed = count(means, evaluator, FAILED)
    if rules.failures == "worst":
        outcomes = {_worst(outcomes, kills)}
    if len(outcomes) > 1:
        reason = f"{_items(failed)} failed, and could turn it: it differs between the ends of the range"
        return _shown(clause, None, margins, level.holds, reason)
    holds = outcomes.pop()
    failing = failing_systems(means, evaluator, rules.max_failed)
    if failing and holds is not kills:  # what is compared with says too little to pass anything by
        reason = f"{next(iter(failing.values()))}, so there is too little to compare with"
        return _shown(clause, None, margins, level.holds, reason)
    short = unreached(leaves, evaluator, ways[0], level.holds) if _endless(least) else ""
    reason = (short or _why_undecided(clause, least)) if holds is None else ""
    if on == "estimate" and holds is not _rule(clause, least, "interval"):
        known = not math.isnan(least.whole.low)
        why = "the interval lies on both sides of the threshold" if known else "there is no interval"
        reason = f"decided on the estimate: {short or why}"
    notes = [reason, _about_infinite(least), _about_failed(failed, rules)]
    advice = None
    if holds is None and not short:
        compares = len({(mean.system, mean.where) for mean in means}) > 1
        plan = Plan(least, _must_not_lose(least, on), level.holds, evaluator.level, compares)
        advice = advice_on(clause, plan, looking or Looking.of_size(least.n))
    found = _shown(clause, holds, margins, level.holds, "; ".join(filter(None, notes)), advice)
    return msgspec.structs.replace(found, shows=_label(clause, holds, margins, on, kills))


def _label(clause: Clause, holds: bool | None, margins: Sequence[Margin], on: str, kills: bool) -> str:
    """What a decided clause rests on; a kill condition is also shown not to be met."""
    if on == "estimate":
        return NOT_GUARDED
    if holds is None or (holds is False and not kills):
        return ""
    if holds is False or all(_passes(clause, margin.whole.low) for margin in margins):
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
    passes = _passes(clause, margin.whole.value)
    if on == "estimate":
        return passes
    if passes and _passes(clause, _must_not_lose(margin, on).low):
        return True
    return False if not passes and _fails(clause, margin.whole.high) else None


def _passes(clause: Clause, value: float) -> bool:
    return value > SLACK if clause.op in {">", "<"} else value >= -SLACK


def _fails(clause: Clause, value: float) -> bool:
    return not math.isnan(value) and not _passes(clause, value)


def _must_not_lose(margin: Margin, on: str) -> Estimated:
    """What the interval must show of a passing clause: where it demands more than no loss, only no loss."""
    return margin.gain if on == "difference" and margin.gain.value > margin.whole.value else margin.whole


def _why_undecided(clause: Clause, margin: Margin) -> str:
    if math.isnan(margin.whole.low):
        return "too few items tell the systems apart for an interval"
    if _passes(clause, margin.whole.value):
        return PASSES_OPEN
    return FAILS_OPEN


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
    advice: Advice | None = None,
) -> ClauseResult:
    """The result with its evidence: of several ways to count failures, the least favourable and the hull."""
    least = min(margins, key=lambda margin: margin.whole.value)
    hull = Estimated(
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
        advice=advice,
    )


def _open(clause: Clause, reason: str) -> ClauseResult:
    return ClauseResult(clause.text, None, None, None, None, 0, reason)


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
