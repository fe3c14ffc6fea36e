"""What a tree and a route say in words: where queries are lost, by how much, and which branch it was."""

from __future__ import annotations

from collections.abc import Iterator

from assay.core.records import Arm, Estimate
from assay.core.results import Results
from assay.kinds.hierarchy.report.tree_data import (
    Route,
    RouteCandidate,
    RouteLevel,
    TreeLevel,
    TreeNode,
    TreeView,
)
from assay.report import wording as say

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
    """`1 query`, `2 queries`."""
    return f"{count} {'query' if count == 1 else 'queries'}"


def node_name(node: TreeNode, limit: int = ABOUT) -> str:
    """A node with what it is about: `L1:4, contracts and vendors`."""
    return f"{node.node_id}, {say.shorten(node.about, limit)}" if node.about else node.node_id


def lost_by_level(view: TreeView) -> Iterator[tuple[TreeLevel, int, int]]:
    """Each level with the queries that it loses, and how many came so far."""
    above = 0
    for level in view.levels:
        yield level, level.lost - above, view.items - above
        above = level.lost


def tree_title(view: TreeView) -> str:
    """Which level loses most, and where: the answer that the picture gives."""
    if not view.items:
        return "No query has its evidence in this tree"
    level, lost, came = max(lost_by_level(view), key=lambda each: each[1])
    if not lost:
        levels = say.quantity(len(view.levels), "level")
        return f"No query loses its way: {queries(view.items)} through {levels}"
    so_far = "" if came == view.items else " that come so far"
    return f"Level {level.level} loses {lost} of {queries(came)}{so_far}{_mostly(view, level.level)}"


def _mostly(view: TreeView, level: int) -> str:
    """The node that most of a level's losses are about; nothing where each is about another."""
    counts = {node.node_id: node.ended for node in view.nodes if node.level == level - 1 and level > 1}
    counts |= {node.node_id: node.passed_by for node in view.nodes if node.level == level and level == 1}
    best = max(view.nodes, key=lambda node: counts.get(node.node_id, 0))
    if counts.get(best.node_id, 0) < 2:
        return ""
    return f"; most {'at' if level == 1 else 'below'} {node_name(best)}"


def level_label(view: TreeView, level: int) -> str:
    """What a row of the picture is: `level 1: 16 nodes, 3 of 150 queries lost`."""
    if level == 0:
        return f"root: {say.quantity(view.passages, 'passage')}"
    found, lost, came = list(lost_by_level(view))[level - 1]
    return f"level {level}: {say.quantity(found.nodes, 'node')}, {lost} of {queries(came)} lost"


def node_words(node: TreeNode) -> str:
    """All that is known of a node, in a few sentences."""
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
    """The study's own figures of the routing error, over all seeds, by level and kind of gold."""
    found = {}
    for one in results.estimates:
        spec, depth = say.parse_measure(one.measure)
        if spec.name == EPS and not one.where and Arm(one.system, one.factors).name == arm:
            level = depth.removeprefix("L")
            if level.isdecimal():
                found[int(level), str(spec.params.get("gold", ANY))] = one
    return found


def tree_line(results: Results, view: TreeView) -> str:
    """A tree in one line."""
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
    """The node below the root where most queries were lost, or that most should have taken."""
    found = [node for node in view.nodes if node.level and losses(node)]
    worst = max(found, key=losses, default=None)
    if worst is None:
        return ""
    if worst.lost >= worst.passed_by:
        return f"{node_name(worst)} ({worst.lost} of {queries(worst.expanded)} lost)"
    return f"{node_name(worst)} ({queries(worst.passed_by)} ended by not taking it)"


def losses(node: TreeNode) -> int:
    """The queries that were lost at a node, in either way."""
    return max(node.lost, node.passed_by)


def _sizes(view: TreeView) -> str:
    sizes = [str(each.nodes) for each in view.levels]
    return f"{say.name_list(sizes)} {'node' if sizes == ['1'] else 'nodes'}"


# ------------------------------------------------------------------------------------- routes


def stop_words(stop: str) -> str:
    """Why a candidate was not taken."""
    return _STOPS.get(stop, stop.replace("_", " "))


def route_title(route: Route) -> str:
    """What became of a query."""
    if route.lost is not None:
        return f"lost at level {route.lost}"
    if route.lost_part is not None:
        return f"a part of its evidence lost at level {route.lost_part}"
    return "got through"


def candidate_words(candidate: RouteCandidate) -> str:
    """Whether a candidate is right, and what became of it."""
    taken = "taken" if candidate.selected else stop_words(candidate.stop) or "not taken"
    return f"right, {taken}" if candidate.right else taken


def why_lost(level: RouteLevel) -> str:
    """How the best right branch of a level fell short: `L2:17 scored 0.31, the last one taken 0.44`."""
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
    """Which path a query's race took: `beam (0.62) over collapsed (0.55)`."""
    won = [step for step in route.race if step.selected]
    if not won:
        return ""
    others = [step for step in route.race if not step.selected]
    told = [f"{step.target} ({say.number(step.scores.get('confidence'))})" for step in (*won[:1], *others)]
    return f"{told[0]} over {say.name_list(told[1:])}" if others else told[0]
