"""Where the nodes and links of a walk stand: layers by hop, left to right, the best path along the top.

Of several spreads the first is drawn, which is the best path's: over each other, none could be followed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from assay.core.records import Step
from assay.kinds.memory.report.walks import paths_in, spreads_in

MOST, COLUMN = 30, 8  # nodes drawn in all, and in one layer
ENTRIES = 3  # links drawn into one node from one side
WIDE, HIGH, APART = 176, 68, 26  # pixels: a node's box, and the air between two in a layer
GAP, RUN = 124, 88  # between two layers, and the straight end of a link, which carries its name
ASIDE = 44  # before the layer of what is beside the walk, into which no link leads
SLOT, PITCH = 22, 26  # from a box's top to the first link, and from link to link
EDGE, TOP = 14, 56  # air around everything, and room for the heads of layers

BEST, OTHER, PASSED, STOPPED = "best", "other", "passed", "stopped"  # links, the weightiest first
_WEIGHT = {kind: weight for weight, kind in enumerate((BEST, OTHER, PASSED, STOPPED))}


@dataclass(frozen=True)
class WalkLink:
    """One edge that was walked, or along which a spread was tried."""

    source: str
    target: str
    edge: str
    kind: str
    stop: str = ""
    energy: float = 0.0


@dataclass(frozen=True)
class NodeBox:
    """A node in its place."""

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
    """A link in its place: from a point to a slot of the box it leads to."""

    link: WalkLink
    start: tuple[float, float]
    end: tuple[float, float]
    back: bool  # it leads to an earlier layer, and enters from the right


@dataclass(frozen=True)
class WalkLayout:
    """The picture of one walk, in pixels; the same steps always give the same picture."""

    path: Sequence[Step]
    trace: Sequence[Step]
    expected: Sequence[str] = ()

    # -------------------------------------------------------------------------- what there is

    @cached_property
    def _spread(self) -> list[Step]:
        """The spread that is drawn."""
        return next(iter(spreads_in(self.trace)), [])

    @cached_property
    def links(self) -> list[WalkLink]:
        """Every link once, as the weightiest thing that happened along it."""
        found: dict[tuple[str, str, str], WalkLink] = {}
        for link in self._links():
            key = link.source, link.target, link.edge
            if key not in found or _WEIGHT[link.kind] < _WEIGHT[found[key].kind]:
                found[key] = link
        return list(found.values())

    def _links(self) -> Iterable[WalkLink]:
        others = paths_in(self.trace)
        for kind, path in [(BEST, self.path), *((OTHER, path) for path in others)]:
            for step in path:
                if step.source is not None:
                    yield WalkLink(step.source, step.target, step.edge or "", kind)
        for step in self._spread:
            if step.source is not None:
                kind = STOPPED if step.stop or not step.selected else PASSED
                energy = step.scores.get("energy", 0.0)
                yield WalkLink(step.source, step.target, step.edge or "", kind, step.stop or "", energy)

    @cached_property
    def layers(self) -> dict[str, int]:
        """The layer of every node that was touched: its place in the best path, else its least hop."""
        found: dict[str, int] = {}
        parts = [self._spread, *paths_in(self.trace)]
        for step in (step for part in parts for step in part):
            found[step.target] = min(step.depth, found.get(step.target, step.depth))
            if step.source is not None:
                found.setdefault(step.source, max(0, step.depth - 1))
        return found | {step.target: step.depth for step in reversed(self.path)}

    @cached_property
    def beside(self) -> list[str]:
        """What was expected and is in none of these: it stands in a layer of its own, behind the others."""
        return [node for node in dict.fromkeys(self.expected) if node not in self.layers]

    @cached_property
    def _telling(self) -> list[str]:
        """Nodes that are drawn whatever led to them: paths, what was expected, seeds."""
        wanted = dict.fromkeys([*(step.target for step in self.path), *self.expected])
        paths = [step.target for path in paths_in(self.trace) for step in path]
        seeds = [step.target for step in self._spread[:1]]
        return list(dict.fromkeys([*wanted, *paths, *seeds]))

    @cached_property
    def _reached(self) -> list[str]:
        """All nodes that links lead to: those with the most energy first, then those it stopped before."""
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
    def _behind(self) -> int:
        """The layer of what is beside the walk."""
        return max(self.layers.values(), default=-1) + 1

    @cached_property
    def columns(self) -> dict[int, list[str]]:
        """The nodes drawn in each layer; those of the best path first, then beside what led to them."""
        chosen: dict[str, int] = {}
        filled: Counter[int] = Counter()
        for node in (*self._telling, *self._reached):
            layer = self.layers.get(node, self._behind)
            led = node in self._telling or any(source in chosen for source in self._sources[node])
            if node not in chosen and led and filled[layer] < COLUMN and len(chosen) < MOST:
                chosen[node] = layer
                filled[layer] += 1
        best = {step.target for step in self.path}
        rows: dict[str, int] = {}
        for layer in sorted(filled):
            nodes = [node for node in chosen if chosen[node] == layer]
            above = {node: self._nearest(node, rows) for node in nodes}
            nodes.sort(key=lambda node: (node not in best, above[node]))
            rows |= {node: row for row, node in enumerate(nodes)}
        ordered = sorted(rows, key=lambda node: (chosen[node], rows[node]))
        return {layer: list(nodes) for layer, nodes in groupby(ordered, key=lambda node: chosen[node])}

    def _nearest(self, node: str, rows: Mapping[str, int]) -> int:
        """The row of the first drawn node that leads to this one; a large one where none does."""
        known = [rows[source] for source in self._sources.get(node, []) if source in rows]
        return min(known, default=COLUMN)

    def more_in(self, layer: int) -> int:
        """How many nodes of a layer are not drawn."""
        there = len(self.beside) if layer == self._behind else sum(at == layer for at in self.layers.values())
        return there - len(self.columns.get(layer, []))

    @property
    def more(self) -> int:
        """How many nodes are not drawn at all."""
        return len(self.layers) + len(self.beside) - len(self.boxes)

    # ---------------------------------------------------------------------------- where it is

    @cached_property
    def _entering(self) -> dict[str, tuple[list[WalkLink], list[WalkLink]]]:
        """The links drawn into each node, from the left and from the right, the weightiest first."""
        place = {node: layer for layer, nodes in self.columns.items() for node in nodes}
        found: dict[str, tuple[list[WalkLink], list[WalkLink]]] = {node: ([], []) for node in place}
        known = [link for link in self.links if link.source in place and link.target in place]
        for link in sorted(known, key=lambda link: (_WEIGHT[link.kind], -link.energy)):
            side = found[link.target][place[link.target] < place[link.source]]
            if len(side) < ENTRIES and link.source != link.target:
                side.append(link)
        return found

    @cached_property
    def boxes(self) -> dict[str, NodeBox]:
        """Every drawn node in its place."""
        first = [self._height(nodes[0]) for nodes in self.columns.values()]
        inward = any(self._entering[node][0] for node in self.columns.get(0, []))
        x = EDGE + (GAP if inward else 0) - WIDE - GAP
        found: dict[str, NodeBox] = {}
        for layer, nodes in self.columns.items():
            x += WIDE + (ASIDE if layer == self._behind and found else GAP)
            y = float(TOP)
            for row, node in enumerate(nodes):
                # the first row is of one height, so that the best path is a straight line
                high = self._height(node) if row else max(first)
                found[node] = NodeBox(node, layer, x, y, high)
                y += high + APART
        return found

    def _height(self, node: str) -> float:
        entries = max(map(len, self._entering[node]))
        return max(HIGH, SLOT + entries * PITCH - PITCH / 4)

    @cached_property
    def drawn(self) -> list[LinkCurve]:
        """Every drawn link in its place, the weightiest last, so that nothing hides it."""
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
        return sorted(found, key=lambda each: -_WEIGHT[each.link.kind])

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the whole picture."""
        boxes = self.boxes.values()
        wide = max((box.right for box in boxes), default=0.0) + EDGE
        more = PITCH if self.more else 0
        return wide, max((box.y + box.high for box in boxes), default=0.0) + EDGE + more
