"""Declares the properties of measures, and holds what measures of one kind have in common."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Literal

from assay.core.block import View
from assay.core.errors import UsageError
from assay.core.optional import CutoffMeasure, ViewMeasure
from assay.core.protocols import Measure
from assay.measures.parse import measure_name


@dataclass(frozen=True)
class Declaration:
    """The constant properties of a measure. Properties that a measure does not state have these defaults."""

    family: str  # its name without parameters
    needs: frozenset[str] = frozenset()  # what a block must hold: "hits", "labels", "contexts", "trace", …
    at: str = ""  # what the number after @ means: "rank", "tokens", "level"; empty: there is none
    better: Literal["higher", "lower"] = "higher"
    low: float = 0.0
    high: float | None = 1.0  # None: no upper end
    absent: float | None = 0.0  # the value if nothing came back; None: such an item stays out of the mean
    binary: bool = False  # each value is 0 or 1
    blank: frozenset[str] | None = None  # needs whose absence makes a score missing; None: all of them
    pooled: bool = True  # its values depend on which passages were judged
    of_failures: bool = False  # a failed item is a value like any other
    unit: str = ""  # "s": thresholds may have a unit of time

    @property
    def may_be_blank(self) -> frozenset[str]:
        """The needed parts of an answer whose absence makes a score `missing`. One empty part is enough."""
        return self.needs if self.blank is None else self.blank


class DeclaredMeasure:
    """A measure whose class states its constant properties once, as `declares`."""

    declares: ClassVar[Declaration]

    @property
    def name(self) -> str:
        return measure_name(self)

    @property
    def family(self) -> str:
        return self.declares.family

    @property
    def needs(self) -> frozenset[str]:
        return self.declares.needs

    @property
    def blank(self) -> frozenset[str] | None:
        return self.declares.blank

    @property
    def at(self) -> str:
        return self.declares.at

    @property
    def better(self) -> str:
        return self.declares.better

    @property
    def low(self) -> float:
        return self.declares.low

    @property
    def high(self) -> float | None:
        return self.declares.high

    @property
    def absent(self) -> float | None:
        return self.declares.absent

    @property
    def binary(self) -> bool:
        return self.declares.binary


def declaration_of(measure: Measure) -> Declaration:
    """Returns what a measure declares. A plugin may have attributes of the same names instead."""
    if isinstance(measure, DeclaredMeasure):
        return replace(measure.declares, needs=measure.needs, blank=measure.blank)
    optional = ("family", "blank", "pooled", "of_failures", "unit")
    # only here the program asks whether a plugin has these attributes; each has a default
    given = {name: getattr(measure, name) for name in optional if hasattr(measure, name)}
    return Declaration(**{"family": measure.name, "needs": measure.needs, **given})


def view_of(measure: Measure) -> View:
    """Returns the view and label that a measure reads: by default passages under the label "relevance"."""
    return measure.seen_in if isinstance(measure, ViewMeasure) else View()


def cutoff_of(measure: Measure) -> int | None:
    """Returns the rank at which a measure cuts rankings. None: it reads whole rankings, or has no cut-off."""
    cutoff = measure.cutoff if isinstance(measure, CutoffMeasure) else None
    return cutoff if isinstance(cutoff, int) else None


expectation_declaration = partial(Declaration, blank=frozenset(), pooled=False, binary=True)


class ExpectationMeasure(DeclaredMeasure):
    """A measure that is 1 if an answer is as its item expects, else 0.

    An empty part of an answer also counts as an answer: no route was taken, or a flag is not set. `declares`
    is an `expectation_declaration`.
    """


top_hits_declaration = partial(Declaration, needs=frozenset({"hits", "labels"}), at="rank")


@dataclass(frozen=True)
class TopHitsMeasure(DeclaredMeasure):
    """A measure of the hits within a cut-off, from 0 to 1. Its `declares` is a `top_hits_declaration`."""

    cutoff: int = 10

    def __post_init__(self) -> None:
        if self.cutoff < 1:
            raise UsageError(f"{self.family}: the cut-off is {self.cutoff}, and must be at least 1.")
