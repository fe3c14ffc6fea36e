"""Checks a golden set: its problems, its balance, and the changes since an earlier version; and freezes it.

These are errors: invalid files; an id that is gone or belongs to another item; anchors that are not in their
book, or are there more than once; unbalanced categories. Changed expectations, similar queries and a dominant
theme are only reported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import msgspec

from assay.core.dataset import Corpus
from assay.core.errors import DataError, Problem
from assay.core.records import QUOTED_GRADES, RELEVANCE
from assay.core.yaml_lines import Loc
from assay.kinds.search.anchor_index import Anchor, AnchorIndex
from assay.kinds.search.golden.content_words import ContentWords, similar_pairs
from assay.kinds.search.golden.corpus import Books
from assay.kinds.search.golden.dataset import Golden
from assay.kinds.search.golden.entry import (
    GoldenEntry,
    GoldenFile,
    GoldenSets,
    anchor_location,
    check_books,
    entry_id,
)
from assay.kinds.search.golden.lock import LOCK_SCHEMA, GoldenLock, ItemDigest, digest_item, read_lock
from assay.kinds.search.golden.study import EarlierVersion, GoldenStudy, earlier_version
from assay.report.wording import shorten
from assay.store.disk import write_atomic

SCHEMA = "assay/golden-check/1"
ENOUGH = 10  # queries; among fewer, a category easily has more than half
HALF = 0.5
_SHOWN = 60  # characters of a text in a message


class ThemeShare(NamedTuple):
    """The most frequent theme of a language, and its share among the `n` queries that have themes."""

    theme: str
    share: float
    n: int


class OverlapMean(NamedTuple):
    """The mean overlap of some queries with their passages, and the number of these queries."""

    value: float
    n: int


@dataclass(frozen=True)
class GoldenCheck:
    """The result of a check. `against` is empty if there is no earlier version."""

    study: str
    against: str
    declared: dict[str, int]  # by category, for the main language
    counts: dict[str, dict[str, int]]  # by language and category
    new: list[str]  # ids that the earlier version does not have
    themes: dict[str, ThemeShare]  # by language
    overlap: dict[str, dict[str, OverlapMean]]  # by language and category
    overlaps: dict[str, float]  # by item
    problems: list[Problem]
    changes: list[Problem]
    warnings: list[Problem]

    def as_json(self) -> dict[str, Any]:
        """Returns the result in the form in which the command prints it as JSON."""
        told = {name: [_plain(each) for each in getattr(self, name)] for name in _PROBLEM_FIELDS}
        rest = {
            name: getattr(self, name) for name in self.__dataclass_fields__ if name not in _PROBLEM_FIELDS
        }
        themes = {language: theme._asdict() for language, theme in self.themes.items()}
        overlap = {
            language: {category: mean._asdict() for category, mean in means.items()}
            for language, means in self.overlap.items()
        }
        return {"schema": SCHEMA, **rest, "themes": themes, "overlap": overlap, **told}


_PROBLEM_FIELDS = ("problems", "changes", "warnings")


def _plain(problem: Problem) -> dict[str, Any]:
    return {**msgspec.to_builtins(problem), "text": str(problem)}


def check_golden(opened: GoldenStudy, against: str | None = None) -> GoldenCheck:
    """Checks a golden set. No system is asked."""
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
    gone, changes, new = _compare_with_earlier(earlier, sets) if earlier else ([], [], [])
    counts, themes = _counts(golden, sets), _themes(sets)
    problems += [
        *check_books(sets, books),
        *_unresolved(sets, books),
        *gone,
        *_check_balance(golden, sets, counts),
    ]
    return GoldenCheck(
        opened.study.name,
        earlier.name if earlier else "",
        {name: each.count for name, each in golden.categories.items() if each.count is not None},
        counts,
        new,
        themes,
        _mean_overlaps(sets, overlaps),
        overlaps,
        sorted(problems, key=_by_place),
        changes,
        [*_similar_queries(sets, words), *_dominant_themes(golden, sets, themes)],
    )


def _by_place(problem: Problem) -> tuple[str, int]:
    return problem.where, problem.line or 0


# ----------------------------------------------------------------------------- anchors in their books


def index_books(books: Books) -> AnchorIndex:
    """Returns an index that finds anchors in books."""
    return AnchorIndex(Corpus((), books.documents), books.sources)


def unresolved_anchors(
    entry: GoldenEntry, books: Books, index: AnchorIndex
) -> Iterator[tuple[Loc, str, str]]:
    """Yields anchors that are not in their chapter, or are there more than once."""
    for number, one in enumerate(entry.expected_passages):
        if books.absent(entry.language, one.book_slug, one.chapter_number):
            continue
        where = (one.book_slug, one.chapter_number, one.passage_substring, entry.language)
        anchor = Anchor(*where, RELEVANCE, QUOTED_GRADES[RELEVANCE][one.relevance])
        places = index.places(anchor)
        if not places:
            yield anchor_location(number), *index.missing(anchor)
        elif len(places) > 1:
            there = ", ".join(sorted({found.document.doc_id for found in places}))
            what = f"it stands {len(places)} times in {anchor.of} ({there})"
            yield anchor_location(number), what, "Quote more of the passage, or other words of it."


def _unresolved(sets: GoldenSets, books: Books) -> Iterator[Problem]:
    index = index_books(books)
    for file, number, entry in sets.entries() if books.documents else ():
        yield from (file.problem(number, *one) for one in unresolved_anchors(entry, books, index))


# --------------------------------------------------------------------------------- earlier versions


def _compare_with_earlier(
    earlier: EarlierVersion, sets: GoldenSets
) -> tuple[list[Problem], list[Problem], list[str]]:
    """Returns the forbidden changes of an append-only set, the other changes, and the new ids."""
    refused: list[Problem] = []
    changes: list[Problem] = []
    now: dict[str, None] = {}
    for file in sets.files:
        for index, raw in enumerate(file.raw):
            now.setdefault(name := entry_id(raw))
            before = earlier.items.get(name)
            if before is None:
                continue
            after = digest_item(raw)
            refused += [file.problem(index, *each) for each in _reused_id(before, after)]
            changes += [file.problem(index, *each) for each in _changed_expectations(before, after)]
    files = {file.language: str(file.path) for file in sets.files}
    for item_id, before in earlier.items.items():
        # a file that cannot be read may still hold the item
        if item_id not in now and not sets.unread:
            what = f"the item is gone; {earlier.name} has it"
            fix = "Put it back: old queries stay, as they guard against regressions."
            refused.append(Problem(what, files.get(before.language, ""), field=item_id, fix=fix))
    return refused, changes, [name for name in now if name and name not in earlier.items]


def _reused_id(before: ItemDigest, after: ItemDigest) -> Iterator[tuple[tuple[str], str, str]]:
    """Yields the reasons why an id no longer belongs to its item."""
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


def _changed_expectations(before: ItemDigest, after: ItemDigest) -> Iterator[tuple[tuple[str], str, str]]:
    if before.routing != after.routing:
        yield ("expected_routing",), f"it was {before.routing!r}, and is {after.routing!r}", ""
    if before.passages != after.passages:
        yield ("expected_passages",), "other passages are expected", ""
    if before.others != after.others:
        yield ("expected_flags",), "another intent or other flags are expected", ""


# ------------------------------------------------------------------------------ balance and likeness


def _by_language(sets: GoldenSets) -> dict[str, list[GoldenFile]]:
    found: dict[str, list[GoldenFile]] = {}
    for file in sets.files:
        found.setdefault(file.language, []).append(file)
    return found


def _counts(golden: Golden, sets: GoldenSets) -> dict[str, dict[str, int]]:
    """Counts the queries of each language and category.

    Invalid entries count too, so that a mistake is not reported twice.
    """
    found = {}
    for language, files in _by_language(sets).items():
        given = [raw.get("category") for file in files for raw in file.raw if isinstance(raw, dict)]
        counts = Counter(each for each in given if isinstance(each, str))
        found[language] = {name: counts[name] for name in golden.categories}
    return found


def _check_balance(golden: Golden, sets: GoldenSets, counts: dict[str, dict[str, int]]) -> Iterator[Problem]:
    """Yields problems of categories that are too small, missing or too large.

    A category is too small if it has fewer queries than declared, and too large with more than half of all
    queries.
    """
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


def _similar_queries(sets: GoldenSets, words: ContentWords) -> Iterator[Problem]:
    by_language: dict[str, list[tuple[GoldenFile, int, GoldenEntry]]] = {}
    for each in sets.entries():
        by_language.setdefault(each[2].language, []).append(each)
    for language, found in by_language.items():
        for one, other, likeness in similar_pairs(
            [words.key(language, entry.query) for _, _, entry in found]
        ):
            first, (file, index, _) = found[one][2], found[other]
            what = f"{'the same as' if likeness == 1 else 'nearly'} {first.id}: {_short(first.query)!r}"
            yield file.problem(index, ("query",), what, "Keep both only if each tests something of its own.")


def _themes(sets: GoldenSets) -> dict[str, ThemeShare]:
    found = {}
    for language, files in _by_language(sets).items():
        given = [set(entry.themes) for file in files for entry in file.entries.values() if entry.themes]
        counts = Counter(theme for themes in given for theme in sorted(themes))
        for theme, count in counts.most_common(1):
            found[language] = ThemeShare(theme, count / len(given), len(given))
    return found


def _dominant_themes(golden: Golden, sets: GoldenSets, themes: dict[str, ThemeShare]) -> Iterator[Problem]:
    for language, (theme, share, n) in themes.items():
        if share > golden.dominant and n >= ENOUGH:
            what = f"{share:.0%} of {n} queries have the theme {theme!r}"
            fix = f"Add queries of others: the study declares {golden.dominant:.0%} at most."
            yield Problem(what, str(_by_language(sets)[language][0].path), fix=fix)


def _mean_overlaps(sets: GoldenSets, overlaps: dict[str, float]) -> dict[str, dict[str, OverlapMean]]:
    shares: dict[str, dict[str, list[float]]] = {}
    for _, _, entry in sets.entries():
        if entry.id in overlaps:
            of_language = shares.setdefault(entry.language, {})
            of_language.setdefault(entry.category, []).append(overlaps[entry.id])
    return {
        language: {name: OverlapMean(fmean(values), len(values)) for name, values in by_category.items()}
        for language, by_category in shares.items()
    }


def _short(text: str) -> str:
    return shorten(text, _SHOWN)


@dataclass(frozen=True)
class FreezeResult:
    """The lock after freezing, and its new and changed items."""

    path: Path
    version: int
    items: int
    new: list[str]
    changed: list[str]  # ids with other expectations than before


def freeze_golden(opened: GoldenStudy) -> FreezeResult:
    """Writes the lock if items are new or changed. Raises a DataError if the golden set has problems."""
    if problems := check_golden(opened).problems:
        raise DataError(problems)
    before = read_lock(opened.lock)
    earlier = before.items if before else {}
    version = before.version + 1 if before else 1
    now: dict[str, ItemDigest] = {}
    for _, _, entry in opened.golden.read(opened.study.kit).entries():
        since = earlier[entry.id].since if entry.id in earlier else version
        now[entry.id] = msgspec.structs.replace(digest_item(entry.model_dump()), since=since, text="")
    new = [item_id for item_id in now if item_id not in earlier]
    changed = [item_id for item_id in now if item_id in earlier and now[item_id] != earlier[item_id]]
    if before is not None and not new and not changed:
        return FreezeResult(opened.lock, before.version, len(now), [], [])
    today = datetime.fromtimestamp(opened.study.kit.clock(), UTC).date().isoformat()
    lock = (
        msgspec.json.format(msgspec.json.encode(GoldenLock(LOCK_SCHEMA, version, today, now)), indent=2)
        + b"\n"
    )
    write_atomic(opened.lock, lambda target: target.write_bytes(lock))
    return FreezeResult(opened.lock, version, len(now), new, changed)
