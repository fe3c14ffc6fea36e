"""Limits on losses since a baseline: in points of a measure, or in seconds relative to a reference.

A limit is checked on the estimate, so a loss by chance may exceed it. The interval is shown beside it.
Seconds of two days or two machines cannot be compared. So the median of an arm is divided by the median of a
reference system that was asked in the same run. This ratio is compared with the ratio in the baseline.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator
from functools import cached_property

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.core.protocols import Measure
from assay.core.records import NOT_GUARDED, Arm, ClauseResult, Comparison, Status
from assay.gates.decision import SLACK, decide_clause, undecided_clause
from assay.gates.evaluator import Evaluator, combine
from assay.gates.gate import GateFile
from assay.gates.grammar import parse_clause
from assay.gates.operand import Mean
from assay.gates.readiness import explain_undecidable
from assay.gates.syntax import Call
from assay.measures.observed import Seconds
from assay.pipeline.baselines.diff import NEW, OLD, VersionPair
from assay.pipeline.baselines.tags import Version
from assay.pipeline.evaluation import Evaluation
from assay.report.wording import number, quantity, with_interval
from assay.stats.intervals import FEW, NO_INTERVAL, interval_of
from assay.stats.resample import Draws
from assay.stats.rows import Rows
from assay.stats.statistics import P50
from assay.study.study_file import LimitsFile

Floats = NDArray[np.float64]
PAUSE = 3600.0  # seconds without any answer, after which a new run begins


def missing_from_baseline(before: Version, *, arms: Collection[str], measure: str) -> str:
    """Says which arms and measures a baseline lacks; returns an empty text if it has all of them."""
    kept = before.distinct("arm")
    lacking = [arm for arm in arms if arm not in kept]
    lacking += [measure] if measure not in before.distinct("measure") else []
    return f"not in the baseline: {', '.join(lacking)}" if lacking else ""


@dataclasses.dataclass(frozen=True)
class Limits:
    """The limits of a study, and the two versions that they compare.

    An arm that is not in the baseline has clauses only if gates read it (`gated`). These clauses are
    undecided.
    """

    evaluation: Evaluation
    pair: VersionPair
    name: str
    gated: Collection[str] = ()

    @property
    def clauses(self) -> list[ClauseResult]:
        """One clause per arm and limit, if the measure applies to the arm in one of the two versions."""
        file = self.evaluation.study.file.limits
        found = [] if file is None else [*self._losses(), *self._latencies(file)]
        return [
            each if each.holds is None else msgspec.structs.replace(each, shows=NOT_GUARDED) for each in found
        ]

    @cached_property
    def _arms(self) -> list[Arm]:
        known = {*self.pair.before.distinct("arm"), *self.gated}
        return [arm for arm in self.evaluation.arms if arm.name in known]

    @cached_property
    def _measures(self) -> list[tuple[Measure, float]]:
        """The measures that have a limit, with the amount that each may lose, in the order of the study."""
        study = self.evaluation.study
        worse = study.file.limits.worse if study.file.limits else {}
        written = zip(study.measures, study.file.measures, strict=True)
        found = [(each, worse.get(each.name, worse.get(text))) for each, text in written]
        return [(each, limit) for each, limit in found if limit is not None]

    @cached_property
    def _comparisons(self) -> dict[tuple[str, str], Comparison]:
        """The comparisons by arm and measure, if both versions have them."""
        arms, measures = (self.pair.before.distinct(column) for column in ("arm", "measure"))
        shared = [measure for measure, _ in self._measures if measure.name in measures]
        return {
            (arm.name, one.measure): one
            for arm in self._arms
            if arm.name in arms and shared and self.pair.items
            for one in self.pair.arm(arm.name, shared).comparisons
        }

    @cached_property
    def _evaluator(self) -> Evaluator:
        """Evaluates clauses on both versions in one table. There, each version of an arm is a system."""
        unchanged = pl.col("item").is_in(self.pair.item_changes.unchanged)
        sides = []
        for word, version in ((NEW, self.pair.after), (OLD, self.pair.before)):
            named = pl.lit(f"{word} ") + pl.col("arm")
            frame = version.scores.filter(unchanged)
            sides.append(frame.with_columns(system=named, arm=named, factors=pl.lit("{}")))
        rows = Rows(pl.concat(sides), self.pair.items, self.pair.after.kept.cluster)
        return Evaluator(rows, self.evaluation.study.registry, resamples=self.pair.resamples)

    def _applies(self, arm: str, measure: str) -> bool:
        """Whether a measure applies to an arm in one of the two versions."""
        here = pl.col("arm").eq(arm) & pl.col("measure").eq(measure)
        applies = here & pl.col("status").ne(Status.NOT_APPLICABLE.value)
        return any(side.scores.select(applies.any()).item() for side in (self.pair.before, self.pair.after))

    def _undecidable(self, measure: str, *arms: str) -> str:
        reason = missing_from_baseline(self.pair.before, arms=arms, measure=measure)
        return reason or ("" if self.pair.items else "no item is in both unchanged")

    def _decided(self, clause: str, text: str) -> ClauseResult:
        # failing too often has its own clause (losses.py)
        rules = GateFile(on="estimate", min_items=1, max_failed=1.0)
        found = decide_clause(parse_clause(clause), rules, self._evaluator)
        return msgspec.structs.replace(found, text=text)

    # -------------------------------------------------------------------------------- measures

    def _losses(self) -> Iterator[ClauseResult]:
        for arm in self._arms:
            for measure, limit in self._measures:
                if self._applies(arm.name, measure.name):
                    yield self._loss(arm.name, measure, limit)

    def _loss(self, arm: str, measure: Measure, limit: float) -> ClauseResult:
        op, sign = (">=", "-") if measure.better == "higher" else ("<=", "+")
        text = f"{measure.name}({arm}) {op} {measure.name}({self.name}) {sign} {limit:g}"
        if reason := self._undecidable(measure.name, arm):
            return undecided_clause(text, reason)
        system = next(each.system for each in self._arms if each.name == arm)
        if (system, measure.name) in self.evaluation.broken:
            return undecided_clause(text, self.evaluation.broken[system, measure.name].rstrip("."))
        one = self._comparisons[arm, measure.name]
        if one.refused is not None:
            return undecided_clause(text, one.refused, one.n)
        new, old = (f"{measure.name}({_side(word, arm)})" for word in (NEW, OLD))
        found = self._decided(f"{new} {op} {old} {sign} {limit!r}", text)
        if found.left is None or found.right is None:
            return found
        then = found.right + limit if sign == "-" else found.right - limit
        worst = "at worst " if "failed" in found.reason else ""  # the least favourable way to count them
        reasons = [
            f"{worst}{number(found.left)} now, {number(then)} then",
            f"{one.losses} lost, {one.wins} won, {one.ties} unchanged",
            found.reason or "decided on the estimate",
        ]
        return msgspec.structs.replace(found, reason="; ".join(filter(None, reasons)))

    # --------------------------------------------------------------------------------- seconds

    def _latencies(self, file: LimitsFile) -> Iterator[ClauseResult]:
        """Yields a clause for each arm and reference, except for imported arms: they ran elsewhere."""
        limit, system = file.latency, file.reference
        if limit is None or system is None:
            return
        for arm in self._arms:
            imported = self.evaluation.study.is_imported(arm)
            if arm.system == system or imported or not self._applies(arm.name, Seconds().name):
                continue
            beside = [each.name for each in self.evaluation.arms if _goes_with(each, arm, system)]
            if not beside:
                text = _latency_text(arm.name, system, limit, self.name)
                yield undecided_clause(text, f"{system} was not run beside it")
            yield from (self._latency(arm.name, each, limit) for each in beside)

    def _latency(self, arm: str, reference: str, limit: float) -> ClauseResult:
        text, measure = _latency_text(arm, reference, limit, self.name), Seconds()
        means = [Mean(f"{word} {each}", measure, ()) for word in (NEW, OLD) for each in (arm, reference)]
        reason = self._undecidable(measure.name, arm, reference) or self._asked_apart(arm, reference)
        if reason := reason or explain_undecidable(means, self._evaluator):
            return undecided_clause(text, reason)
        now, then = (combine("/", *map(self._medians, pair)) for pair in (means[:2], means[2:]))
        margin, growth = now - limit * then, combine("/", now, then)
        if np.isnan(growth[0]):
            return undecided_clause(text, "the value is undefined")
        n = self._evaluator.clusters(means[0], {})
        times = with_interval(float(growth[0]), *_ends(growth, n))
        figures = f"{number(float(now[0]))} times {reference} now, {number(float(then[0]))} times then"
        return ClauseResult(
            text,
            bool(margin[0] <= SLACK),
            float(margin[0]),
            *_ends(margin, n),
            n,
            f"{times} times what it was: {figures}; decided on the estimate",
            left=float(now[0]),
            right=limit * float(then[0]),
        )

    def _medians(self, mean: Mean) -> Floats:
        """Returns the median of a column, and the median of each resample. All means share the resamples."""
        if mean.system not in self._drawn:
            (values,), rows = self._evaluator.columns(mean, {})
            clusters, codes = np.unique(self._evaluator.rows.clusters[rows], return_inverse=True)
            weights = self._draws.weights(len(clusters)) if len(clusters) else ()
            whole = [np.ones((1, len(rows))), *(drawn[:, codes] for drawn in weights)]
            self._drawn[mean.system] = np.concatenate([P50().values([values], each) for each in whole])
        return self._drawn[mean.system]

    @cached_property
    def _drawn(self) -> dict[str, Floats]:
        return {}

    @cached_property
    def _draws(self) -> Draws:
        return Draws(self.pair.resamples)

    def _asked_apart(self, arm: str, reference: str) -> str:
        """Says why seconds cannot be compared: some stored answers may be from another run."""
        times = self._times
        if not (everything := sorted(time for found in times.values() for time in found.values())):
            return ""
        begun = np.array(everything[1:])[np.diff(everything) > PAUSE]  # when each later run began
        ours, theirs = times.get(arm, {}), times.get(reference, {})
        shared = [each for each in ours if each in theirs]
        runs = [np.searchsorted(begun, [side[each] for each in shared], "right") for side in (ours, theirs)]
        if not (apart := int((runs[0] != runs[1]).sum())):
            return ""
        what = f"{arm} and {reference} were not asked in one run ({quantity(apart, 'answer')})"
        return f"{what}: ask both again with --fresh"

    @cached_property
    def _times(self) -> dict[str, dict[tuple[str, int], float]]:
        """The time when each compared answer was asked, by arm, then by item and seed."""
        same, found = set(self.pair.item_changes.unchanged), dict[str, dict[tuple[str, int], float]]()
        for block in self.evaluation.blocks:
            pairs = zip(block.item_ids, block.responses, strict=True)
            found.setdefault(block.arm.name, {}).update(
                {
                    (item_id, block.seed): response.observed.time
                    for item_id, response in pairs
                    if item_id in same and response is not None and response.observed.time is not None
                }
            )
        return found


def _ends(drawn: Floats, n: int) -> tuple[float | None, float | None]:
    """Returns an interval. The first value of `drawn` is the estimate; the other values are resamples."""
    found = interval_of(drawn[1:], float(drawn[0]), n) if n >= 2 * FEW else NO_INTERVAL
    return (None, None) if np.isnan(found.low) else (found.low, found.high)


def _side(word: str, arm: str) -> str:
    """Returns the name of an arm in one version, as clauses write it."""
    return str(Call(f"{word} {arm}"))


def _goes_with(reference: Arm, arm: Arm, system: str) -> bool:
    """Whether `reference` is an arm of the reference system and has equal values of all shared factors."""
    shared = reference.factors.keys() & arm.factors.keys()
    return reference.system == system and all(reference.factors[key] == arm.factors[key] for key in shared)


def _latency_text(arm: str, reference: str, limit: float, name: str) -> str:
    seconds = Seconds().name
    return f"{seconds}({arm})/{seconds}({reference}) <= {limit:g} * {name}"
