"""A report of one line an estimate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.core.results import Results


@dataclass(frozen=True)
class Lines:
    """System, measure and value, separated by tabs."""

    suffix: ClassVar[str] = ".tsv"

    def render(self, results: Results) -> bytes:
        rows = [f"{one.system}\t{one.measure}\t{one.value}" for one in results.estimates if not one.where]
        return ("\n".join(rows) + "\n").encode()
