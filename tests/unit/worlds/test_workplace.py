"""The generated organisation and its 500 queries, on the first stage."""

from __future__ import annotations

import dataclasses
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from assay.core.dataset import Dataset
from assay.core.errors import UsageError
from assay.core.protocols import Kit
from assay.datasets.evidence import find_misplaced, needed_texts
from assay.retrieval.tokens import O200kBase
from assay_worlds.suites.leaks import leaks, overlap_by_tag
from assay_worlds.suites.plan import WANTED
from assay_worlds.suites.workplace import Suite, SuiteQuery, Workplace
from assay_worlds.workplace.corpus import Workforce, WrittenStage
from assay_worlds.workplace.facts import Atom, Facts, places_of_facts
from assay_worlds.workplace.injections import BREAKS, InjectedGroup, injections
from assay_worlds.workplace.programs import NoAnswer

MIXED = {"two_listings", "mixed_portraits"}


@dataclass(frozen=True)
class Made:
    """Everything that loading the first stage makes, for once."""

    written: WrittenStage
    groups: list[InjectedGroup]
    queries: list[SuiteQuery]
    dataset: Dataset


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    workforce = Workforce(7)
    groups = injections(workforce.directory)
    written = workforce.written("10k", [draft for group in groups for draft in group.drafts])
    suite = Suite(workforce, written, O200kBase().load(Kit(cache=tmp_path_factory.mktemp("cache"))))
    queries = list(suite.queries(groups))
    return Made(
        written, groups, queries, Dataset("w", written.corpus, [suite.item(each) for each in queries])
    )


@pytest.mark.slow
def test_the_stage_has_as_many_passages_as_it_says(made: Made) -> None:
    assert len(made.dataset.corpus) == 10_000
    assert len(made.dataset.items) == 500


def test_the_counts_of_the_items_are_the_designs(made: Made) -> None:
    test = [item for item in made.dataset.items if item.split == "test"]
    assert Counter(tag for item in test for tag in item.tags["tag"]) == WANTED
    assert Counter(item.tags["origin"][0] for item in test) == {
        "anchored": 180,
        "adversarial": 60,
        "hand": 60,
    }
    assert Counter(item.tags["feasible"][0] for item in test) == {"yes": 180, "no": 120}
    # 30 of the 180 that a budget of 400 is enough for are answered by later stages alone
    absent = [item for item in test if item.tags["present"] == ["no"]]
    assert [item.tags["feasible"] for item in absent] == [["yes"]] * 30
    assert {item.gold["impossible"] for item in absent} == {"out_of_kb"}


def test_no_evidence_can_spare_a_sentence(made: Made) -> None:
    places = places_of_facts(made.written.mentions)
    facts = Facts(places)
    looked_at = 0
    for query, item in zip(made.queries, made.dataset.items, strict=True):
        derived = query.asked.program.derive(facts)
        if derived is None:
            assert "evidence" not in item.gold
            continue
        told = {text for unit in item.gold["evidence"] for text in needed_texts(unit)}
        assert told == {places[atom].text for atom in derived.atoms}
        assert_underivable_without_any(query, derived.atoms, derived.answer)
        looked_at += 1
    assert looked_at == 400  # all but 50 that nothing states and 50 of later stages


def assert_underivable_without_any(
    query: SuiteQuery, atoms: tuple[Atom, ...], answer: tuple[str, ...]
) -> None:
    whole = query.asked.program.derive(Facts(atoms))
    assert whole is not None
    assert sorted(whole.answer) == sorted(answer)
    for dropped in atoms:
        rest = query.asked.program.derive(Facts(atom for atom in atoms if atom != dropped))
        assert rest is None or sorted(rest.answer) != sorted(answer), (query.asked.text, dropped)


def test_feasible_means_at_most_400_tokens_by_count(made: Made) -> None:
    tokens = O200kBase().load(Kit())
    for item in made.dataset.items:
        if "evidence" in item.gold:
            shown = "\n".join(text for unit in item.gold["evidence"] for text in needed_texts(unit))
            assert tokens.counts([shown]) == [item.gold["tokens"]]
            assert (item.gold["tokens"] <= 400) == (item.tags["feasible"] == ["yes"])
        else:
            assert (item.tags["feasible"] == ["yes"]) == (item.tags["present"] == ["no"])
            assert (item.expects, item.gold) == ("nothing", {"impossible": "out_of_kb"})


def test_evidence_lies_where_it_says(made: Made) -> None:
    for item in made.dataset.items:
        assert not find_misplaced(item.gold.get("evidence", ()), made.dataset.corpus)
        assert all(doc_id in made.dataset.corpus.position for doc_id in item.gold.get("relevant", ()))


def test_paragraph_grain_is_for_policies_and_procedures(made: Made) -> None:
    grains = {
        (item.tags["shape"][0], item.gold["grain"]) for item in made.dataset.items if "grain" in item.gold
    }
    assert {shape for shape, grain in grains if grain == "paragraph"} == {
        "steps",
        "loan",
        "two_clauses",
        "two_topics",
        "history",
        "series",
    }
    assert len(grains) == len(dict(grains))


