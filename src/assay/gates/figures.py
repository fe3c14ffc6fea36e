"""Figures: expressions that a study reports with an interval, and that decide nothing.

A figure is an expression of the gate grammar without a comparison. `{system}` in it is replaced by each
system in turn. If arms have factors, there is one value for each combination of the factors that the
expression does not select.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isinf, isnan

import msgspec
import numpy as np

from assay.core.block import FAILED
from assay.core.errors import PluginError, UsageError
from assay.core.protocols import Measure
from assay.core.records import Factors
from assay.core.results import Figure
from assay.gates.evaluator import Evaluator
from assay.gates.gate import StudyNames, operands_of
from assay.gates.grammar import parse_expression
from assay.gates.margin import Margin, clause_margins, statistics_in
from assay.gates.operand import Mean, Operand, means_of
from assay.gates.readiness import count_items, explain_no_rows, explain_undecidable, ways_to_count_failures
from assay.gates.syntax import Call, Clause, Condition, Number

SYSTEM = "{system}"


@dataclass(frozen=True)
class FigureClause:
    """A figure as a clause that compares its expression with zero.

    `system` is the system that replaces `{system}`; None if the expression has no `{system}`.
    """

    name: str
    system: str | None
    text: str  # as written
    clause: Clause


def figure_clauses(name: str, text: str, systems: Sequence[str]) -> list[FigureClause]:
    """Returns the clauses of one figure: one per system if it contains `{system}`."""
    if SYSTEM not in text:
        return [FigureClause(name, None, text.strip(), _against_zero(text))]
    filled = {each: text.replace(SYSTEM, Call(each).head) for each in systems}
    return [FigureClause(name, each, text.strip(), _against_zero(one)) for each, one in filled.items()]


def _against_zero(text: str) -> Clause:
    found, where = parse_expression(text)
    return Clause(found, ">=", Number(0.0), where, text=text.strip())


# --------------------------------------------------------------------------------- before a run


def measures_of_figures(names: StudyNames) -> list[Measure]:
    """Returns every measure that figures read, so that these measures are scored."""
    found = (measure for name in names.figures for measure in measures_of_figure(names, name))
    return list({measure.name: measure for measure in found}.values())


def measures_of_figure(names: StudyNames, name: str) -> list[Measure]:
    """Returns the measures that one figure reads, for any system."""
    read = (mean.measure for found in operands_of_figure(names, name) for mean in means_of(found))
    return list({measure.name: measure for measure in read}.values())


def operands_of_figure(names: StudyNames, name: str) -> Iterator[Operand]:
    """Yields the operands of a figure, for any system."""
    for one in figure_clauses(name, names.figures[name], list(names.system_names)):
        yield from operands_of(one.clause, names)


# ---------------------------------------------------------------------------------- after a run


def evaluate_figures(given: Mapping[str, str], evaluator: Evaluator) -> list[Figure]:
    """Returns every figure by system and combination of factors, with its interval or why it has none."""
    systems = [name for name in evaluator.systems if name in evaluator.rows.systems] or evaluator.rows.systems
    return [
        _figure(one, factors, evaluator)
        for name, text in given.items()
        for one in figure_clauses(name, text, systems)
        for factors in _combinations(one, evaluator)
    ]


def _combinations(one: FigureClause, evaluator: Evaluator) -> list[Factors]:
    """Returns the combinations of the factors that concern a figure and that the figure does not select."""
    means = [mean for found in evaluator.operands(one.clause).values() for mean in means_of(found)]
    picked = {condition.name for mean in means for condition in mean.where}
    arms = [arm for system in {mean.system for mean in means} for arm in evaluator.rows.arms(system)]
    concerned = {factor for arm in arms for factor in arm.factors} - picked
    found = [
        {factor: value for factor, value in combo.items() if factor in concerned}
        for combo in evaluator.rows.combinations
    ]
    return [factors for place, factors in enumerate(found) if factors not in found[:place]]


def _figure(one: FigureClause, factors: Factors, evaluator: Evaluator) -> Figure:
    here = tuple(Condition(name, True, (value,)) for name, value in factors.items())
    clause = replace(one.clause, where=(*one.clause.where, *here))
    operands = evaluator.operands(clause)
    means = list(dict.fromkeys(mean for found in operands.values() for mean in means_of(found)))
    units = {each.traits.unit for each in statistics_in(operands)}
    figure = Figure(
        one.name,
        one.system,
        factors,
        one.text,
        where=_common_slice(means, here),
        reads=list(dict.fromkeys(mean.measure.name for mean in means)),
        unit=units.pop() if len(units) == len(operands) == 1 else "",
    )
    if reason := explain_undecidable(means, evaluator) or explain_no_rows(operands, evaluator, {}):
        return msgspec.structs.replace(figure, reason=reason)
    ways = ways_to_count_failures(means, evaluator)
    failed = count_items(means, evaluator, FAILED)
    try:
        # the last way leaves failed rows out, as tables do: its value is the figure's value
        margins = clause_margins(clause, operands, evaluator, [*ways, {}] if failed else ways)
    except (UsageError, PluginError) as error:
        return msgspec.structs.replace(figure, reason=str(error))
    return _with_value(figure, margins, failed, evaluator.scope(operands.values(), {}).n)


def _common_slice(means: Sequence[Mean], here: Sequence[Condition]) -> str | None:
    """Returns the slice that all parts of a figure have, without factors; None if the slices differ."""
    places = {tuple(each for each in mean.where if each not in here) for mean in means}
    return ", ".join(map(str, places.pop())) if len(places) == 1 else None


def _with_value(figure: Figure, margins: Sequence[Margin], failed: int, n: int) -> Figure:
    """Returns the figure with its value, notes, and an interval over all ways to count failed items."""
    plain = margins[-1]
    lowest = float(np.min([margin.whole.low for margin in margins]))  # NaN where any has none
    highest = float(np.max([margin.whole.high for margin in margins]))
    ends = (plain.whole.value, lowest, highest)
    value, low, high = (None if isnan(end) or (isinf(end) and plain.most is None) else end for end in ends)
    notes = ["the value is undefined"] if value is None else []
    if value is not None and isinf(value):
        notes.append(f"above {plain.most:g}")
    elif high is not None and isinf(high):
        notes.append(f"the upper end is above {plain.most:g}")
    if failed:
        items = f"{failed} item{'s' * (failed != 1)}"
        notes.append(f"{items} failed: left out of the value, and in the interval at both ends of the range")
    return msgspec.structs.replace(
        figure, value=value, low=low, high=high, n=n, reason="; ".join(notes), most=plain.most
    )
