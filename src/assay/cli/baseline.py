"""assay baseline: keep the present results of a study under a name, and show what changed since."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.terminal import AsJson, StudyPath, plain_console, print_json, table

if TYPE_CHECKING:
    from rich.table import Table

    from assay.pipeline.baselines.diff import BaselineDiff, Change
    from assay.pipeline.baselines.tags import Baseline
    from assay.study.study import Study

SHOWN_IDS = 10  # items named in a line; JSON has all
TEXT = 48  # characters of an item's text

Name = Annotated[str, typer.Argument(metavar="NAME", help="Letters, digits, dot, dash and underscore.")]


def tag(
    study: StudyPath,
    name: Name,
    note: Annotated[str, typer.Option("--note", help="What to remember about it.")] = "",
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace the baseline of the same name.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Keep what a study shows now under a name."""
    from assay.pipeline.baselines.tags import tag_baseline
    from assay.report.wording import TITLES
    from assay.study.study import open_study

    opened = open_study(study)
    found = tag_baseline(opened, name, note, replace)
    if as_json:
        print_json({"schema": "assay/baseline-tag/1", "baseline": found})
        return
    noun = "item" if found.items == 1 else "items"
    typer.echo(f"kept {name}: {TITLES[found.verdict]}, {_extent(opened, found)} {noun}")


def list_(study: StudyPath, as_json: AsJson = False) -> None:
    """List the baselines: when, the verdict, how many items had an answer, the note."""
    from assay.pipeline.baselines.tags import list_baselines
    from assay.report.wording import TITLES
    from assay.study.study import open_study

    opened = open_study(study)
    found = list_baselines(opened)
    if as_json:
        print_json({"schema": "assay/baseline-list/1", "baselines": found})
        return
    if not found:
        typer.echo(f"No baseline is kept. Keep one with: assay baseline tag {study} NAME")
        return
    rows = [
        (each.name, "", "", "", each.problem)
        if each.problem
        else (each.name, _when(each.created), TITLES[each.verdict], _extent(opened, each), each.note)
        for each in found
    ]
    plain_console().print(table(("name", "when (UTC)", "verdict", "items", "note"), rows, figures={3}))


def diff(
    study: StudyPath,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The baseline to start from.")],
    other: Annotated[
        str | None, typer.Argument(metavar="[OTHER]", help="Another one; default: what the study shows now.")
    ] = None,
    timings: Annotated[bool, typer.Option("--timings", help="Compare measures of time too.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show what changed from a baseline to another, or to what the study shows now.

    All items that are unchanged on both sides are compared. A measure is refused while one of them was not
    asked. For a part of the study: assay run STUDY --where k=v --against NAME.
    """
    from rich.text import Text

    from assay.pipeline.baselines.diff import diff_baselines
    from assay.report.wording import printable
    from assay.study.study import open_study

    found = diff_baselines(open_study(study), name, other, timings)
    if as_json:
        print_json(found.as_json())
        return
    console = plain_console()
    for part in _parts(found):
        if isinstance(part, str):
            console.print(Text(printable(part)), soft_wrap=True)
        else:
            console.print(part)


# ------------------------------------------------------------------------------------- showing


def _parts(found: BaselineDiff) -> Iterator[str | Table]:
    """Yields the lines and tables of a difference, the most important first."""
    from assay.report.wording import TITLES

    now = found.new or "now"
    yield f"{found.study}: {found.old} -> {now}"
    yield f"verdict: {TITLES[found.verdict.before]} -> {TITLES[found.verdict.after]}"
    if found.recommendation.before or found.recommendation.after:
        yield f"recommendation: {_arrow(found.recommendation, 'none')}"
    yield from (f"gate {name}: {_arrow(change, 'not declared')}" for name, change in found.gates.items())
    yield from _item_lines(found)
    for side, only in ((found.old, found.only_old), (now, found.only_new)):
        yield from (f"{what} only in {side}: {', '.join(names)}" for what, names in only.items() if names)
    if found.timings:
        yield f"left out, as times differ from run to run: {', '.join(found.timings)} (--timings compares)"
    yield from _differences(found)
    yield from (f"{name}: {_arrow(change, 'none')}" for name, change in found.provenance.items())
    yield from (f"warning: {warning}" for warning in found.warnings)


def _item_lines(found: BaselineDiff) -> Iterator[str]:
    items = found.items
    groups = {"added": items.added, "removed": items.removed, "changed": list(items.changed)}
    counts = [f"{len(ids)} {word}" for word, ids in groups.items() if ids]
    yield f"items: {', '.join([f'{len(items.unchanged)} unchanged', *counts])}"
    groups["changed"] = [f"{name} ({', '.join(what)})" for name, what in items.changed.items()]
    yield from (f"  {word}: {_some(ids)}" for word, ids in groups.items() if ids)
    if items.relabelled:
        yield f"  labelled differently now, but compared: {_some(items.relabelled)}"


def _differences(found: BaselineDiff) -> Iterator[str | Table]:
    """Yields the table of measures of every arm, then the items that changed most."""
    from assay.report import wording as words

    if not found.arms:
        yield "nothing is compared: both sides share no arm, no measure or no unchanged item"
        return
    rows = [
        (
            each.arm,
            one.measure,
            words.with_interval(one.difference, one.low, one.high, signed=True),
            words.p_value(one.p_adjusted),
            words.win_tie_loss(one),
            str(one.n),
            words.comparison_note(one),
        )
        for each in found.arms
        for one in each.comparisons
    ]
    header = ("system", "measure", "new - old [95 %]", "p adj.", "win/tie/loss", "n", "note")
    yield ""
    yield table(header, rows, figures={2, 3, 4, 5})
    yield ""
    moved = [
        (each.arm, one.item_id, words.number(one.before), words.number(one.after), _short(one.text))
        for each in found.arms
        for one in each.moved
    ]
    if moved:
        yield f"items that changed most on {found.arms[0].measure}, worst first"
        yield table(("system", "item", "before", "after", "text"), moved, figures={2, 3})
        yield ""


def _arrow(change: Change, nothing: str) -> str:
    before, after = change.before or nothing, change.after or nothing
    return before if before == after else f"{before} -> {after}"


def _some(ids: Sequence[str]) -> str:
    from assay.report.wording import first_names

    return first_names(ids, SHOWN_IDS)


def _extent(study: Study, baseline: Baseline) -> str:
    """Returns `96`, or `66 of 96` if some items had no answer when the baseline was kept."""
    import polars as pl

    from assay.pipeline.baselines.tags import load_version

    unanswered = pl.col("status").is_in(["pending", "failed"]).any()
    asked = load_version(study, baseline.name).scores.group_by("item", "arm").agg(unanswered)
    answered = asked.filter(~pl.col("status"))["item"].n_unique()
    return str(baseline.items) if answered == baseline.items else f"{answered} of {baseline.items}"


def _short(text: str) -> str:
    from assay.report.wording import shorten

    return shorten(text, TEXT)


def _when(created: float | None) -> str:
    from datetime import UTC, datetime

    return "" if created is None else f"{datetime.fromtimestamp(created, UTC):%Y-%m-%d %H:%M}"
