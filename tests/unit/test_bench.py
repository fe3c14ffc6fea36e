"""The benchmarks as a folder: nothing in it hides another module, and a small run reaches all of it."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = {each.stem for name in ("bench", "docs") for each in (ROOT / name).glob("*.py")} - {"__main__"}


def test_no_script_has_the_name_of_a_module_that_others_import() -> None:
    """The folder of a script that is run by its path comes first where Python looks for modules."""
    assert "curve" in SCRIPTS
    assert SCRIPTS & ({*sys.stdlib_module_names} | {*packages_distributions()}) == set()


def test_a_small_run_reaches_every_benchmark() -> None:
    code = "from bench.__main__ import APART, PARTS; print(*PARTS, *APART)"
    command = [sys.executable, "-c", code]
    reached = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    files = {each.stem for each in (ROOT / "bench").glob("*.py")}
    assert {*reached, "__main__", "size", "corpus_profile"} == files


@pytest.mark.parametrize("part", ["measures", "judging"])
def test_a_part_measures_in_processes_of_its_own(part: str, tmp_path: Path) -> None:
    """At a small size, with peers that are installed for the suite."""
    code = f"from bench.{part} import rows; print(*(row['what'] for row in rows()), sep='\\n')"
    env = {"PATH": "", "BENCH_SMALL": str(tmp_path), "ASSAY_CACHE": str(tmp_path)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) >= 5
