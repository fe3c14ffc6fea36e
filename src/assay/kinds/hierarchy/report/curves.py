"""Curves over token budgets: one line per system, the budget at parity, and the section with the curves."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import msgspec

from assay.core.protocols import Measure
from assay.core.records import Arm, Estimate, Factors
from assay.core.results import Figure, Results
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
from assay.kinds.hierarchy.statistics import without_cutoff
from assay.measures.declaration import cutoff_of
from assay.pipeline.evaluation import Evaluation
from assay.report import wording as say
from assay.report.wording import with_interval

LEAST = 3  # cut-offs that make a curve
WITHIN = 0.02  # how far a system at parity may fall short of the baseline's unbounded value
AREAS = {"AUC": "A"}  # measures of a whole curve, and the curve
TOKENS = "tokens"
_PARITY = re.compile(r"parity(?:\(within=(?P<within>[\d.]+)\))?\(.*\((?P<whom>[^(){}]+)\) ?\)(?: where .*)?")


class Curve(msgspec.Struct, frozen=True):
    """A measure at several budgets. It is drawn as one line per system."""

    name: str  # A
    budgets: list[int | None]  # rising; None: unbounded, last
    measures: list[str]  # A@200, A@400, …, A@inf
    better: str = "higher"
    about: str = ""
    areas: list[str] = []  # measures of the whole curve: AUC@1200


def curves_of(measures: Sequence[Measure]) -> list[Curve]:
    """Returns the measures that a study takes at three or more token budgets, as curves."""
    families: dict[str, list[Measure]] = {}
    for measure in measures:
        if measure.at == TOKENS:
            families.setdefault(without_cutoff(measure), []).append(measure)
    curves = []
    for name, family in families.items():
        if len(family) >= LEAST:
            budgets = {_budget(each): each for each in family}
            ordered = sorted(budgets, key=lambda budget: math.inf if budget is None else budget)
            about = (type(family[0]).__doc__ or "").strip().partition("\n")[0]
            names = [budgets[budget].name for budget in ordered]
            areas = [each.name for part, of in AREAS.items() if of == name for each in families.get(part, ())]
            curves.append(Curve(name, ordered, names, family[0].better, about, areas))
    return curves


def _budget(measure: Measure) -> int | None:
    return cutoff_of(measure)


def budget_name(budget: int | None) -> str:
    return "∞" if budget is None else str(budget)


@dataclass(frozen=True)
class CurveLine:
    """One arm's means at the budgets of a curve, and the budget at which the arm reaches parity."""

    arm: Arm
    label: str  # the arm without the factors that its panel is about
    points: list[Estimate | None]
    areas: list[Estimate | None]
    parity: Figure | None  # None: there is no reference

    @property
    def sample(self) -> str:
        """The number of items behind the means. If budgets differ, it is the smallest number."""
        known = [point for point in self.points if point is not None]
        fewest = min(known, key=lambda point: point.n_scored, default=None)
        return "0" if fewest is None else say.sample_size(fewest, say.largest_sample(known))

    @property
    def left_out(self) -> str:
        known = [say.absence_text(point.counts) for point in self.points if point is not None]
        return "; ".join(dict.fromkeys(filter(None, known)))

    def mean(self, place: int) -> str:
        """Returns the table's cell for one budget or, after the budgets, one measure of the whole curve."""
        one = [*self.points, *self.areas][place]
        return say.NOTHING if one is None else say.with_interval(one.value, one.low, one.high)

    @property
    def reached(self) -> str:
        """The budget at parity in words. It has no interval if it was read from the means."""
        if self.parity is None:
            return say.NOTHING
        shown = say.figure_value(self.parity)
        return shown if self.parity.name else shown.partition(" [")[0]


@dataclass(frozen=True)
class CurvePanel:
    """A curve under one combination of factors, with one line per arm."""

    curve: Curve
    factors: Factors
    where: str
    lines: list[CurveLine] = field(default_factory=list)
    reference: Estimate | None = None  # the baseline without a limit; None: each is compared with itself

    @property
    def target(self) -> float | None:
        """The value that parity asks for, or None if it is not the same for all arms."""
        value = None if self.reference is None else self.reference.value
        return None if value is None else value - WITHIN

    @property
    def aim(self) -> str:
        """The condition of parity, in words."""
        whom = f"{self.reference.system}'s" if self.reference is not None else "its own"
        return f"within {WITHIN:g} of {whom} unbounded {self.curve.name}"

    @cached_property
    def answer(self) -> str:
        """The result that the picture shows: which system reaches parity with the fewest tokens."""
        found = {line.label: line.parity.value for line in self.lines if line.parity is not None}
        known = {name: value for name, value in found.items() if value is not None}
        if not known:
            return f"{self.curve.name} by token budget"
        least = min(known.values())
        if math.isinf(least):
            most = max(budget for budget in self.curve.budgets if budget is not None)
            return f"no system comes {self.aim} with {most} tokens or fewer"
        names = [name for name, value in known.items() if value == least]
        close = [name for name in known if name not in names and self._overlap(name, names)]
        if len(known) == 1:
            return f"{names[0]} needs {least:g} tokens to come {self.aim}"
        if close:
            comes = "comes" if len(names) == 1 else "come"
            sooner = f"not clearly sooner than {say.name_list(close)}"
            return f"{say.name_list(names)} {comes} {self.aim} at {least:g} tokens, {sooner}"
        need = "needs" if len(names) == 1 else "need"
        return f"{say.name_list(names)} {need} the fewest tokens, {least:g}, to come {self.aim}"

    def _overlap(self, other: str, best: list[str]) -> bool:
        """Whether the interval of another arm's parity begins before the interval of one of the best ends."""
        parity = {line.label: line.parity for line in self.lines if line.parity is not None}
        begins = parity[other].low
        ends = [each.high for name, each in parity.items() if name in best and each.high is not None]
        return begins is not None and math.isfinite(begins) and any(begins <= end for end in ends)

    @property
    def heads(self) -> list[str]:
        """The column heads of the panel's table: the budgets, then the measures of the whole curve."""
        return [*map(budget_name, self.curve.budgets), *self.curve.areas]

    @property
    def noted(self) -> bool:
        return any(line.left_out for line in self.lines)

    @property
    def has_parity(self) -> bool:
        return any(line.parity is not None for line in self.lines)

    @property
    def place(self) -> str:
        """The factors and the slice of the panel, in words."""
        return ", ".join(filter(None, [say.where_text(self.factors), self.where]))


