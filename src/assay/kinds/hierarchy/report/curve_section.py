"""Curves over token budgets as a section: a chart and a table per panel."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assay.core.results import Results
from assay.core.section import (
    BlockGroup,
    Chart,
    ChartPoint,
    ChartSeries,
    Section,
    SectionBlock,
    Table,
    TableCell,
    TableColumn,
    Text,
)
from assay.kinds.hierarchy.report.curves import (
    Curve,
    CurveLine,
    CurvePanel,
    budget_name,
    curves_of,
    panels_of,
)
from assay.pipeline.evaluation import Evaluation
from assay.report.wording import with_interval


@dataclass(frozen=True)
class BudgetCurves:
    """The curves of a study that measures at three or more budgets."""

    def of(self, evaluation: Evaluation) -> Section | None:
        return curve_section(evaluation.shown, curves_of(evaluation.study.measures))


def curve_section(results: Results, curves: Sequence[Curve]) -> Section | None:
    """Every curve, one chart and table per combination of factors; None where nothing is known of any."""
    by_curve = {curve.name: panels for curve in curves if (panels := panels_of(results, curve))}
    if not by_curve:
        return None
    known = [curve for curve in curves if curve.name in by_curve]
    return Section(
        key="budgets",
        name="Budgets",
        title="What does a token budget buy?",
        lead="Lines: means by token budget, with 95 % bands; ∞: no limit.",
        place="verdict",
        blocks=[BlockGroup(_title(panels), list(_blocks(panels))) for panels in by_curve.values()],
        brief=[_table(panel, title=_answer(panel)) for panels in by_curve.values() for panel in panels],
        measures=[name for curve in known for name in (*curve.measures, *curve.areas)],
        drawn=[name for curve in known for name in curve.measures],
    )


def _title(panels: Sequence[CurvePanel]) -> str:
    return panels[0].answer if len(panels) == 1 else f"{panels[0].curve.name} by token budget"


def _answer(panel: CurvePanel) -> str:
    place = f" ({panel.place})" if panel.place else ""
    return f"{panel.curve.name} by tokens, mean [95 % interval]{place}: {panel.answer}"


def _blocks(panels: Sequence[CurvePanel]) -> Iterator[SectionBlock]:
    first = panels[0]
    ringed = " Ringed: the smallest budget at parity." if any(each.has_parity for each in panels) else ""
    aim = f" Dashed across: {first.aim}." if any(each.target is not None for each in panels) else ""
    yield Text([f"{first.curve.about}{ringed}{aim}"], "quiet")
    for panel in panels:
        yield _chart(panel, several=len(panels) > 1)
        place = f", {panel.place}" if panel.place else ""
        yield _table(panel, name=f"{panel.curve.name} by token budget{place}")


def _chart(panel: CurvePanel, *, several: bool) -> Chart:
    lines = [ChartSeries(line.label, list(_points(panel, line)), line.arm.name) for line in panel.lines]
    title = f"{panel.place}: {panel.answer}" if several else panel.place
    return Chart("lines", lines, title, target=panel.target, breaks=list(panel.curve.budgets))


def _points(panel: CurvePanel, line: CurveLine) -> Iterator[ChartPoint]:
    for budget, point in zip(panel.curve.budgets, line.points, strict=True):
        if point is not None and point.value is not None and math.isfinite(point.value):
            parity = line.parity is not None and budget is not None and line.parity.value == budget
            figure = with_interval(point.value, point.low, point.high)
            text = f"{line.arm.name} at {budget_name(budget)}: {figure}"
            yield ChartPoint(budget, point.value, point.low, point.high, text, ringed=parity)


def _table(panel: CurvePanel, *, title: str = "", name: str = "") -> Table:
    """A row per line. Under a title of its own it is for terminals, where heads have no capitals."""
    system, parity, note = (
        ("system", "parity, tokens", "note") if title else ("System", "Parity, tokens", "Note")
    )
    columns = [
        TableColumn(system, figure=False),
        *map(TableColumn, panel.heads),
        *([TableColumn(parity)] if panel.has_parity else []),
        TableColumn("n"),
        *([TableColumn(note, figure=False)] if panel.noted else []),
    ]
    rows = [
        [
            TableCell(line.label, system=line.arm.name),
            *(_mean(line, place) for place, _ in enumerate(panel.heads)),
            *([TableCell(line.reached)] if panel.has_parity else []),
            TableCell(line.sample),
            *([TableCell(line.left_out)] if panel.noted else []),
        ]
        for line in panel.lines
    ]
    return Table(columns, rows, title, name=name)


def _mean(line: CurveLine, place: int) -> TableCell:
    one = [*line.points, *line.areas][place]
    values = (None, None, None) if one is None else (one.value, one.low, one.high)
    return TableCell(line.mean(place), "", *values)
