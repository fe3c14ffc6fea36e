"""Real texts as a dataset: questions that hold, chosen evenly, split fairly, the same for the same seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from assay.core.dataset import Corpus, Dataset
from assay.core.errors import DataError, UsageError
from assay.core.protocols import Kit
from assay.core.records import Document, Passage, Span
from assay.core.registry import DATASETS, Registry
from assay.datasets.evidence import BUDGET, evidence_tokens, find_misplaced, sentence_unit
from assay.retrieval.tokens import O200kBase
from assay_worlds.sources.handbook import Handbook
from assay_worlds.sources.source import passages_of
from assay_worlds.suites.real import handbook_questions
from assay_worlds.suites.real.question import QuestionDraft
from assay_worlds.suites.real_text import RealText, choose, gives_away, items, sound_drafts

LEAVE = """# Sick leave

Teammates can take up to 30 days of sick leave in a year.

## How do I report an absence to my lead?

Write to your lead before ten in the morning and name the day on which you will be back.

## Ask for an extension

1. Fill in the extension form in the portal of the people team.
2. Let your lead sign the form within the same week.
3. Send the signed form to the people team for the record.
"""
TRAVEL = """# Company travel

Employees must book flights at least 21 days ahead of a trip.

Policy Owner: {owner}
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, owner in (("acme", "Ann Lee"), ("globex", "Bo Chan")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "leave.md").write_text(LEAVE if name == "acme" else "# Tea\n\nWe like tea.")
        (tmp_path / name / "travel.md").write_text(TRAVEL.format(owner=owner))
    return tmp_path


def specs(*names: str) -> list[Any]:
    return [{"use": "handbook", "path": name} for name in names]


def load(root: Path, **params: Any) -> Dataset:
    return RealText(specs("acme", "globex"), **params).load(Kit(root=root))


def drafts(root: Path) -> dict[str, list[QuestionDraft]]:
    pages = [page for name in ("acme", "globex") for page in Handbook(name).pages(Kit(root=root))]
    passages = {page.document.doc_id: passages_of(page) for page in pages}
    found: dict[str, list[QuestionDraft]] = {}
    for draft in handbook_questions.questions(pages, passages, Random(7)):
        found.setdefault(draft.kind, []).append(draft)
    return found


def test_handbooks_are_asked_for_facts_procedures_and_what_they_lack(root: Path) -> None:
    found = drafts(root)
    numbers = {str(draft.answer): draft for draft in found["handbook_number"]}
    assert {*numbers} == {"30 days", "21 days"}
    assert numbers["30 days"].text.endswith("Teammates can take up to how many days of sick leave in a year?")
    (steps,) = found["handbook_steps"]
    assert steps.grain == "paragraph"
    assert len(steps.answer) == 3
    assert len(steps.units[0]["needs"]) == 3
    (faq,) = found["handbook_faq"]
    assert "How do I report an absence to my lead?" in faq.text
    assert str(faq.answer).startswith("Write to your lead before ten")
    assert all(draft.impossible == "out_of_kb" and not draft.units for draft in found["handbook_no_topic"])


def test_every_item_holds_its_evidence_in_its_place(root: Path) -> None:
    dataset = load(root)
    tokens = O200kBase().load(Kit())
    for item in dataset.items:
        units = item.gold.get("evidence", [])
        assert not find_misplaced(units, dataset.corpus)
        assert (item.expects == "nothing") == (not units) == (item.gold.get("impossible") == "out_of_kb")
        if units:
            assert item.gold["tokens"] == evidence_tokens(units, tokens)
            assert (item.gold["tokens"] <= BUDGET) == (item.tags["feasible"] == ["yes"])
            assert all(item.gold["relevant"][unit["doc_id"]] == 2 for unit in units)


def test_the_same_seed_gives_the_same_dataset_and_another_one_does_not(root: Path) -> None:
    first = load(root, queries=6)
    assert load(root, queries=6).hash == first.hash
    assert load(root, queries=6, seed=8).hash != first.hash
    assert len(first.items) == 6
    assert not first.warnings
    assert load(root, queries=500).warnings


