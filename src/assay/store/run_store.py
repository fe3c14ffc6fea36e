"""The folder of a run: the growing journal, finished arms, a manifest, and the outputs of later stages.

run/
  manifest.json        what was run, and the versions that ran it
  journal/000001.jsonl responses, builds and paid judgments, in the order in which they came
  spending/000001.jsonl   what was paid: no line is ever dropped
  declared/000001.jsonl   every version of the gates: shows whether a gate is older than the answers
  looks/000001.jsonl      the evidence on which each gate was decided: later decisions need more evidence
  sealed/ARM.SEED.HASH.parquet   finished arms, in columns
  scores.parquet …     outputs of later stages, each with the hash of its input
  repeats/1 …          the same items asked again, to see how much answers vary: never used as answers
  lock                 held by the process that runs the study

Answers, judgments, spending, declared gates and looks are evidence. The manifest and the outputs of later
stages are derived: if they are missing or damaged, they are made again.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain, groupby, permutations
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import polars as pl

from assay.core.dataset import digest
from assay.core.errors import DataError, Problem
from assay.core.records import Judgment, Structure
from assay.store.disk import explain_write_errors, hold_lock, write_atomic
from assay.store.journal import (
    COLUMNS,
    Answer,
    AnswersEntry,
    CostEntry,
    Entry,
    GateDeclaration,
    IndexEntry,
    JournalWriter,
    JudgmentEntry,
    answer_columns,
    damaged_lines,
    read_entries,
    read_idle_segment,
    read_lines,
    segments,
    select_by_key,
)
from assay.store.keys import AnswerBasis, plan_tasks

if TYPE_CHECKING:
    from assay.study.study import Study

SCHEMA = "assay/run/2"
LONGEST_NAME = 80  # characters of an arm's name in the name of its file
CHECKSUM = 16  # hex digits of a sealed file's hash in its name

# Polars panics, outside its own exception tree, on some damaged pages.
UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)

_SEALED = ["key", "generation"]  # the columns that identify the answers in a sealed file


class _ArmEntry(msgspec.Struct):
    basis: AnswerBasis
    data: str = ""  # the hash of the arm's dataset with its gold


class _Manifest(msgspec.Struct):
    """The part of a manifest that is read.

    A manifest in which this part has another shape counts as damaged.
    """

    arms: dict[str, _ArmEntry]
    study_file: dict[str, Any] = {}
    gates: list[GateDeclaration] = []  # only in old runs: gates now have a folder of their own
    started: float | None = None


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

    def repetition(self, number: int) -> Store:
        """Returns the store of items that were asked again. With the number 0, returns this store."""
        return Store(self.root / "repeats" / str(number)) if number else self

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Holds the lock of the only process that may run or seal."""
        with explain_write_errors(self.root):
            self.root.mkdir(parents=True, exist_ok=True)
            (self.root / "lock").touch()
        with hold_lock(self.root / "lock", f"running {self.root}"):
            yield

    def writer(self) -> JournalWriter:
        """Returns a writer with a fresh journal segment."""
        return JournalWriter(self.journal)

    @property
    def spending(self) -> Path:
        return self.root / "spending"

    def outcomes(self) -> dict[str, bool]:
        """Returns the key of every stored response, with True for an answer and False for a failure."""
        # Here and below the journal is read before the sealed files. Answers only ever move from the journal
        # to sealed files, so a reader cannot miss one that moves.
        self.manifest()  # refuses a store of another version
        found: dict[str, bool] = {}
        for _, answer in self._journalled():
            found[answer.key] = found.get(answer.key, False) or answer.response.error is None
        for path in self._sealed_files():
            found.update(dict.fromkeys(_read_sealed(path, ["key"])["key"], True))
        return found

    def answers(self) -> pl.DataFrame:
        """Returns every stored response in columns, with one row per key.

        If a key has a success, its row is the first success in the newest generation with a success.
        Otherwise the row is the last failure. So a new attempt replaces an answer only if the attempt
        succeeded.
        """
        self.manifest()
        stored = self._rows().sort("generation", descending=True, maintain_order=True)
        first = stored.filter(~pl.col("failed")).unique("key", keep="first", maintain_order=True)
        failed = stored.filter(pl.col("failed")).sort("generation", maintain_order=True)
        last = failed.unique("key", keep="last", maintain_order=True)
        return pl.concat([first, last.join(first, on="key", how="anti")])

    def generation(self) -> int:
        """Returns the number of the newest generation of answers."""
        journalled = {generation for generation, _ in self._journalled()}
        sealed = (_read_sealed(path, ["generation"])["generation"].max() for path in self._sealed_files())
        return max((each for each in chain(journalled, sealed) if isinstance(each, int)), default=0)

    def cost(self) -> float:
        """Returns the known cost of all answers, indexes and judgments that were ever made, kept or not."""
        return math.fsum(chain(self.paid().values(), (entry.cost or 0.0 for entry in self.judged())))

    def paid(self) -> dict[str, float]:
        """Returns, for each arm, the known cost of its answers, attempts and indexes, kept or not."""
        costs: dict[str, list[float]] = {}
        for entry in read_entries(self.spending):
            if isinstance(entry, CostEntry):
                costs.setdefault(entry.arm, []).append(entry.cost)
        return {arm: math.fsum(each) for arm, each in costs.items()}

    def seal(self, finished: Mapping[tuple[str, int], Sequence[str]]) -> None:
        """Writes each finished arm to a Parquet file of its own, and drops what becomes redundant.

        The rows of a file are in the order of the arm's keys in `finished`.
        """
        for draft in self.sealed.glob(".*.tmp"):  # left by a kill
            draft.unlink()
        held = {path: _generations(_read_sealed(path, _SEALED)) for path in self._sealed_files()}
        newest = dict.fromkeys(chain.from_iterable(finished.values()), 0)
        for generation, answer in self._journalled():
            if answer.key in newest and answer.response.error is None:
                newest[answer.key] = max(newest[answer.key], generation)
        fresh = {
            place: keys
            for place, keys in finished.items()
            if not any(_covers(sealed, {key: newest[key] for key in keys}) for sealed in held.values())
        }
        stored = self.answers() if fresh else answer_columns(())
        for (arm, seed), keys in fresh.items():
            slug = re.sub(r"[^A-Za-z0-9_.=,-]+", "_", arm)[:LONGEST_NAME]
            rows = select_by_key(stored, keys)
            rows.write_parquet(content := io.BytesIO())
            # a hash in the name, since answers that were changed must never count
            path = self.sealed / f"{slug}.{seed}.{digest([content.getvalue()])[:CHECKSUM]}.parquet"
            write_atomic(path, partial(Path.write_bytes, data=content.getvalue()))
            held[path] = _generations(rows)
        for older, newer in permutations(list(held), 2):
            if older in held and newer in held and _covers(held[newer], held[older]):
                del held[older]
                older.unlink()
        sealed: dict[str, int] = {}
        for generations in held.values():
            sealed.update({key: max(each, sealed.get(key, 0)) for key, each in generations.items()})
        self._drop_lines(sealed)

    def _drop_lines(self, sealed: Mapping[str, int]) -> None:
        """Rewrites idle journal segments without sealed answers, and with one entry per index.

        Segments with judgments are not touched, since a person's mark is never rewritten.
        """
        spent = [path for path in segments(self.journal) if _is_redundant(read_idle_segment(path), sealed)]
        if not any(isinstance(entry, AnswersEntry) for path in spent for entry in read_idle_segment(path)):
            return
        built: set[str] = set()
        with self.writer() as writer:  # line by line: the graphs of many indexes do not fit in memory
            for entry in chain.from_iterable(map(read_idle_segment, spent)):
                if isinstance(entry, AnswersEntry):
                    if (left := _without(entry, sealed)) is not None:
                        writer.append(left)
                elif isinstance(entry, IndexEntry) and entry.key not in built:
                    built.add(entry.key)
                    writer.append(entry)
        for path in spent:
            path.unlink()

    def structures(self) -> dict[str, Structure]:
        """Returns the trees and graphs that indexes published, by the key of the index."""
        found: dict[str, Structure] = {}
        same: dict[str, Structure] = {}  # systems that share a tree each publish it, and it is large
        for entry in read_entries(self.journal):
            if isinstance(entry, IndexEntry) and entry.structure is not None:
                mark = digest([msgspec.json.encode(entry.structure)])
                found[entry.key] = same.setdefault(mark, entry.structure)
        return found

    def warnings(self) -> list[str]:
        """Returns warnings about the files of the run, for readers of the results."""
        found = []
        if not self.manifest():
            what = f"{self.root / 'manifest.json'} is missing or damaged, so the study as it is now counts as"
            found.append(f"{what} what was run, and the time is unknown. `assay run` writes it again")
        if damaged := damaged_lines(self.journal):
            found.append(
                f"{damaged} damaged journal lines were left out; answers they held count as not asked"
            )
        return found

    def judged(self) -> list[JudgmentEntry]:
        """Returns the marks of people and the questions to judges, the oldest first."""
        return [entry for entry in read_entries(self.journal) if isinstance(entry, JudgmentEntry)]

    def judgments(self) -> list[Judgment]:
        """Returns judgments that were paid for or made by people, the oldest first."""
        return [entry.judgment for entry in self.judged() if entry.judgment is not None]

    def write_manifest(self, content: Mapping[str, Any]) -> None:
        data = msgspec.json.format(msgspec.json.encode(content, order="sorted"), indent=2)
        write_atomic(self.root / "manifest.json", lambda target: target.write_bytes(data))

    def manifest(self) -> dict[str, Any]:
        """Returns the manifest. It is empty if nothing was run, or if the file is missing or damaged."""
        path = self.root / "manifest.json"
        try:
            content = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
            schema = content.get("schema")
            if isinstance(schema, str) and schema != SCHEMA:
                what = f"the run was stored in the form {schema!r}; this version of Assay reads {SCHEMA!r}"
                raise DataError(Problem(what, str(path), fix="Update Assay, or move the run folder away."))
            msgspec.convert(content, _Manifest)
        except (FileNotFoundError, IsADirectoryError, msgspec.DecodeError, UnicodeDecodeError):
            return {}
        return content if schema == SCHEMA else {}

    def bases(self, study: Study) -> dict[str, AnswerBasis]:
        """Returns what decides the answers of every arm that was run, by the arm's name.

        Without a manifest, these are the arms of the study as it is now that have answers.
        """
        if manifest := self.manifest():
            return {name: arm.basis for name, arm in msgspec.convert(manifest, _Manifest).arms.items()}
        if not (stored := self.outcomes()):
            return {}
        found = {}
        for arm in study.arms:
            dataset = study.dataset(arm)
            basis = AnswerBasis.of(study, arm, dataset)
            units = (unit for seed in study.seeds_of(arm) for unit in plan_tasks(basis, seed, dataset))
            if any(key in stored for unit in units for key in unit.keys):
                found[arm.name] = basis
        return found

    def declared(self) -> list[GateDeclaration]:
        """Returns every version of the gates that this run folder has seen, the oldest first."""
        found = list(read_lines(self._declared, GateDeclaration))
        return found or msgspec.convert(self.manifest().get("gates", []), list[GateDeclaration])

    def declare(self, declared: GateDeclaration) -> None:
        """Records the gates if they differ from the gates of the run before."""
        earlier = self.declared()
        new = [] if segments(self._declared) else list(earlier)
        if not earlier or earlier[-1].gates != declared.gates:
            new.append(declared)
        with JournalWriter(self._declared) as writer:
            for each in new:
                writer.append(each, now=True)

    @property
    def _declared(self) -> Path:
        return self.root / "declared"

    def _sealed_files(self) -> list[Path]:
        return sorted(self.sealed.glob("*.parquet"))

    def _journalled(self) -> Iterator[tuple[int, Answer]]:
        """Yields every answer in the journal, with its generation."""
        for entry in read_entries(self.journal):
            if isinstance(entry, AnswersEntry):
                yield from ((entry.generation, answer) for answer in entry.answers)

    def _rows(self) -> pl.DataFrame:
        """Returns all stored responses, sealed rows first."""
        journalled = [
            answer_columns((answer for _, answer in answers), generation)
            for generation, answers in groupby(self._journalled(), key=itemgetter(0))
        ]
        sealed = [_read_sealed(path) for path in self._sealed_files()]
        return pl.concat([pl.DataFrame(schema=COLUMNS), *sealed, *journalled])


