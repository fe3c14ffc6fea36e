"""Weights, and means under weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import UsageError
from assay.stats import resample
from assay.stats.resample import (
    bootstrap_weights,
    cluster_sums,
    jackknife_means,
    plain_means,
    resampled_means,
)


@given(n=st.integers(1, 60), resamples=st.integers(1, 40), seed=st.integers(0, 2**32))
def test_every_resample_draws_n_rows(n: int, resamples: int, seed: int) -> None:
    weights = np.concatenate(list(bootstrap_weights(n, resamples, seed)))
    assert weights.shape == (resamples, n)
    assert (weights.sum(axis=1) == n).all()
    assert (weights >= 0).all()


@pytest.mark.parametrize("cells", [1, 7, 50, 333])
def test_the_stream_does_not_depend_on_the_chunks(monkeypatch: pytest.MonkeyPatch, cells: int) -> None:
    whole = np.concatenate(list(bootstrap_weights(7, 101, seed=3)))
    monkeypatch.setattr(resample, "CHUNK_CELLS", cells)
    assert np.array_equal(np.concatenate(list(bootstrap_weights(7, 101, seed=3))), whole)


def test_seeds_differ_and_repeat() -> None:
    sums, counts = cluster_sums(np.arange(10.0))
    first = resampled_means(sums, counts, 50, seed=1)
    assert np.array_equal(first, resampled_means(sums, counts, 50, seed=1))
    assert not np.array_equal(first, resampled_means(sums, counts, 50, seed=2))


def test_chunks_stay_small() -> None:
    assert max(weights.nbytes for weights in bootstrap_weights(5_000, 300)) <= 64 * 2**20


def test_no_rows_is_an_error() -> None:
    with pytest.raises(UsageError, match="no rows"):
        next(bootstrap_weights(0, 10, 0))


def test_cluster_sums_by_hand() -> None:
    # Cluster "p" holds rows 0 and 2, "q" row 1; column 1 has no row 2.
    values = [[1.0, 10.0], [2.0, 20.0], [4.0, np.nan]]
    sums, counts = cluster_sums(values, np.array(["p", "q", "p"]))
    assert sums.tolist() == [[5.0, 10.0], [2.0, 20.0]]
    assert counts.tolist() == [[2.0, 1.0], [1.0, 1.0]]
    assert plain_means(sums, counts).tolist() == [7 / 3, 15.0]
    # Without p: (7 - 5) / (3 - 2) and (30 - 10) / (2 - 1); without q: 5 / 2 and 10 / 1.
    assert jackknife_means(sums, counts).tolist() == [[2.0, 20.0], [2.5, 10.0]]


def test_a_resample_without_rows_of_a_column_is_nan() -> None:
    sums, counts = cluster_sums([[1.0, 5.0], [2.0, np.nan]])
    means = resampled_means(sums, counts, 200, seed=0)
    # Column 1 lives in row 0 alone: its mean is 5 where row 0 was drawn, and undefined where it was not.
    assert np.isnan(means[:, 1]).any()
    assert set(means[~np.isnan(means[:, 1]), 1]) == {5.0}
    assert np.array_equal(np.isnan(means[:, 1]), means[:, 0] == 2.0)


def test_bootstrap_means_are_the_weighted_means() -> None:
    values = np.random.default_rng(5).random((30, 3))
    weights = np.concatenate(list(bootstrap_weights(30, 100, seed=9)))
    expected = [[np.repeat(column, row.astype(int)).mean() for column in values.T] for row in weights]
    assert resampled_means(*cluster_sums(values), 100, seed=9) == pytest.approx(np.array(expected))


def test_jackknife_means_leave_one_out() -> None:
    assert jackknife_means(*cluster_sums(np.array([1.0, 2.0, 6.0])))[:, 0].tolist() == [4.0, 3.5, 1.5]
