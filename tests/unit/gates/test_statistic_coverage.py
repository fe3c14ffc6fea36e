"""The intervals of what clauses can ask for cover as often as they say, in simulated studies."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from assay.gates.decision import decide_clause
from assay.gates.evaluator import Evaluator
from assay.gates.gate import GateFile
from assay.gates.grammar import parse_clause
from assay.gates.margin import clause_margins
from assay.measures.overlap import RBO
from assay.stats.intervals import weighted_interval
from score_rows import REGISTRY, rows_of

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], tuple[Floats, ...]]
STUDIES = 300
RANKS = np.array([1, 1 / 2, 1 / 3, 1 / 4, 1 / 5, 1 / 10, 0])
CHANCES = np.array([0.35, 0.15, 0.10, 0.05, 0.05, 0.10, 0.20])
DOCUMENTS = np.arange(20)


def ranks(random: np.random.Generator, n: int) -> tuple[Floats, ...]:
    return (random.choice(RANKS, p=CHANCES, size=n),)


def twins(random: np.random.Generator, n: int) -> tuple[Floats, ...]:
    one, other = random.choice(RANKS, p=CHANCES, size=(2, n))
    return one, np.where(random.random(n) < 0.5, one, other)


def slow(random: np.random.Generator, n: int) -> tuple[Floats, ...]:
    return (random.lognormal(0, 1.5, n),)


def slow_pair(random: np.random.Generator, n: int) -> tuple[Floats, ...]:
    base = random.normal(0, 1, n)
    return np.exp(base + random.normal(0, 1, n)), np.exp(base + random.normal(0, 1, n))


def skewed(random: np.random.Generator, n: int) -> tuple[Floats, ...]:
    return (random.beta(2, 5, n),)


def related(random: np.random.Generator, n: int) -> tuple[Floats, ...]:
    one = random.normal(size=n)
    return one, 0.6 * one + 0.8 * random.normal(size=n)


def reordered(random: np.random.Generator, n: int) -> tuple[Floats, ...]:
    """The RBO of rankings that are one another's with noise in their scores."""
    noisy = (DOCUMENTS + random.normal(0, 3, (n, 2, 20))).argsort(axis=2)
    rbo = RBO(against="other")
    return (np.array([rbo.alike(one.tolist(), other.tolist()) for one, other in noisy]),)


LOSES = 0.5 * float(sum(CHANCES[a] * CHANCES[b] for a in range(7) for b in range(7) if RANKS[a] < RANKS[b]))

# the clause, its measure, how a study is drawn, and what is true; of a count, of each item
CASES: dict[str, tuple[str, str, Draw, float]] = {
    "median": ("median(T(a#))", "T", slow, 1.0),
    "ratio of medians": ("median(T(a#)) / median(T(b#))", "T", slow_pair, 1.0),
    "p10": ("p10(M(a#))", "M", skewed, float(stats.beta(2, 5).ppf(0.1))),
    "share below": ("share(M(a#) < 0.3)", "M", ranks, 0.40),
    "count": ("count(M(a#) = 0)", "M", ranks, 0.20),
    "losses": ("losses(M(a#), M(b#))", "M", twins, LOSES),
    "shares compared": ("share(M(a#) < 0.3) - share(M(b#) < 0.3)", "M", twins, 0.0),
    "kendall": ("kendall(T(a#), T(b#))", "T", related, float(2 / np.pi * np.arcsin(0.6))),
    "RBO": ("M(a#)", "M", reordered, 0.7096),  # the mean of 400,000 such pairs
}


