"""Tables and objects as the bytes of a file."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import polars as pl


def json_bytes(content: Mapping[str, Any]) -> bytes:
    """One JSON object, indented; what is not a number is null."""
    return msgspec.json.format(msgspec.json.encode(content), indent=1) + b"\n"


def parquet_bytes(rows: Sequence[Mapping[str, Any]], schema: Mapping[str, pl.DataType]) -> bytes:
    """A table of exactly these columns; what a row lacks is null."""
    full = [[row.get(name) for name in schema] for row in rows]
    buffer = io.BytesIO()
    pl.DataFrame(full, schema=dict(schema), orient="row").write_parquet(buffer)
    return buffer.getvalue()
