"""Fits the models of a study: a detector for each abstaining system, a confidence for each racing system.

Weights come from the items of the split `tune`. Thresholds and strengths of confidences are chosen on the
items of `dev`. No other item is read, even if the study measures on another split. A detector is fitted on
the answers of its system. The truth is in `gold["impossible"]`: the kind of an impossible item, or nothing. A
confidence is fitted on the answers of each path of the race to the feasible items that have evidence. An
answer is right if its context shows all evidence within the budget, as `A@400` counts it.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Generic, NamedTuple, Protocol, TypeVar, runtime_checkable

from assay.core.dataset import Dataset
from assay.core.errors import DataError, SystemFailure, UsageError, did_you_mean
from assay.core.optional import ClosableIndex, WrappingSystem
from assay.core.protocols import System
from assay.core.records import IMPOSSIBLE, Arm, Budget, Item, Response
from assay.core.registry import identity
from assay.core.shown import shown_by_budget
from assay.datasets.evidence import BUDGET
from assay.kinds.hierarchy.features import FeatureExtractor, feature_extractor
from assay.kinds.hierarchy.fitted import (
    CONFIDENCE_FORMAT,
    DETECTOR_FORMAT,
    AnswerCounts,
    Confidence,
    ConfidenceOrigin,
    Detector,
    DetectorOrigin,
    Features,
    RaceQuality,
    encode_fitted,
)
from assay.kinds.hierarchy.logistic import FOLDS
from assay.kinds.hierarchy.systems.abstaining import AbstainingSystem
from assay.kinds.hierarchy.training import LabelledRows, RaceExample, train_confidence, train_detector
from assay.pipeline.runner import Selection
from assay.pipeline.work_orders import NoProgress, Progress
from assay.store.disk import write_atomic
from assay.study.study import Study

TUNE, DEV = "tune", "dev"
MOST_SEEDS = 3  # more trees of the same passages add little
LEAST = FOLDS  # answers of tune that are enough, and that are not: as many as a detector needs of a kind

Where = Mapping[str, Sequence[str]]
Model = TypeVar("Model", Detector, Confidence)
Fitted = TypeVar("Fitted")


@runtime_checkable
class RacingSystem(Protocol):
    """A system that searches along several paths and returns the answer of the path it is surest of."""

    @property
    def confidence(self) -> str:
        """The file by which the race decides, relative to the study. Empty if there is no file."""

    def paths(self) -> Mapping[str, System]:
        """Returns each path as a system of its own."""


@dataclass(frozen=True)
class Fit(Generic[Model]):
    """A fitted model, the system that it was fitted for, and the path of the file it was written to."""

    system: str
    path: str
    model: Model


def fit_detectors(
    study: Study, systems: Sequence[str] = (), where: Where | None = None, progress: Progress | None = None
) -> list[Fit[Detector]]:
    """Fits and writes the detector of every abstaining system, or only of `systems`.

    Each system is fitted on its first arm. If the study has factors, `where` limits the arms. Nothing is done
    if no system abstains.
    """
    every = _with_every_split(study)
    found = _first_arms(every, systems, where or {}, _abstaining_in)
    files = {name: system.detector for name, (_, system) in found.items()}
    for name, other in _shared_files(every, files):
        raise UsageError(_both_read(other, name, files[name]))
    tasks = []
    for arm, system in found.values():
        used = _used_dataset(every, arm)
        _check_detector_items(every, used.items)
        fit = partial(_fit_detector, every, arm, system, used)
        tasks.append(_FitTask(arm, system.detector, len(used.items), fit))
    return _run(every, tasks, "detector", DETECTOR_FORMAT, progress or NoProgress())


def fit_confidences(
    study: Study, systems: Sequence[str] = (), where: Where | None = None, progress: Progress | None = None
) -> list[Fit[Confidence]]:
    """Fits and writes the confidence of every racing system, or only of `systems`.

    Each system is fitted on its first arm. If the study has factors, `where` limits the arms. Nothing is done
    if no system races. If several systems contain the same race, the race is fitted once.
    """
    every = _with_every_split(study)
    found = _first_arms(every, systems, where or {}, _racing_in)
    files = {name: system.confidence for name, (_, system) in found.items()}
    for name, other in _shared_files(every, files):
        if found[name][1] != found[other][1]:
            raise UsageError(_both_read(other, name, files[name]))
        del found[name]
    tasks = []
    for arm, system in found.values():
        used = _used_dataset(every, arm, feasible=True)
        _check_race_items(every, used.items)
        answers = len(used.items) * len(system.paths()) * len(_race_seeds(every, arm))
        fit = partial(_fit_confidence, every, arm, system, used)
        tasks.append(_FitTask(arm, system.confidence, answers, fit))
    return _run(every, tasks, "confidence", CONFIDENCE_FORMAT, progress or NoProgress())


# ------------------------------------------------------------------------- what both fits share


class _FitTask(NamedTuple, Generic[Model]):
    """One fit to do: the arm, the file to write, and the number of answers that it needs."""

    arm: Arm
    file: str
    answers: int
    fit: Callable[[Progress], Model]


def _run(
    study: Study, tasks: Sequence[_FitTask[Model]], what: str, form: str, progress: Progress
) -> list[Fit[Model]]:
    paths = [study.kit.path(task.file) for task in tasks]
    for task, path in zip(tasks, paths, strict=True):
        if not task.file or path.is_dir():
            raise UsageError(f"{what}: {task.file!r} does not name a file. Write {what}: {what}s/NAME.json.")
        if path.exists() and form.encode() not in path.read_bytes():
            raise UsageError(f"{path} exists and is not a {what}: name another file, or remove it.")
    if tasks:
        progress.begin(f"{study.name}, fit", sum(task.answers for task in tasks), 0)
    fits = []
    for task, path in zip(tasks, paths, strict=True):
        model = task.fit(progress)
        write_atomic(path, partial(Path.write_bytes, data=encode_fitted(model)))
        fits.append(Fit(task.arm.system, str(path), model))
    return fits


def _with_every_split(study: Study) -> Study:
    return dataclasses.replace(study, file=study.file.model_copy(update={"split": None}))


def _first_arms(
    study: Study, systems: Sequence[str], where: Where, inside: Callable[[object], Fitted | None]
) -> dict[str, tuple[Arm, Fitted]]:
    """Returns, for each system, the first of its selected arms and the part of the system to fit."""
    for name, values in where.items():
        if name not in study.file.factors:
            known = study.file.factors
            raise UsageError(f"--where {name}: no factor is called that. {did_you_mean(name, known)}")
        if set(values).isdisjoint(levels := study.file.factors[name]):
            what = f"--where {name}={'|'.join(values)} selects nothing."
            raise UsageError(f"{what} {did_you_mean(values[0], levels)}")
    found: dict[str, tuple[Arm, Fitted]] = {}
    for arm in Selection(where, systems).arms(study):
        if arm.system not in found and (system := inside(study.system(arm))) is not None:
            found[arm.system] = (arm, system)
    return found


def _shared_files(study: Study, files: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yields each system that has the same file as an earlier system, with the earlier system."""
    owners: dict[Path, str] = {}
    for name, file in files.items():
        if (other := owners.setdefault(study.kit.path(file), name)) != name:
            yield name, other


