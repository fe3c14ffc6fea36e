"""What people say of whole responses, as measures: their own grades, open where nobody spoke."""

from __future__ import annotations

import numpy as np
import polars as pl

from assay.core.block import NOT_APPLICABLE, SCORED, UNJUDGED, Block, Labels
from assay.core.records import Arm, Item, Judgment, Response, Span
from assay.judges.labels import resolve
from assay.kinds.answers.measures.rubric import Accuracy, CitationFidelity, Completeness, Hallucinations
from assay.measures.score import score_block
from assay.store.journal import COLUMNS, Answer, answer_columns

ITEMS = [Item(f"q{number}", f"question {number}") for number in range(4)]


def block(*judgments: Judgment) -> Block:
    answers = [Answer(item.item_id, item.item_id, Response(answer="it is so")) for item in ITEMS]
    labels = resolve(judgments, ["anna", "ben"], frozenset()) if judgments else Labels.none()
    return Block(Arm("A", {"model": "m"}), 0, ITEMS, answer_columns(answers), labels)


def said(item_id: str, label: str, grade: float, judge: str = "anna", **more: object) -> Judgment:
    return Judgment(item_id, label, grade, judge, arm="A[model=m]", seed=0, **more)  # type: ignore[arg-type]


def test_grades_are_the_values_and_what_nobody_scored_is_unjudged() -> None:
    values, status = score_block(Accuracy(), block(said("q0", "accuracy", 3), said("q2", "accuracy", 0)))
    np.testing.assert_array_equal(values, [3, np.nan, 0, np.nan])
    assert status.tolist() == [SCORED, UNJUDGED, SCORED, UNJUDGED]


def test_the_primary_rater_comes_before_the_second() -> None:
    marks = [said("q0", "completeness", 0, "ben"), said("q0", "completeness", 1, "anna")]
    assert score_block(Completeness(), block(*marks))[0][0] == 1


def test_claims_with_a_span_are_not_the_count() -> None:
    claim = said("q0", "hallucinations", 7, span=Span(0, 2), category="H-FAB")
    values, _ = score_block(Hallucinations(), block(said("q0", "hallucinations", 2), claim))
    assert values[0] == 2


def test_citations_count_only_where_they_apply() -> None:
    marks = [
        said("q0", "citation_applies", 1),
        said("q0", "citation", 2),
        said("q1", "citation_applies", 0),
    ]
    values, status = score_block(CitationFidelity(), block(*marks))
    assert status.tolist() == [SCORED, NOT_APPLICABLE, UNJUDGED, UNJUDGED]
    assert values[0] == 2


def test_an_empty_answer_is_scored_by_people_too() -> None:
    one = block(said("q0", "accuracy", 0))
    empty = one.answers.with_columns(rest=pl.lit(b'{"answer":""}').cast(COLUMNS["rest"]))
    blank = Block(one.arm, 0, ITEMS, empty, one.labels)
    values, status = score_block(Accuracy(), blank)
    assert (values[0], status[0]) == (0, SCORED)
