"""assay prove: what it prints, how it ends, and what reports say afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from small_study import STUDY, assay, edited, write_study

pytestmark = pytest.mark.slow  # each draws hundreds of controls

HARMLESS = "\n    harmless: {shuffle: one hit has one order}"  # bm25 finds no second passage
SOUND = 'go: ["RR@5(lexical) >= RR@5(old) + 0.2"]'


def test_a_sound_gate_ends_in_0_and_reports_say_so(tmp_path: Path) -> None:
    study = write_study(tmp_path, edited(SOUND, SOUND + HARMLESS))
    assert assay("run", study).code == 0
    untried = assay("report", study, "--format", "markdown", "-o", "-").out
    assert "The gates were not tried on controls" in untried
    done = assay("prove", study)
    assert done.code == 0, done.err
    assert "ship: proved" in done.out
    assert "oracle" in done.out
    for text in (
        assay("gate", study).out,
        assay("report", study, "--format", "markdown", "-o", "-").out,
        assay("report", study, "--format", "html", "-o", "-").out,
    ):
        assert "and the oracle passes" in text
    (proof,) = assay("report", study, "--json").json["proofs"]
    assert (proof["outcome"], proof["mutation_score"], proof["oracle_passes"]) == ("proved", 0.9, True)


def test_a_control_that_passes_ends_in_10_and_stands_beside_the_verdict(tmp_path: Path) -> None:
    study = write_study(tmp_path, edited(SOUND, 'go: ["R(lexical) >= 0.9"]'))
    assay("run", study)
    done = assay("prove", study)
    assert done.code == 10
    assert "ship: a control that deserves no go passes this gate" in done.err
    assert "PASSES" in done.out
    for text in (
        assay("gate", study).out,
        assay("report", study, "--format", "markdown", "-o", "-").out,
        assay("report", study, "--format", "html", "-o", "-").out,
        assay("report", study, "--format", "github", "-o", "-").out,
    ):
        assert (
            "pass this gate: everything" in " ".join(text.split()) or "passes this gate: everything" in text
        )
    assert "everything" in assay("report", study, "--json").json["proofs"][0]["exposed_by"]


def test_a_gate_that_nobody_can_pass_ends_in_11(tmp_path: Path) -> None:
    study = write_study(tmp_path, edited(SOUND, 'go: ["P@5(lexical) >= 0.9"]'))
    assay("run", study)
    done = assay("prove", study)
    assert done.code == 11
    assert "ship: not proved" in done.err


def test_it_prints_json_and_nothing_else(tmp_path: Path) -> None:
    study = write_study(tmp_path)
    assay("run", study)
    done = assay("prove", study, "--json")
    assert done.json["schema"] == "assay/proofs/1"
    noise = next(each for each in done.json["proofs"][0]["controls"] if each["control"] == "noise")
    assert noise["draws"] == 200
    assert 0.0 == noise["low"] <= noise["rate"] <= noise["high"] < 0.05


def test_without_answers_or_gates_it_says_what_to_do(tmp_path: Path) -> None:
    study = write_study(tmp_path / "a")
    done = assay("prove", study)
    assert (done.code, done.out) == (2, "")
    assert "Nothing was run yet. Run: assay run" in done.err
    bare = write_study(tmp_path / "b", STUDY[: STUDY.index("gates:")])
    assay("run", bare)
    done = assay("prove", bare)
    assert done.code == 2
    assert "there is no gate to try" in done.err


def test_a_control_that_is_not_there_cannot_be_harmless(tmp_path: Path) -> None:
    study = write_study(tmp_path, edited(SOUND, SOUND + "\n    harmless: {shufle: it is}"))
    done = assay("validate", study)
    assert done.code == 3
    assert "there is no control 'shufle'" in done.err
    assert "shuffle" in done.err


def test_declaring_a_control_harmless_does_not_make_answers_outdated(tmp_path: Path) -> None:
    study = write_study(tmp_path)
    assay("run", study)
    write_study(tmp_path, edited(SOUND, SOUND + "\n    harmless: {shuffle: order is not meant}"))
    assert assay("gate", study).code == 0
