"""assay score and assay compare: evaluate run files with judgments, without a study."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.terminal import AsJson, say, show
from assay.core.errors import UsageError

Runs = Annotated[list[Path], typer.Argument(metavar="RUN…", help="TREC run files, plain or gzipped.")]
Qrels = Annotated[Path, typer.Option("--qrels", help="The TREC or BEIR relevance judgments.")]
Measures = Annotated[
    list[str], typer.Option("-m", "--measure", help="A measure such as nDCG@10; may be given several times.")
]


def score(
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


def compare(
    runs: Runs,
    qrels: Qrels,
    measure: Measures,
    every_pair: Annotated[
        bool, typer.Option("--all", help="Compare all pairs, not only with the first.")
    ] = False,
    missing_zero: Annotated[
        bool, typer.Option("--missing-zero", help="Count a query that a run lacks as 0, instead of refusing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Compare run files: paired differences with intervals, permutation tests, wins and losses."""
    from assay.pipeline.run_files import evaluate_runs

    if len(runs) < 2:
        raise UsageError("A comparison needs two run files or more.")
    against, missing = "all" if every_pair else "baseline", "zero" if missing_zero else "open"
    show(evaluate_runs(runs, qrels, measure, against=against, missing=missing), as_json=as_json)
