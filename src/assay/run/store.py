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
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import msgspec
import polars as pl

from assay.datasets.dataset import digest
from assay.errors import UsageError
from assay.records import Judgment, Observed, Structure
from assay.run.journal import Answer, Answered, Built, Judged, Writer, read_entries, read_segment, segments

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
        self.root.mkdir(parents=True, exist_ok=True)
        with (self.root / "lock").open("a+") as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UsageError(
                    f"Another process{_holder(handle)} is running {self.root}. Wait for it."
                ) from None
            handle.truncate(0)
            handle.write(str(os.getpid()))
            handle.flush()
            yield

    def writer(self) -> Writer:
        """A fresh journal segment."""
        return Writer(self.journal)

    def done(self) -> set[str]:
        """Keys of every response that is stored and did not fail."""
        keys: set[str] = set()
        for path in self._sealed_files():
            frame = pl.read_parquet(path, columns=["key", "failed"])
            keys.update(frame.filter(~pl.col("failed"))["key"])
        keys.update(answer.key for answer in self._journalled() if answer.response.error is None)
        return keys

    def answers(self) -> pl.DataFrame:
        """Every stored response in columns, one row a key: the first success, else the last failure."""
        parts = [pl.read_parquet(path) for path in self._sealed_files()]
        parts.append(in_columns(self._journalled()))
        stored = pl.concat(parts)
        first = stored.filter(~pl.col("failed")).unique("key", keep="first", maintain_order=True)
        last = stored.filter(pl.col("failed")).unique("key", keep="last", maintain_order=True)
        return pl.concat([first, last.join(first, on="key", how="anti")])

    def seal(self, finished: Mapping[tuple[str, int], Sequence[str]]) -> None:
        """Writes finished arms as one Parquet file each, in item order, and drops what they make needless."""
        stored = self.answers()
        for (arm, seed), keys in finished.items():
            slug = re.sub(r"[^A-Za-z0-9_.=,-]+", "_", arm)
            path = self.sealed / f"{slug}.{seed}.{digest(map(str.encode, keys))[:8]}.parquet"
            if not path.is_file():
                write_atomic(path, in_order(stored, keys).write_parquet)
        self._compact()

    def _compact(self) -> None:
        """Rewrites the runner's journal segments without the lines that stand in sealed files.

        Segments holding judgments are left alone: a desk may be writing to them at this moment.
        """
        sealed: set[str] = set()
        for path in self._sealed_files():
            sealed.update(pl.read_parquet(path, columns=["key"])["key"])
        spent, kept = [], []
        for path in segments(self.journal):
            entries = list(read_segment(path))
            if not entries or any(isinstance(entry, Judged) for entry in entries):
                continue
            left = [
                entry for entry in entries if not isinstance(entry, Answered) or not _keys(entry) <= sealed
            ]
            if len(left) < len(entries):
                spent.append(path)
                kept += left
        if kept:
            with self.writer() as writer:
                for entry in kept:
                    writer.append(entry)
        for path in spent:
            path.unlink()

    def forget_answers(self) -> None:
        """Drops every stored response, so that all systems are asked again; judgments stay."""
        judgments = self.judgments()
        for path in [*self._sealed_files(), *segments(self.journal)]:
            path.unlink()
        with self.writer() as writer:
            for judgment in judgments:
                writer.append(Judged(judgment), now=True)

    def structures(self) -> dict[tuple[str, int], Structure]:
        """The trees and graphs that indexes published, by arm and seed; the latest build counts."""
        entries = (entry for entry in read_entries(self.journal) if isinstance(entry, Built))
        return {(entry.arm, entry.seed): entry.structure for entry in entries if entry.structure is not None}

    def cost(self) -> float:
        """What all stored responses cost, as far as their systems said."""
        rest = msgspec.json.Decoder(_Costly).decode
        journalled = sum(answer.response.observed.cost or 0.0 for answer in self._journalled())
        sealed = (rest(payload) for path in self._sealed_files() for payload in pl.read_parquet(path)["rest"])
        return journalled + sum(response.observed.cost or 0.0 for response in sealed)

    def judgments(self) -> list[Judgment]:
        """Judgments that were paid for or made by people, oldest first."""
        return [entry.judgment for entry in read_entries(self.journal) if isinstance(entry, Judged)]

    def write_manifest(self, content: Mapping[str, Any]) -> None:
        data = msgspec.json.format(msgspec.json.encode(content, order="sorted"), indent=2)
        write_atomic(self.root / "manifest.json", lambda target: target.write_bytes(data))

    def manifest(self) -> dict[str, Any]:
        """What was run; empty where nothing was."""
        path = self.root / "manifest.json"
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Any]) if path.is_file() else {}

    def _sealed_files(self) -> list[Path]:
        return sorted(self.sealed.glob("*.parquet"))

    def _journalled(self) -> Iterator[Answer]:
        for entry in read_entries(self.journal):
            if isinstance(entry, Answered):
                yield from entry.answers


class _Costly(msgspec.Struct):
    """The one field of a response that a spending cap reads."""

    observed: Observed = msgspec.field(default_factory=Observed)


def _keys(entry: Answered) -> set[str]:
    return {answer.key for answer in entry.answers}


def in_order(stored: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """One row a key, in the order given; keys that are not stored have nulls."""
    wanted = pl.DataFrame({"key": keys}, schema={"key": pl.String})
    return wanted.join(stored, on="key", how="left", maintain_order="left")


def in_columns(answers: Iterable[Answer]) -> pl.DataFrame:
    """Responses as columns: hits by name and score, all the rest as one JSON field."""
    rows: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
    encode = msgspec.json.Encoder().encode
    for key, item_id, response in ((answer.key, answer.item_id, answer.response) for answer in answers):
        rows["key"].append(key)
        rows["item"].append(item_id)
        rows["failed"].append(response.error is not None)
        rows["docs"].append([hit.doc_id for hit in response.hits])
        rows["scores"].append([hit.score for hit in response.hits])
        plain = all(hit.span is None and hit.text is None for hit in response.hits)
        rest = msgspec.structs.replace(response, hits=[]) if plain else response
        rows["rest"].append(encode(rest))
    return pl.DataFrame(rows, schema=_COLUMNS)


def write_atomic(path: Path, write: Any) -> None:
    """Writes beside the target, syncs, renames: a reader sees the old file or the new, never a half."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        write(draft)
        with draft.open("rb+") as handle:
            os.fsync(handle.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _holder(handle: IO[str]) -> str:
    handle.seek(0)
    pid = handle.read().strip()
    return f" (pid {pid})" if pid else ""
