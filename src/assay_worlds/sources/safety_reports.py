"""Public safety reports, one page each: wildland fire, aviation at fires, lessons of space flight.

The text of a page begins with a line for each field of the report (Incident, Date, State …), so that they can
be evidence; then come its sections, each under its name. `report_tables` says what the files are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from assay.core.protocols import Kit
from assay.core.records import Document, Span
from assay_worlds.sources.source import WORDS, Page, Section, check_pin, fingerprint
from assay_worlds.sources.text_files import parted

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

    def pages(self, kit: Kit) -> Iterator[Page]:
        """One page a report that has any section."""
        from assay_worlds.sources.report_tables import SECTIONS, report_files, reports

        where = kit.path(self.path)
        files = report_files(where)
        if self.sha256:
            check_pin(where, self.sha256, fingerprint(files.named))
        for report in reports(files).iter_rows(named=True):
            texts = {section: clean(report[section]) for section in SECTIONS if report[section]}
            if texts:
                yield _page(report, texts)


def clean(text: str) -> str:
    """A section's text in paragraphs of a passage's length; words and their order stay."""
    lines = _GAP.sub("\n\n", _RETURN.sub("\n", _less_breaks(text)))
    lines = "\n".join(_SPACES.sub(" ", line).strip() for line in lines.split("\n"))
    return parted(_BLANK.sub("\n\n", lines).strip(), WORDS)


def _less_breaks(text: str) -> str:
    """A text with one line break for each `<br>` and the white space around it."""
    first, *others = _BREAK.split(text)
    if not others:
        return first
    return "\n".join([first.rstrip(), *(each.strip() for each in others[:-1]), others[-1].lstrip()])


def _page(report: Mapping[str, Any], texts: Mapping[str, str]) -> Page:
    report_id = report["report_id"]
    collection, _, number = report_id.partition("-")
    noun = "lesson" if collection == "LLIS" else "report"
    lines = [f"Report: {collection} {noun} {number}"]
    lines += [f"{name}: {_line(report[column])}" for name, column in FIELDS.items() if report[column]]
    text, sections = "\n".join(lines), list[Section]()
    for name, body in texts.items():
        start = len(text) + 2 if sections else 0  # the fields stand with the first section
        text += f"\n\n{name}\n\n{body}"
        sections.append(Section(name, Span(start, len(text))))
    metadata = {"kind": SafetyReports.kind, "path": report_id, "id": number, "collection": collection}
    metadata |= {name: str(report[name]) for name in ("date", "state", "agency") if report[name]}
    title = f"{collection} {noun} {number}" + (f": {_line(report['title'])}" if report["title"] else "")
    return Page(Document(f"{SafetyReports.kind}/{report_id}", text, title, metadata), tuple(sections))


def _line(value: str) -> str:
    return " ".join(value.split())
