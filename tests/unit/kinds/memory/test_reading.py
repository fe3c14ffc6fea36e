"""Exact match and F1 of short answers: a table worked by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from assay.core.block import STATUSES, Block, Labels
from assay.core.dataset import Corpus
from assay.core.protocols import Measure
from assay.core.records import Arm, Fault, Hit, Item, Response
from assay.kinds.memory.measures.reading import ExactMatch, TokenF1, normalized, token_f1
from assay.measures.parse import parse_measure
from assay.measures.score import score_block
from assay.store.journal import Answer, answer_columns, select_by_key


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("The Orr Mill.", "orr mill"),
        ("a man, an elm and the sea", "man elm and sea"),
        ("  two\n words ", "two words"),
        ("U.S.", "us"),  # punctuation is taken out, not replaced by a space
        ("Anna", "anna"),  # an article is a whole word
        ("the", ""),
        ("the-end", "theend"),  # the hyphen goes first
        ("“quoted”", "“quoted”"),  # ASCII punctuation only
    ],
)
def test_answers_are_read_without_case_punctuation_and_articles(given: str, read: str) -> None:
    assert normalized(given) == read


@pytest.mark.parametrize(
    ("given", "right", "exact", "overlap"),
    [
        ("Tollen", "tollen", 1, 1.0),
        ("in Tollen", "Tollen", 0, 2 / 3),  # 1 of 2 words, 1 of 1: 2·(1/2·1)/(1/2 + 1)
        ("Ada M. Finch", "Ada Finch", 0, 4 / 5),  # 2 of 3, 2 of 2: 2·(2/3)/(5/3)
        ("the old mill on the Orr", "an old mill", 0, 2 / 3),  # 2 of 4, 2 of 2: 2·(1/2)/(3/2)
        ("no no no", "no", 0, 0.0),  # the right answer is "no", and this is another
        ("tick tick tick", "tick tock", 0, 2 / 5),  # shared once: 1 of 3, 1 of 2: 2·(1/6)/(5/6)
        ("yes", "Yes.", 1, 1.0),
        ("yes it is", "yes", 0, 0.0),
        ("yes", "yes it is", 0, 0.0),
        ("noanswer", "no answer", 0, 0.0),
        ("no answer", "no reply", 0, 1 / 2),  # neither is only the word
        ("Orr", "Tollen", 0, 0.0),
        ("the", "a", 1, 0.0),  # nothing is left of either
    ],
)
def test_hand_worked_scores(given: str, right: str, exact: int, overlap: float) -> None:
    assert ExactMatch().compare(given, right) == exact
    assert token_f1(given, right) == pytest.approx(overlap)


def scored(measure: Measure, golds: Sequence[dict[str, Any]], responses: Sequence[Response | None]) -> Any:
    items = [Item(str(place), "?", gold=gold) for place, gold in enumerate(golds)]
    stored = [
        Answer(item.item_id, item.item_id, each) for item, each in zip(items, responses, strict=True) if each
    ]
    answers = select_by_key(answer_columns(stored), [item.item_id for item in items])
    block = Block(Arm("s"), 0, items, answers, Labels.none(), corpus=Corpus(()))
    values, status = score_block(measure, block)
    return [
        (None if np.isnan(value) else float(value), STATUSES[code].value)
        for value, code in zip(values, status, strict=True)
    ]


def test_the_best_of_the_right_answers_counts() -> None:
    gold = {"answers": ["Ada Finch", "A. Finch", "Finch"]}
    said = [Response(answer="finch"), Response(answer="Miss Finch")]
    assert scored(ExactMatch(), [gold, gold], said) == [(1.0, "scored"), (0.0, "scored")]
    # against "Finch": 1 of 2 words, 1 of 1
    assert scored(TokenF1(), [gold, gold], said) == [(1.0, "scored"), (pytest.approx(2 / 3), "scored")]


def test_no_answer_is_a_miss_and_items_without_right_answers_do_not_count() -> None:
    gold = {"answers": ["Tollen"]}
    golds: list[dict[str, Any]] = [gold, gold, {}, {"answers": []}, gold, gold]
    responses = [
        Response([Hit("p", 1.0)]),
        Response(answer=""),
        Response(answer="Tollen"),
        Response(answer="Tollen"),
        Response(error=Fault("Refused", "no")),
        None,
    ]
    for measure in (ExactMatch(), TokenF1()):
        assert scored(measure, golds, responses) == [
            (0.0, "missing"),
            (0.0, "missing"),
            (None, "not_applicable"),
            (None, "not_applicable"),
            (None, "failed"),
            (None, "pending"),
        ]


def test_a_study_names_them() -> None:
    assert parse_measure("ExactMatch") == ExactMatch()
    assert parse_measure("F1").name == "F1"
    assert (ExactMatch().binary, TokenF1().binary) == (True, False)
