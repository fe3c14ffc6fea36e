"""Measures of the library ir_measures that Assay does not compute itself, such as ERR, RBP and infAP."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.core.block import Block, View
from assay.core.errors import PluginError

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
_REMEDIES = {
    "ERR": "Give it a cut-off, such as ERR@20.",
    "RBP": "Write it with rel and without a cut-off, such as RBP(rel=1, p=0.8).",
}
HIGHEST_GRADE = 4  # the highest grade that gdeval, which computes ERR, reads
_UNSET = re.compile(r"invalid param (\w+)=<object object at \w+>")  # how ir_measures says "required"


@dataclass(frozen=True)
class IrMeasure:
    """A measure that the library ir_measures computes; see its documentation for formula and citation.

    The value of a query is 0 if nothing is relevant or nothing came back. Ties are broken by the provider
    that computes the measure. Providers get numbers instead of ids, in the order of the ids, because the
    provider gdeval reads only numbers.
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
        return 1.0 if FAMILIES[self._family] else None

    @property
    def _family(self) -> str:
        return self.spelling.partition("@")[0].partition("(")[0]

    @property
    def cutoff(self) -> int | None:
        cut = self.spelling.partition("@")[2]
        return int(cut) if cut.isdecimal() else None

    @property
    def least(self) -> float | None:
        """The lowest grade that counts as relevant. None: the measure applies whatever the grades are."""
        given = re.search(r"[(, ]rel=(\d+)", self.spelling)
        return None if FAMILIES[self._family] is False else float(given[1] if given else 1)

    def check(self) -> None:
        """Computes the measure on two made-up hits.

        Raises a PluginError if no installed provider can compute it.
        """
        hits = pl.DataFrame({"item": ["q", "q"], "doc": ["a", "b"], "score": [2.0, 1.0]})
        labels = pl.DataFrame({"item": ["q", "q"], "doc": ["a", "b"], "grade": [1.0, 0.0]})
        self.of_frames(hits, labels, ["q"])

    def applies(self, block: Block) -> NDArray[np.bool_]:
        return block.rankable & (self.least is None or block.highest_in(View()) >= self.least)

    def values(self, block: Block) -> NDArray[np.float64]:
        return self.of_frames(block.ranking, block.relevance, block.item_ids)

    def of_frames(
        self, ranking: pl.DataFrame, labels: pl.DataFrame, items: Sequence[str]
    ) -> NDArray[np.float64]:
        """Returns one value per item.

        `ranking` has the columns item, doc, score. `labels` has the columns item, doc, grade.
        """
        whole = labels.filter(pl.col("grade") == pl.col("grade").round())
        if len(whole) < len(labels):
            raise PluginError(f"{self.spelling} takes whole grades, and some labels have others.")
        if self._family == "ERR" and (labels["grade"] > HIGHEST_GRADE).any():
            raise PluginError(
                f"{self.spelling} takes grades from 0 to {HIGHEST_GRADE}, and some labels are higher."
            )
        queries, docs = (_numbered(labels[name], ranking[name]) for name in ("item", "doc"))
        qrels = _by_item(labels.with_columns(pl.col("grade").cast(pl.Int64)), "grade", queries, docs)
        run = _by_item(ranking, "score", queries, docs)
        try:
            metrics = list(_library().iter_calc([_parsed(self.spelling)], qrels, run))
        except (ValueError, RuntimeError, subprocess.CalledProcessError) as error:
            said = " ".join(str(error).split())
            fix = "" if "pip install" in said else _REMEDIES.get(self._family, "")
            raise PluginError(f"ir_measures cannot compute {self.spelling}: {said} {fix}".rstrip()) from error
        found = {metric.query_id: float(metric.value) for metric in metrics}
        return np.array([found.get(queries.get(item, ""), 0.0) for item in items])


def make_ir_measure(text: str) -> IrMeasure:
    """Returns the ir_measures measure with this name. Raises a PluginError if its parameters are wrong."""
    return IrMeasure(repr(_parsed(text)))


def _numbered(*ids: pl.Series) -> dict[str, str]:
    """Gives each id a number of the same length, in the order of the ids, so that ties stay as they are."""
    known = sorted(set[str]().union(*ids))
    return {each: str(number).zfill(len(str(len(known)))) for number, each in enumerate(known)}


def _by_item(
    frame: pl.DataFrame, column: str, queries: Mapping[str, str], docs: Mapping[str, str]
) -> dict[str, dict[str, Any]]:
    nested: dict[str, dict[str, Any]] = {}
    for item, doc, value in frame.select("item", "doc", column).iter_rows():
        nested.setdefault(queries[item], {})[docs[doc]] = value
    return nested


def _parsed(text: str) -> Any:
    try:
        measure = _library().parse_measure(text)
        measure.validate_params()
    except (AssertionError, NameError, ValueError) as error:  # how ir_measures reports a bad measure
        what = _UNSET.sub(r"\1 is required", str(error))
        raise PluginError(f"{text}: ir_measures refuses it: {what}.") from error
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
