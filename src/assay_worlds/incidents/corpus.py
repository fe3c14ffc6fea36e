"""The corpus of incident reports as a table of passages, and the themes of each passage."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from assay_worlds.incidents.passages import PARAPHRASE, ReportWriter, WrittenPassage
from assay_worlds.incidents.report import AccidentReport, plan

if TYPE_CHECKING:
    import polars as pl


SEED = 41


class Chunk(NamedTuple):
    """A passage with its id and its report."""

    chunk_id: str
    report: AccidentReport
    written: WrittenPassage


@lru_cache(maxsize=2)
def chunks(seed: int = SEED) -> tuple[Chunk, ...]:
    """Returns all passages of all reports. The same seed gives the same passages."""
    rng = Random(seed)
    reports = plan(rng)
    writer = ReportWriter(rng)
    rows = []
    for number, report in enumerate(reports):
        other = rng.choice(reports[:number] or reports[1:])
        rows += [
            Chunk(f"{report.report_id}_chunk_{place:03d}", report, written)
            for place, written in enumerate(writer.write(report, other), 1)
        ]
    return tuple(rows)


def frame(seed: int = SEED) -> pl.DataFrame:
    """Returns the passages as a table: id, report, section and text, and the data of the accident."""
    import polars as pl

    rows = [
        (
            chunk_id,
            report.report_id,
            written.section.name,
            written.text,
            report.model.vehicle_type,
            report.phase,
            report.reported,
            report.fatalities,
            report.region,
        )
        for chunk_id, report, written in chunks(seed)
    ]
    schema = {
        "chunk_id": pl.String,
        "report_id": pl.String,
        "section_name": pl.String,
        "chunk_text": pl.String,
        "vehicle_type": pl.String,
        "phase": pl.String,
        "report_date": pl.Date,
        "fatalities": pl.Int64,
        "region": pl.String,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def write(path: Path, seed: int = SEED) -> int:
    """Writes the corpus as Parquet, and returns the number of its passages."""
    table = frame(seed)
    table.write_parquet(path, compression="zstd", compression_level=19)
    return table.height


WEIGHED = ("analysis", "findings", "cause")


class ThemeQuery(NamedTuple):
    """The theme that a query asks for, and the sections that count. Without sections, all sections count."""

    theme: str
    sections: tuple[str, ...] = ()


ASKED = {
    "CON-001": ThemeQuery("fatigue"),
    "CON-002": ThemeQuery("icing"),
    "CON-003": ThemeQuery("crack"),
    "CON-004": ThemeQuery("fog"),
    "CON-005": ThemeQuery("fuel"),
    "CON-006": ThemeQuery("automation"),
    "CON-007": ThemeQuery("alcohol"),
    "CON-008": ThemeQuery("distraction"),
    "CON-009": ThemeQuery("incapacitation"),
    "CON-010": ThemeQuery("overload"),
    "CON-011": ThemeQuery("corrosion"),
    "CON-012": ThemeQuery("evacuation"),
    "CMP-001": ThemeQuery("maintenance", sections=WEIGHED),
    "CMP-002": ThemeQuery("warning"),
    "CMP-003": ThemeQuery("design"),
    "CMP-004": ThemeQuery("night"),
    "CMP-005": ThemeQuery("oversight"),
    "CMP-006": ThemeQuery("training", sections=WEIGHED),
    "CMP-007": ThemeQuery("pressure"),
    "CMP-008": ThemeQuery("communication"),
}


def themes_of(chunk_id: str, seed: int = SEED) -> dict[str, str]:
    """Maps each theme of a passage to how the passage mentions it: by `keyword` or by `paraphrase`."""
    return {chunk.chunk_id: dict(chunk.written.themes) for chunk in chunks(seed)}.get(chunk_id, {})


def truth(seed: int = SEED) -> dict[str, set[str]]:
    """Returns the passages that a perfect reviewer marks as relevant, by query id."""
    return {item_id: _relevant(asked, seed) for item_id, asked in ASKED.items()}


def truth_without_keywords(seed: int = SEED) -> dict[str, set[str]]:
    """Returns the relevant passages that contain no keyword of their theme, by query id."""
    found = truth(seed)
    hows = {chunk.chunk_id: chunk.written.themes for chunk in chunks(seed)}
    return {
        item_id: {chunk_id for chunk_id in found[item_id] if hows[chunk_id][asked.theme] == PARAPHRASE}
        for item_id, asked in ASKED.items()
    }


def _relevant(asked: ThemeQuery, seed: int) -> set[str]:
    return {
        chunk_id
        for chunk_id, _, written in chunks(seed)
        if asked.theme in written.themes and (not asked.sections or written.section.key in asked.sections)
    }