@pytest.mark.slow
@pytest.mark.parametrize("n", [40, 100])
@pytest.mark.parametrize("case", CASES)
def test_intervals_cover(case: str, n: int) -> None:
    text, measure, draw, truth = CASES[case]
    random = np.random.default_rng(n)
    columns = {
        (f"{system}{study}", measure): column
        for study in range(STUDIES)
        for system, column in zip("ab", draw(random, n), strict=False)
    }
    evaluator = Evaluator(rows_of(columns), REGISTRY, resamples=1_000)
    covered, known = 0, truth * n if case == "count" else truth
    for study in range(STUDIES):
        clause = parse_clause(f"{text.replace('#', str(study))} >= 0")
        whole = clause_margins(clause, evaluator.operands(clause), evaluator, [{}])[0].whole
        covered += whole.low <= known <= whole.high
    # three deviations of a share of 0.95 in 300 studies are 0.038
    assert covered / STUDIES >= 0.95 - 0.038


@pytest.mark.slow
@pytest.mark.parametrize(("spread", "n"), [(0.5, 60), (1.0, 100), (1.0, 300), (1.5, 300)])
def test_weighted_means_are_covered(spread: float, n: int) -> None:
    def study(random: np.random.Generator, size: int) -> tuple[Floats, Floats]:
        """Queries asked more often are answered better."""
        traffic = random.lognormal(0, spread, size)
        found = random.random(size) < 1 / (1 + np.exp(-np.log(traffic) / 2))
        return found * random.choice([1, 0.5, 0.33], size), traffic

    values, traffic = study(np.random.default_rng(1), 2_000_000)
    truth = float(values @ traffic / traffic.sum())
    random = np.random.default_rng(n)
    ends = [weighted_interval(*study(random, n), (0.0, 1.0)) for _ in range(1_000)]
    known = [each for each in ends if not np.isnan(each.low)]
    assert len(known) > 500
    assert np.mean([each.low <= truth <= each.high for each in known]) >= 0.92


@pytest.mark.slow
def test_the_mean_of_times_covers_only_up_to_a_limit() -> None:
    n, random = 40, np.random.default_rng(3)
    times = random.lognormal(0, 1.5, (STUDIES, n))
    whole = np.exp(1.5**2 / 2)  # 3.08; beyond the limit of 5 each counts as 5
    limited = float(np.minimum(np.random.default_rng(4).lognormal(0, 1.5, 2_000_000), 5).mean())

    def coverage(measure: str, columns: Floats, truth: float) -> float:
        rows = rows_of({(f"a{study}", measure): column for study, column in enumerate(columns)})
        evaluator = Evaluator(rows, REGISTRY, resamples=1_000)
        found = 0
        for study in range(STUDIES):
            clause = parse_clause(f"{measure}(a{study}) >= 0")
            ends = clause_margins(clause, evaluator.operands(clause), evaluator, [{}])[0].whole
            found += ends.low <= truth <= ends.high
        return found / STUDIES

    assert coverage("T", times, whole) < 0.90
    assert coverage("M", np.minimum(times, 5) / 5, limited / 5) >= 0.95 - 0.038


@pytest.mark.slow
def test_equivalence_is_claimed_of_few_systems_at_the_edge_of_the_band_and_of_most_twins() -> None:
    n, random = 200, np.random.default_rng(11)
    old = random.uniform(0.3, 0.7, (STUDIES, n))
    noise = random.choice([-0.1, 0.1], size=(STUDIES, n))
    columns = {(f"old{study}", "M"): column for study, column in enumerate(old)}
    columns |= {(f"edge{study}", "M"): column for study, column in enumerate(old + noise - 0.02)}
    columns |= {(f"twin{study}", "M"): column for study, column in enumerate(old + noise)}
    evaluator = Evaluator(rows_of(columns), REGISTRY, resamples=1_000)
    rules = GateFile()

    def share(system: str, holds: bool) -> float:
        found = [
            decide_clause(parse_clause(f"M({system}{study}) within 0.02 of M(old{study})"), rules, evaluator)
            for study in range(STUDIES)
        ]
        return sum(each.holds is holds for each in found) / STUDIES

    # 0.1 / √200 = 0.0071, so an interval is ± 0.0139, and fits where the difference is within ± 0.0061: 61 %
    assert share("edge", True) <= 0.05
    assert share("edge", False) <= 0.05
    assert share("twin", True) >= 0.5
