"""By bounds and not cut off, a tree over 10,000 passages returns exactly the flat top 10 of its scorer."""

from __future__ import annotations

import numpy as np
import pytest

from assay.core.dataset import Dataset
from assay.core.protocols import Kit
from assay.kinds.hierarchy.systems.builders import Builder, KMeans
from assay.kinds.hierarchy.systems.system import Scan, TreeSystem
from assay_worlds.suites.workplace import Workplace

pytestmark = pytest.mark.slow


ASKED = 60


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory) -> Kit:
    return Kit(cache=tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="module")
def dataset(kit: Kit) -> Dataset:
    return Workplace(stage="10k", seed=7).load(kit)


def agreed(tree: Builder, words: float, dense: float, dataset: Dataset, kit: Kit) -> float:
    """Asks both, holds their first ten against each other, and tells the share of passages scored."""
    flat = Scan(words=words, dense=dense, k=10).build(dataset.corpus, 0, kit)
    index = TreeSystem(path="bounds", tree=tree, words=words, dense=dense, k=10).build(dataset.corpus, 1, kit)
    shares = []
    for item in [item for item in dataset.items if item.split == "dev"][:ASKED]:
        found = index.answer(item.query, [])
        assert found.hits == flat.answer(item.query, []).hits, item.text
        assert len({hit.doc_id for hit in found.hits}) == 10
        step = next(step for step in found.trace if step.target == "passages")
        shares.append(step.scores["nodes"] / step.scores["of"])
    return float(np.mean(shares))


def test_bounds_return_what_a_scan_returns(dataset: Dataset, kit: Kit) -> None:
    dense = agreed(KMeans(depth=3), 0.0, 1.0, dataset, kit)
    words = agreed(KMeans(depth=3), 1.0, 0.0, dataset, kit)
    both = agreed(KMeans(depth=3), 0.05, 1.0, dataset, kit)
    assert words < 0.5  # words know where not to look
    assert words < both < dense  # the ball around a cluster hardly does


def test_a_passage_below_several_leaves_is_returned_once(dataset: Dataset, kit: Kit) -> None:
    agreed(KMeans(depth=2, parents=3), 0.05, 1.0, dataset, kit)
