"""Compares a study with a baseline. A loss that a test shows is a no-go; noise is not.

Every measure that a deciding gate reads is compared with the baseline, item by item, on the items that did
not change (losses.py). If the test shows no loss, the report has the smallest loss that it would show.

A comparison is undecided if failed items could change its result, if the baseline lacks data that it needs,
or if the judges were different then. The limits of the study are checked too, whether or not their results
could be chance.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from functools import cached_property

import msgspec

from assay.core.protocols import Measure
from assay.core.records import LOSS_SHOWN, ClauseResult, Verdict
from assay.core.results import GO, INCONCLUSIVE, NO_GO, BaselineChanges, ItemChange, Results
from assay.gates.decision import undecided_clause
from assay.gates.expansion import expand_for_each
from assay.gates.gate import Gate, GateFile, measures_of
from assay.gates.operand import means_of
from assay.gates.verdict import overall_verdict
from assay.measures.observed import Seconds
from assay.pipeline.baselines.diff import VersionPair, gain_of
from assay.pipeline.baselines.limits import Limits, missing_from_baseline
from assay.pipeline.baselines.losses import BaselineLosses, loss_text
from assay.pipeline.baselines.tags import Version, current_version, load_version
from assay.pipeline.evaluation import Evaluation
from assay.pipeline.runner import Selection


def compare_with_baseline(evaluation: Evaluation, name: str) -> Results:
    """Adds a verdict to the results: whether anything that gates read was lost since a baseline."""
    comparison, results = BaselineComparison(evaluation, name), evaluation.results
    verdicts = [*results.verdicts, comparison.verdict]
    warnings = [*results.trust.warnings, *comparison.warnings]
    return dataclasses.replace(
        results,
        verdicts=verdicts,
        verdict=overall_verdict(verdicts),
        against=comparison.against,
        trust=msgspec.structs.replace(results.trust, warnings=warnings),
    )


@dataclasses.dataclass(frozen=True)
class BaselineComparison:
    """A study and one of its baselines, both restricted to the selection."""

    evaluation: Evaluation
    name: str

    @cached_property
    def pair(self) -> VersionPair:
        study, selection = self.evaluation.study, self.evaluation.selection
        before, after = (
            _narrowed(version, selection, set(study.file.factors))
            for version in (load_version(study, self.name), current_version(self.evaluation))
        )
        return VersionPair(before, after, study.file.compare.resamples)

    @cached_property
    def _deciding(self) -> list[Gate]:
        return [gate for gate in self.evaluation.study.gates if gate.rules.deciding]

    @cached_property
    def measures(self) -> list[Measure]:
        """The measures that are compared. Measures of time are never compared."""
        study, known = self.evaluation.study, set(self.pair.before.distinct("measure"))
        read = measures_of(self._deciding, study) or study.measures[:1]
        return [each for each in read if each.name in known and not isinstance(each, Seconds)]

    @cached_property
    def arms(self) -> list[str]:
        """The arms that both versions have."""
        known = self.pair.before.distinct("arm")
        return [arm for arm in self.pair.after.distinct("arm") if arm in known]

    @cached_property
    def _losses(self) -> BaselineLosses:
        """The losses in every compared measure and arm."""
        broken = self.evaluation.broken
        whose = {arm.name: arm.system for arm in self.evaluation.arms}
        known = {(arm, name): why for arm in self.arms for name, why in _of_system(broken, whose[arm])}
        allowed = min((gate.rules.max_failed for gate in self._deciding), default=GateFile().max_failed)
        return BaselineLosses(self.pair, self.name, self.arms, self.measures, known, allowed)

    @cached_property
    def against(self) -> BaselineChanges:
        """The changes since the baseline, for reports."""
        by, items, before = self.evaluation.study.file.by, self.pair.item_changes, self.pair.before
        compared, arms = self._losses.comparisons, dict.fromkeys(arm for arm, _ in self._losses.comparisons)
        slices = [one for arm in arms for one in self.pair.sliced(arm, self.measures, by)]
        turns = [turn for arm in self.arms for each in self.measures for turn in _turns(self.pair, arm, each)]
        kept = (self.pair.before.kept.churn, self.pair.after.kept.churn)
        return BaselineChanges(
            self.name,
            before.kept.created,
            before.shown["verdict"],
            [*compared.values(), *slices],
            [turn for gain, turn in sorted(turns, key=_gain) if gain < 0],
            [turn for gain, turn in sorted(turns, key=_gain, reverse=True) if gain > 0],
            items.added,
            items.removed,
            list(items.changed),
            items.relabelled,
            {
                arm: max(side[arm].repeats for side in kept if arm in side)
                for arm in arms
                if any(arm in side for side in kept)
            },
        )

    @cached_property
    def verdict(self) -> Verdict:
        """The verdict. It is no-go if a measure that gates read has lost, or a loss exceeds a limit."""
        limits = Limits(self.evaluation, self.pair, self.name, {arm for arm, _ in self._gated})
        found = _verdict(self.name, [*self._losses.clauses, *self._lacking()], limits.clauses)
        before, after = self.pair.before, self.pair.after
        if once := [arm for arm in self.arms if before.seeds(arm) == 1 < after.seeds(arm)]:
            only = f"for this run of the baseline: {', '.join(once)} was asked with one seed then"
            found = msgspec.structs.replace(found, reason="; ".join(filter(None, [found.reason, only])))
        return found

    @cached_property
    def _gated(self) -> dict[tuple[str, str], Measure]:
        """The measures that deciding gates read, by arm and name, without measures of time."""
        evaluator, found = self.evaluation.evaluator, dict[tuple[str, str], Measure]()
        for clause in (clause for gate in self._deciding for clause in gate.clauses()):
            for _, one in expand_for_each(clause, evaluator.rows.known_values):
                for mean in (mean for leaf in evaluator.operands(one).values() for mean in means_of(leaf)):
                    found |= {(arm.name, mean.measure.name): mean.measure for arm in evaluator.arms(mean)}
        return {key: measure for key, measure in found.items() if not isinstance(measure, Seconds)}

    def _lacking(self) -> list[ClauseResult]:
        """Returns an undecided clause for each arm and measure that gates read but the baseline lacks."""
        found = []
        for (arm, _), measure in self._gated.items():
            if reason := missing_from_baseline(self.pair.before, arms=[arm], measure=measure.name):
                found.append(undecided_clause(loss_text(measure, arm, self.name), reason))
        return found

    @property
    def warnings(self) -> list[str]:
        """Warnings about arms that are not in the baseline and that no gate reads."""
        gated = {arm for arm, _ in self._gated}
        new = [arm for arm in self.pair.after.distinct("arm") if arm not in {*self.arms, *gated}]
        return [f"{arm} is not in the baseline {self.name}, so it is not compared" for arm in new]


def _narrowed(version: Version, selection: Selection, factors: set[str]) -> Version:
    """Restricts a version to a selection, so that other items do not count as removed."""
    tags = {name: set(values) for name, values in selection.where.items() if name not in factors}
    kept = [
        item
        for item in version.kept.items
        if all(not values.isdisjoint(item.values(name)) for name, values in tags.items())
    ]
    return version._replace(kept=msgspec.structs.replace(version.kept, items=kept))


def _of_system(broken: Mapping[tuple[str, str], str], system: str) -> Iterator[tuple[str, str]]:
    """Returns the measures that could not be computed for a system, with the reasons."""
    return ((measure, why) for (whose, measure), why in broken.items() if whose == system)


def _turns(pair: VersionPair, arm: str, measure: Measure) -> list[tuple[float, ItemChange]]:
    varied, about = pair.churn(arm, measure.name)[1], (arm, measure.name)
    return [
        (
            gain_of(one, measure),
            ItemChange(one.item_id, one.text, *about, one.before, one.after, one.item_id in varied),
        )
        for one in pair.moved(arm, measure)
    ]


def _gain(turn: tuple[float, ItemChange]) -> float:
    return turn[0]


def _verdict(name: str, losses: list[ClauseResult], limits: list[ClauseResult]) -> Verdict:
    gate, clauses = f"against {name}", [*losses, *limits]
    if not clauses:
        reason = "nothing can be compared: no arm, measure or unchanged item is in both"
        return Verdict(gate, INCONCLUSIVE, [], reason)
    if any(clause.holds is False and clause.shows != LOSS_SHOWN for clause in losses):
        return Verdict(gate, NO_GO, clauses, "a system failed on more items than is allowed")
    if any(clause.holds is False for clause in losses):
        return Verdict(gate, NO_GO, clauses, "something that gates read was lost since the baseline")
    if any(clause.holds is False for clause in limits):
        return Verdict(gate, NO_GO, clauses, "more was lost since the baseline than a limit allows")
    if any(clause.holds is None for clause in clauses):
        return Verdict(gate, INCONCLUSIVE, clauses, "a comparison with the baseline is open")
    kept = ", and every limit is kept" if limits else ""
    return Verdict(gate, GO, clauses, f"no loss since the baseline is shown{kept}")
