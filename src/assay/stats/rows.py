"""Scores as paired rows: a row per item and combination of factors, a column per system and measure.

Every estimate, comparison and gate reads these rows, so everything is compared on the same items. The value
of a row is the mean over seeds. Resampling draws clusters; by default each item is a cluster.
"""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.core.block import FAILED, MISSING, NOT_APPLICABLE, SCORED, STATUSES
from assay.core.dataset import Condition, numbers
from assay.core.records import GRAVEST_FIRST, Arm, Factors, Item
from assay.measures.score import STATUS

SHOWN_ITEMS = 3
# the status of a row whose seeds disagree: a status without a value outweighs one with a value
_GRAVITY = tuple(STATUSES.index(status) for status in GRAVEST_FIRST)


@dataclass(frozen=True)
class Column:
    """One system's values of one measure, row by row. The value is NaN where `counted` is false."""

    values: NDArray[np.float64]
    status: NDArray[np.int8]

    @cached_property
    def counted(self) -> NDArray[np.bool_]:
        """True for rows that enter a mean."""
        counted: NDArray[np.bool_] = np.isin(self.status, (SCORED, MISSING)) & ~np.isnan(self.values)
        return counted

    @cached_property
    def expected(self) -> NDArray[np.bool_]:
        """True for rows that the measure applies to."""
        expected: NDArray[np.bool_] = self.status != NOT_APPLICABLE
        return expected

    def imputed(self, value: float) -> Column:
        """Returns the column with failed rows counted at the given value."""
        failed = self.status == FAILED
        return Column(
            np.where(failed, value, self.values), np.where(failed, SCORED, self.status).astype(np.int8)
        )


