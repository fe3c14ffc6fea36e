"""Scores made up by hand, as the rows that comparisons and gates read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.core.records import Arm, Item
from assay.core.registry import MEASURES, Registry
from assay.gates.decision import decide_clause
from assay.gates.evaluator import Evaluator
from assay.gates.gate import Gate, GateFile
from assay.gates.grammar import parse_clause
from assay.measures.score import STATUS
from assay.stats.rows import Rows


@dataclass(frozen=True)
class Made:
    """A measure whose scores are given: M in 0 to 1, B of 0 and 1, E where lower is better, T unbounded."""

    cutoff: str | int | None = None

    family: ClassVar[str] = "M"
    needs: ClassVar[frozenset[str]] = frozenset()
    at: ClassVar[str] = "level"
    better: ClassVar[str] = "higher"
    low: ClassVar[float] = 0.0
    high: ClassVar[float | None] = 1.0
    absent: ClassVar[float | None] = 0.0
    binary: ClassVar[bool] = False

    @property
    def name(self) -> str:
        return self.family if self.cutoff is None else f"{self.family}@{self.cutoff}"

    def applies(self, block: Any) -> NDArray[np.bool_]:
        raise NotImplementedError

    def values(self, block: Any) -> NDArray[np.float64]:
        raise NotImplementedError


@dataclass(frozen=True)
class MadeBinary(Made):
    family: ClassVar[str] = "B"
    binary: ClassVar[bool] = True


@dataclass(frozen=True)
class MadeError(Made):
    family: ClassVar[str] = "E"
    better: ClassVar[str] = "lower"
    absent: ClassVar[float | None] = 1.0


@dataclass(frozen=True)
class MadeTime(Made):
    family: ClassVar[str] = "T"
    better: ClassVar[str] = "lower"
    high: ClassVar[float | None] = None
    absent: ClassVar[float | None] = None


REGISTRY = Registry({MEASURES: {"M": Made, "B": MadeBinary, "E": MadeError, "T": MadeTime}})
M, B, E, T = Made(), MadeBinary(), MadeError(), MadeTime()

Score = float | str  # a value, or a status; "missing=0.5" is missing with that value
Key = tuple[Any, ...]  # system and measure, then factors and seed if any: ("new", "M", "stage=10k", 1)


def items_of(n: int, **tags: Sequence[str]) -> list[Item]:
    """Items i0, i1, …; each tag has a value an item, several joined by a bar, none for an empty one."""
    made = []
    for index in range(n):
        own = {name: values[index].split("|") for name, values in tags.items() if values[index]}
        language = own.pop("language", [None])[0]
        sequence = own.pop("sequence", [None])[0]
        made.append(Item(f"i{index}", f"text {index}", language, own, sequence=sequence))
    return made


def rows_of(
    columns: Mapping[Key, Sequence[Score] | NDArray[np.float64]],
    items: Sequence[Item] | None = None,
    cluster: str | None = None,
) -> Rows:
    """Rows from columns of scores in item order."""
    longest = max(len(column) for column in columns.values())
    items = items_of(longest) if items is None else items
    return Rows(frame_of(columns, items), items, cluster)


def frame_of(
    columns: Mapping[Key, Sequence[Score] | NDArray[np.float64]], items: Sequence[Item]
) -> pl.DataFrame:
    """The table that the score stage would have written."""
    parts = []
    for (system, measure, *rest), column in columns.items():
        factors = dict(each.split("=") for each in rest if isinstance(each, str))
        seed = next((each for each in rest if isinstance(each, int)), 0)
        read = [_value_and_status(score) for score in column]
        parts.append(
            pl.DataFrame(
                {
                    "item": [item.item_id for item in items[: len(read)]],
                    "system": system,
                    "factors": msgspec.json.encode(factors, order="sorted").decode(),
                    "arm": Arm(system, factors).name,
                    "seed": seed,
                    "measure": measure,
                    "value": [value for value, _ in read],
                    "status": [status for _, status in read],
                },
                schema_overrides={"value": pl.Float64, "status": STATUS},
            )
        )
    return pl.concat(parts)


def _value_and_status(score: Score) -> tuple[float | None, str]:
    if not isinstance(score, str):
        return float(score), "scored"
    status, _, value = score.partition("=")
    return (float(value) if value else None), status


def decided(
    text: str,
    rows: Rows,
    *,
    resamples: int = 2_000,
    level: float = 0.95,
    judgments: Sequence[Any] = (),
    systems: Sequence[str] = (),
    **rules: Any,
) -> Any:
    """The ClauseResult of one clause on rows; Any, as its figures are None only where there are none."""
    evaluator = Evaluator(rows, REGISTRY, judgments, resamples, level=level, systems=systems)
    return decide_clause(parse_clause(text), GateFile(**rules), evaluator)


def gate(name: str = "ship", **file: Any) -> Gate:
    """A gate as a study file would declare it."""
    return Gate.from_file(name, GateFile(**file))
