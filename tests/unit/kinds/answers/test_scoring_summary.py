"""What a panel may be, and what is made of its marks: those of the primary rater, and no other."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from assay.core.errors import DataError
from assay.kinds.answers.panel import Panel, scoring_folder
from assay.kinds.answers.scoring_steps.blinding import blind_study
from assay.kinds.answers.scoring_steps.exporting import export_scoring
from assay.kinds.answers.scoring_steps.importing import import_marks
from assay.kinds.answers.scoring_steps.work import unblind_study
from assay.pipeline.evaluation import Evaluation
from assay.pipeline.validate import validate_study
from assay.retrieval.tokens import load_packaged
from assay.study.study import Study
from small_scoring import all_scores, at, collected, scoring_in, write_lines, write_study

if TYPE_CHECKING:  # its name begins like a test's, and pytest would take it for one
    from assay.kinds.answers.results import ConditionTest


@pytest.fixture
def blinded(tmp_path: Path) -> Study:
    study = collected(write_study(tmp_path))
    blind_study(study, by="owner")
    return study


def by_metric(study: Study) -> dict[str, ConditionTest]:
    """The tests over all pairs, by metric."""
    scoring = scoring_in(Evaluation(at(study.folder, 0.0)).results)
    return {one.metric: one for one in scoring.tests if one.family in {"primary", "secondary"}}


def take(study: Study, lines: list[dict[str, Any]]) -> None:
    import_marks(study, [write_lines(study.folder / "scores.jsonl", lines)])


def test_another_rater_does_not_stand_in_where_citations_do_not_apply(blinded: Study) -> None:
    """anna finds a citation in the responses to one question of four alone: two models, so two pairs."""
    files = scoring_folder(blinded)
    question = {each.response_id: each.question_id for each in files.pack.responses}
    lines = all_scores(blinded)
    for line in lines:
        mine = line["rater"] == "anna"
        if line["step"] == "citation" and (not mine or question[line["response_id"]] == "S001-Q01"):
            line["choice"] = 2
    take(blinded, lines)
    unblind_study(blinded, by="owner")
    citation = by_metric(blinded)["citation"]
    assert (citation.n, citation.left_out, citation.mean_a, citation.mean_b) == (2, 6, 2.0, 2.0)


def test_another_rater_does_not_stand_in_for_scores_that_are_missing(blinded: Study) -> None:
    take(blinded, [line for line in all_scores(blinded) if line["rater"] == "ben"])
    unblind_study(blinded, by="owner", force=True, reason="out of time")
    assert list(by_metric(blinded)) == ["tokens"]


def test_a_models_tokens_are_counted_by_its_own_tokenizer(tmp_path: Path) -> None:
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import WhitespaceSplit

    words = Tokenizer(WordLevel({"?": 0}, unk_token="?"))  # noqa: S106 (no password)
    words.pre_tokenizer = WhitespaceSplit()
    words.save(str(tmp_path / "words.json"))  # a token a word
    write_study(tmp_path / "study", tokenizers={"small": "tokenizer_json(path=../words.json)"})
    study = collected(tmp_path / "study")
    blind_study(study, by="owner")
    take(study, all_scores(study))
    unblind_study(study, by="owner")
    path = next(path for path in export_scoring(study) if path.name == "raw-data.csv")
    with path.open(newline="") as handle:
        rows = list(csv.DictReader(handle))
    content = {passage.doc_id: passage.text for passage in study.dataset(study.arms[0]).corpus.passages}
    for row in rows:
        text = content[f"{row['site_id']}-P01/{row['condition']}"]
        counted = (
            len(text.split()) if row["model_id"] == "small" else load_packaged("llama3").counts([text])[0]
        )
        assert int(row["input_token_count"]) == counted
        assert int(row["ref_token_count"]) == load_packaged("llama3").counts([text])[0]
    scoring = scoring_in(Evaluation(study).results)
    assert len({pair.tokenizer for pair in scoring.pairs}) == 2


def test_a_tokenizer_that_is_not_there_is_reported_before_anybody_scores(tmp_path: Path) -> None:
    write_study(tmp_path, tokenizers={"small": "lama3"})
    with pytest.raises(DataError, match="lama3"):
        validate_study(tmp_path)


def test_models_that_the_study_does_not_have_are_reported(tmp_path: Path) -> None:
    study = collected(write_study(tmp_path, sizes={"smal": "small"}))
    blind_study(study, by="owner")
    assert any("smal" in warning for warning in Evaluation(study).results.trust.warnings)


def test_the_primary_comes_first_and_others_are_compared_with_it() -> None:
    panel = Panel("anna", ["ben"])
    assert panel.names == ["anna", "ben", "anna (again)"]
    assert panel.raters == ["anna", "ben"]


def test_without_others_a_rater_is_compared_with_themself() -> None:
    assert Panel("anna").raters == ["anna", "anna (again)"]


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({"others": ["anna"]}, "name of their own"),
        ({"others": [" "]}, "name of their own"),
        ({"share": 0.05}, "share is 0.05"),
        ({"share": 1.5}, "share is 1.5"),
        ({"again": 0.01}, "again is 0.01"),
        ({"wait_hours": -1}, "wait_hours is -1"),
    ],
)
def test_what_a_panel_cannot_be(given: dict[str, Any], what: str) -> None:
    with pytest.raises(ValueError, match=what):
        Panel("anna", **given)
