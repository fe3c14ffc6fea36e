"""The memory study: its cases and public fixtures load without a fault, and its gates decide."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

import assay
from assay.core.dataset import Dataset
from assay.core.protocols import Kit
from assay.kinds.memory.datasets.cases import Cases
from assay.kinds.memory.datasets.locomo import LoCoMo
from assay.kinds.memory.datasets.longmemeval import LongMemEval
from assay.kinds.memory.datasets.multihop import HotpotQA, Hover, MuSiQue, TwoWiki
from assay.kinds.memory.measures.expectations import EvidenceMeasure
from assay.study.study import open_study
from small_study import assay as command

STUDY = Path(assay.__file__).parent / "kinds" / "memory" / "template"
FILES = sorted(path for folder in ("cases", "ablations") for path in (STUDY / folder).glob("*.json"))
WRITTEN = yaml.safe_load((STUDY / "study.yaml").read_text(encoding="utf-8"))
ABLATIONS = ["ablation-structure", "ablation-weights", "ablation-expansion"]
FAMILIES = {"contracts": 6, "runbooks": 5, "policies": 4, "dialogues": 3}  # documents at least


@pytest.fixture(scope="module")
def kit() -> Kit:
    return Kit(root=STUDY)


@pytest.fixture(scope="module")
def cases(kit: Kit) -> Dataset:
    return Cases(path=("cases", "ablations")).load(kit)


def _expectations() -> Iterator[dict[str, Any]]:
    for file in FILES:
        for case in json.loads(file.read_text(encoding="utf-8"))["cases"]:
            yield case["expectation"]


def _matching(words: Sequence[str], tag: str, dataset: Dataset) -> Counter[str]:
    return Counter({word: sum(word in item.tags[tag] for item in dataset.items) for word in words})


def test_there_are_enough_cases_of_every_sort(cases: Dataset) -> None:
    parts = _matching(["case", "prime", "probe", "unprimed"], "part", cases)
    assert parts["case"] + parts["prime"] + parts["probe"] >= 70
    assert parts["probe"] == parts["unprimed"] >= 14
    sorts = ["multi_hop", "exception", "contradiction", "sequential", "hard_negative", "critical", "direct"]
    assert {sort: count for sort, count in _matching(sorts, "tag", cases).items() if count < 10} == {}
    assert cases.layer == "structured"
    assert list(cases.warnings) == []


def test_every_family_has_its_documents(cases: Dataset) -> None:
    for family, least in FAMILIES.items():
        assert len(list((STUDY / "documents" / family).glob("*.md"))) >= least
    units = Counter(passage.source for passage in cases.corpus.passages)
    assert len(units) == len(list((STUDY / "documents").rglob("*.md")))  # no document without a case file
    assert {source: count for source, count in units.items() if not 8 <= count <= 25} == {}


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
    """Everything that a case names is in a document of its evidence, or in its addendum."""
    for wanted in _expectations():
        stems = {node.partition(":")[0].removesuffix("_addendum") for node in wanted["evidence_node_ids"]}
        steps = wanted.get("path", {}).get("steps", []) + wanted.get("activation_trace", {}).get("steps", [])
        named = {step["node_id"] for step in steps}
        named |= {node for pair in wanted.get("required_contradiction_pairs", []) for node in pair}
        assert {node.partition(":")[0].removesuffix("_addendum") for node in named} <= stems
        if "path" in wanted:
            assert named & set(wanted["evidence_node_ids"])


def test_roles_that_are_asked_for_are_worded_in_the_documents(cases: Dataset) -> None:
    """A role cannot be found if no document words it."""
    words = {
        "exception": ("unless", "except", "notwithstanding", "other than"),
        "remedy": ("terminate", "damages", "withhold", "recover", "credit", "refund", "revoke", "suspend"),
        "escalation": ("escalate", "page"),
    }
    for item in cases.items:
        asked = item.gold.get("required_semantic_roles", [])
        documents = {cases.corpus.document_of(node) for node in item.gold.get("relevant", {})}
        near = [p.text.casefold() for p in cases.corpus.passages if p.source in documents]
        for role in asked:
            assert any(word in text for word in words.get(role, ("",)) for text in near), (item.item_id, role)


def test_hard_negatives_have_a_look_alike_in_another_document(cases: Dataset) -> None:
    """At least half of the words of a look-alike are also in the evidence."""
    charters = {p.doc_id: p for p in cases.corpus.passages if p.source in ("coach_charter", "ferry_charter")}
    for number in (1, 2, 3, 4, 8, 9, 10):
        one, other = (
            set(charters[f"{name}:{number}"].text.split()) for name in ("coach_charter", "ferry_charter")
        )
        assert 2 * len(one & other) >= len(one)
        assert one != other


def test_probes_are_asked_after_either_half_of_a_document(cases: Dataset) -> None:
    """The same words mean something else after other primes: only the earlier questions decide."""
    probes = [item for item in cases.items if item.tags["part"] == ["probe"]]
    assert sum("path" in item.gold for item in probes) >= 10
    meant: dict[str, set[frozenset[str]]] = {}
    for item in probes:
        meant.setdefault(item.text, set()).add(frozenset(item.gold["relevant"]))
    assert sum(len(each) == 2 for each in meant.values()) >= 8


def test_limits_are_those_of_the_plan() -> None:
    worse = {"EvidenceHit@3": 0.02, "PathHit": 0.02}
    assert WRITTEN["limits"] == {"worse": worse, "latency": 1.2, "reference": "lexical_baseline"}


def test_primes_come_before_probes(cases: Dataset) -> None:
    order: dict[str, list[str]] = {}
    for item in cases.items:
        if item.sequence is not None:
            order.setdefault(item.sequence, []).extend(item.tags["part"])
    assert len(order) >= 8  # a sequence is drawn as a whole, and a bootstrap needs eight that differ
    for parts in order.values():
        assert parts == sorted(parts)  # prime, …, probe, …
        assert {"prime", "probe"} == set(parts)


def test_every_ablation_has_cases_enough_to_show_a_direction(cases: Dataset) -> None:
    found = _matching(ABLATIONS, "dataset", cases)
    assert min(found.values()) >= 12
    assert found.total() == sum("ablation" in item.tags["tag"] for item in cases.items) == 52


def test_public_fixtures_load_without_a_fault(kit: Kit) -> None:
    hotpot = HotpotQA(path="public/hotpotqa_tiny.json").load(kit)
    assert Counter(value for item in hotpot.items for value in item.tags["type"]) == {
        "bridge": 32,
        "comparison": 12,
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
    pages = Hover(path="public/hover_tiny.json", corpus="public/pages_tiny.jsonl").load(kit)
    # Facts of one title are one page: 3, 2, 4 and, of five facts, 4.
    assert [len(item.gold["relevant"]) for item in pages.items] == [3, 2, 4, 4]
    relations = TwoWiki(path="public/twowiki_tiny.json").load(kit)
    assert [len(item.gold["relevant"]) for item in relations.items] == [2, 2, 2, 4, 3]
    over_pages = TwoWiki(path="public/twowiki_tiny.json", corpus="public/pages_tiny.jsonl").load(kit)
    assert len(over_pages.corpus) == len(pages.corpus) == 32
    for dataset in (hotpot, musique, sessions, turns, pages, relations, over_pages):
        assert list(dataset.warnings) == []
        assert dataset.layer == "public"


@pytest.mark.parametrize("name", ["study.yaml", "ablations.yaml", "public.yaml"])
def test_the_study_files_read(name: str) -> None:
    study = open_study(STUDY / name)
    assert study.file.kind == "memory"
    deciding = [gate for gate in study.file.gates.values() if gate.deciding]
    assert len(deciding) == 1  # hypotheses inform, and stop nothing
    assert all(gate.about for gate in study.file.gates.values())


# ------------------------------------------------------------------------------------------ study.yaml


@pytest.mark.parametrize("name", ["study.yaml", "public.yaml"])
def test_every_system_has_the_same_room_for_evidence(name: str) -> None:
    """Evidence counts the first few nodes: three of a path are never compared with a hundred hits."""
    study = open_study(STUDY / name)
    assert [
        each.name for each in study.measures if isinstance(each, EvidenceMeasure) and each.cutoff is None
    ] == []
    written = yaml.safe_load((STUDY / name).read_text(encoding="utf-8"))
    clauses = [clause for gate in written["gates"].values() for clause in gate["go"]]
    read = [
        call for clause in clauses for call in re.findall(r"Evidence\w+(?:\(over=\w+\))?(@\d+)?\(", clause)
    ]
    assert read
    assert "" not in read
    assert written["systems"]["hybrid"] == "hybrid(k=10)"
    assert written["systems"]["flat_strong"] == "flat_strong(k=10)"


def test_no_figure_of_the_sample_counts_an_ablation_case(tmp_path: Path) -> None:
    """They were rewritten after results were known: they count for the ablations only."""
    shutil.copytree(STUDY, tmp_path / "memory")
    done = command("run", tmp_path / "memory", "--system", "lexical_baseline", "--json")
    results = json.loads(done.out)
    study = open_study(STUDY)
    asked = [item for item in study.dataset(study.arms[0]).items if "unprimed" not in item.values("part")]
    other = [item for item in asked if "ablation" not in item.values("tag")]
    headline = {one["measure"]: one for one in results["estimates"] if not one["where"]}
    assert headline["EvidenceHit@3"]["n_expected"] == headline["R@3"]["n_expected"] == len(other) == 157
    assert {one["item"].partition("/")[0] for one in results["scores"]}.isdisjoint(ABLATIONS)


@pytest.mark.slow
def test_a_loss_beyond_the_limits_is_a_no_go(tmp_path: Path) -> None:
    """The graph of a case file without its edges, compared with the same graph with them."""
    study: dict[str, Any] = {
        "kind": "memory",
        "data": f"cases(path='{STUDY / 'ablations' / 'structure.json'}')",
        "systems": {"lexical_baseline": "lexical_baseline", "weighted_graph": "weighted_graph"},
        "judges": ["ids"],
        "measures": ["EvidenceHit@3", "PathHit", "Seconds"],
        "limits": WRITTEN["limits"],
    }
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(study), encoding="utf-8")
    assert command("run", tmp_path).code == 0
    assert command("baseline", "tag", tmp_path, "last").code == 0
    study["systems"] |= {"weighted_graph": "weighted_graph(structure=false)"}
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(study), encoding="utf-8")
    done = command("run", tmp_path, "--against", "last")
    assert done.code == 10
    assert re.search(r"EvidenceHit@3\(weighted_graph\)", done.out)
