"""Answers, contexts, traces and trees of hierarchies that ran elsewhere."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assay.core.optional import StructuredIndex
from assay.core.protocols import Kit
from assay.core.records import Context, Node, Piece, Query, Response, Span
from assay.measures.parse import parse_measure
from assay.measures.score import score_block
from assay.pipeline.evaluation import Evaluation
from assay.pipeline.response import check_response
from assay.pipeline.runner import run_study
from assay.study.study import open_study
from assay.systems.traced import Traced

DOCS = Path(__file__).parents[4] / "docs" / "external-hierarchies.md"
FILES = dict(re.findall(r"(?m)^`([\w./]+)`\n\n```\w*\n(.*?)^```", DOCS.read_text(), re.DOTALL))
Lines = list[dict[str, Any]]
Change = Callable[[Lines], object]
SYSTEM = Traced("answers.jsonl", "tree.jsonl")


def lines_of(name: str) -> Lines:
    return [json.loads(line) for line in FILES[name].splitlines()]


ANSWERS, TREE = lines_of("answers.jsonl"), lines_of("tree.jsonl")


def written(folder: Path, answers: Lines = ANSWERS, tree: Lines = TREE) -> Path:
    """The example of the guide in a folder, with other answers or another tree."""
    (folder / "data").mkdir(exist_ok=True)
    for name, content in FILES.items():
        (folder / name).write_text(content)
    for name, lines in {"answers.jsonl": answers, "tree.jsonl": tree}.items():
        (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def told(folder: Path, system: Traced = SYSTEM) -> list[str]:
    """The problems of the files, without their folder."""
    study = open_study(folder)
    found = system.problems(study.dataset(study.arms[0]), study.kit)
    return [str(problem).removeprefix(f"{folder}/") for problem in found]


def answered(folder: Path, item_id: str, budgets: list[int | None]) -> Response:
    study = open_study(folder)
    index = SYSTEM.build(study.dataset(study.arms[0]).corpus, 0, study.kit)
    return index.session().answer(Query(item_id, ""), budgets)


# ------------------------------------------------------------------------------------- the example


def test_the_example_of_the_guide_scores_as_its_table_says(tmp_path: Path) -> None:
    assert set(FILES) == {
        "data/passages.jsonl",
        "data/items.jsonl",
        "tree.jsonl",
        "answers.jsonl",
        "study.yaml",
    }
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    assert told(tmp_path) == []
    study = open_study(tmp_path)
    assert run_study(study).failed == 0
    (block,) = Evaluation(study).blocks
    block = replace(block, gives=SYSTEM.gives_in(study.kit))
    table = re.findall(r"(?m)^\| `(\S+)` \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|", DOCS.read_text())
    assert len(table) == 7
    for name, *values in table:
        found, _ = score_block(parse_measure(name), block)
        assert found.tolist() == [float(value) for value in values], name
    listed = {measure.name for measure in study.measures}
    assert listed == {*(name for name, *_ in table), "Seconds"}


def test_the_tree_is_published_with_summaries_names_and_all_parents(tmp_path: Path) -> None:
    study = open_study(written(tmp_path))
    index = SYSTEM.build(study.dataset(study.arms[0]).corpus, 0, study.kit)
    assert isinstance(index, StructuredIndex)
    structure = index.structure()
    node = msgspec.convert(msgspec.to_builtins(structure.nodes[1]), Node)
    assert node == Node("L1:0", 1, "branch", about="the harbour: dues, berths", entities=["Berth 7"])
    parents = [edge.source for edge in structure.edges if (edge.target, edge.kind) == ("ferry", "child")]
    assert parents == ["L2:1", "L2:2"]


def test_a_node_with_the_id_of_a_passage_is_that_passage(tmp_path: Path) -> None:
    tree = copy.deepcopy(TREE)
    for line in tree:
        line.get("node", {}).pop("doc_id", None)
    study = open_study(written(tmp_path, tree=tree))
    index = SYSTEM.build(study.dataset(study.arms[0]).corpus, 0, study.kit)
    assert isinstance(index, StructuredIndex)
    named = {node.node_id: node.doc_id for node in index.structure().nodes}
    assert (named["ferry"], named["L1:0"], named["entity:mara quint"]) == ("ferry", None, None)


# ---------------------------------------------------------------------------------------- contexts


def test_contexts_are_those_of_the_budgets_asked_for(tmp_path: Path) -> None:
    folder = written(tmp_path)
    (context,) = answered(folder, "licence", [400]).contexts
    first = Piece("ferry", "The ferry leaves at nine. Mara Quint is its captain.", Span(0, 52))
    second = Piece("staff", "Mara Quint holds a licence until 2031.", Span(0, 38))
    assert context == Context(400, [first, second], context.tokens, "o200k_base")
    assert [each.budget for each in answered(folder, "half", [None, 400]).contexts] == [None, 400]
    assert answered(folder, "half", []).contexts == []
    lost = answered(folder, "half", [200, 400]).error
    assert lost is not None
    assert (lost.kind, lost.message) == ("absent", "the file has no context for the budget 200")


def test_tokens_are_counted_again_as_an_answer_is_taken_in(tmp_path: Path) -> None:
    answers = copy.deepcopy(ANSWERS)
    for line in answers:
        line["contexts"][0] |= {"budget": 5, "tokens": 5}
    folder = written(tmp_path, answers)
    assert told(folder) == []
    fault = check_response(answered(folder, "half", [5]), [5]).error
    assert fault is not None
    assert re.fullmatch(r"the context for 5 tokens has \d\d, counted by o200k_base", fault.message)


def test_what_it_gives_is_what_lines_have(tmp_path: Path) -> None:
    kit = Kit(root=written(tmp_path))
    assert SYSTEM.gives_in(kit) == {"hits", "trace", "contexts"}
    answers: Lines = [
        {"item_id": "half", "hits": []},
        {"item_id": "free", "hits": [], "route": "x", "flags": {}},
    ]
    written(tmp_path, answers)
    assert SYSTEM.gives_in(kit) == {"hits", "trace", "route", "flags"}
    (tmp_path / "answers.jsonl").write_bytes(b"\xff{\n")
    assert SYSTEM.gives_in(kit) == {"hits", "trace"}
    assert Traced("gone.jsonl").gives_in(kit) == {"hits", "trace"}


def test_the_path_that_won_the_race_is_the_route(tmp_path: Path) -> None:
    answers = copy.deepcopy(ANSWERS)
    answers[0]["trace"] += race(beam=0.4, collapsed=0.7)
    answers[1]["flags"] = {"impossible": "out_of_kb"}
    folder = written(tmp_path, answers)
    assert told(folder) == []
    assert answered(folder, "half", []).route == "collapsed"
    assert answered(folder, "licence", []).flags == {"impossible": "out_of_kb"}
    answers[0]["route"] = "beam"
    (problem,) = told(written(tmp_path, answers))
    assert problem.startswith("answers.jsonl:1: route: the route is 'beam', and 'collapsed' won the race. ")


def race(**sure: float) -> Lines:
    best = max(sure, key=lambda path: sure[path])
    return [
        {"kind": "race", "depth": 0, "target": path, "scores": {"confidence": each}, "selected": path == best}
        for path, each in sure.items()
    ]


# ---------------------------------------------------------------------------------------- refusals


def step(at: int, **given: Any) -> Change:
    """Changes a step of the second line: routes 0 to 3, a link 4, counts 5 to 7."""
    return lambda lines: lines[1]["trace"][at].update(given)


def raced(*steps: dict[str, Any]) -> Change:
    return lambda lines: lines[1]["trace"].extend(steps)


def context(at: int = 0, **given: Any) -> Change:
    return lambda lines: lines[1]["contexts"][at].update(given)


def piece(**given: Any) -> Change:
    return lambda lines: lines[1]["contexts"][0]["pieces"][0].update(given)


BEAM, COLLAPSED = race(beam=0.9, collapsed=0.1)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (step(1, depth=0), "trace[1].depth: a step of kind 'route' at depth 0"),
        (step(1, depth=-1), "trace[1].depth: the depth is -1"),
        (step(1, source=None), "trace[1].source: a step of kind 'route' has no source"),
        (step(1, scores={"score": "high"}), "trace[1].scores[...]: expected float, got str"),
        (step(1, depth=2), "trace[1].source: it is selected below 'root', which no step selects at depth 1"),
        (step(2, selected=True, stop="beam"), "trace[2].stop: it was selected, and stopped by 'beam'"),
        (step(1, selected=False), "trace[2].source: it is selected below 'L1:1', which no step selects at"),
        (step(3, target="L2:1"), "trace[3]: 'L2:1' is a candidate of 'L1:1' in trace[2] already"),
        (step(3, target="L2:9"), "trace[3].target: the structure has no node 'L2:9'"),
        (step(3, source="L1:9"), "trace[3].source: the structure has no node 'L1:9'"),
        (step(3, depth=3), "trace[3].depth: 'L2:2' has level 2 in the structure, and depth 3 here"),
        (step(3, target="L2:0"), "trace[3].source: 'L2:0' is not a child of 'L1:1' in the structure"),
        (step(3, kind="routed"), "trace[3].kind: there is no kind 'routed'. Did you mean 'route'?"),
        (step(4, depth=0), "trace[4].depth: a step of kind 'link' at depth 0"),
        (step(4, source=None), "trace[4].source: a step of kind 'link' has no source"),
        (step(4, edge="cites"), "trace[4].edge: the structure has no cites from 'ferry' to 'staff', nor one"),
        (step(4, source="dues"), "trace[4].edge: the structure has no names from 'dues' to 'staff', nor one"),
        (step(4, target="berths"), "trace[4].edge: the structure has no names from 'ferry' to 'berths'"),
        (step(4, target="nowhere"), "trace[4].edge: the structure has no names from 'ferry' to 'nowhere'"),
        (lambda lines: lines[1]["hits"].pop(), "trace[4].target: a link led to 'staff', which is not a hit"),
        (step(5, depth=0), "trace[5].depth: a step of kind 'visited' at depth 0"),
        (step(5, source="root"), "trace[5].source: a step of kind 'visited' has a source"),
        (step(5, target="L2"), "trace[5].target: 'L2' is not a level at depth 1. Write L1, or passages"),
        (step(5, scores={"nodes": 2}), "trace[5].scores: 2 nodes of no number of"),
        (step(5, scores={"nodes": 3, "of": 2}), "trace[5].scores: 3 nodes of 2"),
        (raced(BEAM), "trace[8]: only one path races"),
        (raced(BEAM, {**COLLAPSED, "selected": True}), "trace[8].selected: 2 of 2 paths won the race"),
        (raced({**BEAM, "selected": False}, COLLAPSED), "trace[8].selected: 0 of 2 paths won the race"),
        (raced(BEAM, COLLAPSED, COLLAPSED), "trace[10].target: 'collapsed' races in trace[9] already"),
        (raced({**BEAM, "scores": {}}, COLLAPSED), "trace[8].scores.confidence: there is no confidence"),
        (raced({**BEAM, "depth": 1}, COLLAPSED), "trace[8].depth: a step of kind 'race' at depth 1"),
        (lambda lines: lines[1].pop("hits"), "hits: there are routing steps, and no hits"),
        (lambda lines: lines[1].pop("contexts"), "contexts: there are no contexts, and line 1 has some"),
        (context(budget=200), "contexts: contexts for 200, inf, and for 400, inf on line 1"),
        (context(budget=None), "contexts[1].budget: the budget inf is that of contexts[0] already"),
        (context(budget=0), "contexts[0].budget: 0 is not a budget"),
        (context(tokens=401), "contexts[0].tokens: 401 tokens for a budget of 400"),
        (context(shown=1), "contexts[0]: object contains unknown field shown"),
        (lambda lines: lines[1]["contexts"][0].pop("budget"), "contexts[0].budget: the field is missing"),
        (piece(start=None), "contexts[0].pieces[0]: there is no start"),
        (piece(end=99), "contexts[0].pieces[0]: the text has 52 characters, [0, 99) has not"),
        (piece(start=1, end=53), "contexts[0].pieces[0]: another text is at [1, 53) of 'ferry'"),
        (piece(doc_id="boats", start=None, end=None), "contexts: not in the corpus: 'boats'"),
    ],
)
def test_every_mistake_in_answers_is_reported_with_its_line(
    tmp_path: Path, change: Change, problem: str
) -> None:
    lines = copy.deepcopy(ANSWERS)
    change(lines)
    found = told(written(tmp_path, lines))
    assert found[0].startswith(f"answers.jsonl:2: {problem}"), found
    assert found[0].rstrip("?.").count(". ") >= 1, "it says what to do"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            lambda tree: tree[3]["node"].update(level=3),
            "14: edge: a child of level 3 below 'L1:0'",
        ),
        (lambda tree: tree[15]["edge"].update(target="L1:1"), "16: edge: a child of level 1 below 'L1:1'"),
        (
            lambda tree: (
                tree[2]["node"].pop("level"),
                tree.append({"edge": {"source": "L2:1", "target": "L1:1", "kind": "child"}}),
            ),
            "3: node: 'L1:1' lies below itself",
        ),
        (
            lambda tree: tree.append({"edge": {"source": "ferry", "target": "staff", "kind": "child"}}),
            "24: edge.source: 'ferry' is a passage, and has a child. Put the child below",
        ),
        (
            lambda tree: tree.append({"node": {"node_id": "top", "level": 0}}),
            "24: node.level: 'top' has level 0, and so has 'root' on line 1. Put both below one root.",
        ),
        (
            lambda tree: tree.append({"edge": {**tree[11]["edge"], "weight": 0.5}}),
            "24: edge: the edge from 'root' to 'L1:0' stands on line 12 already. Take one",
        ),
        (lambda tree: tree.append(tree[-1]), "24: edge: the edge from 'entity:mara quint' to 'staff' stands"),
        (lambda tree: tree.pop(0), "11: edge.source: there is no node 'root'"),
        (lambda tree: tree[1]["node"].update(entities="Mara"), "2: node.entities: expected array, got str"),
    ],
)
def test_every_mistake_in_a_tree_is_reported_with_its_line(
    tmp_path: Path, change: Change, problem: str
) -> None:
    tree = copy.deepcopy(TREE)
    change(tree)
    found = told(written(tmp_path, tree=tree))
    assert found[0].startswith(f"tree.jsonl:{problem}"), found


def test_links_name_passages_with_any_node_ids(tmp_path: Path) -> None:
    tree = json.loads(
        re.sub(r'"(node_id|source|target)": "(ferry|staff)"', r'"\1": "p:\2"', json.dumps(TREE))
    )
    assert {"p:ferry", "p:staff"} <= {line["node"]["node_id"] for line in tree if "node" in line}
    assert told(written(tmp_path, tree=tree)) == []
    (problem,) = told(written(tmp_path, tree=tree[:-1]))
    assert "the structure has no names from 'ferry' to 'staff'" in problem


def test_links_of_one_kind_that_differ_stand_side_by_side(tmp_path: Path) -> None:
    tree = [*TREE, {"edge": {**TREE[-1]["edge"], "weight": 0.5}}]
    assert told(written(tmp_path, tree=tree)) == []


def test_the_choice_at_depth_1_is_the_root_s(tmp_path: Path) -> None:
    answers, tree = copy.deepcopy(ANSWERS), copy.deepcopy(TREE)
    for line in tree:
        line.get("node", {}).pop("level", None)
    answers[0]["trace"] = [{"kind": "route", "depth": 1, "source": "L1:0", "target": "L2:0"}]
    (problem,) = told(written(tmp_path, answers, tree))
    assert problem.startswith("answers.jsonl:1: trace[0].source: 'L1:0' is not the root. ")


def test_without_a_tree_the_nodes_of_a_route_are_unknown(tmp_path: Path) -> None:
    found = told(written(tmp_path), Traced("answers.jsonl"))
    assert len(found) == 3
    assert found[0].startswith("answers.jsonl:1: trace: not in the corpus: 'root', 'L1:0', 'L1:1', 'L2:0'. ")
    assert "add the nodes to the structure" in found[0]


def test_what_failed_owes_neither_hits_nor_contexts(tmp_path: Path) -> None:
    answers = copy.deepcopy(ANSWERS)
    answers[1] = {"item_id": "licence", "error": {"kind": "Timeout", "message": "no answer"}}
    answers[2] = {"item_id": "free", "hits": [], "contexts": []}
    folder = written(tmp_path, answers)
    assert told(folder) == []
    assert answered(folder, "free", [400]) == Response(observed=answered(folder, "free", [400]).observed)


# --------------------------------------------------------------------------------------- our own tree


OWN = """\
data: data
budgets: [400, inf]
systems:
  own: tree(path=race, tree=kmeans(depth=2, branching=[2, 2]), links=names, k=5)
