"""The wording of pages on people, teams, services, products, projects, vendors and customers."""

from __future__ import annotations

import re
from random import Random

import pytest

from assay_worlds.workplace.kind import Kind, Relation, expand, slots
from assay_worlds.workplace.text.customer import CUSTOMER
from assay_worlds.workplace.text.person import PERSON
from assay_worlds.workplace.text.product import PRODUCT
from assay_worlds.workplace.text.project import PROJECT
from assay_worlds.workplace.text.service import SERVICE
from assay_worlds.workplace.text.team import TEAM
from assay_worlds.workplace.text.vendor import VENDOR

KINDS = (PERSON, TEAM, SERVICE, PRODUCT, PROJECT, VENDOR, CUSTOMER)
RELATIONS = tuple(relation for kind in KINDS for relation in kind.relations)
ENTITIES = {"person", "team", "office", "product", "service", "project", "vendor", "customer", "site"}
PROSE_SLOTS = {
    *("subject", "person", "other_person", "team", "other_team", "office", "product", "service", "project"),
    *("vendor", "customer", "month", "year", "date", "term", "other_term", "code"),
}
GIVES = {
    "person": {"team": "team", "manager": "person", "office": "office", "deputy": "person"},
    "team": {"lead": "person", "home": "office"},
    "service": {"owner": "team", "oncall": "person"},
    "product": {"manager": "person", "backend": "service", "plant": "site"},
    "project": {"sponsor": "person", "vendor": "vendor", "outcome": "product"},
    "vendor": {"buyer": "team"},
    "customer": {"executive": "person", "product": "product"},
}
DRAWN = {
    "person": {"extension", "room", "joined"},
    "team": {"cost_centre", "channel", "headcount"},
    "service": {"availability", "region", "runbook", "retention"},
    "product": {"licence", "warranty"},
    "project": {"budget", "kickoff", "phase"},
    "vendor": {"contact", "contract", "notice", "fee", "renewal"},
    "customer": {"plan", "seats", "renewal", "region"},
}
FEW = {"service.region": 8, "project.phase": 6, "customer.plan": 6, "customer.region": 8}
# Words by which a relation is stated: prose that held one could be taken for an answer.
SIGNALS = re.compile(
    r"\b(reports to|manager|deput\w+|stand-in|extension|room|joined norrvik|payroll|led by|heads|headcount|"
    r"cost centre|channel|owned by|owner|on call|pager|availability|uptime|region|runbook|retention|purged?|"
    r"product manager|backend|licen[cs]\w*|warranty|plant|assembly of|sponsor\w*|budget|kick-?off|phase|"
    r"outcome|contract|notice|fee|renew\w*|buyer for|account executive|plan|subscri\w+|seats|based (at|in)|"
    r"hosted in|home office|hired)\b",
    re.IGNORECASE,
)


def texts(relation: Relation) -> tuple[str, ...]:
    return (relation.keyword, *relation.natural, *relation.paraphrase)


def words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]+", re.sub(r"\{\w+\}", "", text).lower()))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.key)
def test_a_kind_has_the_relations_the_organisation_counts_on(kind: Kind) -> None:
    given = {relation.key.partition(".")[2]: relation.gives for relation in kind.relations}
    assert given == {**GIVES[kind.key], **dict.fromkeys(DRAWN[kind.key], "")}
    assert {relation.key.partition(".")[0] for relation in kind.relations} == {kind.key}
    assert not kind.editions
    assert len(set(kind.titles)) >= 4
    assert all(slots(title) == {"subject"} for title in kind.titles)
    assert sum(bool(relation.listing) for relation in kind.relations) >= 2
    assert 2 <= len({relation.section for relation in kind.relations}) <= 4
    assert all(relation.section for relation in kind.relations)


@pytest.mark.parametrize("relation", RELATIONS, ids=lambda relation: relation.key)
def test_a_relation_is_worded_in_full(relation: Relation) -> None:
    assert len(set(relation.states)) >= 5
    assert all(slots(state) == {"subject", "value"} for state in relation.states)
    assert all(state.count("{subject}") == state.count("{value}") == 1 for state in relation.states)
    assert all(state.endswith(".") for state in relation.states)
    assert len(set(relation.natural)) == len(set(relation.paraphrase)) == 3
    assert all(slots(text) == {"of"} for text in texts(relation))
    assert all(text.endswith("?") for text in texts(relation)[1:])
    assert slots(relation.phrase) == {"of"}
    assert not relation.listing or slots(relation.listing) == {"value"}
    assert not relation.compare or slots(relation.compare) == {"a", "b"}
    assert bool(relation.gives) != bool(relation.value)
    assert relation.gives in ENTITIES | {""}


@pytest.mark.parametrize("relation", RELATIONS, ids=lambda relation: relation.key)
def test_a_question_reads_well_of_a_phrase_too(relation: Relation) -> None:
    for text in texts(relation)[1:]:
        assert not text.startswith("{of}")  # "the owner of Kestrel" begins in lower case
        assert "{of}'s" not in text
        assert not re.search(r"\b(a|an|the|every|each|\w+ broken) \{of\}", text)


@pytest.mark.parametrize("relation", RELATIONS, ids=lambda relation: relation.key)
def test_a_paraphrase_shares_fewer_words_than_a_natural_question(relation: Relation) -> None:
    stated = {word for state in relation.states for word in words(state)}

    def shared(questions: tuple[str, ...]) -> float:
        return sum(len(words(text) & stated) / len(words(text)) for text in questions)

    assert shared(relation.paraphrase) < shared(relation.natural)


@pytest.mark.parametrize("relation", [each for each in RELATIONS if each.value], ids=lambda each: each.key)
def test_values_are_many_or_shared(relation: Relation) -> None:
    rng = Random(3)
    drawn = {expand(relation.value, rng) for _ in range(400)}
    assert not any(re.search(r"[\[\]<>{}|]", value) for value in drawn)
    if relation.key in FEW:
        assert len(drawn) == FEW[relation.key]
        assert relation.listing
    else:
        assert len(drawn) >= 12
    if relation.compare:
        assert all(re.search(r"\d", value) for value in drawn)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.key)
def test_prose_is_rich_and_answers_nothing(kind: Kind) -> None:
    assert len(set(kind.prose)) == len(kind.prose) >= 45
    rng = Random(11)
    for pattern in kind.prose:
        assert slots(pattern) <= PROSE_SLOTS
        assert pattern.endswith(".")
        assert pattern.count("|") >= 8, pattern
        assert not (found := SIGNALS.search(pattern)), f"{found} in {pattern}"
        for _ in range(8):
            text = expand(pattern, rng)
            assert not re.search(r"[\[\]<>|]|  |\d", text), text
            assert 9 <= len(text.replace("{subject}", "a name").split()) <= 30, text


def test_no_wording_is_used_twice() -> None:
    states = [state for relation in RELATIONS for state in relation.states]
    prose = [pattern for kind in KINDS for pattern in kind.prose]
    questions = [text for relation in RELATIONS for text in texts(relation)]
    for each in (states, prose, questions, [relation.key for relation in RELATIONS]):
        assert len(set(each)) == len(each)
