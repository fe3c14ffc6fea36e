"""What a trace says of the way to an answer: its paths, its spreads, and how they meet what was expected."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    ExpectedStep,
    WantedPath,
    follows,
    paths_of,
    ranked_ids,
    reached_nodes,
    spreads_of,
)
from assay.report.flips import Grid, changes, score_grid

WALKED = frozenset({PATH, SEED, SPREAD})  # a trace without any of these is no walk
DRAWN = 24  # items whose walk is kept whole
KEPT = 400  # steps of one trace
WORDS = 60  # characters kept of a node's text
_MATCHES = {  # a way in words, by how strictly it is meant
    "exact": "exactly these",
    "prefix": "beginning with these",
    "subsequence": "these in this order, others may stand between",
}


class ExpectedPath(msgspec.Struct, frozen=True):
    """The way that an item's gold says should be walked, by any path or by the best one only."""

    wanted: WantedPath
    best_only: bool = False


class ArmWalk(msgspec.Struct, frozen=True):
    """How an arm came to its hits: the best path, and the whole trace of the few items that are drawn."""

    path: list[Step]
    trace: list[Step] = []
    left_out: int = 0  # steps of the trace beyond those kept
    ranks: dict[str, int] = {}  # of what was expected, where it is among the hits
    reached: list[str] = []  # of what was expected, what a spread came to


class WalkedItem(ItemView, frozen=True):
    """An item with the way that each arm came to its hits."""

    path: ExpectedPath | None = None  # the way it should be walked, where that decides
    walks: Mapping[str, ArmWalk] = msgspec.field(default_factory=dict)  # by arm name
    nodes: Mapping[str, str] = msgspec.field(
        default_factory=dict
    )  # the first words of what a drawn walk touches

    @classmethod
    def of(cls, item: ItemView, path: ExpectedPath | None, walks: Mapping[str, ArmWalk]) -> WalkedItem:
        shown = {name: getattr(item, name) for name in ItemView.__struct_fields__}
        return cls(**shown, path=path, walks=dict(walks))


class StepComparison(NamedTuple):
    """A step that was expected, and what became of it."""

    step: ExpectedStep
    walked: bool
    edge: str | None  # the edge that led there instead, where it was another


# ------------------------------------------------------------------------------- from a trace


def paths_in(trace: Sequence[Step]) -> list[list[Step]]:
    """The replayed paths of a trace, best first."""
    return paths_of(Response(trace=list(trace)))


def spreads_in(trace: Sequence[Step]) -> list[list[Step]]:
    """The spreads of a trace, each with the seed that began it."""
    return spreads_of(Response(trace=list(trace)))


def walk_of(response: Response) -> ArmWalk | None:
    """The best path of a response that tells its way; None where its trace is of another kind."""
    if not any(step.kind in WALKED for step in response.trace):
        return None
    return ArmWalk(next(iter(paths_of(response)), []))


def expected_path(item: Item) -> ExpectedPath | None:
    """The way that an item's gold names; None where it names none, or in a form of its own."""
    if "path" not in item.gold:
        return None
    try:
        wanted = msgspec.convert(item.gold["path"], WantedPath)
    except msgspec.ValidationError:
        return None
    return ExpectedPath(wanted, item.gold.get("path_scope") == "best_path")


# ------------------------------------------------------------------------------------ matching


def matching_path(expected: ExpectedPath, walked: Sequence[Sequence[Step]]) -> int | None:
    """The first path that is walked as expected, by its place; None where none is."""
    wanted = expected.wanted
    for place, path in enumerate(walked[:1] if expected.best_only else walked):
        if follows(wanted.steps, path, wanted.match_mode, ExpectedStep.fits):
            return place
    return None


def marked_steps(expected: ExpectedPath, path: Sequence[Step]) -> list[StepComparison]:
    """Each expected step, and whether the path comes through it in that order."""
    steps = expected.wanted.steps
    nodes = [step.node_id for step in steps]
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
        for place, step in enumerate(steps)
    ]


# ------------------------------------------------------------------------------------- in words


def short_ids(ids: Iterable[str]) -> list[str]:
    """Ids in a row, each without the stem that it shares with the one before: `msa:3`, `2`, `1`."""
    found, before = [], None
    for each in ids:
        stem, colon, rest = each.rpartition(":")
        found.append(rest if colon and rest and stem == before else each)
        before = stem if colon else None
    return found


def path_line(path: Sequence[Step]) -> str:
    """A path in one line: `msa:3 -depends_on-> 2 -exception_to-> 1`."""
    names = short_ids(step.target for step in path)
    edges = ["", *(f" -{step.edge or ''}-> " for step in path[1:])]
    return "".join(edge + name for edge, name in zip(edges, names, strict=False))


def arrows(ids: Iterable[str]) -> str:
    """Nodes in a row: `msa:3 → 2 → 1`."""
    return " → ".join(short_ids(ids))


def walk_title(item: WalkedItem, walked: Sequence[Sequence[Step]], found: set[str]) -> str:
    """What came of a walk, in one line."""
    if not walked or not walked[0]:
        return "No path came back"
    way = arrows(step.target for step in walked[0])
    told = f"Walked {way}" if len(walked[0]) > 1 else f"Stayed at {way}"
    if item.path is not None:
        return _against(told, item.path, walked)
    wanted = {each.target for each in item.expected}
    return f"{told}: {len(wanted & found)} of {len(wanted)} expected on a path" if wanted else told


