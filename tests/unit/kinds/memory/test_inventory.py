"""The inventory of documents, and the versions that are frozen."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec
import pytest

from assay.core.errors import DataError, UsageError
from assay.kinds.memory.annotation.documents import (
    freeze_documents,
    frozen_version,
    read_inventory,
    write_inventory,
)
from assay.kinds.memory.annotation.workspace import Workspace, open_workspace, read_table
from small_annotation import LEASE, fill, fill_inventory, write_documents


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    return write_documents(tmp_path / "papers")


def opened(documents: Path) -> Workspace:
    """A workspace that has read nothing yet."""
    return open_workspace(documents)


def test_every_document_is_counted(documents: Path) -> None:
    found = write_inventory(opened(documents))
    assert (found.documents, found.units) == (3, 10)
    assert found.new == ["lease", "leave", "outage"]
    assert found.blank == dict.fromkeys(("document_family", "language", "complexity"), found.new)
    assert found.path == documents.parent / "papers-annotation" / "inventory.csv"
    lease = read_table(found.path, ["doc_id"]).rows[0]
    # exception: 3 (does not apply); condition: 2 (if, until), 3 (when); obligation: 1 (shall)
    counts = {"units": "4", "sections": "2", "exception_cues": "1", "condition_cues": "2"}
    assert {name: lease[name] for name in counts} == counts
    assert lease["obligation_cues"] == "1"
    assert lease["sha256"] == hashlib.sha256(LEASE.encode()).hexdigest()
    assert (documents.parent / "papers-annotation" / "guide.md").read_text().startswith("# Annotation guide")


def test_what_people_wrote_stays_and_what_changed_is_reported(documents: Path) -> None:
    path = write_inventory(opened(documents)).path
    fill_inventory(path)
    fill(path, {"leave": {"notes": "=odd"}}, "doc_id")
    guide = path.with_name("guide.md")
    guide.write_text("ours")
    (documents / "lease.md").write_text(LEASE + "5 More.\n")
    (documents / "outage.md").rename(documents / "pump.md")
    (documents / "leave.md").unlink()
    (documents / "fresh.txt").write_text("1 New.\n")
    found = write_inventory(opened(documents))
    assert (found.new, found.changed, found.gone) == (["fresh"], ["lease"], ["leave"])
    assert found.renamed == {"pump": "outage"}
    rows = {row["doc_id"]: row for row in read_table(path, ["doc_id"]).rows}
    assert [rows[name]["document_family"] for name in ("lease", "pump", "fresh")] == [
        "contract",
        "runbook",
        "",
    ]
    assert (rows["leave"]["status"], rows["leave"]["notes"]) == ("gone", "=odd")
    assert rows["lease"]["units"] == "5"
    assert guide.read_text() == "ours"
    again = write_inventory(opened(documents))
    assert (again.new, again.changed, again.renamed) == ([], [], {})


def test_columns_of_their_own_stay(documents: Path) -> None:
    path = write_inventory(opened(documents)).path
    path.write_text(path.read_text(encoding="utf-8-sig").replace("status\n", "status,owner\n", 1))
    fill(path, {"lease": {"owner": "Ada"}}, "doc_id")
    write_inventory(opened(documents))
    assert read_table(path, ["owner"]).rows[0]["owner"] == "Ada"


def test_documents_that_cannot_be_labelled_are_named_together(documents: Path) -> None:
    (documents / "empty.md").write_text("no number\n")
    (documents / "lease.txt").write_text("1 Another.\n")
    with pytest.raises(DataError) as raised:
        write_inventory(opened(documents))
    assert len(raised.value.problems) == 2
    with pytest.raises(UsageError, match="is not a folder"):
        open_workspace(documents / "nowhere")


def test_a_version_never_stands_for_other_content(documents: Path) -> None:
    with pytest.raises(UsageError, match="There is no inventory"):
        freeze_documents(opened(documents), "1", lambda: 0.0)
    write_inventory(opened(documents))
    with pytest.raises(UsageError, match="not frozen"):
        frozen_version(opened(documents))
    first = freeze_documents(opened(documents), "1", lambda: 100.0)
    assert not first.known
    assert freeze_documents(opened(documents), "1", lambda: 200.0).snapshot == first.snapshot
    (documents / "lease.md").write_text(LEASE.replace("half", "all"))
    with pytest.raises(DataError, match=r"lease\.md has changed since the inventory was taken"):
        freeze_documents(opened(documents), "1", lambda: 200.0)
    write_inventory(opened(documents))
    with pytest.raises(DataError, match="The version '1' is taken"):
        freeze_documents(opened(documents), "1", lambda: 200.0)
    freeze_documents(opened(documents), "2", lambda: 200.0)
    assert frozen_version(opened(documents)).version == "2"
    with pytest.raises(DataError, match=r"lease\.md: the document has changed since version '1'"):
        frozen_version(opened(documents), "1")
    with pytest.raises(UsageError, match="no version '3'"):
        frozen_version(opened(documents), "3")


def test_documents_that_came_or_went_are_drift_too(documents: Path) -> None:
    write_inventory(opened(documents))
    path = freeze_documents(opened(documents), "v1.0", lambda: 0.0).path
    (documents / "leave.md").unlink()
    (documents / "new.md").write_text("1 New.\n")
    with pytest.raises(DataError) as raised:
        frozen_version(opened(documents))
    told = [(Path(each.where).name, each.what) for each in raised.value.problems]
    assert told == [
        ("leave.md", "the document is gone since version 'v1.0'"),
        ("new.md", "the document is not part of version 'v1.0'"),
    ]
    whole = path.read_bytes()
    for damaged, why in (
        (b"{}", "the field is missing"),
        (whole.replace(b"v1.0", b"v\xff.0"), "not UTF-8"),
        (whole[:-9], "not JSON"),
        (whole.replace(b'"created": 0.0', b'"created": 1e300'), "expected float <="),
        (b'{"x":' + b"[" * 100_000, "nested too deeply"),
    ):
        assert damaged != whole
        path.write_bytes(damaged)
        with pytest.raises(DataError, match=f"this is not a snapshot: {why}"):
            frozen_version(opened(documents))
    path.write_bytes(msgspec.json.encode({"schema": "x", "version": "", "created": 0, "document_hashes": {}}))
    with pytest.raises(DataError, match="its schema is 'x'"):
        frozen_version(opened(documents))


@pytest.mark.parametrize("version", ["", "../1", ".x", "a/b", "a b"])
def test_a_version_names_a_file(documents: Path, version: str) -> None:
    with pytest.raises(UsageError, match="cannot be the name of a version"):
        freeze_documents(opened(documents), version, lambda: 0.0)


def test_a_selection_is_yes_or_no(documents: Path) -> None:
    path = write_inventory(opened(documents)).path
    fill(path, {"lease": {"selected_for_pilot": "Yes"}, "leave": {"selected_for_pilot": "maybe"}}, "doc_id")
    with pytest.raises(DataError, match="'maybe' is neither yes nor no"):
        read_inventory(opened(documents))
    fill(path, {"leave": {"selected_for_pilot": "no"}}, "doc_id")
    assert [each.selected for each in read_inventory(opened(documents)).values()] == [True, False, None]
