"""The rubric, a pack and a rater's marks as the desk shows them."""

from __future__ import annotations

from collections.abc import Sequence

from assay.kinds.answers.blinding.pack import BlindedResponse, BlindPack
from assay.kinds.answers.scoring.guidance import EXAMPLES, boundary_rule, guidance_for
from assay.kinds.answers.scoring.ledger import MarkIndex
from assay.kinds.answers.scoring.marks import Claim, Mark, RaterPrecedent
from assay.kinds.answers.scoring.precedents import GIVEN, Precedent
from assay.kinds.answers.scoring.progress import PassState
from assay.kinds.answers.scoring.rubric import ACCURACY, NONE_FOUND, RubricOption, RubricStep, step_of
from assay.kinds.answers.scoring.rules import DraftMark
from assay.review.work import (
    Choice,
    Draft,
    Flag,
    MarkView,
    PrecedentView,
    Rule,
    SpanClaim,
    StepForm,
    StepState,
    TextBlock,
)

NO_SOURCE = "None is known, so there is no source to compare the response with. Go by the reference answer."


def form(step: RubricStep) -> StepForm:
    """What a pass asks for."""
    return StepForm(
        choices=_choices(step.grades),
        categories=_choices(step.categories),
        flags=[
            Flag(
                name=flag.name,
                label=flag.label,
                key=flag.key,
                forces=flag.forces,
                no_claims=flag.name == NONE_FOUND,
            )
            for flag in step.flags
        ],
        note_needed_for=sorted(step.note_needed),
        note_label=step.note_label,
    )


def _choices(options: Sequence[RubricOption]) -> list[Choice]:
    return [Choice(value=each.value, label=each.label, about=each.about, key=each.key) for each in options]


def rules(step: RubricStep, ledger: MarkIndex) -> list[Rule]:
    """What to go by in a pass: categories, rules, boundaries, worked examples, then precedents."""
    meant = [Rule(title=f"{each.value}: {each.label}", text=each.about) for each in step.categories]
    told = [
        Rule(title=_titled(each.title, each.complexity), text=each.text) for each in guidance_for(step.name)
    ]
    shown = EXAMPLES if step.name == ACCURACY else ()
    worked = [Rule(title=_titled("Worked example", each.complexity), text=each.text) for each in shown]
    set_before: list[Precedent | RaterPrecedent] = [each for each in GIVEN if step.name in each.steps]
    set_since: list[Precedent | RaterPrecedent] = [
        case for case in ledger.cases.values() if case.step == step.name
    ]
    decided = [
        Rule(title=f"{each.case_id}: {each.situation}", text=each.decision)
        for each in [*set_before, *set_since]
    ]
    return [*meant, *told, *worked, *decided]


def _titled(title: str, complexity: str) -> str:
    return f"{title} ({complexity})" if complexity else title


def blocks(pack: BlindPack, step: RubricStep, response: BlindedResponse) -> list[TextBlock]:
    """One response's screen. Nothing here says how long its content was, or who wrote it."""
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
        turns_on = boundary_rule(step.name, asked.complexity)
        text = f"{asked.complexity}. {turns_on}" if turns_on else asked.complexity
        found.append(TextBlock(role="fact", title="Complexity", text=text))
    if asked.sections:
        found.append(TextBlock(role="fact", title="Source sections", text="\n".join(asked.sections)))
    return found


def mark_view(mark: Mark | None) -> MarkView | None:
    """A mark as its rater sees it."""
    if mark is None:
        return None
    told = DraftMark() if mark.withdrawn else DraftMark.of(step_of(mark.step), mark)
    return MarkView(
        mark_id=mark.mark_id,
        choice=told.choice,
        note=mark.note,
        spans=[
            SpanClaim(
                category=each.category, start=each.start, end=each.end, claim=each.claim, note=each.note
            )
            for each in mark.claims
        ],
        flags=list(told.flags),
        time=mark.time,
        withdrawn=mark.withdrawn,
        case=mark.case,
    )


def draft_mark(draft: Draft) -> DraftMark:
    """What a draft says."""
    claims = [Claim(span.category, span.start, span.end, span.claim, span.note) for span in draft.spans]
    return DraftMark(draft.choice, draft.note, claims, draft.flags)


def step_state(state: PassState) -> StepState:
    """How far a rater is with a pass."""
    return StepState(
        step=state.of.name,
        title=state.of.title,
        state=state.state,
        why=state.why,
        total=state.total,
        done=state.done,
        queued=state.queued,
    )


def precedent_register(ledger: MarkIndex, rater: str) -> list[PrecedentView]:
    """All precedents. Who set one, and over which response, is nobody's business."""
    given = [
        PrecedentView(
            case_id=each.case_id,
            situation=each.situation,
            decision=each.decision,
            rationale=each.rationale,
        )
        for each in GIVEN
    ]
    own = [
        PrecedentView(
            case_id=case.case_id,
            situation=case.situation,
            decision=case.decision,
            rationale=case.rationale,
            step=case.step,
            to_look_at=ledger.to_look_at(case, rater),
        )
        for case in ledger.cases.values()
    ]
    return [*given, *own]
