"""What a person marked, what a rule finds and what nobody judged are told apart wherever it is shown."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from small_benchmark import write_benchmark
from small_study import assay

# CON-001: its clause finds R1.pdf#2 only. small returns it, R6.pdf#2, R5.pdf#0, R3.pdf#0, R4.pdf#0;
# large returns it, R2.pdf#2, R2.pdf#3, R4.pdf#0, R6.pdf#0.
MARKS = {
    "R1.pdf#2": "SEMANTIC_MATCH",  # filled in as KEYWORD_MATCH, and overruled
    "R2.pdf#2": "SEMANTIC_MATCH",
    "R2.pdf#3": "KEYWORD_MATCH",
    "R6.pdf#2": "FALSE_POSITIVE",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study whose one query for people was judged in part."""
    folder = write_benchmark(tmp_path_factory.mktemp("judged") / "models")
    assert assay("run", folder).code == 10
    assert assay("review", "export", folder).code == 0
    path = folder / "review" / "review_CON-001.yaml"
    form = yaml.safe_load(path.read_text())
    form["metadata"] |= {"reviewer": "Anna", "review_date": "2026-01-19"}
    for row in form["results"]:
        row["judgment"] = MARKS.get(row["chunk_id"], row["judgment"])
    path.write_text(yaml.safe_dump(form, sort_keys=False))
    assert assay("review", "import", folder).out.startswith("4 judgments taken")
    return folder


def test_a_mark_stays_what_the_person_said_where_a_rule_fires(folder: Path) -> None:
    assert assay("review", "export", folder).code == 0
    form = yaml.safe_load((folder / "review" / "review_CON-001.yaml").read_text())
    shown = {row["chunk_id"]: row["judgment"] for row in form["results"] if row["notes"] == "[DONE]"}
    assert shown == MARKS
    status = assay("review", "status", folder, "--json").json["review"]
    # SEMANTIC_MATCH / hits: large has two of five and two open, small one of five and three open
    assert status["bounds"]["SemanticLift@5"] == {"small": [0.2, 0.8], "large": [0.4, 0.8]}


def test_that_a_rule_fires_too_is_said(folder: Path) -> None:
    said = (
        "1 passage marked SEMANTIC_MATCH that a rule finds too (R1.pdf#2 for CON-001): counted"
    )
    for command in ("gate", "report"):
        warned = assay(command, folder, "--json").json["trust"]["warnings"]
        assert [warning for warning in warned if warning.startswith(said)], command
