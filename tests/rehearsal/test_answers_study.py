"""Human marks: agreement must hold before the effect is looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from assay.datasets.dataset import Corpus
from assay.measures.block import Block
from assay.pipeline import Evaluation
from assay.plugins import MEASURES, SYSTEMS
from assay.protocols import Kit
from assay.records import Budget, Item, Judgment, Passage, Query, Response
from assay.run.journal import Judged
from assay.run.store import Store
from assay.study import Study

N = 48
ITEMS = [Item(f"q{index:02}", f"question {index}", tags={"site": [f"s{index % 24}"]}) for index in range(N)]


@dataclass(frozen=True)
class Condition:
    """Answers in one condition's words."""

    style: str
    version: ClassVar[str] = "1"

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> Condition:
        return self

    def session(self) -> Condition:
        return self

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        return Response(answer=f"{self.style}: {query.text}")


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
        marks = dict(block.labels.of("accuracy", block.arm.name).select("item", "grade").iter_rows())
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
            writer.append(Judged(judgment), now=True)


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
