"""assay review: export forms for people, import their marks, show progress and agreement, serve the desk."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli.terminal import AsJson, By, StudyPath, plain_console, print_json, say, user_of, write_reports

if TYPE_CHECKING:
    from assay.core.results import ReviewSummary
    from assay.review.work import ReviewResult

NOT_BLIND = "warning: these forms show the model, its ranks and scores: people who fill them in are not blind"


def export(
    study: StudyPath,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The folder; default: STUDY/review.")
    ] = None,
    first: Annotated[
        int | None, typer.Option(min=1, help="Only so many passages: those most able to change the decision.")
    ] = None,
    reviewer: Annotated[
        str | None, typer.Option("--for", help="Who will judge: the forms show only this person's marks.")
    ] = None,
    per_model: Annotated[
        bool, typer.Option("--per-model", help="One form per query and model, which is not blind.")
    ] = False,
    verdicts: Annotated[
        bool,
        typer.Option("--verdicts", help="Ask people to grade what a model judge graded, without seeing it."),
    ] = False,
    items: Annotated[
        int | None,
        typer.Option(min=1, help="With --verdicts: how many items to draw at random; default: 50."),
    ] = None,
    seed: Annotated[int, typer.Option(help="What shuffles passages, and draws items.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Write forms without model, rank or score, for what rules miss or a model judge graded."""
    from assay.core.errors import UsageError
    from assay.pipeline.reviewing import export_review, export_verdicts, own_review
    from assay.report.wording import quantity
    from assay.review.judged_items import ITEMS
    from assay.study.study import open_study

    opened = open_study(study)
    if (own := own_review(opened)) is not None:
        _show_answer(own.export(opened, out, str(study)), as_json=as_json)
        return
    if verdicts:
        if per_model or first is not None:
            raise UsageError("With --verdicts items are drawn at random. Leave out --first and --per-model.")
        found = export_verdicts(opened, out, items=items or ITEMS, reviewer=reviewer, seed=seed)
    elif items is not None:
        raise UsageError("--items says how many items to draw for --verdicts. Add it, or use --first.")
    else:
        found = export_review(opened, out, per_model=per_model, first=first, reviewer=reviewer, seed=seed)
    if not found.blind:
        say(NOT_BLIND)
    if as_json:
        paths = [str(path) for path in found.paths]
        print_json({"schema": "assay/review-export/1", "forms": paths, "to_judge": found.asked})
        return
    where = found.folder or study
    forms = quantity(len(found.paths), "form")
    typer.echo(f"{forms} in {where}: {found.asked} to judge, {found.filled} filled in")
    if found.asked:
        say(f"next: fill them in, then assay review import {study} {where}")


def import_(
    study: StudyPath,
    forms: Annotated[list[Path] | None, typer.Argument(metavar="[FORMS…]", help="Forms, or folders.")] = None,
    reviewer: Annotated[str | None, typer.Option(help="Who judged, where a form does not say.")] = None,
    as_json: AsJson = False,
) -> None:
    """Import forms that people filled in: all of them, or none if there is a problem in one."""
    from assay.pipeline.reviewing import import_review, own_review
    from assay.study.study import open_study

    opened = open_study(study)
    if (own := own_review(opened)) is not None:
        _show_answer(own.take(opened, forms or [], str(study)), as_json=as_json)
        return
    found = import_review(opened, forms or [], reviewer)
    results = write_reports(found.results, opened)  # else the page would show the earlier state
    for note in found.forms.notes:
        say(f"note: {note}")
    if as_json:
        counts = {"taken": len(found.forms.filled), "unchanged": found.forms.unchanged}
        blanks = len(found.forms.blanks)
        found_all = {**counts, "blank": blanks, "review": results.review, "verdicts": found.checked}
        print_json({"schema": "assay/review-import/1", **found_all})
        return
    taken = f"{len(found.forms.filled)} judgments taken, {found.forms.unchanged} known before"
    typer.echo(f"{taken}, {len(found.forms.blanks)} left blank, {found.forms.auto} filled in by rule")
    for line in (results.review and results.review.outlook, found.checked and found.checked.in_words):
        if line:
            typer.echo(line)
    if results.recommendation is not None:
        typer.echo(f"Recommendation: {results.recommendation}")


def status(study: StudyPath, as_json: AsJson = False) -> None:
    """Show the progress of a review, and whether it can still change the verdict."""
    from assay.pipeline.reviewing import own_review, review_progress
    from assay.study.study import open_study

    opened = open_study(study)
    if (own := own_review(opened)) is not None:
        _show_answer(own.status(opened, str(study)), as_json=as_json)
        return
    found = review_progress(opened)
    if as_json:
        print_json({"schema": "assay/review/1", "review": found.review, "verdicts": found.verdicts})
        return
    if found.review is not None:
        _show(found.review)
    if found.verdicts is not None:
        typer.echo(found.verdicts.in_words)


def _show(found: ReviewSummary) -> None:
    from rich.table import Table
    from rich.text import Text

    from assay.core.records import Arm
    from assay.report import wording as words

    table = Table(
        "system", "measure", "on complete queries [95 %]", "n", "whatever is open", box=None, pad_edge=False
    )
    known = {(one.measure, Arm(one.system, one.factors).name): one for one in found.estimates}
    for measure, by_arm in found.bounds.items():
        for arm, (low, high) in by_arm.items():
            one = known.get((measure, arm))
            value = words.NOTHING if one is None else words.with_interval(one.value, one.low, one.high)
            span = f"{words.number(low)} to {words.number(high)}"
            table.add_row(Text(arm), measure, value, str(len(found.complete)), span)
    console = plain_console()
    console.print(table)
    done = f"{len(found.complete)} of {found.items} queries judged for every system"
    console.print(
        Text(f"{done}, {found.marked} passages judged by people, {found.open} open"), soft_wrap=True
    )
    console.print(Text(found.outlook), soft_wrap=True)


