"""The graph that a walk touched, as an inline picture.

A node says by shape and word whether it was expected and what became of it. The picture takes its colours
from what it stands in and holds no id, so that it may stand in a page any number of times.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from markupsafe import Markup
from rich.cells import cell_len, set_cell_size

from assay.core.results import GO, INCONCLUSIVE, NO_GO
from assay.kinds.memory.report import graph_layout as at
from assay.kinds.memory.report.graph_layout import LinkCurve, NodeBox, WalkLayout
from assay.kinds.memory.report.walks import WalkedItem
from assay.report.svg import sign
from assay.report.wording import printable

NAME, TEXT, EDGE = 18, 26, 15  # columns of text that fit: a node's id, its words, the name of an edge
FOUND, MISSED = "expected, found", "expected, missed"
_SIGNS = {FOUND: GO, MISSED: NO_GO}  # between the two: on no path, and yet not out of sight

_OPEN = Markup(
    '<svg class="graph" width="{w:.0f}" height="{h:.0f}" viewBox="0 0 {w:.0f} {h:.0f}"'
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


def in_words(name: str) -> str:
    return name.replace("_", " ")


@dataclass(frozen=True)
class WalkSvg:
    """Draws a layout: links first, so that boxes cover what passes behind them."""

    layout: WalkLayout
    item: WalkedItem
    statuses: Mapping[str, str]

    def drawing(self) -> Markup:
        wide, high = self.layout.size
        parts = [*self._heads(), *map(_link, self.layout.drawn), *map(self._node, self.layout.boxes.values())]
        return _OPEN.format(w=wide, h=high) + Markup().join(parts) + Markup("</svg>")

    def _heads(self) -> Iterator[Markup]:
        """What each layer is, and how many of its nodes are not drawn."""
        for layer, nodes in self.layout.columns.items():
            first, last = self.layout.boxes[nodes[0]], self.layout.boxes[nodes[-1]]
            head = "start" if layer == 0 else f"hop {layer}"
            if nodes[0] in self.layout.beside:
                head = "not reached" if all(self.statuses[n] == MISSED for n in nodes) else "off this walk"
            yield _HEAD.format(first.x, head)
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

    def _node(self, box: NodeBox) -> Markup:
        status = self.statuses.get(box.node, "")
        kind = {"": "plain", FOUND: "found", MISSED: "missed"}.get(status, "passed-by")
        shift = 20 if status else 0
        text = self.item.nodes.get(box.node, "")
        drawn = Markup("<title>{}</title>").format(printable(f"{box.node}: {text}" if text else box.node))
        drawn += _BOX.format(box.x, box.y, at.WIDE, box.high, 16 if status == FOUND else 3)
        if status:
            drawn += sign(_SIGNS.get(status, INCONCLUSIVE), box.x + 10, box.y + 12, 15)
        drawn += _TEXT.format(
            "node", box.x + 10 + shift, box.y + 24, _tail(box.node, NAME if status else NAME + 3)
        )
        drawn += _TEXT.format("words", box.x + 10, box.y + 41, _cut(text, TEXT))
        drawn += _TEXT.format("status", box.x + 10, box.y + 58, status)
        drawn += _TEXT.format(
            "role", box.x + 10, box.y - 5, _cut(in_words(self._roles.get(box.node, "")), TEXT)
        )
        for n in [",".join(self._places[box.node])] if box.node in self._places else []:
            drawn += _NUMBER.format(x=box.x + at.WIDE - 16, y=box.y, t=box.y + 4, n=n)
        return Markup('<g class="{}">{}</g>').format(kind, drawn)


def _link(drawn: LinkCurve) -> Markup:
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
        name += _END.format(
            "stop", end + side * 12, level + 11, anchor, _cut(in_words(drawn.link.stop), EDGE)
        )
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
