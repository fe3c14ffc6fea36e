"""assay annotate: the whole way from three documents to a case file, and how each step ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.core.protocols import Kit
from assay.kinds.memory.annotation.sampling import case_id
from assay.kinds.memory.datasets.cases import Cases
from small_annotation import approved, fill, fill_inventory, write_documents
from small_study import Done, assay, write_study

ROOF, RENT, CALL = map(case_id, ("lease:2", "lease:3", "outage:3"))


def run(*args: object) -> Done:
    """A command of the group."""
    return assay("annotate", *args)


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    return write_documents(tmp_path / "papers")


def begun(documents: Path) -> Path:
    """The annotation up to a form for Anna with nothing in it; its folder."""
    work = documents.parent / "papers-annotation"
    assert run("inventory", documents).code == 0
    fill_inventory(work / "inventory.csv")
    assert run("freeze", documents, "--version", "1").code == 0
    assert run("sample", documents, "--units", "2").code == 0
    assert run("sheets", documents, "--annotators", "anna,ben").code == 0
    return work


def test_people_label_from_the_documents_before_any_graph_is_shown(documents: Path) -> None:
    work = begun(documents)
    units = (work / "candidates.csv").read_text(encoding="utf-8-sig").splitlines()
    assert units[0].split(",") == ["doc_id", "node_id", "section", "text"]  # no guess at what a unit does
    fill(work / "sheets" / "anna.csv", {RENT: {"query": "Is anything due in August?"}})
    done = run("sheets", documents, "--annotators", "anna,ben")
    assert "next: everybody labels from the documents only, before looking at any graph of them" in done.err
    ben = (work / "sheets" / "ben.csv").read_text(encoding="utf-8-sig").splitlines()
    assert [cell for cell in ben[1].split(",") if cell] == [RENT, "lease", "Is anything due in August?"]
    assert "Label from the documents only." in (work / "guide.md").read_text(encoding="utf-8")
    page = (Path(__file__).parents[2] / "docs" / "private-sets.md").read_text(encoding="utf-8")
    assert page.index("assay annotate export") < page.index("assay graph")


def test_the_whole_way(documents: Path) -> None:
    work = documents.parent / "papers-annotation"
    done = run("inventory", documents)
    assert done.out == f"{work}/inventory.csv: 3 documents, 10 units\nnew: lease, leave, outage\n"
    assert "to fill in: document_family of lease, leave, outage\n" in done.err
    fill_inventory(work / "inventory.csv")
    done = run("freeze", documents, "--version", "1")
    assert done.out == f"{work}/snapshots/1.json: version 1, 3 documents\n"
    done = run("sample", documents, "--units", "2")
    assert done.out.splitlines()[-1] == (
        f"{work}/sample.csv: 6 cases to write; suggested: 2 exception, 2 multi_hop, 1 direct, 1 hard_negative"
    )
    done = run("sheets", documents, "--annotators", "anna,ben")
    assert f"{work}/sheets/anna.csv: 6 rows, 6 of them new" in done.out
    assert "ben: the sheets wait for the queries that anna writes" in done.err

    anna = {
        ROOF: approved("multi_hop", "lease:1; lease:2", query="Must I pay in full under a wet roof?"),
        RENT: approved("exception", "lease:3; lease:1", query="Is anything due in August?"),
        CALL: approved("direct", "outage:3", doc_id="outage", query="Who writes the call down?"),
    }
    fill(work / "sheets/anna.csv", anna)
    done = run("sheets", documents, "--annotators", "anna,ben")
    assert f"{work}/sheets/ben.csv: 3 rows, 3 of them new" in done.out
    fill(work / "sheets/ben.csv", {**anna, RENT: approved("exception", "lease:3")})

    done = run("agreement", documents, "--least", "3")  # Jaccard 1, 1/2 and 1
    assert done.code == 10
    assert "anna and ben: 3 cases labelled by both\nmean Jaccard of evidence: 0.833" in done.out
    assert done.out.endswith("no-go: the mean Jaccard 0.833 is below 0.85\n")
    assert run("agreement", documents).code == 11
    export = ("export", documents, "--dataset-id", "papers", "--pack", "policy")
    refused = run(*export)
    assert (refused.code, refused.out) == (3, "")
    assert f"{RENT!r} has no decision: they differ in evidence" in refused.err

    done = run("adjudicate", documents)
    assert done.out == f"{work}/adjudication.csv: 1 added, 0 decided, 1 open\n"
    decision = {
        "evidence_node_ids": "lease:1; lease:3",
        "decision": "approved",
        "rationale": "The rule is meant.",
    }
    fill(work / "adjudication.csv", {RENT: decision})
    done = run(*export)
    assert done.code == 0
    path = work / "cases/papers.json"
    assert done.out.startswith(f"{path}\nversion 1: 3 cases, 1 of them adjudicated; 0 left out\n")
    # 3 cases in all, 2 and 1 by family of documents; 2 of 3 hard; no negative; Jaccard 0.833
    quality = [line.split()[-1] for line in done.out.splitlines() if line.split()[-1] in {"yes", "no"}]
    assert quality == ["no", "no", "no", "yes", "no", "yes", "yes", "no"]
    dataset = Cases(str(path)).load(Kit())
    assert [item.item_id for item in dataset.items] == [ROOF, RENT, CALL]
    assert dataset.items[1].gold["relevant"] == {"lease:1": 1.0, "lease:3": 1.0}
    assert run(*export, "--gate").code == 10  # three cases are no pilot


def test_every_step_has_a_form_for_programs(documents: Path) -> None:
    work = begun(documents)
    same = {RENT: approved("exception", "lease:3", query="Is anything due in August?")}
    fill(work / "sheets/anna.csv", same)
    assert run("sheets", documents, "--annotators", "anna,ben").code == 0
    fill(work / "sheets/ben.csv", same)
    for args in (
        ("inventory", documents),
        ("freeze", documents, "--version", "1"),
        ("sample", documents, "--documents", "2", "--by", "language"),
        ("sheets", documents, "--annotators", "anna,ben"),
        ("agreement", documents),
        ("adjudicate", documents),
        ("export", documents, "--dataset-id", "papers", "--pack", "policy"),
    ):
        done = run(*args, "--json")
        assert json.loads(done.out)["schema"].startswith("assay/annotation-"), done.err


def test_steps_are_taken_in_order(documents: Path) -> None:
    for step, told in (
        (("freeze", documents, "--version", "1"), "There is no inventory"),
        (("sample", documents), "There is no inventory"),
        (("sheets", documents, "--annotators", "anna,ben"), "not frozen"),
        (("agreement", documents), "There are no sheets"),
        (("export", documents, "--dataset-id", "x", "--pack", "policy"), "not frozen"),
    ):
        done = run(*step)
        assert (done.code, done.out) == (2, "")
        assert told in done.err


def test_everything_that_is_wrong_in_a_sheet_is_reported(documents: Path) -> None:
    work = begun(documents)
    fill(work / "sheets/anna.csv", {RENT: approved("exception", "lease:33; x:1", query="?")})
    assert run("sheets", documents, "--annotators", "anna,ben").code == 0
    done = run("agreement", documents)
    assert done.code == 3
    assert done.err.count(f"{work}/sheets/anna.csv:3: evidence_node_ids: there is no node") == 2


@pytest.mark.slow
def test_a_shadow_set_is_asked_again(tmp_path: Path, documents: Path) -> None:
    begun(documents)
    (tmp_path / "queries.txt").write_text("who pays?\nwho pays?\nwho logs the call?\n")
    done = run("shadow", documents, tmp_path / "queries.txt", "--pack", "policy")
    assert done.out == f"{tmp_path}/papers-annotation/shadow: 2 queries over 10 units\n"
    assert done.err == "left out: 1 line that ask the same\n"
    study = write_study(tmp_path / "study")
    assert run("drift", study).code == 2
    assert run("drift", study, "--keep", "may").code == 2  # nothing was run yet
    assert assay("run", study).code in {0, 10, 11}
    assert run("drift", study, "--keep", "may").out == f"kept may: {study}/replays/may.json\n"
    done = run("drift", study, "--since", "may")
    assert (done.code, done.err) == (0, "")
    rows = [line.split() for line in done.out.splitlines()]
    assert ["system", "queries", "distance", "overlap@10", "unchanged"] in rows
    assert any(row[:2] == ["lexical", "12"] and row[-1] == "12" for row in rows)
    assert done.out.endswith("neither better nor worse, and nothing is decided by it\n")
    found = run("drift", study, "--since", "may", "--json").json
    assert [arm["distance"] for arm in found["arms"]] == [0.0, 0.0]
