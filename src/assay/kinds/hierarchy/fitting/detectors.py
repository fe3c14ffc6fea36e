"""The fit stage: a detector of impossible queries for each abstaining system of a study.

Weights come from the items of the split `tune`, thresholds from those of `dev`; no other item is looked at,
whatever split the study measures on. The truth of an item is `gold["impossible"]`, the kind, or nothing.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from msgspec.structs import replace

from assay.core.dataset import Dataset
from assay.core.errors import DataError, UsageError
from assay.core.parts import Floats
from assay.core.records import Arm, Item
from assay.core.registry import identity
from assay.kinds.hierarchy.fitted import (
    FORMAT,
    DetectionQuality,
    Detector,
    DetectorOrigin,
    FeatureScale,
    KindModel,
)
from assay.kinds.hierarchy.fitting.arms import (
    DEV,
    TUNE,
    Asking,
    Signs,
    Where,
    first_arms,
    refuse_stranger,
    with_every_split,
)
from assay.kinds.hierarchy.logistic import (
    FOLDS,
    Bools,
    DetectionRates,
    Scaler,
    best_strength,
    best_threshold,
    fit_logistic,
)
from assay.kinds.hierarchy.signs import NAMES, VERSION, feature_matrix
from assay.kinds.hierarchy.systems.abstaining import FLAG, AbstainingSystem
from assay.pipeline.work_orders import NoProgress, Progress
from assay.store.disk import write_atomic
from assay.study.study import Study

POSSIBLE, ANY = "possible", "any"
LEAST_PRECISION = 0.8  # of a kind on dev, where a threshold can reach it: false alarms cost answers


@dataclass(frozen=True)
class Fit:
    """A detector that was fitted, for which system, and where it was written."""

    system: str
    path: str
    detector: Detector

    def as_json(self) -> dict[str, Any]:
        fitted_on = self.detector.fitted
        return {
            "system": self.system,
            "arm": fitted_on.arm,
            "detector": self.path,
            "counts": fitted_on.counts,
            "thresholds": {kind: model.threshold for kind, model in self.detector.kinds.items()},
            "reached": fitted_on.reached,
        }


@dataclass(frozen=True)
class Seen:
    """The items of one split: their signs, and the kind of each."""

    rows: Sequence[Signs]
    truth: Sequence[str | None]

    @property
    def table(self) -> Floats:
        return feature_matrix(self.rows, NAMES)

    @property
    def counts(self) -> dict[str, int]:
        counted = Counter(kind or POSSIBLE for kind in self.truth)
        return dict(sorted(counted.items()))

    def of(self, kind: str | None) -> Bools:
        """Which items are of a kind; None: which are possible."""
        return np.array([each == kind for each in self.truth], dtype=np.bool_)


def fit_study(
    study: Study,
    systems: Sequence[str] = (),
    where: Where | None = None,
    progress: Progress | None = None,
    *,
    required: bool = True,
) -> list[Fit]:
    """Fits and writes the detector of every abstaining system, or of some; each on its first arm.

    With factors, `where` picks the arm. Where none abstains there is nothing to do, which is an error if it
    is `required`.
    """
    progress = progress or NoProgress()
    every = with_every_split(study)
    found = first_arms(every, systems, where or {}, _abstaining)
    if not found and required:
        which = f"none of {', '.join(systems)}" if systems else "no system"
        what = f"{study.lines.where}: {which} is `abstaining`, so there is nothing to fit."
        fix = "Add one, such as abstaining(of=bm25, detector=bm25.json); see docs/abstention.md"
        raise UsageError(f"{what} {fix}")
    _refuse_shared(every, found)
    chosen = [(arm, system, _used(every, arm)) for arm, system in found.values()]
    for _, system, _ in chosen:
        refuse_stranger(study.kit.path(system.detector), system.detector, "detector", FORMAT)
    if not chosen:
        return []
    progress.begin(f"{study.name}, fit", sum(len(used.items) for *_, used in chosen), 0)
    fits = []
    for arm, system, used in chosen:
        detector = _fitted_to(every, arm, system, used, progress)
        path = study.kit.path(system.detector)
        write_atomic(path, partial(Path.write_bytes, data=detector.encoded()))
        fits.append(Fit(arm.system, str(path), detector))
    return fits


def _used(study: Study, arm: Arm) -> Dataset:
    """The dataset of an arm with the items of tune and dev alone."""
    dataset = study.dataset(arm)
    used = dataclasses.replace(dataset, items=[item for item in dataset.items if item.split in (TUNE, DEV)])
    _refuse_unfit(study, used.items)
    return used


def _fitted_to(
    study: Study, arm: Arm, system: AbstainingSystem, used: Dataset, progress: Progress
) -> Detector:
    """The detector of one system, fitted on what it answers."""
    rows = [
        (each.item, each.signs) for each in Asking(study, arm, progress, study.seeds[0]).all(system.of, used)
    ]
    seen = {
        split: Seen(
            [signs for item, signs in rows if item.split == split],
            [_kind(item) for item, _ in rows if item.split == split],
        )
        for split in (TUNE, DEV)
    }
    counts = {split: each.counts for split, each in seen.items()}
    of = study.concealed(identity(system.of))
    origin = DetectorOrigin(used.name, used.hash, used.corpus.hash, arm.name, arm.factors, of, counts, {})
    return _fitted(seen[TUNE], seen[DEV], origin)


def _abstaining(system: object) -> AbstainingSystem | None:
    """The abstaining system that a system is, or that it is put around."""
    while system is not None and not isinstance(system, AbstainingSystem):
        system = getattr(system, "of", None)
    return system


def _refuse_shared(study: Study, found: Mapping[str, tuple[Arm, AbstainingSystem]]) -> None:
    """One file cannot hold what was fitted on two systems' answers."""
    owners: dict[Path, str] = {}
    for name, (_, system) in found.items():
        path = study.kit.path(system.detector)
        if (other := owners.setdefault(path, name)) != name:
            fix = "Give each a file of its own, or fit one of them: --system"
            raise UsageError(f"The systems {other} and {name} both read {system.detector}. {fix}")


