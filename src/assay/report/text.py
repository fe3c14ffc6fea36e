"""The report on a terminal: tables that fit 100 columns, the answer in the last lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Group
from rich.padding import Padding
from rich.segment import Segments
from rich.table import Table

from assay.records import Arm, ClauseResult, Comparison, Estimate, Verdict
from assay.report import review as reviewed
from assay.report import wording as say
from assay.report.text_tables import GAP, columned, plain, side_by_side
from assay.results import GO, INCONCLUSIVE, NO_GO, MeasureInfo, Results

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

WIDTH = 100
SHOWN_TURNS = 10  # items that changed since a baseline
LABEL = 24  # a measure's name is broken no shorter than this
DETECTABLE = "detectable: the smallest true difference that this many items would find 4 times out of 5"
NOTHING_EXPECTED = "nothing is the right answer: ranking measures do not apply"
_STYLES = {GO: "bold green", NO_GO: "bold red", INCONCLUSIVE: "bold yellow"}
_EXAMPLES = re.compile(r"\s*\([^()]*\)$")  # the items that a reason names
_JOINTS = re.compile(r"(?<=[(,|= ])|(?=@)")  # where a measure's name may be broken


def render_text(results: Results, console: Console, *, gates_only: bool = False) -> None:
    """Prints estimates, differences, review, gates and, last, what to do and where the report lies."""
    # A pipe or a file has no width of its own; rich would fold everything at 80.
    width = min(WIDTH, console.width) if console.is_terminal else WIDTH
    if not gates_only:
        _print_evidence(results, console, width)
    for gate in say.gates_in_order(results):
        style = _STYLES.get(gate.verdict, "bold") if gate.deciding else ""
        _print_line(console, f"{gate.gate}: {say.gate_title(gate)}", style)
        _print_table(console, _clauses(gate, width), width)
        console.print()
    if results.verdicts or (results.comparisons and not gates_only):
        _print_line(console, DETECTABLE, "dim")
        console.print()
    for line in _since(results):
        _print_line(console, line)
    for warning in results.trust.warnings:
        _print_line(console, f"warning: {warning}", "yellow")
    if results.verdict is None and results.report is None:
        return  # run files: nothing gates them, and there is no page
    _print_answer(results, console)


def _since(results: Results) -> Iterator[str]:
    """What changed since a baseline, item by item."""
    if (since := results.against) is None:
        return
    for word, turns in (("worse", since.regressions), ("better", since.recoveries)):
        shown = [
            f"{turn.item_id} ({turn.measure} {say.number(turn.before)} -> {say.number(turn.after)})"
            for turn in turns[:SHOWN_TURNS]
        ]
        more = f" and {len(turns) - SHOWN_TURNS} more" if len(turns) > SHOWN_TURNS else ""
        yield f"{word} since {since.baseline}: {', '.join(shown) or 'nothing'}{more}"
    for word, items in (("newer than", since.added), ("changed since", since.changed)):
        if items:
            yield f"{word} {since.baseline}, not compared: {say.counted(len(items), 'item')}"
    yield ""


def _print_evidence(results: Results, console: Console, width: int) -> None:
    figures = (*_estimates(results, width), *_slices(results, width))
    for table in (*figures, *_comparisons(results, width), _review(results)):
        if table is not None:
            _print_table(console, table, width)
            console.print()
    if silent := sum(item.expects == "nothing" for item in results.items):
        items = f"{say.counted(silent, 'item')} of {len(results.items)}"
        _print_line(console, f"{items}: {NOTHING_EXPECTED}", "dim")
        console.print()


def _print_answer(results: Results, console: Console) -> None:
    """The last lines: why, what to do, what a review can still change, the verdict and the report."""
    _print_line(console, say.headline(results))
    if told := reviewed.recommendation(results):
        _print_line(console, told, "bold")
    if outlook := reviewed.outlook(results):
        _print_line(console, outlook)
    where = f"  report: {results.report}" if results.report else ""
    _print_line(console, f"{say.TITLES[results.verdict]}{where}", _STYLES.get(results.verdict or "", "bold"))


def _print_table(console: Console, table: RenderableType, width: int) -> None:
    # `print(width=…)` never exceeds the console's own width, which is a guess where there is no terminal.
    segments = console.render(table, console.options.update(width=width))
    console.print(Segments(segments), soft_wrap=True, end="")


def _print_line(console: Console, line: str, style: str = "") -> None:
    # A line is never folded by us: paths and clauses stay whole for whoever copies them.
    console.print(plain(line, style), soft_wrap=True)


def _estimates(results: Results, width: int) -> list[Table]:
    """Systems by measures, or measures by systems where that takes one short table."""
    arms = list(
        dict.fromkeys(Arm(one.system, one.factors).name for one in results.estimates if not one.where)
    )
    columns = [_column(results, measure, arms) for measure in results.measures]
    turned = [list(row) for row in zip(*columns, strict=True)] if columns else []
    by_arm = side_by_side(["system", *arms], columns, width)
    by_measure = _by_measure(arms, turned, width) if turned else []
    # Where systems would be torn apart into several tables, they are better compared line under line.
    shorter = len(by_measure) == 1 and len(results.measures) < sum(table.row_count + 2 for table in by_arm)
    tables = by_measure if shorter else by_arm
    if tables:
        tables[0].title = plain("Systems: mean [95 % interval] n", "bold")
    return tables


def _by_measure(arms: Sequence[str], rows: Sequence[list[str]], width: int) -> list[Table]:
    """The same figures with a row a measure; long names are broken to let every system stand side by side."""
    names, *by_arm = rows
    columns = [[arm, *cells] for arm, cells in zip(arms, by_arm, strict=True)]
    room = width - sum(GAP + max(map(cell_len, column)) for column in columns)
    label = ["measure", *(_folded(name, max(room, LABEL)) for name in names)]
    return side_by_side(label, columns, width)


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


def _slices(results: Results, width: int) -> list[Table]:
    """Of one system, the means over every tag that the study slices by; of several, the page shows them."""
    if len(results.arms) != 1:
        return []
    tables = []
    for tag in results.by:
        found = {(one.where[tag], one.measure): one for one in results.estimates if [*one.where] == [tag]}
        values = list(dict.fromkeys(value for value, _ in found))
        cells = {
            measure: [_mean(found.get((value, measure.name))) for value in values]
            for measure in results.measures
        }
        applying = [
            [say.measure_title(measure), *column]
            for measure, column in cells.items()
            if any(column) and not measure.unit
        ]
        if len(values) > 1 and applying:
            tables += side_by_side([tag, *values], applying, width)
    return tables


def _mean(one: Estimate | None) -> str:
    """A mean with its sample, and nothing where the measure does not apply."""
    if one is None or not one.n_expected:
        return ""
    return f"{say.number(one.value)} n {say.sample(one)}"


# ------------------------------------------------------------------------------- differences


def _comparisons(results: Results, width: int) -> list[RenderableType]:
    """The differences as a table, and those that were refused as lines."""
    found = [one for measure in results.measures for one in say.differences(results, measure.name)]
    made = [one for one in found if not one.refused]
    lines = [plain(line, "dim") for line in _not_compared(found)]
    parts: list[RenderableType] = [_differences(made, width)] if made else []
    return [*parts, Group(*lines)] if lines else parts


def _differences(made: Sequence[Comparison], width: int) -> Table:
    pairs = list(dict.fromkeys(say.pair_name(one) for one in made))
    rows = [
        (
            say.pair_name(one),
            say.with_interval(one.difference, one.low, one.high, signed=True),
            say.p_value(one.p_adjusted if one.p_adjusted is not None else one.p),
            say.record(one),
            str(one.n),
            "" if say.settled(one) or one.mde is None else say.number(one.mde),
        )
        for one in made
    ]
    header = ("pair", "difference [95 %]", "p adj.", "win/tie/loss", "n", "detectable")
    first = 1 if len(pairs) == 1 else 0  # a pair that is the only one stands in the title
    shown = [header[first:], *(row[first:] for row in rows)]
    room = width - sum(GAP + max(map(cell_len, column)) for column in zip(*shown, strict=True))
    names = ["measure", *(_folded(one.measure, room) for one in made)]
    title = f"Differences: {pairs[0]}" if len(pairs) == 1 else "Differences"
    head, *body = [(name, *row) for name, row in zip(names, shown, strict=True)]
    return columned(title, head, body, words=(0,) if first else (0, 1))


def _folded(name: str, room: int) -> str:
    """A measure's name broken at its joints, where it is longer than there is room for."""
    lines = [""]
    for part in _JOINTS.split(name):
        if lines[-1] and cell_len(lines[-1]) + cell_len(part) > room:
            lines.append("")
        lines[-1] += part
    return "\n".join(lines)