def test_no_query_gives_its_answer_away(made: Made) -> None:
    for item in made.dataset.items:
        answer = item.gold.get("answer", [])
        assert not leaks(item.text, [answer] if isinstance(answer, str) else answer), item.text
    shares = overlap_by_tag(made.dataset.items)
    assert set(shares) == set(WANTED) - {"out_of_distribution"}
    assert all(0.1 < share < 0.95 for share, _ in shares.values()), shares


def test_half_of_what_nobody_can_answer_is_about_somebody_who_exists(made: Made) -> None:
    facts = Facts(places_of_facts(made.written.mentions))
    silent = [query for query in made.queries if query.slot.cell.unknown]
    by_shape = Counter(query.slot.cell.shape.removesuffix("_detail") for query in silent)
    assert by_shape == {"unknown": 10, "unknown_name": 20, "unknown_fact": 20}
    for query in silent:
        if query.slot.origin != "hand":
            assert isinstance(query.asked.program, NoAnswer)
            relation, name = query.asked.program.what
            assert facts.find(relation, name) is None
            assert bool(facts.about(name)) == query.slot.cell.shape.startswith("unknown_fact")


def test_nothing_is_asked_twice_in_whatever_words(made: Made) -> None:
    programs = Counter(query.asked.program for query in made.queries)
    assert set(programs.values()) == {1}


def test_a_single_branch_is_one_kind_of_page_and_a_spanning_query_is_of_several(made: Made) -> None:
    facts = Facts(places_of_facts(made.written.mentions))
    for query in made.queries:
        derived = query.asked.program.derive(facts)
        kinds = {atom.relation.partition(".")[0] for atom in derived.atoms} if derived else set()
        tags = query.slot.cell.tags
        if "single_branch" in tags and query.slot.cell.shape != "glossed":
            assert len(kinds) <= 1, query.asked.text
        if derived and ("entity_spanning" in tags or query.slot.cell.shape in MIXED):
            assert len(kinds) > 1, query.asked.text


def test_pages_that_differ_in_a_letter_differ_in_nothing_else(made: Made) -> None:
    group = next(group for group in made.groups if group.injector == "near_duplicate")
    texts = [" ".join(each.text for each in draft.paragraphs[0].sentences) for draft in group.drafts]
    letters = [atom.subject.split()[1] for atom in group.atoms]
    plain = {
        text.replace(f"rade {letter} ", "rade _ ").replace(f"LN-{letter}", "LN-_")
        for text, letter in zip(texts, letters, strict=True)
    }
    assert len(set(texts)) == 4
    assert len(plain) == 1


def test_every_injected_page_is_in_the_first_stage(made: Made) -> None:
    assert {group.injector for group in made.groups} == set(BREAKS)
    injected = {draft.doc_id for group in made.groups for draft in group.drafts}
    assert injected <= made.dataset.corpus.documents.keys()


def test_every_fact_is_stated_once(made: Made) -> None:
    told = Counter(
        (mention.fact.relation, mention.fact.subject, mention.fact.when) for mention in made.written.mentions
    )
    assert set(told.values()) == {1}


def test_another_seed_is_another_organisation() -> None:
    one, other = (Workforce(seed).directory.every("person") for seed in (7, 8))
    assert len(one) == len(other)
    assert not {each.name for each in one[:100]} & {each.name for each in other[:100]}


@pytest.mark.parametrize(
    ("workplace", "what"),
    [(Workplace(stage="20k"), "no stage '20k'"), (Workplace(real=0.9), "real is 0.9")],
)
def test_a_wrong_parameter_is_told(workplace: Workplace, what: str) -> None:
    with pytest.raises(UsageError, match=what):
        workplace.load(Kit())


@pytest.mark.slow
def test_real_texts_take_the_share_they_are_given(tmp_path: Path) -> None:
    for number in range(40):
        sentences = " ".join(f"Sentence {each} of page {number} says little." for each in range(30))
        (tmp_path / f"page-{number:02d}.md").write_text(f"# Page {number}\n\n{sentences}\n\n{sentences}\n")
    workplace = Workplace(sources=[{"use": "handbook", "path": str(tmp_path)}])
    dataset = workplace.load(Kit(root=tmp_path))
    kinds = Counter(passage.metadata["kind"] for passage in dataset.corpus.passages)
    assert len(dataset.corpus) == 10_000
    assert kinds["handbook"] == 80
    assert len(dataset.items) == 500
    few = dataclasses.replace(workplace, real=0.004).load(Kit(root=tmp_path))
    assert Counter(passage.metadata["kind"] for passage in few.corpus.passages)["handbook"] == 40


@pytest.mark.slow
def test_a_stage_begins_with_the_one_before_it(made: Made) -> None:
    larger = Workplace(stage="50k").load(Kit())
    assert len(larger.corpus) == 50_000
    assert larger.corpus.passages[:10_000] == made.dataset.corpus.passages
    assert [item.text for item in larger.items] == [item.text for item in made.dataset.items]
    later = [item for item in larger.items if item.tags["present"] == ["no"]]
    assert len(later) == 25  # those of the third stage
    assert not any(
        leaks(item.text, [str(item.gold["answer"])]) for item in larger.items if "answer" in item.gold
    )
