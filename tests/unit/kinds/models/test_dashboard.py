"""The dashboard: what it reads, what it shows, and what it says where something is missing."""

from __future__ import annotations

import dataclasses
import itertools
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import typer
from typer.testing import CliRunner

import assay.kinds.models.dashboard.serve as serving
from assay.cli.main import with_errors
from assay.core.errors import DataError, UsageError
from assay.core.records import ClauseResult, Comparison, Estimate, Verdict
from assay.core.results import ItemView, MeasureInfo, RankedResult, Results, ReviewSummary, TrustSummary
from assay.desk.serving import port_for
from assay.kinds.models import commands
from assay.kinds.models.benchmark.folder import BenchmarkFolder
from assay.kinds.models.dashboard.charts import (
    APART,
    LIGHT,
    ModelStyle,
    escape,
    number_with_interval,
    separate_points,
)
from assay.kinds.models.dashboard.comparison import count_outcomes
from assay.kinds.models.dashboard.tables import read_tables
from assay.measures.marks import FALSE_POSITIVE, KEYWORD_MATCH, SEMANTIC_MATCH

pytestmark = pytest.mark.slow  # each starts Streamlit

APP = str(Path(serving.__file__).with_name("app.py"))
RATES = ("SemanticPrecision@10", "SemanticLift@10", "FalsePositiveRate@10")
MEASURES = ("RR@10", "RR(label='review|relevance')@10", "Success@10", *RATES, "Seconds")
LOWER = ("Seconds", RATES[2])
MARKS = (KEYWORD_MATCH, SEMANTIC_MATCH, SEMANTIC_MATCH, FALSE_POSITIVE)
QUERIES = {
    "INC-1": ("incident_lookup", "easy", "no"),
    "INC-2": ("incident_lookup", "hard", "no"),
    "CON-1": ("conceptual_queries", "hard", "yes"),
}
RANKS = {"base": (1.0, 0.5, 0.25), "next": (1.0, 0.25, 0.5), "third": (0.0, 1.0, 1.0)}  # RR by query
PLANT = "![x](http://example.org/x.png) <img src=x> **b** $x$ :red[y]"


def value_of(model: str, item_id: str, measure: str) -> float | None:
    if measure in RATES and item_id != "CON-1":
        return None
    rank = dict(zip(QUERIES, RANKS[model], strict=True))[item_id]
    fixed = {"Success@10": 1.0, "Seconds": 0.02, **dict(zip(RATES, (0.75, 0.5, 0.25), strict=True))}
    return fixed.get(measure, rank)


def estimate(model: str, measure: str, where: dict[str, str]) -> Estimate:
    tags = {
        item: dict(zip(("category", "difficulty", "review"), each, strict=True))
        for item, each in QUERIES.items()
    }
    inside = [item for item in QUERIES if all(tags[item][tag] == value for tag, value in where.items())]
    values = [value for item in inside if (value := value_of(model, item, measure)) is not None]
    mean = sum(values) / len(values) if values else None
    ends = (None, None) if mean is None else (max(0.0, mean - 0.1), mean + 0.1)
    return Estimate(model, {}, measure, where, mean, *ends, len(values), len(values))


def returned(model: str) -> list[RankedResult]:
    return [
        RankedResult(f"{model}-{rank}", 0.9, float(rank == 0), f"passage {rank} of {model}", mark=mark)
        for rank, mark in enumerate(MARKS)
    ]


