"""assay review on a blinded scoring: what each command says in its turn, out of turn, and of wrong input."""

from __future__ import annotations

import csv
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import yaml

from assay.kinds.answers.panel import scoring_folder
from assay.kinds.answers.scoring.agreement import LINEAR
from assay.kinds.answers.scoring_steps.blinding import blind_study
from assay.kinds.answers.scoring_steps.summary import thresholds_of
from assay.study.study import Study, open_study
from small_scoring import all_scores, collected, keep_keys, scores, write_lines, write_study
from small_study import assay

FORMATS = [("report", "--format", each, "-o", "-") for each in ("html", "markdown", "junit", "github")]
KEY = ("question_id", "model_id", "condition")


@pytest.fixture(autouse=True)
def same_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    keep_keys(monkeypatch)


@pytest.fixture
def blinded(tmp_path: Path) -> Study:
    study = collected(write_study(tmp_path))
    blind_study(study, by="owner")
    return study


def test_before_responses_are_blinded_every_command_says_what_comes_first(tmp_path: Path) -> None:
    folder = collected(write_study(tmp_path)).folder
    for command in ("status", "agreement"):
        done = assay("review", command, folder)
        assert (done.code, done.out) == (0, f"Nothing is blinded yet: assay review blind {folder}\n")
    for command in ("unblind", "serve", "export"):
        done = assay("review", command, folder)
        assert done.code == 3
        assert "assay review blind" in done.err
    assert not (folder / "blind").exists()


def test_agreement_tells_how_many_marks_were_as_suggested(blinded: Study) -> None:
    folder = blinded.folder
    assay("review", "import", folder, write_lines(folder / "scores.jsonl", all_scores(blinded)))
    told = assay("review", "agreement", folder).out
    # two raters score 16 responses each; the rule calls those to one of four questions incomplete
    seen = "0 of these suggestions had been seen before"
    assert f"24 of 32 completeness marks were as suggested by rule; {seen}" in told


def test_agreement_sends_nobody_to_a_desk_that_does_not_open_any_more(blinded: Study) -> None:
    folder = blinded.folder
    assert assay("review", "agreement", folder).out.endswith(f"yet: assay review check {folder}\n")
    assert assay("review", "check", folder).code == 0
    assert assay("review", "agreement", folder).out.endswith(f"yet: assay review serve {folder}\n")
    assert assay("review", "unblind", folder, "--force", "--reason", "a try").code == 0
    assert assay("review", "agreement", folder).out == "No response was scored twice.\n"


def test_one_wrong_score_is_told_and_not_all_that_wait_for_its_pass(blinded: Study) -> None:
    lines = all_scores(blinded)
    wrong = next(line for line in lines if line["step"] == "accuracy" and line["choice"] == 2)
    wrong["note"] = ""
    done = assay("review", "import", blinded.folder, write_lines(blinded.folder / "scores.jsonl", lines))
    assert done.code == 3
    assert len(done.err.splitlines()) == 1  # and none of the 48 lines of the passes that stay closed
    assert "Write a note" in done.err
    assert not scoring_folder(blinded).entries


def test_a_file_without_a_score_is_told(blinded: Study) -> None:
    done = assay("review", "import", blinded.folder, write_lines(blinded.folder / "scores.jsonl", []))
    assert done.code == 3
    assert "scores.jsonl: holds no score. Write one score per line" in done.err


def test_responses_that_failed_can_be_asked_for_again_before_anybody_scores(tmp_path: Path) -> None:
    folder = write_study(tmp_path)
    rows = [json.loads(line) for line in (folder / "responses.jsonl").read_text().splitlines()]
    rows[0] = {**{name: rows[0][name] for name in KEY}, "error": "timed out"}
    write_lines(folder / "responses.jsonl", rows)
    collected(folder)
    done = assay("review", "blind", folder)
    assert done.code == 0
    assert "left out: 1 response that failed to be collected\n" in done.err
    assert f"before anybody scores: assay run {folder}, then assay review blind {folder} --fresh" in done.err


