"""Which part of a study to run: some systems, some factors, some items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from assay.core.dataset import Dataset
from assay.core.errors import UsageError, did_you_mean
from assay.core.records import Arm
from assay.study.study import Study


@dataclass(frozen=True)
class Selection:
    """Conditions as given. Factors choose among arms, tags among items."""

    where: Mapping[str, Sequence[str]] = field(default_factory=dict)
    systems: Sequence[str] = ()
    limit: int | None = None

    def arms(self, study: Study) -> list[Arm]:
        """The arms to run. A factor that an arm lacks does not concern it."""
        for name in self.systems:
            if name not in study.file.systems:
                raise UsageError(f"There is no system {name!r}. {did_you_mean(name, study.file.systems)}")
        return [
            arm
            for arm in study.arms
            if (not self.systems or arm.system in self.systems)
            and all(arm.factors[key] in values for key, values in self.where.items() if key in arm.factors)
        ]

    def positions(self, study: Study, dataset: Dataset) -> set[int]:
        """The items to ask: the first `limit` of those that have every tag asked for.

        With a probe goes its twin, without which nothing shows what came before it.
        """
        tags = {name: set(values) for name, values in self.where.items() if name not in study.file.factors}
        chosen = (
            position
            for position, item in enumerate(dataset.items)
            if all(not values.isdisjoint(item.values(name)) for name, values in tags.items())
        )
        positions = set(list(chosen)[: self.limit])
        asked = {dataset.items[position].item_id for position in positions}
        twins = (at for at, item in enumerate(dataset.items) if item.gold.get("unprimed_of") in asked)
        return positions.union(twins)

    def refuse_unmet(self, study: Study, arms: Sequence[Arm]) -> None:
        """A condition that nothing meets is a slip of the keyboard, not a wish to run nothing."""
        items = {id(item): item for arm in arms for item in study.dataset(arm).items}.values()
        tags = {"language", "split", "sequence", *(tag for item in items for tag in item.tags)}
        for name, wanted in self.where.items():
            if name not in study.file.factors and name not in tags:
                near = did_you_mean(name, {*study.file.factors, *tags})
                raise UsageError(f"--where {name}: no factor and no tag is called that. {near}")
            values = study.file.factors.get(name) or {value for item in items for value in item.values(name)}
            if set(wanted).isdisjoint(values):
                near = did_you_mean(wanted[0], values) or "No item has any value of it."
                raise UsageError(f"--where {name}={'|'.join(wanted)} selects nothing. {near}")
