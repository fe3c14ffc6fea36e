"""Drift: how far the results of the same queries moved between two times, without any label.

A result is kept as the hits that were returned. Moved is neither better nor worse: nothing is decided here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from assay.core.errors import DataError, Problem, UsageError, decoding_problem, did_you_mean
from assay.core.records import Hit
from assay.kinds.memory.annotation.workspace import check_name, write_file
from assay.pipeline.evaluation import Evaluation
from assay.retrieval.fuse import result_distance
from assay.stats.intervals import mean_interval
from assay.study.study import Study, open_study

SCHEMA = "assay/replay/1"
MOST_MOVED = 10


class QueryResult(msgspec.Struct, frozen=True):
    """What an arm returned for a query with one seed; no hits and `failed`: it broke."""

    arm: str
    seed: int
    item_id: str
    text: str
    hits: list[Hit]
    failed: bool = False


class ResultSnapshot(msgspec.Struct, frozen=True):
    """Every stored result of a study at one time; what was not asked is not in it."""

    schema: str
    created: float
    corpus: dict[str, str]  # by arm: a hash of what was searched
    results: list[QueryResult]


class ResultShift(msgspec.Struct, frozen=True):
    """A query, and how far its result moved: distance from 0 to 1, and the share of the top that stayed."""

    item_id: str
    text: str
    distance: float
    overlap: float


class ArmDrift(msgspec.Struct, frozen=True):
    """One arm: how far its results moved over the queries that both times have."""

    arm: str
    n: int
    distance: float | None
    low: float | None
    high: float | None
    overlap: float | None
    unchanged: int
    moved: list[ResultShift]  # most first
    failed: list[str]  # queries that broke at either time
    only_before: list[str]
    only_now: list[str]
    reworded: list[str]
    other_corpus: bool


@dataclass(frozen=True)
class Drift:
    """How far every arm moved since a time; it decides nothing."""

    study: str
    since: str
    k: int
    arms: list[ArmDrift]
    only_before: list[str]  # arms
    only_now: list[str]

    def as_json(self) -> dict[str, Any]:
        found: dict[str, Any] = msgspec.to_builtins(self)
        return {"schema": "assay/annotation-drift/1", **found}


# --------------------------------------------------------------------------------------- keeping


def keep_results(study: Study, name: str, replace: bool = False) -> Path:
    """Keeps the results that a study has stored now under a name."""
    path = _root(study) / f"{check_name(name, 'kept results')}.json"
    if path.exists() and not replace:
        raise UsageError(
            f"There are results kept as {name!r} already. Choose another name, or add --replace."
        )
    write_file(path, msgspec.json.encode(current_results(study)))
    return path


def current_results(study: Study) -> ResultSnapshot:
    """The results that a study has stored now, in the order of arms, seeds and items."""
    evaluation, corpus, results = Evaluation(study), dict[str, str](), list[QueryResult]()
    for block in evaluation.blocks:
        arm = block.arm.name
        corpus[arm] = block.corpus.hash
        for item, response in zip(block.items, block.responses, strict=True):
            if response is not None:
                hits = [Hit(hit.doc_id, hit.score) for hit in response.hits]
                failed = response.error is not None
                results.append(QueryResult(arm, block.seed, item.item_id, item.text, hits, failed))
    return ResultSnapshot(SCHEMA, study.kit.clock(), corpus, results)


def read_results(study: Study, since: str) -> ResultSnapshot:
    """Results that were kept under a name, or those of another study, by its path."""
    names = {path.stem: path for path in sorted(_root(study).glob("[!.]*.json"))}
    if since in names:
        try:
            found = msgspec.json.decode(names[since].read_bytes(), type=ResultSnapshot)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            told, fix = decoding_problem(error), "Restore it, or keep results anew."
            what = f"is not readable: {told.what}"
            raise DataError(Problem(what, str(names[since]), field=told.field, fix=fix)) from None
        if found.schema != SCHEMA:
            what = f"was kept in the form {found.schema!r}; this version of Assay reads {SCHEMA!r}"
            raise DataError(Problem(what, str(names[since]), fix="Update Assay, or keep results anew."))
        return found
    if Path(since).exists():
        return current_results(open_study(Path(since)))
    fix = did_you_mean(since, names) or "Keep some with: assay annotate drift STUDY --keep NAME"
    raise UsageError(f"No results are kept as {since!r}, and no study is there. {fix}")


def _root(study: Study) -> Path:
    """Beside the run folder: `replays`, or `NAME.replays` for a study file of another name."""
    return study.run_folder.with_name(study.run_folder.name.removesuffix("run") + "replays")


# ------------------------------------------------------------------------------------- comparing


def measure_drift(study: Study, since: str, k: int = 10) -> Drift:
    """How far the results of a study moved since a time."""
    before, now = read_results(study, since), current_results(study)
    arms = [list(dict.fromkeys(each.arm for each in side.results)) for side in (before, now)]
    both = [arm for arm in arms[1] if arm in arms[0]]
    if not both:
        named = ", ".join(arms[0])
        raise UsageError(f"No system has results at both times. Those kept are of: {named}.")
    return Drift(
        study.name,
        since,
        k,
        [_arm(arm, before, now, k, study.file.compare.resamples) for arm in both],
        [arm for arm in arms[0] if arm not in both],
        [arm for arm in arms[1] if arm not in both],
    )


def _arm(arm: str, before: ResultSnapshot, now: ResultSnapshot, k: int, resamples: int) -> ArmDrift:
    old, new = (_by_item(each for each in side.results if each.arm == arm) for side in (before, now))
    shared = [item_id for item_id in new if item_id in old]
    reworded = [each for each in shared if _text(old[each]) != _text(new[each])]
    same = [each for each in shared if each not in set(reworded)]
    failed = [each for each in same if any(one.failed for one in (*old[each].values(), *new[each].values()))]
    asked = [each for each in same if each not in set(failed) and old[each].keys() & new[each].keys()]
    moved = [_moved(old[each], new[each], k) for each in asked]
    values = [each.distance for each in moved]
    interval = None
    if values:
        interval = mean_interval(values, binary=False, bounds=(0.0, 1.0), resamples=resamples)
    most = sorted(
        (each for each in moved if each.distance > 0), key=lambda each: (-each.distance, each.item_id)
    )
    return ArmDrift(
        arm,
        len(values),
        float(np.mean(values)) if values else None,
        None if interval is None else _finite(interval.low),
        None if interval is None else _finite(interval.high),
        float(np.mean([each.overlap for each in moved])) if moved else None,
        sum(value == 0 for value in values),
        most[:MOST_MOVED],
        failed,
        [each for each in old if each not in new],
        [each for each in new if each not in old],
        reworded,
        before.corpus.get(arm) != now.corpus.get(arm),
    )


def _by_item(results: Iterable[QueryResult]) -> dict[str, dict[int, QueryResult]]:
    found: dict[str, dict[int, QueryResult]] = {}
    for each in results:
        found.setdefault(each.item_id, {})[each.seed] = each
    return found


def _text(by_seed: Mapping[int, QueryResult]) -> str:
    return next(iter(by_seed.values())).text


def _moved(old: Mapping[int, QueryResult], new: Mapping[int, QueryResult], k: int) -> ResultShift:
    """Means over the seeds that both times have."""
    seeds = [seed for seed in new if seed in old]
    distances = [result_distance(old[seed].hits, new[seed].hits) for seed in seeds]
    overlaps = [overlap(old[seed].hits, new[seed].hits, k) for seed in seeds]
    one = new[seeds[0]]
    return ResultShift(one.item_id, one.text, float(np.mean(distances)), float(np.mean(overlaps)))


def overlap(a: Sequence[Hit], b: Sequence[Hit], k: int) -> float:
    """The share of the larger of two top-k lists that both hold; 1 where both are empty."""
    one, other = ({hit.doc_id for hit in hits[:k]} for hits in (a, b))
    most = max(len(one), len(other))
    return len(one & other) / most if most else 1.0


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
