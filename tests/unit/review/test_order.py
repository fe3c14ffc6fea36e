"""What to review first, and when it is settled."""

from __future__ import annotations

import time
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulation import (
    COUNTED,
    Benchmark,
    Order,
    Review,
    at_random,
    benchmark,
    decision,
    decision_first,
    is_settled,
    item_by_item,
    marked,
    pool_of,
    reviewed,
    row_range,
    settled,
)

from assay.core.errors import UsageError
from assay.core.records import Item
from assay.measures.marks import FALSE_POSITIVE, KEYWORD_MATCH, SEMANTIC_MATCH
from assay.review.order import LiftDifference, decisive_order
from assay.review.pool import Candidate, Pool

LEFT, RIGHT, BOTH = frozenset({"left"}), frozenset({"right"}), frozenset({"left", "right"})
PAIR = [("left", "right")]

# ------------------------------------------------------------------------------- rows and ranges


def small() -> Pool:
    """One item: left returned five passages, right four, two of them the same."""
    return pool_of(
        [
            Candidate("q00", "d1", LEFT, SEMANTIC_MATCH, by_person=True),
            Candidate("q00", "d2", LEFT, None),
            Candidate("q00", "d3", LEFT, KEYWORD_MATCH),
            Candidate("q00", "d4", RIGHT, FALSE_POSITIVE, by_person=True),
            Candidate("q00", "d5", RIGHT, None),
            Candidate("q00", "d6", BOTH, SEMANTIC_MATCH, by_person=True),
            Candidate("q00", "d7", BOTH, None),
        ],
        items=2,
    )


def test_a_row_lies_between_its_extremes() -> None:
    low, high = row_range(small(), "left", "right")
    # So far d1 gives left 1/5, and d6 gives 1/5 to left and 1/4 to right: 0.2 + 0.2 - 0.25 = 0.15.
    # Least: d5 a match, -1/4, and d7 too, 1/5 - 1/4 = -0.05, as left returned more. Most: d2 a match, +1/5.
    assert low.tolist() == pytest.approx([0.15 - 0.25 - 0.05, 0.0])
    assert high.tolist() == pytest.approx([0.15 + 0.2, 0.0])  # q01 has no passage, and both lifts are 0
    turned = row_range(small(), "right", "left")
    assert turned[0].tolist() == pytest.approx((-high).tolist())


def test_a_passage_pulls_for_the_arm_that_returned_it() -> None:
    # d1 to d3 are left's alone, 1/5 each; d4 and d5 right's, 1/4; d6 and d7 both's: 1/5 - 1/4.
    assert LiftDifference(small(), "left", "right").pull.tolist() == pytest.approx(
        [0.2, 0.2, 0.2, -0.25, -0.25, -0.05, -0.05]
    )
    # Where both return as many, what both returned counts alike.
    even = pool_of([Candidate("q00", "d1", BOTH, None), Candidate("q00", "d2", LEFT, None),
                    Candidate("q00", "d3", RIGHT, None)])  # fmt: skip
    assert LiftDifference(even, "left", "right").pull.tolist() == [0.0, 0.5, -0.5]


def test_an_arm_that_the_pool_does_not_have_is_an_error() -> None:
    with pytest.raises(UsageError, match=r"no arm 'lef'.*'left'"):
        decisive_order(small(), [("lef", "right")])


@given(seed=st.integers(0, 10**6), share=st.floats(0, 1))
def test_every_completion_lies_in_the_range(seed: int, share: float) -> None:
    bench = benchmark(seed, 0.4, 0.3)
    random = np.random.default_rng(seed)
    pool = marked(bench.pool, {key: said for key, said in bench.says.items() if random.random() < share})
    low, high = row_range(pool, "left", "right")
    done = row_range(completed(pool, random), "left", "right")
    assert np.array_equal(*done)
    assert (low <= done[0] + 1e-12).all()
    assert (done[0] <= high + 1e-12).all()


def completed(pool: Pool, random: np.random.Generator) -> Pool:
    """The rest marked at random, with any share of matches."""
    share = random.random()
    words = [SEMANTIC_MATCH if random.random() < share else FALSE_POSITIVE for _ in pool.open]
    return marked(pool, {each.key: word for each, word in zip(pool.open, words, strict=True)})


# --------------------------------------------------------------------------------- the decision


