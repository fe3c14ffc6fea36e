"""Measures of what was seen from outside: how long it took, and whether it kept silent when it should."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from assay.measures.block import Block
from assay.measures.parse import measure_name
from assay.records import Response


@dataclass(frozen=True)
class Seconds:
    """Seconds observed for one stage of answering; "total" is all of it.

    From 0, unbounded, lower is better. An item without that stage has no value, and stays out of the mean.
    """

    stage: str = "total"

    family: ClassVar[str] = "Seconds"
    needs: ClassVar[frozenset[str]] = frozenset()
    at: ClassVar[str] = ""
    better: ClassVar[str] = "lower"
    low: ClassVar[float] = 0.0
    high: ClassVar[float | None] = None
    absent: ClassVar[float | None] = None
    binary: ClassVar[bool] = False

    @property
    def name(self) -> str:
        return measure_name(self)

    def applies(self, block: Block) -> NDArray[np.bool_]:
        return np.ones(len(block.items), dtype=bool)

    def values(self, block: Block) -> NDArray[np.float64]:
        return np.array(
            [
                np.nan if response is None else response.observed.seconds.get(self.stage, np.nan)
                for response in block.responses
            ]
        )


@dataclass(frozen=True)
class Abstain:
    """Abstention: 1 where an item that expects nothing got nothing, else 0.

    Nothing is neither hit nor context nor answer, or the route "nothing", or the flag "impossible". Range 0
    or 1; for items that expect nothing only.

    Rajpurkar, Jia and Liang, "Know what you don't know: unanswerable questions for SQuAD", ACL 2018.
    """

    family: ClassVar[str] = "Abstain"
    needs: ClassVar[frozenset[str]] = frozenset()
    at: ClassVar[str] = ""
    better: ClassVar[str] = "higher"
    low: ClassVar[float] = 0.0
    high: ClassVar[float | None] = 1.0
    absent: ClassVar[float | None] = None
    binary: ClassVar[bool] = True

    @property
    def name(self) -> str:
        return measure_name(self)

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
