"""The review of a study with a panel: raters score blinded responses in passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from assay.core.errors import UsageError, did_you_mean
from assay.core.section import Table, TableCell, TableColumn, Text
from assay.kinds.answers.panel import find_panel, scoring_folder
from assay.review.work import DeskWork, ReviewResult

if TYPE_CHECKING:
    from assay.kinds.answers.results import RaterAgreement, ScoringResults
    from assay.study.study import Study


@dataclass(frozen=True)
class ScoringReview:
    """Asks the raters of a panel to score responses without knowing the condition of a response."""

    absent: ClassVar[str] = "no judge is a panel"

    def asked(self, study: Study) -> bool:
        """Whether the study has a panel."""
        return find_panel(study) is not None

    def work(self, study: Study, raters: Sequence[str], accepted_by: str = "") -> DeskWork:
        """Opens the scoring at the desk. Refuses an unchecked pack, and leaks that nobody accepted."""
        from assay.kinds.answers.scoring_steps.work import refuse_unchecked, scoring_work

        refuse_unchecked(study, accepted_by)
        work = scoring_work(study)
        if unknown := [name for name in raters if name not in work.raters]:
            what = f"The panel does not list {' and '.join(unknown)}"
            raise UsageError(f"{what}. {did_you_mean(unknown[0], work.raters)}")
        return work

    def export(self, study: Study, folder: Path | None, place: str) -> ReviewResult:
        """Writes the result files that may be seen now."""
        from assay.kinds.answers.scoring_steps.exporting import export_scoring

        paths = [str(path) for path in export_scoring(study, folder)]
        blank = f"conditions, models and sizes stay blank until: assay review unblind {place}"
        notes = [] if scoring_folder(study).is_open else [blank]
        return ReviewResult({"schema": "assay/scoring-export/1", "files": paths}, [Text(paths)], notes)

    def take(self, study: Study, paths: Sequence[Path], place: str) -> ReviewResult:
        """Imports files of marks. If one mark is wrong, no mark is imported."""
        from assay.kinds.answers.scoring_steps.importing import import_marks
        from assay.kinds.answers.scoring_steps.summary import summarise_blinded
        from assay.kinds.answers.wording import disagreement, next_step

        if not paths:
            raise UsageError(f"Name the files of scores: assay review import {place} scores.jsonl")
        found = import_marks(study, paths)
        scoring = None if found.left else summarise_blinded(study)
        data = {
            "schema": "assay/scores-import/1",
            "taken": found.taken,
            "known": found.known,
            "left": found.left,
            "differences": scoring.differences if scoring else [],
        }
        lines = [f"{found.taken} scores taken, {found.known} known before"]
        lines += [f"left: {line}" for line in found.left]
        if scoring is None:
            return ReviewResult(data, [Text(lines)])
        done = f"every pass is complete; next: {next_step(scoring, place)}"
        return ReviewResult(data, [Text([*lines, *disagreement(scoring)])], [done])

    def status(self, study: Study, place: str) -> ReviewResult:
        """Returns how many responses each rater has scored in each pass."""
        from assay.kinds.answers.scoring_steps.summary import summarise_blinded
        from assay.kinds.answers.wording import disagreement

        found = summarise_blinded(study)
        data = {"schema": "assay/scoring/1", "scoring": found, "left": found.left}
        if not scoring_folder(study).has_pack:
            return ReviewResult(data, [_nothing_blinded(place)])
        columns = [
            TableColumn("rater", figure=False),
            TableColumn("pass", figure=False),
            TableColumn("scored"),
        ]
        rows = [
            [TableCell(rater), TableCell(step), TableCell(f"{done} of {total}")]
            for rater, steps in found.progress.items()
            for step, (done, total) in steps.items()
        ]
        lines = [f"{found.responses} responses, {found.state}", *found.left]
        lines += [*([] if found.left else disagreement(found)), *found.cautions]
        return ReviewResult(data, [Table(columns, rows), Text(lines)], _next(found, place))

    def agreement(self, study: Study, place: str) -> ReviewResult:
        """Returns how far the raters agree. This is possible before unblinding, as it needs no condition."""
        from assay.kinds.answers.scoring_steps.summary import summarise_blinded
        from assay.kinds.answers.wording import difference_lines, disagreement, next_step

        found, files = summarise_blinded(study), scoring_folder(study)
        data = {
            "schema": "assay/scoring-agreement/1",
            "agreement": found.agreement,
            "matched": found.matched,
            "suggestions": found.suggestions,
            "differences": found.differences,
        }
        if not files.has_pack:
            return ReviewResult(data, [_nothing_blinded(place)])
        if not any(each.n for each in found.agreement):
            none = "No response was scored twice"
            line = f"{none}." if files.is_open else f"{none} yet: {next_step(found, place)}"
            return ReviewResult(data, [Text([line])])
        lines = [f"{each.metric}, {each.statistic}: {each.note}" for each in found.agreement if each.note]
        for each in found.matched:
            one, other = each.raters
            only = f"{each.only_first} only by {one}, {each.only_second} only by {other}"
            lines.append(f"hallucinations: {each.both} marked by both, {only}")
        for by in found.suggestions:
            if by.equal is not None:
                alike = f"{by.equal * by.n:.0f} of {by.n} {by.step} marks were as suggested by {by.by}"
                lines.append(f"{alike}; {by.seen} of these suggestions had been seen before")
        lines += disagreement(found)
        lines += difference_lines(found, place, most=len(found.differences))
        table = _agreement_table(found.agreement)
        return ReviewResult(data, [table, Text(lines)], _next(found, place))


def _nothing_blinded(place: str) -> Text:
    return Text([f"Nothing is blinded yet: assay review blind {place}"])


def _next(found: ScoringResults, place: str) -> list[str]:
    from assay.kinds.answers.wording import next_step

    return [f"next: {next_step(found, place)}"] if found.state == "blinded" else []


def _agreement_table(agreement: Sequence[RaterAgreement]) -> Table:
    from assay.report.wording import with_interval

    reached = {True: "yes", False: "no", None: "no value"}
    heads = ("metric", "raters", "statistic", "value [95 %]", "n", "needs")
    rows = [
        (
            each.metric,
            " and ".join(each.raters),
            each.statistic,
            with_interval(each.value, each.low, each.high),
            str(each.n),
            "" if each.threshold is None else f"{each.threshold:g}: {reached[each.holds]}",
        )
        for each in agreement
    ]
    columns = [TableColumn(head, figure=head == "n") for head in heads]
    return Table(columns, [[TableCell(text) for text in row] for row in rows])
