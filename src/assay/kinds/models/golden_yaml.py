"""Reads a golden set in YAML: categories of queries, with the answers that its authors know to be right.

    metadata:                                optional: facts about the corpus, which are checked
      corpus_stats: {total_chunks: 1392, total_reports: 90}
    universal_valid_sections: [SUMMARY]      optional: sections that are right for every section query
    incident_lookup:                         a category is any list of entries
      - id: INC-001
        query: derailment at the river bridge
        difficulty: easy
        ground_truth:
          verification_sql: "WHERE lower(chunk_text) LIKE '%derail%'"
          expected_report_ids: [R-17]

Other keys (notes, summaries) are ignored. A key that is almost a known key is a problem, because the results
would change if it were ignored.
"""

from __future__ import annotations

import difflib
import reprlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, TypeAdapter
from pydantic import ValidationError as Invalid

from assay.core.dataset import Place
from assay.core.errors import DataError, Problem, did_you_mean
from assay.core.yaml_lines import Lines, Loc, read_yaml

UNIVERSAL = ["SYNOPSIS", "EXECUTIVE SUMMARY", "SUMMARY", "ABSTRACT", "BRIEF", "OVERVIEW"]
UNIVERSAL += ["APPENDIX", "APPENDICES"]
NEAR = 0.85  # how alike an unknown key and a known one are before it counts as misspelt

_STATS = ("total_chunks", "total_reports", "total_sections", "first_report", "last_report")  # of the corpus
_UNIVERSAL_KEYS = ("universal_valid_sections", "universal_sections")
_COUNTS = ("expected_chunk_count", "min_relevant_reports", "expected_report_count", "section_chunk_count")
_BESIDE = ("expects", "negative")  # they decide, and are easily put inside ground_truth
_MARKS = ("id", "query", "ground_truth")  # a mapping with one of these is meant as an entry


def _as_text(value: Any) -> Any:
    return str(value).strip() if type(value) in (str, int, float) else value


def _as_word(value: Any) -> Any:
    """Returns a whole number as a word. Other numbers may change when they are read: 1.10 is read as 1.1."""
    return str(value) if type(value) is int else value


Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Word = Annotated[str, BeforeValidator(_as_word), StringConstraints(pattern=r"\S")]
Words = Annotated[list[Word], BeforeValidator(lambda value: value if isinstance(value, list) else [value])]
Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]


class GroundTruth(BaseModel):
    """The answers that the authors of a query declare to be right. A field is None if nothing is declared."""

    model_config = ConfigDict(strict=True, frozen=True)

    verification_sql: Text | None = None
    expected_report_ids: Words | None = None
    expected_chunk_count: Count | None = None
    min_relevant_reports: Count | None = None
    expected_report_count: Count | None = None
    primary_sections: Words | None = None
    section_chunk_count: Count | None = None
    min_section_accuracy: Share | None = None
    relevance_signals: Words | None = None

    @property
    def declared(self) -> dict[str, int | float]:
        """The declared counts and minima. They are checked, but relevance does not depend on them."""
        values = {key: getattr(self, key) for key in (*_COUNTS, "min_section_accuracy")}
        return {key: value for key, value in values.items() if value is not None}


class GoldenQuery(BaseModel):
    """One query of the golden set."""

    model_config = ConfigDict(strict=True, frozen=True)

    id: Annotated[str, BeforeValidator(_as_text), StringConstraints(pattern=r"\S")]
    query: Text
    difficulty: Words | None = None
    intent: Words | None = None
    expects: Literal["nothing"] | None = None
    negative: bool | None = None
    ground_truth: GroundTruth = GroundTruth()

    @property
    def is_negative(self) -> bool:
        """Whether a right system returns nothing for the query."""
        truth = self.ground_truth
        if self.expects or self.negative or truth.expected_chunk_count == 0:
            return True
        more = truth.primary_sections or any(truth.declared.values())
        return truth.expected_report_ids == [] and not more


_WORDS = ("a word or a list of words", "Put each word in quotes.")
_EXPECTED = {  # what a field holds, and what to do where it does not; other fields hold words
    **dict.fromkeys(("id", "query", "verification_sql"), ("some text", "Write it in quotes.")),
    **dict.fromkeys(_COUNTS, ("a whole number from 0", "Write a number such as 3.")),
    "min_section_accuracy": ("a share from 0 to 1", "Write a number such as 0.5."),
    "expects": ("'nothing'", "Write 'nothing', or leave the field out."),
    "negative": ("true or false", "Write one of the two, without quotes."),
    "ground_truth": ("a mapping", "Write fields such as verification_sql under it."),
}


