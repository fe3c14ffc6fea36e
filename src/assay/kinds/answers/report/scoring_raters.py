"""How far a blinded scoring can be relied on: agreement, suggestions, progress, blinding."""

from __future__ import annotations

from collections.abc import Iterator

from assay.core.results import GO, INCONCLUSIVE, NO_GO
from assay.core.section import BlockGroup, SectionBlock, Table, TableCell, TableColumn, Text
from assay.kinds.answers import wording as words
from assay.kinds.answers.results import RaterAgreement, ScoringResults
from assay.report import wording as say

_OUTCOMES = {True: GO, False: NO_GO, None: INCONCLUSIVE}
ASK_AGAIN = "Name another rater under others of the panel, or score a part again: assay review serve STUDY"


def agreement_blocks(scoring: ScoringResults) -> Iterator[SectionBlock]:
    if not scoring.agreement:
        if scoring.tests:
            yield Text(
                ["No second scores are there, so nothing is known of agreement.", ASK_AGAIN],
                "empty",
            )
        return
    columns = [
        TableColumn("Metric", figure=False),
        TableColumn("Raters", figure=False),
        TableColumn("Outcome", figure=False),
        TableColumn("Value [95 %]", drawn="margin", picture="Against the threshold; shaded: enough"),
        TableColumn("n"),
        TableColumn("Equal"),
    ]
    about = "What has a threshold has to reach it before any effect counts; the rest informs."
    table = Table(
        columns, [_agreed(one) for one in scoring.agreement], about=about, name="Agreement of raters"
    )
    yield BlockGroup(words.agreement_answer(scoring.agreement), [table])


def _agreed(one: RaterAgreement) -> list[TableCell]:
    outcome = None if one.threshold is None else _OUTCOMES[one.holds]
    return [
        TableCell(words.agreement_name(one), one.note),
        TableCell(" and ".join(one.raters)),
        TableCell(words.agreement_state(one), outcome=outcome),
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


def rater_blocks(scoring: ScoringResults) -> Iterator[SectionBlock]:
    """What raters marked alike, what was suggested to them, how far they are, and how it was blinded."""
    yield from _matched(scoring)
    yield from _suggestions(scoring)
    yield from _progress(scoring)
    yield from _blinding(scoring)


def _matched(scoring: ScoringResults) -> Iterator[SectionBlock]:
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
        "A person confirmed every score. A rater who saw a suggestion may have followed it: seen counts "
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
            TableCell(words.suggestion_share(one), value=one.equal),
            TableCell(say.number(one.kappa), value=one.kappa),
            TableCell(str(one.n)),
            TableCell(str(one.seen)),
        ]
        for one in scoring.suggestions
    ]
    table = Table(columns, rows, about=about, name="Suggestions")
    yield BlockGroup("How often did people say what was suggested?", [table])


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
    columns = [
        TableColumn("Rater", figure=False),
        *(TableColumn(step.capitalize()) for step in steps),
    ]
    title = "Every pass is complete" if complete else "How far are the raters?"
    yield BlockGroup(title, [Table(columns, rows, name="Scores made")], folds=True, opened=not complete)


def _blinding(scoring: ScoringResults) -> Iterator[SectionBlock]:
    if not (scoring.acts or scoring.masked):
        return
    masked = ", ".join(f"{rule} {count}×" for rule, count in scoring.masked.items())
    about = (
        f"Words that would betray a condition, masked: {masked}." if masked else "No word had to be masked."
    )
    acts = [Text(scoring.acts, "list")] if scoring.acts else []
    yield BlockGroup("How was it blinded?", [Text([about], "quiet"), *acts])
