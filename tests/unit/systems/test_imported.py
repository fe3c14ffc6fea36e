"""Answers from the JSON file of a benchmark that was run elsewhere."""

from __future__ import annotations

import copy
import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.core.dataset import Corpus, Dataset
from assay.core.errors import AssayError, DataError
from assay.core.protocols import Kit
from assay.core.records import Fault, Item, Passage, Query, Response
from assay.core.registry import SYSTEMS, Registry
from assay.pipeline.evaluation import Evaluation
from assay.pipeline.importing import import_results
from assay.study.study import open_study
from assay.systems.imported import Imported
from small_study import WORDS, write_study

REGISTRY = Registry({SYSTEMS: {"imported": Imported}})
DATASET = Dataset(
    "small",
    Corpus([Passage(f"R{n}_{c}", "text", source=f"R{n}", section="NARRATIVE") for n in (1, 2) for c in "ab"]),
    [Item("A-1", "who fell"), Item("A-2", "what  broke\n"), Item("A-3", "why")],
)
# A-1 has scores that fall, A-2 two that tie. A-3 has no result.
RESULTS: dict[str, Any] = {
    "run_id": "x",
    "model_name": "minilm",
    "total_queries": 2,
    "query_results": [
        {
            "query_id": "A-1",
            "query_text": "who fell",
            "category": "incident_lookup",
            "retrieved_report_ids": ["R1", "R2", "R1"],
            "retrieved_chunk_ids": ["R1_b", "R2_a", "R1_a"],
            "retrieved_sections": ["NARRATIVE", "", None],
            "retrieved_scores": [0.9, 0.5, -1],
            "mrr": 1.0,
            "embed_latency_ms": 140.5,
            "search_latency_ms": 236.75,
            "total_latency_ms": 377.25,
        },
        {
            "query_id": "A-2",
            "query_text": "what broke",
            "top_results": [
                {"chunk_id": "R1_a", "report_id": "R1", "section_name": "NARRATIVE", "score": 0.5},
                {"chunk_id": "R2_b", "report_id": "R2", "section_name": "NARRATIVE", "score": 0.5},
            ],
        },
    ],
}
Change = Callable[[dict[str, Any]], object]


def written(folder: Path, content: Any) -> Kit:
    text = content if isinstance(content, bytes) else json.dumps(content).encode()
    (folder / "minilm.json").write_bytes(text)
    return Kit(root=folder)


def changed(change: Change) -> dict[str, Any]:
    content = copy.deepcopy(RESULTS)
    change(content)
    return content


def told(folder: Path, content: Any) -> list[str]:
    """The problems of a file, without its path."""
    kit = written(folder, content)
    found = Imported("minilm.json").problems(DATASET, kit)
    assert all(problem.where == str(folder / "minilm.json") for problem in found)
    return [str(problem).removeprefix(f"{folder}/") for problem in found]


def answered(folder: Path, content: Any, item_id: str) -> Response:
    index = Imported("minilm.json").build(DATASET.corpus, 0, written(folder, content))
    return index.session().answer(Query(item_id, ""), [])


def hits(response: Response) -> list[tuple[str, float]]:
    return [(hit.doc_id, hit.score) for hit in response.hits]


# -------------------------------------------------------------------------------------- answers


def test_scores_that_fall_are_kept(tmp_path: Path) -> None:
    assert hits(answered(tmp_path, RESULTS, "A-1")) == [("R1_b", 0.9), ("R2_a", 0.5), ("R1_a", -1.0)]


def test_scores_that_tie_give_way_to_the_rank(tmp_path: Path) -> None:
    # by score alone R2_b would come first: ties break by document id, descending
    assert hits(answered(tmp_path, RESULTS, "A-2")) == [("R1_a", 2.0), ("R2_b", 1.0)]


@pytest.mark.parametrize("scores", [[0.1, 0.2, 0.3], [1, 1, 0], None])
def test_scores_that_rise_or_are_missing_give_way_too(tmp_path: Path, scores: list[float] | None) -> None:
    content = changed(lambda file: file["query_results"][0].update(retrieved_scores=scores))
    assert hits(answered(tmp_path, content, "A-1")) == [("R1_b", 3.0), ("R2_a", 2.0), ("R1_a", 1.0)]


