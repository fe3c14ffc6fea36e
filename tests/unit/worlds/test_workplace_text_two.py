"""The wording of policies, procedures, releases, incidents, assets, courses, sites, committees and talk."""

from __future__ import annotations

import re
from itertools import combinations
from random import Random

import pytest

from assay_worlds.workplace.kind import Kind, Relation, expand, slots
from assay_worlds.workplace.text.asset import ASSET
from assay_worlds.workplace.text.committee import COMMITTEE
from assay_worlds.workplace.text.course import COURSE
from assay_worlds.workplace.text.incident import INCIDENT
from assay_worlds.workplace.text.policy import POLICY
from assay_worlds.workplace.text.procedure import PROCEDURE, STEPS
from assay_worlds.workplace.text.release import RELEASE
from assay_worlds.workplace.text.site import SITE
from assay_worlds.workplace.text.talk import MEMO, MINUTES, THREAD

FACTUAL = (POLICY, PROCEDURE, RELEASE, INCIDENT, ASSET, COURSE, SITE, COMMITTEE)
TALK = (MINUTES, MEMO, THREAD)
KINDS = FACTUAL + TALK
RELATIONS = [(kind, relation) for kind in FACTUAL for relation in kind.relations]

ENTITIES = {"person", "team", "office", "product", "service", "project", "vendor", "customer"}
PROSE_SLOTS = ENTITIES | {
    *("subject", "other_person", "other_team", "month", "year", "date", "term", "other_term", "code"),
}
# Few by nature: a course is held in one of six ways, a committee meets at one of six intervals.
FEW = {"course.format", "committee.meets"}
# What would state a relation: one entity bound to another, or a role with its holder.
STATING = re.compile(
    r"\{(other_)?person\} (of|from|in|at) (the )?\{(team|office)"
    r"|\{(other_)?team\} (in|at) (the )?\{office"
    r"|\{customer\}[^.]*\{product\}|\{product\}[^.]*\{(customer|service)\}"
    r"|\b(led|chaired|taught|owned|managed|bought|supplied|custody|custodian|signed off|approved)\b"
    r"[^.]*\b(by|of|from) \{"
)


def kind_name(kind: Kind) -> str:
    return kind.key


def relation_name(case: tuple[Kind, Relation]) -> str:
    return case[1].key


def questions(relation: Relation) -> list[str]:
    return [relation.keyword, *relation.natural, *relation.paraphrase]


def patterns(kind: Kind) -> list[str]:
    said = [each for one in kind.relations for each in (*one.states, *questions(one), one.value, one.phrase)]
    return [*kind.titles, *kind.names, *kind.prose, *said]


def choices(pattern: str) -> int:
    """How many texts a pattern without nested choices can become."""
    number = 1
    for options, low, high, step in re.findall(r"\[([^\[\]]*)\]|<(\d+)\.\.(\d+)(?:/(\d+))?>", pattern):
        number *= (
            sum(choices(each) for each in options.split("|"))
            if options
            else len(range(int(low), int(high) + 1, int(step or 1)))
        )
    return number


def words(text: str) -> set[str]:
    return {each for each in re.findall(r"[a-z]+", re.sub(r"\{\w+\}", "", text.lower())) if len(each) > 3}


@pytest.mark.parametrize("kind", KINDS, ids=kind_name)
def test_prose_is_plenty_varied_and_fills_only_known_slots(kind: Kind) -> None:
    assert len(kind.prose) >= (60 if kind in TALK else 45)
    assert len(kind.titles) >= 4
    assert len(set(kind.prose)) == len(kind.prose)
    for pattern in kind.prose:
        assert slots(pattern) <= PROSE_SLOTS, pattern
        assert choices(pattern) >= 40, pattern
        assert pattern.endswith((".", "?")), pattern
        for seed in range(5):
            assert 9 <= len(expand(pattern, Random(seed)).split()) <= 31, pattern


@pytest.mark.parametrize("kind", KINDS, ids=kind_name)
def test_prose_answers_nothing(kind: Kind) -> None:
    for pattern in kind.prose:
        assert not re.search(r"\d", pattern), pattern
        for seed in range(5):
            text = expand(pattern, Random(seed))
            assert not STATING.search(text), text


@pytest.mark.parametrize("kind", KINDS, ids=kind_name)
def test_patterns_expand_to_plain_text(kind: Kind) -> None:
    for pattern in patterns(kind):
        assert pattern.count("[") == pattern.count("]"), pattern
        assert "||" not in pattern, pattern
        assert "[|" not in pattern, pattern
        assert "|]" not in pattern, pattern
        text = expand(pattern, Random(7))
        assert not set(text) & set("[]<>|"), text
        assert "  " not in text, text
        assert text == text.strip()