def test_what_is_wrong_in_a_later_pass_is_told_as_well(blinded: Study) -> None:
    lines: list[dict[str, Any]] = all_scores(blinded)
    wrong = next(line for line in lines if line["step"] == "accuracy" and line["choice"] == 2)
    wrong["note"] = ""
    lines.append({"rater": "anna", "response_id": "R-00000000", "step": "citation", "choice": 1})
    done = assay("review", "import", blinded.folder, write_lines(blinded.folder / "scores.jsonl", lines))
    assert len(done.err.splitlines()) == 2
    assert "R-00000000, citation: anna has no such response" in done.err


def test_a_pass_before_its_turn_is_told_of_once_a_score(blinded: Study) -> None:
    lines = scores(scoring_folder(blinded), "anna", ["completeness"])[:2]
    done = assay("review", "import", blinded.folder, write_lines(blinded.folder / "scores.jsonl", lines))
    assert done.code == 3
    assert done.err.count("Completeness is not open yet") == 2


@pytest.mark.slow
def test_the_json_of_a_scored_study_keeps_the_published_schema(blinded: Study) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="validating needs jsonschema")
    folder = blinded.folder
    schema, known = (
        json.loads((files("assay") / name).read_text())
        for name in ("report/templates/results.schema.json", "kinds/answers/report/scoring.schema.json")
    )
    jsonschema.validate(json.loads(assay("run", folder, "--json").out), schema)  # while blinded
    assay("review", "import", folder, write_lines(folder / "scores.jsonl", all_scores(blinded)))
    assert assay("review", "unblind", folder).code == 0
    found = json.loads(assay("run", folder, "--json").out)
    jsonschema.validate(found, schema)
    (section,) = found["sections"]
    jsonschema.validate(section["data"], known)
    assert set(section["data"]) <= set(known["properties"])
    assert set(section["data"]["tests"][0]) <= set(known["properties"]["tests"]["items"]["properties"])


def test_raw_data_has_the_tokens_that_whoever_ran_the_model_counted(tmp_path: Path) -> None:
    folder = write_study(tmp_path)
    rows = [json.loads(line) for line in (folder / "responses.jsonl").read_text().splitlines()]
    rows[0]["output_token_count"] = 777
    write_lines(folder / "responses.jsonl", rows)
    study = collected(folder)
    blind_study(study, by="owner")
    assay("review", "import", folder, write_lines(folder / "scores.jsonl", all_scores(study)))
    assay("review", "unblind", folder)
    assert assay("review", "export", folder).code == 0
    with (folder / "results" / "raw-data.csv").open() as file:
        counts = {tuple(row[name] for name in KEY): row["output_token_count"] for row in csv.DictReader(file)}
    first = tuple(rows[0][name] for name in KEY)
    assert counts.pop(first) == "777"
    assert "777" not in counts.values()
    assert all(counts.values())  # where nobody says it, it is counted here


def test_every_wrong_row_of_a_csv_file_is_told_at_once(tmp_path: Path) -> None:
    folder = write_study(tmp_path)
    head = "question_id,model_id,condition,response\n"
    rows = [
        "S001-Q01,small,A,Five.",
        "S001-Q01,small",
        "S001-Q02,small,C,Yes.",
        "S001-Q01,small,A,Six.",
        "x,y",
    ]
    (folder / "responses.csv").write_text(head + "\n".join(rows) + "\n")
    study = (folder / "study.yaml").read_text().replace("responses.jsonl", "responses.csv")
    (folder / "study.yaml").write_text(study)
    done = assay("validate", folder)
    assert done.code == 3
    told = {line.partition("responses.csv:")[2][:1] for line in done.err.splitlines()}
    assert told >= {"3", "4", "5", "6"}  # too few values, a condition C, a row twice, too few values


def low_agreement(study: Study) -> list[dict[str, Any]]:
    """All scores; the second rater says 3 where the first says 2 and the other way round, but for a few."""
    lines = all_scores(study)
    for number, line in enumerate(each for each in lines if each["step"] == "accuracy"):
        if line["rater"] == "ben" and number % 5:
            line["choice"] = 5 - line["choice"]
            line["note"] = "seen otherwise"
    return lines


