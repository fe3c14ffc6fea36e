"""A sweep as one self-contained page: the answer, the halves, the settings, the slices, the parameters.

Where changes are swept, their differences around 0 stand in the place of halves, settings and parameters.
"""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from assay.core.records import Comparison, Estimate
from assay.core.sweep_results import Fold, Parameter, Sweep
from assay.report import svg
from assay.report import sweep_changes as changed
from assay.report import sweep_wording as swept
from assay.report import wording as say
from assay.report.html import about, point, shade, source_hash, templates

_POLICY = "default-src 'none'; style-src 'sha256-{style}'; base-uri 'none'; form-action 'none'"
COLOUR = "s0"  # all settings are of one system


def render_page(sweep: Sweep) -> bytes:
    """One HTML file with its style inside, that may load nothing from anywhere."""
    pages = templates()
    sheets = [pages.get_template(name).render() for name in ("style.css", "sweep.css")]
    style = Markup("\n".join(sheets))  # noqa: S704 (our own files)
    page = pages.get_template("sweep_changes.html" if sweep.changes else "sweep.html").render(
        sweep=sweep,
        say=say,
        swept=swept,
        changed=changed,
        changes=_changes(sweep),
        svg=svg,
        policy=_POLICY.format(style=source_hash(style)),
        style=style,
        about=about(sweep.measure),
        settings=_settings(sweep),
        paid=any(setting.cost for setting in sweep.settings),
        noted=any(swept.note(setting) for setting in sweep.settings),
        folds=_folds(sweep),
        heat=_heat(sweep),
        parameters=[_parameter(each) for each in sweep.parameters],
    )
    return page.encode()


def _settings(sweep: Sweep) -> dict[str, Any]:
    means = [setting.estimates[0] for setting in sweep.settings]
    axis = svg.axis_over(bound for one in means for bound in (one.value, one.low, one.high))
    rows = []
    for setting, mean in zip(sweep.settings, means, strict=True):
        at = point(mean.value, mean.low, mean.high)
        style = f"{COLOUR} base" if setting.reference else COLOUR
        plot = svg.whisker(axis, at, style, setting.name) if axis and at else ""
        rows.append({"setting": setting, "mean": mean, "style": style, "plot": plot})
    return {"scale": svg.scale(axis) if axis else "", "rows": rows}


def _changes(sweep: Sweep) -> dict[str, Any]:
    """Every change's difference from the system as it is, which stands at zero, in the order written."""
    axis = svg.axis_over(
        (bound for setting in sweep.settings for bound in _ends(setting.difference)), zero=True
    )
    rows = []
    for setting in sweep.settings:
        style = f"{COLOUR} base" if setting.reference else COLOUR
        plot = _difference_plot(setting.difference, axis, style, setting.name)
        if setting.reference and axis:
            plot = svg.whisker(axis, (0.0, 0.0, 0.0), style, setting.name)
        rows.append({"setting": setting, "mean": setting.estimates[0], "style": style, "plot": plot})
    return {"scale": svg.scale(axis) if axis else "", "rows": rows}


def _folds(sweep: Sweep) -> dict[str, Any]:
    """Each half's choice: its difference where it was chosen, and where it was not."""
    axis = svg.axis_over(
        (bound for fold in sweep.folds for one in (fold.chosen, fold.checked) for bound in _ends(one)),
        zero=True,
    )
    rows = [{"fold": fold, **_sides(fold, axis)} for fold in sweep.folds]
    return {"scale": svg.scale(axis) if axis else "", "rows": rows}


def _sides(fold: Fold, axis: svg.Axis | None) -> dict[str, Any]:
    chosen = _difference_plot(fold.chosen, axis, f"{COLOUR} base", f"half {fold.chosen_on}")
    return {
        "chosen": chosen,
        "checked": _difference_plot(fold.checked, axis, COLOUR, f"half {fold.checked_on}"),
    }


def _heat(sweep: Sweep) -> dict[str, Any]:
    """Settings down, values of the tag across: there are more settings than fit side by side."""
    places = swept.applying(sweep)
    sliced = [setting.slices[place] for setting in sweep.settings for place in places]
    solid = [one.value for one in sliced if one.value is not None and one.n_scored >= say.FEW]
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
    """Differences from the reference's value on one axis through zero."""
    axis = svg.axis_over(
        (bound for effect in parameter.effects for bound in _ends(effect.difference)), zero=True
    )
    rows = []
    for effect in parameter.effects:
        style = f"{COLOUR} base" if effect.reference else COLOUR
        plot = _difference_plot(effect.difference, axis, style, effect.value)
        if effect.reference and axis:
            plot = svg.whisker(axis, (0.0, 0.0, 0.0), style, effect.value)
        rows.append({"effect": effect, "style": style, "plot": plot})
    title = swept.parameter_answer(parameter)
    return {"name": parameter.name, "answer": title, "scale": svg.scale(axis) if axis else "", "rows": rows}


def _difference_plot(one: Comparison | None, axis: svg.Axis | None, style: str, title: str) -> Markup | str:
    at = point(one.difference, one.low, one.high) if one is not None else None
    return svg.whisker(axis, at, style, title) if axis and at else ""


def _ends(one: Comparison | None) -> tuple[float | None, ...]:
    return (None,) if one is None else (one.difference, one.low, one.high)