class Rows:
    """The rows of a study, and its columns by system and measure.

    `variants` are the items of each arm: tags may differ between corpora, for example if only the larger
    corpus contains the evidence of a query.
    """

    def __init__(
        self,
        scores: pl.DataFrame,
        items: Sequence[Item],
        cluster: str | None = None,
        variants: Mapping[str, Sequence[Item]] | None = None,
    ) -> None:
        self.items = items
        self._variants = variants or {}
        self._index = {item.item_id: position for position, item in enumerate(items)}
        self._arms = {
            name: Arm(system, msgspec.json.decode(factors, type=Factors))
            for name, system, factors in scores.select("arm", "system", "factors")
            .unique(maintain_order=True)
            .rows()
        }
        self._parts = scores.partition_by("arm", "measure", as_dict=True, include_key=False)
        self._columns: dict[tuple[str, str], Column] = {}
        self._replaced: set[tuple[str, str]] = set()
        self._masks: dict[Condition, NDArray[np.bool_]] = {}
        self._cluster = cluster

    @cached_property
    def combinations(self) -> list[Factors]:
        """Every combination of factor values that occurs. Without factors, there is one empty combination."""
        values: dict[str, dict[str, None]] = {}
        for arm in self._arms.values():
            for name, value in arm.factors.items():
                values.setdefault(name, {})[value] = None
        return [dict(zip(values, combo, strict=True)) for combo in itertools.product(*values.values())]

    @cached_property
    def systems(self) -> list[str]:
        return list(dict.fromkeys(arm.system for arm in self._arms.values()))

    def arms(self, system: str) -> list[Arm]:
        return [arm for arm in self._arms.values() if arm.system == system]

    def arm(self, system: str, combo: Factors) -> Arm | None:
        """Returns a system's arm at a combination of factors. Factors that the system lacks are ignored."""
        fitting = (arm for arm in self.arms(system) if arm.factors.items() <= combo.items())
        return next(fitting, None)

    @cached_property
    def _items_at(self) -> list[list[Item]]:
        """The items of each combination of factors, with the tags that its arms give them."""
        found = []
        for combo in self.combinations:
            own: dict[str, Item] = {}
            for arm in self._arms.values():
                if arm.factors.items() <= combo.items():
                    for item in self._variants.get(arm.name, ()):
                        own.setdefault(item.item_id, item)
            found.append([own.get(item.item_id, item) for item in self.items])
        return found

    def __len__(self) -> int:
        return len(self.items) * len(self.combinations)

    @cached_property
    def clusters(self) -> NDArray[np.int64]:
        """The cluster of every row, as a number. Clusters are numbered in order of appearance."""
        names = [self._cluster_of(item) for items in self._items_at for item in items]
        numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
        return np.array([numbers[name] for name in names], dtype=np.int64)

    def _cluster_of(self, item: Item) -> str | tuple[str, ...]:
        """Returns the cluster of an item. An item without a value of the tag is a cluster of its own."""
        values = self.values_of(item, self._cluster) if self._cluster else []
        return tuple(values) or item.item_id

    def item_of(self, row: int) -> Item:
        combination, place = divmod(row, len(self.items))
        return self._items_at[combination][place]

    def item_ids(self, conditions: Sequence[Condition]) -> list[str]:
        """Returns the items of the rows that meet every condition."""
        rows = np.flatnonzero(self.mask(conditions)).tolist()
        return list(dict.fromkeys(self.item_of(row).item_id for row in rows))

    def name_items(self, chosen: NDArray[np.bool_]) -> str:
        """Names the items of some rows: the first few by id, the rest as a number."""
        named = list(dict.fromkeys(self.item_of(int(row)).item_id for row in np.flatnonzero(chosen)))
        more = len(named) - SHOWN_ITEMS
        return ", ".join(named[:SHOWN_ITEMS]) + (f" and {more} more" if more > 0 else "")

    def column(self, system: str, measure: str) -> Column:
        """Returns a system's column. A row does not apply if the system has no arm at its combination."""
        if (system, measure) not in self._columns:
            parts = [self._arm_column(system, combo, measure) for combo in self.combinations]
            values, status = (np.concatenate(side) for side in zip(*parts, strict=True))
            self._columns[system, measure] = Column(values, status)
        return self._columns[system, measure]

    def replacing(self, columns: Mapping[tuple[str, str], Column]) -> Rows:
        """Returns the same rows with some columns replaced, by system and measure.

        A replaced column has only one run, so it has no values by seed.
        """
        rows = copy.copy(self)
        rows._columns = {**self._columns, **columns}
        rows._replaced = {*self._replaced, *columns}
        return rows

    def by_seed(self, system: str, measure: str) -> dict[int, NDArray[np.float64]]:
        """Returns a system's values under each of its seeds. Empty if no arm of the system has several seeds.

        An arm with a single seed has the same values under every seed of the other arms.
        """
        if (system, measure) in self._replaced:
            return {}
        parts = [self._seeds(system, combo, measure) for combo in self.combinations]
        several = {int(seed) for seeds, _, _ in parts if len(seeds) > 1 for seed in seeds}
        found = {}
        for seed in sorted(several):
            rows = []
            for seeds, values, _ in parts:
                at = np.flatnonzero(seeds == seed) if len(seeds) > 1 else np.arange(len(seeds))
                rows.append(values[at[0]] if len(at) else np.full(len(self.items), np.nan))
            found[seed] = np.concatenate(rows)
        return found

    def _arm_column(
        self, system: str, combo: Factors, measure: str
    ) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
        _, values, status = self._seeds(system, combo, measure)
        return _over_seeds(values, status)

    def _seeds(
        self, system: str, combo: Factors, measure: str
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int8]]:
        """Returns the seeds of an arm, and its values and statuses under each of them."""
        arm, n = self.arm(system, combo), len(self.items)
        if arm is None or (arm.name, measure) not in self._parts:
            none = np.empty((0, n))
            return np.empty(0, np.int64), none, none.astype(np.int8)
        part = self._parts[arm.name, measure]
        seeds, seed = np.unique(part["seed"].to_numpy(), return_inverse=True)
        where = seed, np.array([self._index[item_id] for item_id in part["item"].to_list()])
        values = np.full((len(seeds), n), np.nan)
        status = np.full((len(seeds), n), NOT_APPLICABLE, np.int8)
        values[where] = part["value"].cast(pl.Float64).fill_null(np.nan).to_numpy()
        status[where] = part["status"].cast(STATUS).to_physical().to_numpy()
        return seeds, values, status

    def mask(self, conditions: Sequence[Condition]) -> NDArray[np.bool_]:
        """Returns True for rows that meet every condition on tags or factors."""
        mask = np.ones(len(self), dtype=bool)
        for condition in conditions:
            if condition not in self._masks:
                self._masks[condition] = self._satisfies(condition)
            mask &= self._masks[condition]
        return mask

    def _satisfies(self, condition: Condition) -> NDArray[np.bool_]:
        return np.array(
            [
                [condition.met_by([combo[condition.name]])] * len(items)
                if condition.name in combo
                else [condition.met_by(self.values_of(item, condition.name)) for item in items]
                for combo, items in zip(self.combinations, self._items_at, strict=True)
            ],
            dtype=bool,
        ).ravel()

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Returns the number that a tag has on each row; NaN if the tag has no number there."""
        return np.array(
            [
                next(numbers(self.values_of(item, name)), math.nan)
                for items in self._items_at
                for item in items
            ],
            dtype=np.float64,
        )

    @staticmethod
    def values_of(item: Item, name: str) -> list[str]:
        """Returns an item's values of a tag. Language, split and sequence count as tags."""
        return item.values(name)

    def known_values(self, name: str) -> list[str]:
        """Returns every value of a tag or factor."""
        seen: dict[str, None] = {combo[name]: None for combo in self.combinations if name in combo}
        for item in (item for items in self._items_at for item in items):
            seen.update(dict.fromkeys(self.values_of(item, name)))
        return list(seen)


def _over_seeds(
    values: NDArray[np.float64], status: NDArray[np.int8]
) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Returns one value and one status per row from several seeds. The gravest status of the seeds counts."""
    merged = np.full(status.shape[1], NOT_APPLICABLE, np.int8)
    for code in reversed(_GRAVITY):
        merged[(status == code).any(axis=0)] = code
    present = ~np.isnan(values)
    counts = present.sum(axis=0)
    sums = np.where(present, values, 0.0).sum(axis=0)
    mean = np.divide(sums, counts, out=np.full(len(counts), np.nan), where=counts > 0)
    return np.where(np.isin(merged, (SCORED, MISSING)), mean, np.nan), merged


def status_counts(column: Column, mask: NDArray[np.bool_]) -> dict[str, int]:
    """Returns how many rows have each status other than `scored`."""
    found = np.bincount(column.status[mask], minlength=len(STATUSES))
    return {
        status.value: int(n) for status, n in zip(STATUSES, found, strict=True) if n and status != "scored"
    }
