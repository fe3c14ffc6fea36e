"""Makes trees and routes that can be shown from the answers of each arm's first seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf

import msgspec

from assay.core.block import SCORED, Block
from assay.core.errors import DataError
from assay.core.records import Item, Node, Response, Step
from assay.kinds.hierarchy.measures.tree import (
    LINK,
    VISITED,
    Embed,
    PublishedTree,
    RoutedItem,
    coverage,
    node_errors,
    routed_items,
    tree_quality,
)
from assay.kinds.hierarchy.report.tree_words import (
    SCORE,
    RaceShares,
    Route,
    RouteCandidate,
    RouteLevel,
    TreeLevel,
    TreeNode,
    TreeView,
    losses,
    why_lost,
)
from assay.report.wording import shorten, where_text

LOST, THROUGH = 3, 2  # routes kept: for each level that lost queries or parts, and of those that got through
BEST, RIGHT = 4, 3  # candidates shown of a level: the first, and the first of the right ones
LINKS, EVIDENCE = 8, 12  # links and passages kept of one route
CANDIDATE_ABOUT = 80  # characters kept of what a candidate is about
RACE = "race"


@dataclass(frozen=True)
class RoutedAnswer:
    """One item that was routed, or should have been, and the evidence that each level kept."""

    item: Item
    response: Response
    case: RoutedItem

    @property
    def counts(self) -> bool:
        """Whether the answer says anything about routing. It does not if its path does not use the tree."""
        return self.case.descent is not None or not self.response.trace

    @cached_property
    def lost(self) -> int | None:
        """The first level that kept none of its right branches, or None."""
        return next((level for level in self._levels if self._all_lost(level)), None)

    @cached_property
    def lost_part(self) -> int | None:
        """The first level that kept no branch to some part of the evidence, or None."""
        return next((level for level in self._levels if self._part_lost(level)), None)

    @property
    def _levels(self) -> range:
        return range(1, self.case.tree.depth + 1)

    def kept(self, level: int) -> frozenset[str]:
        """Returns the nodes of a level that were kept."""
        return self.case.descent.selected(level) if self.case.descent else frozenset()

    def _all_lost(self, level: int) -> bool:
        ways = self.case.ways(level)
        return bool(ways) and all(way.isdisjoint(self.kept(level)) for way in ways)

    def _part_lost(self, level: int) -> bool:
        return any(way.isdisjoint(self.kept(level)) for way in self.case.ways(level))

    @property
    def passed_by(self) -> list[Step]:
        """The right branches that could have been taken at the level where the query was lost."""
        if self.lost is None or self.case.descent is None:
            return []
        right = self.case.correct(self.lost)
        return [step for step in self.case.descent.candidates(self.lost) if step.target in right]


def notable_routes(passings: Sequence[RoutedAnswer], abouts: Mapping[str, str]) -> list[Route]:
    """Returns the routes that readers look at first: lost routes by level, then some that were not lost."""
    groups: dict[tuple[int, int], list[RoutedAnswer]] = {}
    for each in passings:
        if each.case.descent is not None:
            part = _LAST if each.lost else each.lost_part or _LAST
            groups.setdefault((each.lost or _LAST, part), []).append(each)
    found = []
    for place, group in sorted(groups.items()):
        most = THROUGH if place == (_LAST, _LAST) else LOST
        found += [_route(each, abouts) for each in group[:most]]
    return found


_LAST = 10**6  # a level below all others


def _route(passing: RoutedAnswer, abouts: Mapping[str, str]) -> Route:
    case, trace = passing.case, passing.response.trace
    levels = [
        level for level in (_level(case, at, abouts) for at in range(1, case.tree.depth + 1)) if level.of
    ]
    at = passing.lost or passing.lost_part
    why = next((why_lost(level) for level in levels if level.level == at), "")
    return Route(
        passing.item.item_id,
        [msgspec.structs.replace(level, shown=_notable_candidates(level.shown)) for level in levels],
        passing.lost,
        passing.lost_part,
        why,
        sorted(case.doc_ids)[:EVIDENCE],
        [step for step in trace if step.kind == LINK][:LINKS],
        [step for step in trace if step.kind == RACE],
    )


def _level(case: RoutedItem, level: int, abouts: Mapping[str, str]) -> RouteLevel:
    """Returns all candidates of a level, the best first, each once."""
    best: dict[str, Step] = {}
    steps = case.descent.candidates(level) if case.descent else []
    for step in sorted(steps, key=lambda step: (not step.selected, -step.scores.get(SCORE, -inf))):
        best.setdefault(step.target, step)
    ordered = sorted(best.values(), key=lambda step: -step.scores.get(SCORE, -inf))
    right = case.correct(level)
    shown = [
        RouteCandidate(
            step.target,
            rank,
            step.scores,
            step.selected,
            step.target in right,
            step.source or "",
            step.stop or "",
            shorten(abouts.get(step.target, ""), CANDIDATE_ABOUT),
        )
        for rank, step in enumerate(ordered, 1)
    ]
    return RouteLevel(level, len(shown), sum(each.selected for each in shown), shown)


def _notable_candidates(candidates: Sequence[RouteCandidate]) -> list[RouteCandidate]:
    """Returns the best candidates, the first right ones, the last one taken and the first one not taken."""
    taken = [each for each in candidates if each.selected]
    others = [each for each in candidates if not each.selected]
    right = [each for each in candidates if each.right]
    ranks = {each.rank for each in (*candidates[:BEST], *right[:RIGHT], *taken[-1:], *others[:1])}
    return [each for each in candidates if each.rank in ranks]


# --------------------------------------------------------------------------------------- race


def race_shares(block: Block, others: Sequence[Block], by: Sequence[str]) -> RaceShares | None:
    """Returns how often each path was taken, over all items and by tag, or None if no paths raced."""
    won: dict[str, Counter[str]] = {}
    paths: dict[str, None] = {}
    for item, response in zip(block.items, block.responses, strict=True):
        steps = [step for step in (response.trace if response else ()) if step.kind == RACE]
        paths.update(dict.fromkeys(step.target for step in steps))
        for step in (step for step in steps if step.selected):
            for where in _slices(item, by):
                won.setdefault(where, Counter())[step.target] += 1
    if not won:
        return None
    alone: dict[str, str] = {}
    for other in others:
        route = _only_route(other)
        if route in paths and other.arm != block.arm and other.arm.factors == block.arm.factors:
            alone.setdefault(route, other.arm.name)
    counts = {where: [count[path] for path in paths] for where, count in sorted(won.items())}
    return RaceShares(block.arm.name, list(paths), counts, alone)


def _slices(item: Item, by: Sequence[str]) -> Iterator[str]:
    yield ""
    yield from (where_text({tag: value}) for tag in by for value in item.values(tag))


def _only_route(block: Block) -> str:
    """Returns the route that an arm takes on every item. Empty if it takes several routes, or races."""
    answered = [response for response in block.responses if response is not None and not response.error]
    routes = {response.route for response in answered}
    raced = any(step.kind == RACE for response in answered for step in response.trace)
    return (routes.pop() or "") if len(routes) == 1 and not raced else ""


NODES = 600  # kept of one tree: the upper levels whole, below them those with losses, worst first
ABOUT = 160  # characters kept of what a node is about
ENTITIES = 6  # names kept of it
PASSAGES = "passages"


def tree_views(blocks: Sequence[Block], by: Sequence[str], embed: Embed) -> list[TreeView]:
    """Returns the trees that arms route in. Arms with the same tree and the same losses share a view."""
    first: dict[str, Block] = {}
    for block in blocks:
        first.setdefault(block.arm.name, block)
    groups: list[list[tuple[TreeView, Block]]] = []
    for block in first.values():
        view = tree_view(block, list(first.values()), by)
        if view is not None:
            alike = (group for group in groups if _comparable(group[0][0]) == _comparable(view))
            group = next(alike, None)
            if group is None:
                groups.append(group := [])
            group.append((view, block))
    return [_merge_views(group, embed) for group in groups]


def _comparable(view: TreeView) -> TreeView:
    """Returns a view without the facts that may differ between arms that share a view."""
    levels = [msgspec.structs.replace(each, visited=None) for each in view.levels]
    return msgspec.structs.replace(view, arm="", levels=levels, routes=[], race=None, visited=None)


def _merge_views(group: Sequence[tuple[TreeView, Block]], embed: Embed) -> TreeView:
    """Returns one view for several arms. The view of a racing arm is used first, because it shows more."""
    chosen = next((pair for pair in group if pair[0].race is not None), group[0])
    also = [view.arm for view, _ in group if view.arm != chosen[0].arm]
    view, block = chosen
    if block.structure is None:
        return view
    quality = {each.level: each for each in tree_quality(block.structure, embed)}
    levels = [
        msgspec.structs.replace(each, apart=found.distinctiveness, overlap=found.overlap)
        for each in view.levels
        for found in [quality[each.level]]
    ]
    return msgspec.structs.replace(view, levels=levels, also=also)


def tree_view(block: Block, blocks: Sequence[Block], by: Sequence[str]) -> TreeView | None:
    """Returns an arm's results in its tree. None if it has no tree, or routes no query with evidence."""
    if block.structure is None:
        return None
    passings = _routed_answers(block)
    if not any(each.case.descent is not None for each in passings):
        return None
    tree = passings[0].case.tree
    visited = _visited(passings)
    losses = Counter(each.lost for each in passings)
    parts = Counter(each.lost_part for each in passings)
    sizes = Counter(tree.level.values())
    upto = range(1, tree.depth + 1)
    levels = [
        TreeLevel(
            level,
            sizes[level],
            sum(losses[at] for at in range(1, level + 1)),
            sum(parts[at] for at in range(1, level + 1)),
            visited.get(f"L{level}"),
        )
        for level in upto
    ]
    abouts = {node.node_id: _theme(node) for node in block.structure.nodes}
    return TreeView(
        block.arm.name,
        block.seed,
        len(passings),
        len(tree.passages),
        coverage(block.structure),
        levels,
        _nodes(block, tree, passings),
        routes=notable_routes(passings, abouts),
        race=race_shares(block, blocks, by),
        visited=visited.get(PASSAGES),
    )


