"""Answers, traces and graphs of memories that ran elsewhere."""

from __future__ import annotations

import copy
import gzip
import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assay.core.dataset import Corpus, Dataset
from assay.core.errors import DataError
from assay.core.optional import StructuredIndex
from assay.core.protocols import Kit
from assay.core.records import Edge, Fault, Item, Node, Passage, Query, Response, Step
from assay.core.registry import SYSTEMS, Registry
from assay.pipeline.evaluation import Evaluation
from assay.pipeline.runner import run_study
from assay.study.study import open_study
from assay.systems.traced import Traced

DOCS = Path(__file__).parents[3] / "docs" / "external-memories.md"
SCOPE = ["a:1", "a:2", "a:3"]
DATASET = Dataset(
    "small",
    Corpus([Passage(f"{stem}:{n}", "text", source=stem) for stem in "ab" for n in (1, 2, 3)]),
    [Item("q1", "who", scope=SCOPE), Item("q2", "what", scope=SCOPE), Item("q3", "why")],
)
Lines = list[dict[str, Any]]
# q1 walks a:1 - a:2 - topic, and in a second path a:3 - a:2. q2 has hits alone. q3 has no line.
ANSWERS: Lines = [
    {
        "item_id": "q1",
        "trace": [
            {"kind": "path", "depth": 0, "target": "a:1", "role": "remedy", "scores": {"score": 0.5}},
            {"kind": "path", "depth": 1, "source": "a:1", "target": "a:2", "edge": "depends_on"},
            {"kind": "path", "depth": 2, "source": "a:2", "target": "topic", "edge": "about"},
            {"kind": "path", "depth": 0, "target": "a:3"},
            {"kind": "path", "depth": 1, "source": "a:3", "target": "a:2", "edge": None},
            {"kind": "seed", "depth": 0, "target": "a:1", "scores": {"energy": 1}},
            {
                "kind": "spread",
                "depth": 1,
                "source": "a:1",
                "target": "a:2",
                "edge": "depends_on",
                "scores": {"incoming": 1.0, "energy": 0.1},
                "selected": False,
                "stop": "below_threshold",
            },
            {"kind": "tension", "depth": 0, "source": "a:1", "target": "a:3", "edge": "contradicts"},
            {"kind": "removed", "depth": 0, "target": "topic", "edge": "path", "scores": {"change": 0.5}},
            {"kind": "rewritten", "depth": 7, "target": "a:1"},
        ],
        "seconds": 0.25,
    },
    {"item_id": "q2", "hits": [{"doc_id": "a:3", "score": 0.5}, {"doc_id": "a:1", "score": 0.5}]},
]
# A ring a:1, a:2, a:3; an edge from a:1 to itself; a node of no passage; b:1 under another id.
GRAPH: Lines = [
    {"node": {"node_id": "a:1", "role": "remedy"}},
    {"node": {"node_id": "a:2"}},
    {"node": {"node_id": "a:3"}},
    {"node": {"node_id": "topic", "level": 1}},
    {"node": {"node_id": "n7", "doc_id": "b:1"}},
    {"edge": {"source": "a:2", "target": "a:1", "kind": "depends_on", "weight": 0.5, "rule": "when"}},
    {"edge": {"source": "a:2", "target": "a:3", "kind": "next_unit"}},
    {"edge": {"source": "a:3", "target": "a:1", "kind": "next_unit"}},
    {"edge": {"source": "a:1", "target": "a:1", "kind": "refers_to"}},
    {"edge": {"source": "a:2", "target": "topic", "kind": "about"}},
    {"edge": {"source": "n7", "target": "topic", "kind": "about"}},
]
Change = Callable[[Lines], object]


def text(lines: Lines) -> str:
    return "".join(json.dumps(line) + "\n" for line in lines)


def written(folder: Path, answers: Lines = ANSWERS, graph: Lines = GRAPH) -> Kit:
    (folder / "answers.jsonl").write_text(text(answers))
    (folder / "graph.jsonl").write_text(text(graph))
    return Kit(root=folder)