def test_decisions_by_hand() -> None:
    assert decision([0.1] * 6) == "a"  # one sign vector of 64 is as good: 0.0156
    assert decision([-0.1] * 6) == "b"
    assert decision([0.1] * 5) == "neither"  # one of 32: 0.031
    assert decision([0.1] * 5 + [0.0]) == "neither"
    assert decision([0.3] * 7 + [-0.1]) == "a"  # the empty subset, {-0.1}: 2 of 256
    assert decision([0.1] * 7 + [-0.4]) == "neither"  # with -0.4 up to four others: 1 + 99 of 256
    assert decision([]) == "neither"


@given(st.lists(st.integers(-6, 6), min_size=6, max_size=20), st.data())
def test_a_decision_never_moves_against_a_row(tenths: list[int], data: st.DataObject) -> None:
    rank = {"b": 0, "neither": 1, "a": 2}
    raised = [each + data.draw(st.integers(0, 3)) for each in tenths]
    assert rank[decision(np.array(raised) / 10)] >= rank[decision(np.array(tenths) / 10)]


def test_five_items_are_settled_before_anybody_looks() -> None:
    few = [each for each in benchmark(0, 0.4).pool.candidates if each.item_id < "q05"]
    assert settled(pool_of(few, items=5), "left", "right")


def test_what_is_settled_stays_settled() -> None:
    bench = benchmark(3, 0.4)
    keys = [each.key for each in decision_first(bench.pool)]
    found = [
        is_settled(marked(bench.pool, {key: bench.says[key] for key in keys[:count]}))
        for count in range(0, len(keys) + 1, 10)
    ]
    assert found == sorted(found)
    assert not found[0]
    assert found[-1]


# ------------------------------------------------------------------------------------ the order


def test_the_order_holds_every_open_passage_once_and_the_idle_ones_last() -> None:
    pool = marked(*halfway(benchmark(1, 0.4)))
    order = decisive_order(pool, PAIR)
    assert sorted(each.key for each in order) == [each.key for each in pool.open]
    idle = sum(each.arms == BOTH for each in pool.open)
    assert idle > 20
    assert all(each.arms == BOTH for each in order[-idle:])


def halfway(bench: Benchmark) -> tuple[Pool, dict[tuple[str, str], str]]:
    return bench.pool, {key: said for key, said in bench.says.items() if int(key[1][-1]) < 3}


def test_the_loser_is_heard_first_once_a_winner_shows() -> None:
    # Left's passages are matches in the first eight items and right's are not; the rest is open.
    pool = pool_of(
        Candidate(f"q{item:02}", f"{arm}{number}", frozenset({arm}), None)
        for item in range(20)
        for number in range(10)
        for arm in ("left", "right")
    )
    known = {
        each.key: SEMANTIC_MATCH if each.arms == LEFT else FALSE_POSITIVE
        for each in pool.open
        if each.item_id < "q08"
    }
    order = decisive_order(marked(pool, known), PAIR)
    ends = [sum(each.arms == LEFT for each in part) for part in (order[:60], order[-60:])]
    assert ends[0] < ends[1]


def test_names_and_sides_do_not_show() -> None:
    pool, marks = halfway(benchmark(2, 0.4))
    other = {"left": "zebra", "right": "ape"}
    renamed = Pool(
        pool.depth,
        ("ape", "zebra"),
        pool.items,
        [Candidate(*each.key, frozenset(other[arm] for arm in each.arms), None) for each in pool.candidates],
        {(item, other[arm]): count for (item, arm), count in pool.returned.items()},
    )
    keys = [each.key for each in decisive_order(marked(pool, marks), PAIR)]
    assert keys == [each.key for each in decisive_order(marked(pool, marks), [("right", "left")])]
    assert keys == [each.key for each in decisive_order(marked(renamed, marks), [("zebra", "ape")])]
    assert keys != [each.key for each in decisive_order(marked(pool, marks), PAIR, seed=1)]


def test_only_decisions_that_are_open_count() -> None:
    # Two of three arms returned the same passages, so their contest is settled; the third's are the issue.
    candidates = [
        Candidate(f"q{item:02}", f"d{number}", BOTH if number < 5 else frozenset({"third"}), None)
        for item in range(20)
        for number in range(10)
    ]
    names = [f"q{item:02}" for item in range(20)]
    returned = {(name, arm): 5 for name in names for arm in ("left", "right", "third")}
    pool = Pool(10, ("left", "right", "third"), [Item(name, name) for name in names], candidates, returned)
    assert settled(pool, "left", "right")
    assert not settled(pool, "left", "third")
    alone = decisive_order(pool, [("left", "third")])
    assert decisive_order(pool, [*PAIR, ("left", "third")]) == alone
    by_hash = decisive_order(pool, [])
    assert decisive_order(pool, PAIR) == by_hash != alone
    assert len(by_hash) == 200