@dataclass(frozen=True)
class YamlGoldenSet:
    """The queries of a golden set by category, in the order of the file, with the place of each query."""

    entries: dict[str, list[GoldenQuery]]
    universal: list[str]  # sections that are right for every section query
    places: dict[str, Place]
    warnings: list[str]
    stats: dict[Loc, Any]  # the facts in corpus_stats, by their place in the file
    lines: Lines

    def differing(self, corpus: dict[str, Any]) -> Iterator[str]:
        """Yields a warning for each fact about the corpus in the file that the corpus contradicts."""
        for loc, said in self.stats.items():
            there = corpus.get(str(loc[-1]))
            if None not in (said, there) and said != there and str(said) != str(there):
                what, fix = f"it says {_short(said)}, the corpus has {there}", "Correct it, or the corpus."
                yield str(self.lines.problem(loc, what, fix))


def read_golden(path: Path) -> YamlGoldenSet:
    """Reads the golden set in a file. The DataError has all problems of the file."""
    content, lines = _content(path)
    found = _ProblemList(lines)
    universal = _universal(content, found)
    entries: dict[str, list[GoldenQuery]] = {}
    places: dict[str, Place] = {}
    for loc, raw in _entries(content, found):
        item_id = _as_text(raw.get("id"))
        name = item_id if isinstance(item_id, str) else ""
        if name in places:
            what = f"the id {name!r} stands on line {places[name].line} already"
            found.wrong(loc, ("id",), what, "Ids must be unique.", name)
        elif name:
            places[name] = Place(lines.where, lines.of(loc))
        if entry := _entry(raw, loc, name, found):
            entries.setdefault(str(loc[0]), []).append(entry)
    metadata = content.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    stats = _stats((), content, found) | _stats(("metadata",), metadata, found)
    if found.problems:
        raise DataError(found.problems)
    return YamlGoldenSet(
        entries, universal, places, list(_wrong_total(metadata, lines, len(places))), stats, lines
    )


@dataclass(frozen=True)
class _ProblemList:
    """The problems that were found in the file so far."""

    lines: Lines
    problems: list[Problem] = field(default_factory=list)

    def wrong(self, loc: Loc, inner: Sequence[str | int], what: str, fix: str, name: str = "") -> None:
        """Adds a problem at `inner` of the entry at `loc`. `name` replaces the entry's index in the list."""
        named = (*loc[:-1], name) if name else loc
        # No index at the end: a list may be written as one word.
        path = ".".join(map(str, (*named, *(part for part in inner if isinstance(part, str)))))
        path = path.encode(errors="backslashreplace").decode()  # half a character cannot be printed
        self.problems.append(Problem(what, self.lines.where, self.lines.of((*loc, *inner)), path, fix))


# --------------------------------------------------------------------------------- the file


def _content(path: Path) -> tuple[dict[str, Any], Lines]:
    content, lines = read_yaml(path)
    if not isinstance(content, dict):
        what = f"expected a mapping from categories to lists of queries, found {_short(content)}"
        raise DataError(lines.problem((), what, "Write CATEGORY: and a list of entries under it."))
    return content, lines


def _universal(content: dict[str, Any], found: _ProblemList) -> list[str]:
    """Returns the sections that are right for every section query. An empty list in the file means none."""
    for key in content:
        if key not in _UNIVERSAL_KEYS and (known := _similar_key(key, _UNIVERSAL_KEYS)):
            found.wrong((), (key,), "there is no such field", did_you_mean(key, [known]))
    given = [key for key in _UNIVERSAL_KEYS if content.get(key) is not None]
    words: list[str] = []
    for key in given:
        try:
            words += TypeAdapter(Words).validate_python(content[key], strict=True)
        except Invalid as error:
            for each in error.errors(include_url=False):
                what = f"expected {_WORDS[0]}, found {_short(each['input'])}"
                found.wrong((), (key, *each["loc"]), what, _WORDS[1])
    return list(dict.fromkeys(words if given else UNIVERSAL))


def _entries(content: dict[str, Any], found: _ProblemList) -> Iterator[tuple[Loc, dict[str, Any]]]:
    """Yields every entry of every category, with its place. Lists without any entry are ignored."""
    some = False
    for key, value in content.items():
        listed = value if isinstance(value, list) and key not in _UNIVERSAL_KEYS else []
        are = [isinstance(each, dict) and any(mark in each for mark in _MARKS) for each in listed]
        some |= any(are)
        if any(are) and key.encode(errors="replace").decode() != key:
            found.wrong((), (key,), "the name of the category is not valid text", "Correct the escape.")
            continue
        for index in range(len(listed)) if any(are) else ():
            if are[index]:
                yield (key, index), listed[index]
            else:
                what = f"expected an entry like others of this list, found {_short(listed[index])}"
                found.wrong((key, index), (), what, "Write id, query and ground_truth, or take it out.")
    if not some:
        keys = ", ".join(map(_short, list(content)[:9]))
        what = f"expected a list of queries, found only {keys or 'an empty mapping'}"
        fix = "Write CATEGORY: and under it a list of entries with id, query and ground_truth."
        found.problems.append(found.lines.problem((), what, fix))


