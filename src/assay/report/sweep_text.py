"""A sweep on a terminal: the settings, where they differ, the parameters, the answer in the last lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from assay.report import sweep_changes as changed
from assay.report import sweep_wording as swept
from assay.report import wording as say
from assay.report.text import WIDTH
from assay.report.text_tables import plain, plain_table, side_by_side

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from assay.core.records import Comparison, Estimate
    from assay.core.results import MeasureInfo
    from assay.core.sweep_results import Sweep


def render_sweep(sweep: Sweep, console: Console) -> None:
    """Prints the whole of a sweep."""
    for part in _parts(sweep):
        if isinstance(part, str):
            console.print(plain(part), soft_wrap=True)
        else:
            console.print(part)


def _parts(sweep: Sweep) -> Iterator[str | Table]:
    yield swept.subject(sweep)
    yield ""
    yield _settings(sweep)
    yield from (f"{n}: {note}" for n, one in enumerate(sweep.settings, 1) if (note := swept.note(one)))
    if any(measure.lower_bound for measure in sweep.measures):
        yield say.LOWER_BOUND
    yield "\nFurther measures, time and cost"
    yield _further(sweep)
    for table in _slices(sweep):
        yield f"\n{sweep.measure.name} by {sweep.by} (*: fewer than {say.FEW} items)"
        yield table
    if sweep.parameters:
        yield "\nEach parameter, over all settings of the others"
        yield _parameters(sweep)
    yield ""
    yield from (f"warning: {each}" for each in [*filter(None, [sweep.broken]), *sweep.warnings])
    yield from _answer(sweep)


def _answer(sweep: Sweep) -> Iterator[str]:
    where = f"  report: {sweep.report}" if sweep.report else ""
    if sweep.changes:
        yield changed.answer(sweep)
        yield f"{changed.title(sweep)}{where}"
        return
    yield swept.holding(sweep)
    yield from (swept.fold_sentence(fold) for fold in sweep.folds)
    yield from filter(None, [swept.optimism(sweep), swept.answer(sweep)])
    yield f"{swept.TITLES[swept.outcome(sweep)]}{where}"


def _settings(sweep: Sweep) -> Table:
    """Every setting under the number that the tables below call it by."""
    means = [setting.estimates[0] for setting in sweep.settings]
    samples = [say.sample_size(mean) for mean in means]
    alike = len(set(samples)) == 1  # then the number stands in the header, once
    rows = []
    for number, (setting, mean) in enumerate(zip(sweep.settings, means, strict=True), 1):
        figure = say.with_interval(mean.value, mean.low, mean.high)
        bound = "" if mean.value is None else say.lower_bound_sign(sweep.measure)
        row = [str(number), setting.name, bound + figure]
        row += [say.sample_size(mean)] * (not alike)
        own = changed.AS_IT_IS if sweep.changes else "reference"
        row += [_difference(setting.difference, setting.reference, own), _p_value(setting.difference)]
        rows.append(row + [_record(setting.difference)] * bool(sweep.changes))
    title = f"{sweep.measure.name} [95 %]" + (f", n {samples[0]}" if alike else "")
    header = ["#", "change" if sweep.changes else "setting", title, *["n"] * (not alike), "difference [95 %]"]
    header += ["p adj.", *["win/tie/loss"] * bool(sweep.changes)]
    return plain_table("", header, rows, words=(1,))


def _further(sweep: Sweep) -> Table:
    """The other measures' means, time and cost."""
    paid = any(setting.cost for setting in sweep.settings)
    header = ["#", *(say.measure_title(each) for each in sweep.measures[1:]), "p50 (s)", *["cost"] * paid]
    rows = [
        [
            str(number),
            *(_mean(*pair) for pair in zip(sweep.measures[1:], setting.estimates[1:], strict=True)),
            say.number(setting.seconds),
            *[say.number(setting.cost)] * paid,
        ]
        for number, setting in enumerate(sweep.settings, 1)
    ]
    return plain_table("", header, rows, words=())


def _mean(measure: MeasureInfo, one: Estimate) -> str:
    return ("" if one.value is None else say.lower_bound_sign(measure)) + say.number(one.value)


def _slices(sweep: Sweep) -> list[Table]:
    """The heat map: settings down, values of the tag across, as many as fit."""
    columns = [
        [", ".join(sweep.settings[0].slices[place].where.values())]
        + [_cell(sweep.measure, setting.slices[place]) for setting in sweep.settings]
        for place in swept.applying(sweep)
    ]
    return side_by_side(["#", *(str(number + 1) for number in range(len(sweep.settings)))], columns, WIDTH)


def _cell(measure: MeasureInfo, one: Estimate) -> str:
    mark = "*" if 0 < one.n_scored < say.FEW else ""
    return f"{_mean(measure, one)}{mark} n {say.sample_size(one)}"


def _parameters(sweep: Sweep) -> Table:
    rows = [
        [
            "" if place else parameter.name,
            effect.value,
            _mean(sweep.measure, effect.estimate),
            _difference(effect.difference, effect.reference),
            _p_value(effect.difference),
            str(effect.settings),
        ]
        for parameter in sweep.parameters
        for place, effect in enumerate(parameter.effects)
    ]
    header = ["parameter", "value", sweep.measure.name, "difference [95 %]", "p adj.", "settings"]
    return plain_table("", header, rows, words=(0, 1))


def _difference(one: Comparison | None, reference: bool, own: str = "reference") -> str:
    if one is None or one.difference is None:
        return own if reference else say.NOTHING
    return say.with_interval(one.difference, one.low, one.high, signed=True)


def _record(one: Comparison | None) -> str:
    return "" if one is None else say.win_tie_loss(one).replace(" ", "")


def _p_value(one: Comparison | None) -> str:
    return "" if one is None else say.p_value(one.p_adjusted)
