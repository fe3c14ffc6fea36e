"""The measures of this kind: people's marks on responses, and sizes of content and answers."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from assay.core.block import NOT_APPLICABLE, SCORED, UNJUDGED, Block, Labels
from assay.core.dataset import Corpus
from assay.core.errors import PluginError, UsageError
from assay.core.records import Arm, Fault, Item, Judgment, Passage, Response, Span
from assay.judges.labels import resolve
from assay.kinds.answers.measures.content import ContentChars, ContentTokens, OutputTokens
from assay.kinds.answers.measures.rubric import Accuracy, CitationFidelity, Completeness, Hallucinations
from assay.measures.parse import parse_measure
from assay.measures.score import score_block
from assay.store.journal import COLUMNS, Answer, answer_columns
from walked_block import block_of, hits, scored

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
    marks = [said("q0", "citation_applies", 1), said("q0", "citation", 2), said("q1", "citation_applies", 0)]
    values, status = score_block(CitationFidelity(), block(*marks))
    assert status.tolist() == [SCORED, NOT_APPLICABLE, UNJUDGED, UNJUDGED]
    assert values[0] == 2


def test_an_empty_answer_is_scored_by_people_too() -> None:
    one = block(said("q0", "accuracy", 0))
    empty = one.answers.with_columns(rest=pl.lit(b'{"answer":""}').cast(COLUMNS["rest"]))
    blank = Block(one.arm, 0, ITEMS, empty, one.labels)
    values, status = score_block(Accuracy(), blank)
    assert (values[0], status[0]) == (0, SCORED)


CORPUS = Corpus([Passage("P1/A", "Fire it.", "a title"), Passage("P2/A", "Cool it.")])
RESPONSES = [
    Response(hits("P1/A", "P2/A"), answer="very very hot"),
    Response(hits("P1/A"), answer=""),
    Response(hits("P1/A", "P9/A"), answer=None),  # a document that the corpus lacks has no size
    Response(answer="hot"),
    Response(error=Fault("error", "timed out")),
    None,
]
BLOCK = block_of([Item(f"q{number}", "?") for number in range(6)], RESPONSES, corpus=CORPUS)


def test_content_is_counted_as_the_model_was_given_it() -> None:
    # Llama 3 reads "Fire it.\n\nCool it." as Fire, it, .\n\n, Cool, it, . and "Fire it." as Fire, it, .
    lost = [(None, "not_applicable"), (None, "missing"), (None, "failed"), (None, "pending")]
    assert scored(ContentTokens(), BLOCK) == [(6, "scored"), (3, "scored"), *lost]
    # 8 + 2 + 8 characters
    assert scored(ContentChars(), BLOCK) == [(18, "scored"), (8, "scored"), *lost]


def test_an_answer_without_a_word_has_no_token_and_is_one() -> None:
    assert scored(OutputTokens(), BLOCK) == [
        (3, "scored"),  # very, very, hot
        (0, "scored"),
        (None, "not_applicable"),
        (1, "scored"),
        (None, "failed"),
        (None, "pending"),
    ]


def test_the_tokenizer_is_a_parameter() -> None:
    assert parse_measure("ContentTokens(tokenizer=o200k_base)") == ContentTokens("o200k_base")
    assert ContentTokens("o200k_base").name == "ContentTokens(tokenizer='o200k_base')"
    assert (ContentTokens().name, ContentChars().name, OutputTokens().name) == (
        "ContentTokens",
        "ContentChars",
        "OutputTokens",
    )
    # cl100k_base reads the same words
    assert scored(OutputTokens("cl100k_base"), BLOCK)[0] == (3, "scored")
    with pytest.raises(UsageError, match=r"by one of o200k_base, cl100k_base, llama3, not by 'llama2'"):
        ContentTokens("llama2")
    with pytest.raises(PluginError, match="takes no cut-off"):
        parse_measure("ContentChars@3")


@pytest.mark.parametrize("measure", [ContentTokens(), ContentChars(), OutputTokens()])
def test_less_is_better_without_an_upper_end(measure: ContentTokens | ContentChars | OutputTokens) -> None:
    assert (measure.better, measure.low, measure.high, measure.absent) == ("lower", 0.0, None, None)
