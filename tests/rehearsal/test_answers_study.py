"""Human marks: agreement must hold before the effect is looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from assay.core.block import Block
from assay.core.dataset import Corpus
from assay.core.errors import DataError
from assay.core.protocols import Kit
from assay.core.records import Budget, Item, Judgment, Passage, Query, Response
from assay.core.registry import MEASURES, SYSTEMS
from assay.judges.labels import text_hash
from assay.pipeline.evaluation import Evaluation
from assay.store.journal import JudgmentEntry
from assay.store.run_store import Store
from assay.study.study import Study

N = 48
ITEMS = [Item(f"q{index:02}", f"question {index}", tags={"site": [f"s{index % 24}"]}) for index in range(N)]


@dataclass(frozen=True)
class Condition:
    """Answers in one condition's words."""

    style: str
    seed: int = 0
    version: ClassVar[str] = "1"

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> Condition:
        return replace(self, seed=seed)

    def session(self) -> Condition:
        return self

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        return Response(answer=f"{self.style} {self.seed}: {query.text}")


@dataclass(frozen=True)
class Accuracy:
    """The grade a person gave the answer, 0 to 3."""

    needs: ClassVar[frozenset[str]] = frozenset({"answer", "labels"})
    name: ClassVar[str] = "Accuracy"
    at: ClassVar[str] = ""
    better: ClassVar[str] = "higher"
    low: ClassVar[float] = 0.0
    high: ClassVar[float | None] = 3.0
    absent: ClassVar[float | None] = 0.0
    binary: ClassVar[bool] = False

    def applies(self, block: Block) -> NDArray[np.bool_]:
        return np.ones(len(block.items), dtype=bool)

    def values(self, block: Block) -> NDArray[np.float64]:
        marks = dict(block.label("accuracy").select("item", "grade").iter_rows())
        return np.array([marks.get(item.item_id, np.nan) for item in block.items])


STUDY = """
kind: answers
data: folder(path=.)
systems: {A: condition(style=html), B: condition(style=markdown)}
judges: [{use: human, raters: [anna, ben]}]
measures: [Accuracy]
cluster: site
gates:
  markdown:
    first: ["kappa(accuracy) >= 0.6"]
    go: ["Accuracy(B) >= Accuracy(A) + 0.2"]
"""
PLUGINS = {SYSTEMS: {"condition": Condition}, MEASURES: {"Accuracy": Accuracy}}


def marks(
    rater: str, grade_of: Callable[[int, str], int], arms: str = "AB", items: range = range(N)
) -> list[Judgment]:
    return [
        Judgment(f"q{index:02}", "accuracy", float(grade_of(index, arm)), rater, arm=arm)
        for index in items
        for arm in arms
    ]


def truth(index: int, arm: str) -> int:
    return 1 + index % 2 + (1 if arm == "B" and index % 3 else 0)


def keep(study: Study, judgments: list[Judgment]) -> None:
    with Store(study.run_folder).writer() as writer:
        for judgment in judgments:
            writer.append(JudgmentEntry(judgment), now=True)


def test_raters_who_agree_let_the_effect_decide(
    study_at: Callable[..., Study], evaluated: Callable[[Study], Evaluation]
) -> None:
    study = study_at(STUDY, ITEMS, [Passage("p", "text")], PLUGINS)
    # anna scores all; ben the first six, and differs once
    keep(study, marks("anna", truth))
    keep(
        study,
        marks("ben", lambda index, arm: truth(index, arm) - (index == 5 and arm == "A"), items=range(6)),
    )
    results = evaluated(study).results

    means = {each.system: each.value for each in results.estimates}
    assert means == {"A": 1.5, "B": 1.5 + 32 / 48}  # anna's marks count where both scored
    first, effect = results.verdicts[0].clauses
    assert first.role == "first"
    assert first.holds is True
    assert first.left is not None
    assert 0.6 < first.left < 1
    assert effect.holds is True
    assert results.verdict == "go"


def test_raters_who_disagree_leave_everything_open(
    study_at: Callable[..., Study], evaluated: Callable[[Study], Evaluation]
) -> None:
    study = study_at(STUDY, ITEMS, [Passage("p", "text")], PLUGINS)
    keep(study, marks("anna", truth))
    keep(study, marks("ben", lambda index, arm: (truth(index, arm) + index) % 4, items=range(12)))
    verdict = evaluated(study).results.verdicts[0]
    assert (verdict.verdict, verdict.clauses[0].holds) == ("inconclusive", False)
    assert "first" in verdict.reason


def test_answers_nobody_has_marked_are_unjudged_and_decide_nothing(
    study_at: Callable[..., Study], evaluated: Callable[[Study], Evaluation]
) -> None:
    study = study_at(STUDY, ITEMS, [Passage("p", "text")], PLUGINS)
    keep(study, marks("anna", truth, items=range(44)))
    keep(study, marks("ben", truth, items=range(6)))
    results = evaluated(study).results
    assert results.estimates[0].counts == {"unjudged": 4}
    assert results.comparisons[0].refused == "B: 4 items not judged (q44, q45, q46 and 1 more)"
    assert results.verdict == "inconclusive"


