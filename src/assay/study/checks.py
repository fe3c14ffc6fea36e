"""What is asked of a study before it is run: checks of its kind, and names that its measures refer to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol, runtime_checkable

from assay.core.dataset import Dataset
from assay.core.errors import Problem
from assay.core.protocols import Reference
from assay.study.study import Study


class Check(Protocol):
    """What can be wrong with a study before it is run, and what looks wrong: problems and warnings.

    It is asked about studies that use a plugin of the package that it lies in, or are of its kind.
    """

    def of(self, study: Study) -> tuple[list[Problem], list[str]]: ...


@runtime_checkable
class RefersToStudy(Protocol):
    """A measure that names something that the data, judges or systems of a study must have."""

    def references(self, study: Study, datasets: Mapping[str, Dataset]) -> Iterable[Reference]: ...