def told(kit: Kit, structure: str = "graph.jsonl", dataset: Dataset = DATASET) -> list[str]:
    """The problems of the files, without their folder."""
    found = Traced("answers.jsonl", structure).problems(dataset, kit)
    return [str(problem).removeprefix(f"{kit.root}/") for problem in found]


def answered(kit: Kit, item_id: str, structure: str = "") -> Response:
    index = Traced("answers.jsonl", structure).build(DATASET.corpus, 0, kit)
    return index.session().answer(Query(item_id, "what it asks plays no part"), budgets=[])


# -------------------------------------------------------------------------------------- answers


def test_files_that_are_right_have_no_problems(tmp_path: Path) -> None:
    assert told(written(tmp_path)) == []


def test_hits_that_are_left_out_are_the_nodes_of_the_paths(tmp_path: Path) -> None:
    response = answered(written(tmp_path), "q1")
    # a:1, a:2, topic, then a:3; a:2 came before: four hits, so 4, 3, 2, 1
    assert [(hit.doc_id, hit.score) for hit in response.hits] == [
        ("a:1", 4.0),
        ("a:2", 3.0),
        ("topic", 2.0),
        ("a:3", 1.0),
    ]
    assert response.observed.seconds == {"total": 0.25}
    first = msgspec.convert(msgspec.to_builtins(response.trace[0]), Step)
    assert first == Step("path", 0, "a:1", scores={"score": 0.5}, role="remedy")
    assert (response.trace[6].selected, response.trace[6].stop) == (False, "below_threshold")
    assert len(response.trace) == 10


def test_hits_keep_their_order_and_scores(tmp_path: Path) -> None:
    kit = written(tmp_path)
    response = answered(kit, "q2")
    assert [(hit.doc_id, hit.score) for hit in response.hits] == [("a:3", 0.5), ("a:1", 0.5)]
    assert response.observed.seconds == {}
    bare = [{"item_id": "q1", "hits": ["a:2", "a:1"]}, {**ANSWERS[0], "item_id": "q2", "hits": []}]
    kit = written(tmp_path, bare)
    assert [(hit.doc_id, hit.score) for hit in answered(kit, "q1").hits] == [("a:2", 2.0), ("a:1", 1.0)]
    assert answered(kit, "q2").hits == []


def test_what_failed_or_was_never_asked_is_a_fault(tmp_path: Path) -> None:
    kit = written(tmp_path, [{"item_id": "q1", "error": {"kind": "Timeout", "message": "no answer"}}])
    assert answered(kit, "q1").error == Fault("Timeout", "no answer")
    absent = answered(kit, "q3").error
    assert absent is not None
    assert absent.kind == "absent"


def test_hits_made_of_paths_name_the_passages_of_their_nodes(tmp_path: Path) -> None:
    walk = [{"item_id": "q3", "trace": [{"kind": "path", "depth": 0, "target": "n7"}]}]
    kit = written(tmp_path, walk)
    assert told(kit) == []
    assert [hit.doc_id for hit in answered(kit, "q3", "graph.jsonl").hits] == ["b:1"]
    (problem,) = told(kit, structure="")
    assert problem.startswith(
        "answers.jsonl:1: trace: not in the corpus: 'n7'. Write ids as the dataset does"
    )


# ---------------------------------------------------------------------------------------- graph


def test_the_structure_is_published_by_scope(tmp_path: Path) -> None:
    kit = written(tmp_path)
    system = Traced("answers.jsonl", "graph.jsonl")
    whole = system.build(DATASET.corpus, 0, kit)
    assert isinstance(whole, StructuredIndex)
    structure = whole.structure()
    assert len(structure.nodes) == 5
    assert structure.edges[0] == Edge("a:2", "a:1", "depends_on", 0.5, "when")
    assert len(structure.edges) == 6
    part = system.build(DATASET.corpus.restricted(SCOPE), 0, kit)
    assert isinstance(part, StructuredIndex)
    # the topic leads on from a:2; n7 is b:1, which lies outside
    assert [node.node_id for node in part.structure().nodes] == ["a:1", "a:2", "a:3", "topic"]
    assert len(part.structure().edges) == 5
    assert not isinstance(Traced("answers.jsonl").build(DATASET.corpus, 0, kit), StructuredIndex)