def test_both_forms_of_a_result_give_the_same_hits(tmp_path: Path) -> None:
    names = ("chunk_id", "report_id", "section_name", "score")
    lists = ("retrieved_chunk_ids", "retrieved_report_ids", "retrieved_sections", "retrieved_scores")
    first = RESULTS["query_results"][0]
    rows = [dict(zip(names, row, strict=True)) for row in zip(*(first[each] for each in lists), strict=True)]
    result = {"query_id": "A-1", "query_text": "who fell", "top_results": rows}
    content = {"query_results": [result]}
    assert answered(tmp_path, content, "A-1").hits == answered(tmp_path, RESULTS, "A-1").hits
    assert told(tmp_path, content) == []


def test_seconds_are_those_of_the_file(tmp_path: Path) -> None:
    # 140.5 + 236.75 = 377.25 ms
    seconds = answered(tmp_path, RESULTS, "A-1").observed.seconds
    assert seconds == {"embed": 0.1405, "search": 0.23675, "total": 0.37725}
    assert answered(tmp_path, RESULTS, "A-2").observed.seconds == {}


def test_a_query_without_a_result_fails_and_one_without_hits_does_not(tmp_path: Path) -> None:
    absent = answered(tmp_path, RESULTS, "A-3")
    assert absent.error == Fault("absent", "the file has no result for this query")
    content = changed(lambda file: file["query_results"].append(bare("A-3", "why", [])))
    empty = answered(tmp_path, content, "A-3")
    assert (empty.error, empty.hits) == (None, [])


def bare(query_id: str, text: str, chunks: list[str]) -> dict[str, Any]:
    return {"query_id": query_id, "query_text": text, "retrieved_chunk_ids": chunks}


def test_the_identity_follows_what_the_file_holds(tmp_path: Path) -> None:
    kit = written(tmp_path, RESULTS)
    before = Imported("minilm.json").identity(kit)
    (tmp_path / "packed.json.gz").write_bytes(gzip.compress((tmp_path / "minilm.json").read_bytes()))
    assert Imported("packed.json.gz").identity(kit) == before
    written(tmp_path, changed(lambda file: file.update(run_id="y")))
    assert Imported("minilm.json").identity(kit) != before


def test_a_file_that_is_wrong_cannot_be_built_from(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"minilm\.json: query_results: expected a list of results"):
        answered(tmp_path, {}, "A-1")
    with pytest.raises(DataError, match=r"absent\.json: there is no such file"):
        Imported("absent.json").build(DATASET.corpus, 0, Kit(root=tmp_path))


# ------------------------------------------------------------------------------------- problems


def test_a_golden_query_without_a_result_is_no_problem(tmp_path: Path) -> None:
    assert told(tmp_path, RESULTS) == []


def first_result(**fields: Any) -> Change:
    return lambda file: file["query_results"][0].update(fields)


