"""Ranking measures on one worked example, and at their edges."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest

from assay.core.errors import PluginError, UsageError
from assay.core.gains import GainMatrix
from assay.measures.parse import parse_measure
from assay.measures.ranking import AP, NDCG, RR, P, R, RankingMeasure, Rprec, Success

NAN = float("nan")

# Ranks 1 to 4 hold: not relevant, grade 2, unjudged, grade 1. Of the labels, 2, 1 and 1 are relevant.
ONE = GainMatrix(
    grades=np.array([[0.0, 2.0, NAN, 1.0]]),
    returned=np.array([4]),
    ideal=np.array([[2.0, 1.0, 1.0]]),
    labelled=np.array([True]),
)
DCG = 2 / log2(3) + 1 / log2(5)
IDEAL = 2 / log2(2) + 1 / log2(3) + 1 / log2(4)
EXP_DCG = 3 / log2(3) + 1 / log2(5)  # 2^2 − 1 = 3, 2^1 − 1 = 1
EXP_IDEAL = 3 / log2(2) + 1 / log2(3) + 1 / log2(4)

WORKED = {
    "nDCG": DCG / IDEAL,
    "nDCG@2": (2 / log2(3)) / (2 / log2(2) + 1 / log2(3)),
    "nDCG(dcg='exp-log2')": EXP_DCG / EXP_IDEAL,
    "RR@inf": 1 / 2,
    "RR@1": 0.0,
    "RR(rel=2)@10": 1 / 2,
    "P": 2 / 4,
    "P@2": 1 / 2,
    "P@10": 2 / 10,
    "P(rel=2)@4": 1 / 4,
    "R": 2 / 3,
    "R@2": 1 / 3,
    "R(rel=2)@2": 1.0,
    "AP": (1 / 2 + 2 / 4) / 3,
    "AP@3": (1 / 2) / 3,
    "AP(rel=2)": 1 / 2,
    "Success@1": 0.0,
    "Success@2": 1.0,
    "Success(rel=3)@4": 0.0,
    "Complete": 0.0,  # two of three
    "Complete(rel=2)@2": 1.0,
    "Complete(rel=2)@1": 0.0,
    "Rprec": 1 / 3,  # three are relevant; of the first three ranks one is
    "Judged@2": 1.0,
    "Judged@3": 2 / 3,
    "Judged@10": 3 / 4,  # four came back, three of them judged
}


@pytest.mark.parametrize(("name", "expected"), WORKED.items())
def test_the_worked_example(name: str, expected: float) -> None:
    measure = parse_measure(name)
    assert isinstance(measure, RankingMeasure)
    assert measure.of(ONE)[0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", WORKED)
def test_nothing_returned_and_nothing_relevant_are_zero(name: str) -> None:
    empty = GainMatrix(np.empty((2, 0)), np.array([0, 0]), np.array([[1.0], [0.0]]), np.array([True, True]))
    barren = GainMatrix(np.array([[NAN]]), np.array([1]), np.empty((1, 0)), np.array([True]))
    measure = parse_measure(name)
    assert isinstance(measure, RankingMeasure)
    assert measure.of(empty).tolist() == [0.0, 0.0]
    assert measure.of(barren).tolist() == [0.0]
    assert measure.absent == measure.low == 0.0


def test_a_perfect_ranking_scores_one_everywhere() -> None:
    perfect = GainMatrix(np.array([[2.0, 1.0]]), np.array([2]), np.array([[2.0, 1.0]]), np.array([True]))
    for measure in (NDCG(), NDCG(1), RR(), P(2), R(2), AP(), Success(1), Rprec()):
        assert measure.of(perfect)[0] == pytest.approx(1.0), measure.name


@pytest.mark.parametrize("make", [lambda: P(0), lambda: R(5, rel=0), lambda: NDCG(-1)])
def test_cut_offs_and_levels_start_at_one(make: type[RankingMeasure]) -> None:
    with pytest.raises(UsageError, match="must be at least 1"):
        make()


def test_an_unknown_gain_is_refused() -> None:
    with pytest.raises(PluginError, match="dcg"):
        parse_measure("nDCG(dcg='square')@10")
