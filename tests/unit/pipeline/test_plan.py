"""Plans: what stops what, what is counted without being run, and that all problems are told beforehand."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.core.errors import DataError, SystemFailure
from assay.core.results import Results
from assay.pipeline.plan import (
    GateResult,
    Plan,
    PlanResults,
    PlanStep,
    StepResult,
    open_plan,
    plan_status,
    run_plan,
    run_step,
)
from assay.pipeline.runner import Outcome
from assay.study.plan_file import is_plan
from small_study import STUDY, edited, write_study

GOES = "RR@5(lexical) >= RR@5(old) + 0.2"  # 1 against 0.5
FAILS = "RR@5(old) >= 0.9"


def gated(clause: str) -> str:
    return edited(GOES, clause)


def write_plan(folder: Path, steps: str, **studies: str) -> Path:
    """A plan beside studies that share the data of the small one."""
    write_study(folder)
    for name, text in studies.items():
        (folder / f"{name}.yaml").write_text(text)
    (folder / "plan.yaml").write_text(steps)
    return folder / "plan.yaml"


def three(folder: Path, second: str = gated(GOES), stop: str = "") -> Path:
    """Twelve items and two systems in each of three studies: 24 answers a step, 6 in the first."""
    steps = stop + (
        "steps:\n"
        "  - {study: one.yaml, name: slice, where: {topic: even}, system: lexical}\n"
        "  - {study: two.yaml, name: curve}\n"
        "  - {study: three.yaml, name: scale, limit: 5}\n"
    )
    return write_plan(
        folder, steps, one=gated("RR@5(lexical) >= 0.9 where topic=even"), two=second, three=gated(GOES)
    )


def ran(path: Path) -> PlanResults:
    return run_plan(open_plan(path))


def words(found: PlanResults) -> list[tuple[str, str | None, int, int, bool]]:
    return [(step.name, step.verdict, step.asked, step.reused, step.skipped) for step in found.steps]


# ------------------------------------------------------------------------------------------ order


def test_a_no_go_stops_the_rest_and_says_what_that_saved(tmp_path: Path) -> None:
    found = ran(three(tmp_path, second=gated(FAILS)))
    assert words(found) == [
        ("slice", "go", 6, 0, False),
        ("curve", "no-go", 24, 0, False),
        ("scale", None, 0, 0, True),
    ]
    assert found.verdict == "no-go"
    assert found.steps[2].reason == "curve is no-go"
    assert found.saved is not None
    assert (found.saved.because, found.saved.steps) == ("curve is no-go", {"scale": 10})  # 5 items, 2 systems
    assert found.saved.answers == 10
    assert not (tmp_path / "three.run").exists()
    assert "old" in found.steps[1].reason
    assert "\n" not in found.steps[1].reason


def test_all_go_is_go_and_a_second_run_asks_nothing(tmp_path: Path) -> None:
    steps = "steps: [{study: one.yaml, name: a}, {study: two.yaml, name: b}]"
    path = write_plan(tmp_path, steps, one=gated(GOES), two=gated(GOES))
    first = ran(path)
    assert words(first) == [("a", "go", 24, 0, False), ("b", "go", 24, 0, False)]
    assert (first.verdict, first.saved, first.broken) == ("go", None, None)
    assert words(ran(path)) == [("a", "go", 0, 24, False), ("b", "go", 0, 24, False)]


@pytest.mark.parametrize(
    ("stop", "run", "saved"),
    [("", 3, None), ("stop_on: [no-go, inconclusive]\n", 2, 10), ("stop_on: inconclusive\n", 2, 10)],
)
def test_an_open_step_stops_only_where_the_plan_says_so(
    tmp_path: Path, stop: str, run: int, saved: int | None
) -> None:
    scarce = edited("  ship:\n", "  ship:\n    min_items: 99\n", gated(GOES))  # there are 12
    found = ran(three(tmp_path, scarce, stop))
    assert [step.skipped for step in found.steps].count(False) == run
    assert found.steps[1].verdict == "inconclusive"
    assert (found.saved and found.saved.answers) == saved
    assert found.verdict == "inconclusive"


def test_a_no_go_that_stops_nothing_still_decides(tmp_path: Path) -> None:
    found = ran(three(tmp_path, gated(FAILS), "stop_on: []\n"))
    assert [step.skipped for step in found.steps] == [False, False, False]
    assert found.verdict == "no-go"


def test_where_nothing_gates_there_is_no_verdict(tmp_path: Path) -> None:
    plain = STUDY.partition("gates:")[0]
    found = ran(write_plan(tmp_path, "steps: [{study: one.yaml}]", one=plain))
    assert (found.verdict, found.steps[0].verdict, found.steps[0].asked) == (None, None, 24)
    assert found.steps[0].name == "one"  # its file's, where neither plan nor study says


def test_answers_that_steps_of_one_study_share_are_asked_and_counted_once(tmp_path: Path) -> None:
    steps = """\
