"""Measures that come from ir_measures: what Assay does not compute itself, such as ERR, RBP and infAP."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.errors import PluginError
from assay.measures.block import Block

# The families of ir_measures that score rankings, and whether they stay within 0 and 1.
FAMILIES: dict[str, bool] = {
    "Accuracy": True,
    "BPM": True,
    "Bpref": True,
    "Compat": True,
    "ERR": True,
    "INSQ": True,
    "INST": True,
    "IPrec": True,
    "NERR8": True,
    "NERR9": True,
    "NERR10": True,
    "NERR11": True,
    "NumRel": False,
    "NumRelRet": False,
    "NumRet": False,
    "RBP": True,
    "SDCG": True,
    "SetAP": True,
    "SetF": True,
    "SetP": True,
    "SetR": True,
    "infAP": True,
}


@dataclass(frozen=True)
class IrMeasure:
    """A measure of ir_measures, query by query; see its documentation for formula and citation.

    0 where nothing is relevant or nothing came back. Ties are broken as its providers break them.
    """

    spelling: str

    needs: ClassVar[frozenset[str]] = frozenset({"hits", "labels"})
    at: ClassVar[str] = "rank"
    better: ClassVar[str] = "higher"
    low: ClassVar[float] = 0.0
    absent: ClassVar[float | None] = 0.0
    binary: ClassVar[bool] = False

    @property
    def name(self) -> str:
        return self.spelling

    @property
    def high(self) -> float | None:
        return 1.0 if FAMILIES[self.spelling.partition("@")[0].partition("(")[0]] else None

    def applies(self, block: Block) -> NDArray[np.bool_]:
        return block.rankable

    def values(self, block: Block) -> NDArray[np.float64]:
        return self.of_frames(block.ranking, block.relevance, block.item_ids)

    def of_frames(
        self, ranking: pl.DataFrame, labels: pl.DataFrame, items: Sequence[str]
    ) -> NDArray[np.float64]:
        """Values from the columns item, doc, score and item, doc, grade; one an item."""
        qrels = _by_item(labels.with_columns(grade=pl.col("grade").cast(pl.Int64)), "grade")
        run = _by_item(ranking, "score")
        try:
            metrics = list(_library().iter_calc([_parsed(self.spelling)], qrels, run))
        except (ValueError, RuntimeError, subprocess.CalledProcessError) as error:
            raise PluginError(f"ir_measures cannot compute {self.spelling}: {error}") from error
        found = {metric.query_id: float(metric.value) for metric in metrics}
        return np.array([found.get(item, 0.0) for item in items])


def ir_measure(text: str) -> IrMeasure:
    """A measure of ir_measures, spelled as it spells it; wrong parameters are a PluginError."""
    return IrMeasure(repr(_parsed(text)))


def _by_item(frame: pl.DataFrame, column: str) -> dict[str, dict[str, Any]]:
    nested: dict[str, dict[str, Any]] = {}
    for item, doc, value in frame.select("item", "doc", column).iter_rows():
        nested.setdefault(item, {})[doc] = value
    return nested


def _parsed(text: str) -> Any:
    try:
        measure = _library().parse_measure(text)
        measure.validate_params()
    except (AssertionError, NameError, ValueError) as error:  # how ir_measures reports a bad measure
        raise PluginError(f"{text}: ir_measures refuses it: {error}.") from error
    return measure


def _library() -> Any:
    try:
        import ir_measures
    except ImportError as error:
        raise PluginError(
            "This measure comes from ir_measures, which is not installed. "
            "Install it with: pip install 'retrieval-assay[measures]'"
        ) from error
    return ir_measures
