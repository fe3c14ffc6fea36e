"""The statistics of a sweep: differences from the reference, effects of parameters, and the best setting.

Settings are compared like systems: paired by item, with intervals, tests and corrections. Failed items are
counted once as the best and once as the worst value. A comparison that is not valid is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.core.block import FAILED, PENDING, UNJUDGED
from assay.core.protocols import Measure
from assay.core.records import Comparison, Estimate, Factors, Item
from assay.core.sweep_results import Effect, Fold, Parameter, Setting
from assay.stats.compare import ComparisonSettings, summarise
from assay.stats.resample import random_generator
from assay.stats.rows import Rows

HALF = "half of the sweep"  # a tag that is added to items
HALVES = ("A", "B")


@dataclass(frozen=True)
class SweepStatistics:
    """The scores of all settings. The methods compute the statistics from these scores."""

    scores: pl.DataFrame  # as the score stage wrote them; `arm` has the name of a setting
    items: Sequence[Item]
    settings: Mapping[str, Factors]  # by name, in the order of the grid or of the changes
    reference: str
    measures: Sequence[Measure]  # the first ranks
    by: str | None = None
    cluster: str | None = None
    resamples: int = 10_000
    seed: int = 0

    @property
    def measure(self) -> Measure:
        return self.measures[0]

    def ranked(self) -> list[Setting]:
        """Returns the settings, best first. Equal settings keep their order; unranked settings come last."""
        return sorted(self.listed(), key=lambda setting: -self._standing(setting.name, self._everywhere))

    def listed(self) -> list[Setting]:
        """Returns the settings in the order of the file, each compared with the reference."""
        first, plain = [self.measure], ComparisonSettings("", "none", resamples=self.resamples)
        found, _ = summarise(self.rows, self.measures, plain)
        sliced, _ = summarise(self.rows, first, replace(plain, by=[self.by] if self.by else []))
        _, compared = summarise(self.rows, first, self._comparing("holm"))
        found += [one for one in sliced if one.where]
        return [self._setting(name, found, compared) for name in self.settings]

    def parameters(self) -> list[Parameter]:
        """Returns the effect of each parameter with several values, averaged over the other parameters."""
        first = self.settings[self.reference]
        values = {name: list(dict.fromkeys(each[name] for each in self.settings.values())) for name in first}
        return [self._parameter(name, each) for name, each in values.items() if len(each) > 1]

    def folds(self) -> list[Fold]:
        """Finds the best setting on each half of the items, and checks it on the other half."""
        best = {half: self._best(places) for half, places in self.halves.items()}
        scores = self._scores.filter(pl.col("arm").is_in([self.reference, *filter(None, best.values())]))
        rows = Rows(scores, self._halved, self.cluster)
        _, found = summarise(rows, [self.measure], self._comparing("none", [HALF]))
        compared = {(one.a, one.where[HALF]): one for one in found if one.where}
        pairs = (HALVES, HALVES[::-1])
        return [
            Fold(a, b, best[a], *(compared.get((best[a] or "", half)) for half in (a, b))) for a, b in pairs
        ]

    # -------------------------------------------------------------------------------- settings

    @cached_property
    def rows(self) -> Rows:
        return Rows(self._scores, self.items, self.cluster)

    @cached_property
    def _scores(self) -> pl.DataFrame:
        """The scores, with each setting as a system."""
        return self.scores.with_columns(system=pl.col("arm"), factors=pl.lit("{}"))

    @cached_property
    def _everywhere(self) -> NDArray[np.bool_]:
        return np.ones(len(self.items), dtype=bool)

    def _comparing(
        self, correction: str, by: Sequence[str] = (), reference: str | None = None
    ) -> ComparisonSettings:
        baseline = self.reference if reference is None else reference
        return ComparisonSettings(baseline, correction=correction, resamples=self.resamples, by=by)

    def _setting(self, name: str, found: Sequence[Estimate], compared: Sequence[Comparison]) -> Setting:
        own = [one for one in found if one.system == name]
        first = self.measure.name
        differences = (one for one in compared if one.a == name and one.measure == first and not one.where)
        return Setting(
            name,
            self.settings[name],
            name == self.reference,
            [one for one in own if not one.where],
            next(differences, None),
            [one for one in own if one.where and one.measure == first],
            bool(np.isfinite(self._standing(name, self._everywhere))),
        )

    def _standing(self, name: str, within: NDArray[np.bool_]) -> float:
        """Rates a setting on some items. A greater value is better; failed items count as the worst value.

        The rating is minus infinity if it is not known: items are pending or unjudged, or failed without a
        worst value.
        """
        measure, column = self.measure, self.rows.column(name, self.measure.name)
        upwards = measure.better == "higher"
        worst = measure.low if upwards else measure.high
        failed = bool((within & (column.status == FAILED)).any())
        undecided = within & np.isin(column.status, (PENDING, UNJUDGED))
        if undecided.any() or (failed and worst is None):
            return -np.inf
        column = column.imputed(worst) if failed and worst is not None else column
        used = within & column.counted
        if not used.any():
            return -np.inf
        mean = float(column.values[used].mean())
        return mean if upwards else -mean

    # ------------------------------------------------------------------------------ parameters

    def _parameter(self, name: str, values: Sequence[str]) -> Parameter:
        """Computes the effect of a parameter. Settings with the same value count as seeds of one system."""
        first, reference = self.measure, self.settings[self.reference][name]
        sharing = {
            value: [own for own in self.settings if self.settings[own][name] == value] for value in values
        }
        parts = [
            self._as_seeds(value, place, own) for value in values for place, own in enumerate(sharing[value])
        ]
        rows = Rows(pl.concat(parts), self.items, self.cluster)
        found, compared = summarise(rows, [first], self._comparing("holm", reference=reference))
        estimates = {one.system: one for one in found}
        differences = {one.a: one for one in compared}
        return Parameter(
            name,
            [
                Effect(
                    value, len(sharing[value]), value == reference, estimates[value], differences.get(value)
                )
                for value in values
            ],
        )

    def _as_seeds(self, value: str, place: int, setting: str) -> pl.DataFrame:
        """Returns the scores of one setting as seeds of a system whose name is the parameter's value."""
        own = self.scores.filter(pl.col("arm").eq(setting) & pl.col("measure").eq(self.measure.name))
        seeds = pl.col("seed").rank("dense").cast(pl.Int64) - 1
        return own.with_columns(
            system=pl.lit(value),
            arm=pl.lit(value),
            factors=pl.lit("{}"),
            seed=seeds + place * own["seed"].n_unique(),
        )

    # ---------------------------------------------------------------------------------- halves

    @cached_property
    def halves(self) -> dict[str, list[int]]:
        """The positions of the items that the measure applies to, in two halves. Clusters stay whole."""
        applies = np.any(
            [self.rows.column(each, self.measure.name).expected for each in self.settings], axis=0
        )
        clusters: dict[int, list[int]] = {}
        for place in np.flatnonzero(applies).tolist():
            clusters.setdefault(int(self.rows.clusters[place]), []).append(place)
        halves: dict[str, list[int]] = {name: [] for name in HALVES}
        for turn, cluster in enumerate(self._shuffled(list(clusters.values()))):
            halves[HALVES[turn % 2]] += cluster
        return halves

    @cached_property
    def _halved(self) -> list[Item]:
        """The items, with their half as a tag."""
        half = {place: name for name, places in self.halves.items() for place in places}
        return [
            msgspec.structs.replace(item, tags={**item.tags, HALF: [half[place]]}) if place in half else item
            for place, item in enumerate(self.items)
        ]

    def _best(self, places: Sequence[int]) -> str | None:
        """Returns the best setting on some items: the reference, if no other setting is better."""
        within = np.zeros(len(self.items), dtype=bool)
        within[list(places)] = True
        names = [self.reference, *(name for name in self.settings if name != self.reference)]
        standings = {name: self._standing(name, within) for name in names}
        best = max(names, key=standings.__getitem__)
        return best if np.isfinite(standings[best]) else None

    def _shuffled(self, clusters: Sequence[list[int]]) -> Iterator[list[int]]:
        """Yields the clusters, shuffled within each value of `by`. The two halves take them in turn."""
        strata: dict[tuple[str, ...], list[list[int]]] = {}
        for cluster in clusters:
            strata.setdefault(tuple(self.items[cluster[0]].values(self.by)) if self.by else (), []).append(
                cluster
            )
        random = random_generator(self.seed)
        for members in strata.values():
            for place in random.permutation(len(members)).tolist():
                yield members[place]
