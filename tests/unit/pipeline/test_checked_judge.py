"""A study whose model judge people checked: its figures and its gate go by both, and say so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

from assay.core.block import Block
from assay.core.dataset import Corpus, Dataset
from assay.core.errors import SystemFailure
from assay.core.protocols import Kit
from assay.core.records import Budget, Finding, Hit, Item, Judgment, Passage, Query, Question, Response
from assay.core.registry import DATASETS, JUDGES, MEASURES, SYSTEMS, Registry
from assay.measures.ranking import Success
from assay.pipeline.evaluate import judge_study
from assay.pipeline.evaluation import Evaluation
from assay.pipeline.runner import run_study
from assay.store.journal import JudgmentEntry
from assay.store.run_store import Store
from assay.study.study import Study, open_study

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


@dataclass(frozen=True)
class Failing(One):
    """Fails on the last ten items, which are as the others are."""

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        if int(query.item_id[1:]) >= N - 10:
            raise SystemFailure("HTTP 500")
        return super().answer(query, budgets)


@dataclass(frozen=True)
class Shallow(One):
    """With k = 2 it returns nothing for two items of ten that are right."""

    k: str = "1"

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        if self.k == "2" and int(query.item_id[1:]) % 10 < 2:
            return Response()
        return super().answer(query, budgets)


@dataclass(frozen=True)
class Given(Success):
    """Success on the items that anything was returned for."""

    family: ClassVar[str] = "Given"
    absent: ClassVar[float | None] = None


def judged(folder: Path, text: str = STUDY, system: type = One) -> Study:
    """A study that was run, and judged by the model."""
    (folder / "study.yaml").write_text(text)
    plugins: dict[str, dict[str, type]] = {
        DATASETS: {"numbered": Numbered},
        SYSTEMS: {"one": system},
        JUDGES: {"lenient": Lenient},
        MEASURES: {"Given": Given},
    }
    study = open_study(folder, registry=Registry(plugins))
    run_study(study)
    judge_study(study)
    return study


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return judged(tmp_path)


def check(study: Study, items: int) -> None:
    """People grade the hits of some items, as they are."""
    with Store(study.run_folder).writer() as writer:
        for n in range(items):
            mark = Judgment(f"q{n}", "relevance", float(right(n)), "anna", target=f"d{n}")
            writer.append(JudgmentEntry(mark), now=True)


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
    assert (
        estimate.method == f"prediction-powered ({CHECKED} items by people, {N - CHECKED} by the judge only)"
    )
    (clause,) = results.verdicts[0].clauses
    assert results.verdict == "no-go"
    assert clause.left == pytest.approx(estimate.value)
    assert clause.low == pytest.approx(estimate.low - 0.7)
    assert clause.high == pytest.approx(estimate.high - 0.7)
    assert any("corrected by people who checked the judge" in each for each in results.trust.warnings)


def test_too_few_to_tell_change_only_what_they_saw(study: Study) -> None:
    check(study, 9)
    (estimate,) = Evaluation(study).results.estimates
    # q6 and q7 are wrong where the judge passed them
    assert estimate.value == pytest.approx((0.8 * N - 2) / N)
    assert "people" not in estimate.method


# ------------------------------------------------------------------------------------ failed items


@pytest.mark.parametrize(
    ("least", "verdict", "reason"),
    [
        ("55%", "go", "10 items failed; counted at either end of the range, it does not change this"),
        ("60%", "inconclusive", "10 items failed, and could turn it: it differs between the ends"),
        ("65%", "no-go", "10 items failed; counted at either end of the range, it does not change this"),
    ],
)
def test_failed_items_count_at_both_ends_beside_what_people_set_right(
    tmp_path: Path, least: str, verdict: str, reason: str
) -> None:
    study = judged(tmp_path, STUDY.replace("70%", least), Failing)
    check(study, CHECKED)
    results = Evaluation(study).results
    (clause,) = results.verdicts[0].clauses
    # 190 items at 0.6, and ten at 0 or at 1: 114/200 = 0.57 and 124/200 = 0.62. As labelled, with 60 at 0.6
    # and 130 at 0.8, it would be 140/200 = 0.70 and 0.75
    assert clause.left == pytest.approx(0.57)
    assert clause.high is not None
    assert clause.high + float(least[:-1]) / 100 > 0.62
    assert (results.verdict, reason in clause.reason) == (verdict, True)


# ------------------------------------------------------------------------------------ several arms

FACTORS = STUDY.replace("measures:", "factors: {k: ['1', '2']}\nmeasures:")


@pytest.mark.parametrize(
    ("clause", "mean"),
    [
        ("Success@1(one) >= 70% where k=1", 0.6),  # six right of ten
        ("Success@1(one)[k=2] >= 70%", 0.4),  # less the two that it returns nothing for
        ("Success@1(one) >= 70%", 0.5),  # a mean over both; the judge says (0.8 + 0.6) / 2
    ],
)
def test_people_set_right_the_arms_that_a_clause_is_about(tmp_path: Path, clause: str, mean: float) -> None:
    study = judged(tmp_path, FACTORS.replace("Success@1(one) >= 70%", clause), Shallow)
    check(study, CHECKED)
    results = Evaluation(study).results
    (decided,) = results.verdicts[0].clauses
    assert decided.left == pytest.approx(mean)
    assert results.verdict == "no-go"
    values = [each.value for each in results.estimates]
    assert values == [pytest.approx(0.6), pytest.approx(0.4)]
    # the two arms are no 400 draws: the interval of their mean is no narrower than sqrt(1/2) of either's
    assert decided.low is not None
    assert decided.high is not None
    widths = [
        each.high - each.low for each in results.estimates if each.high is not None and each.low is not None
    ]
    assert decided.high - decided.low > 0.75 * min(widths)


def test_arms_that_count_other_items_leave_the_clause_open(tmp_path: Path) -> None:
    study = judged(tmp_path, FACTORS.replace("Success@1", "Given@1"), Shallow)
    check(study, CHECKED)
    (clause,) = Evaluation(study).results.verdicts[0].clauses
    assert (clause.holds, clause.value) == (None, None)
    assert clause.reason.startswith("one[k=1], one[k=2] count different items")


# -------------------------------------------------------------------------------- where it is not used


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (STUDY + "cluster: topic\n", "the items are in clusters (`cluster: topic`)"),
        (
            STUDY.replace('70%"]', '70%"], interval: subsets'),
            "the gate 'ship' takes its intervals from subsets",
        ),
    ],
)
def test_marks_that_set_nothing_right_are_told(tmp_path: Path, more: str, why: str) -> None:
    study = judged(tmp_path, more)

    def told() -> list[str]:
        return [each for each in Evaluation(study).results.trust.warnings if "marks on the judge" in each]

    assert told() == []
    check(study, CHECKED)
    (warning,) = told()
    assert warning.startswith(f"people's marks on the judge are not used beyond the items they saw: {why}")
