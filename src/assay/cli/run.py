"""assay run: ask the systems, then judge, score, compare, gate and report."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.options import AcceptChanges, Against, AsJson, RequireVerdict
from assay.cli.showing import ProgressDisplay, finish, require_gates, say, show, write_reports
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.pipeline.evaluate import Watcher
    from assay.pipeline.runner import Outcome, Selection
    from assay.pipeline.work_orders import Progress, Tally
    from assay.study.study import Study

MOST_REPEATS = 20
Where = Annotated[
    list[str] | None, typer.Option("--where", metavar="k=v", help="Only these factors or tags; v may be a|b.")
]
StudyOrPlan = Annotated[
    Path,
    typer.Argument(
        metavar="STUDY",
        help="A folder holding study.yaml, or the file. A folder that holds plan.yaml is that plan.",
    ),
]
Systems = Annotated[list[str] | None, typer.Option("--system", help="Only this system; may be repeated.")]


def command(
    study: StudyOrPlan,
    where: Where = None,
    system: Systems = None,
    stage: Annotated[
        str | None, typer.Option(help="Only this corpus stage: short for --where stage=NAME.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N items.")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Ask everything again; judgments stay.")] = False,
    repeat: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            max=MOST_REPEATS,
            help="Ask everything N more times, to see what varies by itself; the answers stay.",
        ),
    ] = 0,
    engine: Annotated[str, typer.Option(help="Where to run: local or processes.")] = "local",
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Of a plan: run every step, whatever the verdicts.")
    ] = False,
    against: Against = None,
    accept_changes: AcceptChanges = False,
    require_verdict: RequireVerdict = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Show the scores of every item too.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run a study from its systems to a verdict, or the studies of a plan in order. Running again resumes.

    A folder that holds plan.yaml is run as that plan; its study alone is FOLDER/study.yaml. Of a plan,
    --where and --stage name factors and replace the `where` at its top; what a step says itself stays.

    Exit code 12: a gate was changed after answers that it decides on were stored, so the verdict shown does
    not count. --fresh asks again, under the gate as it is now.
    """
    from assay.study.plan_file import is_plan

    chosen = [*(where or []), *([f"stage={stage}"] if stage else [])]
    if is_plan(study):
        from assay.cli.plan import run_and_show as run_plan_and_show

        single = {"--system": system, "--limit": limit, "--repeat": repeat, "--against": against}
        refuse_narrowing({**single, "--verbose": verbose})
        factors = selected(chosen, [], None).where
        run_plan_and_show(
            study,
            factors,
            keep_going=keep_going,
            fresh=fresh,
            engine=engine,
            accept_changes=accept_changes,
            require_verdict=require_verdict,
            as_json=as_json,
        )
        return
    if keep_going:
        raise UsageError(f"--keep-going is about the steps of a plan, and {study} is a study. Leave it out.")
    run_and_show(
        study,
        selected(chosen, system or [], limit),
        fresh=fresh,
        repeat=repeat,
        engine=engine,
        against=against,
        accept_changes=accept_changes,
        require_verdict=require_verdict,
        verbose=verbose,
        as_json=as_json,
    )


def run_and_show(
    path: Path,
    chosen: Selection | None = None,
    *,
    fresh: bool = False,
    repeat: int = 0,
    engine: str = "local",
    against: str | None = None,
    accept_changes: bool = False,
    require_verdict: bool = False,
    verbose: bool = False,
    as_json: bool = False,
) -> None:
    """The sequence of all stages, shown; ends with the verdict's exit code."""
    from assay.pipeline.evaluate import evaluate
    from assay.pipeline.runner import Selection
    from assay.study.study import open_study

    opened = open_study(path)
    if require_verdict:
        require_gates(opened.decides or against is not None, opened.lines.where)
    selection = chosen or Selection()
    found = evaluate(
        opened,
        selection,
        fresh=fresh,
        repeat=repeat,
        engine=engine,
        against=against,
        watcher=run_talk(opened, selection, repeat),
    )
    results = write_reports(found, opened)
    show(results, as_json=as_json, every_item=verbose)
    finish(results.verdict, results.outdated, accept=accept_changes)


def run_talk(study: Study, chosen: Selection, repeats: int = 0) -> Watcher:
    """Progress on stderr, and a line after each stage."""
    from assay.pipeline.evaluate import Watcher

    blind = study.withholds  # what is built for an arm, and how much, may tell a condition

    class RunTalk(Watcher):
        @contextmanager
        def progress(self) -> Iterator[Progress]:
            with _resumable(study), ProgressDisplay(stages=not blind) as shown:
                yield shown

        def after_run(self, outcome: Outcome, repetition: int = 0) -> None:
            done = f"{outcome.answered} answered, {outcome.reused} reused, {outcome.failed} failed"
            cost = f", cost {outcome.cost:.4g}" if outcome.cost else ""
            if repetition:
                say(f"{study.name}, repeat {repetition} of {repeats}: {done}{cost}")
                return
            taken = f" in {outcome.seconds:.1f} s{cost}"
            if blind:  # --system may have picked one condition
                done, taken = f"{outcome.answered + outcome.reused + outcome.failed} responses stored", ""
            left = f", {outcome.pending} pending{_left_out(outcome.left_out, chosen)}"
            say(f"{study.name}: {done}{left}{taken}")

        def after_judge(self, tally: Tally) -> None:
            if not blind:
                done = f"{tally.answered} questions answered, {tally.failed} failed"
                say(f"{tally.arm}: {done}" + (f", cost {tally.cost:.4g}" if tally.cost else ""))

    return RunTalk()


@contextmanager
def _resumable(opened: Study) -> Iterator[None]:
    """An interrupt says what is kept of a study, and how to go on."""
    from assay.core.protocols import PayingJudge
    from assay.pipeline.runner import command_path, study_status

    try:
        yield
    except KeyboardInterrupt:
        arms = study_status(opened).arms
        kept = sum(arm.answered for arm in arms)
        of = sum(arm.answered + arm.failed + arm.pending for arm in arms)
        judged = any(isinstance(judge, PayingJudge) for judge in opened.judges)
        stored = f"{kept} of {of} answers are stored" + ", and so is what judges found" * judged
        way = f"To go on from there: assay run {command_path(opened)}"
        raise KeyboardInterrupt(f"{opened.name}: interrupted. {stored}. {way}") from None


def refuse_narrowing(given: dict[str, object]) -> None:
    """Options that are about one study make no sense for several."""
    if named := [name for name, value in given.items() if value]:
        fix = "Its steps say which part of a study to run (docs/plans.md)."
        raise UsageError(f"A plan takes no {' and no '.join(named)}. {fix}")


def _left_out(items: int, chosen: Selection) -> str:
    """How many items the options keep from being asked; nothing where there is none."""
    options = [name for name, given in (("--where", chosen.where), ("--limit", chosen.limit)) if given]
    return f", {items} not asked ({', '.join(options)})" if items else ""


def selected(where: list[str], systems: list[str], limit: int | None) -> Selection:
    """The part of the study that the options name."""
    from assay.pipeline.runner import Selection

    conditions: dict[str, list[str]] = {}
    for text in where:
        name, equals, values = text.partition("=")
        if not equals or not name or not values:
            raise UsageError(f"--where {text!r} is no condition. Write name=value, or name=one|other.")
        conditions.setdefault(name, []).extend(values.split("|"))
    return Selection(conditions, systems, limit)