def build(models: list[str], *, reviewed: bool = True, text: str = "question") -> Results:
    """Three queries; the conceptual one wants a review and, where reviewed, has one."""
    measures = [m for m in MEASURES if reviewed or m in {"RR@10", "Success@10", "Seconds"}]
    rows = [
        (item, model, "{}", model, 0, measure, value_of(model, item, measure), "scored")
        for item in QUERIES
        for model in models
        for measure in measures
    ]
    columns = ("item", "system", "factors", "arm", "seed", "measure", "value", "status")
    kinds = {"seed": pl.Int64, "value": pl.Float64}
    wheres = [{}] + [
        {tag: value}
        for place, tag in enumerate(("category", "difficulty", "review"))
        for value in dict.fromkeys(each[place] for each in QUERIES.values())
    ]
    review = ReviewSummary(
        depth=10, items=1, complete=["CON-1"], complete_by_arm=dict.fromkeys(models, 1), marked=3, open=0,
        estimates=[estimate(model, rate, {}) for rate in RATES for model in models],
        comparisons=[], bounds={"SemanticLift@10": dict.fromkeys(models, (0.5, 0.5))}, verdicts=["go"],
        outlook="the verdict is settled",
    )  # fmt: skip
    clause = ClauseResult("RR@10(next) > RR@10(base)", None, 0.0, -0.1, 0.1, 3, left=0.583, right=0.583)
    compared = Comparison(
        "next", "base", {}, "RR@10", {}, 0.0, -0.25, 0.25, 0.9, 0.9, 0.0, 1, 1, 1, 3, p_wilcoxon=0.8
    )
    return Results(
        study="small", kind="models", systems=models, arms=models, baseline="base",
        measures=[MeasureInfo(m, "lower" if m in LOWER else "higher", 0.0, 1.0) for m in measures],
        by=["category", "difficulty", "review"],
        scores=pl.DataFrame(rows, {name: kinds.get(name, pl.String) for name in columns}, orient="row"),
        estimates=[estimate(model, m, where) for where in wheres for m in measures for model in models],
        comparisons=[compared],
        verdicts=[Verdict("decision", "inconclusive", [clause])],
        verdict="inconclusive",
        trust=TrustSummary({}, ["one warning"], {}, {model: {"p50": 0.02, "p95": 0.03} for model in models}),
        items=[
            ItemView(
                item, f"{text} {item}",
                {"category": [category], "difficulty": [difficulty], "review": [wants]}, [],
                {model: returned(model) for model in models},
            )
            for item, (category, difficulty, wants) in QUERIES.items()
        ],
        review=review if reviewed else None,
        recommendation="keep base",
    )  # fmt: skip


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    def write(models: list[str], **how: Any) -> Path:
        for name, content in BenchmarkFolder().files(build(models, **how)).items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes(content)
        return tmp_path

    return write


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], Any]:
    testing = pytest.importorskip("streamlit.testing.v1", reason="Streamlit is not installed")

    def run(folder: Path) -> Any:
        monkeypatch.setattr(sys, "argv", ["app.py", str(folder)])
        page = testing.AppTest.from_file(APP, default_timeout=60).run()
        assert [error.message for error in page.exception] == []
        return page

    return run


def headings(page: Any) -> list[str]:
    return [each.value for each in (*page.title, *page.subheader)]


def words(page: Any) -> str:
    return "\n".join(
        str(each.value) for kind in ("markdown", "info", "caption", "error") for each in page.get(kind)
    )


# --------------------------------------------------------------------------------- the page


def test_the_recommendation_comes_first_and_all_sections_follow(written: Any, opened: Any) -> None:
    page = opened(written(["base", "next"]))
    assert headings(page) == [
        "Recommendation: keep base",
        "Do people's judgments change the picture?",
        "Where is each model good?",
        "Queries won: next 1, base 1; tied: 1",
        "Relevant results in 100 that keywords miss: base 50.0, next 50.0",
        "A usual answer takes: base 20.0 ms, next 20.0 ms",
        "Query by query",
        "Where this comes from",
    ]
    assert "Verdict: ◐ Inconclusive" in words(page)
    assert [each.value for each in page.warning] == ["one warning"]


def test_a_card_a_model_with_interval_and_n(written: Any, opened: Any) -> None:
    page = opened(written(["base", "next"]))
    cards = [(each.label, each.value, each.delta) for each in page.metric]
    # (1 + 0.5 + 0.25) / 3 = 0.583; one of the three queries wants a review, so it can only rise
    assert cards[:4] == [
        ("MRR, n = 3", "≥ 0.583", "[0.483, 0.683]"),
        ("Hit@10, n = 3", "≥ 1.00", "[0.900, 1.10]"),
        ("Latency in ms, n = 3", "20.0", "[0, 120]"),
        ("Semantic lift, n = 1", "0.500", "[0.400, 0.600]"),
    ]
    assert len(cards) == 8


def test_the_readings_stand_side_by_side(written: Any, opened: Any) -> None:
    page = opened(written(["base", "next"]))
    found = next(each.value for each in page.markdown if "mixed" in each.value)
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in found.splitlines()]
    assert rows[0] == ["mrr", "base", "next"]
    named = {row[0].replace("\\", ""): row[1:] for row in rows[2:]}
    assert named["automated, review queries"] == [
        "≥ 0.250 [0.150, 0.350], n = 1",
        "≥ 0.500 [0.400, 0.600], n = 1",
    ]
    assert named["human-adjusted, review queries"][0] == "0.250 [0.150, 0.350], n = 1"
    page.selectbox(key="measure").set_value("hit_at_10").run()
    assert "not among the human-adjusted values" in words(page)


def test_without_a_review_the_page_says_what_to_do(written: Any, opened: Any) -> None:
    page = opened(written(["base", "next"], reviewed=False))
    assert "How much do they find that keywords miss?" in headings(page)
    assert words(page).count("assay review export STUDY") == 2
    assert (page.metric[3].value, page.metric[3].delta) == ("n/a", "not reviewed")


