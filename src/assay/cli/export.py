"""assay export: a study's rankings and labels in the files that other programs read."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from assay.cli.options import AsJson, StudyPath
from assay.cli.run import Where, selected
from assay.cli.showing import print_json, say


def command(
    study: StudyPath,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="Where to write; default: run/trec.")
    ] = None,
    where: Where = None,
    as_json: AsJson = False,
) -> None:
    """Write what is stored as TREC files: a run file a system, and the labels as qrels."""
    from assay.core.errors import UsageError
    from assay.pipeline.evaluation import Evaluation
    from assay.pipeline.run_files import export_trec
    from assay.store.disk import write_atomic
    from assay.study.study import open_study

    opened = open_study(study)
    if opened.withholds:
        what = "These files would tell what each condition was given, and people are to score blind"
        raise UsageError(f"{what}. First: assay review unblind {study}")
    found = export_trec(Evaluation(opened, selected(where or [], [], None)))
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
