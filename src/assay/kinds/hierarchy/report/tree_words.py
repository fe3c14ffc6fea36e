"""Describes trees and single routes for a report, as data, in words, and as a picture.

In the picture, rows are levels, and the width of a cell is the number of passages below its node. Positions
in a row are percentages, so the picture can have any width.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import groupby

import msgspec
from markupsafe import Markup

from assay.core.records import Arm, Estimate, Step
from assay.core.results import Results
from assay.report import wording as say


class TreeLevel(msgspec.Struct, frozen=True):
    """A level of a tree, and how many queries it lost."""

    level: int  # 1: the root's children
    nodes: int
    lost: int  # queries that kept no right branch at this level or above
    lost_part: int  # queries that kept no branch to some of their evidence
    visited: float | None = None  # mean share of its nodes that were scored
    apart: float | None = None  # mean cosine distance between what siblings are about
    overlap: float | None = None  # mean share of names that siblings have in common


class TreeNode(msgspec.Struct, frozen=True):
    """A node of a tree, and what happened to the queries whose evidence lies below it."""

    node_id: str
    level: int
    start: int  # the position in the picture; `wide` counts passages of the leaves drawn below
    wide: int
    passages: int  # the number of passages below the node, each counted once
    parents: list[str] = []
    about: str = ""
    entities: list[str] = []
    expanded: int = 0  # queries that came here on a right way
    lost: int = 0  # those of them that took none of the node's right children
    ended: int = 0  # those of the lost queries that had no other right branch
    passed_by: int = 0  # queries that were lost because they did not take this node


class RouteCandidate(msgspec.Struct, frozen=True):
    """A child that a query took or did not take.

    If a child has several parents, a parent from which it was taken counts first, then the best score.
    """

    node_id: str
    rank: int  # the place by score among the level's candidates, from 1
    scores: dict[str, float]
    selected: bool
    right: bool  # evidence lies below it
    source: str = ""
    stop: str = ""  # why the candidate was not taken
    about: str = ""


class RouteLevel(msgspec.Struct, frozen=True):
    """A level with the candidates that readers look for: the best, the last one taken, and right ones."""

    level: int
    of: int  # all candidates
    taken: int
    shown: list[RouteCandidate]


class Route(msgspec.Struct, frozen=True):
    """The way of one query down a tree."""

    item_id: str
    levels: list[RouteLevel]
    lost: int | None = None  # the level that took no right branch
    lost_part: int | None = None  # the level that lost the branch of some evidence
    why: str = ""  # how the query was lost, in words
    evidence: list[str] = []  # the passages that hold the query's evidence
    links: list[Step] = []  # the passages that came by a link
    race: list[Step] = []  # one step per path that raced


class RaceShares(msgspec.Struct, frozen=True):
    """How often each path of a race was taken, over all items and by the values of tags."""

    arm: str
    paths: list[str]
    taken: dict[str, list[int]]  # by slice in words, "" for all: one count per path
    alone: dict[str, str] = {}  # for each path, an arm that always takes this path


class TreeView(msgspec.Struct, frozen=True):
    """The tree that an arm routes in, for the arm's first seed, and the arm's results in this tree."""

    arm: str
    seed: int
    items: int  # the number of answered items with evidence in the tree
    passages: int
    coverage: float | None  # the share of passages that the root leads to
    levels: list[TreeLevel]
    nodes: list[TreeNode]  # the root comes first; a large tree shows only some nodes
    also: list[str] = []  # other arms with the same tree and the same errors
    routes: list[Route] = []
    race: RaceShares | None = None
    visited: float | None = None  # mean share of the passages that were scored


EPS, ANY, ALL = "eps", "any", "all"
ABOUT = 48  # characters of what a node is about, in a sentence
_STOPS = {
    "cut": "cut before the rerank",
    "expand": "not among the best of its parent",
    "beam": "outside the beam",
}
_FIRST = "first"  # the stage before any rerank, by which candidates are cut
SCORE = "score"


def queries(count: int) -> str:
    """Returns a number of queries in words: `1 query`, `2 queries`."""
    return f"{count} {'query' if count == 1 else 'queries'}"


def node_name(node: TreeNode, limit: int = ABOUT) -> str:
    """Returns the name of a node with the text about it: `L1:4, contracts and vendors`."""
    return f"{node.node_id}, {say.shorten(node.about, limit)}" if node.about else node.node_id


def lost_by_level(view: TreeView) -> Iterator[tuple[TreeLevel, int, int]]:
    """Yields each level, with the number of queries that it loses and the number that came to it."""
    above = 0
    for level in view.levels:
        yield level, level.lost - above, view.items - above
        above = level.lost


def tree_title(view: TreeView) -> str:
    """Returns the result in the picture: the level that loses most queries, and where it loses them."""
    if not view.items:
        return "No query has its evidence in this tree"
    level, lost, came = max(lost_by_level(view), key=lambda each: each[1])
    if not lost:
        levels = say.quantity(len(view.levels), "level")
        return f"No query loses its way: {queries(view.items)} through {levels}"
    so_far = "" if came == view.items else " that come so far"
    return f"Level {level.level} loses {lost} of {queries(came)}{so_far}{_mostly(view, level.level)}"


def _mostly(view: TreeView, level: int) -> str:
    """Returns the node that most of a level's losses concern, or an empty text if no node has two of them."""
    counts = {node.node_id: node.ended for node in view.nodes if node.level == level - 1 and level > 1}
    counts |= {node.node_id: node.passed_by for node in view.nodes if node.level == level and level == 1}
    best = max(view.nodes, key=lambda node: counts.get(node.node_id, 0))
    if counts.get(best.node_id, 0) < 2:
        return ""
    return f"; most {'at' if level == 1 else 'below'} {node_name(best)}"