name: own
steps:
  - {study: study.yaml, name: first, limit: 2}
  - {study: ., name: odd, where: {topic: odd}}
  - {study: ../own, name: every, where: {topic: odd|even}}
"""
    path = write_plan(tmp_path / "own", "stop_on: inconclusive\n" + steps)
    stopped = ran(path)
    # the other ten items are pending, so that nothing is decided
    assert words(stopped)[0] == ("first", "inconclusive", 4, 0, False)
    assert stopped.saved is not None
    # q0 and q1 are answered; of the odd items five are left, of all ten; the five are among the ten
    assert (stopped.saved.steps, stopped.saved.answers) == ({"odd": 10, "every": 20}, 20)
    path.write_text(steps)
    whole = ran(path)
    assert [step[2:4] for step in words(whole)] == [(0, 4), (10, 2), (10, 14)]
    plan = open_plan(path)
    assert plan.name == "own"
    assert [step.page.name for step in plan.steps] == ["step-1.html", "step-2.html", "step-3.html"]
    assert {step.run_folder.resolve() for step in plan.steps} == {tmp_path / "own/run"}


def test_a_step_whose_systems_fail_ends_the_plan_undecided(tmp_path: Path) -> None:
    path = three(tmp_path)

    def perform(step: PlanStep) -> tuple[Outcome, Results]:
        if step.name == "curve":
            raise SystemFailure("lexical could not be opened: no disk")
        return run_step(step)

    found = run_plan(open_plan(path), perform)
    assert [step.skipped for step in found.steps] == [False, False, True]
    assert (found.verdict, found.broken) == ("inconclusive", "lexical could not be opened: no disk")
    assert found.steps[1].reason == found.broken
    assert found.saved is not None
    assert found.saved.because == "curve could not be decided"


def test_json_has_every_step(tmp_path: Path) -> None:
    step = StepResult("a", "why", "a.yaml", "go", 3, 1, 0.5, "holds")
    gate = GateResult("a", "ship", "go", "holds")
    found = PlanResults("p", "all of it", [step], [gate]).as_json()
    assert (found["schema"], found["verdict"], found["saved"]) == ("assay/plan/1", "go", None)
    assert (found["broken"], found["would_stop"]) == (None, None)
    assert found["gates"] == [
        {"step": "a", "gate": "ship", "verdict": "go", "reason": "holds", "deciding": True}
    ]
    assert found["steps"][0] == {
        "name": "a",
        "about": "why",
        "study": "a.yaml",
        "verdict": "go",
        "asked": 3,
        "reused": 1,
        "seconds": 0.5,
        "reason": "holds",
        "skipped": False,
        "report": None,
        "outdated": [],
    }


def test_status_counts_what_is_stored(tmp_path: Path) -> None:
    plan: Plan = open_plan(three(tmp_path, second=gated(FAILS)))
    run_plan(plan)
    found = [(step.name, step.answers, step.answered, step.failed, step.open) for step in plan_status(plan)]
    assert found == [("slice", 6, 6, 0, 0), ("curve", 24, 24, 0, 0), ("scale", 10, 0, 0, 10)]


# --------------------------------------------------------------------------------------- problems


def test_every_problem_of_every_file_is_told_before_anything_runs(tmp_path: Path) -> None:
    steps = """\
