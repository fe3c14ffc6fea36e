"""The generated organisation: reproducible, and its gold points exactly at what it says."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from collections import Counter
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.dataset import Dataset
from assay.core.errors import UsageError
from assay.core.protocols import Kit
from assay.core.records import Item, Span
from assay.core.registry import DATASETS, Registry
from assay.datasets.folder import Folder
from assay_worlds.organisation.documents import (
    CURRENT,
    REPEATS,
    PageDraft,
    PageParagraph,
    Sentence,
    editions,
    lay_out,
    prose,
    state,
    topics,
)
from assay_worlds.organisation.organisation import LARGEST, SMALLEST, Organisation
from assay_worlds.organisation.questions import unanswerable
from assay_worlds.organisation.world import STYLES, Fact, Phrase, create_world

CATEGORIES = {"policy", "procedure", "release", "email", "people", "decision"}


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return Organisation().load(Kit())


def answerable(dataset: Dataset) -> list[Item]:
    return [item for item in dataset.items if item.expects is None]


def test_the_same_seed_gives_the_same_bytes(dataset: Dataset) -> None:
    again = Organisation(seed=7).load(Kit())
    assert again.corpus.hash == dataset.corpus.hash
    assert again.hash == dataset.hash
    assert again.corpus.documents == dataset.corpus.documents


def test_the_bytes_do_not_depend_on_the_order_of_sets(dataset: Dataset) -> None:
    code = (
        "from assay_worlds.organisation.organisation import Organisation\n"
        "from assay.core.protocols import Kit\n"
        "print(Organisation().load(Kit()).hash)"
    )
    for hash_seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True)
        assert run.stdout.decode().strip() == dataset.hash


def test_another_seed_gives_another_corpus_and_other_items(dataset: Dataset) -> None:
    other = Organisation(seed=8).load(Kit())
    assert other.corpus.hash != dataset.corpus.hash
    assert [item.text for item in other.items] != [item.text for item in dataset.items]


def test_counts(dataset: Dataset) -> None:
    # Each of six kinds may overshoot its share by less than one document, and none is longer than 5 passages.
    assert 2000 <= len(dataset.corpus) < 2000 + 6 * 5
    assert len(dataset.items) == 60
    assert sum(item.expects == "nothing" for item in dataset.items) == 60 // 15
    assert {passage.metadata["kind"] for passage in dataset.corpus.passages} == CATEGORIES


def test_ids_are_unique(dataset: Dataset) -> None:
    ids = Counter(passage.doc_id for passage in dataset.corpus.passages)
    assert ids.most_common(1)[0][1] == 1
    assert len({item.text for item in dataset.items}) == len(dataset.items)


def test_every_passage_is_what_its_span_reads_in_its_document(dataset: Dataset) -> None:
    for passage in dataset.corpus.passages:
        assert passage.source is not None
        assert passage.span is not None
        document = dataset.corpus.documents[passage.source]
        assert document.text[passage.span.start : passage.span.end] == passage.text
        assert passage.doc_id.startswith(f"{document.doc_id}#p")
        assert (passage.title, passage.metadata) == (document.title, document.metadata)


def test_every_document_has_passages(dataset: Dataset) -> None:
    assert {passage.source for passage in dataset.corpus.passages} == set(dataset.corpus.documents)


def test_evidence_reads_the_same_in_document_and_passage_and_holds_the_answer(dataset: Dataset) -> None:
    for item in answerable(dataset):
        assert item.gold["evidence"]
        for evidence in item.gold["evidence"]:
            text = dataset.corpus.documents[evidence["source"]].text
            assert text[evidence["start"] : evidence["end"]] == evidence["text"]
            passage = dataset.corpus.passages[dataset.corpus.position[evidence["doc_id"]]]
            assert passage.source == evidence["source"]
            assert passage.span is not None
            assert passage.span.start <= evidence["start"] < evidence["end"] <= passage.span.end
            assert item.gold["answer"] in evidence["text"]


def test_relevant_passages_exist_and_those_of_grade_2_hold_the_evidence(dataset: Dataset) -> None:
    for item in answerable(dataset):
        relevant = item.gold["relevant"]
        assert set(relevant) <= set(dataset.corpus.position)
        assert set(relevant.values()) <= {1, 2}
        best = {doc_id for doc_id, grade in relevant.items() if grade == 2}
        assert best == {evidence["doc_id"] for evidence in item.gold["evidence"]}


def test_some_items_have_passages_of_both_grades(dataset: Dataset) -> None:
    assert sum(1 in item.gold["relevant"].values() for item in answerable(dataset)) >= 10
    assert set(dataset.label_definitions) == {"relevance"}


def test_no_question_holds_its_answer(dataset: Dataset) -> None:
    for item in answerable(dataset):
        assert item.gold["answer"].lower() not in item.text.lower()


def test_what_is_unanswerable_is_nowhere_in_the_corpus(dataset: Dataset) -> None:
    text = "\n".join(document.text for document in dataset.corpus.documents.values())
    for item in dataset.items:
        if item.expects == "nothing":
            assert "relevant" not in item.gold
            assert item.gold["absent"] in item.text
    for asked in unanswerable():
        assert not re.search(rf"\b{asked.absent}", text, re.IGNORECASE)


def test_tags_are_balanced(dataset: Dataset) -> None:
    items = answerable(dataset)
    for item in items:
        assert item.item_id.startswith(f"q-{item.tags['category'][0]}-")
    styles = Counter(item.tags["style"][0] for item in items)
    assert set(styles) == set(STYLES)
    assert min(styles.values()) >= 15
    assert {item.tags["category"][0] for item in items} == CATEGORIES
    assert {item.tags["difficulty"][0] for item in items} == {"easy", "medium", "hard"}


def words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]{4,}", text.lower()))


def test_paraphrases_share_fewer_words_with_their_evidence_than_keywords_do() -> None:
    dataset = Organisation(queries=200).load(Kit())
    shared: dict[str, list[float]] = {style: [] for style in STYLES}
    for item in answerable(dataset):
        asked = words(item.text)
        overlap = len(asked & words(item.gold["evidence"][0]["text"])) / len(asked)
        shared[item.tags["style"][0]].append(overlap)
    keyword, natural, paraphrase = (sum(shared[style]) / len(shared[style]) for style in STYLES)
    assert keyword > natural > 2 * paraphrase


def test_policies_have_near_duplicates_that_differ_in_a_value() -> None:
    # Six offices make one year's editions of the leave policy, so the seventh is Lisbon's of the year before.
    drafts = list(editions("policy", topics("office_policies")[1:2], create_world(7, people=20, projects=5)))
    assert [drafts[at].title for at in (0, 6)] == [
        f"Annual leave policy, Lisbon {CURRENT - at}" for at in (0, 1)
    ]
    stated = [
        {sentence.text for part in drafts[at].paragraphs for sentence in part.sentences if sentence.fact}
        for at in (0, 6)
    ]
    # An edition takes over all but one of the three sentences of the edition before.
    assert [len(sentences) for sentences in stated] == [3, 3]
    assert len(stated[0] & stated[1]) == 2


def test_people_and_projects_share_names_but_not_teams() -> None:
    world = create_world(7, people=80, projects=40)
    for group in (world.people, world.projects):
        assert max(Counter(member.name for member in group).values()) == 2
        assert len({(member.name, member.team) for member in group}) == len(group)
    assert sum(project.shared for project in world.projects) == 2 * (40 - 30)  # 30 names for 40 projects


def test_a_draft_is_laid_out_with_spans() -> None:
    fact = Fact("policy", "r", Phrase("Cats get {value}.", "cats", "Cats?", "Pets {scope}?"), "milk", {})
    draft = PageDraft(
        "d",
        "Pets",
        {"kind": "policy"},
        (
            PageParagraph("Diet", (*prose("Hello."), state(fact))),
            PageParagraph("Note", (Sentence("Milk, then.", fact, REPEATS),)),
        ),
    )
    page = lay_out(draft)
    # The title is 0-4, "\n\nDiet\n" 4-11, its text 11-32 with the fact from 11 + len("Hello. ") = 18,
    # "\n\nNote\n" 32-39 and its text 39-50.
    assert page.document.text == "Pets\n\nDiet\nHello. Cats get milk.\n\nNote\nMilk, then."
    assert [passage.span for passage in page.passages] == [Span(11, 32), Span(39, 50)]
    assert [(mention.doc_id, mention.grade, mention.span) for mention in page.mentions] == [
        ("d#p1", 2, Span(18, 32)),
        ("d#p2", 1, Span(39, 50)),
    ]


@pytest.mark.parametrize("name", ["office_policies", "company_policies", "procedures"])
def test_every_clause_states_its_value_and_asks_whose(name: str) -> None:
    for local, clause in ((each.local, clause) for each in topics(name) for clause in each.clauses):
        assert "{value}" in clause.state
        assert len(set(clause.values)) == len(clause.values) > 1
        assert all("{scope}" in getattr(clause, style) for style in STYLES)
        assert local or not any(value.endswith("cur") for value in clause.values)


@given(seed=st.integers(0, 2**32), passages=st.integers(SMALLEST, 900), queries=st.integers(1, 60))
@settings(max_examples=15)
def test_any_seed_and_size_gives_a_sound_dataset(seed: int, passages: int, queries: int) -> None:
    dataset = Organisation(seed, passages, queries).load(Kit())
    assert passages <= len(dataset.corpus) < passages + 30
    assert len(dataset.items) == queries
    for item in answerable(dataset):
        assert item.gold["answer"].lower() not in item.text.lower()
        for evidence in item.gold["evidence"]:
            source = dataset.corpus.documents[evidence["source"]].text
            assert source[evidence["start"] : evidence["end"]] == evidence["text"]


def test_generation_leaves_the_global_generator_alone() -> None:
    random.seed(3)
    Organisation(passages=SMALLEST).load(Kit())
    assert random.random() == random.Random(3).random()


@pytest.mark.parametrize(
    "plugin",
    [Organisation(passages=SMALLEST - 1), Organisation(passages=LARGEST + 1), Organisation(queries=0)],
)
def test_sizes_out_of_range_are_refused(plugin: Organisation) -> None:
    with pytest.raises(UsageError, match=r"choose|ask for"):
        plugin.load(Kit())


def test_more_questions_than_facts_are_refused() -> None:
    with pytest.raises(UsageError, match="not enough facts"):
        Organisation(passages=SMALLEST, queries=5000).load(Kit())


def test_the_largest_corpus_is_full() -> None:
    assert LARGEST <= len(Organisation(passages=LARGEST).load(Kit()).corpus) < LARGEST + 30


def test_a_study_can_name_it() -> None:
    made = Registry().create(DATASETS, "organisation(seed=3, passages=500)")
    assert made == Organisation(seed=3, passages=500)


def test_the_demo_is_one_of_these_kept_as_files() -> None:
    demo = Path(str(files("assay") / "studies" / "demo" / "data"))
    assert Folder(str(demo)).load(Kit()).hash == Organisation(seed=7).load(Kit()).hash
