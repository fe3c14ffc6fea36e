"""Flat systems through `assay run` beside published figures: `make published`, a quarter of an hour or more.

Most of that is MiniLM reading 18,000 documents. With ASSAY_PUBLISHED_CACHE they are read once and kept there.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from small_study import assay

STUDIES = Path(__file__).parents[2] / "src" / "assay" / "studies" / "published"
# Anserini's BM25 regressions for BEIR (flat index), and MTEB's table for all-MiniLM-L6-v2
PUBLISHED = {
    "scifact": {"bm25": 0.6789, "minilm": 0.645},
    "nfcorpus": {"bm25": 0.3218, "minilm": 0.316},
}

pytestmark = [
    pytest.mark.published,
    pytest.mark.filterwarnings("default"),
]


def run(name: str, folder: Path, data: Path) -> dict[str, Any]:
    """The results of a study of `studies/published`, run afresh in a folder."""
    shutil.copy(STUDIES / f"{name}.yaml", folder)
    cache = os.environ.get("ASSAY_PUBLISHED_CACHE") or str(folder / "cache")
    with mock.patch.dict(os.environ, {"ASSAY_DATA": str(data), "ASSAY_CACHE": cache}):
        done = assay("run", folder / f"{name}.yaml", "--json")
    assert done.code == 0, done.err
    results: dict[str, Any] = done.json
    return results


def means(results: dict[str, Any], measure: str) -> dict[str, float]:
    return {each["system"]: each["value"] for each in results["estimates"] if each["measure"] == measure}


@pytest.mark.parametrize("name", PUBLISHED)
def test_bm25_and_minilm_reach_the_published_figures_and_hybrid_both(
    name: str, tmp_path: Path, shared_data: Callable[[str], Path]
) -> None:
    results = run(name, tmp_path, shared_data(name).parent)
    found = means(results, "nDCG@10")
    for system, published in PUBLISHED[name].items():
        assert found[system] == pytest.approx(published, abs=0.01)
    better = max(PUBLISHED[name], key=lambda system: found[system])
    assert found["hybrid"] > found[better]
    pairs = {(each["a"], each["b"]): each for each in results["comparisons"] if each["measure"] == "nDCG@10"}
    for system in ("hybrid", "strong"):
        pair = pairs.get((system, better)) or pairs[better, system]
        assert pair["n"] == len({row["item"] for row in results["scores"]})
        assert pair["low"] <= pair["difference"] <= pair["high"]


@pytest.mark.parametrize("name", ["hotpotqa", "musique", "2wiki"])
def test_multi_hop_evidence_is_found_in_full_less_often_than_in_part(
    name: str, tmp_path: Path, shared_data: Callable[[str], Path]
) -> None:
    results = run(name, tmp_path, shared_data("multihop").parent)
    found, complete = means(results, "R@5"), means(results, "Complete@5")
    assert set(found) == set(complete) == {"bm25", "minilm", "hybrid", "strong"}
    for system, recall in found.items():
        assert 0.1 < complete[system] < recall < 0.95
