"""A study held against a baseline: a real loss is a no-go, noise is not.

Every measure that a deciding gate reads is compared with the baseline, item by item, on the items that both
have unchanged. A loss is real where the interval of the paired difference excludes zero and its p-value,
corrected over the measures of an arm, is below 5 %. Anything smaller is told, with what could be found.

Items that failed, then or now, count at either end of the range, and where that turns a comparison it is
open. Open, too, is what the baseline lacks, and what others judged then. Limits that the study sets are held
beside it, whether or not what they find is more than chance.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import cached_property

import msgspec

from assay.gates.leaf import means_of
from assay.gates.parts import repeated
from assay.gates.verdict import Gate, measures_of, overall
from assay.measures.observed import Seconds
from assay.operations.baselines.diff import Pair, gain_of
from assay.operations.baselines.limits import Limits, not_kept, open_clause
from assay.operations.baselines.tags import Version, current_version, kept_version
from assay.operations.pipeline import Evaluation
from assay.protocols import Measure
from assay.records import ClauseResult, Comparison, Verdict
from assay.results import GO, INCONCLUSIVE, NO_GO, Against, Results, Turn
from assay.run.selection import Selection
from assay.stats.power import ALPHA


def held_against(evaluation: Evaluation, name: str) -> Results:
    """The results with one more verdict: whether anything that gates read was lost since a baseline."""
    holding, results = Holding(evaluation, name), evaluation.results
    verdicts = [*results.verdicts, holding.verdict]
    warnings = [*results.trust.warnings, *holding.warnings]
    return dataclasses.replace(
        results,
        verdicts=verdicts,
        verdict=overall(verdicts),
        against=holding.against,
        trust=msgspec.structs.replace(results.trust, warnings=warnings),
    )


@dataclasses.dataclass(frozen=True)
class Holding:
    """A study and one of its baselines, both as far as the selection reaches."""

    evaluation: Evaluation
    name: str

    @cached_property
    def pair(self) -> Pair:
        study, selection = self.evaluation.study, self.evaluation.selection
        before, after = (
            _narrowed(version, selection, set(study.file.factors))
            for version in (kept_version(study, self.name), current_version(self.evaluation))
        )
        return Pair(before, after, study.file.compare.resamples)

    @cached_property
    def _deciding(self) -> list[Gate]:
        return [gate for gate in self.evaluation.study.gates if gate.rules.deciding]

    @cached_property
    def measures(self) -> list[Measure]:
        """Those that are compared; times never are."""
        study, known = self.evaluation.study, set(self.pair.before.distinct("measure"))
        read = measures_of(self._deciding, study) or study.measures[:1]
        return [each for each in read if each.name in known and not isinstance(each, Seconds)]

    @cached_property
    def arms(self) -> list[str]:
        """The arms that both have."""
        known = self.pair.before.distinct("arm")
        return [arm for arm in self.pair.after.distinct("arm") if arm in known]

    @cached_property
    def _comparisons(self) -> dict[str, list[Comparison]]:
        """By arm, one a measure; none where nothing can be compared."""
        comparable = self.arms if self.measures and self.pair.items else []
        return {arm: self.pair.arm(arm, self.measures).comparisons for arm in comparable}

    @cached_property
    def against(self) -> Against:
        """What changed since the baseline."""
        by, items, before = self.evaluation.study.file.by, self.pair.item_changes, self.pair.before
        slices = [one for arm in self._comparisons for one in self.pair.sliced(arm, self.measures, by)]
        turns = [turn for arm in self.arms for each in self.measures for turn in _turns(self.pair, arm, each)]
        return Against(
            self.name,
            before.kept.created,
            before.shown["verdict"],
            [*(one for found in self._comparisons.values() for one in found), *slices],
            [turn for gain, turn in sorted(turns, key=_gain) if gain < 0],
            [turn for gain, turn in sorted(turns, key=_gain, reverse=True) if gain > 0],
            items.added,
            items.removed,
            list(items.changed),
            items.relabelled,
        )

    @cached_property
    def verdict(self) -> Verdict:
        """Whether anything that gates read was lost, or more than limits allow."""
        clauses = [
            clause
            for arm, found in self._comparisons.items()
            for clause in _Outcomes.of(self.pair, arm, self.measures, found).clauses(found, self.name)
        ]
        limits = Limits(self.evaluation, self.pair, self.name, {arm for arm, _ in self._gated})
        return _verdict(self.name, [*clauses, *self._lacking()], limits.clauses)

    @cached_property
    def _gated(self) -> dict[tuple[str, str], Measure]:
        """The measures that deciding gates read, by arm and name; times are never compared."""
        evaluator, found = self.evaluation.evaluator, dict[tuple[str, str], Measure]()
        for clause in (clause for gate in self._deciding for clause in gate.clauses()):
            for _, one in repeated(clause, evaluator.rows.known_values):
                for mean in (mean for leaf in evaluator.leaves(one).values() for mean in means_of(leaf)):
                    found |= {(arm.name, mean.measure.name): mean.measure for arm in evaluator.arms(mean)}
        return {key: measure for key, measure in found.items() if not isinstance(measure, Seconds)}

    def _lacking(self) -> list[ClauseResult]:
        """An open clause for all that gates read and the baseline lacks: nobody knows what it was."""
        found = []
        for (arm, _), measure in self._gated.items():
            if reason := not_kept(self.pair.before, arms=[arm], measure=measure.name):
                found.append(open_clause(_text(measure, arm, self.name), reason))
        return found

    @property
    def warnings(self) -> list[str]:
        """The arms that the baseline lacks and no gate reads."""
        gated = {arm for arm, _ in self._gated}
        new = [arm for arm in self.pair.after.distinct("arm") if arm not in {*self.arms, *gated}]
        return [f"{arm} is not in the baseline {self.name}, so it is not compared" for arm in new]


@dataclasses.dataclass(frozen=True)
class _Outcomes:
    """What an arm's comparisons come to, with its failed items counted at either end of the range."""

    measures: Mapping[str, Measure]
    ends: Sequence[Mapping[str, Comparison]]  # none where nothing failed
    failed: int  # items

    @classmethod
    def of(cls, pair: Pair, arm: str, measures: Sequence[Measure], found: Sequence[Comparison]) -> _Outcomes:
        figures = {one.measure for one in found if one.p is not None}
        compared = [each for each in measures if each.name in figures]
        failed = pair.failed(arm, measures)
        ends = pair.at_ends(arm, compared) if failed and compared else []
        return cls({each.name: each for each in measures}, ends, failed)

    def clauses(self, found: Sequence[Comparison], name: str) -> list[ClauseResult]:
        return [self._clause(one, name) for one in found]

    def _clause(self, one: Comparison, name: str) -> ClauseResult:
        """A comparison as a clause: holds unless a loss is shown, open where nothing can be compared."""
        text = _text(self.measures[one.measure], one.family or one.a, name)
        if one.refused is not None or one.low is None or one.high is None:
            reason = f"{one.refused or 'no item has a figure on both sides'}{self._failures}"
            return open_clause(text, reason, one.n)
        lost = {self._lost(each) for each in [end[one.measure] for end in self.ends] or [one]}
        holds = None if len(lost) > 1 else not lost.pop()
        reason = f"{one.wins} better, {one.ties} the same, {one.losses} worse{self._failures}"
        if self.failed:
            unturned = "; counted at either end of the range, it does not change this"
            reason += ", and could turn it" if holds is None else unturned
        return ClauseResult(text, holds, one.difference, one.low, one.high, one.n, reason, mde=one.mde)

    def _lost(self, one: Comparison) -> bool:
        if one.low is None or one.high is None or one.p_adjusted is None or one.p_adjusted >= ALPHA:
            return False
        return one.high < 0 if self.measures[one.measure].better == "higher" else one.low > 0

    @property
    def _failures(self) -> str:
        return f"; {self.failed} item{'s' * (self.failed != 1)} failed" if self.failed else ""


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


def _text(measure: Measure, arm: str, name: str) -> str:
    side = ">=" if measure.better == "higher" else "<="
    return f"{measure.name}({arm}) {side} {measure.name}({name})"


def _verdict(name: str, losses: list[ClauseResult], limits: list[ClauseResult]) -> Verdict:
    gate, clauses = f"against {name}", [*losses, *limits]
    if not clauses:
        reason = "nothing can be compared: no arm, measure or unchanged item is in both"
        return Verdict(gate, INCONCLUSIVE, [], reason)
    if any(clause.holds is False for clause in losses):
        return Verdict(gate, NO_GO, clauses, "something that gates read was lost since the baseline")
    if any(clause.holds is False for clause in limits):
        return Verdict(gate, NO_GO, clauses, "more was lost since the baseline than a limit allows")
    if any(clause.holds is None for clause in clauses):
        return Verdict(gate, INCONCLUSIVE, clauses, "a comparison with the baseline is open")
    kept = ", and every limit is kept" if limits else ""
    return Verdict(gate, GO, clauses, f"no loss since the baseline is shown{kept}")
