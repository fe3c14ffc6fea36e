"""Rare losses that no item has shown: stated beside a go, and part of the bounds of a strict gate."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from assay.core.records import Verdict
from assay.gates.evaluator import Evaluator
from assay.gates.verdict import decide_gates
from assay.stats.intervals import Interval
from assay.stats.widening import gaffke_interval, strict_interval, unseen_share
from score_rows import REGISTRY, gate, items_of, rows_of

Floats = NDArray[np.float64]
CLAUSE = "M(new) >= M(old)"


def test_what_can_hide_is_about_three_over_n() -> None:
    assert unseen_share(100) == pytest.approx(0.0295, abs=1e-4)  # 1 - 0.05^(1/100)
    assert unseen_share(1_000) == pytest.approx(3 / 1_000, rel=0.01)
    assert unseen_share(0) == 1.0


def test_the_bound_of_constant_rows_is_that_of_a_beta() -> None:
    # rows of 0.1 and one more at -1, weighted by a Dirichlet: 0.1 - 1.1 B, B being beta(1, 30); its quantile
    # at 0.975 is 1 - 0.025^(1/30) = 0.1157
    found = gaffke_interval(np.full(30, 0.1), (-1.0, 1.0), 0.95, 20_000)
    assert found.low == pytest.approx(0.1 - 1.1 * (1 - 0.025 ** (1 / 30)), abs=0.005)
    assert found.high == pytest.approx(0.1 + 0.9 * (1 - 0.025 ** (1 / 30)), abs=0.005)


def test_a_side_that_was_seen_is_left_to_resampling() -> None:
    plain = Interval(-0.02, 0.02, "bootstrap")
    seen = np.tile([0.1, -0.1], 20)
    assert strict_interval(seen, plain, (-1, 1), 0.95, 2_000) == plain
    gains = np.tile([0.1, 0.0], 20)
    moved = strict_interval(gains, Interval(0.03, 0.07, "bootstrap"), (-1, 1), 0.95, 2_000)
    assert moved.low < 0 < moved.high == 0.07


def verdict(new: Floats, old: Floats, clause: str = CLAUSE, **file: object) -> Verdict:
    rows = rows_of({("new", "M"): new, ("old", "M"): old})
    (found,) = decide_gates([gate(go=[clause], **file)], Evaluator(rows, REGISTRY, resamples=2_000))
    return found


def test_a_go_says_how_many_items_could_have_lost_everything() -> None:
    old = np.linspace(0.2, 0.6, 60)
    new = old + np.tile([0.1, 0.05, 0.0], 20)
    plain, strict = verdict(new, old), verdict(new, old, strict=True)
    assert (plain.verdict, strict.verdict) == ("go", "inconclusive")
    assert plain.unseen == pytest.approx(unseen_share(60))
    assert strict.unseen is None


def test_a_strict_gate_still_says_go_where_losses_were_seen_and_outweighed() -> None:
    random = np.random.default_rng(1)
    old = random.uniform(0.2, 0.5, 200)
    new = old + np.where(np.arange(200) % 4, 0.2, -0.2)
    assert verdict(new, old, strict=True).verdict == "go"


def test_a_strict_gate_is_open_where_no_strict_bound_exists() -> None:
    old = np.linspace(0.2, 0.6, 60)
    found = verdict(old + 0.2, old, "M(new) / M(old) >= 1.05", strict=True)
    assert found.verdict == "inconclusive"
    assert "the gate is strict" in found.clauses[0].reason
    assert verdict(old + 0.2, old, "M(new) >= 0.3 on estimate", strict=True).verdict == "go"


@pytest.mark.slow
@pytest.mark.parametrize("n", [30, 50])
def test_rare_catastrophes_buy_no_strict_go(n: int) -> None:
    random, studies = np.random.default_rng(5), 200
    words = {False: 0, True: 0}
    for _ in range(studies):
        old = np.full(n, 0.95)
        drawn = random.random(n)
        new = old + np.where(drawn < 0.3, 0.05, np.where(drawn < 0.3 + 0.3 * 0.05 / 0.9, -0.9, 0.0))
        for strict in words:
            words[strict] += verdict(new, old, strict=strict).verdict == "go"
    assert words[True] <= 5
    assert words[False] > 20  # what the plain gate cannot know, and says beside its go


def test_strict_bounds_take_clusters_of_unequal_size() -> None:
    sizes = [1, 2, 3, 6] * 10
    sites = [f"s{number}" for number, size in enumerate(sizes) for _ in range(size)]
    random = np.random.default_rng(3)
    old = random.uniform(0.2, 0.6, len(sites))
    new = old + random.choice([0.1, 0.05, 0.0], len(sites))
    rows = rows_of({("new", "M"): new, ("old", "M"): old}, items_of(len(sites), site=sites), "site")
    plain, strict = (
        decide_gates([gate(go=[CLAUSE], strict=each)], Evaluator(rows, REGISTRY, resamples=2_000))[0]
        for each in (False, True)
    )
    assert (plain.verdict, strict.verdict) == ("go", "inconclusive")
    assert plain.unseen == pytest.approx(unseen_share(40))  # of clusters: 40 sites, 120 items
    assert strict.clauses[0].low < 0 < plain.clauses[0].low
