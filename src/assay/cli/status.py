"""assay status: how far a study is, and what to do next."""

from __future__ import annotations

from assay.cli.options import AsJson, StudyPath
from assay.cli.showing import print_json


def command(study: StudyPath, as_json: AsJson = False) -> None:
    """Show what is stored, what failed, what is still to do."""
    from rich.console import Console
    from rich.table import Table

    from assay.run.status import study_status
    from assay.study import open_study

    found = study_status(open_study(study))
    if as_json:
        print_json(found.as_json())
        return
    table = Table("arm", "seed", *("answered", "failed", "pending"), box=None, pad_edge=False)
    for row in found.arms:
        table.add_row(row.arm, str(row.seed), str(row.answered), str(row.failed), str(row.pending))
    console = Console(highlight=False)
    console.print(table)
    console.print(f"next: {found.next_step}", markup=False)
