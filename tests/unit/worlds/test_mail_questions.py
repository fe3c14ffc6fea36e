"""Questions on e-mail: who, when, in answer to whom, and what is not there."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from assay.core.dataset import Corpus
from assay.core.protocols import Kit
from assay.datasets.evidence import find_misplaced
from assay_worlds.sources.mail import Mail
from assay_worlds.sources.source import passages_of
from assay_worlds.suites.real.mail_questions import questions
from assay_worlds.suites.real.question import QuestionDraft


def raw(number: int, name: str, day: int, subject: str, *, answers: int = 0, body: str = "Hello.") -> str:
    address = name.partition(" ")[0].lower()
    reply = f"In-Reply-To: <{answers}@x>\n" if answers else ""
    return (
        f"From: {name} <{address}@x.org>\nDate: {day} Aug 2002 10:00:00 +0000\nSubject: {subject}\n"
        f"Message-Id: <{number}@x>\n{reply}\n{body}\n"
    )


MAIL = [
    raw(1, "Ann Lee", 1, "Water in the cellar"),
    raw(2, "Bob Ray", 3, "Re: Water in the cellar", answers=1, body="Ann Lee wrote:\n> Hello.\n\nYes."),
    raw(3, "Cid Fox", 5, "Re: Water in the cellar", answers=2, body="Bob Ray wrote:\n> Yes.\n\nNo."),
    raw(4, "Ann Lee", 9, "Paint for the roof"),
    raw(5, "Dot Kay", 11, "Keys are lost"),
    raw(6, "Eve Orr", 12, "Keys are lost"),
    raw(7, "Bob Ray", 14, "Lunch on Friday"),
    raw(8, "Cid Fox", 15, "Re: Lunch on Friday", answers=7),
    raw(9, "Cid Fox", 16, "Re: Lunch on Friday", answers=7),
]


@pytest.fixture
def found(tmp_path: Path) -> list[QuestionDraft]:
    return drafted(tmp_path, MAIL)


def drafted(folder: Path, mail: list[str]) -> list[QuestionDraft]:
    lines = [json.dumps({"_id": str(number), "raw": each}) for number, each in enumerate(mail, 1)]
    (folder / "mail.jsonl").write_text("\n".join(lines))
    pages = list(Mail(str(folder)).pages(Kit()))
    passages = {page.document.doc_id: passages_of(page) for page in pages}
    made = list(questions(pages, passages, Random(1)))
    corpus = Corpus(
        [each for cut in passages.values() for each in cut],
        {page.document.doc_id: page.document for page in pages},
    )
    assert not find_misplaced([unit for each in made for unit in each.units], corpus)
    assert made == list(questions(pages, passages, Random(1)))
    return made


def answers(found: list[QuestionDraft], kind: str) -> dict[str, str | list[str]]:
    return {each.text: each.answer for each in found if each.kind == kind}


def test_the_sender_of_a_day(found: list[QuestionDraft]) -> None:
    asked = answers(found, "mail_sender")
    assert asked["Who wrote the e-mail about “Water in the cellar” on 3 August 2002?"] == "Bob Ray"
    assert not any("Keys are lost" in text for text in asked)  # two threads have this subject
    (sender,) = [each for each in found if "on 3 August 2002" in each.text and each.kind == "mail_sender"]
    assert [unit["text"] for unit in sender.units] == [
        "From: Bob Ray <bob@x.org>",
        "Date: 2002-08-03 10:00+00:00",
        "Subject: Re: Water in the cellar",
    ]


def test_the_day_of_the_first_message(found: list[QuestionDraft]) -> None:
    assert answers(found, "mail_opened") == {
        "On which day did Ann Lee open the e-mail thread “Water in the cellar”?": "2002-08-01",
        "On which day did Bob Ray open the e-mail thread “Lunch on Friday”?": "2002-08-14",
    }


def test_an_address_of_someone_who_wrote_once(found: list[QuestionDraft]) -> None:
    assert answers(found, "mail_address") == {
        "From which e-mail address did Dot Kay write?": "dot@x.org",
        "From which e-mail address did Eve Orr write?": "eve@x.org",
    }


def test_replies_that_quote_by_name(found: list[QuestionDraft]) -> None:
    assert answers(found, "mail_answered") == {
        "Whose words did Bob Ray answer about “Water in the cellar” on 3 August 2002?": "Ann Lee",
        "Whose words did Cid Fox answer about “Water in the cellar” on 5 August 2002?": "Bob Ray",
    }
    days = [each for each in found if each.kind == "mail_answered_day"]
    assert {each.answer for each in days} == {"2002-08-01", "2002-08-03"}
    assert all({"two_hop", "entity_spanning"} <= set(each.tags) and len(each.units) == 7 for each in days)


def test_a_reply_to_a_reply_is_three_steps(found: list[QuestionDraft]) -> None:
    (chain,) = [each for each in found if each.kind == "mail_chain"]
    assert chain.text.startswith("On 5 August 2002 Cid Fox answered an e-mail about “Water in the cellar”")
    assert chain.answer == "2002-08-01"
    assert {unit["source"] for unit in chain.units} == {"mail/1", "mail/2", "mail/3"}


def test_another_thread_of_the_same_person(found: list[QuestionDraft]) -> None:
    asked = answers(found, "mail_other_thread")
    text = (
        "The person who opened the e-mail thread “Paint for the roof” also began a new one on 1 August 2002."
    )
    assert asked.get(f"{text} What was its subject?", "Water in the cellar") == "Water in the cellar"
    assert set(asked.values()) <= {"Water in the cellar", "Paint for the roof"}


def test_the_earlier_of_two_threads(found: list[QuestionDraft]) -> None:
    opened = {"Water in the cellar": 1, "Paint for the roof": 9, "Lunch on Friday": 14}
    openers = {1: "Ann Lee", 9: "Ann Lee", 14: "Bob Ray"}
    for text, answer in answers(found, "mail_earlier").items():
        days = [day for subject, day in opened.items() if f"“{subject}”" in text]
        assert answer == openers[min(days)]


def test_an_ambiguous_question_has_every_answer(found: list[QuestionDraft]) -> None:
    assert answers(found, "mail_shared_subject") == {
        "Who opened an e-mail thread “Keys are lost”?": ["Dot Kay", "Eve Orr"]
    }
    assert answers(found, "mail_several_days") == {
        "When did Cid Fox write about “Lunch on Friday”?": ["2002-08-15", "2002-08-16"]
    }


def test_years_without_mail_are_not_there(found: list[QuestionDraft]) -> None:
    absent = [each for each in found if each.kind == "mail_absent"]
    assert absent
    assert all(each.impossible == "out_of_kb" and "2002" not in each.text for each in absent)


def test_long_lists_are_too_much(tmp_path: Path) -> None:
    first = raw(1, "Ann Lee", 1, "Water in the cellar")
    replies = [
        raw(number, "Bob Ray", number, "Re: Water in the cellar", answers=1) for number in range(2, 29)
    ]
    found = drafted(tmp_path, [first, *replies])
    (thread,) = [each for each in found if each.kind == "mail_thread_list"]
    assert thread.impossible == "aggregation"
    assert thread.answer == ["Ann Lee", "Bob Ray"]
    assert len(thread.units) == 3 * 28
    (sender,) = [each for each in found if each.kind == "mail_sender_list"]
    assert sender.answer == ["Water in the cellar"]


def test_no_mail_gives_no_questions() -> None:
    assert list(questions([], {}, Random(1))) == []
