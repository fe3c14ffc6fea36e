"""Shows a sweep as a page, on a terminal and as a table.

It shows the answer, the halves, the settings, the slices and the parameters. For a sweep of changes it shows
their differences around 0 in place of halves, settings and parameters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl
from markupsafe import Markup

from assay.core.records import Comparison, Estimate
from assay.core.sweep_results import Fold, Parameter, Setting, Sweep
from assay.report import charts, sweep_wording, wording
from assay.report.html import about, point, shade, source_hash, templates
from assay.report.text import WIDTH
from assay.report.text_tables import plain, plain_table, side_by_side
from assay.report.wording import is_shown, where_text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from assay.core.records import Comparison, Estimate
    from assay.core.results import MeasureInfo
    from assay.core.sweep_results import Sweep


_POLICY = "default-src 'none'; style-src 'sha256-{style}'; base-uri 'none'; form-action 'none'"
COLOUR = "s0"  # all settings are of one system


def render_page(sweep: Sweep) -> bytes:
    """Returns one HTML file with its style inside. The file loads nothing from anywhere."""
    pages = templates()
    sheets = [pages.get_template(name).render() for name in ("style.css", "sweep.css")]
    style = Markup("\n".join(sheets))  # noqa: S704 (our own files)
    page = pages.get_template("sweep.html").render(
        sweep=sweep,
        wording=wording,
        sweep_wording=sweep_wording,
        changes=_changes(sweep),
        charts=charts,
        policy=_POLICY.format(style=source_hash(style)),
        style=style,
        about=about(sweep.measure),
        settings=_settings(sweep),
        paid=any(setting.cost for setting in sweep.settings),
        noted=any(sweep_wording.note(setting) for setting in sweep.settings),
        folds=_folds(sweep),
        heat=_heat(sweep),
        parameters=[_parameter(each) for each in sweep.parameters],
    )
    return page.encode()


def _settings(sweep: Sweep) -> dict[str, Any]:
    means = [setting.estimates[0] for setting in sweep.settings]
    axis = charts.axis_over(bound for one in means for bound in (one.value, one.low, one.high))
    rows = []
    for setting, mean in zip(sweep.settings, means, strict=True):
        at = point(mean.value, mean.low, mean.high)
        style = f"{COLOUR} base" if setting.reference else COLOUR
        plot = charts.whisker(axis, at, style, setting.name) if axis and at else ""
        rows.append({"setting": setting, "mean": mean, "style": style, "plot": plot})
    return {"scale": charts.scale(axis) if axis else "", "rows": rows}


def _changes(sweep: Sweep) -> dict[str, Any]:
    """Returns the difference of every change from the unchanged system, in the order written.

    The unchanged system is at zero.
    """
    drawn = _around_zero([(each.name, each.difference, each.reference) for each in sweep.settings])
    rows = [
        row | {"setting": setting, "mean": setting.estimates[0]}
        for row, setting in zip(drawn["rows"], sweep.settings, strict=True)
    ]
    return {"scale": drawn["scale"], "rows": rows}


def _around_zero(entries: Sequence[tuple[str, Comparison | None, bool]]) -> dict[str, Any]:
    """Draws differences on one axis.

    An entry has a name, a difference, and whether it is the reference, which is at zero.
    """
    axis = charts.axis_over((bound for _, one, _ in entries for bound in _ends(one)), zero=True)
    rows = []
    for name, one, reference in entries:
        style = f"{COLOUR} base" if reference else COLOUR
        plot = _difference_plot(one, axis, style, name)
        if reference and axis:
            plot = charts.whisker(axis, (0.0, 0.0, 0.0), style, name)
        rows.append({"style": style, "plot": plot})
    return {"scale": charts.scale(axis) if axis else "", "rows": rows}


def _folds(sweep: Sweep) -> dict[str, Any]:
    """Returns the choice of each half: its difference on the half that chose it, and on the other half."""
    axis = charts.axis_over(
        (bound for fold in sweep.folds for one in (fold.chosen, fold.checked) for bound in _ends(one)),
        zero=True,
    )
    rows = [{"fold": fold, **_sides(fold, axis)} for fold in sweep.folds]
    return {"scale": charts.scale(axis) if axis else "", "rows": rows}


def _sides(fold: Fold, axis: charts.Axis | None) -> dict[str, Any]:
    chosen = _difference_plot(fold.chosen, axis, f"{COLOUR} base", f"half {fold.chosen_on}")
    return {
        "chosen": chosen,
        "checked": _difference_plot(fold.checked, axis, COLOUR, f"half {fold.checked_on}"),
    }


def _heat(sweep: Sweep) -> dict[str, Any]:
    """Returns a heat map with a row per setting and a column per value of the tag.

    Settings are rows because there are more of them than fit side by side.
    """
    places = sweep_wording.applying(sweep)
    sliced = [setting.slices[place] for setting in sweep.settings for place in places]
    solid = [one.value for one in sliced if one.value is not None and one.n_scored >= wording.FEW]
    values = list(dict.fromkeys(value for one in sliced for value in one.where.values()))
    rows = [
        (setting, [_cell(sweep, setting.slices[place], solid) for place in places])
        for setting in sweep.settings
        if values
    ]
    return {"values": values, "rows": rows}


def _cell(sweep: Sweep, one: Estimate, solid: list[float]) -> dict[str, Any]:
    return {"estimate": one, "style": shade(one, solid, sweep.measure.better)}


def _parameter(parameter: Parameter) -> dict[str, Any]:
    """Returns the differences of a parameter's values from the value of the reference."""
    effects = parameter.effects
    drawn = _around_zero([(each.value, each.difference, each.reference) for each in effects])
    rows = [row | {"effect": effect} for row, effect in zip(drawn["rows"], effects, strict=True)]
    title = sweep_wording.parameter_answer(parameter)
    return {"name": parameter.name, "answer": title, "scale": drawn["scale"], "rows": rows}


