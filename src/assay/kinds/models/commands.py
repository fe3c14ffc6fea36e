"""assay dashboard: shows a benchmark's files in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.terminal import AsJson, print_json, say


def command(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER", help="What `assay report --format benchmark` wrote, or a study that holds it."
        ),
    ],
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Default: 8501, or another that is free.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show a benchmark in the browser, only on this machine, until Ctrl-C."""
    from assay.kinds.models.dashboard.serve import serve

    def announce(line: str) -> None:
        say(line)
        if as_json and (found := [word for word in line.split() if word.startswith("http")]):
            print_json({"schema": "assay/dashboard/1", "address": found[0]})

    serve(folder, port, announce)
