"""The walk of an arm on an item: its picture, what became of what was expected, its steps as a table."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import NamedTuple

from markupsafe import Markup

from assay.core.records import PATH, Response, Step
from assay.core.results import GO, NO_GO, Results
from assay.core.section import BlockGroup, Picture, SectionBlock, Table, TableCell, TableColumn, Text
from assay.kinds.memory.report.graph_drawing import FOUND, MISSED, WalkSvg, in_words
from assay.kinds.memory.report.graph_layout import WalkLayout
from assay.kinds.memory.report.walks import (
    ArmWalk,
    StepComparison,
    WalkedItem,
    arrows,
    drawn_items,
    marked_steps,
    match_words,
    matching_path,
    paths_in,
    spreads_in,
    walk_title,
)
from assay.kinds.memory.walk import REMOVED, TENSION, reached_nodes
from assay.report.flips import Grid
from assay.report.wording import first_names, number, quantity

ROWS = 60  # steps in the table of one walk
NAMED = 5  # nodes named in a sentence
ROOM = 450_000  # bytes of all pictures of a page
_CAUSES = {"path": "the best path", "random": "random edges", "nearby": "edges nearby"}


class StepRow(NamedTuple):
    """One step of a walk in words."""

    part: str
    hop: int
    source: str
    target: str
    edge: str
    role: str
    energy: str
    stop: str


@dataclass(frozen=True)
class WalkPicture:
    """One arm's walk on one item."""

    results: Results
    item: WalkedItem
    arm: str
    also: tuple[str, ...] = ()  # arms whose steps are the same
    alike: tuple[str, ...] = ()  # arms whose picture is the same, with other figures

    @property
    def walk(self) -> ArmWalk:
        return self.item.walks[self.arm]

    @cached_property
    def paths(self) -> list[list[Step]]:
        """All paths, best first; without any, each hit is one, and the expected ones are known."""
        if found := paths_in(self.walk.trace):
            return found
        first = {step.target for step in self.walk.path}
        others = sorted(self.walk.ranks, key=lambda node: self.walk.ranks[node])
        return [self.walk.path, *([Step(PATH, 0, node)] for node in others if node not in first)]

    @cached_property
    def layout(self) -> WalkLayout:
        return WalkLayout(self.walk.path, self.walk.trace, list(self.statuses))

    @cached_property
    def found(self) -> set[str]:
        """The nodes on a path: what counts as returned."""
        return {step.target for path in self.paths for step in path}

    @cached_property
    def statuses(self) -> dict[str, str]:
        """What became of each expected node: found is what a path comes through, and nothing less."""
        came_to = {*self.walk.reached}
        if spreads_in(self.walk.trace):
            came_to |= reached_nodes(Response(trace=self.walk.trace))
        return {node: self._status(node, came_to) for node in (each.target for each in self.item.expected)}

    def _status(self, node: str, came_to: set[str]) -> str:
        if node in self.found:
            return FOUND
        if node in self.walk.ranks:
            return f"ranked {_ordinal(self.walk.ranks[node])}, on no path"
        return "reached, on no path" if node in came_to else MISSED

    @property
    def title(self) -> str:
        return walk_title(self.item, self.paths, self.found)

    @property
    def right(self) -> bool | None:
        """Whether an expected path was walked; None where none is named."""
        return None if self.item.path is None else matching_path(self.item.path, self.paths) is not None

    @property
    def expected(self) -> list[StepComparison]:
        """The steps of the expected path, held against the path that meets it, or most of it."""
        wanted = self.item.path
        if wanted is None:
            return []
        place = matching_path(wanted, self.paths)
        allowed = self.paths[:1] if wanted.best_only else self.paths
        held = [marked_steps(wanted, path) for path in (allowed if place is None else [self.paths[place]])]
        return max(held, key=lambda steps: sum(mark.walked for mark in steps))

    @property
    def strictness(self) -> str:
        return "" if self.item.path is None else match_words(self.item.path)

    @cached_property
    def picture(self) -> Markup:
        return WalkSvg(self.layout, self.item, self.statuses).drawing()

    @property
    def size(self) -> int:
        """About how many bytes it takes: its picture, and a row of the table for each step."""
        return (
            1500 + len(self.picture.encode()) + sum(115 + sum(map(len, map(str, row))) for row in self.shown)
        )

    @property
    def tensions(self) -> list[str]:
        """The pairs of nodes that it says are at odds."""
        found = [step for step in self.walk.trace if step.kind == TENSION]
        return [f"{arrows([s.source or '', s.target]).replace('→', '↔')} ({s.edge})" for s in found]

    @property
    def notes(self) -> list[str]:
        """What the picture does not show: what was left out, tensions, and what the path's edges decide."""
        removed = [
            f"{_CAUSES.get(step.edge or '', step.edge)} {number(step.scores.get('change'))}"
            for step in self.walk.trace
            if step.kind == REMOVED
        ]
        more, missed = self.layout.more, [node for node, what in self.statuses.items() if what == MISSED]
        return [
            *([f"{quantity(more, 'more node')} touched, not drawn."] if more else []),
            *([self._undrawn] if self._undrawn else []),
            *([f"Expected and never reached: {first_names(missed, NAMED)}."] if missed else []),
            *([f"Tension surfaced: {', '.join(self.tensions)}."] if self.tensions else []),
            *([f"Change of the result (0 to 1) without {', '.join(removed)}."] if removed else []),
        ]

    @property
    def _undrawn(self) -> str:
        """The spreads beyond the one that is drawn, and where they are."""
        others = [f"spread from {spread[0].target}" for spread in spreads_in(self.walk.trace)[1:]]
        listed = {row.part for row in self.shown}.issuperset(others)
        return f"{quantity(len(others), 'more spread')}{' in the table' if listed else ''}." if others else ""

    @cached_property
    def rows(self) -> list[StepRow]:
        """The steps of the walk, path by path, then spread by spread."""
        paths = paths_in(self.walk.trace) or [self.walk.path]
        parts = [("best path" if not at else f"path {at + 1}", path) for at, path in enumerate(paths)]
        parts += [(f"spread from {spread[0].target}", spread) for spread in spreads_in(self.walk.trace)]
        return [_row(part, step) for part, steps in parts for step in steps]

    def block(self) -> BlockGroup:
        """The walk as a part of its item's page."""
        style = (files(__package__) / "walk.css").read_text()
        label = f"Picture of the walk of {self.arm}; the table has the same steps"
        picture = Picture(str(self.picture), label, style)
        more = [f"also: {', '.join(self.also)}"] if self.also else []
        more += [f"also, with other scores: {', '.join(self.alike)}"] if self.alike else []
        blocks: list[SectionBlock] = [
            BlockGroup("", [picture, self._way], small=True, side_by_side=True) if self.expected else picture,
            *([Text(self.notes, "quiet")] if self.notes else []),
            BlockGroup(
                f"{quantity(len(self.shown), 'step')} as a table", [self._steps], folds=True, small=True
            ),
        ]
        return BlockGroup(self.title, blocks, system=self.arm, beside="; ".join(more), small=True)

    @property
    def _way(self) -> Table:
        """The expected path, step by step."""
        rows = [
            [
                TableCell(mark.step.node_id),
                TableCell(mark.step.via_edge_type or ""),
                TableCell(
                    "not walked" if not mark.walked else f"walked by {mark.edge}" if mark.edge else "walked",
                    outcome=GO if mark.walked and not mark.edge else NO_GO,
                ),
            ]
            for mark in self.expected
        ]
        columns = [
            TableColumn("Expected", figure=False, code=True),
            TableColumn("By", figure=False),
            TableColumn("Walked", figure=False),
        ]
        return Table(columns, rows, "Expected path", notes=[f"{self.strictness.capitalize()}."])

    @property
    def _steps(self) -> Table:
        figures = {"Step", "Hop", "Energy or score"}
        heads = ("Step", "Part", "Hop", "From", "To", "Edge", "Role", "Energy or score", "Stopped by")
        columns = [TableColumn(head, figure=head in figures, code=head in {"From", "To"}) for head in heads]
        rows = [
            [TableCell(str(place)), *(TableCell(str(value)) for value in row)]
            for place, row in enumerate(self.shown, 1)
        ]
        left = [f"{quantity(self.unlisted, 'more step')} not listed."] if self.unlisted else []
        return Table(columns, rows, name=f"Steps of the walk of {self.arm}", notes=left)

    @property
    def shown(self) -> list[StepRow]:
        return self.rows[:ROWS]

    @property
    def unlisted(self) -> int:
        """How many steps the table leaves out."""
        return len(self.rows) - len(self.shown) + self.walk.left_out


