"""assay score: run files against relevance judgments."""

from __future__ import annotations

from typing import Annotated

import typer

from assay.cli.options import AsJson, Measures, Qrels, Runs
from assay.cli.showing import say, show


def command(
    runs: Runs,
    qrels: Qrels,
    measure: Measures,
    per_query: Annotated[
        bool,
        typer.Option("--per-query", help="Print every score as tab-separated lines; --json has them anyway."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Score run files, with intervals."""
    from assay.pipeline.run_files import evaluate_runs

    results = evaluate_runs(runs, qrels, measure, against="none")
    if per_query and not as_json:
        table = results.scores.select("system", "item", "measure", "value", "status")
        typer.echo(table.write_csv(separator="\t"), nl=False)
        for warning in results.trust.warnings:
            say(f"warning: {warning}")
    else:
        show(results, as_json=as_json)
