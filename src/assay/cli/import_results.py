"""assay import: finished results of others as stored runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.options import AsJson, StudyPath
from assay.cli.showing import ProgressDisplay, print_json

Files = Annotated[
    list[Path], typer.Argument(metavar="FILE…", help="JSON files that a benchmark wrote, one a model.")
]
Replace = Annotated[
    bool, typer.Option("--replace", help="Put these results in the place of others of the same model.")
]


def command(study: StudyPath, files: Files, replace: Replace = False, as_json: AsJson = False) -> None:
    """Check finished results of others against a study, and store them as its runs."""
    from assay.pipeline.importing import import_results

    with ProgressDisplay() as progress:
        done = import_results(study, files, replace=replace, progress=progress)
    if as_json:
        print_json(done.as_json())
    else:
        typer.echo(done.summary)
