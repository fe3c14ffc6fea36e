"""assay run, validate and status on a plan: the table, JSON, exit codes, and a kill in the middle."""

from __future__ import annotations

import json
import re
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from assay.cli.run import roughly
from assay.store.run_store import Store
from probe import asked
from probing import assay_run, finished, items, write_plugin
from probing import write_study as write_probed
from small_study import Done, assay, edited, write_study

GOES = "RR@5(lexical) >= RR@5(old) + 0.2"
PLAN = """\
name: phases
about: whether words are enough
steps:
  - {study: first.yaml, name: slice, about: a first look, system: lexical}
  - {study: second.yaml, name: curve}
  - {study: second.yaml, name: scale, limit: 5}
"""


def plan(folder: Path, second: str = GOES, text: str = PLAN) -> Path:
    write_study(folder)
    (folder / "first.yaml").write_text(edited(GOES, "RR@5(lexical) >= 0.9"))
    (folder / "second.yaml").write_text(edited(GOES, second))
    (folder / "phases.yaml").write_text(text)
    return folder / "phases.yaml"


@pytest.mark.slow
def test_a_plan_shows_a_row_a_step_resumes_and_starts_afresh(tmp_path: Path) -> None:
    path = plan(tmp_path)
    done = assay("run", path)
    assert done.code == 0, done.err
    assert "step 1 of 3: slice, a first look\n" in done.err
    assert "12 answered, 0 reused" in done.err
    header, first, *_ = done.out.splitlines()
    assert header.split() == ["step", "verdict", "asked", "reused", "seconds", "what", "it", "decided"]
    assert first.split()[:4] == ["slice", "go", "12", "0"]
    assert done.out.splitlines()[-1] == "phases: Go"
    # two steps of one study have a page each
    for name, page in (("slice", "first.run/report"), ("curve", "second.run/step-2")):
        assert f"{name}: {tmp_path / page}.html" in done.out
        assert "<title>" in (tmp_path / f"{page}.html").read_text()
    again = assay("run", path, "--json").json
    assert [(step["asked"], step["reused"]) for step in again["steps"]] == [(0, 12), (0, 24), (0, 10)]
    assert (again["schema"], again["verdict"], again["about"]) == (
        "assay/plan/1",
        "go",
        "whether words are enough",
    )
    fresh = assay("run", path, "--json", "--fresh").json
    assert [(step["asked"], step["reused"]) for step in fresh["steps"]] == [(12, 0), (24, 0), (10, 0)]


def test_a_no_go_ends_with_its_code_and_tells_what_was_not_asked(tmp_path: Path) -> None:
    text = edited("second.yaml, name: scale, limit: 5", "study.yaml, name: scale", PLAN)
    done = assay("run", plan(tmp_path, "RR@5(old) >= 0.9", text))
    assert done.code == 10, done.err
    # twelve items, two systems
    assert re.search(
        r"Not asked, because curve is no-go: 24 answers of scale \(24\), about \d+ s\.\n", done.out
    )
    # a line a gate, those that were not reached too
    lines = done.out.splitlines()
    start = next(
        place for place, line in enumerate(lines) if line.startswith("slice, ship: go: RR@5(lexical) is")
    )
    assert lines[start + 1].startswith("curve, ship: no-go: RR@5(old) is 0.500; it needs at least 0.9")
    assert lines[start + 2] == "scale, ship: inconclusive: not reached: curve is no-go"
    assert "scale not run curve is no-go" in " ".join(done.out.split())
    assert done.out.splitlines()[-1] == "phases: No-go"


def test_a_system_that_cannot_be_opened_ends_with_its_code_after_the_table(tmp_path: Path) -> None:
    path = plan(tmp_path)
    broken = edited("old: replay(path=old.run)", "old: {use: http, url: 'http://127.0.0.1:9/{query}'}")
    (tmp_path / "second.yaml").write_text(broken + "run: {retries: 0, backoff: 0}\n")
    done = assay("run", path)
    assert done.code == 4, done.out + done.err
    assert done.out.splitlines()[-1] == "phases: Inconclusive"
    assert "old failed on all 12 items" in done.err
    assert "could not be decided" in done.out


