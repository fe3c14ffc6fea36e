"""Agreement of two people, what they differ on, and what becomes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.core.errors import DataError
from assay.kinds.memory.annotation.agreement import (
    LabelAgreement,
    doubly_labelled,
    measure_agreement,
    read_rulings,
    write_adjudication,
)
from assay.kinds.memory.annotation.sheets import Sheet, read_pair
from assay.kinds.memory.annotation.workspace import Workspace, read_table
from small_annotation import approved, fill, fill_sheets, freeze_papers

Cells = dict[str, dict[str, str]]


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return freeze_papers(tmp_path)


def labelled(workspace: Workspace, anna: Cells, ben: Cells) -> tuple[Sheet, Sheet]:
    fill_sheets(workspace, anna, ben)
    return read_pair(workspace)


def test_hand_worked(workspace: Workspace) -> None:
    """Evidence {1,2} and {1,2}; {1} and {1,2}; {3} and {4}: Jaccard 1, 1/2 and 0, mean 1/2.

    Of 3 x 4 units both name 3, neither 6, only Anna 1 (C:3), only Ben 2 (B:2, C:4): observed 9/12,
    expected (4 x 5 + 8 x 7) / 144 = 76/144, kappa = (108 - 76) / (144 - 76) = 32/68.
    """
    sheets = labelled(
        workspace,
        {
            "a": approved("multi_hop", "lease:1; lease:2"),
            "b": approved("direct", "lease:1", required_semantic_roles="remedy"),
            "c": approved("direct", "lease:3"),
            "d": {"review_status": "rejected"},
            "e": {"review_status": "rejected"},
            "f": approved("direct", "lease:1"),
        },
        {
            "a": approved("multi_hop", "lease:2; lease:1"),
            "b": approved("multi_hop", "lease:1; lease:2", required_semantic_roles="remedy"),
            "c": approved("direct", "lease:4"),
            "d": {"review_status": "rejected"},
            "e": approved("direct", "lease:4"),
            "f": {"review_status": "draft"},
        },
    )
    found = measure_agreement(workspace, *sheets, least=3)
    assert (found.doubles, found.jaccard, found.units) == (3, 0.5, 12)
    assert found.kappa == pytest.approx(32 / 68)
    assert found.exact == pytest.approx(1 / 3)
    assert 0 <= (found.low or 0) < 0.5 < (found.high or 0) <= 1
    assert (found.rejected, found.single) == (1, ["f"])
    assert found.parts == {
        "family": LabelAgreement(3, 2),
        "minimum": LabelAgreement(0, 0),  # nobody said that less than all is enough
        "path": LabelAgreement(0, 0),
        "edge_types": LabelAgreement(0, 0),
        "roles": LabelAgreement(1, 1),
        "pairs": LabelAgreement(0, 0),
    }
    worst = [(each.case_id, each.jaccard, each.differs) for each in found.disagreements]
    assert worst == [
        ("e", None, ["decision"]),
        ("c", 0.0, ["evidence"]),
        ("b", 0.5, ["family", "evidence"]),
    ]
    assert found.disagreements[1].first == "evidence lease:3"
    assert (found.verdict, found.reason) == ("no-go", "the mean Jaccard 0.500 is below 0.85")
    assert measure_agreement(workspace, *sheets).verdict == "inconclusive"


def test_the_gate_is_met_at_its_value(workspace: Workspace) -> None:
    """17 cases alike and 3 apart: the mean is 17/20 = 0.85."""
    anna = {f"c{n}": approved("direct", "lease:1") for n in range(20)}
    ben = {f"c{n}": approved("direct", "lease:1" if n < 17 else "lease:2") for n in range(20)}
    assert measure_agreement(workspace, *labelled(workspace, anna, ben)).verdict == "go"
    ben["c0"] = approved("direct", "lease:2")
    assert measure_agreement(workspace, *labelled(workspace, anna, ben)).verdict == "no-go"


def test_evidence_in_another_document_is_decided_on_too(workspace: Workspace) -> None:
    """4 units of the lease, and the one of another document that Ben names."""
    sheets = labelled(
        workspace,
        {"a": approved("direct", "lease:1")},
        {"a": approved("multi_hop", "lease:1; outage:2")},
    )
    assert measure_agreement(workspace, *sheets).units == 5


def test_two_results_with_nothing_in_common_have_no_drift(workspace: Workspace) -> None:
    found = measure_agreement(workspace, *labelled(workspace, {"a": {}}, {"b": {}}))
    assert (found.doubles, found.jaccard, found.kappa, found.verdict) == (0, None, None, "inconclusive")


def test_a_disagreement_needs_a_reason(workspace: Workspace) -> None:
    anna = {"a": approved("direct", "lease:1"), "b": approved("direct", "lease:1", difficulty="easy")}
    ben = {"a": approved("direct", "lease:2"), "b": approved("direct", "lease:1", difficulty="hard")}
    sheets = labelled(workspace, anna, ben)
    pairs = doubly_labelled(*sheets)
    assert read_rulings(workspace, pairs) == {}
    found = write_adjudication(workspace, *sheets)
    assert (found.added, found.open, found.decided) == (1, ["a"], [])
    (row,) = read_table(workspace.adjudication, ["case_id"]).rows
    assert (row["first_labels"], row["second_labels"]) == ("evidence lease:1", "evidence lease:2")
    assert (row["case_family"], row["evidence_node_ids"]) == ("direct", "")  # alike, and not
    with pytest.raises(DataError, match="nothing is decided about 'a': they differ in evidence"):
        read_rulings(workspace, pairs)
    fill(workspace.adjudication, {"a": {"decision": "approved", "evidence_node_ids": "lease:2"}})
    with pytest.raises(DataError, match="the reason for 'a' is missing"):
        read_rulings(workspace, pairs)
    fill(workspace.adjudication, {"a": {"rationale": "2 says it."}})
    ruling = read_rulings(workspace, pairs)["a"]
    assert (ruling.final.labels.evidence, ruling.rationale) == (frozenset({"lease:2"}), "2 says it.")
    again = write_adjudication(workspace, *sheets)
    assert (again.added, again.open, again.decided) == (0, [], ["a"])


def test_a_decision_about_other_labels_is_stale(workspace: Workspace) -> None:
    anna, ben = {"a": approved("direct", "lease:1")}, {"a": approved("direct", "lease:2")}
    write_adjudication(workspace, *labelled(workspace, anna, ben))
    fill(
        workspace.adjudication,
        {"a": {"decision": "approved", "evidence_node_ids": "lease:2", "rationale": "so"}},
    )
    now = labelled(workspace, anna, {"a": approved("direct", "lease:3")})
    with pytest.raises(DataError, match="the sheets have changed since this was decided"):
        read_rulings(workspace, doubly_labelled(*now))
    fill(workspace.adjudication, {"a": {"seen": ""}})
    assert set(read_rulings(workspace, doubly_labelled(*now))) == {"a"}


def test_who_comes_to_agree_needs_no_decision(workspace: Workspace) -> None:
    anna = {"a": approved("direct", "lease:1")}
    write_adjudication(workspace, *labelled(workspace, anna, {"a": approved("direct", "lease:2")}))
    assert read_rulings(workspace, doubly_labelled(*labelled(workspace, anna, anna))) == {}


def test_wrong_rows_are_reported_together(workspace: Workspace) -> None:
    anna, ben = {"a": approved("direct", "lease:1")}, {"a": approved("direct", "lease:2")}
    sheets = labelled(workspace, anna, ben)
    write_adjudication(workspace, *sheets)
    fill(workspace.adjudication, {"a": {"decision": "aproved", "rationale": "x"}})
    content = workspace.adjudication.read_bytes()
    workspace.adjudication.write_bytes(content + content.splitlines()[1] + b"\n")
    with pytest.raises(DataError) as raised:
        read_rulings(workspace, doubly_labelled(*sheets))
    told = [(each.line, each.field) for each in raised.value.problems]
    assert told == [(2, "decision"), (3, "decision"), (3, "case_id")]
    assert "Did you mean 'approved'?" in str(raised.value)
