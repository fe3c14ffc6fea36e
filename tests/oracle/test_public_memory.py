"""The studies of public data: tiny slices of each, and a larger one of HotpotQA up to the page in docs/."""

from __future__ import annotations

import gzip
import importlib.util
import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from unittest import mock

import pytest

from assay.pipeline.evaluation import Evaluation
from assay.pipeline.runner import Selection, run_study
from assay.pipeline.validate import check_study
from assay.study.study import open_study

ROOT = Path(__file__).parents[2]
STUDIES = ROOT / "src" / "assay" / "studies" / "public_memory"
STATIC = Selection({"model": ["static"]})  # MiniLM reads 60 texts a second
LINKED = Selection({"model": ["static"], "graph": ["links"]})
TWO_MODELS = {"hotpotqa", "musique"}
FEW = 3
TWINS = {
    "weighted_graph": ("weighted_graph_static", "weighted_graph_dynamic"),
    "activation_spreading_v1": ("activation_spreading_static", "activation_spreading_dynamic"),
}

Evaluate = Callable[..., Evaluation]


@pytest.fixture
def evaluate(tmp_path: Path, shared_data: Callable[[str], Path]) -> Iterator[Evaluate]:
    """Runs a study's file as it is, but for fewer questions and fewer resamples."""
    data = shared_data("multihop").parent

    def run(name: str, limit: int, chosen: Selection = STATIC) -> Evaluation:
        text = (STUDIES / f"{name}.yaml").read_text()
        cut = text.replace('")\n', f'", limit={limit})\n', 1)
        assert cut != text
        path = tmp_path / f"{name}.yaml"
        path.write_text(f"{cut}compare: {{resamples: 200}}\n")
        study = open_study(path)
        run_study(study, chosen)
        return Evaluation(study, chosen)

    with mock.patch.dict("os.environ", {"ASSAY_DATA": str(data)}):
        yield run


@pytest.fixture(scope="module")
def writing() -> ModuleType:
    """docs/memory_results.py, which no package holds."""
    spec = importlib.util.spec_from_file_location("memory_results", ROOT / "docs" / "memory_results.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with mock.patch.dict("sys.modules", {"memory_results": module}):
        spec.loader.exec_module(module)
    return module


def by_arm(evaluation: Evaluation, measure: str) -> dict[tuple[str, str], float | None]:
    """The means over all items, by system and graph."""
    return {
        (each.system, each.factors.get("graph", "")): each.value
        for each in evaluation.results.estimates
        if each.measure == measure and not each.where
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hotpotqa", "musique", "longmemeval", "locomo"])
def test_every_mode_answers_a_slice_and_learns_nothing_between_questions(
    name: str, evaluate: Evaluate
) -> None:
    evaluation = evaluate(name, FEW, STATIC if name in TWO_MODELS else Selection())
    found = by_arm(evaluation, "R@5")
    assert {system for system, _ in found} == set(evaluation.study.file.systems)
    equal_to_their_twins(evaluation, found)


@pytest.mark.slow
def test_an_open_corpus_answers_too(evaluate: Evaluate) -> None:
    """A graph of 6,119 passages takes seconds to draw, and every arm draws its own: one mode is enough."""
    mode = "activation_spreading_v1"
    evaluation = evaluate("twowiki", FEW, Selection(STATIC.where, [mode, *TWINS[mode]]))
    equal_to_their_twins(evaluation, by_arm(evaluation, "R@5"))


def equal_to_their_twins(evaluation: Evaluation, found: Mapping[tuple[str, str], float | None]) -> None:
    assert set(evaluation.scores["status"]) <= {"scored", "missing", "not_applicable"}
    assert None not in found.values()
    for (system, graph), value in found.items():
        for twin in TWINS.get(system, ()):
            assert found[twin, graph] == value
    assert evaluation.results.layer == "public"
    assert evaluation.results.unproven


@pytest.mark.slow
def test_recall_is_the_share_of_supporting_sentences_that_stand_in_the_release(
    evaluate: Evaluate, shared_data: Callable[[str], Path]
) -> None:
    """Read from the file itself, by text: no node id, gold or measure of ours takes part."""
    evaluation = evaluate("hotpotqa", FEW, LINKED)
    with gzip.open(shared_data("multihop") / "hotpotqa_train.json.gz") as file:
        asked = json.load(file)[:FEW]
    scores = {
        (row["arm"], row["item"]): row["value"]
        for row in evaluation.scores.to_dicts()
        if row["measure"] == "R@5"
    }
    for block in evaluation.blocks:
        texts = block.corpus.text_of
        for question, response in zip(asked, block.responses, strict=True):
            sentences = dict(question["context"])
            wanted = {sentences[title][number].strip() for title, number in question["supporting_facts"]}
            assert response is not None
            shown = {texts(hit.doc_id) for hit in response.hits[:5]}
            share = len(wanted & shown) / len(wanted)
            assert scores[block.arm.name, question["_id"]] == pytest.approx(share)
    assert len(evaluation.blocks) == len(evaluation.study.file.systems)


@pytest.mark.slow
def test_hotpotqa_runs_end_to_end_and_reports_whether_vectors_find_no_less_than_words(
    evaluate: Evaluate, writing: ModuleType
) -> None:
    evaluation = evaluate("hotpotqa", 64)
    check_study(evaluation.study, evaluation.arms)
    results = evaluation.results
    gate = next(each for each in results.verdicts if each.gate == "embedding")
    clause = gate.clauses[0]  # of the static model; whichever way it falls is a result
    hits = by_arm(evaluation, "EvidenceHit(over='hits')@5")
    vectors, words = hits["embedding_baseline", "links"], hits["lexical_baseline", "links"]
    assert vectors is not None
    assert words is not None
    assert clause.n == 64
    assert clause.value == pytest.approx(vectors - words)
    assert clause.holds is (vectors >= words)
    assert not gate.deciding
    assert results.verdict is None
    for system in ("lexical_baseline", "embedding_baseline"):
        assert results.trust.seconds[f"{system}[graph=adjacent,model=static]"]["p50"] > 0

    part = writing.Part("hotpotqa", evaluation)
    recall = by_arm(evaluation, "R@5")
    for graph, row in zip(("adjacent", "links"), part.contrasts(), strict=False):
        best, flat = (cell.split()[0] for cell in row[1:3])
        graphs = ("structure_only", "weighted_graph", "activation_spreading_v1", "pagerank")
        flats = ("lexical_baseline", "embedding_baseline", "hybrid", "flat_strong")
        assert recall[best, graph] == max(recall[each, graph] or 0 for each in graphs)
        assert recall[flat, graph] == max(recall[each, graph] or 0 for each in flats)
        assert row[-1] == "64"
    page = writing.page([part])
    for system in evaluation.study.file.systems:
        assert page.count(f"\n| {system} | 64 |") == 2  # one table a graph
    assert "type=bridge" in page
    assert "whether edges have the right types" in page


def test_the_page_in_docs_is_of_the_studies_as_they_are(
    tmp_path: Path, shared_data: Callable[[str], Path], writing: ModuleType
) -> None:
    page = (ROOT / "docs" / "memory-results.md").read_text()
    with mock.patch.dict("os.environ", {"ASSAY_DATA": str(shared_data("multihop").parent)}):
        for name in writing.SETS:
            shutil.copy(STUDIES / f"{name}.yaml", tmp_path)
            study = open_study(tmp_path / f"{name}.yaml")
            assert study.fingerprint in page, f"{name}.yaml changed: run docs/memory_results.py"
