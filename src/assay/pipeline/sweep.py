"""A sweep asks, judges and compares settings of one system as one study: a grid of parameters, or changes.

A sweep has its own run folder beside the study's, and resumes as any run does. It shares the caches, so that
nothing is embedded or indexed twice. Marks of people and findings of judges for the study count here too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec
import polars as pl

from assay.core.errors import AssayError, DataError, SystemFailure
from assay.core.records import Arm, Factors
from assay.core.sweep_results import Setting, Sweep
from assay.pipeline.evaluate import judge_study
from assay.pipeline.evaluation import Evaluation
from assay.pipeline.runner import Outcome, Selection, run_study
from assay.pipeline.sweep_statistics import SweepStatistics
from assay.pipeline.validate import check_study, study_warnings
from assay.pipeline.warnings import fault_warnings, latency
from assay.pipeline.work_orders import Progress, Tally
from assay.report.views import measure_infos
from assay.stats.planning import ALPHA
from assay.store.keys import AnswerBasis
from assay.store.run_store import Store
from assay.study.study import Study
from assay.study.study_file import SweepFile
from assay.study.sweep_study import declared_sweep, sweep_as_study


def run_sweep(study: Study, where: Mapping[str, Sequence[str]] | None = None) -> Sweep:
    """Runs the sweep of a study, as far as it was not run yet, and returns its results."""
    sweeping = SweepRun.of(study, where or {})
    _, broken = sweeping.ask()
    sweeping.judge()
    return sweeping.results(broken)


@dataclass(frozen=True)
class SweepRun:
    """The stages of one sweep: ask, judge, and compute the results."""

    study: Study
    how: SweepFile
    swept: Study
    selection: Selection

    @classmethod
    def of(cls, study: Study, where: Mapping[str, Sequence[str]]) -> SweepRun:
        """Returns the sweep that a study declares, checked, and restricted by the conditions in `where`."""
        how, swept = declared_sweep(study), sweep_as_study(study)
        selection = Selection({**how.where, **where})
        arms = selection.arms(swept)
        selection.check_conditions(swept, arms)
        check_study(swept, arms)
        _check_changes_matter(swept, arms, how)
        return cls(study, how, swept, selection)

    def ask(self, progress: Progress | None = None) -> tuple[Outcome | None, str | None]:
        """Asks every setting what it was not asked yet. Returns the outcome, or why it is incomplete."""
        store = Store(self.swept.run_folder)
        _copy_judgments(Store(self.study.run_folder), store)
        try:
            return run_study(self.swept, self.selection, progress=progress), None
        except SystemFailure as error:
            if not any(store.outcomes().values()):
                raise
            return None, str(error).partition("\nWhat others answered")[0]

    def judge(self, progress: Progress | None = None) -> list[Tally]:
        """Asks the judges that cost something what they were not asked yet."""
        return judge_study(self.swept, self.selection, progress)

    def results(self, broken: str | None = None) -> Sweep:
        """Computes the results from the stored answers."""
        evaluation, statistics, changes = self._evaluation, self._statistics, self.how.changes
        return Sweep(
            study=self.study.name,
            system=next(iter(self.swept.file.systems)),
            grid=self.how.grid,
            measures=measure_infos(self.swept.measures, evaluation.judging.bounded),
            by=statistics.by,
            where={name: list(values) for name, values in self.selection.where.items()},
            items=len(evaluation.items),
            settings=[
                self._priced(setting) for setting in (statistics.listed() if changes else statistics.ranked())
            ],
            parameters=statistics.parameters(),
            folds=[]
            if changes
            else statistics.folds(),  # no best change is chosen, so there is no choice to check
            warnings=self._warnings(),
            broken=broken,
            changes=changes,
        )

    @cached_property
    def _evaluation(self) -> Evaluation:
        return Evaluation(self.swept, self.selection)

    @cached_property
    def _names(self) -> dict[str, Arm]:
        """The arms that were run, by the name of their setting."""
        arms = self._evaluation.arms
        if self.how.changes:
            named = zip([self.swept.arms[0].system, *self.how.changes], self.swept.arms, strict=True)
            return {name: arm for name, arm in named if arm in arms}
        return dict(zip(setting_names([arm.factors for arm in arms], self.how.grid), arms, strict=True))

    @cached_property
    def _statistics(self) -> SweepStatistics:
        names = {arm.name: name for name, arm in self._names.items()}
        file = self.swept.file
        return SweepStatistics(
            self._evaluation.scores.with_columns(arm=pl.col("arm").replace_strict(names)),
            self._evaluation.items,
            {name: self._set(name) for name in self._names},
            self._reference(),
            self.swept.measures,
            file.by[0] if file.by else None,
            file.cluster,
            file.compare.resamples,
        )

    def _set(self, name: str) -> Factors:
        """Returns the parameters of a setting: its point of the grid, or its change."""
        if self.how.changes:
            return self.how.changes.get(name, {})
        return _within(self.how.grid, self._names[name].factors)

    def _reference(self) -> str:
        """Returns the setting that the study itself runs, if the grid has it; else the first of the grid."""
        if self.how.changes:
            return next(iter(self._names))
        swept = self.swept
        own = Arm(
            next(iter(swept.file.systems)), _without(self.how.grid, next(iter(self._names.values())).factors)
        )
        try:
            basis = AnswerBasis.of(swept, own, swept.dataset(own))
        except AssayError:  # the study lacks a parameter that only the grid sets
            return next(iter(self._names))
        same = (
            name
            for name, arm in self._names.items()
            if AnswerBasis.of(swept, arm, swept.dataset(arm)) == basis
        )
        return next(same, next(iter(self._names)))

    def _priced(self, setting: Setting) -> Setting:
        arm = self._names[setting.name].name
        seconds = self._seconds.get(arm, {}).get("p50")
        return msgspec.structs.replace(setting, seconds=seconds, cost=self._paid.get(arm))

    @cached_property
    def _seconds(self) -> dict[str, dict[str, float]]:
        return latency(self._evaluation.blocks)

    @cached_property
    def _paid(self) -> dict[str, float]:
        return self._evaluation.store.paid()

    def _warnings(self) -> list[str]:
        evaluation = self._evaluation
        return [
            *_too_coarse(len(self._names) - 1, self.swept.file.compare.resamples),
            *fault_warnings(evaluation.blocks),
            *evaluation.store.warnings(),
            *evaluation.judging.warnings,
            *study_warnings(self.swept, evaluation.datasets, evaluation.measures),
        ]


def _check_changes_matter(swept: Study, arms: Sequence[Arm], how: SweepFile) -> None:
    """Raises a DataError if no answer depends on a change: the change would give the same values again."""
    if not how.changes:
        return
    names = dict(zip((arm.name for arm in swept.arms[1:]), how.changes, strict=True))
    bases: list[AnswerBasis] = []
    problems = []
    for arm in arms:
        basis = AnswerBasis.of(swept, arm, swept.dataset(arm))
        if basis in bases:
            what = "no answer depends on what it sets, or another change comes to the same"
            place = ("sweep", "changes", names[arm.name])
            problems.append(swept.lines.problem(place, what, "Remove the change."))
        bases.append(basis)
    if problems:
        raise DataError(problems)


def setting_names(settings: Sequence[Factors], grid: Mapping[str, Sequence[str]]) -> list[str]:
    """Names settings by their values, with the name of the parameter if a value does not identify it.

    For example `rrf(k=40), tokens(size=300)`, but `fuse.k=40, depth=50`. A parameter with only one value is
    left out.
    """
    seen = [value for values in grid.values() for value in values]
    telling = {value for value in seen if seen.count(value) == 1 and not _bare(value)}
    return [
        ", ".join(
            factors[name] if factors[name] in telling else f"{name}={factors[name]}"
            for name, values in grid.items()
            if len(values) > 1 and name in factors
        )
        for factors in settings
    ]


def _bare(value: str) -> bool:
    """Whether a value is a number, a list or a truth value. Such a value does not show its parameter."""
    return value.lower() in {"true", "false"} or value.lstrip("[-. ")[:1].isdigit()


def _within(grid: Mapping[str, object], factors: Factors) -> Factors:
    return {name: value for name, value in factors.items() if name in grid}


def _without(grid: Mapping[str, object], factors: Factors) -> Factors:
    return {name: value for name, value in factors.items() if name not in grid}


def _too_coarse(comparisons: int, resamples: int) -> list[str]:
    """Returns a warning if there are too few resamples for any corrected p-value to be significant."""
    if comparisons / (resamples + 1) < ALPHA:
        return []
    enough = math.ceil(2 * comparisons / ALPHA)
    what = f"too few to correct over {comparisons} comparisons"
    return [f"compare.resamples is {resamples}: {what}; raise it to {enough} or more"]


def _copy_judgments(source: Store, target: Store) -> None:
    """Copies marks and findings of the study to its sweep, without their cost, which the study has paid."""
    known = {(entry.key, entry.judgment) for entry in target.judged()}
    judged = [entry for entry in source.judged() if entry.judgment is not None]
    if new := [entry for entry in judged if (entry.key, entry.judgment) not in known]:
        with target.locked(), target.writer() as writer:
            for entry in new:
                writer.append(msgspec.structs.replace(entry, cost=None), now=True)
