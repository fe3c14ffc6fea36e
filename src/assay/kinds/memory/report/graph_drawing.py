"""The picture of a walk: the places of its nodes and links, and the SVG.

Nodes are in layers by hop, from left to right, with the best path along the top. If there are several
spreads, only the first is drawn, which belongs to the best path: several spreads on top of each other could
not be read. The shape and words of a node say whether the node was expected and whether it was found. The
picture takes its colours from the page. It has no ids, so a page may contain it several times.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from markupsafe import Markup
from rich.cells import cell_len, set_cell_size

from assay.core.records import Step
from assay.core.results import GO, INCONCLUSIVE, NO_GO
from assay.kinds.memory.report.walks import WalkedItem
from assay.kinds.memory.walk import paths_in, spreads_in
from assay.report.charts import sign
from assay.report.wording import printable

MOST, COLUMN = 30, 8  # the most nodes that are drawn in all, and in one layer
ENTRIES = 3  # the most links that are drawn into one node from one side
WIDE, HIGH, APART = 176, 68, 26  # pixels: a node's box, and the space between two in a layer
GAP, RUN = 124, 88  # between two layers; the straight end of a link, which has the name of the edge
ASIDE = 44  # before the layer of expected nodes that were not touched; no link leads into it
SLOT, PITCH = 22, 26  # from a box's top to the first link, and from link to link
EDGE, TOP = 14, 56  # space around everything, and for the heads of layers

BEST, OTHER, PASSED, STOPPED = "best", "other", "passed", "stopped"  # kinds of links, most important first
_ORDER = {kind: order for order, kind in enumerate((BEST, OTHER, PASSED, STOPPED))}

NAME, TEXT, EDGE_NAME = 18, 26, 15  # columns of text that fit: a node's id, its words, the name of an edge
FOUND, MISSED = "expected, found", "expected, missed"
_SIGNS = {FOUND: GO, MISSED: NO_GO}  # any other status lies between the two


@dataclass(frozen=True)
class WalkEdge:
    """An edge that was walked, or along which a spread tried to pass energy."""

    source: str
    target: str
    edge: str
    kind: str
    stop: str = ""
    energy: float = 0.0


@dataclass(frozen=True)
class NodeBox:
    """The box of a node, with its layer, position and height."""

    node: str
    layer: int
    x: float
    y: float
    high: float

    @property
    def right(self) -> float:
        return self.x + WIDE


@dataclass(frozen=True)
class LinkCurve:
    """The curve of a link, from a start point to its entry point on the box of the target."""

    link: WalkEdge
    start: tuple[float, float]
    end: tuple[float, float]
    back: bool  # the link leads to an earlier layer, and enters the box from the right


@dataclass(frozen=True)
class WalkLayout:
    """The positions of all nodes and links of a walk, in pixels.

    The same steps always give the same positions.
    """

    path: Sequence[Step]
    trace: Sequence[Step]
    expected: Sequence[str] = ()

    # -------------------------------------------------------------------------- what there is

    @cached_property
    def _paths(self) -> list[list[Step]]:
        return paths_in(self.trace)

    @cached_property
    def _spread(self) -> list[Step]:
        """The spread that is drawn."""
        return next(iter(spreads_in(self.trace)), [])

    @cached_property
    def links(self) -> list[WalkEdge]:
        """Every link once, with the most important thing that happened along it."""
        links = [
            WalkEdge(step.source, step.target, step.edge or "", kind)
            for kind, path in [(BEST, self.path), *((OTHER, path) for path in self._paths)]
            for step in path
            if step.source is not None
        ]
        for step in self._spread:
            if step.source is not None:
                kind = STOPPED if step.stop or not step.selected else PASSED
                energy = step.scores.get("energy", 0.0)
                links.append(
                    WalkEdge(step.source, step.target, step.edge or "", kind, step.stop or "", energy)
                )
        found: dict[tuple[str, str, str], WalkEdge] = {}
        for link in links:
            key = link.source, link.target, link.edge
            if key not in found or _ORDER[link.kind] < _ORDER[found[key].kind]:
                found[key] = link
        return list(found.values())

    @cached_property
    def layers(self) -> dict[str, int]:
        """The layer of every node that was touched: its place in the best path, otherwise its lowest hop."""
        found: dict[str, int] = {}
        for step in (step for part in (self._spread, *self._paths) for step in part):
            found[step.target] = min(step.depth, found.get(step.target, step.depth))
            if step.source is not None:
                found.setdefault(step.source, max(0, step.depth - 1))
        return found | {step.target: step.depth for step in reversed(self.path)}

    @cached_property
    def beside(self) -> list[str]:
        """The expected nodes that were not touched.

        They have a layer of their own, after all other layers.
        """
        return [node for node in dict.fromkeys(self.expected) if node not in self.layers]

    @cached_property
    def _required(self) -> list[str]:
        """The nodes that are drawn even if no link leads to them: nodes of paths, expected nodes, seeds."""
        paths = [step.target for path in self._paths for step in path]
        seeds = [step.target for step in self._spread[:1]]
        return list(dict.fromkeys([*(s.target for s in self.path), *self.expected, *paths, *seeds]))

    @cached_property
    def _reached(self) -> list[str]:
        """The nodes that links lead to: first those with the most energy, last those that got no energy."""
        energy: dict[str, float] = {}
        for link in self.links:
            weight = link.energy if link.kind == PASSED else -1.0
            energy[link.target] = max(weight, energy.get(link.target, -1.0))
        return sorted(energy, key=lambda node: -energy[node])

    @cached_property
    def _sources(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for link in self.links:
            found.setdefault(link.target, []).append(link.source)
        return found

    @property
    def _last_layer(self) -> int:
        """The layer of the expected nodes that were not touched."""
        return max(self.layers.values(), default=-1) + 1

    @cached_property
    def columns(self) -> dict[int, list[str]]:
        """The nodes drawn in each layer.

        Nodes of the best path come first. The other nodes are in the order of the nodes from which links lead
        to them.
        """
        chosen: dict[str, int] = {}
        filled: Counter[int] = Counter()
        for node in (*self._required, *self._reached):
            layer = self.layers.get(node, self._last_layer)
            led = node in self._required or any(source in chosen for source in self._sources[node])
            if node not in chosen and led and filled[layer] < COLUMN and len(chosen) < MOST:
                chosen[node] = layer
                filled[layer] += 1
        best = {step.target for step in self.path}
        rows: dict[str, int] = {}
        for layer in sorted(filled):
            nodes = [node for node in chosen if chosen[node] == layer]
            above = {
                node: min((rows[s] for s in self._sources.get(node, []) if s in rows), default=COLUMN)
                for node in nodes
            }
            nodes.sort(key=lambda node: (node not in best, above[node]))
            rows |= {node: row for row, node in enumerate(nodes)}
        ordered = sorted(rows, key=lambda node: (chosen[node], rows[node]))
        return {layer: list(nodes) for layer, nodes in groupby(ordered, key=lambda node: chosen[node])}

    def more_in(self, layer: int) -> int:
        """Returns how many nodes of a layer are not drawn."""
        last = layer == self._last_layer
        there = len(self.beside) if last else sum(at == layer for at in self.layers.values())
        return there - len(self.columns.get(layer, []))

    @property
    def more(self) -> int:
        """The number of nodes that are not drawn at all."""
        return len(self.layers) + len(self.beside) - len(self.boxes)

    # ---------------------------------------------------------------------------- where it is

    @cached_property
    def _entering(self) -> dict[str, tuple[list[WalkEdge], list[WalkEdge]]]:
        """The links drawn into each node, from the left and from the right, the most important first."""
        place = {node: layer for layer, nodes in self.columns.items() for node in nodes}
        found: dict[str, tuple[list[WalkEdge], list[WalkEdge]]] = {node: ([], []) for node in place}
        known = [link for link in self.links if link.source in place and link.target in place]
        for link in sorted(known, key=lambda link: (_ORDER[link.kind], -link.energy)):
            side = found[link.target][place[link.target] < place[link.source]]
            if len(side) < ENTRIES and link.source != link.target:
                side.append(link)
        return found

    @cached_property
    def boxes(self) -> dict[str, NodeBox]:
        """The box of every drawn node."""
        first = [self._height(nodes[0]) for nodes in self.columns.values()]
        inward = any(self._entering[node][0] for node in self.columns.get(0, []))
        x = EDGE + (GAP if inward else 0) - WIDE - GAP
        found: dict[str, NodeBox] = {}
        for layer, nodes in self.columns.items():
            x += WIDE + (ASIDE if layer == self._last_layer and found else GAP)
            y = float(TOP)
            for row, node in enumerate(nodes):
                # all boxes of the first row have one height, so that the best path is a straight line
                high = self._height(node) if row else max(first)
                found[node] = NodeBox(node, layer, x, y, high)
                y += high + APART
        return found

    def _height(self, node: str) -> float:
        entries = max(map(len, self._entering[node]))
        return max(HIGH, SLOT + entries * PITCH - PITCH / 4)

    @cached_property
    def drawn(self) -> list[LinkCurve]:
        """The curve of every drawn link. The most important comes last, so that no other covers it."""
        found = []
        for node, (left, right) in self._entering.items():
            box = self.boxes[node]
            for row, link in enumerate(left):
                source = self.boxes[link.source]
                level = source.layer == box.layer
                start = (source.x, source.y + source.high - 12) if level else (source.right, source.y + SLOT)
                found.append(LinkCurve(link, start, (box.x, box.y + SLOT + row * PITCH), False))
            for row, link in enumerate(right):
                source = self.boxes[link.source]
                end = (box.right, box.y + box.high - 12 - row * PITCH)
                found.append(LinkCurve(link, (source.x, source.y + source.high - 12), end, True))
        return sorted(found, key=lambda each: -_ORDER[each.link.kind])

    @property
    def size(self) -> tuple[float, float]:
        """The width and height of the whole picture."""
        boxes = self.boxes.values()
        wide = max((box.right for box in boxes), default=0.0) + EDGE
        more = PITCH if self.more else 0
        return wide, max((box.y + box.high for box in boxes), default=0.0) + EDGE + more


# --------------------------------------------------------------------------------------- the SVG

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


def draw_walk(layout: WalkLayout, item: WalkedItem, statuses: Mapping[str, str]) -> Markup:
    """Returns the SVG of a walk. `statuses` says of each expected node whether it was found."""
    wide, high = layout.size
    roles = {step.target: step.role for step in (*layout.trace, *layout.path) if step.role}
    places: dict[str, list[str]] = {}  # places in the best path, from 1; a node may be walked twice
    for place, step in enumerate(layout.path, 1):
        places.setdefault(step.target, []).append(str(place))
    nodes = [
        _node(
            box,
            item.nodes.get(box.node, ""),
            statuses.get(box.node, ""),
            roles.get(box.node, ""),
            ",".join(places.get(box.node, [])),
        )
        for box in layout.boxes.values()
    ]
    # links first, so that boxes cover what passes behind them
    parts = [*_heads(layout, statuses), *map(_link, layout.drawn), *nodes]
    return _OPEN.format(w=wide, h=high) + Markup().join(parts) + Markup("</svg>")


def _heads(layout: WalkLayout, statuses: Mapping[str, str]) -> Iterator[Markup]:
    """Yields the heading of each layer, and how many nodes of the layer are not drawn."""
    for layer, nodes in layout.columns.items():
        first, last = layout.boxes[nodes[0]], layout.boxes[nodes[-1]]
        head = "start" if layer == 0 else f"hop {layer}"
        if nodes[0] in layout.beside:
            head = "not reached" if all(statuses[n] == MISSED for n in nodes) else "off this walk"
        yield _HEAD.format(first.x, head)
        if more := layout.more_in(layer):
            yield _TEXT.format("quieter", last.x, last.y + last.high + 18, f"and {more} more")


def _node(box: NodeBox, text: str, status: str, role: str, places: str) -> Markup:
    kind = {"": "plain", FOUND: "found", MISSED: "missed"}.get(status, "passed-by")
    x, y = box.x + 10, box.y
    name = _tail(box.node, NAME if status else NAME + 3)
    drawn = Markup("<title>{}</title>").format(printable(f"{box.node}: {text}" if text else box.node))
    drawn += _BOX.format(box.x, y, WIDE, box.high, 16 if status == FOUND else 3)
    if status:
        drawn += sign(_SIGNS.get(status, INCONCLUSIVE), x, y + 12, 15)
    drawn += _TEXT.format("node", x + (20 if status else 0), y + 24, name)
    drawn += _TEXT.format("words", x, y + 41, _cut(text, TEXT))
    drawn += _TEXT.format("status", x, y + 58, status)
    drawn += _TEXT.format("role", x, y - 5, _cut(in_words(role), TEXT))
    if places:
        drawn += _NUMBER.format(x=box.x + WIDE - 16, y=y, t=y + 4, n=places)
    return Markup('<g class="{}">{}</g>').format(kind, drawn)


def _link(drawn: LinkCurve) -> Markup:
    """Returns a curve with a straight end.

    The name of the edge is above the end, the stop reason below it.
    """
    (x, y), (end, level) = drawn.start, drawn.end
    side = 1 if drawn.back else -1  # the side of the box on which the link enters
    turn = end + side * RUN
    bend = (GAP - RUN) * 0.6
    leaves = -bend if drawn.back or x == end else bend
    if x == end:  # within a layer, the link goes out to the left and comes back
        leaves = -RUN - bend
    curve = (x, y, x + leaves, y, turn + side * bend * (0 if x == end else 1), level, turn, level)
    line = _LINE.format(*curve, end + side * 9) + _TIP.format(end, level, w=side * 9)
    link, anchor, at = drawn.link, "start" if drawn.back else "end", end + side * 12
    name = _END.format("edge", at, level - 4, anchor, _cut(link.edge, EDGE_NAME))
    if link.stop:
        name += _END.format("stop", at, level + 11, anchor, _cut(in_words(link.stop), EDGE_NAME))
    title = f"{link.source} → {link.target} {link.edge} {link.stop}".rstrip()
    head = Markup("<title>{}</title>").format(printable(title))
    return Markup('<g class="{}">{}</g>').format(link.kind, head + line + name)


def in_words(name: str) -> str:
    return name.replace("_", " ")


def _cut(text: str, room: int) -> str:
    """Returns as much of the beginning of a text as fits in `room` columns.

    A wide character needs two columns.
    """
    line = " ".join(printable(text).split())
    return line if cell_len(line) <= room else set_cell_size(line, room - 1).rstrip() + "…"


def _tail(text: str, room: int) -> str:
    """Returns the end of an id if the whole id does not fit, because ids differ at their ends."""
    line = printable(text)
    if cell_len(line) <= room:
        return line
    return "…" + _cut(line[::-1], room)[::-1].lstrip("…")
