"""The rows of a Parquet file, after everything that is wrong with the table itself has been collected."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.core.errors import Problem, did_you_mean
from assay.datasets.reading import Reader

if TYPE_CHECKING:
    import polars as pl

Row = dict[str, Any]


def table_rows(
    reader: Reader, path: Path, needed: Collection[str], texts: Collection[str]
) -> Iterable[tuple[int, Row]]:
    """The rows, numbered from 1; none where the table cannot be used, which the reader then knows.

    `needed` are the columns that must be there, `texts` those that hold text where they are.
    """
    import polars as pl

    try:
        # An open file, because in a path polars takes brackets and stars for patterns.
        with path.open("rb") as stream:
            frame = pl.read_parquet(stream)
    except FileNotFoundError:
        reader.problems.append(Problem("there is no such file", str(path), fix="Check the path."))
        return ()
    # Polars panics, outside its own exception tree, on some damaged pages.
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        problem = Problem(f"cannot be read as Parquet: {error}", str(path), fix="Write the file again.")
        reader.problems.append(problem)
        return ()
    problems = [
        Problem("the column is missing", str(path), field=column, fix=did_you_mean(column, frame.columns))
        for column in needed
        if column not in frame.columns
    ]
    kinds = (pl.String, pl.Categorical, pl.Enum, pl.Null)
    problems += [
        Problem(f"the column holds {dtype}, not text", str(path), field=column, fix="Cast it to a string.")
        for column, dtype in frame.schema.items()
        if column in texts and not isinstance(dtype, kinds)
    ]
    if frame.is_empty():
        problems.append(Problem("the table has no rows", str(path), fix="Fill it, or remove it."))
    reader.problems += problems
    return () if problems else _numbered(reader, path, frame)


def _numbered(reader: Reader, path: Path, frame: pl.DataFrame) -> Iterator[tuple[int, Row]]:
    import polars as pl

    try:
        yield from enumerate(frame.iter_rows(named=True), 1)
    # Parquet holds dates and durations far beyond the years that Python's own can name.
    except (pl.exceptions.PanicException, OverflowError, ValueError) as error:
        what = f"a cell holds what Python cannot: {error}"
        reader.problems.append(Problem(what, str(path), fix="Correct it, or write the column as text."))
