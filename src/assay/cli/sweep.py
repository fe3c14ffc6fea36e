"""assay sweep: a grid of parameters of one system, or changes to it, one comparable table."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import typer

from assay.cli.options import AsJson, StudyPath
from assay.cli.run import Where, selected
from assay.cli.showing import ProgressDisplay, plain_console, print_json, say
from assay.core.errors import SystemFailure

if TYPE_CHECKING:
    from assay.core.sweep_results import Sweep
    from assay.pipeline.sweep import SweepRun


def command(study: StudyPath, where: Where = None, as_json: AsJson = False) -> None:
    """Run every setting of a study's grid, or one change at a time, and say what holds. It resumes."""
    from assay.pipeline.sweep import SweepRun
    from assay.study.study import open_study

    sweeping = SweepRun.of(open_study(study), selected(where or [], [], None).where)
    found = _written(sweeping, _performed(sweeping))
    if as_json:
        print_json(found.as_json())
    else:
        from assay.report.sweep_text import render_sweep

        render_sweep(found, plain_console())
    if found.broken:
        say(found.broken)
        raise typer.Exit(SystemFailure.exit_code)


def _performed(sweeping: SweepRun) -> Sweep:
    """The sequence of all stages, each with its progress."""
    with ProgressDisplay() as progress:
        outcome, broken = sweeping.ask(progress)
    if outcome is not None:
        done = f"{outcome.answered} answered, {outcome.reused} reused, {outcome.failed} failed"
        say(f"{sweeping.study.name}, sweep: {done} in {outcome.seconds:.1f} s")
    with ProgressDisplay() as progress:
        for asked in sweeping.judge(progress):
            done = f"{asked.answered} questions answered, {asked.failed} failed"
            say(f"{asked.arm}: {done}" + (f", cost {asked.cost:.4g}" if asked.cost else ""))
    return sweeping.found(broken)


def _written(sweeping: SweepRun, found: Sweep) -> Sweep:
    """The page and the table beside the run; the page is named in what was found."""
    from assay.report.sweep_page import render_page
    from assay.report.sweep_table import sweep_frame
    from assay.store.disk import write_atomic

    folder = sweeping.swept.run_folder
    named = dataclasses.replace(found, report=str(folder / "sweep.html"))
    page, table = render_page(named), sweep_frame(named)
    write_atomic(folder / "sweep.html", lambda target: target.write_bytes(page))
    write_atomic(folder / "sweep.csv", table.write_csv)
    return named
