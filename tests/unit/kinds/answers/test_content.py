"""Sizes of content and answers, counted by hand."""

from __future__ import annotations

import pytest

from assay.core.dataset import Corpus
from assay.core.errors import PluginError, UsageError
from assay.core.records import Fault, Item, Passage, Response
from assay.kinds.answers.measures.content import ContentChars, ContentTokens, OutputTokens
from assay.measures.parse import parse_measure
from walked_block import block_of, hits, scored

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