def _routed_answers(block: Block) -> list[RoutedAnswer]:
    """Returns the answered items whose evidence lies in the tree of the whole corpus."""
    try:
        found = routed_items(block)
    except DataError:  # gold in another form: measures that cannot read it report that
        return []
    rows = zip(block.items, block.responses, found, block.asked.tolist(), strict=True)
    passings = [
        RoutedAnswer(item, response, case)
        for item, response, case, status in rows
        if case is not None and response is not None and status == SCORED and item.scope is None
    ]
    return [each for each in passings if each.counts]


def _visited(passings: Iterable[RoutedAnswer]) -> dict[str, float]:
    """Returns the mean share of the nodes or passages that was scored, by name: `L2`, `passages`."""
    shares: dict[str, list[float]] = {}
    for each in passings:
        for step in each.response.trace:
            if step.kind == VISITED and step.scores.get("of"):
                shares.setdefault(step.target, []).append(step.scores.get("nodes", 0) / step.scores["of"])
    return {what: sum(found) / len(found) for what, found in shares.items()}


# --------------------------------------------------------------------------------------- nodes


def _nodes(block: Block, tree: PublishedTree, passings: Sequence[RoutedAnswer]) -> list[TreeNode]:
    """Returns the nodes to show, level by level, in the order of the picture."""
    errors = node_errors(block)
    passed = Counter(node for each in passings for node in {step.target for step in each.passed_by})
    ended = Counter(node for each in passings for node in {step.source for step in each.passed_by})
    layout, below = _layout(tree), _passages_below(tree)
    found: list[list[TreeNode]] = [[] for _ in range(tree.depth + 1)]
    for node in tree.structure.nodes:
        if node.level is None or node.node_id not in layout:
            continue
        error = errors.get(node.node_id)
        found[node.level].append(
            TreeNode(
                node.node_id,
                node.level,
                *layout[node.node_id],
                len(below.get(node.node_id, ())),
                tree.parents.get(node.node_id, []),
                shorten(_theme(node), ABOUT),
                node.entities[:ENTITIES],
                error.expanded if error else 0,
                error.lost if error else 0,
                ended[node.node_id],
                passed[node.node_id],
            )
        )
    return select_nodes(found, NODES)


