"""The run stage: systems × items × seeds into the store, resumable at any moment."""

from __future__ import annotations

import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

import msgspec

import assay
from assay.datasets.dataset import Dataset
from assay.errors import SystemFailure, UsageError, did_you_mean
from assay.protocols import Structured
from assay.records import Arm
from assay.run.answering import Asked, Crew
from assay.run.engines import Perform
from assay.run.engines import engine as engine_named
from assay.run.journal import Answered, Built, Writer
from assay.run.keys import Unit, in_item_order, plan_units
from assay.run.store import Store
from assay.study import Study, open_study


class Progress(Protocol):
    """Told what happens, so that somebody can show it."""

    def begin(self, label: str, total: int, done: int) -> None: ...
    def advance(self, items: int, failed: int) -> None: ...


class Silent:
    """Shows nothing."""

    def begin(self, label: str, total: int, done: int) -> None: ...
    def advance(self, items: int, failed: int) -> None: ...


class Work(msgspec.Struct):
    """One arm and seed to be asked about some units: all a performer needs to know."""

    study: str
    arm: Arm
    seed: int
    units: list[int]  # positions in the arm's plan
    n_items: int
    spend: float | None = None  # what is left to spend


class Tally(msgspec.Struct):
    """What became of one piece of work."""

    arm: str
    seed: int
    answered: int = 0
    failed: int = 0
    cost: float = 0.0
    broken: str | None = None  # why the system could not be opened
    last_fault: str | None = None


@dataclass
class Purse:
    """What may still be spent; None: as much as it takes."""

    left: float | None

    @classmethod
    def of(cls, study: Study, store: Store) -> Purse:
        """The cap of a study less what earlier runs paid."""
        cap = study.file.run.max_cost
        return cls(None if cap is None else max(0.0, cap - store.cost()))

    def share(self, work: Work, sharers: int) -> Work:
        """The work with its part of what is left, so that sharers at work together stay under the cap."""
        return work if self.left is None else msgspec.structs.replace(work, spend=self.left / sharers)

    def pay(self, cost: float) -> None:
        if self.left is not None:
            self.left = max(0.0, self.left - cost)


@dataclass(frozen=True)
class Selection:
    """Which part of a study to run."""

    where: Mapping[str, Sequence[str]] = field(default_factory=dict)
    systems: Sequence[str] = ()
    limit: int | None = None

    def arms(self, study: Study) -> list[Arm]:
        for name in self.systems:
            if name not in study.file.systems:
                raise UsageError(f"There is no system {name!r}. {did_you_mean(name, study.file.systems)}")
        return [
            arm
            for arm in study.arms
            if (not self.systems or arm.system in self.systems)
            and all(arm.factors[key] in values for key, values in self.where.items() if key in arm.factors)
        ]

    def takes(self, dataset: Dataset, position: int) -> bool:
        item = dataset.items[position]
        if self.limit is not None and position >= self.limit:
            return False
        return all(
            set(values) & set(item.tags.get(key, ())) or item.language in values
            for key, values in self.where.items()
            if key in item.tags or key == "language"
        )


@dataclass(frozen=True)
class Outcome:
    """What a run did."""

    tallies: list[Tally]
    reused: int
    pending: int
    seconds: float

    @property
    def answered(self) -> int:
        return sum(tally.answered for tally in self.tallies)

    @property
    def failed(self) -> int:
        return sum(tally.failed for tally in self.tallies)

    @property
    def cost(self) -> float:
        return sum(tally.cost for tally in self.tallies)


def run_study(
    study: Study,
    selection: Selection | None = None,
    *,
    fresh: bool = False,
    engine: str = "local",
    progress: Progress | None = None,
) -> Outcome:
    """Asks every system what it was not asked yet, and stores every answer as it comes."""
    selection, progress, store = selection or Selection(), progress or Silent(), Store(study.run_folder)
    started = time.monotonic()
    with store.locked():
        if fresh:
            store.forget_answers()
        arms = selection.arms(study)
        store.write_manifest(_manifest(study, arms, store.manifest()))
        plans = _plans(study, arms)
        done = store.done()
        works, reused = _works(study, plans, selection, done)
        total = sum(work.n_items for work in works)
        progress.begin(study.name, total + reused, reused)
        performing = engine_named(engine)
        purse = Purse.of(study, store)
        perform: Perform = perform_packed
        if engine == "local":
            perform = partial(_perform_here, study=study, progress=progress, purse=purse)
        packed = [msgspec.json.encode(purse.share(work, len(works))) for work in works]
        tallies = [msgspec.json.decode(result, type=Tally) for result in performing.map(perform, packed)]
        done = store.done()
        finished = {place: keys for place, (_, keys) in plans.items() if done.issuperset(keys)}
        store.seal(finished)
    pending = sum(len(set(keys) - done) for _, keys in plans.values())
    _refuse_broken(tallies)
    return Outcome(tallies, reused, pending, time.monotonic() - started)


