"""A sweep as one table: a row a setting, for spreadsheets and notebooks."""

from __future__ import annotations

from typing import Any

import polars as pl

from assay.core.sweep_results import Setting, Sweep
from assay.report.wording import is_shown, where_text


def sweep_frame(sweep: Sweep) -> pl.DataFrame:
    """Parameters or change, the first measure with its interval, its difference, the other figures."""
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
        **{each: getattr(one, each, None) for each in ("wins", "ties", "losses")},
        **{each.measure: each.value for each in setting.estimates[1:]},
        "seconds p50": setting.seconds,
        "cost": setting.cost,
    }
