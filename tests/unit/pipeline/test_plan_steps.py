"""Steps of a plan: what is said for all of them, which gates decide each, what the end says of every gate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl
import pytest

from assay.core.errors import DataError, SystemFailure, UsageError
from assay.core.records import Verdict
from assay.core.results import Results, TrustSummary
from assay.pipeline.plan import Plan, PlanResults, PlanStep, open_plan, run_plan, run_step
from assay.pipeline.runner import Outcome
from assay.pipeline.work_orders import Tally
from small_study import STUDY, edited, write_study

# `lexical` has two arms, k=3 and k=5; `old` is one whatever k is. Twelve items each.
GATED = (
    edited("baseline: old", "factors: {k: [3, 5]}\nbaseline: old").partition("gates:")[0]
    + """\
gates:
  first: {go: "RR@5(lexical) >= 0.9"}
  worse: {go: "RR@5(old) >= 0.9", deciding: false}
  both: {go: "RR@5(lexical) >= RR@5(old) + 0.2"}
  deep: {go: "RR@5(lexical) >= 0.9 where k=5"}
"""
)
PLAIN = STUDY


def write_plan(folder: Path, text: str, gated: str = GATED) -> Path:
    write_study(folder)
    (folder / "gated.yaml").write_text(gated)
    (folder / "plain.yaml").write_text(PLAIN)
    (folder / "plan.yaml").write_text(text)
    return folder


def wheres(plan: Plan) -> list[dict[str, list[str]]]:
    return [{name: list(values) for name, values in step.selection.where.items()} for step in plan.steps]


def told(path: Path) -> list[str]:
    with pytest.raises(DataError) as found:
        open_plan(path)
    return [str(each).removeprefix(f"{path}/") for each in found.value.problems]


# -------------------------------------------------------------------------- what is said for all steps

STEPS = """\
where: {k: 3}
steps:
  - {study: gated.yaml, name: a}
  - {study: gated.yaml, name: pinned, where: {k: 5}}
  - {study: gated.yaml, name: odd, where: {topic: odd}}
  - {study: plain.yaml, name: plain}
"""


def test_what_the_plan_says_holds_for_steps_that_have_it_and_say_nothing_else(tmp_path: Path) -> None:
    plan = open_plan(write_plan(tmp_path, STEPS))
    assert wheres(plan) == [{"k": ["3"]}, {"k": ["5"]}, {"k": ["3"], "topic": ["odd"]}, {}]
    # two systems, or arms, and twelve items, six of which are odd
    assert [len(step.keys) for step in plan.steps] == [24, 24, 12, 24]


@pytest.mark.parametrize(("given", "answers"), [(["5"], 24), (["3", "5"], 36)])
def test_an_option_replaces_what_the_plan_says_and_leaves_a_step_its_own(
    tmp_path: Path, given: list[str], answers: int
) -> None:
    plan = open_plan(write_plan(tmp_path, STEPS), where={"k": given})
    assert wheres(plan) == [{"k": given}, {"k": ["5"]}, {"k": given, "topic": ["odd"]}, {}]
    assert len(plan.steps[0].keys) == answers


@pytest.mark.parametrize(
    ("steps", "where", "what"),
    [
        (STEPS, {"stage": ["50k"]}, "--where stage=50k: no step's study has a factor 'stage'. Factors: k."),
        (STEPS, {"topic": ["odd"]}, "no step's study has a factor 'topic'"),  # a tag is for a step to say
        (STEPS, {"k": ["3", "7"]}, "--where k=3|7: no step's study has k=7. There is: 3, 5."),
        (
            "steps: [{study: gated.yaml, where: {k: 5}}, {study: plain.yaml}]",
            {"k": ["3"]},
            "--where k=3 changes nothing: every step that has k sets its own",
        ),
        (
            "steps: [{study: gated.yaml, name: a}, {study: small.yaml, name: b}]",
            {"k": ["5"]},
            "--where k=5: small.yaml, which a step runs, has no such value. There is: 3.",
        ),
        ("steps: [{study: plain.yaml}]", {"k": ["3"]}, "no step's study has a factor 'k'. Factors: none."),
    ],
)
def test_options_that_name_what_there_is_not(
    tmp_path: Path, steps: str, where: dict[str, list[str]], what: str
) -> None:
    folder = write_plan(tmp_path, steps)
    (folder / "small.yaml").write_text(edited("[3, 5]", "[3]", GATED.partition("  deep")[0]))
    with pytest.raises(UsageError) as found:
        open_plan(folder, where=where)
    assert what in str(found.value)


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (
            "where: {stage: 10k}",
            "plan.yaml:1: where.stage: no step's study has a factor 'stage'. Factors: k.",
        ),
        ("where: {k: 3|7}", "plan.yaml:1: where.k: no step's study has k=7. There is: 3, 5."),
        ("where: [k]", "plan.yaml:1: where: expected a mapping of names to values"),
    ],
)
def test_a_plan_that_names_what_there_is_not(tmp_path: Path, line: str, what: str) -> None:
    (found,) = told(write_plan(tmp_path, edited("where: {k: 3}", line, STEPS)))
    assert found.startswith(what)


# --------------------------------------------------------------------------------------- gates of a step


def test_the_gates_that_a_step_names_decide_it_alone(tmp_path: Path) -> None:
    steps = """\