def _both_read(one: str, other: str, file: str) -> str:
    fix = "Give each a file of its own, or fit one of them: --system"
    return f"The systems {one} and {other} both read {file}. {fix}"


def _used_dataset(study: Study, arm: Arm, *, feasible: bool = False) -> Dataset:
    """Returns the dataset of an arm with only the items of tune and dev.

    With `feasible`, it keeps only the feasible ones among these items.
    """
    dataset = study.dataset(arm)
    items = [
        item for item in dataset.items if item.split in (TUNE, DEV) and (not feasible or _is_feasible(item))
    ]
    return dataclasses.replace(dataset, items=items)


def _refuse(study: Study, problems: Sequence[tuple[str, str]]) -> None:
    """Raises the problems of the data, each with its fix, if there are any."""
    if problems:
        raise DataError([study.lines.problem(["data"], *problem) for problem in problems])


class ItemAnswer(NamedTuple):
    """The response of a system to one item, and the extractor that computes its features."""

    item: Item
    response: Response
    extractor: FeatureExtractor

    @property
    def features(self) -> Features:
        return self.extractor.features(self.item.text, self.response.hits)

    @property
    def is_enough(self) -> bool:
        """Whether the context shows all evidence within the budget. False if the response has no context."""
        found = shown_by_budget([self.item], [self.response], self.extractor.corpus).get(BUDGET, [None])[0]
        return found is not None and found.complete


