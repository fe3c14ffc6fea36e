"""Reads golden sets in JSON, one file for each language, over the chapters of books.

Each file is an array of queries (see `entry`). Their gold quotes words of a book, never the chunks of an
index, so documents can be cut again. All problems are reported at once.
"""

from __future__ import annotations

import glob
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import msgspec

from assay.core.dataset import Corpus, Dataset
from assay.core.errors import DataError, Problem
from assay.core.protocols import Kit
from assay.core.records import NO_RESULTS, Item
from assay.core.yaml_lines import FileProblems
from assay.datasets.reading import read_json
from assay.kinds.search.golden.corpus import Books, read_documents
from assay.kinds.search.golden.entry import (
    Category,
    GoldenEntry,
    GoldenFile,
    GoldenSets,
    Vocabulary,
    WithheldText,
    check_books,
    language_of,
    parse_fields,
    read_entry,
    repeated_ids,
)
from assay.kinds.search.golden.lock import changes_since_frozen

LABELS = {
    "relevance": "2: answers the query, 1: is on its subject, 0: neither",
    "intent": "1: meets the seeker as the query's intent asks, 0: does not",
    "forbidden": "1: text that this query must not be given",
}
_EXPECTS = {"passages": None, "route": "route", "intent": "intent"}


def _categories() -> dict[str, Category]:
    return {
        "direct": Category("passages", 10),
        "conceptual": Category("passages", 12),
        "emotional": Category("passages", 12),
        "metaphorical": Category("passages", 8),
        "technique_boundary": Category("route", 8, withhold=True),
        "dark_night": Category("intent", 8),
        "adversarial": Category("route", 8),
    }


