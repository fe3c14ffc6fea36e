"""The judge stage as a whole: whose word holds where, and what a study may not leave open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import pytest

from assay.core.block import Block
from assay.core.dataset import Corpus, Dataset
from assay.core.errors import DataError, Retryable
from assay.core.protocols import Kit
from assay.core.records import Budget, Finding, Hit, Item, Passage, Query, Question, Response
from assay.core.registry import DATASETS, JUDGES, SYSTEMS, Registry
from assay.pipeline.evaluate import judge_study
from assay.pipeline.evaluation import Evaluation
from assay.pipeline.paying_judges import question_key
from assay.pipeline.runner import run_study
from assay.store.run_store import Store
from assay.study.study import Study, open_study


@dataclass(frozen=True)
class Staged:
    """A corpus that grows, and with it what is relevant."""

    stage: str

    def load(self, kit: Kit) -> Dataset:
        docs = ["a", "b"][: 1 if self.stage == "small" else 2]
        items = [Item("q", "?", gold={"relevant": dict.fromkeys(docs, 1)})]
        return Dataset(self.stage, Corpus([Passage(doc, f"text {doc}") for doc in [*docs, "c"]]), items)


@dataclass(frozen=True)
class First:
    """Finds a, and says so."""

    version: ClassVar[str] = "1"

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> First:
        return self

    def session(self) -> First:
        return self

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        return Response(hits=[Hit("a", 1.0)], answer="it is a")


@dataclass(frozen=True)
class Script:
    """Fails, or grades, or says something that is no grade, as it is told; keeps what it was asked."""

    script: list[str] = field(default_factory=list)
    label: str = "faithful"
    version: ClassVar[str] = "7"
    names: ClassVar[tuple[str, ...]] = ("script",)
    closed_labels: ClassVar[frozenset[str]] = frozenset()
    asked: ClassVar[list[Question]] = []

    def questions(self, dataset: Dataset, blocks: Sequence[Block]) -> Iterator[Question]:
        for block in blocks:
            for item, response in zip(block.items, block.responses, strict=True):
                if response is not None and response.answer is not None:
                    arm = block.arm.name
                    yield Question(
                        item.item_id, self.label, response.answer, item.text, None, None, arm, block.seed
                    )

    def ask(self, question: Question, kit: Kit) -> Finding:
        self.asked.append(question)
        said = self.script[len(self.asked) - 1]
        if said == "later":
            raise Retryable("busy")
        return Finding(float(said), cost=0.25)


PLUGINS: dict[str, dict[str, type]] = {
    SYSTEMS: {"first": First},
    DATASETS: {"staged": Staged},
    JUDGES: {"script": Script},
}
STUDY = """
data: staged(stage=small)
systems: {first: first}
measures: [R@10]
run: {backoff: 0, retries: 1}
"""


def study_at(folder: Path, more: str = "") -> Study:
    Script.asked.clear()
    (folder / "study.yaml").write_text(STUDY + more)
    return open_study(folder, registry=Registry(PLUGINS))


def test_what_is_relevant_in_one_corpus_is_not_wanted_of_an_arm_on_another(tmp_path: Path) -> None:
    study = study_at(tmp_path, "factors: {stage: [small, large]}\n")
    run_study(study)
    found = Evaluation(study)
    # small: a of a; large: a of a and b
    assert dict(found.scores.select("arm", "value").iter_rows()) == {
        "first[stage=small]": 1.0,
        "first[stage=large]": 0.5,
    }
    general = [each for each in found.judgments if each.arm is None]
    assert [each.target for each in general] == ["a"]


def test_two_judges_may_not_have_one_name(tmp_path: Path) -> None:
    judges = "judges: [{use: human, raters: [anna]}, {use: human, raters: [ben, anna]}]\n"
    with pytest.raises(DataError, match=r"judges\.1: another judge is named 'anna' too"):
        study_at(tmp_path, judges)


def test_nobody_is_rater_and_adjudicator_at_once(tmp_path: Path) -> None:
    judges = "judges: [{use: human, raters: [anna, ben], adjudicators: [ben]}]\n"
    with pytest.raises(DataError, match="somebody is named twice"):
        study_at(tmp_path, judges)


def test_a_finding_is_kept_with_what_it_was_made_on(tmp_path: Path) -> None:
    study = study_at(tmp_path, "judges: [ids, {use: script, script: ['later', '2']}]\n")
    run_study(study)
    (tally,) = judge_study(study)
    assert (tally.answered, tally.failed, tally.cost) == (1, 0, 0.25)
    assert len(Script.asked) == 2  # one retry
    (entry,) = Store(study.run_folder).judged()
    assert entry.key == question_key(study.judges[1], Script.asked[0])  # type: ignore[arg-type]
    assert entry.judgment is not None
    assert (entry.judgment.grade, entry.judgment.judge, entry.judgment.version) == (2.0, "script", "7")
    (found,) = [each for each in Evaluation(study).judgments if each.label == "faithful"]
    assert (found.arm, found.seed) == ("first", 0)
    labels = Evaluation(study).labels
    assert (labels.world("relevance"), labels.world("faithful")) == ("closed", "open")
    assert set(labels.pools) == {"faithful"}
    assert judge_study(study) == []


@pytest.mark.parametrize(
    ("said", "why"),
    [("['later', 'later']", "Retryable: busy"), ("['nan']", "ValueError: the grade is nan")],
)
def test_a_question_that_failed_is_asked_again_by_the_next_run(tmp_path: Path, said: str, why: str) -> None:
    study = study_at(tmp_path, f"judges: [ids, {{use: script, script: {said}}}]\n")
    run_study(study)
    (tally,) = judge_study(study)
    assert (tally.answered, tally.failed) == (0, 1)
    assert Evaluation(study).judging.warnings == [
        f"script failed on 1 of 1 questions; the last failure: {why}"
    ]
    Script.asked.clear()
    assert judge_study(study)[0].failed == 1
    assert Script.asked


def test_a_key_is_what_the_judge_is_and_what_it_is_shown() -> None:
    def key(judge: Script, question: Question) -> str:
        return question_key(judge, question)

    plain = Question("q", "faithful", "an answer", "a query")
    same = [
        Question("q", "faithful", "an answer", "a query", arm="A", seed=3),
        Question("q", "faithful", "an answer", "a query", target="the same text in another index"),
    ]
    assert {key(Script(), each) for each in same} == {key(Script(), plain)}
    assert len({key(Script(), Question("q", "faithful", "", target=each)) for each in "ab"}) == 2
    others = [
        Question("p", "faithful", "an answer", "a query"),
        Question("q", "useful", "an answer", "a query"),
        Question("q", "faithful", "another answer", "a query"),
        Question("q", "faithful", "an answer", "another query"),
    ]
    assert len({key(Script(), each) for each in [plain, *others]} | {key(Script(["1"]), plain)}) == 6


@dataclass(frozen=True)
class Looker:
    """Grades every hit 1; opens what the ids of gold had closed."""

    version: ClassVar[str] = "1"
    names: ClassVar[tuple[str, ...]] = ("looker",)
    closed_labels: ClassVar[frozenset[str]] = frozenset()
    opens: ClassVar[frozenset[str]] = frozenset({"relevance"})
    asked: ClassVar[list[str | None]] = []

    def questions(self, dataset: Dataset, blocks: Sequence[Block]) -> Iterator[Question]:
        for block in blocks:
            for item, doc, _ in block.top(10).iter_rows():
                yield Question(item, "relevance", f"text of {doc}", target=doc)

    def ask(self, question: Question, kit: Kit) -> Finding:
        self.asked.append(question.target)
        return Finding(1.0)


@dataclass(frozen=True)
class Both(First):
    """Answers every query with two passages."""

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        return Response(hits=[Hit("a", 2.0), Hit("b", 1.0)])


def test_what_a_better_judge_decides_for_nothing_is_not_asked_and_the_rest_is_unknown(tmp_path: Path) -> None:
    plugins: dict[str, dict[str, type]] = {
        SYSTEMS: {"both": Both},
        DATASETS: {"staged": Staged},
        JUDGES: {"looker": Looker},
    }
    text = "data: staged(stage=small)\nsystems: {both: both}\nmeasures: [P@2]\njudges: [ids, looker]\n"
    (tmp_path / "study.yaml").write_text(text)
    study = open_study(tmp_path, registry=Registry(plugins))
    Looker.asked.clear()
    run_study(study)
    assert Evaluation(study).scores["status"].to_list() == ["unjudged"]  # b, before the model has looked
    judge_study(study)
    assert Looker.asked == ["b"]  # a is gold
    assert Evaluation(study).scores["value"].to_list() == [1.0]


@dataclass(frozen=True)
class Down:
    """A service that nobody reaches."""

    version: ClassVar[str] = "1"
    names: ClassVar[tuple[str, ...]] = ("down",)
    closed_labels: ClassVar[frozenset[str]] = frozenset()
    asked: ClassVar[list[str]] = []

    def questions(self, dataset: Dataset, blocks: Sequence[Block]) -> Iterator[Question]:
        return (Question("q", "relevance", f"text {n}", target=str(n)) for n in range(50))

    def ask(self, question: Question, kit: Kit) -> Finding:
        self.asked.append(question.text)
        raise ValueError("nobody there")


def test_a_judge_that_answers_nothing_is_not_asked_everything(tmp_path: Path) -> None:
    plugins: dict[str, dict[str, type]] = {
        SYSTEMS: {"both": Both},
        DATASETS: {"staged": Staged},
        JUDGES: {"down": Down},
    }
    text = "data: staged(stage=small)\nsystems: {both: both}\nmeasures: [P@2]\njudges: [ids, down]\n"
    (tmp_path / "study.yaml").write_text(text)
    study = open_study(tmp_path, registry=Registry(plugins))
    Down.asked.clear()
    run_study(study)
    first = judge_study(study)[0].failed
    assert 10 <= first == len(Down.asked) < 50  # some are in hand when the tenth fails
    left = f"{50 - first} of 50 questions to down were not asked yet, because none of the first was answered"
    assert left in Evaluation(study).judging.warnings
    judge_study(study)  # and the next run tries again
    assert len(Down.asked) >= first + 10