def panels_of(results: Results, curve: Curve) -> list[CurvePanel]:
    """Returns one panel per combination of the factors that all arms have."""
    where = _parity_slice(results, curve)
    found = [one for one in results.estimates if say.where_text(one.where) == where]
    by_arm: dict[str, dict[str, Estimate]] = {}
    for one in found:
        if one.measure in {*curve.measures, *curve.areas}:
            by_arm.setdefault(Arm(one.system, one.factors).name, {})[one.measure] = one
    arms = [next(iter(each.values())) for each in by_arm.values()]
    shared = set.intersection(*(set(one.factors) for one in arms)) if arms else set()
    groups: dict[str, tuple[Factors, list[Arm]]] = {}
    for one in arms:
        factors = {name: value for name, value in one.factors.items() if name in shared}
        group = groups.setdefault(say.where_text(factors), (factors, []))
        group[1].append(Arm(one.system, one.factors))
    return [
        _panel(results, CurvePanel(curve, group[0], where), by_arm, group[1]) for group in groups.values()
    ]


def _panel(
    results: Results, empty: CurvePanel, by_arm: Mapping[str, Mapping[str, Estimate]], arms: Sequence[Arm]
) -> CurvePanel:
    """Returns a panel with its lines. Each line has its parity."""
    curve, own = empty.curve, results.baseline is None
    unbounded = curve.measures[-1] if curve.budgets[-1] is None else ""
    ends = {arm.name: by_arm[arm.name].get(unbounded) for arm in arms}
    base = next((ends[arm.name] for arm in arms if arm.system == results.baseline), None)
    figures = {one.arm: one for one in _parities(results, curve) if one.where == empty.where}
    lines = []
    for arm in arms:
        known = by_arm[arm.name]
        points = [known.get(name) for name in curve.measures]
        parity = figures.get(arm.name) or _parity_of_means(
            curve, arm, points, ends[arm.name] if own else base
        )
        label = Arm(arm.system, {k: v for k, v in arm.factors.items() if k not in empty.factors}).name
        lines.append(CurveLine(arm, label, points, [known.get(name) for name in curve.areas], parity))
    return replace(empty, lines=lines, reference=base)


def _parities(results: Results, curve: Curve) -> Iterator[Figure]:
    """Returns the study's own figures of the budget at parity on this curve.

    If figures have several names, only those with the first name count. A figure with another margin or
    another reference is left out, because the picture does not show it.
    """
    fitting = [
        one
        for one in results.figures
        if one.unit == TOKENS
        and one.system is not None
        and set(one.reads) <= set(curve.measures)
        and _is_drawn_parity(one.text, results.baseline)
    ]
    return (one for one in fitting if one.name == fitting[0].name)


def _is_drawn_parity(text: str, baseline: str | None) -> bool:
    """Whether an expression asks for the parity in the picture: WITHIN of the baseline, its last argument."""
    asked = _PARITY.match(" ".join(text.split()))
    return asked is not None and float(asked["within"] or WITHIN) == WITHIN and asked["whom"] == baseline


def _parity_slice(results: Results, curve: Curve) -> str:
    """Returns the slice that the study computes parity on.

    The result is empty, for all items, if the means on the slice are not known.
    """
    wanted = next((one.where for one in _parities(results, curve)), "") or ""
    known = {say.where_text(one.where) for one in results.estimates if one.measure in curve.measures}
    return wanted if wanted in known else ""


def _parity_of_means(
    curve: Curve, arm: Arm, points: Sequence[Estimate | None], against: Estimate | None
) -> Figure | None:
    """Returns the parity that the means reach, without an interval."""
    if against is None or against.value is None or curve.better != "higher":
        return None
    if not any(point is not None and point.value is not None for point in points):
        return None
    bounded = [budget for budget in curve.budgets if budget is not None]
    reached = (
        float(budget)
        for budget, point in zip(bounded, points, strict=False)
        if point is not None and point.value is not None and point.value >= against.value - WITHIN - 1e-12
    )
    value = next(reached, math.inf)
    return Figure("", arm.system, arm.factors, "", value, unit=TOKENS, most=float(bounded[-1]))


@dataclass(frozen=True)
class BudgetCurves:
    """The section with the curves of a study that measures at three or more budgets."""

    def of(self, evaluation: Evaluation) -> Section | None:
        return curve_section(evaluation.base_results, curves_of(evaluation.study.measures))


def curve_section(results: Results, curves: Sequence[Curve]) -> Section | None:
    """Returns the section with every curve, or None if no curve has a value.

    There is one chart and one table per combination of factors.
    """
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
    """Returns a table with one row per line. A table with a title is for terminals.

    The column heads of such a table are in lower case.
    """
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
