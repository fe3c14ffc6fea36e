"""A study from its systems to a verdict: every stage in its order, each reading what is stored.

`assay run` and a notebook call the same functions; a watcher shows how far they are.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from assay.core.errors import UsageError
from assay.core.registry import Registry
from assay.core.results import Results
from assay.pipeline.evaluation import Evaluation
from assay.pipeline.performing import NoProgress, Progress, Tally
from assay.pipeline.runner import Outcome, Selection, repeat_study, run_study
from assay.pipeline.validate import check_study
from assay.study.study import Study, open_study


class Watcher:
    """Learns how far a study is. This one shows nothing; others override what they show."""

    def progress(self) -> AbstractContextManager[Progress]:
        """What shows the progress of one stage."""
        return nullcontext(NoProgress())

    def asked(self, outcome: Outcome, repetition: int = 0) -> None:
        """Systems were asked what they were not asked yet; `repetition`: or were asked everything again."""

    def judged(self, tally: Tally) -> None:
        """A judge that costs something was asked about one arm."""


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
    """Runs a study, as far as it was not run yet, and returns everything found.

    `fresh` asks everything again, `repeat` asks so many times more to see what varies by itself, and
    `against` names a baseline to compare with.
    """
    opened = study if isinstance(study, Study) else open_study(study, registry=registry)
    _, evaluation = run_and_judge(opened, selection, fresh=fresh, engine=engine, watcher=watcher)
    for repetition in range(1, repeat + 1):
        repeat_answers(opened, repetition, selection, fresh=fresh, engine=engine, watcher=watcher)
    return compare_results_with(evaluation, against)


def compare_results_with(evaluation: Evaluation, baseline: str | None) -> Results:
    """The results, compared with a baseline if one is named."""
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
    """Checks a study, asks its systems and then its judges; whatever follows is the evaluation."""
    chosen, watching = selection or Selection(), watcher or Watcher()
    arms = chosen.arms(study)
    chosen.refuse_unmet(study, arms)
    check_study(study, arms)
    with watching.progress() as progress:
        outcome = run_study(study, chosen, fresh=fresh, engine=engine, progress=progress)
    watching.asked(outcome)
    _judge(study, chosen, watching)
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
    """Asks systems everything once more, and judges about that, to see what varies by itself."""
    chosen, watching = selection or Selection(), watcher or Watcher()
    if study.withholds:  # what varies may tell a condition
        raise UsageError("--repeat waits until the responses are unblinded. Leave it out until then.")
    with watching.progress() as progress:
        outcome = repeat_study(study, repetition, chosen, fresh=fresh, engine=engine, progress=progress)
    watching.asked(outcome, repetition)
    _judge(study, chosen, watching, repetition)


def _judge(study: Study, chosen: Selection, watching: Watcher, repetition: int = 0) -> None:
    with watching.progress() as progress:
        tallies = judge_study(study, chosen, progress, repetition)
    for tally in tallies:
        watching.judged(tally)


def judge_study(
    study: Study,
    selection: Selection | None = None,
    progress: Progress | None = None,
    repetition: int = 0,
) -> list[Tally]:
    """Asks the judges that cost something what they were not asked yet; evaluation reads what they found."""
    evaluation = Evaluation(study, selection or Selection(), repetition)
    if not evaluation.pays:
        return []
    with evaluation.store.locked():
        return evaluation.judging.ask(progress)
