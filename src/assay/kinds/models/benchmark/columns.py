"""The names of measures in a benchmark's files: RR@10 is `mrr`, Success@5 is `hit_at_5`.

Names are parsed as text, so a measure from a study's own registry has a column too.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from assay.core.errors import UsageError
from assay.core.results import MeasureInfo
from assay.core.spec import Spec, parse_spec
from assay.report import wording as say

# The columns that every table of queries has, measured or not.
NAMED: dict[str, pl.DataType] = {
    "mrr": pl.Float64(),
    "hit_at_1": pl.Boolean(),
    "hit_at_5": pl.Boolean(),
    "hit_at_10": pl.Boolean(),
    "precision_at_5": pl.Float64(),
    "recall_at_10": pl.Float64(),
    "ndcg_at_10": pl.Float64(),
    "embed_latency_ms": pl.Float64(),
    "search_latency_ms": pl.Float64(),
    "total_latency_ms": pl.Float64(),
}
RATES = ("semantic_precision", "semantic_lift", "false_positive_rate")
ADJUSTED, DOCUMENT = "adjusted_", "report_"

_WHOLE = {
    "RR": "mrr",
    "SemanticPrecision": "semantic_precision",
    "SemanticLift": "semantic_lift",
    "FalsePositiveRate": "false_positive_rate",
}
_CUT = {
    "Success": "hit",
    "P": "precision",
    "R": "recall",
    "nDCG": "ndcg",
    "SectionAccuracy": "section_accuracy",
}
# More relevant passages can only raise these. Recall and nDCG divide by what there is to find, and may fall.
_NAME = re.compile(r"(?P<head>.+?)(?:@(?P<cutoff>\w+))?")


@dataclass(frozen=True)
class MeasureColumn:
    """One measure, with the name of its column."""

    name: str
    measure: str
    family: str
    adjusted: bool = False  # whether the measure reads people's marks
    stage: str | None = None  # the stage of a latency
    depth: int | None = None  # how many hits the measure reads; None: all of them

    @property
    def scale(self) -> float:
        """The factor that values are multiplied by: 1000 for times, which are given in milliseconds."""
        return 1.0 if self.stage is None else 1000.0

    @property
    def is_flag(self) -> bool:
        """Whether the value of one query is true or false."""
        return self.family == "Success"

    @property
    def is_rate(self) -> bool:
        """Whether the measure is one of the rates that only a review gives."""
        return self.family in _WHOLE and self.family != "RR"

    @property
    def only_rises(self) -> bool:
        """Whether people's marks beyond the rules can raise the value, and never lower it."""
        return say.only_rises(self.measure)

    @property
    def dtype(self) -> pl.DataType:
        return pl.Boolean() if self.is_flag else pl.Float64()

    def scaled(self, value: float | None) -> float | None:
        return None if value is None or not math.isfinite(value) else value * self.scale


@dataclass(frozen=True)
class _MeasureName:
    """The parts of a measure's name."""

    text: str
    family: str
    cutoff: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def prefix(self) -> str:
        adjusted = ADJUSTED if "review" in str(self.params.get("label", "")).split("|") else ""
        return adjusted + (DOCUMENT if self.params.get("view") == "document" else "")

    @property
    def others(self) -> dict[str, Any]:
        """The parameters that the column's name does not show."""
        told = {"view", "label", "stage"} if self.family == "Seconds" else {"view", "label"}
        return {name: value for name, value in self.params.items() if name not in told}

    @property
    def depth(self) -> float:
        return int(self.cutoff) if self.cutoff.isdecimal() else math.inf

    @property
    def wanted(self) -> str:
        """The name that the column gets, unless another measure has a better claim to the name."""
        if self.family == "Seconds":
            return f"{_column_text(str(self.params.get('stage', 'total')))}_latency_ms"
        if self.family in _WHOLE:
            return self.prefix + _WHOLE[self.family]
        if self.family in _CUT:
            cut = f"_at_{self.cutoff}" if self.cutoff.isdecimal() else ""
            return self.prefix + _CUT[self.family] + cut
        return self.own

    @property
    def own(self) -> str:
        """The measure's full name, written as a column's name."""
        cut = f"@{self.cutoff}" if self.cutoff else ""
        return self.prefix + _column_text(f"{Spec(self.family, self.others)}{cut}")


def columns_of(measures: Sequence[MeasureInfo]) -> list[MeasureColumn]:
    """Returns one column per measure, in the study's order.

    If several measures want a name, the measure with the fewest parameters gets it. If these are equal, the
    measure with the highest cut-off gets it.
    """
    readings = [_parse_name(info.name) for info in measures]
    ranked = sorted(readings, key=lambda each: (len(each.others), -each.depth))
    names: dict[str, str] = {}
    taken: set[str] = set()
    for each in ranked:
        free = next(name for name in (each.wanted, each.own, *_numbered_names(each.own)) if name not in taken)
        names[each.text] = free
        taken.add(free)
    return [_column(each, names[each.text]) for each in readings]


def column_name(measure: str) -> str:
    """Returns the name that the column of a single measure wants."""
    return _parse_name(measure).wanted


def _column(reading: _MeasureName, name: str) -> MeasureColumn:
    stage = str(reading.params.get("stage", "total")) if reading.family == "Seconds" else None
    depth = int(reading.cutoff) if reading.cutoff.isdecimal() else None
    return MeasureColumn(
        name, reading.text, reading.family, reading.prefix.startswith(ADJUSTED), stage, depth
    )


def _parse_name(text: str) -> _MeasureName:
    found = _NAME.fullmatch(text)
    try:
        spec = parse_spec(found["head"]) if found else Spec(text)
    except UsageError:
        return _MeasureName(text, text)
    return _MeasureName(text, spec.name, (found["cutoff"] or "") if found else "", spec.params)


def _column_text(text: str) -> str:
    return re.sub(r"\W+", "_", text.lower()).strip("_") or "measure"


def _numbered_names(name: str) -> list[str]:
    return [f"{name}_{number}" for number in range(2, 1000)]
