"""The graph that a walk touched, as an inline picture, with the same steps as rows of a table.

A node says by shape and word whether it was expected. The picture takes its colours from the style sheet and
holds no id, so that it may stand in a page any number of times.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from markupsafe import Markup
from rich.cells import cell_len, set_cell_size

from assay.measures.walk import PATH, REMOVED, TENSION
from assay.records import Step
from assay.report import graph_layout as at
from assay.report.flips import Grid
from assay.report.graph_layout import Box, Drawn, Layout
from assay.report.svg import sign, style_of
from assay.report.walks import (
    Marked,
    arrows,
    drawn_items,
    marked_steps,
    match_words,
    matching_path,
    paths_of,
    spreads_of,
    walk_title,
)
from assay.report.wording import counted, number, printable, some
from assay.results import GO, NO_GO, ItemView, Results, Walk

ROWS = 60  # steps in the table of one walk
NAMED = 5  # nodes named in a sentence
ROOM = 350_000  # bytes of all pictures of a page
NAME, TEXT, EDGE = 18, 26, 15  # columns of text that fit: a node's id, its words, the name of an edge
FOUND, MISSED = "expected, found", "expected, missed"
_CAUSES = {"path": "the best path", "random": "random edges", "nearby": "edges nearby"}

_OPEN = Markup(
    '<svg class="graph {}" width="{w:.0f}" height="{h:.0f}" viewBox="0 0 {w:.0f} {h:.0f}"'
    ' aria-hidden="true" focusable="false">'
)
_HEAD = Markup('<text class="head" x="{:.0f}" y="22">{}</text>')
_BOX = Markup('<rect class="box" x="{:.1f}" y="{:.1f}" width="{}" height="{:.1f}" rx="{}"/>')
_TEXT = Markup('<text class="{}" x="{:.1f}" y="{:.1f}">{}</text>')
_END = Markup('<text class="{}" x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>')
_LINE = Markup('<path class="link" d="M{:.1f} {:.1f}C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}H{:.1f}"/>')
_TIP = Markup('<path class="tip" d="M{:.1f} {:.1f}l{w:.0f} -4.5v9z"/>')
_NUMBER = Markup(
    '<circle class="place" cx="{x:.1f}" cy="{y:.1f}" r="10"/>'
    '<text class="count" x="{x:.1f}" y="{t:.1f}" text-anchor="middle">{n}</text>'
)


class Row(NamedTuple):
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
class WalkFigure:
    """One arm's walk on one item."""

    results: Results
    item: ItemView
    arm: str

    @property
    def walk(self) -> Walk:
        return self.item.walks[self.arm]

    @property
    def style(self) -> str:
        return style_of(self.results, self.arm)

    @cached_property
    def paths(self) -> list[list[Step]]:
        return paths_of(self.walk.trace) or [self.walk.path]

    @cached_property
    def layout(self) -> Layout:
        return Layout(self.walk.path, self.walk.trace, [each.target for each in self.item.expected])

    @cached_property
    def found(self) -> set[str]:
        """What came back: the nodes of all paths, and the hits that are shown."""
        hits = {hit.doc_id for hit in self.item.returned.get(self.arm, [])}
        return hits | {step.target for path in self.paths for step in path}

    @property
    def title(self) -> str:
        return walk_title(self.item, self.paths, self.found)

    @property
    def right(self) -> bool | None:
        """Whether an expected path was walked; None where none is named."""
        return None if self.item.path is None else matching_path(self.item.path, self.paths) is not None

    @property
    def expected(self) -> list[Marked]:
        """The steps of the expected path, held against the path that meets it, or the best one."""
        if self.item.path is None:
            return []
        place = matching_path(self.item.path, self.paths)
        return marked_steps(self.item.path, self.paths[place or 0])

    @property
    def strictness(self) -> str:
        return "" if self.item.path is None else match_words(self.item.path)

    @cached_property
    def picture(self) -> Markup:
        return _Picture(self.layout, self.item, self.found, self.style).drawing()

    @property
    def size(self) -> int:
        """About how many bytes it takes: its picture, and a row of the table for each step."""
        return len(self.picture.encode()) + sum(150 + sum(map(len, map(str, row))) for row in self.shown)

    @property
    def notes(self) -> list[str]:
        """What the picture does not show: what was left out, tensions, and what the path's edges decide."""
        tensions = [step for step in self.walk.trace if step.kind == TENSION]
        pairs = [f"{arrows([s.source or '', s.target]).replace('→', '↔')} ({s.edge})" for s in tensions]
        removed = [
            f"{_CAUSES.get(step.edge or '', step.edge)} {number(step.scores.get('change'))}"
            for step in self.walk.trace
            if step.kind == REMOVED
        ]
        more, unreached = self.layout.more, self.layout.unreached
        return [
            *([f"{counted(more, 'more node')} touched, not drawn."] if more else []),
            *([f"Expected and never reached: {some(unreached, NAMED)}."] if unreached else []),
            *([f"Tension surfaced: {', '.join(pairs)}."] if pairs else []),
            *([f"Change of the result (0 to 1) without {', '.join(removed)}."] if removed else []),
        ]

    @cached_property
    def rows(self) -> list[Row]:
        """The steps of the walk, path by path, then spread by spread."""
        paths = paths_of(self.walk.trace) or [self.walk.path]
        parts = [("best path" if not at else f"path {at + 1}", path) for at, path in enumerate(paths)]
        parts += [(f"spread from {spread[0].target}", spread) for spread in spreads_of(self.walk.trace)]
        return [_row(part, step) for part, steps in parts for step in steps]

    @property
    def shown(self) -> list[Row]:
        return self.rows[:ROWS]

    @property
    def unlisted(self) -> int:
        """How many steps the table leaves out."""
        return len(self.rows) - len(self.shown) + self.walk.left_out


