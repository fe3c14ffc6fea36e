"""What `assay annotate` prints of an agreement and of a drift."""

from __future__ import annotations

import typer

from assay.cli.terminal import plain_console, say, table
from assay.kinds.memory.annotation.agreement import AnnotatorAgreement
from assay.kinds.memory.annotation.drift import Drift
from assay.report.wording import first_names, number, printable, shorten, with_interval

TEXT = 48  # characters of a query
SHOWN = 10  # names or disagreements; JSON has them all


def show_agreement(found: AnnotatorAgreement) -> None:
    typer.echo(f"{' and '.join(found.annotators)}: {found.doubles} cases labelled by both")
    if found.jaccard is not None:
        mean = with_interval(found.jaccard, found.low, found.high)
        typer.echo(f"mean Jaccard of evidence: {mean}; the same evidence: {found.exact:.0%} of cases")
        typer.echo(f"Cohen's kappa: {number(found.kappa)} over {found.units} units, in or out")
    parts = [
        (name, f"{share.equal} of {share.n}" if share.n else "n/a") for name, share in found.parts.items()
    ]
    plain_console().print(table(("labelled alike", "cases"), parts, {1}))
    if found.rejected:
        typer.echo(f"rejected by both: {found.rejected}")
    if found.single:
        say(f"finished by one of them alone: {first_names(found.single, SHOWN)}")
    rows = [
        (
            each.case_id,
            "n/a" if each.jaccard is None else f"{each.jaccard:.2f}",
            printable(each.first),
            printable(each.second),
            shorten(printable(each.query), TEXT),
        )
        for each in found.disagreements[:SHOWN]
    ]
    if rows:
        plain_console().print(table(("case", "Jaccard", *found.annotators, "query"), rows, {1}))
    typer.echo(f"{found.verdict}: {found.reason}")


def show_drift(found: Drift) -> None:
    rows = [
        (
            each.arm,
            str(each.n),
            with_interval(each.distance, each.low, each.high),
            number(each.overlap),
            str(each.unchanged),
        )
        for each in found.arms
    ]
    header = ("system", "queries", "distance", f"overlap@{found.k}", "unchanged")
    plain_console().print(table(header, rows, {1, 2, 3, 4}))
    for each in found.arms:
        moved = [
            (f"{one.distance:.2f}", f"{one.overlap:.2f}", shorten(printable(one.text), TEXT), one.item_id)
            for one in each.moved
        ]
        if moved:
            typer.echo(f"{each.arm}: moved most")
            plain_console().print(table(("distance", "overlap", "query", "item"), moved, {0, 1}))
        if each.other_corpus:
            say(f"{each.arm}: the documents are others now")
        groups = {
            "failed at one time": each.failed,
            "only then": each.only_before,
            "only now": each.only_now,
            "asked in other words now": each.reworded,
        }
        for word, names in groups.items():
            if names:
                say(f"{each.arm}: {word}, not compared: {first_names(names, SHOWN)}")
    for word, arms in (("only then", found.only_before), ("only now", found.only_now)):
        if arms:
            say(f"systems {word}, not compared: {', '.join(arms)}")
    typer.echo(f"since {found.since}: what moved is neither better nor worse, and nothing is decided by it")
