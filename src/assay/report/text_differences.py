"""Differences on a terminal: what they are taken from named once, and no name broken over lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from rich.console import Group

from assay.core.records import Arm, Comparison
from assay.core.results import MeasureInfo, Results
from assay.report import wording as say
from assay.report.refusals import Refusals
from assay.report.text_tables import GAP, plain, plain_table

if TYPE_CHECKING:
    from rich.console import RenderableType

INDENT = "  "
MOST_NAMED = 6  # differences of one gate
FIGURES = ("difference [95 %]", "p adj.", "win/tie/loss", "n", "detectable")


def decisive(results: Results, *, every: bool) -> list[MeasureInfo]:
    """The measures that some gate reads: all of them where none does, or where every one is asked for."""
    read = {name for gate in results.verdicts for name in gate.reads}
    return [each for each in results.measures if every or not read or each.name in read]


def difference_parts(results: Results, width: int, *, every: bool) -> list[RenderableType]:
    """The differences as a table, then those that were refused, and where the rest is, as lines."""
    shown = decisive(results, every=every)
    found = [one for measure in shown for one in say.differences(results, measure.name)]
    made = [one for one in found if not one.refused]
    lines = [*_decided_by_gates(made), *Refusals(results).lines(found)]
    compared = {one.measure for one in results.comparisons if not one.where}
    if rest := len([each for each in results.measures if each.name in compared and each not in shown]):
        lines.append(unshown("differences in", rest, results))
    parts: list[RenderableType] = [_table(made, width)] if made else []
    return [*parts, Group(*(plain(line, "dim") for line in lines))] if lines else parts


def _decided_by_gates(made: Sequence[Comparison]) -> Iterator[str]:
    """Which differences belong to a gate, where the p-value is adjusted within it."""
    families = dict.fromkeys(one.family for one in made if one.family.startswith("gate "))
    for family in families:
        names = [f"{one.measure} {Arm(one.a, one.factors).name}" for one in made if one.family == family]
        yield f"decided by {family}, with p adjusted within it: {say.first_names(names, MOST_NAMED)}"


def unshown(what: str, measures: int, results: Results) -> str:
    """That figures of some measures are not shown here, and where they are."""
    where = "in the report, and with assay run --verbose" if results.report else "assay run --verbose"
    return f"{what} {say.quantity(measures, 'more measure')} that no gate reads: {where}"


def _table(made: Sequence[Comparison], width: int) -> RenderableType:
    """Measure, system and figures in one row each, or, where these are too wide, a table for each measure."""
    title, head, names = _names(made)
    columns = [["measure", *(one.measure for one in made)], *([[head, *names]] if head else [])]
    figures = [FIGURES, *map(_figures, made)]
    cells = [*columns, *map(list, zip(*figures, strict=True))]
    if sum(GAP + max(map(cell_len, column)) for column in cells) - GAP <= width:
        header, *rows = zip(*cells, strict=True)
        return plain_table(title, header, rows, words=tuple(range(len(columns))))
    groups = groupby(zip(made, names or [""] * len(made), strict=True), key=lambda pair: pair[0].measure)
    tables = (part for measure, group in groups for part in _under(measure, list(group), width))
    return Group(plain(title, "bold"), *tables)


def _under(measure: str, rows: Sequence[tuple[Comparison, str]], width: int) -> Iterator[RenderableType]:
    """The rows of one measure, which heads them: on a line of its own where its name is long."""
    figures = [FIGURES, *(_figures(one) for one, _ in rows)]
    if not any(row[-1] for row in figures[1:]):
        figures = [row[:-1] for row in figures]  # nothing is open
    widths = [max(map(cell_len, column)) for column in zip(*figures, strict=True)]
    room = width - sum(GAP + each for each in widths)
    named = [f"{INDENT}{name}" if name else "" for _, name in rows]
    first = min(room, max(map(cell_len, [*named, measure if cell_len(measure) <= room else ""])))
    if cell_len(measure) > room:
        yield plain(measure)
    head = measure if cell_len(measure) <= room else " "
    cells = [(_cut(name, first), *row) for name, row in zip(named, figures[1:], strict=True)]
    yield plain_table("", (head, *figures[0]), cells, words=(0,), widths=[first, *widths])


def _names(made: Sequence[Comparison]) -> tuple[str, str, list[str]]:
    """The title, the head of the column that tells rows of a measure apart, and what stands in it."""
    pairs = [say.pair_name(one) for one in made]
    if len(set(pairs)) == 1:
        return f"Differences: {pairs[0]}", "", []
    if len({one.b for one in made}) == 1:
        return f"Differences from {made[0].b}", "system", [Arm(one.a, one.factors).name for one in made]
    return "Differences", "pair", pairs


def _figures(one: Comparison) -> tuple[str, ...]:
    return (
        say.with_interval(one.difference, one.low, one.high, signed=True),
        say.p_value(one.p_adjusted if one.p_adjusted is not None else one.p),
        say.win_tie_loss(one),
        str(one.n),
        "" if say.is_shown(one) or one.mde is None else say.number(one.mde),
    )


def _cut(name: str, room: int) -> str:
    return name if cell_len(name) <= room else set_cell_size(name, room - 1) + "…"
