"""The section `sweep` as written, and what is wrong with it across fields."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from assay.core.errors import DataError, UsageError
from assay.core.records import Arm
from assay.study.study import open_study
from assay.study.study_file import SweepFile
from assay.study.sweep_study import sweep_as_study
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
        ({}, "expected either grid or changes"),
        ({"grid": {"x": [1]}, "changes": {"a": {"x": 2}}}, "expected either grid or changes, found both"),
        ({"changes": {}}, "at least 1"),
        ({"changes": {"a": {}}}, "at least 1"),
        ({"changes": {"a": {"fuse": "rrf(k=4", "x=1)": None}}}, "a comma inside {…} ends a value"),
    ],
)
def test_values_that_cannot_be_read_are_refused(given: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError) as error:
        SweepFile.model_validate(given)
    assert told in str(error.value)


def test_a_change_can_set_a_list_or_null() -> None:
    given = {"a": {"links": None, "beam": [5, 20], "part": {"use": "rrf", "k": 60}, "name": "", "n": 0.0}}
    found = SweepFile.model_validate({"changes": given})
    assert found.changes == {
        "a": {"links": "null", "beam": "[5, 20]", "part": "rrf(k=60)", "name": "", "n": "0.0"}
    }
    # a grid's fingerprint is what it was before there were changes
    assert "changes" not in SweepFile.model_validate({"grid": {"x": [1]}}).model_dump()


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
    swept = sweep_as_study(opened(tmp_path, more))
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
    assert sweep_as_study(open_study(tmp_path / "mine.yaml")).run_folder == tmp_path / "mine.sweep"


@pytest.mark.parametrize(
    ("section", "told"),
    [
        ("{system: bth, grid: {k: [1, 2]}}", "sweep.system: there is no system 'bth'. Did you mean 'both'"),
        ("{grid: {k: [1]}}", "sweep.grid: it has only one setting"),
        ("{grid: {fuse.k: [40, 60]}}", "sweep.grid.fuse.k: neither the dataset nor any system has such"),
        ("{grid: {k: [1, none]}}", "sweep.grid.k: 'bm25': k: "),
        ("{grid: {chunk: [tokens, tokns]}}", "sweep.grid.chunk: There is no chunker 'tokns'"),
        ("{measure: nDGC@10, grid: {k: [1, 2]}}", "sweep.measure: "),
    ],
)
def test_problems_have_their_place(tmp_path: Path, section: str, told: str) -> None:
    with pytest.raises(DataError) as error:
        sweep_as_study(opened(tmp_path, f"sweep: {section}\n"))
    lines = str(error.value).splitlines()
    assert all(f"{tmp_path / 'study.yaml'}:7: sweep." in line for line in lines)
    assert told in lines[0]


CHANGED = """\
sweep:
  system: both
  changes:
    other constant: {fuse.k: 40}
    smaller chunks: {chunk: tokens(size=9), depth: 5}
    German: {language: german}
