"""Proposes queries whose results people often found unhelpful as candidates for the golden set.

The wordings of a query are grouped. First, wordings that differ only in case, blanks and quotes are joined;
then, wordings with nearly the same content words. The most frequent wording stands for the group. Queries
that the golden set already has are listed, but not proposed. A person fills in the expectations of a
candidate and signs it (`accepted_by`). Only then can it be added.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from assay.core.errors import DataError, Problem, UsageError, decoding_problem
from assay.core.yaml_lines import read_text
from assay.kinds.search.anchor_text import normalize
from assay.kinds.search.golden.content_words import NEAR, ContentWords
from assay.kinds.search.golden.study import GoldenStudy
from assay.store.disk import write_atomic

SCHEMA = "assay/golden-candidates/1"
# an address, or so many digits that they may be a telephone number
_PERSONAL = re.compile(r"\S@\S|(?:\d[\s().-]{0,2}){7,}")
_BLANK: dict[str, Any] = {
    "category": "",
    "expected_passages": [],
    "expected_routing": "",
    "retrieval_intent": "",
    "expected_flags": [],
    "themes": [],
    "notes": "",
    "accepted_by": "",
}


@dataclass
class _QueryVotes:
    """All votes on one query, by wording."""

    wordings: Counter[str] = field(default_factory=Counter)
    unhelpful: int = 0
    helpful: int = 0
    times: list[datetime] = field(default_factory=list)

    def take(self, vote: Vote) -> None:
        self.wordings[vote.query] += 1
        self.helpful += vote.helpful
        self.unhelpful += not vote.helpful
        self.times.append(vote.time)

    def join(self, other: _QueryVotes) -> None:
        self.wordings += other.wordings
        self.unhelpful += other.unhelpful
        self.helpful += other.helpful
        self.times += other.times

    @property
    def query(self) -> str:
        """The most frequent wording. Of equally frequent wordings, it is the first in alphabetical order."""
        return min(self.wordings, key=lambda each: (-self.wordings[each], each))


class VoteSummary(msgspec.Struct, frozen=True):
    """The number and the dates of the votes on a query, and the query's other wordings."""

    unhelpful: int
    helpful: int
    first: str
    last: str
    wordings: list[str]


class Proposal(msgspec.Struct, frozen=True):
    """A query of the feedback. `covered_by` is the id of an item that has the query already, or empty."""

    query: str
    language: str
    seen: VoteSummary
    covered_by: str = ""

    def to_fill(self) -> dict[str, Any]:
        """Returns the proposal for the file of candidates, with empty fields that a person fills in."""
        return {"id": "", "query": self.query, "language": self.language, **_BLANK, "seen": self.seen}


@dataclass(frozen=True)
class Proposals:
    """The proposed queries, the queries that are covered already, and the number of wordings left out."""

    candidates: list[Proposal]
    covered: list[Proposal]
    personal: int  # wordings that hold an address or a long number


def find_candidates(opened: GoldenStudy, path: Path, least: int = 3) -> Proposals:
    """Finds queries with at least `least` unhelpful votes, and with more unhelpful than helpful votes."""
    votes = read_feedback(path)
    sets = opened.golden.read(opened.study.kit)
    if sets.problems:
        raise DataError(sets.problems)
    fit = [vote for vote in votes if not _PERSONAL.search(vote.query)]
    personal = len({vote.query for vote in votes} - {vote.query for vote in fit})
    words = ContentWords(opened.golden.books(opened.study.kit))
    by_language: dict[str, list[Vote]] = {}
    for vote in fit:
        by_language.setdefault(vote.language, []).append(vote)
    known: dict[str, dict[str, str]] = {}
    for _, _, entry in sets.entries():
        known.setdefault(entry.language, {}).setdefault(words.key(entry.language, entry.query), entry.id)
    proposals = []
    for language in sorted(by_language):
        groups = _merge_similar(_group_by_wording(by_language[language]), language, words)
        found = [_make_proposal(each, language) for each in groups if _is_unhelpful(each, least)]
        found.sort(key=lambda each: (-each.seen.unhelpful, each.query))
        proposals += [_mark_covered(each, known.get(language, {}), words) for each in found]
    return Proposals(
        [each for each in proposals if not each.covered_by],
        [each for each in proposals if each.covered_by],
        personal,
    )


