"""What a golden set looks like, what is wrong with it, and what changed since an earlier version of it.

Refused: whatever its files say wrongly; an id that is gone or stands for something else; words of a passage
that are not in their book, or are there more than once; categories out of balance. Changed expectations,
queries that are nearly the same and a theme that dominates are told, and refuse nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean
from typing import Any, NamedTuple

import msgspec

from assay.core.dataset import Corpus
from assay.core.errors import DataError, Problem
from assay.core.records import QUOTED_GRADES, RELEVANCE
from assay.core.yaml_lines import Loc
from assay.kinds.search.datasets.golden_corpus import Books
from assay.kinds.search.datasets.golden_entry import Entry, anchor_loc, name_of
from assay.kinds.search.datasets.golden_json import Golden
from assay.kinds.search.datasets.golden_lock import Known, known
from assay.kinds.search.datasets.golden_sets import SetFile, Sets, strays
from assay.kinds.search.golden.content_words import ContentWords, alike
from assay.kinds.search.golden.earlier import Earlier, earlier_version
from assay.kinds.search.golden.opening import GoldenStudy
from assay.kinds.search.judges.anchor_index import Anchor, AnchorIndex
from assay.report.wording import shorten

SCHEMA = "assay/golden-check/1"
ENOUGH = 10  # queries: in fewer, one category is soon more than half
HALF = 0.5
_SHOWN = 60  # characters of a text in a message


class Theme(NamedTuple):
    """The most frequent theme of a language: the share of the queries with themes that have it."""

    theme: str
    share: float
    n: int


class Mean(NamedTuple):
    """A mean, and how many queries it is of."""

    value: float
    n: int


@dataclass(frozen=True)
class Checked:
    """What was found in a golden set. `against` is empty where no earlier version was there."""

    study: str
    against: str
    declared: dict[str, int]  # by category, for the main language
    counts: dict[str, dict[str, int]]  # by language and category
    new: list[str]  # ids that the earlier version does not have
    themes: dict[str, Theme]  # by language
    overlap: dict[str, dict[str, Mean]]  # by language and category
    overlaps: dict[str, float]  # by item
    problems: list[Problem]
    changes: list[Problem]
    warnings: list[Problem]

    def as_json(self) -> dict[str, Any]:
        """As the command prints it."""
        told = {name: [_plain(each) for each in getattr(self, name)] for name in _TOLD}
        rest = {name: getattr(self, name) for name in self.__dataclass_fields__ if name not in _TOLD}
        themes = {language: theme._asdict() for language, theme in self.themes.items()}
        overlap = {
            language: {category: mean._asdict() for category, mean in means.items()}
            for language, means in self.overlap.items()
        }
        return {"schema": SCHEMA, **rest, "themes": themes, "overlap": overlap, **told}


_TOLD = ("problems", "changes", "warnings")


def _plain(problem: Problem) -> dict[str, Any]:
    return {**msgspec.to_builtins(problem), "text": str(problem)}


def check_golden(opened: GoldenStudy, against: str | None = None) -> Checked:
    """Everything that can be said of a golden set without asking a system."""
    golden, kit = opened.golden, opened.study.kit
    earlier = earlier_version(opened, against)
    sets, books = golden.read(kit), Books({})
    problems = list(sets.problems)
    try:
        books = golden.books(kit)
        problems += golden.withheld(kit, books)[1]
    except DataError as error:
        problems += error.problems
    words = ContentWords(books)
    shares = {entry.id: words.overlap(entry) for _, _, entry in sets.entries()}
    overlaps = {item_id: share for item_id, share in shares.items() if share is not None}
    gone, changes, new = _since(earlier, sets) if earlier else ([], [], [])
    counts, themes = _counts(golden, sets), _themes(sets)
    problems += [*strays(sets, books), *_loose(sets, books), *gone, *_unbalanced(golden, sets, counts)]
    return Checked(
        opened.study.name,
        earlier.name if earlier else "",
        {name: each.count for name, each in golden.categories.items() if each.count is not None},
        counts,
        new,
        themes,
        _means(sets, overlaps),
        overlaps,
        sorted(problems, key=_by_place),
        changes,
        [*_nearly_the_same(sets, words), *_dominant(golden, sets, themes)],
    )


def _by_place(problem: Problem) -> tuple[str, int]:
    return problem.where, problem.line or 0


# ----------------------------------------------------------------------------- anchors in their books


def index_of(books: Books) -> AnchorIndex:
    """Where words stand in books."""
    return AnchorIndex(Corpus((), books.documents), books.sources)


def loose(entry: Entry, books: Books, index: AnchorIndex) -> Iterator[tuple[Loc, str, str]]:
    """Words of expected passages that do not stand in their chapter, or stand there more than once."""
    for number, one in enumerate(entry.expected_passages):
        if books.absent(entry.language, one.book_slug, one.chapter_number):
            continue
        where = (one.book_slug, one.chapter_number, one.passage_substring, entry.language)
        anchor = Anchor(*where, RELEVANCE, QUOTED_GRADES[RELEVANCE][one.relevance])
        places = index.places(anchor)
        if not places:
            yield anchor_loc(number), *index.missing(anchor)
        elif len(places) > 1:
            there = ", ".join(sorted({found.document.doc_id for found in places}))
            what = f"it stands {len(places)} times in {anchor.of} ({there})"
            yield anchor_loc(number), what, "Quote more of the passage, or other words of it."


def _loose(sets: Sets, books: Books) -> Iterator[Problem]:
    index = index_of(books)
    for file, number, entry in sets.entries() if books.documents else ():
        yield from (file.problem(number, *one) for one in loose(entry, books, index))


# --------------------------------------------------------------------------------- earlier versions


def _since(earlier: Earlier, sets: Sets) -> tuple[list[Problem], list[Problem], list[str]]:
    """What an append-only set may not do, what else changed, and the ids that are new."""
    refused: list[Problem] = []
    changes: list[Problem] = []
    now: dict[str, None] = {}
    for file in sets.files:
        for index, raw in enumerate(file.raw):
            now.setdefault(name := name_of(raw))
            before = earlier.items.get(name)
            if before is None:
                continue
            after = known(raw)
            refused += [file.problem(index, *each) for each in _another(before, after)]
            changes += [file.problem(index, *each) for each in _changed(before, after)]
    files = {file.language: str(file.path) for file in sets.files}
    for item_id, before in earlier.items.items():
        # a file that cannot be read may still hold it
        if item_id not in now and not sets.unread:
            what = f"the item is gone; {earlier.name} has it"
            fix = "Put it back: old queries stay, as they guard against regressions."
            refused.append(Problem(what, files.get(before.language, ""), field=item_id, fix=fix))
    return refused, changes, [name for name in now if name and name not in earlier.items]


def _another(before: Known, after: Known) -> Iterator[tuple[tuple[str], str, str]]:
    """Why an id no longer stands for the item it was given to."""
    fix = "Put it back, and give the new one an id of its own."
    for name in ("language", "category"):
        if (was := getattr(before, name)) != getattr(after, name):
            yield (name,), f"the id is used again: it was an item of {name} {was!r}", fix
    if before.query != after.query:
        yield ("query",), _other_query(before.text, after.text), fix


def _other_query(before: str, after: str) -> str:
    from rapidfuzz import fuzz

    if not before:
        return "the query is not the one that was frozen"
    what = (
        "the query changed" if fuzz.ratio(before, after) >= 60 else "the id is used again for another query"
    )
    return f"{what}; it was {_short(before)!r}"


def _changed(before: Known, after: Known) -> Iterator[tuple[tuple[str], str, str]]:
    if before.routing != after.routing:
        yield ("expected_routing",), f"it was {before.routing!r}, and is {after.routing!r}", ""
    if before.passages != after.passages:
        yield ("expected_passages",), "other passages are expected", ""
    if before.others != after.others:
        yield ("expected_flags",), "another intent or other flags are expected", ""


# ------------------------------------------------------------------------------ balance and likeness


def _by_language(sets: Sets) -> dict[str, list[SetFile]]:
    found: dict[str, list[SetFile]] = {}
    for file in sets.files:
        found.setdefault(file.language, []).append(file)
    return found


def _counts(golden: Golden, sets: Sets) -> dict[str, dict[str, int]]:
    """How many queries each language has of each category.

    Entries that are not in order count as well, so that one mistake is not told twice.
    """
    found = {}
    for language, files in _by_language(sets).items():
        given = [raw.get("category") for file in files for raw in file.raw if isinstance(raw, dict)]
        counts = Counter(each for each in given if isinstance(each, str))
        found[language] = {name: counts[name] for name in golden.categories}
    return found


def _unbalanced(golden: Golden, sets: Sets, counts: dict[str, dict[str, int]]) -> Iterator[Problem]:
    """Fewer than declared in the main language, a declared category missing in another, more than half."""
    by_language = _by_language(sets)
    main = golden.main or next(iter(by_language), "")
    if main not in by_language and not sets.unread:
        fix = f"Languages: {', '.join(by_language)}."
        yield Problem(f"no golden set is in the main language {main!r}", field="data.main", fix=fix)
    for language, files in by_language.items():
        where, total = str(files[0].path), sum(counts[language].values())
        for name, category in golden.categories.items():
            n, declared = counts[language][name], category.count or 0
            if language == main and n < declared:
                what = f"{n} of the {declared} queries that the study declares"
                yield Problem(what, where, field=name, fix="Add some, or declare fewer.")
            elif n == 0 < declared:
                what = f"no query in {language!r}, and the study declares the category"
                yield Problem(what, where, field=name, fix="Add some, or declare no count.")
            if n > HALF * total and total >= ENOUGH:
                what = f"{n} of {total} queries: more than half of its language"
                yield Problem(what, where, field=name, fix="Add queries of other categories.")


def _nearly_the_same(sets: Sets, words: ContentWords) -> Iterator[Problem]:
    by_language: dict[str, list[tuple[SetFile, int, Entry]]] = {}
    for each in sets.entries():
        by_language.setdefault(each[2].language, []).append(each)
    for language, found in by_language.items():
        for one, other, likeness in alike([words.key(language, entry.query) for _, _, entry in found]):
            first, (file, index, _) = found[one][2], found[other]
            what = f"{'the same as' if likeness == 1 else 'nearly'} {first.id}: {_short(first.query)!r}"
            yield file.problem(index, ("query",), what, "Keep both only if each tests something of its own.")


def _themes(sets: Sets) -> dict[str, Theme]:
    found = {}
    for language, files in _by_language(sets).items():
        given = [set(entry.themes) for file in files for entry in file.entries.values() if entry.themes]
        counts = Counter(theme for themes in given for theme in sorted(themes))
        for theme, count in counts.most_common(1):
            found[language] = Theme(theme, count / len(given), len(given))
    return found


def _dominant(golden: Golden, sets: Sets, themes: dict[str, Theme]) -> Iterator[Problem]:
    for language, (theme, share, n) in themes.items():
        if share > golden.dominant and n >= ENOUGH:
            what = f"{share:.0%} of {n} queries have the theme {theme!r}"
            fix = f"Add queries of others: the study declares {golden.dominant:.0%} at most."
            yield Problem(what, str(_by_language(sets)[language][0].path), fix=fix)


def _means(sets: Sets, overlaps: dict[str, float]) -> dict[str, dict[str, Mean]]:
    shares: dict[str, dict[str, list[float]]] = {}
    for _, _, entry in sets.entries():
        if entry.id in overlaps:
            of_language = shares.setdefault(entry.language, {})
            of_language.setdefault(entry.category, []).append(overlaps[entry.id])
    return {
        language: {name: Mean(fmean(values), len(values)) for name, values in by_category.items()}
        for language, by_category in shares.items()
    }


def _short(text: str) -> str:
    return shorten(text, _SHOWN)