def _refuse_unfit(study: Study, items: Sequence[Item]) -> None:
    """Splits that are empty, and kinds of which too few are there to learn from."""
    counts = {split: Counter(_kind(item) for item in items if item.split == split) for split in (TUNE, DEV)}
    found = [
        (f"no item has the split {split!r}", f"Give some items that split: {TUNE} and {DEV} are fitted on.")
        for split in (TUNE, DEV)
        if not counts[split]
    ]
    if problems := [study.lines.problem(["data"], *told) for told in found or _too_few(counts)]:
        raise DataError(problems)


def _too_few(counts: Mapping[str, Counter[str | None]]) -> Iterator[tuple[str, str]]:
    """What is wrong, and what to do, where a kind cannot be told from the rest."""
    kinds = sorted(kind for kind in counts[TUNE] if kind is not None)
    if not kinds:
        yield f"no item of {TUNE} has gold {FLAG!r}: all are possible", "Add items that cannot be answered."
    if not counts[TUNE][None]:
        yield f"all items of {TUNE} are impossible", "Add items that can be answered."
    for kind in kinds:
        if counts[TUNE][kind] < FOLDS:
            yield f"{counts[TUNE][kind]} items of {TUNE} are {kind!r}", f"At least {FOLDS} are needed."
        if not counts[DEV][kind]:
            yield f"no item of {DEV} is {kind!r}", "Its threshold is chosen there: add some."


def _kind(item: Item) -> str | None:
    kind: str | None = item.gold.get(FLAG)
    return kind


# ------------------------------------------------------------------------------------- fitting


def _fitted(tune: Seen, dev: Seen, origin: DetectorOrigin) -> Detector:
    """Weights from tune, thresholds from dev, and what the two reach together there."""
    scaling = Scaler.of(tune.table)
    scales = zip(scaling.means.tolist(), scaling.scales.tolist(), strict=True)
    signs = {name: FeatureScale(*scale) for name, scale in zip(NAMES, scales, strict=True)}
    kinds = {kind: _kind_of(kind, tune, dev, scaling) for kind in sorted(set(tune.truth) - {None}, key=str)}
    detector = Detector(FORMAT, VERSION, origin, signs, {str(kind): each for kind, each in kinds.items()})
    reached = _reached(detector.decide(dev.rows), dev, list(detector.kinds))
    return replace(detector, fitted=replace(origin, reached=reached))


def _kind_of(kind: str | None, tune: Seen, dev: Seen, scaling: Scaler) -> KindModel:
    truth = tune.of(kind)
    strength = best_strength(tune.table, truth)
    model = fit_logistic(scaling.scaled(tune.table), truth, strength).rounded()
    said = model.probabilities(scaling.scaled(dev.table))
    threshold = best_threshold(said, dev.of(kind), LEAST_PRECISION)
    return KindModel(threshold, strength, model.bias, dict(zip(NAMES, model.weights.tolist(), strict=True)))


def _reached(called: Sequence[str | None], dev: Seen, kinds: Sequence[str]) -> dict[str, DetectionQuality]:
    said = dataclasses.replace(dev, truth=called)
    found = {kind: DetectionRates.of(said.of(kind), dev.of(kind)) for kind in kinds}
    found[ANY] = DetectionRates.of(~said.of(None), ~dev.of(None))
    return {kind: DetectionQuality.of(each) for kind, each in found.items()}