def led(matches: int, shared: int = 3) -> Pool:
    """In 20 items each arm returned ten, three of them both; left's alone are open but for some matches.

    Right's alone are all judged, as no matches; what both returned is open.
    """

    def of(item: int, number: int) -> Candidate:
        key = f"q{item:02}", f"d{number:02}"
        if number < shared:
            return Candidate(*key, BOTH, None)
        if number >= 10:
            return Candidate(*key, RIGHT, FALSE_POSITIVE, by_person=True)
        mark = SEMANTIC_MATCH if number < shared + matches else None
        return Candidate(*key, LEFT, mark, by_person=mark is not None)

    return pool_of([of(item, number) for item in range(20) for number in range(20 - shared)])


def test_what_pulls_on_no_pair_comes_last_even_when_all_is_settled() -> None:
    pool = led(1)  # every row is at least 0.1: left wins, whatever comes
    assert settled(pool, "left", "right")
    order = decisive_order(pool, PAIR)
    # Of left's alone 7 - 1 are open in each of 20 items, and the 3 shared ones.
    assert [each.arms for each in order] == [LEFT] * 120 + [BOTH] * 60
    assert order[:120] != sorted(order[:120], key=lambda each: each.key)


def test_a_pair_is_open_until_it_is_so_at_no_threshold() -> None:
    pool = led(1)  # rows from 0.1 to 0.7: beyond 0 and short of 0.8, and 0.3 lies between
    assert not settled(pool, "left", "right", 0.3)
    by_hash = decisive_order(pool, PAIR)
    assert decisive_order(pool, PAIR, thresholds=(0.0, 0.8)) == by_hash
    assert decisive_order(pool, PAIR, thresholds=()) == by_hash
    planned = decisive_order(pool, PAIR, thresholds=(0.0, 0.3, 0.8))
    assert planned == decisive_order(pool, PAIR, thresholds=(0.3,)) != by_hash
    assert [each.arms for each in planned] == [LEFT] * 120 + [BOTH] * 60
    # With four matches in each item every row is at least 0.4, and beyond 0.3 as well.
    assert settled(led(4), "left", "right", 0.3)
    assert decisive_order(led(4), PAIR, thresholds=(0.3,)) == decisive_order(led(4), PAIR)


def test_the_plan_is_made_for_the_nearest_open_threshold() -> None:
    # Left's rate is (20 + 0.3 · 4) / (20 + 4) = 0.883; in its items (1 + 8.83) / (1 + 10) = 0.894.
    # So a row is expected at (1 + 6 · 0.894) / 10 = 0.636: 0.6 is nearer than 0.3, and 0.7 farther than 0.6.
    pool = led(1)
    assert LiftDifference(pool, "left", "right").expected.tolist() == pytest.approx([0.6364] * 20, abs=1e-4)
    far, near, beyond = (decisive_order(pool, PAIR, thresholds=(each,)) for each in (0.3, 0.6, 0.69))
    assert far != near
    assert decisive_order(pool, PAIR, thresholds=(0.3, 0.6, 0.69)) == near != beyond


def test_a_threshold_turns_with_its_pair() -> None:
    pool, marks = halfway(benchmark(2, 0.4))
    pool = marked(pool, marks)
    order = decisive_order(pool, PAIR, thresholds=(0.05, -0.1))
    assert order == decisive_order(pool, [("right", "left")], thresholds=(-0.05, 0.1))
    # Nothing is known of either arm, so both are equally near: neither side may come first.
    fresh = benchmark(2, 0.4).pool
    both = decisive_order(fresh, PAIR, thresholds=(-0.1, 0.1))
    assert both == decisive_order(fresh, [("right", "left")], thresholds=(-0.1, 0.1))
    assert both != decisive_order(fresh, PAIR, thresholds=(0.1,))


@pytest.mark.slow
@pytest.mark.parametrize("threshold", [0.1, -0.1])
def test_planning_for_a_threshold_settles_it_sooner(threshold: float) -> None:
    """Marks until no completion changes whether left leads by more than the threshold."""

    def needed(bench: Benchmark, planned_for: float) -> int:
        pool, judged = bench.pool, 0
        while not settled(pool, "left", "right", threshold):
            keys = [each.key for each in decisive_order(pool, PAIR, thresholds=(planned_for,))[:20]]
            pool, judged = marked(pool, {key: bench.says[key] for key in keys}), judged + len(keys)
        return judged

    benches = [benchmark(seed, 0.4) for seed in range(6)]
    assert sum(needed(each, threshold) for each in benches) < sum(needed(each, 0.0) for each in benches)


