"""assay review, where people score without knowing whose response is whose: blind, check, serve, unblind."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from assay.cli.options import AsJson, StudyPath
from assay.cli.showing import print_json, say

By = Annotated[str | None, typer.Option("--by", help="Who does this; default: the user of this machine.")]


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
    from assay.report.wording import counted
    from assay.study.study import open_study

    found = blind_study(open_study(study), by=_who(by), fresh=fresh)
    if as_json:
        print_json({"schema": "assay/blinding/1", **found.as_json()})
        return
    told = (
        f"{counted(found.responses, 'response')} to {counted(found.questions, 'question')} in {found.folder}"
    )
    typer.echo(told)
    masked = ", ".join(f"{rule} {n}" for rule, n in found.masked.items()) or "nothing"
    typer.echo(f"masked: {masked}")
    if found.failed:
        again = f"assay run {study}, then assay review blind {study} --fresh"
        say(f"left out: {counted(found.failed, 'response')} that failed to be collected")
        say(f"to ask for them again before anybody scores: {again}")
    say(f"keep {found.key} from the raters; next: assay review check {study}")


def check(study: StudyPath, by: By = None, as_json: AsJson = False) -> None:
    """Look for anything in the pack that would tell a rater the condition."""
    from assay.core.errors import DataError, Problem
    from assay.kinds.answers.scoring_steps.blinding import check_blinding
    from assay.study.study import open_study

    leaks = check_blinding(open_study(study), _who(by))
    if as_json:
        print_json({"schema": "assay/blinding-check/1", "leaks": leaks})
    elif not leaks:
        typer.echo("no leak found")
        say(f"next: assay review serve {study}")
    if leaks:
        fix = "Mend it before anybody scores, and check again."
        raise DataError([Problem(f"{leak.check}: {leak.what}", leak.where, fix=fix) for leak in leaks])


def serve(
    study: StudyPath,
    what: Annotated[
        str | None,
        typer.Option("--what", help="scoring, relevance or verdicts; default: what the study asks for."),
    ] = None,
    rater: Annotated[
        list[str] | None,
        typer.Option("--rater", help="Who may log in; default: those whom the study names."),
    ] = None,
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="Default: any that is free.")] = None,
    host: Annotated[str, typer.Option(help="Other than loopback needs a password.")] = "127.0.0.1",
    password_file: Annotated[
        Path | None,
        typer.Option(
            "--password-file", help="A file whose first line raters log in with; or set ASSAY_DESK_PASSWORD."
        ),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option("--name", help="What the desk is called by, where a proxy stands before it."),
    ] = None,
    accept_leaks: Annotated[
        bool,
        typer.Option("--accept-leaks", help="Though the check found leaks: marked in every report."),
    ] = False,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Open the review desk: a local page on which people score, one thing a screen."""
    from assay.desk.desk_work import desk_state, work_of
    from assay.desk.serving import Opened
    from assay.desk.serving import serve as serving
    from assay.study.study import open_study

    def tell(desk: Opened) -> None:
        if as_json:
            print_json({"schema": "assay/desk/1", **asdict(desk)})
        else:
            say(desk.in_words)

    opened = open_study(study)
    work = work_of(opened, what, rater or [], _who(by) if accept_leaks else "")
    serving(
        work,
        state=desk_state(opened),
        host=host,
        port=port,
        raters=rater or None,
        password=_password(password_file),
        names=name or [],
        opened=tell,
    )
    say("desk ended")


def _password(path: Path | None) -> str | None:
    """The first line of a file, or the environment's; an option would be seen by others on the machine."""
    if path is None:
        return os.environ.get("ASSAY_DESK_PASSWORD")
    lines = path.read_text().splitlines()
    return lines[0] if lines else ""


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

    found = unblind_study(open_study(study), by=_who(by), force=force, reason=reason)
    if as_json:
        print_json({"schema": "assay/unblinding/1", **found.as_json()})
        return
    typer.echo(found.in_words)
    say(f"next: assay run {study}")


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


def _who(given: str | None) -> str:
    import getpass

    return given or getpass.getuser()
