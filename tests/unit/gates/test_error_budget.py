"""One error budget for a gate: several tries at go, or at no-go, share what one try may get wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from assay.gates.evaluator import Evaluator
from assay.gates.expansion import ClauseGroup, error_families, expand_clause, share_levels
from assay.gates.grammar import parse_clause
from assay.gates.operand import Mean, calls_in
from assay.gates.syntax import Call, Clause
from assay.gates.verdict import decide_gates
from assay.stats.families import shared_level
from score_rows import REGISTRY, decided, gate, items_of, rows_of

Floats = NDArray[np.float64]
RANDOM = np.random.default_rng(20)
A, B, C, D = (parse_clause(f"M({name}) >= 0.5 on interval") for name in "abcd")


def plain(clause: Clause) -> tuple[float, float]:
    return 0.95, 0.95


def known(name: str) -> list[str]:
    return {"part": ["x", "y", "z"]}[name]


@dataclass(frozen=True)
class Ranged:
    """As much of a measure as decides in which direction a clause counts."""

    low: float
    high: float = 1.0


def leaves_of_means(clause: Clause) -> dict[Call, Any]:
    """M lies between 0 and 1, G between -1 and 1."""
    every = (*calls_in(clause.left), *calls_in(clause.right))
    return {call: Mean("a", Ranged(-1.0 if call.name == "G" else 0.0), ()) for call in every}  # type: ignore[arg-type]


def shape(part: ClauseGroup | Clause) -> Any:
    return (part.need, [shape(each) for each in part.parts]) if isinstance(part, ClauseGroup) else str(part)


# ----------------------------------------------------------------------------- clauses written out


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("M(a) >= 0.5", "M(a) >= 0.5"),
        ("max(M(a), M(b)) >= M(c)", (1, ["M(a) >= M(c)", "M(b) >= M(c)"])),
        ("min(M(a), M(b)) >= M(c)", (2, ["M(a) >= M(c)", "M(b) >= M(c)"])),
        ("M(c) >= max(M(a), M(b)) + 0.1", (2, ["M(c) >= M(a) + 0.1", "M(c) >= M(b) + 0.1"])),
        ("M(c) >= min(M(a), M(b))", (1, ["M(c) >= M(a)", "M(c) >= M(b)"])),
        ("max(M(a), M(b)) <= 0.5", (2, ["M(a) <= 0.5", "M(b) <= 0.5"])),
        ("-max(M(a), M(b)) >= -0.5", (2, ["-M(a) >= -0.5", "-M(b) >= -0.5"])),
        ("max(M(a), M(b)) * 2 >= 1", (1, ["M(a) * 2 >= 1", "M(b) * 2 >= 1"])),
        ("-2 * max(M(a), M(b)) >= -1", (2, ["-2 * M(a) >= -1", "-2 * M(b) >= -1"])),
        ("M(a) >= 0.5 for 2 of part=*", (2, [f"M(a) >= 0.5 where part={each}" for each in "xyz"])),
        ("M(a) >= 0.5 for each part=x|y", (2, [f"M(a) >= 0.5 where part={each}" for each in "xy"])),
        (
            "max(M(a), M(b)) >= 0.5 for each part=x|y",
            (2, [(1, [f"M({name}) >= 0.5 where part={each}" for name in "ab"]) for each in "xy"]),
        ),
        # M is never negative, so that the direction of a ratio is known
        ("max(M(a), M(b)) / M(c) >= 1.1", (1, ["M(a) / M(c) >= 1.1", "M(b) / M(c) >= 1.1"])),
        ("M(c) / max(M(a), M(b)) <= 0.9", (1, ["M(c) / M(a) <= 0.9", "M(c) / M(b) <= 0.9"])),
        (
            "(max(M(a), M(b)) - M(c)) / M(c) >= 2%",
            (1, ["(M(a) - M(c)) / M(c) >= 0.02", "(M(b) - M(c)) / M(c) >= 0.02"]),
        ),
        ("(2 - 1) * max(M(a), M(b)) >= M(c)", (1, ["(2 - 1) * M(a) >= M(c)", "(2 - 1) * M(b) >= M(c)"])),
        ("(1 - 2) * max(M(a), M(b)) >= -1", (2, ["(1 - 2) * M(a) >= -1", "(1 - 2) * M(b) >= -1"])),
        ("M(c) * min(M(a), M(b)) < 0.5", (1, ["M(c) * M(a) < 0.5", "M(c) * M(b) < 0.5"])),
        (
            "max(M(a), M(b)) / max(M(c), M(d)) > 1",
            (1, [(2, [f"M({one}) / M({other}) > 1" for other in "cd"]) for one in "ab"]),
        ),
        # it counts in both directions: what it comes to cannot be read off one of them
        (
            "M(c) + max(M(a), M(b)) - 2 * max(M(a), M(b)) >= 0",
            "M(c) + max(M(a), M(b)) - 2 * max(M(a), M(b)) >= 0",
        ),
        # G can be negative, so that nobody knows which way it counts
        ("max(M(a), M(b)) * G(c) >= 0.1", "max(M(a), M(b)) * G(c) >= 0.1"),
        ("max(M(a), M(b)) / (M(c) - M(d)) >= 2", "max(M(a), M(b)) / (M(c) - M(d)) >= 2"),
    ],
)
def test_for_max_and_min_are_written_out(text: str, expected: Any) -> None:
    assert shape(expand_clause(parse_clause(text), known, leaves_of_means)) == expected


@pytest.mark.parametrize(
    ("tree", "to_hold", "to_fail"),
    [
        (ClauseGroup(3, (A, B, C)), [[A], [B], [C]], [[A, B, C]]),  # all
        (ClauseGroup(1, (A, B, C)), [[A, B, C]], [[A], [B], [C]]),  # any
        (ClauseGroup(2, (A, B, C)), [[A, B, C]], [[A, B, C]]),
        (ClauseGroup(2, (A, ClauseGroup(1, (B, C)))), [[A], [B, C]], [[A, B, C]]),
        (ClauseGroup(1, (ClauseGroup(2, (A, B)), ClauseGroup(2, (C, D)))), [[A, B, C, D]], [[A, B], [C, D]]),
    ],
)
def test_who_shares(tree: ClauseGroup, to_hold: list[Any], to_fail: list[Any]) -> None:
    assert list(error_families(tree, to_hold=True)) == to_hold
    assert list(error_families(tree, to_hold=False)) == to_fail


# --------------------------------------------------------------------------------------- the bar


def test_what_moves_together_costs_nothing_and_what_does_not_is_shared() -> None:
    alone, other = RANDOM.normal(size=(2, 20_000))
    assert shared_level([alone, alone], 0.95) == pytest.approx(0.95, abs=0.003)
    # two independent ones: 1 - (1 - a)² = 0.025, a = 0.01258
    assert shared_level([alone, other], 0.95) == pytest.approx(1 - 2 * 0.01258, abs=0.003)
    ten = list(RANDOM.normal(size=(10, 20_000)))
    # 1 - (1 - a)¹⁰ = 0.025, a = 0.00253
    assert shared_level(ten, 0.95) == pytest.approx(1 - 2 * 0.00253, abs=0.001)


def test_without_resamples_to_compare_parts_share_alike() -> None:
    # a tail of 0.025 over 2 is 0.0125 each
    assert shared_level([np.zeros(9), np.ones(8)], 0.95) == pytest.approx(0.975)
    assert shared_level([np.zeros(9), np.zeros(9)], 0.95) == pytest.approx(0.975)


def test_a_clause_that_promises_nothing_takes_no_share() -> None:
    drawn = {each: RANDOM.normal(size=5_000) for each in (A, B)}
    levels = share_levels(ClauseGroup(1, (A, B, C)), drawn, plain)
    assert (levels[A].among, levels[C].among) == (2, 1)
    assert levels[A].holds > levels[A].fails == levels[C].holds == 0.95


def test_a_single_comparison_is_what_it_was() -> None:
    levels = share_levels(ClauseGroup(1, (A,)), {A: RANDOM.normal(size=100)}, plain)
    assert (levels[A].holds, levels[A].fails) == (0.95, 0.95)


# --------------------------------------------------------------------------------------- decisions


def test_the_candidate_that_is_shown_to_be_better_decides_a_maximum() -> None:
    old = RANDOM.uniform(0.3, 0.6, 60)
    rows = rows_of(
        {
            ("old", "M"): old,
            ("steady", "M"): old + 0.1,
            ("wild", "M"): np.clip(old + np.where(np.arange(60) % 3, 0.4, -0.3), 0, 1),
        }
    )
    found = decided("max(M(steady), M(wild)) >= M(old) + 0.05", rows)
    assert found.holds is True
    assert "2 of 2 pass" in found.reason or "1 of 2 pass" in found.reason
    assert found.value == pytest.approx(found.left - found.right)


def test_slices_of_which_one_is_enough_are_wider_than_one_that_was_named() -> None:
    new, old = RANDOM.uniform(0, 1, (2, 90))
    items = items_of(90, part=["x", "y", "z"] * 30)
    rows = rows_of({("new", "M"): new, ("old", "M"): old}, items)
    one = decided("M(new) >= M(old) where part=x", rows)
    (gated,) = decide_gates(
        [gate(go=["M(new) >= M(old) for 1 of part=*"])], Evaluator(rows, REGISTRY, resamples=2_000)
    )
    shares = {each: decided(f"M(new) >= M(old) where part={each}", rows) for each in "xyz"}
    widest = max(each.high - each.low for each in shares.values())
    (clause,) = gated.clauses
    assert clause.low is not None
    assert clause.high is not None
    narrow = min(each.value - each.low for each in shares.values())
    assert clause.value is not None
    assert clause.value - clause.low > narrow
    assert one.low is not None
    assert widest > 0


# ------------------------------------------------------------------------------------ calibration

STUDIES, N = 300, 66


def twins(random: np.random.Generator, number: int) -> Floats:
    """Systems of one quality: ties with the first on half of the items, exchangeable on the others."""
    ranks = np.array([1, 1 / 2, 1 / 3, 1 / 5, 0])
    first = random.choice(ranks, size=(1, N))
    others = random.choice(ranks, size=(number, N))
    return np.vstack([first, np.where(random.random((number, N)) < 0.5, first, others)])


def share_of(word: str, number: int, **file: Any) -> float:
    """How often a gate over the first system and its twins says so; items are in five slices."""
    random, words = np.random.default_rng(7), []
    items = items_of(N, part=[f"p{index % 5}" for index in range(N)])
    for _ in range(STUDIES):
        names = ["old", *(f"v{index}" for index in range(number))]
        columns = {(name, "M"): column for name, column in zip(names, twins(random, number), strict=True)}
        rows = rows_of(columns, items)
        (found,) = decide_gates([gate(**file)], Evaluator(rows, REGISTRY, resamples=1_000))
        words.append(found.verdict)
    return words.count(word) / STUDIES


TEN = [f"v{index}" for index in range(10)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("word", "number", "file"),
    [
        ("go", 10, {"go": [f"max({', '.join(f'M({each})' for each in TEN)}) >= M(old) + 0.02"]}),
        ("go", 10, {"go": {"any": [f"M({each}) >= M(old) + 0.02" for each in TEN]}}),
        ("go", 1, {"go": ["M(v0) >= M(old) + 0.02 for 1 of part=*"]}),
        ("no-go", 1, {"kill": {"any": [f"M(v0) < M(old) where part=p{index}" for index in range(5)]}}),
        ("no-go", 10, {"go": [f"M({each}) >= M(old)" for each in TEN]}),
    ],
    ids=["max of ten", "any of ten", "for 1 of 5", "kill any of 5", "all of ten"],
)
def test_luck_has_one_try_however_many_parts_there_are(word: str, number: int, file: dict[str, Any]) -> None:
    # 2.5 % allowed; three deviations of 300 studies are 0.027. Before parts shared it was 0.11 to 0.45
    assert share_of(word, number, **file) <= 0.052
