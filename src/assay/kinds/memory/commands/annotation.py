"""assay annotate: private golden sets, from a folder of documents to case files that two people agreed on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.terminal import AsJson, StudyPath, finish, plain_console, print_json, say, table
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.kinds.memory.annotation.agreement import AnnotatorAgreement
    from assay.kinds.memory.annotation.drift import Drift

SHOWN = 10  # the most names or disagreements that are printed; JSON has all
TEXT = 48  # the most characters of a query that are printed

Documents = Annotated[
    Path, typer.Argument(metavar="DIR", help="The folder of numbered documents, .md or .txt.")
]
Work = Annotated[
    Path | None,
    typer.Option("--work", metavar="FOLDER", help="Where the annotation is kept; default: DIR-annotation."),
]
Version = Annotated[str | None, typer.Option("--version", help="A frozen version; default: the newest.")]
People = Annotated[
    str, typer.Option("--annotators", metavar="A,B", help="Whose sheets; default: the two that there are.")
]


def inventory(documents: Documents, work: Work = None, as_json: AsJson = False) -> None:
    """List the documents in a table to fill in; what people wrote in it stays."""
    from assay.kinds.memory.annotation.documents import write_inventory
    from assay.kinds.memory.annotation.workspace import open_workspace
    from assay.report.wording import first_names, quantity

    found = write_inventory(open_workspace(documents, work))
    if as_json:
        print_json(found.as_json())
        return
    typer.echo(f"{found.path}: {quantity(found.documents, 'document')}, {quantity(found.units, 'unit')}")
    for word, names in (("new", found.new), ("changed", found.changed), ("gone", found.gone)):
        if names:
            typer.echo(f"{word}: {first_names(names, SHOWN)}")
    for now, before in found.renamed.items():
        typer.echo(f"renamed: {before} -> {now}")
    for column, names in found.blank.items():
        say(f"to fill in: {column} of {first_names(names, SHOWN)}")
    say(f"next: complete the guide and the table, then assay annotate freeze {documents} --version 1")


def freeze(
    documents: Documents,
    version: Annotated[str, typer.Option("--version", help="What to call this version.")],
    work: Work = None,
    as_json: AsJson = False,
) -> None:
    """Keep the hash of every document under a version, which never names other content."""
    import time

    from assay.kinds.memory.annotation.documents import freeze_documents
    from assay.kinds.memory.annotation.workspace import open_workspace
    from assay.report.wording import quantity

    found = freeze_documents(open_workspace(documents, work), version, time.time)
    if as_json:
        content = {"path": str(found.path), "known": found.known, "snapshot": found.snapshot}
        print_json({"schema": "assay/annotation-freeze/1", **content})
        return
    n = quantity(len(found.snapshot.document_hashes), "document")
    since = f", as frozen on {found.snapshot.day}" if found.known else ""
    typer.echo(f"{found.path}: version {version}, {n}{since}")
    say(f"next: assay annotate sample {documents}")


def sample(
    documents: Documents,
    total: Annotated[
        int | None, typer.Option("--documents", min=1, help="Documents to draw; default: every one.")
    ] = None,
    least: Annotated[int, typer.Option("--least", min=0, help="Least documents per stratum.")] = 1,
    units: Annotated[int, typer.Option("--units", min=1, help="Units per document.")] = 5,
    by: Annotated[
        str,
        typer.Option("--by", metavar="COLUMN,…", help="Default: document_family, language and complexity."),
    ] = "",
    seed: Annotated[int, typer.Option("--seed", help="Another seed draws others.")] = 0,
    version: Version = None,
    work: Work = None,
    as_json: AsJson = False,
) -> None:
    """Draw the documents and units to write cases about, within what people filled in."""
    from assay.kinds.memory.annotation.sampling import SampleSettings, draw_sample
    from assay.kinds.memory.annotation.workspace import open_workspace
    from assay.report.wording import quantity

    settings = SampleSettings(total, least, units, tuple(_names(by)) or None, seed)
    found = draw_sample(open_workspace(documents, work), settings, version)
    if as_json:
        print_json(found.as_json())
        return
    _print_table(
        ("stratum", "documents", "drawn", "which"),
        [(each.name, str(each.size), str(len(each.drawn)), ", ".join(each.drawn)) for each in found.strata],
        {1, 2},
    )
    for each in found.strata:
        if each.short:
            say(f"{each.name} lacks {quantity(each.short, 'document')} of the least")
    families = ", ".join(f"{n} {family}" for family, n in found.suggested.items() if n)
    typer.echo(f"{found.path}: {quantity(found.cases, 'case')} to write; suggested: {families}")
    say(f"next: assay annotate sheets {documents} --annotators anna,ben")


def sheets(
    documents: Documents,
    annotators: Annotated[
        str, typer.Option("--annotators", metavar="A,B", help="Who labels; the first writes the queries.")
    ],
    work: Work = None,
    as_json: AsJson = False,
) -> None:
    """Write one sheet per person, and add new cases below what a sheet has already."""
    from assay.kinds.memory.annotation.sheets import write_sheets
    from assay.kinds.memory.annotation.workspace import open_workspace

    found = write_sheets(open_workspace(documents, work), annotators.split(","))
    if as_json:
        print_json(found.as_json())
        return
    typer.echo(f"{found.candidates}: the ids and texts of all units")
    for sheet in found.sheets:
        typer.echo(f"{sheet.path}: {sheet.rows} rows, {sheet.added} of them new")
    if found.waiting:
        first = found.sheets[0].annotator
        say(f"{', '.join(found.waiting)}: the sheets wait for the queries that {first} writes")
        say("next: write the queries, then the same command again")
    else:
        say("next: everybody labels from the documents only, before looking at any graph of them;")
        say(f"then assay annotate agreement {documents}")


def agreement(
    documents: Documents,
    annotators: People = "",
    least: Annotated[int, typer.Option("--least", min=1, help="Cases labelled by both to decide on.")] = 20,
    work: Work = None,
    as_json: AsJson = False,
) -> None:
    """Say how far two people agree; the mean Jaccard of their evidence must reach 0.85."""
    from assay.kinds.memory.annotation.agreement import measure_agreement
    from assay.kinds.memory.annotation.sheets import read_pair
    from assay.kinds.memory.annotation.workspace import open_workspace

    workspace = open_workspace(documents, work)
    found = measure_agreement(workspace, *read_pair(workspace, _names(annotators)), least=least)
    if as_json:
        print_json(found.as_json())
    else:
        _print_agreement(found)
        if found.disagreements:
            say(f"next: assay annotate adjudicate {documents}")
    finish(found.verdict)


def _print_agreement(found: AnnotatorAgreement) -> None:
    from assay.report.wording import first_names, number, printable, shorten, with_interval

    typer.echo(f"{' and '.join(found.annotators)}: {found.doubles} cases labelled by both")
    if found.jaccard is not None:
        mean = with_interval(found.jaccard, found.low, found.high)
        typer.echo(f"mean Jaccard of evidence: {mean}; the same evidence: {found.exact:.0%} of cases")
        typer.echo(f"Cohen's kappa: {number(found.kappa)} over {found.units} units, in or out")
    parts = [(name, f"{part.equal} of {part.n}" if part.n else "n/a") for name, part in found.parts.items()]
    _print_table(("labelled alike", "cases"), parts, {1})
    if found.rejected:
        typer.echo(f"rejected by both: {found.rejected}")
    if found.single:
        say(f"finished by only one of them: {first_names(found.single, SHOWN)}")
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
    _print_table(("case", "Jaccard", *found.annotators, "query"), rows, {1})
    typer.echo(f"{found.verdict}: {found.reason}")


def adjudicate(
    documents: Documents, annotators: People = "", work: Work = None, as_json: AsJson = False
) -> None:
    """List what two people differ on, for somebody to decide with a written reason."""
    from assay.kinds.memory.annotation.agreement import write_adjudication
    from assay.kinds.memory.annotation.sheets import read_pair
    from assay.kinds.memory.annotation.workspace import open_workspace
    from assay.report.wording import first_names

    workspace = open_workspace(documents, work)
    found = write_adjudication(workspace, *read_pair(workspace, _names(annotators)))
    if as_json:
        print_json(found.as_json())
        return
    if not found.open and not found.decided:
        typer.echo("They agree on everything: nothing is to be decided.")
        return
    typer.echo(f"{found.path}: {found.added} added, {len(found.decided)} decided, {len(found.open)} open")
    if found.open:
        say(f"open: {first_names(found.open, SHOWN)}")
        say("next: write decision, labels and rationale in each open row")


def export(
    documents: Documents,
    dataset_id: Annotated[str, typer.Option("--dataset-id", help="What the case file calls itself.")],
    pack: Annotated[str, typer.Option("--pack", help="The domain pack that reads the documents.")],
    name: Annotated[str, typer.Option("--name", help="Its name in reports; default: its id.")] = "",
    annotators: People = "",
    version: Version = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The folder; default: cases, in the annotation.")
    ] = None,
    gate: Annotated[bool, typer.Option("--gate", help="End with 10 if the quality gate fails.")] = False,
    work: Work = None,
    as_json: AsJson = False,
) -> None:
    """Write what was approved and agreed on, or decided with a reason, as case files."""
    from assay.kinds.memory.annotation.export import ExportSettings, export_cases
    from assay.kinds.memory.annotation.workspace import open_workspace
    from assay.report.wording import quantity

    settings = ExportSettings(dataset_id, pack, name, version)
    found = export_cases(open_workspace(documents, work), settings, _names(annotators), out)
    if as_json:
        print_json(found.as_json())
    else:
        for path in found.files:
            typer.echo(str(path))
        cases = f"{quantity(found.cases, 'case')}, {found.adjudicated} of them adjudicated"
        typer.echo(f"version {found.version}: {cases}; {len(found.left_out)} left out")
        rows = [(each.name, each.value, each.needed, "yes" if each.holds else "no") for each in found.quality]
        _print_table(("quality", "found", "needed", "holds"), rows, set())
        for warning in found.warnings:
            say(f"warning: {warning}")
    if gate:
        finish("go" if found.passed else "no-go")


def shadow(
    documents: Documents,
    queries: Annotated[Path, typer.Argument(metavar="QUERIES", help="A text file, one query per line.")],
    pack: Annotated[str, typer.Option("--pack", help="The domain pack that reads the documents.")] = "",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The folder; default: shadow, in the annotation.")
    ] = None,
    work: Work = None,
    as_json: AsJson = False,
) -> None:
    """Write a shadow set: many queries without labels, as a dataset to ask again and again."""
    from assay.kinds.memory.annotation.drift import write_shadow
    from assay.kinds.memory.annotation.workspace import open_workspace
    from assay.report.wording import quantity

    found = write_shadow(open_workspace(documents, work), queries, pack, out)
    if as_json:
        print_json(found.as_json())
        return
    asked = "1 query" if found.queries == 1 else f"{found.queries} queries"
    typer.echo(f"{found.path}: {asked} over {quantity(found.units, 'unit')}")
    if found.doubled:
        say(f"left out: {quantity(found.doubled, 'line')} that ask the same")


def drift(
    study: StudyPath,
    keep: Annotated[
        str | None, typer.Option("--keep", metavar="NAME", help="Keep the results of now.")
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="NAME|STUDY", help="Results kept, or another study's.")
    ] = None,
    k: Annotated[int, typer.Option("--k", min=1, help="How many hits the overlap looks at.")] = 10,
    replace: Annotated[bool, typer.Option("--replace", help="Keep over a name that is taken.")] = False,
    as_json: AsJson = False,
) -> None:
    """Say how far the results of the same queries moved since they were kept; nothing is decided."""
    from assay.kinds.memory.annotation.drift import keep_results, measure_drift
    from assay.study.study import open_study

    if (keep is None) == (since is None):
        raise UsageError("Write --keep NAME to keep the results of now, or --since NAME to compare.")
    opened = open_study(study)
    if keep is not None:
        path = keep_results(opened, keep, replace)
        if as_json:
            print_json({"schema": "assay/annotation-keep/1", "path": str(path)})
        else:
            typer.echo(f"kept {keep}: {path}")
        return
    found = measure_drift(opened, since or "", k)
    if as_json:
        print_json(found.as_json())
    else:
        _print_drift(found)


def _print_drift(found: Drift) -> None:
    from assay.report.wording import first_names, number, printable, shorten, with_interval

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
    _print_table(header, rows, {1, 2, 3, 4})
    for each in found.arms:
        if each.moved:
            typer.echo(f"{each.arm}: moved most")
        moved = [
            (f"{one.distance:.2f}", f"{one.overlap:.2f}", shorten(printable(one.text), TEXT), one.item_id)
            for one in each.moved
        ]
        _print_table(("distance", "overlap", "query", "item"), moved, {0, 1})
        if each.other_corpus:
            say(f"{each.arm}: the documents have changed")
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


def _print_table(header: Sequence[str], rows: Sequence[Sequence[str]], numbers: set[int]) -> None:
    if rows:
        plain_console().print(table(header, rows, numbers))


def _names(listed: str) -> list[str]:
    return [part.strip() for part in listed.split(",") if part.strip()]


STEPS: dict[str, Callable[..., None]] = {
    "inventory": inventory,
    "freeze": freeze,
    "sample": sample,
    "sheets": sheets,
    "agreement": agreement,
    "adjudicate": adjudicate,
    "export": export,
    "shadow": shadow,
    "drift": drift,
}
GROUP = ("Private golden sets: from documents to cases that two people agreed on.", STEPS)