def _ask(
    study: Study,
    arm: Arm,
    progress: Progress,
    seed: int,
    system: System,
    dataset: Dataset,
    budgets: Sequence[Budget] = (),
) -> list[ItemAnswer]:
    """Returns the answer to every item, in the order of the items. Each scope gets one index."""

    def stage(what: str, done: int, total: int) -> None:
        progress.stage(f"{arm.name}, {what}", done, total)

    kit = dataclasses.replace(study.kit, progress=stage)
    scopes: dict[tuple[str, ...] | None, list[Item]] = {}
    for item in dataset.items:
        scopes.setdefault(None if item.scope is None else tuple(item.scope), []).append(item)
    found: dict[str, ItemAnswer] = {}
    for scope, items in scopes.items():
        corpus = dataset.corpus if scope is None else dataset.corpus.restricted(scope)
        index = system.build(corpus, seed, kit)
        try:
            extractor = feature_extractor(corpus, kit)
            for item in items:
                response = index.session().answer(item.query, budgets)
                if (fault := response.error) is not None:
                    what = f"{item.item_id} failed ({fault.kind}: {fault.message}), so nothing was fitted."
                    raise SystemFailure(f"{what} Look into the system, and fit again.")
                progress.advance(1, 0)
                found[item.item_id] = ItemAnswer(item, response, extractor)
        finally:
            if isinstance(index, ClosableIndex):
                index.close()
    return [found[item.item_id] for item in dataset.items]


# ---------------------------------------------------------------------------------------- detectors


def _abstaining_in(system: object) -> AbstainingSystem | None:
    """Returns the abstaining system that `system` is or wraps, or None."""
    while not isinstance(system, AbstainingSystem):
        if not isinstance(system, WrappingSystem):
            return None
        system = system.of
    return system


def _check_detector_items(study: Study, items: Sequence[Item]) -> None:
    """Raises an error if a split has no items, or if a kind has too few items to learn from."""
    counts = {split: Counter(_kind(item) for item in items if item.split == split) for split in (TUNE, DEV)}
    fix = f"Give some items that split: {TUNE} and {DEV} are fitted on."
    _refuse(study, [(f"no item has the split {split!r}", fix) for split in counts if not counts[split]])
    tune, dev = counts[TUNE], counts[DEV]
    kinds = sorted(kind for kind in tune if kind is not None)
    found = []
    if not kinds:
        what = f"no item of {TUNE} has gold {IMPOSSIBLE!r}: all are possible"
        found.append((what, "Add items that cannot be answered."))
    if not tune[None]:
        found.append((f"all items of {TUNE} are impossible", "Add items that can be answered."))
    for kind in kinds:
        if tune[kind] < FOLDS:
            found.append((f"{tune[kind]} items of {TUNE} are {kind!r}", f"At least {FOLDS} are needed."))
        if not dev[kind]:
            found.append((f"no item of {DEV} is {kind!r}", "Its threshold is chosen there: add some."))
    _refuse(study, found)


