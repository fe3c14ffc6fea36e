"""assay tokens: pairs of a study or of a folder, as tables and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from assay.cli.main import with_errors
from assay.kinds.answers.commands import tokens

LONG = "Kilns are fired twice a week, and cones are read by two people."
STUDY = """\
name: kilns
data: answer_study(path=corpus)
systems: {A: "responses(path=r.jsonl, condition=A)"}
measures: [ContentTokens]
"""


def run(*args: object) -> Result:
    app = typer.Typer()
    app.command()(with_errors(tokens))
    return CliRunner().invoke(app, [str(each) for each in args])


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    folder = tmp_path / "pages"
    folder.mkdir()
    (folder / "a.html").write_text(f"<main><p>{LONG}</p><p>{LONG}</p></main>")
    (folder / "a.md").write_text(LONG)
    return folder


@pytest.fixture
def study(tmp_path: Path, pages: Path) -> Path:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    pages.rename(corpus / "pages")
    asked = {"question_id": "S1-Q1", "text": "How often?", "complexity": "single-fact"}
    right = {"question_id": "S1-Q1", "gold_answer": "Twice a week.", "verified_date": "2026-01-01"}
    pair = {"content_pair_id": "S1-P1", "site_id": "S1", "question_ids": ["S1-Q1"]}
    written = {
        "questions": [{"site_id": "S1", "questions": [asked]}],
        "gold-answers": [{"site_id": "S1", "answers": [right]}],
        "content-pairs": [{**pair, "a": "pages/a.html", "b": "pages/a.md"}],
    }
    for name, content in written.items():
        (corpus / f"{name}.json").write_text(json.dumps(content))
    (tmp_path / "study.yaml").write_text(STUDY)
    row = {"question_id": "S1-Q1", "condition": "A", "response": "Twice."}
    (tmp_path / "r.jsonl").write_text(json.dumps(row))
    return tmp_path


def test_pairs_of_a_folder_are_printed(pages: Path) -> None:
    done = run(pages)
    assert done.exit_code == 0
    # the sentence on two lines against one, whose line break is one token with the stop: -50 %
    (row,) = (line.split() for line in done.stdout.splitlines() if line.startswith("a "))
    assert row[:3] == ["a", "pages", "llama3"]
    assert row[-1] == "-50.0%"
    assert "100%" in done.stdout  # of the sites need fewer
    assert "delta is B - A" in done.stderr


def test_json_has_pairs_sites_and_their_spread(pages: Path) -> None:
    found = json.loads(run(pages, "--json", "--tokenizer", "llama3", "--tokenizer", "o200k_base").stdout)
    assert found["schema"] == "assay/tokens/1"
    assert [each["tokenizer"] for each in found["pairs"]] == ["llama3", "o200k_base"]
    assert set(found["pairs"][0]) == {
        "content_pair_id",
        "site_id",
        "tokenizer",
        "condition_a_tokens",
        "condition_b_tokens",
        "delta",
        "delta_pct",
    }
    assert found["sites"][0]["pairs"] == 1
    assert found["spreads"][0]["fewer"] == 1.0


def test_pairs_of_a_study_are_those_of_its_data(study: Path) -> None:
    found = json.loads(run(study, "--json").stdout)
    (pair,) = found["pairs"]
    assert (pair["content_pair_id"], pair["site_id"], pair["delta_pct"]) == ("S1-P1", "S1", -50.0)
    refused = run(study, "--extract", "visible")
    assert (refused.exit_code, "A study sets it itself" in refused.stderr) == (2, True)


def test_what_cannot_be_counted_is_told(pages: Path, tmp_path: Path) -> None:
    assert run(pages, "--tokenizer", "lama3").exit_code == 5
    assert run(pages, "--extract", "mian").exit_code == 2
    assert run(tmp_path).exit_code == 3
    assert run(tmp_path / "gone").exit_code != 0
    page = next(pages.glob("*.html"))
    told = run(page)
    assert told.exit_code == 2
    assert f"{page} is one page. Name the folder" in told.stderr
