"""Walks in reports: a line per item and system for terminals, and pictures of a few items for pages."""

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
from assay.core.section import (
    BlockGroup,
    Detail,
    Picture,
    Section,
    SectionBlock,
    Table,
    TableCell,
    TableColumn,
    Text,
)
from assay.kinds.memory.report.graph_drawing import FOUND, MISSED, WalkLayout, draw_walk, in_words
from assay.kinds.memory.report.walks import (
    ArmWalk,
    StepComparison,
    WalkedItem,
    arrows,
    compare_steps,
    drawn_items,
    match_words,
    matching_path,
    path_line,
    walk_title,
    walked_items,
)
from assay.kinds.memory.walk import REMOVED, TENSION, paths_in, reached_nodes, spreads_in
from assay.pipeline.evaluation import Evaluation
from assay.report.items import Grid, score_grid
from assay.report.wording import first_names, number, quantity

ROWS = 60  # the most steps in the table of one walk
NAMED = 5  # the most nodes that a sentence names
ROOM = 450_000  # the most bytes of all pictures of a page
LEGEND = (
    "Thick and numbered: the best path. Thin: what else was walked or reached. Dashed: stopped, and why. "
    "A circle with a tick: expected, on a path. A diamond: expected, ranked or reached, on no path. "
    "An octagon with a cross: expected, never reached. No sign: not expected."
)
_CAUSES = {"path": "the best path", "random": "random edges", "nearby": "edges nearby"}


@dataclass(frozen=True)
class Walks:
    """The report section on how systems walked."""

    def of(self, evaluation: Evaluation) -> Section | None:
        # a walk may reveal which condition is which while the study is blinded
        if evaluation.sealed or not evaluation.detailed:
            return None
        results = evaluation.base_results
        return walk_section(results, walked_items(results, evaluation.blocks, evaluation.datasets))


def walk_section(results: Results, items: Sequence[WalkedItem]) -> Section | None:
    """Returns a section with a line for every walk and pictures of a few; None if there are no walks."""
    if not items:
        return None
    drawn = walk_pictures(results, items, score_grid(results))
    details = [
        Detail(item_id, picture.arm, blocks=[picture.block()])
        for item_id, pictures in drawn.items()
        for picture in pictures
    ]
    details += [
        Detail(item.item_id, arm, path_line(walk.path)) for item in items for arm, walk in item.walks.items()
    ]
    return Section(
        key="walks",
        name="Walks",
        title="Which way did they walk?",
        lead="How systems came to what they returned; opened with its item, each walk is drawn.",
        place="items",
        details=details,
        legend=LEGEND,
    )


def walk_pictures(results: Results, items: Sequence[WalkedItem], grid: Grid) -> dict[str, list[WalkPicture]]:
    """Returns the pictures of walks that the page shows, by item.

    An item whose pictures do not all fit into the rest of `ROOM` is skipped.
    """
    found: dict[str, list[WalkPicture]] = {}
    room = ROOM
    for item in drawn_items(results, items, grid):
        pictures = _pictures_of(results, item)
        needed = sum(picture.size for picture in pictures)
        if pictures and needed <= room:
            found[item.item_id] = pictures
            room -= needed
    return found


def _pictures_of(results: Results, item: WalkedItem) -> list[WalkPicture]:
    """Returns the pictures of an item. Arms whose walks would look the same share a picture."""
    groups: dict[tuple[str, ...], list[WalkPicture]] = {}
    for arm in results.arms:
        if arm in item.walks and item.walks[arm].trace:
            picture = WalkPicture(item, arm)
            groups.setdefault((picture.title, picture.svg, *picture.tensions), []).append(picture)
    found = []
    for first, *others in groups.values():
        same = [each.arm for each in others if (each.rows, each.notes) == (first.rows, first.notes)]
        alike = [each.arm for each in others if each.arm not in same]
        found.append(dataclasses.replace(first, also=tuple(same), alike=tuple(alike)))
    return found


