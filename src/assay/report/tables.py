"""Prepares tables that several formats print: figures, refused comparisons, and people's review."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from assay.core.records import Arm, Comparison, Estimate
from assay.core.results import Figure, RankedResult, Results, ReviewSummary
from assay.measures.marks import FALSE_POSITIVE, KEYWORD_MATCH, SEMANTIC_MATCH
from assay.report import wording
from assay.report.views import SHOWN_HITS
from assay.report.wording import quantity

# -------------------------------------------------------------------------------------- figures


class FigureRow(NamedTuple):
    """A figure as a row of a table: its title, its expression, and its values."""

    title: str
    text: str
    cells: list[Figure | None]


@dataclass(frozen=True)
class FigureTable:
    """The figures under one combination of factors, with a column per system or one column of values."""

    place: str  # the factors, in words
    systems: list[str]
    rows: list[FigureRow]


def figure_tables(results: Results) -> list[FigureTable]:
    """Returns a table for each combination of factors.

    The last table has the figures that name their systems themselves.
    """
    by_place: dict[str, dict[str, dict[str, Figure]]] = {}
    for one in results.figures:
        if one.system is not None:
            row = by_place.setdefault(wording.where_text(one.factors), {}).setdefault(one.name, {})
            row[one.system] = one
    tables = []
    for place, grid in by_place.items():
        systems = list(dict.fromkeys(system for cells in grid.values() for system in cells))
        rows = [
            _figure_row(next(iter(row.values())), [row.get(each) for each in systems])
            for row in grid.values()
        ]
        tables.append(FigureTable(place, systems, rows))
    others = [_figure_row(one, [one], one.arm) for one in results.figures if one.system is None]
    return [*tables, *([FigureTable("", [], others)] if others else [])]


def _figure_row(first: Figure, cells: list[Figure | None], place: str = "") -> FigureRow:
    return FigureRow(f"{wording.figure_title(first)} {place}".strip(), first.text, cells)


def figure_text(figure: Figure | None) -> str:
    """Writes a figure with its interval and n, or `n/a`."""
    if figure is None or figure.value is None:
        return wording.NOTHING
    return f"{wording.figure_value(figure)} n {figure.n}"


def figure_notes(table: FigureTable) -> list[str]:
    """Returns the notes on figures: each reason once, with the figures that it concerns."""
    found: dict[str, list[str]] = {}
    for row in table.rows:
        for place, one in enumerate(row.cells):
            if one is not None and (note := wording.figure_note(one)):
                name = f"{row.title} of {table.systems[place]}" if table.systems else row.title
                found.setdefault(note, []).append(name)
    return [f"{wording.first_names(names, 3)}: {reason}" for reason, names in found.items()]


# -------------------------------------------------------------------------- refused comparisons

NAMED = 3  # the most systems named, if several were refused for the same reason
_EXAMPLES = re.compile(r"\s*\([^()]*\)$")  # the items that a reason names


@dataclass(frozen=True)
class Refusals:
    """The reasons why comparisons were refused, with the causes that the results show."""

    results: Results

    def note(self, one: Comparison) -> str:
        """Returns why there is no comparison, or what the comparison shows."""
        reason = one.refused or ""
        if missing := self._missing_trace(one):
            system, items = missing
            reason = f"{system} gives no trace, so {one.measure} does not apply to {quantity(items, 'item')}"
        return wording.comparison_note(one, reason if missing else self._not_applying(one) or reason)

    def lines(self, comparisons: Sequence[Comparison]) -> list[str]:
        """Returns one line for each reason, with the measures and the pairs that it concerns."""
        untraced: dict[str, dict[str, int]] = {}
        measures: dict[tuple[str, str, str], list[str]] = {}
        for one in (one for one in comparisons if one.refused):
            if missing := self._missing_trace(one):
                system, items = missing
                untraced.setdefault(system, {})[one.measure] = items
            else:
                # The other reports have room for the names of the items.
                reason = self._not_applying(one) or _EXAMPLES.sub("", one.refused or "")
                side = Arm(one.a, one.factors).name
                measures.setdefault((side, one.b, reason), []).append(one.measure)
        sides: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
        for (side, other, reason), names in measures.items():
            sides.setdefault((other, reason, tuple(names)), []).append(side)
        return [
            *_untraced_lines(untraced),
            *(
                f"not compared, {wording.first_names(found, NAMED)} - {other} ({why}): {', '.join(names)}"
                for (other, why, names), found in sides.items()
            ),
        ]

    def _missing_trace(self, one: Comparison) -> tuple[str, int] | None:
        """Returns the system without a trace, and how many items the measure leaves out because of that."""
        if not one.refused or one.where:
            return None
        sides = [self._estimate(system, one) for system in (one.a, one.b)]
        for mine, other in (sides, sides[::-1]):
            if mine is None or other is None or mine.n_expected >= other.n_expected:
                continue
            if not self._traces(mine) and self._traces(other):
                return mine.system, other.n_expected - mine.n_expected
        return None

    def _estimate(self, system: str, one: Comparison) -> Estimate | None:
        found = (each for each in wording.overall(self.results, one.measure) if each.system == system)
        return next((each for each in found if each.factors.items() <= one.factors.items()), None)

    def _traces(self, one: Estimate) -> bool:
        return any(arm == one.system or arm.startswith(f"{one.system}[") for arm in self.results.traced)

    def _not_applying(self, one: Comparison) -> str:
        """Returns a remark if the measure applies to no item of one side; else an empty text."""
        for system in (one.b, one.a) if one.refused and not one.where else ():
            found = self._estimate(system, one)
            if found is not None and not found.n_expected:
                return f"it applies to no item of {system}"
        return ""


def _untraced_lines(untraced: dict[str, dict[str, int]]) -> list[str]:
    """Returns one line for all systems whose missing trace leaves out the same items."""
    alike: dict[tuple[tuple[str, int], ...], list[str]] = {}
    for system, left_out in untraced.items():
        alike.setdefault(tuple(left_out.items()), []).append(system)
    lines = []
    for ((first, count), *rest), systems in alike.items():
        verb = "gives" if len(systems) == 1 else "give"
        missing = f"{first} does not apply to {quantity(count, 'item')}"
        missing += "".join(f", {name} to {n}" for name, n in rest)
        lines.append(f"not compared: {' and '.join(systems)} {verb} no trace, so {missing}")
    return lines


# --------------------------------------------------------------------------------------- review

KEYWORD, SEMANTIC, WRONG, OPEN = "keyword", "semantic", "false positive", "open"
WORDS = {KEYWORD_MATCH: KEYWORD, SEMANTIC_MATCH: SEMANTIC, FALSE_POSITIVE: WRONG}
ABOUT = {
    KEYWORD: "relevant, and a rule says so",
    SEMANTIC: "relevant beyond keywords: a person says so",
    WRONG: "not relevant",
    OPEN: "nobody has judged it yet",
}
LOWER_BOUND = (
    "≥: a lower bound. Some of these items want a person's eye. What people find beyond the rules can only "
    "raise the value, as long as they reject none of the rules' matches."
)

Slice = frozenset[tuple[str, str]]


@dataclass(frozen=True)
class MarkCounts:
    """The number of results with each mark, for an arm and the items that want a review."""

    arm: str
    counts: dict[str, int]  # by word: keyword, semantic, false positive, open

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    def share(self, word: str) -> float:
        return self.counts[word] / self.total if self.total else 0.0


@dataclass(frozen=True)
class ReviewRate:
    """A rate of an arm: its mean on the items judged for every arm, and its bounds over all items."""

    measure: str
    arm: str
    estimate: Estimate | None  # None: no item is judged for every arm
    low: float
    high: float

    @property
    def mean(self) -> str:
        one = self.estimate
        return wording.NOTHING if one is None else wording.with_interval(one.value, one.low, one.high)

    @property
    def n(self) -> str:
        return "0" if self.estimate is None else wording.sample_size(self.estimate)

    @property
    def bounds(self) -> str:
        return f"{wording.number(self.low)} to {wording.number(self.high)}"


def recommendation(results: Results) -> str:
    """Returns the recommendation of the study; empty if it has none."""
    return f"Recommendation: {results.recommendation}" if results.recommendation else ""


def outlook(results: Results) -> str:
    """Returns a sentence about what the review can still change; empty without a review."""
    text = results.review.outlook if results.review is not None else ""
    return f"{text[0].upper()}{text[1:]}." if text else ""


def progress(review: ReviewSummary) -> str:
    """Returns how many items are judged for every system, and how many for each system."""
    each = ", ".join(f"{arm} {count}" for arm, count in review.complete_by_arm.items())
    state = "Partial" if review.partial else "Complete"
    items = quantity(review.items, "item")
    return (
        f"{state}: {len(review.complete)} of {items} judged for every system ({each}), "
        f"{quantity(review.depth, 'result')} deep. "
        f"{quantity(review.marked, 'passage')} judged by people, {review.open} open."
    )


def basis(review: ReviewSummary) -> str:
    """Returns a sentence about the items behind rates and bounds."""
    if not review.complete:
        return "Rates are given on items judged for every system: there is none yet."
    return (
        f"Rates are over the {quantity(len(review.complete), 'item')} judged for every system. "
        f"Bounds are over all {review.items}, for any marks that the open passages may get."
    )


def mark_word(review: ReviewSummary | None, hit: RankedResult, rank: int, wanted: bool) -> str | None:
    """Returns a hit's mark as a word. `rank` counts from 0.

    A hit without a mark is open only if its item wants a review and the hit is within the review's depth.
    """
    if hit.mark is not None:
        return WORDS.get(hit.mark, hit.mark)
    return OPEN if wanted and review is not None and rank < review.depth else None


def marks_by_arm(results: Results, review: ReviewSummary) -> list[MarkCounts]:
    """Counts the marks of every arm's top results, over all items that want a review."""
    wanted = [item for item in results.items if wording.wants_review(item)]
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
    """Returns in words over which results the marks are counted.

    Reports keep only some results of an item.
    """
    depth = min(review.depth, SHOWN_HITS)
    return f"the top {depth} results of all {quantity(review.items, 'item')} that want a review"


