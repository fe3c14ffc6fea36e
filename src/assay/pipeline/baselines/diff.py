"""Compares two versions of a study: verdicts, items, systems, and paired differences of every measure."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import msgspec
import numpy as np
import polars as pl

from assay.core.block import FAILED
from assay.core.protocols import Measure
from assay.core.records import Comparison, Item, Status, Verdict
from assay.measures.observed import Seconds
from assay.measures.parse import parse_measure
from assay.measures.score import STATUS
from assay.pipeline.baselines.tags import Version, current_version, load_version
from assay.pipeline.evaluation import Evaluation
from assay.report.verdicts import clause_state
from assay.stats.columns import TIE
from assay.stats.compare import ComparisonSettings, summarise
from assay.stats.rows import Rows
from assay.study.study import Study

OLD, NEW = "old", "new"
MOST_CHANGED = 10  # the number of items shown per arm
_DECISIVE = ("text", "language", "gold", "expects", "scope", "sequence")  # a change here makes another item
_NONE = (*(None,) * 6, 0, 0, 0, 0)  # the values of a comparison that is refused


class Change(msgspec.Struct, frozen=True):
    """A value before and after. None means that there is no value in that version."""

    before: str | None
    after: str | None


class ItemChanges(msgspec.Struct, frozen=True):
    """The items that both versions have unchanged, which are compared, and all other items."""

    unchanged: list[str]
    added: list[str]
    removed: list[str]
    changed: dict[str, list[str]]  # by item: text, gold, …
    relabelled: list[str]  # unchanged items that have other judgments now


class ScoreChange(msgspec.Struct, frozen=True):
    """The score of an item before and after."""

    item_id: str
    text: str
    before: float
    after: float


class ArmDifference(msgspec.Struct, frozen=True):
    """The difference of one arm, new minus old, and the items that changed most in the first measure."""

    arm: str
    comparisons: list[Comparison]
    measure: str
    moved: list[ScoreChange]


@dataclasses.dataclass(frozen=True)
class BaselineDiff:
    """The changes from one version of a study to another. They do not affect a verdict."""

    study: str
    old: str
    new: str | None  # None: the present state of the study
    verdict: Change
    recommendation: Change
    gates: dict[str, Change]  # "GATE": its verdict; "GATE: CLAUSE": the state of the clause
    items: ItemChanges
    only_old: dict[str, list[str]]  # "arms" and "measures"
    only_new: dict[str, list[str]]
    timings: list[str]  # measures of time, which are left out
    arms: list[ArmDifference]
    provenance: dict[str, Change]
    warnings: list[str]  # of the newer version

    def as_json(self) -> dict[str, Any]:
        """Returns the JSON form, with the version of its schema."""
        return {"schema": "assay/baseline-diff/1", **msgspec.to_builtins(self)}


def diff_baselines(study: Study, old: str, new: str | None = None, timings: bool = False) -> BaselineDiff:
    """Compares one baseline with another, or with the present state of the study."""
    before, after = (
        load_version(study, old),
        current_version(Evaluation(study)) if new is None else load_version(study, new),
    )
    measures, arms = ([side.distinct(column) for side in (before, after)] for column in ("measure", "arm"))
    shared = [parse_measure(name, study.registry) for name in measures[1] if name in measures[0]]
    timed = [measure.name for measure in shared if isinstance(measure, Seconds) and not timings]
    measured = [measure for measure in shared if measure.name not in timed]
    pair = VersionPair(before, after, study.file.compare.resamples)
    compared = [arm for arm in arms[1] if arm in arms[0]] if measured and pair.items else []
    provenance = [{**side.shown["trust"]["provenance"], **side.kept.systems} for side in (before, after)]
    return BaselineDiff(
        study.name,
        old,
        new,
        Change(before.shown["verdict"], after.shown["verdict"]),
        Change(before.shown["recommendation"], after.shown["recommendation"]),
        _changes(_outcomes(before), _outcomes(after)),
        pair.item_changes,
        {"arms": _lacking(*arms), "measures": _lacking(*measures)},
        {"arms": _lacking(*reversed(arms)), "measures": _lacking(*reversed(measures))},
        timed,
        [pair.arm(arm, measured) for arm in compared],
        {name: each for name, each in _changes(*provenance).items() if each.before and each.after},
        after.shown["trust"]["warnings"],
    )


@dataclasses.dataclass(frozen=True)
class VersionPair:
    """Two versions of a study, compared on the items that both have unchanged."""

    before: Version
    after: Version
    resamples: int

    @cached_property
    def item_changes(self) -> ItemChanges:
        old, new = ({item.item_id: item for item in side.kept.items} for side in (self.before, self.after))
        both = [name for name in new if name in old]
        changed = {name: what for name in both if (what := _differing(old[name], new[name]))}
        same = _lacking(both, changed)
        relabelled = [name for name in same if self._relabelled(name)]
        return ItemChanges(same, _lacking(new, old), _lacking(old, new), changed, relabelled)

    def _relabelled(self, item_id: str) -> bool:
        """Whether judgments differ on things judged in both versions. Other judgments are ignored."""
        then, now = self.before.kept, self.after.kept
        if then.grades is None or now.grades is None:
            return then.labels.get(item_id) != now.labels.get(item_id)
        old, new = then.grades.get(item_id, {}), now.grades.get(item_id, {})
        return any(old[thing] != new[thing] for thing in old.keys() & new.keys())

    @cached_property
    def items(self) -> list[Item]:
        """The compared items, in the order of the newer version."""
        same = set(self.item_changes.unchanged)
        return [item for item in self.after.kept.items if item.item_id in same]

    def arm(self, arm: str, measures: Sequence[Measure]) -> ArmDifference:
        """Compares the two versions of an arm like two systems, with Holm's correction over the measures."""
        rows, first = self.rows(arm), measures[0]
        why = {measure.name: self.apart(rows, measure.name) for measure in measures}
        together = [measure for measure in measures if not why[measure.name]]
        refused = {name: each for name, each in why.items() if each}
        apart = [
            Comparison(NEW, OLD, {}, name, {}, *_NONE, family=arm, refused=each)
            for name, each in refused.items()
        ]
        moved = [] if why[first.name] else _most(_moved(rows, first), first)
        return ArmDifference(arm, [*self._compared(arm, rows, together), *apart], first.name, moved)

    def failed(self, arm: str, measures: Sequence[Measure]) -> int:
        """Counts the items that failed in one of the two versions."""
        rows = self.rows(arm)
        columns = [rows.column(side, each.name) for side in (OLD, NEW) for each in measures]
        return int(np.any([column.status == FAILED for column in columns], axis=0).sum())

    def _compared(self, arm: str, rows: Rows, measures: Sequence[Measure]) -> list[Comparison]:
        return summarise(rows, measures, ComparisonSettings(OLD, resamples=self.resamples, family=arm))[1]

    def sliced(self, arm: str, measures: Sequence[Measure], by: Sequence[str]) -> list[Comparison]:
        """Compares the versions within every slice. This is for exploration, so no p-value is adjusted."""
        rows = self.rows(arm)
        together = [measure for measure in measures if not self.apart(rows, measure.name)]
        how = ComparisonSettings(OLD, resamples=self.resamples, by=by, family=arm)
        _, found = summarise(rows, together, how)
        return [msgspec.structs.replace(one, family=arm, p_adjusted=None) for one in found if one.where]

    def moved(self, arm: str, measure: Measure) -> list[ScoreChange]:
        """Returns every item whose score changed, in the order of the items."""
        rows = self.rows(arm)
        return [] if self.apart(rows, measure.name) else _moved(rows, measure)

    def churn(self, arm: str, measure: str) -> tuple[set[str], set[str], int]:
        """Returns the compared items that were repeated, those that varied, and the number of repeats."""
        same, sides = set(self.item_changes.unchanged), (self.before.kept.churn, self.after.kept.churn)
        known = [each for side in sides if (each := side.get(arm)) is not None and measure in each.items]
        return (
            {item for each in known for item in each.items[measure] if item in same},
            {item for each in known for item in each.varied[measure] if item in same},
            max((each.repeats for each in known), default=0),
        )

    def rows(self, arm: str, *failed: Mapping[str, float]) -> Rows:
        """Returns the rows of an arm in both versions. `failed` has values for failed items, by measure."""
        chosen = pl.col("arm").eq(arm) & pl.col("item").is_in(self.item_changes.unchanged)
        sides = [side.scores.filter(chosen) for side in (self.before, self.after)]
        if failed:
            sides = [_imputed(side, values) for side, values in zip(sides, failed, strict=True)]
        renamed = [
            side.with_columns(system=pl.lit(word), arm=pl.lit(word), factors=pl.lit("{}"))
            for word, side in zip((OLD, NEW), sides, strict=True)
        ]
        return Rows(pl.concat(renamed), self.items, self.after.kept.cluster)

    def apart(self, rows: Rows, measure: str) -> str:
        """Says why scores cannot be compared; empty if they can be compared.

        The judges may differ or, in an open world, the pools.
        """
        then, now = self.before.kept, self.after.kept
        sides = [each for side in (then, now) if (each := side.labelled.get(measure))]
        if len(sides) == 2 and (others := sides[1].since(sides[0])):
            return others
        if (view := now.views.get(measure) or then.views.get(measure)) is None:
            return ""
        old, new = (side.pools.get(view, {}) for side in (then, now))
        differ = np.array([old.get(item.item_id) != new.get(item.item_id) for item in self.items])
        return f"judged on different pools: {rows.name_items(differ)}" if differ.any() else ""