WRONG: dict[str, tuple[Change, list[str]]] = {
    "query text of another type": (
        first_result(query_text=7),
        ["query_results.0.query_text: expected str, got int. Correct the value."],
    ),
    "no query id": (
        lambda file: file["query_results"][0].pop("query_id"),
        ["query_results.0.query_id: the field is missing. Add 'query_id'."],
    ),
    "several at once": (
        first_result(query_id=None, retrieved_scores=[1, "x", 2], total_latency_ms="slow"),
        [
            "query_results.0.query_id: the field is missing. Add 'query_id'.",
            "query_results.0.retrieved_scores[1]: expected float, got str. Correct the value.",
            "query_results.0.total_latency_ms: expected float | null, got str. Correct the value.",
        ],
    ),
    "a mapping of another form": (
        lambda file: file["query_results"][1]["top_results"][1].pop("chunk_id"),
        ["query_results.1.top_results[1].chunk_id: the field is missing. Add 'chunk_id'."],
    ),
    "no mapping": (
        lambda file: file["query_results"].append("A-3"),
        ["query_results.2: expected a mapping. Write query_id, query_text and the hits."],
    ),
    "no hits": (
        lambda file: file["query_results"][1].pop("top_results"),
        [
            (
                "query_results.1: neither retrieved_chunk_ids nor top_results is there. "
                "Add the hits; an empty list says that there were none."
            )
        ],
    ),
    "unequal lists": (
        first_result(retrieved_scores=[2, 1], retrieved_sections=[]),
        [
            (
                "query_results.0.retrieved_sections: 0 values for 3 retrieved_chunk_ids. "
                "Give one for each, in the same order."
            ),
            (
                "query_results.0.retrieved_scores: 2 values for 3 retrieved_chunk_ids. "
                "Give one for each, in the same order."
            ),
        ],
    ),
    "a score that is no number": (
        first_result(retrieved_scores=[float("nan"), 1, float("-inf")]),
        [
            "query_results.0.retrieved_scores: 'R1_b' on rank 1 has the score nan. Write a finite number.",
            "query_results.0.retrieved_scores: 'R1_a' on rank 3 has the score -inf. Write a finite number.",
        ],
    ),
    "a negative duration": (
        first_result(embed_latency_ms=-2),
        ["query_results.0.embed_latency_ms: -2.0 is not a duration. Write milliseconds, or null."],
    ),
    "a query twice": (
        lambda file: file["query_results"].append(bare("A-1", "who fell", [])),
        ["query_results.2.query_id: 'A-1' is in query_results.0 already. Keep one of the two."],
    ),
    "a chunk twice": (
        lambda file: file["query_results"][1]["top_results"].append({"chunk_id": "R1_a"}),
        [("query_results.1.top_results: 'R1_a' is on rank 1 and on rank 3. A result names each chunk once.")],
    ),
    "an unknown query": (
        lambda file: file["query_results"].append(bare("B-1", "who", [])),
        [
            (
                "query_results.2.query_id: the golden set has no item 'B-1'. "
                "Add it there, or import results of this golden set."
            )
        ],
    ),
    "another question": (
        first_result(query_text="who flew"),
        [
            (
                "query_results.0.query_text: 'A-1' asked 'who flew' here, and is 'who fell' in the golden "
                "set. It answers another question: run the benchmark on this golden set."
            )
        ],
    ),
    "unknown chunks": (
        # six chunks of A-3 are nowhere, those of are: 4 different ones
        lambda file: file["query_results"].append(bare("A-3", "why", [f"R9_{n}" for n in range(6)])),
        [
            (
                "query_results.2.retrieved_chunk_ids: 6 of 10 chunks are not in the corpus: "
                "'R9_0', 'R9_1', 'R9_2', 'R9_3', 'R9_4' and 1 more. "
                "Import results of this corpus, in this chunking."
            )
        ],
    ),
    "another report": (
        first_result(retrieved_report_ids=["R2", "R2", "R2"]),
        [
            (
                "query_results.0.retrieved_report_ids: 'R1_b' is of the report 'R2' here, of 'R1' in the "
                "corpus; 1 more like it. It is another chunking: import results of this one."
            )
        ],
    ),
    "another section": (
        lambda file: file["query_results"][1]["top_results"][0].update(section_name="CAUSE"),
        [
            (
                "query_results.1.top_results: 'R1_a' is of the section 'CAUSE' here, of 'NARRATIVE' in the "
                "corpus. It is another chunking: import results of this one."
            )
        ],
    ),
}


@pytest.mark.parametrize(("change", "expected"), WRONG.values(), ids=list(WRONG))
def test_every_problem_is_told_with_its_place(tmp_path: Path, change: Change, expected: list[str]) -> None:
    assert told(tmp_path, changed(change)) == [f"minilm.json: {each}" for each in expected]


def test_problems_of_the_form_and_of_the_data_are_told_at_once(tmp_path: Path) -> None:
    def change(file: dict[str, Any]) -> None:
        file["query_results"][0]["query_text"] = 7
        file["query_results"][1]["query_id"] = "B-2"
        file["query_results"].append(bare("A-3", "why", ["R9_a"]))

    assert [line.split(": ")[1] for line in told(tmp_path, changed(change))] == [
        "query_results.0.query_text",
        "query_results.2.retrieved_chunk_ids",
        "query_results.1.query_id",
    ]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "not JSON: Expecting value"),
        (b'{"query_results": [', "not JSON: Expecting value"),
        (b'{"query_results": "\xff"}', "not UTF-8 (byte 0xff)"),
        (b"\x1f\x8b no gzip", "cannot be read"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a": ' + b"9" * 5000 + b"}", "not JSON: Exceeds the limit"),
        (b"[]", "query_results: expected a list of results"),
        (b'{"query_results": []}', "query_results: expected a list of results"),
        (b'{"query_results": {"a": 1}}', "query_results: expected a list of results"),
        (b'{"query_results": [{"total_latency_ms": "\\ud800"}]}', "total_latency_ms: it holds half of a"),
    ],
)
def test_what_is_no_such_file_is_told(tmp_path: Path, content: bytes, expected: str) -> None:
    assert any(expected in line for line in told(tmp_path, content))


ODD: list[Any] = [None, True, -1, 10**400, 1e999, "", "\ud800", "R1_a", [], [[]], {}, {"chunk_id": 1}, "A-1"]