"""


def test_changes_are_arms_one_at_a_time(tmp_path: Path) -> None:
    swept = sweep_as_study(opened(tmp_path, CHANGED))
    # the factor that the study has stays at its first value, where no change sets it
    assert [arm.factors for arm in swept.arms] == [
        {"language": "english"},
        {"language": "english", "fuse.k": "40"},
        {"language": "english", "chunk": "tokens(size=9)", "depth": "5"},
        {"language": "german"},
    ]
    assert swept.file.factors["language"] == ["english", "german"]
    assert swept.run_folder == tmp_path / "sweep"


# a system and a dataset that both have a parameter `path`
BOTH = """\
data: folder(path=data)
systems: {routed: tree(path=race), keyword: bm25}
measures: [RR@5]
"""
SWEPT = [
    "{changes: {beam only: {path: beam}, collapsed: {path: collapsed}, other data: {data.path: other/data}}}",
    "{grid: {path: [race, beam, collapsed], data.path: [data, other/data]}}",
]


@pytest.mark.parametrize("section", SWEPT)
def test_a_parameter_of_system_and_dataset_is_the_systems(tmp_path: Path, section: str) -> None:
    write_study(tmp_path / "other")
    swept: Any = sweep_as_study(open_study(write_study(tmp_path, f"{BOTH}sweep: {section}\n")))
    assert [swept.system(arm).path for arm in swept.arms] == [
        arm.factors.get("path", "race") for arm in swept.arms
    ]
    assert {swept.system(arm).path for arm in swept.arms} == {"race", "beam", "collapsed"}
    own, other = swept.dataset(Arm("routed")), swept.dataset(Arm("routed", {"data.path": "other/data"}))
    assert own is not other
    assert [swept.dataset(arm) is other for arm in swept.arms] == [
        arm.factors.get("data.path") == "other/data" for arm in swept.arms
    ]


def test_a_parameter_that_the_system_lacks_is_the_datasets(tmp_path: Path) -> None:
    write_study(tmp_path / "other")
    section = "sweep: {system: keyword, changes: {other data: {path: other/data}}}\n"
    swept = sweep_as_study(open_study(write_study(tmp_path, BOTH + section)))
    assert swept.dataset(swept.arms[1]) is not swept.dataset(swept.arms[0])


PROBLEMS = """\
systems: {both: {use: hybrid, depth: 20}, wrapped: {use: abstaining, of: {use: hybrid, fuse: rrf(k=60)}}}
sweep:
  system: wrapped
  changes:
    few: {depth: 5}
    WRAPPED: {of.depth: 5}
    no such: {of.dept: 5, of.k: 5}
    no such part: {of.fuse: rff}
    unreadable: {of.k: 5, of.depth: many}
    as it is: {of.fuse.k: 60}
    less: {of.k: 7}
    "less ": {of.k: 8}
    less again: {of.k: "7"}
    neither: {deep: 5}
"""


def test_problems_of_changes_have_their_place(tmp_path: Path) -> None:
    lines = STUDY.splitlines(keepends=True)
    text = "".join(lines[:2] + lines[3:5]) + PROBLEMS  # without its own systems, gates and slices
    with pytest.raises(DataError) as error:
        open_study(write_study(tmp_path, text))
    found = {problem.line: f"{problem.field}: {problem}" for problem in error.value.problems}
    start = text.splitlines().index("  changes:") + 2
    told = [
        "sweep.changes.few.depth: ",
        "sweep.changes.WRAPPED: ",
        "sweep.changes.no such.of.dept: ",
        "sweep.changes.no such part.of.fuse: ",
        "sweep.changes.unreadable.of.depth: ",
        "sweep.changes.as it is: ",
        None,  # `less` is as it should be
        "sweep.changes.less : ",
        "sweep.changes.less again: ",
        "sweep.changes.neither.deep: ",
    ]
    assert [found.get(start + place, "").startswith(each or "-") for place, each in enumerate(told)] == [
        each is not None for each in told
    ], found
    words = [
        "has such a parameter. Write of.depth: it is a parameter of a part",
        "the system as it is is called that too",
        "'hybrid' has no parameter 'dept'. Did you mean 'depth'",
        "There is no fusion 'rff'. Did you mean 'rrf'",
        "depth: expected int",
        "wrapped is like this as it is. Set another value",
        "",
        "another change ('less') is called that too",
        "it comes to the same as 'less'",
        "neither the dataset nor any system has such a parameter",
    ]
    assert [each in found.get(start + place, "") for place, each in enumerate(words)] == [True] * 10, found


def test_a_grid_too_says_where_a_parameter_is(tmp_path: Path) -> None:
    text = STUDY.replace("both: hybrid", "both: abstaining(of=hybrid)")
    text += "sweep: {system: both, grid: {depth: [5, 10], fuse.k: [4, 5], k: [1]}}\n"
    with pytest.raises(DataError) as error:
        open_study(write_study(tmp_path, text))
    assert [(problem.field, problem.fix.partition(":")[0]) for problem in error.value.problems] == [
        ("sweep.grid.depth", "Write of.depth"),
        ("sweep.grid.fuse.k", "Write of.fuse.k"),
        ("sweep.grid.k", "Write of.k"),
    ]


def test_a_study_without_the_section_says_what_to_add(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"the study has no section `sweep`\. Add one, such as"):
        sweep_as_study(opened(tmp_path, ""))
