"""The sample answers study as it ships: unscored it is open, scored it decides as its documentation says."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sklearn.metrics import cohen_kappa_score

from small_study import assay

pytestmark = pytest.mark.slow


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    done = assay("init", "answers", str(tmp_path / "answers"))
    assert done.code == 0, done.err
    return tmp_path / "answers"


def test_unscored_it_waits_for_people(sample: Path) -> None:
    done = assay("run", str(sample), "--json")
    assert done.code == 11, done.err
    assert scoring_of(done.json)["state"] == "open"
    assert {score["status"] for score in done.json["scores"]} == {"unjudged"}


def test_scored_it_gives_the_documented_figures(sample: Path) -> None:
    done = assay("run", str(sample / "scored"), "--json")
    assert (done.code, done.json["verdict"]) == (11, "inconclusive")
    scoring = scoring_of(done.json)
    assert (scoring["state"], scoring["responses"]) == ("unblinded", 120)
    linear = next(each for each in scoring["agreement"] if each["metric"] == "accuracy")
    assert (round(linear["value"], 3), linear["n"]) == (0.805, 60)
    accuracy = next(each for each in scoring["tests"] if each["metric"] == "accuracy" and not each["where"])
    assert round(accuracy["difference"], 3) == 0.333
    assert (accuracy["wins"], accuracy["ties"], accuracy["losses"]) == (23, 24, 13)
    held = {clause["text"]: clause["holds"] for clause in done.json["verdicts"][0]["clauses"]}
    assert [holds for text, holds in held.items() if "kappa" in text] == [True, True, True]


def test_its_notebook_comes_to_the_same_figures(sample: Path, tmp_path: Path) -> None:
    assay("run", str(sample / "scored"))
    assert assay("review", "export", str(sample / "scored"), "--out", str(tmp_path / "out")).code == 0
    cells: list[dict[str, Any]] = json.loads((tmp_path / "out/analysis.ipynb").read_text())["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    hidden = "import sys; sys.modules['matplotlib'] = sys.modules['matplotlib.pyplot'] = None\n"
    done = subprocess.run(
        [sys.executable, "-c", hidden + code],
        cwd=tmp_path / "out",
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]


def test_agreement_can_be_computed_from_the_files_alone(sample: Path, tmp_path: Path) -> None:
    ran = scoring_of(assay("run", str(sample / "scored"), "--json").json)["agreement"]
    assert assay("review", "export", str(sample / "scored"), "--out", str(tmp_path)).code == 0
    one, other = (read_rows(tmp_path / name) for name in ("raw-data.csv", "second-scores.csv"))
    assert (len(one), len(other)) == (120, 60)
    assert {row["scorer_id"] for row in other.values()} == {"ben"}
    for metric, column, weights in (
        ("accuracy", "factual_accuracy", "linear"),
        ("completeness", "completeness", None),
    ):
        pairs = [(one[key][column], row[column]) for key, row in other.items()]
        theirs = cohen_kappa_score(*zip(*pairs, strict=True), weights=weights)
        ours = next(each for each in ran if each["metric"] == metric)
        assert theirs == pytest.approx(ours["value"])


def scoring_of(results: dict[str, Any]) -> dict[str, Any]:
    """What the section on blinded scoring says, for programs."""
    found: dict[str, Any] = next(each["data"] for each in results["sections"] if each["key"] == "scoring")
    return found


def read_rows(path: Path) -> dict[str, dict[str, str]]:
    with path.open(newline="") as file:
        return {row["response_id"]: row for row in csv.DictReader(file)}