def _is_unhelpful(group: _QueryVotes, least: int) -> bool:
    return group.unhelpful >= least and group.unhelpful > group.helpful


def _group_by_wording(votes: Iterable[Vote]) -> list[_QueryVotes]:
    groups: dict[str, _QueryVotes] = {}
    for vote in votes:
        groups.setdefault(normalize(vote.query), _QueryVotes()).take(vote)
    return sorted(groups.values(), key=lambda group: (-group.wordings.total(), group.query))


def _merge_similar(groups: list[_QueryVotes], language: str, words: ContentWords) -> list[_QueryVotes]:
    """Joins each group with an earlier group whose query is nearly the same. Frequent groups come first."""
    leads: dict[str, _QueryVotes] = {}
    for group in groups:
        key = words.key(language, group.query)
        lead = _find_nearest(key, leads)
        if lead is None:
            leads[key] = group
        else:
            leads[lead].join(group)
    return list(leads.values())


def _find_nearest(key: str, known: Mapping[str, Any]) -> str | None:
    from rapidfuzz import fuzz, process

    if key in known:
        return key
    found = process.extractOne(key, known.keys(), scorer=fuzz.ratio, score_cutoff=NEAR)
    return None if found is None else str(found[0])


def _make_proposal(group: _QueryVotes, language: str) -> Proposal:
    first, last = (when(group.times).date().isoformat() for when in (min, max))
    others = [wording for wording, _ in group.wordings.most_common() if wording != group.query]
    return Proposal(group.query, language, VoteSummary(group.unhelpful, group.helpful, first, last, others))


def _mark_covered(proposal: Proposal, known: Mapping[str, str], words: ContentWords) -> Proposal:
    for wording in (proposal.query, *proposal.seen.wordings):
        if (key := _find_nearest(words.key(proposal.language, wording), known)) is not None:
            return msgspec.structs.replace(proposal, covered_by=known[key])
    return proposal


def write_candidates(found: Proposals, folder: Path, out: Path | None = None) -> list[Path]:
    """Writes candidates-LANGUAGE.json files into a folder, or all candidates into the file `out`.

    No existing file is overwritten.
    """
    by_file: dict[Path, list[Proposal]] = {}
    for each in found.candidates:
        by_file.setdefault(out or folder / f"candidates-{each.language}.json", []).append(each)
    if there := [str(path) for path in by_file if path.exists()]:
        fix = "Somebody may have worked on it: move it away, or name another with --out."
        raise UsageError(f"{', '.join(there)} is there already. {fix}")
    for path, candidates in by_file.items():
        write_file(path, [each.to_fill() for each in candidates])
    return list(by_file)


def write_file(path: Path, candidates: list[dict[str, Any]]) -> None:
    """Writes a file of candidates for a person to fill in."""
    content = {"schema": SCHEMA, "candidates": candidates}
    data = msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n"
    write_atomic(path, lambda target: target.write_bytes(data))


COLUMNS = ("query", "language", "helpful", "time")
Row = dict[str, Any] | list[str] | str  # values by column; a list if its length is wrong; or a JSON text
_SECONDS = re.compile(r"\d{9,10}(\.\d+)?")
_YES_NO = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_object = msgspec.json.Decoder(dict[str, Any]).decode


class Vote(NamedTuple):
    """A person's vote: whether the results of a query were helpful."""

    query: str
    language: str
    helpful: bool
    time: datetime