stop_on: [nogo]
steps:
  - {study: one.yaml}
  - {study: two.yaml, where: {topic: od}}
  - {study: gone.yaml}
  - {study: three.yaml, limits: 3}
  - {study: one.yaml, system: lexicle}
  - {study: two.yaml, name: again, limit: 0}
"""
    broken = edited("nDCG@10", "nDCG@ten", gated("RR@5(lexicle) >= 0.5"))
    path = write_plan(tmp_path, steps, one=gated(GOES), two=gated(GOES), three=broken)
    with pytest.raises(DataError) as told:
        open_plan(path)
    found = [str(problem).removeprefix(f"{tmp_path}/") for problem in told.value.problems]
    assert len(found) == 6
    for line, start in enumerate(
        [
            "plan.yaml:1: stop_on.0: expected 'no-go' or 'inconclusive', found 'nogo'",
            "plan.yaml:6: steps.3.limits: there is no such field. Did you mean 'limit'",
            "plan.yaml:8: steps.5.limit: ",
            "plan.yaml:4: steps.1: topic=od selects nothing. Did you mean 'odd'",
            "gone.yaml: there is no such study",
            "plan.yaml:7: steps.4: There is no system 'lexicle'. Did you mean 'lexical'",
        ]
    ):
        assert found[line].startswith(start), found[line]
    assert not [path for path in tmp_path.glob("*.run") if path.is_dir()]


def test_a_later_study_that_is_broken_is_told_with_its_data_once(tmp_path: Path) -> None:
    steps = "steps: [{study: one.yaml}, {study: two.yaml, name: a}, {study: two.yaml, name: b, limit: 3}]"
    broken = edited("data: data", "data: other", edited("nDCG@10", "nDCG@ten"))
    path = write_plan(tmp_path, steps, one=gated(GOES), two=broken)
    other = write_study(tmp_path / "x") / "data"
    other.rename(tmp_path / "other")
    (tmp_path / "other/items.jsonl").write_text('{"item_id": "q0"}\n')
    with pytest.raises(DataError) as told:
        open_plan(path)
    places = [(Path(problem.where).name, problem.line) for problem in told.value.problems]
    assert places == [("two.yaml", 7), ("items.jsonl", 1)]


def test_two_steps_of_one_name_are_refused(tmp_path: Path) -> None:
    steps = "steps:\n  - {study: study.yaml}\n  - {study: ., limit: 3}\n"
    path = write_plan(tmp_path, steps)
    with pytest.raises(
        DataError, match=rf"plan\.yaml:3: steps\.1\.name: another step is called '{tmp_path.name}'"
    ):
        open_plan(path)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("steps: []", "steps: expected at least one"),
        ("about: nothing to do", "steps: this field is required"),
        ("- study: one.yaml", "a plan is a mapping of fields"),
        ("steps: [one.yaml]", r"steps\.0: expected a mapping"),
        ("steps: [{name: a}]", r"steps\.0\.study: this field is required"),
    ],
)
def test_a_plan_without_steps_is_refused(tmp_path: Path, text: str, what: str) -> None:
    (tmp_path / "plan.yaml").write_text(text)
    with pytest.raises(DataError, match=what):
        open_plan(tmp_path / "plan.yaml")


def test_a_plan_is_told_from_a_study(tmp_path: Path) -> None:
    plan = write_plan(tmp_path, "steps: [{study: study.yaml}]")
    assert is_plan(plan)
    assert is_plan(tmp_path)  # though it holds a study too
    assert open_plan(tmp_path).path == plan
    plan.rename(tmp_path / "phases.yaml")
    assert is_plan(tmp_path / "phases.yaml")
    assert not is_plan(tmp_path)  # a folder without plan.yaml is its study
    assert not is_plan(tmp_path / "study.yaml")
    (tmp_path / "study.yaml").write_text(edited("gates:", "steps: [ship]\ngates:"))
    assert not is_plan(tmp_path / "study.yaml")  # a study may have steps too: its gates
    assert not is_plan(tmp_path / "gone.yaml")
