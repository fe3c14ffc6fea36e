"""Per-item scores as one Parquet table, for notebooks and warehouses."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import ClassVar

import polars as pl
import polars.selectors as cs

from assay.results import Results


@dataclass(frozen=True)
class Parquet:
    """The scores, one row an item, arm, seed and measure; what has no value is null."""

    suffix: ClassVar[str] = ".parquet"

    def render(self, results: Results) -> bytes:
        buffer = io.BytesIO()
        scores = results.scores
        # Parquet has no struct without fields, which is what factors are where a study has none.
        bare = [name for name, dtype in scores.schema.items() if dtype == pl.Struct([])]
        scores.drop(bare).with_columns(cs.float().fill_nan(None)).write_parquet(buffer)
        return buffer.getvalue()
