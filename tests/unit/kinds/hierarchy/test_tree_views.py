"""Trees in reports: where queries are lost, what a picture of it shows, and single routes."""

from __future__ import annotations

import dataclasses
import re
from io import StringIO
from pathlib import Path
from typing import Any

import msgspec
import pytest
from rich.console import Console

from assay.core.records import Edge, Item, Node, Response, Step, Structure
from assay.core.results import Results
from assay.kinds.hierarchy.measures.tree import PublishedTree
from assay.kinds.hierarchy.report.tree_section import ROOM, TreeReport, study_tree_views, tree_section
from assay.kinds.hierarchy.report.tree_views import (
    _layout,
    _notable_candidates,
    _passages_below,
    select_nodes,
    tree_view,
)
from assay.kinds.hierarchy.report.tree_words import (
    SHADES,
    Route,
    RouteCandidate,
    RouteLevel,
    TreeLevel,
    TreeNode,
    TreeView,
    icicle,
    node_words,
    race_line,
    route_title,
    shades,
    step_of,
    tree_line,
    tree_title,
    why_lost,
)
from assay.pipeline.evaluation import Evaluation
from assay.report.html import MOST, HtmlReport
from assay.report.markdown import MarkdownReport
from assay.report.text import render_text
from fake_results import build_results
from tree_study import STUDY, Told, tree_evaluation, tree_results
from walked_block import block_of

PLANT = """</svg></details><script>window.hit=1</script>"><img src=x onerror=window.hit=2>"""


@pytest.fixture(scope="module")
def evaluation(tmp_path_factory: pytest.TempPathFactory) -> Evaluation:
    return tree_evaluation(tmp_path_factory.mktemp("trees"))


@pytest.fixture(scope="module")
def told(evaluation: Evaluation) -> Results:
    return evaluation.results


@pytest.fixture(scope="module")
def view(evaluation: Evaluation) -> TreeView:
    (only,) = study_tree_views(evaluation)
    return only


def node(name: str, level: int = 1, **fields: int | str) -> TreeNode:
    made = TreeNode(name, level, 0, 1, 1)
    return msgspec.structs.replace(made, **fields)


# ----------------------------------------------------------------------------------- from answers


def test_losses_are_counted_by_level_and_by_node(view: TreeView) -> None:
    # of the six items with evidence, high and higher miss L1:0; low takes L1:0 and there misses L2:1;
    # part keeps one of its two branches
    assert view.items == 6
    assert [(each.nodes, each.lost, each.lost_part) for each in view.levels] == [(3, 2, 3), (5, 3, 4)]
    assert (view.passages, view.coverage) == (10, 1.0)
    found = {each.node_id: (each.expanded, each.lost, each.ended, each.passed_by) for each in view.nodes}
    assert found["root"] == (6, 2, 2, 0)
    assert found["L1:0"] == (2, 1, 1, 2)  # through and low come here; high and higher should have
    assert found["L1:1"] == (0, 0, 0, 0)  # high comes here, and has no business here
    assert found["L1:2"] == (2, 0, 0, 0)  # shared and part
    assert found["L2:1"] == (0, 0, 0, 1)


def test_the_counts_are_the_measures_own(told: Results, view: TreeView) -> None:
    means = {one.measure: one.value for one in told.estimates if one.system == "beam" and not one.where}
    lost = {f"eps@L{each.level}": each.lost / 6 for each in view.levels}
    assert lost == {name: pytest.approx(means[name]) for name in lost}
    assert means["eps(gold='all')@L1"] == pytest.approx(view.levels[0].lost_part / 6)


def test_a_cell_is_as_wide_as_the_leaves_below_it(view: TreeView) -> None:
    found = {each.node_id: (each.start, each.wide, each.passages) for each in view.nodes}
    # L2:3 stands below L1:1 alone, so that L1:2 has room for two of its four passages
    assert found["root"] == (0, 10, 10)
    assert [found[f"L1:{n}"] for n in range(3)] == [(0, 4, 4), (4, 4, 4), (8, 2, 4)]
    assert [found[f"L2:{n}"][:2] for n in range(5)] == [(0, 2), (2, 2), (4, 2), (6, 2), (8, 2)]


