"""Cuts public safety reports into sectioned passages, all in one Parquet file.

    python studies/safety_reports/prepare.py [DATA_DIR] [OUT.parquet]

DATA_DIR is the folder that holds `safety_reports` (default: $ASSAY_DATA, or shared/data beside the
repository); OUT is by default `chunks.parquet` beside this file. The three sources:

SAFENET   wildland fire safety reports, one CSV a year
SAFECOM   aviation safety communiqués on unmanned aircraft at fires, one CSV
LLIS      lessons learned in space flight, one JSONL a section, joined by `Lesson ID`

A SAFENET report that was filed in several iterations is kept as its last one. Left out are rows without an
id, sections of fewer than five words ("See above.") and texts that stand word for word in more than three
reports: the notices that replace a withheld narrative. CONTRIBUTING FACTORS holds the factors that a reporter
put into words; those that were ticked are metadata.
"""

from __future__ import annotations

import gzip
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from assay.datasets.reading import Reader
from assay.errors import AssayError, DataError, Problem, UsageError, did_you_mean
from assay.protocols import Kit
from assay.records import Document, Span
from assay.retrieval.chunk import BySentences

SAFECOM = "SAFECOM_UAS_fire_data.csv"
LLIS = {  # file -> the column it holds, and the section that becomes
    "LLIS_Driving_Event.jsonl": ("Driving Event", "DRIVING EVENT"),
    "LLIS_Lessons_Learned.jsonl": ("Lesson(s) Learned", "LESSON(S) LEARNED"),
    "LLIS_Recommendations.jsonl": ("Recommendation(s)", "RECOMMENDATIONS"),
}
SECTIONS = ["NARRATIVE", "IMMEDIATE ACTION TAKEN", "CONTRIBUTING FACTORS", "CORRECTIVE ACTION"]
SECTIONS += [section for _, section in LLIS.values()]
METADATA = ["collection", "title", "year", "state", "agency", "unit", "incident_type", "activity", "stage"]
METADATA += ["contributing_factors", "human_factors", "resources", "aircraft_type", "aircraft_model"]
COLUMNS = ["chunk_id", "report_id", "section_name", "chunk_text", *METADATA]
CATEGORIES = ["Accident", "Airspace", "Hazard", "Incident", "Maintenance", "Management", "UAS"]  # of SAFECOM

TOKENS = 270  # about 210 words of these reports
FEWEST_WORDS = 5  # a section of fewer says nothing
SHORTEST_REST = 50  # words: a shorter rest of a section stays with the passage before it
MOST_SHARED = 3  # reports: a text that more of them share is a notice

_BREAK = re.compile(r"<br ?/?>")
_GAP = re.compile(r"[ \t]{3,}")  # how the older reports set paragraphs apart


def prepare(data: Path, out: Path) -> pl.DataFrame:
    """Writes the passages of all three sources, in the order of their reports' ids, and gives them back."""
    reader = Reader(data / "safety_reports")
    years = sorted(reader.folder.glob("SAFENET_*.csv*"))
    if not years:
        reader.need("SAFENET_1999.csv")
    files = {name: path for name in (SAFECOM, *LLIS) if (path := reader.need(name))}
    reader.finish()
    sources = [*map(_safenet, years), _safecom(files[SAFECOM]), _llis(files)]
    reports = (
        pl.concat(sources, how="diagonal")
        .sort("report_id", "iteration")
        .unique("report_id", keep="last", maintain_order=True)
        .with_columns(_own_text(section) for section in SECTIONS)
    )
    rows = [row for report in reports.iter_rows(named=True) for row in _passages(report)]
    schema = {name: pl.Int32 if name == "year" else pl.String for name in COLUMNS}
    frame = pl.DataFrame(rows, schema, orient="row")
    frame.write_parquet(out)
    return frame


# -------------------------------------------------------------------------------- the three sources


