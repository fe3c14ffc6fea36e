"""assay demo: the built-in study, offline, start to verdict."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.init import files_of, write_files
from assay.cli.options import AsJson
from assay.cli.run import run_and_show
from assay.cli.showing import say

STUDY = "study.yaml"


def command(
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="Where to put the study.")] = Path(
        "assay-demo"
    ),
    as_json: AsJson = False,
) -> None:
    """Run the built-in study: three searches over a small organisation's knowledge base."""
    from importlib.resources import files

    target = folder / STUDY
    parts = dict(files_of(files("assay") / "studies" / "demo"))
    if not target.exists():
        data = [name for name in parts if name != STUDY and not _holds(folder / name, parts[name])]
        write_files(folder, {name: parts[name] for name in (*data, STUDY)})  # the study last
        say(f"wrote {target} and its data; change it and run: assay run {folder}")
    elif target.read_bytes() != parts[STUDY]:
        say(f"running {target} as it is: it is not the demo's own")
    run_and_show(folder, as_json=as_json)


def _holds(path: Path, content: bytes) -> bool:
    return path.is_file() and path.read_bytes() == content
