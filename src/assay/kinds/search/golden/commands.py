"""The commands of `assay golden`, which check, freeze, resolve and extend golden sets in JSON."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli.terminal import AsJson, StudyPath, plain_console, print_json, say, table
from assay.core.errors import DataError

if TYPE_CHECKING:
    from assay.kinds.search.golden.check import GoldenCheck


TEXT = 56  # characters of a query or an anchor


def check(
    study: StudyPath,
    against: Annotated[
        str | None,
        typer.Option(
            "--against", metavar="FILE|REVISION", help="An earlier version; default: golden.lock.json."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check a golden set: its rules, its anchors, its balance, and that nothing was removed."""
    from assay.kinds.search.golden.check import check_golden
    from assay.kinds.search.golden.study import open_golden
    from assay.report.wording import quantity

    found = check_golden(open_golden(study), against)
    if as_json:
        print_json(found.as_json())
    else:
        _show_check(found)
        for change in found.changes:
            say(f"changed: {change}")
        for warning in found.warnings:
            say(f"warning: {warning}")
        for problem in found.problems:
            say(str(problem))
        if found.problems:
            say(f"{quantity(len(found.problems), 'problem')}: this golden set is refused")
        else:
            n = sum(sum(counts.values()) for counts in found.counts.values())
            queries = "1 query" if n == 1 else f"{n} queries"
            typer.echo(f"ok: {queries} in {quantity(len(found.counts), 'language')}")
    if found.problems:
        raise typer.Exit(DataError.exit_code)


def freeze(study: StudyPath, as_json: AsJson = False) -> None:
    """Write golden.lock.json: its ids are taken for ever. A set that fails its check is refused."""
    from assay.kinds.search.golden.check import freeze_golden
    from assay.kinds.search.golden.study import open_golden
    from assay.report.wording import quantity

    try:
        found = freeze_golden(open_golden(study))
    except DataError as error:
        problems = quantity(len(error.problems), "problem")
        say(f"{error}\n{problems}: nothing was frozen")
        raise typer.Exit(DataError.exit_code) from None
    if as_json:
        print_json({"schema": "assay/golden-freeze/1", **_to_plain(found)})
        return
    news = f"{len(found.new)} new, {len(found.changed)} with other expectations"
    said = f"{found.path}: version {found.version}, {quantity(found.items, 'item')}"
    typer.echo(f"{said}, {news}" if found.new or found.changed else f"{said}, nothing new")


def resolve(study: StudyPath, as_json: AsJson = False) -> None:
    """Look every anchor up in the corpus, in every chunking; list those that no longer resolve."""
    from assay.kinds.search.golden.resolve import resolve_golden
    from assay.report.wording import printable, quantity
    from assay.study.study import open_study

    found = resolve_golden(open_study(study))
    lost = [each for each in found if each.problem]
    if as_json:
        print_json({"schema": "assay/golden-resolve/1", "anchors": found, "problems": len(lost)})
    else:
        chunkings = list(dict.fromkeys(each.chunking for each in found))
        for chunking in chunkings:
            here = [each for each in found if each.chunking == chunking]
            sound = [each for each in here if not each.problem]
            passages = {doc_id for each in sound for doc_id in each.passage_ids}
            counts = f"{len(sound)} of {quantity(len(here), 'anchor')} resolve"
            typer.echo(f"{chunking}: {counts} to {quantity(len(passages), 'passage')}")
        where: dict[str, list[str]] = {}
        for each in lost:
            where.setdefault(each.message, []).append(each.chunking)
        for message, cut in where.items():
            say(printable(message if len(cut) == len(chunkings) else f"{message} [{'; '.join(cut)}]"))
    if lost:
        raise typer.Exit(DataError.exit_code)


