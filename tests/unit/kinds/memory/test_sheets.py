"""Forms: who sees what, what stays, and how their cells are read."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.core.errors import DataError, Problem, UsageError
from assay.datasets.units import UnitFolder, read_folder
from assay.kinds.memory.annotation.labels import LabelledPath, read_annotation
from assay.kinds.memory.annotation.sampling import SampleSettings, case_id, draw_sample
from assay.kinds.memory.annotation.sheets import SHEET_COLUMNS, Sheet, SheetMark, read_pair, write_sheets
from assay.kinds.memory.annotation.workspace import CsvRow, open_workspace, read_table
from assay.review.marks import folder_book
from small_annotation import approved, fill, freeze_papers, write_documents

PEOPLE = ["anna", "ben"]
DONE = approved("direct", "lease:3")
RENT, LEAVE, PUMP = map(case_id, ("lease:3", "leave:2", "outage:2"))


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    workspace = freeze_papers(tmp_path)
    draw_sample(workspace, SampleSettings(units=1))  # the rarest kinds: lease:3, leave:2, outage:2
    return workspace.documents


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> UnitFolder:
    return read_folder(write_documents(tmp_path_factory.mktemp("papers") / "papers"))


def sheet_of(documents: Path, name: str) -> Path:
    return documents.parent / f"papers-annotation/sheets/{name}.csv"


def both(documents: Path, anna: dict[str, str], ben: dict[str, str] | None = None) -> tuple[Sheet, Sheet]:
    """The sheets, read after each filled in the same case."""
    write_sheets(open_workspace(documents), PEOPLE)
    fill(sheet_of(documents, "anna"), {RENT: {"query": "Is rent due in August?", **anna}})
    write_sheets(open_workspace(documents), PEOPLE)
    fill(sheet_of(documents, "ben"), {RENT: anna if ben is None else ben})
    return read_pair(open_workspace(documents))


def test_the_second_sees_the_queries_and_no_label(documents: Path) -> None:
    found = write_sheets(open_workspace(documents), PEOPLE)
    assert ([each.rows for each in found.sheets], found.waiting) == ([3], ["ben"])
    texts = {row["node_id"]: row["text"] for row in read_table(found.candidates, ["node_id"]).rows}
    assert len(texts) == 10
    assert texts["leave:3"] == "=cmd is what an odd text begins with."
    assert "'=cmd" in found.candidates.read_text(encoding="utf-8-sig")
    cells = {"query": "=Who logs it?", "tags": "secret", **approved("direct", "outage:3")}
    fill(sheet_of(documents, "anna"), {PUMP: cells})
    found = write_sheets(open_workspace(documents), PEOPLE)
    assert ([each.rows for each in found.sheets], found.waiting) == ([3, 1], [])
    (row,) = read_table(sheet_of(documents, "ben"), SHEET_COLUMNS).rows
    shown = {name: row[name] for name in SHEET_COLUMNS if row[name]}
    assert shown == {"case_id": PUMP, "doc_id": "outage", "query": "=Who logs it?"}


def test_a_filled_sheet_only_gets_rows_below(documents: Path) -> None:
    write_sheets(open_workspace(documents), PEOPLE)
    path = sheet_of(documents, "anna")
    mine = path.read_bytes().replace(b",", b";").replace(b"\n", b"\r\n")  # saved by a spreadsheet
    path.write_bytes(mine)
    assert write_sheets(open_workspace(documents), PEOPLE).sheets[0].added == 0
    assert path.read_bytes() == mine
    draw_sample(open_workspace(documents), SampleSettings(units=2))
    found = write_sheets(open_workspace(documents), PEOPLE)
    assert (found.sheets[0].added, found.sheets[0].rows) == (3, 6)
    assert path.read_bytes().startswith(mine)
    assert len(read_table(path, SHEET_COLUMNS).rows) == 6


def test_sheets_come_after_the_sample(documents: Path) -> None:
    (documents.parent / "papers-annotation/sample.csv").unlink()
    with pytest.raises(UsageError, match="There is no sample"):
        write_sheets(open_workspace(documents), PEOPLE)
    for names in (["anna"], ["anna", "Anna"], []):
        with pytest.raises(UsageError, match="at least two people, each once"):
            write_sheets(open_workspace(documents), names)
    with pytest.raises(UsageError, match="cannot be the name of a person"):
        write_sheets(open_workspace(documents), ["../anna", "ben"])
    with pytest.raises(UsageError, match="There are no sheets"):
        read_pair(open_workspace(documents))


def test_two_sheets_are_compared(documents: Path) -> None:
    write_sheets(open_workspace(documents), PEOPLE)
    with pytest.raises(UsageError, match=r"There are sheets of anna\. Agreement is between two"):
        read_pair(open_workspace(documents))
    with pytest.raises(UsageError, match="There is no sheet of 'ben'"):
        read_pair(open_workspace(documents), PEOPLE)


def test_labels_are_read(documents: Path) -> None:
    cells = approved(
        "Exception",
        "lease:3; lease:1, lease:2",
        minimum_evidence_matches="2.0",
        path_scope="best_path",
        path_steps="prefix: lease:3 > lease:1 via exception_to > outage:1",
        required_edge_types="exception_to",
        required_semantic_roles="exception; remedy",
        required_contradiction_pairs="lease:3 / lease:1; lease:1/lease:3",
    )
    anna, ben = both(documents, cells)
    labels = anna.annotations[RENT].labels
    assert labels == ben.annotations[RENT].labels
    assert labels.path == LabelledPath(
        "best_path", "prefix", (("lease:3", None), ("lease:1", "exception_to"), ("outage:1", None))
    )
    assert labels.expectation() == {
        "evidence_node_ids": ["lease:1", "lease:2", "lease:3"],
        "minimum_evidence_matches": 2,
        "path_scope": "best_path",
        "path": {
            "match_mode": "prefix",
            "steps": [
                {"node_id": "lease:3", "via_edge_type": None},
                {"node_id": "lease:1", "via_edge_type": "exception_to"},
                {"node_id": "outage:1", "via_edge_type": None},
            ],
        },
        "required_edge_types": ["exception_to"],
        "required_semantic_roles": ["exception", "remedy"],
        "required_contradiction_pairs": [["lease:1", "lease:3"]],
    }
    assert anna.annotations[LEAVE].status == ""
    assert list(anna.finished) == [RENT]


def test_what_is_left_open_has_a_default(documents: Path) -> None:
    anna, _ = both(documents, approved("multi_hop", "lease:1; lease:3", path_steps="lease:1 > lease:3"))
    found = anna.annotations[RENT].labels.expectation()
    assert found["minimum_evidence_matches"] == 2
    assert (found["path_scope"], found["path"]["match_mode"]) == ("any_path", "subsequence")


@pytest.mark.parametrize(
    ("cells", "field", "told"),
    [
        ({"evidence_node_ids": ""}, "evidence_node_ids", "an approved case has evidence"),
        ({"evidence_node_ids": "lease:9"}, "evidence_node_ids", "there is no node 'lease:9'"),
        ({"evidence_node_ids": "3"}, "evidence_node_ids", "'3' names no document. Write lease:3."),
        ({"case_family": ""}, "case_family", "the cell is empty"),
        ({"case_family": "multihop"}, "case_family", "Did you mean 'multi_hop'"),
        ({"case_family": "sequence"}, "case_id", "prime- or probe-"),
        ({"difficulty": "very"}, "difficulty", "'very' is not known"),
        ({"minimum_evidence_matches": "2"}, "minimum_evidence_matches", "from 1 to the 1 evidence nodes"),
        ({"minimum_evidence_matches": "0"}, "minimum_evidence_matches", "is not a number from 1"),
        ({"minimum_evidence_matches": "½"}, "minimum_evidence_matches", "is not a number from 1"),
        ({"minimum_evidence_matches": "9" * 5000}, "minimum_evidence_matches", "is not a number from 1"),
        ({"path_scope": "best_path"}, "path_scope", "there is no path"),
        ({"path_scope": "best", "path_steps": "lease:1"}, "path_scope", "'best' is not known"),
        ({"path_steps": "lease:1 > lease:7"}, "path_steps", "there is no node 'lease:7'"),
        ({"path_steps": "exact: >"}, "path_steps", "the path has no step"),
        ({"required_contradiction_pairs": "lease:1"}, "required_contradiction_pairs", "is not a pair of two"),
        ({"required_contradiction_pairs": "lease:1 / lease:1"}, "required_contradiction_pairs", "not a pair"),
    ],
)
def test_a_wrong_cell_is_named(papers: UnitFolder, cells: dict[str, str], field: str, told: str) -> None:
    given = {
        "case_id": RENT,
        "doc_id": "lease",
        "query": "?",
        **approved("exception", "lease:3"),
        **cells,
    }
    problems: list[Problem] = []
    read_annotation(CsvRow(given, "anna.csv", 2), "approved", papers.absent, problems)
    problem = next(each for each in problems if told in str(each))
    assert (problem.field, problem.line, problem.where) == (field, 2, "anna.csv")


def test_every_problem_of_both_sheets_is_reported(documents: Path) -> None:
    good = approved("exception", "lease:3")
    with pytest.raises(DataError) as raised:
        both(
            documents,
            {**good, "evidence_node_ids": "x:1; y:2", "required_contradiction_pairs": "lease:1"},
            {**good, "query": "Another question?"},
        )
    names = [Path(each.where).name for each in raised.value.problems]
    assert names == ["anna.csv", "anna.csv", "anna.csv", "ben.csv"]
    assert "anna has 'Is rent due in August?' there (line 2)" in str(raised.value)


def test_what_is_wrong_with_a_row_as_a_whole(documents: Path) -> None:
    write_sheets(open_workspace(documents), PEOPLE)
    path = sheet_of(documents, "anna")
    fill(path, {RENT: {"query": "What?"}})
    write_sheets(open_workspace(documents), PEOPLE)
    line = path.read_bytes().splitlines()[1]
    odd = [line, b",lease,Why?", b"x,leese,,,,,,,,,,,,,done", b"y,leese"]
    path.write_bytes(path.read_bytes() + b"\n".join(odd) + b"\n")
    with pytest.raises(DataError) as raised:
        read_pair(open_workspace(documents))
    told = [(each.line, each.what) for each in raised.value.problems]
    assert told == [
        (5, f"{RENT!r} is on line 2 already"),
        (6, "the cell is empty"),
        (7, "'done' is not known"),
        (8, "there is no document 'leese'"),
    ]


# ------------------------------------------------------------------------------- labels as marks


def marks_of(documents: Path) -> list[SheetMark]:
    return list(folder_book(open_workspace(documents).marks, SheetMark).lines)


def test_finished_rows_are_kept_as_marks_once(documents: Path) -> None:
    both(documents, DONE, {**DONE, "review_status": "draft"})
    (mark,) = marks_of(documents)
    assert (mark.rater, mark.case_id, mark.cells["evidence_node_ids"]) == (
        "anna",
        RENT,
        DONE["evidence_node_ids"],
    )
    read_pair(open_workspace(documents))
    assert marks_of(documents) == [mark]


def test_a_changed_row_replaces_its_mark_and_an_unfinished_one_takes_it_back(documents: Path) -> None:
    both(documents, DONE)
    fill(sheet_of(documents, "ben"), {RENT: {"review_notes": "second thoughts"}})
    read_pair(open_workspace(documents))
    fill(sheet_of(documents, "ben"), {RENT: {"review_status": "draft"}})
    _, ben = read_pair(open_workspace(documents))
    assert ben.finished == {}
    own = [mark for mark in marks_of(documents) if mark.rater == "ben"]
    assert [mark.withdrawn for mark in own] == [False, False, True]
    assert [mark.replaces for mark in own] == [None, own[0].mark_id, own[1].mark_id]
    assert own[1].cells["review_notes"] == "second thoughts"