def spoilt(draw: random.Random) -> bytes:
    """The file with a byte changed, cut off, or a value replaced by another."""
    content = copy.deepcopy(RESULTS)
    if draw.random() < 0.5:
        within: Any = content
        while True:
            key = draw.choice(list(within) if isinstance(within, dict) else range(len(within)))
            if not isinstance(within[key], dict | list) or not within[key] or draw.random() < 0.3:
                break
            within = within[key]
        within[key] = draw.choice(ODD)
        return json.dumps(content).encode()
    data = bytearray(json.dumps(content).encode())
    place = draw.randrange(len(data))
    if draw.random() < 0.3:
        return bytes(data[:place])
    data[place] = draw.randrange(256)
    return bytes(data)


def test_a_spoilt_file_is_an_error_and_never_a_crash(tmp_path: Path) -> None:
    draw, refused = random.Random(4), 0
    for _ in range(300):
        problems = told(tmp_path, spoilt(draw))
        refused += bool(problems)
        try:
            Imported("minilm.json").build(DATASET.corpus, 0, Kit(root=tmp_path))
        except DataError:
            assert problems
    assert 150 < refused < 300  # a changed figure in a field that nobody reads is no error


# ---------------------------------------------------------------------------------- in a study

STUDY = """\
data: data
systems:
  minilm: imported(path=imported/minilm.json)
  mika: imported(path=imported/mika.json)
  lexical: bm25
baseline: minilm
measures: [RR@5, Seconds]
compare: {resamples: 200}
gates:
  ship:
    max_failed: 0.1
    go: ["RR@5(mika) >= RR@5(minilm) + 0.2"]
"""


def benchmark(path: Path, model: str, rank: int, items: int = len(WORDS), **more: Any) -> Path:
    """Results with the right passage of each item on one rank, all scores alike."""
    rows = []
    for n in range(items):
        others = [f"d{(n + step) % len(WORDS)}" for step in (1, 2)]
        chunks = [*others[: rank - 1], f"d{n}", *others[rank - 1 :]]
        rows.append({**bare(f"q{n}", WORDS[n], chunks), "retrieved_scores": [0.5] * 3, **more})
    path.write_text(json.dumps({"model_name": model, "query_results": rows}))
    return path


def test_imported_runs_are_scored_and_gated_as_our_own(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "small", STUDY)
    slow = benchmark(tmp_path / "a.json", "minilm", 2, total_latency_ms=250)
    short = benchmark(tmp_path / "b.json", "mika", 1, items=11)
    done = import_results(folder, [slow, short], registry=REGISTRY)
    assert done.summary == (
        f"small: stored minilm (12 answers), mika (11 answers, 1 item without a result); "
        f"next: assay report {folder}"
    )

    results = Evaluation(open_study(folder, registry=REGISTRY)).results
    means = {
        (each.system, each.measure): (each.value, each.n_scored, each.n_expected)
        for each in results.estimates
        if not each.where
    }
    # minilm has every passage on rank 2, by rank and not by score: 1/2. mika has 11 of them on rank 1.
    assert means["minilm", "RR@5"] == (0.5, 12, 12)
    assert means["mika", "RR@5"] == (1.0, 11, 12)
    assert results.trust.counts["mika"] == {"scored": 11, "failed": 1}
    assert any(
        "absent: the file has no result for this query (q11)" in each for each in results.trust.warnings
    )
    # even with the one that failed at 0, mika's mean is 11/12: 0.417 more than minilm's
    assert results.verdict == "go"
    # 250 ms, as its file says; mika's file says nothing, and nobody timed the reading of it
    assert means["minilm", "Seconds"] == (0.25, 12, 12)
    assert results.trust.seconds == {"minilm": {"p50": 0.25, "p95": 0.25, "p99": 0.25}}


def test_a_spoilt_file_leaves_the_study_as_it_was(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "small", STUDY)
    good = benchmark(tmp_path / "good.json", "mika", 1)
    before = sorted(folder.rglob("*"))
    draw = random.Random(5)
    whole = benchmark(tmp_path / "bad.json", "minilm", 2).read_bytes()
    for _ in range(40):
        (tmp_path / "bad.json").write_bytes(whole[: draw.randrange(len(whole) - 2)])
        with pytest.raises(AssayError):
            import_results(folder, [good, tmp_path / "bad.json"], registry=REGISTRY)
    assert sorted(folder.rglob("*")) == before
