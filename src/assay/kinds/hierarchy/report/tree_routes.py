"""Single ways down a tree: which queries are worth a look, what they were routed past, which path won."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf

import msgspec

from assay.core.block import Block
from assay.core.records import Item, Response, Step
from assay.kinds.hierarchy.measures.tree import LINK, Case
from assay.kinds.hierarchy.report.tree_data import RaceShares, Route, RouteCandidate, RouteLevel
from assay.kinds.hierarchy.report.tree_wording import SCORE, why_lost
from assay.report.wording import shorten, where_text

LOST, THROUGH = 3, 2  # routes kept: for each level that lost queries or parts, and of those that got through
BEST, RIGHT = 4, 3  # candidates shown of a level: the first, and the first of the right ones
LINKS, EVIDENCE = 8, 12  # links and passages kept of one route
ABOUT = 80  # characters kept of what a candidate is about
RACE = "race"


@dataclass(frozen=True)
class Passing:
    """One item that was routed, or should have been: what of its evidence each level kept."""

    item: Item
    response: Response
    case: Case

    @property
    def counts(self) -> bool:
        """Whether it says anything of routing; a path that goes by no tree does not."""
        return self.case.descent is not None or not self.response.trace

    @cached_property
    def lost(self) -> int | None:
        """The first level that kept none of its right branches."""
        return next((level for level in self._levels if self._all_lost(level)), None)

    @cached_property
    def lost_part(self) -> int | None:
        """The first level that kept no branch to some of its evidence."""
        return next((level for level in self._levels if self._part_lost(level)), None)

    @property
    def _levels(self) -> range:
        return range(1, self.case.tree.depth + 1)

    def kept(self, level: int) -> frozenset[str]:
        """The nodes of a level that it went on with."""
        return self.case.descent.selected(level) if self.case.descent else frozenset()

    def _all_lost(self, level: int) -> bool:
        ways = self.case.ways(level)
        return bool(ways) and all(way.isdisjoint(self.kept(level)) for way in ways)

    def _part_lost(self, level: int) -> bool:
        return any(way.isdisjoint(self.kept(level)) for way in self.case.ways(level))

    @property
    def passed_by(self) -> list[Step]:
        """The right branches that were there to be taken where it was lost."""
        if self.lost is None or self.case.descent is None:
            return []
        right = self.case.correct(self.lost)
        return [step for step in self.case.descent.candidates(self.lost) if step.target in right]


def routes_of(passings: Sequence[Passing], abouts: Mapping[str, str]) -> list[Route]:
    """The ways that a reader asks about first: those lost, level by level, then some that got through."""
    groups: dict[tuple[int, int], list[Passing]] = {}
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


def _route(passing: Passing, abouts: Mapping[str, str]) -> Route:
    case, trace = passing.case, passing.response.trace
    levels = [
        level for level in (_level(case, at, abouts) for at in range(1, case.tree.depth + 1)) if level.of
    ]
    at = passing.lost or passing.lost_part
    why = next((why_lost(level) for level in levels if level.level == at), "")
    return Route(
        passing.item.item_id,
        [msgspec.structs.replace(level, shown=_telling(level.shown)) for level in levels],
        passing.lost,
        passing.lost_part,
        why,
        sorted(case.doc_ids)[:EVIDENCE],
        [step for step in trace if step.kind == LINK][:LINKS],
        [step for step in trace if step.kind == RACE],
    )


def _level(case: Case, level: int, abouts: Mapping[str, str]) -> RouteLevel:
    """All candidates of a level, best first, each once."""
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
            shorten(abouts.get(step.target, ""), ABOUT),
        )
        for rank, step in enumerate(ordered, 1)
    ]
    return RouteLevel(level, len(shown), sum(each.selected for each in shown), shown)


def _telling(candidates: Sequence[RouteCandidate]) -> list[RouteCandidate]:
    """The best, the first right ones, the last one taken and the first one not taken."""
    taken = [each for each in candidates if each.selected]
    others = [each for each in candidates if not each.selected]
    right = [each for each in candidates if each.right]
    ranks = {each.rank for each in (*candidates[:BEST], *right[:RIGHT], *taken[-1:], *others[:1])}
    return [each for each in candidates if each.rank in ranks]


# --------------------------------------------------------------------------------------- race


def race_of(block: Block, others: Sequence[Block], by: Sequence[str]) -> RaceShares | None:
    """How often each path was taken, over all and by tag; None where nothing raced."""
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
    """The route that an arm takes on every item; nothing where it takes several or races."""
    answered = [response for response in block.responses if response is not None and not response.error]
    routes = {response.route for response in answered}
    raced = any(step.kind == RACE for response in answered for step in response.trace)
    return (routes.pop() or "") if len(routes) == 1 and not raced else ""
