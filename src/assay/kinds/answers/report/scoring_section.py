"""A blinded scoring as a section: agreement, differences over all and in parts, tokens, blinding."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assay.core.records import Arm
from assay.core.section import Section, Table, TableCell, TableColumn, Text
from assay.kinds.answers import wording as words
from assay.kinds.answers.panel import MODEL
from assay.kinds.answers.report.scoring_effects import effect_blocks
from assay.kinds.answers.report.scoring_raters import agreement_blocks, rater_blocks
from assay.kinds.answers.results import ScoringResults
from assay.kinds.answers.scoring.analysis import MEASURES
from assay.kinds.answers.scoring_steps.summary import summarise_scoring
from assay.pipeline.evaluation import Evaluation
from assay.report import wording as say

WHOLE_ARMS = {"primary", "secondary", "size", "model"}  # families that look at all questions, one by one


@dataclass(frozen=True)
class BlindedScoring:
    """What people scored without knowing whose it was."""

    def of(self, evaluation: Evaluation) -> Section | None:
        scoring = summarise_scoring(evaluation)
        return None if scoring is None else scoring_section(scoring)


def scoring_section(scoring: ScoringResults) -> Section:
    """Everything that may be seen now."""
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
            *agreement_blocks(scoring),
            *effect_blocks(scoring),
            *rater_blocks(scoring),
        ],
        brief=list(_brief(scoring, state)),
        alarm=words.FORCED_TOLD if scoring.state == words.FORCED else "",
        cautions=scoring.cautions,
        tested=list(_tested(scoring)),
        data=scoring,
    )


def _tested(scoring: ScoringResults) -> Iterator[tuple[str, str]]:
    """The measures and arms whose overall difference is among the tests: those of one model."""
    for one in scoring.tests:
        if one.test and one.only_model is not None and one.family in WHOLE_ARMS:
            yield MEASURES[one.metric], Arm(scoring.b, {MODEL: one.only_model} if one.only_model else {}).name


def _lead(scoring: ScoringResults) -> str:
    others = scoring.others
    second = (
        f"{say.name_list(others)} {'score' if len(others) > 1 else 'scores'} a drawn part"
        if others
        else "and a drawn part again"
    )
    lead = f"{say.quantity(scoring.responses, 'response')}. {scoring.primary} scores them all"
    lead += f"; {second}." if others else f", {second}."
    if scoring.tests:
        lead += f" Differences are {scoring.b} minus {scoring.a}, on the same question and model."
    if any(scoring.excluded.values()):
        counts = ", ".join(f"{name} {count}" for name, count in scoring.excluded.items())
        lead += f" Failed and never scored: {counts}."
    return lead


def _brief(scoring: ScoringResults, state: list[str]) -> Iterator[Table | Text]:
    """Where it stands, agreement that has a threshold, and the primary and secondary tests."""
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
