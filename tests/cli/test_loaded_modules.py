"""A run loads the kind of study that it is of, and no other; the demo loads neither kinds nor generators."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from assay.core.registry import kind_packages
from small_study import assay

RUN = """
import json, sys
from assay.cli.main import main
sys.argv = ["assay", *sys.argv[1:]]
try:
    main()
finally:
    print(json.dumps(sorted(name for name in sys.modules if name.startswith("assay"))), file=sys.stderr)
"""
# what makes a first run short; models and hierarchy have to embed or generate before they can answer
WORDS = {
    "search": ("--limit", "3"),
    "answers": ("--limit", "3"),
    "memory": ("--limit", "2"),
    "models": ("--limit", "1"),
    "hierarchy": ("study.yaml", "--stage", "10k", "--limit", "1", "--system", "bm25"),
}
MOST_FOR_THE_DEMO = 120
SLOW = {"models", "hierarchy"}
KINDS = [pytest.param(kind, marks=[pytest.mark.slow] if kind in SLOW else []) for kind in kind_packages()]


def loaded_by(*words: object, first: str = "") -> list[str]:
    """The modules of this program that a command loads, in a process of its own that runs `first` before."""
    done = subprocess.run(
        [sys.executable, "-c", f"{first}\n{RUN}", *map(str, words)],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode in {0, 10, 11}, done.stderr
    found: list[str] = json.loads(done.stderr.splitlines()[-1])
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_loads_no_other_kind(tmp_path: Path, kind: str) -> None:
    assert assay("init", kind, tmp_path / kind).code == 0
    first, *options = WORDS[kind]
    where, options = (".", WORDS[kind]) if first.startswith("-") else (first, options)
    loaded = loaded_by("run", tmp_path / kind / where, *options)
    found = {name.split(".")[2] for name in loaded if name.startswith("assay.kinds.")}
    assert found == {kind}


def test_the_demo_loads_no_kind_and_no_generator(tmp_path: Path) -> None:
    loaded = loaded_by("demo", tmp_path / "demo")
    assert [name for name in loaded if name.startswith(("assay.kinds", "assay_worlds"))] == []
    assert len(loaded) <= MOST_FOR_THE_DEMO


def test_modules_that_are_loaded_besides_are_seen(tmp_path: Path) -> None:
    """The tests above would fail if a module of the core imported a kind or a generator."""
    planted = "import assay.kinds.search.anchors, assay_worlds"
    loaded = loaded_by("demo", tmp_path / "demo", first=planted)
    assert [name for name in loaded if name.startswith(("assay.kinds", "assay_worlds"))] != []
    assert len(loaded) > MOST_FOR_THE_DEMO