class StepRow(NamedTuple):
    """A step of a walk in words, as a row of the table."""

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
    """The walk of an arm on an item: a picture, the status of each expected node, and a table of steps."""

    item: WalkedItem
    arm: str
    also: tuple[str, ...] = ()  # arms with the same steps
    alike: tuple[str, ...] = ()  # arms with the same picture, but other scores

    @property
    def walk(self) -> ArmWalk:
        return self.item.walks[self.arm]

    @cached_property
    def paths(self) -> list[list[Step]]:
        """All paths, best first. If the trace has no paths, each known hit is a path of one step."""
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
        """The nodes on a path. Only these nodes count as returned."""
        return {step.target for path in self.paths for step in path}

    @cached_property
    def statuses(self) -> dict[str, str]:
        """The status of each expected node: found, ranked or reached but on no path, or missed."""
        came_to = {*self.walk.reached}
        if spreads_in(self.walk.trace):
            came_to |= reached_nodes(Response(trace=self.walk.trace))
        found = {}
        for node in (each.target for each in self.item.expected):
            if node in self.found:
                found[node] = FOUND
            elif node in self.walk.ranks:
                found[node] = f"ranked {_ordinal(self.walk.ranks[node])}, on no path"
            else:
                found[node] = "reached, on no path" if node in came_to else MISSED
        return found

    @property
    def title(self) -> str:
        return walk_title(self.item, self.paths, self.found)

    @property
    def expected(self) -> list[StepComparison]:
        """The expected path, compared step by step with the path that meets it or comes nearest to it."""
        wanted = self.item.path
        if wanted is None:
            return []
        place = matching_path(wanted, self.paths, self.item.best_only)
        allowed = self.paths[:1] if self.item.best_only else self.paths
        compared = [
            compare_steps(wanted, path) for path in (allowed if place is None else [self.paths[place]])
        ]
        return max(compared, key=lambda steps: sum(step.walked for step in steps))

    @cached_property
    def svg(self) -> Markup:
        return draw_walk(self.layout, self.item, self.statuses)

    @property
    def size(self) -> int:
        """The approximate size of the walk on the page in bytes: the picture and the rows of its table."""
        rows = sum(115 + sum(map(len, map(str, row))) for row in self.shown)
        return 1500 + len(self.svg.encode()) + rows

    @property
    def tensions(self) -> list[str]:
        """The pairs of nodes that the arm claims to be at odds."""
        found = [step for step in self.walk.trace if step.kind == TENSION]
        return [f"{arrows([s.source or '', s.target]).replace('→', '↔')} ({s.edge})" for s in found]

    @property
    def notes(self) -> list[str]:
        """Sentences on what the picture lacks: further nodes and spreads, tensions, effects of edges."""
        removed = [
            f"{_CAUSES.get(step.edge or '', step.edge)} {number(step.scores.get('change'))}"
            for step in self.walk.trace
            if step.kind == REMOVED
        ]
        more, missed = self.layout.more, [node for node, what in self.statuses.items() if what == MISSED]
        spreads = [f"spread from {spread[0].target}" for spread in spreads_in(self.walk.trace)[1:]]
        in_table = {row.part for row in self.shown}.issuperset(spreads)
        found = {
            f"{quantity(more, 'more node')} touched, not drawn.": more,
            f"{quantity(len(spreads), 'more spread')}{' in the table' if in_table else ''}.": spreads,
            f"Expected and never reached: {first_names(missed, NAMED)}.": missed,
            f"Tension surfaced: {', '.join(self.tensions)}.": self.tensions,
            f"Change of the result (0 to 1) without {', '.join(removed)}.": removed,
        }
        return [note for note, what in found.items() if what]

    @cached_property
    def rows(self) -> list[StepRow]:
        """The steps of the walk, path by path, then spread by spread."""
        paths = paths_in(self.walk.trace) or [self.walk.path]
        parts = [("best path" if not at else f"path {at + 1}", path) for at, path in enumerate(paths)]
        parts += [(f"spread from {spread[0].target}", spread) for spread in spreads_in(self.walk.trace)]
        return [_row(part, step) for part, steps in parts for step in steps]

    @property
    def shown(self) -> list[StepRow]:
        return self.rows[:ROWS]

    @property
    def unlisted(self) -> int:
        """The number of steps that the table leaves out."""
        return len(self.rows) - len(self.shown) + self.walk.left_out

    def block(self) -> BlockGroup:
        """Returns the walk as a part of the page of its item."""
        style = (files(__package__) / "walk.css").read_text()
        label = f"Picture of the walk of {self.arm}; the table has the same steps"
        picture = Picture(str(self.svg), label, style)
        more = [f"also: {', '.join(self.also)}"] if self.also else []
        more += [f"also, with other scores: {', '.join(self.alike)}"] if self.alike else []
        table = BlockGroup(
            f"{quantity(len(self.shown), 'step')} as a table", [self._steps()], folds=True, small=True
        )
        blocks: list[SectionBlock] = [
            BlockGroup("", [picture, self._way()], small=True, side_by_side=True)
            if self.expected
            else picture,
            *([Text(self.notes, "quiet")] if self.notes else []),
            table,
        ]
        return BlockGroup(self.title, blocks, system=self.arm, beside="; ".join(more), small=True)

    def _way(self) -> Table:
        """Returns a table of the expected path, step by step."""
        rows = []
        for step, walked, edge in self.expected:
            what = "not walked" if not walked else f"walked by {edge}" if edge else "walked"
            outcome = GO if walked and not edge else NO_GO
            cells = [TableCell(step.node_id), TableCell(step.via_edge_type or "")]
            rows.append([*cells, TableCell(what, outcome=outcome)])
        columns = [
            TableColumn("Expected", figure=False, code=True),
            TableColumn("By", figure=False),
            TableColumn("Walked", figure=False),
        ]
        return Table(columns, rows, "Expected path", notes=[f"{match_words(self.item).capitalize()}."])

    def _steps(self) -> Table:
        numbers = {"Step", "Hop", "Energy or score"}
        heads = ("Step", "Part", "Hop", "From", "To", "Edge", "Role", "Energy or score", "Stopped by")
        columns = [TableColumn(head, figure=head in numbers, code=head in {"From", "To"}) for head in heads]
        rows = [
            [TableCell(str(place)), *(TableCell(str(value)) for value in row)]
            for place, row in enumerate(self.shown, 1)
        ]
        left = [f"{quantity(self.unlisted, 'more step')} not listed."] if self.unlisted else []
        return Table(columns, rows, name=f"Steps of the walk of {self.arm}", notes=left)


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
    """Returns a place as `1st`, `2nd`, `3rd`, `11th`."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th") if place % 100 not in (11, 12, 13) else "th"
    return f"{place}{ending}"
