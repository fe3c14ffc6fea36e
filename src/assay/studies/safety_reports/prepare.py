"""Cuts public safety reports into sectioned passages, all in one Parquet file.

    python studies/safety_reports/prepare.py [DATA_DIR] [OUT.parquet]

DATA_DIR is the folder that holds `safety_reports` (default: $ASSAY_DATA, or shared/data beside the
repository); OUT is by default `chunks.parquet` beside this file. What is in the folder, and which reports are
taken, stands in `assay_worlds.sources.safety_reports`.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from assay.core.errors import AssayError, UsageError
from assay.core.protocols import Kit
from assay.core.records import Document, Span
from assay.retrieval.chunk import SentenceGroups
from assay_worlds.sources.safety_reports import SECTIONS, report_files, reports

METADATA = ["collection", "title", "year", "state", "agency", "unit", "incident_type", "activity", "stage"]
METADATA += ["contributing_factors", "human_factors", "resources", "aircraft_type", "aircraft_model"]
COLUMNS = ["chunk_id", "report_id", "section_name", "chunk_text", *METADATA]

TOKENS = 270  # about 210 words of these reports
SHORTEST_REST = 50  # words: a shorter rest of a section stays with the passage before it

_BREAK = re.compile(r"<br ?/?>")
_GAP = re.compile(r"[ \t]{3,}")  # how the older reports set paragraphs apart


def prepare(data: Path, out: Path) -> pl.DataFrame:
    """Writes the passages of all three sources, in the order of their reports' ids, and gives them back."""
    found = reports(report_files(data / "safety_reports"))
    rows = [row for report in found.iter_rows(named=True) for row in _passages(report)]
    schema = {name: pl.Int32 if name == "year" else pl.String for name in COLUMNS}
    frame = pl.DataFrame(rows, schema, orient="row")
    frame.write_parquet(out)
    return frame


# -------------------------------------------------------------------------------------- passages


def _passages(report: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    """The rows of one report, numbered through its sections."""
    texts = [(section, text) for section in SECTIONS if report[section] for text in _cut(report[section])]
    metadata = [report[name] for name in METADATA]
    for number, (section, text) in enumerate(texts, 1):
        yield f"{report['report_id']}_chunk_{number:03}", report["report_id"], section, text, *metadata


def _cut(section: str) -> list[str]:
    """A section as passages that end where sentences do."""
    text = _GAP.sub("\n\n", _BREAK.sub("\n", section))
    spans = [
        each.span
        for each in SentenceGroups(tokens=TOKENS).cut([Document("section", text)], Kit())
        if each.span
    ]
    if len(spans) > 1 and len(text[spans[-1].start :].split()) < SHORTEST_REST:
        spans[-2:] = [Span(spans[-2].start, spans[-1].end)]
    return [" ".join(text[span.start : span.end].split()) for span in spans]


def main(arguments: list[str]) -> int:
    """Prepares the corpus and says on stderr what is in it."""
    here = Path(__file__).resolve()
    beside = here.parents[min(5, len(here.parents) - 1)] / "shared" / "data"
    defaults = [Path(os.environ.get("ASSAY_DATA") or beside), here.with_name("chunks.parquet")]
    try:
        if len(arguments) > len(defaults):
            raise UsageError("Too many arguments. Give the data folder and the output file, or neither.")
        data, out = [*map(Path, arguments), *defaults[len(arguments) :]]
        frame = prepare(data, out)
    except AssayError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    reports = frame.unique("report_id")["collection"].value_counts().sort("collection")
    named = ", ".join(f"{name} {count:,}" for name, count in reports.rows())
    total = frame["report_id"].n_unique()
    print(f"{frame.height:,} passages of {total:,} reports ({named}): {out}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