def agreement(study: StudyPath, as_json: AsJson = False) -> None:
    """Show how far reviewers agree on the passages that several judged, and a model judge with them."""
    from assay.pipeline.reviewing import has_forms, own_review, review_agreement
    from assay.report import wording as words
    from assay.study.study import open_study

    opened = open_study(study)
    if (own := own_review(opened)) is not None:
        _show_answer(own.agreement(opened, str(study)), as_json=as_json)
        return
    found = review_agreement(opened)
    if as_json:
        print_json(found.as_json())
        return
    if found.judges and not found.verdicts:
        place = opened.folder / "review"
        export = f"assay review export {study} --verdicts"
        forms = f"fill in the forms in {place}" if has_forms(opened) else export
        then = f"then assay review import {study}"
        typer.echo(f"Nobody has graded what {' and '.join(found.judges)} graded yet: {forms}, {then}")
    elif not found.pairs and not found.verdicts:
        typer.echo("No passage was judged by two people. Give some forms to a second reviewer.")
    if found.pairs:
        _show_pairs(["reviewers"], found.pairs)
        typer.echo(f"Krippendorff's alpha {words.number(found.alpha)} over {found.shared} passages")
    if found.verdicts:
        _show_pairs(["label", "grades by"], found.verdicts)
    for pair in found.verdicts:
        _show_confusion(pair)


def _show_pairs(heads: list[str], pairs: list[dict[str, Any]]) -> None:
    """Prints a table of the agreement of each pair."""
    from rich.table import Table
    from rich.text import Text

    from assay.report import wording as words

    weighted = any("kappa_quadratic" in pair for pair in pairs)
    columns = [*heads, "passages", "same mark", "kappa", *(["kappa, quadratic"] if weighted else [])]
    table = Table(*columns, box=None, pad_edge=False)
    for pair in pairs:
        kappas = [pair[name] for name in ("kappa", "kappa_quadratic") if name in pair]
        label = [pair["label"]] if "label" in pair else []
        cells = [*label, " and ".join(pair["raters"]), str(pair["n"]), f"{pair['agree']:.1%}"]
        table.add_row(*map(Text, cells), *map(words.number, kappas))
    plain_console().print(table)


def _show_confusion(pair: dict[str, Any]) -> None:
    """Prints a table that counts each combination of grades of two raters."""
    from rich.markup import escape
    from rich.table import Table
    from rich.text import Text

    one, other = pair["raters"]
    heads = [f"{one} said / {other} said", *pair["confusion"]]
    table = Table(*map(escape, heads), box=None, pad_edge=False)
    for word, met in pair["confusion"].items():
        table.add_row(Text(word), *(str(n) for n in met.values()))
    console = plain_console()
    console.print()
    console.print(table)


def serve(
    study: StudyPath,
    what: Annotated[
        str | None,
        typer.Option(
            "--what", help="Which review, such as relevance or verdicts; default: what the study asks for."
        ),
    ] = None,
    rater: Annotated[
        list[str] | None,
        typer.Option("--rater", help="Who may log in; default: the people whom the study names."),
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
        typer.Option("--name", help="The host name of the desk, if it is behind a proxy."),
    ] = None,
    accept_leaks: Annotated[
        bool,
        typer.Option("--accept-leaks", help="Open it although a check found leaks; every report says so."),
    ] = False,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Open the review desk: a local page on which people judge, one thing per screen."""
    from assay.desk.reviews import desk_folder, find_work
    from assay.desk.serving import ServedDesk
    from assay.desk.serving import serve as serving
    from assay.study.study import open_study

    def tell(desk: ServedDesk) -> None:
        if as_json:
            print_json({"schema": "assay/desk/1", **asdict(desk)})
        else:
            say(desk.in_words)

    opened = open_study(study)
    work = find_work(opened, what, rater or [], accepted_by=user_of(by) if accept_leaks else "")
    serving(
        work,
        state=desk_folder(opened),
        host=host,
        port=port,
        raters=rater or None,
        password=_password(password_file),
        names=name or [],
        opened=tell,
    )
    say("desk ended")


def _password(path: Path | None) -> str | None:
    """Returns the password from a file or the environment. Other users could see a command-line option."""
    if path is None:
        return os.environ.get("ASSAY_DESK_PASSWORD")
    lines = path.read_text().splitlines()
    return lines[0] if lines else ""


def _show_answer(found: ReviewResult, *, as_json: bool) -> None:
    """Prints the result of a review as JSON, or as tables and lines."""
    from assay.core.section import Table
    from assay.report.text_tables import plain_table

    if as_json:
        print_json(found.data)
        return
    for block in found.blocks:
        if isinstance(block, Table):
            words = tuple(place for place, column in enumerate(block.columns) if not column.figure)
            heads = [column.head for column in block.columns]
            plain_console().print(plain_table(block.title, heads, block.texts, words))
        else:
            for line in block.lines:
                typer.echo(line)
    for note in found.notes:
        say(note)