@pytest.mark.parametrize("kind", KINDS, ids=kind_name)
def test_titles_and_names(kind: Kind) -> None:
    assert all(slots(title) == {"subject"} for title in kind.titles)
    assert not any(slots(name) for name in kind.names)
    assert len(set(kind.names)) == len(kind.names)
    # Releases are about products, which the organisation names.
    assert bool(kind.names) is (kind is not RELEASE)
    assert kind.editions is (kind in {POLICY, RELEASE})
    assert sum(choices(name) for name in kind.names) >= (30 if kind.names else 0)


@pytest.mark.parametrize("case", RELATIONS, ids=relation_name)
def test_states_stand_for_themselves(case: tuple[Kind, Relation]) -> None:
    kind, relation = case
    when = {"when"} if kind.editions else set()
    assert relation.key.startswith(f"{kind.key}.")
    assert len(set(relation.states)) >= 5
    for state in relation.states:
        assert slots(state) == {"subject", "value"} | when, state
        assert state.endswith("."), state
    for one, other in combinations(relation.states, 2):
        shared = words(one) & words(other)
        assert len(shared) <= 0.7 * len(words(one) | words(other)), (one, other)


@pytest.mark.parametrize("case", RELATIONS, ids=relation_name)
def test_questions_name_the_subject(case: tuple[Kind, Relation]) -> None:
    kind, relation = case
    when = {"when"} if kind.editions else set()
    assert len(set(relation.natural)) == 3
    assert len(set(relation.paraphrase)) == 3
    for question in questions(relation):
        assert slots(question) == {"of"} | when, question
    assert all(each.endswith("?") for each in (*relation.natural, *relation.paraphrase))
    assert slots(relation.phrase) == {"of"} | when
    assert not relation.phrase.endswith((".", "?"))
    assert relation.section
    for pattern, own in ((relation.listing, {"value"}), (relation.compare, {"a", "b"})):
        assert not pattern or slots(pattern) == own | when, pattern


@pytest.mark.parametrize("case", RELATIONS, ids=relation_name)
def test_values_are_an_entity_or_drawn_from_enough(case: tuple[Kind, Relation]) -> None:
    _, relation = case
    assert bool(relation.gives) is not bool(relation.value)
    if relation.gives:
        assert relation.gives in ENTITIES
        return
    assert choices(relation.value) >= (6 if relation.key in FEW else 12)
    if relation.compare:
        assert re.match(r"\d", expand(relation.value, Random(1))), "what is compared begins with its number"


@pytest.mark.parametrize("kind", FACTUAL, ids=kind_name)
def test_a_kind_can_be_listed_compared_and_sectioned(kind: Kind) -> None:
    assert sum(bool(relation.listing) for relation in kind.relations) >= 2
    assert any(relation.compare for relation in kind.relations) is (kind is not ASSET)
    assert 2 <= len({relation.section for relation in kind.relations}) <= 4
    assert len({relation.key for relation in kind.relations}) == len(kind.relations)
    said = [state for relation in kind.relations for state in relation.states]
    asked = [question for relation in kind.relations for question in questions(relation)]
    assert len(set(said)) == len(said)
    assert len(set(asked)) == len(asked)


@pytest.mark.parametrize("kind", FACTUAL, ids=kind_name)
def test_paraphrases_share_fewer_words_with_the_page_than_natural_questions(kind: Kind) -> None:
    def shared(asked: tuple[str, ...], relation: Relation) -> float:
        known = {word for state in relation.states for word in words(state)}
        return sum(len(words(each) & known) / max(1, len(words(each))) for each in asked)

    natural = sum(shared(relation.natural, relation) for relation in kind.relations)
    paraphrase = sum(shared(relation.paraphrase, relation) for relation in kind.relations)
    assert paraphrase < 0.5 * natural


def test_steps_of_procedures() -> None:
    assert len(set(STEPS)) == len(STEPS) >= 40
    for step in STEPS:
        assert slots(step) == {"subject", "number"}, step
        assert choices(step) >= 20, step
        assert not set(expand(step, Random(3))) & set("[]<>|"), step


def test_no_sentence_is_written_twice() -> None:
    prose = [pattern for kind in KINDS for pattern in kind.prose]
    assert len(set(prose)) == len(prose)


def test_count_of_choices() -> None:
    assert choices("<2..30/2> days") == 15  # 2, 4, … 30
    assert choices("[a|b] <1..3>") == 6  # 2 words times 3 numbers
    assert choices("plain") == 1
