"""What a person marked, what a rule finds and what nobody judged are told apart wherever it is shown."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

import assay.kinds.models.dashboard.app as dashboard
from small_benchmark import GOLDEN, STUDY, write_benchmark
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
    study = STUDY.replace("  - RR@10\n", "  - RR@10\n  - Success@1\n  - Success@5\n  - P@5\n", 1)
    folder = write_benchmark(tmp_path_factory.mktemp("judged") / "models", study)
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
    said = "1 passage marked SEMANTIC_MATCH that a rule finds too (R1.pdf#2 for CON-001): counted"
    for command in ("gate", "report"):
        warned = assay(command, folder, "--json").json["trust"]["warnings"]
        assert [warning for warning in warned if warning.startswith(said)], command


# ------------------------------------------------------------------------------- relevant, wrong, unknown


@pytest.fixture(scope="module")
def written(folder: Path) -> Path:
    assert assay("report", folder, "--format", "benchmark").code == 0
    return folder / "run" / "benchmark" / "results"


def queries(written: Path, model: str) -> dict[str, Any]:
    told = json.loads((written / f"{model}_results.json").read_text())
    return {query["query_id"]: query for query in told["query_results"]}


def judged(query: dict[str, Any]) -> dict[str, tuple[bool | None, str, bool]]:
    hits = query["top_results"]
    return {hit["chunk_id"]: (hit["relevant"], hit["status"], hit["rule_match"]) for hit in hits}


def on_page(folder: Path, item_id: str) -> tuple[dict[str, Any], list[Any]]:
    """The data of the page's items, and one of them."""
    page = assay("report", folder, "-o", "-").out
    found = re.search(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)
    assert found is not None
    data = json.loads(found[1])
    return data, next(each for each in data["items"] if each[0] == item_id)


def test_a_models_results_tell_rule_person_wrong_and_unjudged_apart(written: Path) -> None:
    large, small = queries(written, "large"), queries(written, "small")
    assert judged(large["CON-001"]) == {
        "R1.pdf#2": (True, "relevant_by_person", True),
        "R2.pdf#2": (True, "relevant_by_person", False),
        "R2.pdf#3": (True, "relevant_by_person", False),
        "R4.pdf#0": (None, "not_judged", False),
        "R6.pdf#0": (None, "not_judged", False),
    }
    assert judged(small["CON-001"])["R6.pdf#2"] == (False, "not_relevant", False)
    # a query that rules alone decide is closed: what they do not find is not relevant
    assert judged(large["INC-001"]) == {
        "R1.pdf#0": (True, "relevant_by_rule", True),
        "R2.pdf#0": (False, "not_relevant", False),
    }
    assert (large["CON-001"]["lower_bound"], large["INC-001"]["lower_bound"]) == (True, False)
    total = json.loads((written / "large_results.json").read_text())["metrics"]
    assert {"mrr", "precision_at_5", "hit_at_5"} <= set(total["lower_bounds"])
    assert pl.read_parquet(written / "aggregate_metrics.parquet")["lower_bound"].to_list() == [True, True]
    assert pl.read_parquet(written / "large_results.parquet")["lower_bound"].sum() == 1


def test_what_a_negative_query_names_is_never_called_relevant(tmp_path: Path) -> None:
    folder = write_benchmark(tmp_path / "models", golden=GOLDEN.replace("%submarine%", "%rime%"))
    run = (folder / "large.run").read_text().replace("INC-002 Q0 R4.pdf#0", "INC-002 Q0 R4.pdf#2")
    (folder / "large.run").write_text(run)
    assay("run", folder)
    assay("report", folder, "--format", "benchmark")
    query = queries(folder / "run" / "benchmark" / "results", "large")["INC-002"]
    assert judged(query) == {"R4.pdf#2": (False, "must_not_come_back", True)}
    data, item = on_page(folder, "INC-002")
    assert item[4] == []  # expected
    assert item[5][data["arms"].index("large")][0][4] == "must not come back"


def test_nothing_found_among_what_nobody_judged_is_not_a_miss(tmp_path: Path) -> None:
    """Before any review: CON-001 of a model that no rule meets is unknown, INC-002's hits are wrong."""
    study = STUDY.replace("  - RR@10\n", "  - RR@10\n  - Success@1\n  - Success@5\n", 1)
    folder = write_benchmark(tmp_path / "models", study)
    run = (folder / "large.run").read_text().replace("CON-001 Q0 R1.pdf#2", "CON-001 Q0 R5.pdf#4")
    (folder / "large.run").write_text(run)
    assay("run", folder)
    assay("report", folder, "--format", "benchmark")
    query = queries(folder / "run" / "benchmark" / "results", "large")["CON-001"]
    assert {status for _, status, _ in judged(query).values()} == {"not_judged"}
    assert (query["hit_at_1"], query["hit_at_5"]) == (None, None)
    table = pl.read_parquet(folder / "run" / "benchmark" / "results" / "large_results.parquet")
    assert table.filter(pl.col("query_id") == "CON-001")["hit_at_5"].to_list() == [None]
    assay("report", folder, "--format", "eval")
    (path,) = (folder / "run" / "eval" / "large").glob("*.json")
    told = json.loads(path.read_text())
    assert "CON-001" not in [failure["id"] for failure in told["failures"]]
    assert told["unjudged"] == ["CON-001"]
    assert "Success@5" in told["lower_bounds"]


def test_the_item_page_tells_them_apart(folder: Path) -> None:
    data, item = on_page(folder, "CON-001")
    hits = {data["pool"][hit[0]][0]: [*hit, *[None] * 7][2:7] for hit in item[5][data["arms"].index("large")]}
    told = {doc: (grade, mark, ruled) for doc, (grade, _, mark, _, ruled) in hits.items()}
    assert told == {
        "R1.pdf#2": (1, "semantic", 1),
        "R2.pdf#2": (1, "semantic", None),
        "R2.pdf#3": (1, "keyword", None),
        "R4.pdf#0": (None, "open", None),
        "R6.pdf#0": (None, "open", None),
    }


def test_qrels_say_that_they_are_those_of_rules(folder: Path, tmp_path: Path) -> None:
    done = assay("export", folder, "-o", tmp_path / "trec")
    assert "qrels: what rules find; people's marks are not in them" in done.err


def test_the_dashboard_tells_them_apart(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    testing = pytest.importorskip("streamlit.testing.v1", reason="Streamlit is not installed")
    monkeypatch.setattr(sys, "argv", ["app.py", str(written)])
    page = testing.AppTest.from_file(str(dashboard.__file__), default_timeout=60).run()
    page.selectbox(key="query").set_value("CON-001").run()
    assert [error.message for error in page.exception] == []
    shown = [each.value for each in page.markdown if "not judged" in each.value or "relevant" in each.value]
    hits = [line.partition("\n")[2].partition(", score")[0] for line in shown if line.startswith("**")]
    assert hits[:5] == [
        "✔ relevant by a person; a rule finds it too",
        "✔ relevant by a person",
        "✔ relevant by a person",
        "? not judged",
        "? not judged",
    ]
    assert "✖ not relevant" in hits[5:]