def _row(part: str, step: Step) -> StepRow:
    energy = step.scores.get("score" if step.kind == PATH else "energy")
    return StepRow(
        part,
        step.depth,
        step.source or "",
        step.target,
        step.edge or "",
        step.role or "",
        "" if energy is None else number(energy),
        in_words(step.stop or ("" if step.selected else "stopped")),
    )


def _ordinal(place: int) -> str:
    """`1st`, `2nd`, `3rd`, `11th`."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th") if place % 100 not in (11, 12, 13) else "th"
    return f"{place}{ending}"


def walk_pictures(results: Results, items: Sequence[WalkedItem], grid: Grid) -> dict[str, list[WalkPicture]]:
    """The walks that the page draws, by item: as many whole items as there is room for."""
    found: dict[str, list[WalkPicture]] = {}
    room = ROOM
    for item in drawn_items(results, items, grid):
        figures = _figures(results, item)
        needed = sum(figure.size for figure in figures)
        if figures and needed <= room:
            found[item.item_id] = figures
            room -= needed
    return found


def _figures(results: Results, item: WalkedItem) -> list[WalkPicture]:
    """A figure for each way that the arms walked: those that would look alike share one."""
    groups: dict[tuple[str, ...], list[WalkPicture]] = {}
    for arm in results.arms:
        if arm in item.walks and item.walks[arm].trace:
            figure = WalkPicture(results, item, arm)
            groups.setdefault((figure.title, figure.picture, *figure.tensions), []).append(figure)
    found = []
    for first, *others in groups.values():
        same = [each for each in others if (each.rows, each.notes) == (first.rows, first.notes)]
        other = [each for each in others if each not in same]
        also, alike = (tuple(each.arm for each in part) for part in (same, other))
        found.append(dataclasses.replace(first, also=also, alike=alike))
    return found