def _difference_plot(
    one: Comparison | None, axis: charts.Axis | None, style: str, title: str
) -> Markup | str:
    at = point(one.difference, one.low, one.high) if one is not None else None
    return charts.whisker(axis, at, style, title) if axis and at else ""


def _ends(one: Comparison | None) -> tuple[float | None, ...]:
    return (None,) if one is None else (one.difference, one.low, one.high)


# ----------------------------------------------------------------------------------------------


def render_sweep(sweep: Sweep, console: Console) -> None:
    """Prints a sweep."""
    for part in _parts(sweep):
        if isinstance(part, str):
            console.print(plain(part), soft_wrap=True)
        else:
            console.print(part)


def _parts(sweep: Sweep) -> Iterator[str | Table]:
    yield sweep_wording.subject(sweep)
    yield ""
    yield _settings_table(sweep)
    yield from (
        f"{n}: {note}" for n, one in enumerate(sweep.settings, 1) if (note := sweep_wording.note(one))
    )
    if any(measure.lower_bound for measure in sweep.measures):
        yield wording.LOWER_BOUND
    yield "\nFurther measures, time and cost"
    yield _further(sweep)
    for table in _slices(sweep):
        yield f"\n{sweep.measure.name} by {sweep.by} (*: fewer than {wording.FEW} items)"
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
        yield sweep_wording.change_answer(sweep)
        yield f"{sweep_wording.change_title(sweep)}{where}"
        return
    yield sweep_wording.holding(sweep)
    yield from (sweep_wording.fold_sentence(fold) for fold in sweep.folds)
    yield from filter(None, [sweep_wording.optimism(sweep), sweep_wording.answer(sweep)])
    yield f"{sweep_wording.TITLES[sweep_wording.outcome(sweep)]}{where}"


