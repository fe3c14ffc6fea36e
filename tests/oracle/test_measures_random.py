"""Random runs with ties, gaps and graded or negative labels, against pytrec-eval-terrier and ir_measures."""

from __future__ import annotations

from typing import Any

import ir_measures
import numpy as np
import polars as pl
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.gains import gain_matrix
from assay.core.registry import Registry
from assay.measures.parse import parse_measure
from assay.measures.ranking import AP, NDCG, RR, P, R, RankingMeasure, Rprec, Success

REGISTRY = Registry()
Nested = dict[str, dict[str, Any]]
DOCS = st.text("abcé", min_size=1, max_size=3)
ITEMS = st.sampled_from(["q1", "q2", "q10", "π"])
TIED = st.sampled_from([0.0, 1.0, 1.0 + 1e-12, 1.5, 2.0, -3.0])
runs = st.dictionaries(ITEMS, st.dictionaries(DOCS, TIED, min_size=1, max_size=12), min_size=1)
apart = st.dictionaries(
    ITEMS,
    st.lists(DOCS, unique=True, min_size=1, max_size=12).map(
        lambda docs: {doc: float(-n) for n, doc in enumerate(docs)}
    ),
    min_size=1,
)


def labels(lowest: int) -> st.SearchStrategy[Nested]:
    """Labels of which at least one an item is not negative: trec_eval does not survive a query without."""
    grades = st.dictionaries(DOCS, st.integers(lowest, 3), min_size=1, max_size=12)
    return st.dictionaries(ITEMS, grades.filter(lambda held: max(held.values()) >= 0), min_size=1)


def frame(nested: Nested, column: str) -> pl.DataFrame:
    rows = [(item, doc, value) for item, docs in nested.items() for doc, value in docs.items()]
    return pl.DataFrame(rows, schema=["item", "doc", column], orient="row")


@pytest.mark.slow
@settings(max_examples=150)
@given(runs, labels(-2), st.integers(1, 3))
def test_random_runs_score_as_trec_eval_scores_them(run: Nested, qrels: Nested, rel: int) -> None:
    measures: dict[str, RankingMeasure] = {
        "map": AP(rel=rel),
        "ndcg": NDCG(),
        "recip_rank": RR(rel=rel),
        "Rprec": Rprec(rel=rel),
        "set_P": P(rel=rel),
        "P_3": P(3, rel),
        "recall_3": R(3, rel),
        "ndcg_cut_3": NDCG(3),
        "map_cut_3": AP(3, rel),
        "success_3": Success(3, rel),
    }
    asked = {"map", "ndcg", "recip_rank", "Rprec", "set_P", "P.3", "recall.3", "ndcg_cut.3", "map_cut.3"}
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, asked | {"success.3"}, relevance_level=rel)
    theirs = evaluator.evaluate(run)
    items = list(qrels)
    gains = gain_matrix(frame(run, "score"), frame(qrels, "grade"), items)
    for name, measure in measures.items():
        # the oracle leaves out a query the run does not have; ours has a row for it, and 0
        expected = [theirs.get(item, {}).get(name, 0.0) for item in items]
        np.testing.assert_allclose(measure.of(gains), expected, rtol=0, atol=1e-9, err_msg=name)


@settings(max_examples=60)
@given(apart, labels(0), st.integers(1, 5), st.integers(1, 3))
def test_cut_offs_and_levels_score_as_in_ir_measures(run: Nested, qrels: Nested, cut: int, rel: int) -> None:
    names = [f"RR(rel={rel})@{cut}", f"AP(rel={rel})@{cut}", f"P(rel={rel})@{cut}", f"Judged@{cut}"]
    names += [f"R(rel={rel})@{cut}", f"Success(rel={rel})@{cut}", f"nDCG@{cut}"]
    items = list(qrels)
    gains = gain_matrix(frame(run, "score"), frame(qrels, "grade"), items)
    for name in names:
        measure = parse_measure(name, REGISTRY)
        assert isinstance(measure, RankingMeasure)
        found = ir_measures.iter_calc([ir_measures.parse_measure(name)], qrels, run)
        theirs = {metric.query_id: metric.value for metric in found}
        expected = [theirs[item] for item in items]
        np.testing.assert_allclose(measure.of(gains), expected, rtol=0, atol=1e-9, err_msg=name)


@settings(max_examples=60)
@given(runs, labels(-1), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(run: Nested, qrels: Nested, random: Any) -> None:
    ranking, known = frame(run, "score"), frame(qrels, "grade")
    items = list(qrels)
    shuffled = [part[random.sample(range(len(part)), len(part))] for part in (ranking, known)]
    first, second = gain_matrix(ranking, known, items), gain_matrix(*shuffled, items)
    for field in ("grades", "returned", "ideal", "labelled"):
        np.testing.assert_array_equal(getattr(first, field), getattr(second, field), err_msg=field)
