"""People: their marks lie in the journal from the moment they are made; this judge says whose count."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar


@dataclass(frozen=True)
class Human:
    """Marks by the people named; where nobody is named, by everybody. What nobody marked is unknown.

    An adjudicator's mark comes before any rater's, the first rater's before the second's. Adjudicators settle
    what raters disagree on, so they are no raters themselves: agreement is that of the raters.
    """

    raters: list[str] = field(default_factory=list)
    adjudicators: list[str] = field(default_factory=list)

    version: ClassVar[str] = "1"
    closed_labels: ClassVar[frozenset[str]] = frozenset()

    def __post_init__(self) -> None:
        if len(set(self.names)) < len(self.names):
            raise ValueError("somebody is named twice among raters and adjudicators")

    @property
    def everybody(self) -> bool:
        """Whether anybody's marks count."""
        return not self.names

    @property
    def names(self) -> list[str]:
        return [*self.adjudicators, *self.raters]
