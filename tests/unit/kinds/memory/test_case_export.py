"""Case files from what two people approved."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.core.errors import DataError, UsageError
from assay.core.protocols import Kit
from assay.kinds.memory.annotation.agreement import write_adjudication
from assay.kinds.memory.annotation.export import CaseExport, ExportSettings, export_cases
from assay.kinds.memory.annotation.sheets import read_pair
from assay.kinds.memory.annotation.workspace import Workspace, open_workspace
from assay.kinds.memory.datasets.case_file import read_case_file
from assay.kinds.memory.datasets.cases import Cases
from small_annotation import (
    LEASE,
    approved,
    fill,
    fill_sheets,
    freeze_papers,
)

Cells = dict[str, dict[str, str]]
NAMING = ExportSettings("papers-v1", "policy", "Our papers")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return freeze_papers(tmp_path, "2026-05", described=True)


def export(workspace: Workspace) -> CaseExport:
    return export_cases(open_workspace(workspace.documents), NAMING)


def test_what_both_approved_is_exported_and_loads(workspace: Workspace) -> None:
    same = approved("exception", "lease:1; lease:3", required_contradiction_pairs="lease:3 / lease:1")
    fill_sheets(
        workspace,
        {
            "a": {**same, "tags": "rent; august", "difficulty": "hard"},
            "draft": {"case_family": "direct"},
            "no": {"review_status": "rejected"},
        },
        {"a": {**same, "tags": "rent; summer"}, "no": {"review_status": "rejected"}},
    )
    found = export(workspace)
    assert found.left_out == {"draft": "not finished by both", "no": "rejected"}
    (path,) = found.files
    content = json.loads(path.read_text())
    assert (content["layer"], content["version"]) == ("private", "2026-05")
    assert (content["dataset_name"], content["document_directory"]) == ("Our papers", "../../papers")
    assert sorted(content["document_hashes"]) == ["lease.md", "leave.md", "outage.md"]
    assert content["cases"] == [
        {
            "case_id": "a",
            "query": "a?",
            "tags": ["rent", "august", "summer", "exception", "difficulty_hard"],
            "expectation": {
                "evidence_node_ids": ["lease:1", "lease:3"],
                "minimum_evidence_matches": 2,
                "required_contradiction_pairs": [["lease:1", "lease:3"]],
            },
        }
    ]
    dataset = Cases(str(path)).load(Kit())
    assert (dataset.layer, [item.item_id for item in dataset.items]) == ("private", ["a"])
    assert [each.name for each in path.parent.iterdir()] == [path.name]  # no draft is left


def test_the_loader_finds_drift(workspace: Workspace) -> None:
    same = {"a": approved("direct", "lease:1")}
    fill_sheets(workspace, same, same)
    (path,) = export(workspace).files
    lease = workspace.documents / "lease.md"
    lease.write_text(LEASE.replace("first day", "last day"))
    with pytest.raises(DataError, match=r"lease\.md"):
        Cases(str(path)).load(Kit())
    with pytest.raises(DataError, match="has changed since version '2026-05'"):
        export(workspace)


def test_sequences_have_files_of_their_own(workspace: Workspace) -> None:
    same = {
        "plain": approved("direct", "lease:4"),
        "prime-1": approved("sequence", "lease:1"),
        "probe-1": approved("sequence", "lease:2"),
        "prime-2": {**approved("sequence", "outage:1"), "doc_id": "outage"},
    }
    fill_sheets(workspace, same, same)
    found = export(workspace)
    names = ["papers-v1.json", "papers-v1-sequence-lease.json", "papers-v1-sequence-outage.json"]
    assert [path.name for path in found.files] == names
    assert any("no probe- case follows" in warning for warning in found.warnings)
    items = Cases(str(found.files[0].parent)).load(Kit()).items
    ordered = [(item.item_id, item.sequence) for item in items if item.tags["part"] != ["unprimed"]]
    assert ordered == [
        ("papers-v1-sequence-lease/prime-1", "papers-v1-sequence-lease"),
        ("papers-v1-sequence-lease/probe-1", "papers-v1-sequence-lease"),
        ("papers-v1-sequence-outage/prime-2", "papers-v1-sequence-outage"),
        ("papers-v1/plain", None),
    ]
    fill_sheets(workspace, {"plain": same["plain"]}, {"plain": same["plain"]})
    assert sum("was not written by this export" in each for each in export(workspace).warnings) == 2


def test_a_disagreement_without_a_reason_refuses_all(workspace: Workspace) -> None:
    anna = {"a": approved("direct", "lease:1"), "b": approved("direct", "lease:1")}
    ben = {"a": approved("direct", "lease:1"), "b": approved("direct", "lease:4")}
    fill_sheets(workspace, anna, ben)
    with pytest.raises(DataError, match="'b' has no decision: they differ in evidence"):
        export(workspace)
    write_adjudication(workspace, *read_pair(workspace))
    with pytest.raises(DataError, match="nothing is decided about 'b'"):
        export(workspace)
    assert not workspace.cases.exists()
    fill(
        workspace.adjudication,
        {"b": {"decision": "approved", "evidence_node_ids": "lease:4", "rationale": "4 names the key."}},
    )
    found = export(workspace)
    assert (found.cases, found.adjudicated) == (2, 1)
    cases = json.loads(found.files[0].read_text())["cases"]
    assert cases[1]["expectation"]["evidence_node_ids"] == ["lease:4"]
    fill(workspace.adjudication, {"b": {"decision": "rejected"}})
    assert export(workspace).left_out == {"b": "rejected"}


def test_quality_of_the_pilot(workspace: Workspace) -> None:
    """20 cases of one family: 6 of 20 are hard, which is 30 %; one is a hard negative."""
    families = ["exception"] * 3 + ["multi_hop"] * 3 + ["hard_negative"] + ["direct"] * 13
    same = {f"c{n}": approved(family, "lease:1") for n, family in enumerate(families)}
    fill_sheets(workspace, same, same)
    found = export(workspace)
    assert [(each.name, each.value, each.holds) for each in found.quality] == [
        ("approved cases", "20", True),
        ("cases of contract", "20", True),
        ("multi-hop, exception, contradiction", "6 of 20 (30%)", True),
        ("hard negatives", "1", True),
        ("labelled by both", "20 of 20", True),
        ("review complete", "nothing left", True),
        ("mean Jaccard of evidence", "1.00 over 20 cases", True),
    ]
    assert found.passed
    same["c0"] = approved("direct", "lease:1")
    other = {**same, "c6": {**approved("direct", "outage:1"), "doc_id": "outage"}, "c7": {}}
    fill_sheets(workspace, other, other)
    found = export(workspace)
    failing = {each.name for each in found.quality if not each.holds}
    assert failing == {
        "approved cases",
        "cases of contract",
        "cases of runbook",
        "multi-hop, exception, contradiction",
        "hard negatives",
        "mean Jaccard of evidence",  # of 19, which is too few to say
    }
    assert not found.passed


def test_a_file_carries_how_far_people_agreed(workspace: Workspace) -> None:
    """20 cases, of which 5 share one of two units: (15 x 1 + 5 x 0.5) / 20 = 0.875; with 7, 0.825."""
    anna = {f"c{n}": approved("direct", "lease:1; lease:4") for n in range(20)}
    for differing, mean in ((5, 0.875), (7, 0.825)):
        ben = {**anna, **{f"c{n}": approved("direct", "lease:1") for n in range(differing)}}
        fill_sheets(workspace, anna, ben)
        write_adjudication(workspace, *read_pair(workspace))
        ruled = {"decision": "approved", "evidence_node_ids": "lease:1", "rationale": "4 is about keys."}
        fill(workspace.adjudication, {f"c{n}": ruled for n in range(differing)})
        (path,) = export(workspace).files
        quality = json.loads(path.read_text())["quality"]
        assert quality["agreement"] == pytest.approx(mean)
        assert (quality["cases"], "hard negatives" in quality["unmet"]) == (20, True)
        assert quality["kappa"] is not None
        header = read_case_file(path)[0].header  # type: ignore[union-attr]
        assert header.quality is not None
        assert header.quality.agreement == pytest.approx(mean)
        doubts = header.quality.doubts(header.dataset_id)
        assert Cases(str(path)).load(Kit()).warnings == doubts  # which every report shows
        assert bool(doubts) == (mean < 0.85)
    (doubt,) = doubts
    assert doubt.startswith("papers-v1: two people agree too little on its evidence")
    assert doubt.endswith("mean Jaccard 0.825 over 20 cases, 0.85 is needed")


def test_an_unknown_pack_is_reported(workspace: Workspace) -> None:
    same = {"a": approved("direct", "lease:1")}
    fill_sheets(workspace, same, same)
    found = export_cases(workspace, ExportSettings("x", "polcy"))
    assert "no domain pack is called 'polcy' here" in found.warnings[0]
    with pytest.raises(UsageError, match="cannot be the name of a dataset"):
        export_cases(workspace, ExportSettings("a/b", "policy"))


def test_without_an_approved_case_there_is_no_case_file(workspace: Workspace) -> None:
    fill_sheets(workspace, {"a": {"review_status": "draft"}}, {"a": approved("direct", "lease:1")})
    with pytest.raises(DataError, match="no case is approved by both"):
        export(workspace)