def best_and_worst(measures: Sequence[Measure]) -> tuple[dict[str, float], dict[str, float]]:
    """Returns the best and the worst values of the measures that have such values."""
    best, worst = (
        {each.name: end for each in measures if (end := _end(each, good)) is not None}
        for good in (True, False)
    )
    return best, worst


def _end(measure: Measure, good: bool) -> float | None:
    """Returns the best or the worst value of a measure; None if there is no such value."""
    end = measure.high if good == (measure.better == "higher") else measure.low
    return None if end is None or math.isinf(end) else end


def _imputed(scores: pl.DataFrame, values: Mapping[str, float]) -> pl.DataFrame:
    """Gives failed items the value in `values` for each measure. An item fails if one of its seeds failed."""
    value = pl.col("measure").replace_strict(values, default=None, return_dtype=pl.Float64)
    failed = (pl.col("status") == Status.FAILED.value).any().over("item", "measure") & value.is_not_null()
    return scores.with_columns(
        value=pl.when(failed).then(value).otherwise("value"),
        status=pl.when(failed).then(pl.lit(Status.SCORED.value, STATUS)).otherwise("status"),
    )


def _moved(rows: Rows, measure: Measure) -> list[ScoreChange]:
    old, new = (rows.column(side, measure.name) for side in (OLD, NEW))
    raised = np.where(old.counted & new.counted, new.values - old.values, 0.0)
    found = [(rows.item_of(row), row) for row in np.flatnonzero(np.abs(raised) > TIE).tolist()]
    return [
        ScoreChange(item.item_id, item.text, float(old.values[row]), float(new.values[row]))
        for item, row in found
    ]