@pytest.mark.parametrize("command", ["run", "validate", "status"])
def test_a_broken_later_study_is_told_before_anything_runs(tmp_path: Path, command: str) -> None:
    done = assay(command, plan(tmp_path, "RR@5(lexicle) >= 0.9"))
    assert (done.code, done.out) == (3, "")
    assert done.err.count("second.yaml:12: gates.ship.go.0: ") == 1
    assert not (tmp_path / "first.run").exists()


@pytest.mark.parametrize(
    "option", [["--system", "old"], ["--limit", "3"], ["--verbose"], ["--against", "main"]]
)
def test_options_about_one_study_are_refused(tmp_path: Path, option: list[str]) -> None:
    done = assay("run", plan(tmp_path), *option)
    assert (done.code, done.out) == (2, "")
    assert f"A plan takes no {option[0]}. Its steps say which part of a study to run" in done.err


@pytest.mark.parametrize("option", [["--where", "topic=odd"], ["--stage", "10k"]])
def test_an_option_that_names_no_factor_is_refused(tmp_path: Path, option: list[str]) -> None:
    done = assay("run", plan(tmp_path), *option)
    assert (done.code, done.out) == (2, "")
    assert "no step's study has a factor" in done.err


def test_a_study_has_no_steps_to_keep_going_with(tmp_path: Path) -> None:
    plan(tmp_path)
    done = assay("run", tmp_path / "first.yaml", "--keep-going")
    assert (done.code, done.out) == (2, "")
    assert "--keep-going is about the steps of a plan" in done.err


@pytest.mark.slow
def test_a_plan_takes_factors_and_keeps_going(tmp_path: Path) -> None:
    text = edited("second.yaml, name: scale, limit: 5", "study.yaml, name: scale, gates: []", PLAN)
    path = plan(tmp_path, "RR@5(old) >= 0.9", "where: {k: 3}\n" + text)
    first = tmp_path / "first.yaml"
    first.write_text(edited("baseline: old", "factors: {k: [3, 5]}\nbaseline: old", first.read_text()))
    found = assay("run", path, "--where", "k=5", "--keep-going", "--json").json
    assert (found["verdict"], found["would_stop"], found["saved"]) == ("no-go", "curve is no-go", None)
    assert [step["verdict"] for step in found["steps"]] == ["go", "no-go", None]
    assert [(each["step"], each["gate"], each["verdict"]) for each in found["gates"]] == [
        ("slice", "ship", "go"),
        ("curve", "ship", "no-go"),
    ]
    assert set(Store(tmp_path / "first.run").manifest()["arms"]) == {"lexical[k=5]"}
    done = assay("run", path, "--keep-going")
    assert done.code == 10
    assert "Without --keep-going it would have ended because curve is no-go." in done.out


def test_validate_and_status_tell_of_every_step(tmp_path: Path) -> None:
    path = plan(tmp_path)
    done = assay("validate", path)
    assert done.code == 0, done.err
    summary = "ok, 12 items, 12 passages, 1 arm, 2 measures, 1 gate"
    assert done.out.splitlines()[0] == f"slice: 12 answers; {tmp_path.name}: {summary}"
    found = assay("validate", path, "--json").json
    assert [(step["name"], step["answers"]) for step in found["steps"]] == [
        ("slice", 12),
        ("curve", 24),
        ("scale", 10),
    ]
    before = assay("status", path)
    assert before.code == 0, before.err
    assert before.out.splitlines()[1].split() == ["slice", "0", "0", "12"]
    assert before.out.splitlines()[-1] == f"next: assay run {path}"
    status = assay("status", path, "--json").json
    assert (status["schema"], status["next_step"]) == ("assay/plan-status/1", f"assay run {path}")
    assert [step["open"] for step in status["steps"]] == [12, 24, 10]


