"""Scoring a block with anybody's measure: what it gives is read as numbers, and told where it is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from assay.core.block import NOT_APPLICABLE, Block
from assay.core.errors import PluginError
from assay.measures.score import score_block


@dataclass(frozen=True)
class Loose:
    """A measure that gives whatever it is told to."""

    where: Any
    found: Any
    name: ClassVar[str] = "Loose"
    needs: ClassVar[frozenset[str]] = frozenset()
    at: ClassVar[str] = ""
    better: ClassVar[str] = "higher"
    low: ClassVar[float] = 0.0
    high: ClassVar[float | None] = 1.0
    absent: ClassVar[float | None] = None
    binary: ClassVar[bool] = False

    def applies(self, block: Block) -> Any:
        return self.where

    def values(self, block: Block) -> Any:
        return self.found


def test_lists_and_whole_numbers_are_read_as_arrays(block: Block) -> None:
    rest = len(block.items) - 2
    values, status = score_block(Loose([1, 0] + [1] * rest, [1, 1] + [0] * rest), block)
    strict, strict_status = score_block(
        Loose(np.array([True, False] + [True] * rest), np.array([1.0, 1.0] + [0.0] * rest)), block
    )
    assert np.array_equal(values, strict, equal_nan=True)
    assert np.array_equal(status, strict_status)
    assert status[1] == NOT_APPLICABLE
    assert np.isnan(values[1])


@pytest.mark.parametrize(
    ("where", "found", "message"),
    [
        (None, "right", r"Loose broke on .*ValueError"),
        (None, [0.5], r"Loose gave \(1,\) values"),
        ([True], None, r"Loose gave \(1,\) values"),
        (None, 0.5, r"Loose gave \(\) values"),
    ],
)
def test_what_is_no_number_an_item_is_told(block: Block, where: Any, found: Any, message: str) -> None:
    n = len(block.items)
    measure = Loose([True] * n if where is None else where, [0.5] * n if found is None else found)
    with pytest.raises(PluginError, match=message):
        score_block(measure, block)