def level_label(view: TreeView, level: int) -> str:
    """Returns the label of a row of the picture: `level 1: 16 nodes, 3 of 150 queries lost`."""
    if level == 0:
        return f"root: {say.quantity(view.passages, 'passage')}"
    found, lost, came = list(lost_by_level(view))[level - 1]
    return f"level {level}: {say.quantity(found.nodes, 'node')}, {lost} of {queries(came)} lost"


def node_words(node: TreeNode) -> str:
    """Returns everything that is known about a node, in a few sentences."""
    parts = [f"{node_name(node, 200)}.", f"{say.quantity(node.passages, 'passage')}."]
    if node.expanded:
        share = say.number(node.lost / node.expanded)
        came = f"{queries(node.expanded)} came here rightly"
        parts.append(f"{came}, {node.lost} took none of its right children ({share}).")
    if node.passed_by:
        parts.append(f"{queries(node.passed_by)} ended by not taking it.")
    if node.entities:
        parts.append(f"Names: {', '.join(node.entities)}.")
    if len(node.parents) > 1:
        parts.append(f"Parents: {', '.join(node.parents)}.")
    return say.printable(" ".join(parts))


def tree_errors(results: Results, arm: str) -> dict[tuple[int, str], Estimate]:
    """Returns the study's own estimates of the routing error, over all seeds, by level and kind of gold."""
    found = {}
    for one in results.estimates:
        spec, depth = say.parse_measure(one.measure)
        if spec.name == EPS and not one.where and Arm(one.system, one.factors).name == arm:
            level = depth.removeprefix("L")
            if level.isdecimal():
                found[int(level), str(spec.params.get("gold", ANY))] = one
    return found


def tree_line(results: Results, view: TreeView) -> str:
    """Returns a tree and its routing errors in one line."""
    errors = tree_errors(results, view.arm)
    told = []
    for each in view.levels:
        one = errors.get((each.level, ANY))
        measured = one is not None and one.value is not None
        value = one.value if one is not None and measured else each.lost / view.items if view.items else None
        told.append(f"L{each.level} {say.number(value)}")
    levels = f"{say.quantity(len(view.levels), 'level')}, {_sizes(view)}"
    where = f"; worst node {_worst(view)}" if _worst(view) else ""
    names = ", ".join([view.arm, *view.also])
    return f"tree of {names}: {levels}; routing error {', '.join(told)}{where}"


def _worst(view: TreeView) -> str:
    """Returns the node below the root that lost most queries, or that most lost queries should have taken."""
    found = [node for node in view.nodes if node.level and losses(node)]
    worst = max(found, key=losses, default=None)
    if worst is None:
        return ""
    if worst.lost >= worst.passed_by:
        return f"{node_name(worst)} ({worst.lost} of {queries(worst.expanded)} lost)"
    return f"{node_name(worst)} ({queries(worst.passed_by)} ended by not taking it)"


def losses(node: TreeNode) -> int:
    """Returns the larger of two numbers: queries that a node lost, and queries that passed it by."""
    return max(node.lost, node.passed_by)


def _sizes(view: TreeView) -> str:
    sizes = [str(each.nodes) for each in view.levels]
    return f"{say.name_list(sizes)} {'node' if sizes == ['1'] else 'nodes'}"


# ------------------------------------------------------------------------------------- routes


def stop_words(stop: str) -> str:
    """Returns why a candidate was not taken."""
    return _STOPS.get(stop, stop.replace("_", " "))


def route_title(route: Route) -> str:
    """Returns whether a query was lost, and at which level."""
    if route.lost is not None:
        return f"lost at level {route.lost}"
    if route.lost_part is not None:
        return f"a part of its evidence lost at level {route.lost_part}"
    return "got through"


def candidate_words(candidate: RouteCandidate) -> str:
    """Returns whether a candidate is right, and whether it was taken."""
    taken = "taken" if candidate.selected else stop_words(candidate.stop) or "not taken"
    return f"right, {taken}" if candidate.right else taken


