"""The sample study of answers: its files load, its responses are all there, its raters keep the rubric."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.core.dataset import Dataset
from assay.core.protocols import Kit
from assay.kinds.answers.blinding.masks import Masker
from assay.kinds.answers.datasets.answer_study import AnswerStudy
from assay.kinds.answers.scoring.drafts import draft_of, draft_problems
from assay.kinds.answers.scoring.marks import Claim, Mark
from assay.kinds.answers.scoring.passes import contradiction
from assay.kinds.answers.scoring.rubric import (
    ACCURACY,
    CAPPING,
    CITATION,
    COMPLETENESS,
    HALLUCINATION,
    REFUSAL,
    rubric,
)
from assay.stats.agreement import cohen_kappa

FOLDER = Path(assay.__file__).parent / "kinds" / "answers" / "template"
RATERS = ("anna", "ben")
Key = tuple[str, str, str]


def lines(name: str) -> dict[Key, dict[str, Any]]:
    """The rows of a JSONL file by question, model and condition; none is there twice."""
    rows = [json.loads(line) for line in (FOLDER / name).read_text("utf-8").splitlines()]
    found = {(row["question_id"], row["model_id"], row["condition"]): row for row in rows}
    assert len(found) == len(rows)
    return found


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return AnswerStudy("corpus").load(Kit(root=FOLDER))


@pytest.fixture(scope="module")
def responses() -> dict[Key, dict[str, Any]]:
    return lines("responses.jsonl")


def test_it_loads_without_a_warning(dataset: Dataset) -> None:
    assert len(dataset.items) == 30
    assert len(dataset.corpus.passages) == 2 * 25  # five sites with four pages, one with five
    assert dataset.warnings == []


def test_every_question_has_a_response_of_each_model_in_each_condition(
    dataset: Dataset, responses: dict[Key, dict[str, Any]]
) -> None:
    models = ("small-3b", "large-30b")
    expected = {
        (item.item_id, model, condition) for item in dataset.items for model in models for condition in "AB"
    }
    assert responses.keys() == expected  # 30 x 2 x 2 = 120
    texts = [row["response"] for row in responses.values()]
    assert len(set(texts)) == len(texts), "two responses are the same"


def test_some_responses_name_their_condition(responses: dict[Key, dict[str, Any]]) -> None:
    masking = Masker()
    naming = {key[2] for key, row in responses.items() if masking.matching_rules(row["response"])}
    assert naming == {"A", "B"}


def mark(row: dict[str, Any], step: str, text: str) -> Mark:
    """What a row says in one pass, as the desk would keep it."""
    claims = [
        Claim(
            each["category"],
            at := text.index(each["text"]),
            at + len(each["text"]),
            each["claim"],
            each["note"],
        )
        for each in row["claims"]
    ]
    return Mark(
        "mark",
        "rater",
        "response",
        step,
        grade=None if step == HALLUCINATION else row[step],
        claims=claims if step == HALLUCINATION else [],
        note=row.get("notes", {}).get(step, ""),
        flags=[REFUSAL] if step == ACCURACY and row["refusal"] else [],
    )


@pytest.mark.parametrize("rater", RATERS)
def test_a_rater_keeps_the_rules_of_the_rubric(rater: str, responses: dict[Key, dict[str, Any]]) -> None:
    rows = lines(f"scored/{rater}.jsonl")
    assert rows.keys() == responses.keys()
    for key, row in rows.items():
        text = responses[key]["response"]
        marks = {step.name: mark(row, step.name, text) for step in rubric().steps}
        for step in rubric().steps:
            others = {name: each for name, each in marks.items() if name != step.name}
            assert draft_problems(step, draft_of(step, marks[step.name]), text, others) == [], (
                key,
                step.name,
            )
        assert not (row[ACCURACY] == 3 and row[COMPLETENESS] == 0), key


def test_two_of_annas_marks_have_to_be_reconciled_and_none_of_bens() -> None:
    found = {
        rater: [
            row
            for row in lines(f"scored/{rater}.jsonl").values()
            if row[ACCURACY] == 3 and {claim["category"] for claim in row["claims"]} & CAPPING
        ]
        for rater in RATERS
    }
    assert len(found["anna"]) == 2
    assert found["ben"] == []
    for row in found["anna"]:
        again = row["reconciled"]
        assert again["note"]
        claims = [Claim(each["category"], 0, 1, each["claim"], each["note"]) for each in row["claims"]]
        marked = Mark("2", "anna", "r", HALLUCINATION, claims=claims)
        assert contradiction(Mark("1", "anna", "r", ACCURACY, grade=3), marked)
        assert contradiction(Mark("3", "anna", "r", ACCURACY, grade=again["accuracy"]), marked) is None


@pytest.mark.parametrize("name", ["truth", *RATERS])
def test_spans_are_words_that_occur_once_in_the_response(
    name: str, responses: dict[Key, dict[str, Any]]
) -> None:
    for key, row in lines(f"scored/{name}.jsonl").items():
        for claim in row["claims"]:
            assert responses[key]["response"].count(claim["text"]) == 1, (key, claim["text"])


def test_both_conditions_hold_the_same_sentences(dataset: Dataset) -> None:
    text_of = {passage.doc_id: passage.text for passage in dataset.corpus.passages}
    for pair in (doc_id.removesuffix("/B") for doc_id in text_of if doc_id.endswith("/B")):
        written = text_of[f"{pair}/B"].replace("**", "").replace("*", "").replace("`", "")
        prose = [line for line in written.splitlines() if line[:1].isalpha()]
        assert len(prose) >= 3
        page = text_of[f"{pair}/A"]
        assert [line for line in prose if line not in page] == [], pair


def test_sections_are_headings_of_the_given_pages_in_both_conditions(dataset: Dataset) -> None:
    for item in dataset.items:
        for condition in "AB":
            given = [
                passage.text
                for passage in dataset.corpus.passages
                if passage.metadata["condition"] == condition
                and item.item_id in passage.metadata["questions"]
            ]
            for section in item.gold["sections"]:
                heading = f"\n## {section}\n" if condition == "B" else f"\n{section}\n"
                assert any(heading in text for text in given), (item.item_id, condition, section)


def test_the_truth_has_every_kind_of_response() -> None:
    rows = lines("scored/truth.jsonl").values()
    assert {row[ACCURACY] for row in rows} == {0, 1, 2, 3}
    assert {row[CITATION] for row in rows} == {None, 0, 1, 2}
    categories = Counter(claim["category"] for row in rows for claim in row["claims"])
    assert set(categories) == {"H-FAB", "H-SRC", "H-EXT", "H-TMP"}
    assert min(categories.values()) >= 3
    assert sum(row["refusal"] for row in rows) == 2
    assert any(len(row["claims"]) == 2 for row in rows)
    capped = [row for row in rows if {claim["category"] for claim in row["claims"]} & CAPPING]
    assert max(row[ACCURACY] for row in capped) == 2
    assert any(row[ACCURACY] == 3 for row in rows if row["claims"]), "a wrong source by itself does not cap"


def test_the_raters_agree_well_and_not_perfectly() -> None:
    anna, ben = (list(lines(f"scored/{rater}.jsonl").values()) for rater in RATERS)
    final = [row.get("reconciled", row)[ACCURACY] for row in anna]
    other = [row[ACCURACY] for row in ben]
    assert 0.75 < float(cohen_kappa(final, other, "linear")[0]) < 0.9
    complete = [row[COMPLETENESS] for row in anna], [row[COMPLETENESS] for row in ben]
    assert 0.7 < float(cohen_kappa(*complete)[0]) < 0.9
