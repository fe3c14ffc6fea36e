"""What `assay review export|import|status|agreement` do where a panel scores blinded responses."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from assay.cli.showing import plain_console, print_json, say, table

if TYPE_CHECKING:
    from assay.kinds.answers.results import Agreed, Matched, Scoring
    from assay.study.study import Study


def scores_blindly(study: Study) -> bool:
    """Whether a panel scores the study's responses."""
    from assay.kinds.answers.panel import find_panel

    return find_panel(study) is not None


def export_scores(study: Study, out: Path | None, place: Path, *, as_json: bool) -> None:
    """Writes the result files, as far as they may be seen now."""
    from assay.kinds.answers.scoring_steps.exporting import export_scoring
    from assay.kinds.answers.scoring_steps.work import scoring_folder

    paths = export_scoring(study, out)
    if as_json:
        print_json({"schema": "assay/scoring-export/1", "files": [str(path) for path in paths]})
        return
    for path in paths:
        typer.echo(str(path))
    if not scoring_folder(study).open:
        say(f"conditions, models and sizes stay blank until: assay review unblind {place}")


def take_scores_in(study: Study, paths: Sequence[Path], place: Path, *, as_json: bool) -> None:
    """Takes files of scores in, all or none."""
    from assay.core.errors import UsageError
    from assay.kinds.answers.report.scoring import disagreement, next_step
    from assay.kinds.answers.scoring_steps.summary import sealed_summary
    from assay.kinds.answers.scoring_steps.taking import take_scores

    if not paths:
        raise UsageError(f"Name the files of scores: assay review import {place} scores.jsonl")
    found = take_scores(study, paths)
    scoring = None if found.left else sealed_summary(study)
    if as_json:
        told = {"taken": found.taken, "known": found.known, "left": found.left}
        told |= {"differences": scoring.differences if scoring else []}
        print_json({"schema": "assay/scores-import/1", **told})
        return
    typer.echo(f"{found.taken} scores taken, {found.known} known before")
    for line in found.left:
        typer.echo(f"left: {line}")
    if scoring is not None:
        for line in disagreement(scoring):
            typer.echo(line)
        say(f"every pass is complete; next: {next_step(scoring, str(place))}")


def show_scoring(study: Study, place: Path, *, as_json: bool) -> None:
    """How far everybody is."""
    from assay.kinds.answers.report.scoring import disagreement, next_step
    from assay.kinds.answers.scoring_steps.summary import sealed_summary
    from assay.kinds.answers.scoring_steps.work import scoring_folder

    found = sealed_summary(study)
    if as_json:
        print_json({"schema": "assay/scoring/1", "scoring": found, "left": found.left})
        return
    if not scoring_folder(study).there:
        typer.echo(f"Nothing is blinded yet: assay review blind {place}")
        return
    rows = [
        (rater, step, f"{done} of {total}")
        for rater, steps in found.progress.items()
        for step, (done, total) in steps.items()
    ]
    plain_console().print(table(("rater", "pass", "scored"), rows, figures={2}))
    typer.echo(f"{found.responses} responses, {found.state}")
    for line in (*found.left, *([] if found.left else disagreement(found)), *found.cautions):
        typer.echo(line)
    if found.state == "blinded":
        say(f"next: {next_step(found, str(place))}")


def show_agreement(study: Study, place: Path, *, as_json: bool) -> None:
    """How far the raters agree, which needs no condition."""
    from assay.kinds.answers.report.scoring import difference_lines, disagreement, next_step
    from assay.kinds.answers.scoring_steps.summary import sealed_summary
    from assay.kinds.answers.scoring_steps.work import scoring_folder

    found = sealed_summary(study)
    if as_json:
        told = {"agreement": found.agreement, "matched": found.matched, "suggestions": found.suggestions}
        told |= {"differences": found.differences}
        print_json({"schema": "assay/scoring-agreement/1", **told})
        return
    files = scoring_folder(study)
    if not files.there:
        typer.echo(f"Nothing is blinded yet: assay review blind {place}")
        return
    if not any(each.n for each in found.agreement):
        none = "No response was scored twice"
        typer.echo(f"{none}." if files.open else f"{none} yet: {next_step(found, str(place))}")
        return
    _show_figures(found.agreement)
    for each in found.matched:
        _show_matched(each)
    _show_suggestions(found)
    for line in (*disagreement(found), *difference_lines(found, str(place), most=len(found.differences))):
        typer.echo(line)
    if found.state == "blinded":
        say(f"next: {next_step(found, str(place))}")


def _show_figures(agreement: Sequence[Agreed]) -> None:
    from assay.report import wording as words

    reached = {True: "yes", False: "no", None: "no figure"}
    rows = [
        (
            each.metric,
            " and ".join(each.raters),
            each.statistic,
            words.with_interval(each.value, each.low, each.high),
            str(each.n),
            "" if each.threshold is None else f"{each.threshold:g}: {reached[each.holds]}",
        )
        for each in agreement
    ]
    heads = ("metric", "raters", "statistic", "value [95 %]", "n", "needs")
    plain_console().print(table(heads, rows, figures={4}))
    for each in agreement:
        if each.note:
            typer.echo(f"{each.metric}, {each.statistic}: {each.note}")


def _show_matched(found: Matched) -> None:
    one, other = found.raters
    only = f"{found.only_first} only by {one}, {found.only_second} only by {other}"
    typer.echo(f"hallucinations: {found.both} marked by both, {only}")


def _show_suggestions(found: Scoring) -> None:
    for each in found.suggestions:
        if each.equal is not None:
            alike = f"{each.equal * each.n:.0f} of {each.n} {each.step} marks were as suggested by {each.by}"
            typer.echo(f"{alike}; {each.seen} of these suggestions had been looked at before")