@dataclass(frozen=True)
class Golden:
    """Golden sets over books. Their queries are judged by passages, by route or by intent.

    The category of a query decides how it is judged. `sets` is a glob or a list of files. `corpus` is a
    folder LANGUAGE/BOOK/NN.md or a documents.jsonl. `forbidden` is a file that lists text which no query of a
    withholding category may get. `main` is the language for which the counts are declared (default: the
    language of the first file). `words` is the smallest and the largest length of an anchor in words.
    `dominant` is the largest share of queries that may have the same theme.
    """

    sets: str | tuple[str, ...]
    corpus: str = ""
    forbidden: str = ""
    categories: dict[str, Category] = field(default_factory=_categories)
    routes: tuple[str, ...] = ("search", "practice_bridge", NO_RESULTS)
    intents: tuple[str, ...] = ("meet_first", "console")
    words: tuple[int, int] = (10, 40)
    main: str = ""
    dominant: Annotated[float, msgspec.Meta(gt=0, le=1)] = 0.4

    def __post_init__(self) -> None:
        if not 1 <= self.words[0] <= self.words[1]:
            raise ValueError(f"words: {list(self.words)} is not a range of lengths. Write [10, 40]")

    def load(self, kit: Kit) -> Dataset:
        sets, books = self.read(kit), Books({})
        problems = list(sets.problems)
        try:
            books = self.books(kit)
        except DataError as error:
            problems += error.problems
        forbidden, wrong = self.withheld(kit, books)
        problems += [*wrong, *check_books(sets, books)]
        if problems:
            raise DataError(problems)
        warnings = list(changes_since_frozen(kit.root, sets, self._named(sets)))
        items = [self._item(entry, forbidden) for _, _, entry in sets.entries()]
        corpus = Corpus((), books.documents)
        warnings += self._warnings(items)
        return Dataset("golden", corpus, items, LABELS, warnings, places=sets.places)

    @property
    def vocabulary(self) -> Vocabulary:
        """The categories, routes and intents that entries may use, and the length of anchors."""
        return Vocabulary(self.categories, self.routes, self.intents, self.words)

    def books(self, kit: Kit) -> Books:
        """Reads the corpus. It is empty if the study names none."""
        return Books(read_documents(kit.path(self.corpus)) if self.corpus else {})

    def patterns(self) -> tuple[str, ...]:
        """Returns the files and globs of the golden set in the study."""
        return (self.sets,) if isinstance(self.sets, str) else self.sets

    def _named(self, sets: GoldenSets) -> set[str] | None:
        """Returns the languages of the files that the study names; None if the study uses a glob."""
        return None if any(map(glob.has_magic, self.patterns())) else {file.language for file in sets.files}

    # ------------------------------------------------------------------------------ the files

    def read(self, kit: Kit) -> GoldenSets:
        """Reads every file of the golden set. Collects problems instead of raising them."""
        sets = GoldenSets([], [], [])
        for path in self._paths(kit, sets.problems):
            try:
                content, lines = read_json(path)
                if not isinstance(content, list):
                    what = "expected an array of queries"
                    raise DataError(Problem(what, str(path), 1, fix="Write [{…}, {…}]."))
            except DataError as error:
                sets.problems.extend(error.problems)
                sets.unread.append(path)
            else:
                sets.files.append(self._file(path, content, FileProblems(lines, sets.problems)))
        sets.problems.extend(repeated_ids(sets))
        sets.problems.sort(key=lambda problem: (problem.where, problem.line or 0))
        return sets

    def _paths(self, kit: Kit, problems: list[Problem]) -> list[Path]:
        paths: dict[Path, None] = {}
        for pattern in self.patterns():
            if not glob.has_magic(pattern):
                paths[kit.path(pattern)] = None
            elif matching := sorted(glob.glob(pattern, root_dir=kit.root)):
                paths.update(dict.fromkeys(map(kit.path, matching)))
            else:
                fix = "Check data.sets: it is relative to the study."
                problems.append(Problem("no golden set has this name", str(kit.path(pattern)), fix=fix))
        return list(paths)

    def _file(self, path: Path, content: list[Any], found: FileProblems) -> GoldenFile:
        if not content:
            found.wrong((), (), "the golden set is empty", "Add queries, or take the file out of data.sets.")
        language = language_of(path, content)
        entries = {}
        for index, raw in enumerate(content):
            if (entry := read_entry(raw, (index,), found, self.vocabulary)) is None:
                continue
            entries[index] = entry
            if entry.language != language:
                what = f"this file is in {language!r}"
                found.wrong((index,), ("language",), what, "Move the query to its language's file.", entry.id)
        return GoldenFile(path, language, content, entries, found.lines)

    def withheld(self, kit: Kit, books: Books) -> tuple[list[dict[str, Any]], list[Problem]]:
        """Returns the forbidden texts as gold, and the problems of the file that lists them."""
        if not self.forbidden:
            return [], []
        try:
            content, lines = read_json(kit.path(self.forbidden))
        except DataError as error:
            return [], list(error.problems)
        found, gold = FileProblems(lines), []
        if not isinstance(content, list) or not content:
            found.wrong((), (), "expected an array of texts that are withheld", 'Write [{"book_slug": "…"}].')
            return [], found.problems
        for index, raw in enumerate(content):
            if (one := parse_fields(WithheldText, raw, (index,), found)) is None:
                continue
            if books.documents and (lacking := books.absent(None, one.book_slug, one.chapter_number)):
                found.wrong((index,), lacking[:1], *lacking[1:])
            gold.append({"book": one.book_slug, "chapter": one.chapter_number, "text": one.passage_substring})
        return gold, found.problems

    # ------------------------------------------------------------------------------ the items

    def _item(self, entry: GoldenEntry, forbidden: Sequence[dict[str, Any]]) -> Item:
        category, intent = self.categories[entry.category], entry.retrieval_intent
        tags = {
            "category": [entry.category],
            "route": [entry.expected_routing],
            "theme": list(dict.fromkeys(entry.themes)),
            "intent": [intent] if intent else [],
        }
        gold: dict[str, Any] = {
            "anchors": [
                {
                    "book": one.book_slug,
                    "chapter": one.chapter_number,
                    "text": one.passage_substring,
                    "relevance": one.relevance,
                }
                for one in entry.expected_passages
            ],
            "route": entry.expected_routing,
            "flags": dict(entry.expected_flags),
            **({"intent": intent} if intent else {}),
            **({"forbidden": list(forbidden)} if category.withhold and forbidden else {}),
        }
        nothing = category.by == "route" and entry.expected_routing == NO_RESULTS
        return Item(
            entry.id,
            entry.query,
            entry.language,
            {key: values for key, values in tags.items() if values},
            gold,
            expects="nothing" if nothing else _EXPECTS[category.by],
            added=entry.added,
        )

    def _warnings(self, items: Sequence[Item]) -> list[str]:
        withholding = {name for name, each in self.categories.items() if each.withhold}
        if self.forbidden or not any(withholding & set(item.tags["category"]) for item in items):
            return []
        names = " and ".join(map(repr, sorted(withholding)))
        return [f"nothing says which text {names} must withhold. Name a file of it as data.forbidden."]
