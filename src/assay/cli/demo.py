"""assay demo: the built-in study, offline, start to verdict."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.options import AsJson
from assay.cli.run import run_and_show
from assay.cli.showing import say


def command(
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="Where to put the study.")] = Path(
        "assay-demo"
    ),
    as_json: AsJson = False,
) -> None:
    """Run the built-in study: three searches over a small organisation's knowledge base."""
    from importlib.resources import files

    target = folder / "study.yaml"
    template = (files("assay") / "studies" / "demo" / "study.yaml").read_bytes()
    if not target.exists():
        folder.mkdir(parents=True, exist_ok=True)
        target.write_bytes(template)
        say(f"wrote {target}; change it and run: assay run {folder}")
    elif target.read_bytes() != template:
        say(f"running {target} as it is: it is not the demo's own")
    run_and_show(folder, as_json=as_json)
