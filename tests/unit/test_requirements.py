"""What pyproject.toml allows: no version that the program was seen to fail with."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
CORE = [
    Requirement(line)
    for line in tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "dependencies"
    ]
]
FAILS = {
    "duckdb": ("1.5.6", "clauses are read from another parse tree: LIKE … ESCAPE is refused, 1 // 0 is not"),
    "msgspec": (
        "0.20.0",
        "its errors are not ValueErrors, so an answer that is not JSON is a traceback",
    ),
    "polars": ("1.31.0", "rows with lists cannot be hashed: every run ends in a traceback"),
    "scipy": (
        "1.14.1",
        "its signed-rank test differs where values tie, so exported notebooks disagree",
    ),
    "sentencex": ("1.0.10", "there is no wheel, and its source does not build"),
    "typer": ("0.25.1", "with a click of today, --help is a traceback or leaves out what arguments are"),
}


@pytest.mark.parametrize("name", FAILS)
def test_a_version_that_fails_is_not_allowed(name: str) -> None:
    (bounds,) = (each.specifier for each in CORE if each.name == name)
    version, why = FAILS[name]
    assert not bounds.contains(version), why


def test_every_dependency_has_a_lowest_version() -> None:
    """Without one the lowest that is tried would be the first that was ever published."""
    assert [each.name for each in CORE if not any(part.operator == ">=" for part in each.specifier)] == []