Plans = dict[tuple[str, int], tuple[list[Unit], list[str]]]


def _plans(study: Study, arms: Sequence[Arm]) -> Plans:
    plans: Plans = {}
    for arm in arms:
        dataset = study.dataset(arm)
        for seed in study.seeds:
            units = plan_units(study, arm, seed, dataset)
            plans[arm.name, seed] = units, in_item_order(units, len(dataset.items))
    return plans


def _works(study: Study, plans: Plans, selection: Selection, done: set[str]) -> tuple[list[Work], int]:
    works, reused = [], 0
    arms = {arm.name: arm for arm in study.arms}
    for (name, seed), (units, _) in plans.items():
        dataset = study.dataset(arms[name])
        todo, n_items = [], 0
        for index, unit in enumerate(units):
            if not any(selection.takes(dataset, position) for position in unit.items):
                continue
            if done.issuperset(unit.keys):
                reused += len(unit.items)
            else:
                todo.append(index)
                n_items += len(unit.items)
        if todo:
            works.append(Work(str(study.folder), arms[name], seed, todo, n_items))
    return works, reused


def _perform_here(packed: bytes, *, study: Study, progress: Progress, purse: Purse) -> bytes:
    work = purse.share(msgspec.json.decode(packed, type=Work), 1)
    tally = perform(work, study, progress)
    purse.pay(tally.cost)
    return msgspec.json.encode(tally)


def perform_packed(packed: bytes) -> bytes:
    """Performs work in a process of its own: opens the study from its folder."""
    work = msgspec.json.decode(packed, type=Work)
    return msgspec.json.encode(perform(work, open_study(work.study), Silent()))


def perform(work: Work, study: Study, progress: Progress) -> Tally:
    """Builds the arm's index and asks it, writing a journal segment of its own."""
    tally = Tally(work.arm.name, work.seed)
    dataset = study.dataset(work.arm)
    plan = plan_units(study, work.arm, work.seed, dataset)
    units = [plan[index] for index in work.units]
    settings = study.file.run
    with Store(study.run_folder).writer() as writer:
        system = study.system(work.arm)
        size: int = settings.threads or int(getattr(system, "threads", 1))
        settings = settings.model_copy(update={"threads": size})
        asked = Asked(system, dataset, work.seed, study.kit, study.budgets, settings)
        if any(unit.scope is None for unit in units):
            try:
                _build(asked, work, writer)
            except Exception as error:  # an index that cannot be built is the system's failure, told as such
                tally.broken = f"{type(error).__name__}: {error}"
                return tally
        crew = Crew(asked, size, go_on=lambda: work.spend is None or tally.cost < work.spend)
        for finished in crew.finished(units):
            if finished is None:
                writer.flush()
                continue
            _, answers = finished
            writer.append(Answered(work.arm.name, work.seed, answers))
            failed = [answer.response.error for answer in answers if answer.response.error is not None]
            tally.answered += len(answers) - len(failed)
            tally.failed += len(failed)
            tally.cost += sum(answer.response.observed.cost or 0.0 for answer in answers)
            if failed:
                tally.last_fault = f"{failed[-1].kind}: {failed[-1].message}"
            progress.advance(len(answers), len(failed))
    return tally


def _build(asked: Asked, work: Work, writer: Writer) -> None:
    started = time.monotonic()
    asked.index = asked.system.build(asked.dataset.corpus, asked.seed, asked.kit)
    structure = asked.index.structure() if isinstance(asked.index, Structured) else None
    writer.append(Built(work.arm.name, work.seed, time.monotonic() - started, structure))


def _refuse_broken(tallies: Sequence[Tally]) -> None:
    problems = [f"{tally.arm} could not be opened: {tally.broken}" for tally in tallies if tally.broken]
    problems += [
        f"{tally.arm} failed on all {tally.failed} items it was asked; the last failure: {tally.last_fault}"
        for tally in tallies
        if tally.failed and not tally.answered
    ]
    if problems:
        raise SystemFailure("\n".join(problems))


def _manifest(study: Study, arms: Sequence[Arm], earlier: Mapping[str, Any]) -> dict[str, Any]:
    """What is being run. Arms of earlier, narrower runs stay listed."""
    datasets = {arm.name: study.dataset(arm) for arm in arms}
    return {
        "schema": "assay/run/1",
        "study": study.name,
        "fingerprint": study.fingerprint,
        "study_file": study.file.model_dump(mode="json"),
        "arms": {
            **earlier.get("arms", {}),
            **{
                name: {
                    "corpus": dataset.corpus.hash,
                    "passages": len(dataset.corpus),
                    "items": len(dataset.items),
                }
                for name, dataset in datasets.items()
            },
        },
        "seeds": study.seeds,
        "assay": assay.__version__,
        "python": platform.python_version(),
        "started": study.kit.clock(),
    }