def test_agreement_that_must_hold_first_and_does_not_is_never_told_to_want_items(tmp_path: Path) -> None:
    folder = write_study(tmp_path)
    file = yaml.safe_load((folder / "study.yaml").read_text())
    first = ["kappa(weights=linear, levels=4)(accuracy) >= 0.7"]
    go = ["Accuracy(B) >= Accuracy(A) + 0.9 on interval"]
    file["gates"] = {"better": {"min_items": 2, "first": first, "go": go}}
    (folder / "study.yaml").write_text(yaml.safe_dump(file, sort_keys=False))
    study = collected(folder)
    blind_study(study, by="owner")
    lines = low_agreement(study)
    for line in lines[:3]:  # A and B differ by a grade, and by none on some
        line |= {"choice": 3, "note": ""}
    assert assay("review", "import", folder, write_lines(folder / "scores.jsonl", lines)).code == 0
    assay("review", "unblind", folder, "--force", "--reason", "a try")
    shown = [assay(command, folder, *options) for command, *options in [("run",), *FORMATS]]
    assert shown[0].code == 11
    for each in shown:
        assert "what must hold first does not hold, so nothing else is decided" in each.out
        assert "raters have to agree first" in " ".join(each.out.split())
        assert "would settle" not in each.out
    better = json.loads(assay("report", folder, "--json").out)["verdicts"][0]
    assert [(each["holds"], each["advice"]) for each in better["clauses"]] == [
        (False, None),
        (None, None),
    ]


DISCUSS = "raters discuss what they differ on, still blind, and score it again with assay review serve"


def gated(folder: Path, first: list[str]) -> Path:
    """The study with a gate that asks for agreement first."""
    file = yaml.safe_load((folder / "study.yaml").read_text())
    file["gates"]["better"]["first"] = first
    (folder / "study.yaml").write_text(yaml.safe_dump(file, sort_keys=False))
    return folder


def test_raters_who_agree_too_little_are_sent_to_discuss_and_score_again_and_then_unblind(
    blinded: Study,
) -> None:
    folder = blinded.folder
    lines = low_agreement(blinded)
    taken = assay("review", "import", folder, write_lines(folder / "scores.jsonl", lines))
    agreed = assay("review", "agreement", folder)
    shown = [taken, assay("review", "status", folder), agreed]
    for each in shown:
        assert (
            "anna and ben agree too little on accuracy: kappa, linear weights -0.625, needs 0.6" in each.out
        )
        assert f"next: {DISCUSS} {folder}; then: assay review unblind {folder}\n" in each.err
    refused = assay("review", "unblind", folder)
    assert refused.code == 2
    given = {
        (each["rater"], each["response_id"]): each["choice"] for each in lines if each["step"] == "accuracy"
    }
    differ = [
        each for (rater, each), choice in given.items() if rater == "anna" and given["ben", each] != choice
    ]
    assert 10 < len(differ) < 16
    for told in (refused.err, agreed.out):
        found = [line.strip() for line in told.splitlines() if line.startswith("  R-")]
        assert sorted(found) == sorted(
            f"{each}, accuracy: anna {given['anna', each]}, ben {given['ben', each]}" for each in differ
        )
    assert "assay review unblind" in refused.err
    assert not any(name in refused.err for name in ("small", "large", "[model"))
    assert not scoring_folder(blinded).is_open

    write_lines(folder / "again.jsonl", [each for each in all_scores(blinded) if each["rater"] == "ben"])
    taken = assay("review", "import", folder, folder / "again.jsonl")
    assert taken.out.startswith(f"{len(differ)} scores taken")
    assert f"every pass is complete; next: assay review unblind {folder}\n" in taken.err
    done = assay("review", "unblind", folder)
    assert (done.code, done.out) == (0, "opened: every pass was complete\n")