def test_an_order_is_quick() -> None:
    pool = marked(*halfway(benchmark(4, 0.0 + 1e-9)))  # next to nothing in common: 400 candidates
    assert len(pool.candidates) == 400
    took = []
    for _ in range(5):
        start = time.process_time()
        decisive_order(pool, PAIR)
        took.append(time.process_time() - start)
    assert min(took) < 0.05


def test_a_pool_without_anything_is_settled() -> None:
    empty = Pool(10, ("left", "right"), [], [], {})
    assert settled(empty, "left", "right")
    assert decisive_order(empty, PAIR) == []


# ------------------------------------------------------------------------------- whole benchmarks

# 50 benchmarks of 20 items, ten passages and two arms, judged by two people who err in 5 % and in 10 %.
# Counted as 400 judgments, as if each arm's hits were judged for themselves, and as the distinct passages
# that no rule filled in. Marks needed until settled, mean in percent:
#
#                              nothing filled in      half filled in by rule
#   overlap                    0.3   0.4   0.5        0.3   0.4   0.5
#   of the 400                  59    50    41         28    23    19
#   of the distinct             70    62    54         64    57    49
#   the same, item by item      94    92    91
#   the same, at random         93    90    89
#   had it known the rates      70    61    53         63    56    48
#   had it known each mark      48    45    39         48    44    38
#
# So half of the 400 is kept from an overlap of 0.4 on, barely there, and wherever rules fill in half. Half of
# the distinct passages is kept in one setting only. More is not in the order: it needs about what it would
# need if it knew how often either arm is right. The last line is what no reviewer could do.


@cache
def reviews(
    overlap: float, filled: float, order: Order = decision_first, benches: int = 50
) -> list[tuple[Benchmark, Review]]:
    batch = 20 if order is decision_first else COUNTED  # the others do not learn
    made = [benchmark(seed, overlap, filled) for seed in range(benches)]
    return [(bench, reviewed(bench, order, batch)) for bench in made]


def shares(found: list[tuple[Benchmark, Review]]) -> tuple[float, float]:
    """The mean share of the 400 judgments, and of the distinct passages to judge."""
    return (
        float(np.mean([review.judged / COUNTED for _, review in found])),
        float(np.mean([review.judged / bench.distinct for bench, review in found])),
    )


def check_settled(found: list[tuple[Benchmark, Review]], completions: int) -> None:
    """At the mark that settled it, no completion decides other than the whole review does."""
    random = np.random.default_rng(0)
    for bench, review in found:
        whole = decision(row_range(marked(bench.pool, bench.says), "left", "right")[0])
        ends = row_range(review.pool, "left", "right")
        rest = [row_range(completed(review.pool, random), "left", "right")[0] for _ in range(completions)]
        assert {decision(rows) for rows in (*ends, *rest)} == {whole}


@pytest.mark.slow
def test_with_half_filled_in_a_quarter_of_the_judgments_settles_it() -> None:
    counted, distinct = shares(reviews(0.4, 0.5, benches=20))
    assert counted <= 0.25
    assert distinct <= 0.6


@pytest.mark.slow
def test_the_order_beats_plain_and_random_ones() -> None:
    first = shares(reviews(0.4, 0.0, benches=20)[:10])[1]
    assert first <= shares(reviews(0.4, 0.0, item_by_item, 10))[1] - 0.25
    assert first <= shares(reviews(0.4, 0.0, at_random, 10))[1] - 0.25


@pytest.mark.slow
@pytest.mark.parametrize(
    ("overlap", "filled", "counted", "distinct"),
    [
        (0.3, 0.0, 0.61, 0.72),
        (0.4, 0.0, 0.51, 0.64),
        (0.5, 0.0, 0.42, 0.56),
        (0.3, 0.5, 0.29, 0.66),
        (0.4, 0.5, 0.24, 0.59),
        (0.5, 0.5, 0.20, 0.51),
    ],
)
def test_settling_in_every_setting(overlap: float, filled: float, counted: float, distinct: float) -> None:
    found = reviews(overlap, filled, benches=20)  # the table above is of 50
    assert shares(found)[0] <= counted
    assert shares(found)[1] <= distinct
    for order in (item_by_item, at_random):
        assert shares(found)[1] <= shares(reviews(overlap, filled, order, benches=20))[1] - 0.15
    check_settled(found, 40)
