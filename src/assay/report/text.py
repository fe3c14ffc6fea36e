"""Prints the report on a terminal: tables that fit 100 columns, with the answer in the last lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from rich.console import Group
from rich.padding import Padding
from rich.segment import Segments
from rich.table import Table

from assay.core.records import Arm, Comparison, Estimate
from assay.core.results import GO, INCONCLUSIVE, NO_GO, BaselineChanges, ItemView, MeasureInfo, Results
from assay.report import tables, verdicts, wording
from assay.report.tables import Refusals
from assay.report.text_tables import (
    GAP,
    WORDS,
    figure_parts,
    fold_text,
    grid,
    item_tables,
    latency_lines,
    plain,
    plain_table,
    section_parts,
    side_by_side,
    turn_table,
)
from assay.report.verdicts import VerdictWords, proof_line, verdict_words

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


WIDTH = 100
SHOWN_ITEMS = 10  # the most items shown that changed since a baseline
DETECTABLE = "detectable: the smallest true difference that this many items would find 4 times out of 5"
_STYLES = {GO: "bold green", NO_GO: "bold red", INCONCLUSIVE: "bold yellow"}
_DECIDED = {"nothing": "getting nothing"}


def render_text(
    results: Results, console: Console, *, gates_only: bool = False, every_item: bool = False
) -> None:
    """Prints estimates, differences, review and gates.

    The recommendation, the verdict and the path of the report come last.
    """
    # A pipe or a file has no width of its own; rich would fold everything at 80.
    width = min(WIDTH, console.width) if console.is_terminal else WIDTH
    if not gates_only:
        _print_evidence(results, console, width, every=every_item)
    for table in item_tables(results, width) if every_item else ():
        _print_table(console, table, width)
        console.print()
    for gate in verdicts.gates_in_order(results):
        style = _STYLES.get(gate.verdict, "bold") if gate.deciding else ""
        words = verdict_words(gate)
        _print_line(console, f"{gate.gate}: {words.title}", style)
        if gate.about:
            _print_line(console, f"  {gate.about}")
        if tried := proof_line(results, gate.gate):
            _print_line(console, f"  {tried}")
        _print_table(console, _clauses(words, width), width)
        console.print()
    if results.verdicts or (results.comparisons and not gates_only):
        _print_line(console, DETECTABLE, "dim")
        console.print()
    if results.against is not None:
        _print_since(results.against, console, width)
    for warning in results.trust.warnings:
        _print_line(console, f"warning: {warning}", "yellow")
    for line in wording.limit_lines(results):
        _print_line(console, line)
    if results.verdict is None and results.report is None:
        return  # run files have neither gates nor a page
    _print_answer(results, console)


def _print_since(since: BaselineChanges, console: Console, width: int) -> None:
    """Prints what changed since a baseline, item by item."""
    name = since.baseline
    for word, turns in (("worse", since.regressions), ("better", since.recoveries)):
        items = wording.quantity(len({turn.item_id for turn in turns}), "item")
        _print_line(console, f"{word} since {name}: {items if turns else 'nothing'}")
        if shown := turns[:SHOWN_ITEMS]:
            _print_table(console, turn_table(shown, width), width)
        if (more := len(turns) - SHOWN_ITEMS) > 0:
            _print_line(console, f"  and {more} more")
    for what, ids in (
        (f"newer than {name}, not compared", since.added),
        (f"changed since {name}, not compared", since.changed),
        (f"removed since {name}", since.removed),
    ):
        if ids:
            _print_line(
                console,
                f"{what}: {wording.quantity(len(ids), 'item')} ({wording.first_names(ids, SHOWN_ITEMS)})",
            )
    console.print()


def _print_evidence(results: Results, console: Console, width: int, *, every: bool) -> None:
    def of(*places: str) -> list[RenderableType]:
        found = (section for section in results.sections if section.place in places)
        return [part for section in found for part in section_parts(section, width)]

    slices = _slices(results, decisive(results, every=every), width)
    means = (*of("verdict"), *_estimates(results, width))
    figures = (*means, *figure_parts(results, width), *of("systems", "items"), *slices)
    for table in (*figures, *difference_parts(results, width, every=every), _review(results)):
        if table is not None:
            _print_table(console, table, width)
            console.print()
    bounds = wording.LOWER_BOUND if any(measure.lower_bound for measure in results.measures) else ""
    if notes := [*filter(None, [*latency_lines(results), bounds, _unranked(results.items)])]:
        for note in notes:
            _print_line(console, note, "dim")
        console.print()


def _unranked(items: Sequence[ItemView]) -> str:
    """Returns how many items are judged without ranking measures, and how; empty if there are none."""
    kinds = Counter(item.expects for item in items if item.expects is not None)
    if not kinds:
        return ""
    of = f"{wording.quantity(kinds.total(), 'item')} of {len(items)}"
    if [*kinds] == ["nothing"]:
        return f"{of}: nothing is the right answer: ranking measures do not apply"
    found = [f"{count} by {_DECIDED.get(kind, kind)}" for kind, count in kinds.most_common()]
    return f"{of} are judged without ranking measures: {', '.join(found)}"


def _print_answer(results: Results, console: Console) -> None:
    """Prints the last lines: reason, recommendation, open review, verdict and the path of the report."""
    _print_line(console, verdicts.headline(results))
    if told := tables.recommendation(results):
        _print_line(console, told, "bold")
    if outlook := tables.outlook(results):
        _print_line(console, outlook)
    where = f"  report: {results.report}" if results.report else ""
    _print_line(
        console, f"{wording.TITLES[results.verdict]}{where}", _STYLES.get(results.verdict or "", "bold")
    )


def _print_table(console: Console, table: RenderableType, width: int) -> None:
    # `print(width=…)` never exceeds the console's own width, which is a guess where there is no terminal.
    segments = console.render(table, console.options.update(width=width))
    console.print(Segments(segments), soft_wrap=True, end="")


def _print_line(console: Console, line: str, style: str = "") -> None:
    # Lines are not folded: people copy whole paths and clauses.
    console.print(plain(line, style), soft_wrap=True)


def _estimates(results: Results, width: int) -> list[Table]:
    """Returns systems by measures, or measures by systems if that gives one short table."""
    arms = list(
        dict.fromkeys(Arm(one.system, one.factors).name for one in results.estimates if not one.where)
    )
    drawn = {name for section in results.sections for name in section.measures}
    shown = [measure for measure in results.measures if measure.name not in drawn]
    tables = grid(("system", "measure"), arms, [_column(results, each, arms) for each in shown], width)
    if tables:
        tables[0].title = plain("Systems: mean [95 % interval] n", "bold")
    return tables


def _column(results: Results, measure: MeasureInfo, arms: list[str]) -> list[str]:
    found = {Arm(one.system, one.factors).name: one for one in wording.overall(results, measure.name)}
    cells, asked = [wording.measure_title(measure)], wording.largest_sample(found.values())
    for arm in arms:
        one = found.get(arm)
        if one is None or one.value is None:
            cells.append(wording.NOTHING)
        else:
            figure = wording.with_interval(one.value, one.low, one.high)
            cells.append(f"{wording.lower_bound_sign(measure)}{figure} n {wording.sample_size(one, asked)}")
    return cells


def _slices(results: Results, measures: Sequence[MeasureInfo], width: int) -> list[RenderableType]:
    """Returns the means over every tag that the study slices by.

    It does so only for a single system; for several systems the page shows them.
    """
    if len(results.arms) != 1:
        return []
    tables: list[RenderableType] = []
    for tag in results.by:
        found = {(one.where[tag], one.measure): one for one in results.estimates if [*one.where] == [tag]}
        values = list(dict.fromkeys(value for value, _ in found))
        cells = {
            measure: [_mean(measure, found.get((value, measure.name))) for value in values]
            for measure in measures
        }
        applying = [
            [wording.measure_title(measure), *column]
            for measure, column in cells.items()
            if any(column) and not measure.unit
        ]
        if len(values) > 1 and applying:
            tables += side_by_side([tag, *values], applying, width)
    sliced = {one.measure for one in results.estimates if one.where and one.n_expected}
    rest = [
        each for each in results.measures if each.name in sliced and not each.unit and each not in measures
    ]
    return [*tables, plain(unshown("slices of", len(rest), results), "dim")] if rest else tables


def _mean(measure: MeasureInfo, one: Estimate | None) -> str:
    """Writes a mean with its sample size; empty if the measure does not apply."""
    if one is None or not one.n_expected:
        return ""
    bound = "" if one.value is None else wording.lower_bound_sign(measure)
    return f"{bound}{wording.number(one.value)} n {wording.sample_size(one)}"


# ------------------------------------------------------------------------------------ review


def _review(results: Results) -> RenderableType | None:
    """Returns how far the review is, and the rates on the items that were judged for every system."""
    review = results.review
    if review is None:
        return None
    rows: list[tuple[str, ...]] = []
    for measure, found in tables.review_rates(results, review).items():
        pairs = [one for one in review.comparisons if one.measure == measure and not one.refused]
        rows += [(measure, rate.arm, rate.mean, rate.n, rate.bounds) for rate in found]
        rows += [
            (
                measure,
                wording.pair_name(one),
                wording.with_interval(one.difference, one.low, one.high, signed=True),
                str(one.n),
                "",
            )
            for one in pairs
        ]
    header = ("measure", "system or pair", "mean or difference [95 %]", "n", "possible range")
    named = [
        (measure if at == 0 or rows[at - 1][0] != measure else "", *rest)
        for at, (measure, *rest) in enumerate(rows)
    ]
    return Group(
        plain("Review", "bold"),
        plain(tables.progress(review)),
        plain_table("", header, named, words=(0, 1)),
    )


# ------------------------------------------------------------------------------------- gates


def _clauses(gate: VerdictWords, width: int) -> RenderableType:
    """Returns a table with one row per clause.

    Label and reason are beneath the row, because a column of prose would be narrow and long.
    """
    header = ("clause", "outcome", "margin [95 %]", "n", "detectable")
    rows = [(each.text, each.state, each.margin, each.n, each.detectable) for each in gate.clauses]
    widths = [max(map(cell_len, column)) for column in zip(header, *rows, strict=True)]
    widths[0] = min(widths[0], width - GAP - sum(GAP + each for each in widths[1:]))
    parts: list[RenderableType] = [plain_table("", header, [], words=(0, 1), widths=widths)] if rows else []
    for clause, row in zip(gate.clauses, rows, strict=True):
        text = fold_text(row[0], widths[0], WORDS)
        parts.append(plain_table("", (), [(text, *row[1:])], words=(0, 1), widths=widths))
        if clause.beneath:
            parts.append(Padding(plain(clause.beneath, "dim"), (0, 0, 0, GAP)))
    return Padding(Group(*parts), (0, 0, 0, GAP))


# ----------------------------------------------------------------------------------------------

INDENT = "  "
MOST_NAMED = 6  # the most differences named for one gate
FIGURES = ("difference [95 %]", "p adj.", "win/tie/loss", "n", "detectable")


def decisive(results: Results, *, every: bool) -> list[MeasureInfo]:
    """Returns the measures that a gate reads.

    If no gate reads any, or if `every` is true, returns all measures.
    """
    read = {name for gate in results.verdicts for name in gate.reads}
    return [each for each in results.measures if every or not read or each.name in read]


def difference_parts(results: Results, width: int, *, every: bool) -> list[RenderableType]:
    """Returns the differences as a table, and lines about refused differences and where to find the rest."""
    shown = decisive(results, every=every)
    found = [one for measure in shown for one in wording.differences(results, measure.name)]
    made = [one for one in found if not one.refused]
    lines = [*_decided_by_gates(made), *Refusals(results).lines(found)]
    compared = {one.measure for one in results.comparisons if not one.where}
    if rest := len([each for each in results.measures if each.name in compared and each not in shown]):
        lines.append(unshown("differences in", rest, results))
    parts: list[RenderableType] = [_table(made, width)] if made else []
    return [*parts, Group(*(plain(line, "dim") for line in lines))] if lines else parts


def _decided_by_gates(made: Sequence[Comparison]) -> Iterator[str]:
    """Yields lines about differences that a gate decides, with p-values adjusted within that gate."""
    families = dict.fromkeys(one.family for one in made if one.family.startswith("gate "))
    for family in families:
        names = [f"{one.measure} {Arm(one.a, one.factors).name}" for one in made if one.family == family]
        yield f"decided by {family}, with p adjusted within it: {wording.first_names(names, MOST_NAMED)}"


def unshown(what: str, measures: int, results: Results) -> str:
    """Returns a line that says how many measures are not shown here, and where they are."""
    where = "in the report, and with assay run --verbose" if results.report else "assay run --verbose"
    return f"{what} {wording.quantity(measures, 'more measure')} that no gate reads: {where}"


def _table(made: Sequence[Comparison], width: int) -> RenderableType:
    """Returns one row for each measure and system.

    If the rows are too wide, returns one table for each measure.
    """
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
    """Yields the rows of one measure under its name. A long name gets its own line."""
    figures = [FIGURES, *(_figures(one) for one, _ in rows)]
    if not any(row[-1] for row in figures[1:]):
        figures = [row[:-1] for row in figures]  # every difference is shown
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
    """Returns the title, and the head and the cells of the column that names the rows of a measure."""
    pairs = [wording.pair_name(one) for one in made]
    if len(set(pairs)) == 1:
        return f"Differences: {pairs[0]}", "", []
    if len({one.b for one in made}) == 1:
        return f"Differences from {made[0].b}", "system", [Arm(one.a, one.factors).name for one in made]
    return "Differences", "pair", pairs


def _figures(one: Comparison) -> tuple[str, ...]:
    return (
        wording.with_interval(one.difference, one.low, one.high, signed=True),
        wording.p_value(one.p_adjusted if one.p_adjusted is not None else one.p),
        wording.win_tie_loss(one),
        str(one.n),
        "" if wording.is_shown(one) or one.mde is None else wording.number(one.mde),
    )


def _cut(name: str, room: int) -> str:
    return name if cell_len(name) <= room else set_cell_size(name, room - 1) + "…"