def read_feedback(path: Path) -> list[Vote]:
    """Reads votes from a CSV or JSONL file. Raises an error unless it has exactly the four columns."""
    if path.suffix not in {".csv", ".jsonl"}:
        raise UsageError(f"{path} is neither .csv nor .jsonl. Write {', '.join(COLUMNS)} as one of the two.")
    text, where = read_text(path), str(path)
    rows = _csv_rows(text, where) if path.suffix == ".csv" else _json_rows(text)
    found, problems = [], list[Problem]()
    try:
        for line, row in rows:
            try:
                found.append(_parse_vote(_decode(row)))
            except DataError as error:
                problems += [Problem(one.what, where, line, one.field, one.fix) for one in error.problems]
            except (msgspec.MsgspecError, RecursionError) as error:
                problems.append(decoding_problem(error, where, line))
    except csv.Error as error:
        problems.append(Problem(f"this is not CSV: {error}", where, fix="Check its quotes."))
    if not found and not problems:
        problems.append(Problem("there is no feedback in it", where, fix="Write one row per vote."))
    if problems:
        raise DataError(problems)
    return found


def _csv_rows(text: str, where: str) -> Iterator[tuple[int, Row]]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header = [name.strip() for name in next(reader, [])]
    if problems := _column_problems(header):
        raise DataError([Problem(one.what, where, 1, one.field, one.fix) for one in problems])
    for row in reader:
        if row:
            yield reader.line_num, dict(zip(header, row, strict=True)) if len(row) == len(header) else row


def _json_rows(text: str) -> Iterator[tuple[int, Row]]:
    yield from ((number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip())


def _decode(row: Row) -> dict[str, Any]:
    if isinstance(row, dict):
        return row
    if isinstance(row, list):
        what = f"{len(row)} values where {len(COLUMNS)} columns are named"
        raise DataError(Problem(what, fix="Write a value for each."))
    found = _object(row)
    if problems := _column_problems(found):
        raise DataError(problems)
    return found


def _column_problems(names: Collection[str]) -> list[Problem]:
    more = [name for name in names if name not in COLUMNS]
    fix = f"Take it out: only {', '.join(COLUMNS)} are read, and nothing about people."
    problems = [Problem("this column is not taken in", field=name, fix=fix) for name in more]
    lacking = [name for name in COLUMNS if name not in names]
    problems += [Problem("this column is missing", field=name, fix="Add it.") for name in lacking]
    if not problems and len(names) > len(COLUMNS):
        problems.append(Problem("a column stands twice", fix="Keep one of the two."))
    return problems


def _parse_vote(row: dict[str, Any]) -> Vote:
    problems = [
        Problem("it is empty", field=name, fix="Fill it in, or take the row out.")
        for name in ("query", "language")
        if not isinstance(row.get(name), str) or not row[name].strip()
    ]
    helpful, time = _parse_bool(row.get("helpful")), _parse_time(row.get("time"))
    if helpful is None:
        what = f"{row.get('helpful')!r} is neither yes nor no"
        problems.append(Problem(what, field="helpful", fix="Write true or false."))
    if time is None:
        what, fix = f"{row.get('time')!r} is not a time", "Write it like 2026-03-15T10:30:00Z."
        problems.append(Problem(what, field="time", fix=fix))
    if problems or helpful is None or time is None:
        raise DataError(problems)
    return Vote(row["query"].strip(), row["language"].strip(), helpful, time)


def _parse_bool(value: Any) -> bool | None:
    return _YES_NO.get(str(value).strip().lower()) if isinstance(value, str | bool | int) else None


def _parse_time(value: Any) -> datetime | None:
    """Parses an ISO 8601 or Unix time. A time without a zone is in UTC."""
    if isinstance(value, str) and _SECONDS.fullmatch(value.strip()):
        value = float(value)
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC)
        found = datetime.fromisoformat(value.strip()) if isinstance(value, str) else None
    except (ValueError, OverflowError, OSError):
        return None
    if found is None:
        return None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
