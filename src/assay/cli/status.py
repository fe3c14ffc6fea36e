"""assay status: how far a study is, and what to do next."""

from __future__ import annotations

from dataclasses import replace

from assay.cli.options import AsJson
from assay.cli.run import StudyOrPlan
from assay.cli.showing import plain_console, print_json, table


def command(study: StudyOrPlan, as_json: AsJson = False) -> None:
    """Show what of a study or a plan is stored, what failed, what is still to do."""
    from rich.text import Text

    from assay.pipeline.reviewing import next_step
    from assay.pipeline.runner import command_path, merge_arms, study_status
    from assay.study.plan_file import is_plan
    from assay.study.study import open_study

    if is_plan(study):
        from assay.cli.plan import show_status

        show_status(study, as_json=as_json)
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
