"""Budget measures: what a context shows of the evidence, by hand, by place and by word."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from assay.core.dataset import Corpus
from assay.core.errors import AssayError, DataError, UsageError
from assay.core.protocols import Measure
from assay.core.records import Budget, Context, Fault, Item, Judgment, Passage, Piece, Response, Span
from assay.core.shown import context_target, evidence_problems
from assay.judges.labels import resolve
from assay.kinds.hierarchy.measures.budget import AUC, EP, ER, A
from assay.measures.parse import parse_measure
from assay.measures.score import score_blocks
from walked_block import block_of, scored

#        0         1         2         3         4         5
#        0123456789012345678901234567890123456789012345678901234
LEAVE = "Leave is 40 days.  It starts in May.\n\nAsk the desk."
FIRST, SECOND, THIRD = Span(0, 17), Span(19, 36), Span(38, 51)
PAGES = "Holiday runs 40 days."
CORPUS = Corpus(
    [
        Passage("leave#1", LEAVE[:36], source="leave", span=Span(0, 36)),
        Passage("leave#2", LEAVE[38:], source="leave", span=Span(38, 51)),
        Passage("pages", PAGES),
        Passage("mail#1", LEAVE[:17], source="mail", span=Span(100, 117)),
    ]
)


def unit(span: Span, source: str = "leave", text: str = LEAVE, **more: Any) -> dict[str, Any]:
    place = {"source": source, "start": span.start, "end": span.end}
    return {"doc_id": source, "text": text[span.start : span.end], **place, **more}


def item(*units: dict[str, Any], item_id: str = "q") -> Item:
    return Item(item_id, "how long?", gold={"evidence": list(units)})


def items_of(item_ids: Sequence[str]) -> list[Item]:
    """Items that all want the first sentence."""
    return [item(unit(FIRST), item_id=each) for each in item_ids]


def piece(span: Span, doc_id: str = "leave#1") -> Piece:
    return Piece(doc_id, LEAVE[span.start : span.end], span)


def value(measure: Measure, of: Item, pieces: Sequence[Piece], budget: Budget = 400) -> float | None:
    answer = Response(contexts=[Context(budget, list(pieces), 9, "words")])
    return scored(measure, block_of([of], [answer], corpus=CORPUS))[0][0]


WHOLE = Piece("leave#1", LEAVE[:36], Span(0, 36))
DESK = piece(THIRD, "leave#2")


def test_the_three_measures_by_hand() -> None:
    both = item(unit(FIRST), unit(THIRD))
    # 36 characters of leave#1 and 13 of leave#2; the units have 17 and 13
    assert value(ER(400), both, [WHOLE]) == pytest.approx(1 / 2)
    assert value(EP(400), both, [WHOLE]) == pytest.approx(17 / 36)
    assert value(A(400), both, [WHOLE]) == 0
    assert value(ER(400), both, [WHOLE, DESK]) == 1
    assert value(EP(400), both, [WHOLE, DESK]) == pytest.approx(30 / 49)
    assert value(A(400), both, [WHOLE, DESK]) == 1
    # 21 characters of another document dilute it, and show nothing
    other = Piece("pages", PAGES, Span(0, 21))
    assert value(EP(400), both, [WHOLE, DESK, other]) == pytest.approx(30 / 70)


def test_a_context_of_only_evidence_and_an_empty_one() -> None:
    one = item(unit(FIRST))
    assert value(EP(400), one, [piece(FIRST)]) == 1
    assert value(EP(400), one, [piece(FIRST), piece(FIRST)]) == 1  # said twice it is evidence twice
    assert [value(measure, one, []) for measure in (ER(400), EP(400), A(400))] == [0, 0, 0]


def test_a_sentence_may_be_shown_by_several_pieces_together() -> None:
    one = item(unit(Span(0, 36)))  # two sentences, with two spaces between them
    assert value(A(400), one, [piece(SECOND), piece(FIRST)]) == 1  # the spaces need no piece
    assert value(A(400), one, [piece(Span(0, 12)), piece(Span(9, 36))]) == 1
    assert value(A(400), one, [piece(Span(0, 11)), piece(Span(12, 36))]) == 1  # what is left out is a space
    assert value(A(400), one, [piece(Span(0, 10)), piece(Span(11, 36))]) == 0  # the 0 of 40 is left out
    assert value(A(400), one, [piece(Span(0, 35))]) == 0  # and here the last full stop
    assert value(A(400), one, [piece(Span(1, 36))]) == 0


def test_a_paragraph_is_shown_where_the_sentences_it_is_needed_for_are() -> None:
    needed = item(unit(Span(0, 51), needs=[[0, 17], [38, 51]]))
    assert value(A(400), needed, [piece(FIRST), DESK]) == 1
    assert value(A(400), needed, [piece(SECOND), DESK]) == 0
    # the whole paragraph is evidence, whichever of its sentences are needed: 17 of 17, and 17 + 13 of 30
    assert value(EP(400), needed, [piece(SECOND)]) == 1
    assert value(EP(400), needed, [piece(FIRST), DESK]) == 1


def test_another_place_that_says_the_same_will_do() -> None:
    also = [unit(Span(0, 21), "pages", PAGES)]
    one = item(unit(FIRST, also=also), unit(THIRD))
    there = Piece("pages", PAGES, Span(0, 21))
    assert value(ER(400), one, [there]) == pytest.approx(1 / 2)
    assert value(A(400), one, [there, DESK]) == 1
    assert value(EP(400), one, [there, DESK]) == 1
    # the same words in a document that gold does not name are no evidence
    assert value(A(400), item(unit(FIRST)), [Piece("mail#1", LEAVE[:17], Span(100, 117))]) == 0


def test_without_a_place_words_count() -> None:
    one = item(unit(Span(0, 36)))
    words = "Leave is 40 days. It\n starts in May."
    assert value(A(400), one, [Piece("x~1", words)]) == 1
    assert value(A(400), one, [Piece("x~1", "Leave is 40 days."), Piece("x~2", "It starts in May.")]) == 1
    assert value(A(400), one, [Piece("x~1", words.upper())]) == 0
    assert value(A(400), one, [Piece("x~1", words.replace("May", "June"))]) == 0
    # a node that the corpus does not have: its span says nothing about a document of ours
    assert value(A(400), one, [Piece("summary", LEAVE[:36], Span(0, 36))]) == 1
    # white space is one space: "So: " + 35 characters + " Or not." is 47, of which 35 are evidence
    assert value(EP(400), one, [Piece("x~1", f"So: {words} Or not.")]) == pytest.approx(35 / 47)


def test_words_are_whole_words() -> None:
    row = item(unit(Span(9, 11)))  # "40", as a row of a table might have it
    assert value(A(400), row, [Piece("x", "it is 40 now")]) == 1
    assert value(A(400), row, [Piece("x", "it is (40).")]) == 1
    assert value(A(400), row, [Piece("x", "it is 400 now")]) == 0
    assert value(A(400), row, [Piece("x", "it is 140 or 401, not 40")]) == 1


def test_a_span_is_believed_where_the_text_bears_it_out() -> None:
    one = item(unit(SECOND))
    # markup was taken out: the text is shorter than its span, and does not hold the sentence
    assert value(A(400), one, [Piece("leave#1", "Leave is 40 days.", Span(0, 36))]) == 0
    assert value(A(400), one, [Piece("leave#1", "It starts in May.", Span(0, 36))]) == 1
    # as long as its span, but not what stands there
    assert value(A(400), one, [Piece("leave#1", "It starts in Nov.", SECOND)]) == 0
    assert value(A(400), one, [Piece("leave#1", "x" * 17, SECOND), Piece("y", "It starts in May.")]) == 1


def test_statuses() -> None:
    none = Item("none", "?", gold={"impossible": "out_of_kb"}, expects="nothing")
    ids = ["shown", "other_budget", "no_context", "failed", "pending", "said_so"]
    items = [*items_of(ids), none]
    held = [Context(400, [piece(FIRST)], 5, "words")]
    responses = [
        Response(contexts=held),
        Response(contexts=[Context(200, [piece(FIRST)], 5, "words")]),
        Response(),
        Response(error=Fault("timeout", "too slow")),
        None,
        Response(contexts=held, flags={"impossible": True}),
        Response(contexts=held),
    ]
    block = block_of(items, responses, corpus=CORPUS)
    for measure in (A(400), ER(400), EP(400)):
        assert scored(measure, block) == [
            (1.0, "scored"),
            (None, "not_applicable"),
            (0.0, "missing"),
            (None, "failed"),
            (None, "pending"),
            (1.0, "scored"),
            (None, "not_applicable"),
        ]
    without = dataclasses.replace(block, gives=frozenset({"hits"}))
    assert {status for _, status in scored(A(400), without)} == {"not_applicable"}


def curve(*answerable: int, budgets: Sequence[Budget] = (200, 400, 800, 1200, None)) -> Response:
    pairs = zip(budgets, answerable, strict=True)
    return Response(
        contexts=[Context(at, [piece(FIRST)] if there else [], 5, "words") for at, there in pairs]
    )


def test_the_area_under_a_curve() -> None:
    answers = [curve(1, 1, 1, 1, 1), curve(0, 0, 1, 1, 1), curve(0, 0, 0, 0, 1), curve(0, 1, 0, 1, 1)]
    block = block_of(items_of("abcd"), answers, corpus=CORPUS)
    areas = [
        (200 / 2 + 200 + 400 + 400) / 1200,
        (0 + 0 + 400 / 2 + 400) / 1200,
        0.0,
        (0 + 200 / 2 + 400 / 2 + 400 / 2) / 1200,
    ]
    assert [each for each, _ in scored(AUC(1200), block)] == pytest.approx(areas)
    # up to 400 the first has 100 + 200 and the last 0 + 100
    assert [each for each, _ in scored(AUC(400), block)] == pytest.approx([3 / 4, 0, 0, 1 / 4])
    assert scored(AUC(1000), block)[0] == (None, "not_applicable")  # no context for 1000
    # the mean of the areas is the area under the means, here 1/4 1/2 1/2 3/4 at the four budgets
    mean = (200 * 1 / 8 + 200 * 3 / 8 + 400 * 1 / 2 + 400 * 5 / 8) / 1200
    assert np.mean(areas) == pytest.approx(mean)


def test_an_item_that_lacks_a_budget_has_no_area() -> None:
    answers = [curve(1, 1, budgets=(200, 400)), curve(1, budgets=(400,)), Response()]
    block = block_of(items_of("abc"), answers, corpus=CORPUS)
    assert scored(AUC(400), block) == [(0.75, "scored"), (None, "not_applicable"), (0.0, "missing")]


def test_a_judge_may_say_whether_a_context_is_enough() -> None:
    ids = ["yes", "no", "open", "empty", "other_seed", "other_budget", "half", "nothing"]
    held = Response(contexts=[Context(400, [WHOLE], 9, "words"), Context(None, [WHOLE], 9, "words")])
    responses = [held] * 8
    responses[3] = Response(contexts=[Context(400, [], 0, "words")])
    responses[7] = Response()

    def said(item_id: str, grade: float, target: str = "context@400", seed: int = 0) -> Judgment:
        return Judgment(item_id, "answerable", grade, "llm", target=target, arm="memory", seed=seed)

    judgments = [
        said("yes", 1),
        said("no", 0),
        said("no", 1, "context@inf"),
        said("other_seed", 1, seed=1),
        said("other_budget", 1, "context@200"),
        said("half", 0.5),
    ]
    block = dataclasses.replace(
        block_of(items_of(ids), responses, corpus=CORPUS), labels=resolve(judgments, ["llm"], set())
    )
    measure = parse_measure("A(label=answerable)@400")
    assert scored(measure, block) == [
        (1.0, "scored"),
        (0.0, "scored"),
        (None, "unjudged"),
        (0.0, "scored"),  # nobody need be asked about an empty context
        (None, "unjudged"),
        (None, "unjudged"),
        (0.0, "scored"),
        (0.0, "missing"),
    ]
    assert scored(A(None, "answerable"), block)[1] == (1.0, "scored")
    assert context_target(None) == "context@inf"


@pytest.mark.parametrize(
    "text", ["A@400", "A@inf", "ER@200", "EP@inf", "AUC@1200", "A(label='answerable')@400"]
)
def test_a_name_prints_and_parses_back(text: str) -> None:
    assert parse_measure(text).name == text
    assert parse_measure(text).at == "tokens"


def test_a_budget_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(UsageError, match="at least 1 token"):
        A(0)
    with pytest.raises(AssayError, match="cutoff"):
        parse_measure("AUC@inf")
    assert parse_measure("A") == A(None)


def test_evidence_that_cannot_be_read_is_reported_per_item() -> None:
    long, outside = unit(FIRST) | {"end": 20}, unit(FIRST, needs=[[10, 30]])
    items = [Item("a", "?", gold={"evidence": ["leave"]}), Item("b", "?", gold={"evidence": [long]})]
    items += [Item("c", "?", gold={"evidence": [outside]}), item(unit(FIRST))]
    block = block_of(items, [Response()] * 4)
    with pytest.raises(DataError) as error:
        A(400).values(block)
    told = str(error.value)
    assert len(error.value.problems) == 3
    assert "item 'a'" in told
    assert "the text has 17 characters, its span 20" in told
    assert "outside the unit" in told


def test_scores_of_several_budgets_come_from_one_block() -> None:
    block = block_of([item(unit(FIRST))], [curve(0, 1, budgets=(200, None))], corpus=CORPUS)
    table = score_blocks([A(200), A(None), ER(None)], [block])
    assert table.select("measure", "value").rows() == [("A@200", 0.0), ("A@inf", 1.0), ("ER@inf", 1.0)]


def test_evidence_that_is_not_in_the_corpus_is_reported() -> None:
    corpus = Corpus([Passage("a", "The ferry runs at nine.")])
    good = {"source": "a", "start": 0, "end": 9, "text": "The ferry"}
    cases = [
        (good, None),
        ({**good, "text": "Another 9"}, "another text is there"),
        ({**good, "source": "b"}, "there is no such document"),
        ({**good, "also": [{**good, "start": 1, "end": 10}]}, "another text is there"),
        ({"source": "a", "start": 3, "end": 3, "text": ""}, "a stretch of text"),
        ({"source": "a"}, "evidence"),
    ]
    for unit, what in cases:
        problems = evidence_problems([Item("q", "when?", gold={"evidence": [unit]})], corpus)
        assert [what in str(problem) for problem in problems] == ([True] if what else [])
