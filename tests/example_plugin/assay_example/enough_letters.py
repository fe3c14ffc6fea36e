"""A check before a study runs."""

from __future__ import annotations

from dataclasses import dataclass

from assay.core.errors import Problem
from assay.study.study import Study


@dataclass(frozen=True)
class EnoughLetters:
    """Warns of an alphabet that is too short to show anything."""

    def of(self, study: Study) -> tuple[list[Problem], list[str]]:
        letters = study.data_spec.params.get("letters", 26)
        if isinstance(letters, int) and letters < 10:
            return [], [f"an alphabet of {letters} letters shows little; take 10 or more"]
        return [], []
