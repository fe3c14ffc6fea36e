"""A study's results in the form that a benchmark's files need: by model, column and query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from itertools import combinations

import msgspec
import polars as pl

from assay.core.records import Arm, Comparison, Estimate, Factors
from assay.core.results import ItemView, Results
from assay.kinds.models.benchmark.columns import NAMED, RATES, MeasureColumn, column_name, columns_of
from assay.measures.marks import REVIEW
from assay.report import verdicts
from assay.report import wording as say
from assay.report.items import COUNTED, Grid, score_grid
from assay.stats.families import BETTER, NOT_SHOWN, WORSE

Where = Mapping[str, str]
Pair = tuple[str, str]
ALL: Where = {}
_OTHER_WAY = {BETTER: WORSE, WORSE: BETTER, NOT_SHOWN: NOT_SHOWN}
REVIEWED: Where = {REVIEW: "yes"}


@dataclass(frozen=True)
class BenchmarkResults:
    """Lookups in one study's results. A model is an arm, under the arm's name.

    Values that no person has examined are not shown as people's values: before a review, the adjusted columns
    are empty. Rates come only from the review, over the queries that were judged for every model.
    """

    results: Results

    @cached_property
    def models(self) -> list[str]:
        return list(self.results.arms)

    @cached_property
    def pairs(self) -> list[Pair]:
        """Every pair of models. The challenger comes first. The baseline comes last in its pairs."""
        base = self.results.baseline
        ordered = sorted(self.models, key=lambda model: base not in (model, self._arms[model].system))
        return [(later, earlier) for earlier, later in combinations(ordered, 2)]

    @cached_property
    def columns(self) -> list[MeasureColumn]:
        return columns_of(self.results.measures)

    @cached_property
    def schema(self) -> dict[str, pl.DataType]:
        """The columns of a table of queries: first those that every table has, then all other measures."""
        return {**NAMED, **{column.name: column.dtype for column in self.columns}}

    @cached_property
    def queries(self) -> list[ItemView]:
        ids = self.results.scores["item"].unique(maintain_order=True)
        return self.results.items or [ItemView(item_id, "", {}, [], {}) for item_id in ids]

    @cached_property
    def time(self) -> datetime | None:
        created = self.results.created
        return None if created is None else datetime.fromtimestamp(created, UTC)

    @property
    def timestamp(self) -> str | None:
        return None if self.time is None else self.time.isoformat(timespec="seconds")

    @property
    def recommendation(self) -> str:
        """The study's recommendation, or its verdict in words if the study has no recommendation."""
        told = self.results.recommendation
        return told or f"{say.TITLES[self.results.verdict]}: {verdicts.headline(self.results)}"

    @cached_property
    def reviewed(self) -> bool:
        """Whether the adjusted columns are based on people's marks."""
        review = self.results.review
        return review is not None and (review.marked > 0 or review.open == 0)

    # ----------------------------------------------------------------------------- one query

    def value(self, model: str, column: MeasureColumn, item_id: str) -> float | None:
        """Returns a query's value, averaged over seeds, or None if the query was not scored."""
        cell = self.grid.get((model, column.measure), {}).get(item_id)
        if cell is None or cell.status not in COUNTED or (column.adjusted and not self.reviewed):
            return None
        return column.scaled(cell.value)

    def metrics(self, model: str, item_id: str) -> dict[str, float | bool | None]:
        """Returns a query's values under all columns. None means that the value is unknown.

        A column such as `hit_at_5` is None if seeds disagree. It is also None if no rule finds a hit, and a
        result within the cut-off is not judged yet.
        """
        found: dict[str, float | bool | None] = dict.fromkeys(self.schema)
        for column in self.columns:
            value = self.value(model, column, item_id)
            found[column.name] = value
            if column.is_flag and value is not None:
                unknown = value == 0 and self.is_open(model, self._items[item_id], column.depth)
                found[column.name] = None if unknown else {0.0: False, 1.0: True}.get(value)
        return found

    def is_open(self, model: str, item: ItemView, depth: int | None = None) -> bool:
        """Whether one of the results shown for a query, within `depth`, is not judged yet."""
        hits = item.returned.get(model, [])[:depth]
        return say.wants_review(item) and any(hit.grade is None for hit in hits)

    @cached_property
    def _items(self) -> dict[str, ItemView]:
        return {item.item_id: item for item in self.queries}

    @cached_property
    def grid(self) -> Grid:
        return score_grid(self.results)

    # ------------------------------------------------------------------------------- slices

    @cached_property
    def negatives(self) -> list[str]:
        """The queries that a right system does not answer."""
        return [item.item_id for item in self.queries if item.expects == "nothing"]

    @cached_property
    def about_negatives(self) -> list[MeasureColumn]:
        """The columns that apply only to negative queries."""
        there = set(self.negatives)
        scored = {
            column: {
                item
                for model in self.models
                for item, cell in self.grid.get((model, column.measure), {}).items()
                if cell.status in COUNTED
            }
            for column in self.columns
        }
        return [column for column, items in scored.items() if items and items <= there]

    def inside(self, where: Where) -> list[ItemView]:
        return [item for item in self.queries if all(v in item.tags.get(k, []) for k, v in where.items())]

    def is_lower_bound(self, where: Where) -> bool:
        """Whether rules understate the slice's values, because people have to judge some of its queries."""
        return say.is_understated(self.results, where)

    def slices(self, tag: str) -> list[str]:
        """Returns the values of a tag that the study has estimates for."""
        return list(dict.fromkeys(one.where[tag] for one in self.results.estimates if [*one.where] == [tag]))

    # ---------------------------------------------------------------------------- estimates

    def estimate(self, model: str, column: MeasureColumn, where: Where = ALL) -> Estimate | None:
        """Returns a model's mean over a slice. Times are in milliseconds."""
        if column.is_rate and not where:
            return self.rates.get((model, column.name))
        one = self._estimates.get((model, column.measure, frozenset(where.items())))
        if one is None or (column.adjusted and not self.reviewed):
            return None
        # Over a part of the slice it would be each model's own part.
        if column.is_rate and one.n_scored < one.n_expected:
            return None
        ends = {name: column.scaled(getattr(one, name)) for name in ("value", "low", "high")}
        return msgspec.structs.replace(one, **ends)

    @cached_property
    def rates(self) -> dict[Pair, Estimate]:
        """The review's rates by model and column, over the queries that are finished for every model."""
        review = self.results.review
        found: dict[Pair, Estimate] = {}
        for one in review.estimates if review is not None else ():
            found.setdefault((self._model(one.system, one.factors), column_name(one.measure)), one)
        return found

    @cached_property
    def _estimates(self) -> dict[tuple[str, str, frozenset[tuple[str, str]]], Estimate]:
        found: dict[tuple[str, str, frozenset[tuple[str, str]]], Estimate] = {}
        for one in self.results.estimates:
            key = (Arm(one.system, one.factors).name, one.measure, frozenset(one.where.items()))
            found.setdefault(key, one)
        return found

    # -------------------------------------------------------------------------- comparisons

    def comparison(self, pair: Pair, name: str, where: Where = ALL) -> Comparison | None:
        """Returns the comparison of a pair on one column: the first model minus the second.

        The study may have the pair in either order.
        """
        there = self.compared.get(frozenset(where.items()), {})
        if (one := there.get((*pair, name))) is not None:
            return one
        other = there.get((pair[1], pair[0], name))
        return None if other is None else _reversed(other)

    @cached_property
    def compared(self) -> dict[frozenset[tuple[str, str]], dict[tuple[str, str, str], Comparison]]:
        """For each slice, the comparisons by model, other model and column. Times are in milliseconds."""
        found: dict[frozenset[tuple[str, str]], dict[tuple[str, str, str], Comparison]] = {}
        by_measure = {column.measure: column for column in self.columns}
        for one in self.results.comparisons:
            column = by_measure.get(one.measure)
            if column is None or column.is_rate or (column.adjusted and not self.reviewed):
                continue
            ends = {name: column.scaled(getattr(one, name)) for name in ("difference", "low", "high", "mde")}
            scaled = msgspec.structs.replace(one, **ends)
            self._note(found.setdefault(frozenset(one.where.items()), {}), column.name, scaled)
        review = self.results.review
        for one in review.comparisons if review is not None else ():
            self._note(found.setdefault(frozenset(), {}), column_name(one.measure), one)
        return found

    def _note(self, found: dict[tuple[str, str, str], Comparison], name: str, one: Comparison) -> None:
        models = self._model(one.a, one.factors), self._model(one.b, one.factors)
        found.setdefault((*models, name), one)

    # --------------------------------------------------------------------------------- arms

    @cached_property
    def _arms(self) -> dict[str, Arm]:
        made = {arm.name: arm for arm in (Arm(one.system, one.factors) for one in self.results.estimates)}
        return {name: made.get(name, Arm(name)) for name in self.results.arms}

    def _model(self, system: str, factors: Factors) -> str:
        """Returns the arm of a system under some factors. The arm may have only a part of these factors."""
        for name, arm in self._arms.items():
            if arm.system == system and all(factors.get(key) == value for key, value in arm.factors.items()):
                return name
        return Arm(system, factors).name


def rate_names(found: Sequence[str]) -> list[str]:
    """Returns the rates of a review in their usual order, then all other rates."""
    return [*(name for name in RATES if name in found), *(name for name in found if name not in RATES)]


def is_better(one: Comparison | None) -> bool | None:
    """Whether the first model is shown to be better. None if the comparison has no interval."""
    return None if one is None or one.low is None else one.shown == BETTER


def _reversed(one: Comparison) -> Comparison:
    """Returns the comparison with its two models exchanged."""
    return msgspec.structs.replace(
        one,
        a=one.b,
        b=one.a,
        difference=_negated(one.difference),
        low=_negated(one.high),
        high=_negated(one.low),
        effect=_negated(one.effect),
        wins=one.losses,
        losses=one.wins,
        shown=_OTHER_WAY[one.shown],
    )


def _negated(value: float | None) -> float | None:
    return None if value is None else 0.0 - value
