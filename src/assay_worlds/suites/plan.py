"""The plan of a suite: tags are assigned first, and then queries are made that fit the tags.

A fold is a hundred queries. Each fold has the same tags equally often. Three folds are the test set, one fold
is for tuning, and one is for choosing thresholds. Therefore every split has exactly the same shares of tags.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from assay_worlds.workplace.injections import (
    BURIED,
    COLLISION,
    CONTRADICTION,
    NEAR_DUPLICATE,
    SYNONYM,
)

FOLDS = ("test", "test", "test", "tune", "dev")
ANCHORED, ADVERSARIAL, HAND = "anchored", "adversarial", "hand"

SINGLE, SPANNING, DETAIL = "single_branch", "entity_spanning", "detail"
TWO_HOP, THREE_HOP, COMPARATIVE = "two_hop", "three_hop", "comparative"
AGGREGATION, TEMPORAL, AMBIGUOUS = "aggregation", "temporal", "ambiguous"
ABSENT = "out_of_distribution"

# Of 300 queries, as the benchmark's design asks for.
WANTED = {
    SINGLE: 90,
    SPANNING: 75,
    DETAIL: 120,
    TWO_HOP: 60,
    THREE_HOP: 30,
    COMPARATIVE: 45,
    AGGREGATION: 60,
    TEMPORAL: 45,
    AMBIGUOUS: 30,
    ABSENT: 30,
}
FEASIBLE = 180
SOURCES = {ANCHORED: 180, ADVERSARIAL: 60, HAND: 60}


class SuiteCell(NamedTuple):
    """The queries of one shape in a fold: their number, their tags, and who words them."""

    shape: str
    tags: tuple[str, ...]
    feasible: bool
    times: int
    hand: int = 0  # how many of them are worded by hand
    injector: str | None = None  # all other queries are made from this injector's pages
    later: tuple[int, int] = (0, 0)  # how many have their evidence in the second stage, and in the third

    @property
    def unknown(self) -> bool:
        """Whether no page states the answer."""
        return ABSENT in self.tags


CELLS = (
    # cannot be answered within the budget, or at all
    SuiteCell("unknown", (ABSENT,), False, 2, hand=2),
    SuiteCell("unknown_name", (ABSENT,), False, 2),
    SuiteCell("unknown_fact", (ABSENT,), False, 2),
    SuiteCell("unknown_name_detail", (ABSENT, DETAIL), False, 2),
    SuiteCell("unknown_fact_detail", (ABSENT, DETAIL), False, 2),
    SuiteCell("listing", (AGGREGATION, SINGLE), False, 4, hand=2),
    SuiteCell("two_listings", (AGGREGATION,), False, 4),
    SuiteCell("join", (AGGREGATION, SPANNING, TWO_HOP), False, 8, hand=1),
    SuiteCell("series", (AGGREGATION, TEMPORAL), False, 2),
    SuiteCell("history", (TEMPORAL,), False, 4, hand=1),
    SuiteCell("portraits", (COMPARATIVE, SINGLE), False, 3, hand=1),
    SuiteCell("mixed_portraits", (COMPARATIVE,), False, 5),
    # can
    SuiteCell("short_listing", (AGGREGATION, SINGLE), True, 2),
    SuiteCell("steps", (SINGLE,), True, 5, hand=2, later=(1, 1)),
    SuiteCell("loan", (SINGLE,), True, 4, injector=NEAR_DUPLICATE),
    SuiteCell("two_clauses", (SINGLE, AMBIGUOUS), True, 4, hand=2, later=(1, 0)),
    SuiteCell("glossed", (TWO_HOP, SINGLE), True, 4, injector=SYNONYM),
    SuiteCell("as_of", (TEMPORAL, SINGLE), True, 4, injector=CONTRADICTION),
    SuiteCell("change", (TEMPORAL, DETAIL), True, 5, hand=2, later=(1, 0)),
    SuiteCell("two_hops", (TWO_HOP, SPANNING, DETAIL), True, 8, hand=3, later=(1, 2)),
    SuiteCell("three_hops", (THREE_HOP, SPANNING, DETAIL), True, 9, hand=2, later=(1, 2)),
    SuiteCell("people_hops", (THREE_HOP, DETAIL), True, 1),
    SuiteCell("compare", (COMPARATIVE, DETAIL), True, 4, hand=2),
    SuiteCell("weigh", (COMPARATIVE, DETAIL), True, 3, injector=BURIED),
    SuiteCell("readings", (AMBIGUOUS, DETAIL), True, 4, injector=COLLISION),
    SuiteCell("two_facts", (AMBIGUOUS, DETAIL), True, 1),
    SuiteCell("shelf", (DETAIL,), True, 1, injector=BURIED),
    SuiteCell("two_topics", (AMBIGUOUS,), True, 1),
)


class SuiteSlot(NamedTuple):
    """The place of one query that is to be made."""

    number: int
    split: str
    cell: SuiteCell
    origin: str
    tier: int  # the first stage that contains the evidence


def slots() -> Iterator[SuiteSlot]:
    """Yields a slot for each query, fold by fold. Within a fold, the cells are mixed."""
    number = 0
    for fold, split in enumerate(FOLDS):
        places = [(cell, place) for cell in CELLS for place in range(cell.times)]
        Random(fold).shuffle(places)  # so that the first few of a fold are of many shapes
        for cell, place in places:
            number += 1
            yield SuiteSlot(number, split, cell, _origin(cell, place), _tier(cell, place))


def _origin(cell: SuiteCell, place: int) -> str:
    if place < cell.hand:
        return HAND
    return ADVERSARIAL if cell.injector else ANCHORED


def _tier(cell: SuiteCell, place: int) -> int:
    """Returns the stage of a place in a cell.

    The last places are for later stages. The hand-worded queries come first.
    """
    second, third = cell.later
    if place >= cell.times - third:
        return 2
    return 1 if place >= cell.times - third - second else 0