def test_opening_though_raters_agree_too_little_is_on_record_and_shown(blinded: Study) -> None:
    folder = blinded.folder
    assay("review", "import", folder, write_lines(folder / "scores.jsonl", low_agreement(blinded)))
    assert assay("review", "unblind", folder, "--force").code == 2  # a reason is asked for
    done = assay("review", "unblind", folder, "--force", "--reason", "ben has left", "--by", "otto")
    assert done.code == 0
    assert "opened by force, which every report will say: anna and ben agree too little" in done.out
    (act,) = [each for each in scoring_folder(blinded).acts.acts if each.act == "forced"]
    assert act.by == "otto"
    assert "ben has left; anna and ben agree too little on accuracy" in act.detail
    for each in [assay(command, folder, *rest) for command, *rest in [("run",), *FORMATS[:2]]]:
        told = " ".join(each.out.split())
        assert "unblinded by force before scoring was finished" in told
        assert "anna and ben agree too little on accuracy" in told


def test_the_threshold_that_a_gate_declares_is_what_agreement_has_to_reach(tmp_path: Path) -> None:
    first = ["kappa(weights=linear, levels=4)(accuracy) >= 0.9 on estimate", "rho(hallucinations) >= 0.5"]
    study = collected(gated(write_study(tmp_path), first))
    blind_study(study, by="owner")
    lines = all_scores(study)
    for line in [each for each in lines if each["rater"] == "ben" and each["step"] == "accuracy"][:2]:
        line |= {"choice": 5 - line["choice"], "note": "seen otherwise"}
    assay("review", "import", study.folder, write_lines(study.folder / "scores.jsonl", lines))
    refused = assay("review", "unblind", study.folder)
    assert refused.code == 2
    assert "kappa, linear weights 0.750, needs 0.9" in refused.err
    assert "hallucinations" not in refused.err  # nobody marked any, so that there is no figure
    # a bar that is lowered, or removed, once it is not reached, still stands as the run wrote it down
    for later in ([first[0].replace("0.9", "0.1")], first[1:]):
        gated(study.folder, later)
        again = assay("review", "unblind", study.folder)
        assert (again.code, "needs 0.9" in again.err) == (2, True)


def test_what_a_gate_asks_of_a_model_judge_is_not_asked_of_raters(tmp_path: Path) -> None:
    first = ["kappa(weights=linear, levels=4, raters='anna|llm')(accuracy) >= 0.9"]
    folder = gated(write_study(tmp_path), first)
    file = yaml.safe_load((folder / "study.yaml").read_text())
    judge = {"use": "llm", "url": "http://127.0.0.1:1/v1", "model": "m", "name": "llm"}
    (folder / "study.yaml").write_text(yaml.safe_dump({**file, "judges": [*file["judges"], judge]}))
    assert thresholds_of(open_study(folder))["accuracy", LINEAR] == 0.6
    named = ["kappa(weights=linear, levels=4, raters='anna|ben')(accuracy) >= 0.9"]
    assert thresholds_of(open_study(gated(folder, named)))["accuracy", LINEAR] == 0.9


def test_what_two_differ_on_is_not_shown_before_both_are_through(blinded: Study) -> None:
    folder = blinded.folder
    lines = [each for each in low_agreement(blinded) if each["rater"] == "anna" or each["step"] == "accuracy"]
    assert assay("review", "check", folder).code == 0
    assay("review", "import", folder, write_lines(folder / "scores.jsonl", lines))
    for command in ("status", "agreement"):
        done = assay("review", command, folder)
        assert "  R-" not in done.out
        assert f"next: assay review serve {folder}\n" in done.err
    refused = assay("review", "unblind", folder)
    assert refused.err.startswith("Scoring is not finished: ben: Hallucinations: 16 of 16 to score")
    assert "agree too little" not in refused.err


def test_marks_that_are_all_the_same_keep_nobody_from_unblinding(blinded: Study) -> None:
    folder = blinded.folder
    lines = all_scores(blinded)
    for line in lines:
        if line["step"] == "accuracy":
            line |= {"choice": 3, "note": ""}
    assay("review", "import", folder, write_lines(folder / "scores.jsonl", lines))
    told = assay("review", "agreement", folder).out
    assert "accuracy, kappa, linear weights: undefined: only one grade occurs" in told
    assert "citation, kappa, linear weights: nothing that both scored" in told
    assert assay("review", "unblind", folder).out == "opened: every pass was complete\n"
