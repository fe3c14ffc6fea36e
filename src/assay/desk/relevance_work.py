"""Relevance review at the desk: the passages that rules alone cannot judge, the most decisive first.

An order by decisiveness gives something away: near its end stand more passages of the arm that leads. So it
is cut into batches, and within a batch passages stand in the blind order of the forms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from assay.core.errors import UsageError
from assay.desk.desk_work import raters_of
from assay.judges.labels import text_with_query
from assay.measures.semantic import FALSE_POSITIVE, GRADES, KEYWORD_MATCH, REVIEW, SEMANTIC_MATCH
from assay.pipeline.evaluation import Evaluation
from assay.pipeline.reviewing import compared_arms, mark_thresholds, shared_corpus, stored_marks
from assay.pipeline.runner import command_path
from assay.review.book import run_book
from assay.review.export import blind_forms
from assay.review.forms import FormRow, ReviewForm
from assay.review.messages import Choice, Rule, TextBlock
from assay.review.messages import StepForm as Asks
from assay.review.order import decisive_order
from assay.review.passage_work import PassageWork
from assay.review.passages import GradingStep, GradingSteps, PassageTask
from assay.review.pool import Candidate
from assay.review.work import DeskWork
from assay.study.study import Study

STEP = "relevance"
BATCH = 20  # passages between which no order of decisiveness shows
ABOUT = "Say of each passage whether it answers the query, by its text alone."
CHOICES = [
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
RULES = [
    Rule(title="By its text", text="Judge what the passage says, not where it may come from."),
    Rule(
        title="Each for itself", text="How many passages of a query are relevant is not fixed: all or none."
    ),
    Rule(
        title="In doubt", text="Decide for the more likely of the two, and say in the note what made it hard."
    ),
]


@dataclass(frozen=True)
class RelevanceReview:
    """Asks people which passages are relevant that rules alone cannot judge."""

    absent: ClassVar[str] = "no item carries the tag review=yes"

    def asked(self, study: Study) -> bool:
        """Whether any item wants a review."""
        return any(
            "yes" in item.values("review") for arm in study.arms[:1] for item in study.dataset(arm).items
        )

    def work(self, study: Study, raters: Sequence[str], accepted_by: str = "") -> DeskWork:
        return RelevanceWork(study, raters_of(study, raters))


class RelevanceWork(PassageWork):
    """The open passages of a study's review."""

    def __init__(
        self,
        study: Study,
        raters: Sequence[str],
        *,
        first: int | None = None,
        decisive: bool = True,
        seed: int = 0,
    ) -> None:
        """`first` asks for so many alone, the most decisive; not `decisive`: in the blind order of forms."""
        evaluation = Evaluation(study)
        if not evaluation.reviewing.pool.items:
            raise UsageError(
                "No item of this study wants a review. Items that do carry the tag review=yes; "
                f"see what else there is to review with: assay review status {command_path(study)}"
            )
        forms = [form for batch in _batches(evaluation, first, decisive, seed) for form in batch]
        subjects = [_subject(form, row) for form in forms for row in form.rows]
        if not subjects:
            raise UsageError("There is nothing to review: rules decide on every passage that came back.")
        asks = Asks(choices=CHOICES, note_label="Why, where it was hard to say")
        step = GradingStep(STEP, "Relevance", ABOUT, GRADES, asks, subjects, RULES)
        asked = GradingSteps(study.name, ABOUT, [step])
        super().__init__(run_book(evaluation.store), asked, raters, stored_marks(evaluation), study.kit.clock)


def _batches(
    evaluation: Evaluation, first: int | None, decisive: bool, seed: int
) -> Iterator[Sequence[ReviewForm]]:
    """What nobody judged, batch by batch; then, for whoever has not judged it, what somebody did."""
    pool, corpus = evaluation.reviewing.pool, shared_corpus(evaluation)
    waiting: Sequence[Candidate] = pool.open
    if decisive or first is not None:
        waiting = decisive_order(pool, compared_arms(evaluation), seed, mark_thresholds(evaluation))[:first]
    size = BATCH if decisive else max(len(waiting), 1)
    judged = [each for each in pool.candidates if each.by_person and first is None]
    cut = [waiting[start : start + size] for start in range(0, len(waiting), size)]
    for batch in [*cut, judged]:
        yield blind_forms(pool, corpus, only={each.key for each in batch}, seed=seed)


def _subject(form: ReviewForm, row: FormRow) -> PassageTask:
    facts = {
        "Category": form.category,
        **{
            fact.title: fact.value if isinstance(fact.value, str) else ", ".join(fact.value)
            for fact in form.facts
            if fact.title
        },
        "From": " · ".join(part for part in (row.document, row.section) if part),
    }
    blocks = [
        TextBlock(role="question", title="Query", text=form.text),
        TextBlock(role="response", title="Passage", text=row.text),
        *(TextBlock(role="fact", title=title, text=text) for title, text in facts.items() if text),
    ]
    return PassageTask(form.item_id, row.doc_id, REVIEW, text_with_query(form.text, row.text), blocks)