def test_files_are_read_once_for_all_scopes_and_again_when_they_change(tmp_path: Path) -> None:
    kit = written(tmp_path)
    system = Traced("answers.jsonl", "graph.jsonl")
    first, second = (system.build(DATASET.corpus.restricted([each]), 0, kit) for each in ("a:1", "a:2"))
    assert first.published is second.published
    written(tmp_path, ANSWERS[:1])
    assert system.build(DATASET.corpus, 0, kit).answer(Query("q2", "what"), []).error is not None


def test_the_identity_follows_what_both_files_hold(tmp_path: Path) -> None:
    kit = written(tmp_path)
    system = Traced("answers.jsonl", "graph.jsonl")
    before = system.identity(kit)
    assert Traced("answers.jsonl").identity(kit) != before
    (tmp_path / "packed.jsonl.gz").write_bytes(gzip.compress(text(ANSWERS).encode()))
    assert Traced("packed.jsonl", "graph.jsonl").identity(kit) == before
    assert Traced("packed.jsonl.gz", "graph.jsonl").problems(DATASET, kit) == []
    written(tmp_path, graph=GRAPH[:-1])
    assert system.identity(kit) != before


# -------------------------------------------------------------------------------------- refusals


def step(at: int, **given: Any) -> Change:
    return lambda lines: lines[0]["trace"][at].update(given)


