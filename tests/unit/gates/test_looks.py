"""Looks at one gate: what counts as one, what a further one costs, and what it is advised to wait for."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from assay.core.records import Verdict
from assay.gates.evaluator import Evaluator
from assay.gates.looks import Look, LookHistory, NextLook
from assay.gates.verdict import decide_gates
from score_rows import REGISTRY, gate, items_of, rows_of

Floats = NDArray[np.float64]
CLAUSE = "M(new) >= M(old)"
RANDOM = np.random.default_rng(3)


def names(first: int, last: int) -> list[str]:
    return [f"e{number}" for number in range(first, last)]


def look(step: int, evidence: list[str], **shown: bool) -> Look:
    return Look("q", step, evidence, shown)


def verdict(new: Floats, old: Floats, book: LookHistory | None = None, **file: object) -> Verdict:
    rows = rows_of({("new", "M"): new, ("old", "M"): old})
    (found,) = decide_gates(
        [gate(**{"go": [CLAUSE], **file})], Evaluator(rows, REGISTRY, resamples=2_000), book=book
    )
    return found


# --------------------------------------------------------------------------------- what is a look


def test_the_first_look_is_decided_at_the_plain_level() -> None:
    now = NextLook.at("q", names(0, 50), [])
    assert (now.number, now.seen, now.step, now.level(0.95)) == (1, 50, 0, 0.95)


def test_reading_again_is_no_look() -> None:
    now = NextLook.at("q", names(0, 50), [look(0, names(0, 50)), look(2, names(0, 90))])
    assert (now.number, now.level(0.95)) == (1, 0.95)


def test_another_question_is_no_look() -> None:
    assert NextLook.at("other", names(0, 90), [look(0, names(0, 50))]).level(0.95) == 0.95


def test_more_items_are_a_further_look_at_a_higher_level() -> None:
    now = NextLook.at("q", names(0, 90), [look(0, names(0, 50))])
    assert (now.number, now.seen, now.step) == (2, 90, 2)  # 50, 65, 84.5, 109.9
    assert 0.95 < now.level(0.95) < 0.99


def test_other_items_count_with_those_they_replace() -> None:
    now = NextLook.at("q", names(50, 100), [look(0, names(0, 50))])
    assert (now.seen, now.step) == (100, 2)
    more = NextLook.at("q", names(0, 100), [look(0, names(0, 50))])
    assert now.level(0.95) > more.level(0.95)


def test_a_look_at_a_few_more_items_uses_up_the_next_step() -> None:
    now = NextLook.at("q", names(0, 52), [look(0, names(0, 50))])
    assert (now.step, now.size_after(1)) == (1, 85)


def test_what_was_shown_before_needs_the_plain_level_only() -> None:
    now = NextLook.at("q", names(0, 90), [look(0, names(0, 50), a=True, b=False)])
    dear = now.level(0.95)
    assert now.levels("a", 0.95) == (0.95, dear)
    assert now.levels("b", 0.95) == (dear, 0.95)
    assert now.levels("c", 0.95) == (dear, dear)


def test_before_the_planned_size_next_to_nothing_is_decided() -> None:
    early, due = (NextLook.at("q", names(0, size), [], planned=300) for size in (100, 300))
    assert early.level(0.95) > 0.999
    assert due.level(0.95) == 0.95
    last = NextLook.at("q", names(0, 300), [early.recorded({})], planned=300)
    assert 0.95 < last.level(0.95) < 0.952  # the price of having looked early


# --------------------------------------------------------------------------------------- decisions


def test_a_decision_that_is_taken_again_with_more_items_asks_for_more() -> None:
    old = RANDOM.uniform(0.2, 0.6, 300)
    new = old + RANDOM.normal(0, 0.1, 300)
    book = LookHistory()
    first = verdict(new[:100], old[:100], book)
    again = verdict(new[:100], old[:100], book)
    second = verdict(new[:140], old[:140], book)
    assert (first.look, again.look, second.look) == (1, 1, 2)
    assert first.level == again.level == 0.95
    assert second.level is not None
    assert second.level > 0.95
    fresh = verdict(new[:140], old[:140])
    wide, narrow = (each.clauses[0] for each in (second, fresh))
    assert wide.value == narrow.value
    assert (wide.high or 0) - (wide.low or 0) > (narrow.high or 0) - (narrow.low or 0)
    assert len(book.looks) == 2


def test_changed_scores_of_the_same_items_are_a_look_and_a_gate_on_the_estimate_has_none() -> None:
    old = RANDOM.uniform(0.2, 0.6, 60)
    new = old + RANDOM.normal(0.01, 0.1, 60)
    book = LookHistory()
    verdict(new, old, book)
    corrected = new.copy()
    corrected[:3] += 0.2
    assert verdict(corrected, old, book).look == 2
    assert verdict(corrected, old, book, on="estimate").look == 1
    assert len(book.looks) == 2


def test_what_was_shown_stays_shown_after_a_label_was_corrected() -> None:
    old = RANDOM.uniform(0.2, 0.6, 60)
    spread = np.tile([0.1, -0.1], 30)
    new = old + 0.0275 + spread  # about 2.1 standard errors above zero
    book = LookHistory()
    assert verdict(new, old, book).verdict == "go"
    corrected = new.copy()
    corrected[0] -= 0.01
    assert verdict(corrected, old, book).verdict == "go"
    unseen = LookHistory([Look("g", 0, names(0, 60))], question=lambda _: "g")
    assert verdict(corrected, old, unseen).verdict == "inconclusive"


def advice(new: Floats, old: Floats, **file: object) -> tuple[int | None, float | None, float | None, str]:
    found = verdict(new, old, **file).clauses[0].advice
    assert found is not None
    return found.items, found.chance, found.by_luck, found.instead


def test_advice_comes_with_its_probability_and_in_sizes_of_the_grid() -> None:
    old = np.full(100, 0.5)
    new = old + 0.015 + np.tile([0.1, -0.1], 50)
    items, chance, by_luck, _ = advice(new, old)
    assert items in {size - 100 for size in (130, 169, 220, 286, 372, 483)}
    assert chance is not None
    assert by_luck is not None
    assert 0.8 <= chance < 0.95
    assert 0.02 < by_luck < 0.5


def test_twins_are_not_told_to_collect_what_nobody_collects() -> None:
    old = RANDOM.uniform(0.2, 0.6, 66)
    new = old + np.tile([0.1, -0.1], 33) + 0.0005
    items, _, _, instead = advice(new, old)
    assert items is None
    assert "small enough" in instead


def test_advice_is_about_the_slice_of_the_clause() -> None:
    part = ["direct", "multi"] * 50
    old = np.full(100, 0.5)
    new = old + 0.03 + np.repeat(np.tile([0.1, -0.1], 25), 2)
    rows = rows_of({("new", "M"): new, ("old", "M"): old}, items_of(100, part=part))
    (found,) = decide_gates(
        [gate(go=[f"{CLAUSE} + 0.02 where part=direct"])], Evaluator(rows, REGISTRY, resamples=2_000)
    )
    assert found.clauses[0].n == 50
    assert found.clauses[0].advice is None or found.clauses[0].advice.where == "part=direct"


@pytest.mark.slow
def test_ten_looks_that_follow_the_advice_keep_the_budget() -> None:
    random, studies, false = np.random.default_rng(11), 300, 0
    for _ in range(studies):
        old, new = random.uniform(0, 1, (2, 2_000))
        size, book = 40, LookHistory()
        for _ in range(10):
            found = verdict(new[:size], old[:size], book)
            if found.verdict == "go":
                false += 1
            advised = found.clauses[0].advice
            if found.verdict != "inconclusive" or advised is None or size + (advised.items or 40) > 2_000:
                break
            size += advised.items or 40
    # 99 % bound of 5 % in 300 studies
    assert false <= 25
