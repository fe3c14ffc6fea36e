"""A study held against a baseline: a real loss fails, noise does not, and new items are listed."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from pathlib import Path

import pytest

from assay.baseline_gate import held_against
from assay.baselines import tag_baseline
from assay.errors import UsageError
from assay.pipeline import Evaluation
from assay.results import Results
from assay.run.runner import run_study
from assay.run.selection import Selection
from assay.study import open_study
from small_study import write_lines

N = 60
STUDY = """\
data: data
systems: {server: replay(path=server.run)}
measures: [Success@1, RR@3]
compare: {resamples: 500}
by: [lang]
gates:
  ship: {go: ["Success@1(server) >= 10%"]}
  watch: {go: ["RR@3(server) >= 99%"], deciding: false}
"""


def write(folder: Path, right: Iterable[int], n: int = N) -> None:
    """A study whose system finds the right passage first for some of its items, and never for the others."""
    found = set(right)
    (folder / "data").mkdir(parents=True, exist_ok=True)
    (folder / "study.yaml").write_text(STUDY)
    tag = ["en", "es"]
    write_lines(
        folder / "data/items.jsonl",
        [
            {
                "item_id": f"q{i}",
                "text": f"query {i}",
                "gold": {"relevant": {f"d{i}": 1}},
                "tags": {"lang": tag[i % 2]},
            }
            for i in range(n)
        ],
    )
    write_lines(
        folder / "data/passages.jsonl", [{"doc_id": f"d{i}", "text": f"text {i}"} for i in range(N + 9)]
    )
    hits = [(i, i if i in found else (i + 1) % N) for i in range(n)]
    (folder / "server.run").write_text("".join(f"q{i} Q0 d{doc} 1 1 server\n" for i, doc in hits))


def results(folder: Path, against: str = "main", selection: Selection | None = None) -> Results:
    study = open_study(folder)
    run_study(study)
    return held_against(Evaluation(study, selection or Selection()), against)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Tagged `main` with 45 of 60 right."""
    write(tmp_path / "s", range(45))
    study = open_study(tmp_path / "s")
    run_study(study)
    tag_baseline(study, "main")
    return tmp_path / "s"


def test_a_real_loss_is_a_no_go_that_names_the_items(folder: Path) -> None:
    write(folder, range(10, 45))  # ten lost, none won: p = 2 / 2^10 = 0.002
    found = results(folder)
    assert (found.verdict, found.verdicts[-1].gate) == ("no-go", "against main")
    assert [verdict.verdict for verdict in found.verdicts[:2]] == ["go", "no-go"]  # its own gates
    (clause,) = found.verdicts[-1].clauses  # a gate that decides nothing is not held against anything
    assert clause.text == "Success@1(server) >= Success@1(main)"
    assert clause.value == pytest.approx(-10 / 60)
    assert clause.high is not None
    assert clause.high < 0
    assert found.against is not None
    assert {turn.item_id for turn in found.against.regressions} == {f"q{i}" for i in range(10)}
    assert found.against.recoveries == []
    by_slice = {one.where["lang"]: one.losses for one in found.against.comparisons if one.where}
    assert by_slice == {"en": 5, "es": 5}
    assert found.as_json()["against"]["regressions"][0]["measure"] == "Success@1"


def test_noise_is_told_and_fails_nothing(folder: Path) -> None:
    write(folder, [*range(3, 45), 50, 51])  # three lost, two won
    found = results(folder)
    assert found.verdict == "go"
    (clause,) = found.verdicts[-1].clauses
    assert (clause.holds, clause.reason) == (True, "2 better, 55 the same, 3 worse")
    assert clause.mde is not None  # what this many items could have shown
    assert found.against is not None
    assert [turn.item_id for turn in found.against.recoveries] == ["q50", "q51"]


def test_items_newer_than_the_baseline_are_listed_and_not_compared(folder: Path) -> None:
    write(folder, range(45), n=N + 5)
    found = results(folder)
    assert found.against is not None
    assert found.against.added == [f"q{i}" for i in range(N, N + 5)]
    assert found.verdicts[-1].clauses[0].n == N
    assert found.verdict == "go"


def test_a_part_of_the_study_is_held_against_the_same_part(folder: Path) -> None:
    found = results(folder, selection=Selection({"lang": ["es"]}))
    assert found.against is not None
    assert (found.against.removed, found.against.added) == ([], [])
    assert found.verdicts[-1].clauses[0].n == N // 2


def test_a_baseline_that_is_not_there_is_told(folder: Path) -> None:
    with pytest.raises(UsageError, match=r"no baseline 'mian'"):
        results(folder, "mian")


def test_baselines_lie_where_the_study_says(folder: Path) -> None:
    kept = folder.parent / "elsewhere"
    text = (folder / "study.yaml").read_text() + "baselines: ../elsewhere\n"
    (folder / "study.yaml").write_text(text)
    tag_baseline(open_study(folder), "main")
    assert json.loads((kept / "main/items.json").read_text())["schema"] == "assay/baseline/1"


@pytest.mark.slow
def test_two_runs_of_an_unchanged_system_seldom_fail(folder: Path) -> None:
    # 40 pairs of versions that each miss any item with probability 1/4: a false alarm in 2.5 % at most
    draw, alarms = random.Random(7), 0
    for place in range(40):
        target = folder.parent / str(place)
        write(target, [i for i in range(N) if draw.random() < 0.75])
        study = open_study(target)
        run_study(study)
        tag_baseline(study, "main")
        write(target, [i for i in range(N) if draw.random() < 0.75])
        alarms += results(target).verdicts[-1].verdict == "no-go"
    assert alarms <= 4  # more than that in about three of a thousand such tests