def _stats(loc: Loc, header: dict[str, Any], found: _ProblemList) -> dict[Loc, Any]:
    """Returns the facts that a header states about the corpus, and adds a problem for a misspelt key.

    Other keys are kept as notes.
    """
    given, here = header.get("corpus_stats"), (*loc, "corpus_stats")
    if given is not None and not isinstance(given, dict):
        fix = "Write fields such as total_chunks under it."
        found.wrong(here, (), f"expected a mapping, found {_short(given)}", fix)
    stats = given if isinstance(given, dict) else {}
    for key in stats:
        if key not in _STATS and (near := _similar_key(str(key), _STATS)):
            found.wrong(here, (key,), "there is no such field", did_you_mean(str(key), [near]))
    return {(*here, key): value for key, value in stats.items()}


def _wrong_total(metadata: dict[str, Any], lines: Lines, n: int) -> Iterator[str]:
    total = metadata.get("total_queries")
    if total not in (None, n):
        what = f"it says {_short(total)}, the file has {n}"
        fix = "Correct it, or look for queries that are not read."
        yield str(lines.problem(("metadata", "total_queries"), what, fix))


# -------------------------------------------------------------------------------- the entries


def _entry(raw: dict[str, Any], loc: Loc, name: str, found: _ProblemList) -> GoldenQuery | None:
    """Returns the entry, or None if it has problems. The problems are added to `found`."""
    before = len(found.problems)
    given = {key: value for key, value in raw.items() if value is not None}
    entry = None
    for inner, what, fix in _misplaced_keys(given):
        found.wrong(loc, inner, what, fix, name)
    try:
        entry = GoldenQuery.model_validate(given)
    except Invalid as error:
        for each in error.errors(include_url=False):
            expected, fix = _EXPECTED.get(str(each["loc"][-1]), _WORDS)
            what = f"expected {expected}, found {_short(each['input'])}"
            if each["type"] == "missing":
                what, fix = "this field is required", "Add it."
            found.wrong(loc, each["loc"], what, fix, name)
    if entry and len(found.problems) == before:
        for what, fix in _contradictions(entry):
            found.wrong(loc, ("ground_truth",), what, fix, name)
    return entry if len(found.problems) == before else None


def _misplaced_keys(raw: dict[str, Any]) -> Iterator[tuple[Loc, str, str]]:
    """Yields keys that would be ignored, although their author meant to declare something with them."""
    truth = raw.get("ground_truth")
    parts: list[tuple[Loc, Any, Collection[str], Collection[str]]] = [
        ((), raw, GoldenQuery.model_fields, GroundTruth.model_fields),
        (("ground_truth",), truth if isinstance(truth, dict) else {}, GroundTruth.model_fields, _BESIDE),
    ]
    for loc, mapping, known, elsewhere in parts:
        for key in [key for key in mapping if key not in known]:
            if key == "<<":
                yield (*loc, key), "merge keys are not read", "Write the fields out."
            elif key in elsewhere:
                where = "beside" if loc else "inside"
                yield (*loc, key), f"this field belongs {where} ground_truth", "Move it there."
            elif near := _similar_key(key, known):
                yield (*loc, key), "there is no such field", did_you_mean(key, [near])


def _contradictions(entry: GoldenQuery) -> Iterator[tuple[str, str]]:
    """Yields reasons why an entry cannot distinguish right answers from wrong answers."""
    truth = entry.ground_truth
    by_text = truth.verification_sql or truth.relevance_signals
    if entry.is_negative:
        positive = [key for key in ("expected_report_ids", "primary_sections") if getattr(truth, key)]
        positive += [key for key, value in truth.declared.items() if value]
        if positive:
            what = f"the query expects nothing, and yet declares {' and '.join(positive)}"
            yield what, "Keep one of the two."
        if not by_text:
            what = "a query that expects nothing says nothing by which to tell what is wrong"
            yield what, "Add verification_sql or relevance_signals."
    elif not (by_text or truth.expected_report_ids or truth.primary_sections):
        what = "nothing says what is relevant"
        fix = "Add verification_sql, expected_report_ids, primary_sections or relevance_signals."
        yield what, fix


def _short(value: Any) -> str:
    """Returns a short form of a value for a message, even if the value is long or deep."""
    return "nothing" if value is None else reprlib.repr(value)


def _similar_key(key: str, known: Iterable[str]) -> str | None:
    return next(iter(difflib.get_close_matches(key.lower(), list(known), n=1, cutoff=NEAR)), None)
