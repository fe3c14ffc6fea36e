"""Walks: what a trace says, where its nodes stand, and what every report shows of it."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from assay.core.block import Block, Labels
from assay.core.dataset import Corpus, Dataset
from assay.core.protocols import Kit
from assay.core.records import Arm, Budget, Hit, Item, Passage, Query, Response, Step
from assay.core.registry import DATASETS, SYSTEMS, Registry
from assay.core.results import PRIVATE_ALONE, ExpectedTarget, Results
from assay.kinds.memory.report.graph_drawing import (
    APART,
    COLUMN,
    EDGE,
    GAP,
    HIGH,
    MOST,
    TOP,
    WIDE,
    WalkLayout,
)
from assay.kinds.memory.report.walk_section import WalkPicture, walk_pictures, walk_section
from assay.kinds.memory.report.walks import (
    DRAWN,
    KEPT,
    ArmWalk,
    WalkedItem,
    compare_steps,
    drawn_items,
    expected_path,
    matching_path,
    path_line,
    short_ids,
    walk_of,
    walked_items,
)
from assay.kinds.memory.walk import ExpectedPath, ExpectedStep, MatchMode, paths_in, spreads_in
from assay.pipeline.evaluate import evaluate
from assay.pipeline.evaluation import Evaluation
from assay.report.formats import JsonReport
from assay.report.github import GitHubComment
from assay.report.html import HtmlReport
from assay.report.markdown import MarkdownReport
from assay.report.text import render_text
from assay.store.journal import Answer, answer_columns, select_by_key
from assay.study.study import open_study
from fake_results import build_results


def path(*nodes: str, edges: tuple[str, ...] = ()) -> list[Step]:
    """A path whose edges are `next` where none is named."""
    named = [None, *(edges or ["next"] * (len(nodes) - 1))]
    before = [None, *nodes]
    return [
        Step("path", depth, node, before[depth], {"score": 1.0}, edge=named[depth], role="step")
        for depth, node in enumerate(nodes)
    ]


def spread(hop: int, source: str, target: str, energy: float = 0.5, stop: str | None = None) -> Step:
    return Step("spread", hop, target, source, {"energy": energy}, stop is None, "next", stop)


def seed(node: str) -> Step:
    return Step("seed", 0, node, scores={"energy": 1.0})


def wanted(*steps: tuple[str, str | None], mode: MatchMode = "subsequence") -> ExpectedPath:
    return ExpectedPath([ExpectedStep(*step) for step in steps], mode)


# The walk of the page's own words: 3 to 2 to 1, one neighbour reached, one stopped before, one never touched.
TRACE = [
    *path("msa:3", "msa:2", "msa:1", edges=("exception_to", "depends_on")),
    *path("msa:4"),
    seed("msa:3"),
    spread(1, "msa:3", "msa:2", 0.7),
    spread(1, "msa:3", "msa:4", 0.5),
    spread(2, "msa:4", "msa:5", 0.01, "below_threshold"),
    Step("tension", 0, "msa:2", "msa:3", edge="contradicts"),
    Step("removed", 0, "msa:1", edge="path", scores={"change": 0.62, "edges": 2}),
]
ITEM = WalkedItem(
    "case-1",
    "Does the rule apply?",
    {},
    [
        ExpectedTarget("msa:2", 1.0, "Every invoice is paid."),
        ExpectedTarget("msa:9", 1.0, "Notices go to the seat."),
    ],
    {"dense": []},
    path=wanted(("msa:3", None), ("msa:2", "exception_to"), ("msa:1", "depends_on"), mode="exact"),
    walks={"dense": ArmWalk(paths_in(TRACE)[0], TRACE)},
    nodes={"msa:3": "Where goods are defective", "msa:2": "Every invoice is paid."},
)


SMALL = build_results(n=12)
FULL = build_results(n=30)
FIRST = msgspec.structs.replace(ITEM, item_id=FULL.items[0].item_id)


def with_walks(results: Results, items: Sequence[WalkedItem]) -> Results:
    """The same results with the section of these walks."""
    section = walk_section(results, items)
    return dataclasses.replace(results, sections=[] if section is None else [section])


@pytest.fixture(scope="module")
def walked() -> Results:
    """Results whose first item has a walk."""
    return with_walks(FULL, [FIRST])


# -------------------------------------------------------------------------------- from a trace


def test_a_depth_of_zero_begins_a_path_and_a_seed_a_spread() -> None:
    assert [[step.target for step in each] for each in paths_in(TRACE)] == [
        ["msa:3", "msa:2", "msa:1"],
        ["msa:4"],
    ]
    assert [len(each) for each in spreads_in([*TRACE, seed("msa:8")])] == [4, 1]


def test_a_walk_without_a_path_stays_at_its_first_hit() -> None:
    hits = [Hit("a", 0.9), Hit("b", 0.1)]
    found = walk_of(Response(hits=hits, trace=[seed("a")]))
    assert found is not None
    assert [step.target for step in found.path] == ["a"]
    assert walk_of(Response(hits=hits)) is None
    assert walk_of(Response(hits=hits, trace=[Step("route", 0, "section")])) is None


def test_gold_of_another_form_names_no_path() -> None:
    gold = {"path": {"match_mode": "prefix", "steps": [{"node_id": "a", "via_edge_type": None}]}}
    assert expected_path(Item("q", "?", gold=gold)) == wanted(("a", None), mode="prefix")
    best = WalkedItem.of(SMALL.items[0], Item("q", "?", gold=gold | {"path_scope": "best_path"}), {})
    assert (best.path, best.best_only) == (wanted(("a", None), mode="prefix"), True)
    others: list[dict[str, Any]] = [
        {},
        {"path": [["a"]]},
        {"path": {"steps": [["a"]]}},
        {"path": {"steps": []}},
    ]
    for other in others:
        assert expected_path(Item("q", "?", gold=other)) is None


@pytest.mark.parametrize(
    ("mode", "steps", "place"),
    [
        ("exact", [("a", None), ("b", "next"), ("c", None)], 0),
        ("exact", [("a", None), ("b", None)], None),  # the path is longer
        ("prefix", [("a", None), ("b", None)], 0),
        ("prefix", [("b", None)], 1),
        ("prefix", [("b", None), ("x", None)], None),  # the path is shorter
        ("subsequence", [("a", None), ("c", "next")], 0),
        ("subsequence", [("c", None), ("a", None)], None),  # the other way round
        ("subsequence", [("a", None), ("c", "depends_on")], None),  # another edge
    ],
)
def test_a_path_is_met_as_strictly_as_it_is_meant(
    mode: MatchMode, steps: list[tuple[str, str | None]], place: int | None
) -> None:
    paths = [path("a", "b", "c"), path("b")]
    assert matching_path(wanted(*steps, mode=mode), paths) == place
    only_best = None if place else place
    assert matching_path(wanted(*steps, mode=mode), paths, best_only=True) == only_best


def test_expected_steps_say_what_became_of_them() -> None:
    expected = wanted(("a", None), ("b", "depends_on"), ("d", None))
    marks = [(mark.walked, mark.edge) for mark in compare_steps(expected, path("x", "a", "b"))]
    assert marks == [(True, None), (True, "next"), (False, None)]


def test_a_path_in_one_line_names_a_stem_once() -> None:
    assert short_ids(["msa:3", "msa:2", "run:2", "plain", "run:2"]) == [
        "msa:3",
        "2",
        "run:2",
        "plain",
        "run:2",
    ]
    assert path_line(paths_in(TRACE)[0]) == "msa:3 -exception_to-> 2 -depends_on-> 1"
    assert path_line(path("a")) == "a"
    assert path_line([]) == ""


# -------------------------------------------------------------------------------------- layout


def test_the_best_path_is_the_first_row_and_layers_are_hops() -> None:
    layout = WalkLayout(paths_in(TRACE)[0], TRACE, ["msa:2", "msa:9"])
    # msa:4 begins a path of its own, so it stands at the start; msa:9 was never touched.
    assert layout.columns == {0: ["msa:3", "msa:4"], 1: ["msa:2"], 2: ["msa:1", "msa:5"], 3: ["msa:9"]}
    boxes = layout.boxes
    # msa:3 leads to msa:4 within a layer, so the first layer leaves room for a link on its left.
    assert (boxes["msa:3"].x, boxes["msa:2"].x) == (EDGE + GAP, EDGE + GAP + WIDE + GAP)
    assert {boxes[node].y for node in ("msa:3", "msa:2", "msa:1", "msa:9")} == {TOP}
    assert boxes["msa:4"].y == TOP + HIGH + APART
    straight = [each for each in layout.drawn if each.link.kind == "best"]
    assert len(straight) == 2
    assert all(each.start[1] == each.end[1] for each in straight)
    assert [each.link.stop for each in layout.drawn if each.link.kind == "stopped"] == ["below_threshold"]


def test_a_picture_stays_small_and_says_how_much_is_left_out() -> None:
    many = [seed("s"), *(spread(1, "s", f"n{n}", 1 - n / 100) for n in range(60))]
    many += [spread(2, "n59", f"far{n}") for n in range(4)]
    layout = WalkLayout(path("s"), many)
    assert layout.columns[1] == [f"n{n}" for n in range(COLUMN)]  # those with the most energy
    assert 2 not in layout.columns  # what led there is not drawn
    assert layout.more_in(1) == 60 - COLUMN
    assert layout.more == 65 - 1 - COLUMN  # s, 60 at one hop, 4 at two


STEPS = st.lists(
    st.builds(
        Step,
        st.sampled_from(["path", "seed", "spread", "tension", "other"]),
        st.integers(0, 4),
        st.sampled_from("abcdefgh"),
        st.none() | st.sampled_from("abcdefgh"),
        st.just({"energy": 0.5}),
        st.booleans(),
        st.none() | st.just("next"),
    ),
    max_size=40,
)


@given(STEPS, st.lists(st.sampled_from("abcxyz"), max_size=4))
def test_any_trace_can_be_drawn(trace: list[Step], expected: list[str]) -> None:
    """Cycles, loops, paths that begin in the middle: every box has its own place, inside the picture."""
    best = paths_in(trace)[0] if paths_in(trace) else []
    layout = WalkLayout(best, trace, expected)
    wide, high = layout.size
    places = [(box.x, box.y) for box in layout.boxes.values()]
    assert len(set(places)) == len(places) <= MOST
    assert all(box.right <= wide and box.y + box.high <= high for box in layout.boxes.values())
    assert set(expected) <= set(layout.boxes)
    assert len(layout.boxes) + layout.more == len(set(layout.layers) | set(expected))
    for a in layout.boxes.values():
        below = [b for b in layout.boxes.values() if b.x == a.x and b.y > a.y]
        assert all(b.y >= a.y + a.high for b in below)


# ------------------------------------------------------------------------------------- picture


def figure(**changes: object) -> WalkPicture:
    return WalkPicture(msgspec.structs.replace(ITEM, **changes), "dense")


def test_the_title_is_the_answer() -> None:
    assert figure().title == "Walked msa:3 → 2 → 1: the expected path"
    longer = wanted(("msa:3", None), ("msa:1", None))
    assert figure(path=longer).title == "Walked msa:3 → 2 → 1: the expected path msa:3 → 1 is in it"
    assert figure(path=wanted(("msa:4", None))).title == (
        "Walked msa:3 → 2 → 1; path 2 is the expected one, msa:4"
    )
    assert figure(path=wanted(("msa:9", None), ("msa:1", None))).title == (
        "Walked msa:3 → 2 → 1, expected msa:9 → 1"
    )
    edges = wanted(("msa:3", None), ("msa:2", "next"), ("msa:1", "next"))
    assert figure(path=edges).title == "Walked msa:3 → 2 → 1, but by other edges than expected"
    assert figure(path=None).title == "Walked msa:3 → 2 → 1: 1 of 2 expected on a path"  # msa:2, not msa:9
    alone = {"dense": ArmWalk(path("a"), [seed("a")])}
    assert figure(path=None, walks=alone, expected=[]).title == "Stayed at a"
    assert figure(walks={"dense": ArmWalk([], [seed("a")])}).title == "No path came back"


def test_a_node_says_by_shape_and_word_whether_it_was_expected() -> None:
    drawn = str(figure().svg)
    nodes = dict(re.findall(r'<g class="(?:found|missed|plain)"><title>(\w+:\d).*?<rect (.*?)/>', drawn))
    kinds = {
        node: kind for kind, node in re.findall(r'<g class="(found|missed|plain)"><title>(\w+:\d)', drawn)
    }
    assert kinds == {
        "msa:3": "plain",
        "msa:4": "plain",
        "msa:2": "found",
        "msa:1": "plain",
        "msa:5": "plain",
        "msa:9": "missed",
    }
    assert ('rx="16"' in nodes["msa:2"], 'rx="3"' in nodes["msa:1"]) == (True, True)
    assert (drawn.count(">expected, found<"), drawn.count(">expected, missed<")) == (1, 1)
    assert re.findall(r'class="count"[^>]*>(\w+)<', drawn) == ["1", "2", "3"]
    assert ">below threshold<" in drawn
    assert ">not reached<" in drawn
    assert 'aria-hidden="true"' in drawn
    assert " id=" not in drawn
    assert "style=" not in drawn  # the page's policy would refuse it


def test_title_marks_and_notes_agree_on_what_was_found() -> None:
    """Of four expected nodes one is on a path, one is only ranked, one was only reached, one was neither."""
    named = ("msa:2", "msa:8", "msa:7", "msa:5")  # energy stopped before msa:5
    trace = [*TRACE, seed("msa:6"), spread(1, "msa:6", "msa:7")]
    walk = ArmWalk(paths_in(TRACE)[0], trace, ranks={"msa:2": 1, "msa:8": 22})
    one = figure(path=None, expected=[ExpectedTarget(node, 1.0) for node in named], walks={"dense": walk})
    assert one.title == "Walked msa:3 → 2 → 1: 1 of 4 expected on a path"
    assert list(one.statuses.values()) == [
        "expected, found",
        "ranked 22nd, on no path",
        "reached, on no path",
        "expected, missed",
    ]
    assert "Expected and never reached: msa:5." in one.notes
    kinds = re.findall(r'<g class="(found|missed|passed-by)"><title>(\w+:\d)', str(one.svg))
    assert dict(map(reversed, kinds)) == {
        "msa:2": "found",
        "msa:8": "passed-by",
        "msa:7": "passed-by",
        "msa:5": "missed",
    }
    assert ">off this walk<" in one.svg
    assert ">not reached<" not in one.svg  # msa:8 and msa:7 stand there, msa:5 at the hop it was tried
    assert ">ranked 22nd, on no path<" in one.svg


def test_an_expected_path_is_compared_with_the_path_that_comes_nearest() -> None:
    nearest = wanted(("msa:4", None), ("msa:8", None))  # msa:4 is the second path
    assert [mark.walked for mark in figure(path=nearest).expected] == [True, False]
    assert [mark.walked for mark in figure(path=nearest, best_only=True).expected] == [False, False]


def test_hits_are_paths_where_a_trace_has_none() -> None:
    walk = ArmWalk(path("a"), [seed("a"), spread(1, "a", "b")], ranks={"b": 4})
    one = figure(path=None, expected=[ExpectedTarget("b", 1.0)], walks={"dense": walk})
    assert one.title == "Stayed at a: 1 of 1 expected on a path"
    assert one.statuses == {"b": "expected, found"}


def test_of_several_spreads_the_first_is_drawn() -> None:
    others = [seed("msa:6"), spread(1, "msa:6", "msa:7"), seed("msa:4"), spread(1, "msa:4", "msa:8")]
    one = figure(walks={"dense": ArmWalk(paths_in(TRACE)[0], [*TRACE, *others])})
    assert set(one.layout.boxes) == {"msa:3", "msa:2", "msa:1", "msa:4", "msa:5", "msa:9"}
    assert "2 more spreads in the table." in one.notes
    assert {row.target for row in one.rows} >= {"msa:7", "msa:8"}
    long = [spread(1, "msa:3", f"n{n}") for n in range(60)]
    cut = figure(walks={"dense": ArmWalk(paths_in(TRACE)[0], [*TRACE, *long, *others])})
    assert "2 more spreads." in cut.notes  # the table ends before they begin


def test_arms_that_walked_alike_share_a_picture() -> None:
    walk = ITEM.walks["dense"]
    weaker = [msgspec.structs.replace(step, scores={"energy": 0.4}) for step in walk.trace]
    other = ArmWalk(path("msa:4"), [*path("msa:4"), seed("msa:4")])
    walks = {"bm25": walk, "dense": walk, "hybrid": msgspec.structs.replace(walk, trace=weaker)}
    first = msgspec.structs.replace(FIRST, walks=walks)
    (figures,) = walk_pictures(FULL, [first], {}).values()
    assert [(f.arm, f.also, f.alike) for f in figures] == [("bm25", ("dense",), ("hybrid",))]
    page = HtmlReport().render(with_walks(FULL, [first])).decode()
    assert page.count('<svg class="graph"') == 1
    assert "also: dense" in page
    assert "also, with other scores: hybrid" in page
    apart = msgspec.structs.replace(first, walks={"bm25": walk, "dense": other})
    (found,) = walk_pictures(FULL, [apart], {}).values()
    assert [(f.arm, f.also) for f in found] == [("bm25", ()), ("dense", ())]


def test_items_that_state_a_path_are_drawn_first_and_those_that_expect_nothing_never() -> None:
    named = ("plain", "bare", "stated")
    plain, bare, stated = (msgspec.structs.replace(ITEM, item_id=name) for name in named)
    plain = msgspec.structs.replace(plain, path=None)
    bare = msgspec.structs.replace(bare, path=None, expected=[])
    assert [item.item_id for item in drawn_items(SMALL, [plain, bare, stated], {})] == ["stated", "plain"]
    assert [item.item_id for item in drawn_items(SMALL, [bare], {})] == ["bare"]


def test_the_table_has_every_step_and_the_notes_the_rest() -> None:
    one = figure()
    assert [row.part for row in one.rows] == ["best path"] * 3 + ["path 2"] + ["spread from msa:3"] * 4
    assert one.rows[2][1:5] == (2, "msa:2", "msa:1", "depends_on")
    assert (one.rows[7].energy, one.rows[7].stop) == ("0.0100", "below threshold")
    assert one.notes == [
        "Expected and never reached: msa:9.",
        "Tension surfaced: msa:3 ↔ 2 (contradicts).",
        "Change of the result (0 to 1) without the best path 0.620.",
    ]
    long = [seed("s"), *(spread(1, "s", f"n{n}") for n in range(99))]
    cut = figure(walks={"dense": ArmWalk(path("s"), long, 7)})
    assert (len(cut.shown), cut.unlisted) == (60, 101 - 60 + 7)  # a path of one step, a seed and 99 more


def test_texts_cannot_leave_the_picture() -> None:
    plant = '</svg><script>alert("1")</script>'
    nasty = [
        Step("path", 0, f"a{plant}", role=plant),
        Step("path", 1, plant, f"a{plant}", edge=plant, stop=plant),
    ]
    drawn = figure(walks={"dense": ArmWalk(nasty, nasty)}, nodes={plant: plant}).svg
    assert "<script>" not in drawn
    assert drawn.count("</svg>") == 1


# -------------------------------------------------------------------------------------- reports


def test_the_page_draws_a_bounded_number_of_walks(walked: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    page = HtmlReport().render(walked).decode()
    assert page.count("<template data-item=") == page.count('<template data-item="0"') == 1
    assert "<b>Walked msa:3 → 2 → 1: the expected path</b>" in page
    assert re.search(r'Drawn for 1 item, worst first:\s+<a href="#item=q0000">q0000</a>\.', page)
    every = [msgspec.structs.replace(ITEM, item_id=each.item_id) for each in FULL.items]
    found = walk_pictures(FULL, every, {})
    assert len(found) == DRAWN
    one = found[FULL.items[0].item_id][0].size
    monkeypatch.setattr("assay.kinds.memory.report.walk_section.ROOM", 3 * one)
    assert len(walk_pictures(FULL, every, {})) == 3
    assert "walk" not in HtmlReport().render(SMALL).decode().split("<body>")[1].split("<script>")[0]


def test_whole_traces_are_only_kept_for_items_that_are_drawn() -> None:
    """Thirty items walked; only so many keep a trace, each cut, with the words of what it touches."""
    full = build_results(n=30)
    trace = [*path("a", "b"), seed("a"), *(spread(1, "a", f"n{n}") for n in range(KEPT))]
    items = [Item(each.item_id, each.text) for each in full.items]
    response = Response(hits=[Hit("a", 1.0)], trace=trace)
    stored = answer_columns(Answer(item.item_id, item.item_id, response) for item in items)
    answers = select_by_key(stored, [item.item_id for item in items])
    block = Block(Arm("dense"), 0, items, answers, Labels.none(), ())
    corpus = Corpus([Passage("a", "Where  goods are\ndefective " * 9), Passage("b", "Short.")])
    found = walked_items(full, [block], {"dense": Dataset("d", corpus, items)})
    assert len(found) == 30
    kept = [each for each in found if each.walks["dense"].trace]
    assert len(kept) == DRAWN
    assert all(len(each.walks["dense"].path) == 2 for each in found)
    assert (len(kept[0].walks["dense"].trace), kept[0].walks["dense"].left_out) == (KEPT, 3)
    assert kept[0].nodes["b"] == "Short."
    assert found[0].walks["dense"].ranks == {}  # gold names none of them
    assert kept[0].nodes["a"].startswith("Where goods are defective Where")
    assert len(kept[0].nodes["a"]) == 60
    assert walked_items(full, [], {}) == []  # nothing walked: nothing to keep
    assert walk_section(full, []) is None


def printed(results: Results) -> str:
    out = StringIO()
    render_text(results, Console(file=out, width=100), every_item=True)
    return out.getvalue()


def test_the_terminal_shows_the_walked_path_in_one_line(walked: Results) -> None:
    lines = printed(walked).splitlines()
    line = next(line for line in lines if "-exception_to->" in line)
    assert line.split("  ")[-1].strip() == "msa:3 -exception_to-> 2 -depends_on-> 1"
    assert max(map(len, lines)) <= 100 or all("  " not in line for line in lines if len(line) > 100)
    assert "walks" in printed(walked)  # heads the column
    assert "walk" not in printed(SMALL)


def test_every_format_names_the_layer_and_what_it_does_not_show() -> None:
    told = dataclasses.replace(SMALL, layer="structured", unproven=["answers", "speed"])
    line = "Layer: structured. Not shown by this data: answers, speed."
    for shown in formats(told):
        assert line in shown
        assert PRIVATE_ALONE not in shown
    loaded = json.loads(JsonReport().render(told))
    assert (loaded["layer"], loaded["unproven"], loaded["caveat"]) == (
        "structured",
        ["answers", "speed"],
        None,
    )
    assert all("Layer:" not in shown for shown in formats(SMALL))


def test_a_go_on_only_private_data_is_not_a_general_claim() -> None:
    go = dataclasses.replace(SMALL, layer="private", verdict="go")
    assert all(PRIVATE_ALONE in shown for shown in formats(go))
    assert json.loads(JsonReport().render(go))["caveat"] == PRIVATE_ALONE
    for other in (
        dataclasses.replace(go, verdict="no-go"),
        dataclasses.replace(go, layer="public"),
        dataclasses.replace(go, layer="public and private"),
    ):
        assert other.caveat is None


def formats(results: Results) -> list[str]:
    return [
        printed(results),
        MarkdownReport().render(results).decode(),
        HtmlReport().render(results).decode(),
        GitHubComment().render(results).decode(),
    ]


@dataclasses.dataclass(frozen=True)
class Own:
    """Two items over three passages, from a private set."""

    def load(self, kit: Kit) -> Dataset:
        passages = [Passage("msa:3", "Where goods are defective"), Passage("msa:2", "Every invoice")]
        corpus = Corpus([*passages, Passage("msa:1", "Notices")])
        relevant = {"msa:2": 1.0, "msa:1": 1.0}
        gold = {
            "relevant": relevant,
            "minimum_evidence_matches": 1,
            "path": {"steps": [{"node_id": "msa:3"}, {"node_id": "msa:2"}]},
        }
        items = [Item(name, "?", gold=gold) for name in ("one", "two")]
        return Dataset("own", corpus, items, layer="private", unproven=["speed"])


@dataclasses.dataclass(frozen=True)
class Told:
    """Always walks from 3 to 2."""

    version: ClassVar[str] = "1"

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> Told:
        return self

    def session(self) -> Told:
        return self

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        hits = [Hit("msa:3", 1.0), Hit("msa:2", 0.5), Hit("msa:1", 0.1)]
        return Response(hits=hits, trace=path("msa:3", "msa:2"))


def test_a_study_brings_layer_paths_and_words_to_its_results(tmp_path: Path) -> None:
    text = "kind: memory\ndata: own()\nsystems: {told: told()}\nmeasures: [Success@1, RR@3]\n"
    text += "gates: {found: {about: It finds the rule., go: [RR@3(told) >= 0.1]}}\n"
    (tmp_path / "study.yaml").write_text(text)
    registry = Registry({SYSTEMS: {"told": Told}, DATASETS: {"own": Own}})
    found = evaluate(tmp_path, registry=registry)
    assert (found.layer, found.unproven) == ("private", ["speed"])
    assert [(gate.about, gate.reads) for gate in found.verdicts] == [("It finds the rule.", ["RR@3"])]
    evaluation = Evaluation(open_study(tmp_path, registry=registry))
    one, _ = walked_items(found, evaluation.blocks, evaluation.datasets)
    assert one.nodes == {
        "msa:2": "Every invoice",
        "msa:1": "Notices",
        "msa:3": "Where goods are defective",
    }
    assert one.sufficient == "any 1 of 2"
    assert one.walks["told"].ranks == {"msa:2": 2, "msa:1": 3, "msa:3": 1}
    assert WalkPicture(one, "told").statuses["msa:1"] == "ranked 3rd, on no path"
    assert one.path == wanted(("msa:3", None), ("msa:2", None))
    assert [step.target for step in one.walks["told"].path] == ["msa:3", "msa:2"]
    assert WalkPicture(one, "told").title == "Walked msa:3 → 2: the expected path"
    assert HtmlReport().render(found).decode().count("<template") == 2
