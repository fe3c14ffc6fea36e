"""How energy spread: nodes, depth, what edges were worth, and how far primes move a probe."""

from __future__ import annotations

import msgspec
import pytest

from assay.core.block import View
from assay.core.errors import DataError
from assay.core.records import Fault, Hit, Item, Response, Step
from assay.kinds.memory.measures.activation import Activated, Depth, EdgeEffect, PrimingShift
from assay.measures.parse import parse_measure
from assay.measures.score import score_block
from walked_block import block_of, hits, item, path, scored, seed, spread, value, walked

TRACE = [
    *path("a", "next_unit>b", "next_unit>c"),
    *path("d"),
    seed("a"),
    spread(1, "a", "b", "next_unit"),
    spread(2, "b", "e", "next_unit"),
    spread(3, "e", "f", "next_unit", "below_threshold"),
    seed("d"),
    spread(1, "d", "b", "next_unit"),
]
ITEM = item("q")
SPREAD = walked(*TRACE)
WALKED = walked(*TRACE[:4])
FLAT = Response(hits("x", "y", "z"))


def test_activated_nodes_are_counted_once() -> None:
    assert value(Activated(), ITEM, SPREAD) == 4  # a b e d; f was not reached
    assert value(Activated(), ITEM, WALKED) == 4  # a b c d, on paths
    assert value(Activated(), ITEM, FLAT) == 3


def test_a_twin_that_is_only_there_to_be_compared_with_has_no_figure_of_its_own() -> None:
    told = [*TRACE, Step("removed", 0, "c", edge="path", scores={"change": 0.75, "edges": 2})]
    twin = msgspec.structs.replace(item("q~unprimed"), gold={"unprimed_of": "q"})
    block = block_of([ITEM, twin], [walked(*told), walked(*told)])
    for measure in (Activated(), Depth(), Depth("spread"), EdgeEffect()):
        assert [status for _, status in scored(measure, block)] == ["scored", "not_applicable"]
    assert scored(PrimingShift(), block)[0] == (0.0, "scored")


def test_depth_is_that_of_the_best_path_or_of_all_spreads() -> None:
    assert value(Depth(), ITEM, SPREAD) == 2  # a b c
    assert value(Depth(), ITEM, walked(*path("a"), *path("b", "x>c"))) == 0
    assert value(Depth(), ITEM, FLAT) == 0
    assert value(Depth("spread"), ITEM, SPREAD) == 2  # e at hop 2; f at hop 3 got nothing
    assert value(Depth("spread"), ITEM, walked(*path("a"), seed("a"))) == 0


def test_an_answer_without_hits_or_without_a_spread_has_no_figure() -> None:
    items = [item(name) for name in ("empty", "broke", "late", "walked")]
    block = block_of(items, [Response(), Response(error=Fault("timeout", "slow")), None, WALKED])
    for measure in (Activated(), Depth()):
        told = scored(measure, block)
        assert told[:3] == [(None, "missing"), (None, "failed"), (None, "pending")]
    told = scored(Depth("spread"), block)
    absent = (None, "not_applicable")
    assert told == [absent, (None, "failed"), (None, "pending"), absent]


def test_the_effect_of_edges_is_what_the_answer_tells() -> None:
    told = [
        Step("removed", 0, "c", edge=edge, scores={"change": change, "edges": 2})
        for edge, change in (("path", 0.75), ("random", 0.125))
    ]
    items = [item("told"), item("walked"), item("flat")]
    block = block_of(items, [walked(*TRACE, *told), SPREAD, FLAT])
    absent = (None, "not_applicable")
    assert scored(EdgeEffect(), block) == [(0.75, "scored"), absent, absent]
    assert scored(EdgeEffect("random"), block) == [(0.125, "scored"), absent, absent]
    assert scored(EdgeEffect("nearby"), block) == [absent] * 3
    flat = block_of(items, [FLAT] * 3, gives=frozenset({"hits"}))
    assert scored(EdgeEffect(), flat) == [absent] * 3


# -------------------------------------------------------------------------------------- priming

PRIMED = Response([Hit("a", 3.0), Hit("b", 1.0)])
ASKED_AFRESH = Response([Hit("a", 1.0), Hit("b", 1.0)])
SEQUENCE = [item("prime-1", "a"), item("probe-1", "a"), item("probe-1~unprimed", unprimed_of="probe-1")]
NO = (None, "not_applicable")


def shifted(primed: Response | None, unprimed: Response | None) -> tuple[float | None, str]:
    told = scored(PrimingShift(), block_of(SEQUENCE, [FLAT, primed, unprimed]))
    assert (told[0], told[2]) == (NO, NO)  # neither a prime nor a twin is a probe
    return told[1]


def test_a_probe_is_compared_with_its_unprimed_twin() -> None:
    # ½(|3/4 − 1/2| + |1/4 − 1/2|)
    assert shifted(PRIMED, ASKED_AFRESH) == (0.25, "scored")
    assert shifted(PRIMED, FLAT) == (1.0, "scored")
    assert shifted(PRIMED, Response()) == (1.0, "scored")
    assert shifted(Response(), Response()) == (0.0, "scored")


def test_the_same_scores_to_the_last_bit_are_no_shift() -> None:
    odd = [Hit(f"n{n}", 1 / n) for n in range(1, 50)]
    assert shifted(Response(odd), Response(odd)) == (0.0, "scored")
    nudged = [*odd[:-1], msgspec.structs.replace(odd[-1], score=odd[-1].score * (1 + 1e-6))]
    value, status = shifted(Response(odd), Response(nudged))
    assert (value is not None and 0 < value < 1e-6, status) == (True, "scored")


@pytest.mark.parametrize("twin", [None, Response(error=Fault("timeout", "slow"))])
def test_a_probe_whose_twin_has_no_answer_is_unjudged(twin: Response | None) -> None:
    assert shifted(PRIMED, twin) == (None, "unjudged")


def test_a_probe_without_an_answer_has_no_shift() -> None:
    assert shifted(None, ASKED_AFRESH) == (None, "pending")
    assert shifted(Response(error=Fault("timeout", "slow")), ASKED_AFRESH) == (None, "failed")


def test_a_twin_whose_probe_is_not_asked_does_not_count() -> None:
    block = block_of([SEQUENCE[0], SEQUENCE[2]], [FLAT, FLAT])
    assert scored(PrimingShift(), block) == [NO, NO]
    silent = block_of(SEQUENCE, [FLAT] * 3, gives=frozenset({"answer"}))
    assert scored(PrimingShift(), silent) == [NO] * 3


def test_open_labels_leave_a_shift_as_it_is() -> None:
    block = block_of(SEQUENCE, [FLAT, PRIMED, ASKED_AFRESH], closed=frozenset())
    assert scored(PrimingShift(), block)[1] == (0.25, "scored")
    assert PrimingShift().seen_in == View(label="unprimed")  # so no pool of relevance bounds it


def test_a_twin_that_names_no_item_is_reported() -> None:
    block = block_of([Item("odd", "?", gold={"unprimed_of": ["probe-1"]})], [FLAT])
    with pytest.raises(DataError, match="'odd', gold: unprimed_of"):
        score_block(PrimingShift(), block)


@pytest.mark.parametrize(
    "text", ["Activated", "Depth", "Depth(of=spread)", "Effect", "Effect(of=random)", "PrimingShift"]
)
def test_names_print_and_parse(text: str) -> None:
    measure = parse_measure(text)
    assert measure.name == text.replace("=spread", "='spread'").replace("=random", "='random'")
    assert parse_measure(measure.name) == measure
