"""assay report: what a study found, in any format."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from assay.cli.options import AsJson, StudyPath
from assay.cli.showing import say


def command(
    study: StudyPath,
    format: Annotated[  # noqa: A002
        str, typer.Option(help="html, markdown, json, junit, parquet, or benchmark: a folder of files.")
    ] = "html",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Where to write; - is stdout.")] = None,
    as_json: AsJson = False,
) -> None:
    """Write a report of what is stored."""
    from assay.pipeline import Evaluation
    from assay.plugins import RENDERERS
    from assay.run.store import write_atomic
    from assay.study import open_study

    opened = open_study(study)
    renderer = opened.registry.create(RENDERERS, "json" if as_json else format)
    if hasattr(renderer, "files"):
        folder = out or opened.run_folder / format
        for name, content in renderer.files(Evaluation(opened).results).items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            write_atomic(folder / name, partial(_write, content))
        say(f"wrote {folder}")
        return
    content = renderer.render(Evaluation(opened).results)
    if as_json or str(out) == "-":
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    path = out or opened.run_folder / f"report{renderer.suffix}"
    write_atomic(path, partial(_write, content))
    say(f"wrote {path}")


def _write(content: bytes, target: Path) -> None:
    target.write_bytes(content)