def _against(told: str, expected: ExpectedPath, walked: Sequence[Sequence[Step]]) -> str:
    wanted = [step.node_id for step in expected.wanted.steps]
    place = matching_path(expected, walked)
    if place is None:
        same = [step.target for step in walked[0]] == wanted
        return f"{told}, but by other edges than expected" if same else f"{told}, expected {arrows(wanted)}"
    if place:
        return f"{told}; path {place + 1} is the expected one, {arrows(wanted)}"
    if len(walked[0]) == len(wanted):
        return f"{told}: the expected path"
    return f"{told}: the expected path {arrows(wanted)} is in it"


def match_words(expected: ExpectedPath) -> str:
    """How strictly an expected path is meant, and which paths may meet it."""
    return f"{_MATCHES[expected.wanted.match_mode]}, by {'the best' if expected.best_only else 'any'} path"


# ---------------------------------------------------------------------------------- which items


def walked_items(
    results: Results, blocks: Sequence[Block], datasets: Mapping[str, Dataset]
) -> list[WalkedItem]:
    """The items that some arm walked; those that a reader asks about first with their whole walk.

    All traces of a study can be larger than everything else in it, so the others keep their best path only.
    """
    shown = {item.item_id: item for item in results.items}
    given: dict[str, dict[str, Response]] = {}
    expected: dict[str, ExpectedPath | None] = {}
    seeds: dict[str, int] = {}
    for block in blocks:
        if seeds.setdefault(block.arm.name, block.seed) != block.seed:
            continue  # the first seed's, as everywhere in the view of an item
        for item, response in zip(block.items, block.responses, strict=True):
            if item.item_id in shown and response is not None and walk_of(response) is not None:
                given.setdefault(item.item_id, {})[block.arm.name] = response
                expected.setdefault(item.item_id, expected_path(item))
    walked = [
        WalkedItem.of(
            item,
            expected[item_id],
            {arm: walk for arm, answer in given[item_id].items() if (walk := walk_of(answer)) is not None},
        )
        for item_id, item in shown.items()
        if item_id in given
    ]
    chosen = {item.item_id for item in drawn_items(results, walked, score_grid(results))}
    return [
        _with_traces(item, given[item.item_id], datasets) if item.item_id in chosen else item
        for item in walked
    ]


def _with_traces(
    item: WalkedItem, given: Mapping[str, Response], datasets: Mapping[str, Dataset]
) -> WalkedItem:
    walks, nodes = {}, {each.target: each.text for each in item.expected}
    for arm, walk in item.walks.items():
        walks[arm] = whole = _whole(item, walk, given[arm])
        corpus = datasets[arm].corpus
        for node in dict.fromkeys(
            each for step in (*walk.path, *whole.trace) for each in (step.target, step.source)
        ):
            if node is not None and node not in nodes:
                nodes[node] = corpus.text_of(node) or ""
    texts = {node: " ".join(text[: 2 * WORDS].split())[:WORDS] for node, text in nodes.items()}
    return msgspec.structs.replace(item, walks=walks, nodes=texts)


def _whole(item: WalkedItem, walk: ArmWalk, response: Response) -> ArmWalk:
    """A walk with its trace, and what became of the expected nodes that are on no path."""
    steps = item.path.wanted.steps if item.path is not None else []
    wanted = dict.fromkeys([*(each.target for each in item.expected), *(step.node_id for step in steps)])
    places = {node: place for place, node in enumerate(ranked_ids(response), 1)}
    came_to = (
        reached_nodes(response) if any(step.kind in (SEED, SPREAD) for step in response.trace) else set()
    )
    kept = response.trace[:KEPT]
    return msgspec.structs.replace(
        walk,
        trace=kept,
        left_out=len(response.trace) - len(kept),
        ranks={node: places[node] for node in wanted if node in places},
        reached=[node for node in wanted if node in came_to],
    )


def drawn_items(results: Results, items: Sequence[WalkedItem], grid: Grid) -> list[WalkedItem]:
    """The items whose walks are drawn: those that state a path first, the worst of each.

    The worst are those that got worse, then those that score least. An item that expects nothing cannot be
    walked well or badly, so it is drawn only where no item expects anything.
    """
    walked = {item.item_id: item for item in items if item.walks}
    walked = {name: item for name, item in walked.items() if _expects(item)} or walked
    if not walked:
        return []
    flips = [flip for change in changes(results, grid) for flip in change.flips]
    order = [flip.item.item_id for flip in sorted(flips, key=lambda flip: flip.gain) if flip.gain < 0]
    order += [item_id for item_id, _ in sorted(_lowest(results, grid, walked), key=lambda pair: pair[1])]
    found = [walked[item_id] for item_id in dict.fromkeys(order) if item_id in walked]
    return sorted(found, key=lambda item: item.path is None)[:DRAWN]


def _expects(item: WalkedItem) -> bool:
    return bool(item.expected or item.path or item.expects)


def _lowest(results: Results, grid: Grid, walked: Mapping[str, WalkedItem]) -> Iterator[tuple[str, float]]:
    """The worst score of each item over arms that walked, on the first measure that applies to it."""
    for item_id, item in walked.items():
        for measure in results.measures:
            cells = [grid.get((arm, measure.name), {}).get(item_id) for arm in item.walks]
            values = [cell.value for cell in cells if cell is not None and cell.value is not None]
            if values:
                sign = 1 if measure.better == "higher" else -1
                yield item_id, min(sign * value for value in values)
                break
        else:
            yield item_id, float("inf")
