"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

StudyPath = Annotated[Path, typer.Argument(metavar="STUDY", help="A folder holding study.yaml, or the file.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print results as JSON (docs/results-schema.md).")]
Runs = Annotated[list[Path], typer.Argument(metavar="RUN…", help="TREC run files, plain or gzipped.")]
Qrels = Annotated[Path, typer.Option("--qrels", help="The TREC or BEIR relevance judgments.")]
Measures = Annotated[
    list[str], typer.Option("-m", "--measure", help="A measure such as nDCG@10; may be given several times.")
]

AcceptChanges = Annotated[
    bool,
    typer.Option(
        "--accept-changes", help="Decide although gates, study or data were changed after the answers."
    ),
]
RequireVerdict = Annotated[
    bool, typer.Option("--require-verdict", help="Fail with exit code 2 where no gate decides.")
]
Against = Annotated[
    str | None,
    typer.Option("--against", metavar="NAME", help="Hold it against this baseline: a real loss is a no-go."),
]
By = Annotated[str | None, typer.Option("--by", help="Who does this; default: the user of this machine.")]


def user_of(given: str | None) -> str:
    """Who does something: the one named, or the user of this machine."""
    import getpass

    return given or getpass.getuser()
