"""Grading beside a model judge at the desk: its words and passages, never its verdict."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import pytest

from assay.core.block import Block
from assay.core.dataset import Dataset
from assay.core.errors import UsageError
from assay.core.protocols import Kit
from assay.core.records import Finding, Question
from assay.core.registry import JUDGES, Registry
from assay.desk.reviews import GradingWork
from assay.judges.labels import text_hash
from assay.pipeline.evaluate import judge_study
from assay.pipeline.reviewing import review_agreement, review_progress
from assay.pipeline.runner import run_study
from assay.review.work import Draft
from assay.store.run_store import Store
from assay.study.study import Study, open_study
from small_study import WORDS, write_study

GRADES = {"GOOD": 2.0, "FAIR": 1.0, "BAD": 0.0}
STUDY = """\
data: data
systems: {{old: replay(path=old.run)}}
judges: [{judges}]
measures: [Success@1]
compare: {{resamples: 200}}
"""


@dataclass(frozen=True)
class Grading:
    """Calls every first passage bad and every second one good, and says why in words of its own."""

    version: ClassVar[str] = "1"
    names: ClassVar[tuple[str, ...]] = ("grading",)
    closed_labels: ClassVar[frozenset[str]] = frozenset()
    grades: dict[str, float] = field(default_factory=lambda: dict(GRADES))

    def questions(self, dataset: Dataset, blocks: Sequence[Block]) -> Iterator[Question]:
        for block in blocks:
            for item_id, doc_id, _ in block.top(2).iter_rows():
                yield Question(item_id, "relevance", dataset.corpus.text_of(doc_id) or "", target=doc_id)

    def ask(self, question: Question, kit: Kit) -> Finding:
        word = "BAD" if question.item_id[1:] == (question.target or "")[1:] else "GOOD"
        return Finding(GRADES[word], category=word, reason="MACHINE REASON", cost=0.01)


@dataclass(frozen=True)
class Coarser(Grading):
    names: ClassVar[tuple[str, ...]] = ("coarser",)
    grades: dict[str, float] = field(default_factory=lambda: {"GOOD": 2.0, "BAD": 0.0})


REGISTRY = Registry({JUDGES: {"grading": Grading, "coarser": Coarser}})


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_study(tmp_path_factory.mktemp("verdicts"), STUDY.format(judges="human, grading"))
    study = open_study(folder, registry=REGISTRY)
    run_study(study)
    judge_study(study)
    return folder


@pytest.fixture
def study(ran: Path, tmp_path: Path) -> Study:
    return open_study(shutil.copytree(ran, tmp_path / "study"), registry=REGISTRY)


def test_people_grade_what_the_judge_graded_in_its_words_and_do_not_see_its_verdict(study: Study) -> None:
    work = GradingWork(study, ["anna"], items=5)
    view = work.step("anna", "relevance")
    assert len(view.tasks) == 10  # two passages of each of five items
    assert [(each.value, each.key) for each in view.form.choices] == [
        ("GOOD", "1"),
        ("FAIR", "2"),
        ("BAD", "3"),
    ]
    for each in view.tasks:
        task = work.task("anna", "relevance", each.task_id)
        assert (task.mark, task.history) == (None, [])
        whole = task.model_dump_json()
        assert not any(word in whole for word in ("MACHINE", "GOOD", "BAD", "grading", "old"))
    assert len(GradingWork(study, ["anna"]).step("anna", "relevance").tasks) == 2 * len(WORDS)


def test_a_grade_counts_as_one_from_a_form(study: Study) -> None:
    work = GradingWork(study, ["anna"], items=5)
    for number, each in enumerate(work.step("anna", "relevance").tasks):
        work.save("anna", "relevance", each.task_id, Draft(mark_id=f"mark-{number:04d}", choice="FAIR"))
    marks = [each for each in Store(study.run_folder).judgments() if each.judge == "anna"]
    assert {(each.label, each.grade, each.category) for each in marks} == {("relevance", 1.0, "FAIR")}
    words = {f"d{n}": f"{word} is about {word}" for n, word in enumerate(WORDS)}
    assert all(each.seen == text_hash(words[each.target or ""]) for each in marks)
    found = review_progress(study).verdicts
    assert found is not None
    assert (found.items, found.finished) == (len(WORDS), 5)
    assert review_agreement(study) is not None
    again = GradingWork(study, ["anna", "ben"], items=5)
    assert [each.steps[0].done for each in (again.state("anna"), again.state("ben"))] == [10, 0]


def test_where_no_judge_was_paid_there_is_nothing_to_grade(tmp_path: Path) -> None:
    plain = open_study(write_study(tmp_path))
    run_study(plain)
    with pytest.raises(UsageError, match="No paying judge"):
        GradingWork(plain, ["anna"])


def test_two_scales_for_one_label_are_refused(study: Study) -> None:
    path = study.folder / "study.yaml"
    path.write_text(STUDY.format(judges="human, grading, coarser"))
    both = open_study(study.folder, registry=REGISTRY)
    judge_study(both)
    with pytest.raises(UsageError, match="grading and coarser grade relevance in different words"):
        GradingWork(both, ["anna"])
