"""The gain matrix: one row an item, one column a rank, the grade of what stands there.

Every ranking measure is a few lines of NumPy over it. Unjudged hits and empty ranks are NaN, so that
`grades >= level` is false for both without a second mask.

Two rules follow trec_eval 9 as pytrec-eval-terrier 0.5.11 runs it:

Order    by score, descending; equal scores by document id, descending, compared byte by byte. Scores are
         compared in single precision, so two that differ only beyond float32 are a tie. (trec_eval 10
         compares in double precision; such near-ties are the only place where the two can differ.)
Labels   a negative grade marks a document that was pooled but never judged: it is read as no label at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

Ints = NDArray[np.int64]

# A power of two above the number of labels, as slots of a bitmap: most unjudged hits fall on a clear bit.
_SLOTS = 1 << 22
_MIX = np.uint64(0x9E3779B97F4A7C15)  # odd, so multiplying by it permutes the 64-bit integers


@dataclass(frozen=True)
class GainMatrix:
    """Grades by rank for every item, with the ideal ranking beside it."""

    grades: NDArray[np.float64]  # (n, depth); NaN: unjudged, or nothing at that rank
    returned: Ints  # (n,) how many hits came back
    ideal: NDArray[np.float64]  # (n, m) positive grades of all labels, best first, padded with 0
    labelled: NDArray[np.bool_]  # (n,) whether anything at all is judged for the item

    def __len__(self) -> int:
        return len(self.returned)

    def top(self, cutoff: int | None) -> NDArray[np.float64]:
        """The grades down to a cut-off; None: all of them."""
        return self.grades[:, :cutoff]

    def relevant(self, rel: int) -> Ints:
        """How many labels of each item reach a grade."""
        count: Ints = np.count_nonzero(self.ideal >= rel, axis=1)
        return count


def gain_matrix(ranking: pl.DataFrame, labels: pl.DataFrame, items: Sequence[str]) -> GainMatrix:
    """Grades by rank, rows in the order of `items`.

    `ranking` has the columns item, doc, score in any row order, `labels` item, doc, grade. Rows of either
    about an item that is not in `items` are left out.
    """
    hits = _ranked(_number_by_name(ranking, items))
    known = _number_by_name(labels.filter(pl.col("grade") >= 0), items)
    row = hits["row"].to_numpy()
    returned = np.bincount(row, minlength=len(items))
    grades = np.full((len(items), returned.max(initial=0)), np.nan)
    line, grade = _judged(hits, known)
    grades[row[line], _place(row)[line]] = grade
    labelled = np.bincount(known["row"].to_numpy(), minlength=len(items)) > 0
    return GainMatrix(grades, returned, _ideal(known, len(items)), labelled)


def _number_by_name(frame: pl.DataFrame, items: Sequence[str]) -> pl.DataFrame:
    """The rows about known items, with the item's row number in its place.

    Files keep the rows of an item together, so only the first row of each stretch is looked up.
    """
    item = frame["item"]
    starts = (item != item.shift()).fill_null(True).arg_true()
    order = pl.DataFrame({"item": items}, schema={"item": pl.String}).with_row_index("row")
    heads = item.gather(starts).to_frame().join(order, on="item", how="left", maintain_order="left")
    found = heads["row"].cast(pl.Int64).fill_null(-1).to_numpy()
    row = np.repeat(found, np.diff(starts.to_numpy(), append=len(item)))
    numbered = frame.drop("item").with_columns(row=pl.Series(row, dtype=pl.Int64))
    return numbered if (found >= 0).all() else numbered.filter(pl.col("row") >= 0)


def _ranked(hits: pl.DataFrame) -> pl.DataFrame:
    """The hits best first, each item's together: sorted only where they do not stand so already."""
    row, score = hits["row"].to_numpy(), hits["score"].cast(pl.Float32).to_numpy()
    falls = (score[1:] < score[:-1]) | (row[1:] != row[:-1])
    if falls.all() and _together(row):
        return hits
    return hits.with_columns(score=pl.Series(score)).sort(
        "row", "score", "doc", descending=[False, True, True]
    )


def _together(row: Ints) -> bool:
    """Whether equal numbers stand together, in whatever order the groups come."""
    heads = row[np.flatnonzero(np.diff(row, prepend=-1))]
    return len(np.unique(heads)) == len(heads)


def _place(row: Ints) -> Ints:
    """Where each entry stands among those of its row, from 0; equal rows stand together."""
    starts = np.flatnonzero(np.diff(row, prepend=-1))
    lengths = np.diff(starts, append=len(row))
    return np.arange(len(row)) - np.repeat(starts, lengths)


def _judged(hits: pl.DataFrame, known: pl.DataFrame) -> tuple[Ints, NDArray[np.float64]]:
    """The lines of `hits` that have a label, and its grade.

    Joining a million strings is what costs. So a bitmap over hashes first drops what cannot have a label, the
    rest is joined by hash, and only what meets there is compared in full.
    """
    keys, known_keys = _keys(hits), _keys(known)
    slot = np.uint64(_SLOTS - 1)  # a mask: a remainder would cost a division a hit
    marked = np.zeros(_SLOTS, dtype=bool)
    marked[known_keys & slot] = True
    line = np.flatnonzero(marked[keys & slot])
    near = pl.DataFrame(
        {"key": keys[line], "line": line, "row": hits["row"].gather(line), "doc": hits["doc"].gather(line)}
    )
    met = near.join(known.with_columns(key=known_keys), on="key")
    found = met.filter((pl.col("doc") == pl.col("doc_right")) & (pl.col("row") == pl.col("row_right")))
    return found["line"].to_numpy(), found["grade"].cast(pl.Float64).to_numpy()


def _keys(frame: pl.DataFrame) -> NDArray[np.uint64]:
    """A hash of each row's item and document."""
    item = frame["row"].to_numpy().view(np.uint64) * _MIX
    keys: NDArray[np.uint64] = frame["doc"].hash().to_numpy() ^ item
    return keys


def _ideal(known: pl.DataFrame, n: int) -> NDArray[np.float64]:
    """Positive grades of each item, best first, padded with 0."""
    positive = known.filter(pl.col("grade") > 0)
    row, grade = positive["row"].to_numpy(), positive["grade"].to_numpy()
    if not _together(row):
        order = np.argsort(row, kind="stable")
        row, grade = row[order], grade[order]
    ideal = np.zeros((n, np.bincount(row, minlength=n).max(initial=0)))
    ideal[row, _place(row)] = grade
    ideal.sort(axis=1)
    return ideal[:, ::-1]
