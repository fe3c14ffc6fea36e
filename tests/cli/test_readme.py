"""The README shows the truth: the demo's output is the real one."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_the_readme_opens_with_the_demos_real_output(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("refresh", ROOT / "docs" / "refresh.py")
    assert spec is not None
    assert spec.loader is not None
    refresh = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(refresh)
    shown = refresh.DEMO.search((ROOT / "README.md").read_text())
    assert shown is not None
    assert refresh.demo_output(tmp_path) == shown.group(), "run docs/refresh.py"