# ------------------------------------------------------------------------------------------ kills


def probed(folder: Path) -> Path:
    """Two steps of the probe, eight and sixteen answers, each of which takes a while."""
    for name, number in (("small", 8), ("large", 16)):
        write_probed(
            folder / name,
            items(number),
            systems={"probe": "probe(pause=0.02)"},
            gates={"ship": {"go": ["Success@3(probe) >= 0.01"]}},
            run={"threads": 2},
        )
    (folder / "plan.yaml").write_text("steps: [{study: small, name: small}, {study: large, name: large}]")
    return folder / "plan.yaml"


def same(found: Any) -> list[tuple[Any, ...]]:
    """What an undisturbed plan has in common with one that was killed."""
    steps = [(step["name"], step["verdict"], step["reason"], step["skipped"]) for step in found["steps"]]
    return [(found["verdict"],), *steps]


@pytest.mark.slow
def test_a_plan_that_is_killed_in_its_second_step_ends_as_an_undisturbed_one(tmp_path: Path) -> None:
    env = write_plugin(tmp_path / "plugin")
    path, large = probed(tmp_path / "killed"), tmp_path / "killed/large"
    process = subprocess.Popen(assay_run(path), env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and len(asked(large)) < 6:
        time.sleep(0.005)
    assert process.poll() is None
    process.kill()
    process.wait()
    ended = finished(assay_run(path, "--json"), env)
    found = json.loads(ended.stdout)
    whole = finished(assay_run(probed(tmp_path / "whole"), "--json"), env)
    assert (ended.returncode, whole.returncode) == (0, 0), ended.stderr
    assert same(found) == same(json.loads(whole.stdout))
    small, second = found["steps"]
    assert (small["asked"], small["reused"]) == (0, 8)
    # at least the first four were written down: two threads had no more than two each in hand
    assert second["asked"] + second["reused"] == 16
    assert 4 <= second["reused"] < 16
    answers = [
        Store(tmp_path / folder / "large/run").answers().sort("key").select("item", "docs", "scores")
        for folder in ("killed", "whole")
    ]
    assert answers[0].equals(answers[1])
    assert len(asked(large)) <= 16 + 2


# ---------------------------------------------------------------------------------------- folders


def test_a_folder_that_holds_a_plan_is_that_plan(tmp_path: Path) -> None:
    plan(tmp_path).rename(tmp_path / "plan.yaml")
    assert (tmp_path / "study.yaml").is_file()
    assert assay("validate", tmp_path, "--json").json["schema"] == "assay/plan-validation/1"
    status = assay("status", tmp_path, "--json").json
    assert (status["schema"], status["next_step"]) == ("assay/plan-status/1", f"assay run {tmp_path}")
    refused = assay("run", tmp_path, "--limit", "3")
    assert "A plan takes no --limit" in refused.err
    # the study alone goes by its file, and other commands keep to it
    alone: Done = assay("validate", tmp_path / "study.yaml", "--json")
    assert alone.json["schema"] == "assay/validation/1"
    assert "Nothing was run yet" in assay("gate", tmp_path).err
    assert "Nothing was run yet" in assay("report", tmp_path).err


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.2, "about 1 s"),
        (89, "about 89 s"),
        (840, "about 14 min"),
        (5_399, "about 90 min"),
        (9_000, "about 2.5 h"),
    ],
)
def test_an_estimated_time_is_told_roughly(seconds: float, words: str) -> None:
    assert roughly(seconds) == words


@pytest.mark.parametrize("command", ["run", "validate", "status"])
def test_the_help_says_what_a_folder_with_a_plan_is(command: str) -> None:
    said = " ".join(assay(command, "--help").out.split())
    assert "A folder that holds plan.yaml is that plan" in said
