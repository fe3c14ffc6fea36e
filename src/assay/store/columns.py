"""Responses in columns: how a sealed arm lies on disk, and what a block of measures reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

import msgspec
import polars as pl

from assay.store.journal import Answer

CHUNK = 1_000  # responses turned into columns at a time

COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "key": pl.String,
    "item": pl.String,
    "failed": pl.Boolean,
    "generation": pl.Int64,
    "docs": pl.List(pl.String),
    "scores": pl.List(pl.Float64),
    "rest": pl.Binary,
}


def select_by_key(stored: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """One row a key, in the order given; keys that are not stored have nulls."""
    wanted = pl.DataFrame({"key": keys}, schema={"key": pl.String})
    return wanted.join(stored, on="key", how="left", maintain_order="left")


def answer_columns(answers: Iterable[Answer], generation: int = 0) -> pl.DataFrame:
    """Responses as columns: hits by name and score, all the rest as one JSON field."""
    waiting = iter(answers)
    parts = [pl.DataFrame(schema=COLUMNS)]
    while some := list(islice(waiting, CHUNK)):  # records are many times as large as their columns
        parts.append(_chunk(some, generation))
    return pl.concat(parts)


def _chunk(answers: Sequence[Answer], generation: int) -> pl.DataFrame:
    encode = msgspec.json.Encoder().encode
    responses = [answer.response for answer in answers]
    plain = [
        response
        if any(hit.span is not None or hit.text is not None for hit in response.hits)
        else msgspec.structs.replace(response, hits=[])
        for response in responses
    ]
    rows = pl.DataFrame(
        {
            "row": range(len(answers)),
            "key": [answer.key for answer in answers],
            "item": [answer.item_id for answer in answers],
            "failed": [response.error is not None for response in responses],
            "generation": [generation] * len(answers),
            "rest": [encode(response) for response in plain],
        }
    )
    hits = [(row, hit.doc_id, hit.score) for row, response in enumerate(responses) for hit in response.hits]
    columns = {"row": pl.Int64, "docs": pl.String, "scores": pl.Float64}
    # Grouped, since Polars makes a column of lists from Python lists one list at a time.
    lists = (
        pl.DataFrame(hits, columns, orient="row").group_by("row", maintain_order=True).agg("docs", "scores")
    )
    whole = rows.join(lists, on="row", how="left", maintain_order="left")
    empty = [pl.col(name).fill_null(pl.lit([], COLUMNS[name])) for name in ("docs", "scores")]
    return whole.with_columns(empty).select(list(COLUMNS))