def why_lost(level: RouteLevel) -> str:
    """Returns how far a right branch fell short: `L2:17 scored 0.31, the last one taken 0.44 (L2:4)`."""
    missed = next((each for each in level.shown if each.right and not each.selected), None)
    if missed is None:
        return ""
    stage = _FIRST if missed.stop == "cut" and _FIRST in missed.scores else SCORE
    rivals = [each for each in level.shown if each.selected and stage in each.scores]
    if missed.stop in ("cut", "expand"):
        rivals = [each for each in rivals if each.source == missed.source] or rivals
    if stage not in missed.scores or not rivals:
        return f"{missed.node_id} was not taken"
    last = min(rivals, key=lambda each: each.scores[stage])
    before = " before the rerank" if stage == _FIRST else ""
    own, other = (say.number(each.scores[stage]) for each in (missed, last))
    return f"{missed.node_id} scored {own}{before}, the last one taken {other} ({last.node_id})"


def race_line(route: Route) -> str:
    """Returns the path that won a query's race, and the others: `beam (0.62) over collapsed (0.55)`."""
    won = [step for step in route.race if step.selected]
    if not won:
        return ""
    others = [step for step in route.race if not step.selected]
    told = [f"{step.target} ({say.number(step.scores.get('confidence'))})" for step in (*won[:1], *others)]
    return f"{told[0]} over {say.name_list(told[1:])}" if others else told[0]


SHADES = (0.0, 0.02, 0.05, 0.1, 0.25)  # the largest share of error of each shade
NARROW = 80  # nodes of a level: with more, cells have no edges
NAMED = 5.0  # percent of the width: a wider cell shows its name
LABEL, HIGH, GAP = 28, 28, 10  # pixels: the words above a row, a row, the air below it

_OPEN = Markup('<svg class="icicle" width="100%" height="{}" role="group" aria-label="{}">')
_LABEL = Markup('<text class="level" x="0" y="{}">{}</text>')
_BAND = Markup('<rect class="rest" x="0" y="{}" width="100%" height="{}"/>')
_CELL = Markup(
    '<g class="cell {}" role="img" data-row="{}"><title>{}</title>'
    '<rect x="{:.3f}%" y="{}" width="{:.3f}%" height="{}"/>{}</g>'
)
_NAME = Markup('<text x="{:.2f}%" y="{}" text-anchor="middle">{}</text>')
_PASSED = Markup('<svg class="by" x="{:.3f}%" y="{}" overflow="visible"><path d="M-5 0h10l-5 8z"/></svg>')


def icicle(view: TreeView) -> Markup:
    """Draws the picture of a tree, with the root at the top."""
    nodes = sorted(view.nodes, key=lambda node: (node.level, node.start))
    whole = max((node.start + node.wide for node in nodes), default=1)
    rows = {level: list(row) for level, row in groupby(nodes, key=lambda node: node.level)}
    sizes = [1, *(each.nodes for each in view.levels)]
    high = LABEL + HIGH + GAP
    parts = [_OPEN.format(len(sizes) * high, f"The tree of {view.arm}, one row per level")]
    for level, size in enumerate(sizes):
        top = level * high
        parts += [_LABEL.format(top + 13, level_label(view, level)), _BAND.format(top + LABEL, HIGH)]
        fine = " fine" if size > NARROW else ""
        parts += [_cell(node, whole, top + LABEL, fine) for node in rows.get(level, ())]
    return Markup().join(parts) + Markup("</svg>")


def step_of(node: TreeNode) -> str:
    """Returns the shade of a node by its share of errors, or `never` if no query came to the node."""
    return f"e{bisect_left(SHADES, node.lost / node.expanded)}" if node.expanded else "never"


def shades() -> list[tuple[str, str]]:
    """Returns every shade with its meaning."""
    found, below = [("never", "no query came")], None
    for step, share in enumerate(SHADES):
        found.append((f"e{step}", "0" if below is None else f"up to {share:g}"))
        below = share
    return [*found, (f"e{len(SHADES)}", f"above {SHADES[-1]:g}")]


def _cell(node: TreeNode, whole: int, top: int, fine: str) -> Markup:
    """Draws the cell of a node. A cell with few queries has half the height.

    A triangle stands above a node that queries passed by.
    """
    left, wide = 100 * node.start / whole, 100 * node.wide / whole
    few = 0 < node.expanded < say.FEW
    y, high = (top + HIGH // 2, HIGH // 2) if few else (top, HIGH)
    more = _NAME.format(left + wide / 2, y + high // 2 + 4, node.node_id) if wide >= NAMED else Markup()
    if node.passed_by:
        more += _PASSED.format(left + wide / 2, top - 9)
    return _CELL.format(step_of(node) + fine, node.level, node_words(node), left, y, wide, high, more)
