"""Results to render, built once."""

from __future__ import annotations

import pytest

from assay.core.results import Results
from fake_results import bare_results, build_results, with_review


@pytest.fixture(scope="session")
def results() -> Results:
    return build_results()


@pytest.fixture(scope="session")
def bare() -> Results:
    return bare_results()


@pytest.fixture(scope="session")
def half_reviewed() -> Results:
    """What a study shows half way through a review."""
    return with_review(build_results(n=40))