def scored(at: int, value: float) -> Change:
    return lambda lines: lines[1]["hits"][at].update(score=value)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (step(1, depth=-1), "1: trace[1].depth: the depth is -1"),
        (lambda lines: lines[0]["trace"].pop(0), "1: trace[0].depth: the first path begins at depth 1"),
        (lambda lines: lines[0]["trace"].pop(1), "1: trace[1].depth: depth 2 follows depth 0"),
        (step(2, source="a:1"), "1: trace[2].source: the source is 'a:1', but the path is at 'a:2'"),
        (step(4, source=None), "1: trace[4].source: the source is None, but the path is at 'a:3'"),
        (step(3, source="a:2"), "1: trace[3].source: a path begins here, so it has no source"),
        (step(3, edge="about"), "1: trace[3].edge: a path begins here, so it has no edge"),
        (
            step(2, edge="depends_on"),
            "1: trace[2].edge: the structure has no depends_on between 'a:2' and 'top",
        ),
        (
            step(6, edge="next_unit"),
            "1: trace[6].edge: the structure has no next_unit between 'a:1' and 'a:2', o",
        ),
        (step(5, depth=1), "1: trace[5].depth: a step of kind 'seed' at depth 1"),
        (step(6, depth=0), "1: trace[6].depth: a step of kind 'spread' at depth 0"),
        (step(6, source=None), "1: trace[6].source: a step of kind 'spread' has no source"),
        (step(7, source=None), "1: trace[7].source: a step of kind 'tension' has no source"),
        (lambda lines: lines[0]["trace"].pop(5), "1: trace[5].kind: energy spreads before any seed"),
        (step(8, edge="all"), "1: trace[8].edge: 'all' does not say what was removed"),
        (step(8, scores={"change": 1.5}), "1: trace[8].scores.change: there is no change from 0 to 1"),
        (step(0, kind="Paths"), "1: trace[0].kind: there is no kind 'Paths'. Did you mean 'path'?"),
        (step(0, target="a:9"), "1: trace[1].source: the source is 'a:1', but the path is at 'a:9'"),
        (step(9, target="a:9"), "1: trace: not in the corpus: 'a:9'"),
        (step(9, target="b:1"), "1: trace: not in the scope of the item: 'b:1'"),
        (step(9, target="n7"), "1: trace: not in the scope of the item: 'n7'"),
        (step(0, egde="x"), "1: trace[0]: object contains unknown field egde"),
        (step(0, depth="1"), "1: trace[0].depth: expected int, got str"),
        (lambda lines: lines[0]["trace"][0].pop("target"), "1: trace[0].target: the field is missing"),
        (lambda lines: lines[1].pop("item_id"), "2: item_id: the field is missing"),
        (lambda lines: lines[1].update(item_id="q1"), "2: the item_id 'q1' stands on line 1 already"),
        (lambda lines: lines[1].update(item_id="q9"), "2: item_id: there is no item 'q9'"),
        (lambda lines: lines[1].update(seconds=-1), "2: seconds: -1.0 is not a duration"),
        (lambda lines: lines[1].update(error="broke"), "2: error: expected object | null, got str"),
        (lambda lines: lines[1].update(hits=["a:1", "a:1"]), "2: hits[1]: 'a:1' is hit 0 already"),
        (lambda lines: lines[1].update(hits=["a:7"]), "2: hits: not in the corpus: 'a:7'"),
        (lambda lines: lines[1]["hits"][0].pop("score"), "2: hits: 1 of 2 hits have no score"),
        (scored(1, 0.7), "2: hits[1].score: the score rises from 0.5 to 0.7"),
        (scored(0, float("nan")), "2: NaN is not a finite number"),
        (scored(0, float("inf")), "2: Infinity is not a finite number"),
    ],
)
def test_every_mistake_in_answers_is_told_with_its_line(tmp_path: Path, change: Change, problem: str) -> None:
    lines = copy.deepcopy(ANSWERS)
    change(lines)
    found = told(written(tmp_path, lines))
    assert found[0].startswith(f"answers.jsonl:{problem}"), found
    assert found[0].rstrip("?.").count(". ") >= 1, "it says what to do"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda graph: graph.append(graph[1]), "12: the node_id 'a:2' stands on line 2 already"),
        (lambda graph: graph.pop(1), "5: edge.source: there is no node 'a:2'"),
        (lambda graph: graph[5]["edge"].update(target="a:9"), "6: edge.target: there is no node 'a:9'"),
        (lambda graph: graph[5]["edge"].pop("kind"), "6: edge.kind: the field is missing"),
        (lambda graph: graph[5]["edge"].update(weight=float("nan")), "6: NaN is not a finite number"),
        (lambda graph: graph[0].update(graph[5]), "1: a line is a node or an edge"),
        (lambda graph: graph.insert(0, {}), "1: a line is a node or an edge"),
        (lambda graph: graph[4]["node"].update(doc_id="z:1"), "5: node.doc_id: not in the corpus: 'z:1'"),
        (lambda graph: graph[0]["node"].update(rolle="x"), "1: node: object contains unknown field rolle"),
    ],
)
def test_every_mistake_in_a_graph_is_told_with_its_line(tmp_path: Path, change: Change, problem: str) -> None:
    graph = copy.deepcopy(GRAPH)
    change(graph)
    found = told(written(tmp_path, graph=graph))
    assert found[0].startswith(f"graph.jsonl:{problem}"), found


def test_everything_is_told_at_once_and_stops_an_index(tmp_path: Path) -> None:
    lines, graph = copy.deepcopy(ANSWERS), copy.deepcopy(GRAPH)
    step(0, depth=-1)(lines)
    scored(1, 0.7)(lines)
    graph[5]["edge"]["target"] = "a:9"
    graph.append(graph[0])
    kit = written(tmp_path, lines, graph)
    assert [each.split(": ")[0] for each in told(kit)] == [
        "graph.jsonl:12",
        "graph.jsonl:6",
        "answers.jsonl:1",
        "answers.jsonl:1",
        "answers.jsonl:2",
    ]
    with pytest.raises(DataError, match="the score rises"):
        answered(kit, "q1", "graph.jsonl")


