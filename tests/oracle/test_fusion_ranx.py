"""Our fusion against that of ranx (Bassani and Romelli, CIKM 2022)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from assay.core.parts import Ranking
from assay.retrieval.fuse import RRF, Norm, WeightedFusion

# It has warnings of its own and of numba.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

THEIR_NAMES: dict[Norm, str | None] = {
    "minmax": "min-max", "max": "max", "sum": "sum", "zscore": "zmuv", "rank": "rank", "none": None,
}  # fmt: skip
# They give 0 to what a ranking does not hold: to a z-score the mean. So there all rankings hold the same.
SHARED: dict[Norm, int] = {"zscore": 40}


@pytest.fixture(scope="module", autouse=True)
def _interpreted() -> Iterator[None]:
    """Compiling takes a minute and a half; numba is told before its first import."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NUMBA_DISABLE_JIT", "1")
        yield


def rankings(seed: int, shared: int, count: int = 3) -> list[Ranking]:
    generator = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        # at least two: one score alone has no spread, and is 0 with them and 1 with us
        positions = generator.choice(40, size=max(shared, int(generator.integers(2, 40))), replace=False)
        made.append(Ranking(positions, np.sort(generator.gamma(2.0, 3.0, size=len(positions)))[::-1]))
    return made


def theirs(each: list[Ranking], norm: str | None, method: str, params: dict[str, object]) -> dict[int, float]:
    ranx = pytest.importorskip("ranx", reason="ranx is the oracle: pip install 'retrieval-assay[bench]'")
    runs = [
        ranx.Run({"q": dict(zip(map(str, r.positions.tolist()), r.scores.tolist(), strict=True))})
        for r in each
    ]
    fused = ranx.fuse(runs, norm=norm, method=method, params=params)
    return {int(position): score for position, score in fused.to_dict()["q"].items()}


def ours(fused: Ranking) -> dict[int, float]:
    return dict(zip(fused.positions.tolist(), fused.scores.tolist(), strict=True))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("k", [0, 10, 60])
def test_reciprocal_rank_fusion(seed: int, k: int) -> None:
    each = rankings(seed, shared=0)
    assert ours(RRF(k).fuse(each)) == pytest.approx(theirs(each, None, "rrf", {"k": k}), rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("norm", THEIR_NAMES)
def test_weighted_sums(seed: int, norm: Norm) -> None:
    each = rankings(seed, SHARED.get(norm, 0))
    weights = (0.2, 0.5, 0.3)
    expected = theirs(each, THEIR_NAMES[norm], "wsum", {"weights": list(weights)})
    assert ours(WeightedFusion(weights, norm).fuse(each)) == pytest.approx(expected, rel=1e-9, abs=1e-12)
