"""The run stage: it asks systems about items for each seed, and stores the answers. A run can always resume.

`study_status` counts the items that are answered, that failed, and that are still to be asked.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import msgspec

import assay
from assay.core.dataset import Dataset
from assay.core.errors import SystemFailure, UsageError, did_you_mean
from assay.core.protocols import default_cache
from assay.core.records import Arm
from assay.pipeline.work_orders import (
    Engine,
    LocalEngine,
    NoProgress,
    Progress,
    SpendingCap,
    Tally,
    WorkOrder,
    load_engine,
    perform_encoded,
    perform_work,
)
from assay.store.journal import GateDeclaration, select_by_key
from assay.store.keys import AnswerBasis, SessionTask, keys_by_item, plan_tasks
from assay.store.run_store import SCHEMA, Store
from assay.study.study import Study


@dataclass(frozen=True)
class Selection:
    """A part of a study. In `where`, conditions on factors choose arms; conditions on tags choose items."""

    where: Mapping[str, Sequence[str]] = field(default_factory=dict)
    systems: Sequence[str] = ()
    limit: int | None = None

    def arms(self, study: Study) -> list[Arm]:
        """Returns the selected arms. A condition on a factor does not restrict arms without that factor."""
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
        """Returns the positions of the first `limit` items that have all selected tags.

        The unprimed twin of a selected probe is selected too, because an effect of priming needs both.
        """
        tags = {name: set(values) for name, values in self.where.items() if name not in study.file.factors}
        chosen = (
            position
            for position, item in enumerate(dataset.items)
            if all(not values.isdisjoint(item.values(name)) for name, values in tags.items())
        )
        positions = set(list(chosen)[: self.limit])
        item_ids = {dataset.items[position].item_id for position in positions}
        twins = (at for at, item in enumerate(dataset.items) if item.gold.get("unprimed_of") in item_ids)
        return positions.union(twins)

    def check_conditions(self, study: Study, arms: Sequence[Arm]) -> None:
        """Raises a UsageError if no arm and no item meets a condition: that is probably a typing error."""
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


@dataclass(frozen=True)
class Outcome:
    """The result of a run: what was asked, what was reused, and what is still to be asked."""

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


@dataclass(frozen=True)
class ArmTasks:
    """The tasks of one arm and seed, with the key of every item and the positions of the selected items."""

    arm: Arm
    seed: int
    basis: AnswerBasis
    tasks: list[SessionTask]
    keys: list[str]
    positions: set[int]


TasksByArm = dict[tuple[str, int], ArmTasks]  # by arm and seed

# --------------------------------------------------------------------------------------- running


def run_study(
    study: Study,
    selection: Selection | None = None,
    *,
    fresh: bool = False,
    engine: str = "local",
    progress: Progress | None = None,
) -> Outcome:
    """Asks every system about the items that it has not answered yet, and stores each answer at once."""
    selection, store, started = selection or Selection(), Store(study.run_folder), time.monotonic()
    performer, arms = load_engine(engine), selection.arms(study)
    if engine != "local":
        _check_engine_can_open(study, engine)
    selection.check_conditions(study, arms)
    with store.locked():
        plans = _plan_arms(study, arms, selection)
        earlier, generation = store.manifest(), store.generation() + fresh
        bases = {plan.arm.name: plan.basis for plan in plans.values()}
        gates = {name: gate.model_dump(mode="json") for name, gate in study.file.gates.items()}
        store.declare(GateDeclaration(study.kit.clock(), gates))
        store.write_manifest(_manifest(study, bases if earlier else {**store.bases(study), **bases}, earlier))
        orders, reused = _list_work(study, plans, {} if fresh else store.outcomes(), generation)
        tallies = _perform_all(study, orders, plans, performer, progress, study.name, reused)
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
    """Asks every system about its items again, and stores the answers separately, as a repetition.

    A second call asks only what the repetition lacks. Imported answers have no system that could be asked.
    """
    selection, store, started = selection or Selection(), Store(study.run_folder), time.monotonic()
    performer, repetition = load_engine(engine), store.repetition(number)
    arms = [arm for arm in selection.arms(study) if not study.is_imported(arm)]
    with store.locked():
        plans = _plan_arms(study, arms, selection)
        stored, generation = {} if fresh else repetition.outcomes(), repetition.generation() + fresh
        orders, reused = _list_work(study, plans, stored, generation, number)
        tallies = _perform_all(study, orders, plans, performer, progress, f"{study.name}, again", reused)
        outcomes = repetition.outcomes()
        _seal_finished(repetition, plans, outcomes)
    pending, left_out = _count_unanswered(plans, outcomes)
    return Outcome(tallies, reused, pending, time.monotonic() - started, left_out)


def _plan_arms(study: Study, arms: Sequence[Arm], selection: Selection) -> TasksByArm:
    plans: TasksByArm = {}
    for arm in arms:
        dataset = study.dataset(arm)
        basis, positions = AnswerBasis.of(study, arm, dataset), selection.positions(study, dataset)
        for seed in study.seeds_of(arm):
            tasks = plan_tasks(basis, seed, dataset)
            keys = keys_by_item(tasks, len(dataset.items))
            plans[arm.name, seed] = ArmTasks(arm, seed, basis, tasks, keys, positions)
    return plans


def _list_work(
    study: Study, plans: TasksByArm, outcomes: Mapping[str, bool], generation: int, repetition: int = 0
) -> tuple[list[WorkOrder], int]:
    """Returns orders for the tasks still to be asked, and the number of answers already stored."""
    orders, reused = [], 0
    for plan in plans.values():
        open_tasks = []
        for index, task in enumerate(plan.tasks):
            if plan.positions.isdisjoint(task.items):  # a sequence runs as a whole
                continue
            if all(outcomes.get(key, False) for key in task.keys):
                reused += len(task.items)
            else:
                open_tasks.append(index)
        if open_tasks:
            n_items = sum(len(plan.tasks[index].items) for index in open_tasks)
            about = (study.lines.where, plan.arm, plan.seed, plan.basis)
            orders.append(
                WorkOrder(*about, open_tasks, n_items, generation=generation, repetition=repetition)
            )
    return orders, reused


def _perform_all(
    study: Study,
    orders: Sequence[WorkOrder],
    plans: TasksByArm,
    engine: Engine,
    progress: Progress | None,
    label: str,
    reused: int,
) -> list[Tally]:
    """Lets an engine do all the work, and reports progress. All orders share the spending cap."""
    progress, cap = progress or NoProgress(), SpendingCap.of(study, Store(study.run_folder))
    progress.begin(label, reused + sum(order.n_items for order in orders), reused)
    groups: dict[object, list[WorkOrder]] = {}  # a group is performed together
    for place, order in enumerate(orders):
        by_item = study.file.run.order == "item"  # if so, arms of equal factors and seed take turns
        key = msgspec.json.encode([order.arm.factors, order.seed], order="sorted") if by_item else place
        groups.setdefault(key, []).append(order)
    encoded = [
        msgspec.json.encode([cap.share(order, len(orders)) for order in group]) for group in groups.values()
    ]
    tallies: list[Tally] = []
    if isinstance(engine, LocalEngine):
        here = partial(_perform_here, study=study, plans=plans, progress=progress, cap=cap)
        for result in engine.map(here, encoded):
            tallies += msgspec.json.decode(result, type=list[Tally])
        return tallies
    for result in engine.map(perform_encoded, encoded):
        done = msgspec.json.decode(result, type=list[Tally])
        tallies += done
        for tally in done:  # performers in other processes report when they are done
            progress.advance(tally.answered + tally.failed, tally.failed)
    return tallies


def _perform_here(
    encoded: bytes, *, study: Study, plans: TasksByArm, progress: Progress, cap: SpendingCap
) -> bytes:
    group = msgspec.json.decode(encoded, type=list[WorkOrder])
    orders = [cap.share(order, len(group)) for order in group]
    tasks = [plans[order.arm.name, order.seed].tasks for order in orders]
    tallies = perform_work(orders, tasks, study, progress)
    for tally in tallies:
        cap.pay(tally.cost)
    return msgspec.json.encode(tallies)


def _seal_finished(store: Store, plans: TasksByArm, outcomes: Mapping[str, bool]) -> set[str]:
    """Seals the arms whose items are all answered. Returns the keys of all answers."""
    done = {key for key, good in outcomes.items() if good}
    store.seal({place: plan.keys for place, plan in plans.items() if done.issuperset(plan.keys)})
    return done


def _count_unanswered(plans: TasksByArm, outcomes: Mapping[str, bool]) -> tuple[int, int]:
    """Counts the items that are still to be asked, and the unanswered items that the selection leaves out."""
    counts = [0, 0]
    for plan in plans.values():
        for task in plan.tasks:
            counts[plan.positions.isdisjoint(task.items)] += sum(key not in outcomes for key in task.keys)
    return counts[0], counts[1]


def _check_for_failed_arms(study: Study, tallies: Sequence[Tally], answered: set[tuple[str, int]]) -> None:
    """Raises a SystemFailure if an arm could not be opened, or if the store has only failures of an arm."""
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
    """Refuses plugins and kits that only this process has: other processes open the study from its file."""
    kit = study.kit
    own_kit = kit.env is not os.environ or kit.clock is not time.time or kit.cache != default_cache()
    if study.registry.extended or own_kit:
        what = "plugins of this process" if study.registry.extended else "a kit of its own"
        fix = "Install them as entry points" if study.registry.extended else "Set environment variables"
        raise UsageError(f"The engine {engine!r} cannot run a study with {what}. {fix}, or use 'local'.")


def _manifest(study: Study, bases: Mapping[str, AnswerBasis], earlier: Mapping[str, Any]) -> dict[str, Any]:
    """Describes what is being run. Arms of earlier runs stay listed if the selection is narrower now."""
    datasets = {arm.name: study.dataset(arm) for arm in study.arms if arm.name in bases}
    arms = {
        name: {
            "corpus": dataset.corpus.hash,
            "passages": len(dataset.corpus),
            "items": len(dataset.items),
            "data": dataset.hash,
            "basis": bases[name],
        }
        for name, dataset in datasets.items()
    }
    return {
        "schema": SCHEMA,
        "study": study.name,
        "fingerprint": study.fingerprint,
        "study_file": study.file.model_dump(mode="json"),
        "arms": {**earlier.get("arms", {}), **arms},
        "seeds": study.seeds,
        "assay": assay.__version__,
        "python": platform.python_version(),
        "started": study.kit.clock(),
    }


# ---------------------------------------------------------------------------------------- status


@dataclass(frozen=True)
class ArmStatus:
    """How many items of one arm and seed are answered, failed, or not asked yet."""

    arm: str
    seed: int
    answered: int
    failed: int
    pending: int  # not asked yet, or left out by every run so far
    changed: list[str]  # what differs from what was run: system, corpus, budgets


@dataclass(frozen=True)
class RunStatus:
    """The status of all arms, and the command to run next."""

    arms: list[ArmStatus]
    next_step: str

    def as_json(self) -> dict[str, Any]:
        return {"schema": "assay/status/1", **asdict(self)}


def study_status(study: Study) -> RunStatus:
    """Counts the stored answers of every arm and seed. Nothing is run."""
    store = Store(study.run_folder)
    stored, bases = store.answers(), store.bases(study)
    arms = []
    for arm in study.arms:
        dataset, basis = study.dataset(arm), bases.get(arm.name)
        changed = [] if basis is None else basis.changes(study, arm, dataset)
        for seed in study.seeds_of(arm):
            tasks = [] if basis is None else plan_tasks(basis, seed, dataset)
            failed = select_by_key(stored, keys_by_item(tasks, len(dataset.items)))["failed"]
            counts = int((~failed).sum()), int(failed.sum()), failed.null_count()
            arms.append(ArmStatus(arm.name, seed, *counts, changed))
    whole, begin = merge_arms(arms), f"assay run {command_path(study)}"
    next_step = ""
    if whole.pending:
        begun = whole.answered or whole.failed
        next_step = begin + (f" (asks the {whole.pending} not asked yet)" if begun else "")
    elif whole.changed:
        next_step = f"{begin} (asks again what has changed)"
    elif whole.failed:
        next_step = f"{begin} (asks the {whole.failed} failed again)"
    return RunStatus(arms, next_step)


def merge_arms(arms: Sequence[ArmStatus]) -> ArmStatus:
    """Adds up all arms, because failures must not be shown per condition while responses are scored blind."""
    answered = sum(arm.answered for arm in arms)
    failed, pending = sum(arm.failed for arm in arms), sum(arm.pending for arm in arms)
    changed = dict.fromkeys(what for arm in arms for what in arm.changed)
    return ArmStatus("all, until unblinded", 0, answered, failed, pending, list(changed))


def command_path(study: Study) -> str:
    """Returns the path by which commands name a study: its folder if that is enough, else its file."""
    has_plan = (study.folder / "plan.yaml").is_file()  # then the folder names the plan
    is_default = study.lines.where.endswith("study.yaml") and not has_plan
    return str(study.folder) if is_default else study.lines.where
