"""LongMemEval: questions to an assistant about earlier chat sessions, each with a haystack of its own.

`path` is a file or a folder. A file is the official release: a JSON array, plain or gzipped. A folder has
questions.jsonl and sessions.jsonl, in which every session occurs once, as one text. Derivatives of the
release have this form.

A session becomes the passage `QUESTION_ID/SESSION_ID`, because it may have another date in another haystack.
The passages of a haystack are in the order of their dates. The scope of an item is its own haystack.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from assay.core.dataset import Corpus, Dataset
from assay.core.errors import DataError, Problem, decoding_problem
from assay.core.protocols import Kit
from assay.core.records import Item, Passage
from assay.datasets.public.release import REFUSED, read_release, release_doubts
from assay.datasets.reading import FolderReader

PACK = "conversation"
ABSTAINS = "_abs"  # how the id of a question ends if its haystack does not answer the question
LABELS = {"relevance": "1: what the answer is drawn from, 0: anything else"}
UNPROVEN = (
    "types of edges, shapes of paths, roles and contradictions: its labels only name sessions and turns",
    "what an earlier question leaves behind in a memory: every question has a history of its own",
)
LISTED = 20  # the most names in a warning; the others are counted
_MOMENT = re.compile(r"(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:\D+?(\d{1,2}):(\d{2}))?")


class _ChatTurn(msgspec.Struct, frozen=True):
    role: str
    content: str
    has_answer: bool | None = None


class _HaystackQuestion(msgspec.Struct, frozen=True):
    """A question of the official file."""

    question_id: str
    question_type: str
    question: str
    haystack_session_ids: list[str]
    haystack_sessions: list[list[_ChatTurn]]
    answer_session_ids: list[str]
    answer: str | int | float | None = None
    question_date: str | None = None
    haystack_dates: list[str | None] = []


class _SessionReference(msgspec.Struct, frozen=True):
    session_id: str
    timestamp: str | None = None


class _FolderQuestion(msgspec.Struct, frozen=True):
    """A question of a folder. Its haystack names sessions, which are in another file."""

    question_id: str
    question_type: str
    question: str
    answer_session_ids: list[str]
    haystack: list[_SessionReference]
    answer: str | int | float | None = None
    question_date: str | None = None
    abstention: bool = False


class _SessionText(msgspec.Struct, frozen=True):
    session_id: str
    text: str
    truncated: bool = False


@dataclass(frozen=True)
class _ChatSession:
    session_id: str
    date: str | None
    turns: Sequence[_ChatTurn]


@dataclass
class _HaystackContent:
    """The passages, items and faults of all questions read so far."""

    passages: list[Passage] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)  # answer sessions that are not in their haystack
    doubled: list[str] = field(default_factory=list)  # sessions that are in one haystack twice
    unlabelled: list[str] = field(default_factory=list)  # questions without a relevant passage
    texts: dict[str, str] = field(default_factory=dict)  # so that equal texts are stored once
    assistant: bool = False

    def warnings(self) -> list[str]:
        faults = (
            ("answer sessions are not in the haystack of their question", self.absent),
            ("sessions are in one haystack more than once and are kept once", self.doubled),
            ("questions have no label to be scored by", self.unlabelled),
        )
        return [counted_warning(what, names) for what, names in faults if names]


@dataclass(frozen=True)
class LongMemEval:
    """LongMemEval, with sessions or turns as passages. `turns="user"` leaves out the turns of the assistant.

    The published retrieval results index only the turns of the user. But some questions ask for what the
    assistant said, so all turns are the default here.
    """

    path: str
    unit: Literal["session", "turn"] = "session"
    turns: Literal["all", "user"] = "all"
    limit: Annotated[int, msgspec.Meta(ge=1)] | None = None

    def load(self, kit: Kit) -> Dataset:
        path, found = kit.path(self.path), _HaystackContent()
        unproven = self._folder(path, found) if path.is_dir() else self._release(path, found)
        return Dataset(
            "longmemeval",
            Corpus(found.passages),
            found.items,
            LABELS,
            found.warnings(),
            layer="public",
            unproven=(*release_doubts(path), *unproven, *UNPROVEN),
        )

    # ------------------------------------------------------------------------------ the two forms

    def _release(self, path: Path, found: _HaystackContent) -> tuple[str, ...]:
        """Reads the official file. Returns what this file does not prove, beyond `UNPROVEN`."""
        decode = msgspec.json.Decoder(_HaystackQuestion).decode
        problems: list[Problem] = []
        # decoded one at a time: raw records are views of the file, and a release has 280 MB
        for place, raw in read_release(path, msgspec.Raw, limit=self.limit):
            try:
                question = decode(raw)
            except REFUSED as error:
                problems.append(decoding_problem(error, *place))
                continue
            if uneven := _uneven(question):
                fix = "Give every session its id and its date."
                problems.append(Problem(uneven, place.file, place.line, "haystack_sessions", fix))
            elif not problems:
                dates = question.haystack_dates or [None] * len(question.haystack_session_ids)
                rows = zip(question.haystack_session_ids, dates, question.haystack_sessions, strict=True)
                self._add(question, [_ChatSession(*row) for row in rows], found)
        if problems:
            raise DataError(problems)
        if found.assistant:
            return ()
        return ("what the assistant said: no session has a turn of its",)

    def _folder(self, path: Path, found: _HaystackContent) -> tuple[str, ...]:
        reader = FolderReader(path)
        asked = reader.jsonl(
            reader.need("questions.jsonl"), msgspec.json.Decoder(_FolderQuestion).decode, key="question_id"
        )
        stored = reader.jsonl(
            reader.need("sessions.jsonl"), msgspec.json.Decoder(_SessionText).decode, key="session_id"
        )
        if self.unit == "turn":
            fix = "Write unit=session, or read the official file."
            reader.problems.append(Problem("its sessions are whole texts without turns", str(path), fix=fix))
        texts = {each.session_id: each for each in stored.records}
        for line, question in asked:
            reader.problems += (
                Problem(f"there is no session {each.session_id!r}", asked.where, line, "haystack")
                for each in question.haystack
                if each.session_id not in texts
            )
        reader.finish()
        turns = {name: [_ChatTurn("user", each.text)] for name, each in texts.items()}
        for question in asked.records[: self.limit]:
            rows = [
                _ChatSession(at.session_id, at.timestamp, turns[at.session_id]) for at in question.haystack
            ]
            self._add(question, rows, found)
        return _derived(stored.records)

    # --------------------------------------------------------------------------------- a question

    def _add(
        self,
        asked: _HaystackQuestion | _FolderQuestion,
        haystack: Sequence[_ChatSession],
        found: _HaystackContent,
    ) -> None:
        """Adds the passages of a haystack, and the item that asks about them."""
        scope: dict[str, None] = {}
        gold: dict[str, float] = {}
        present = {session.session_id for session in haystack}
        named = set(asked.answer_session_ids)
        found.absent += (
            f"{asked.question_id}: {each}" for each in asked.answer_session_ids if each not in present
        )
        for session in _by_date(haystack):
            base = f"{asked.question_id}/{session.session_id}"
            found.assistant |= any(turn.role != "user" for turn in session.turns)
            for doc_id, text, relevant in self._units(base, session, session.session_id in named):
                if doc_id in scope:
                    found.doubled.append(doc_id)
                    continue
                scope[doc_id] = None
                if relevant:
                    gold[doc_id] = 1.0
                found.passages.append(_passage(doc_id, found.texts.setdefault(text, text), asked, session))
        item = _item(asked, list(scope), gold)
        found.items.append(item)
        if not gold and item.expects is None:
            found.unlabelled.append(asked.question_id)

    def _units(self, base: str, session: _ChatSession, answers: bool) -> Iterator[tuple[str, str, bool]]:
        """Yields the units of a session: id, text, and whether the answer is in the unit."""
        turns = [
            (n, turn) for n, turn in enumerate(session.turns, 1) if self.turns == "all" or turn.role == "user"
        ]
        if self.unit == "turn":
            for n, turn in turns:
                yield f"{base}:{n}", f"{turn.role}: {turn.content}", answers and bool(turn.has_answer)
        elif any(turn.role != "user" for _, turn in turns):
            yield base, "\n".join(f"{turn.role}: {turn.content}" for _, turn in turns), answers
        else:
            yield base, "\n".join(turn.content for _, turn in turns), answers


def _passage(
    doc_id: str, text: str, asked: _HaystackQuestion | _FolderQuestion, session: _ChatSession
) -> Passage:
    metadata = {"pack": PACK, "session": session.session_id}
    if session.date:
        metadata["date"] = iso_date(session.date) or session.date
    return Passage(doc_id, text, source=asked.question_id, section=session.session_id, metadata=metadata)


def _item(asked: _HaystackQuestion | _FolderQuestion, scope: list[str], gold: dict[str, float]) -> Item:
    abstains = asked.question_id.endswith(ABSTAINS) or (
        isinstance(asked, _FolderQuestion) and asked.abstention
    )
    tags = {
        "type": [asked.question_type],
        "abstention": ["yes" if abstains else "no"],
        "dataset": ["longmemeval"],
        "multi_hop": ["yes" if asked.question_type == "multi-session" else "no"],
    }
    return Item(
        asked.question_id,
        asked.question,
        tags=tags,
        gold={
            "relevant": gold,
            **({} if asked.answer is None else {"answers": [str(asked.answer)]}),
            **({"question_date": asked.question_date} if asked.question_date else {}),
        },
        expects="nothing" if abstains else None,
        scope=scope,
    )


def _uneven(question: _HaystackQuestion) -> str:
    """Returns why the ids, dates and sessions of a haystack differ in number; empty if they do not."""
    ids, sessions = len(question.haystack_session_ids), len(question.haystack_sessions)
    dates = len(question.haystack_dates)
    if ids == sessions and dates in (0, ids):
        return ""
    return f"{question.question_id!r} has {ids} session ids, {sessions} sessions and {dates} dates"


def _derived(stored: Sequence[_SessionText]) -> tuple[str, ...]:
    """Returns what sessions that are stored as plain texts cannot prove."""
    plain = "who said what: its sessions are plain texts without turns"
    if not (cut := [each for each in stored if each.truncated]):
        return (plain,)
    longest = max(len(each.text) for each in cut)
    short = f"{len(cut):,} of {len(stored):,} sessions are cut at {longest} characters"
    return (f"published LongMemEval scores: {short}, and an answer may lie beyond the cut", plain)


def _by_date(haystack: Sequence[_ChatSession]) -> list[_ChatSession]:
    """Returns the sessions in the order of their dates.

    A session without a date stays behind the session before it in the haystack.
    """
    known, keys = "", []
    for session in haystack:
        known = iso_date(session.date or "") or known
        keys.append(known)
    return [haystack[index] for index in sorted(range(len(haystack)), key=keys.__getitem__)]


def iso_date(text: str) -> str | None:
    """Returns a date such as `2023/05/20 (Sat) 02:21` as 2023-05-20T02:21; None if there is no date."""
    if (found := _MOMENT.search(text)) is None:
        return None
    year, month, day, hour, minute = found.groups()
    date = f"{year}-{month:>02}-{day:>02}"
    return f"{date}T{hour:>02}:{minute}" if hour else date


def counted_warning(what: str, names: Sequence[str]) -> str:
    """Returns a warning that says how many names there are, and lists the first of them."""
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return f"{len(names)} {what}: {'; '.join(names[:LISTED])}{more}."
