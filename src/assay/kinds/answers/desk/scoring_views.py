"""Converts the rubric, a pack and a rater's marks into what the desk shows."""

from __future__ import annotations

from assay.kinds.answers.blinding.pack import BlindedResponse, BlindPack
from assay.kinds.answers.scoring.drafts import draft_of
from assay.kinds.answers.scoring.marks import Mark, RaterPrecedent
from assay.kinds.answers.scoring.progress import MarkIndex, PassState
from assay.kinds.answers.scoring.rubric import (
    ACCURACY,
    Precedent,
    RubricStep,
    rubric,
    step_of,
)
from assay.review.work import (
    MarkView,
    PrecedentView,
    Rule,
    StepForm,
    StepState,
    TextBlock,
)

NO_SOURCE = "None is known, so there is no source to compare the response with. Go by the reference answer."


def form(step: RubricStep) -> StepForm:
    """Returns the input form of a pass."""
    return StepForm(
        choices=list(step.grades),
        categories=list(step.categories),
        flags=list(step.flags),
        note_needed_for=sorted(step.note_needed),
        note_label=step.note_label,
    )


def rules(step: RubricStep, index: MarkIndex) -> list[Rule]:
    """Returns the rules of a pass: categories, guidance, worked examples, then precedents."""
    categories = [Rule(title=f"{each.value}: {each.label}", text=each.about) for each in step.categories]
    general = [
        Rule(title=_with_complexity(each.title, each.complexity), text=each.text) for each in step.guidance
    ]
    worked = [
        Rule(title=_with_complexity("Worked example", each.complexity), text=each.text)
        for each in (rubric().examples if step.name == ACCURACY else ())
    ]
    precedents: list[Precedent | RaterPrecedent] = [
        *(each for each in rubric().precedents if step.name in each.steps),
        *(case for case in index.cases.values() if case.step == step.name),
    ]
    decided = [Rule(title=f"{each.case_id}: {each.situation}", text=each.decision) for each in precedents]
    return [*categories, *general, *worked, *decided]


def _with_complexity(title: str, complexity: str) -> str:
    return f"{title} ({complexity})" if complexity else title


def blocks(pack: BlindPack, step: RubricStep, response: BlindedResponse) -> list[TextBlock]:
    """Returns the texts of one task. No text reveals the length of the content, or who wrote the response."""
    asked, source = pack.questions[response.question_id], pack.sources.get(response.source)
    found = [
        TextBlock(role="question", title="Question", text=asked.text),
        TextBlock(role="response", title="Response", text=response.text, markable=bool(step.categories)),
        TextBlock(role="reference", title="Reference answer", text=asked.gold),
    ]
    if source is not None and source.text.strip():
        found.append(TextBlock(role="source", title=source.title or "Source", text=source.text))
    else:
        found.append(TextBlock(role="fact", title="Source", text=NO_SOURCE))
    if asked.complexity:
        guidance = step.guidance_on(asked.complexity)
        text = f"{asked.complexity}. {guidance}" if guidance else asked.complexity
        found.append(TextBlock(role="fact", title="Complexity", text=text))
    if asked.sections:
        found.append(TextBlock(role="fact", title="Source sections", text="\n".join(asked.sections)))
    return found


def mark_view(mark: Mark) -> MarkView:
    """Returns a mark in the form that its rater sees."""
    draft = draft_of(step_of(mark.step), mark)
    return MarkView(
        mark_id=mark.mark_id,
        choice=None if mark.withdrawn else draft.choice,
        note=mark.note,
        spans=draft.spans,
        flags=[] if mark.withdrawn else draft.flags,
        time=mark.time,
        withdrawn=mark.withdrawn,
        case=mark.case,
    )


def step_state(state: PassState) -> StepState:
    """Returns a rater's progress in a pass."""
    return StepState(
        step=state.pass_.name,
        title=state.pass_.title,
        state=state.state,
        why=state.why,
        total=state.total,
        done=state.done,
        queued=state.queued,
    )


def precedent_register(index: MarkIndex, rater: str) -> list[PrecedentView]:
    """Returns all precedents. An entry does not say who set the precedent, or on which response."""

    def view(case: Precedent | RaterPrecedent) -> PrecedentView:
        own = case if isinstance(case, RaterPrecedent) else None
        return PrecedentView(
            case_id=case.case_id,
            situation=case.situation,
            decision=case.decision,
            rationale=case.rationale,
            step=None if own is None else own.step,
            to_look_at=0 if own is None else index.count_open(own, rater),
        )

    return [*map(view, rubric().precedents), *map(view, index.cases.values())]
