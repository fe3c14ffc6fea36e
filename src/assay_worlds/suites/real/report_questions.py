"""Makes questions on safety reports: place, date, unit, numbers, related reports and counts."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

from assay.core.records import Passage, Span
from assay.datasets.evidence import AGGREGATION, OUT_OF_KB, paragraph_unit, sentence_unit
from assay.retrieval.tokens import sentence_spans
from assay_worlds.sources.source import SourcePage
from assay_worlds.suites.leaks import leaks
from assay_worlds.suites.real.question import (
    LONG_HEADS,
    QuestionDraft,
    Unit,
    characters,
    day_in_words,
    field_of,
    field_units,
    shuffled,
    some,
    sound,
)
from assay_worlds.suites.real.value import Passages, Value, as_question, values

_NAME = re.compile(r"[A-Z][\w'’.& -]{2,35} (?:fire|complex|burn|rx)", re.IGNORECASE)
_GENERIC = re.compile(r"\b(?:the|fires?|wildfire|complex|burns?|rx|prescribed|incident)\b|\W+", re.IGNORECASE)
_NO_VALUE = re.compile(r"n/?a|none|various|multiple|unknown|other\b|all\b|self\b", re.IGNORECASE)
_PERSON = re.compile(r"\b(?:I|we|he|she|they|us|our|my|his|her|their|them|me|it|this|these)\b", re.IGNORECASE)
_COUNTED = re.compile(
    r".*(?:\$[\d.,]+| (?:acres|miles|feet|inches|minutes|hours|days|weeks|months|years|gallons|pounds|degrees"
    r"|knots|firefighters|passengers|crews|engines|vehicles|shifts|rounds|times|individuals|helicopters|trucks))"
)
_TIME = re.compile(r"\d{3,4} hours")  # of the day, as crews write it
_BEFORE = re.compile(
    r"\b(?:about|approximately|around|of|for|at|from|was|were|is|had|has|by|with|in|over|than|least|after|within"
    r"|nearly|all|only|every|next|last|roughly|consumed|burned) $"
)
_NO_ADVICE = re.compile(r"The |This |In particular|Practice|Reliability")
_RECOMMENDED = "RECOMMENDATIONS"
_SHORT = (12, 60)  # words of a recommendation that can be an answer


class IncidentReport(NamedTuple):
    """A report on an incident."""

    page: SourcePage
    incident: str  # empty if the name cannot be used in a question
    key: str  # the name without words that many names have
    day: str
    state: str

    def units(self, fields: Sequence[str], passages: Passages) -> list[Unit]:
        """Returns header lines as evidence."""
        return field_units(self.page, fields, passages)


def questions(pages: Sequence[SourcePage], passages: Passages, rng: Random) -> Iterator[QuestionDraft]:
    """Makes questions that fields of reports, or one sentence of an account, answer."""
    found = list(_reports(pages))
    named = Counter(report.key for report in found)
    single = [report for report in found if report.incident and named[report.key] == 1]
    yield from some(_field_asked(single, passages, rng))
    yield from some(_ask_number(single, passages, rng))
    yield from some(_lesson(pages, passages, rng))
    yield from some(_report_of(found, passages, rng))
    yield from some(_same_day(found, single, passages, rng))
    yield from some(_earlier_state(single, passages, rng))
    yield from some(_several_reports(found, passages, rng))
    yield from some(_all_of_state(found, passages, rng))
    yield from some(_not_there(pages, single, rng))


def _reports(pages: Sequence[SourcePage]) -> Iterator[IncidentReport]:
    """Yields the reports on incidents. Only a name with "fire" or "burn" can be used in a question."""
    for page in pages:
        given = field_of(page, "Incident")
        key = _GENERIC.sub(" ", given).strip().casefold()
        if given:
            name = given if _NAME.fullmatch(given) and len(key) >= 3 else ""
            yield IncidentReport(page, name, key, field_of(page, "Date"), field_of(page, "State"))


# --------------------------------------------------------------------------------------- one report


def _field_asked(
    single: Sequence[IncidentReport], passages: Passages, rng: Random
) -> Iterator[QuestionDraft]:
    """Asks for a field of the only report on an incident. The fields take turns."""
    wordings = [
        ("Date", "On which day did the incident “{incident}” take place?", ("single_branch", "temporal")),
        ("State", "In which US state did the incident “{incident}” take place?", ("single_branch",)),
        ("Jurisdiction", "Under whose jurisdiction was the incident “{incident}”?", ("single_branch",)),
        ("Local unit", "Which local unit reported the incident “{incident}”?", ("single_branch", "detail")),
        ("Position", "Which position did the reporter of “{incident}” hold?", ("single_branch", "detail")),
        ("Aircraft", "Which aircraft was involved in the report from “{incident}”?", ("detail",)),
    ]
    for number, report in enumerate(shuffled(single, rng)):
        field, wording, tags = wordings[number % len(wordings)]
        answer = field_of(report.page, field)
        units = report.units(("Incident", field), passages)
        text = wording.format(incident=report.incident)
        if units and len(answer) > 1 and not _NO_VALUE.match(answer) and not leaks(text, [answer]):
            yield QuestionDraft(text, answer, units, tags, f"report_{field.lower().replace(' ', '_')}")


def _ask_number(single: Sequence[IncidentReport], passages: Passages, rng: Random) -> Iterator[QuestionDraft]:
    """Asks for a number in the account of the only report on an incident."""
    for report in shuffled(single, rng):
        head = report.units(("Incident",), passages)
        for passage, span in _sentences(report.page, passages):
            said = passage.text[span.start : span.end]
            if _PERSON.search(said) or not sound(said, closed=True):
                continue
            value = next((each for each in values(said) if _countable(said, each)), None)
            question = as_question(said, value) if value else None
            if head and value and question and not leaks(question, [value.answer]):
                base = passage.span.start if passage.span else 0
                unit = sentence_unit(passage, Span(base + span.start, base + span.end))
                text = f"In the report on the incident “{report.incident}”: {question}"
                tags = ("single_branch", "detail")
                yield QuestionDraft(text, value.answer, [*head, unit], tags, "report_number")
                break


def _countable(said: str, value: Value) -> bool:
    """Whether a sentence counts things, and its number is neither a range nor a time of day."""
    known = _COUNTED.fullmatch(value.answer) and not _TIME.fullmatch(value.answer)
    return bool(known and _BEFORE.search(said[: value.start]) and not said.isupper())


def _sentences(page: SourcePage, passages: Passages) -> Iterator[tuple[Passage, Span]]:
    """Yields the sentences of an account, each with its passage."""
    for passage in passages.get(page.document.doc_id, ()):
        begin = passage.text.find("\n\n") if passage.text.startswith("Report: ") else 0
        yield from ((passage, span) for span in sentence_spans(passage.text) if span.start >= begin)


def _lesson(pages: Sequence[SourcePage], passages: Passages, rng: Random) -> Iterator[QuestionDraft]:
    """Asks what a lesson recommends, if the recommendation is one short paragraph."""
    for page in shuffled(pages, rng):
        section = next((each for each in page.sections if each.heading == _RECOMMENDED), None)
        head = field_of(page, "Report")
        passage = _last_passage(page, passages)
        if section is None or passage is None or not head or passage.section != _RECOMMENDED:
            continue
        body = page.document.text[section.span.start + len(_RECOMMENDED) : section.span.end].strip()
        if _SHORT[0] <= len(body.split()) <= _SHORT[1] and "\n\n" not in body and not _NO_ADVICE.match(body):
            start = section.span.end - len(body)
            needs = [Span(each.start + start, each.end + start) for each in sentence_spans(body)]
            title = field_units(page, ("Report",), passages)
            first = passages[page.document.doc_id][0]
            units = [paragraph_unit(first, [Span(title[0]["start"], title[0]["end"])])] if title else []
            text = f"What does {head} recommend?"
            if units:
                units.append(paragraph_unit(passage, needs))
                yield QuestionDraft(text, body, units, ("single_branch",), "report_lesson")


def _last_passage(page: SourcePage, passages: Passages) -> Passage | None:
    return next(reversed(passages.get(page.document.doc_id, ())), None)


def _report_of(found: Sequence[IncidentReport], passages: Passages, rng: Random) -> Iterator[QuestionDraft]:
    """Asks for the incident of a report with a given number."""
    for report in shuffled(found, rng):
        units = report.units(("Report", "Incident"), passages)
        name = field_of(report.page, "Report")
        if report.incident and units:
            text = f"Which incident is {name} about?"
            yield QuestionDraft(text, report.incident, units, ("single_branch", "detail"), "report_incident")


# -------------------------------------------------------------------------------------- two reports


def _same_day(
    found: Sequence[IncidentReport], single: Sequence[IncidentReport], passages: Passages, rng: Random
) -> Iterator[QuestionDraft]:
    """Asks for the only other incident on the day of a named incident, and names its state."""
    by_day = defaultdict[tuple[str, str], list[IncidentReport]](list)
    for report in found:
        by_day[report.day, report.state].append(report)
    days = Counter(day for day, _ in by_day)
    for report in shuffled(single, rng):
        if not report.day or days[report.day] != 2:
            continue
        others = [each for (day, _), each in by_day.items() if day == report.day and report not in each]
        if len(others) != 1 or len(others[0]) != 1 or not others[0][0].incident or not others[0][0].state:
            continue
        other = others[0][0]
        units = [
            *report.units(("Incident", "Date"), passages),
            *other.units(("Incident", "Date", "State"), passages),
        ]
        text = f"Which incident in {other.state} happened on the same day as “{report.incident}”?"
        if len(units) == 5:
            tags = ("two_hop", "entity_spanning", "temporal")
            yield QuestionDraft(text, other.incident, units, tags, "report_same_day")


def _earlier_state(
    single: Sequence[IncidentReport], passages: Passages, rng: Random
) -> Iterator[QuestionDraft]:
    """Asks for the state of the earlier of two incidents."""
    mixed = shuffled((report for report in single if report.day and report.state), rng)
    for one, two in zip(mixed[::2], mixed[1::2], strict=False):
        earlier, later = sorted((one, two), key=lambda report: report.day)
        units = [
            *earlier.units(("Incident", "Date", "State"), passages),
            *later.units(("Incident", "Date"), passages),
        ]
        if one.day != two.day and one.state != two.state and len(units) == 5:
            both = f"“{one.incident}” and “{two.incident}”"
            text = f"In which US state did the earlier of the two incidents {both} take place?"
            tags = ("comparative", "two_hop", "temporal")
            if leaks(text, [earlier.state]):
                continue
            yield QuestionDraft(text, earlier.state, units, tags, "report_earlier")


def _several_reports(
    found: Sequence[IncidentReport], passages: Passages, rng: Random
) -> Iterator[QuestionDraft]:
    """Asks about an incident name that two or three reports share. The days of all reports are the answer."""
    grouped = defaultdict[str, list[IncidentReport]](list)
    for report in found:
        grouped[report.key].append(report)
    for _, same in shuffled(grouped.items(), rng):
        days = sorted({report.day for report in same})
        units = [unit for report in same for unit in report.units(("Incident", "Date"), passages)]
        alike = same[0].incident and len({report.incident.casefold() for report in same}) == 1
        if alike and 2 <= len(same) == len(days) <= 3 and len(units) == 2 * len(same):
            text = f"On which day did the reported event of the incident “{same[0].incident}” happen?"
            yield QuestionDraft(text, days, units, ("ambiguous", "temporal"), "report_several")


# ---------------------------------------------------------------------------------------- impossible


def _all_of_state(
    found: Sequence[IncidentReport], passages: Passages, rng: Random
) -> Iterator[QuestionDraft]:
    """Asks for all incidents of a state in a year. They are too many for a small context."""
    grouped = defaultdict[tuple[str, str], list[IncidentReport]](list)
    for report in found:
        if report.state and report.day:
            grouped[report.state, report.day[:4]].append(report)
    for number, ((state, year), same) in enumerate(shuffled(grouped.items(), rng)):
        fields = ("Incident", "Date", "State")
        units = [unit for report in same for unit in report.units(fields, passages)]
        if characters(units) >= LONG_HEADS and len(units) == len(fields) * len(same):
            answer: list[str] | str = sorted({field_of(report.page, "Incident") for report in same})
            text = (
                f"List all incidents in {state} in {year} that safety reports were filed on, with their days."
            )
            if number % 2:
                text = f"How many safety reports name an incident of {year} in {state}?"
                answer = str(len(same))
            yield QuestionDraft(text, answer, units, ("aggregation",), "report_list", AGGREGATION)


def _not_there(
    pages: Sequence[SourcePage], single: Sequence[IncidentReport], rng: Random
) -> Iterator[QuestionDraft]:
    """Asks for lessons whose numbers do not exist, and for years without reports."""
    known = {str(page.document.metadata["id"]) for page in pages}
    years = {int(report.day[:4]) for report in single if report.day}
    for number, report in enumerate(shuffled((each for each in single if each.day), rng)):
        lesson = str(rng.randrange(30_000, 90_000))
        if number % 2 and lesson not in known:
            text = f"What does LLIS lesson {lesson} recommend?"
        else:
            year = max(years) + rng.randrange(2, 6)
            month = day_in_words(report.day).split()[1]
            text = f"What happened at the incident “{report.incident}” in {month} {year}?"
        yield QuestionDraft(text, "", [], ("out_of_distribution",), "report_absent", OUT_OF_KB)
