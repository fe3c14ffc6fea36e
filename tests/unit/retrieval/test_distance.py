"""How far two results lie apart."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.records import Hit, Span
from assay.retrieval.fuse import result_distance

results = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(-1e300, 1e300, allow_nan=False)).map(
    lambda scores: [Hit(doc, score) for doc, score in scores.items()]
)


def of(**scores: float) -> list[Hit]:
    return [Hit(doc, score) for doc, score in scores.items()]


@pytest.mark.parametrize(
    ("a", "b", "distance"),
    [
        (of(), of(), 0.0),
        (of(a=1), of(), 1.0),
        (of(), of(a=0), 1.0),
        (of(a=1), of(b=1), 1.0),
        (of(a=3, b=1), of(a=6, b=2), 0.0),  # twice the scores are the same shares
        (of(a=3, b=1), of(b=1, a=3), 0.0),
        (of(a=3, b=1), of(a=1, b=1), 0.25),  # ½(|3/4 − 1/2| + |1/4 − 1/2|)
        (of(a=3, b=1), of(a=1, c=1), 0.5),  # ½(|3/4 − 1/2| + 1/4 + 1/2)
        (of(a=1, b=-5), of(a=1), 0.0),  # a negative score weighs nothing
        (of(a=1, b=-5), of(b=1), 1.0),
        (of(a=0, b=-1), of(a=2, b=2), 0.0),  # nothing above 0: each weighs the same
        (of(a=0, b=0), of(a=1), 0.5),  # ½(|1/2 − 1| + 1/2)
        (of(a=1e308, b=1e308), of(a=1), 0.5),
    ],
)
def test_it_is_half_the_sum_of_what_the_shares_differ_by(a: list[Hit], b: list[Hit], distance: float) -> None:
    assert result_distance(a, b) == distance
    assert result_distance(b, a) == distance


def test_of_several_spans_the_best_counts() -> None:
    spans = [Hit("a", 3.0, Span(0, 5)), Hit("a", 2.0, Span(6, 9)), Hit("b", 1.0)]
    assert result_distance(spans, of(a=3, b=1)) == 0.0


@given(results, results, results)
def test_it_is_a_distance(a: list[Hit], b: list[Hit], c: list[Hit]) -> None:
    apart = result_distance(a, b)
    assert 0.0 <= apart <= 1.0
    assert apart == result_distance(b, a)
    assert apart <= result_distance(a, c) + result_distance(c, b) + 1e-9


@given(results, st.randoms())
def test_the_same_scores_are_exactly_the_same_in_any_order(a: list[Hit], random: Random) -> None:
    b = list(a)
    random.shuffle(b)
    assert result_distance(a, b) == 0.0
