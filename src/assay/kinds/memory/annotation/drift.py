"""Drift: how far the results of the same queries moved between two times. Drift needs no labels.

A shadow set is a set of many queries over the documents, without labels, which are asked again and again. A
stored result is the hits that were returned. A result that moved is neither better nor worse, so nothing is
decided here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from assay.core.dataset import digest
from assay.core.errors import DataError, Problem, UsageError, decoding_problem, did_you_mean
from assay.core.records import Hit
from assay.core.yaml_lines import read_text
from assay.datasets.units import read_folder
from assay.kinds.memory.annotation.agreement import finite_or_none
from assay.kinds.memory.annotation.documents import frozen_version
from assay.kinds.memory.annotation.workspace import Workspace, check_name, write_file
from assay.pipeline.evaluation import Evaluation
from assay.retrieval.fuse import result_distance
from assay.stats.intervals import mean_interval
from assay.study.study import Study, open_study

SCHEMA = "assay/replay/1"
MOST_MOVED = 10

# ------------------------------------------------------------------------------------- shadow set


@dataclass(frozen=True)
class ShadowSet:
    """A shadow set that was written: its path and its size."""

    path: Path
    queries: int
    units: int
    doubled: int  # lines that repeat an earlier query

    def as_json(self) -> dict[str, Any]:
        return {"schema": "assay/annotation-shadow/1", **vars(self), "path": str(self.path)}


def write_shadow(workspace: Workspace, queries: Path, pack: str, out: Path | None = None) -> ShadowSet:
    """Writes a shadow set in the layout of `datasets.folder`, from a file with one query per line.

    The id of an item is a hash of its query, so the same query always has the same id.
    """
    frozen_version(workspace)
    place = out or workspace.root / "shadow"
    if place.resolve() == workspace.documents.resolve():
        raise UsageError(f"{place} holds the documents. Name another folder.")
    lines = [" ".join(line.split()) for line in read_text(queries).splitlines()]
    asked = [line for line in lines if line and not line.startswith("#")]
    if not asked:
        raise DataError(Problem("there is no query in it", str(queries), fix="Write one query per line."))
    texts = list(dict.fromkeys(asked))
    found = read_folder(workspace.documents, pack)
    # The items are written last: a folder without items cannot be loaded, so a crash leaves no half dataset.
    files: dict[str, Iterable[object]] = {
        "documents.jsonl": [units.document for units in found.units.values()],
        "passages.jsonl": found.passages,
        "items.jsonl": [
            {"item_id": f"shadow-{digest([text.encode()])[:12]}", "text": text, "tags": {"set": "shadow"}}
            for text in texts
        ],
    }
    for name, records in files.items():
        write_file(place / name, b"".join(msgspec.json.encode(record) + b"\n" for record in records))
    return ShadowSet(place, len(texts), len(found.passages), len(asked) - len(texts))


# --------------------------------------------------------------------------------- stored results


class QueryResult(msgspec.Struct, frozen=True):
    """The hits that an arm returned for a query with one seed. If the query failed, `failed` is true."""

    arm: str
    seed: int
    item_id: str
    text: str
    hits: list[Hit]
    failed: bool = False


class ResultSnapshot(msgspec.Struct, frozen=True):
    """Every result that a study has stored at one time. Queries that were not asked are not part of it."""

    schema: str
    created: float
    corpus: dict[str, str]  # by arm: a hash of the corpus
    results: list[QueryResult]


def keep_results(study: Study, name: str, replace: bool = False) -> Path:
    """Copies the results that a study has stored now to a file with that name. Returns its path."""
    path = _root(study) / f"{check_name(name, 'kept results')}.json"
    if path.exists() and not replace:
        raise UsageError(
            f"There are results kept as {name!r} already. Choose another name, or add --replace."
        )
    write_file(path, msgspec.json.encode(current_results(study)))
    return path


def current_results(study: Study) -> ResultSnapshot:
    """Returns the results that a study has stored now, in the order of arms, seeds and items."""
    corpus, results = dict[str, str](), list[QueryResult]()
    for block in Evaluation(study).blocks:
        arm = block.arm.name
        corpus[arm] = block.corpus.hash
        for item, response in zip(block.items, block.responses, strict=True):
            if response is not None:
                hits = [Hit(hit.doc_id, hit.score) for hit in response.hits]
                failed = response.error is not None
                results.append(QueryResult(arm, block.seed, item.item_id, item.text, hits, failed))
    return ResultSnapshot(SCHEMA, study.kit.clock(), corpus, results)


def read_results(study: Study, since: str) -> ResultSnapshot:
    """Returns the results that were kept under a name, or the results of another study, given its path."""
    names = {path.stem: path for path in sorted(_root(study).glob("[!.]*.json"))}
    if since in names:
        where = str(names[since])
        try:
            found = msgspec.json.decode(names[since].read_bytes(), type=ResultSnapshot)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            problem, fix = decoding_problem(error), "Restore it, or keep results again."
            what = f"is not readable: {problem.what}"
            raise DataError(Problem(what, where, field=problem.field, fix=fix)) from None
        if found.schema != SCHEMA:
            what = f"was kept in the form {found.schema!r}; this version of Assay reads {SCHEMA!r}"
            raise DataError(Problem(what, where, fix="Update Assay, or keep results again."))
        return found
    if Path(since).exists():
        return current_results(open_study(Path(since)))
    fix = did_you_mean(since, names) or "Keep some with: assay annotate drift STUDY --keep NAME"
    raise UsageError(f"No results are kept as {since!r}, and no study is there. {fix}")


def _root(study: Study) -> Path:
    """Returns the folder of kept results, beside the run folder.

    It is `replays`, or `NAME.replays` for a study file of another name.
    """
    return study.run_folder.with_name(study.run_folder.name.removesuffix("run") + "replays")


# ------------------------------------------------------------------------------------- comparing


class ResultShift(msgspec.Struct, frozen=True):
    """How far the result of a query moved (0 to 1), and which share of its top k hits stayed."""

    item_id: str
    text: str
    distance: float
    overlap: float


class ArmDrift(msgspec.Struct, frozen=True):
    """How far the results of an arm moved, over the queries that have results at both times."""

    arm: str
    n: int
    distance: float | None
    low: float | None
    high: float | None
    overlap: float | None
    unchanged: int
    moved: list[ResultShift]  # those that moved most come first
    failed: list[str]  # queries that failed at one of the times
    only_before: list[str]
    only_now: list[str]
    reworded: list[str]
    other_corpus: bool


@dataclass(frozen=True)
class Drift:
    """How far the results of every arm moved since an earlier time."""

    study: str
    since: str
    k: int
    arms: list[ArmDrift]
    only_before: list[str]  # arms with results only at the earlier time
    only_now: list[str]

    def as_json(self) -> dict[str, Any]:
        found: dict[str, Any] = msgspec.to_builtins(self)
        return {"schema": "assay/annotation-drift/1", **found}


def measure_drift(study: Study, since: str, k: int = 10) -> Drift:
    """Measures how far the results of a study moved since an earlier time."""
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
        [_arm_drift(arm, before, now, k, study.file.compare.resamples) for arm in both],
        [arm for arm in arms[0] if arm not in both],
        [arm for arm in arms[1] if arm not in both],
    )


def _arm_drift(arm: str, before: ResultSnapshot, now: ResultSnapshot, k: int, resamples: int) -> ArmDrift:
    old, new = (_by_item(each for each in side.results if each.arm == arm) for side in (before, now))
    shared = [item_id for item_id in new if item_id in old]
    texts = [{each: next(iter(side[each].values())).text for each in shared} for side in (old, new)]
    reworded = [each for each in shared if texts[0][each] != texts[1][each]]
    same = [each for each in shared if texts[0][each] == texts[1][each]]
    failed = [each for each in same if any(one.failed for one in (*old[each].values(), *new[each].values()))]
    asked = [each for each in same if each not in set(failed) and old[each].keys() & new[each].keys()]
    moved = [_shift(old[each], new[each], k) for each in asked]
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
        None if interval is None else finite_or_none(interval.low),
        None if interval is None else finite_or_none(interval.high),
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


def _shift(old: Mapping[int, QueryResult], new: Mapping[int, QueryResult], k: int) -> ResultShift:
    """Returns the mean distance and overlap of a query's results over the seeds of both times."""
    seeds = [seed for seed in new if seed in old]
    distances = [result_distance(old[seed].hits, new[seed].hits) for seed in seeds]
    overlaps = [overlap(old[seed].hits, new[seed].hits, k) for seed in seeds]
    one = new[seeds[0]]
    return ResultShift(one.item_id, one.text, float(np.mean(distances)), float(np.mean(overlaps)))


def overlap(a: Sequence[Hit], b: Sequence[Hit], k: int) -> float:
    """Returns the number of shared hits of two top-k lists, divided by the length of the longer list.

    If both lists are empty, the overlap is 1.
    """
    one, other = ({hit.doc_id for hit in hits[:k]} for hits in (a, b))
    most = max(len(one), len(other))
    return len(one & other) / most if most else 1.0