def test_three_models_are_compared_by_pair(written: Any, opened: Any) -> None:
    page = opened(written(["base", "next", "third"]))
    assert "Queries won: next 1, base 1; tied: 1" in headings(page)
    page.selectbox(key="pair").set_value(("third", "next")).run()
    assert [error.message for error in page.exception] == []
    # third has 0, 1, 1 where next has 1, 0.25, 0.5
    assert "Queries won: third 2, next 1; tied: 0" in headings(page)


def test_a_single_model_is_not_compared(written: Any, opened: Any) -> None:
    assert "only one model" in words(opened(written(["base"])))


def test_queries_are_filtered_and_shown_in_full(written: Any, opened: Any) -> None:
    page = opened(written(["base", "next"]))
    table = page.dataframe[0].value
    assert list(table["id"]) == ["INC-2", "INC-1", "CON-1"]  # next - base: -0.25, 0, +0.25
    page.multiselect(key="winner").set_value(["next"]).run()
    assert list(page.dataframe[0].value["id"]) == ["CON-1"]
    texts = [each.value for each in page.text]
    assert texts[:2] == ["passage 0 of next", "passage 1 of next"]
    assert texts[4] == "passage 0 of base"
    assert sum("✔ relevant" in each.value for each in page.markdown) == 2
    page.multiselect(key="difficulty").set_value(["easy"]).run()
    assert "No query is like that" in words(page)


def test_text_of_the_files_is_never_made_into_pictures(written: Any, opened: Any) -> None:
    page = opened(written(["base", "next"], text=PLANT))
    shown = [each.value for each in page.markdown if "example" in each.value]
    assert shown
    assert not any("![" in text or "http://" in text for text in shown)


def test_the_page_reports_an_empty_folder(tmp_path: Path, opened: Any) -> None:
    page = opened(tmp_path)
    assert headings(page) == ["There is nothing to show"]
    assert "holds no files of a benchmark" in words(page)


def test_files_of_the_same_names_from_elsewhere_open(tmp_path: Path, opened: Any) -> None:
    """Only the columns that the format names, capitals in the models' names, NaN for what is unknown."""
    models = ["MiniLM", "MIKA"]
    frames = {
        "aggregate_metrics": {"model": models, "mean_mrr": [0.5, 0.75], "mean_hit_at_10": [0.9, 1.0],
                              "mean_latency_ms": [40.0, 80.0], "semantic_lift": [float("nan")] * 2},
        "query_comparison": {"query_id": ["a", "b"], "query_text": ["A", "B"], "category": ["x", "y"],
                             "difficulty": ["easy", "hard"], "minilm_mrr": [1.0, 0.0], "mika_mrr": [1.0, 0.5],
                             "mrr_diff": [0.0, 0.5], "winner": ["Tie", "MIKA"]},
        "category_metrics": {"category": ["x", "x"], "model": models, "mrr": [0.5, 0.75]},
        "benchmark_decision": {"recommendation": ["MIKA: " + "it is better in every way there is " * 3]},
        "human_review_details": {"query_id": ["b", "b"], "model": models, "semantic_lift": [0.1, 0.3]},
    }  # fmt: skip
    for name, columns in frames.items():
        pl.DataFrame(columns).write_parquet(tmp_path / f"{name}.parquet")
    page = opened(tmp_path)
    assert "Queries won: MIKA 1, MiniLM 0; tied: 1" in headings(page)
    assert "Relevant results in 100 that keywords miss: MiniLM 10.0, MIKA 30.0" in headings(page)
    assert "No test is in the files" in words(page)
    assert page.metric[0].value == "0.500"


# ------------------------------------------------------------------------------- the tables


def test_tables_are_found_from_the_folder_its_results_and_the_study(written: Any, tmp_path: Path) -> None:
    folder = written(["base", "next"])
    assert read_tables(folder / "results").models == ["base", "next"]
    study = tmp_path / "study"
    (study / "run").mkdir(parents=True)
    (study / "run" / "benchmark").symlink_to(folder)
    assert read_tables(study).pairs == [("next", "base")]


def test_all_missing_or_broken_files_are_reported_at_once(written: Any) -> None:
    results = written(["base", "next"]) / "results"
    (results / "query_comparison.parquet").unlink()
    (results / "category_metrics.parquet").write_bytes(b"no")
    (results / "combined_metrics.json").write_bytes(b"{")
    with pytest.raises(DataError) as caught:
        read_tables(results.parent)
    assert [Path(problem.where).name for problem in caught.value.problems] == [
        "query_comparison.parquet", "category_metrics.parquet", "combined_metrics.json",
    ]  # fmt: skip
    assert "assay report STUDY --format benchmark" in str(caught.value)


