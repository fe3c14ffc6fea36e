"""Commands that check a study, read its stored answers, or import answers. None of them asks a system.

assay validate, status, gate, prove, report, export and import.
"""

from __future__ import annotations

import sys
from dataclasses import asdict, replace
from functools import partial
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
    Where,
    finish,
    plain_console,
    print_json,
    require_gates,
    say,
    selected,
    show,
    table,
)
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.core.results import Proof


def validate(study: StudyOrPlan, as_json: AsJson = False) -> None:
    """Check a study or a plan, its data and its gates, and say what to do about each problem."""
    from assay.pipeline.validate import validate_study
    from assay.study.plan_file import is_plan

    if is_plan(study):
        _validate_plan(study, as_json=as_json)
        return
    report = validate_study(study)
    if as_json:
        print_json(report.as_json())
        return
    for warning in report.warnings:
        say(f"warning: {warning}")
    typer.echo(report.summary)


def _validate_plan(path: Path, *, as_json: bool) -> None:
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


def status(study: StudyOrPlan, as_json: AsJson = False) -> None:
    """Show how much of a study or a plan is stored, what failed, and what is still to do."""
    from rich.text import Text

    from assay.pipeline.reviewing import next_step
    from assay.pipeline.runner import command_path, merge_arms, study_status
    from assay.study.plan_file import is_plan
    from assay.study.study import open_study

    if is_plan(study):
        _show_plan_status(study, as_json=as_json)
        return
    opened = open_study(study)
    found = study_status(opened)
    if opened.withholds:
        found = replace(found, arms=[merge_arms(found.arms)])
    if not found.next_step:
        found = replace(found, next_step=next_step(opened, command_path(opened)))
    if as_json:
        print_json(found.as_json())
        return
    changed = any(row.changed for row in found.arms)
    header = ["arm", "seed", "answered", "failed", "not asked", *(["changed since"] if changed else [])]
    rows = [
        [row.arm, *map(str, (row.seed, row.answered, row.failed, row.pending)), ", ".join(row.changed)]
        for row in found.arms
    ]
    console = plain_console()
    console.print(table(header, [row[: len(header)] for row in rows], figures={1, 2, 3, 4}))
    console.print(Text(f"next: {found.next_step}"), soft_wrap=True)


def _show_plan_status(path: Path, *, as_json: bool) -> None:
    from assay.pipeline.plan import open_plan, plan_status
    from assay.report.text_tables import plain

    found = plan_status(plan := open_plan(path))
    next_step = f"assay run {path}" if any(step.open or step.failed for step in found) else ""
    if as_json:
        steps = list(map(asdict, found))
        content = {"schema": "assay/plan-status/1", "plan": plan.name, "steps": steps}
        print_json({**content, "next_step": next_step})
        return
    rows = [(step.name, *map(str, (step.answered, step.failed, step.open))) for step in found]
    console = plain_console()
    console.print(table(("step", "answered", "failed", "not asked"), rows, figures={1, 2, 3}))
    if next_step:
        console.print(plain(f"next: {next_step}"), soft_wrap=True)


def gate(
    study: StudyPath,
    against: Against = None,
    accept_changes: AcceptChanges = False,
    require_verdict: RequireVerdict = False,
    as_json: AsJson = False,
) -> None:
    """Decide a study's gates from stored scores: no system is asked again.

    Exit code 12: gates, study or data were changed after the answers were stored, so the verdict shown does
    not count.
    """
    from assay.pipeline.evaluate import compare_results_with
    from assay.pipeline.evaluation import Evaluation
    from assay.study.study import open_study

    opened = open_study(study)
    if not opened.gates and against is None:
        what = f"{opened.lines.where} declares no gates"
        raise UsageError(f"{what}. Add `gates:`, or use: assay report {study}")
    if require_verdict:
        require_gates(opened.decides or against is not None, opened.lines.where)
    results = compare_results_with(Evaluation(opened, detailed=False), against)
    show(results, as_json=as_json, gates_only=True)
    finish(results.verdict, results.outdated, accept=accept_changes)


