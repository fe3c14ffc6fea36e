"""The steps of a blinded scoring, from collected responses to figures, and what each of them refuses."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from assay.core.errors import DataError, UsageError
from assay.core.records import Status
from assay.kinds.answers.blinding.pack import MARKS
from assay.kinds.answers.panel import scoring_folder
from assay.kinds.answers.scoring.marks import score_book
from assay.kinds.answers.scoring_steps.blinding import blind_study, check_blinding
from assay.kinds.answers.scoring_steps.exporting import export_scoring
from assay.kinds.answers.scoring_steps.importing import import_marks
from assay.kinds.answers.scoring_steps.work import suggest_study, unblind_study
from assay.pipeline.evaluation import Evaluation
from assay.pipeline.validate import validate_study
from assay.study.study import Study
from small_scoring import (
    DAY,
    all_scores,
    at,
    collected,
    keep_keys,
    responses,
    scores,
    scoring_in,
    write_lines,
    write_study,
)
from stand_ins.chat_server import ChatStandIn


@pytest.fixture(autouse=True)
def same_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    keep_keys(monkeypatch)


@pytest.fixture
def blinded(tmp_path: Path) -> Study:
    """A study whose responses are under random ids."""
    study = collected(write_study(tmp_path))
    blind_study(study, by="owner")
    return study


def taken(study: Study, lines: list[dict[str, Any]]) -> list[str]:
    """Takes lines in; what is left to do then."""
    return import_marks(study, [write_lines(study.folder / "scores.jsonl", lines)]).left


def scored(study: Study) -> Study:
    assert taken(study, all_scores(study)) == []
    return study


# ----------------------------------------------------------------------------------------- blind


def test_the_pack_says_nothing_of_conditions_or_models(blinded: Study) -> None:
    files = scoring_folder(blinded)
    assert len(files.pack.responses) == 16
    shown = (files.folder / "pack.json").read_text()
    for word in ("small", "large", "llms.txt", "[model=", "S001-P01/A"):
        assert word not in shown or word in {"small", "large"}  # responses here name their model themselves
    assert files.pack.masked == {"curated index": 16}
    assert "[the document]" in files.pack.responses[0].text
    assert (files.folder.with_name("blind.key").stat().st_mode & 0o777) == 0o600
    assert not check_blinding(blinded)


def test_an_export_that_tells_is_found(blinded: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    originals = scoring_folder(blinded).originals()
    message = "".join(f"{key},{len(each.arm)}\n" for key, each in originals.items())
    content = f"response_id,content_chars\n{message}".encode()
    monkeypatch.setattr(
        "assay.kinds.answers.scoring_steps.blinding.result_files", lambda _: {"raw-data.csv": content}
    )
    assert any("content_chars" in leak.what for leak in check_blinding(blinded))


def test_responses_that_changed_since_are_reported_before_anybody_scores_or_unblinds(blinded: Study) -> None:
    lines = responses()
    lines[0] = {**lines[0], "response": "Quite another answer."}
    write_lines(blinded.folder / "responses.jsonl", lines)
    again = collected(blinded.folder)
    message = r"1 of 16 responses are not as they were blinded.*--fresh"
    with pytest.raises(DataError, match=message):
        check_blinding(again)
    with pytest.raises(DataError, match=message):
        taken(again, all_scores(blinded))
    with pytest.raises(UsageError, match=message):
        unblind_study(again, by="owner")
    assert blind_study(again, by="owner", fresh=True).responses == 16
    assert check_blinding(again) == []


def test_a_pack_of_another_study_in_the_same_folder_is_not_taken_for_ones_own(blinded: Study) -> None:
    content = yaml.safe_load((blinded.folder / "study.yaml").read_text())
    content["systems"] = {f"new_{name}": given for name, given in content["systems"].items()}
    content |= {"baseline": "new_A", "gates": {}}
    (blinded.folder / "other.yaml").write_text(yaml.safe_dump(content))
    other = collected(blinded.folder / "other.yaml")
    with pytest.raises(DataError, match="the pack is another study's"):
        check_blinding(other)


def test_two_systems_of_one_condition_are_refused(tmp_path: Path) -> None:
    path = write_study(tmp_path) / "study.yaml"
    path.write_text(
        path.read_text().replace("condition: B", "condition: A").replace("condition=B", "condition=A")
    )
    with pytest.raises(DataError, match="gives condition A, as A does: nothing would be compared"):
        validate_study(tmp_path)


def test_every_question_has_one_source_whatever_the_condition(blinded: Study) -> None:
    pack = scoring_folder(blinded).pack
    assert set(pack.sources) == set(pack.questions)
    text = pack.sources["S001-Q01"].text
    assert text.count("An account may hold five keys.") == 1  # both conditions say it
    assert "only a page has" in text
    assert "kept short" in text


def test_blinding_waits_for_all_responses(tmp_path: Path) -> None:
    from assay.pipeline.runner import Selection, run_study
    from assay.study.study import open_study

    study = open_study(write_study(tmp_path))
    run_study(study, Selection(limit=2))
    with pytest.raises(UsageError, match="8 responses are not collected yet"):
        blind_study(study, by="owner")


def test_failed_responses_are_left_out_and_counted(tmp_path: Path) -> None:
    write_study(tmp_path)
    lines = responses()
    lines[0] = {**lines[0], "response": None, "error": "timed out"}
    write_lines(tmp_path / "responses.jsonl", lines)
    found = blind_study(collected(tmp_path), by="owner")
    assert (found.responses, found.failed) == (15, 1)


def test_a_study_without_a_panel_is_reported_how_to_get_one(tmp_path: Path) -> None:
    content = yaml.safe_load((write_study(tmp_path) / "study.yaml").read_text())
    (tmp_path / "study.yaml").write_text(yaml.safe_dump({**content, "judges": ["human"]}))
    with pytest.raises(UsageError, match="use: panel"):
        blind_study(collected(tmp_path), by="owner")


def test_blinding_again_needs_a_word_and_no_marks(blinded: Study) -> None:
    before = [each.response_id for each in scoring_folder(blinded).pack.responses]
    with pytest.raises(UsageError, match="--fresh"):
        blind_study(blinded, by="owner")
    blind_study(blinded, by="owner", fresh=True)
    assert before != [each.response_id for each in scoring_folder(blinded).pack.responses]
    taken(blinded, scores(scoring_folder(blinded), "anna", ["accuracy"])[:1])
    with pytest.raises(UsageError, match="would lose that"):
        blind_study(blinded, by="owner", fresh=True)


def test_nobody_blinds_again_under_an_open_desk(blinded: Study) -> None:
    from assay.kinds.answers.scoring_steps.work import scoring_work

    work = scoring_work(blinded)
    with pytest.raises(UsageError, match="Another process is serving"):
        blind_study(blinded, by="owner", fresh=True)
    work.close()


def test_blinding_that_was_cut_short_is_done_again(blinded: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr("assay.kinds.answers.blinding.pack.write_pack", full)
        with pytest.raises(OSError, match="no space"):
            blind_study(blinded, by="owner", fresh=True)
    assert not scoring_folder(blinded).has_pack  # a map without its pack is nothing to score
    blind_study(blinded, by="owner")
    assert unblind_study(scored(blinded), by="owner").state == "unblinded"
    assert scoring_folder(blinded).acts.intact


def test_what_was_opened_is_never_blinded_again(blinded: Study) -> None:
    unblind_study(blinded, by="owner", force=True, reason="curious")
    (scoring_folder(blinded).folder / "pack.json").unlink()
    with pytest.raises(UsageError, match="was unblinded"):
        blind_study(blinded, by="owner")


def test_what_cannot_be_unblinded_is_not_scored(blinded: Study) -> None:
    from assay.kinds.answers.scoring_steps.work import scoring_work

    key = scoring_folder(blinded).folder.with_name("blind.key")
    key.unlink()
    with pytest.raises(DataError, match=r"blind\.key"):
        scoring_work(blinded)


# ------------------------------------------------------------------------------------------ take


def test_scores_are_taken_all_or_none(blinded: Study) -> None:
    lines = scores(scoring_folder(blinded), "anna", ["accuracy"])
    lines[3]["note"] = ""  # 2 needs one
    lines[3]["choice"] = 2
    lines[5]["choice"] = 7
    with pytest.raises(DataError) as error:
        taken(blinded, lines)
    assert [problem.line for problem in error.value.problems] == [4, 6]
    assert scoring_folder(blinded).entries == []


def test_taking_the_same_file_twice_changes_nothing(blinded: Study) -> None:
    lines = scores(scoring_folder(blinded), "anna", ["accuracy"])
    taken(blinded, lines)
    again = import_marks(blinded, [blinded.folder / "scores.jsonl"])
    assert (again.taken, again.known) == (0, 16)
    assert len(scoring_folder(blinded).entries) == 16


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"rater": "carl"}, r"carl has no such response to score\. There is no 'carl'\. Known: anna, ben"),
        ({"response_id": "R-00000000"}, "no such response"),
        ({"step": "accurracy"}, r"There is no 'accurracy'\. Did you mean 'accuracy'"),
        ({"step": "completeness", "choice": 1}, "comes first"),
    ],
)
def test_what_the_desk_would_refuse_is_refused(blinded: Study, change: dict[str, Any], what: str) -> None:
    line = scores(scoring_folder(blinded), "anna", ["accuracy"])[0]
    with pytest.raises(DataError, match=what):
        taken(blinded, [{**line, **change}])


def test_a_line_that_is_no_score_is_reported_by_its_place(blinded: Study) -> None:
    path = blinded.folder / "scores.jsonl"
    path.write_text('{"rater": "anna"}\nnot json\n')
    with pytest.raises(DataError) as error:
        import_marks(blinded, [path])
    assert [problem.line for problem in error.value.problems] == [1, 2]


def test_claims_are_named_by_their_words(blinded: Study) -> None:
    files = scoring_folder(blinded)
    taken(blinded, scores(files, "anna", ["accuracy"]))
    line = {"rater": "anna", "response_id": files.pack.responses[0].response_id, "step": "hallucination"}
    claim = {"category": "H-FAB", "text": "It also sings", "claim": "it sings", "note": "nothing says so"}
    with pytest.raises(DataError, match="occur 0 times"):
        taken(blinded, [{**line, "claims": [{**claim, "text": "It hums"}]}])
    taken(blinded, [{**line, "claims": [claim]}])
    mark = next(mark for mark in scoring_folder(blinded).marks if mark.step == "hallucination")
    text = files.pack.responses[0].text
    assert text[mark.claims[0].start : mark.claims[0].end] == "It also sings"


def test_accuracy_of_three_beside_a_fabrication_waits_until_its_rater_decides(blinded: Study) -> None:
    files = scoring_folder(blinded)
    best = next(key for key, each in files.originals().items() if each.arm.startswith("B"))
    lines = scores(files, "anna")
    claim = {"category": "H-FAB", "text": "It also sings", "claim": "it sings", "note": "nothing says so"}
    for line in lines:
        if (line["response_id"], line["step"]) == (best, "hallucination"):
            line["claims"] = [claim]
    left = taken(blinded, [*lines, *scores(files, "ben")])
    assert left == ["anna: Factual accuracy: 1 to look at again"]
    with pytest.raises(UsageError, match="1 to look at again"):
        unblind_study(blinded, by="owner")
    settled = {
        "rater": "anna",
        "response_id": best,
        "step": "accuracy",
        "choice": 2,
        "note": "it makes one up",
    }
    assert taken(blinded, [settled]) == []


# --------------------------------------------------------------------------------------- suggest


def test_a_model_suggests_once_and_only_if_it_is_not_under_test(blinded: Study) -> None:
    with ChatStandIn(lambda _: "MOSTLY_RIGHT\nThe core is right.") as server:
        asked = suggest_study(blinded, f"llm(url='{server.url}', model=referee)")
        assert (asked.asked, asked.failed) == (16, 0)
        again = suggest_study(blinded, f"llm(url='{server.url}', model=referee)")
        assert (again.asked, again.known) == (0, 16)
        quoted = server.requests[0].payload["messages"][-1]["content"]
        with pytest.raises(UsageError, match="small"):
            suggest_study(blinded, f"llm(url='{server.url}', model='vendor/Small')")
        with pytest.raises(UsageError, match="not a model judge"):
            suggest_study(blinded, "anchors")
    assert "llms.txt" not in quoted  # it sees what raters see
    taken(blinded, all_scores(blinded))
    scoring = scoring_in(Evaluation(blinded).results)
    found = next(each for each in scoring.suggestions if each.step == "accuracy" and each.by != "rule")
    # both raters give 2 to the eight responses of A and 3 to those of B: half is as suggested
    assert (found.n, found.equal, found.seen) == (32, 0.5, 0)


# --------------------------------------------------------------------------------------- unblind


def test_until_it_is_unblinded_nothing_of_a_condition_is_shown(blinded: Study) -> None:
    scored(blinded)
    results = Evaluation(blinded).results
    assert (scoring_in(results).state, scoring_in(results).tests) == ("blinded", [])
    assert any(each.metric == "accuracy" and each.value == 1.0 for each in scoring_in(results).agreement)
    assert set(results.scores["status"]) == {Status.UNJUDGED}
    assert results.items == []


def test_unblinding_is_one_act_after_which_scores_count(blinded: Study) -> None:
    found = unblind_study(scored(blinded), by="owner")
    assert (found.state, found.before, found.left) == ("unblinded", False, [])
    results = Evaluation(blinded).results
    means = {(each.system, each.measure): each.value for each in results.estimates if not each.where}
    assert (means["A", "Accuracy"], means["B", "Accuracy"]) == (2.0, 3.0)
    assert results.verdict == "go"
    accuracy = next(
        each for each in scoring_in(results).tests if each.metric == "accuracy" and not each.where
    )
    assert (accuracy.difference, accuracy.n, accuracy.effect) == (1.0, 8, 1.0)
    again = unblind_study(blinded, by="somebody else")
    assert (again.before, again.by) == (True, "owner")
    assert len(scoring_folder(blinded).acts.acts) == 2


def test_early_unblinding_needs_force_and_a_reason_and_stays_on_record(blinded: Study) -> None:
    taken(blinded, scores(scoring_folder(blinded), "anna", ["accuracy"]))
    with pytest.raises(UsageError, match="Hallucinations: 16 of 16"):
        unblind_study(blinded, by="owner")
    with pytest.raises(UsageError, match="--reason"):
        unblind_study(blinded, by="owner", force=True)
    unblind_study(blinded, by="owner", force=True, reason="the grant ends")
    results = Evaluation(blinded).results
    assert scoring_in(results).state == "forced"
    assert any("by force" in warning and "the grant ends" in warning for warning in results.trust.warnings)
    with pytest.raises(UsageError, match="was unblinded"):
        taken(blinded, scores(scoring_folder(blinded), "ben", ["accuracy"]))


def test_a_record_that_was_cut_is_reported(blinded: Study) -> None:
    unblind_study(blinded, by="owner", force=True, reason="curious")
    acts = scoring_folder(blinded).folder / "acts.jsonl"
    acts.write_bytes(acts.read_bytes().splitlines(keepends=True)[0])
    assert not scoring_folder(blinded).acts.intact
    results = Evaluation(blinded).results
    assert any("record of the seal is broken" in warning for warning in results.trust.warnings)


def test_nobody_unblinds_while_the_desk_is_open(blinded: Study) -> None:
    from assay.kinds.answers.scoring_steps.work import scoring_work

    work = scoring_work(scored(blinded))
    with pytest.raises(UsageError, match="Another process is serving"):
        unblind_study(blinded, by="owner")
    work.close()
    unblind_study(blinded, by="owner")


def test_marks_on_a_response_that_was_collected_again_do_not_count(blinded: Study) -> None:
    unblind_study(scored(blinded), by="owner")
    lines = responses()
    lines[0]["response"] = "Something else altogether."
    write_lines(blinded.folder / "responses.jsonl", lines)
    results = Evaluation(collected(blinded.folder)).results
    open_ = results.scores.filter(results.scores["status"] == Status.UNJUDGED.value)
    assert set(open_["item"]) == {"S001-Q01"}
    assert set(open_["arm"]) == {"A[model=small]"}


def test_one_rater_scores_a_part_again_two_days_later(tmp_path: Path) -> None:
    collected(write_study(tmp_path, others=[], again=0.25, wait_hours=48))
    start = at(tmp_path, 100 * DAY)
    blind_study(start, by="owner")
    files = scoring_folder(start)
    assert (len(files.pack.drawn), len(files.pack.drawn_again)) == (0, 4)
    assert any("to score" in left for left in taken(start, scores(files, "anna")))
    again = scores(files, "anna", [f"{step}:again" for step in ("accuracy", "hallucination")])
    with pytest.raises(DataError):
        taken(at(tmp_path, 101 * DAY), again)
    later = at(tmp_path, 102.1 * DAY)
    rest = scores(files, "anna", [f"{step}:again" for step in ("completeness", "citation")])
    assert taken(later, [*again, *rest]) == []
    unblind_study(later, by="owner")
    results = Evaluation(later).results
    assert {each.raters for each in scoring_in(results).agreement} == {("anna", "anna (again)")}
    assert any("limitation" in warning for warning in results.trust.warnings)


# ----------------------------------------------------------------------------------------- files


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as handle:
        return list(csv.DictReader(handle))


def test_files_hold_no_condition_until_it_is_unblinded(blinded: Study) -> None:
    paths = {path.name: path for path in export_scoring(scored(blinded))}
    assert set(paths) == {"raw-data.csv", "hallucination-details.json"}
    first = rows(paths["raw-data.csv"])[0]
    blank = ("condition", "model_id", "input_token_count", "ref_token_count", "content_chars")
    assert [first[name] for name in (*blank, "output_token_count")] == [""] * 6
    assert first["factual_accuracy"] in {"2", "3"}
    unblind_study(blinded, by="owner")
    paths = {path.name: path for path in export_scoring(blinded)}
    assert {"token-efficiency.json", "results.json", "analysis.ipynb"} < set(paths)
    for row in rows(paths["raw-data.csv"]):
        assert row["factual_accuracy"] == {"A": "2", "B": "3"}[row["condition"]]
        assert row["scorer_id"] == "anna"
        assert int(row["content_chars"]) > 50
    pairs = json.loads(paths["token-efficiency.json"].read_text())["pairs"]
    assert all(pair["delta"] == pair["condition_b_tokens"] - pair["condition_a_tokens"] for pair in pairs)


def test_marks_survive_what_was_torn(blinded: Study) -> None:
    taken(blinded, scores(scoring_folder(blinded), "anna", ["accuracy"]))
    folder = scoring_folder(blinded).folder / MARKS
    (folder / "000099.jsonl").write_bytes(b'{"kind":"mark","mark_id":"torn')
    assert len(score_book(folder).lines) == 16


def test_a_file_may_have_a_mark_of_its_order_and_a_list_is_one_problem(
    blinded: Study, tmp_path: Path
) -> None:
    lines = all_scores(blinded)
    path = write_lines(tmp_path / "scores.jsonl", lines)
    marked = tmp_path / "marked.jsonl"
    marked.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert import_marks(blinded, [marked]).left == []
    path.write_text(json.dumps(lines))
    with pytest.raises(DataError, match="is a JSON list") as refused:
        import_marks(blinded, [path])
    assert len(refused.value.problems) == 1
