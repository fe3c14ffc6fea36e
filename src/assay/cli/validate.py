"""assay validate: every problem of a study at once."""

from __future__ import annotations

import typer

from assay.cli.options import AsJson
from assay.cli.run import StudyOrPlan
from assay.cli.showing import print_json, say


def command(study: StudyOrPlan, as_json: AsJson = False) -> None:
    """Check a study or a plan, its data and its gates, and say what to do about each problem."""
    from assay.pipeline.validate import validate_study
    from assay.study.plan_file import is_plan

    if is_plan(study):
        from assay.cli.plan import validate_and_show

        validate_and_show(study, as_json=as_json)
        return
    report = validate_study(study)
    if as_json:
        print_json(report.as_json())
    else:
        for warning in report.warnings:
            say(f"warning: {warning}")
        typer.echo(report.summary)
