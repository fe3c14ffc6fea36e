"""What gates promise, kept in simulated studies: twins are not told apart, a planted loss is."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from statsmodels.stats.power import TTestPower

from assay.gates.decision import decide_clause
from assay.gates.evaluator import Evaluator
from assay.gates.gate import GateFile
from assay.gates.grammar import parse_clause
from assay.stats.compare import ComparisonSettings, summarise
from assay.stats.rows import Rows
from score_rows import REGISTRY, M, rows_of

Floats = NDArray[np.float64]
STUDIES, RESAMPLES = 400, 1_000
RANKS = np.array([1, 1 / 2, 1 / 3, 1 / 4, 1 / 5, 1 / 10, 0])
CHANCES = np.array([0.35, 0.15, 0.10, 0.05, 0.05, 0.10, 0.20])
DEVIATION = 0.3  # of the differences where a loss is planted


def twins(random: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    """Two systems of one quality: alike on half the items, exchangeable on the others."""
    one, other = random.choice(RANKS, p=CHANCES, size=(2, n))
    return one, np.where(random.random(n) < 0.5, one, other)


def worse(random: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    """The second truly loses 0.05, with a known deviation of the differences."""
    one = random.uniform(0.3, 0.7, n)
    return one, one - 0.05 + random.choice([-DEVIATION, DEVIATION], size=n)


@cache
def studies(kind: str, n: int) -> Rows:
    """Many studies as one table of systems old0, new0, old1, …"""
    random = np.random.default_rng(n)
    made = [(twins if kind == "twins" else worse)(random, n) for _ in range(STUDIES)]
    old = {(f"old{index}", "M"): column for index, (column, _) in enumerate(made)}
    new = {(f"new{index}", "M"): column for index, (_, column) in enumerate(made)}
    return rows_of(old | new)


def outcomes(text: str, rows: Rows, on: str | None = None) -> dict[bool | None, float]:
    """The share of studies in which a clause passes, fails, is undecided."""
    evaluator = Evaluator(rows, REGISTRY, resamples=RESAMPLES)
    rules = GateFile.model_validate({"on": on})
    found = [
        decide_clause(parse_clause(text.replace("#", str(index))), rules, evaluator).holds
        for index in range(STUDIES)
    ]
    return {holds: found.count(holds) / STUDIES for holds in (True, False, None)}


@pytest.mark.slow
@pytest.mark.parametrize("n", [66, pytest.param(300, marks=pytest.mark.slow)])
def test_twins_do_not_pass_for_an_improvement(n: int) -> None:
    # 2.5 % expected at most; four deviations of a share of 400 studies are 0.031
    shares = outcomes("M(new#) >= M(old#) + 0.02", studies("twins", n))
    assert shares[True] <= 0.04


@pytest.mark.slow
def test_by_estimate_alone_twins_often_pass() -> None:
    assert outcomes("M(new#) >= M(old#) + 0.02", studies("twins", 66), on="estimate")[True] >= 0.25


@pytest.mark.slow
@pytest.mark.parametrize("n", [66, pytest.param(300, marks=pytest.mark.slow)])
def test_twins_are_neither_better_nor_worse(n: int) -> None:
    # 2.5 % to each side; three deviations of 400 studies are 0.023
    shares = outcomes("M(new#) >= M(old#) - 0.0", studies("twins", n))
    assert shares[True] <= 0.048
    assert shares[False] <= 0.048
    assert 0.002 <= shares[True] + shares[False] <= 0.083


@pytest.mark.slow
@pytest.mark.parametrize("n", [66, pytest.param(300, marks=pytest.mark.slow)])
def test_twins_differ_no_more_often_than_alpha(n: int) -> None:
    rows = studies("twins", n)

    class Twins(ComparisonSettings):
        def pairs(self, systems: object) -> list[tuple[str, str]]:
            return [(f"new{index}", f"old{index}") for index in range(STUDIES)]

    _, found = summarise(rows, [M], Twins("old0", correction="none", resamples=RESAMPLES))
    assert len(found) == STUDIES
    assert np.mean([one.p is not None and one.p < 0.05 for one in found]) <= 0.083
    _, corrected = summarise(rows, [M], Twins("old0", resamples=RESAMPLES))
    # as one family, Holm lets a single one through in at most 5 of 100 such tables
    assert sum(one.p_adjusted is not None and one.p_adjusted < 0.05 for one in corrected) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("n", [66, pytest.param(300, marks=pytest.mark.slow)])
def test_a_planted_loss_is_caught_at_the_stated_power(n: int) -> None:
    stated = TTestPower().power(0.05 / DEVIATION, n, 0.05)  # 0.27 at 66 items, 0.82 at 300
    shares = outcomes("M(new#) >= M(old#)", studies("worse", n))
    assert shares[False] == pytest.approx(stated, abs=0.067)  # three deviations of 400 studies
    assert shares[True] <= 0.005


@pytest.mark.slow
def test_a_kill_catches_what_a_go_clause_fails_on() -> None:
    rows = studies("worse", 300)
    kill, go = outcomes("M(new#) < M(old#)", rows), outcomes("M(new#) >= M(old#)", rows)
    assert (kill[True], kill[False], kill[None]) == (go[False], go[True], go[None])


@pytest.mark.slow
def test_a_tolerated_loss_is_not_called_one() -> None:
    # the true loss is just what is tolerated: passing is wrong at most every 40th time, failing likewise
    shares = outcomes("M(new#) >= M(old#) - 0.05", studies("worse", 300))
    assert shares[True] <= 0.048
    assert shares[False] <= 0.048
