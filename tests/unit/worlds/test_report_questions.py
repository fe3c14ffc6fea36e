"""Questions on safety reports: fields, numbers, lessons, days shared and days compared."""

from __future__ import annotations

from random import Random

import pytest

from assay.core.dataset import Corpus
from assay.core.records import Document, Span
from assay.datasets.evidence import find_misplaced
from assay_worlds.sources.source import PageSection, SourcePage, passages_of
from assay_worlds.suites.real.question import QuestionDraft
from assay_worlds.suites.real.report_questions import questions


def report(
    number: int, incident: str, day: str, state: str, account: str = "Nothing else was said."
) -> SourcePage:
    head = f"Report: SAFENET report R{number}\nIncident: {incident}\nDate: {day}\nState: {state}"
    return page(f"R{number}", f"{head}\n\nNARRATIVE\n\n{account}", {"NARRATIVE": 0})


def page(number: str, text: str, starts: dict[str, int]) -> SourcePage:
    ends = [*list(starts.values())[1:], len(text)]
    sections = [
        PageSection(name, Span(start, end)) for (name, start), end in zip(starts.items(), ends, strict=True)
    ]
    return SourcePage(
        Document(f"report/{number}", text, number, {"kind": "report", "id": number}), tuple(sections)
    )


LESSON = "Tether every tool that is used above the floor. Check the tethers before each of the shifts."
PAGES = [
    report(1, "EAST RIM FIRE", "2005-06-30", "AZ", "The blaze was about 200 acres when the engine came up."),
    report(2, "LOST LAKE FIRE", "2005-06-30", "MT", "Start was at 1400 hours when the first engine came up."),
    report(3, "Elk Complex", "2006-07-01", "ID"),
    report(4, "ELK COMPLEX", "2009-07-01", "CA"),
    report(5, "OFFICE", "2010-01-01", "CA"),
    page(
        "58",
        lesson := f"Report: LLIS lesson 58\n\nDRIVING EVENT\n\nIt fell.\n\nRECOMMENDATIONS\n\n{LESSON}",
        {"DRIVING EVENT": 0, "RECOMMENDATIONS": lesson.index("RECOMMENDATIONS")},
    ),
]


def drafted(pages: list[SourcePage], seed: int = 0) -> list[QuestionDraft]:
    passages = {page.document.doc_id: passages_of(page) for page in pages}
    made = list(questions(pages, passages, Random(seed)))
    corpus = Corpus(
        [each for cut in passages.values() for each in cut],
        {page.document.doc_id: page.document for page in pages},
    )
    assert not find_misplaced([unit for each in made for unit in each.units], corpus)
    assert made == list(questions(pages, passages, Random(seed)))
    return made


@pytest.fixture(scope="module")
def found() -> list[QuestionDraft]:
    return drafted(PAGES)


def of_kind(found: list[QuestionDraft], kind: str) -> list[QuestionDraft]:
    return [each for each in found if each.kind == kind]


def test_fields_are_asked_of_incidents_that_one_report_names() -> None:
    asked = {each.text: each for seed in range(6) for each in drafted(PAGES, seed)}
    day = asked["On which day did the incident “EAST RIM FIRE” take place?"]
    assert day.answer == "2005-06-30"
    assert [unit["text"] for unit in day.units] == ["Incident: EAST RIM FIRE", "Date: 2005-06-30"]
    assert not any("the incident “OFFICE”" in text for text in asked)
    assert "On which day did the incident “ELK COMPLEX” take place?" not in asked


def test_a_number_is_asked_for_in_the_words_of_its_sentence(found: list[QuestionDraft]) -> None:
    (number,) = of_kind(found, "report_number")  # hours of the day are no count
    assert number.text == (
        "In the report on the incident “EAST RIM FIRE”: "
        "The blaze was about how many acres when the engine came up?"
    )
    assert number.answer == "200 acres"
    assert number.units[1]["text"] == "The blaze was about 200 acres when the engine came up."


def test_a_lesson_is_a_paragraph(found: list[QuestionDraft]) -> None:
    (lesson,) = of_kind(found, "report_lesson")
    assert (lesson.text, lesson.answer, lesson.grain) == (
        "What does LLIS lesson 58 recommend?",
        LESSON,
        "paragraph",
    )
    text = PAGES[-1].document.text
    assert [text[start:end] for unit in lesson.units for start, end in unit["needs"]] == [
        "Report: LLIS lesson 58",
        *LESSON.replace(". ", ".\n").split("\n"),
    ]


def test_a_day_leads_to_the_other_incident(found: list[QuestionDraft]) -> None:
    assert {each.text: each.answer for each in of_kind(found, "report_same_day")} == {
        "Which incident in MT happened on the same day as “EAST RIM FIRE”?": "LOST LAKE FIRE",
        "Which incident in AZ happened on the same day as “LOST LAKE FIRE”?": "EAST RIM FIRE",
    }


def test_a_name_that_two_reports_bear_means_both(found: list[QuestionDraft]) -> None:
    (several,) = of_kind(found, "report_several")
    assert several.answer == ["2006-07-01", "2009-07-01"]
    assert several.tags == ("ambiguous", "temporal")
    # "Elk Fire" may be the same one, or not: nothing is asked about either.
    other = report(7, "Elk Fire", "2011-07-01", "CA")
    assert not [each for each in drafted([*PAGES, other]) if "elk" in each.text.casefold() and each.units]


def test_the_state_of_the_earlier_incident() -> None:
    pages = [report(1, "EAST RIM FIRE", "2005-06-30", "AZ"), report(2, "LOST LAKE FIRE", "2004-06-30", "MT")]
    (earlier,) = of_kind(drafted(pages), "report_earlier")
    assert earlier.answer == "MT"
    assert [unit["text"].partition(":")[0] for unit in earlier.units] == [
        "Incident",
        "Date",
        "State",
        "Incident",
        "Date",
    ]


def test_all_incidents_of_a_state_and_year_are_too_much() -> None:
    pages = [report(number, f"CREEK {number} FIRE", "2005-06-30", "AZ") for number in range(40)]
    (every,) = of_kind(drafted(pages), "report_list")
    assert every.impossible == "aggregation"
    assert len(every.units) == 3 * 40
    assert len(every.answer) == 40


def test_what_is_not_there_is_a_later_year_or_an_unknown_lesson(found: list[QuestionDraft]) -> None:
    absent = of_kind(found, "report_absent")
    assert absent
    for each in absent:
        assert each.impossible == "out_of_kb"
        assert not each.units
        years = [int(word.strip("?")) for word in each.text.split() if word.strip("?").isdecimal()]
        assert min(years) > 2005 + 1
