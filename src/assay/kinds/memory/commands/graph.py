"""assay graph: what a graph system makes of the documents. It helps to check a pack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.terminal import AsJson, StudyPath, plain_console, print_json, say, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from assay.kinds.memory.graph_view import DocumentView

MOST = 20  # the most documents that are printed if none is named; JSON has all
GAP = 2  # between two columns
LEAST = 20  # the fewest characters of a text


def command(
    study: StudyPath,
    system: Annotated[
        str | None,
        typer.Option("--system", metavar="NAME", help="Whose graph; default: the first that is walked."),
    ] = None,
    document: Annotated[
        str | None, typer.Option("--document", metavar="STEM", help="One document; default: all.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what the documents become: nodes with their roles, edges with the rule that made each."""
    from rich.text import Text

    from assay.kinds.memory.graph_view import graph_view
    from assay.report.wording import printable, quantity
    from assay.study.study import open_study

    found = graph_view(open_study(study), system, document, None if as_json else MOST)
    if as_json:
        print_json(found.as_json())
        return
    say(f"{found.study}: the graph of {found.system}")
    console = plain_console()
    for each in found.documents:
        pack = f" ({each.pack})" if each.pack else ""
        counts = f"{quantity(len(each.nodes), 'node')}, {quantity(len(each.edges), 'edge')}"
        console.print(Text(printable(f"\n{each.document or 'nodes of no document'}{pack}: {counts}"), "bold"))
        for part in (_nodes(each, console.width), _edges(each, console.width)):
            if part is not None:
                console.print(part)
    if found.left:
        such = printable(found.left[0])
        say(f"{quantity(len(found.left), 'more document')}, such as {such}: name one with --document")


def _nodes(found: DocumentView, width: int) -> Table | None:
    from assay.report.wording import number

    rows = [
        (each.node_id, each.role or "", each.text, "" if each.weight is None else number(each.weight))
        for each in found.nodes
    ]
    return _fitted(("node", "role", "first words", "weight"), rows, 2, width)


def _edges(found: DocumentView, width: int) -> Table | None:
    from assay.report.wording import number

    rows = [
        (each.source, each.kind, each.target, number(each.weight), each.rule or "") for each in found.edges
    ]
    return _fitted(("from", "edge", "to", "weight", "why"), rows, 4, width)


def _fitted(header: Sequence[str], rows: Sequence[Sequence[str]], text: int, width: int) -> Table | None:
    """Returns a table whose column `text` is cut to the room that the others leave; None without rows."""
    from rich.cells import cell_len

    from assay.report.wording import printable, shorten

    if not rows:
        return None
    others = [
        max(map(cell_len, column)) for at, column in enumerate(zip(header, *rows, strict=True)) if at != text
    ]
    room = max(LEAST, width - sum(others) - GAP * len(header))
    cut = [
        [shorten(printable(cell), room) if at == text else cell for at, cell in enumerate(row)]
        for row in rows
    ]
    return table(header, cut, {header.index("weight")})
