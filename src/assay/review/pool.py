"""Collects the passages to review: those that arms returned for items that want a review.

Each passage of an item is listed once, for all arms that returned it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from assay.core.block import SCORED, Block
from assay.core.protocols import DescribingJudge, ItemFact, Judge
from assay.core.records import Item
from assay.measures.marks import REVIEW, marked_hits, wants_review

DEPTH = 10


@dataclass(frozen=True)
class Candidate:
    """A passage that arms returned for an item, with its arms and its judgment so far."""

    item_id: str
    doc_id: str
    arms: frozenset[str]
    mark: str | None  # KEYWORD_MATCH and so on; None: still to be judged
    by_person: bool = False  # whether a person gave the mark, and not a rule
    reason: str = ""  # why a rule calls it relevant
    ruled: bool = False  # whether a rule calls it relevant, also if a person does not

    @property
    def key(self) -> tuple[str, str]:
        return self.item_id, self.doc_id


@dataclass(frozen=True)
class Pool:
    """All passages that the arms returned within the depth.

    They are sorted by item and then by id, so that the order does not reveal the ranking of an arm.
    """

    depth: int
    arms: tuple[str, ...]
    items: Sequence[Item]  # the items that want a review
    candidates: Sequence[Candidate]
    returned: Mapping[tuple[str, str], int]  # how many hits an item and arm have within the depth
    seeds: int = 1
    unanswered: frozenset[tuple[str, str]] = frozenset()  # pairs of item and arm: not asked yet, or failed
    facts: Mapping[str, Sequence[ItemFact]] = field(default_factory=dict)  # by item: what reviewers see
    reasons: Sequence[str] = ()  # the words with which the reasons of rules begin

    @cached_property
    def open(self) -> list[Candidate]:
        """The candidates that nobody has judged yet."""
        return [each for each in self.candidates if each.mark is None]

    def of_item(self, item_id: str) -> list[Candidate]:
        return self._by_item.get(item_id, [])

    @cached_property
    def _by_item(self) -> dict[str, list[Candidate]]:
        found: dict[str, list[Candidate]] = {}
        for each in self.candidates:
            found.setdefault(each.item_id, []).append(each)
        return found

    def complete(self, arms: Iterable[str] | None = None) -> list[str]:
        """Returns the items that these arms answered and whose hits are all judged. Default: every arm."""
        wanted = set(self.arms if arms is None else arms)
        waiting = {each.item_id for each in self.open if each.arms & wanted}
        waiting |= {item_id for item_id, arm in self.unanswered if arm in wanted}
        return [item.item_id for item in self.items if item.item_id not in waiting]


def pool_of(blocks: Sequence[Block], depth: int = DEPTH, judges: Sequence[Judge] = ()) -> Pool:
    """Collects the pool from the answers of the arms. Several seeds of an arm count as one arm."""
    arms: dict[tuple[str, str], set[str]] = {}
    marks: dict[tuple[str, str], str | None] = {}
    items: dict[str, Item] = {}
    unanswered: set[tuple[str, str]] = set()
    for block in blocks:
        chosen = zip(block.items, wants_review(block), strict=True)
        wanted = {item.item_id: item for item, wants in chosen if wants}
        items.update(wanted)
        asked = zip(block.item_ids, block.asked, strict=True)
        unanswered |= {(each, block.arm.name) for each, code in asked if code != SCORED and each in wanted}
        for item_id, doc_id, mark in marked_hits(block, depth).iter_rows() if wanted else ():
            if item_id in wanted:
                arms.setdefault((item_id, doc_id), set()).add(block.arm.name)
                marks[item_id, doc_id] = mark
    people = _people(blocks)
    reasons = _reasons(blocks)
    order = {item_id: place for place, item_id in enumerate(items)}
    keys = sorted(arms, key=lambda key: (order[key[0]], key[1]))
    candidates = [
        Candidate(*key, frozenset(arms[key]), marks[key], key in people, reasons.get(key, ""), key in reasons)
        for key in keys
    ]
    names = tuple(dict.fromkeys(block.arm.name for block in blocks))
    returned = Counter((each.item_id, arm) for each in candidates for arm in each.arms)
    seeds = len({block.seed for block in blocks})
    knowing = [judge for judge in judges if isinstance(judge, DescribingJudge)]
    facts = {
        item.item_id: [fact for judge in knowing for fact in judge.describe_item(item)]
        for item in items.values()
    }
    words = [word for judge in knowing for word in judge.reasons]
    asked_for = list(items.values())
    return Pool(depth, names, asked_for, candidates, returned, seeds, frozenset(unanswered), facts, words)


def _people(blocks: Sequence[Block]) -> set[tuple[str, str]]:
    if not blocks:
        return set()
    return set(blocks[0].labels.anywhere(REVIEW).select("item", "target").iter_rows())


def _reasons(blocks: Sequence[Block]) -> dict[tuple[str, str], str]:
    """Returns the reason of each passage that a rule calls relevant, by item and passage."""
    said = blocks[0].judgments if blocks else ()
    return {
        (each.item_id, each.target): each.reason or ""
        for each in said
        if each.label == "relevance" and each.target is not None and each.grade > 0
    }
