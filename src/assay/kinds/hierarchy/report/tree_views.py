"""From answers to trees that can be shown: a view for each arm that routes in a tree, of its first seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from assay.core.block import SCORED, Block
from assay.core.errors import DataError
from assay.core.records import Node
from assay.kinds.hierarchy.measures.tree import VISITED, PublishedTree, cases
from assay.kinds.hierarchy.measures.tree_quality import Embed, coverage, node_errors, tree_quality
from assay.kinds.hierarchy.report.tree_data import TreeLevel, TreeNode, TreeView
from assay.kinds.hierarchy.report.tree_routes import Passing, race_of, routes_of
from assay.kinds.hierarchy.report.tree_wording import losses
from assay.report.wording import shorten

NODES = 600  # kept of one tree: the upper levels whole, below them those with losses, worst first
ABOUT = 160  # characters kept of what a node is about
ENTITIES = 6  # names kept of it
PASSAGES = "passages"


def tree_views(blocks: Sequence[Block], by: Sequence[str], embed: Embed) -> list[TreeView]:
    """The trees that arms route in; arms that fare alike in one tree share it."""
    first: dict[str, Block] = {}
    for block in blocks:
        first.setdefault(block.arm.name, block)
    groups: list[list[tuple[TreeView, Block]]] = []
    for block in first.values():
        view = tree_view(block, list(first.values()), by)
        if view is not None:
            alike = (group for group in groups if _bare(group[0][0]) == _bare(view))
            group = next(alike, None)
            if group is None:
                groups.append(group := [])
            group.append((view, block))
    return [_shared(group, embed) for group in groups]


def _bare(view: TreeView) -> TreeView:
    """A view without what arms may differ in that fare alike: how much they look at, and by which path."""
    levels = [msgspec.structs.replace(each, visited=None) for each in view.levels]
    return msgspec.structs.replace(view, arm="", levels=levels, routes=[], race=None, visited=None)


def _shared(group: Sequence[tuple[TreeView, Block]], embed: Embed) -> TreeView:
    """One view of several: that of an arm that races where there is one, for it has more to tell."""
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
    """How an arm fares in its tree; None where it has none, or routes nothing that has evidence."""
    if block.structure is None:
        return None
    passings = _passings(block)
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
        routes=routes_of(passings, abouts),
        race=race_of(block, blocks, by),
        visited=visited.get(PASSAGES),
    )


def _passings(block: Block) -> list[Passing]:
    """The answered items whose evidence lies in the tree of the whole corpus."""
    try:
        found = cases(block)
    except DataError:  # gold in a form of its own: measures that cannot read it say so themselves
        return []
    rows = zip(block.items, block.responses, found, block.asked.tolist(), strict=True)
    passings = [
        Passing(item, response, case)
        for item, response, case, status in rows
        if case is not None and response is not None and status == SCORED and item.scope is None
    ]
    return [each for each in passings if each.counts]


def _visited(passings: Iterable[Passing]) -> dict[str, float]:
    """The mean share of what was scored, by what it is: `L2`, `passages`."""
    shares: dict[str, list[float]] = {}
    for each in passings:
        for step in each.response.trace:
            if step.kind == VISITED and step.scores.get("of"):
                shares.setdefault(step.target, []).append(step.scores.get("nodes", 0) / step.scores["of"])
    return {what: sum(found) / len(found) for what, found in shares.items()}


# --------------------------------------------------------------------------------------- nodes


def _nodes(block: Block, tree: PublishedTree, passings: Sequence[Passing]) -> list[TreeNode]:
    """The nodes that are shown, level by level, in the order in which they stand."""
    errors = node_errors(block)
    passed = Counter(node for each in passings for node in {step.target for step in each.passed_by})
    ended = Counter(node for each in passings for node in {step.source for step in each.passed_by})
    layout, below = _layout(tree), _below(tree)
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
    return kept_nodes(found, NODES)


def kept_nodes(levels: Sequence[Sequence[TreeNode]], most: int) -> list[TreeNode]:
    """The upper levels whole, as far as they go; below them the nodes with losses, worst first."""
    kept: list[TreeNode] = []
    whole = True
    for level in levels:
        whole = whole and len(kept) + len(level) <= most
        lossy = sorted((node for node in level if losses(node)), key=lambda node: -losses(node))
        chosen = level if whole else lossy[: max(most - len(kept), 0)]
        kept += sorted(chosen, key=lambda node: node.start)
    return kept


def _below(tree: PublishedTree) -> dict[str, set[str]]:
    """The passages below each node, each once however many ways lead to it."""
    found = {node.node_id: {node.doc_id} for node in tree.structure.nodes if node.doc_id is not None}
    for node_id in sorted(tree.level, key=lambda each: -tree.level[each]):
        held = (found.get(child, set()) for child in tree.children.get(node_id, ()))
        found[node_id] = found.get(node_id, set()).union(*held)
    return found


def _layout(tree: PublishedTree) -> dict[str, tuple[int, int]]:
    """Where each node stands and how wide it is; one with several parents stands below the first."""
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
    """The first line of what a node says of itself."""
    return (node.about or "").partition("\n")[0]
