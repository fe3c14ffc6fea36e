"""The results of a sweep in the form in which they are shown."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec

from assay.core.records import Comparison, Estimate, Factors
from assay.core.results import MeasureInfo

SCHEMA = "assay/sweep/1"


class Setting(msgspec.Struct, frozen=True):
    """One setting of a sweep: a point of the grid, or the system with one change."""

    name: str
    factors: Factors
    reference: bool
    estimates: list[Estimate]  # over all items, one per measure, in the order of the sweep's measures
    difference: Comparison | None  # from the reference, in the family of all settings; None: the reference
    slices: list[Estimate]  # of the measure that ranks, by value of `by`
    ranked: bool = True  # false: items are open, or failed without a bound, so it has no rank
    seconds: float | None = None  # the median time of an answer
    cost: float | None = None


class Effect(msgspec.Struct, frozen=True):
    """The effect of one value of a parameter.

    It is averaged over all settings with that value, item by item.
    """

    value: str
    settings: int
    reference: bool
    estimate: Estimate
    difference: Comparison | None  # from the reference's value, in the family of the parameter's values


class Parameter(msgspec.Struct, frozen=True):
    """The effects of one parameter, averaged over the other parameters."""

    name: str
    effects: list[Effect]


class Fold(msgspec.Struct, frozen=True):
    """The setting that is best on one half of the items, and its result on the other half."""

    chosen_on: str  # "A" or "B"
    checked_on: str
    setting: str | None  # None: nothing could be ranked there
    chosen: Comparison | None  # from the reference, on the half where it was chosen; None: the reference
    checked: Comparison | None  # from the reference, on the other half


@dataclass(frozen=True)
class Sweep:
    """The settings of one system, the best first, and how far the best setting can be trusted.

    With `changes`, the first setting is the system as it is. The others have one change each, in the order of
    the file.
    """

    study: str
    system: str
    grid: dict[str, list[str]]  # empty where there are changes
    measures: list[MeasureInfo]  # the first ranks the settings
    by: str | None
    where: dict[str, list[str]]  # conditions on items or settings
    items: int
    settings: list[Setting]
    parameters: list[Parameter]
    folds: list[Fold]
    warnings: list[str]
    broken: str | None = None  # why some settings have no answers
    report: str | None = None  # path of the HTML file
    changes: dict[str, Factors] = field(default_factory=dict)  # by name: the parameters; nothing is ranked

    @property
    def measure(self) -> MeasureInfo:
        """The measure that ranks settings."""
        return self.measures[0]

    @property
    def reference(self) -> Setting:
        """The setting with which the others are compared."""
        return next(setting for setting in self.settings if setting.reference)

    @property
    def best(self) -> Setting | None:
        """The best setting, or None if no setting could be ranked."""
        return self.settings[0] if self.settings[0].ranked else None

    def as_json(self) -> dict[str, Any]:
        """Returns the JSON form, which has a version."""
        return {
            "schema": SCHEMA,
            **msgspec.to_builtins(self),
            "measure": self.measure.name,
            "reference": self.reference.name,
        }