def candidates(
    study: StudyPath,
    feedback: Annotated[
        Path, typer.Argument(metavar="FEEDBACK", help="CSV or JSONL with query, language, helpful, time.")
    ],
    least: Annotated[int, typer.Option(min=1, help="How many found it unhelpful, at least.")] = 3,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="One file for all; default: candidates-LANGUAGE.json.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Propose queries whose results people often found unhelpful, for a person to fill in and accept."""
    from assay.kinds.search.golden.candidates import find_candidates, write_candidates
    from assay.kinds.search.golden.study import open_golden
    from assay.report.wording import quantity

    opened = open_golden(study)
    found = find_candidates(opened, feedback, least)
    paths = write_candidates(found, opened.study.folder, out)
    if found.personal:
        what = quantity(found.personal, "wording")
        say(f"note: {what} with an address or a long number left out: nothing about people is kept")
    if as_json:
        files = [str(path) for path in paths]
        print_json({"schema": "assay/golden-proposals/1", "files": files, **_to_plain(found)})
        return
    rows = [
        (
            each.language,
            str(each.seen.unhelpful),
            str(each.seen.helpful),
            each.covered_by or "new",
            each.query,
        )
        for each in (*found.candidates, *found.covered)
    ]
    if rows:
        plain_console().print(
            table(("language", "unhelpful", "helpful", "covered by", "query"), rows, {1, 2})
        )
    typer.echo(f"{quantity(len(found.candidates), 'candidate')}, {len(found.covered)} covered already")
    for path in paths:
        say(f"next: fill in {path}, sign accepted_by, then assay golden add {study} {path}")


def add(
    study: StudyPath,
    candidates: Annotated[Path, typer.Argument(metavar="CANDIDATES", help="The file that was filled in.")],
    as_json: AsJson = False,
) -> None:
    """Append candidates that a person accepted to the golden set of their language."""
    from assay.kinds.search.golden.add import UNSIGNED, add_candidates
    from assay.kinds.search.golden.study import open_golden

    found = add_candidates(open_golden(study), candidates)
    if as_json:
        print_json(
            {
                "schema": "assay/golden-add/1",
                "taken": [each._asdict() for each in found.taken],
                "left": [each._asdict() for each in found.left],
            }
        )
        return
    for taken in found.taken:
        typer.echo(f"{taken.item_id}: {_shorten(taken.query)}")
    for left in found.left:
        for why in left.why if left.why != [UNSIGNED] else ():
            say(f"left behind: {_shorten(left.query)!r}: {why}")
    if unsigned := sum(left.why == [UNSIGNED] for left in found.left):
        say(f"left behind: {unsigned} that nobody accepted yet: their accepted_by is empty")
    typer.echo(f"{len(found.taken)} added, {len(found.left)} left behind")
    if found.taken:
        say(f"next: assay golden check {study}, then assay golden freeze {study}")


# ------------------------------------------------------------------------------------- showing


def _show_check(found: GoldenCheck) -> None:
    """Prints, by language and category, the number of queries and their mean overlap with their passages."""
    header = ["category", "declared"]
    for language in found.counts:
        header += [language, f"{language} overlap"]
    names = list(dict.fromkeys(name for counts in found.counts.values() for name in counts))
    rows = []
    for name in names:
        row = [name, str(found.declared.get(name, ""))]
        for language, counts in found.counts.items():
            mean = found.overlap.get(language, {}).get(name)
            row += [str(counts[name]), "" if mean is None else f"{mean.value:.2f}"]
        rows.append(row)
    totals = ["all", str(sum(found.declared.values()))]
    for counts in found.counts.values():
        totals += [str(sum(counts.values())), ""]
    plain_console().print(table(header, [*rows, totals], set(range(1, len(header)))))
    for language, (theme, share, n) in found.themes.items():
        typer.echo(f"{language}: the most frequent theme is {theme!r}, in {share:.0%} of {n} queries")
    typer.echo(
        f"against {found.against}: {len(found.new)} new, {len(found.changes)} changed"
        if found.against
        else "against nothing: no earlier version is named, and none is frozen (assay golden freeze)"
    )


def _shorten(text: str) -> str:
    from assay.report.wording import printable, shorten

    return shorten(printable(text), TEXT)


def _to_plain(found: Any) -> dict[str, Any]:
    import msgspec

    plain: dict[str, Any] = msgspec.to_builtins(found, enc_hook=str)
    return plain


GROUP = (
    "Golden sets: checked, frozen, resolved against their corpus, and grown.",
    {"check": check, "freeze": freeze, "resolve": resolve, "candidates": candidates, "add": add},
)
