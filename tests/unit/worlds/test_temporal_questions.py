"""Questions from snapshots: evidence from the right day, and nothing asked that two texts answer."""

from __future__ import annotations

from random import Random

import pytest

from assay.core.records import Document, Span
from assay_worlds.sources.source import PageSection, SourcePage, passages_of
from assay_worlds.suites.real import temporal_questions
from assay_worlds.suites.real.question import QuestionDraft
from assay_worlds.suites.real.value import as_question, changed_value, mask_values, values, with_blank

BEFORE = "Travel policy\n\nBook your flights at least 14 days ahead of the trip.\n\nAsk in #travel for help."
AFTER = "Travel policy\n\nBook your flights at least 21 days ahead of the trip.\n\nAsk in #travel for help."


def page(text: str, day: str, until: str | None = None, path: str = "travel.md") -> SourcePage:
    doc_id = f"acme/{path}" + (f"@{day}" if until else "")
    metadata = {
        "kind": "handbook",
        "handbook": "Acme handbook",
        "path": path,
        "page": text.partition("\n")[0],
    }
    metadata |= {"as_of": day, "snapshot_of": path} | ({"until": until} if until else {})
    return SourcePage(
        Document(doc_id, text, "Travel", metadata), (PageSection("Travel policy", Span(0, len(text))),)
    )


def drafted(*pages: SourcePage) -> list[QuestionDraft]:
    passages = {each.document.doc_id: passages_of(each) for each in pages}
    return list(temporal_questions.questions(pages, passages, Random(7)))


def of(found: list[QuestionDraft], kind: str) -> list[QuestionDraft]:
    return [each for each in found if each.kind == kind]


@pytest.mark.parametrize(
    ("said", "sort", "answer", "question"),
    [
        ("Book flights 14 days ahead.", "number", "14 days", "Book flights how many days ahead?"),
        ("Meals cost up to $75 USD a day.", "amount", "$75", "Meals cost up to how much money a day?"),
        (
            "Post in the #travel Slack channel first.",
            "channel",
            "#travel",
            "Post in which Slack channel first?",
        ),
        ("Write to help@acme.org today.", "email", "help@acme.org", "Write to which e-mail address today?"),
        ("Valid until March 3, 2024 only.", "date", "March 3, 2024", "Valid until which date only?"),
        ("Up to 5 business days pass.", "number", "5 business days", "Up to how many business days pass?"),
    ],
)
def test_a_value_is_asked_for_where_it_stands(said: str, sort: str, answer: str, question: str) -> None:
    (value,) = values(said)
    assert (value.sort, value.answer) == (sort, answer)
    assert as_question(said, value) == question


@pytest.mark.parametrize(
    "said", ["Phase 1 needs a plan.", "The 2022 process ends.", "It is 10-12 weeks long."]
)
def test_a_number_that_counts_nothing_is_no_value(said: str) -> None:
    assert values(said) == []


def test_one_changed_value_is_found_and_a_slip_is_not() -> None:
    found = changed_value("Use Lumity to enrol in a plan.", "Use Sequoia to enrol in a plan.")
    assert found is not None
    assert [value.answer for value in found] == ["Lumity", "Sequoia"]
    assert with_blank("Use Lumity to enrol.", found[0]) == "Use ____ to enrol."
    assert changed_value("Wait two weeks.", "Wait 2 weeks.") is None
    assert changed_value("Open the HRLinks page now.", "Open the HR Links page now.") is None
    assert changed_value("Wait 2 weeks in all.", "Wait 3 weeks at least.") is None
    assert mask_values("Wait 2 weeks.") == mask_values("wait 3 weeks.")


def test_an_as_of_question_points_at_the_text_of_its_day() -> None:
    found = drafted(page(BEFORE, "2023-01-01", "2024-01-01"), page(AFTER, "2024-01-01"))
    (then,) = of(found, "as_of_value")
    assert "January 2023" in then.text
    assert "at least how many days ahead of the trip?" in then.text
    assert then.answer == "14 days"
    assert [unit["source"] for unit in then.units] == ["acme/travel.md@2023-01-01"]
    assert then.units[0]["text"] == "Book your flights at least 14 days ahead of the trip."
    (both,) = of(found, "from_and_to")
    assert both.answer == ["14 days", "21 days"]
    assert [unit["source"] for unit in both.units] == ["acme/travel.md@2023-01-01", "acme/travel.md"]
    (now,) = of(found, "now")
    assert (now.answer, now.units[0]["source"]) == ("21 days", "acme/travel.md")


def test_texts_of_other_days_that_say_the_same_are_listed() -> None:
    first = page(BEFORE, "2022-01-01", "2023-01-01")
    second = page(BEFORE + "\n\nBring a passport.", "2023-01-01", "2024-01-01")
    found = drafted(first, second, page(AFTER, "2024-01-01"))
    (then,) = of(found, "as_of_value")
    assert then.units[0]["source"] == "acme/travel.md@2023-01-01"
    assert [also["source"] for also in then.units[0]["also"]] == ["acme/travel.md@2022-01-01"]


def test_nothing_is_asked_that_two_sentences_answer_or_whose_page_has_no_name_of_its_own() -> None:
    twice = "\n\nBook your flights at least 30 days ahead of the trip."
    found = drafted(page(BEFORE + twice, "2023-01-01", "2024-01-01"), page(AFTER + twice, "2024-01-01"))
    assert of(found, "as_of_value") == []
    namesake = page(BEFORE, "2024-01-01", path="other.md")
    found = drafted(page(BEFORE, "2023-01-01", "2024-01-01"), page(AFTER, "2024-01-01"), namesake)
    assert found == []


def test_many_changes_are_too_much_and_few_are_not() -> None:
    long = "\n\n".join(
        f"Rule {at} says that every team keeps list number {at} in good order." for at in range(40)
    )
    found = drafted(page(BEFORE, "2023-01-01", "2024-01-01"), page(f"{AFTER}\n\n{long}", "2024-01-01"))
    (everything,) = of(found, "all_changes")
    assert everything.impossible == "aggregation"
    assert len(everything.units) == 2 + 40  # the changed sentence twice, and what was added
    old = "Every teammate who travels abroad carries an insurance card."
    new = "Every teammate who travels abroad is covered by the group contract of the company."
    found = drafted(
        page(f"{BEFORE}\n\n{old}", "2023-01-01", "2024-01-01"), page(f"{BEFORE}\n\n{new}", "2024-01-01")
    )
    (few,) = of(found, "few_changes")
    assert few.impossible is None
    assert [unit["text"] for unit in few.units] == [old, new]


def test_what_was_only_added_or_removed_is_not_asked_for() -> None:
    added = "\n\nEvery teammate who travels abroad carries an insurance card."
    found = drafted(page(BEFORE, "2023-01-01", "2024-01-01"), page(BEFORE + added, "2024-01-01"))
    assert of(found, "few_changes") == []
    found = drafted(page(BEFORE + added, "2023-01-01", "2024-01-01"), page(BEFORE, "2024-01-01"))
    assert of(found, "few_changes") == []


def test_a_day_before_the_first_snapshot_has_no_evidence() -> None:
    found = drafted(page(BEFORE, "2023-01-01", "2024-01-01"), page(AFTER, "2024-01-01"))
    (early,) = of(found, "before_history")
    assert early.impossible == "out_of_kb"
    assert not early.units
    assert any(f"January {year}" in early.text for year in (2018, 2019, 2020))  # three to five years earlier
