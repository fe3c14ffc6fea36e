"""One directory a run: the journal as it grows, finished arms sealed to Parquet, a manifest, stage outputs.

run/
  manifest.json        what was run, by which versions
  journal/000001.jsonl responses, builds and paid judgments, as they came
  sealed/ARM.SEED.parquet   finished arms, in columns
  scores.parquet …     outputs of later stages, each under the hash of its input
  lock                 held by the one coordinator
"""

from __future__ import annotations

import fcntl
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

import msgspec
import polars as pl

from assay.datasets.dataset import digest
from assay.errors import DataError, Problem, UsageError
from assay.records import Judgment, Observed, Structure
from assay.run.journal import (
    Answer,
    Answered,
    Built,
    Entry,
    Judged,
    Writer,
    damaged_lines,
    read_entries,
    read_idle,
    segments,
    storing,
)

SCHEMA = "assay/run/1"
CHUNK = 10_000  # responses turned into columns at a time

_COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "key": pl.String,
    "item": pl.String,
    "failed": pl.Boolean,
    "docs": pl.List(pl.String),
    "scores": pl.List(pl.Float64),
    "rest": pl.Binary,
}


@dataclass(frozen=True)
class Store:
    """The files of one run."""

    root: Path

    @property
    def journal(self) -> Path:
        return self.root / "journal"

    @property
    def sealed(self) -> Path:
        return self.root / "sealed"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Held by the one process that runs or seals; the kernel lets go of it when that process dies."""
        with storing(self.root):
            self.root.mkdir(parents=True, exist_ok=True)
            handle = (self.root / "lock").open("a+")
        with handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UsageError(
                    f"Another process{_holder(handle)} is running {self.root}. Wait for it, or end it."
                ) from None
            handle.truncate(0)
            handle.write(str(os.getpid()))
            handle.flush()
            yield

    def writer(self) -> Writer:
        """A fresh journal segment."""
        return Writer(self.journal)

    def outcomes(self) -> dict[str, bool]:
        """The key of every stored response, and whether it is an answer and not a failure."""
        # The journal before the sealed files, here and below: answers only ever move from the one to the
        # other, so that nobody who reads while they move can miss one.
        found: dict[str, bool] = {}
        for answer in self._journalled():
            found[answer.key] = found.get(answer.key, False) or answer.response.error is None
        for path in self._sealed_files():
            found.update(dict.fromkeys(_read_sealed(path, ["key"])["key"], True))
        return found

    def answers(self) -> pl.DataFrame:
        """Every stored response in columns, one row a key: the first success, else the last failure."""
        stored = self._rows()
        first = stored.filter(~pl.col("failed")).unique("key", keep="first", maintain_order=True)
        last = stored.filter(pl.col("failed")).unique("key", keep="last", maintain_order=True)
        return pl.concat([first, last.join(first, on="key", how="anti")])

    def cost(self) -> float:
        """What all stored responses cost, as far as their systems said."""
        spent = self._rows().unique(["key", "rest"])  # a kill while sealing leaves the same row in two places
        decode = msgspec.json.Decoder(_Costly).decode
        return math.fsum(decode(rest).observed.cost or 0.0 for rest in spent["rest"])

    def seal(self, finished: Mapping[tuple[str, int], Sequence[str]]) -> None:
        """Writes finished arms as one Parquet file each, in item order, and drops what they make needless."""
        for draft in self.sealed.glob(".*.tmp"):  # left by a kill
            draft.unlink()
        held = {path: set(_read_sealed(path, ["key"])["key"]) for path in self._sealed_files()}
        fresh = {
            place: keys
            for place, keys in finished.items()
            if not any(sealed.issuperset(keys) for sealed in held.values())
        }
        stored = self.answers() if fresh else in_columns(())
        for (arm, seed), keys in fresh.items():
            slug = re.sub(r"[^A-Za-z0-9_.=,-]+", "_", arm)
            path = self.sealed / f"{slug}.{seed}.{digest(map(str.encode, keys))[:8]}.parquet"
            write_atomic(path, in_order(stored, keys).write_parquet)
            for older in [older for older, sealed in held.items() if sealed.issubset(keys)]:
                del held[older]
                older.unlink()
            held[path] = set(keys)
        self._drop_lines(set().union(*held.values()))

    def forget(self, keys: Set[str]) -> None:
        """Drops the responses under these keys, so that they are asked for again; judgments stay."""
        for path in self._sealed_files():
            frame = _read_sealed(path)
            left = frame.filter(~pl.col("key").is_in(list(keys)))
            if left.is_empty():
                path.unlink()
            elif left.height < frame.height:
                write_atomic(path, left.write_parquet)
        self._drop_lines(keys)

    def _drop_lines(self, keys: Set[str]) -> None:
        """Rewrites idle journal segments without the answers under these keys, one build an index.

        Segments holding judgments are left alone: a person's mark is never rewritten.
        """
        spent: list[Path] = []
        builds: dict[str, Built] = {}
        kept: list[Answered] = []
        dropped = False
        for path in segments(self.journal):
            entries = read_idle(path)
            answered = [entry for entry in entries if isinstance(entry, Answered)]
            left = [rest for entry in answered if (rest := _without(entry, keys)) is not None]
            untouched = bool(answered) and sum(map(_size, left)) == sum(map(_size, answered))
            if not entries or untouched or any(isinstance(entry, Judged) for entry in entries):
                continue
            dropped |= bool(answered)
            spent.append(path)
            kept += left
            builds.update({entry.key: entry for entry in entries if isinstance(entry, Built)})
        if not dropped:
            return
        with self.writer() as writer:
            for entry in chain[Entry](builds.values(), kept):
                writer.append(entry)
        for path in spent:
            path.unlink()

    def structures(self) -> dict[str, Structure]:
        """The trees and graphs that indexes published, by the key of the index."""
        entries = (entry for entry in read_entries(self.journal) if isinstance(entry, Built))
        return {entry.key: entry.structure for entry in entries if entry.structure is not None}

    def warnings(self) -> list[str]:
        """What a reader of the results should know about the files they come from."""
        if damaged := damaged_lines(self.journal):
            return [f"{damaged} damaged journal lines were left out; answers they held count as not asked"]
        return []

    def judgments(self) -> list[Judgment]:
        """Judgments that were paid for or made by people, oldest first."""
        return [entry.judgment for entry in read_entries(self.journal) if isinstance(entry, Judged)]

    def write_manifest(self, content: Mapping[str, Any]) -> None:
        data = msgspec.json.format(msgspec.json.encode(content, order="sorted"), indent=2)
        write_atomic(self.root / "manifest.json", lambda target: target.write_bytes(data))

    def manifest(self) -> dict[str, Any]:
        """What was run; empty where nothing was."""
        path = self.root / "manifest.json"
        if not path.is_file():
            return {}
        try:
            content = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
        except msgspec.DecodeError as error:
            fix = "Remove it and run again: stored answers are found without it."
            raise DataError(Problem(f"is not readable: {error}", str(path), fix=fix)) from None
        if (schema := content.get("schema")) != SCHEMA:
            what = f"the run was stored in the form {schema!r}; this version of Assay reads {SCHEMA!r}"
            raise DataError(Problem(what, str(path), fix="Update Assay, or move the run folder away."))
        return content

    def _sealed_files(self) -> list[Path]:
        return sorted(self.sealed.glob("*.parquet"))

    def _journalled(self) -> Iterator[Answer]:
        for entry in read_entries(self.journal):
            if isinstance(entry, Answered):
                yield from entry.answers

    def _rows(self) -> pl.DataFrame:
        """Everything that is stored, sealed rows first."""
        journalled = in_columns(self._journalled())
        return pl.concat([*(_read_sealed(path) for path in self._sealed_files()), journalled])


def _read_sealed(path: Path, columns: list[str] | None = None) -> pl.DataFrame:
    try:
        frame = pl.read_parquet(path, columns=columns or list(_COLUMNS))
    # Polars panics, outside its own exception tree, on some damaged pages.
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        fix = "Remove the file and run again: what it held and the journal lacks is asked anew."
        raise DataError(Problem(f"cannot be read: {error}", str(path), fix=fix)) from error
    return frame


class _Costly(msgspec.Struct):
    """The one field of a response that a spending cap reads."""

    observed: Observed = msgspec.field(default_factory=Observed)


def _without(entry: Answered, keys: Set[str]) -> Answered | None:
    left = [answer for answer in entry.answers if answer.key not in keys]
    return msgspec.structs.replace(entry, answers=left) if left else None


def _size(entry: Answered) -> int:
    return len(entry.answers)


def in_order(stored: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """One row a key, in the order given; keys that are not stored have nulls."""
    wanted = pl.DataFrame({"key": keys}, schema={"key": pl.String})
    return wanted.join(stored, on="key", how="left", maintain_order="left")


def in_columns(answers: Iterable[Answer]) -> pl.DataFrame:
    """Responses as columns: hits by name and score, all the rest as one JSON field."""
    waiting = iter(answers)
    parts = [pl.DataFrame(schema=_COLUMNS)]
    while some := list(islice(waiting, CHUNK)):  # records are many times as large as their columns
        parts.append(_chunk(some))
    return pl.concat(parts)


def _chunk(answers: Sequence[Answer]) -> pl.DataFrame:
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
    empty = [pl.col(name).fill_null(pl.lit([], _COLUMNS[name])) for name in ("docs", "scores")]
    return whole.with_columns(empty).select(list(_COLUMNS))


def write_atomic(path: Path, write: Callable[[Path], object]) -> None:
    """Writes beside the target, syncs, renames: a reader sees the old file or the new, never a half."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with storing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            write(draft)
            _sync(draft)
            draft.replace(path)
            _sync(path.parent)  # the new name is on disk before anything it replaces goes
        finally:
            draft.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _holder(handle: IO[str]) -> str:
    handle.seek(0)
    pid = handle.read().strip()
    return f" (pid {pid})" if pid else ""