def _row(part: str, step: Step) -> Row:
    energy = step.scores.get("score" if step.kind == PATH else "energy")
    return Row(
        part,
        step.depth,
        step.source or "",
        step.target,
        step.edge or "",
        step.role or "",
        "" if energy is None else number(energy),
        _words(step.stop or ("" if step.selected else "stopped")),
    )


def _words(name: str) -> str:
    return name.replace("_", " ")


def walk_figures(results: Results, grid: Grid) -> dict[int, list[WalkFigure]]:
    """The walks that the page draws, by the place of their item: as many whole items as there is room for."""
    places = {item.item_id: place for place, item in enumerate(results.items)}
    found: dict[int, list[WalkFigure]] = {}
    room = ROOM
    for item in drawn_items(results, grid):
        figures = [WalkFigure(results, item, arm) for arm in results.arms if arm in item.walks]
        figures = [figure for figure in figures if figure.walk.trace]
        room -= sum(figure.size for figure in figures)
        if room < 0:
            break
        if figures:
            found[places[item.item_id]] = figures
    return found


# ------------------------------------------------------------------------------------- drawing


@dataclass(frozen=True)
class _Picture:
    """Draws a layout: links first, so that boxes cover what passes behind them."""

    layout: Layout
    item: ItemView
    found: set[str]
    style: str

    def drawing(self) -> Markup:
        wide, high = self.layout.size
        parts = [*self._heads(), *map(_link, self.layout.drawn), *map(self._node, self.layout.boxes.values())]
        return _OPEN.format(self.style, w=wide, h=high) + Markup().join(parts) + Markup("</svg>")

    def _heads(self) -> Iterator[Markup]:
        """What each layer is, and how many of its nodes are not drawn."""
        for layer, nodes in self.layout.columns.items():
            first, last = self.layout.boxes[nodes[0]], self.layout.boxes[nodes[-1]]
            hop = "start" if layer == 0 else f"hop {layer}"
            yield _HEAD.format(first.x, "not reached" if nodes[0] in self.layout.unreached else hop)
            if more := self.layout.more_in(layer):
                yield _TEXT.format("quieter", last.x, last.y + last.high + 18, f"and {more} more")

    @cached_property
    def _roles(self) -> dict[str, str]:
        steps = (*self.layout.trace, *self.layout.path)
        return {step.target: step.role for step in steps if step.role}

    @cached_property
    def _places(self) -> dict[str, list[str]]:
        """Where in the best path a node stands, from 1; it may be walked twice."""
        places: dict[str, list[str]] = {}
        for place, step in enumerate(self.layout.path, 1):
            places.setdefault(step.target, []).append(str(place))
        return places

    def _node(self, box: Box) -> Markup:
        wanted = any(each.target == box.node for each in self.item.expected)
        status = (FOUND if box.node in self.found else MISSED) if wanted else ""
        kind = {FOUND: "found", MISSED: "missed"}.get(status, "plain")
        shift = 20 if status else 0
        text = self.item.nodes.get(box.node, "")
        drawn = Markup("<title>{}</title>").format(printable(f"{box.node}: {text}" if text else box.node))
        drawn += _BOX.format(box.x, box.y, at.WIDE, box.high, 16 if status == FOUND else 3)
        if status:
            drawn += sign(GO if status == FOUND else NO_GO, box.x + 10, box.y + 12, 15)
        drawn += _TEXT.format(
            "node", box.x + 10 + shift, box.y + 24, _tail(box.node, NAME if status else NAME + 3)
        )
        drawn += _TEXT.format("words", box.x + 10, box.y + 41, _cut(text, TEXT))
        drawn += _TEXT.format("status", box.x + 10, box.y + 58, status)
        drawn += _TEXT.format(
            "role", box.x + 10, box.y - 5, _cut(_words(self._roles.get(box.node, "")), TEXT)
        )
        for n in [",".join(self._places[box.node])] if box.node in self._places else []:
            drawn += _NUMBER.format(x=box.x + at.WIDE - 16, y=box.y, t=box.y + 4, n=n)
        return Markup('<g class="{}">{}</g>').format(kind, drawn)


