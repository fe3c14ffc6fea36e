"""Measures on a block: where they apply, what they give, and what became of the rest."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np
import polars as pl
import pytest

from assay.core.block import (
    FAILED,
    LABEL_COLUMNS,
    MISSING,
    NOT_APPLICABLE,
    PENDING,
    SCORED,
    UNJUDGED,
    Block,
    Labels,
)
from assay.core.errors import PluginError
from assay.measures.fallback import IrMeasure
from assay.measures.observed import Abstain, Seconds
from assay.measures.ranking import RR, Judged, R
from assay.measures.score import score_block

NAN = float("nan")


@pytest.mark.parametrize("measure", [RR(10), IrMeasure("SetF")])
def test_ranking_measures_apply_where_something_is_judged_and_wanted(
    measure: RR | IrMeasure, block: Block
) -> None:
    # q1 has no label, q2 to q5 expect nothing, q6 is pending, q7 failed
    assert measure.applies(block).tolist() == [True, False, False, False, False, False, True, True]


def with_labels(block: Block, *rows: Mapping[str, object], closed: str = "") -> Block:
    frame = pl.DataFrame([{"label": "relevance", **row} for row in rows], schema=LABEL_COLUMNS)
    return dataclasses.replace(block, labels=Labels(frame, frozenset({closed} - {""})))


@pytest.mark.parametrize("measure", [RR(10), IrMeasure("SetF")])
def test_in_an_open_world_what_nobody_judged_is_unjudged(measure: RR | IrMeasure, block: Block) -> None:
    rows = ({"item": "q0", "target": doc, "grade": 1.0} for doc in "ab")
    values, status = score_block(measure, with_labels(block, *rows))
    # q0 returned a and b, both judged; q1 returned z, which nobody saw
    assert status.tolist() == [SCORED, UNJUDGED, *[NOT_APPLICABLE] * 4, PENDING, FAILED]
    assert values[0] == 1.0
    assert np.isnan(values[1])


def test_in_an_open_world_nothing_judged_is_nothing_scored(block: Block) -> None:
    _, status = score_block(RR(10), with_labels(block))
    assert status[:2].tolist() == [UNJUDGED, UNJUDGED]
    values, status = score_block(Judged(10), with_labels(block))
    assert values[:2].tolist() == [0.0, 0.0]
    assert status[:2].tolist() == [SCORED, SCORED]


def test_a_document_with_two_labelled_spans_is_credited_once(block: Block) -> None:
    spans = [
        {"start": 0, "end": 5, "grade": 1.0},
        {"start": 8, "end": 9, "grade": 2.0},
    ]
    rows = [{"item": "q0", "target": "b"} | span for span in spans]
    found = with_labels(block, *rows, {"item": "q0", "target": "c", "grade": 1.0}, closed="relevance")
    assert sorted(found.relevance.rows()) == [("q0", "b", 2.0), ("q0", "c", 1.0)]
    np.testing.assert_array_equal(found.gains.grades[0], [NAN, 2.0])
    assert R(10).values(found)[0] == 1 / 2  # b of b and c


def test_labels_of_another_seed_do_not_hold_here(block: Block) -> None:
    rows = [{"item": "q0", "target": "b", "grade": 1.0, "seed": seed} for seed in (0, 1)]
    assert with_labels(block, *rows).label("relevance").height == 1


def test_reciprocal_rank_on_a_block(block: Block) -> None:
    values, status = score_block(RR(10), block)
    assert values[0] == 1 / 2  # the relevant b stands second
    assert status.tolist() == [SCORED, *[NOT_APPLICABLE] * 5, PENDING, FAILED]


def test_a_fallback_on_a_block(block: Block) -> None:
    # two came back, two are relevant, one is both: precision = recall = F = 1/2
    values, status = score_block(IrMeasure("SetF"), block)
    assert values[0] == pytest.approx(1 / 2)
    assert status[0] == SCORED


def test_what_ir_measures_cannot_compute_is_a_plugin_error(block: Block) -> None:
    with pytest.raises(PluginError, match="cannot compute alpha_nDCG@10"):
        IrMeasure("alpha_nDCG@10").values(block)


def test_seconds_of_a_stage(block: Block) -> None:
    np.testing.assert_array_equal(Seconds().values(block), [0.5, 1.5, *[NAN] * 6])
    np.testing.assert_array_equal(Seconds("search").values(block), [0.25, *[NAN] * 7])
    assert Seconds().applies(block).all()
    assert Seconds().better == "lower"
    assert Seconds().absent is Seconds().high is None


def test_abstention_counts_for_items_that_expect_nothing(block: Block) -> None:
    assert Abstain().applies(block).tolist() == [n in {2, 3, 4, 5} for n in range(8)]
    values, status = score_block(Abstain(), block)
    # no hit; the route "nothing"; the flag "impossible"; a hit and neither
    assert values[2:6].tolist() == [1.0, 1.0, 1.0, 0.0]
    assert status.tolist() == [NOT_APPLICABLE] * 2 + [SCORED] * 4 + [NOT_APPLICABLE] * 2
    assert MISSING not in status


def test_in_an_open_world_all_arms_share_one_pool(block: Block) -> None:
    # three relevant passages were judged for another arm; this one returned a and b, both judged for it
    others = [{"item": "q0", "target": doc, "arm": "another", "grade": 1.0} for doc in "cde"]
    mine = [{"item": "q0", "target": doc, "arm": block.arm.name, "grade": 1.0} for doc in "ab"]
    values, status = score_block(R(3), with_labels(block, *mine, *others))
    assert (status[0], values[0]) == (SCORED, 2 / 5)
    # what gold says of one arm's corpus stays with that arm
    values, _ = score_block(R(3), with_labels(block, *mine, *others, closed="relevance"))
    assert values[0] == 1.0


def test_in_an_open_world_arms_on_another_corpus_have_a_pool_of_their_own(block: Block) -> None:
    here = block.arm.name
    rows = [("a", here), ("b", None), ("c", "beside"), ("d", "elsewhere"), ("e", "elsewhere")]
    labels = [{"item": "q0", "target": doc, "arm": arm, "grade": 1.0} for doc, arm in rows]
    found = with_labels(block, *labels)
    assert R(3).values(found)[0] == 2 / 5
    apart = dataclasses.replace(found.labels, apart={here: frozenset({"elsewhere"})})
    assert R(3).values(dataclasses.replace(found, labels=apart))[0] == 2 / 3  # a and b of a, b and c


@pytest.mark.parametrize(
    ("said", "grade"),
    [
        ([("here", 0, 0), ("beside", 0, 0), (None, None, 0)], 1.0),  # of this response
        ([("here", 1, 0), ("beside", 0, 0), (None, None, 0)], 3.0),  # of all, before another seed's
        ([("here", 1, 0), ("beside", 0, 0)], 1.0),  # of this arm, before another's
        ([("here", 0, 1), ("beside", 0, 0)], 2.0),  # a better judge's, of whichever
    ],
)
def test_of_a_shared_pool_the_nearest_word_of_the_best_judge_counts(
    said: list[tuple[str | None, int | None, int]], grade: float, block: Block
) -> None:
    arms = {"here": block.arm.name, "beside": "beside", None: None}
    rows = [
        {"item": "q0", "target": "b", "arm": arms[arm], "seed": seed, "rank": rank, "grade": float(place)}
        for place, (arm, seed, rank) in enumerate(said, 1)
    ]
    assert with_labels(block, *reversed(rows)).relevance["grade"].to_list() == [grade]