def test_an_item_on_a_line_that_is_refused_is_there(tmp_path: Path) -> None:
    lines: Lines = [
        {"item_id": "q1", "hits": ["a:1"], "secnds": 1},
        {"item_id": "x", "hits": ["a:1"]},
        {"item_id": "q1", "hits": ["a:2"]},
    ]
    assert [each.partition(". ")[0] for each in told(written(tmp_path, lines), structure="")] == [
        "answers.jsonl:1: object contains unknown field secnds",
        "answers.jsonl:3: the item_id 'q1' stands on line 1 already",
        "answers.jsonl:2: item_id: there is no item 'x'",  # and not that no item occurs here
    ]


def test_all_that_is_wrong_with_one_step_is_told(tmp_path: Path) -> None:
    lines: Lines = [{"item_id": "q1", "hits": [], "trace": [{"kind": "pth", "depth": 0, "target": "z:9"}]}]
    assert [each.partition(". ")[0] for each in told(written(tmp_path, lines))] == [
        "answers.jsonl:1: trace[0].kind: there is no kind 'pth'",
        "answers.jsonl:1: trace: not in the corpus: 'z:9'",
    ]


def test_a_file_about_other_data_is_told_once(tmp_path: Path) -> None:
    other = [{"item_id": f"x{n}", "hits": ["z"]} for n in range(9)]
    (problem,) = told(written(tmp_path, other), structure="")
    assert problem.startswith("answers.jsonl: no item_id of the dataset occurs here: here 'x0', there 'q1'. ")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "answers.jsonl: the file is empty"),
        (b"\n\n", "answers.jsonl: the file is empty"),
        (b'{"item_id": "q1"', "answers.jsonl:1: not JSON"),
        (b'{"item_id": "\\ud800"}', "answers.jsonl:1: not JSON"),
        (b"\xff\xfe", "answers.jsonl:1: not"),
        (b"[1]", "answers.jsonl:1: expected object, got array"),
        (b'{"item_id": "q1", "trace": ' + b"[" * 9999 + b"]" * 9999 + b"}", "answers.jsonl:1: "),
        (b'{"item_id": "q1", "seconds": 1e999}', "answers.jsonl:1: seconds: number out of range"),
    ],
)
def test_a_file_that_is_something_else(tmp_path: Path, content: bytes, problem: str) -> None:
    kit = written(tmp_path)
    (tmp_path / "answers.jsonl").write_bytes(content)
    assert told(kit)[0].startswith(problem)


def test_files_that_are_not_there_are_named(tmp_path: Path) -> None:
    kit = Kit(root=tmp_path)
    assert told(kit) == [
        "graph.jsonl: the file is missing. Add graph.jsonl to the folder.",
        "answers.jsonl: the file is missing. Add answers.jsonl to the folder.",
    ]
    lost = Traced("no/answers.jsonl", "no/graph.jsonl")
    assert [problem.what for problem in lost.problems(DATASET, kit)] == ["there is no such folder"] * 2
    for system in (lost, Traced("answers.jsonl")):
        with pytest.raises(DataError, match="there is no such"):
            system.identity(kit)
        with pytest.raises(DataError):
            system.build(DATASET.corpus, 0, kit)


def test_whatever_a_file_holds_is_read_or_refused(tmp_path: Path) -> None:
    draw = random.Random(11)
    odd: list[Any] = [None, -1, 1e300, "", "é\u2028", [], {}, [[]], True, 2**70, "path", "a:1"]

    def spoilt(value: Any) -> Any:
        if draw.random() < 0.04:
            return draw.choice(odd)
        if isinstance(value, dict):
            return {key: spoilt(each) for key, each in value.items() if draw.random() > 0.02}
        return [spoilt(each) for each in value] if isinstance(value, list) else value

    refused = 0
    for _ in range(150):
        lines = [each for each in map(spoilt, ANSWERS) if each is not None]
        kit = written(tmp_path, lines, [spoilt(each) for each in GRAPH])
        refused += bool(found := told(kit))
        assert all(re.match(r"(answers|graph)\.jsonl(:\d+)?: ", each) for each in found), found
    assert 50 < refused < 150


