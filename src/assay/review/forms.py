"""Reads review forms. A review form is a YAML file for one query, which a person fills in.

People's files are untidy: a judgment in any case, a name still missing, fields that Assay does not know. Text
that can have only one meaning is understood. Nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from assay.core.errors import DataError, Problem
from assay.core.protocols import ItemFact
from assay.core.yaml_lines import Lines, Loc, read_yaml
from assay.measures.marks import GRADES

AUTO = "[AUTO]"  # begins the notes of a row that a rule filled in
DONE = "[DONE]"  # begins the notes of a row that a person judged before

_DATES = ("%Y/%m/%d", "%d.%m.%Y")
BLANKS = frozenset({"", "TODO", "?"})
_NOBODY = frozenset({"", "your name", "your name here", "name", "reviewer", "reviewer name", "todo", "?"})
_WRAPPING = "\"'`‘’“”«» \t\r\n"
_SECTION = re.compile(r"\[[^\]]*\] ?")
_BREAKS = re.compile(r"[\s_\-‐‑–—]+")  # what people write between the two words of a mark

_REASON = re.compile(r"; (\w+): ")  # the beginning of a further reason


@dataclass(frozen=True)
class FormRow:
    """A row of a form: a passage to judge, and the judgment and notes on it."""

    doc_id: str
    text: str = ""
    preview: str = ""  # the beginning of the text, if the form shows no more
    judgment: str = ""
    notes: str = ""
    document: str = ""
    section: str = ""
    rank: int | None = None
    score: float | None = None

    @property
    def tag(self) -> str:
        """`AUTO` or `DONE` if an export filled the row in, even if the row was changed since; else empty."""
        return next((tag for tag in (AUTO, DONE) if self.notes.lstrip().startswith(tag)), "")

    def outdated(self, text: str) -> str | None:
        """Returns the name of the field whose text differs from the passage; None if no text differs.

        Spaces and line ends do not count.
        """
        whole = collapse_spaces(text)
        if not any(shown in {"", whole} for shown in _shown(self.text)):
            return "text"
        previews = _shown(self.preview)
        previews += [shown.removesuffix("...").removesuffix("…").rstrip() for shown in previews]
        return None if any(whole.startswith(shown) for shown in previews) else "text_preview"


@dataclass(frozen=True)
class ReviewForm:
    """A form with the passages of one query, for one person to judge.

    A form of a single model is not blind.
    """

    item_id: str
    rows: tuple[FormRow, ...]
    text: str = ""
    model: str | None = None
    category: str = ""
    difficulty: str = ""
    reviewer: str = ""
    review_date: str = ""
    complete: bool = False
    facts: tuple[ItemFact, ...] = field(default=(), compare=False)  # shown to the person; not read back
    lines: Lines = field(default_factory=lambda: Lines(""), compare=False, repr=False)

    @property
    def signed(self) -> str:
        """The name of the reviewer; empty if the field is empty or still has its placeholder."""
        name = collapse_spaces(self.reviewer)
        return "" if name.strip("[]<>()_ ").lower() in _NOBODY else name

    @property
    def time(self) -> float | None:
        """The review's date in seconds since 1970; None if it cannot be read.

        Without a time zone it is read as UTC.
        """
        date = self.review_date.strip()
        for way in (None, *_DATES):
            try:
                found = datetime.strptime(date, way) if way else datetime.fromisoformat(date)
                return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
            except (ValueError, OverflowError):
                continue
        return None

    def problem(self, index: int, name: str, what: str, fix: str = "") -> Problem:
        """Returns a problem with a field of a row."""
        return self.lines.problem(("results", index, name), what, fix)

    @property
    def unfinished(self) -> str | None:
        """A note if the form is marked complete although judgments are blank; else None."""
        blank = [index for index, row in enumerate(self.rows) if parse_mark(row.judgment) == ""]
        if not self.complete or not blank:
            return None
        what = f"the form says that it is complete; judgments left blank: {len(blank)}."
        return f"{self.place(blank[0])}: {what}"

    def query_changed(self, now: str) -> Problem | None:
        """Returns a problem if the form shows another query than `now`.

        A form that shows no query is taken as a form about the current query.
        """
        if collapse_spaces(self.text) in {"", collapse_spaces(now)}:
            return None
        what = f"the query has changed since the form was written: it reads {now!r} now"
        fix = "Export the form again, and judge for the query as it is now."
        return self.lines.problem(("query", "text"), what, fix)

    def text_changed(self, index: int, now: str) -> Problem | None:
        """Returns a problem if the row shows another text than `now`."""
        if (name := self.rows[index].outdated(now)) is None:
            return None
        what = "the text has changed since the form was written"
        return self.problem(index, name, what, "Export the form again, and judge the text as it is now.")

    def place(self, index: int) -> str:
        """Returns the place of a row, as file and line."""
        line = self.lines.of(("results", index))
        return self.lines.where if line is None else f"{self.lines.where}:{line}"


def collapse_spaces(text: str) -> str:
    """Returns the text with one space in place of each stretch of spaces and line ends."""
    return " ".join(text.split())


def _shown(text: str) -> list[str]:
    """Returns the text. If the text begins with a section's name, also returns it without that name."""
    found = collapse_spaces(text)
    return [found, _SECTION.sub("", found, count=1)] if _SECTION.match(found) else [found]


def parse_mark(judgment: str) -> str | None:
    """Returns the mark for a judgment as a person wrote it.

    It is empty if the judgment is blank, and None if the judgment has no known meaning.
    """
    word = judgment.strip(_WRAPPING).upper()
    mark = _BREAKS.sub("_", word)
    if mark in GRADES:
        return mark
    return "" if word in BLANKS else None