def _safenet(path: Path) -> pl.DataFrame:
    places = ["Incident Name", "Event State", "Event Jurisdiction", "Event Local Unit", "Event Resources"]
    boxes = ["Event Incident Type", "Event Incident Activity", "Event Incident Stage"]
    boxes += ["Contributing Factors", "Human Factors"]
    texts = ["Narrative", "Immediate Action Taken", "Other Factors"]
    needed = ["SAFENET ID", "Iteration", "Event Start Date", *places, *boxes, *texts]
    ticked = [pl.col(name).str.strip_chars("; ").str.replace_all(r";\s*", "; ") for name in boxes]
    return _table(path, needed, key="SAFENET ID").select(
        report_id="SAFENET-" + pl.col("SAFENET ID"),
        iteration=pl.col("Iteration").cast(pl.Int32, strict=False),
        collection=pl.lit("SAFENET"),
        title="Incident Name",
        year=_year("Event Start Date"),
        state="Event State",
        agency="Event Jurisdiction",
        unit="Event Local Unit",
        incident_type=ticked[0],
        activity=ticked[1],
        stage=ticked[2],
        contributing_factors=ticked[3],
        human_factors=ticked[4],
        resources="Event Resources",
        **{
            "NARRATIVE": pl.col("Narrative"),
            "IMMEDIATE ACTION TAKEN": pl.col("Immediate Action Taken"),
            "CONTRIBUTING FACTORS": pl.col("Other Factors"),
        },
    )


def _safecom(path: Path) -> pl.DataFrame:
    places = ["Agency", "Unit", "Region", "Location", "Date", "Mission Type"]
    craft = ["Type", "Manufacturer", "Model"]
    needed = ["Tracking #", *places, *craft, *CATEGORIES, "Narrative", "Corrective Action"]
    kinds = [pl.lit(f"{name}: ") + pl.col(name) for name in CATEGORIES]
    return _table(path, needed, key="Tracking #").select(
        report_id="SAFECOM-" + pl.col("Tracking #"),
        collection=pl.lit("SAFECOM"),
        title="Location",
        year=_year("Date"),
        agency=pl.coalesce(pl.col("Agency").str.extract(r"\((\w+)\)"), "Agency"),
        unit=pl.coalesce("Unit", "Region"),
        incident_type=pl.concat_str(kinds, separator="; ", ignore_nulls=True),
        activity="Mission Type",
        aircraft_type="Type",
        aircraft_model=pl.concat_str(craft[1:], separator=" ", ignore_nulls=True).replace("", None),
        **{"NARRATIVE": pl.col("Narrative"), "CORRECTIVE ACTION": pl.col("Corrective Action")},
    )


def _llis(files: dict[str, Path]) -> pl.DataFrame:
    texts = [
        _table(files[file], ["Lesson ID", column], key="Lesson ID").select(
            pl.format("LLIS-{}", "Lesson ID").alias("report_id"),
            pl.lit(section).alias("section"),
            pl.col(column).alias("text"),
        )
        for file, (column, section) in LLIS.items()
    ]
    lessons = pl.concat(texts).pivot("section", index="report_id", values="text", aggregate_function="first")
    return lessons.with_columns(collection=pl.lit("LLIS"))


def _table(path: Path, needed: list[str], key: str) -> pl.DataFrame:
    """The rows of a CSV or JSONL file that have a key; what is blank in them is null."""
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    try:
        raw.decode()
    except UnicodeDecodeError:
        raw = raw.decode("cp1252", errors="replace").encode()
    try:
        frame = pl.read_ndjson(raw) if ".jsonl" in path.name else pl.read_csv(raw, infer_schema=False)
    except pl.exceptions.PolarsError as error:
        fix = "Fetch the file again."
        raise DataError(Problem(f"cannot be read as a table: {error}", str(path), fix=fix)) from None
    frame = frame.rename(lambda name: name.strip(' "'))  # a space after a header's comma leaves its quotes on
    if missing := [name for name in needed if name not in frame.columns]:
        raise DataError(
            Problem("the column is missing", str(path), field=name, fix=did_you_mean(name, frame.columns))
            for name in missing
        )
    stripped = frame.select(pl.col(needed).cast(pl.String).str.strip_chars().replace("", None))
    return stripped.filter(pl.col(key).is_not_null())


def _year(column: str) -> pl.Expr:
    return pl.col(column).str.extract(r"/(\d{4})").cast(pl.Int32)


def _words(column: str) -> pl.Expr:
    return pl.col(column).str.count_matches(r"\S+")


def _own_text(section: str) -> pl.Expr:
    """A section's text where it says something, and something that is this report's own."""
    shared = pl.len().over(section)
    own = (_words(section) >= FEWEST_WORDS) & (shared <= MOST_SHARED)
    return pl.when(own).then(pl.col(section)).alias(section)


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
        each.span for each in BySentences(tokens=TOKENS).cut([Document("section", text)], Kit()) if each.span
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
