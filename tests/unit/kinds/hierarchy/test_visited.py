"""What was scored, as a trace tells it."""

from __future__ import annotations

import pytest

from assay.core.errors import UsageError
from assay.core.records import Response, Step
from assay.kinds.hierarchy.measures.routing import VisitedShare
from assay.measures.parse import parse_measure
from walked_block import block_of, item, scored, value


def step(target: str, nodes: float, of: float) -> Step:
    return Step("visited", 0, target, scores={"nodes": nodes, "of": of})


WAY = Response(trace=[step("L1", 16, 16), step("L2", 80, 256), step("passages", 600, 10_000)])


@pytest.mark.parametrize(
    ("text", "expected"),
    [("Visited", 600 / 10_000), ("Visited@L1", 1.0), ("Visited@L2", 80 / 256), ("Visited@L3", None)],
)
def test_shares(text: str, expected: float | None) -> None:
    assert value(parse_measure(text), item("q"), WAY) == expected


def test_parts_of_an_answer_add_up_to_all_there_is() -> None:
    twice = Response(trace=[step("passages", 30, 100), step("passages", 20, 100)])
    assert value(VisitedShare(), item("q"), twice) == 0.5
    assert value(VisitedShare(), item("q"), Response(trace=[*twice.trace, step("passages", 100, 100)])) == 1.0


def test_an_answer_that_reports_no_visits_stays_out_of_the_mean() -> None:
    items = [item("q0"), item("q1"), item("q2")]
    found = scored(
        VisitedShare(), block_of(items, [Response(), Response(trace=[step("passages", 0, 0)]), None])
    )
    assert found == [(None, "not_applicable")] * 2 + [(None, "pending")]


def test_a_level_is_written_with_an_l() -> None:
    with pytest.raises(UsageError, match=r"'2' is not a level\. Write Visited@L1"):
        parse_measure("Visited@2")
