"""The queries of a golden set in JSON: their fields, their rules, and the files that hold them.

    {"id": "en-direct-001", "query": "…", "language": "en", "category": "direct",
     "expected_passages": [{"book_slug": "…", "chapter_number": 12,
                            "passage_substring": "…", "relevance": "high"}],
     "expected_routing": "search", "notes": "…"}

Optional: retrieval_intent, expected_flags, themes, notes, added.
"""

from __future__ import annotations

import re
import reprlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

import msgspec
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic import ValidationError as Invalid

from assay.core.dataset import Place
from assay.core.errors import Problem, did_you_mean
from assay.core.records import NO_RESULTS
from assay.core.yaml_lines import FileProblems, FilledText, Lines, Loc
from assay.kinds.search.golden.corpus import Books

Model = TypeVar("Model", bound=BaseModel)
HIGH, PARTIAL = "high", "partial"
MOST_PASSAGES = 3

Words = Annotated[
    list[FilledText], BeforeValidator(lambda value: [value] if isinstance(value, str) else value)
]


def _flags(value: Any) -> Any:
    """Turns a list of names into flags that are all expected."""
    names = value if isinstance(value, list) and all(isinstance(each, str) for each in value) else None
    return value if names is None else dict.fromkeys(names, True)


class Category(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the queries of a category are judged, and how many of them the main language must have."""

    by: Literal["passages", "route", "intent"] = "passages"
    count: Annotated[int, msgspec.Meta(ge=0)] | None = None
    withhold: bool = False  # its queries must never get forbidden text


class ExpectedPassage(BaseModel):
    """A passage that a good search finds: a book, possibly a chapter, and words from it."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    book_slug: FilledText
    chapter_number: Annotated[int, Field(ge=0)] | None = None
    passage_substring: FilledText
    relevance: Literal["high", "partial"]


class WithheldText(BaseModel):
    """Text that queries of a withholding category must never get: a book, a chapter, or words from it."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    book_slug: FilledText
    chapter_number: Annotated[int, Field(ge=0)] | None = None
    passage_substring: FilledText | None = None


class GoldenEntry(BaseModel):
    """A query as it is in the file."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    id: FilledText
    query: FilledText
    language: FilledText
    category: FilledText
    expected_passages: list[ExpectedPassage]
    expected_routing: FilledText
    retrieval_intent: FilledText | None = None
    expected_flags: Annotated[dict[str, bool], BeforeValidator(_flags)] = {}
    themes: Words = []
    notes: str = ""
    added: FilledText | None = None


_SOME_TEXT = ("some text", "Write it in quotes.")
_EXPECTED = {  # what a field holds, and how to correct it; other fields hold text
    "chapter_number": ("a whole number from 0", "Write a number such as 12, or leave the field out."),
    "relevance": ("'high' or 'partial'", "Write one of the two."),
    "expected_passages": ("a list of passages", "Write [] where none is expected."),
    "expected_flags": ("names of flags, or a mapping of names to true or false", 'Write ["a_name"].'),
    "themes": ("a list of words", 'Write ["a theme"].'),
}


@dataclass(frozen=True)
class Vocabulary:
    """The categories, routes and intents that a golden set may use, and the length of its anchors."""

    categories: Mapping[str, Category]
    routes: tuple[str, ...]
    intents: tuple[str, ...]
    words: tuple[int, int]


def read_entry(raw: Any, loc: Loc, found: FileProblems, vocabulary: Vocabulary) -> GoldenEntry | None:
    """Parses an entry. Returns None if the entry has problems, and collects all of them.

    A field with the value null counts as absent.
    """
    entry = parse_fields(GoldenEntry, raw, loc, found)
    broken = [] if entry is None else list(_check_rules(entry, vocabulary))
    for inner, what, fix in broken:
        found.wrong(loc, inner, what, fix, entry_id(raw))
    return None if broken else entry


def parse_fields(model: type[Model], raw: Any, loc: Loc, found: FileProblems) -> Model | None:
    """Parses a JSON object as a model. Returns None if its fields have problems, and collects them."""
    if not isinstance(raw, dict):
        known = ", ".join(name for name, each in model.model_fields.items() if each.is_required())
        found.wrong(loc, (), f"expected an object, found {_shown(raw)}", f"Write {{…}} with {known}.")
        return None
    try:
        return model.model_validate(_without_nulls(raw))
    except Invalid as error:
        for each in error.errors(include_url=False):
            what, fix = _explain(model, each["type"], each["loc"], each["input"])
            found.wrong(loc, each["loc"], what, fix, entry_id(raw))
    return None


def entry_id(raw: Any) -> str:
    """Returns the id of an entry as it is written; an empty text if the entry has no id."""
    item_id = raw.get("id") if isinstance(raw, dict) else None
    return item_id.strip() if isinstance(item_id, str) else ""


def id_number(item_id: str, language: str, category: str) -> int | None:
    """Returns the number in an id LANGUAGE-CATEGORY-NNN.

    Returns None if the id does not have this form, or has another language or category.
    """
    start = f"{language}-{category}-"
    number = item_id.removeprefix(start)
    sound = item_id.startswith(start) and 3 <= len(number) <= 9 and number.isascii() and number.isdigit()
    return int(number) if sound else None


def anchor_location(index: int) -> Loc:
    """Returns the location of an anchor in its entry."""
    return "expected_passages", index, "passage_substring"


def unknown_books(entry: GoldenEntry, books: Books) -> Iterator[tuple[Loc, str, str]]:
    """Yields expected passages whose book or chapter is not in the corpus in the language of the entry."""
    for index, one in enumerate(entry.expected_passages):
        if lacking := books.absent(entry.language, one.book_slug, one.chapter_number):
            where, what, fix = lacking
            yield ("expected_passages", index, where), what, fix


def _without_nulls(raw: dict[str, Any]) -> dict[str, Any]:
    given = {key: value for key, value in raw.items() if value is not None}
    if isinstance(listed := given.get("expected_passages"), list):
        given["expected_passages"] = [
            {key: value for key, value in each.items() if value is not None}
            if isinstance(each, dict)
            else each
            for each in listed
        ]
    return given


def _explain(model: type[BaseModel], kind: str, loc: Loc, given: Any) -> tuple[str, str]:
    named = [part for part in loc if isinstance(part, str)]
    if kind == "missing":
        return "this field is required", "Add it."
    if kind == "string_too_short":
        return "it is empty", "Fill it in."
    if kind == "extra_forbidden":
        within = ExpectedPassage if named[0] == "expected_passages" else model
        return "there is no such field", did_you_mean(named[-1], within.model_fields)
    # a key inside a mapping of flags is not a field
    last = named[0] if named[0] == "expected_flags" else named[-1]
    expected, fix = _EXPECTED.get(last, _SOME_TEXT)
    if last == "expected_passages" and len(loc) > 1:
        expected, fix = "a passage with its fields", "Write {…} with book_slug and passage_substring."
    return f"expected {expected}, found {_shown(given)}", fix


def _shown(value: Any) -> str:
    shown = "nothing" if value is None else reprlib.repr(value)
    return shown.encode(errors="backslashreplace").decode()


# --------------------------------------------------------------------------------- the rules


def _check_rules(entry: GoldenEntry, vocabulary: Vocabulary) -> Iterator[tuple[Loc, str, str]]:
    yield from _check_vocabulary(entry, vocabulary)
    if (category := vocabulary.categories.get(entry.category)) is not None:
        yield from _check_decidable(entry, category)
        if id_number(entry.id, entry.language, entry.category) is None:
            start = f"{entry.language}-{entry.category}-"
            what = f"the id of an item of this language and category is {start}NNN"
            yield ("id",), what, f"Write {start} and a number of three digits."
    if len(entry.expected_passages) > MOST_PASSAGES:
        what = f"{len(entry.expected_passages)} passages are expected, {MOST_PASSAGES} at most may be"
        yield ("expected_passages",), what, "Keep those that answer best."
    yield from _check_anchor_lengths(entry, vocabulary.words)


def _check_vocabulary(entry: GoldenEntry, vocabulary: Vocabulary) -> Iterator[tuple[Loc, str, str]]:
    known = {
        "category": vocabulary.categories,
        "expected_routing": vocabulary.routes,
        "retrieval_intent": vocabulary.intents,
    }
    words = {"category": "category", "expected_routing": "route", "retrieval_intent": "intent"}
    for name, choices in known.items():
        value = getattr(entry, name)
        if value is not None and value not in choices:
            yield (name,), f"there is no {words[name]} {value!r}", did_you_mean(value, choices)


def _check_decidable(entry: GoldenEntry, category: Category) -> Iterator[tuple[Loc, str, str]]:
    """Yields the reasons why right answers to an entry cannot be distinguished from wrong ones."""
    none = entry.expected_routing == NO_RESULTS
    if category.by == "passages" and HIGH not in {each.relevance for each in entry.expected_passages}:
        what = f"{entry.category!r} is decided by passages, and none of high relevance is given"
        yield ("expected_passages",), what, "Add the passage that answers the query."
    if category.by == "intent" and entry.retrieval_intent is None:
        what = f"{entry.category!r} is decided by intent, and none is given"
        yield ("retrieval_intent",), what, "Add it."
    if none and category.by != "route":
        what = f"{entry.category!r} is decided by {category.by}, so results are expected"
        yield ("expected_routing",), what, "Write another route."
    elif none and entry.expected_passages:
        what = "passages are expected, and no results"
        yield ("expected_passages",), what, "Keep one of the two."


def _check_anchor_lengths(entry: GoldenEntry, words: tuple[int, int]) -> Iterator[tuple[Loc, str, str]]:
    least, most = words
    for index, each in enumerate(entry.expected_passages):
        count = len(each.passage_substring.split())
        if not least <= count <= most:
            what = f"the substring has {count} words; it takes {least} to {most}"
            fix = "Quote more of the passage." if count < least else "Quote less of the passage."
            yield anchor_location(index), what, fix


_NAME = re.compile(r"golden-set-(?P<language>[A-Za-z]{2,3}(-[A-Za-z0-9]+)*)\.json")


class GoldenFile(NamedTuple):
    """A file of a golden set: all entries as they are written, and the valid entries by their index."""

    path: Path
    language: str
    raw: list[Any]
    entries: dict[int, GoldenEntry]
    lines: Lines

    def place(self, index: int) -> Place:
        """Returns the place of the entry with that index."""
        return Place(self.lines.where, self.lines.of((index,)))

    def problem(self, index: int, inner: Sequence[str | int], what: str, fix: str) -> Problem:
        """Returns a problem at a field of the entry with that index."""
        found = FileProblems(self.lines)
        found.wrong((index,), tuple(inner), what, fix, entry_id(self.raw[index]))
        return found.problems[0]


class GoldenSets(NamedTuple):
    """The readable files of a golden set, and the problems within the files and between them."""

    files: list[GoldenFile]
    unread: list[Path]  # not JSON, or not a list
    problems: list[Problem]

    @property
    def places(self) -> dict[str, Place]:
        """The place of each id, also of invalid entries. If an id occurs twice, its first place counts."""
        return {name: file.place(index) for name, (file, index) in self.found.items()}

    @property
    def found(self) -> dict[str, tuple[GoldenFile, int]]:
        """The file of each id, and the index in that file. If an id occurs twice, its first place counts."""
        found: dict[str, tuple[GoldenFile, int]] = {}
        for file in self.files:
            for index, raw in enumerate(file.raw):
                found.setdefault(entry_id(raw), (file, index))
        found.pop("", None)
        return found

    def entries(self) -> Iterator[tuple[GoldenFile, int, GoldenEntry]]:
        """Yields every valid entry, with its file and its index."""
        for file in self.files:
            yield from ((file, index, entry) for index, entry in file.entries.items())


def check_books(sets: GoldenSets, books: Books) -> list[Problem]:
    """Returns the problems of passages from books or chapters that the corpus does not have."""
    if not books.documents:
        return []
    return [
        file.problem(index, inner, what, fix)
        for file, index, entry in sets.entries()
        for inner, what, fix in unknown_books(entry, books)
    ]


def repeated_ids(sets: GoldenSets) -> Iterator[Problem]:
    """Yields a problem for each id that is used again."""
    first: dict[str, Place] = {}
    for file in sets.files:
        for index, raw in enumerate(file.raw):
            if (name := entry_id(raw)) in first:
                what = f"the id stands at {first[name].file}:{first[name].line} already"
                fix = "Ids are never used twice: take the next free number."
                yield file.problem(index, ("id",), what, fix)
            elif name:
                first[name] = file.place(index)


def language_of(path: Path, content: list[Any]) -> str:
    """Returns the language of a file.

    It is in the name of the file (golden-set-LANGUAGE.json). A file with another name has the language of
    most of its entries.
    """
    if named := _NAME.fullmatch(path.name):
        return named["language"]
    given = (raw.get("language") for raw in content if isinstance(raw, dict))
    spoken = Counter(language for language in given if isinstance(language, str))
    return spoken.most_common(1)[0][0] if spoken else ""
