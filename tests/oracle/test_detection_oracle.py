"""Precision, recall and F1 against those of scikit-learn, weight by weight."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import f1_score, precision_score, recall_score

from assay.kinds.hierarchy.statistics import DetectionF1, Precision, Recall
from assay.stats.resample import bootstrap_weights

PAIRS = [(Precision(), precision_score), (Recall(), recall_score), (DetectionF1(), f1_score)]


@pytest.mark.parametrize(("ours", "theirs"), PAIRS, ids=["precision", "recall", "f1"])
@pytest.mark.parametrize(("n", "share"), [(4, 0.3), (30, 0.1), (300, 0.5)])
def test_random_columns_under_random_weights(ours: DetectionF1, theirs: object, n: int, share: float) -> None:
    random = np.random.default_rng(n)
    said, true = (random.random((2, n)) < share).astype(float)
    resampled = next(bootstrap_weights(n, 20, n))
    weights = np.vstack([np.ones(n), random.random((10, n)), resampled])
    expected = [
        theirs(true, said, sample_weight=row, zero_division=np.nan)  # type: ignore[operator]
        for row in weights
    ]
    assert ours.values([said, true], weights) == pytest.approx(expected, nan_ok=True)
