"""The report on a terminal: tables that fit 100 columns, the verdict in the last lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.padding import Padding
from rich.segment import Segments
from rich.table import Table
from rich.text import Text

from assay.records import Arm, ClauseResult
from assay.report import wording as say
from assay.results import GO, INCONCLUSIVE, NO_GO, MeasureInfo, Results

if TYPE_CHECKING:
    from rich.console import Console

WIDTH = 100
GAP = 2
DETECTABLE = "detectable: the smallest true difference that this many items would find 4 times out of 5"
NOTHING_EXPECTED = "nothing is the right answer, so that only Abstain applies"
_STYLES = {GO: "bold green", NO_GO: "bold red", INCONCLUSIVE: "bold yellow"}


def render_text(results: Results, console: Console, *, gates_only: bool = False) -> None:
    """Prints estimates, differences, gates and, last, the verdict and where the report lies."""
    # A pipe or a file has no width of its own; rich would fold everything at 80.
    width = min(WIDTH, console.width) if console.is_terminal else WIDTH
    tables = [] if gates_only else [*_estimates(results, width), _comparisons(results)]
    for table in tables:
        if table is not None:
            _print_table(console, table, width)
            console.print()
    if not gates_only and (silent := sum(item.expects == "nothing" for item in results.items)):
        _print_line(
            console, f"{say.counted(silent, 'item')} of {len(results.items)}: {NOTHING_EXPECTED}", "dim"
        )
        console.print()
    for gate in results.verdicts:
        _print_line(console, f"{gate.gate}: {say.TITLES[gate.verdict]}", _STYLES.get(gate.verdict, "bold"))
        _print_table(console, Padding(_clauses(gate.clauses), (0, 0, 0, GAP)), width)
        console.print()
    if results.verdicts:
        _print_line(console, DETECTABLE, "dim")
        console.print()
    for warning in results.trust.warnings:
        _print_line(console, f"warning: {warning}", "yellow")
    if results.verdict is None and results.report is None:
        return  # run files: nothing gates them, and there is no page
    _print_line(console, say.headline(results))
    where = f"  report: {results.report}" if results.report else ""
    _print_line(console, f"{say.TITLES[results.verdict]}{where}", _STYLES.get(results.verdict or "", "bold"))


def _print_table(console: Console, table: Table | Padding, width: int) -> None:
    # `print(width=…)` never exceeds the console's own width, which is a guess where there is no terminal.
    segments = console.render(table, console.options.update(width=width))
    console.print(Segments(segments), soft_wrap=True, end="")


def _print_line(console: Console, line: str, style: str = "") -> None:
    # A line is never folded by us: paths and clauses stay whole for whoever copies them.
    console.print(_text(line, style), soft_wrap=True)


def _text(text: str, style: str = "") -> Text:
    """Text as it is: names such as `race[stage=50k]` are not rich mark-up."""
    return Text(say.printable(text), style)


def _table(
    title: str, header: Sequence[str], rows: Iterable[Sequence[str]], words: tuple[int, ...] = (0,)
) -> Table:
    """A table without boxes; the columns of `words` are set left and may fold, figures do neither."""
    table = Table(
        box=None, pad_edge=False, padding=(0, GAP, 0, 0), title=_text(title, "bold") if title else None
    )
    table.title_justify = "left"
    for index, name in enumerate(header):
        worded = index in words
        table.add_column(
            _text(name, "dim"),
            justify="left" if worded else "right",
            overflow="fold",
            no_wrap=not worded,
        )
    for row in rows:
        table.add_row(*(_text(cell) for cell in row))
    return table


def _estimates(results: Results, width: int) -> list[Table]:
    """Systems by measures, as many measures side by side as fit."""
    arms = list(
        dict.fromkeys(Arm(one.system, one.factors).name for one in results.estimates if not one.where)
    )
    label = max(cell_len(name) for name in ("system", *arms))
    columns = [_column(results, measure, arms) for measure in results.measures]
    groups: list[list[list[str]]] = []
    room = 0
    for column in columns:
        needed = GAP + max(cell_len(cell) for cell in column)
        if not groups or needed > room:
            groups.append([])
            room = width - label
        groups[-1].append(column)
        room -= needed
    title = "Systems: mean [95 % interval] n"
    return [
        _table(
            title if first else "",
            ("system", *(column[0] for column in group)),
            [(arm, *(column[index + 1] for column in group)) for index, arm in enumerate(arms)],
        )
        for first, group in ((group is groups[0], group) for group in groups)
    ]


def _column(results: Results, measure: MeasureInfo, arms: list[str]) -> list[str]:
    found = {Arm(one.system, one.factors).name: one for one in say.overall(results, measure.name)}
    cells = [say.measure_title(measure)]
    for arm in arms:
        one = found.get(arm)
        if one is None or one.value is None:
            cells.append(say.NOTHING)
        else:
            cells.append(f"{say.with_interval(one.value, one.low, one.high)} n {say.sample(one)}")
    return cells


def _comparisons(results: Results) -> Table | None:
    rows = [
        (
            measure.name,
            say.pair_name(one),
            say.with_interval(one.difference, one.low, one.high, signed=True),
            say.p_value(one.p_adjusted if one.p_adjusted is not None else one.p),
            say.record(one),
            str(one.n),
            say.comparison_note(one),
        )
        for measure in results.measures
        for one in say.differences(results, measure.name)
    ]
    header = ("measure", "pair", "difference [95 %]", "p adj.", "win/tie/loss", "n", "note")
    return _table("Differences", header, rows, words=(0, 1, 6)) if rows else None


def _clauses(clauses: Sequence[ClauseResult]) -> Table:
    rows = [
        (
            clause.text,
            "; ".join(part for part in (say.clause_state(clause), say.clause_outlook(clause)) if part),
            say.with_interval(clause.value, clause.low, clause.high, signed=True),
            str(clause.n),
            say.number(clause.mde),
        )
        for clause in clauses
    ]
    return _table("", ("clause", "outcome", "margin [95 %]", "n", "detectable"), rows, words=(0, 1))
