"""What seeds add to an interval: nothing where they agree, much where few of them do not."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from assay.stats.intervals import Interval
from assay.stats.widening import SeedStandardError, seed_error_of_estimates, seed_error_of_parts
from score_rows import decided, rows_of

Floats = NDArray[np.float64]
RANDOM = np.random.default_rng(5)


def test_two_seeds_by_hand() -> None:
    # two items under two seeds, as shares of the mean: 0.1 0.2 and 0.2 0.5; wholes 0.3, 0.7, variance 0.08
    found = seed_error_of_parts(np.array([[0.1, 0.2], [0.2, 0.5]]))
    # items 0.15 0.35 on average, wholes less their mean -0.2 0.2, halved -0.1 0.1: rests of 0.05 each
    # sum of squares 0.01 over (2 - 1)(2 - 1), times 2 items: 0.02; (0.08 - 0.02) / 2 = 0.03
    assert found is not None
    assert found.error**2 == pytest.approx(0.03)
    assert found.seeds == 2


def test_seeds_that_agree_add_nothing() -> None:
    rows = np.tile(RANDOM.normal(size=50), (3, 1))
    assert seed_error_of_parts(rows) == SeedStandardError(0.0, 3)
    assert seed_error_of_parts(rows[:1]) is None
    plain = Interval(-0.1, 0.3, "bootstrap")
    assert SeedStandardError(0.0, 3).widened(plain, 0.1, 0.95) == plain


def test_an_interval_is_widened_as_student_asks_for_so_few_seeds() -> None:
    wider = SeedStandardError(0.01, 3).widened(Interval(0.07, 0.13, "bootstrap"), 0.1, 0.95)
    # t with two degrees of freedom 4.3027: the root of 0.03^2 + 0.043027^2 = 0.05245
    assert (wider.low, wider.high) == (
        pytest.approx(0.1 - 0.05245, abs=1e-5),
        pytest.approx(0.15245, abs=1e-5),
    )


def study(
    n: int, seeds: int, between: float, random: np.random.Generator
) -> dict[tuple[object, ...], Floats]:
    """Two systems of one quality; the new one is better or worse as a whole from seed to seed."""
    old = random.uniform(0.3, 0.6, n)
    return {
        **{("old", "M", seed): old for seed in range(seeds)},
        **{
            ("new", "M", seed): np.clip(old + random.normal(0, 0.1, n) + random.normal(0, between), 0, 1)
            for seed in range(seeds)
        },
    }


def test_a_clause_over_seeds_that_differ_as_a_whole_is_wider() -> None:
    columns = study(200, 3, 0.0, RANDOM)
    steady = decided("M(new) >= M(old)", rows_of(columns))
    shifted = {
        key: values + (0.05 * (key[2] - 1) if key[0] == "new" else 0) for key, values in columns.items()
    }
    wild = decided("M(new) >= M(old)", rows_of(shifted))
    assert wild.value == pytest.approx(steady.value)
    wide, narrow = ((each.high or 0) - (each.low or 0) for each in (wild, steady))
    assert wide > 3 * narrow


@pytest.mark.slow
@pytest.mark.parametrize("between", [0.0, 0.02, 0.04])
def test_seeds_of_a_system_buy_no_gain(between: float) -> None:
    random = np.random.default_rng(17)
    studies = 200
    found = [decided("M(new) >= M(old)", rows_of(study(500, 3, between, random))) for _ in range(studies)]
    # 2.5 % are allowed; eleven of 200 is the 99 % bound
    assert sum(each.holds is True for each in found) <= 11


def test_resamples_without_an_end_say_nothing_of_items() -> None:
    values = np.array([[1.0, 2.0, np.inf, np.nan], [3.0, 4.0, np.inf, 1.0]])
    found = seed_error_of_estimates(values)
    # the estimates are 1 and 3: variance 2; the one resample that has values moves neither: sqrt(2 / 2)
    assert found is not None
    assert found.error == pytest.approx(1.0)
    assert seed_error_of_estimates(np.array([[np.inf, 1.0], [1.0, 1.0]])) is None