def test_passages_below_a_node_count_once_and_a_node_may_have_none() -> None:
    nodes = [Node("root", 0), Node("a", 1), Node("b", 1), Node("empty", 1), Node("p", doc_id="p")]
    edges = [Edge("root", each) for each in ("a", "b", "empty")] + [Edge("a", "p"), Edge("b", "p")]
    tree = PublishedTree(Structure(nodes, edges))
    below = _passages_below(tree)
    assert (below["root"], below["empty"]) == ({"p"}, set())
    assert _layout(tree) == {"root": (0, 3), "a": (0, 1), "b": (1, 1), "empty": (2, 1)}


def test_arms_that_fare_alike_share_a_tree_and_the_race_tells_for_them(view: TreeView) -> None:
    assert (view.arm, view.also) == ("race", ["beam"])
    race = view.race
    assert race is not None
    # L1:2 is taken by higher, shared, part and none, of which part alone has two passages
    assert race.paths == ["beam", "collapsed"]
    assert race.taken == {"": [3, 4], "tag=detail": [3, 3], "tag=two_hop": [0, 1]}
    assert race.alone == {"beam": "beam"}  # flat says beam too, and comes later


def test_what_is_scored_and_how_far_siblings_lie_apart(view: TreeView) -> None:
    assert view.visited == pytest.approx(0.2)
    assert [each.visited for each in view.levels] == [1.0, None]
    assert [each.overlap for each in view.levels] == [1.0, 1.0]  # every node names Ann
    assert all(each.apart is not None and 0 < each.apart < 2 for each in view.levels)


@pytest.mark.parametrize(
    ("evidence", "trace"),
    [
        (["p0"], [Step("route", 1, "L1:0", "root")]),  # gold in a form of its own
        ([{"doc_id": "p0"}], [Step("scan", 0, "p0")]),  # a way by no tree
        ([{"doc_id": "elsewhere"}], [Step("route", 1, "L1:0", "root")]),
    ],
)
def test_without_evidence_or_routes_in_it_there_is_no_view(evidence: list[Any], trace: list[Step]) -> None:
    plain = block_of([Item("q", "?", gold={"evidence": evidence})], [Response(trace=trace)])
    block = dataclasses.replace(plain, structure=Told().structure())
    assert tree_view(block, [block], []) is None
    assert tree_view(plain, [plain], []) is None


def test_an_answer_without_a_trace_is_lost_everywhere() -> None:
    names = ("routed", "silent", "pending")
    items = [Item(name, "?", gold={"evidence": [{"doc_id": "p2"}]}) for name in names]
    steps = [Step("route", 1, "L1:0", "root"), Step("route", 2, "L2:1", "L1:0")]
    plain = block_of(items, [Response(trace=steps), Response(), None])
    found = tree_view(dataclasses.replace(plain, structure=Told().structure()), [plain], [])
    assert found is not None
    assert (found.items, [each.lost for each in found.levels]) == (2, [1, 1])
    assert [route.item_id for route in found.routes] == ["routed"]


def test_of_a_large_tree_the_upper_levels_stay_whole() -> None:
    levels = [
        [node("root", 0)],
        [node(f"L1:{n}") for n in range(3)],
        [node(f"L2:{n}", 2, lost=n % 3, expanded=9, start=n) for n in range(6)],
    ]
    kept = [each.node_id for each in select_nodes(levels, 7)]
    # of 0 1 2 0 1 2 lost there is room for three: both with 2, and the first with 1
    assert kept == ["root", "L1:0", "L1:1", "L1:2", "L2:1", "L2:2", "L2:5"]
    assert len(select_nodes(levels, 10)) == 10


# ------------------------------------------------------------------------------------------- routes


def test_routes_come_lost_first_by_level_then_in_part_then_through(view: TreeView) -> None:
    routes = view.routes
    assert [(each.item_id, route_title(each)) for each in routes] == [
        ("high", "lost at level 1"),
        ("higher", "lost at level 1"),
        ("low", "lost at level 2"),
        ("part", "a part of its evidence lost at level 1"),
        ("through", "got through"),
        ("shared", "got through"),
    ]
    assert routes[2].why == "L2:1 scored 0.300, the last one taken 0.900 (L2:0)"
    assert routes[3].why == "L1:1 scored 0.300, the last one taken 0.900 (L1:2)"


def test_a_route_says_what_was_right_taken_linked_and_raced(told: Results, view: TreeView) -> None:
    figure = TreeReport(told, view)
    shared = next(each for each in figure.view.routes if each.item_id == "shared")
    rows = figure.candidates(shared.levels[1]).rows
    assert [[cell.text for cell in row] for row in rows] == [
        ["L2:3", "1", "0.900", "right, taken"],
        ["L2:4", "2", "0.300", "outside the beam"],
    ]
    assert figure.links(shared) == ["p6 from p8 by Ann, right"]
    assert race_line(shared) == "collapsed (0.700) over beam (0.500)"


