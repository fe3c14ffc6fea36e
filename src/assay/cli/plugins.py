"""assay plugins: what a study can name, so that nobody has to read code to know."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.options import AsJson
from assay.cli.showing import plain_console, print_json, say, table

if TYPE_CHECKING:
    from assay.pipeline.plugins import PluginEntry

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
    from assay.core.registry import Registry

    registry = Registry()
    if name is None and not as_json:  # names only, for which nothing has to be loaded
        _show_groups({group.partition(".")[2]: registry.names(group) for group in registry.groups})
        return
    from assay.pipeline.plugins import list_plugins

    found = list_plugins(registry, name)
    if as_json:
        print_json({"schema": "assay/plugins/1", "plugins": found})
    elif any(each.group == name for each in found):
        _show_group(found)
    else:
        for each in found:
            _show_plugin(each)


def _show_groups(names: dict[str, list[str]]) -> None:
    """A table, but without what draws the others: that loads measures."""
    console, first = plain_console(), max(map(len, names)) + 2
    for group, each in {"group": ["names"], **names}.items():
        lines = wrap(", ".join(each), console.width - first, break_long_words=False, break_on_hyphens=False)
        for head, line in zip([group, *[""] * len(lines)], lines, strict=False):
            console.print(f"{head:{first}}{line}", markup=False, soft_wrap=True)
    say("assay plugins measures says what each measure is; assay plugins nDCG, which parameters it takes")


def _show_group(found: list[PluginEntry]) -> None:
    rows = [(each.name, each.problem or each.about) for each in found]
    plain_console().print(table(("name", "what"), rows, figures=set()))


def _show_plugin(found: PluginEntry) -> None:
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
