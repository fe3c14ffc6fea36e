"""assay graph: what the documents become, and whose graph is shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.cells import cell_len

from assay.kinds.memory.graph_view import graph_view
from assay.study.study import open_study
from small_annotation import write_documents
from small_study import assay

STUDY = """\
name: small
data: cases(path=cases.json)
systems:
  flat: bm25
  words: lexical_baseline
  walked: structure_only
  engine: traced(path=answers.jsonl, structure=graph.jsonl)
  told: traced(path=answers.jsonl)
measures: [EvidenceHit@3]
"""
CASE = {"case_id": "a", "query": "Is rent due?", "expectation": {"evidence_node_ids": ["lease:1"]}}
GRAPH = [
    {"node": {"node_id": "n1", "doc_id": "lease:1", "role": "duty"}},
    {"node": {"node_id": "lease:3"}},
    {"node": {"node_id": "outage:1"}},
    {"node": {"node_id": "money", "role": "topic"}},
    {"edge": {"source": "lease:3", "target": "n1", "kind": "exception_to", "weight": 0.5, "rule": "a guess"}},
    {"edge": {"source": "n1", "target": "money", "kind": "about"}},
    {"edge": {"source": "outage:1", "target": "n1", "kind": "like"}},
]


@pytest.fixture
def study(tmp_path: Path) -> Path:
    write_documents(tmp_path / "papers")
    header = {"dataset_id": "d", "dataset_name": "d", "domain_pack_name": "policy"}
    content = {**header, "document_directory": "papers", "cases": [CASE]}
    (tmp_path / "cases.json").write_text(json.dumps(content))
    (tmp_path / "answers.jsonl").write_text(json.dumps({"item_id": "a", "hits": [{"doc_id": "lease:1"}]}))
    (tmp_path / "graph.jsonl").write_text("\n".join(map(json.dumps, GRAPH)))
    (tmp_path / "study.yaml").write_text(STUDY)
    return tmp_path


def test_nodes_and_edges_of_a_document(study: Path) -> None:
    done = assay("graph", study, "--system", "words", "--document", "lease")
    assert (done.code, done.err) == (0, "small: the graph of words\n")
    assert max(cell_len(line) for line in done.out.splitlines()) <= 100
    rows = [line.split() for line in done.out.splitlines()]
    assert "lease (policy): 4 nodes, 6 edges" in done.out
    assert ["node", "role", "first", "words", "weight"] in rows
    assert ["from", "edge", "to", "weight", "why"] in rows
    assert ["lease:3", "refers_to", "lease:1", "0.700", "names", "'rule", "1'"] in rows
    assert any(row[:2] == ["lease:1", "obligation"] and row[-1] == "0.565" for row in rows)
    assert "outage" not in done.out


def test_only_some_of_many_documents_are_drawn(study: Path) -> None:
    found = graph_view(open_study(study), "words", most=2)
    assert ([each.document for each in found.documents], found.left) == (["lease", "leave"], ["outage"])
    done = assay("graph", study, "--system", "words")
    assert [name in done.out for name in ("lease (", "leave (", "outage (")] == [True] * 3


def test_a_graph_that_nobody_walks_is_passed_over(study: Path) -> None:
    done = assay("graph", study, "--document", "lease", "--json")
    assert (done.json["schema"], done.json["system"]) == ("assay/graph/1", "walked")
    (document,) = done.json["documents"]
    assert [node["node_id"] for node in document["nodes"]] == [f"lease:{n}" for n in (1, 2, 3, 4)]
    assert document["nodes"][3]["text"] == "The landlord keeps one spare key in a sealed box."
    assert document["edges"][0] == {
        "source": "lease:1",
        "kind": "next_unit",
        "target": "lease:2",
        "weight": 0.4,
        "rule": "stands next in its section",
    }


def test_the_graph_of_an_engine_that_ran_elsewhere(study: Path) -> None:
    found = {
        each["document"]: each
        for each in assay("graph", study, "--system", "engine", "--json").json["documents"]
    }
    assert list(found) == ["lease", "leave", "outage", ""]
    nodes = {node["node_id"]: (node["role"], node["weight"]) for node in found["lease"]["nodes"]}
    assert nodes == {"n1": ("duty", None), "lease:3": (None, None)}
    assert found["lease"]["nodes"][0]["text"].startswith("The tenant shall pay")
    ends = [(edge["source"], edge["target"]) for edge in found["lease"]["edges"]]
    assert ends == [("lease:3", "n1"), ("n1", "money"), ("outage:1", "n1")]  # also those from elsewhere
    assert [node["node_id"] for node in found[""]["nodes"]] == ["money"]
    told = assay("graph", study, "--system", "engine").out
    assert "nodes of no document: 1 node, 1 edge" in told
    assert "a guess" in told


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--system", "flat"], "'flat' publishes none. Add one to systems, such as graph: weighted_graph"),
        (["--system", "told"], "'told' publishes none"),
        (["--system", "walkd"], "There is no system 'walkd'. Did you mean 'walked'?"),
        (
            ["--document", "outge", "--system", "words"],
            "There is no document 'outge'. Did you mean 'outage'?",
        ),
    ],
)
def test_what_is_not_there(study: Path, options: list[str], told: str) -> None:
    done = assay("graph", study, *options)
    assert (done.code, done.out) == (2, "")
    assert told in done.err


def test_a_study_without_a_graph_says_what_to_add(study: Path) -> None:
    lines = [line for line in STUDY.splitlines() if "walked" not in line and "engine" not in line]
    (study / "study.yaml").write_text("\n".join(lines))
    done = assay("graph", study)
    assert (done.code, "no system of the study publishes one. Add one" in done.err) == (2, True)


def test_an_unknown_pack_is_reported(study: Path) -> None:
    path = study / "cases.json"
    path.write_text(path.read_text().replace('"policy"', '"polcy"'))
    done = assay("graph", study, "--system", "words")
    assert done.code == 3
    assert "polcy" in done.err


def test_each_document_is_shown_in_the_scope_of_its_first_item(tmp_path: Path) -> None:
    """Two questions show pages that name each other's titles: no edge leads from one to the other."""
    pages = {"q1": [["Paris", ["Paris lies on the Seine."]], ["Seine", ["It is long."]]]}
    pages["q2"] = [["Rhine", ["Unlike the Seine, it is wide.", "Basel lies on it."]]]
    records = [
        {"_id": key, "question": "Where?", "context": context, "supporting_facts": [[context[0][0], 0]]}
        for key, context in pages.items()
    ]
    (tmp_path / "hotpot.json").write_text(json.dumps(records))
    study = (
        "data: hotpotqa(path=hotpot.json, graph=links)\nsystems: {words: lexical_baseline}\nmeasures: [R@5]\n"
    )
    (tmp_path / "study.yaml").write_text(study)
    found = assay("graph", tmp_path, "--system", "words", "--json").json["documents"]
    edges = {each["document"]: [(one["kind"], one["target"]) for one in each["edges"]] for each in found}
    assert [target for _, target in edges["paris"]] == ["seine:0"]
    assert edges["rhine"] == [("next_unit", "rhine:1")]
