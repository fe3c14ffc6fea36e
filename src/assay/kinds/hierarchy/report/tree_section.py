"""The report's section about trees: where routing goes wrong, by level, by node and query by query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.resources import files
from itertools import accumulate, groupby, pairwise

import msgspec

from assay.core.parts import Vectors
from assay.core.records import Arm, Estimate
from assay.core.results import GO, INCONCLUSIVE, NO_GO, Results
from assay.core.section import BlockGroup, Picture, Section, SectionBlock, Table, TableCell, TableColumn, Text
from assay.kinds.hierarchy.report.tree_views import select_nodes, tree_views
from assay.kinds.hierarchy.report.tree_words import (
    ALL,
    ANY,
    SCORE,
    RaceShares,
    Route,
    RouteCandidate,
    RouteLevel,
    TreeNode,
    TreeView,
    candidate_words,
    icicle,
    losses,
    race_line,
    route_title,
    shades,
    tree_errors,
    tree_line,
    tree_title,
)
from assay.pipeline.evaluation import Evaluation
from assay.report import wording as say
from assay.retrieval.embed.static import StaticEmbedder

ROOM = 500_000  # bytes of all trees of a page
WORST = 12  # nodes in the table
QUESTION = 140  # characters of a query
ANSWERABLE = "A@400"  # the measure that a race is compared by
CELL, ROUTE, LINE, REST = 420, 1_500, 700, 12_000  # bytes, about: a node, a route, a candidate, all the rest
LEAD = (
    "A row is a level. A cell is a node, as wide as there are passages below it. Of the queries that came to "
    "a node on the way to their evidence, the shade shows the share that took none of its right children. A "
    f"cell of half the height had fewer than {say.FEW} queries. A triangle above a node: some queries ended "
    "here, because they did not take this last right branch."
)
EXPLORE = "Point at a node, or use the arrow keys in the picture, to read what it is about."


@dataclass(frozen=True)
class RoutingTrees:
    """The section about the trees that systems route in."""

    def of(self, evaluation: Evaluation) -> Section | None:
        # the way of a system may reveal its condition
        if evaluation.sealed or not evaluation.detailed:
            return None
        return tree_section(evaluation.base_results, study_tree_views(evaluation))


def study_tree_views(evaluation: Evaluation) -> list[TreeView]:
    """Returns the trees of a study. One model embeds the texts of all nodes, so trees can be compared."""

    def embed(texts: Sequence[str]) -> Vectors:
        return StaticEmbedder().load(evaluation.study.kit).embed(texts, "passage").vectors

    return tree_views(evaluation.blocks, evaluation.base_results.by, embed)


def tree_section(results: Results, views: Sequence[TreeView]) -> Section | None:
    """Returns the section with every tree, or None if there is no tree.

    All trees get equal shares of the page's bytes.
    """
    share = ROOM // max(len(views), 1)
    figures = [TreeReport(results, view).within(share) for view in views]
    if not figures:
        return None
    named = shades()
    legend = Text([words for _, words in named], "legend", [shade for shade, _ in named])
    groups = [figure.group(place) for place, figure in enumerate(figures)]
    return Section(
        key="trees",
        name="Routing",
        title="Where does routing go wrong?",
        lead=LEAD,
        place="systems",
        blocks=[legend, *groups],
        brief=[Text([tree_line(results, view) for view in views], "list")],
    )


@dataclass(frozen=True)
class TreeReport:
    """One tree, with everything that the page shows about it."""

    results: Results
    view: TreeView
    unshown: int = 0  # routes that are left out to save bytes

    def group(self, place: int = 0) -> BlockGroup:
        """Returns the tree as a part of the section. Only the first tree is unfolded."""
        also = f"The same tree and the same losses: {', '.join(self.view.also)}."
        style = (files(__package__) / "tree.css").read_text()
        blocks: list[SectionBlock] = [
            *([Text([also], "quiet")] if self.view.also else []),
            Picture(str(icicle(self.view)), f"The tree of {self.view.arm}", style, EXPLORE),
            Text(self.notes, "quiet"),
            self._levels,
            *([self._worst] if self.worst else []),
            *([self._race(self.view.race)] if self.view.race is not None else []),
            *self._routes(f"routes-{place}"),
        ]
        title = tree_title(self.view)
        return BlockGroup(title, blocks, folds=True, opened=place == 0, system=self.view.arm)

    @cached_property
    def _errors(self) -> dict[tuple[int, str], Estimate]:
        return tree_errors(self.results, self.view.arm)

    @property
    def _levels(self) -> Table:
        levels, kinds = self.view.levels, {kind for _, kind in self._errors}
        scored = f"Share scored ({self.view.arm})" if self.view.also else "Share scored"
        apart = "mean cosine distance between what siblings are about: higher is better"
        shared = "mean share of names that siblings have in common: lower is better"
        optional = [  # whether the column has a value, the column, its cells
            (ANY in kinds, TableColumn("eps [95 %]"), [self._error(each.level, ANY) for each in levels]),
            (
                ALL in kinds,
                TableColumn("eps of all gold [95 %]"),
                [self._error(at.level, ALL) for at in levels],
            ),
            _column(TableColumn(scored), [each.visited for each in levels]),
            _column(TableColumn("Siblings apart", apart), [each.apart for each in levels]),
            _column(TableColumn("Names shared", shared), [each.overlap for each in levels]),
        ]
        more = [(column, cells) for wanted, column, cells in optional if wanted]
        heads = [TableColumn("Level", figure=False), *map(TableColumn, ("Nodes", "Lost", "Lost in part"))]
        rows = [
            [
                TableCell(f"L{each.level}"),
                TableCell(str(each.nodes)),
                TableCell(f"{each.lost} of {self.view.items}", value=each.lost),
                TableCell(f"{each.lost_part} of {self.view.items}", value=each.lost_part),
                *(cells[at] for _, cells in more),
            ]
            for at, each in enumerate(levels)
        ]
        return Table([*heads, *(column for column, _ in more)], rows, name=f"Levels of {self.view.arm}")

    def _error(self, level: int, gold: str) -> TableCell:
        return _interval(self._errors.get((level, gold)))

    @property
    def worst(self) -> list[TreeNode]:
        """The nodes that lost most queries, or that most lost queries should have taken."""
        found = [node for node in self.view.nodes if losses(node)]
        return sorted(found, key=lambda node: (-losses(node), node.level))[:WORST]

    @property
    def _worst(self) -> Table:
        heads = ("Passages", "Queries came", "Took no right child", "Share", "Ended by not taking it")
        rows = [
            [
                TableCell(node.node_id, node.about),
                TableCell(str(node.passages)),
                TableCell(str(node.expanded or say.NOTHING)),
                TableCell(str(node.lost) if node.expanded else say.NOTHING),
                TableCell(say.number(node.lost / node.expanded) if node.expanded else say.NOTHING),
                TableCell(str(node.passed_by)),
            ]
            for node in self.worst
        ]
        first = TableColumn("Node", figure=False, code=True)
        return Table([first, *map(TableColumn, heads)], rows, "Nodes that lose most")

    @property
    def notes(self) -> list[str]:
        """Notes about what the picture leaves out or cannot show."""
        hidden = sum(each.nodes for each in self.view.levels) - sum(
            node.level > 0 for node in self.view.nodes
        )
        several = any(len(node.parents) > 1 for node in self.view.nodes)
        seeds = self.results.scores.filter(arm=self.view.arm)["seed"].n_unique()
        coverage, visited = self.view.coverage, self.view.visited
        reached = "every passage" if coverage == 1 else f"{say.number(coverage)} of the passages"
        return [
            *([f"Picture and counts are of seed {self.view.seed}, eps of all {seeds}."] if seeds > 1 else []),
            *([f"{say.quantity(hidden, 'node')} drawn as one plain band."] if hidden else []),
            *(["A node with several parents stands below the first of them."] if several else []),
            *([f"The root leads to {reached}."] if coverage is not None else []),
            *(
                [f"{self.view.arm} scores {say.number(visited)} of the passages for a query."]
                if visited
                else []
            ),
        ]

    # -------------------------------------------------------------------------------- routes

    def _routes(self, together: str) -> Iterator[SectionBlock]:
        """Yields single queries, the lost ones first."""
        if not self.view.routes:
            return
        left_out = f"; {say.quantity(self.unshown, 'more route')} left out to keep this file small"
        how = "Those lost come first, by the level that lost them. Open one to see what it was routed past"
        about = Text([f"{how}{left_out if self.unshown else ''}."], "quiet")
        questions = {item.item_id: say.shorten(item.text, QUESTION) for item in self.results.items}
        routes = [
            BlockGroup(
                self.outcome(route),
                list(self._route(route)),
                folds=True,
                small=True,
                outcome=NO_GO if route.lost else INCONCLUSIVE if route.lost_part else GO,
                beside=questions.get(route.item_id, ""),
                code=route.item_id,
                one_of=together,
            )
            for route in self.view.routes
        ]
        yield BlockGroup("Single routes", [about, *routes], small=True)

    def outcome(self, route: Route) -> str:
        """Returns whether a query was lost, at which level, and by how much."""
        return f"{route_title(route)}: {route.why}" if route.why else route_title(route)

    def _route(self, route: Route) -> Iterator[SectionBlock]:
        yield from map(self.candidates, route.levels)
        if route.evidence:
            yield Text([f"Evidence: {', '.join(route.evidence)}."], "quiet")
        if route.links:
            yield Text([f"Links brought {'; '.join(self.links(route))}."], "quiet")
        if route.race:
            yield Text([f"The race took {race_line(route)}."], "quiet")

    def candidates(self, level: RouteLevel) -> Table:
        """Returns the candidates of a level, the best first, with a bar for the score."""
        scores = [each.scores[SCORE] for each in level.shown if SCORE in each.scores]
        low, high = min(scores, default=0.0), max(scores, default=0.0)
        base = min(low, 0.0) if high > 0 else low - (high - low) * 0.1
        ranks = [0, *(each.rank for each in level.shown)]
        rows = []
        for (before, rank), each in zip(pairwise(ranks), level.shown, strict=True):
            if rank - before > 1:
                rows.append(_left_out(rank - before - 1))
            value = each.scores.get(SCORE)
            rows.append(
                [
                    TableCell(each.node_id, each.about, strong=each.right),
                    TableCell(str(each.rank)),
                    TableCell(
                        say.number(value), value=None if value is None else value - base, strong=each.selected
                    ),
                    TableCell(candidate_words(each), outcome=_outcome(each), strong=each.right),
                ]
            )
        if after := level.of - ranks[-1]:
            rows.append(_left_out(after))
        columns = [
            TableColumn("Node", figure=False, code=True),
            TableColumn("Rank"),
            TableColumn("Score", drawn="bar"),
            TableColumn("What became of it", figure=False),
        ]
        taken = f"{level.taken} of {say.quantity(level.of, 'candidate')} taken"
        return Table(columns, rows, f"Level {level.level}: {taken}")

    def links(self, route: Route) -> list[str]:
        """Returns the passages that came by a link, and whether each passage is evidence."""
        return [
            f"{step.target} from {step.source}"
            + (f" by {step.role}" if step.role else "")
            + (f", hop {step.depth}" if step.depth > 1 else "")
            + (", right" if step.target in route.evidence else "")
            for step in route.links
        ]

    # ---------------------------------------------------------------------------------- race

    def _race(self, race: RaceShares) -> Table:
        """Returns how often each path was taken, over all items and by slice, and the values of the arms."""
        known = [one for one in self.results.estimates if one.measure == ANSWERABLE]
        arms = [*(race.alone[path] for path in race.paths if path in race.alone), race.arm]
        measured = {_arm(one) for one in known}
        arms = [arm for arm in arms if arm in measured]
        rows = []
        for where, counts in race.taken.items():
            values = {_arm(one): one for one in known if say.where_text(one.where) == where}
            taken = [TableCell(f"{count} ({count / sum(counts):.0%})", value=count) for count in counts]
            rows.append([TableCell(where or "all"), *taken, *(_interval(values.get(arm)) for arm in arms)])
        heads = [*race.paths, *(f"{ANSWERABLE} of {arm}" for arm in arms)]
        return Table(
            [TableColumn("Items", figure=False), *map(TableColumn, heads)], rows, "Which path was taken"
        )

    # ---------------------------------------------------------------------------------- size

    def within(self, room: int) -> TreeReport:
        """Returns the same report in about `room` bytes. Routes and nodes without room are left out."""
        routes = self.view.routes
        most = max((room - REST) // 2, 0)
        sizes = accumulate(ROUTE + LINE * sum(len(each.shown) for each in route.levels) for route in routes)
        kept = sum(size <= most for size in sizes)
        by_level = groupby(self.view.nodes, key=lambda node: node.level)
        nodes = select_nodes([list(level) for _, level in by_level], max(room - REST - most, 0) // CELL)
        view = msgspec.structs.replace(self.view, routes=routes[:kept], nodes=nodes)
        return replace(self, view=view, unshown=len(routes) - kept)


def _outcome(candidate: RouteCandidate) -> str | None:
    """Returns the outcome for a right branch: taken or not. None for other branches."""
    return (GO if candidate.selected else NO_GO) if candidate.right else None


def _left_out(count: int) -> list[TableCell]:
    return [TableCell(f"{count} more")]


def _column(column: TableColumn, values: Sequence[float | None]) -> tuple[bool, TableColumn, list[TableCell]]:
    cells = [TableCell(say.number(value), value=value) for value in values]
    return any(value is not None for value in values), column, cells


def _arm(one: Estimate) -> str:
    return Arm(one.system, one.factors).name


def _interval(one: Estimate | None) -> TableCell:
    if one is None:
        return TableCell(say.NOTHING)
    return TableCell(
        say.with_interval(one.value, one.low, one.high), value=one.value, low=one.low, high=one.high
    )
