"""The figures that a study asks for, as tables: a row a figure, a column a system."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from assay.core.records import Arm, Comparison, Estimate
from assay.core.results import Figure, RankedResult, Results, ReviewSummary
from assay.measures.semantic import FALSE_POSITIVE, KEYWORD_MATCH, SEMANTIC_MATCH
from assay.report import wording
from assay.report.views import SHOWN_HITS


@dataclass(frozen=True)
class FigureRow:
    """One figure: of each arm in turn, or of no system in particular."""

    title: str
    text: str
    cells: list[Figure | None]


@dataclass(frozen=True)
class FigureTable:
    """Figures under one combination of factors; without systems there is one column, and it is the value."""

    place: str  # the factors, in words
    systems: list[str]
    rows: list[FigureRow]


def figure_tables(results: Results) -> list[FigureTable]:
    """Figures that are taken of every system, by factors, then those that name their systems themselves."""
    by_place: dict[str, dict[str, dict[str, Figure]]] = {}
    for one in results.figures:
        if one.system is not None:
            named = by_place.setdefault(wording.where_text(one.factors), {}).setdefault(one.name, {})
            named[one.system] = one
    tables = []
    for place, grid in by_place.items():
        systems = list(dict.fromkeys(system for cells in grid.values() for system in cells))
        rows = [_row(_first(cells), [cells.get(each) for each in systems]) for cells in grid.values()]
        tables.append(FigureTable(place, systems, rows))
    alone = [_row(one, [one], one.arm) for one in results.figures if one.system is None]
    return [*tables, *([FigureTable("", [], alone)] if alone else [])]


def _first(cells: dict[str, Figure]) -> Figure:
    return next(iter(cells.values()))


def _row(first: Figure, cells: list[Figure | None], place: str = "") -> FigureRow:
    return FigureRow(f"{wording.figure_title(first)} {place}".strip(), first.text, cells)


def cell_text(figure: Figure | None) -> str:
    """A figure with its interval and n; only where there is none, nothing but that."""
    if figure is None or figure.value is None:
        return wording.NOTHING
    return f"{wording.figure_value(figure)} n {figure.n}"


def notes(table: FigureTable) -> list[str]:
    """What has to be said of figures, each reason once with those it concerns."""
    found: dict[str, list[str]] = {}
    for row in table.rows:
        for place, one in enumerate(row.cells):
            if one is not None and (note := wording.figure_note(one)):
                found.setdefault(note, []).append(
                    f"{row.title} of {table.systems[place]}" if table.systems else row.title
                )
    return [f"{wording.first_names(names, 3)}: {reason}" for reason, names in found.items()]


# ----------------------------------------------------------------------------------------------

NAMED = 3  # systems named where several were refused alike
_EXAMPLES = re.compile(r"\s*\([^()]*\)$")  # the items that a reason names


class MissingTrace(NamedTuple):
    """A system that tells no way to its hits, and how many items a measure of the way leaves out for that."""

    system: str
    items: int


@dataclass(frozen=True)
class Refusals:
    """What refused comparisons say, with causes that the results show."""

    results: Results

    @cached_property
    def _tracing(self) -> set[str]:
        """The arms that tell how they came to a hit."""
        return set(self.results.traced)

    def untraced(self, one: Comparison) -> MissingTrace | None:
        """The side that gives no trace, where that is why a measure applies to the other side alone."""
        if not one.refused or one.where:
            return None
        sides = [self._estimate(system, one) for system in (one.a, one.b)]
        for mine, other in (sides, sides[::-1]):
            if mine is None or other is None or mine.n_expected >= other.n_expected:
                continue
            if not self._traces(mine) and self._traces(other):
                return MissingTrace(mine.system, other.n_expected - mine.n_expected)
        return None

    def _estimate(self, system: str, one: Comparison) -> Estimate | None:
        made = (each for each in wording.overall(self.results, one.measure) if each.system == system)
        return next((each for each in made if each.factors.items() <= one.factors.items()), None)

    def _traces(self, one: Estimate) -> bool:
        return any(arm == one.system or arm.startswith(f"{one.system}[") for arm in self._tracing)

    def unapplied(self, one: Comparison) -> str:
        """That a measure applies to no item of one side, where that is so."""
        for system in (one.b, one.a) if one.refused and not one.where else ():
            made = self._estimate(system, one)
            if made is not None and not made.n_expected:
                return f"it applies to no item of {system}"
        return ""

    def note(self, one: Comparison) -> str:
        """Why there is no comparison, or the smallest difference it could have seen where it saw none."""
        return wording.comparison_note(one, self.why(one))

    def why(self, one: Comparison) -> str:
        """The reason of a refusal."""
        lacking = self.untraced(one)
        if lacking is None:
            return self.unapplied(one) or one.refused or ""
        left_out = wording.quantity(lacking.items, "item")
        return f"{lacking.system} gives no trace, so {one.measure} does not apply to {left_out}"

    def lines(self, comparisons: Sequence[Comparison]) -> list[str]:
        """What was refused: a line for each reason, with the measures, and the pairs that it holds for."""
        untraced: dict[str, dict[str, int]] = {}
        measures: dict[tuple[str, str, str], list[str]] = {}
        for one in (one for one in comparisons if one.refused):
            if lacking := self.untraced(one):
                untraced.setdefault(lacking.system, {})[one.measure] = lacking.items
            else:
                # Which items they are stands in the other reports, which have room for it.
                reason = self.unapplied(one) or _EXAMPLES.sub("", one.refused or "")
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


def _untraced_lines(untraced: dict[str, dict[str, int]]) -> list[str]:
    """A line for all systems whose missing trace leaves out the same."""
    alike: dict[tuple[tuple[str, int], ...], list[str]] = {}
    for system, left_out in untraced.items():
        alike.setdefault(tuple(left_out.items()), []).append(system)
    lines = []
    for ((first, count), *rest), systems in alike.items():
        verb = "gives" if len(systems) == 1 else "give"
        told = f"{first} does not apply to {wording.quantity(count, 'item')}"
        told += "".join(f", {name} to {n}" for name, n in rest)
        lines.append(f"not compared: {' and '.join(systems)} {verb} no trace, so {told}")
    return lines


# ----------------------------------------------------------------------------------------------

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
        return wording.NOTHING if one is None else wording.with_interval(one.value, one.low, one.high)

    @property
    def n(self) -> str:
        return "0" if self.estimate is None else wording.sample_size(self.estimate)

    @property
    def bounds(self) -> str:
        return f"{wording.number(self.low)} to {wording.number(self.high)}"


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
    items = wording.quantity(review.items, "item")
    return (
        f"{state}: {len(review.complete)} of {items} judged for every system "
        f"({each}), {wording.quantity(review.depth, 'result')} deep. "
        f"{wording.quantity(review.marked, 'passage')} judged by people, {review.open} open."
    )


def basis(review: ReviewSummary) -> str:
    """What rates and bounds stand on."""
    if not review.complete:
        return "Rates are given on items judged for every system: there is none yet."
    return (
        f"Rates are over the {wording.quantity(len(review.complete), 'item')} judged for every system. "
        f"Bounds are over all {review.items}, whatever the open passages turn out to be."
    )


def mark_word(review: ReviewSummary | None, hit: RankedResult, rank: int, wanted: bool) -> str | None:
    """What became of a hit (rank counts from 0) in a word; open only as deep as people look."""
    if hit.mark is not None:
        return WORDS.get(hit.mark, hit.mark)
    return OPEN if wanted and review is not None and rank < review.depth else None


def marks_by_arm(results: Results, review: ReviewSummary) -> list[MarkCounts]:
    """For every arm what its top results are, over all items that want a review."""
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
    """What the marks are counted over; reports keep so many results of an item, and no more."""
    depth = min(review.depth, SHOWN_HITS)
    return f"the top {depth} results of all {wording.quantity(review.items, 'item')} that want a review"


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
    return {where for where in slices if wording.is_understated(results, dict(where))}


def at_least(one: Estimate, understated: set[Slice]) -> str:
    """The sign before a mean that is a lower bound; nothing before any other."""
    bound = frozenset(one.where.items()) in understated and wording.only_rises(one.measure)
    return wording.AT_LEAST if bound else ""
