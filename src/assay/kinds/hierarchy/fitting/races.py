"""The fit stage of a race: how sure each of its ways may be, from what each way alone answers.

Each way is asked the items of tune and dev that have evidence and are feasible. The truth of an answer is
whether its context shows all evidence within the budget, as `A@400` has it.
"""

from __future__ import annotations

import dataclasses
import math
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import msgspec
import numpy as np

from assay.core.dataset import Dataset
from assay.core.errors import DataError, UsageError
from assay.core.protocols import System
from assay.core.records import Arm, Item
from assay.core.registry import identity
from assay.core.shown import shown_by_budget
from assay.datasets.evidence import BUDGET
from assay.kinds.hierarchy.fitted import (
    CONFIDENCE_FORMAT,
    FIXED_CONFIDENCE,
    AnswerCounts,
    Confidence,
    ConfidenceOrigin,
    FeatureScale,
    PathModel,
    RaceQuality,
)
from assay.kinds.hierarchy.fitting.arms import (
    DEV,
    TUNE,
    Answered,
    Asking,
    Signs,
    Where,
    first_arms,
    refuse_stranger,
    with_every_split,
)
from assay.kinds.hierarchy.logistic import FOLDS, STRENGTHS, Bools, Scaler, fit_logistic
from assay.kinds.hierarchy.signs import NAMES, VERSION, feature_matrix
from assay.pipeline.work_orders import NoProgress, Progress
from assay.store.disk import write_atomic
from assay.study.study import Study

MOST_SEEDS = 3  # more trees of the same passages tell little more
LEAST = FOLDS  # answers of tune that are enough, and as many that are not, as a detector needs of a kind
_DIGITS = 6  # of a loss: what differs less is alike


@runtime_checkable
class Racing(Protocol):
    """A system that asks several ways and takes the answer of the one that is surest."""

    @property
    def confidence(self) -> str:
        """The file that says how sure each may be, relative to the study; empty: none."""

    def paths(self) -> Mapping[str, System]:
        """Each way as a system of its own."""


@dataclass(frozen=True)
class Calibration:
    """A confidence that was fitted, for which system, and where it was written."""

    system: str
    path: str
    confidence: Confidence

    def as_json(self) -> dict[str, Any]:
        origin = self.confidence.fitted
        return {
            "system": self.system,
            "arm": origin.arm,
            "confidence": self.path,
            "budget": origin.budget,
            "seeds": origin.seeds,
            "counts": msgspec.to_builtins(origin.counts),
            "strengths": {name: way.strength for name, way in self.confidence.paths.items()},
            "reached": msgspec.to_builtins(origin.reached),
        }


@dataclass(frozen=True)
class Row:
    """One item with one seed: by way, the signs in what it found, and whether its context is enough."""

    signs: Mapping[str, Signs]
    enough: Mapping[str, bool]

    def taken(self, sure: Callable[[str, Signs], float]) -> bool:
        """Whether the answer of the surest way is enough; of two alike the first is taken."""
        surest = max(self.signs, key=lambda path: sure(path, self.signs[path]))
        return self.enough[surest]


def calibrate_study(
    study: Study,
    systems: Sequence[str] = (),
    where: Where | None = None,
    progress: Progress | None = None,
) -> list[Calibration]:
    """Fits and writes the confidence of every system that races, or of some; each on its first arm.

    With factors, `where` picks the arm. Nothing is done where no system races.
    """
    progress = progress or NoProgress()
    every = with_every_split(study)
    found = _unshared(every, first_arms(every, systems, where or {}, _racing))
    chosen = [(arm, system, _used(every, arm)) for arm, system in found.values()]
    for _, system, _ in chosen:
        refuse_stranger(study.kit.path(system.confidence), system.confidence, "confidence", CONFIDENCE_FORMAT)
    if not chosen:
        return []
    asked = (len(used.items) * len(system.paths()) * len(_seeds(every, arm)) for arm, system, used in chosen)
    progress.begin(f"{study.name}, fit", sum(asked), 0)
    calibrations = []
    for arm, system, used in chosen:
        confidence = _fitted_to(every, arm, system, used, progress)
        path = study.kit.path(system.confidence)
        write_atomic(path, partial(Path.write_bytes, data=confidence.encoded()))
        calibrations.append(Calibration(arm.system, str(path), confidence))
    return calibrations


def _racing(system: object) -> Racing | None:
    """The racing system that a system is, or that it is put around. One that names no file needs none."""
    while system is not None:
        if isinstance(system, Racing) and system.confidence and len(system.paths()) > 1:
            return system
        system = getattr(system, "of", None)
    return None


def _unshared(study: Study, found: Mapping[str, tuple[Arm, Racing]]) -> dict[str, tuple[Arm, Racing]]:
    """Each race once: one may stand in several systems, but two cannot be fitted into one file."""
    owners: dict[Path, str] = {}
    for name, (_, system) in found.items():
        other = owners.setdefault(study.kit.path(system.confidence), name)
        if found[other][1] != system:
            fix = "Give each a file of its own, or fit one of them: --system"
            raise UsageError(f"The systems {other} and {name} both read {system.confidence}. {fix}")
    return {name: found[name] for name in owners.values()}


def _seeds(study: Study, arm: Arm) -> list[int]:
    return study.seeds_of(arm)[:MOST_SEEDS]


# --------------------------------------------------------------------------------------- asking


