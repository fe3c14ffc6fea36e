"""The run stage: systems × items × seeds into the store, resumable at any moment."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import msgspec

import assay
from assay.core.dataset import Dataset
from assay.core.errors import SystemFailure, UsageError, did_you_mean
from assay.core.protocols import default_cache
from assay.core.records import Arm
from assay.pipeline.engines import Engine, LocalEngine
from assay.pipeline.engines import load_engine as engine_named
from assay.pipeline.performing import NoProgress, Progress, Tally, WorkOrder, perform_encoded, perform_work
from assay.store.journal import GateDeclaration
from assay.store.keys import AnswerBasis, SessionTask, keys_by_item, plan_tasks
from assay.store.run_store import SCHEMA, Store
from assay.study.study import Study


@dataclass(frozen=True)
class Selection:
    """Conditions as given. Factors choose among arms, tags among items."""

    where: Mapping[str, Sequence[str]] = field(default_factory=dict)
    systems: Sequence[str] = ()
    limit: int | None = None

    def arms(self, study: Study) -> list[Arm]:
        """The arms to run. A factor that an arm lacks does not concern it."""
        for name in self.systems:
            if name not in study.file.systems:
                raise UsageError(f"There is no system {name!r}. {did_you_mean(name, study.file.systems)}")
        return [
            arm
            for arm in study.arms
            if (not self.systems or arm.system in self.systems)
            and all(arm.factors[key] in values for key, values in self.where.items() if key in arm.factors)
        ]

    def positions(self, study: Study, dataset: Dataset) -> set[int]:
        """The items to ask: the first `limit` of those that have every tag asked for.

        With a probe goes its twin, without which nothing shows what came before it.
        """
        tags = {name: set(values) for name, values in self.where.items() if name not in study.file.factors}
        chosen = (
            position
            for position, item in enumerate(dataset.items)
            if all(not values.isdisjoint(item.values(name)) for name, values in tags.items())
        )
        positions = set(list(chosen)[: self.limit])
        asked = {dataset.items[position].item_id for position in positions}
        twins = (at for at, item in enumerate(dataset.items) if item.gold.get("unprimed_of") in asked)
        return positions.union(twins)

    def refuse_unmet(self, study: Study, arms: Sequence[Arm]) -> None:
        """A condition that nothing meets is a slip of the keyboard, not a wish to run nothing."""
        items = {id(item): item for arm in arms for item in study.dataset(arm).items}.values()
        tags = {"language", "split", "sequence", *(tag for item in items for tag in item.tags)}
        for name, wanted in self.where.items():
            if name not in study.file.factors and name not in tags:
                near = did_you_mean(name, {*study.file.factors, *tags})
                raise UsageError(f"--where {name}: no factor and no tag is called that. {near}")
            values = study.file.factors.get(name) or {value for item in items for value in item.values(name)}
            if set(wanted).isdisjoint(values):
                near = did_you_mean(wanted[0], values) or "No item has any value of it."
                raise UsageError(f"--where {name}={'|'.join(wanted)} selects nothing. {near}")


@dataclass
class SpendingCap:
    """What may still be spent; None: as much as it takes."""

    left: float | None

    @classmethod
    def of(cls, study: Study, store: Store) -> SpendingCap:
        """The cap of a study less what earlier runs paid."""
        cap = study.file.run.max_cost
        return cls(None if cap is None else max(0.0, cap - store.cost()))

    def share(self, work: WorkOrder, sharers: int) -> WorkOrder:
        """The work with its part of what is left, so that sharers at work together stay under the cap."""
        return work if self.left is None else msgspec.structs.replace(work, spend=self.left / sharers)

    def pay(self, cost: float) -> None:
        if self.left is not None:
            self.left = max(0.0, self.left - cost)


@dataclass(frozen=True)
class Outcome:
    """What a run did."""

    tallies: list[Tally]
    reused: int
    pending: int
    seconds: float
    left_out: int = 0  # items without an answer that the selection leaves out

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
    selection, progress, store = selection or Selection(), progress or NoProgress(), Store(study.run_folder)
    started = time.monotonic()
    performing, arms = engine_named(engine), selection.arms(study)
    if engine != "local":
        _check_engine_can_open(study, engine)
    selection.refuse_unmet(study, arms)
    with store.locked():
        bases = {arm.name: AnswerBasis.of(study, arm, study.dataset(arm)) for arm in arms}
        plans = _plan_arms(study, arms, bases, selection)
        earlier = store.manifest()
        listed = bases if earlier else {**store.bases(study), **bases}
        generation = store.generation() + fresh
        gates = {name: gate.model_dump(mode="json") for name, gate in study.file.gates.items()}
        store.declare(GateDeclaration(study.kit.clock(), gates))
        store.write_manifest(_manifest(study, listed, earlier))
        works, reused = _list_work(study, plans, {} if fresh else store.outcomes(), generation)
        progress.begin(study.name, reused + sum(work.n_items for work in works), reused)
        tallies = _perform_all(study, works, plans, performing, progress)
        outcomes = store.outcomes()
        done = _seal_finished(store, plans, outcomes)
    answered = {place for place, plan in plans.items() if not done.isdisjoint(plan.keys)}
    _check_for_failed_arms(study, tallies, set() if fresh else answered)
    pending, left_out = _count_unanswered(plans, outcomes)
    return Outcome(tallies, reused, pending, time.monotonic() - started, left_out)


def repeat_study(
    study: Study,
    number: int,
    selection: Selection | None = None,
    *,
    fresh: bool = False,
    engine: str = "local",
    progress: Progress | None = None,
) -> Outcome:
    """Asks every system again what it answered, once more than the repetition before; the answers stay.

    What a repetition lacks is asked when it is run again. Imported answers have no system to ask.
    """
    selection, progress, store = selection or Selection(), progress or NoProgress(), Store(study.run_folder)
    started, again = time.monotonic(), store.repetition(number)
    performing = engine_named(engine)
    arms = [arm for arm in selection.arms(study) if not study.imported(arm)]
    with store.locked():
        bases = {arm.name: AnswerBasis.of(study, arm, study.dataset(arm)) for arm in arms}
        plans = _plan_arms(study, arms, bases, selection)
        stored = {} if fresh else again.outcomes()
        works, reused = _list_work(study, plans, stored, again.generation() + fresh)
        for work in works:
            work.repetition = number
        progress.begin(f"{study.name}, again", reused + sum(work.n_items for work in works), reused)
        tallies = _perform_all(study, works, plans, performing, progress)
        outcomes = again.outcomes()
        _seal_finished(again, plans, outcomes)
    pending, left_out = _count_unanswered(plans, outcomes)
    return Outcome(tallies, reused, pending, time.monotonic() - started, left_out)


def _seal_finished(store: Store, plans: Plans, outcomes: Mapping[str, bool]) -> set[str]:
    """Seals the arms that are answered; the keys of all answers."""
    done = {key for key, good in outcomes.items() if good}
    store.seal({place: plan.keys for place, plan in plans.items() if done.issuperset(plan.keys)})
    return done


@dataclass(frozen=True)
class ArmUnits:
    """One arm and seed: all its units, the key of every item, and which items are selected."""

    arm: Arm
    seed: int
    basis: AnswerBasis
    units: list[SessionTask]
    keys: list[str]
    positions: set[int]


Plans = dict[tuple[str, int], ArmUnits]


def _plan_arms(
    study: Study, arms: Sequence[Arm], bases: Mapping[str, AnswerBasis], selection: Selection
) -> Plans:
    plans: Plans = {}
    for arm in arms:
        dataset = study.dataset(arm)
        positions = selection.positions(study, dataset)
        for seed in study.seeds_of(arm):
            units = plan_tasks(bases[arm.name], seed, dataset)
            keys = keys_by_item(units, len(dataset.items))
            plans[arm.name, seed] = ArmUnits(arm, seed, bases[arm.name], units, keys, positions)
    return plans


def _list_work(
    study: Study, plans: Plans, outcomes: Mapping[str, bool], generation: int
) -> tuple[list[WorkOrder], int]:
    """What is still to ask, and how many answers are there already."""
    works, reused = [], 0
    for plan in plans.values():
        todo, n_items = [], 0
        for index, unit in enumerate(plan.units):
            if plan.positions.isdisjoint(unit.items):  # a sequence runs as a whole
                continue
            if all(outcomes.get(key, False) for key in unit.keys):
                reused += len(unit.items)
            else:
                todo.append(index)
                n_items += len(unit.items)
        if todo:
            works.append(
                WorkOrder(study.lines.where, plan.arm, plan.seed, plan.basis, todo, n_items, generation)
            )
    return works, reused


def _count_unanswered(plans: Plans, outcomes: Mapping[str, bool]) -> tuple[int, int]:
    """How many items are still to be asked, and how many more the selection leaves out."""
    counts = [0, 0]
    for plan in plans.values():
        for unit in plan.units:
            counts[plan.positions.isdisjoint(unit.items)] += sum(key not in outcomes for key in unit.keys)
    return counts[0], counts[1]


def _group_work(study: Study, works: Sequence[WorkOrder]) -> list[list[WorkOrder]]:
    """What is performed together: an arm, or, where items set the order, all of equal factors and seed."""
    if study.file.run.order != "item":
        return [[work] for work in works]
    groups: dict[bytes, list[WorkOrder]] = {}
    for work in works:
        groups.setdefault(msgspec.json.encode([work.arm.factors, work.seed], order="sorted"), []).append(work)
    return list(groups.values())


def _perform_all(
    study: Study, works: Sequence[WorkOrder], plans: Plans, engine: Engine, progress: Progress
) -> list[Tally]:
    """Has an engine do all that is to do, and tells of it as it is done."""
    here, purse = isinstance(engine, LocalEngine), SpendingCap.of(study, Store(study.run_folder))
    do = perform_encoded
    if here:
        do = partial(_perform_here, study=study, plans=plans, progress=progress, purse=purse)
    shared = [[purse.share(work, len(works)) for work in group] for group in _group_work(study, works)]
    tallies: list[Tally] = []
    for result in engine.map(do, [msgspec.json.encode(group) for group in shared]):
        told = msgspec.json.decode(result, type=list[Tally])
        tallies += told
        for tally in told if not here else ():  # performers elsewhere tell when they are done
            progress.advance(tally.answered + tally.failed, tally.failed)
    return tallies


def _perform_here(
    packed: bytes, *, study: Study, plans: Plans, progress: Progress, purse: SpendingCap
) -> bytes:
    group = msgspec.json.decode(packed, type=list[WorkOrder])
    works = [purse.share(work, len(group)) for work in group]
    units = [plans[work.arm.name, work.seed].units for work in works]
    tallies = perform_work(works, units, study, progress)
    for tally in tallies:
        purse.pay(tally.cost)
    return msgspec.json.encode(tallies)


def _check_for_failed_arms(study: Study, tallies: Sequence[Tally], answered: set[tuple[str, int]]) -> None:
    """An arm that could not be opened, or of which nothing but failures is stored."""
    problems = [f"{tally.arm} could not be opened: {tally.broken}" for tally in tallies if tally.broken]
    problems += [
        f"{tally.arm} failed on all {tally.failed} items it was asked; the last failure: {tally.last_fault}"
        for tally in tallies
        if tally.failed and not tally.answered and (tally.arm, tally.seed) not in answered
    ]
    if problems:
        if answered or any(tally.answered for tally in tallies):
            problems.append(f"What others answered is stored. To see it: assay report {study.lines.where}")
        raise SystemFailure("\n".join(dict.fromkeys(problems)))


def _check_engine_can_open(study: Study, engine: str) -> None:
    """Other processes open the study from its file: what only this one was given would not reach them."""
    kit = study.kit
    own_kit = kit.env is not os.environ or kit.clock is not time.time or kit.cache != default_cache()
    if study.registry.extended or own_kit:
        what = "plugins of this process" if study.registry.extended else "a kit of its own"
        fix = "Install them as entry points" if study.registry.extended else "Set environment variables"
        raise UsageError(f"The engine {engine!r} cannot run a study with {what}. {fix}, or use 'local'.")


def _manifest(study: Study, bases: Mapping[str, AnswerBasis], earlier: Mapping[str, Any]) -> dict[str, Any]:
    """What is being run. Arms of earlier, narrower runs stay listed."""
    datasets = {arm.name: study.dataset(arm) for arm in study.arms if arm.name in bases}
    return {
        "schema": SCHEMA,
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
                    "data": dataset.hash,
                    "basis": bases[name],
                }
                for name, dataset in datasets.items()
            },
        },
        "seeds": study.seeds,
        "assay": assay.__version__,
        "python": platform.python_version(),
        "started": study.kit.clock(),
    }
