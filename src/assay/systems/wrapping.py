"""A system around another one: what it passes on as it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

from assay.core.dataset import Dataset
from assay.core.protocols import Index, Kit, System
from assay.core.records import Structure


@runtime_checkable
class AnySystem(System, Protocol):
    """A system, in a form that something made can be held against."""


def inner_findings(
    system: object, what: Literal["problems", "warnings"], dataset: Dataset, kit: Kit
) -> list[Any]:
    """What the inner system says of a dataset, where it says anything."""
    said = getattr(system, what, None)
    return [] if said is None else list(said(dataset, kit))


@dataclass(frozen=True)
class WrappedIndex:
    """What lies around the index of another system."""

    index: Index

    @property
    def cost(self) -> float | None:
        """What building the index cost, where it says so."""
        paid: float | None = getattr(self.index, "cost", None)
        return paid

    def close(self) -> None:
        getattr(self.index, "close", lambda: None)()


class StructuredWrapper:
    """For an index around one that publishes the tree or graph behind it."""

    index: Index

    def structure(self) -> Structure:
        found: Structure = self.index.structure()  # type: ignore[attr-defined]
        return found