def gain_of(one: ScoreChange, measure: Measure) -> float:
    """Returns the improvement of an item's score; a negative number is a loss."""
    return one.after - one.before if measure.better == "higher" else one.before - one.after


def _most(moved: Sequence[ScoreChange], measure: Measure) -> list[ScoreChange]:
    """Returns the items that changed most, worst first."""
    most = sorted(moved, key=lambda one: (-abs(gain_of(one, measure)), gain_of(one, measure)))
    return sorted(most[:MOST_CHANGED], key=lambda one: gain_of(one, measure))


def _outcomes(version: Version) -> dict[str, str]:
    found: dict[str, str] = {}
    for each in msgspec.convert(version.shown["verdicts"], list[Verdict]):
        found[each.gate] = each.verdict
        found |= {f"{each.gate}: {clause.text}": clause_state(clause) for clause in each.clauses}
    return found


def _changes(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, Change]:
    pairs = {name: Change(before.get(name), after.get(name)) for name in dict.fromkeys([*after, *before])}
    return {name: pair for name, pair in pairs.items() if pair.before != pair.after}


def _differing(then: Item, now: Item) -> list[str]:
    return [name for name in _DECISIVE if getattr(then, name) != getattr(now, name)]


def _lacking(names: Iterable[str], others: Iterable[str]) -> list[str]:
    known = set(others)
    return [name for name in names if name not in known]
