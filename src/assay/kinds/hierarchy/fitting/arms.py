"""What every fit of a study shares: which arms it is done on, how they are asked, which file may be written.

Weights come from the items of the split `tune`, choices between them from those of `dev`; no other item is
looked at, whatever split the study measures on.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar

from assay.core.dataset import Dataset
from assay.core.errors import SystemFailure, UsageError, did_you_mean
from assay.core.protocols import System
from assay.core.records import Arm, Budget, Item, Response
from assay.kinds.hierarchy.signs import FeatureExtractor
from assay.kinds.hierarchy.systems.abstaining import feature_extractor
from assay.pipeline.runner import Selection
from assay.pipeline.work_orders import Progress
from assay.study.study import Study

T = TypeVar("T")
Signs = Mapping[str, float]
Where = Mapping[str, Sequence[str]]
TUNE, DEV = "tune", "dev"


def with_every_split(study: Study) -> Study:
    """The study with the items of all splits, whichever it measures on."""
    return dataclasses.replace(study, file=study.file.model_copy(update={"split": None}))


def refuse_stranger(path: Path, name: str, what: str, form: str) -> None:
    """A file that is there and is not what is to be written, a detector say, belongs to somebody else."""
    if not name or path.is_dir():
        raise UsageError(f"{what}: {name!r} is no name of a file. Write {what}: {what}s/NAME.json.")
    if path.exists() and form.encode() not in path.read_bytes():
        raise UsageError(f"{path} is there, and is no {what}: name another file, or remove it.")


def first_arms(
    study: Study, systems: Sequence[str], where: Where, inside: Callable[[object], T | None]
) -> dict[str, tuple[Arm, T]]:
    """By system, the first of its arms that is asked for and what is to be fitted inside it, if anything."""
    for name, values in where.items():
        if name not in study.file.factors:
            raise UsageError(
                f"--where {name}: no factor is called that. {did_you_mean(name, study.file.factors)}"
            )
        if set(values).isdisjoint(known := study.file.factors[name]):
            what = f"--where {name}={'|'.join(values)} selects nothing."
            raise UsageError(f"{what} {did_you_mean(values[0], known)}")
    found: dict[str, tuple[Arm, T]] = {}
    for arm in Selection(where, systems).arms(study):
        if arm.system not in found and (system := inside(study.system(arm))) is not None:
            found[arm.system] = (arm, system)
    return found


class Answered(NamedTuple):
    """What a system answered to one item, and what shows signs in it."""

    item: Item
    response: Response
    observer: FeatureExtractor

    @property
    def signs(self) -> Signs:
        return self.observer.signs(self.item.text, self.response.hits)


@dataclass(frozen=True)
class Asking:
    """How items are asked to fit something on the answers: for which arm, with which seed and budgets."""

    study: Study
    arm: Arm
    progress: Progress
    seed: int
    budgets: Sequence[Budget] = ()

    def all(self, system: System, dataset: Dataset) -> list[Answered]:
        """The answer to every item in order, from one index a scope."""
        kit = dataclasses.replace(self.study.kit, progress=self._told)
        scopes: dict[tuple[str, ...] | None, list[Item]] = {}
        for item in dataset.items:
            scopes.setdefault(None if item.scope is None else tuple(item.scope), []).append(item)
        found: dict[str, Answered] = {}
        for scope, items in scopes.items():
            corpus = dataset.corpus if scope is None else dataset.corpus.restricted(scope)
            index = system.build(corpus, self.seed, kit)
            try:
                observer = feature_extractor(corpus, kit)
                for item in items:
                    response = index.session().answer(item.query, self.budgets)
                    found[item.item_id] = Answered(item, self._checked(item, response), observer)
            finally:
                getattr(index, "close", lambda: None)()
        return [found[item.item_id] for item in dataset.items]

    def _told(self, what: str, done: int, total: int) -> None:
        self.progress.stage(f"{self.arm.name}, {what}", done, total)

    def _checked(self, item: Item, response: Response) -> Response:
        if (fault := response.error) is not None:
            what = f"{item.item_id} failed ({fault.kind}: {fault.message}), so nothing was fitted."
            raise SystemFailure(f"{what} See to the system, and fit again.")
        self.progress.advance(1, 0)
        return response
