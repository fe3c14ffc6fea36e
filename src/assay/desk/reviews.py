"""Makes the work of raters at the desk: judging relevance, or grading what a model judge graded.

A relevance review asks first about the passages that matter most for the decision. This order reveals
something: near its end are more passages of the arm that is ahead. So the order is cut into batches, and the
passages within a batch have the blind order of the review forms.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from assay.core.errors import UsageError, did_you_mean
from assay.core.protocols import PayingJudge, PersonJudge
from assay.core.registry import REVIEWS
from assay.judges.labels import text_with_query
from assay.measures.marks import FALSE_POSITIVE, GRADES, KEYWORD_MATCH, REVIEW, SEMANTIC_MATCH
from assay.pipeline.evaluation import Evaluation
from assay.pipeline.plugins import named_plugins_for
from assay.pipeline.reviewing import (
    compared_arms,
    graded_by_models,
    mark_thresholds,
    reviews_for,
    shared_corpus,
    stored_grades,
    stored_marks,
)
from assay.pipeline.runner import command_path
from assay.review.export import blind_forms
from assay.review.forms import FormRow, ReviewForm
from assay.review.judged_items import ITEMS, JudgedItem, drawn
from assay.review.marks import run_book
from assay.review.order import decisive_order
from assay.review.passage_work import GradingStep, PassageTask, PassageWork
from assay.review.work import Choice, DeskWork, Rule, StepForm, TextBlock
from assay.study.study import Study

BATCH = 20  # passages of a batch; their order does not show which is more important
NOTE_LABEL = "Why, where it was hard to say"
BY_TEXT = Rule(title="By its text", text="Judge what the passage says, not where it may come from.")

RELEVANCE_ABOUT = "Say of each passage whether it answers the query, by its text only."
RELEVANCE_CHOICES = [
    Choice(
        value=SEMANTIC_MATCH,
        label="Relevant",
        about="It answers the query, although no rule finds it.",
        key="1",
    ),
    Choice(value=FALSE_POSITIVE, label="Not relevant", about="It does not answer the query.", key="2"),
    Choice(
        value=KEYWORD_MATCH,
        label="Relevant by keywords",
        about="It answers the query, and a rule should have found it by its words.",
        key="3",
    ),
]
RELEVANCE_RULES = [
    BY_TEXT,
    Rule(
        title="Each on its own",
        text="Any number of passages of a query may be relevant: all of them or none.",
    ),
    Rule(
        title="In doubt", text="Decide for the more likely of the two, and say in the note what made it hard."
    ),
]

GRADING_ABOUT = "Grade each passage for its query and intent, by its text only."
GRADING_RULES = [
    BY_TEXT,
    Rule(
        title="What is expected",
        text="It shows the kind of text that is wanted. A passage may be as good without it.",
    ),
]
KEYS = "1234567890abcdefghijklmnopqrstuvwxyz"


def find_work(study: Study, what: str | None, raters: Sequence[str], *, accepted_by: str = "") -> DeskWork:
    """Finds the work that a study has for people: the work named `what`, or the first one."""
    offered, known = reviews_for(study), study.registry.names(REVIEWS)
    if what is None:
        if not offered:
            why = " and ".join(each.absent for each in named_plugins_for(study, REVIEWS).values())
            raise UsageError(f"This study asks people for nothing: {why}.")
        what = next(iter(offered))
    if what not in known:
        raise UsageError(f"The desk does not know {what!r}. {did_you_mean(what, known)}")
    if what not in offered:
        has = f"It has {' and '.join(offered)}." if offered else ""
        raise UsageError(f"This study has no {what} to review. {has}")
    return offered[what].work(study, raters, accepted_by)


def desk_folder(study: Study) -> Path:
    """Returns the folder in which the desk keeps its secret and the used links. It holds no marks."""
    return study.folder / "desk"


def _raters(study: Study, named: Sequence[str]) -> list[str]:
    """Returns the raters that are named, or else the raters whose marks the study counts."""
    people = [judge for judge in study.judges if isinstance(judge, PersonJudge)]
    raters = list(named) or [name for judge in people for name in judge.raters]
    if not raters:
        raise UsageError("The study names no rater. Say who will judge: --rater NAME.")
    return raters


def _blocks(query: str, passage: str, facts: Mapping[str, str]) -> list[TextBlock]:
    """Returns the blocks on the screen: the query, the passage and other facts."""
    return [
        TextBlock(role="question", title="Query", text=query),
        TextBlock(role="response", title="Passage", text=passage),
        *(TextBlock(role="fact", title=title, text=text) for title, text in facts.items() if text),
    ]


# ----------------------------------------------------------------------------------- relevance


@dataclass(frozen=True)
class RelevanceReview:
    """Asks people which passages are relevant where rules cannot decide it."""

    absent: ClassVar[str] = "no item carries the tag review=yes"

    def asked(self, study: Study) -> bool:
        """Whether any item wants a review."""
        return any(
            "yes" in item.values("review") for arm in study.arms[:1] for item in study.dataset(arm).items
        )

    def work(self, study: Study, raters: Sequence[str], accepted_by: str = "") -> DeskWork:
        return RelevanceWork(study, _raters(study, raters))


class RelevanceWork(PassageWork):
    """The work of judging the relevance of a study's passages."""

    def __init__(
        self,
        study: Study,
        raters: Sequence[str],
        *,
        first: int | None = None,
        decisive: bool = True,
        seed: int = 0,
    ) -> None:
        """If `first` is given, the work has only that many passages, the most decisive ones.

        If `decisive` is False, the passages come in the blind order of the forms.
        """
        evaluation = Evaluation(study)
        if not evaluation.reviewing.pool.items:
            raise UsageError(
                "No item of this study asks for a review. Give such items the tag review=yes; "
                f"see what else there is to review with: assay review status {command_path(study)}"
            )
        tasks = [
            _relevance_task(form, row)
            for batch in _batches(evaluation, first, decisive, seed)
            for form in batch
            for row in form.rows
        ]
        if not tasks:
            raise UsageError("There is nothing to review: the rules already decide every returned passage.")
        form = StepForm(choices=RELEVANCE_CHOICES, note_label=NOTE_LABEL)
        step = GradingStep("relevance", "Relevance", RELEVANCE_ABOUT, GRADES, form, tasks, RELEVANCE_RULES)
        book, earlier = run_book(evaluation.store), stored_marks(evaluation)
        super().__init__(book, study.name, RELEVANCE_ABOUT, [step], raters, earlier, study.kit.clock)


