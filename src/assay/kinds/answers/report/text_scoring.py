"""A blinded scoring on a terminal: where it stands, agreement, and the primary and secondary tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group

from assay.kinds.answers.report import scoring as told
from assay.kinds.answers.results import Scoring
from assay.report.text_tables import plain, side_by_side

if TYPE_CHECKING:
    from rich.console import RenderableType


def scoring_parts(scoring: Scoring | None, width: int) -> list[RenderableType]:
    """What a terminal shows of a scoring: nothing where there is none."""
    if scoring is None:
        return []
    style = "bold red" if scoring.state == told.FORCED else ""
    lines = [plain(line, style) for line in told.state_lines(scoring)]
    lines += [plain(f"agreement: {line}") for line in told.agreement_lines(scoring)]
    lines += [plain(f"caution: {caution}", "yellow") for caution in scoring.cautions]
    parts: list[RenderableType] = [plain("Blinded scoring", "bold"), *lines]
    header, rows = told.short_table(scoring)
    if rows:
        label, *columns = zip(header, *rows, strict=True)
        parts += side_by_side(label, columns, width, worded={"effect"})
    return [Group(*parts)]