def test_a_spec_makes_it() -> None:
    made = Registry().create(SYSTEMS, "traced(path=a.jsonl, structure=g.jsonl)")
    assert made == Traced("a.jsonl", "g.jsonl")
    assert Registry().create(SYSTEMS, "traced:a.jsonl") == Traced("a.jsonl")


def test_a_node_of_a_graph_is_a_node(tmp_path: Path) -> None:
    index = Traced("answers.jsonl", "graph.jsonl").build(DATASET.corpus, 0, written(tmp_path))
    nodes = msgspec.convert(msgspec.to_builtins(list(index.published.nodes.values())), list[Node])
    assert nodes[0] == Node("a:1", role="remedy")
    assert nodes[3] == Node("topic", level=1)


# ----------------------------------------------------------------------------------- whole studies


def example(folder: Path) -> Path:
    """The files of the guide, as they stand there."""
    found = re.findall(r"(?m)^`([\w./]+)`\n\n```\w*\n(.*?)^```", DOCS.read_text(), re.DOTALL)
    assert len(found) == 5
    for name, content in found:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content)
    return folder


def scores(folder: Path) -> dict[tuple[str, str, str], tuple[float | None, str]]:
    """What each item scores, by system and measure."""
    study = open_study(folder)
    assert run_study(study).failed == 0
    return {
        (row["system"], row["item"], row["measure"]): (row["value"], row["status"])
        for row in Evaluation(study).scores.iter_rows(named=True)
    }


def test_the_example_of_the_guide_scores_as_it_says(tmp_path: Path) -> None:
    folder = example(tmp_path)
    study = open_study(folder)
    assert told(Kit(root=folder), dataset=study.dataset(study.arms[0])) == []
    found = {(item, measure): seen for (_, item, measure), seen in scores(folder).items()}
    for measure in ("EvidenceHit@3", "PathHit", "SemanticHit", "ContradictionHit", "TraceHit", "CaseHit"):
        assert found["downtime", measure] == (1.0, "scored"), measure
    assert found["downtime", "Effect"][0] == 0.6
    assert found["downtime", "Seconds"][0] == 0.012
    assert found["notice", "EvidenceHit@3"] == (1.0, "scored")
    assert found["notice", "PathHit"][1] == "not_applicable"


def test_what_our_own_memory_writes_scores_the_same_when_it_comes_from_a_file(tmp_path: Path) -> None:
    folder = example(tmp_path)
    study = (folder / "study.yaml").read_text()
    measures = study[study.index("measures:") :]
    head = "data: {use: cases, path: cases.json}\nsystems:\n"
    own = "  own: activation_spreading_v1(counterfactuals=3)\n"
    (folder / "study.yaml").write_text(head + own + measures)
    first = scores(folder)
    evaluation = Evaluation(open_study(folder))
    (block,) = evaluation.blocks
    lines, graph = [], []
    for item, response in zip(block.items, block.responses, strict=True):
        assert response is not None
        hits = [{"doc_id": hit.doc_id, "score": hit.score} for hit in response.hits]
        trace = msgspec.to_builtins(response.trace)
        seconds = response.observed.seconds["total"]
        lines.append({"item_id": item.item_id, "hits": hits, "trace": trace, "seconds": seconds})
    (structure,) = evaluation.store.structures().values()  # all items have one scope
    graph += [{"node": msgspec.to_builtins(node)} for node in structure.nodes]
    graph += [{"edge": {"kind": edge.kind, **msgspec.to_builtins(edge)}} for edge in structure.edges]
    written(folder, lines, graph)
    read = "  read: traced(path=answers.jsonl, structure=graph.jsonl)\n"
    (folder / "study.yaml").write_text(head + own + read + measures)
    both = scores(folder)
    assert len(both) == 2 * len(first)
    for (_, item_id, measure), seen in first.items():
        assert both["read", item_id, measure] == both["own", item_id, measure] == seen
    assert both["read", "downtime", "EvidenceHit@3"] == (1.0, "scored")
    activated, _ = both["read", "downtime", "Activated"]
    assert activated is not None
    assert activated > 1
    assert both["read", "downtime", "Effect"][1] == "scored"
