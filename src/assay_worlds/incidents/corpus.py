"""The corpus of incident reports as a table of passages, and the themes of each passage."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from assay_worlds.incidents.passages import Writer, WrittenPassage
from assay_worlds.incidents.report import Report, plan

if TYPE_CHECKING:
    import polars as pl

SEED = 41


class Chunk(NamedTuple):
    """A passage under its id, with the report it is from."""

    chunk_id: str
    report: Report
    written: WrittenPassage


@lru_cache(maxsize=2)
def chunks(seed: int = SEED) -> tuple[Chunk, ...]:
    """Every passage of every report, from the seed and nothing else."""
    rng = Random(seed)
    reports = plan(rng)
    writer = Writer(rng)
    rows = []
    for number, report in enumerate(reports):
        other = rng.choice(reports[:number] or reports[1:])
        rows += [
            Chunk(f"{report.report_id}_chunk_{place:03d}", report, written)
            for place, written in enumerate(writer.write(report, other), 1)
        ]
    return tuple(rows)


def frame(seed: int = SEED) -> pl.DataFrame:
    """The passages as a frame: id, report, section and text, and what is known of the accident."""
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
    """Writes the corpus as Parquet and returns how many passages it has."""
    table = frame(seed)
    table.write_parquet(path, compression="zstd", compression_level=19)
    return table.height