def lift_answer(marks: list[MarkCounts]) -> str:
    """Returns what the picture of the marks shows, as its title."""
    if not any(each.counts[SEMANTIC] + each.counts[WRONG] for each in marks):
        waiting = sum(each.counts[OPEN] for each in marks)
        return "What keywords miss is not known yet" if waiting else "Keywords recognise every result"
    first, *rest = sorted(marks, key=lambda each: -each.share(SEMANTIC))
    of = [f" of {each.total}" if each.total != first.total else "" for each in rest]
    others = [f"{each.arm} {each.counts[SEMANTIC]}{more}" for each, more in zip(rest, of, strict=True)]
    found = f"{first.arm} finds {first.counts[SEMANTIC]} of {first.total} results that keywords miss"
    so_far = "so far, " if any(each.counts[OPEN] for each in marks) else ""
    return ", ".join([f"{so_far}{found}", *others])


def review_rates(results: Results, review: ReviewSummary) -> dict[str, list[ReviewRate]]:
    """Returns the precision, lift and false positives of every arm, by measure."""
    found = {(one.measure, Arm(one.system, one.factors).name): one for one in review.estimates}
    return {
        measure: [
            ReviewRate(measure, arm, found.get((measure, arm)), *arms[arm])
            for arm in results.arms
            if arm in arms
        ]
        for measure, arms in review.bounds.items()
    }


def understated_slices(results: Results) -> set[Slice]:
    """Returns the slices that rules understate."""
    slices = {frozenset(one.where.items()) for one in results.estimates}
    return {where for where in slices if wording.is_understated(results, dict(where))}


def review_bound_sign(one: Estimate, understated: set[Slice]) -> str:
    """Returns the sign before a mean that a review can only raise; empty for other means."""
    bound = frozenset(one.where.items()) in understated and wording.only_rises(one.measure)
    return wording.AT_LEAST if bound else ""
