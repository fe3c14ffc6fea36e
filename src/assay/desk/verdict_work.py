"""Grading beside a model judge at the desk: the same passages in the same words, without its verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from assay.core.errors import UsageError
from assay.core.protocols import PayingJudge
from assay.desk.desk_work import raters_of
from assay.pipeline.evaluation import Evaluation
from assay.pipeline.reviewing import graded_by_models, stored_grades
from assay.pipeline.runner import command_path
from assay.review.book import run_book
from assay.review.messages import Choice, Rule, StepForm, TextBlock
from assay.review.passage_work import PassageWork
from assay.review.passages import GradingStep, GradingSteps, PassageTask
from assay.review.verdicts import ITEMS, JudgedItem, drawn
from assay.review.work import DeskWork
from assay.study.study import Study

ABOUT = "Grade each passage for its query and intent, by its text alone."
RULES = [
    Rule(title="By its text", text="Judge what the passage says, not where it may come from."),
    Rule(
        title="What is expected",
        text="It shows the kind of text that is wanted. A passage may be as good without it.",
    ),
]
KEYS = "1234567890abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class GradingReview:
    """Asks people to grade what a model judge graded, without its grades."""

    absent: ClassVar[str] = "no model judges anything"

    def asked(self, study: Study) -> bool:
        """Whether a judge that costs something is listed."""
        return any(isinstance(judge, PayingJudge) for judge in study.judges)

    def work(self, study: Study, raters: Sequence[str], accepted_by: str = "") -> DeskWork:
        return GradingWork(study, raters_of(study, raters))


class GradingWork(PassageWork):
    """What a paying judge graded, for some items drawn at random, to be graded by people too."""

    def __init__(self, study: Study, raters: Sequence[str], *, items: int = ITEMS, seed: int = 0) -> None:
        evaluation = Evaluation(study)
        asked = drawn(graded_by_models(evaluation), items, seed)
        if not asked:
            raise UsageError(
                "No paying judge of this study has judged anything yet. List one, such as llm, and run: "
                f"assay run {command_path(study)}"
            )
        labels = dict.fromkeys(each.label for each in asked)
        steps = [_step([each for each in asked if each.label == label], seed) for label in labels]
        subjects = GradingSteps(study.name, ABOUT, steps)
        super().__init__(
            run_book(evaluation.store), subjects, raters, stored_grades(evaluation), study.kit.clock
        )


def _step(asked: Sequence[JudgedItem], seed: int) -> GradingStep:
    """The passages of one label; where two judges graded one, it is asked for once."""
    first = asked[0]
    if other := next((each for each in asked if each.grades != first.grades), None):
        raise UsageError(
            f"{first.judge} and {other.judge} grade {first.label} in different words, and people can use one "
            "scale at a time. Export forms instead, with: assay review export --verdicts"
        )
    subjects: dict[str, PassageTask] = {}
    for each in asked:
        for doc_id in each.order(seed):
            found = _subject(each, doc_id)
            subjects.setdefault(found.task_id, found)
    title = first.label.replace("_", " ").capitalize()
    form = StepForm(choices=_choices(first), note_label="Why, where it was hard to say")
    return GradingStep(first.label, title, ABOUT, first.grades, form, list(subjects.values()), RULES)


def _choices(asked: JudgedItem) -> list[Choice]:
    meant = asked.rules["grades"]
    meanings: Mapping[str, str] = meant if isinstance(meant, dict) else {}
    return [
        Choice(value=word, label=word, about=meanings.get(word, ""), key=key)
        for word, key in zip(asked.grades, KEYS, strict=False)
    ]


def _subject(asked: JudgedItem, doc_id: str) -> PassageTask:
    query = asked.query
    meant = asked.rules.get("intent", {})
    intent = query.get("intent", "")
    facts = {
        "Intent": f"{intent}: {meant[intent]}" if intent in meant else intent,
        "Expected": "\n".join(query.get("expected", [])),
    }
    blocks = [
        TextBlock(role="question", title="Query", text=query["text"]),
        TextBlock(role="response", title="Passage", text=asked.passages[doc_id]),
        *(TextBlock(role="fact", title=title, text=text) for title, text in facts.items() if text),
    ]
    return PassageTask(asked.item.item_id, doc_id, asked.label, asked.passages[doc_id], blocks)
