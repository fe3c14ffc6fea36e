"""The report section on a blinded scoring, with agreement, suggestions, progress and blinding."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assay.core.records import Arm
from assay.core.results import GO, INCONCLUSIVE, NO_GO
from assay.core.section import BlockGroup, Section, SectionBlock, Table, TableCell, TableColumn, Text
from assay.kinds.answers import wording as words
from assay.kinds.answers.panel import MODEL
from assay.kinds.answers.report.scoring_effects import effect_blocks
from assay.kinds.answers.results import RaterAgreement, ScoringResults, metric_of
from assay.kinds.answers.scoring_steps.summary import summarise_scoring
from assay.pipeline.evaluation import Evaluation
from assay.report import wording as say

WHOLE_ARMS = {"primary", "secondary", "size", "model"}  # families that test all questions of some models
ASK_AGAIN = "Name another rater under others of the panel, or score a part again: assay review serve STUDY"
_OUTCOMES = {True: GO, False: NO_GO, None: INCONCLUSIVE}


@dataclass(frozen=True)
class BlindedScoring:
    """The report section on the responses that people scored without knowing their condition."""

    def of(self, evaluation: Evaluation) -> Section | None:
        """Returns the section; None if the study has no panel."""
        scoring = summarise_scoring(evaluation)
        return None if scoring is None else scoring_section(scoring)


def scoring_section(scoring: ScoringResults) -> Section:
    """Returns the section with everything that may be seen now."""
    state = [] if scoring.state == words.FORCED else words.state_lines(scoring)
    return Section(
        key="scoring",
        name="Scoring",
        title="What did blinded scoring find?",
        lead=_lead(scoring),
        place="systems",
        blocks=[
            *([Text(state, "empty")] if state else []),
            *([Text(scoring.cautions, "list")] if scoring.cautions else []),
            *_agreement(scoring),
            *effect_blocks(scoring),
            *_shared_claims(scoring),
            *_suggestions(scoring),
            *_progress(scoring),
            *_blinding(scoring),
        ],
        brief=list(_brief(scoring, state)),
        alarm=words.FORCED_WARNING if scoring.state == words.FORCED else "",
        cautions=scoring.cautions,
        tested=list(_tested(scoring)),
        data=scoring,
    )


def _tested(scoring: ScoringResults) -> Iterator[tuple[str, str]]:
    """Yields the measure and the arm of each test over all questions of one model."""
    for one in scoring.tests:
        if one.test and one.only_model is not None and one.family in WHOLE_ARMS:
            arm = Arm(scoring.b, {MODEL: one.only_model} if one.only_model else {})
            yield metric_of(one.metric).measure, arm.name


def _lead(scoring: ScoringResults) -> str:
    others = scoring.others
    verb = "score" if len(others) > 1 else "scores"
    second = f"; {say.name_list(others)} {verb} a drawn part" if others else ", and a drawn part again"
    lead = f"{say.quantity(scoring.responses, 'response')}. {scoring.primary} scores them all{second}."
    if scoring.tests:
        lead += f" Differences are {scoring.b} minus {scoring.a}, on the same question and model."
    if any(scoring.excluded.values()):
        counts = ", ".join(f"{name} {count}" for name, count in scoring.excluded.items())
        lead += f" Failed and never scored: {counts}."
    return lead


def _brief(scoring: ScoringResults, state: list[str]) -> Iterator[Table | Text]:
    """Yields the state, the agreement with a threshold, cautions, and the primary and secondary tests."""
    if state:
        yield Text(state, "empty")
    if agreement := words.agreement_lines(scoring):
        yield Text([f"agreement: {line}" for line in agreement], "list")
    if scoring.cautions:
        yield Text([f"caution: {line}" for line in scoring.cautions], "caution")
    header, rows = words.short_table(scoring)
    if rows:
        columns = [TableColumn(head, figure=head not in {"metric", "effect"}) for head in header]
        yield Table(columns, [[TableCell(cell) for cell in row] for row in rows])


# ------------------------------------------------------------------------------------- raters


def _agreement(scoring: ScoringResults) -> Iterator[SectionBlock]:
    if not scoring.agreement:
        if scoring.tests:
            none = "There are no second marks, so nothing is known of agreement."
            yield Text([none, ASK_AGAIN], "empty")
        return
    columns = [
        TableColumn("Metric", figure=False),
        TableColumn("Raters", figure=False),
        TableColumn("Outcome", figure=False),
        TableColumn("Value [95 %]", drawn="margin", picture="Against the threshold; shaded: enough"),
        TableColumn("n"),
        TableColumn("Equal"),
    ]
    about = "If there is a threshold, agreement has to reach it before any effect counts; the rest informs."
    rows = [_agreement_row(one) for one in scoring.agreement]
    table = Table(columns, rows, about=about, name="Agreement of raters")
    yield BlockGroup(words.agreement_answer(scoring.agreement), [table])


def _agreement_row(one: RaterAgreement) -> list[TableCell]:
    return [
        TableCell(words.agreement_name(one), one.note),
        TableCell(" and ".join(one.raters)),
        TableCell(
            words.agreement_state(one), outcome=None if one.threshold is None else _OUTCOMES[one.holds]
        ),
        TableCell(
            say.with_interval(one.value, one.low, one.high),
            value=one.value,
            low=one.low,
            high=one.high,
            threshold=one.threshold,
        ),
        TableCell(str(one.n)),
        TableCell(say.number(one.equal), value=one.equal),
    ]


def _shared_claims(scoring: ScoringResults) -> Iterator[SectionBlock]:
    """Yields how many hallucinations two raters marked alike, with their categories."""
    for one in scoring.matched:
        first, second = one.raters
        plural = "" if one.both == 1 else "s"
        about = (
            f"Matched by the text they mark. Unmatched: {one.only_first} only by {first}, "
            f"{one.only_second} only by {second}."
        )
        blocks: list[SectionBlock] = [Text([about], "quiet")]
        if one.categories:
            others = list(dict.fromkeys(code for counts in one.categories.values() for code in counts))
            head = TableColumn(f"{first}, down; {second}, across", figure=False)
            rows = [
                [
                    TableCell(words.category_name(code)),
                    *(TableCell(str(counts.get(other, 0)), strong=other == code) for other in others),
                ]
                for code, counts in one.categories.items()
            ]
            name = f"Categories of {first} and {second}"
            blocks.append(Table([head, *map(TableColumn, others)], rows, name=name))
        yield BlockGroup(f"{first} and {second} marked {one.both} hallucination{plural} alike", blocks)


def _suggestions(scoring: ScoringResults) -> Iterator[SectionBlock]:
    if not scoring.suggestions:
        return
    about = (
        "A person made every mark. A rater who saw a suggestion may have followed it: the last column counts "
        "those."
    )
    columns = [
        TableColumn("Pass", figure=False),
        TableColumn("Suggested by", figure=False),
        *map(TableColumn, ("Same", "kappa", "n", "Seen")),
    ]
    rows = [
        [
            TableCell(one.step.capitalize()),
            TableCell(one.by),
            TableCell(say.NOTHING if one.equal is None else f"{100 * one.equal:.0f} %", value=one.equal),
            TableCell(say.number(one.kappa), value=one.kappa),
            TableCell(str(one.n)),
            TableCell(str(one.seen)),
        ]
        for one in scoring.suggestions
    ]
    table = Table(columns, rows, about=about, name="Suggestions")
    yield BlockGroup("How often were marks as suggested?", [table])


def _progress(scoring: ScoringResults) -> Iterator[SectionBlock]:
    if not scoring.progress:
        return
    done, of = words.made_and_all(scoring)
    complete = done == of and of > 0
    steps = list(dict.fromkeys(step for passes in scoring.progress.values() for step in passes))
    rows = [
        [
            TableCell(rater),
            *(
                TableCell(f"{passes[step][0]} of {passes[step][1]}" if step in passes else say.NOTHING)
                for step in steps
            ),
        ]
        for rater, passes in scoring.progress.items()
    ]
    columns = [TableColumn("Rater", figure=False), *(TableColumn(step.capitalize()) for step in steps)]
    title = "Every pass is complete" if complete else "How far are the raters?"
    yield BlockGroup(title, [Table(columns, rows, name="Marks made")], folds=True, opened=not complete)


def _blinding(scoring: ScoringResults) -> Iterator[SectionBlock]:
    if not (scoring.acts or scoring.masked):
        return
    masked = ", ".join(f"{rule} {count}×" for rule, count in scoring.masked.items())
    about = f"Words that would give a condition away, masked: {masked}." if masked else "No word was masked."
    acts = [Text(scoring.acts, "list")] if scoring.acts else []
    yield BlockGroup("How was it blinded?", [Text([about], "quiet"), *acts])
