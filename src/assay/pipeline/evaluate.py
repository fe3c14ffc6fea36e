"""Evaluates a study from its systems to a verdict. All stages run in order, and read what is stored.

`assay run` and a notebook call the same functions. A `Watcher` can show the progress of the stages.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from assay.core.errors import UsageError
from assay.core.registry import Registry
from assay.core.results import Results
from assay.pipeline.evaluation import Evaluation
from assay.pipeline.runner import Outcome, Selection, repeat_study, run_study
from assay.pipeline.validate import check_study
from assay.pipeline.work_orders import NoProgress, Progress, Tally
from assay.study.study import Study, open_study


class Watcher:
    """Is called when a stage begins or ends. This class shows nothing; subclasses show progress."""

    def progress(self) -> AbstractContextManager[Progress]:
        """Returns an object that shows the progress of one stage."""
        return nullcontext(NoProgress())

    def after_run(self, outcome: Outcome, repetition: int = 0) -> None:
        """Is called after systems were asked what they had not answered yet, or again for a `repetition`."""

    def after_judge(self, tally: Tally) -> None:
        """Is called after a judge that costs something was asked."""


def evaluate(
    study: Study | str | Path,
    selection: Selection | None = None,
    *,
    fresh: bool = False,
    repeat: int = 0,
    engine: str = "local",
    against: str | None = None,
    registry: Registry | None = None,
    watcher: Watcher | None = None,
) -> Results:
    """Runs a study, as far as it was not run yet, and returns its results.

    With `fresh`, everything is asked again. `repeat` is the number of repetitions: they show how much answers
    vary by themselves. `against` names a baseline to compare with.
    """
    opened = study if isinstance(study, Study) else open_study(study, registry=registry)
    _, evaluation = run_and_judge(opened, selection, fresh=fresh, engine=engine, watcher=watcher)
    for repetition in range(1, repeat + 1):
        repeat_answers(opened, repetition, selection, fresh=fresh, engine=engine, watcher=watcher)
    return compare_results_with(evaluation, against)


def compare_results_with(evaluation: Evaluation, baseline: str | None) -> Results:
    """Returns the results, compared with a baseline if a baseline is named."""
    if baseline is None:
        return evaluation.results
    from assay.pipeline.baselines.gate import compare_with_baseline

    return compare_with_baseline(evaluation, baseline)


def run_and_judge(
    study: Study,
    selection: Selection | None = None,
    *,
    fresh: bool = False,
    engine: str = "local",
    watcher: Watcher | None = None,
) -> tuple[Outcome, Evaluation]:
    """Checks a study, then asks its systems and judges. The returned evaluation computes the rest."""
    chosen, watcher = selection or Selection(), watcher or Watcher()
    arms = chosen.arms(study)
    chosen.check_conditions(study, arms)
    check_study(study, arms)
    with watcher.progress() as progress:
        outcome = run_study(study, chosen, fresh=fresh, engine=engine, progress=progress)
    watcher.after_run(outcome)
    _watch_judges(study, chosen, watcher)
    return outcome, Evaluation(study, chosen)


def repeat_answers(
    study: Study,
    repetition: int,
    selection: Selection | None = None,
    *,
    fresh: bool = False,
    engine: str = "local",
    watcher: Watcher | None = None,
) -> None:
    """Asks systems everything once more, and judges about the new answers, to see how much both vary."""
    chosen, watcher = selection or Selection(), watcher or Watcher()
    if study.withholds:  # what varies may reveal a condition
        raise UsageError("--repeat waits until the responses are unblinded. Leave it out until then.")
    with watcher.progress() as progress:
        outcome = repeat_study(study, repetition, chosen, fresh=fresh, engine=engine, progress=progress)
    watcher.after_run(outcome, repetition)
    _watch_judges(study, chosen, watcher, repetition)


def _watch_judges(study: Study, chosen: Selection, watcher: Watcher, repetition: int = 0) -> None:
    with watcher.progress() as progress:
        tallies = judge_study(study, chosen, progress, repetition)
    for tally in tallies:
        watcher.after_judge(tally)


def judge_study(
    study: Study,
    selection: Selection | None = None,
    progress: Progress | None = None,
    repetition: int = 0,
) -> list[Tally]:
    """Asks paying judges the questions that they were not asked yet, and stores their findings."""
    evaluation = Evaluation(study, selection or Selection(), repetition)
    if not evaluation.has_paying_judge:
        return []
    with evaluation.store.locked():
        return evaluation.judging.ask(progress)