def _settings_table(sweep: Sweep) -> Table:
    """Returns a table of all settings. The tables below it refer to settings by the numbers of this table."""
    means = [setting.estimates[0] for setting in sweep.settings]
    samples = [wording.sample_size(mean) for mean in means]
    alike = len(set(samples)) == 1  # then only the header shows the number
    rows = []
    for number, (setting, mean) in enumerate(zip(sweep.settings, means, strict=True), 1):
        figure = wording.with_interval(mean.value, mean.low, mean.high)
        bound = "" if mean.value is None else wording.lower_bound_sign(sweep.measure)
        row = [str(number), setting.name, bound + figure]
        row += [wording.sample_size(mean)] * (not alike)
        own = sweep_wording.AS_IT_IS if sweep.changes else "reference"
        row += [_difference(setting.difference, setting.reference, own), _p_value(setting.difference)]
        rows.append(row + [_record(setting.difference)] * bool(sweep.changes))
    title = f"{sweep.measure.name} [95 %]" + (f", n {samples[0]}" if alike else "")
    header = ["#", "change" if sweep.changes else "setting", title, *["n"] * (not alike), "difference [95 %]"]
    header += ["p adj.", *["win/tie/loss"] * bool(sweep.changes)]
    return plain_table("", header, rows, words=(1,))


def _further(sweep: Sweep) -> Table:
    """Returns the means of the other measures, time and cost."""
    paid = any(setting.cost for setting in sweep.settings)
    header = ["#", *(wording.measure_title(each) for each in sweep.measures[1:]), "p50 (s)", *["cost"] * paid]
    rows = [
        [
            str(number),
            *(_mean(*pair) for pair in zip(sweep.measures[1:], setting.estimates[1:], strict=True)),
            wording.number(setting.seconds),
            *[wording.number(setting.cost)] * paid,
        ]
        for number, setting in enumerate(sweep.settings, 1)
    ]
    return plain_table("", header, rows, words=())


def _mean(measure: MeasureInfo, one: Estimate) -> str:
    return ("" if one.value is None else wording.lower_bound_sign(measure)) + wording.number(one.value)


def _slices(sweep: Sweep) -> list[Table]:
    """Returns the heat map: a row per setting, and in one table as many values of the tag as fit."""
    columns = [
        [", ".join(sweep.settings[0].slices[place].where.values())]
        + [_slice_cell(sweep.measure, setting.slices[place]) for setting in sweep.settings]
        for place in sweep_wording.applying(sweep)
    ]
    return side_by_side(["#", *(str(number + 1) for number in range(len(sweep.settings)))], columns, WIDTH)


def _slice_cell(measure: MeasureInfo, one: Estimate) -> str:
    mark = "*" if 0 < one.n_scored < wording.FEW else ""
    return f"{_mean(measure, one)}{mark} n {wording.sample_size(one)}"


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
        return own if reference else wording.NOTHING
    return wording.with_interval(one.difference, one.low, one.high, signed=True)


def _record(one: Comparison | None) -> str:
    return "" if one is None else wording.win_tie_loss(one).replace(" ", "")


def _p_value(one: Comparison | None) -> str:
    return "" if one is None else wording.p_value(one.p_adjusted)


# ----------------------------------------------------------------------------------------------


def sweep_frame(sweep: Sweep) -> pl.DataFrame:
    """Returns one row per setting.

    A row has the parameters or the change, the first measure with its interval and its difference, and the
    other values.
    """
    return pl.DataFrame([_row(sweep, setting) for setting in sweep.settings], infer_schema_length=None)


def _row(sweep: Sweep, setting: Setting) -> dict[str, Any]:
    mean, one = setting.estimates[0], setting.difference
    name = sweep.measure.name
    change = {"change": setting.name, "sets": where_text(setting.factors)} if sweep.changes else {}
    return {
        **change,
        **{factor: setting.factors.get(factor) for factor in sweep.grid},
        "reference": setting.reference,
        name: mean.value,
        f"{name} low": mean.low,
        f"{name} high": mean.high,
        "n_scored": mean.n_scored,
        "n_expected": mean.n_expected,
        "difference": one.difference if one else None,
        "difference low": one.low if one else None,
        "difference high": one.high if one else None,
        "p_adjusted": one.p_adjusted if one else None,
        "holds": is_shown(one) if one else None,
        "wins": one.wins if one else None,
        "ties": one.ties if one else None,
        "losses": one.losses if one else None,
        **{each.measure: each.value for each in setting.estimates[1:]},
        "seconds p50": setting.seconds,
        "cost": setting.cost,
    }
