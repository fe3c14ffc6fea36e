"""assay plugins: what a study can name, so that nobody has to read code to know."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.options import AsJson
from assay.cli.showing import plain_console, print_json, say, table

if TYPE_CHECKING:
    from assay.operations.catalogue import Listed

AFTER_AT = ("measures", "cutoff")  # nDCG@10


def command(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]", help="A group (measures) or a plugin (nDCG); default: all, by name."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List what a study can name: systems, data sets, judges, measures and parts, with their parameters."""
    from assay.operations.catalogue import catalogue
    from assay.plugins import Registry

    found = catalogue(Registry(), name)
    if as_json:
        print_json({"schema": "assay/plugins/1", "plugins": found})
    elif name is None:
        _show_groups(found)
    elif any(each.group == name for each in found):
        _show_group(found)
    else:
        for each in found:
            _show_plugin(each)


def _show_groups(found: list[Listed]) -> None:
    rows = [
        (group, ", ".join(each.name for each in plugins))
        for group, plugins in groupby(found, lambda each: each.group)
    ]
    plain_console().print(table(("group", "names"), rows, figures=set()))
    say("assay plugins measures says what each measure is; assay plugins nDCG, which parameters it takes")


def _show_group(found: list[Listed]) -> None:
    rows = [(each.name, each.problem or each.about) for each in found]
    plain_console().print(table(("name", "what"), rows, figures=set()))


def _show_plugin(found: Listed) -> None:
    from rich.text import Text

    console = plain_console()
    console.print(Text(f"{found.group}.{found.name}", "bold"), f"({found.provider})")
    console.print(Text(f"{found.problem or found.description}\n"))
    rows = [
        (
            f"@ ({each.name})" if (found.group, each.name) == AFTER_AT else each.name,
            each.takes,
            "has to be given" if each.default is None else each.default,
        )
        for each in found.parameters
    ]
    console.print(
        table(("parameter", "takes", "default"), rows, figures=set()) if rows else "It takes no parameter."
    )
    console.print()
