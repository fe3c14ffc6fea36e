"""One case file: every problem at once, with its line, its case and what to do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.datasets.units import document_hash
from assay.kinds.memory.datasets.case_file import read_case_file

EVIDENCE: dict[str, Any] = {"evidence_node_ids": ["lease:1", "lease:2"]}


def case(case_id: str = "rent-001", **expectation: Any) -> dict[str, Any]:
    return {"case_id": case_id, "query": "Who pays?", "expectation": {**EVIDENCE, **expectation}}


def content(*cases: Any, **header: Any) -> dict[str, Any]:
    return {
        "dataset_id": "leases-v1",
        "dataset_name": "Leases",
        "domain_pack_name": "example_contract_pack",
        "document_directory": "contracts",
        "cases": list(cases) or [case()],
        **header,
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "contracts").mkdir()
    (tmp_path / "contracts" / "lease.md").write_text(
        "# Lease\n1 Tenant pays.\n2 Landlord waits.\n3 Both sign.\n"
    )
    return tmp_path


def problems_of(folder: Path, written: Any) -> list[str]:
    """What is said of a file, without the folder."""
    path = folder / "cases.json"
    path.write_text(written if isinstance(written, str) else json.dumps(written, indent=1))
    return [str(problem).replace(f"{folder}/", "") for problem in read_case_file(path)[1]]


def refused(folder: Path, **expectation: Any) -> str:
    """The one problem of a case with this expectation, after the name of the field."""
    (problem,) = problems_of(folder, content(case(**expectation)))
    return problem.partition("rent-001.expectation.")[2]


# ---------------------------------------------------------------------------------- what is read


def test_a_sound_file(folder: Path) -> None:
    path = folder / "cases.json"
    path.write_text(json.dumps(content(case("a"), case("b")), indent=1))
    file, problems = read_case_file(path)
    assert problems == []
    assert file is not None
    assert [each.case_id for each in file.cases.values()] == ["a", "b"]
    assert file.cases[0].expectation.minimum_evidence_matches == 1
    assert [passage.doc_id for passage in file.folder.passages] == ["lease:1", "lease:2", "lease:3"]
    # 1: {, 2 to 5: four fields, 6: "cases", 7 to 16: a case of three fields, two of them lists or objects
    assert [file.place(index).line for index in (0, 1)] == [7, 17]


def test_a_private_set_may_have_more_fields(folder: Path) -> None:
    sums = {"lease.md": document_hash(folder / "contracts" / "lease.md")}
    more = {"version": 3, "layer": "private", "description": "From the archive.", "document_hashes": sums}
    assert problems_of(folder, content(**more)) == []


def test_every_expectation_at_once(folder: Path) -> None:
    step = {"node_id": "lease:1"}
    full = case(
        minimum_evidence_matches=2,
        path={"match_mode": "exact", "steps": [{**step, "via_edge_type": None}]},
        path_scope="any_path",
        required_edge_types=["depends_on"],
        required_semantic_roles=[],
        required_contradiction_pairs=[["lease:1", "lease:3"]],
        activation_trace={"steps": [{**step, "is_seed": True, "hop": 0}, {**step, "stopped_reason": "why"}]},
        required_trace_stop_reasons=["below_threshold"],
        min_activation_trace_length=2,
        max_activation_trace_length=2,
    )
    assert problems_of(folder, content(full)) == []


# --------------------------------------------------------------------------- the file as a whole


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("{", "cases.json:1: this is not JSON"),
        ("[]", "cases.json:1: expected an object, found []. Write {…} with dataset_id, domain_pack"),
        ("null", "cases.json:1: expected an object, found null"),
        (
            '{"dataset_id": "a",\n"dataset_id": "b"}',
            "cases.json:2: dataset_id: this field is already on line 1",
        ),
        ("[" * 100_000, "cases.json: it is nested too deeply"),
    ],
)
def test_files_that_are_not_case_files(folder: Path, written: str, said: str) -> None:
    (problem,) = problems_of(folder, written)
    assert problem.startswith(said)


def test_everything_is_reported_at_once(folder: Path) -> None:
    wrong = {
        "dataset_id": " ",
        "dataset_nam": "Leases",
        "domain_pack_name": 7,
        "document_directory": "contracts",
        "layer": "public",
        "cases": [
            {"case_id": "a", "query": "", "tags": "x", "expectation": {}},
            5,
            case("b", path=None, walk=1),
        ],
    }
    one_of_two = "Write one of the two, or leave it out."
    plain = "Write only the name: a study gives it parameters."
    known = (
        "Known: activation_trace, evidence_node_ids, max_activation_trace_length, "
        "min_activation_trace_length, minimum_evidence_matches, path, path_scope, "
        "required_contradiction_pairs, required_edge_types, required_semantic_roles, "
        "required_trace_stop_reasons."
    )
    assert problems_of(folder, wrong) == [
        "cases.json:2: dataset_id: it is empty. Fill it in.",
        f"cases.json:4: domain_pack_name: expected the plain name of a pack, found 7. {plain}",
        f"cases.json:6: layer: expected 'structured' or 'private', found 'public'. {one_of_two}",
        "cases.json:3: dataset_nam: there is no such field. Did you mean 'dataset_name' or 'dataset_id'?",
        "cases.json:10: a.query: it is empty. Fill it in.",
        "cases.json:11: a.tags: expected a list of words, found 'x'. Write [\"a_word\"].",
        "cases.json:12: a.expectation.evidence_node_ids: this field is required. Add it.",
        "cases.json:14: cases.1: expected an object, found 5. Write {…} with case_id, query, expectation.",
        f"cases.json:24: b.expectation.walk: no such expectation is known. {known}",
    ]


@pytest.mark.parametrize("cases", [[], None, {}, "x"])
def test_without_cases(folder: Path, cases: Any) -> None:
    (problem,) = problems_of(folder, {**content(), "cases": cases})
    assert problem.startswith("cases.json:6: cases: ")


@pytest.mark.parametrize("name", ["route", "required_space_ids", "activation_snapshot", "Path"])
def test_an_expectation_that_is_not_known_is_never_passed_over(folder: Path, name: str) -> None:
    assert refused(folder, **{name: []}).startswith(f"{name}: no such expectation is known. ")


def test_an_unknown_field_does_not_hide_what_else_is_wrong(folder: Path) -> None:
    step = {"node_id": "lease:9", "via": "x"}
    problems = problems_of(folder, content({**case(path={"steps": [step]}), "note": 1}))
    assert [problem.split(". ")[0].split(": ", 1)[1] for problem in problems] == [
        "rent-001.expectation.path.steps.0.via: there is no such field",
        "rent-001.note: there is no such field",
        "rent-001.expectation.path.steps.0.node_id: there is no node 'lease:9'",
    ]
    assert "Known: node_id, via_edge_type." in problems[0]


def test_a_broken_header_does_not_hide_nodes_that_are_not_there(folder: Path) -> None:
    problems = problems_of(folder, content(case(evidence_node_ids=["lease:7"]), dataset_name=""))
    assert [problem.split(": ")[1] for problem in problems] == [
        "dataset_name",
        "rent-001.expectation.evidence_node_ids.0",
    ]


def test_a_case_that_is_there_twice(folder: Path) -> None:
    assert problems_of(folder, content(case("a"), case("a "))) == [
        "cases.json:18: a.case_id: the case_id is on line 8 already. Rename one of the two."
    ]


# ---------------------------------------------------------------------------- what is expected


@pytest.mark.parametrize(
    ("expectation", "said"),
    [
        ({"evidence_node_ids": []}, "evidence_node_ids: it is empty"),
        ({"evidence_node_ids": [" "]}, "evidence_node_ids.0: it is empty"),
        ({"evidence_node_ids": "lease:1"}, "evidence_node_ids: expected a list of nodes, found 'lease:1'"),
        ({"evidence_node_ids": [3]}, "evidence_node_ids.0: expected some text, found 3"),
        (
            {"evidence_node_ids": ["lease:4"]},
            "evidence_node_ids.0: there is no node 'lease:4'. Did you mean 'lease:3' or",
        ),
        (
            {"evidence_node_ids": ["leese:1"]},
            "evidence_node_ids.0: there is no node 'leese:1', as no document is called 'leese'. Did you mean",
        ),
        ({"minimum_evidence_matches": 3}, "minimum_evidence_matches: 3 are needed, and 2 nodes are listed"),
        (
            {"evidence_node_ids": ["lease:1", "lease:1"], "minimum_evidence_matches": 2},
            "minimum_evidence_matches: 2 are needed, and 1 nodes are listed",
        ),
        (
            {"minimum_evidence_matches": 0},
            "minimum_evidence_matches: expected a whole number from 1, found 0",
        ),
        ({"minimum_evidence_matches": True}, "minimum_evidence_matches: expected a whole number from 1"),
        ({"minimum_evidence_matches": 1.0}, "minimum_evidence_matches: expected a whole number from 1"),
        ({"minimum_evidence_matches": 10**30}, "minimum_evidence_matches: 1000000000"),
        ({"path": {"steps": []}}, "path.steps: it is empty"),
        ({"path": {}}, "path.steps: this field is required"),
        ({"path": []}, "path: expected an object with steps, found []"),
        ({"path": {"steps": ["lease:1"]}}, "path.steps.0: expected a step, found 'lease:1'"),
        (
            {"path": {"match_mode": "infix", "steps": [{"node_id": "lease:1"}]}},
            "path.match_mode: expected 'exact', 'prefix' or 'subsequence', found 'infix'",
        ),
        (
            {"path": {"steps": [{"node_id": "lease:1", "via_edge_type": " "}]}},
            "path.steps.0.via_edge_type: it is empty",
        ),
        ({"path": {"steps": [{"node_id": "x:1"}]}}, "path.steps.0.node_id: there is no node 'x:1'"),
        ({"path_scope": "all"}, "path_scope: expected 'any_path' or 'best_path', found 'all'"),
        ({"required_edge_types": [""]}, "required_edge_types.0: it is empty"),
        ({"required_semantic_roles": {}}, "required_semantic_roles: expected a list of words, found {}"),
        (
            {"required_contradiction_pairs": [["lease:1", "lease:1"]]},
            "required_contradiction_pairs.0: expected two different nodes, found ['lease:1', 'lease:1']",
        ),
        (
            {"required_contradiction_pairs": [["lease:1", "lease:2", "lease:3"]]},
            "required_contradiction_pairs.0: expected two different nodes",
        ),
        (
            {"required_contradiction_pairs": ["lease:1"]},
            "required_contradiction_pairs.0: expected a list of pairs of nodes, found 'lease:1'",
        ),
        (
            {"required_contradiction_pairs": [["lease:1", 2]]},
            "required_contradiction_pairs.0.1: expected some text, found 2",
        ),
        (
            {"required_contradiction_pairs": [["lease:1", "lease:8"]]},
            "required_contradiction_pairs.0.1: there is no node 'lease:8'",
        ),
        (
            {"activation_trace": {"steps": [{"node_id": "lease:8", "hop": 0}]}},
            "activation_trace.steps.0.node_id: there is no node 'lease:8'",
        ),
        (
            {"activation_trace": {"steps": [{"node_id": "lease:1", "hop": -1}]}},
            "activation_trace.steps.0.hop: expected a whole number from 0 to 1000000, found -1",
        ),
        (
            {"activation_trace": {"steps": [{"node_id": "lease:1", "is_seed": 1}]}},
            "activation_trace.steps.0.is_seed: expected true or false, found 1",
        ),
        (
            {"activation_trace": {"steps": [{"node_id": "lease:1", "via_edge_type": "x"}]}},
            "activation_trace.steps.0.via_edge_type: there is no such field. Did you mean 'edge_type'?",
        ),
        (
            {"min_activation_trace_length": 5, "max_activation_trace_length": 4},
            "max_activation_trace_length: at least 5 steps and at most 4 cannot both be",
        ),
        ({"max_activation_trace_length": "4"}, "max_activation_trace_length: expected a whole number from 0"),
    ],
)
def test_an_expectation_that_makes_no_sense(folder: Path, expectation: dict[str, Any], said: str) -> None:
    assert refused(folder, **expectation).startswith(said)


# -------------------------------------------------------------------------------- the documents


@pytest.mark.parametrize("name", ["kontracts", "", "\0", "y" * 4000])
def test_a_directory_that_is_not_there(folder: Path, name: str) -> None:
    (problem,) = problems_of(folder, content(document_directory=name))
    assert problem.startswith("cases.json:5: document_directory: ")


def test_a_directory_without_documents(folder: Path) -> None:
    (folder / "none").mkdir()
    (problem,) = problems_of(folder, content(document_directory="none"))
    assert problem == (
        "cases.json:5: document_directory: no document lies in this folder: none. "
        "Put documents there that end in .md or .txt."
    )


def test_documents_that_are_empty_or_not_utf8_are_named(folder: Path) -> None:
    (folder / "contracts" / "empty.md").write_text("")
    (folder / "contracts" / "odd.txt").write_bytes(b"1 caf\xe9")
    problems = problems_of(folder, content(case(evidence_node_ids=["odd:1"])))
    assert [problem.split(". ")[0] for problem in problems] == [
        "contracts/empty.md: the document has no numbered unit",
        "contracts/odd.txt:1: bytes that are not UTF-8",
    ]


def test_a_document_that_is_not_as_it_was_frozen(folder: Path) -> None:
    (problem,) = problems_of(folder, content(document_hashes={"lease.md": "0" * 64}))
    assert problem == (
        "cases.json:19: document_hashes.lease.md: the content of 'lease.md' is not what was frozen. "
        "Restore the document, or look through its cases and freeze it again."
    )


def test_hashes_that_are_none(folder: Path) -> None:
    (problem,) = problems_of(folder, content(document_hashes=["lease.md"]))
    assert "document_hashes: expected a mapping of file names to SHA-256 sums" in problem


def test_the_name_of_a_dataset_may_be_left_out(folder: Path) -> None:
    written = content()
    del written["dataset_name"]
    assert problems_of(folder, written) == []


@pytest.mark.parametrize("name", ["rules(path=own.yaml)", "rules:own.yaml", "two words", "../pack", "7"])
def test_a_pack_is_named_and_never_configured(folder: Path, name: str) -> None:
    (problem,) = problems_of(folder, content(domain_pack_name=name))
    expected = f"expected the plain name of a pack, found {name!r}."
    assert problem.startswith(f"cases.json:4: domain_pack_name: {expected}")


def test_only_as_many_slips_are_looked_up_as_are_shown(folder: Path) -> None:
    astray = [case(f"c{n}", evidence_node_ids=[f"lease:{n}"]) for n in range(10, 40)]
    problems = problems_of(folder, content(*astray))
    assert len(problems) == 30
    assert ["Did you mean" in problem for problem in problems] == [True] * 20 + [False] * 10
    assert all("The units of 'lease' are 1, 2, 3." in problem for problem in problems)
