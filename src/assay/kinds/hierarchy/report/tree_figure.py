"""A tree as the page shows it: picture, figures by level, the worst nodes, single routes, and a race."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, groupby, pairwise
from typing import NamedTuple

import msgspec
from markupsafe import Markup

from assay.core.records import Arm, Estimate
from assay.core.results import Candidate, Race, Results, Route, RouteLevel, TreeNode, TreeView
from assay.kinds.hierarchy.report.tree_drawing import icicle, shades, step_of
from assay.kinds.hierarchy.report.tree_views import kept_nodes
from assay.kinds.hierarchy.report.tree_wording import (
    ALL,
    ANY,
    SCORE,
    candidate_words,
    losses,
    race_line,
    route_title,
    tree_errors,
    tree_title,
)
from assay.report import wording as say
from assay.report.svg import style_of

ROOM = 500_000  # bytes of all trees of a page
WORST = 12  # nodes in the table
QUESTION = 140  # characters of a query
ANSWERABLE = "A@400"  # what a race is held against
CELL, ROUTE, LINE, REST = 420, 700, 420, 9_000  # bytes, about: a node, a route, a candidate, all the rest

_BAR = Markup(
    '<svg class="plot" width="100%" height="10" aria-hidden="true" focusable="false">'
    '<rect class="{}" width="{:.1f}%" height="10"/></svg>'
)


class LevelRow(NamedTuple):
    """A level's figures in words."""

    name: str
    nodes: int
    lost: str
    lost_part: str
    error: str  # over all seeds, with its interval
    error_part: str
    visited: str
    apart: str
    overlap: str


class RaceRow(NamedTuple):
    """How often each path was taken on a slice, and what came of it."""

    where: str
    taken: list[str]
    answered: list[str]


class Line(NamedTuple):
    """A candidate in words, and how many were left out before it."""

    candidate: Candidate
    skipped: int
    what: str
    score: str
    bar: Markup


