"""A study held against a baseline: a real loss is a no-go, noise is not.

Every measure that a deciding gate reads is compared with the baseline, item by item, on the items that both
have unchanged. A loss is real where the interval of the paired difference excludes zero and its p-value,
corrected over the measures of an arm, is below 5 %. Anything smaller is told, with what could be found.
"""

from __future__ import annotations

import dataclasses

import msgspec

from assay.baseline_diff import Pair, gain_of
from assay.baselines import Version, current_version, kept_version
from assay.gates.verdict import measures_of, overall
from assay.measures.observed import Seconds
from assay.pipeline import Evaluation
from assay.protocols import Measure
from assay.records import ClauseResult, Comparison, Verdict
from assay.results import GO, INCONCLUSIVE, NO_GO, Against, Results, Turn
from assay.run.selection import Selection
from assay.stats.power import ALPHA


def held_against(evaluation: Evaluation, name: str) -> Results:
    """The results with one more verdict: whether anything that gates read was lost since a baseline."""
    against, verdict = compared_with(evaluation, name)
    results = evaluation.results
    verdicts = [*results.verdicts, verdict]
    return dataclasses.replace(results, verdicts=verdicts, verdict=overall(verdicts), against=against)


def compared_with(evaluation: Evaluation, name: str) -> tuple[Against, Verdict]:
    """What changed since a baseline, and whether that is a loss."""
    study = evaluation.study
    before, after = (
        _narrowed(version, evaluation.selection, set(study.file.factors))
        for version in (kept_version(study, name), current_version(evaluation))
    )
    pair = Pair(before, after, study.file.compare.resamples)
    deciding = [gate for gate in study.gates if gate.rules.deciding]
    read = measures_of(deciding, study) or study.measures[:1]
    known = set(before.distinct("measure"))
    measures = [each for each in read if each.name in known and not isinstance(each, Seconds)]
    arms = [arm for arm in after.distinct("arm") if arm in before.distinct("arm")]
    comparable = bool(measures and pair.items)
    comparisons = [one for arm in arms if comparable for one in pair.arm(arm, measures).comparisons]
    slices = [one for arm in arms if comparable for one in pair.sliced(arm, measures, study.file.by)]
    turns = [turn for arm in arms for each in measures for turn in _turns(pair, arm, each)]
    items = pair.item_changes
    against = Against(
        name,
        before.kept.created,
        before.shown["verdict"],
        [*comparisons, *slices],
        [turn for gain, turn in sorted(turns, key=_gain) if gain < 0],
        [turn for gain, turn in sorted(turns, key=_gain, reverse=True) if gain > 0],
        items.added,
        items.removed,
        list(items.changed),
        items.relabelled,
    )
    clauses = [_clause(one, name, _better(one, measures)) for one in comparisons]
    return against, _verdict(name, clauses)


def _narrowed(version: Version, selection: Selection, factors: set[str]) -> Version:
    """A version as far as a selection reaches: the rest was neither removed nor added, but not asked for."""
    tags = {name: set(values) for name, values in selection.where.items() if name not in factors}
    kept = [
        item
        for item in version.kept.items
        if all(not values.isdisjoint(item.values(name)) for name, values in tags.items())
    ]
    return version._replace(kept=msgspec.structs.replace(version.kept, items=kept))


def _turns(pair: Pair, arm: str, measure: Measure) -> list[tuple[float, Turn]]:
    return [
        (gain_of(one, measure), Turn(one.item_id, one.text, arm, measure.name, one.before, one.after))
        for one in pair.moved(arm, measure)
    ]


def _gain(turn: tuple[float, Turn]) -> float:
    return turn[0]


def _better(one: Comparison, measures: list[Measure]) -> str:
    return next(measure.better for measure in measures if measure.name == one.measure)


def _clause(one: Comparison, name: str, better: str) -> ClauseResult:
    """A comparison as a clause: holds unless a loss is shown, open where nothing can be compared."""
    side = ">=" if better == "higher" else "<="
    text = f"{one.measure}({one.family or one.a}) {side} {one.measure}({name})"
    if one.refused is not None or one.low is None or one.high is None:
        reason = one.refused or "no item has a figure on both sides"
        return ClauseResult(text, None, None, None, None, one.n, reason)
    shown = one.high < 0 if better == "higher" else one.low > 0
    lost = shown and one.p_adjusted is not None and one.p_adjusted < ALPHA
    reason = f"{one.wins} better, {one.ties} the same, {one.losses} worse"
    return ClauseResult(text, not lost, one.difference, one.low, one.high, one.n, reason, mde=one.mde)


def _verdict(name: str, clauses: list[ClauseResult]) -> Verdict:
    gate = f"against {name}"
    if not clauses:
        reason = "nothing can be compared: no arm, measure or unchanged item is in both"
        return Verdict(gate, INCONCLUSIVE, [], reason)
    if any(clause.holds is False for clause in clauses):
        return Verdict(gate, NO_GO, clauses, "something that gates read was lost since the baseline")
    if any(clause.holds is None for clause in clauses):
        return Verdict(gate, INCONCLUSIVE, clauses, "a comparison with the baseline is open")
    return Verdict(gate, GO, clauses, "no loss since the baseline is shown")