def test_a_table_without_its_columns_is_an_error(written: Any) -> None:
    results = written(["base", "next"]) / "results"
    pl.DataFrame({"query_id": ["a"], "base_mrr": [1.0]}).write_parquet(results / "query_comparison.parquet")
    with pytest.raises(DataError, match="has no column 'next_mrr'"):
        read_tables(results)
    pl.DataFrame({"name": ["base"]}).write_parquet(results / "aggregate_metrics.parquet")
    with pytest.raises(DataError, match="has no column 'model'"):
        read_tables(results)


def test_a_query_without_a_score_has_no_winner(written: Any) -> None:
    tables = read_tables(written(["base", "next"]))
    unscored = tables.queries.with_columns(
        winner=pl.when(pl.col("query_id") == "CON-1").then(None).otherwise("winner")
    )
    assert count_outcomes(unscored, "next", "base") == {"next": 0, "Tie": 1, "base": 1, "not scored": 1}
    assert dataclasses.replace(tables, queries=unscored).pairs == [("next", "base")]


# ---------------------------------------------------------------------------------- the look


def test_a_model_keeps_its_colour_and_tags_take_others() -> None:
    look = ModelStyle(("a", "b"))
    assert look.colours == [LIGHT[0], LIGHT[1]]
    assert look.others(2)[0] == [LIGHT[2], LIGHT[3]]
    assert "&lt;b&gt;" in ModelStyle(("<b>",)).name("<b>")


def test_figures_have_three_digits_and_their_evidence() -> None:
    assert number_with_interval(
        {"value": 0.65009, "low": 0.5289, "high": 0.7667, "n": 49, "lower_bound": True}
    ) == ("≥ 0.650 [0.529, 0.767], n = 49")
    assert number_with_interval({"value": 0.5}) == "0.500"
    assert number_with_interval({}) == "n/a"
    assert escape("![a](http://b)") == r"\!\[a\](http\://b)"


def test_points_on_one_place_are_moved_apart_and_no_further_than_needed() -> None:
    rows = [{"a_mrr": 1.0, "b_mrr": 0.5, "category": "x_y"}] * 5
    placed = separate_points([*rows, {"a_mrr": 0.0, "b_mrr": 0.0, "category": None}])
    assert len({(row["x"], row["y"]) for row in placed}) == 6
    assert (placed[0]["x"], placed[0]["y"]) == (0.5, 1.0)
    furthest = max((row["x"] - 0.5) ** 2 + (row["y"] - 1) ** 2 for row in placed[:5]) ** 0.5
    assert furthest == pytest.approx(2 * APART)  # the fifth lies at the square root of 4 steps
    assert [row["tag"] for row in placed[4:]] == ["x y", "none"]


# ------------------------------------------------------------------------------- the command


@pytest.fixture
def invoke() -> Callable[..., Any]:
    app = typer.Typer()
    app.command()(with_errors(commands.command))
    return lambda *args: CliRunner().invoke(app, [str(arg) for arg in args])


def test_a_folder_without_the_files_names_the_command_that_writes_them(invoke: Any, tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text("")
    done = invoke(tmp_path)
    assert done.exit_code == 3
    assert f"assay report {tmp_path} --format benchmark" in done.stderr
    gone = invoke(tmp_path / "gone")
    assert gone.exit_code == 3
    assert "is not a folder" in gone.stderr


def test_without_streamlit_the_command_says_what_to_install(
    invoke: Any, written: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving.importlib.util, "find_spec", {}.get)
    done = invoke(written(["base", "next"]))
    assert done.exit_code == 5
    assert "pip install 'retrieval-assay[dashboard]'" in done.stderr


def test_a_port_in_use_is_an_error_unless_none_was_named() -> None:
    import socket

    with socket.socket() as taken:
        taken.bind((serving.HOST, 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=f"Port {port}"):
            port_for(port)
    assert port_for(None) > 1023


def test_the_server_listens_only_here_and_reports_nothing(tmp_path: Path) -> None:
    command = serving.server_command(tmp_path, 8600)
    given = dict(itertools.pairwise(command))
    assert given["--server.address"] == "127.0.0.1"
    assert given["--server.port"] == "8600"
    assert given["--server.headless"] == "true"
    assert given["--browser.gatherUsageStats"] == "false"
    assert command[-2:] == ["--", str(tmp_path.resolve())]


def test_neither_the_package_nor_the_command_imports_streamlit() -> None:
    served = ", ".join(f"assay.kinds.models.dashboard.{each}" for each in ("app", "serve", "comparison"))
    names = f"{served}, assay.kinds.models.dashboard.serve"
    code = f"import json, sys, {names}; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert not {"streamlit", "altair", "pandas", "duckdb"} & set(json.loads(done.stdout))
