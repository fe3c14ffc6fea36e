"""Reads the files of an answer study: questions, gold answers, sites and content pairs.

Each record is read with its line. Problems are collected and not raised, so that all files can be corrected
at once.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from assay.core.errors import DataError, Problem, decoding_problem, did_you_mean
from assay.core.yaml_lines import Lines, Loc, read_text
from assay.datasets.reading import read_json

COMPLEXITIES = ("single-fact", "multi-section-synthesis", "conceptual-relationship")
_STEP = re.compile(r"[^.\[\]]+")  # of a field's path, such as questions[3].text
_SEPARATORS = {"\t": "tabs", ";": "semicolons", "|": "bars"}  # used between columns instead of commas
T = TypeVar("T", bound=msgspec.Struct)


class QuestionRecord(msgspec.Struct, frozen=True):
    """A question as its file gives it."""

    question_id: str
    text: str
    complexity: str
    source_sections: list[str] = []
    source_urls: list[str] = []


class GoldAnswer(msgspec.Struct, frozen=True):
    """The gold answer of a question, and the date on which somebody last compared it with the site."""

    question_id: str
    gold_answer: str
    source_urls: list[str] = []
    verified_date: str | None = None


class Site(msgspec.Struct, frozen=True):
    """The columns of a row of the site list that are read."""

    site_id: str
    sector: str = ""
    verification_date: str = ""
    verification_status: str = ""


class ContentPair(msgspec.Struct, frozen=True):
    """One page in both conditions, and the questions that the page is given for."""

    content_pair_id: str
    site_id: str
    question_ids: list[str]
    a: str
    b: str
    title: str = ""


class PlacedRecord(NamedTuple, Generic[T]):
    """A record with its site, its file and its line."""

    record: T
    site_id: str
    where: str
    line: int | None

    def problem(self, what: str, field: str = "", fix: str = "") -> Problem:
        """Returns a problem at the place of this record."""
        return Problem(what, self.where, self.line, field, fix)


# ----------------------------------------------------------------------------------------- JSON


def read_questions(path: Path, problems: list[Problem]) -> list[PlacedRecord[QuestionRecord]]:
    """Reads the questions of every site. A complexity that the rubric does not know is a problem."""
    found = _by_site(path, "questions", QuestionRecord, problems)
    for each in found:
        if each.record.complexity not in COMPLEXITIES:
            what = f"{each.record.question_id!r} has the complexity {each.record.complexity!r}"
            problems.append(each.problem(what, "complexity", f"Write one of {', '.join(COMPLEXITIES)}."))
    return _once(found, "question_id", problems)


def read_gold(path: Path, problems: list[Problem]) -> list[PlacedRecord[GoldAnswer]]:
    """Reads the gold answers of every site."""
    found = _by_site(path, "answers", GoldAnswer, problems)
    for each in found:
        if not each.record.gold_answer.strip():
            what = f"the gold answer of {each.record.question_id!r} is empty"
            problems.append(
                each.problem(what, "gold_answer", "Write what is right, or take the question out.")
            )
    return _once(found, "question_id", problems)


def read_pairs(path: Path, problems: list[Problem]) -> list[PlacedRecord[ContentPair]]:
    """Reads the content pairs, in the order of the file."""
    content, lines = _json_list(path, problems)
    found: list[PlacedRecord[ContentPair]] = []
    for number, raw in enumerate(content):
        pair = _converted(raw, ContentPair, (number,), lines, problems)
        if pair is None:
            continue
        placed = PlacedRecord(pair, pair.site_id, lines.where, lines.of((number,)))
        if not pair.question_ids:
            what = f"the pair {pair.content_pair_id!r} belongs to no question"
            problems.append(placed.problem(what, "question_ids", "Name the questions it is given for."))
        found.append(placed)
    return _once(found, "content_pair_id", problems)


def _by_site(path: Path, inner: str, kind: type[T], problems: list[Problem]) -> list[PlacedRecord[T]]:
    """Reads the records under each site of [{"site_id": …, INNER: [record, …]}, …]."""
    content, lines = _json_list(path, problems)
    found: list[PlacedRecord[T]] = []
    for number, site in enumerate(content):
        records = site.get(inner) if isinstance(site, dict) else None
        site_id = site.get("site_id") if isinstance(site, dict) else None
        if not isinstance(records, list) or not isinstance(site_id, str):
            fix = f'Write {{"site_id": "S001", "{inner}": [ … ]}}.'
            problems.append(lines.problem((number,), f"expected a site with its {inner}", fix))
            continue
        for at, raw in enumerate(records):
            loc = (number, inner, at)
            if (record := _converted(raw, kind, loc, lines, problems)) is not None:
                found.append(PlacedRecord(record, site_id, lines.where, lines.of(loc)))
    return found


def _json_list(path: Path, problems: list[Problem]) -> tuple[list[Any], Lines]:
    try:
        content, lines = read_json(path)
    except DataError as error:
        problems += error.problems
        return [], Lines(str(path))
    if not isinstance(content, list) or not content:
        problems.append(Problem("expected a list that is not empty", str(path), 1, fix="Write [ … ]."))
        return [], lines
    return content, lines


def _converted(raw: Any, kind: type[T], loc: Loc, lines: Lines, problems: list[Problem]) -> T | None:
    try:
        return msgspec.convert(raw, kind)
    except msgspec.ValidationError as error:
        found = decoding_problem(error)
        inside = tuple(int(step) if step.isdigit() else step for step in _STEP.findall(found.field))
        problems.append(replace(lines.problem((*loc, *inside), found.what), fix=found.fix))
        return None


def _once(found: Sequence[PlacedRecord[T]], key: str, problems: list[Problem]) -> list[PlacedRecord[T]]:
    """Returns the records with only one record per id. A repeated id is a problem."""
    first: dict[str, PlacedRecord[T]] = {}
    for each in found:
        value = getattr(each.record, key)
        if (known := first.setdefault(value, each)) is not each:
            what = f"the {key} {value!r} is on line {known.line} already"
            problems.append(each.problem(what, key, "Ids must be unique."))
    return list(first.values())


# ------------------------------------------------------------------------------------------ CSV


def read_sites(path: Path, problems: list[Problem]) -> dict[str, Site]:
    """Reads the list of sites, keyed by id. Columns that `Site` does not have are ignored."""
    found: dict[str, Site] = {}
    try:
        for line, row in csv_rows(read_text(path), str(path), ["site_id"]):
            given = {name: row.get(name, "").strip() for name in Site.__struct_fields__}
            site = Site(**given)
            if found.setdefault(site.site_id, site) is not site:
                what = f"the site_id {site.site_id!r} is on an earlier line already"
                problems.append(Problem(what, str(path), line, "site_id", "Ids must be unique."))
    except DataError as error:
        problems += error.problems
    return found


def csv_rows(text: str, where: str, needed: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """Yields the rows of a CSV text as maps by column, each with the number of its last line.

    Problems of the header are raised at once. Problems of rows are raised together, after the last row.
    """
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))  # a long cell is allowed
    reader, wrong = csv.reader(io.StringIO(text, newline=""), strict=True), list[Problem]()
    try:
        header = [name.strip() for name in next(reader, [])]
        if unfit := [*_unfit_header(header, where, needed)]:
            raise DataError(unfit)
        for row in reader:
            if not row:
                continue
            if len(row) != len(header):
                what = f"{len(row)} values where {len(header)} columns are named"
                wrong.append(Problem(what, where, reader.line_num, fix="Write a value for each."))
                continue
            yield reader.line_num, dict(zip(header, row, strict=True))
    except csv.Error as error:
        wrong.append(Problem(f"this is not CSV: {error}", where, reader.line_num, fix="Check its quotes."))
    if wrong:
        raise DataError(wrong)


def _unfit_header(header: Sequence[str], where: str, needed: Sequence[str]) -> Iterator[Problem]:
    """Yields the problems of the column names. If one cause explains all problems, yields only that cause."""
    if not any(header):
        yield Problem("there are no names of columns", where, 1, fix=f"Begin with {','.join(needed)}.")
        return
    if len(header) == 1 and (
        other := next((name for each, name in _SEPARATORS.items() if each in header[0]), "")
    ):
        what = f"columns are separated by {other}"
        yield Problem(what, where, 1, fix="Save the file with commas between columns.")
        return
    for name, times in Counter(filter(None, header)).items():
        if times > 1:
            fix = "Keep one, or rename the others."
            yield Problem(f"the column occurs {times} times", where, 1, name, fix)
    for name in needed:
        if name not in header:
            yield Problem("the column is missing", where, 1, name, did_you_mean(name, header) or "Add it.")
