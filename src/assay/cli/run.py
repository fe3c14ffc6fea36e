"""assay run and assay sweep: ask the systems, then judge, score, compare, gate and report."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.terminal import (
    AcceptChanges,
    Against,
    AsJson,
    ProgressDisplay,
    RequireVerdict,
    StudyOrPlan,
    StudyPath,
    Systems,
    Where,
    finish,
    plain_console,
    print_json,
    require_gates,
    say,
    selected,
    show,
    table,
    write_reports,
)
from assay.core.errors import SystemFailure, UsageError

if TYPE_CHECKING:
    from assay.core.results import Results
    from assay.core.sweep_results import Sweep
    from assay.pipeline.evaluate import Watcher
    from assay.pipeline.plan import AvoidedWork, PlanResults, PlanStep, StepResult
    from assay.pipeline.runner import Outcome, Selection
    from assay.pipeline.sweep import SweepRun
    from assay.pipeline.work_orders import Progress, Tally
    from assay.study.plan_file import Conditions
    from assay.study.study import Study

MOST_REPEATS = 20


def run(
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

    A folder that holds plan.yaml is run as that plan. To run only its study, name FOLDER/study.yaml. Of a
    plan, --where and --stage name factors and replace the `where` at its top; the steps keep their own.

    Exit code 12: a gate was changed after answers that it decides on were stored, so the verdict shown does
    not count. --fresh asks again, under the gate as it is now.
    """
    from assay.study.plan_file import is_plan

    chosen = selected([*(where or []), *([f"stage={stage}"] if stage else [])], system, limit)
    if not is_plan(study):
        if keep_going:
            what = f"--keep-going is about the steps of a plan, and {study} is a study"
            raise UsageError(f"{what}. Leave it out.")
        run_and_show(
            study,
            chosen,
            fresh=fresh,
            repeat=repeat,
            engine=engine,
            against=against,
            accept_changes=accept_changes,
            require_verdict=require_verdict,
            verbose=verbose,
            as_json=as_json,
        )
        return
    options = {"--system": system, "--limit": limit, "--repeat": repeat, "--against": against}
    if named := [name for name, value in {**options, "--verbose": verbose}.items() if value]:
        fix = "Its steps say which part of a study to run (docs/plans.md)."
        raise UsageError(f"A plan takes no {' and no '.join(named)}. {fix}")
    _run_plan(
        study,
        chosen.where,
        keep_going=keep_going,
        fresh=fresh,
        engine=engine,
        accept_changes=accept_changes,
        require_verdict=require_verdict,
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
    """Runs all stages of a study, shows the results, and ends with the verdict's exit code."""
    from assay.pipeline.evaluate import evaluate
    from assay.pipeline.runner import Selection
    from assay.study.study import open_study

    study = open_study(path)
    if require_verdict:
        require_gates(study.decides or against is not None, study.lines.where)
    selection = chosen or Selection()
    watcher = _watch(study, selection, repeat)
    found = evaluate(
        study, selection, fresh=fresh, repeat=repeat, engine=engine, against=against, watcher=watcher
    )
    results = write_reports(found, study)
    show(results, as_json=as_json, every_item=verbose)
    finish(results.verdict, results.outdated, accept=accept_changes)


def _watch(study: Study, chosen: Selection, repeats: int = 0) -> Watcher:
    """Returns a watcher that shows progress on stderr, and prints a line after each stage."""
    from assay.pipeline.evaluate import Watcher

    blind = study.withholds  # what is built for an arm, and how much, could reveal a condition

    class TerminalWatcher(Watcher):
        @contextmanager
        def progress(self) -> Iterator[Progress]:
            with _explain_interrupt(study), ProgressDisplay(stages=not blind) as display:
                yield display

        def after_run(self, outcome: Outcome, repetition: int = 0) -> None:
            done = f"{outcome.answered} answered, {outcome.reused} reused, {outcome.failed} failed"
            cost = f", cost {outcome.cost:.4g}" if outcome.cost else ""
            if repetition:
                say(f"{study.name}, repeat {repetition} of {repeats}: {done}{cost}")
                return
            taken = f" in {outcome.seconds:.1f} s{cost}"
            if blind:  # --system may have picked one condition
                done, taken = f"{outcome.answered + outcome.reused + outcome.failed} responses stored", ""
            options = [name for name, on in (("--where", chosen.where), ("--limit", chosen.limit)) if on]
            left_out = f", {outcome.left_out} not asked ({', '.join(options)})" if outcome.left_out else ""
            say(f"{study.name}: {done}, {outcome.pending} pending{left_out}{taken}")

        def after_judge(self, tally: Tally) -> None:
            if not blind:
                _say_judged(tally)

    return TerminalWatcher()


def _say_judged(tally: Tally) -> None:
    done = f"{tally.arm}: {tally.answered} questions answered, {tally.failed} failed"
    say(done + (f", cost {tally.cost:.4g}" if tally.cost else ""))


@contextmanager
def _explain_interrupt(study: Study) -> Iterator[None]:
    """Adds to an interrupt how many answers are stored, and the command to go on."""
    from assay.core.protocols import PayingJudge
    from assay.pipeline.runner import command_path, study_status

    try:
        yield
    except KeyboardInterrupt:
        arms = study_status(study).arms
        kept = sum(arm.answered for arm in arms)
        of = sum(arm.answered + arm.failed + arm.pending for arm in arms)
        judged = any(isinstance(judge, PayingJudge) for judge in study.judges)
        stored = f"{kept} of {of} answers are stored" + ", and so is what judges found" * judged
        way = f"To go on from there: assay run {command_path(study)}"
        raise KeyboardInterrupt(f"{study.name}: interrupted. {stored}. {way}") from None


# ----------------------------------------------------------------------------------- plans


def _run_plan(
    path: Path,
    where: Conditions,
    *,
    keep_going: bool,
    fresh: bool,
    engine: str,
    accept_changes: bool,
    require_verdict: bool,
    as_json: bool,
) -> None:
    """Runs a plan, and ends with the exit code of its verdict, or of the failure that ended it."""
    from assay.pipeline.evaluate import run_and_judge
    from assay.pipeline.plan import open_plan, run_plan
    from assay.report.formats import write_report

    plan = open_plan(path, where=where)
    if require_verdict:
        require_gates(any(any(step.gates.values()) for step in plan.steps), str(plan.path))

    def perform(step: PlanStep) -> tuple[Outcome, Results]:
        say(f"step {step.place + 1} of {len(plan.steps)}: {step.name}" + f", {step.about}" * bool(step.about))
        study = step.study()
        watcher = _watch(study, step.selection)
        outcome, evaluation = run_and_judge(
            study, step.selection, fresh=fresh, engine=engine, watcher=watcher
        )
        results = write_reports(evaluation.results, study)
        if step.page != study.run_folder / "report.html":
            results = dataclasses.replace(results, report=str(step.page))
            write_report(results, study, "html", step.page)
        return outcome, results

    found = run_plan(plan, perform, keep_going=keep_going)
    if as_json:
        print_json(found.as_json())
    else:
        _show_plan(found)
    if found.broken:
        say(found.broken)
        raise typer.Exit(SystemFailure.exit_code)
    finish(found.verdict, found.outdated, accept=accept_changes)


def _show_plan(found: PlanResults) -> None:
    """Prints the steps as a table, then the gates, the pages, the answers not asked, and the verdict."""
    from assay.report.text_tables import plain
    from assay.report.wording import TITLES

    console = plain_console()
    header = ("step", "verdict", "asked", "reused", "seconds", "what it decided")
    console.print(table(header, map(_step_row, found.steps), figures={2, 3, 4}))
    lines = [
        f"{gate.step}, {gate.gate}: {gate.verdict}{'' if gate.deciding else ', informs'}: {gate.reason}"
        for gate in found.gates
    ]
    lines += [""] * bool(lines)
    lines += [f"{step.name}: {step.report}" for step in found.steps if step.report]
    lines += [_saved_line(found.saved)] if found.saved else []
    if found.would_stop:
        lines.append(f"Without --keep-going it would have ended because {found.would_stop}.")
    for line in ["", *lines, f"{found.plan}: {TITLES[found.verdict]}"]:
        console.print(plain(line), soft_wrap=True)


def _step_row(step: StepResult) -> tuple[str, ...]:
    if step.skipped:
        return step.name, "not run", "", "", "", step.reason
    verdict = step.verdict or "none"
    return step.name, verdict, str(step.asked), str(step.reused), f"{step.seconds:.1f}", step.reason


def _saved_line(saved: AvoidedWork) -> str:
    steps = ", ".join(f"{name} ({answers})" for name, answers in saved.steps.items())
    time = "" if saved.seconds is None else f", {roughly(saved.seconds)}"
    return f"Not asked, because {saved.because}: {saved.answers} answers of {steps}{time}."


def roughly(seconds: float) -> str:
    """Returns an estimated time in words, only as exact as an estimate can be."""
    if seconds < 90:
        return f"about {max(seconds, 1):.0f} s"
    return f"about {seconds / 60:.0f} min" if seconds < 5400 else f"about {seconds / 3600:.1f} h"


# ---------------------------------------------------------------------------------- sweeps


def sweep(study: StudyPath, where: Where = None, as_json: AsJson = False) -> None:
    """Run every setting of a study's grid, or one change at a time, and compare them. It resumes."""
    from assay.pipeline.sweep import SweepRun
    from assay.study.study import open_study

    sweeping = SweepRun.of(open_study(study), selected(where).where)
    found = _write_sweep(sweeping, _perform_sweep(sweeping))
    if as_json:
        print_json(found.as_json())
    else:
        from assay.report.sweep import render_sweep

        render_sweep(found, plain_console())
    if found.broken:
        say(found.broken)
        raise typer.Exit(SystemFailure.exit_code)


def _perform_sweep(sweeping: SweepRun) -> Sweep:
    """Runs all stages of a sweep, and shows the progress of each stage."""
    with ProgressDisplay() as progress:
        outcome, broken = sweeping.ask(progress)
    if outcome is not None:
        done = f"{outcome.answered} answered, {outcome.reused} reused, {outcome.failed} failed"
        say(f"{sweeping.study.name}, sweep: {done} in {outcome.seconds:.1f} s")
    with ProgressDisplay() as progress:
        for tally in sweeping.judge(progress):
            _say_judged(tally)
    return sweeping.results(broken)


def _write_sweep(sweeping: SweepRun, found: Sweep) -> Sweep:
    """Writes the page and the table of a sweep into its run folder, and names the page in the results."""
    from assay.report.sweep import render_page, sweep_frame
    from assay.store.disk import write_atomic

    folder = sweeping.swept.run_folder
    named = dataclasses.replace(found, report=str(folder / "sweep.html"))
    page, rows = render_page(named), sweep_frame(named)
    write_atomic(folder / "sweep.html", lambda target: target.write_bytes(page))
    write_atomic(folder / "sweep.csv", rows.write_csv)
    return named
