"""The gain matrix has one row per item and one column per rank.

A cell holds the grade of the hit at that rank. With it, every ranking measure is a few lines of NumPy. Hits
that nobody judged and ranks without a hit are NaN, so `grades >= level` is false for both without a second
mask.

Two rules are those of trec_eval 9 as pytrec-eval-terrier 0.5.11 runs it:

Order    Hits are sorted by score, descending. Equal scores are sorted by document id, descending, byte by
         byte. Scores are compared in single precision, so two scores that differ only beyond float32 are
         equal. (trec_eval 10 compares in double precision. The two can differ only for such scores.)
Labels   A negative grade marks a document that was pooled but never judged. It counts as unlabelled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

Ints = NDArray[np.int64]

# The slots of a bitmap: a power of two above the number of labels, so most unjudged hits meet a clear bit.
_SLOTS = 1 << 22
_MIX = np.uint64(0x9E3779B97F4A7C15)  # odd, so multiplying by it permutes the 64-bit integers


@dataclass(frozen=True)
class GainMatrix:
    """The grades of every item by rank, and the grades of its ideal ranking."""

    grades: NDArray[np.float64]  # (n, depth); NaN: unjudged, or nothing at that rank
    returned: Ints  # (n,) the number of hits that were returned
    ideal: NDArray[np.float64]  # (n, m) positive grades of all labels, best first, padded with 0
    labelled: NDArray[np.bool_]  # (n,) whether the item has any judgment

    def __len__(self) -> int:
        return len(self.returned)

    def top(self, cutoff: int | None) -> NDArray[np.float64]:
        """Returns the grades of the ranks up to a cut-off; without a cut-off, all grades."""
        return self.grades[:, :cutoff]

    def relevant(self, rel: int) -> Ints:
        """Returns, for each item, the number of labels with at least the grade `rel`."""
        count: Ints = np.count_nonzero(self.ideal >= rel, axis=1)
        return count


def gain_matrix(ranking: pl.DataFrame, labels: pl.DataFrame, items: Sequence[str]) -> GainMatrix:
    """Makes the gain matrix of a ranking. Its rows are in the order of `items`.

    `ranking` has the columns item, doc, score in any row order; `labels` has item, doc, grade. Rows about
    other items are left out.
    """
    hits = _sort_hits(_number_by_name(ranking, items))
    known = _number_by_name(labels.filter(pl.col("grade") >= 0), items)
    row = hits["row"].to_numpy()
    returned = np.bincount(row, minlength=len(items))
    grades = np.full((len(items), returned.max(initial=0)), np.nan)
    line, grade = _find_labels(hits, known)
    grades[row[line], _rank_in(row)[line]] = grade
    labelled = np.bincount(known["row"].to_numpy(), minlength=len(items)) > 0
    return GainMatrix(grades, returned, _ideal(known, len(items)), labelled)


def _number_by_name(frame: pl.DataFrame, items: Sequence[str]) -> pl.DataFrame:
    """Replaces item ids by row numbers, and leaves out rows about unknown items.

    Files keep the rows of an item together, so only the first row of each group is looked up.
    """
    item = frame["item"]
    starts = (item != item.shift()).fill_null(True).arg_true()
    order = pl.DataFrame({"item": items}, schema={"item": pl.String}).with_row_index("row")
    heads = item.gather(starts).to_frame().join(order, on="item", how="left", maintain_order="left")
    found = heads["row"].cast(pl.Int64).fill_null(-1).to_numpy()
    row = np.repeat(found, np.diff(starts.to_numpy(), append=len(item)))
    numbered = frame.drop("item").with_columns(row=pl.Series(row, dtype=pl.Int64))
    return numbered if (found >= 0).all() else numbered.filter(pl.col("row") >= 0)


def _sort_hits(hits: pl.DataFrame) -> pl.DataFrame:
    """Returns the hits grouped by item, the best hit of each item first.

    Hits that are in this order stay as they are.
    """
    row, score = hits["row"].to_numpy(), hits["score"].cast(pl.Float32).to_numpy()
    falls = (score[1:] < score[:-1]) | (row[1:] != row[:-1])
    if falls.all() and _is_grouped(row):
        return hits
    return hits.with_columns(score=pl.Series(score)).sort(
        "row", "score", "doc", descending=[False, True, True]
    )


def _is_grouped(row: Ints) -> bool:
    """Whether equal row numbers are adjacent. The groups may be in any order."""
    heads = row[np.flatnonzero(np.diff(row, prepend=-1))]
    return len(np.unique(heads)) == len(heads)


def _rank_in(row: Ints) -> Ints:
    """Returns the position of each entry among the entries of its row, from 0.

    Equal rows must be adjacent.
    """
    starts = np.flatnonzero(np.diff(row, prepend=-1))
    lengths = np.diff(starts, append=len(row))
    return np.arange(len(row)) - np.repeat(starts, lengths)


def _find_labels(hits: pl.DataFrame, known: pl.DataFrame) -> tuple[Ints, NDArray[np.float64]]:
    """Finds the lines of `hits` that have a label, and returns these lines with their grades.

    Joining a million strings is slow. So a bitmap over hashes first drops hits that cannot have a label. The
    other hits are joined by hash, and only hits with an equal hash are compared in full.
    """
    keys, known_keys = _hashes(hits), _hashes(known)
    slot = np.uint64(_SLOTS - 1)  # a mask, since a remainder would cost a division per hit
    marked = np.zeros(_SLOTS, dtype=bool)
    marked[known_keys & slot] = True
    line = np.flatnonzero(marked[keys & slot])
    near = pl.DataFrame(
        {"key": keys[line], "line": line, "row": hits["row"].gather(line), "doc": hits["doc"].gather(line)}
    )
    met = near.join(known.with_columns(key=known_keys), on="key")
    found = met.filter((pl.col("doc") == pl.col("doc_right")) & (pl.col("row") == pl.col("row_right")))
    return found["line"].to_numpy(), found["grade"].cast(pl.Float64).to_numpy()


def _hashes(frame: pl.DataFrame) -> NDArray[np.uint64]:
    """Returns a hash of the item and document of each row."""
    item = frame["row"].to_numpy().view(np.uint64) * _MIX
    keys: NDArray[np.uint64] = frame["doc"].hash().to_numpy() ^ item
    return keys


def _ideal(known: pl.DataFrame, n: int) -> NDArray[np.float64]:
    """Returns the positive grades of each item, the best first, padded with 0."""
    positive = known.filter(pl.col("grade") > 0)
    row, grade = positive["row"].to_numpy(), positive["grade"].to_numpy()
    if not _is_grouped(row):
        order = np.argsort(row, kind="stable")
        row, grade = row[order], grade[order]
    ideal = np.zeros((n, np.bincount(row, minlength=n).max(initial=0)))
    ideal[row, _rank_in(row)] = grade
    ideal.sort(axis=1)
    return ideal[:, ::-1]