def _not_compared(comparisons: Sequence[Comparison]) -> list[str]:
    """What was refused: one line for each pair and reason, with the measures."""
    groups: dict[tuple[str, str], list[str]] = {}
    for one in comparisons:
        if one.refused:
            # Which items they are stands in the other reports, which have room for it.
            reason = _EXAMPLES.sub("", one.refused)
            groups.setdefault((say.pair_name(one), reason), []).append(one.measure)
    return [f"not compared, {pair} ({why}): {', '.join(names)}" for (pair, why), names in groups.items()]


# ------------------------------------------------------------------------------------ review


def _review(results: Results) -> RenderableType | None:
    """How far people are, and what they found on the items they finished for every system."""
    review = results.review
    if review is None:
        return None
    rows: list[tuple[str, ...]] = []
    for measure, found in reviewed.rates(results, review).items():
        pairs = [one for one in review.comparisons if one.measure == measure and not one.refused]
        rows += [(measure, rate.arm, rate.mean, rate.n, rate.bounds) for rate in found]
        rows += [
            (
                measure,
                say.pair_name(one),
                say.with_interval(one.difference, one.low, one.high, signed=True),
                str(one.n),
                "",
            )
            for one in pairs
        ]
    header = ("measure", "system or pair", "mean or difference [95 %]", "n", "whatever is open")
    named = [
        (measure if at == 0 or rows[at - 1][0] != measure else "", *rest)
        for at, (measure, *rest) in enumerate(rows)
    ]
    return Group(
        plain("Review", "bold"), plain(reviewed.progress(review)), columned("", header, named, words=(0, 1))
    )


# ------------------------------------------------------------------------------------- gates


def _clauses(gate: Verdict, width: int) -> RenderableType:
    """A row a clause, and beneath it why it came out so: a column of prose would be narrow and long."""
    clauses = say.clauses_of(gate)
    header = ("clause", "outcome", "margin [95 %]", "n", "detectable")
    rows = [_clause(clause) for clause in clauses]
    widths = [max(map(cell_len, column)) for column in zip(header, *rows, strict=True)]
    widths[0] = min(widths[0], width - GAP - sum(GAP + each for each in widths[1:]))
    parts: list[RenderableType] = [columned("", header, [], words=(0, 1), widths=widths)] if rows else []
    for clause, row in zip(clauses, rows, strict=True):
        parts.append(columned("", (), [row], words=(0, 1), widths=widths))
        if why := say.clause_outlook(clause):
            parts.append(Padding(plain(why, "dim"), (0, 0, 0, GAP)))
    return Padding(Group(*parts), (0, 0, 0, GAP))


def _clause(clause: ClauseResult) -> tuple[str, ...]:
    return (
        clause.text,
        say.clause_state(clause),
        say.with_interval(clause.value, clause.low, clause.high, signed=True),
        str(clause.n),
        say.number(clause.mde),
    )