def _read_sealed(path: Path, columns: list[str] | None = None) -> pl.DataFrame:
    fix = "Remove the file and run again: answers that the journal does not have are asked again."
    try:
        if columns is not None:
            return pl.read_parquet(path, columns=columns)
        content, name = path.read_bytes(), path.stem.rpartition(".")[2]
        if len(name) == CHECKSUM and digest([content])[:CHECKSUM] != name:  # names of older files are shorter
            what = "cannot be read: it is not the file that was sealed"
            raise DataError(Problem(what, str(path), fix=fix))
        return pl.read_parquet(content, columns=list(COLUMNS))
    except UNREADABLE as error:
        raise DataError(Problem(f"cannot be read: {error}", str(path), fix=fix)) from error


def _generations(rows: pl.DataFrame) -> dict[str, int]:
    return dict(rows.select(_SEALED).iter_rows())


def _covers(newer: Mapping[str, int], older: Mapping[str, int]) -> bool:
    """Whether `newer` has every key of `older`, in the same generation or a newer one."""
    return all(newer.get(key, -1) >= generation for key, generation in older.items())


def _is_redundant(entries: Iterable[Entry], sealed: Mapping[str, int]) -> bool:
    """Whether a segment can be rewritten.

    It can if it has lines, but no judgments, and either no answers or some that are sealed.
    """
    lines = answered = left = 0
    for entry in entries:
        if isinstance(entry, JudgmentEntry):
            return False
        lines += 1
        if isinstance(entry, AnswersEntry):
            rest = _without(entry, sealed)
            answered += len(entry.answers)
            left += 0 if rest is None else len(rest.answers)
    return lines > 0 and (answered == 0 or left < answered)


def _without(entry: AnswersEntry, sealed: Mapping[str, int]) -> AnswersEntry | None:
    """Returns an entry without its sealed answers, or None if none are left.

    A success that is newer than the sealed answer stays.
    """
    left = [
        answer
        for answer in entry.answers
        if answer.key not in sealed
        or (answer.response.error is None and entry.generation > sealed[answer.key])
    ]
    return msgspec.structs.replace(entry, answers=left) if left else None
