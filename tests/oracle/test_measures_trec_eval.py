"""Native measures against pytrec-eval-terrier and against the expected outputs trec_eval ships."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import pytrec_eval

from assay.core.gains import gain_matrix
from assay.datasets.trec_files import read_qrels, read_run
from assay.measures.ranking import AP, NDCG, RR, P, R, RankingMeasure, Rprec, Success

CUTS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
SETS = [
    ("test/results.test", "test/qrels.test"),
    ("test/results.test", "test/qrels.test.with-comments"),
    ("test/results.test", "test/qrels.rel_level"),
    ("test/results.trunc", "test/qrels.test"),
    ("test/results-302.test", "test/qrels-302.test"),
    ("test/results.comment.test.gz", "test/qrels.comment.test"),
    ("ir_measures_compat.run", "ir_measures_compat.qrels"),
]


def at_level(rel: int) -> dict[str, RankingMeasure]:
    """trec_eval's names for our measures, at a relevance level."""
    measures: dict[str, RankingMeasure] = {
        "map": AP(rel=rel),
        "ndcg": NDCG(),
        "recip_rank": RR(rel=rel),
        "Rprec": Rprec(rel=rel),
        "set_P": P(rel=rel),
        "set_recall": R(rel=rel),
    }
    for cut in CUTS:
        measures |= {
            f"P_{cut}": P(cut, rel),
            f"recall_{cut}": R(cut, rel),
            f"ndcg_cut_{cut}": NDCG(cut),
            f"map_cut_{cut}": AP(cut, rel),
        }
    return measures | {f"success_{cut}": Success(cut, rel) for cut in (1, 5, 10)}


def nested(frame: pl.DataFrame, column: str) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for item, doc, value in frame.select("item", "doc", column).iter_rows():
        found.setdefault(item, {})[doc] = value
    return found


@pytest.mark.parametrize("rel", [1, 2, 3])
@pytest.mark.parametrize(("run_name", "qrels_name"), SETS)
def test_every_measure_equals_pytrec_eval_query_by_query(
    shared_data: Callable[[str], Path], run_name: str, qrels_name: str, rel: int
) -> None:
    folder = shared_data("trec_eval_test")
    run, qrels = read_run(folder / run_name), read_qrels(folder / qrels_name)
    measures = at_level(rel)
    names = {
        "map",
        "ndcg",
        "recip_rank",
        "Rprec",
        "set_P",
        "set_recall",
        "P",
        "recall",
        "ndcg_cut",
        "map_cut",
    }
    evaluator = pytrec_eval.RelevanceEvaluator(
        nested(qrels, "grade"), names | {"success"}, relevance_level=rel
    )
    theirs = evaluator.evaluate(nested(run, "score"))
    items = sorted(theirs)
    assert items
    gains = gain_matrix(run, qrels, items)
    for name, measure in measures.items():
        expected = [theirs[item][name] for item in items]
        np.testing.assert_allclose(measure.of(gains), expected, rtol=0, atol=1e-9, err_msg=name)


def level_of(args: str) -> int:
    return next((int(arg.removeprefix("-l")) for arg in args.split() if arg.startswith("-l")), 1)


def printed(path: Path) -> dict[tuple[str, str], str]:
    rows = (line.split() for line in path.read_text().splitlines())
    return {(name, item): value for name, item, value in rows}


def test_the_outputs_trec_eval_ships_are_reproduced_to_the_printed_digits(
    shared_data: Callable[[str], Path],
) -> None:
    folder = shared_data("trec_eval_test")
    compared = 0
    for case in json.loads((folder / "cases.json").read_text()):
        args, expected = case["args"], printed(folder / case["expected"])
        run_path = folder / case["run"]
        run = read_run(run_path if run_path.exists() else run_path.with_name(run_path.name + ".gz"))
        qrels = read_qrels(folder / case["qrels"])
        if "-M100" in args:
            # -M keeps the best hundred of each query, in trec_eval's order
            run = run.sort("item", "score", "doc", descending=[False, True, True]).group_by("item").head(100)
        asked = set(run["item"])
        judged = qrels["item"].unique(maintain_order=True).to_list()
        items = [item for item in judged if item in asked or "-c" in args.split()]
        gains = gain_matrix(run, qrels, items)
        extra: dict[str, RankingMeasure] = {f"P_{k}": P(k) for k in (3, 7)} | {"recall_2000": R(2000)}
        extra |= {f"success_{k}": Success(k) for k in (2, 20)}
        for name, measure in (at_level(level_of(args)) | extra).items():
            if "ndcg.1=" in args and name == "ndcg":
                continue  # that case sets gains of its own for ndcg
            values = measure.of(gains)
            for item, value in [*zip(items, values, strict=True), ("all", values.mean())]:
                if (name, item) in expected:
                    assert f"{value:.4f}" == expected[name, item], (args, name, item)
                    compared += 1
    assert compared > 400