def reviewer_notes(notes: str, filled: str = AUTO, reasons: Collection[str] = ()) -> str:
    """Returns the notes that the reviewer wrote; empty if the notes are only what a rule filled in."""
    own = notes.strip().removeprefix(DONE).strip()
    return "" if collapse_spaces(own) == collapse_spaces(filled) else added_notes(own, filled, reasons) or own


def added_notes(notes: str, filled: str, reasons: Collection[str] = ()) -> str:
    """Returns what a person wrote after the notes of a rule; empty if that is not certain.

    `reasons` are the words with which the reasons of rules begin. The notes may hold a reason that its rule
    no longer gives.
    """
    own, known = collapse_spaces(notes), collapse_spaces(filled)
    # Other programs write [AUTO] too: the words after a tag without a reason may be theirs.
    if known == AUTO or not own.startswith(known):
        return ""
    rest = own[len(known) :]
    further = _REASON.match(rest)
    if re.match(r"\w", rest) or (further is not None and further[1] in reasons):
        return ""
    return rest.lstrip(" .,;:|/–—-")


# ---------------------------------------------------------------------------------- reading


def read_forms(paths: Sequence[Path]) -> list[ReviewForm]:
    """Reads the forms in files and folders. Raises DataError with every problem of every file."""
    problems: list[Problem] = []
    forms: list[ReviewForm] = []
    for path in _files(paths, problems):
        try:
            forms.append(read_form(path))
        except DataError as error:
            problems += error.problems
    if problems:
        raise DataError(problems)
    return forms


def _files(paths: Sequence[Path], problems: list[Problem]) -> list[Path]:
    found: dict[Path, Path] = {}  # by file: a file that is named twice is read once
    for path in paths:
        files = [path]
        if path.is_dir():
            below = (each for each in path.rglob("[!.]*") if each.suffix.lower() in {".yaml", ".yml"})
            files = sorted(each for each in below if each.is_file())
            if not files:
                fix = "Name the folder that the forms were exported to."
                problems.append(Problem("the folder holds no YAML file", str(path), fix=fix))
        for each in files:
            found.setdefault(each.resolve(), each)
    return list(found.values())


def read_form(path: Path) -> ReviewForm:
    """Reads the form in one file."""
    content, lines = read_yaml(path)
    if not isinstance(content, dict):
        fix = "Export the form again, or name another file."
        raise DataError(Problem("this is not a review form", str(path), 1, fix=fix))
    problems: list[Problem] = []
    form = _form(content, lines, problems)
    if problems:
        raise DataError(problems)
    return form


@dataclass(frozen=True)
class _Fields:
    """A mapping of a form. Its fields are read one by one, and their problems are collected."""

    content: Mapping[str, Any]
    loc: Loc
    lines: Lines
    problems: list[Problem]

    def part(self, name: str) -> _Fields:
        """Returns the mapping under a name; an empty one if there is none."""
        value = self.content.get(name)
        if value is not None and not isinstance(value, dict):
            self._wrong(name, "is not a mapping of fields", "Write it as the exported form has it.")
        return _Fields(value if isinstance(value, dict) else {}, (*self.loc, name), self.lines, self.problems)

    def word(self, name: str, *, needed: bool = False) -> str:
        """Returns the text of a field.

        A number becomes its digits, and a list of one entry becomes that entry.
        """
        value = self.content.get(name)
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        if isinstance(value, dict | list):
            self._wrong(name, "is not a text", "Write one text there, in quotes if need be.")
            return ""
        text = "" if value is None else str(value)
        if needed and not text.strip():
            self._wrong(name, "the field is missing or empty", "Copy it from the exported form.")
        return text

    def number(self, name: str) -> Any:
        value = self.content.get(name)
        return value if type(value) in {int, float} else None

    def _wrong(self, name: str, what: str, fix: str) -> None:
        self.problems.append(self.lines.problem((*self.loc, name), what, fix))


def _form(content: Mapping[str, Any], lines: Lines, problems: list[Problem]) -> ReviewForm:
    top = _Fields(content, (), lines, problems)
    flat = "metadata" not in content and "query_id" in content  # as short templates have it
    head = top if flat else top.part("metadata")
    asked = content.get("query")
    query = _Fields({"text": asked}, (), lines, problems) if isinstance(asked, str) else top.part("query")
    rows = content.get("results")
    if not isinstance(rows, list):
        fix = "Copy the list from the exported form."
        problems.append(lines.problem(("results",), "the list of results is missing", fix))
        rows = []
    return ReviewForm(
        item_id=head.word("query_id", needed=True),
        rows=tuple(_read_row(row, index, top) for index, row in enumerate(rows)),
        text=query.word("text"),
        model=head.word("model") or None,
        category=head.word("category"),
        difficulty=head.word("difficulty"),
        reviewer=head.word("reviewer"),
        review_date=head.word("review_date") or head.word("date"),
        complete=head.word("review_complete").strip().lower() in {"true", "yes"},
        lines=lines,
    )


def _read_row(content: Any, index: int, form: _Fields) -> FormRow:
    loc: Loc = ("results", index)
    if not isinstance(content, dict):
        fix = "Write chunk_id, judgment and notes, as the exported form has them."
        form.problems.append(form.lines.problem(loc, "is not a mapping of fields", fix))
        return FormRow("")
    fields = _Fields(content, loc, form.lines, form.problems)
    return FormRow(
        doc_id=fields.word("chunk_id", needed=True),
        text=fields.word("text"),
        preview=fields.word("text_preview"),
        judgment=fields.word("judgment"),
        notes=fields.word("notes"),
        document=fields.word("report_id"),
        section=fields.word("section_name"),
        rank=fields.number("rank"),
        score=fields.number("score"),
    )