where: {k: 3}
steps:
  - {study: gated.yaml, name: some, system: lexical, gates: first}
  - {study: gated.yaml, name: order, gates: [both, worse]}
  - {study: gated.yaml, name: none, gates: []}
  - {study: gated.yaml, name: all}
"""
    plan = open_plan(write_plan(tmp_path, steps))
    assert [dict(step.gates) for step in plan.steps] == [
        {"first": True},
        {"both": True, "worse": False},
        {},
        {"first": True, "worse": False, "both": True, "deep": True},
    ]
    assert [step.validation.gates for step in plan.steps][:2] == [["first"], ["both", "worse"]]
    study = plan.steps[0].study()
    assert [gate.name for gate in study.gates] == ["first"]
    # the study is the same one: what its run folder keeps of its gates is no other
    assert list(study.file.gates) == ["first", "worse", "both", "deep"]
    assert study.fingerprint == plan.steps[3].study().fingerprint
    outcome, results = run_step(plan.steps[0])
    assert (outcome.answered, results.verdict) == (12, "go")
    assert [verdict.gate for verdict in results.verdicts] == ["first"]
    assert not [each for each in results.trust.warnings if "gate" in each]


def test_gates_that_a_step_cannot_decide_are_told_with_their_line(tmp_path: Path) -> None:
    steps = """\
where: {k: 3}
steps:
  - study: gated.yaml
    name: a
    gates:
      - first
      - bothe
  - {study: gated.yaml, name: b, system: [lexical], gates: [first, both]}
  - {study: bare.yaml, name: c, gates: first}
"""
    folder = write_plan(tmp_path, steps)
    (folder / "bare.yaml").write_text(GATED.partition("gates:")[0])
    assert told(folder) == [
        "plan.yaml:7: steps.0.gates.1: gated.yaml has no gate 'bothe'. Did you mean 'both'?",
        "plan.yaml:8: steps.1.gates.1: 'both' reads old, which `system` leaves out. Select it, or drop it.",
        "plan.yaml:9: steps.2.gates.0: bare.yaml has no gate 'first'. It declares none.",
    ]


# ---------------------------------------------------------------------------------------------- the end


def scripted(
    words: Sequence[str], asked: Sequence[int] = (0, 0, 0)
) -> Callable[[PlanStep], tuple[Outcome, Results]]:
    """Steps that need no system: every gate of a step says the same; ten answers a second."""

    def perform(step: PlanStep) -> tuple[Outcome, Results]:
        word, n = words[step.place], asked[step.place]
        if word == "broken":
            raise SystemFailure("no disk\nask again")
        said = [Verdict(gate, word, [], f"it is {word}", decides) for gate, decides in step.gates.items()]
        nothing = TrustSummary({}, [], {})
        found = Results("s", "", [], [], None, [], [], pl.DataFrame(), [], [], said, word, nothing)
        return Outcome([Tally("a", 0, n)] if n else [], 0, 0, n / 10 if n else 99.0), found

    return perform


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    steps = """\
where: {k: 3}
steps:
  - {study: gated.yaml, name: epsilon, gates: [first, worse]}
  - {study: plain.yaml, name: curve}
  - {study: plain.yaml, name: scale, limit: 5}
