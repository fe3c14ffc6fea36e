"""assay review: forms for people, their marks taken in, how far they are and how they agree."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.options import AsJson, StudyPath
from assay.cli.showing import plain_console, print_json, say, write_report

if TYPE_CHECKING:
    from assay.results import ReviewSummary

NOT_BLIND = "warning: these forms name the model, its ranks and scores: whoever fills them in is not blind"


def export(
    study: StudyPath,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The folder; default: STUDY/review.")
    ] = None,
    first: Annotated[
        int | None, typer.Option(min=1, help="Only so many passages: those most able to change the decision.")
    ] = None,
    reviewer: Annotated[
        str | None, typer.Option("--for", help="Who will judge: nobody else's marks show in their forms.")
    ] = None,
    per_model: Annotated[
        bool, typer.Option("--per-model", help="One form a query and model, which is not blind.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write forms for people to judge what keywords miss: no model, rank or score shows."""
    from assay.report.wording import counted
    from assay.reviewing import export_review
    from assay.study import open_study

    found = export_review(open_study(study), out, per_model=per_model, first=first, reviewer=reviewer)
    if not found.blind:
        say(NOT_BLIND)
    if as_json:
        paths = [str(path) for path in found.paths]
        print_json({"schema": "assay/review-export/1", "forms": paths, "to_judge": found.asked})
        return
    where = found.paths[0].parent if found.paths else study
    forms = counted(len(found.paths), "form")
    typer.echo(f"{forms} in {where}: {found.asked} to judge, {found.filled} filled in")
    if found.asked:
        say(f"next: fill them in, then assay review import {study} {where}")


def take_in(
    study: StudyPath,
    forms: Annotated[list[Path] | None, typer.Argument(metavar="[FORMS…]", help="Forms, or folders.")] = None,
    reviewer: Annotated[str | None, typer.Option(help="Who judged, where a form does not say.")] = None,
    as_json: AsJson = False,
) -> None:
    """Take in forms that people filled in: all of them, or none where something is wrong with one."""
    from assay.reviewing import import_review
    from assay.study import open_study

    opened = open_study(study)
    found = import_review(opened, forms or [], reviewer)
    results = write_report(found.results, opened.run_folder)  # or the page would show what was
    for note in found.taking.notes:
        say(f"note: {note}")
    if as_json:
        counts = {"taken": len(found.taking.judgments), "unchanged": found.taking.unchanged}
        blanks = len(found.taking.blanks)
        print_json({"schema": "assay/review-import/1", **counts, "blank": blanks, "review": results.review})
        return
    taken = f"{len(found.taking.judgments)} judgments taken, {found.taking.unchanged} known before"
    typer.echo(f"{taken}, {len(found.taking.blanks)} left blank, {found.taking.auto} filled in by rule")
    typer.echo(results.review.outlook if results.review else "")
    if results.recommendation is not None:
        typer.echo(f"Recommendation: {results.recommendation}")


def status(study: StudyPath, as_json: AsJson = False) -> None:
    """Show how far a review is, and whether it can still change the verdict."""
    from assay.reviewing import review_of
    from assay.study import open_study

    found = review_of(open_study(study))
    if as_json:
        print_json({"schema": "assay/review/1", "review": found})
        return
    _show(found)


def _show(found: ReviewSummary) -> None:
    from rich.table import Table
    from rich.text import Text

    from assay.records import Arm
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
    """Show how far reviewers agree on the passages that several of them judged."""
    from rich.table import Table

    from assay.report import wording as words
    from assay.reviewing import agreement_of
    from assay.study import open_study

    found = agreement_of(open_study(study))
    if as_json:
        print_json(found.as_json())
        return
    if not found.pairs:
        typer.echo("No passage was judged by two people. Give some forms to a second reviewer.")
        return
    table = Table("reviewers", "passages", "same mark", "kappa", box=None, pad_edge=False)
    for pair in found.pairs:
        table.add_row(
            " and ".join(pair["raters"]), str(pair["n"]), f"{pair['agree']:.1%}", words.number(pair["kappa"])
        )
    plain_console().print(table)
    typer.echo(f"Krippendorff's alpha {words.number(found.alpha)} over {found.shared} passages")
