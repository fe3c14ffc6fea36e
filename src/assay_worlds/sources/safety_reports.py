"""Reads public safety reports, one page each: wildland fires, aviation at fires, lessons of space flight.

The text of a page begins with one line per field of the report (Incident, Date, State …), so that these lines
can be evidence. The sections follow, each under its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import polars as pl

from assay.core.errors import DataError, Problem, did_you_mean
from assay.core.protocols import Kit
from assay.core.records import Document, Span
from assay.datasets.reading import FolderReader
from assay_worlds.sources.source import (
    WORDS,
    PageSection,
    SourcePage,
    check_pin,
    fingerprint,
    read_unpacked,
    split_paragraphs,
)

FIELDS = {  # the line's name -> the column
    "Incident": "title",
    "Date": "date",
    "State": "state",
    "Jurisdiction": "agency",
    "Local unit": "unit",
    "Position": "position",
    "Task": "task",
    "Incident type": "incident_type",
    "Activity": "activity",
    "Aircraft": "aircraft_model",
}
_BREAK = re.compile(r"<br ?/?>")
_RETURN = re.compile(r"\r\n?")
_GAP = re.compile(r"[ \t]{3,}")  # how the older reports set paragraphs apart
_SPACES = re.compile(r"[ \t]+")
_BLANK = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")


@dataclass(frozen=True)
class SafetyReports:
    """The reports of a folder of SAFENET, SAFECOM and LLIS files, in the order of their ids."""

    path: str
    sha256: str = ""

    kind: ClassVar[str] = "report"

    def pages(self, kit: Kit) -> Iterator[SourcePage]:
        """Yields one page per report with at least one section."""
        where = kit.path(self.path)
        files = report_files(where)
        if self.sha256:
            check_pin(where, self.sha256, fingerprint(files.named))
        for report in reports(files).iter_rows(named=True):
            texts = {section: clean(report[section]) for section in SECTIONS if report[section]}
            if texts:
                yield _page(report, texts)


def clean(text: str) -> str:
    """Splits the text of a section into paragraphs of the length of a passage. The words stay the same."""
    lines = _GAP.sub("\n\n", _RETURN.sub("\n", _less_breaks(text)))
    lines = "\n".join(_SPACES.sub(" ", line).strip() for line in lines.split("\n"))
    return split_paragraphs(_BLANK.sub("\n\n", lines).strip(), WORDS)


def _less_breaks(text: str) -> str:
    """Replaces each `<br>`, and the white space around it, by one line break."""
    first, *others = _BREAK.split(text)
    if not others:
        return first
    return "\n".join([first.rstrip(), *(each.strip() for each in others[:-1]), others[-1].lstrip()])


def _page(report: Mapping[str, Any], texts: Mapping[str, str]) -> SourcePage:
    report_id = report["report_id"]
    collection, _, number = report_id.partition("-")
    noun = "lesson" if collection == "LLIS" else "report"
    lines = [f"Report: {collection} {noun} {number}"]
    lines += [f"{name}: {_line(report[column])}" for name, column in FIELDS.items() if report[column]]
    text, sections = "\n".join(lines), list[PageSection]()
    for name, body in texts.items():
        start = len(text) + 2 if sections else 0  # the fields stand with the first section
        text += f"\n\n{name}\n\n{body}"
        sections.append(PageSection(name, Span(start, len(text))))
    metadata = {"kind": SafetyReports.kind, "path": report_id, "id": number, "collection": collection}
    metadata |= {name: str(report[name]) for name in ("date", "state", "agency") if report[name]}
    title = f"{collection} {noun} {number}" + (f": {_line(report['title'])}" if report["title"] else "")
    return SourcePage(Document(f"{SafetyReports.kind}/{report_id}", text, title, metadata), tuple(sections))


def _line(value: str) -> str:
    return " ".join(value.split())


SAFECOM = "SAFECOM_UAS_fire_data.csv"
LLIS = {  # file -> the column it holds, and the section that becomes
    "LLIS_Driving_Event.jsonl": ("Driving Event", "DRIVING EVENT"),
    "LLIS_Lessons_Learned.jsonl": ("Lesson(s) Learned", "LESSON(S) LEARNED"),
    "LLIS_Recommendations.jsonl": ("Recommendation(s)", "RECOMMENDATIONS"),
}
SECTIONS = ["NARRATIVE", "IMMEDIATE ACTION TAKEN", "CONTRIBUTING FACTORS", "CORRECTIVE ACTION"]
SECTIONS += [section for _, section in LLIS.values()]
CATEGORIES = ["Accident", "Airspace", "Hazard", "Incident", "Maintenance", "Management", "UAS"]  # of SAFECOM

FEWEST_WORDS = 5  # a section with fewer words has no content
MOST_SHARED = 3  # a text that more reports share is a notice


class ReportFiles(NamedTuple):
    """The files of a folder of reports."""

    safenet: list[Path]
    safecom: Path
    llis: dict[str, Path]

    @property
    def named(self) -> list[tuple[str, Path]]:
        """All files with their names, in a fixed order."""
        return [(path.name, path) for path in (*self.safenet, self.safecom, *self.llis.values())]


def report_files(folder: Path) -> ReportFiles:
    """Finds the files of the three collections. An error names the missing files."""
    reader = FolderReader(folder)
    years = sorted(reader.folder.glob("SAFENET_*.csv*"))
    if not years:
        reader.need("SAFENET_1999.csv")
    found = {name: path for name in (SAFECOM, *LLIS) if (path := reader.need(name))}
    reader.finish()
    return ReportFiles(years, found[SAFECOM], {name: found[name] for name in LLIS})


def reports(files: ReportFiles) -> pl.DataFrame:
    """Returns the reports of all three collections, in the order of their ids. A missing section is null."""
    sources = [*map(_safenet, files.safenet), _safecom(files.safecom), _llis(files.llis)]
    return (
        pl.concat(sources, how="diagonal")
        .sort("report_id", "iteration")
        .unique("report_id", keep="last", maintain_order=True)
        .with_columns(_own_text(section) for section in SECTIONS)
    )


def _safenet(path: Path) -> pl.DataFrame:
    places = ["Incident Name", "Event State", "Event Jurisdiction", "Event Local Unit", "Event Resources"]
    boxes = ["Event Incident Type", "Event Incident Activity", "Event Incident Stage"]
    boxes += ["Contributing Factors", "Human Factors"]
    texts = ["Narrative", "Immediate Action Taken", "Other Factors"]
    needed = ["SAFENET ID", "Iteration", "Event Start Date", *places, *boxes, *texts]
    ticked = [pl.col(name).str.strip_chars("; ").str.replace_all(r";\s*", "; ") for name in boxes]
    return _table(path, needed, key="SAFENET ID", optional=["Event Position Title", "Event Task"]).select(
        report_id="SAFENET-" + pl.col("SAFENET ID"),
        iteration=pl.col("Iteration").cast(pl.Int32, strict=False),
        collection=pl.lit("SAFENET"),
        title="Incident Name",
        date=_date("Event Start Date"),
        year=_year("Event Start Date"),
        state="Event State",
        agency="Event Jurisdiction",
        unit="Event Local Unit",
        position="Event Position Title",
        task="Event Task",
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
        date=_date("Date"),
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


def _table(path: Path, needed: list[str], key: str, optional: list[str] | None = None) -> pl.DataFrame:
    """Reads the rows of a CSV or JSONL file that have a key. Blank and missing values are null."""
    raw = read_unpacked(path)
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
    absent = [name for name in optional or () if name not in frame.columns]
    frame = frame.with_columns(pl.lit(None, pl.String).alias(name) for name in absent)
    taken = [*needed, *(optional or ())]
    stripped = frame.select(pl.col(taken).cast(pl.String).str.strip_chars().replace("", None))
    return stripped.filter(pl.col(key).is_not_null())


def _year(column: str) -> pl.Expr:
    return pl.col(column).str.extract(r"/(\d{4})").cast(pl.Int32)


def _date(column: str) -> pl.Expr:
    """Converts a month-first date of the files to YYYY-MM-DD."""
    day = pl.col(column).str.extract(r"^(\d{1,2}/\d{1,2}/\d{4})")
    return day.str.to_date("%m/%d/%Y", strict=False).dt.to_string("iso")


def _words(column: str) -> pl.Expr:
    return pl.col(column).str.count_matches(r"\S+")


def _own_text(section: str) -> pl.Expr:
    """Returns a section's text, or null if the text is too short or occurs in too many reports."""
    shared = pl.len().over(section)
    own = (_words(section) >= FEWEST_WORDS) & (shared <= MOST_SHARED)
    return pl.when(own).then(pl.col(section)).alias(section)
