"""Exit code 12: stored answers that are older than the gate, the study or the data they are to decide."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from small_study import STUDY, assay, edited, write_lines, write_study

REFUSED = edited("+ 0.2", "+ 0.9")  # the gain is 0.5
LAX = edited("+ 0.2", "+ 0.1")
TWO_GATES = STUDY + '  sure:\n    go: ["RR@5(lexical) >= 0.1"]\n'


@pytest.fixture
def ran(tmp_path: Path) -> Path:
    folder = write_study(tmp_path / "small")
    assert assay("run", folder).code == 0
    assert assay("gate", folder).code == 0
    return folder


def rewrite(folder: Path, text: str) -> None:
    (folder / "study.yaml").write_text(text)


@pytest.mark.parametrize(("text", "code", "title"), [(LAX, 0, "ship: Go"), (REFUSED, 10, "ship: No-go")])
def test_a_gate_that_is_newer_than_the_answers(ran: Path, text: str, code: int, title: str) -> None:
    rewrite(ran, text)
    done = assay("gate", ran)
    assert (done.code, title in done.out) == (12, True)  # the verdict is still shown
    reason = "the gate 'ship' was changed after the first answers were stored (it was go: "
    assert f"outdated: {reason}['RR@5(lexical) >= RR@5(old) + 0.2'])" in done.err
    assert "add --accept-changes" in done.err
    (said,) = assay("gate", ran, "--json").json["outdated"]
    assert said.startswith(reason)
    accepted = assay("gate", ran, "--accept-changes")
    assert (accepted.code, accepted.out) == (code, done.out)
    assert assay("gate", ran, "--accept-changes", "--json").json["outdated"] == [said]


def test_running_again_launders_no_gate(ran: Path) -> None:
    rewrite(ran, LAX)
    for command in ("run", "run", "gate"):  # every answer is stored: none is newer than the gate
        done = assay(command, ran)
        assert (done.code, "was changed after the first answers were stored" in done.out) == (12, True)
    (ran / "run/manifest.json").unlink()
    assert [assay(command, ran).code for command in ("gate", "run", "gate")] == [12, 12, 12]
    assert assay("run", ran, "--accept-changes").code == 0
    assert assay("gate", ran).code == 12  # who accepts it says so each time
    rewrite(ran, STUDY)
    assert assay("gate", ran).code == 0


def test_answers_that_are_asked_again_are_newer_than_the_gate(ran: Path) -> None:
    rewrite(ran, LAX)
    assert assay("run", ran, "--fresh", "--limit", "5").code == 12  # the others are as old as they were
    assert assay("run", ran, "--fresh").code == 0
    assert assay("gate", ran, "--json").json["outdated"] == []
    rewrite(ran, STUDY)
    assert assay("gate", ran).code == 12  # which was in force before, and not when these were asked


def test_a_gate_that_is_added_or_removed(ran: Path) -> None:
    rewrite(ran, TWO_GATES)
    done = assay("gate", ran)
    assert (done.code, "the gate 'sure' was changed" in done.err) == (12, True)
    assert assay("run", ran, "--fresh").code == 0
    rewrite(ran, STUDY)
    done = assay("gate", ran)
    assert (done.code, "the gate 'sure' was removed after" in done.err) == (12, True)


@pytest.mark.parametrize(
    "text",
    [
        "# a comment\n" + edited("gates:\n", "\n\ngates:   # another\n"),
        edited("  ship:\n", "  ship:\n    about: What it is for.\n"),
        edited("RR@5(lexical) >= RR@5(old) + 0.2", "RR@5(lexical)  >=  RR@5(old) + 0.2 "),
        edited("  ship:\n", "  ship:\n    min_items: 5\n"),  # as it is by default
        edited("baseline: old\n", "", STUDY) + "baseline: old\n",
        edited("by: [topic]", "by: []"),
        edited("gates:\n", "reports: [markdown]\ngates:\n"),
    ],
    ids=["comment", "about", "spaces", "default", "order", "slices", "formats"],
)
def test_what_decides_nothing_may_change(ran: Path, text: str) -> None:
    rewrite(ran, text)
    assert (assay("gate", ran).code, assay("run", ran).code) == (0, 0)


def other_gold(folder: Path) -> None:
    path = folder / "data/items.jsonl"
    items = [json.loads(line) for line in path.read_text().splitlines()]
    items[0]["gold"] = {"relevant": {"d0": 1, "d1": 1}}
    write_lines(path, items)


def new_item(folder: Path) -> None:
    with (folder / "data/items.jsonl").open("a") as file:
        file.write('{"item_id": "new", "text": "alpha", "gold": {"relevant": {"d0": 1}}}\n')


def other_passage(folder: Path) -> None:
    path = folder / "data/passages.jsonl"
    path.write_text(path.read_text().replace("sigma is about sigma", "sigma is sigma"))


def other_run(folder: Path) -> None:
    path = folder / "old.run"
    path.write_text(path.read_text().replace(" 9 old", " 9.5 old"))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (other_gold, "the data of lexical, old has changed since this run; run again"),
        (new_item, "the data of lexical, old has changed since this run; run again"),
        (other_passage, "the study has changed since this run: lexical (corpus), old (corpus); run again"),
        (other_run, "the study has changed since this run: old (system); run again"),
        (
            lambda folder: rewrite(folder, edited("RR@5]", "RR(rel=1)@5]")),
            "the study has changed since this run: measures; run again",
        ),
        (
            lambda folder: rewrite(folder, edited("resamples: 200", "resamples: 300")),
            "the study has changed since this run: compare; run again",
        ),
    ],
    ids=["gold", "item", "passage", "system", "measure", "resamples"],
)
def test_a_study_or_data_newer_than_the_answers(ran: Path, change: Callable[[Path], None], says: str) -> None:
    change(ran)
    done = assay("gate", ran, "--json")
    assert (done.code, done.json["outdated"]) == (12, [says])
    assert assay("gate", ran, "--accept-changes").code in {0, 11}
    assert assay("run", ran).code == 0  # asks what has changed, and takes the study as it is
    assert assay("gate", ran, "--json").json["outdated"] == []


def test_a_report_is_written_with_the_warning_on_top(ran: Path) -> None:
    rewrite(ran, LAX)
    done = assay("report", ran, "--format", "json", "-o", "-")
    assert (done.code, done.json["verdict"], len(done.json["outdated"])) == (0, "go", 1)
    assert done.json["trust"]["warnings"][0] == done.json["outdated"][0]
    assert assay("baseline", "tag", ran, "main").code == 0
    assert "was changed after the first answers" in assay("baseline", "diff", ran, "main").out


def test_a_plan_says_which_step_is_outdated(ran: Path) -> None:
    (ran / "plan.yaml").write_text("steps:\n  - study: study.yaml\n    name: quality\n")
    assert assay("run", ran).code == 0
    rewrite(ran, LAX)
    done = assay("run", ran, "--json")
    (said,) = done.json["outdated"]
    assert (done.code, said.startswith("quality: the gate 'ship' was changed")) == (12, True)
    assert assay("run", ran, "--accept-changes").code == 0
