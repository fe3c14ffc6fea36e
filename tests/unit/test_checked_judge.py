"""A study whose model judge people checked: its figures and its gate go by both, and say so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

from assay.datasets.dataset import Corpus, Dataset
from assay.measures.block import Block
from assay.pipeline import Evaluation, judge_study
from assay.plugins import DATASETS, JUDGES, SYSTEMS, Registry
from assay.protocols import Kit
from assay.records import Budget, Finding, Hit, Item, Judgment, Passage, Query, Question, Response
from assay.run.journal import Judged
from assay.run.runner import run_study
from assay.run.store import Store
from assay.study import Study, open_study

N, CHECKED = 200, 60


def right(n: int) -> bool:
    return n % 10 < 6  # the truth: 60 %


def passed(n: int) -> bool:
    return n % 10 < 8  # a lenient judge: 80 %


@dataclass(frozen=True)
class Numbered:
    def load(self, kit: Kit) -> Dataset:
        passages = [Passage(f"d{n}", f"text {n}") for n in range(N)]
        return Dataset("numbered", Corpus(passages), [Item(f"q{n}", f"query {n}") for n in range(N)])


@dataclass(frozen=True)
class One:
    version: ClassVar[str] = "1"

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> One:
        return self

    def session(self) -> One:
        return self

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        return Response(hits=[Hit(query.item_id.replace("q", "d"), 1.0)])


@dataclass(frozen=True)
class Lenient:
    version: ClassVar[str] = "1"
    names: ClassVar[tuple[str, ...]] = ("lenient",)
    closed_labels: ClassVar[frozenset[str]] = frozenset()

    def questions(self, dataset: Dataset, blocks: Sequence[Block]) -> Iterator[Question]:
        for block in blocks:
            for item, doc, _ in block.top(1).iter_rows():
                yield Question(item, "relevance", f"text of {doc}", target=doc)

    def ask(self, question: Question, kit: Kit) -> Finding:
        return Finding(float(passed(int(question.item_id[1:]))), cost=0.01)


STUDY = """
data: numbered
systems: {one: one}
judges: [human, lenient]
measures: [Success@1]
gates:
  ship: {go: ["Success@1(one) >= 70%"]}
"""


@pytest.fixture
def study(tmp_path: Path) -> Study:
    (tmp_path / "study.yaml").write_text(STUDY)
    plugins: dict[str, dict[str, type]] = {
        DATASETS: {"numbered": Numbered},
        SYSTEMS: {"one": One},
        JUDGES: {"lenient": Lenient},
    }
    study = open_study(tmp_path, registry=Registry(plugins))
    run_study(study)
    judge_study(study)
    return study


def check(study: Study, items: int) -> None:
    """People grade the hits of some items, as they are."""
    with Store(study.run_folder).writer() as writer:
        for n in range(items):
            mark = Judgment(f"q{n}", "relevance", float(right(n)), "anna", target=f"d{n}")
            writer.append(Judged(mark), now=True)


def test_a_lenient_judge_alone_would_let_it_ship(study: Study) -> None:
    results = Evaluation(study).results
    assert (results.estimates[0].value, results.verdict) == (0.8, "go")


def test_people_who_checked_some_of_it_set_the_figure_and_the_gate_right(study: Study) -> None:
    check(study, CHECKED)
    results = Evaluation(study).results
    (estimate,) = results.estimates
    # people: 60 % of 60; the judge is 20 points above them wherever both looked, and says 80 % of the rest
    assert estimate.value == pytest.approx(0.6, abs=0.02)
    assert estimate.low is not None
    assert estimate.high is not None
    assert estimate.low < 0.6 < estimate.high < 0.8
    assert estimate.method == f"prediction-powered ({CHECKED} people, {N - CHECKED} judge)"
    (clause,) = results.verdicts[0].clauses
    assert results.verdict == "no-go"
    assert clause.left == pytest.approx(estimate.value)
    assert (clause.low, clause.high) == (
        pytest.approx(estimate.low - 0.7),
        pytest.approx(estimate.high - 0.7),
    )
    assert any("set right by people who checked the judge" in each for each in results.trust.warnings)


def test_too_few_to_tell_change_only_what_they_saw(study: Study) -> None:
    check(study, 9)
    (estimate,) = Evaluation(study).results.estimates
    # q6 and q7 are wrong where the judge passed them
    assert estimate.value == pytest.approx((0.8 * N - 2) / N)
    assert "people" not in estimate.method
