"""Fixtures every folder of tests uses."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).parent.parent


def pytest_configure(config: pytest.Config) -> None:
    """No test reads or fills the cache of whoever runs it, and none is timed."""
    folder = tempfile.TemporaryDirectory(prefix="assay-cache-")
    os.environ["ASSAY_CACHE"] = folder.name
    config.add_cleanup(folder.cleanup)
    # How long an example takes says how busy the machine is, not whether the code is right.
    settings.register_profile("untimed", deadline=None, max_examples=60)
    settings.load_profile("untimed")


@pytest.fixture(scope="session")
def shared_data() -> Callable[[str], Path]:
    """The folder of one public data set, or a skip that says where it was looked for."""
    base = Path(os.environ.get("ASSAY_DATA") or ROOT.parent / "shared" / "data")

    def find(name: str) -> Path:
        if not (base / name).is_dir():
            pytest.skip(f"the data set {name!r} is not at {base}; set ASSAY_DATA to where it is")
        return base / name

    return find
