"""The plan of the suite: counts by tag, source and split are the design's, before any query is made."""

from __future__ import annotations

from collections import Counter

import pytest

from assay_worlds.suites.plan import CELLS, FEASIBLE, HAND, SOURCES, WANTED, SuiteSlot, slots
from assay_worlds.suites.special_questions import by_hand
from assay_worlds.workplace.injections import BREAKS

EVERY = list(slots())


def of(split: str) -> list[SuiteSlot]:
    return [slot for slot in EVERY if slot.split == split]


def test_five_hundred_queries_of_which_three_hundred_are_the_test_set() -> None:
    assert Counter(slot.split for slot in EVERY) == {"test": 300, "tune": 100, "dev": 100}
    assert len({slot.number for slot in EVERY}) == 500


def test_the_counts_of_the_test_set_are_the_designs() -> None:
    test = of("test")
    assert Counter(tag for slot in test for tag in slot.cell.tags) == WANTED
    assert sum(slot.cell.feasible for slot in test) == FEASIBLE == 180
    assert (
        Counter(slot.origin for slot in test) == SOURCES == {"anchored": 180, "adversarial": 60, "hand": 60}
    )


@pytest.mark.parametrize("split", ["tune", "dev"])
def test_the_other_splits_have_a_third_of_everything(split: str) -> None:
    some = of(split)
    tags = Counter(tag for slot in some for tag in slot.cell.tags)
    assert {tag: 3 * count for tag, count in tags.items()} == WANTED
    assert 3 * sum(slot.cell.feasible for slot in some) == FEASIBLE
    assert {origin: 3 * count for origin, count in Counter(slot.origin for slot in some).items()} == SOURCES


def test_every_injector_is_asked_about_as_often_as_the_others() -> None:
    asked = Counter(slot.cell.injector for slot in of("test") if slot.origin == "adversarial")
    assert asked == dict.fromkeys(BREAKS, 12)


def test_every_wording_by_hand_is_used_once() -> None:
    wanted = Counter(slot.cell.shape for slot in EVERY if slot.origin == HAND)
    assert wanted == {shape: len(wordings) for shape, wordings in by_hand().items()}
    texts = [hand.text for wordings in by_hand().values() for hand in wordings]
    assert len(set(texts)) == len(texts) == 100


def test_later_stages_bring_evidence_of_their_own() -> None:
    assert Counter(slot.tier for slot in of("test")) == {0: 270, 1: 15, 2: 15}
    assert all(slot.cell.feasible for slot in EVERY if slot.tier)
    assert all(slot.origin == "anchored" for slot in EVERY if slot.tier)


def test_the_first_queries_of_a_fold_are_of_many_shapes() -> None:
    shapes = {slot.cell.shape for slot in of("dev")[:50]}
    assert len(shapes) > len({cell.shape for cell in CELLS}) / 2
