"""score and compare on TREC files, small ones worked by hand and the real ones of trec_eval."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
import pytrec_eval

from small_study import Done, assay

QRELS = "q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 1\n"
FIRST = "q1 Q0 d1 1 2.0 t\nq1 Q0 d2 2 1.0 t\nq2 Q0 d9 1 2.0 t\nq2 Q0 d3 2 1.0 t\n"  # RR 1 and 1/2
SECOND = "q1 Q0 d2 1 2.0 t\nq1 Q0 d1 2 1.0 t\nq2 Q0 d3 1 2.0 t\n"  # RR 1/2 and 1


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "q.qrels").write_text(QRELS)
    (tmp_path / "one.run").write_text(FIRST)
    (tmp_path / "two.run").write_text(SECOND)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def score(*args: object) -> Done:
    return assay("score", *args, "--qrels", "q.qrels", "-m", "RR@10", "-m", "P@1")


def test_score(files: Path) -> None:
    found = {one["measure"]: one["value"] for one in score("one.run", "--json").json["estimates"]}
    assert found == {"RR@10": 0.75, "P@1": 0.5}  # (1 + 1/2) / 2, (1 + 0) / 2


def test_per_query(files: Path) -> None:
    assert score("one.run", "--per-query").out.splitlines() == [
        "system\titem\tmeasure\tvalue\tstatus",
        "one\tq1\tRR@10\t1.0\tscored",
        "one\tq2\tRR@10\t0.5\tscored",
        "one\tq1\tP@1\t1.0\tscored",
        "one\tq2\tP@1\t0.0\tscored",
    ]


def test_json_wins_over_per_query(files: Path) -> None:
    done = score("one.run", "--per-query", "--json")
    assert [row["value"] for row in done.json["scores"]] == [1.0, 0.5, 1.0, 0.0]


def test_a_gzipped_run_is_the_same_run(files: Path) -> None:
    (files / "zipped").mkdir()
    (files / "zipped/one.run.gz").write_bytes(gzip.compress(FIRST.encode()))
    assert score("zipped/one.run.gz", "--json").out == score("one.run", "--json").out


def test_compare(files: Path) -> None:
    done = assay("compare", "one.run", "two.run", "--qrels", "q.qrels", "-m", "RR@10", "--json")
    (found,) = done.json["comparisons"]
    assert (found["a"], found["b"], found["difference"]) == ("two", "one", 0.0)  # +1/2 and -1/2
    assert (found["wins"], found["ties"], found["losses"], found["n"]) == (1, 0, 1, 2)


def test_compare_all_pairs(files: Path) -> None:
    (files / "three.run").write_text(FIRST)
    args = ["compare", "one.run", "two.run", "three.run", "--qrels", "q.qrels", "-m", "RR@10", "--json"]
    pairs = [
        {(one["a"], one["b"]) for one in assay(*args, *more).json["comparisons"]} for more in ([], ["--all"])
    ]
    assert pairs[0] == {("two", "one"), ("three", "one")}
    assert len(pairs[1]) == 3


def test_queries_without_judgments_are_counted(files: Path) -> None:
    (files / "one.run").write_text(FIRST + "q7 Q0 d1 1 1.0 t\n")
    done = score("one.run")
    assert "one: 1 queries without judgments are left out" in done.out


def test_one_run_is_no_comparison(files: Path) -> None:
    done = assay("compare", "one.run", "--qrels", "q.qrels", "-m", "AP")
    assert (done.code, done.err) == (2, "A comparison needs two run files or more.\n")


def test_two_runs_of_one_name(files: Path) -> None:
    done = assay("compare", "one.run", "./one.run", "--qrels", "q.qrels", "-m", "AP")
    assert done.code == 2
    assert "same name" in done.err


def test_a_measure_that_run_files_cannot_serve(files: Path) -> None:
    done = assay("score", "one.run", "--qrels", "q.qrels", "-m", "Seconds")
    assert done.code == 2
    assert "choose a ranking measure such as nDCG@10" in done.err


def test_the_files_trec_eval_ships(shared_data: Callable[[str], Path]) -> None:
    folder = shared_data("trec_eval_test") / "test"
    run, qrels = folder / "results.test", folder / "qrels.test"
    done = assay("score", run, "--qrels", qrels, "-m", "AP", "-m", "nDCG@10", "-m", "P@5", "--json")
    with run.open() as lines, qrels.open() as labels:
        ranked, judged = pytrec_eval.parse_run(lines), pytrec_eval.parse_qrel(labels)
    theirs = {"AP": "map", "nDCG@10": "ndcg_cut_10", "P@5": "P_5"}
    oracle = pytrec_eval.RelevanceEvaluator(judged, {"map", "ndcg_cut.10", "P.5"}).evaluate(ranked)
    for row in done.json["scores"]:
        if row["item"] in oracle:
            assert row["value"] == pytest.approx(oracle[row["item"]][theirs[row["measure"]]], abs=1e-6)
    assert {row["item"] for row in done.json["scores"]} == set(judged)
