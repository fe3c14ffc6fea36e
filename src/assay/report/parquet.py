"""Per-item scores as one Parquet table, for notebooks and warehouses."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from assay.core.results import Results


@dataclass(frozen=True)
class ParquetReport:
    """The scores, one row an item, arm, seed and measure; what has no value is null.

    `factors` is a JSON object as text, so that the table is the same whatever factors a study has.
    """

    suffix: ClassVar[str] = ".parquet"

    def render(self, results: Results) -> bytes:
        buffer = io.BytesIO()
        results.scores.with_columns(pl.col("value").fill_nan(None)).write_parquet(buffer)
        return buffer.getvalue()