def select_nodes(levels: Sequence[Sequence[TreeNode]], most: int) -> list[TreeNode]:
    """Returns at most `most` nodes: the upper levels complete, and below them the nodes with most losses."""
    kept: list[TreeNode] = []
    whole = True
    for level in levels:
        whole = whole and len(kept) + len(level) <= most
        lossy = sorted((node for node in level if losses(node)), key=lambda node: -losses(node))
        chosen = level if whole else lossy[: max(most - len(kept), 0)]
        kept += sorted(chosen, key=lambda node: node.start)
    return kept


def _passages_below(tree: PublishedTree) -> dict[str, set[str]]:
    """Returns the passages below each node. A passage counts once, even if several ways lead to it."""
    found = {node.node_id: {node.doc_id} for node in tree.structure.nodes if node.doc_id is not None}
    for node_id in sorted(tree.level, key=lambda each: -tree.level[each]):
        held = (found.get(child, set()) for child in tree.children.get(node_id, ()))
        found[node_id] = found.get(node_id, set()).union(*held)
    return found


def _layout(tree: PublishedTree) -> dict[str, tuple[int, int]]:
    """Returns start and width of each node in the picture. Each node stands below its first parent."""
    placed: dict[str, list[str]] = {}
    for node_id in tree.level:
        placed.setdefault(tree.parents.get(node_id, [""])[0], []).append(node_id)
    wide: dict[str, int] = {}
    for node_id in sorted(tree.level, key=lambda each: -tree.level[each]):
        own = sum(child not in tree.level for child in tree.children.get(node_id, ()))
        wide[node_id] = max(own + sum(wide[child] for child in placed.get(node_id, ())), 1)
    found: dict[str, tuple[int, int]] = {}
    at = 0
    for root in (node for node, level in tree.level.items() if level == 0):
        found[root] = (at, wide[root])
        at += wide[root]
    for node_id in sorted(found.keys() | placed.keys(), key=lambda each: tree.level.get(each, -1)):
        start = found.get(node_id, (0, 0))[0]
        for child in placed.get(node_id, ()) if node_id in found else ():
            found[child] = (start, wide[child])
            start += wide[child]
    return found


def _theme(node: Node) -> str:
    """Returns the first line of the text about a node."""
    return (node.about or "").partition("\n")[0]