@dataclass(frozen=True)
class TreeFigure:
    """One tree with everything that the page says of it."""

    results: Results
    view: TreeView
    unshown: int = 0  # routes for which there is no room

    @property
    def style(self) -> str:
        return style_of(self.results, self.view.arm)

    @property
    def title(self) -> str:
        return tree_title(self.view)

    @cached_property
    def _errors(self) -> dict[tuple[int, str], Estimate]:
        return tree_errors(self.results, self.view.arm)

    @property
    def columns(self) -> dict[str, bool]:
        """Which columns of the table of levels have something in them."""
        levels, kinds = self.view.levels, {kind for _, kind in self._errors}
        return {
            "error": ANY in kinds,
            "error_part": ALL in kinds,
            "visited": any(each.visited is not None for each in levels),
            "apart": any(each.apart is not None for each in levels),
            "overlap": any(each.overlap is not None for each in levels),
        }

    @property
    def scored(self) -> str:
        """What heads the shares that were scored, which are one arm's alone."""
        return f"Share scored ({self.view.arm})" if self.view.also else "Share scored"

    @property
    def levels(self) -> list[LevelRow]:
        return [
            LevelRow(
                f"L{each.level}",
                each.nodes,
                f"{each.lost} of {self.view.items}",
                f"{each.lost_part} of {self.view.items}",
                *(_interval(self._errors.get((each.level, gold))) for gold in (ANY, ALL)),
                *(say.number(value) for value in (each.visited, each.apart, each.overlap)),
            )
            for each in self.view.levels
        ]

    @property
    def worst(self) -> list[TreeNode]:
        """The nodes where most queries were lost, or that most were led past."""
        found = [node for node in self.view.nodes if losses(node)]
        return sorted(found, key=lambda node: (-losses(node), node.level))[:WORST]

    @property
    def notes(self) -> list[str]:
        """What the picture leaves out or cannot show."""
        hidden = sum(each.nodes for each in self.view.levels) - sum(
            node.level > 0 for node in self.view.nodes
        )
        several = any(len(node.parents) > 1 for node in self.view.nodes)
        seeds = self.results.scores.filter(arm=self.view.arm)["seed"].n_unique()
        coverage, visited = self.view.coverage, self.view.visited
        reached = "every passage" if coverage == 1 else f"{say.number(coverage)} of the passages"
        return [
            *([f"Picture and counts are of seed {self.view.seed}, eps of all {seeds}."] if seeds > 1 else []),
            *([f"{say.counted(hidden, 'node')} drawn as one plain band."] if hidden else []),
            *(["A node with several parents stands below the first of them."] if several else []),
            *([f"The root leads to {reached}."] if coverage is not None else []),
            *(
                [f"{self.view.arm} scores {say.number(visited)} of the passages for a query."]
                if visited
                else []
            ),
        ]

    @cached_property
    def picture(self) -> Markup:
        return icicle(self.view)

    @property
    def shades(self) -> list[tuple[str, str]]:
        return shades()

    def shade(self, node: TreeNode) -> str:
        return step_of(node)

    # -------------------------------------------------------------------------------- routes

    @cached_property
    def questions(self) -> dict[str, str]:
        """The queries of the routes, by item."""
        wanted = {route.item_id for route in self.view.routes}
        return {
            item.item_id: say.shortened(item.text, QUESTION)
            for item in self.results.items
            if item.item_id in wanted
        }

    def outcome(self, route: Route) -> str:
        """What became of a query, and by how much."""
        return f"{route_title(route)}: {route.why}" if route.why else route_title(route)

    def lines(self, level: RouteLevel) -> list[Line]:
        """The candidates of a level, best first, with a bar for the score."""
        scores = [each.scores[SCORE] for each in level.shown if SCORE in each.scores]
        low, high = min(scores, default=0.0), max(scores, default=0.0)
        base = min(low, 0.0) if high > 0 else low - (high - low) * 0.1
        ranks = [0, *(each.rank for each in level.shown)]
        found = []
        for (before, rank), each in zip(pairwise(ranks), level.shown, strict=True):
            value = each.scores.get(SCORE)
            share = 0.0 if value is None or high <= base else (value - base) / (high - base)
            bar = _BAR.format("bar taken" if each.selected else "bar", 100 * share)
            found.append(Line(each, rank - before - 1, candidate_words(each), say.number(value), bar))
        return found

    def links(self, route: Route) -> list[str]:
        """What came by a link, and whether it says what was asked."""
        return [
            f"{step.target} from {step.source}"
            + (f" by {step.role}" if step.role else "")
            + (f", hop {step.depth}" if step.depth > 1 else "")
            + (", right" if step.target in route.evidence else "")
            for step in route.links
        ]

    def raced(self, route: Route) -> str:
        """Which path was taken."""
        return race_line(route)

    # ---------------------------------------------------------------------------------- race

    @property
    def race_arms(self) -> list[str]:
        """The arms whose answers are set beside a race, where that is measured."""
        race = self.view.race
        if race is None:
            return []
        arms = [*(race.alone[path] for path in race.paths if path in race.alone), race.arm]
        known = {
            Arm(one.system, one.factors).name for one in self.results.estimates if one.measure == ANSWERABLE
        }
        return [arm for arm in arms if arm in known]

    @property
    def race_rows(self) -> list[RaceRow]:
        """All items, then slice by slice."""
        race = self.view.race
        return [self._race_row(race, where) for where in race.taken] if race is not None else []

    def _race_row(self, race: Race, where: str) -> RaceRow:
        counts = race.taken[where]
        taken = [f"{count} ({count / sum(counts):.0%})" for count in counts]
        values = {
            Arm(one.system, one.factors).name: one
            for one in self.results.estimates
            if one.measure == ANSWERABLE and say.where_text(one.where) == where
        }
        return RaceRow(where or "all", taken, [_interval(values.get(arm)) for arm in self.race_arms])

    # ---------------------------------------------------------------------------------- size

    def within(self, room: int) -> TreeFigure:
        """The same in about so many bytes: fewer routes first, then fewer nodes."""
        routes = self.view.routes
        most = max((room - REST) // 2, 0)
        sizes = accumulate(ROUTE + LINE * sum(len(each.shown) for each in route.levels) for route in routes)
        kept = sum(size <= most for size in sizes)
        by_level = groupby(self.view.nodes, key=lambda node: node.level)
        nodes = kept_nodes([list(level) for _, level in by_level], max(room - REST - most, 0) // CELL)
        view = msgspec.structs.replace(self.view, routes=routes[:kept], nodes=nodes)
        return replace(self, view=view, unshown=len(routes) - kept)


def tree_figures(results: Results) -> list[TreeFigure]:
    """Every tree, each with its share of the room there is."""
    share = ROOM // max(len(results.trees), 1)
    return [TreeFigure(results, view).within(share) for view in results.trees]


def _interval(one: Estimate | None) -> str:
    return say.NOTHING if one is None else say.with_interval(one.value, one.low, one.high)
