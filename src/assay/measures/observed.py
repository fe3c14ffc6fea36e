"""Measures of what is observed from outside: time, cost, failures and abstention."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from assay.core.block import FAILED, PENDING, Block
from assay.core.errors import UsageError
from assay.core.protocols import Reference
from assay.core.records import Response
from assay.measures.declaration import Declaration, DeclaredMeasure


@dataclass(frozen=True)
class LimitedMeasure(DeclaredMeasure):
    """A measure from 0 up that has no upper end unless a study declares one.

    The mean of times, costs or sizes depends on the few largest values, which a sample may miss. So no
    interval of this mean covers the true mean as often as the interval claims. If a study declares a `limit`,
    larger values count as the limit, and a gate can decide on the mean.
    """

    limit: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.limit is not None and not (math.isfinite(self.limit) and self.limit > 0):
            raise UsageError(f"A limit is a number above 0, such as 10; not {self.limit:g}.")

    @property
    def high(self) -> float | None:
        return self.limit

    def limited(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Returns the values; values above the limit are replaced by the limit."""
        return values if self.limit is None else np.minimum(values, self.limit)


def is_unbounded(measure: object) -> bool:
    """Whether a measure could have a limit, but the study declares none."""
    return isinstance(measure, LimitedMeasure) and measure.limit is None


def has_limit(measure: object) -> bool:
    """Whether the study declares a limit for a measure that has no upper end of its own."""
    return isinstance(measure, LimitedMeasure) and measure.limit is not None


resource_declaration = partial(Declaration, better="lower", absent=None)


@dataclass(frozen=True)
class _Spending(LimitedMeasure, ABC):
    """What an answer used up, such as time or money: from 0, lower is better.

    An item without a value stays out of the mean.
    """

    def applies(self, block: Block) -> NDArray[np.bool_]:
        return np.ones(len(block.items), dtype=bool)

    def values(self, block: Block) -> NDArray[np.float64]:
        spent = (None if response is None else self.spent(response) for response in block.responses)
        return self.limited(np.array([np.nan if each is None else each for each in spent], dtype=np.float64))

    @abstractmethod
    def spent(self, response: Response) -> float | None:
        """Returns what one answer used up; None if this is not known."""


@dataclass(frozen=True)
class Seconds(_Spending):
    """Seconds that one stage of answering took; the stage "total" is the whole answer.

    From 0, without an upper end unless `limit` declares one. An item without this stage has no value, and
    stays out of the mean.
    """

    stage: str = "total"

    declares: ClassVar[Declaration] = resource_declaration("Seconds", unit="s")

    def spent(self, response: Response) -> float | None:
        return response.observed.seconds.get(self.stage)

    def references_in(self, blocks: Sequence[Block]) -> Iterator[Reference]:
        known = {stage for block in blocks for each in block.answered for stage in each.observed.seconds}
        yield Reference("stage", self.stage, known)


@dataclass(frozen=True)
class Cost(_Spending):
    """What an answer cost, in the unit that the system reports, such as dollars.

    From 0, without an upper end unless `limit` declares one. An item without a cost has no value.
    """

    declares: ClassVar[Declaration] = resource_declaration("Cost")

    def spent(self, response: Response) -> float | None:
        return response.observed.cost


@dataclass(frozen=True)
class Failed(DeclaredMeasure):
    """1 if asking an item failed, 0 if it was answered, even with nothing. Range 0 or 1."""

    declares: ClassVar[Declaration] = Declaration(
        "Failed", better="lower", absent=None, binary=True, of_failures=True
    )

    def applies(self, block: Block) -> NDArray[np.bool_]:
        return np.ones(len(block.items), dtype=bool)

    def values(self, block: Block) -> NDArray[np.float64]:
        return np.where(block.asked == PENDING, np.nan, block.asked == FAILED)


@dataclass(frozen=True)
class Abstain(DeclaredMeasure):
    """Abstention: 1 if an item that expects nothing got nothing, else 0.

    A system returns nothing if its answer has no hit, no context and no text, or has the route "nothing", or
    the flag "impossible". Range 0 or 1. Applies only to items that expect nothing.

    Rajpurkar, Jia and Liang, "Know what you don't know: unanswerable questions for SQuAD", ACL 2018.
    """

    declares: ClassVar[Declaration] = Declaration("Abstain", absent=None, binary=True)

    def applies(self, block: Block) -> NDArray[np.bool_]:
        return block.expects_nothing

    def values(self, block: Block) -> NDArray[np.float64]:
        return np.array(
            [np.nan if response is None else float(_silent(response)) for response in block.responses]
        )


def _silent(response: Response) -> bool:
    if response.route == "nothing" or response.flags.get("impossible"):
        return True
    return not response.hits and not response.answer and not any(each.pieces for each in response.contexts)