def _batches(
    evaluation: Evaluation, first: int | None, decisive: bool, seed: int
) -> Iterator[Sequence[ReviewForm]]:
    """Yields batches of the passages that nobody has judged, and at the end the judged passages.

    With `first`, the judged passages are left out.
    """
    pool, corpus = evaluation.reviewing.pool, shared_corpus(evaluation)
    waiting = pool.open
    if decisive or first is not None:
        waiting = decisive_order(pool, compared_arms(evaluation), seed, mark_thresholds(evaluation))[:first]
    size = BATCH if decisive else max(len(waiting), 1)
    judged = [each for each in pool.candidates if each.by_person and first is None]
    batches = [waiting[start : start + size] for start in range(0, len(waiting), size)]
    for batch in [*batches, judged]:
        yield blind_forms(pool, corpus, only={each.key for each in batch}, seed=seed)


def _relevance_task(form: ReviewForm, row: FormRow) -> PassageTask:
    facts = {
        "Category": form.category,
        **{
            fact.title: fact.value if isinstance(fact.value, str) else ", ".join(fact.value)
            for fact in form.facts
            if fact.title
        },
        "From": " · ".join(part for part in (row.document, row.section) if part),
    }
    shown = text_with_query(form.text, row.text)
    return PassageTask(form.item_id, row.doc_id, REVIEW, shown, _blocks(form.text, row.text, facts))


# ------------------------------------------------------------------------------------- grading


@dataclass(frozen=True)
class GradingReview:
    """Asks people to grade what a model judge graded, without showing its grades."""

    absent: ClassVar[str] = "no model judges anything"

    def asked(self, study: Study) -> bool:
        """Whether the study lists a judge that costs money."""
        return any(isinstance(judge, PayingJudge) for judge in study.judges)

    def work(self, study: Study, raters: Sequence[str], accepted_by: str = "") -> DeskWork:
        return GradingWork(study, _raters(study, raters))


class GradingWork(PassageWork):
    """The work of grading what a paying judge graded, for items drawn at random."""

    def __init__(self, study: Study, raters: Sequence[str], *, items: int = ITEMS, seed: int = 0) -> None:
        evaluation = Evaluation(study)
        judged = drawn(graded_by_models(evaluation), items, seed)
        if not judged:
            raise UsageError(
                "No paying judge of this study has judged anything yet. List one, such as llm, and run: "
                f"assay run {command_path(study)}"
            )
        labels = dict.fromkeys(each.label for each in judged)
        steps = [_grading_step([each for each in judged if each.label == label], seed) for label in labels]
        book, earlier = run_book(evaluation.store), stored_grades(evaluation)
        super().__init__(book, study.name, GRADING_ABOUT, steps, raters, earlier, study.kit.clock)


def _grading_step(judged: Sequence[JudgedItem], seed: int) -> GradingStep:
    """Returns the pass for one label. A passage that two judges graded is asked for once."""
    first = judged[0]
    if other := next((each for each in judged if each.grades != first.grades), None):
        raise UsageError(
            f"{first.judge} and {other.judge} grade {first.label} in different words, and people can use one "
            "scale at a time. Export forms instead, with: assay review export --verdicts"
        )
    tasks: dict[str, PassageTask] = {}
    for each in judged:
        for doc_id in each.order(seed):
            task = _grading_task(each, doc_id)
            tasks.setdefault(task.task_id, task)
    meant = first.rules["grades"]
    meanings: Mapping[str, str] = meant if isinstance(meant, dict) else {}
    choices = [
        Choice(value=word, label=word, about=meanings.get(word, ""), key=key)
        for word, key in zip(first.grades, KEYS, strict=False)
    ]
    title = first.label.replace("_", " ").capitalize()
    form = StepForm(choices=choices, note_label=NOTE_LABEL)
    return GradingStep(
        first.label, title, GRADING_ABOUT, first.grades, form, list(tasks.values()), GRADING_RULES
    )


def _grading_task(judged: JudgedItem, doc_id: str) -> PassageTask:
    query, text = judged.query, judged.passages[doc_id]
    meant = judged.rules.get("intent", {})
    intent = query.get("intent", "")
    facts = {
        "Intent": f"{intent}: {meant[intent]}" if intent in meant else intent,
        "Expected": "\n".join(query.get("expected", [])),
    }
    return PassageTask(judged.item.item_id, doc_id, judged.label, text, _blocks(query["text"], text, facts))
