"""assay compare: run files against each other, paired by query."""

from __future__ import annotations

from typing import Annotated

import typer

from assay.cli.options import AsJson, Measures, Qrels, Runs
from assay.cli.showing import show
from assay.core.errors import UsageError


def command(
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