measures: [eps@L1, eps@L2, Survival, Visited]
"""


@pytest.mark.slow
def test_what_our_own_tree_writes_scores_the_same_when_it_comes_from_a_file(tmp_path: Path) -> None:
    folder = written(tmp_path)
    (folder / "study.yaml").write_text(OWN)
    study = open_study(folder)
    assert run_study(study).failed == 0
    evaluation = Evaluation(study)
    (block,) = evaluation.blocks
    (structure,) = evaluation.store.structures().values()
    answers: Lines = []
    for item, response in zip(block.items, block.responses, strict=True):
        assert response is not None
        hits = [{"doc_id": hit.doc_id, "score": hit.score} for hit in response.hits]
        contexts = [in_file(each) for each in response.contexts]
        trace = msgspec.to_builtins(response.trace)
        answers.append({"item_id": item.item_id, "hits": hits, "contexts": contexts, "trace": trace})
        assert {"route", "race", "visited"} <= {each.kind for each in response.trace}
    tree = [{"node": msgspec.to_builtins(node)} for node in structure.nodes]
    tree += [{"edge": {"kind": edge.kind, **msgspec.to_builtins(edge)}} for edge in structure.edges]
    written(folder, answers, tree)
    (folder / "study.yaml").write_text(OWN.replace("measures:", "  read: " + READ + "\nmeasures:"))
    assert told(folder) == []
    study = open_study(folder)
    assert run_study(study).failed == 0
    own, read = Evaluation(study).blocks
    read = replace(read, gives=None)
    for measure in [*study.measures, *map(parse_measure, ("A@400", "LinkUse@400", "eps_strict@L2"))]:
        ours, theirs = score_block(measure, own), score_block(measure, read)
        assert [each.tolist() for each in theirs] == [each.tolist() for each in ours], measure.name


READ = "traced(path=answers.jsonl, structure=tree.jsonl)"


def in_file(context: Context) -> dict[str, Any]:
    pieces = [
        {"doc_id": each.doc_id, "text": each.text, **({"start": span.start, "end": span.end} if span else {})}
        for each in context.pieces
        for span in [each.span]
    ]
    told = {"budget": context.budget, "tokens": context.tokens, "tokenizer": context.tokenizer}
    return {**told, "pieces": pieces}
