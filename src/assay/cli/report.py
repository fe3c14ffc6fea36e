"""assay report: what a study found, in any format."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from assay.cli.options import Against, AsJson, StudyPath
from assay.cli.run import Where, selected
from assay.cli.showing import say
from assay.core.errors import UsageError


def command(
    study: StudyPath,
    format: Annotated[  # noqa: A002
        str,
        typer.Option(help="html, markdown, json, junit, parquet or github; a folder: benchmark or eval."),
    ] = "html",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Where to write; - is stdout.")] = None,
    where: Where = None,
    against: Against = None,
    post: Annotated[
        bool, typer.Option("--post", help="With --format github, in GitHub Actions: comment and annotate.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write a report of what is stored."""
    from assay.core.protocols import FolderRenderer
    from assay.core.registry import RENDERERS
    from assay.pipeline.evaluate import compare_results_with
    from assay.pipeline.evaluation import Evaluation
    from assay.report.writing import write_report
    from assay.study.study import open_study

    stdout = as_json or str(out) == "-"
    if post and (format != "github" or stdout):
        raise UsageError("--post needs --format github, and a file: leave out --json and -o -.")
    opened = open_study(study)
    wanted = "json" if as_json else format
    renderer = opened.registry.create(RENDERERS, wanted)
    results = compare_results_with(Evaluation(opened, selected(where or [], [], None)), against)
    if stdout and not isinstance(renderer, FolderRenderer):
        sys.stdout.buffer.write(renderer.render(results))
        sys.stdout.buffer.flush()
        return
    path = write_report(results, opened, wanted, out)
    say(f"wrote {path}")
    if post:
        from assay.report.github_actions import deliver_report

        delivered = deliver_report(results, opened, path)
        typer.echo("".join(f"{line}\n" for line in delivered.commands), nl=False)
        say(delivered.said)