def test_candidates_that_are_not_shown_are_counted_where_they_stand(told: Results, view: TreeView) -> None:
    shown = [RouteCandidate(f"n{rank}", rank, {"score": 1 / rank}, rank < 4, rank == 9) for rank in (1, 3, 9)]
    rows = TreeReport(told, view).candidates(RouteLevel(1, 12, 3, shown)).rows
    assert [row[0].text for row in rows] == ["n1", "1 more", "n3", "5 more", "n9", "3 more"]
    assert [row[3].outcome for row in rows if len(row) > 1] == [None, None, "no-go"]


def test_of_many_candidates_the_telling_ones_are_shown() -> None:
    made = [RouteCandidate(f"n{rank}", rank, {}, rank <= 8, rank in (12, 20)) for rank in range(1, 31)]
    # the best four, the last taken, the first not taken, and the right ones
    assert [each.rank for each in _notable_candidates(made)] == [1, 2, 3, 4, 8, 9, 12, 20]


@pytest.mark.parametrize(
    ("stop", "told"),
    [
        ("beam", "a scored 0.310, the last one taken 0.440 (c)"),
        ("expand", "a scored 0.310, the last one taken 0.600 (b)"),  # of the same parent
        ("cut", "a scored 0.100 before the rerank, the last one taken 0.500 (b)"),
    ],
)
def test_the_right_branch_is_held_against_what_it_lost_to(stop: str, told: str) -> None:
    found = [
        RouteCandidate("b", 1, {"score": 0.6, "first": 0.5}, True, False, "x"),
        RouteCandidate("c", 2, {"score": 0.44, "first": 0.4}, True, False, "y"),
        RouteCandidate("a", 3, {"score": 0.31, "first": 0.1}, False, True, "x", stop),
    ]
    assert why_lost(RouteLevel(2, 3, 2, found)) == told


def test_a_foreign_trace_without_scores_is_shown() -> None:
    found = [RouteCandidate("b", 1, {}, True, False), RouteCandidate("a", 2, {}, False, True)]
    assert why_lost(RouteLevel(1, 2, 1, found)) == "a was not taken"
    assert why_lost(RouteLevel(1, 1, 1, found[:1])) == ""
    assert race_line(Route("q", [], race=[Step("race", 0, "beam")])) == "beam (n/a)"
    assert race_line(Route("q", [])) == ""


# -------------------------------------------------------------------------------------------- words


def test_the_title_is_the_answer(view: TreeView) -> None:
    assert tree_title(view) == "Level 1 loses 2 of 6 queries; most at L1:0, contracts and vendors"


def bare(*lost: int, nodes: tuple[TreeNode, ...] = ()) -> TreeView:
    levels = [TreeLevel(at, 4, count, count) for at, count in enumerate(lost, 1)]
    return TreeView("beam", 0, 150, 90, 1.0, levels, [node("root", 0), *nodes])


def test_a_deeper_level_loses_those_that_come_so_far() -> None:
    worst = node("L1:4", ended=3, about="contracts")
    assert tree_title(bare(3, 8, nodes=(worst,))) == (
        "Level 2 loses 5 of 147 queries that come so far; most below L1:4, contracts"
    )
    # one loss a node is no pattern
    assert tree_title(bare(3, nodes=(node("L1:1", passed_by=1),))) == "Level 1 loses 3 of 150 queries"
    assert tree_title(bare(0, 0)) == "No query loses its way: 150 queries through 2 levels"


def test_a_tree_in_one_line_takes_the_studys_own_error(told: Results, view: TreeView) -> None:
    line = tree_line(told, view)
    assert line == (
        "tree of race, beam: 2 levels, 3 and 5 nodes; routing error L1 0.333, L2 0.500; "
        "worst node L1:0, contracts and vendors (2 queries ended by not taking it)"
    )
    unmeasured = dataclasses.replace(told, estimates=[])
    assert tree_line(unmeasured, view) == line  # counted: 2 / 6 and 3 / 6
    assert tree_line(unmeasured, bare(0)).endswith("1 level, 4 nodes; routing error L1 0")


