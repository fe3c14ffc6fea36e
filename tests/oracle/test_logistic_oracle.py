"""Our logistic regression against scikit-learn's: the same penalty, the same weights."""

from __future__ import annotations

import numpy as np
import pytest

from assay.kinds.hierarchy.logistic import Scaler, fit_logistic

linear_model = pytest.importorskip("sklearn.linear_model")
preprocessing = pytest.importorskip("sklearn.preprocessing")


@pytest.mark.parametrize("strength", [0.003, 0.1, 1.0, 10.0])
@pytest.mark.parametrize("seed", [1, 2])
def test_weights_and_bias(strength: float, seed: int) -> None:
    random = np.random.default_rng(seed)
    rows = random.normal(2.0, 3.0, (120, 9))
    truth = rows @ random.normal(size=9) + random.normal(0.0, 6.0, 120) > 3.0
    scaling = Scaler.of(rows)
    scaled = scaling.scaled(rows)
    assert scaled == pytest.approx(preprocessing.StandardScaler().fit_transform(rows), abs=1e-5)
    ours = fit_logistic(scaled, truth, strength)
    theirs = linear_model.LogisticRegression(C=strength, tol=1e-10, max_iter=10_000).fit(scaled, truth)
    assert ours.weights == pytest.approx(theirs.coef_[0], abs=2e-5)
    assert ours.bias == pytest.approx(theirs.intercept_[0], abs=2e-5)
    assert ours.probabilities(scaled) == pytest.approx(theirs.predict_proba(scaled)[:, 1], abs=1e-5)
