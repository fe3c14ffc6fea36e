"""Pages of several sources: all of them in order, or all that is wrong with any."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.core.errors import DataError
from assay.core.protocols import Kit
from assay_worlds.sources.handbook import Handbook
from assay_worlds.sources.source import read_sources


def test_pages_come_source_by_source(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "tea.md").write_text("# Tea\n\nWe like tea.")
    found = read_sources([Handbook("b"), {"use": "handbook", "path": "a"}], Kit(root=tmp_path))
    assert [page.document.doc_id for page in found] == ["b/tea", "a/tea"]


def test_the_problems_of_all_sources_are_told_together(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "tea.md").write_text("# Tea\n\nWe like tea.")
    sources = [
        {"use": "handbook", "path": "nowhere"},
        {"use": "handbook", "path": "a"},
        {"use": "handbook", "path": "a", "sha256": "12"},
        {"use": "mail", "path": "neither"},
    ]
    with pytest.raises(DataError) as raised:
        list(read_sources(sources, Kit(root=tmp_path)))
    told = [(problem.field, problem.what) for problem in raised.value.problems]
    assert told == [
        ("sources.0", "there is no such folder"),
        ("sources.2.sha256", "'12' is not a sha256, which has 64 digits from 0 to f"),
        ("sources.3", "there is no such file or folder"),
    ]
