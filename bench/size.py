"""How large the work is: as published, or so small that CI can see whether every benchmark runs.

`python -m bench --small` names a folder in BENCH_SMALL; processes that a benchmark starts see it too. Results
and pictures then go to that folder, so that none that were measured are replaced.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

_FOLDER = os.environ.get("BENCH_SMALL")
SMALL = _FOLDER is not None
RESULTS = Path(_FOLDER) if _FOLDER else Path(__file__).parent / "results"
PICTURES = Path(_FOLDER) if _FOLDER else Path(__file__).parents[1] / "docs" / "images"


def sized(full: T, small: T) -> T:
    """One of both, by the size of this run."""
    return small if SMALL else full
