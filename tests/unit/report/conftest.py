"""Results to render, built once."""

from __future__ import annotations

import dataclasses

import pytest
from fake_results import build_results, with_review

from assay.core.results import Results


@pytest.fixture(scope="session")
def results() -> Results:
    return build_results()


@pytest.fixture(scope="session")
def bare() -> Results:
    """What a study without gates, slices, baseline and items leaves to show."""
    full = build_results(n=12)
    return dataclasses.replace(
        full,
        baseline=None,
        by=[],
        estimates=[one for one in full.estimates if not one.where],
        comparisons=[],
        verdicts=[],
        verdict=None,
        items=[],
        report=None,
    )


@pytest.fixture(scope="session")
def half_reviewed() -> Results:
    """What a study shows half way through a review."""
    return with_review(build_results(n=40))
