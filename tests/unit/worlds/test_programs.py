"""Programs over facts: answers, evidence, and what is left when a sentence is dropped."""

from __future__ import annotations

import pytest

from assay_worlds.workplace.facts import Atom, Facts
from assay_worlds.workplace.injections import EXTENSION, MEANS, MEASURE, RULE
from assay_worlds.workplace.pages import STEP
from assay_worlds.workplace.programs import (
    Chain,
    Conjunction,
    Derivation,
    GlossedTerm,
    History,
    Join,
    LargerOfTwo,
    Listing,
    NoAnswer,
    Portraits,
    Program,
    Readings,
    Series,
    Steps,
    ValueAsOf,
    ValueChange,
    minimal,
)

ATOMS = [
    Atom("service.owner", "relay", "Optics"),
    Atom("service.region", "relay", "north"),
    Atom("service.region", "vault", "north"),
    Atom("service.region", "queue", "south"),
    Atom("team.lead", "Optics", "Ada"),
    Atom("person.extension", "Ada", "4711"),
    Atom("asset.custodian", "KX-1", "Ada"),
    Atom("asset.custodian", "KX-2", "Ada"),
    Atom("person.office", "Ada", "Leeds"),
    Atom("vendor.notice", "Holt", "30 days"),
    Atom("vendor.notice", "Berg", "120 days"),
    Atom("policy.limit", "travel at the Leeds office", "100 EUR", "2020"),
    Atom("policy.limit", "travel at the Leeds office", "150 EUR", "2021"),
    Atom("policy.limit", "travel at the Turin office", "90 EUR", "2020"),
    Atom(RULE, "the fee at the Leeds office", "2 EUR", "2018"),
    Atom(RULE, "the fee at the Leeds office", "5 EUR", "2022"),
    Atom(EXTENSION, "the building Varn", "2001"),
    Atom(EXTENSION, "the project Varn", "2002"),
    Atom(MEANS, "brelvane", "the key time"),
    Atom(MEASURE, "brelvane at the Leeds office", "8 hours"),
    Atom(STEP, "badges at the Leeds office", "First.", "1"),
    Atom(STEP, "badges at the Leeds office", "Then.", "2"),
]
FACTS = Facts(ATOMS)

TWO = Conjunction((Chain("relay", ("service.region",)), Chain("relay", ("service.owner",))))
# each with its answer and the number of sentences that it takes
CASES: list[tuple[Program, tuple[str, ...], int]] = [
    (Chain("relay", ("service.region",)), ("north",), 1),
    (Chain("relay", ("service.owner", "team.lead", "person.extension")), ("4711",), 3),
    (Chain("travel at the Leeds office", ("policy.limit",), "2021"), ("150 EUR",), 1),
    (LargerOfTwo("vendor.notice", ("Holt", "Berg")), ("Berg, with 120 days",), 2),
    (ValueChange("policy.limit", "travel at the Leeds office", "2020", "2021"), ("100 EUR", "150 EUR"), 2),
    (ValueAsOf(RULE, "the fee at the Leeds office", "2021"), ("2 EUR",), 1),
    (ValueAsOf(RULE, "the fee at the Leeds office", "2025"), ("5 EUR",), 1),
    (Listing("service.region", "north"), ("relay", "vault"), 2),
    (Join("asset.custodian", "person.office", "Leeds"), ("KX-1", "KX-2"), 3),
    (Readings(EXTENSION, "Varn"), ("2001", "2002"), 2),
    (Steps("badges at the Leeds office"), ("First.", "Then."), 2),
    (
        Series("policy.limit", "travel", "2020"),
        ("Leeds office, 2020: 100 EUR", "Turin office, 2020: 90 EUR"),
        2,
    ),
    (GlossedTerm("the key time", "Leeds"), ("8 hours",), 2),
    (TWO, ("north", "Optics"), 2),
]


@pytest.mark.parametrize(("program", "answer", "sentences"), CASES)
def test_an_answer_and_the_sentences_it_takes(
    program: Program, answer: tuple[str, ...], sentences: int
) -> None:
    derived = program.derive(FACTS)
    assert derived is not None
    assert derived.answer == answer
    assert len(derived.atoms) == sentences
    assert minimal(program, derived)


def test_the_whole_history_and_several_portraits() -> None:
    history = History("travel at the Leeds office").derive(FACTS)
    assert history is not None
    assert history.answer == ("limit, 2020: 100 EUR", "limit, 2021: 150 EUR")
    portraits = Portraits(("relay", "vault")).derive(FACTS)
    assert portraits is not None
    assert len(portraits.atoms) == 3  # two of relay, one of vault
    assert Portraits(("relay", "nobody")).derive(FACTS) is None


def test_nothing_follows_from_what_is_not_stated() -> None:
    assert NoAnswer(("nothing",)).derive(FACTS) is None
    assert Chain("vault", ("service.owner",)).derive(FACTS) is None
    assert ValueAsOf(RULE, "the fee at the Leeds office", "2017").derive(FACTS) is None
    assert ValueChange("policy.limit", "travel at the Leeds office", "2020", "2020").derive(FACTS) is None
    assert LargerOfTwo("vendor.notice", ("Holt", "Nobody")).derive(FACTS) is None


def test_evidence_with_a_sentence_too_many_or_too_few_is_not_minimal() -> None:
    program = Chain("relay", ("service.region",))
    needed, other = ATOMS[1], ATOMS[0]
    assert not minimal(program, Derivation(("north",), (needed, other)))
    assert not minimal(program, Derivation(("north",), (other,)))
    assert not minimal(program, Derivation(("south",), (needed,)))
