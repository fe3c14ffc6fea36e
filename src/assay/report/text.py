"""The report on a terminal: tables that fit 100 columns, the answer in the last lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Group
from rich.padding import Padding
from rich.segment import Segments
from rich.table import Table

from assay.core.records import Arm, Estimate
from assay.core.results import GO, INCONCLUSIVE, NO_GO, BaselineChanges, ItemView, MeasureInfo, Results
from assay.report import review as reviewed
from assay.report import wording as say
from assay.report.proofs import proof_line
from assay.report.text_differences import decisive, difference_parts, unshown
from assay.report.text_figures import figure_parts, section_parts
from assay.report.text_tables import (
    GAP,
    WORDS,
    fold_text,
    grid,
    item_tables,
    latency_lines,
    plain,
    plain_table,
    side_by_side,
    turn_table,
)
from assay.report.verdict_words import VerdictWords, verdict_words

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

WIDTH = 100
SHOWN_ITEMS = 10  # of those that changed since a baseline
DETECTABLE = "detectable: the smallest true difference that this many items would find 4 times out of 5"
_STYLES = {GO: "bold green", NO_GO: "bold red", INCONCLUSIVE: "bold yellow"}
_DECIDED = {"nothing": "getting nothing"}


def render_text(
    results: Results, console: Console, *, gates_only: bool = False, every_item: bool = False
) -> None:
    """Prints estimates, differences, review, gates and, last, what to do and where the report lies."""
    # A pipe or a file has no width of its own; rich would fold everything at 80.
    width = min(WIDTH, console.width) if console.is_terminal else WIDTH
    if not gates_only:
        _print_evidence(results, console, width, every=every_item)
    for table in item_tables(results, width) if every_item else ():
        _print_table(console, table, width)
        console.print()
    for gate in say.gates_in_order(results):
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
    for line in say.limit_lines(results):
        _print_line(console, line)
    if results.verdict is None and results.report is None:
        return  # run files: nothing gates them, and there is no page
    _print_answer(results, console)


def _print_since(since: BaselineChanges, console: Console, width: int) -> None:
    """What changed since a baseline, item by item."""
    name = since.baseline
    for word, turns in (("worse", since.regressions), ("better", since.recoveries)):
        items = say.quantity(len({turn.item_id for turn in turns}), "item")
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
                console, f"{what}: {say.quantity(len(ids), 'item')} ({say.first_names(ids, SHOWN_ITEMS)})"
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
    bounds = say.LOWER_BOUND if any(measure.lower_bound for measure in results.measures) else ""
    if notes := [*filter(None, [*latency_lines(results), bounds, _unranked(results.items)])]:
        for note in notes:
            _print_line(console, note, "dim")
        console.print()


def _unranked(items: Sequence[ItemView]) -> str:
    """How many items no ranking can be right on, and what decides them; nothing where there is none."""
    kinds = Counter(item.expects for item in items if item.expects is not None)
    if not kinds:
        return ""
    of = f"{say.quantity(kinds.total(), 'item')} of {len(items)}"
    if [*kinds] == ["nothing"]:
        return f"{of}: nothing is the right answer: ranking measures do not apply"
    found = [f"{count} by {_DECIDED.get(kind, kind)}" for kind, count in kinds.most_common()]
    return f"{of} are judged without ranking measures: {', '.join(found)}"


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
    drawn = {name for section in results.sections for name in section.measures}
    shown = [measure for measure in results.measures if measure.name not in drawn]
    tables = grid(("system", "measure"), arms, [_column(results, each, arms) for each in shown], width)
    if tables:
        tables[0].title = plain("Systems: mean [95 % interval] n", "bold")
    return tables


def _column(results: Results, measure: MeasureInfo, arms: list[str]) -> list[str]:
    found = {Arm(one.system, one.factors).name: one for one in say.overall(results, measure.name)}
    cells, asked = [say.measure_title(measure)], say.largest_sample(found.values())
    for arm in arms:
        one = found.get(arm)
        if one is None or one.value is None:
            cells.append(say.NOTHING)
        else:
            figure = say.with_interval(one.value, one.low, one.high)
            cells.append(f"{say.lower_bound_sign(measure)}{figure} n {say.sample_size(one, asked)}")
    return cells


def _slices(results: Results, measures: Sequence[MeasureInfo], width: int) -> list[RenderableType]:
    """Of one system, the means over every tag that the study slices by; of several, the page shows them."""
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
            [say.measure_title(measure), *column]
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
    """A mean with its sample, and nothing where the measure does not apply."""
    if one is None or not one.n_expected:
        return ""
    bound = "" if one.value is None else say.lower_bound_sign(measure)
    return f"{bound}{say.number(one.value)} n {say.sample_size(one)}"


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
        plain("Review", "bold"),
        plain(reviewed.progress(review)),
        plain_table("", header, named, words=(0, 1)),
    )


# ------------------------------------------------------------------------------------- gates


def _clauses(gate: VerdictWords, width: int) -> RenderableType:
    """One row per clause, beneath it what it shows and why: a column of prose would be narrow and long."""
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
