"""The memory study: its documents, cases and public fixtures are whole, varied and true to their text."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.datasets.cases import Cases
from assay.datasets.dataset import Dataset
from assay.datasets.public.hotpotqa import HotpotQA
from assay.datasets.public.locomo import LoCoMo
from assay.datasets.public.longmemeval import LongMemEval
from assay.datasets.public.musique import MuSiQue
from assay.protocols import Kit
from assay.study import open_study

STUDY = Path(assay.__file__).parent / "studies" / "memory"
FILES = sorted((STUDY / "cases").glob("*.json"))
FAMILIES = {"contracts": 6, "runbooks": 5, "policies": 4, "dialogues": 3}  # documents at least


@pytest.fixture(scope="module")
def kit() -> Kit:
    return Kit(root=STUDY)


@pytest.fixture(scope="module")
def cases(kit: Kit) -> Dataset:
    return Cases(path="cases").load(kit)


def _expectations() -> Iterator[dict[str, Any]]:
    for file in FILES:
        for case in json.loads(file.read_text(encoding="utf-8"))["cases"]:
            yield case["expectation"]


def _matching(words: Sequence[str], tag: str, dataset: Dataset) -> Counter[str]:
    return Counter({word: sum(word in item.tags[tag] for item in dataset.items) for word in words})


def test_every_family_has_its_documents(cases: Dataset) -> None:
    for family, least in FAMILIES.items():
        assert len(list((STUDY / "documents" / family).glob("*.md"))) >= least
    units = Counter(passage.source for passage in cases.corpus.passages)
    assert len(units) == len(list((STUDY / "documents").rglob("*.md")))  # no document without a case file
    assert {source: count for source, count in units.items() if not 8 <= count <= 25} == {}


def test_there_are_enough_cases_of_every_sort(cases: Dataset) -> None:
    parts = _matching(["case", "prime", "probe", "unprimed"], "part", cases)
    assert parts["case"] + parts["prime"] + parts["probe"] >= 70
    assert parts["probe"] == parts["unprimed"] >= 5  # a gate needs five items
    sorts = ["multi_hop", "exception", "contradiction", "sequential", "hard_negative", "critical", "direct"]
    assert {sort: count for sort, count in _matching(sorts, "tag", cases).items() if count < 10} == {}
    assert cases.layer == "structured"
    assert list(cases.warnings) == []


def test_every_expectation_is_used_several_times() -> None:
    used: Counter[str] = Counter()
    for wanted in _expectations():
        used.update(wanted.keys())
        used["some of several"] += wanted["minimum_evidence_matches"] < len(wanted["evidence_node_ids"])
        for name in ("path", "activation_trace"):
            if name in wanted:
                used[f"{name} {wanted[name]['match_mode']}"] += 1
        if "path" in wanted:
            used[wanted["path_scope"]] += 1
        for step in wanted.get("activation_trace", {}).get("steps", []):
            used.update(key for key in step if key != "node_id")
    wanted_often = (
        *("path exact", "path prefix", "path subsequence", "best_path", "any_path", "some of several"),
        *("required_edge_types", "required_semantic_roles", "required_contradiction_pairs"),
        *("activation_trace prefix", "activation_trace subsequence", "required_trace_stop_reasons"),
        *("min_activation_trace_length", "max_activation_trace_length"),
        *("is_seed", "hop", "edge_type"),
    )
    assert {name: used[name] for name in wanted_often if used[name] < 3} == {}
    assert used["stopped_reason"] >= 2


def test_paths_lead_through_evidence_and_nodes_are_near_it() -> None:
    """What a case names stands in a document of its evidence, or in one that goes with it (an addendum)."""
    for wanted in _expectations():
        stems = {node.partition(":")[0].removesuffix("_addendum") for node in wanted["evidence_node_ids"]}
        steps = wanted.get("path", {}).get("steps", []) + wanted.get("activation_trace", {}).get("steps", [])
        named = {step["node_id"] for step in steps}
        named |= {node for pair in wanted.get("required_contradiction_pairs", []) for node in pair}
        assert {node.partition(":")[0].removesuffix("_addendum") for node in named} <= stems
        if "path" in wanted:
            assert named & set(wanted["evidence_node_ids"])


def test_roles_that_are_asked_for_are_worded_in_the_documents(cases: Dataset) -> None:
    """An exception that nobody words as one could not be found by its role."""
    words = {
        "exception": ("unless", "except", "notwithstanding", "other than"),
        "remedy": ("terminate", "damages", "withhold", "recover", "credit", "refund"),
        "escalation": ("escalate", "page"),
    }
    for item in cases.items:
        asked = item.gold.get("required_semantic_roles", [])
        documents = {cases.corpus.document_of(node) for node in item.gold.get("relevant", {})}
        near = [p.text.casefold() for p in cases.corpus.passages if p.source in documents]
        for role in asked:
            assert any(word in text for word in words.get(role, ("",)) for text in near), (item.item_id, role)


def test_hard_negatives_have_a_look_alike_in_another_document(cases: Dataset) -> None:
    """Half of the words of a look-alike, at least, are those of the evidence."""
    charters = {p.doc_id: p for p in cases.corpus.passages if p.source in ("coach_charter", "ferry_charter")}
    for number in (1, 2, 3, 4, 8, 9, 10):
        one, other = (
            set(charters[f"{name}:{number}"].text.split()) for name in ("coach_charter", "ferry_charter")
        )
        assert 2 * len(one & other) >= len(one)
        assert one != other


def test_primes_come_before_probes(cases: Dataset) -> None:
    order: dict[str, list[str]] = {}
    for item in cases.items:
        if item.sequence is not None:
            order.setdefault(item.sequence, []).extend(item.tags["part"])
    assert len(order) >= 2
    for parts in order.values():
        assert parts == sorted(parts)  # prime, …, probe, …
        assert {"prime", "probe"} == set(parts)


def test_public_fixtures_load_without_a_fault(kit: Kit) -> None:
    hotpot = HotpotQA(path="public/hotpotqa_tiny.json").load(kit)
    assert Counter(value for item in hotpot.items for value in item.tags["type"]) == {
        "bridge": 5,
        "comparison": 3,
    }
    musique = MuSiQue(path="public/musique_tiny.jsonl").load(kit)
    # Four to answer with 2, 2, 3 and 4 supporting paragraphs, one that cannot be answered.
    assert sorted(len(item.gold["relevant"]) for item in musique.items if item.expects != "nothing") == [
        2,
        2,
        3,
        4,
    ]
    sessions = LongMemEval(path="public/longmemeval_tiny.json").load(kit)
    assert [item.item_id for item in sessions.items if item.expects == "nothing"] == ["tiny-unsaid_abs"]
    assert len(sessions.items) == 7
    turns = LoCoMo(path="public/locomo_tiny.json").load(kit)
    assert len(turns.items) == 8
    assert len(turns.corpus) == 12  # three sessions of four turns
    for dataset in (hotpot, musique, sessions, turns):
        assert list(dataset.warnings) == []
        assert dataset.layer == "public"


@pytest.mark.parametrize("name", ["study.yaml", "public.yaml"])
def test_the_study_files_read(name: str) -> None:
    study = open_study(STUDY / name)
    assert study.file.kind == "memory"
    deciding = [gate for gate in study.file.gates.values() if gate.deciding]
    assert len(deciding) == 1  # hypotheses inform, and stop nothing
