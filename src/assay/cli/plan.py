"""What `assay run`, `validate` and `status` do with a plan."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from assay.cli.run import run_talk
from assay.cli.showing import (
    finish,
    plain_console,
    print_json,
    require_gates,
    say,
    table,
    write_reports,
)
from assay.core.errors import SystemFailure

if TYPE_CHECKING:
    from assay.core.results import Results
    from assay.pipeline.plan import AvoidedWork, GateResult, PlanResults, PlanStep, StepResult
    from assay.pipeline.runner import Outcome
    from assay.study.plan_file import Conditions


def run_and_show(
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
    """Runs a plan; ends with the exit code of its verdict, or of the failure that ended it."""
    from assay.pipeline.evaluate import run_and_judge
    from assay.pipeline.plan import open_plan, run_plan
    from assay.report.writing import write_report

    plan = open_plan(path, where=where)
    if require_verdict:
        require_gates(any(any(step.gates.values()) for step in plan.steps), str(plan.path))

    def perform(step: PlanStep) -> tuple[Outcome, Results]:
        say(f"step {step.place + 1} of {len(plan.steps)}: {step.name}" + f", {step.about}" * bool(step.about))
        study = step.study()
        talk = run_talk(study, step.selection)
        outcome, evaluation = run_and_judge(study, step.selection, fresh=fresh, engine=engine, watcher=talk)
        results = write_reports(evaluation.results, study)
        if step.page != study.run_folder / "report.html":
            results = dataclasses.replace(results, report=str(step.page))
            write_report(results, study, "html", step.page)
        return outcome, results

    found = run_plan(plan, perform, keep_going=keep_going)
    if as_json:
        print_json(found.as_json())
    else:
        _render(found)
    if found.broken:
        say(found.broken)
        raise typer.Exit(SystemFailure.exit_code)
    finish(found.verdict, found.outdated, accept=accept_changes)


def _render(found: PlanResults) -> None:
    """A row a step, a line a gate, what stopping left undone, the pages, and last the verdict over all."""
    from assay.report.text_tables import plain
    from assay.report.wording import TITLES

    console = plain_console()
    header = ("step", "verdict", "asked", "reused", "seconds", "what it decided")
    console.print(table(header, map(_row, found.steps), figures={2, 3, 4}))
    lines = [*map(_gate, found.gates), ""] if found.gates else []
    lines += [f"{step.name}: {step.report}" for step in found.steps if step.report]
    lines += [_unasked(found.saved)] if found.saved else []
    lines += [f"Without --keep-going it would have ended where {found.would_stop}."] * bool(found.would_stop)
    for line in ["", *lines, f"{found.plan}: {TITLES[found.verdict]}"]:
        console.print(plain(line), soft_wrap=True)


def _row(step: StepResult) -> tuple[str, ...]:
    if step.skipped:
        return step.name, "not run", "", "", "", step.reason
    verdict = step.verdict or "none"
    return step.name, verdict, str(step.asked), str(step.reused), f"{step.seconds:.1f}", step.reason


def _gate(found: GateResult) -> str:
    informs = "" if found.deciding else ", informs"
    return f"{found.step}, {found.gate}: {found.verdict}{informs}: {found.reason}"


def _unasked(saved: AvoidedWork) -> str:
    steps = ", ".join(f"{name} ({answers})" for name, answers in saved.steps.items())
    time = "" if saved.seconds is None else f", {roughly(saved.seconds)}"
    return f"Not asked, because {saved.because}: {saved.answers} answers of {steps}{time}."


def roughly(seconds: float) -> str:
    """An estimated time in words: no more exact than it is."""
    if seconds < 90:
        return f"about {max(seconds, 1):.0f} s"
    return f"about {seconds / 60:.0f} min" if seconds < 5400 else f"about {seconds / 3600:.1f} h"


def validate_and_show(path: Path, *, as_json: bool) -> None:
    """Checks a plan and all its studies."""
    from assay.pipeline.plan import open_plan

    plan = open_plan(path)
    if as_json:
        steps = [
            {"name": step.name, "answers": len(step.keys), **step.validation.as_json()} for step in plan.steps
        ]
        print_json({"schema": "assay/plan-validation/1", "plan": plan.name, "steps": steps})
        return
    for step in plan.steps:
        for warning in step.validation.warnings:
            say(f"warning: {step.name}: {warning}")
    for step in plan.steps:
        typer.echo(f"{step.name}: {len(step.keys)} answers; {step.validation.summary}")


def show_status(path: Path, *, as_json: bool) -> None:
    """How far every step of a plan is."""
    from assay.pipeline.plan import open_plan, plan_status
    from assay.report.text_tables import plain

    found = plan_status(plan := open_plan(path))
    next_step = f"assay run {path}" if any(step.open or step.failed for step in found) else ""
    if as_json:
        steps = [dataclasses.asdict(step) for step in found]
        print_json(
            {"schema": "assay/plan-status/1", "plan": plan.name, "steps": steps, "next_step": next_step}
        )
        return
    rows = [(step.name, *map(str, (step.answered, step.failed, step.open))) for step in found]
    console = plain_console()
    console.print(table(("step", "answered", "failed", "not asked"), rows, figures={1, 2, 3}))
    if next_step:
        console.print(plain(f"next: {next_step}"), soft_wrap=True)
