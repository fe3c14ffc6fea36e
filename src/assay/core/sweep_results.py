"""What a sweep found, ready to be shown."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec

from assay.core.records import Comparison, Estimate, Factors
from assay.core.results import MeasureInfo

SCHEMA = "assay/sweep/1"


class Setting(msgspec.Struct, frozen=True):
    """One point of the grid, or the system with one change."""

    name: str
    factors: Factors
    reference: bool
    estimates: list[Estimate]  # over all items, a measure each, in the order of the sweep's measures
    difference: Comparison | None  # from the reference, decided among all settings; None: it is the reference
    slices: list[Estimate]  # of the measure that ranks, by value of `by`
    ranked: bool = True  # false: items are open, or failed without a bound, so that it has no place
    seconds: float | None = None  # the median of an answer
    cost: float | None = None


class Effect(msgspec.Struct, frozen=True):
    """One value of a parameter, over all settings that have it: each item counts with its mean over them."""

    value: str
    settings: int
    reference: bool
    estimate: Estimate
    difference: Comparison | None  # from the reference's value, decided among the values of the parameter


class Parameter(msgspec.Struct, frozen=True):
    """What one parameter does, whatever the others are."""

    name: str
    effects: list[Effect]


class Fold(msgspec.Struct, frozen=True):
    """The best setting of one half of the items, and what it does on the other half."""

    chosen_on: str  # "A" or "B"
    checked_on: str
    setting: str | None  # None: nothing could be ranked there
    chosen: Comparison | None  # from the reference, on the half it was chosen on; None: it is the reference
    checked: Comparison | None  # from the reference, on the other half


@dataclass(frozen=True)
class Sweep:
    """A grid of settings of one system, best first, and how far the best can be trusted.

    Or the system as it is, and after it with one change at a time, in the order they are written.
    """

    study: str
    system: str
    grid: dict[str, list[str]]  # empty where there are changes
    measures: list[MeasureInfo]  # the first ranks the settings
    by: str | None
    where: dict[str, list[str]]  # what narrows items or settings
    items: int
    settings: list[Setting]
    parameters: list[Parameter]
    folds: list[Fold]
    warnings: list[str]
    broken: str | None = None  # why some settings have no answers
    report: str | None = None  # path of the HTML file
    changes: dict[str, Factors] = field(default_factory=dict)  # by name: what is set; nothing is ranked

    @property
    def measure(self) -> MeasureInfo:
        """What settings are ranked by."""
        return self.measures[0]

    @property
    def reference(self) -> Setting:
        """What the others are compared with."""
        return next(setting for setting in self.settings if setting.reference)

    @property
    def best(self) -> Setting | None:
        """The first, unless nothing could be ranked."""
        return self.settings[0] if self.settings[0].ranked else None

    def as_json(self) -> dict[str, Any]:
        """The versioned JSON form."""
        return {
            "schema": SCHEMA,
            **msgspec.to_builtins(self),
            "measure": self.measure.name,
            "reference": self.reference.name,
        }
