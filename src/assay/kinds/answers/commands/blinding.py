"""assay review blind, check, suggest and unblind: what a blinded scoring needs beside the desk."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from assay.cli.terminal import AsJson, By, StudyPath, print_json, say, user_of


def blind(
    study: StudyPath,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Blind anew, where nobody has scored anything yet.")
    ] = False,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Give every response a random id, mask what betrays its condition, and seal the map."""
    from assay.kinds.answers.scoring_steps.blinding import blind_study
    from assay.report.wording import quantity
    from assay.study.study import open_study

    found = blind_study(open_study(study), by=user_of(by), fresh=fresh)
    if as_json:
        print_json({"schema": "assay/blinding/1", **found.as_json()})
        return
    count = f"{quantity(found.responses, 'response')} to {quantity(found.questions, 'question')}"
    typer.echo(f"{count} in {found.folder}")
    masked = ", ".join(f"{rule} {n}" for rule, n in found.masked.items()) or "nothing"
    typer.echo(f"masked: {masked}")
    if found.failed:
        again = f"assay run {study}, then assay review blind {study} --fresh"
        say(f"left out: {quantity(found.failed, 'response')} that failed to be collected")
        say(f"to ask for them again before anybody scores: {again}")
    say(f"keep {found.key} from the raters; next: assay review check {study}")


def check(study: StudyPath, by: By = None, as_json: AsJson = False) -> None:
    """Look for anything in the pack that would tell a rater the condition."""
    from assay.core.errors import DataError, Problem
    from assay.kinds.answers.scoring_steps.blinding import check_blinding
    from assay.study.study import open_study

    leaks = check_blinding(open_study(study), user_of(by))
    if as_json:
        print_json({"schema": "assay/blinding-check/1", "leaks": leaks})
    elif not leaks:
        typer.echo("no leak found")
        say(f"next: assay review serve {study}")
    if leaks:
        fix = "Mend it before anybody scores, and check again."
        raise DataError([Problem(f"{leak.check}: {leak.what}", leak.where, fix=fix) for leak in leaks])


def suggest(
    study: StudyPath,
    judge: Annotated[str, typer.Option(help="A model none of those under test, as in: llm(url=…, model=…)")],
    as_json: AsJson = False,
) -> None:
    """Ask a model for a first guess at accuracy; raters may look at it, and only their word counts."""
    from assay.kinds.answers.scoring_steps.work import suggest_study
    from assay.study.study import open_study

    found = suggest_study(open_study(study), judge)
    if as_json:
        print_json({"schema": "assay/suggestions/1", **asdict(found)})
        return
    typer.echo(found.in_words)


def unblind(
    study: StudyPath,
    force: Annotated[
        bool,
        typer.Option("--force", help="Before scoring is finished: marked in every report for ever."),
    ] = False,
    reason: Annotated[str, typer.Option(help="With --force: why.")] = "",
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Open the seal, once all passes are complete and raters agree: one act, which is logged."""
    from assay.kinds.answers.scoring_steps.work import unblind_study
    from assay.study.study import open_study

    found = unblind_study(open_study(study), by=user_of(by), force=force, reason=reason)
    if as_json:
        print_json({"schema": "assay/unblinding/1", **found.as_json()})
        return
    typer.echo(found.in_words)
    say(f"next: assay run {study}")