def test_a_mark_that_replaces_another_is_the_one_that_counts(
    study_at: Callable[..., Study], evaluated: Callable[[Study], Evaluation]
) -> None:
    study = study_at(STUDY, ITEMS, [Passage("p", "text")], PLUGINS)
    first = Judgment("q00", "accuracy", 0.0, "anna", arm="A", judgment_id="m1")
    second = Judgment("q00", "accuracy", 3.0, "anna", arm="A", judgment_id="m2", replaces="m1")
    keep(
        study, [first, second, *marks("anna", truth, items=range(1, N)), *marks("anna", truth, "B", range(1))]
    )
    scores = evaluated(study).scores
    assert scores.filter(item="q00", arm="A")["value"].to_list() == [3.0]


def test_each_seed_has_marks_of_its_own(
    study_at: Callable[..., Study], evaluated: Callable[[Study], Evaluation]
) -> None:
    study = study_at(STUDY + "seeds: 2\n", ITEMS, [Passage("p", "text")], PLUGINS)
    first = [
        Judgment(f"q{index:02}", "accuracy", float(seed), "anna", arm=arm, seed=seed)
        for index in range(N)
        for arm in "AB"
        for seed in (0, 1)
    ]
    keep(study, first)
    scores = evaluated(study).scores
    assert scores.filter(item="q07", arm="A").sort("seed")["value"].to_list() == [0.0, 1.0]


def test_a_mark_on_an_answer_that_has_changed_does_not_count(
    study_at: Callable[..., Study], evaluated: Callable[[Study], Evaluation]
) -> None:
    study = study_at(STUDY + "seeds: 2\n", ITEMS, [Passage("p", "text")], PLUGINS)

    def seen(item: str, text: str) -> Judgment:
        return Judgment(item, "accuracy", 3.0, "anna", arm="A", seen=text_hash(text))

    rest = [
        mark for mark in marks("anna", truth) if (mark.item_id, mark.arm) not in {("q00", "A"), ("q01", "A")}
    ]
    keep(study, [*rest, seen("q00", "html 1: question 0"), seen("q01", "an older answer")])
    found = evaluated(study)
    # q00: what was seen is what the second seed answers; q01: nobody answers so any more
    status = {
        item: found.scores.filter(item=item, arm="A").sort("seed")["status"].to_list()
        for item in ("q00", "q01")
    }
    assert status == {"q00": ["unjudged", "scored"], "q01": ["unjudged", "unjudged"]}
    what = "marks by anna do not count, because what they were made on has changed: q01"
    assert what in found.results.trust.warnings


def test_marks_by_somebody_the_study_does_not_list_are_ignored_and_counted(
    study_at: Callable[..., Study], evaluated: Callable[[Study], Evaluation]
) -> None:
    study = study_at(STUDY, ITEMS, [Passage("p", "text")], PLUGINS)
    keep(study, marks("anna", truth))
    keep(study, marks("ben", truth, items=range(6)))
    keep(study, marks("mallory", lambda _, arm: 3 if arm == "A" else 0))
    results = evaluated(study).results
    assert {each.system: each.value for each in results.estimates} == {"A": 1.5, "B": 1.5 + 32 / 48}
    assert "96 marks by mallory are ignored; the study lists anna, ben" in results.trust.warnings
    assert results.verdicts[0].clauses[0].left == 1.0  # of anna and ben: mallory agrees with nobody


def test_an_adjudicator_settles_the_label_and_leaves_agreement_alone(
    study_at: Callable[..., Study], evaluated: Callable[[Study], Evaluation]
) -> None:
    text = STUDY.replace("raters: [anna, ben]", "raters: [anna, ben], adjudicators: [chief]")
    study = study_at(text, ITEMS, [Passage("p", "text")], PLUGINS)
    keep(study, marks("anna", truth))
    keep(study, marks("ben", lambda index, arm: truth(index, arm) - (index == 5), items=range(6)))
    before = evaluated(study).results.verdicts[0].clauses[0].left
    keep(study, [Judgment("q05", "accuracy", 0.0, "chief", arm=arm) for arm in "AB"])
    after = evaluated(study)
    assert before is not None
    assert after.results.verdicts[0].clauses[0].left == before < 1
    assert after.scores.filter(item="q05")["value"].to_list() == [0.0, 0.0]


def test_a_clause_may_name_its_raters_and_no_strangers(
    study_at: Callable[..., Study], evaluated: Callable[[Study], Evaluation]
) -> None:
    def declared(raters: str) -> Study:
        text = STUDY.replace("raters: [anna, ben]", "raters: [anna, ben, cleo]")
        text = text.replace("kappa(accuracy)", f"kappa(raters='{raters}')(accuracy)")
        return study_at(text, ITEMS, [Passage("p", "text")], PLUGINS)

    study = declared("anna|cleo")
    keep(study, marks("anna", truth))
    keep(study, marks("ben", lambda index, arm: 3 - truth(index, arm)))
    keep(study, marks("cleo", truth, items=range(8)))
    assert evaluated(study).results.verdicts[0].clauses[0].left == 1.0
    with pytest.raises(DataError, match=r"the study lists no judge 'bem'\. Did you mean 'ben'\?"):
        declared("anna|bem")
