"""What a comparison with a baseline finds, and how often it is wrong: the gate on made-up scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from assay.core.protocols import Measure
from assay.core.records import Item
from assay.pipeline.baselines.diff import VersionPair
from assay.pipeline.baselines.losses import BaselineLosses
from assay.pipeline.baselines.tags import SCHEMA, Version, _BaselineRecord
from score_rows import B, E, M, frame_of, items_of

Floats = NDArray[np.float64]
Columns = dict[str, Floats]  # by measure
N = 42
RANDOM = np.random.Generator


def version(columns: Columns, items: Sequence[Item], arms: Sequence[str]) -> Version:
    """What one version of a study showed, in the form in which a baseline keeps it."""
    kept = _BaselineRecord(SCHEMA, 0.0, "", None, {}, list(items), {}, {}, {})
    frame = frame_of({(arm, measure): column for (arm, measure), column in _by_arm(columns, arms)}, items)
    return Version(kept, {}, frame)


def _by_arm(columns: Columns, arms: Sequence[str]) -> list[tuple[tuple[str, str], Floats]]:
    return [
        ((arm, name.split()[-1]), column)
        for arm in arms
        for name, column in columns.items()
        if _of(arm, name)
    ]


def _of(arm: str, name: str) -> bool:
    """A column may be one arm's own: `a M`."""
    return " " not in name or name.split(maxsplit=1)[0] == arm


def alarms(
    draw: Callable[[RANDOM], tuple[Columns, Columns]],
    measures: Sequence[Measure],
    studies: int,
    arms: Sequence[str] = ("a",),
    n: int = N,
) -> float:
    """The share of studies in which any loss is shown."""
    random, items, found = np.random.default_rng(11), items_of(n), 0
    for _ in range(studies):
        old, new = draw(random)
        pair = VersionPair(version(old, items, arms), version(new, items, arms), resamples=200)
        clauses = BaselineLosses(pair, "main", arms, measures, {}, 0.05).clauses
        assert len(clauses) == len(measures) * len(arms)
        found += any(clause.shows == "loss shown" for clause in clauses)
    return found / studies


# ------------------------------------------------------------------------------ what the scores are


def right(random: RANDOM, n: int = N) -> Floats:
    """Items that are right or wrong, three in four right."""
    return (random.random(n) < 0.75).astype(float)


def graded(random: RANDOM, n: int = N) -> Floats:
    """Like nDCG: many at 0 and at 1, the rest at a few values."""
    values = np.array([0.0, 0.387, 0.431, 0.5, 0.631, 0.92, 1.0])
    return random.choice(values, n, p=[0.2, 0.1, 0.1, 0.1, 0.1, 0.1, 0.3])


def without(column: Floats, points: float, random: RANDOM) -> Floats:
    """The column after a loss of so many points: items that lose all they had, none that wins."""
    return np.where(random.random(len(column)) < points / column.mean(), 0.0, column)


def binary_loss(random: RANDOM) -> tuple[Columns, Columns]:
    old = right(random)
    return {"B": old}, {"B": without(old, 0.1, random)}


def graded_loss(random: RANDOM) -> tuple[Columns, Columns]:
    old = graded(random)
    return {"M": old}, {"M": without(old, 0.1, random)}


def shared_loss(random: RANDOM) -> tuple[Columns, Columns]:
    """Three measures of one ranking: an item that loses its passage loses it for all of them."""
    found = right(random)
    rank = random.integers(0, 3, N)
    lost = np.where(random.random(N) < 0.1 / 0.75, 0.0, found)
    made = [{"B": kept, "M": kept / np.log2(rank + 2), "E": 1 - kept / (rank + 1)} for kept in (found, lost)]
    return made[0], made[1]


@pytest.mark.slow
def test_a_loss_of_ten_points_is_found_in_at_least_60_percent() -> None:
    # 42 items, a deterministic system: 4 lost of them show; P(at least 4 of 42 at 0.1) = 0.616
    studies = 300
    power = {
        "binary": alarms(binary_loss, [B], studies),
        "two measures": alarms(shared_loss, [B, M], studies),
        "three measures": alarms(shared_loss, [B, M, E], studies),
        "graded": alarms(graded_loss, [M], studies),
    }
    # exact for the first: 0.616, its standard error 0.028 here
    assert all(power[name] >= 0.6 for name in ("binary", "two measures", "three measures")), power
    assert power["graded"] >= 0.6, power  # items worth 0.4 or 0.5 must go in larger numbers


def churned(column: Floats, q: float, random: RANDOM) -> Floats:
    """Another run of the same system: it turns items over, as often up as down on average."""
    turned = random.random(len(column)) < q
    return np.where(turned, random.permutation(column), column)


def two_runs(
    make: Callable[[RANDOM], Floats], name: str, q: float
) -> Callable[[RANDOM], tuple[Columns, Columns]]:
    def draw(random: RANDOM) -> tuple[Columns, Columns]:
        truth = make(random)
        first, second = (churned(truth, q, random) for _ in range(2))
        return {name: first}, {name: second}

    return draw


def two_runs_of_three(random: RANDOM) -> tuple[Columns, Columns]:
    """Two arms of three measures each, all of them noisy."""
    sides: list[Columns] = [{}, {}]
    for arm in "ab":
        truth = right(random)
        for side in sides:
            kept = churned(truth, 0.2, random)
            rank = random.integers(1, 4, N)
            side |= {f"{arm} B": kept, f"{arm} M": kept / rank, f"{arm} E": 1 - kept / np.sqrt(rank)}
    return sides[0], sides[1]


@pytest.mark.slow
@pytest.mark.parametrize("q", [0.05, 0.2, 0.5])
def test_two_runs_of_one_system_are_called_worse_in_at_most_5_percent(q: float) -> None:
    studies = 300
    rates = {
        "binary": alarms(two_runs(right, "B", q), [B], studies),
        "graded": alarms(two_runs(graded, "M", q), [M], studies),
    }
    # 99 % lower Monte Carlo bound of 5 %: 0.05 + 2.33 · sqrt(0.05 · 0.95 / 300)
    assert all(rate <= 0.0794 for rate in rates.values()), rates


@pytest.mark.slow
def test_the_whole_gate_has_one_budget() -> None:
    rate = alarms(two_runs_of_three, [B, M, E], 300, arms=("a", "b"))
    assert rate <= 0.05 + 2.33 * np.sqrt(0.05 * 0.95 / 300)


def test_the_same_scores_never_alarm() -> None:
    def same(random: RANDOM) -> tuple[Columns, Columns]:
        column = graded(random)
        return {"M": column}, {"M": column}

    assert alarms(same, [M], 3) == 0.0


def test_a_slight_loss_on_every_item_is_found() -> None:
    def everywhere(random: RANDOM) -> tuple[Columns, Columns]:
        column = 0.5 + graded(random) / 2
        return {"M": column}, {"M": column - 0.01}

    assert alarms(everywhere, [M], 3) == 1.0