"""
    return open_plan(write_plan(tmp_path_factory.mktemp("three"), steps))


def gates(found: PlanResults) -> list[tuple[str, str, str, str]]:
    return [(each.step, each.gate, each.verdict, each.reason) for each in found.gates]


def test_the_end_has_a_verdict_of_every_gate_of_every_step(three: Plan) -> None:
    found = run_plan(three, scripted(["no-go"]))
    assert gates(found) == [
        ("epsilon", "first", "no-go", "it is no-go"),
        ("epsilon", "worse", "no-go", "it is no-go"),
        ("curve", "ship", "inconclusive", "not reached: epsilon is no-go"),
        ("scale", "ship", "inconclusive", "not reached: epsilon is no-go"),
    ]
    assert [each.deciding for each in found.gates] == [True, False, True, True]
    whole = run_plan(three, scripted(["go", "inconclusive", "go"]))
    assert [each[2] for each in gates(whole)] == ["go", "go", "inconclusive", "go"]
    assert (whole.verdict, whole.saved, whole.would_stop) == ("inconclusive", None, None)


def test_pages_of_an_earlier_run_are_gone_where_a_step_is_not_reached(tmp_path: Path) -> None:
    steps = "".join(f"  - {{study: {study}.yaml, name: {name}}}\n" for study, name in
                    (("plain", "a"), ("gated", "b"), ("gated", "c")))  # fmt: skip
    plan = open_plan(write_plan(tmp_path, f"steps:\n{steps}"))
    kept = [tmp_path / "plain.run" / "report.html", tmp_path / "gated.run" / "step-9.html"]
    pages = [step.page for step in plan.steps]
    assert [page.name for page in pages] == ["report.html", "step-2.html", "step-3.html"]
    for page in {*pages, *kept}:
        page.parent.mkdir(exist_ok=True)
        page.write_text("old")
    run_plan(plan, scripted(["no-go"]))
    assert sorted(tmp_path.glob("*.run/*.html")) == sorted(kept)  # a study's own, and no step's of this plan


def test_gates_after_a_failure_say_why_they_are_open(three: Plan) -> None:
    found = run_plan(three, scripted(["go", "broken"]), keep_going=True)  # a failure is no verdict
    assert gates(found)[2:] == [
        ("curve", "ship", "inconclusive", "not decided: no disk"),
        ("scale", "ship", "inconclusive", "not reached: curve could not be decided"),
    ]
    assert (found.broken, found.would_stop) == ("no disk\nask again", None)


def test_a_plan_that_keeps_going_says_what_would_have_stopped_it(three: Plan) -> None:
    found = run_plan(three, scripted(["go", "no-go", "no-go"]), keep_going=True)
    assert [step.skipped for step in found.steps] == [False, False, False]
    assert (found.verdict, found.would_stop, found.saved) == ("no-go", "curve is no-go", None)
    assert found.as_json()["would_stop"] == "curve is no-go"
    assert run_plan(three, scripted(["go", "inconclusive", "go"]), keep_going=True).would_stop is None


@pytest.mark.parametrize(
    ("asked", "seconds"),
    [
        # 24 + 10 answers of two studies are left, of which ten are shared: 24, at a tenth of a second
        ((24,), 2.4),
        # a step whose answers were all there has no pace, however long it took
        ((0,), None),
    ],
)
def test_what_stopping_saved_is_timed_at_the_pace_so_far(
    three: Plan, asked: tuple[int, ...], seconds: float | None
) -> None:
    saved = run_plan(three, scripted(["no-go"], asked)).saved
    assert saved is not None
    assert (saved.steps, saved.answers) == ({"curve": 24, "scale": 10}, 24)
    assert saved.seconds == (None if seconds is None else pytest.approx(seconds))


def test_the_pace_is_that_of_all_answers_together(three: Plan) -> None:
    saved = run_plan(three, scripted(["go", "no-go"], [0, 20])).saved
    assert saved is not None
    assert saved.answers == 10
    assert saved.seconds == pytest.approx(1.0)  # 10 at 2 s / 20, the 99 s aside