def _link(drawn: Drawn) -> Markup:
    """A curve into a straight end that carries the edge's name above it and why it stopped beneath."""
    (x, y), (end, level) = drawn.start, drawn.end
    side = 1 if drawn.back else -1  # of the box, on which the link enters
    turn = end + side * at.RUN
    bend = (at.GAP - at.RUN) * 0.6
    leaves = -bend if drawn.back or x == end else bend
    if x == end:  # within a layer: out to the left and back
        leaves = -at.RUN - bend
    curve = (x, y, x + leaves, y, turn + side * bend * (0 if x == end else 1), level, turn, level)
    line = _LINE.format(*curve, end + side * 9) + _TIP.format(end, level, w=side * 9)
    anchor = "start" if drawn.back else "end"
    name = _END.format("edge", end + side * 12, level - 4, anchor, _cut(drawn.link.edge, EDGE))
    if drawn.link.stop:
        name += _END.format("stop", end + side * 12, level + 11, anchor, _cut(_words(drawn.link.stop), EDGE))
    told = f"{drawn.link.source} → {drawn.link.target} {drawn.link.edge} {drawn.link.stop}".rstrip()
    head = Markup("<title>{}</title>").format(printable(told))
    return Markup('<g class="{}">{}</g>').format(drawn.link.kind, head + line + name)


def _cut(text: str, room: int) -> str:
    """The beginning of a text, as much of it as there is room for; wide characters take two columns."""
    line = " ".join(printable(text).split())
    return line if cell_len(line) <= room else set_cell_size(line, room - 1).rstrip() + "…"


def _tail(text: str, room: int) -> str:
    """The end of an id, which tells nodes apart, where there is no room for all of it."""
    line = printable(text)
    if cell_len(line) <= room:
        return line
    return "…" + _cut(line[::-1], room)[::-1].lstrip("…")