def prove(study: StudyPath, as_json: AsJson = False) -> None:
    """Try every gate on controls: systems that must not pass, made from stored answers, and an oracle."""
    from assay.core.results import EXPOSED, PROVED
    from assay.pipeline.evaluation import Evaluation
    from assay.pipeline.proving import prove
    from assay.study.study import open_study

    def report_progress(what: str, done: int, total: int) -> None:
        say(f"{what}: {done} of {total}")

    proofs = prove(Evaluation(open_study(study)), report_progress)
    if as_json:
        print_json({"schema": "assay/proofs/1", "proofs": [proof.as_json() for proof in proofs]})
    else:
        for proof in proofs:
            _show_proof(proof)
    exposed = [proof.gate for proof in proofs if proof.outcome == EXPOSED]
    unproved = [proof.gate for proof in proofs if proof.outcome not in {EXPOSED, PROVED}]
    for name in exposed:
        say(f"{name}: a control that deserves no go passes this gate. Ask for more, or declare it harmless.")
    for name in unproved:
        say(f"{name}: not proved. No control applies, or nobody can pass it.")
    raise typer.Exit(10 if exposed else 11 if unproved else 0)


def _show_proof(proof: Proof) -> None:
    from rich.text import Text

    from assay.report.verdicts import CONTROLS_HEADER, control_rows, proof_summary, proof_title

    console = plain_console()
    console.print(Text(f"{proof.gate}: {proof_title(proof)}", "bold"))
    about = f"in the place of {', '.join(proof.candidates)}" if proof.candidates else "about no system"
    beside = f", compared with {', '.join(proof.references)}" if proof.references else ""
    console.print(Text(f"{about}{beside}"), soft_wrap=True)
    console.print(table(CONTROLS_HEADER, control_rows(proof), figures={2}))
    console.print(Text(proof_summary(proof)), soft_wrap=True)
    console.print()


def report(
    study: StudyPath,
    format: Annotated[  # noqa: A002
        str,
        typer.Option(help="html, markdown, json, junit, parquet or github; a folder: benchmark or eval."),
    ] = "html",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Where to write; - is stdout.")] = None,
    where: Where = None,
    against: Against = None,
    post: Annotated[
        bool, typer.Option("--post", help="With --format github, in GitHub Actions: comment and annotate.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write a report of what is stored."""
    from assay.core.protocols import FolderRenderer
    from assay.core.registry import RENDERERS
    from assay.pipeline.evaluate import compare_results_with
    from assay.pipeline.evaluation import Evaluation
    from assay.report.formats import write_report
    from assay.study.study import open_study

    stdout = as_json or str(out) == "-"
    if post and (format != "github" or stdout):
        raise UsageError("--post needs --format github, and a file: leave out --json and -o -.")
    opened = open_study(study)
    wanted = "json" if as_json else format
    renderer = opened.registry.create(RENDERERS, wanted)
    results = compare_results_with(Evaluation(opened, selected(where)), against)
    if stdout and not isinstance(renderer, FolderRenderer):
        sys.stdout.buffer.write(renderer.render(results))
        sys.stdout.buffer.flush()
        return
    path = write_report(results, opened, wanted, out)
    say(f"wrote {path}")
    if post:
        from assay.report.github_actions import deliver_report

        delivered = deliver_report(results, opened, path)
        typer.echo("".join(f"{line}\n" for line in delivered.commands), nl=False)
        say(delivered.said)


def export(
    study: StudyPath,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="Where to write; default: run/trec.")
    ] = None,
    where: Where = None,
    as_json: AsJson = False,
) -> None:
    """Write what is stored as TREC files: one run file per system, and the labels as qrels."""
    from assay.pipeline.evaluation import Evaluation
    from assay.pipeline.run_files import export_trec
    from assay.store.disk import write_atomic
    from assay.study.study import open_study

    opened = open_study(study)
    if opened.withholds:
        what = "These files would reveal what each condition was given, and people are to score blind"
        raise UsageError(f"{what}. First: assay review unblind {study}")
    found = export_trec(Evaluation(opened, selected(where)))
    folder = out or opened.run_folder / "trec"
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in found.files.items():
        write_atomic(folder / name, partial(Path.write_bytes, data=content))
    for note in found.notes:
        say(note)
    paths = [str(folder / name) for name in found.files]
    if as_json:
        print_json({"schema": "assay/export/1", "files": paths, "notes": found.notes})
    else:
        typer.echo("\n".join(paths))


Files = Annotated[
    list[Path], typer.Argument(metavar="FILE…", help="JSON files that a benchmark wrote, one per model.")
]
Replace = Annotated[
    bool, typer.Option("--replace", help="Put these results in the place of others of the same model.")
]


def import_(study: StudyPath, files: Files, replace: Replace = False, as_json: AsJson = False) -> None:
    """Check finished results of others against a study, and store them as its runs."""
    from assay.pipeline.importing import import_results

    with ProgressDisplay() as progress:
        done = import_results(study, files, replace=replace, progress=progress)
    if as_json:
        print_json(done.as_json())
    else:
        typer.echo(done.summary)
