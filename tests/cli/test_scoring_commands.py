"""assay review on a blinded scoring: what each command says in its turn, out of turn, and of wrong input."""

from __future__ import annotations

import csv
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import yaml

from assay.operations.scoring.blinding import blind_study
from assay.operations.scoring.work import scoring_folder
from assay.study import Study
from small_scoring import all_scores, collected, scores, write_lines, write_study
from small_study import assay

FORMATS = ("html", "markdown", "junit", "github")
KEY = ("question_id", "model_id", "condition")


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
    seen = "0 of these suggestions had been looked at before"
    assert f"24 of 32 completeness marks were as suggested by rule; {seen}" in told


def test_agreement_sends_nobody_to_a_desk_that_does_not_open_any_more(blinded: Study) -> None:
    folder = blinded.folder
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
    assert not scoring_folder(blinded).lines


def test_a_file_without_a_score_is_told(blinded: Study) -> None:
    done = assay("review", "import", blinded.folder, write_lines(blinded.folder / "scores.jsonl", []))
    assert done.code == 3
    assert "scores.jsonl: holds no score. Write one score a line" in done.err


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
    schema = json.loads((files("assay") / "report/templates/results.schema.json").read_text())
    assert "scoring" in schema["properties"]
    jsonschema.validate(json.loads(assay("run", folder, "--json").out), schema)  # while blinded
    assay("review", "import", folder, write_lines(folder / "scores.jsonl", all_scores(blinded)))
    assert assay("review", "unblind", folder).code == 0
    found = json.loads(assay("run", folder, "--json").out)
    jsonschema.validate(found, schema)
    known = schema["properties"]["scoring"]["properties"]
    assert set(found["scoring"]) <= set(known)
    assert set(found["scoring"]["tests"][0]) <= set(known["tests"]["items"]["properties"])


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
    shown = [
        assay("run", folder),
        *(assay("report", folder, "--format", each, "-o", "-") for each in FORMATS),
    ]
    assert shown[0].code == 11
    for each in shown:
        assert "what must hold first does not hold, so nothing else is decided" in each.out
        assert "the raters discuss what they differ on, and score again" in " ".join(each.out.split())
        assert "would settle" not in each.out
    better = json.loads(assay("report", folder, "--json").out)["verdicts"][0]
    assert [(each["holds"], each["items_to_settle"]) for each in better["clauses"]] == [
        (False, None),
        (None, None),
    ]
