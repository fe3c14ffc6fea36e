"""Case files as a dataset: items, passages, sequences, twins, and what several files may not do."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.core.dataset import Dataset, Place
from assay.core.errors import DataError, PluginError, Problem
from assay.core.protocols import Kit
from assay.core.registry import DATASETS, Registry
from assay.kinds.memory.datasets.cases import UNPROVEN, Cases

LEASE = "# Lease\n## Rent\n1 Tenant pays.\n2 Landlord waits.\n"
RUNBOOK = "# Runbook\n1 Look.\n2 Restart.\n3 Confirm.\n"


def case(case_id: str, *nodes: str, tags: list[str] | None = None, **expectation: Any) -> dict[str, Any]:
    wanted = {"evidence_node_ids": list(nodes), **expectation}
    return {"case_id": case_id, "query": f"What of {case_id}?", "tags": tags or [], "expectation": wanted}


def write(folder: Path, name: str, cases: list[Any], documents: dict[str, str], **header: Any) -> Path:
    """A case file and its documents, in a folder of that name."""
    directory = folder / f"{name}_documents"
    directory.mkdir(exist_ok=True)
    for each, text in documents.items():
        (directory / each).write_text(text)
    content = {
        "dataset_id": f"{name}-v1",
        "dataset_name": name,
        "domain_pack_name": "example_contract_pack",
        "document_directory": directory.name,
        "cases": cases,
        **header,
    }
    path = folder / f"{name}.json"
    path.write_text(json.dumps(content, indent=1))
    return path


def loaded(folder: Path, path: str | tuple[str, ...] = "leases.json", **given: Any) -> Dataset:
    return Cases(path, **given).load(Kit(root=folder))


def problems_of(folder: Path, path: str | tuple[str, ...]) -> list[str]:
    with pytest.raises(DataError) as caught:
        loaded(folder, path)
    return [str(problem).replace(f"{folder}/", "") for problem in caught.value.problems]


# ----------------------------------------------------------------------------------- one file


def test_a_case_becomes_an_item(tmp_path: Path) -> None:
    write(tmp_path, "leases", [case("a", "lease:2", tags=["odd; tag", "x", "x"])], {"lease.md": LEASE})
    dataset = loaded(tmp_path)
    (item,) = dataset.items
    assert (item.item_id, item.text, item.sequence, item.scope) == (
        "a",
        "What of a?",
        None,
        ["lease:1", "lease:2"],
    )
    assert item.tags == {
        "tag": ["odd; tag", "x", "x"],
        "part": ["case"],
        "dataset": ["leases-v1"],
        "pack": ["example_contract_pack"],
        "multi_hop": ["no"],
    }
    assert item.gold == {"relevant": {"lease:2": 1.0}, "minimum_evidence_matches": 1}
    assert (dataset.name, dataset.layer, dataset.warnings) == ("leases-v1", "structured", [])
    assert dataset.unproven == UNPROVEN["structured"]
    # the item, and where the pack of the document is named
    assert dataset.places == {
        "a": Place(str(tmp_path / "leases.json"), 7),
        "lease": Place(str(tmp_path / "leases.json"), 4),
    }
    assert dataset.label_definitions.keys() == {"relevance"}
    assert [passage.metadata["pack"] for passage in dataset.corpus.passages] == ["example_contract_pack"] * 2
    assert dataset.corpus.documents["lease"].text == LEASE
    assert len(dataset.hash) == 32


def test_expectations_become_gold_only_where_written(tmp_path: Path) -> None:
    wanted = {
        "minimum_evidence_matches": 2,
        "path": {"steps": [{"node_id": "lease:1"}, {"node_id": "lease:2", "via_edge_type": "depends_on"}]},
        "required_edge_types": ["depends_on"],
        "required_semantic_roles": [],
        "required_contradiction_pairs": [["lease:2", "lease:1"]],
        "activation_trace": {
            "match_mode": "prefix",
            "steps": [{"node_id": "lease:1", "is_seed": True, "hop": 0, "edge_type": None}],
        },
        "required_trace_stop_reasons": ["below_threshold"],
        "min_activation_trace_length": 0,
    }
    write(tmp_path, "leases", [case("a", "lease:1", "lease:2", **wanted)], {"lease.md": LEASE})
    (item,) = loaded(tmp_path).items
    assert item.gold == {
        "relevant": {"lease:1": 1.0, "lease:2": 1.0},
        "minimum_evidence_matches": 2,
        "path": {
            "match_mode": "subsequence",
            "steps": [
                {"node_id": "lease:1", "via_edge_type": None},
                {"node_id": "lease:2", "via_edge_type": "depends_on"},
            ],
        },
        "path_scope": "any_path",
        "required_edge_types": ["depends_on"],
        "required_contradiction_pairs": [["lease:2", "lease:1"]],
        "activation_trace": {
            "match_mode": "prefix",
            "steps": [{"node_id": "lease:1", "is_seed": True, "hop": 0}],
        },
        "required_trace_stop_reasons": ["below_threshold"],
        "min_activation_trace_length": 0,
    }


@pytest.mark.parametrize(
    ("nodes", "tags", "expected"),
    [
        (["lease:1"], [], "no"),
        (["lease:1", "lease:1"], [], "no"),
        (["lease:1", "lease:2"], [], "yes"),
        (["lease:1"], ["multi_hop"], "yes"),
        (["lease:1"], ["multi-hop"], "yes"),
    ],
)
def test_what_takes_several_hops(tmp_path: Path, nodes: list[str], tags: list[str], expected: str) -> None:
    write(tmp_path, "leases", [case("a", *nodes, tags=tags)], {"lease.md": LEASE})
    assert loaded(tmp_path).items[0].tags["multi_hop"] == [expected]


# ------------------------------------------------------------------------- primes and probes


def test_a_file_of_primes_and_probes_is_one_sequence_and_each_probe_has_a_twin(tmp_path: Path) -> None:
    ids = ["prime-1", "between", "msa-probe-2"]
    write(tmp_path, "leases", [case(each, "lease:1", tags=["t"]) for each in ids], {"lease.md": LEASE})
    dataset = loaded(tmp_path)
    assert [(item.item_id, item.tags["part"], item.sequence) for item in dataset.items] == [
        ("prime-1", ["prime"], "leases-v1"),
        ("between", ["case"], "leases-v1"),
        ("msa-probe-2", ["probe"], "leases-v1"),
        ("msa-probe-2~unprimed", ["unprimed"], None),
    ]
    probe, twin = dataset.items[2:]
    assert (twin.text, twin.scope, twin.gold) == (probe.text, probe.scope, {"unprimed_of": "msa-probe-2"})
    assert twin.tags == {**probe.tags, "part": ["unprimed"]}
    assert dataset.places[twin.item_id] == dataset.places[probe.item_id]
    assert dataset.warnings == []
    assert [item.item_id for item in loaded(tmp_path, unprimed=False).items] == ids


@pytest.mark.parametrize(
    ("ids", "said"),
    [
        (["probe-1", "prime-2", "probe-3"], "no prime- case comes before 'probe-1'"),
        (["a", "prime-2"], "no probe- case follows its prime- cases"),
    ],
)
def test_primes_and_probes_that_lack_each_other_are_warned_of(
    tmp_path: Path, ids: list[str], said: str
) -> None:
    write(tmp_path, "leases", [case(each, "lease:1") for each in ids], {"lease.md": LEASE})
    (warning,) = loaded(tmp_path).warnings
    assert said in warning


def test_a_case_with_the_id_of_a_twin(tmp_path: Path) -> None:
    cases = [case(each, "lease:1") for each in ("prime-1", "probe-2", "probe-2~unprimed")]
    write(tmp_path, "leases", cases, {"lease.md": LEASE})
    (problem,) = problems_of(tmp_path, "leases.json")
    assert "the item 'probe-2~unprimed' is at leases.json:" in problem
    one_line = tmp_path / "leases.json"
    one_line.write_text(json.dumps(json.loads(one_line.read_text())))
    (problem,) = problems_of(tmp_path, "leases.json")
    assert problem.startswith("leases.json:1: case_id: the item 'probe-2~unprimed' is at leases.json:1 ")


def test_labels_that_people_disagree_on_are_warned_of(tmp_path: Path) -> None:
    quality = {"agreement": 0.5, "cases": 30}
    write(tmp_path, "leases", [case("a", "lease:1")], {"lease.md": LEASE}, quality=quality)
    (warning,) = loaded(tmp_path).warnings
    assert warning.startswith("leases-v1: two people agree too little")


def test_a_scope_without_a_path_is_warned_of(tmp_path: Path) -> None:
    write(tmp_path, "leases", [case("a", "lease:1", path_scope="best_path")], {"lease.md": LEASE})
    dataset = loaded(tmp_path)
    assert "'a' has a path_scope, but no path" in dataset.warnings[0]
    assert "path_scope" not in dataset.items[0].gold


def test_a_line_that_was_broken_before_a_number_is_warned_of(tmp_path: Path) -> None:
    write(tmp_path, "leases", [case("a", "lease:1")], {"lease.md": "1 Pay within\n30 days.\n2 Wait.\n"})
    assert "the unit 2 follows the unit 30" in loaded(tmp_path).warnings[0]


# ---------------------------------------------------------------------------------- several files


@pytest.fixture
def two(tmp_path: Path) -> Path:
    write(tmp_path, "leases", [case("a", "lease:1")], {"lease.md": LEASE})
    write(tmp_path, "runbooks", [case("a", "book:3"), case("prime-1", "book:1")], {"book.md": RUNBOOK})
    return tmp_path


@pytest.mark.parametrize(
    "path", [".", "*.json", ("leases.json", "run*.json"), ("leases.json", "runbooks.json")]
)
def test_several_files_have_the_dataset_in_their_ids(two: Path, path: str | tuple[str, ...]) -> None:
    dataset = loaded(two, path)
    assert [item.item_id for item in dataset.items] == ["leases-v1/a", "runbooks-v1/a", "runbooks-v1/prime-1"]
    assert [item.scope for item in dataset.items[:2]] == [
        ["lease:1", "lease:2"],
        ["book:1", "book:2", "book:3"],
    ]
    assert [item.sequence for item in dataset.items] == [None, "runbooks-v1", "runbooks-v1"]
    assert dataset.name == (two.name if path == "." else "cases")


def test_a_file_whose_name_looks_like_a_glob(two: Path) -> None:
    (two / "leases.json").rename(two / "leases[1].json")
    assert [item.item_id for item in loaded(two, "leases[1].json").items] == ["a"]


def test_two_files_over_the_same_documents_share_them(two: Path) -> None:
    write(two, "more", [case("b", "lease:2")], {}, document_directory="leases_documents")
    dataset = loaded(two, ("leases.json", "more.json"))
    assert [passage.doc_id for passage in dataset.corpus.passages] == ["lease:1", "lease:2"]
    assert dataset.items[0].scope == dataset.items[1].scope


def test_two_documents_of_one_name_are_to_be_loaded_apart(two: Path) -> None:
    write(two, "other", [case("a", "lease:1")], {"lease.md": "1 Another text.\n"})
    (problem,) = problems_of(two, ("leases.json", "other.json"))
    assert problem == (
        "other.json:5: document_directory: the document 'lease' has another text than that of leases.json. "
        "Load the two files as two datasets, or rename one of the documents."
    )


def test_two_packs_for_one_document_are_to_be_loaded_apart(two: Path) -> None:
    write(two, "other", [case("a", "lease:1")], {"lease.md": LEASE}, domain_pack_name="policy")
    (problem,) = problems_of(two, ("leases.json", "other.json"))
    assert "the document 'lease' is read with another domain pack in leases.json" in problem


def test_two_files_of_one_dataset_id(two: Path) -> None:
    write(two, "other", [case("a", "x:1")], {"x.md": "1 x"}, dataset_id="leases-v1")
    assert problems_of(two, ".") == [
        "other.json:2: dataset_id: leases.json has the same dataset_id. Rename one of the two."
    ]


def test_the_problems_of_all_files_come_together_and_once(two: Path) -> None:
    (two / "leases_documents" / "empty.md").write_text("")
    write(two, "more", [case("b", "lease:9")], {}, document_directory="leases_documents")
    write(two, "zero", [case("c", "x:1", route=[])], {"x.md": "1 x"})
    assert [problem.split(". ")[0].split(": ", 1) for problem in problems_of(two, ".")] == [
        ["leases_documents/empty.md", "the document has no numbered unit"],
        ["more.json:13", "b.expectation.evidence_node_ids.0: there is no node 'lease:9'"],
        ["zero.json:15", "c.expectation.route: no such expectation is known"],
    ]


def test_paths_that_name_nothing(two: Path) -> None:
    (two / "none").mkdir()
    problems = problems_of(two, ("missing.json", "none", "z*.json", "nul\0"))
    assert [problem.split(": ")[0] for problem in problems] == ["missing.json", "none", "nul\0", "z*.json"]
    assert problems_of(two, ())[0].endswith("data.path: no case file is named. Name one.")


# ------------------------------------------------------------------------------------- layers


def test_a_private_set_says_so(two: Path) -> None:
    dataset = loaded(two, layer="private")
    assert (dataset.layer, dataset.unproven) == ("private", UNPROVEN["private"])


def test_one_private_file_makes_the_set_private(two: Path) -> None:
    write(two, "secret", [case("a", "x:1")], {"x.md": "1 x"}, layer="private")
    assert (loaded(two, "*.json").layer, loaded(two).layer) == ("private", "structured")


def test_a_study_names_it_cases(two: Path) -> None:
    registry = Registry()
    assert registry.create(DATASETS, "cases(path=leases.json)") == Cases("leases.json")
    with pytest.raises(PluginError, match="layer"):
        registry.create(DATASETS, "cases(path=leases.json, layer=public)")


# ----------------------------------------------------------------------------------- real files


def test_the_published_files_load_unchanged(shared_data: Callable[[str], Path]) -> None:
    folder = shared_data("structured_memory") / "benchmarks" / "structured_memory"
    dataset = loaded(folder, ".")
    assert dataset.warnings == []
    # 26 cases in six files, two of them probes, each with a twin
    assert len(dataset.items) == 28
    assert len({item.tags["dataset"][0] for item in dataset.items}) == 6
    # units: the ten contracts 6+6+6+6+6+6+6+5+5+5, the priming documents 7 and 7, runbooks 7+7, exceptions 3
    assert len(dataset.corpus) == 57 + 14 + 14 + 3
    assert len({item.sequence for item in dataset.items} - {None}) == 2
    for path in sorted(folder.glob("*.json")):
        assert loaded(folder, path.name).name == json.loads(path.read_text())["dataset_id"]


# ------------------------------------------------------------------------------- random files

ODD: list[Any] = [
    None, True, False, 0, -1, 1.5, 10**40, "", " ", "\0", "é\u2028\U0001f600", "lease:1", "lease:99", ":",
    "a:b:c", [], {}, [[]], ["lease:1"], [None], {"node_id": "lease:1"}, {"": ""}, "x" * 5000, "../..", "/",
    "prime-", "9" * 4000,
]  # fmt: skip


def places(content: Any) -> list[tuple[Any, Any]]:
    """Every container in a JSON value, with each key or index in it."""
    found: list[tuple[Any, Any]] = []
    waiting = [content]
    while waiting:
        value = waiting.pop()
        keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
        found += ((value, key) for key in keys)
        waiting += (value[key] for key in keys)
    return found


def nested(depth: int, draw: random.Random) -> Any:
    value: Any = "end"
    for _ in range(depth):
        value = [value] if draw.random() < 0.5 else {"steps": value}
    return value


def slip(content: Any, draw: random.Random) -> None:
    """Loses, mistypes, moves, renames, buries or doubles one part of a file."""
    found = places(content)
    if not found:
        return
    within, key = draw.choice(found)
    kind = draw.randrange(6)
    if kind == 0:
        del within[key]
    elif kind == 1:
        within[key] = copy.deepcopy(draw.choice(ODD))
    elif kind == 2:
        other, at = draw.choice(found)
        within[key] = copy.deepcopy(other[at])  # perhaps what it stands in: a part of the file inside itself
    elif kind == 3 and isinstance(within, dict):
        signs = (draw.choice((draw.randrange(32, 127), draw.randrange(0xD7FF))) for _ in range(6))
        within["".join(map(chr, signs))] = within.pop(key)
    elif kind == 4:
        within[key] = nested(draw.choice((3, 30)), draw)
    elif isinstance(within, list):
        within.append(copy.deepcopy(within[key]))


def damaged(content: Any, draw: random.Random) -> str:
    """A case file after a few slips, and now and then one of the keyboard."""
    for _ in range(draw.randint(1, 4)):
        slip(content, draw)
    text = json.dumps(content, ensure_ascii=draw.random() < 0.5, indent=draw.choice((None, 1)))
    if draw.random() < 0.1:
        at = draw.randrange(len(text) + 1)
        typed = draw.choice(["", "}", '"', "\x00", "1e999", "\\ud800", "[" * 5000])
        text = text[:at] + typed + text[at + draw.randrange(3) :]
    if draw.random() < 0.01:
        text = text.replace('"end"', "[" * 900 + "]" * 900)
    return text


def sound() -> dict[str, Any]:
    step = {"node_id": "lease:1", "via_edge_type": None}
    trace = {"match_mode": "prefix", "steps": [{"node_id": "lease:2", "is_seed": True, "hop": 0}]}
    full = {
        "minimum_evidence_matches": 1,
        "path_scope": "best_path",
        "path": {"match_mode": "exact", "steps": [step, {**step, "node_id": "lease:2"}]},
        "required_edge_types": ["depends_on"],
        "required_semantic_roles": ["exception"],
        "required_contradiction_pairs": [["lease:1", "lease:2"]],
        "activation_trace": trace,
        "required_trace_stop_reasons": ["below_threshold"],
        "min_activation_trace_length": 1,
        "max_activation_trace_length": 5,
    }
    return {
        "dataset_id": "leases-v1",
        "dataset_name": "Leases",
        "domain_pack_name": "example_contract_pack",
        "document_directory": "leases_documents",
        "version": "1",
        "document_hashes": None,
        "cases": [
            case("prime-1", "lease:1"),
            case("probe-2", "lease:1", "lease:2", tags=["multi_hop"], **full),
            case("c", "lease:2"),
        ],
    }


def outcomes(folder: Path, count: int, seed: int) -> dict[str, int]:
    """How many random files load and how many are refused; any other exception is the test's."""
    write(folder, "leases", [], {"lease.md": LEASE})
    draw, path, seen = random.Random(seed), folder / "leases.json", {"loaded": 0, "refused": 0}
    for _ in range(count):
        path.write_bytes(damaged(sound(), draw).encode(errors="surrogatepass"))
        problems: tuple[Problem, ...] | None = None
        try:
            assert loaded(folder).hash
        except DataError as error:
            problems = error.problems
        assert problems is None or problems
        assert all(each.where and each.what and str(each).encode() for each in problems or ())
        seen["loaded" if problems is None else "refused"] += 1
    return seen


def test_random_files_load_or_are_refused_with_a_place(tmp_path: Path) -> None:
    seen = outcomes(tmp_path, 250, seed=1)
    assert min(seen.values()) > 20, seen


@pytest.mark.slow
def test_ten_thousand_random_files(tmp_path: Path) -> None:
    seen = outcomes(tmp_path, 10_000, seed=2)
    assert min(seen.values()) > 500, seen
