"""Common parts of systems around another system: they pass on its problems, warnings, costs and structure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, cast, runtime_checkable

from assay.core.dataset import Dataset
from assay.core.errors import Problem
from assay.core.optional import CheckingSystem, ClosableIndex, PricedIndex, StructuredIndex, WarningSystem
from assay.core.protocols import Index, Kit, System
from assay.core.records import Structure


@runtime_checkable
class AnySystem(System, Protocol):
    """The type of a parameter that is a system. It can be checked at run time."""


def inner_problems(system: System, dataset: Dataset, kit: Kit) -> list[Problem]:
    """Returns why the inner system cannot serve a dataset, if the inner system checks this."""
    return list(system.problems(dataset, kit)) if isinstance(system, CheckingSystem) else []


def inner_warnings(system: System, dataset: Dataset, kit: Kit) -> list[str]:
    """Returns the inner system's warnings about possible mistakes in a dataset, if it gives warnings."""
    return list(system.warnings(dataset, kit)) if isinstance(system, WarningSystem) else []


@dataclass(frozen=True)
class WrappedIndex:
    """The base of an index around the index of another system."""

    index: Index

    @property
    def cost(self) -> float | None:
        """The cost of building the inner index, if the inner index reports it."""
        return self.index.cost if isinstance(self.index, PricedIndex) else None

    def close(self) -> None:
        if isinstance(self.index, ClosableIndex):
            self.index.close()


class StructuredWrapper:
    """Passes on the structure of an inner index. It is only for an index around a `StructuredIndex`."""

    index: Index

    def structure(self) -> Structure:
        return cast("StructuredIndex", self.index).structure()
