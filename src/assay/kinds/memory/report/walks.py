"""How each system walked on each item, in the form that reports need: its paths, compared with the gold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

import msgspec

from assay.core.block import Block
from assay.core.dataset import Dataset
from assay.core.records import PATH, Item, Response, Step
from assay.core.results import ItemView, Results
from assay.kinds.memory.walk import (
    SEED,
    SPREAD,
    ExpectedPath,
    ExpectedStep,
    follows,
    paths_of,
    ranked_ids,
    reached_nodes,
)
from assay.report.items import Grid, changes, score_grid

DRAWN = 24  # the most items whose walks are drawn
KEPT = 400  # the most steps that are kept of one trace
WORDS = 60  # the most characters of the text of a node
_MATCHES = {
    "exact": "exactly these",
    "prefix": "beginning with these",
    "subsequence": "these in this order, others may stand between",
}


class ArmWalk(msgspec.Struct, frozen=True):
    """How an arm came to its hits. Only items that are drawn have more than the best path."""

    path: list[Step]
    trace: list[Step] = []
    left_out: int = 0  # how many steps of the trace are not kept
    ranks: dict[str, int] = {}  # the ranks of expected nodes among the hits
    reached: list[str] = []  # the expected nodes that a spread reached


class WalkedItem(ItemView, frozen=True):
    """An item with the walk of each arm."""

    path: ExpectedPath | None = None  # the path that its gold names
    best_only: bool = False  # whether only the best path may match the expected one
    walks: Mapping[str, ArmWalk] = msgspec.field(default_factory=dict)  # by arm name
    nodes: Mapping[str, str] = msgspec.field(default_factory=dict)  # the first words of drawn nodes

    @classmethod
    def of(cls, view: ItemView, item: Item, walks: Mapping[str, ArmWalk]) -> WalkedItem:
        best_only = item.gold.get("path_scope") == "best_path"
        shown = msgspec.structs.asdict(view)
        return cls(**shown, path=expected_path(item), best_only=best_only, walks=walks)


class StepComparison(NamedTuple):
    """An expected step, and whether a path has it."""

    step: ExpectedStep
    walked: bool
    edge: str | None  # the edge that was walked instead of the expected one, if it differs


def walk_of(response: Response) -> ArmWalk | None:
    """Returns the best path of a response; None if its trace does not describe a walk."""
    if not any(step.kind in (PATH, SEED, SPREAD) for step in response.trace):
        return None
    return ArmWalk(next(iter(paths_of(response)), []))


def expected_path(item: Item) -> ExpectedPath | None:
    """Returns the path that the gold of an item names; None if there is no path or it has another form."""
    try:
        return msgspec.convert(item.gold.get("path"), ExpectedPath)
    except msgspec.ValidationError:
        return None


def matching_path(
    expected: ExpectedPath, walked: Sequence[Sequence[Step]], best_only: bool = False
) -> int | None:
    """Returns the place of the first path that is as expected; None if there is none."""
    for place, path in enumerate(walked[:1] if best_only else walked):
        if follows(expected.steps, path, expected.match_mode, ExpectedStep.fits):
            return place
    return None


def compare_steps(expected: ExpectedPath, path: Sequence[Step]) -> list[StepComparison]:
    """Compares an expected path with a path that was walked: whether each step was walked, in that order."""
    nodes = [step.node_id for step in expected.steps]
    matcher = SequenceMatcher(None, nodes, [step.target for step in path], autojunk=False)
    met = {
        block.a + offset: path[block.b + offset]
        for block in matcher.get_matching_blocks()
        for offset in range(block.size)
    }
    return [
        StepComparison(
            step, place in met, met[place].edge if place in met and not step.fits(met[place]) else None
        )
        for place, step in enumerate(expected.steps)
    ]


# ------------------------------------------------------------------------------------- in words


def short_ids(ids: Iterable[str]) -> list[str]:
    """Returns ids without the stem that each shares with the id before it: `msa:3`, `2`, `1`."""
    found, before = [], None
    for each in ids:
        stem, colon, rest = each.rpartition(":")
        found.append(rest if colon and rest and stem == before else each)
        before = stem if colon else None
    return found


def path_line(path: Sequence[Step]) -> str:
    """Returns a path in one line: `msa:3 -depends_on-> 2 -exception_to-> 1`."""
    names = short_ids(step.target for step in path)
    edges = ["", *(f" -{step.edge or ''}-> " for step in path[1:])]
    return "".join(edge + name for edge, name in zip(edges, names, strict=False))


def arrows(ids: Iterable[str]) -> str:
    """Returns ids in one line, joined by arrows: `msa:3 → 2 → 1`."""
    return " → ".join(short_ids(ids))


def walk_title(item: WalkedItem, walked: Sequence[Sequence[Step]], found: set[str]) -> str:
    """Returns the outcome of a walk in one line."""
    if not walked or not walked[0]:
        return "No path came back"
    nodes = [step.target for step in walked[0]]
    title = f"Walked {arrows(nodes)}" if len(nodes) > 1 else f"Stayed at {arrows(nodes)}"
    if item.path is None:
        wanted = {each.target for each in item.expected}
        return f"{title}: {len(wanted & found)} of {len(wanted)} expected on a path" if wanted else title
    expected = [step.node_id for step in item.path.steps]
    place = matching_path(item.path, walked, item.best_only)
    if place is None and nodes == expected:
        return f"{title}, but by other edges than expected"
    if place is None:
        return f"{title}, expected {arrows(expected)}"
    if place:
        return f"{title}; path {place + 1} is the expected one, {arrows(expected)}"
    if len(nodes) == len(expected):
        return f"{title}: the expected path"
    return f"{title}: the expected path {arrows(expected)} is in it"


def match_words(item: WalkedItem) -> str:
    """Returns in words how strictly the expected path must match, and which paths may match it."""
    if item.path is None:
        return ""
    return f"{_MATCHES[item.path.match_mode]}, by {'the best' if item.best_only else 'any'} path"


# ---------------------------------------------------------------------------------- which items


def walked_items(
    results: Results, blocks: Sequence[Block], datasets: Mapping[str, Dataset]
) -> list[WalkedItem]:
    """Returns the items that at least one arm walked. Only items that are drawn have traces.

    The other items have only the best path, because all traces of a study can be larger than everything else
    in it.
    """
    shown = {item.item_id: item for item in results.items}
    given: dict[str, dict[str, Response]] = {}
    items: dict[str, Item] = {}
    seeds: dict[str, int] = {}
    for block in blocks:
        if seeds.setdefault(block.arm.name, block.seed) != block.seed:
            continue  # only the first seed, as in every view of an item
        for item, response in zip(block.items, block.responses, strict=True):
            if item.item_id in shown and response is not None and walk_of(response) is not None:
                given.setdefault(item.item_id, {})[block.arm.name] = response
                items.setdefault(item.item_id, item)
    walked = []
    for item_id, view in shown.items():
        if item_id in given:
            walks = {arm: walk for arm, each in given[item_id].items() if (walk := walk_of(each))}
            walked.append(WalkedItem.of(view, items[item_id], walks))
    chosen = {item.item_id for item in drawn_items(results, walked, score_grid(results))}
    return [
        _with_traces(item, given[item.item_id], datasets) if item.item_id in chosen else item
        for item in walked
    ]


def _with_traces(
    item: WalkedItem, given: Mapping[str, Response], datasets: Mapping[str, Dataset]
) -> WalkedItem:
    """Returns the item with its traces, the ranks of expected nodes, and which of them a spread reached."""
    steps = item.path.steps if item.path is not None else []
    wanted = dict.fromkeys([*(each.target for each in item.expected), *(step.node_id for step in steps)])
    walks, nodes = {}, {each.target: each.text for each in item.expected}
    for arm, walk in item.walks.items():
        response = given[arm]
        places = {node: place for place, node in enumerate(ranked_ids(response), 1)}
        has_spread = any(step.kind in (SEED, SPREAD) for step in response.trace)
        came_to = reached_nodes(response) if has_spread else set()
        kept = response.trace[:KEPT]
        walks[arm] = ArmWalk(
            walk.path,
            kept,
            len(response.trace) - len(kept),
            {node: places[node] for node in wanted if node in places},
            [node for node in wanted if node in came_to],
        )
        for node in dict.fromkeys(end for step in (*walk.path, *kept) for end in (step.target, step.source)):
            if node is not None and node not in nodes:
                nodes[node] = datasets[arm].corpus.text_of(node) or ""
    texts = {node: " ".join(text[: 2 * WORDS].split())[:WORDS] for node, text in nodes.items()}
    return msgspec.structs.replace(item, walks=walks, nodes=texts)


def drawn_items(results: Results, items: Sequence[WalkedItem], grid: Grid) -> list[WalkedItem]:
    """Returns the items whose walks are drawn, at most `DRAWN`: first the items that name a path.

    Within both groups, items whose scores got worse come first, then items with the lowest scores. An item
    that expects nothing cannot be walked well or badly, so it is drawn only if no item expects anything.
    """
    walked = {item.item_id: item for item in items if item.walks}
    expecting = {name: item for name, item in walked.items() if item.expected or item.path or item.expects}
    walked = expecting or walked
    if not walked:
        return []
    flips = [flip for change in changes(results, grid) for flip in change.flips]
    order = [flip.item.item_id for flip in sorted(flips, key=lambda flip: flip.gain) if flip.gain < 0]
    order += sorted(walked, key=lambda item_id: _lowest_score(results, grid, walked[item_id]))
    found = [walked[item_id] for item_id in dict.fromkeys(order) if item_id in walked]
    return sorted(found, key=lambda item: item.path is None)[:DRAWN]


def _lowest_score(results: Results, grid: Grid, item: WalkedItem) -> float:
    """Returns the worst score of the arms that walked, on the first measure with a score for the item.

    If lower is better on that measure, the score is negated. Without any score, the result is infinity.
    """
    for measure in results.measures:
        cells = [grid.get((arm, measure.name), {}).get(item.item_id) for arm in item.walks]
        values = [cell.value for cell in cells if cell is not None and cell.value is not None]
        if values:
            return min(values) if measure.better == "higher" else -max(values)
    return float("inf")
