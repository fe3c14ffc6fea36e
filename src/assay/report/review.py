"""The review as reports show it: how far it is, what people found, and what is still open."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from assay.core.records import Arm, Estimate
from assay.core.results import RankedResult, Results, ReviewSummary
from assay.measures.semantic import FALSE_POSITIVE, KEYWORD_MATCH, SEMANTIC_MATCH
from assay.report import wording as say
from assay.report.views import SHOWN_HITS

KEYWORD, SEMANTIC, WRONG, OPEN = "keyword", "semantic", "false positive", "open"
WORDS = {KEYWORD_MATCH: KEYWORD, SEMANTIC_MATCH: SEMANTIC, FALSE_POSITIVE: WRONG}
ABOUT = {
    KEYWORD: "relevant, and a rule says so",
    SEMANTIC: "relevant beyond keywords, by a person's word",
    WRONG: "not relevant",
    OPEN: "nobody has judged it yet",
}
LOWER_BOUND = (
    "≥: a lower bound. Some of these items want a person's eye. What people find beyond the rules can only "
    "raise the figure, as long as they reject none of the rules' matches."
)

Slice = frozenset[tuple[str, str]]


@dataclass(frozen=True)
class MarkCounts:
    """What an arm returned for the items that want a review, counted by what became of it."""

    arm: str
    counts: dict[str, int]  # by word: keyword, semantic, false positive, open

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    def share(self, word: str) -> float:
        return self.counts[word] / self.total if self.total else 0.0


@dataclass(frozen=True)
class ReviewRate:
    """One rate of one arm: on the items judged for every arm, and what it can come to over all."""

    measure: str
    arm: str
    estimate: Estimate | None  # None: no item is judged for every arm
    low: float
    high: float

    @property
    def mean(self) -> str:
        one = self.estimate
        return say.NOTHING if one is None else say.with_interval(one.value, one.low, one.high)

    @property
    def n(self) -> str:
        return "0" if self.estimate is None else say.sample_size(self.estimate)

    @property
    def bounds(self) -> str:
        return f"{say.number(self.low)} to {say.number(self.high)}"


def recommendation(results: Results) -> str:
    """What the study says to do; nothing where it says nothing."""
    return f"Recommendation: {results.recommendation}" if results.recommendation else ""


def outlook(results: Results) -> str:
    """What a review can still change, as a sentence; nothing where there is no review."""
    text = results.review.outlook if results.review is not None else ""
    return f"{text[0].upper()}{text[1:]}." if text else ""


def progress(review: ReviewSummary) -> str:
    """How many items are complete for every system and for each; partial in words."""
    each = ", ".join(f"{arm} {count}" for arm, count in review.complete_by_arm.items())
    state = "Partial" if review.partial else "Complete"
    return (
        f"{state}: {len(review.complete)} of {say.quantity(review.items, 'item')} judged for every system "
        f"({each}), {say.quantity(review.depth, 'result')} deep. "
        f"{say.quantity(review.marked, 'passage')} judged by people, {review.open} open."
    )


def basis(review: ReviewSummary) -> str:
    """What rates and bounds stand on."""
    if not review.complete:
        return "Rates are given on items judged for every system: there is none yet."
    return (
        f"Rates are over the {say.quantity(len(review.complete), 'item')} judged for every system. "
        f"Bounds are over all {review.items}, whatever the open passages turn out to be."
    )


def mark_word(review: ReviewSummary | None, hit: RankedResult, rank: int, wanted: bool) -> str | None:
    """What became of a hit (rank counts from 0) in a word; open only as deep as people look."""
    if hit.mark is not None:
        return WORDS.get(hit.mark, hit.mark)
    return OPEN if wanted and review is not None and rank < review.depth else None


def marks_by_arm(results: Results, review: ReviewSummary) -> list[MarkCounts]:
    """For every arm what its top results are, over all items that want a review."""
    wanted = [item for item in results.items if say.wants_review(item)]
    found = []
    for arm in results.arms:
        words = Counter(
            mark_word(review, hit, rank, wanted=True)
            for item in wanted
            for rank, hit in enumerate(item.returned.get(arm, [])[: review.depth])
        )
        found.append(MarkCounts(arm, {word: words[word] for word in (*WORDS.values(), OPEN)}))
    return found


def scope(review: ReviewSummary) -> str:
    """What the marks are counted over; reports keep so many results of an item, and no more."""
    depth = min(review.depth, SHOWN_HITS)
    return f"the top {depth} results of all {say.quantity(review.items, 'item')} that want a review"


def lift_answer(marks: list[MarkCounts]) -> str:
    """What the picture of the marks says, as its title."""
    if not any(each.counts[SEMANTIC] + each.counts[WRONG] for each in marks):
        waiting = sum(each.counts[OPEN] for each in marks)
        return "What keywords miss is not known yet" if waiting else "Keywords recognise every result"
    first, *rest = sorted(marks, key=lambda each: -each.share(SEMANTIC))
    of = [f" of {each.total}" if each.total != first.total else "" for each in rest]
    others = [f"{each.arm} {each.counts[SEMANTIC]}{more}" for each, more in zip(rest, of, strict=True)]
    said = f"{first.arm} finds {first.counts[SEMANTIC]} of {first.total} results that keywords miss"
    so_far = "so far, " if any(each.counts[OPEN] for each in marks) else ""
    return ", ".join([f"{so_far}{said}", *others])


def rates(results: Results, review: ReviewSummary) -> dict[str, list[ReviewRate]]:
    """By measure: precision, lift and false positives of every arm."""
    made = {(one.measure, Arm(one.system, one.factors).name): one for one in review.estimates}
    return {
        measure: [
            ReviewRate(measure, arm, made.get((measure, arm)), *arms[arm])
            for arm in results.arms
            if arm in arms
        ]
        for measure, arms in review.bounds.items()
    }


def lower_bounds(results: Results) -> set[Slice]:
    """The slices that rules alone understate."""
    slices = {frozenset(one.where.items()) for one in results.estimates}
    return {where for where in slices if say.is_understated(results, dict(where))}


def at_least(one: Estimate, understated: set[Slice]) -> str:
    """The sign before a mean that is a lower bound; nothing before any other."""
    bound = frozenset(one.where.items()) in understated and say.only_rises(one.measure)
    return say.AT_LEAST if bound else ""
