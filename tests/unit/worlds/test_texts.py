"""The text files of the worlds: all can be read and filled, and a fault is reported with its line."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

import pytest

from assay.core.errors import DataError
from assay_worlds.incidents.lexicon import themes
from assay_worlds.incidents.passages import pools, slots
from assay_worlds.incidents.report import plan
from assay_worlds.suites.asking import wordings
from assay_worlds.suites.special_questions import by_hand
from assay_worlds.template import slots_of
from assay_worlds.texts import TextEntry, parse_texts
from assay_worlds.workplace.corpus import Workforce
from assay_worlds.workplace.directory import kinds
from assay_worlds.workplace.pages import Slots

RELATIONS = [(kind, relation) for kind in kinds().values() for relation in kind.relations]


class Pet(TextEntry, frozen=True):
    """Something to read."""

    name: str
    legs: int = 4
    sounds: tuple[str, ...] = ()


def test_a_block_is_a_list_and_every_word_is_text_unless_a_number_is_asked_for() -> None:
    text = "- name: no\n  legs: 3\n  sounds: |\n    {who}: [purr|hiss]\n    - hum # all day\n- {name: 1.10}\n"
    first, second = parse_texts(tuple[Pet, ...], text, "pets.yaml")
    assert first == Pet("no", 3, ("{who}: [purr|hiss]", "- hum # all day"))
    assert second == Pet("1.10")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- name: a\n- name: [b\n", "pets.yaml:3: this is not YAML"),
        ("- name: a\n- {name: b, legs: two}\n", "pets.yaml:2: [1].legs: expected int, got str"),
        ("- name: a\n- legs: 2\n", "pets.yaml:2: [1].name: the field is missing"),
        ("- name: a\n  colour: red\n", "pets.yaml:1: [0]: object contains unknown field colour"),
        ("- name: a\n- name: b\n  name: c\n", "pets.yaml:2: two fields of the entry"),
        ("- name: a\n  sounds: |\n    purr\n    [hiss|spit\n", "pets.yaml:4: '[' is not part of"),
        ("- name: '{a'\n", "pets.yaml:1: '{' is not part of"),
        ("", "pets.yaml: the file is empty"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text: str, said: str) -> None:
    with pytest.raises(DataError) as raised:
        parse_texts(tuple[Pet, ...], text, "pets.yaml")
    assert str(raised.value).startswith(said)


def test_every_relation_names_its_subject_in_sentences_and_questions() -> None:
    for kind, relation in RELATIONS:
        when = {"when"} if kind.editions else set()
        assert relation.kind == kind.key
        assert bool(relation.gives) != bool(relation.value), relation.key
        assert all(slots_of(state) == {"subject", "value", *when} for state in relation.states)
        for asked in (relation.keyword, relation.phrase, *relation.natural, *relation.paraphrase):
            assert slots_of(asked) == {"of", *when}, asked
        for asked, own in ((relation.listing, {"value"}), (relation.compare, {"a", "b"})):
            assert not asked or slots_of(asked) == own | when, asked


def test_pages_can_fill_every_slot() -> None:
    known = Slots(Workforce(7).directory, 0, Random(1), subject="the matter", when="2020", number="1")
    for kind in kinds().values():
        for slot in used((*kind.prose, *kind.titles, *kind.steps)):
            assert known[slot]


def test_reports_can_fill_every_slot() -> None:
    report, other = plan(Random(1))[:2]
    known = slots(Random(1), report, other)
    told = [text for theme in themes().values() for text in (*theme.keyword, *theme.paraphrase)]
    advised = [text for theme in themes().values() for text in (*theme.advice_keyword, *theme.other_sense)]
    written = [text for pool in pools().values() for text in pool]
    assert used([*told, *advised, *written]) <= set(known)


def test_questions_by_hand_ask_by_relations_that_there_are() -> None:
    known = {relation.key for _, relation in RELATIONS}
    asked = [hand for hands in by_hand().values() for hand in hands]
    assert {relation for hand in asked for relation in hand.relations} <= known
    assert used(hand.text for hand in asked) == {"of", "when", "then", "a", "b", "value", "names"}
    assert used(wordings().for_which) == {"kinds", "phrase", "value"}


def used(templates: Iterable[str]) -> set[str]:
    return {slot for template in templates for slot in slots_of(template)}