def test_terminal_and_markdown_have_the_line(told: Results, view: TreeView) -> None:
    stream = StringIO()
    render_text(told, Console(file=stream, width=100))
    assert tree_line(told, view) in stream.getvalue()
    assert "- tree of race, beam: 2 levels, 3 and 5 nodes" in MarkdownReport().render(told).decode()


def test_a_node_tells_what_it_is_and_what_became_of_queries() -> None:
    plain = node("L1:4", about="contracts", expanded=25, lost=3, passed_by=1)
    made = msgspec.structs.replace(plain, entities=["Ann"], parents=["a", "b"])
    assert node_words(made) == (
        "L1:4, contracts. 1 passage. "
        "25 queries came here rightly, 3 took none of its right children (0.120). "
        "1 query ended by not taking it. Names: Ann. Parents: a, b."
    )


# ------------------------------------------------------------------------------------------ picture


def test_shades_go_by_the_share_of_error() -> None:
    assert step_of(node("a")) == "never"
    shares = {0: "e0", 2: "e1", 3: "e2", 5: "e2", 10: "e3", 25: "e4", 26: "e5", 100: "e5"}
    assert {lost: step_of(node("a", expanded=100, lost=lost)) for lost in shares} == shares
    assert [name for name, _ in shades()] == ["never", *(f"e{at}" for at in range(len(SHADES) + 1))]


def test_the_picture_has_a_cell_a_node_and_signs_for_those_passed_by(view: TreeView) -> None:
    drawn = icicle(view)
    cells = re.findall(r'<g class="cell ([^"]*)"[^>]*><title>(.*?)</title><rect x="([^"]*)%"', drawn)
    assert len(cells) == 9
    assert [(kind, left) for kind, _, left in cells[:4]] == [
        ("e5", "0.000"),  # the root: 2 of 6
        ("e5", "0.000"),  # L1:0: 1 of 2
        ("never", "40.000"),
        ("e0", "80.000"),
    ]
    assert drawn.count('class="by"') == 2  # L1:0 and L2:1
    assert "level 1: 3 nodes, 2 of 6 queries lost" in drawn
    assert "level 2: 5 nodes, 1 of 4 queries lost" in drawn


def test_a_level_of_many_nodes_has_no_edges_and_notes_what_is_not_drawn(told: Results) -> None:
    view = bare(1, nodes=(node("L1:7", passed_by=1),))
    wide = msgspec.structs.replace(view, levels=[TreeLevel(1, 500, 1, 1)])
    assert 'class="cell never fine"' in icicle(wide)
    assert "499 nodes drawn as one plain band." in TreeReport(told, wide).notes


def test_a_page_without_trees_holds_nothing_of_them() -> None:
    page = HtmlReport().render(build_results(n=12)).decode()
    assert "icicle" not in page
    assert "--wrong" not in page


def test_the_page_has_picture_tables_and_routes(told: Results) -> None:
    page = HtmlReport().render(told).decode()
    assert "Level 1 loses 2 of 6 queries; most at L1:0, contracts and vendors" in page
    assert page.count('<details class="route') == 6
    assert "Which path was taken" in page
    assert "0.333 [0." in page[page.index('<section id="trees"') :]


def test_what_a_corpus_says_cannot_leave_the_picture(tmp_path: Path) -> None:
    name = PLANT.replace('"', "'")
    text = STUDY.replace("told_items", f'{{use: told_items, plant: "{name}"}}')
    text = text.replace("beam: told,", f'beam: {{use: told, plant: "{name}"}},')
    page = HtmlReport().render(tree_results(tmp_path, text)).decode()
    assert "<script>window" not in page
    assert "<img" not in page


def test_all_trees_together_keep_to_their_room(told: Results, view: TreeView) -> None:
    words = "contracts and vendors of the northern branch, " * 3
    nodes = [
        msgspec.structs.replace(node(f"L2:{n}", 2, about=words, lost=1, expanded=9), start=n)
        for n in range(600)
    ]
    large = msgspec.structs.replace(view, nodes=[*view.nodes, *nodes], routes=view.routes * 20)
    section = tree_section(told, [large] * 12)
    assert section is not None
    page = HtmlReport().render(dataclasses.replace(told, sections=[section]))
    assert len(page) < MOST
    start, end = page.index(b'<section id="trees"'), page.index(b'<section id="slices">')
    assert end - start < 700_000
    figure = TreeReport(told, large).within(ROOM // 12)
    assert figure.unshown > 0
    assert figure.view.nodes
