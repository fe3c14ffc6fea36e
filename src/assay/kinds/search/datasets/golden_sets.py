"""The files of a golden set as they were read: every entry as written, those in order, and their places."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from assay.core.dataset import Place
from assay.core.errors import Problem
from assay.core.yaml_lines import FileProblems, Lines
from assay.kinds.search.datasets.golden_corpus import Books
from assay.kinds.search.datasets.golden_entry import Entry, astray, name_of

_NAME = re.compile(r"golden-set-(?P<language>[A-Za-z]{2,3}(-[A-Za-z0-9]+)*)\.json")


class SetFile(NamedTuple):
    """One file of a golden set: all entries as written, and by their index those that are in order."""

    path: Path
    language: str
    raw: list[Any]
    entries: dict[int, Entry]
    lines: Lines

    def place(self, index: int) -> Place:
        """Where the entry of that index stands."""
        return Place(self.lines.where, self.lines.of((index,)))

    def problem(self, index: int, inner: Sequence[str | int], what: str, fix: str) -> Problem:
        """A problem at a field of the entry of that index."""
        found = FileProblems(self.lines)
        found.wrong((index,), tuple(inner), what, fix, name_of(self.raw[index]))
        return found.problems[0]


class Sets(NamedTuple):
    """Every file of a golden set that could be read, and all that is wrong within and across them."""

    files: list[SetFile]
    unread: list[Path]  # those that are no JSON, or no list
    problems: list[Problem]

    @property
    def places(self) -> dict[str, Place]:
        """Where each id stands, whether its entry is in order or not; the first counts."""
        return {name: file.place(index) for name, (file, index) in self.found.items()}

    @property
    def found(self) -> dict[str, tuple[SetFile, int]]:
        """The file of each id and its index there; the first counts."""
        found: dict[str, tuple[SetFile, int]] = {}
        for file in self.files:
            for index, raw in enumerate(file.raw):
                found.setdefault(name_of(raw), (file, index))
        found.pop("", None)
        return found

    def entries(self) -> Iterator[tuple[SetFile, int, Entry]]:
        """Every entry that is in order, with its file and its index there."""
        for file in self.files:
            yield from ((file, index, entry) for index, entry in file.entries.items())


def strays(sets: Sets, books: Books) -> list[Problem]:
    """Expected passages from books or chapters that the corpus does not have."""
    if not books.documents:
        return []
    return [
        file.problem(index, inner, what, fix)
        for file, index, entry in sets.entries()
        for inner, what, fix in astray(entry, books)
    ]


def doubled(sets: Sets) -> Iterator[Problem]:
    """Ids that stand at two places."""
    first: dict[str, Place] = {}
    for file in sets.files:
        for index, raw in enumerate(file.raw):
            if (name := name_of(raw)) in first:
                what = f"the id stands at {first[name].file}:{first[name].line} already"
                fix = "Ids are never used twice: take the next free number."
                yield file.problem(index, ("id",), what, fix)
            elif name:
                first[name] = file.place(index)


def language_of(path: Path, content: list[Any]) -> str:
    """The language in the file's name, golden-set-LANGUAGE.json; under another name, that of most entries."""
    if named := _NAME.fullmatch(path.name):
        return named["language"]
    given = (raw.get("language") for raw in content if isinstance(raw, dict))
    spoken = Counter(language for language in given if isinstance(language, str))
    return spoken.most_common(1)[0][0] if spoken else ""