def draft(kind: str, number: int, words: int = 5, **changes: Any) -> tuple[QuestionDraft, Document]:
    text = f"{kind} {number} " + "word " * words
    document = Document(f"{kind}{number}", text)
    unit = sentence_unit(Passage(f"{kind}{number}#p1", text, source=document.doc_id), Span(0, len(text)))
    made = QuestionDraft(f"{kind} {number}?", "yes", [unit], ("detail",), kind)
    return made._replace(**changes), document


def test_drafts_that_do_not_hold_are_left_out() -> None:
    tokens = O200kBase().load(Kit())
    good, short = draft("good", 1)
    long, wide = draft("long", 1, words=500)  # 500 words have more than 400 tokens
    listed = long._replace(impossible="aggregation", text="list all?")
    told = good._replace(text="is the answer yes or no?")
    moved = good._replace(text="moved?", units=[{**good.units[0], "start": 1}])
    lacking = good._replace(text="lacking?", impossible="out_of_kb")
    corpus = Corpus([], {each.doc_id: each for each in (short, wide)})
    kept = sound_drafts([good, good, long, listed, told, moved, lacking], corpus, tokens)
    assert kept == [good, listed]


def test_a_question_may_not_hold_its_answer() -> None:
    made, _ = draft("a", 1, answer="30 days")
    assert gives_away(made._replace(text="Is it 30 Days?"))
    assert not gives_away(made._replace(text="Is it 130 days?"))
    assert gives_away(made._replace(text="From 2 to 3 days?", answer=["2 days", "3 days"]))


def test_makers_and_their_rules_have_equal_shares_and_a_page_at_most_two() -> None:
    one = [draft("a", at)[0] for at in range(20)] + [draft("b", at)[0] for at in range(3)]
    other = [draft("c", at)[0] for at in range(20)]
    chosen = Counter(each.kind for each in choose({"one": one, "other": other}, 20, Random(1)))
    assert chosen == {"a": 7, "b": 3, "c": 10}  # ten a maker; b has three and no more
    same_page = [draft("a", 1)[0]._replace(text=f"{at}?") for at in range(5)]
    assert len(choose({"one": same_page}, 5, Random(1))) == 2


def test_splits_have_a_fifth_a_fifth_and_the_rest_of_every_rule() -> None:
    chosen = [draft(kind, at)[0] for kind in "abc" for at in range(10)]
    made = items(chosen, O200kBase().load(Kit()))
    for kind in "abc":
        shares = Counter(item.split for item in made if item.tags["rule"] == [kind])
        assert shares == {"test": 6, "tune": 2, "dev": 2}


def test_what_shares_a_page_is_of_one_split() -> None:
    pages = [draft("a", at)[0] for at in range(3)]
    chosen = [page._replace(text=f"{kind} {page.text}", kind=kind) for kind in "abcde" for page in pages]
    splits: dict[str, set[str | None]] = {}
    for item in items(chosen, O200kBase().load(Kit())):
        splits.setdefault(item.gold["evidence"][0]["source"], set()).add(item.split)
    assert [len(each) for each in splits.values()] == [1, 1, 1]


def test_a_study_names_it_with_its_sources(root: Path) -> None:
    spec = {"use": "real_text", "sources": specs("acme"), "queries": 5}
    made = Registry().create(DATASETS, spec)
    assert len(made.load(Kit(root=root)).items) == 5


def test_what_makes_no_sense_is_refused(root: Path) -> None:
    with pytest.raises(UsageError, match="sources"):
        RealText([])
    with pytest.raises(UsageError, match="queries"):
        RealText(specs("acme"), queries=0)
    with pytest.raises(DataError, match="no such folder"):
        RealText(specs("nowhere")).load(Kit(root=root))


@pytest.mark.slow
def test_the_shared_handbooks_give_enough(shared_data: Callable[[str], Path]) -> None:
    kit = Kit(root=shared_data("handbook_18f").parent)
    dataset = RealText(specs("handbook_18f", "handbook_sourcegraph"), queries=150).load(kit)
    assert len(dataset.corpus) >= 15_000
    assert len(dataset.items) == 150
    assert sum("temporal" in item.tags["tag"] for item in dataset.items) >= 30
    assert max(Counter(item.tags["rule"][0] for item in dataset.items).values()) <= 15
    assert not [
        item for item in dataset.items if find_misplaced(item.gold.get("evidence", []), dataset.corpus)
    ]