def _kind(item: Item) -> str | None:
    kind: str | None = item.gold.get(IMPOSSIBLE)
    return kind


def _fit_detector(
    study: Study, arm: Arm, system: AbstainingSystem, used: Dataset, progress: Progress
) -> Detector:
    answers = _ask(study, arm, progress, study.seeds[0], system.of, used)
    rows = {
        split: LabelledRows(
            [each.features for each in answers if each.item.split == split],
            [_kind(item) for item in used.items if item.split == split],
        )
        for split in (TUNE, DEV)
    }
    counts = {split: each.counts for split, each in rows.items()}
    of = study.concealed(identity(system.of))
    origin = DetectorOrigin(used.name, used.hash, used.corpus.hash, arm.name, arm.factors, of, counts, {})
    return train_detector(rows[TUNE], rows[DEV], origin)


# -------------------------------------------------------------------------------------- confidences


def _racing_in(system: object) -> RacingSystem | None:
    """Returns the racing system that `system` is or wraps, or None. A race must name a file."""
    while not (isinstance(system, RacingSystem) and system.confidence and len(system.paths()) > 1):
        if not isinstance(system, WrappingSystem):
            return None
        system = system.of
    return system


def _race_seeds(study: Study, arm: Arm) -> list[int]:
    return study.seeds_of(arm)[:MOST_SEEDS]


def _is_feasible(item: Item) -> bool:
    return bool(item.gold.get("evidence")) and "yes" in item.values("feasible")


def _check_race_items(study: Study, items: Sequence[Item]) -> None:
    what, fix = "no item with evidence and the tag feasible=yes has the split", "Add such items: how sure "
    fix += "a path may be is learnt from them."
    empty = [split for split in (TUNE, DEV) if all(item.split != split for item in items)]
    _refuse(study, [(f"{what} {split!r}", fix) for split in empty])


def _fit_confidence(
    study: Study, arm: Arm, system: RacingSystem, used: Dataset, progress: Progress
) -> Confidence:
    """Fits weights on tune, chooses their strength on dev, and measures the quality of the race on dev."""
    examples: dict[str | None, list[RaceExample]] = {TUNE: [], DEV: []}
    for seed in (seeds := _race_seeds(study, arm)):
        answers = {
            path: _ask(study, arm, progress, seed, one, used, [BUDGET])
            for path, one in system.paths().items()
        }
        for item, each in zip(used.items, zip(*answers.values(), strict=True), strict=True):
            by_path = dict(zip(answers, each, strict=True))
            examples[item.split].append(
                RaceExample(
                    {path: answer.features for path, answer in by_path.items()},
                    {path: answer.is_enough for path, answer in by_path.items()},
                )
            )
    tune, dev = examples[TUNE], examples[DEV]
    paths = list(system.paths())
    counts = {
        split: AnswerCounts(len(rows), {path: sum(row.enough[path] for row in rows) for path in paths})
        for split, rows in ((TUNE, tune), (DEV, dev))
    }
    _refuse(study, list(_too_few_answers(counts[TUNE])))
    reached = RaceQuality({}, 0.0, 0.0, 0.0)  # `train_confidence` measures it
    of = study.concealed(identity(system))
    about = (used.name, used.hash, used.corpus.hash, arm.name, arm.factors, of)
    return train_confidence(tune, dev, ConfidenceOrigin(*about, BUDGET, seeds, counts, reached))


def _too_few_answers(tune: AnswerCounts) -> Iterator[tuple[str, str]]:
    """Yields a problem for each path that has too few good answers, or too few bad answers, to learn from."""
    for path, enough in tune.enough.items():
        for count, which in ((enough, "show all evidence"), (tune.answers - enough, "miss some evidence")):
            if count < LEAST:
                what = f"on {TUNE}, only {count} of {tune.answers} answers of {path!r} {which}"
                yield f"{what} ({LEAST} are needed)", "Add items, or race without a file."
