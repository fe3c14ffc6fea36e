"""Appends candidates that a person filled in and signed to the golden set of their language.

Existing entries stay unchanged, byte for byte; new entries follow the last one. A candidate without a
signature stays in its file, with a reason, and so does a candidate that is incomplete or invalid.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from assay.core.errors import DataError, Problem
from assay.core.yaml_lines import FileProblems, Lines
from assay.datasets.reading import parse_json, read_json
from assay.kinds.search.anchor_text import normalize
from assay.kinds.search.golden.candidates import SCHEMA, write_file
from assay.kinds.search.golden.check import index_books, unresolved_anchors
from assay.kinds.search.golden.corpus import Books
from assay.kinds.search.golden.entry import (
    GoldenFile,
    GoldenSets,
    Vocabulary,
    id_number,
    read_entry,
    unknown_books,
)
from assay.kinds.search.golden.lock import read_lock
from assay.kinds.search.golden.study import GoldenStudy
from assay.store.disk import hold_lock, write_atomic

UNSIGNED = "nobody accepted it: accepted_by is empty"
_FIRST = ("id", "query", "language", "category", "expected_passages", "expected_routing")
_OPTIONAL = ("retrieval_intent", "expected_flags", "themes")  # left out of the set if they are empty
_ASIDE = ("accepted_by", "seen")  # only in candidates
_END = re.compile(rb"\s*\]\s*\Z")
_START = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*\[(?:(?P<newline>\r?\n)(?P<indent>[ \t]*)|[ \t]*)\{")


class AddedCandidate(NamedTuple):
    """A candidate that is now in the golden set."""

    item_id: str
    query: str
    file: str


class RefusedCandidate(NamedTuple):
    """A candidate that was not added, and the reasons."""

    query: str
    why: list[str]


@dataclass(frozen=True)
class CandidateImport:
    """The candidates that were added, and those that were not."""

    taken: list[AddedCandidate] = field(default_factory=list)
    left: list[RefusedCandidate] = field(default_factory=list)


def add_candidates(opened: GoldenStudy, path: Path) -> CandidateImport:
    """Appends candidates that are signed and valid. The other candidates stay in their file."""
    listed, lines = _read_candidates(path)
    sets = opened.golden.read(opened.study.kit)
    if sets.problems:
        raise DataError(sets.problems)
    books, work = opened.golden.books(opened.study.kit), _Intake.over(opened, sets)
    added, behind = CandidateImport(), []
    new: dict[str, list[dict[str, Any]]] = {}
    for index, raw in enumerate(listed):
        entry = work.entry(raw)
        if why := list(work.refusals(entry, raw, FileProblems(lines), index, books)):
            added.left.append(RefusedCandidate(_query(raw), why))
            behind.append(raw)
            continue
        work.note(entry)
        new.setdefault(entry["language"], []).append(entry)
        added.taken.append(
            AddedCandidate(entry["id"], entry["query"], str(work.files[entry["language"]].path))
        )
    for language, entries in new.items():
        _append(work.files[language], entries)
    if added.taken:
        write_file(path, behind)
    return added


def _read_candidates(path: Path) -> tuple[list[Any], Lines]:
    content, lines = read_json(path)
    listed = content.get("candidates") if isinstance(content, dict) else None
    if not isinstance(listed, list) or content.get("schema") != SCHEMA:
        what, fix = f"this is not a file of candidates ({SCHEMA})", "Make one with: assay golden candidates"
        raise DataError(Problem(what, str(path), 1, fix=fix))
    return listed, lines


# ------------------------------------------------------------------------------- what may be taken


@dataclass(frozen=True)
class _Intake:
    """The ids and queries that are used already, and the files for new entries."""

    vocabulary: Vocabulary
    files: dict[str, GoldenFile]  # the last file of each language
    ids: set[str]
    queries: dict[tuple[str, str], str]  # the id of each language and query
    today: str

    @classmethod
    def over(cls, opened: GoldenStudy, sets: GoldenSets) -> _Intake:
        lock = read_lock(opened.lock)
        return cls(
            opened.golden.vocabulary,
            {file.language: file for file in sets.files},
            {*sets.places, *(lock.items if lock else ())},
            {(entry.language, normalize(entry.query)): entry.id for _, _, entry in sets.entries()},
            datetime.fromtimestamp(opened.study.kit.clock(), UTC).date().isoformat(),
        )

    def entry(self, raw: Any) -> dict[str, Any]:
        """Returns a candidate as an entry of the golden set, with the next unused number."""
        if not isinstance(raw, dict):
            return {}
        language, category = str(raw.get("language", "")), str(raw.get("category", ""))
        numbers = [id_number(item_id, language, category) or 0 for item_id in self.ids]
        given = {key: value for key, value in raw.items() if key not in (*_FIRST, *_ASIDE, "notes")}
        notes = [str(raw.get("notes") or "").strip(), f"Accepted by {_signature(raw)}."]
        return {
            **{key: raw[key] for key in _FIRST if key in raw},
            "id": f"{language}-{category}-{max(numbers, default=0) + 1:03d}",
            **{key: value for key, value in given.items() if value or key not in _OPTIONAL},
            "notes": " ".join(filter(None, notes)),
            "added": self.today,
        }

    def refusals(
        self, entry: dict[str, Any], raw: Any, found: FileProblems, index: int, books: Books
    ) -> Iterator[str]:
        """Yields the reasons why a candidate cannot be added. A missing signature is the only reason
        given."""
        if not _signature(raw):
            yield UNSIGNED
            return
        read = read_entry(entry, ("candidates", index), found, self.vocabulary)
        yield from (f"{_field(problem)}: {problem.what}. {problem.fix}" for problem in found.problems)
        if read is None:
            return
        if read.language not in self.files:
            yield f"language: no golden set is in {read.language!r}. Start one."
        if same := self.queries.get((read.language, normalize(read.query))):
            yield f"query: {same} asks it already"
        if books.documents:
            for inner, what, fix in (
                *unknown_books(read, books),
                *unresolved_anchors(read, books, index_books(books)),
            ):
                yield f"{'.'.join(map(str, inner))}: {what}. {fix}"

    def note(self, entry: dict[str, Any]) -> None:
        """Records the id and query of a new entry."""
        self.ids.add(entry["id"])
        self.queries[entry["language"], normalize(entry["query"])] = entry["id"]


def _signature(raw: Any) -> str:
    by = raw.get("accepted_by") if isinstance(raw, dict) else None
    return by.strip() if isinstance(by, str) else ""


def _query(raw: Any) -> str:
    return str(raw.get("query", "")) if isinstance(raw, dict) else ""


def _field(problem: Problem) -> str:
    return problem.field.partition(".")[2] or "it"


# ------------------------------------------------------------------------------------- the file


def _append(file: GoldenFile, entries: list[dict[str, Any]]) -> None:
    with hold_lock(file.path.parent):  # if two add at once, the second sees the entries of the first
        data = append_entries(file.path.read_bytes(), entries)
        # write only what reads back as the old entries and the new ones
        if parse_json(data.decode("utf-8-sig"), str(file.path))[0] != [*file.raw, *entries]:
            fix = "Add the candidates again."
            raise DataError(Problem("the file changed while it was worked on", str(file.path), fix=fix))
        write_atomic(file.path, lambda target: target.write_bytes(data))


def append_entries(data: bytes, entries: list[dict[str, Any]]) -> bytes:
    """Returns a JSON array with new entries at its end. The array must not be empty.

    New entries are indented like the first entry.
    """
    end, start = _END.search(data), _START.match(data)
    if end is None or start is None:
        raise DataError("entries can only follow others in an array of objects")
    newline, indent = start["newline"], start["indent"] or b""
    body, tail = data[: end.start()], data[end.start() :]
    for entry in entries:
        if newline is None:  # the array is on one line
            body += b", " + json.dumps(entry, ensure_ascii=False).encode()
            continue
        text = json.dumps(entry, ensure_ascii=False, indent=2).encode()
        body += b"," + newline + indent + text.replace(b"\n", newline + indent)
    return body + tail