def _used(study: Study, arm: Arm) -> Dataset:
    """The dataset of an arm with the items of tune and dev that an answer can be enough for."""
    dataset = study.dataset(arm)
    used = dataclasses.replace(dataset, items=list(filter(_answerable, dataset.items)))
    lacking = [split for split in (TUNE, DEV) if all(item.split != split for item in used.items)]
    if lacking:
        fix = "Add such items: how sure a way may be is learnt from them."
        what = "no item with evidence and the tag feasible=yes has the split"
        raise DataError([study.lines.problem(["data"], f"{what} {split!r}", fix) for split in lacking])
    return used


def _answerable(item: Item) -> bool:
    return item.split in (TUNE, DEV) and bool(item.gold.get("evidence")) and "yes" in item.values("feasible")


def _fitted_to(study: Study, arm: Arm, system: Racing, used: Dataset, progress: Progress) -> Confidence:
    """The confidence of one race, fitted on what its ways answer."""
    seeds = _seeds(study, arm)
    rows: dict[str, list[Row]] = {TUNE: [], DEV: []}
    for seed in seeds:
        asking = Asking(study, arm, progress, seed, [BUDGET])
        answers = {path: asking.all(way, used) for path, way in system.paths().items()}
        for item, row in zip(used.items, _rows(answers), strict=True):
            rows[TUNE if item.split == TUNE else DEV].append(row)
    counts = {split: _counted(each) for split, each in rows.items()}
    if problems := [study.lines.problem(["data"], *told) for told in _too_few(counts[TUNE])]:
        raise DataError(problems)
    ways = _chosen(system.paths(), rows[TUNE], rows[DEV])
    unknown = RaceQuality({}, 0.0, 0.0, 0.0)
    of = study.concealed(identity(system))
    names = (used.name, used.hash, used.corpus.hash, arm.name, arm.factors, of)
    confidence = Confidence(
        CONFIDENCE_FORMAT, VERSION, ConfidenceOrigin(*names, BUDGET, seeds, counts, unknown), ways
    )
    reached = _reached(confidence, rows[DEV])
    return msgspec.structs.replace(
        confidence, fitted=msgspec.structs.replace(confidence.fitted, reached=reached)
    )


def _rows(answers: Mapping[str, Sequence[Answered]]) -> Iterator[Row]:
    """The answers of all ways to each item."""
    for each in zip(*answers.values(), strict=True):
        by_path = dict(zip(answers, each, strict=True))
        yield Row(
            {path: answered.signs for path, answered in by_path.items()},
            {path: _enough(answered) for path, answered in by_path.items()},
        )


def _enough(answered: Answered) -> bool:
    """Whether the context shows all evidence. Where nothing was found there is none, and nothing is shown."""
    shown = shown_by_budget([answered.item], [answered.response], answered.observer.corpus)
    found = shown.get(BUDGET, [None])[0]
    return found is not None and found.complete


def _counted(rows: Sequence[Row]) -> AnswerCounts:
    paths = rows[0].enough
    return AnswerCounts(len(rows), {path: sum(row.enough[path] for row in rows) for path in paths})


def _too_few(tune: AnswerCounts) -> Iterator[tuple[str, str]]:
    """What is wrong, and what to do, where a way's good answers cannot be told from its bad ones."""
    for path, enough in tune.enough.items():
        for count, which in ((enough, "show all evidence"), (tune.answers - enough, "miss some evidence")):
            if count < LEAST:
                answers = f"only {count} of {tune.answers} answers of {path!r}"
                what = f"on {TUNE}, {answers} {which} ({LEAST} are needed)"
                yield what, "Add items, or race without a file."


# -------------------------------------------------------------------------------------- fitting


def _chosen(paths: Collection[str], tune: Sequence[Row], dev: Sequence[Row]) -> dict[str, PathModel]:
    """Weights from tune, with the strength whose race shows enough most often on dev.

    Of two alike the one with the less log loss there, then the weaker. The weakest strengths leave each way
    little more than how often it was enough on tune, so that the better way wins nearly every race: signs
    that tell nothing then cost nothing.
    """
    every = {strength: {path: _way(path, tune, strength) for path in paths} for strength in STRENGTHS}

    def merit(strength: float) -> tuple[float, float, float]:
        ways = every[strength]
        raced = _share([row.taken(lambda path, signs: ways[path].of(signs)) for row in dev])
        loss = sum(_loss(ways[path].of(row.signs[path]), row.enough[path]) for row in dev for path in paths)
        return -raced, round(loss / len(dev), _DIGITS), strength

    return every[min(STRENGTHS, key=merit)]


def _way(path: str, tune: Sequence[Row], strength: float) -> PathModel:
    columns = feature_matrix([row.signs[path] for row in tune], NAMES)
    scaling = Scaler.of(columns)
    truth: Bools = np.array([row.enough[path] for row in tune], dtype=np.bool_)
    model = fit_logistic(scaling.scaled(columns), truth, strength).rounded()
    scales = zip(scaling.means.tolist(), scaling.scales.tolist(), strict=True)
    signs = {name: FeatureScale(*scale) for name, scale in zip(NAMES, scales, strict=True)}
    return PathModel(strength, model.bias, signs, dict(zip(NAMES, model.weights.tolist(), strict=True)))


def _loss(said: float, enough: bool) -> float:
    return -math.log(max(said if enough else 1.0 - said, sys.float_info.min))


def _reached(confidence: Confidence, dev: Sequence[Row]) -> RaceQuality:
    """How often what is shown is enough: by each way alone, by the race, and by the best of all choices."""
    return RaceQuality(
        {path: _share([row.enough[path] for row in dev]) for path in confidence.paths},
        _share([row.taken(confidence.of) for row in dev]),
        _share([row.taken(FIXED_CONFIDENCE.of) for row in dev]),
        _share([any(row.enough.values()) for row in dev]),
    )


def _share(found: Sequence[bool]) -> float:
    return round(sum(found) / len(found), 4)
