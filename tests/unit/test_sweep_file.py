"""The section `sweep` as written, and what is wrong with it across fields."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from assay.errors import DataError, UsageError
from assay.study import open_study
from assay.sweep_file import SweepFile
from assay.sweep_study import swept_study
from small_study import write_study


def grid(values: Any) -> list[str]:
    return SweepFile.model_validate({"grid": {"x": values}}).grid["x"]


@pytest.mark.parametrize(
    ("given", "texts"),
    [
        ([40, 60.5], ["40", "60.5"]),
        (["rrf(k=40)", {"use": "rrf", "k": 60}], ["rrf(k=40)", "rrf(k=60)"]),
        ([True, [0.6, 0.4]], ["true", "[0.6, 0.4]"]),
        ("static", ["static"]),
    ],
)
def test_values_become_the_text_of_factors(given: Any, texts: list[str]) -> None:
    assert grid(given) == texts


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"grid": {"x": [1, 1]}}, "a value is listed twice"),
        ({"grid": {"x": []}}, "at least 1"),
        ({"grid": {}}, "at least 1"),
        ({"grid": {"x": ["tokens(size=200", "overlap=40)"]}}, "a comma inside […] ends a value"),
        ({"grid": {"x": [None]}}, "a value is empty"),
        ({"grid": {"x": [{"k": 1}]}}, "names no plugin"),
        ({"grid": {"x": [1]}, "sytem": "a"}, "sytem"),
        ({}, "grid"),
    ],
)
def test_what_does_not_read_is_refused(given: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError) as error:
        SweepFile.model_validate(given)
    assert told in str(error.value)


STUDY = """\
data: data
factors: {language: [english, german]}
systems: {keyword: bm25, both: hybrid}
measures: [RR@5, nDCG@10]
by: [topic]
gates: {ship: {go: ["RR@5(both) >= 0.2"]}}
"""


def opened(folder: Path, more: str) -> Any:
    return open_study(write_study(folder, STUDY + more))


def test_the_study_of_a_sweep(tmp_path: Path) -> None:
    more = "sweep: {system: both, measure: nDCG@10, grid: {fuse.k: [40, 60], depth: [5, 10]}}\n"
    swept = swept_study(opened(tmp_path, more))
    # the study's own factor stays at its first value
    assert [arm.name for arm in swept.arms] == [
        f"both[depth={depth},fuse.k={k},language=english]" for k in (40, 60) for depth in (5, 10)
    ]
    assert [measure.name for measure in swept.measures] == ["nDCG@10", "RR@5"]
    assert (swept.gates, swept.file.by) == ([], ["topic"])
    assert swept.run_folder == tmp_path / "sweep"


def test_another_file_has_another_folder(tmp_path: Path) -> None:
    write_study(tmp_path, STUDY + "sweep: {grid: {k: [5, 10]}}\n")
    (tmp_path / "study.yaml").rename(tmp_path / "mine.yaml")
    assert swept_study(open_study(tmp_path / "mine.yaml")).run_folder == tmp_path / "mine.sweep"


@pytest.mark.parametrize(
    ("section", "told"),
    [
        ("{system: bth, grid: {k: [1, 2]}}", "sweep.system: there is no system 'bth'. Did you mean 'both'"),
        ("{grid: {k: [1]}}", "sweep.grid: it has one setting alone"),
        ("{grid: {fuse.k: [40, 60]}}", "sweep.grid.fuse.k: neither the dataset nor any system has such"),
        ("{grid: {k: [1, none]}}", "sweep.grid.k: 'bm25': k: "),
        ("{grid: {chunk: [tokens, tokns]}}", "sweep.grid.chunk: There is no chunker 'tokns'"),
        ("{measure: nDGC@10, grid: {k: [1, 2]}}", "sweep.measure: "),
    ],
)
def test_problems_have_their_place(tmp_path: Path, section: str, told: str) -> None:
    with pytest.raises(DataError) as error:
        swept_study(opened(tmp_path, f"sweep: {section}\n"))
    lines = str(error.value).splitlines()
    assert all(f"{tmp_path / 'study.yaml'}:7: sweep." in line for line in lines)
    assert told in lines[0]


def test_a_study_without_the_section_says_what_to_add(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"the study has no section `sweep`\. Add one, such as"):
        swept_study(opened(tmp_path, ""))
