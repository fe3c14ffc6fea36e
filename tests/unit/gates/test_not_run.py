"""Clauses that ask for a value of a factor that was not run: open, for that reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.gates.evaluator import Evaluator
from assay.gates.verdict import decide_gates
from assay.pipeline.evaluation import Evaluation
from assay.pipeline.runner import Selection, run_study
from assay.study.study import open_study
from score_rows import REGISTRY, decided, gate, items_of, rows_of
from small_study import edited, write_study

# `flat` has no stage of its own; 0.75 against 0.5 in every item
SMALL = rows_of(
    {("race", "M", "stage=10k"): [0.75] * 8, ("flat", "M"): [0.5] * 8}, items_of(8, topic=["a", "b"] * 4)
)
BOTH = rows_of(
    {
        ("race", "M", "stage=10k"): [0.75] * 8,
        ("flat", "M", "stage=10k"): [0.5] * 8,
        ("flat", "M", "stage=50k"): [0.5] * 8,
    }
)


@pytest.mark.parametrize(
    ("clause", "reason"),
    [
        ("M(race) >= M(flat) where stage=50k", "stage 50k was not run"),
        ("M(race) >= 0.5 where stage=50k", "stage 50k was not run"),
        ("M(race)[stage=50k] >= M(race)[stage=10k]", "stage 50k was not run"),
        ("M(race) >= 0.5 where stage=50k|200k", "stage 50k and 200k were not run"),
        # half of what it asks for must not decide for the whole
        ("M(race) >= 0.5 where stage=10k|50k", "stage 50k was not run"),
        ("M(race) >= 0.5 where topic=a, stage=50k", "stage 50k was not run"),
        ("spearman(M(race), M(flat)) >= 0.5 where stage=50k", "stage 50k was not run"),
        ("M(race) >= 0.5 where stage!=10k", "only stage 10k was run"),
        ("M(race) >= 0.5 for each stage!=10k", "only stage 10k was run"),
    ],
)
def test_a_value_that_was_not_run_is_named(clause: str, reason: str) -> None:
    found = decided(clause, SMALL)
    assert (found.holds, found.value, found.n, found.reason) == (None, None, 0, reason)


def test_a_clause_for_each_says_which_was_not_run() -> None:
    found = decided("M(race) >= M(flat) for each stage=50k|200k", SMALL, on="estimate")
    assert (found.holds, found.value) == (None, None)
    assert found.reason == (
        "0 of 2 pass: 50k undecided (stage 50k was not run), 200k undecided (stage 200k was not run)"
    )
    part = decided("M(race) >= M(flat) for each stage=10k|50k", SMALL, on="estimate")
    # 0.75 - 0.5 at 10k
    assert part.reason == "1 of 2 pass: 10k passes (+0.25), 50k undecided (stage 50k was not run)"
    assert (part.holds, part.value) == (None, None)
    # one that is run and fails decides against every one of them
    assert decided("M(race) >= 0.9 for each stage=10k|50k", SMALL).holds is False
    # and one that holds is enough where one is asked for
    assert decided("M(race) >= 0.5 for 1 of stage=10k|50k", SMALL).holds is True


def test_what_was_run_is_decided() -> None:
    for clause in ("where stage=10k", "where stage!=50k", "where stage=*", "for each stage=*", ""):
        assert decided(f"M(race) >= M(flat) + 0.2 {clause}", SMALL, on="estimate").holds is True
    assert decided("M(race) >= 0.5 where topic=c", SMALL).reason == "no item applies"  # a tag is no factor


def test_a_system_that_lacks_one_of_the_values_is_named() -> None:
    found = decided("M(race) >= M(flat) where stage=50k", BOTH)
    assert (found.holds, found.reason) == (None, "race was not run at stage 50k")
    assert decided("M(flat) >= 0.5 where stage=50k", BOTH).holds is True
    assert decided("M(race) >= M(flat) where stage=10k", BOTH, on="estimate").holds is True


@pytest.mark.parametrize(
    "kill",
    ["M(race) > 0.1 where stage=50k", "M(race) > 0.1 for each stage=10k|50k", "M(race) < 1 where stage=50k"],
)
def test_a_kill_that_was_not_run_does_not_kill(kill: str) -> None:
    evaluator = Evaluator(SMALL, REGISTRY, resamples=200)
    (found,) = decide_gates([gate(go=["M(race) >= 0.5 where stage=10k"], kill=[kill])], evaluator)
    assert (found.verdict, found.reason) == ("inconclusive", "a kill condition is undecided")
    (found,) = decide_gates([gate(go=["M(race) >= 0.9"], kill=[kill], otherwise="no-go")], evaluator)
    assert found.verdict == "inconclusive"  # no declared outcome stands in for figures that are not there


def test_a_study_run_in_part_says_which_part_is_missing(tmp_path: Path) -> None:
    text = edited("RR@5(lexical) >= RR@5(old) + 0.2", "RR@5(lexical) >= RR@5(old) for each k=3|5")
    write_study(tmp_path, edited("baseline: old", "factors: {k: [3, 5]}\nbaseline: old", text))
    chosen = Selection({"k": ["3"]})
    run_study(open_study(tmp_path), chosen)
    (found,) = Evaluation(open_study(tmp_path), chosen).verdicts
    assert found.verdict == "inconclusive"
    # 1 against 0.5
    assert found.clauses[0].reason == "1 of 2 pass: 3 passes (+0.5), 5 undecided (k 5 was not run)"
    # what is stored says so as well, whatever is looked at
    assert Evaluation(open_study(tmp_path)).verdicts == [found]
