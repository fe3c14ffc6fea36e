"""Work orders: what to ask of one arm and seed, the engines that ask it, and the tallies of the answers.

An engine maps encoded orders to encoded tallies; the answers themselves are in journal segments. Orders hold
names, hashes and positions, never live objects, so that they can go to another process or machine. Each
performer opens the study itself and writes its own segment.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Protocol

import msgspec

from assay.core.dataset import Dataset
from assay.core.errors import PluginError, SystemFailure, did_you_mean
from assay.core.optional import PricedIndex, StructuredIndex
from assay.core.protocols import Index, System
from assay.core.records import Arm
from assay.pipeline.response import fault_of
from assay.pipeline.worker_pool import IndexPool, Scope, SystemUnderTest, WorkerPool
from assay.store.journal import Answer, AnswersEntry, CostEntry, IndexEntry, JournalWriter
from assay.store.keys import AnswerBasis, SessionTask, plan_tasks, scope_hash
from assay.store.run_store import Store
from assay.study.study import Study, open_study

TICK = 0.1  # seconds. Polars' handler of Ctrl-C restarts a wait, so an endless wait is never interrupted

# ---------------------------------------------------------------------------------------- orders


class Progress(Protocol):
    """Shows how far a run is."""

    def begin(self, label: str, total: int, done: int) -> None: ...
    def advance(self, items: int, failed: int) -> None: ...
    def stage(self, what: str, done: int, total: int) -> None: ...


class NoProgress:
    """A `Progress` that shows nothing."""

    def begin(self, label: str, total: int, done: int) -> None: ...
    def advance(self, items: int, failed: int) -> None: ...
    def stage(self, what: str, done: int, total: int) -> None: ...


class WorkOrder(msgspec.Struct):
    """The tasks to ask of one arm and seed, with all that a performer needs to know."""

    study: str  # the study file
    arm: Arm
    seed: int
    basis: AnswerBasis
    tasks: list[int]  # positions in the arm's plan
    n_items: int
    generation: int = 0
    spend: float | None = None  # how much this order may spend
    repetition: int = 0  # the number of the repetition; 0: the first answers


class Tally(msgspec.Struct):
    """How many items of one order were answered or failed, and what the answers cost."""

    arm: str
    seed: int
    answered: int = 0
    failed: int = 0
    cost: float = 0.0
    broken: str | None = None  # why the system could not be opened
    last_fault: str | None = None

    def count(self, answers: list[Answer]) -> int:
        """Adds the answers of one task. Returns how many of them failed."""
        faults = [answer.response.error for answer in answers if answer.response.error is not None]
        self.answered += len(answers) - len(faults)
        self.failed += len(faults)
        if faults:
            self.last_fault = f"{faults[0].kind}: {faults[0].message}"
        return len(faults)


@dataclass
class SpendingCap:
    """The amount that may still be spent. None means that there is no cap."""

    left: float | None

    @classmethod
    def of(cls, study: Study, store: Store) -> SpendingCap:
        """Returns the cap of a study minus what earlier runs paid."""
        cap = study.file.run.max_cost
        return cls(None if cap is None else max(0.0, cap - store.cost()))

    def share(self, order: WorkOrder, sharers: int) -> WorkOrder:
        """Returns the order with an equal share of what is left, so that all orders stay under the cap."""
        return order if self.left is None else msgspec.structs.replace(order, spend=self.left / sharers)

    def pay(self, cost: float) -> None:
        if self.left is not None:
            self.left = max(0.0, self.left - cost)


class SpendingLog:
    """Stores each payment of one order at once. Threads may share it. After `close` it ignores payments."""

    def __init__(self, folder: Path, order: WorkOrder) -> None:
        self.total = 0.0
        self._folder, self._order = folder, order
        self._lock = threading.Lock()
        self._writer: JournalWriter | None = None
        self._is_open = True

    def pay(self, cost: float) -> None:
        with self._lock:
            if not self._is_open:
                return
            if self._writer is None:  # a run that costs nothing leaves no file
                self._writer = JournalWriter(self._folder)
            self._writer.append(CostEntry(self._order.arm.name, self._order.seed, cost))
            self.total += cost

    @property
    def is_below_cap(self) -> bool:
        return self._order.spend is None or self.total < self._order.spend

    def close(self) -> None:
        with self._lock:
            self._is_open = False
            if self._writer is not None:
                self._writer.close()


# ------------------------------------------------------------------------------------ performing


def perform_encoded(encoded: bytes) -> bytes:
    """Performs orders in another process, which opens the study from its file."""
    orders = msgspec.json.decode(encoded, type=list[WorkOrder])
    study = open_study(orders[0].study)
    plans = [plan_tasks(order.basis, order.seed, study.dataset(order.arm)) for order in orders]
    return msgspec.json.encode(perform_work(orders, plans, study, NoProgress()))


def perform_work(
    orders: Sequence[WorkOrder], plans: Sequence[Sequence[SessionTask]], study: Study, progress: Progress
) -> list[Tally]:
    """Builds the indexes of arms and asks their systems. Each arm writes its own journal segment.

    Several arms take turns: each item is asked of all arms before the next item is asked of any arm. So a
    change over time, such as the load of a service, affects all arms alike. The order of the arms is reversed
    from item to item.
    """
    with ExitStack() as stack:
        runs = [
            stack.enter_context(_open_arm_run(order, plan, study, progress))
            for order, plan in zip(orders, plans, strict=True)
        ]
        if len(runs) == 1:
            runs[0].ask(runs[0].tasks)
        else:
            turns: dict[int, list[tuple[_ArmRun, SessionTask]]] = {}
            for run in runs:
                for task in run.tasks:
                    turns.setdefault(min(task.items), []).append((run, task))
            for number, position in enumerate(sorted(turns)):
                for run, task in turns[position][:: -1 if number % 2 else 1]:
                    run.ask([task])
    return [run.tally for run in runs]


@contextmanager
def _open_arm_run(
    order: WorkOrder, plan: Sequence[SessionTask], study: Study, progress: Progress
) -> Iterator[_ArmRun]:
    store, tally = Store(study.run_folder), Tally(order.arm.name, order.seed)
    tasks = [plan[index] for index in order.tasks]
    answers = store.repetition(order.repetition)  # spending has one place for answers and repetitions
    with closing(SpendingLog(store.spending, order)) as spending, answers.writer() as writer:
        run = _ArmRun(study, order, tasks, writer, spending, progress, tally)
        with closing(run.indexes):
            yield run
        tally.cost = spending.total


@dataclass(frozen=True)
class _ArmRun:
    """One order while it is performed."""

    study: Study
    order: WorkOrder
    tasks: Sequence[SessionTask]
    writer: JournalWriter
    spending: SpendingLog
    progress: Progress
    tally: Tally

    @cached_property
    def system(self) -> System:
        return self.study.system(self.order.arm)

    @cached_property
    def dataset(self) -> Dataset:
        return self.study.dataset(self.order.arm)

    @cached_property
    def indexes(self) -> IndexPool:
        return IndexPool(self._build, self.tasks)

    @cached_property
    def _is_ready(self) -> bool:
        """Whether the arm may still spend, and the index that its tasks share could be built."""
        try:
            if self.spending.is_below_cap and any(task.scope is None for task in self.tasks):
                self.indexes.get(None)
        except (Exception, SystemExit) as error:  # an index that cannot be built is the system's failure
            fault = fault_of(error, self.study.concealed)
            self.tally.broken = f"{fault.kind}: {fault.message}"
            return False
        return self.spending.is_below_cap

    def ask(self, tasks: Sequence[SessionTask]) -> None:
        """Asks some of the tasks, if the arm is ready."""
        if not self._is_ready:
            return
        study = self.study
        target = SystemUnderTest(
            self.system, self.dataset, study.kit, study.budgets, study.file.run, self.indexes, study.concealed
        )
        pool = WorkerPool(target, self._store, self.spending.pay, lambda: self.spending.is_below_cap)
        with closing(pool.answer(tasks)) as answered:  # so that an interrupt here ends the workers at once
            for task in answered:
                if task is None:
                    self.writer.flush()
                else:
                    self.progress.advance(len(task.answers), self.tally.count(task.answers))

    def _store(self, answers: list[Answer]) -> None:
        self.writer.append(AnswersEntry(self.order.arm.name, self.order.seed, answers, self.order.generation))

    def _pay(self, cost: float) -> None:
        """Stores the cost of building at once, and stops the build at the spending cap."""
        if not cost:
            return
        self.spending.pay(cost)
        if not self.spending.is_below_cap:
            raise SystemFailure(
                "the spending cap was reached. Raise max_cost, and run again: what was paid is kept"
            )

    def _show_stage(self, what: str, done: int, total: int) -> None:
        self.progress.stage(f"{self.order.arm.name}, {what}", done, total)

    def _build(self, scope: Scope) -> Index:
        """Builds an index, and stores the build time, the cost, and the structure that it publishes."""
        corpus = self.dataset.corpus if scope is None else self.dataset.corpus.restricted(scope)
        started = time.monotonic()
        kit = replace(self.study.kit, progress=self._show_stage, pay=self._pay)
        index = self.system.build(corpus, self.order.seed, kit)
        seconds = time.monotonic() - started
        if isinstance(index, PricedIndex) and index.cost:
            self.spending.pay(float(index.cost))
        structure = index.structure() if isinstance(index, StructuredIndex) else None
        key = self.order.basis.index_key(self.order.seed, scope_hash(scope))
        self.writer.append(IndexEntry(key, self.order.arm.name, self.order.seed, seconds, structure))
        return index


# --------------------------------------------------------------------------------------- engines

Perform = Callable[[bytes], bytes]


class Engine(Protocol):
    """Performs orders somewhere, and yields each result as soon as it is there."""

    def map(self, perform: Perform, orders: Sequence[bytes]) -> Iterator[bytes]: ...


class LocalEngine:
    """Performs orders in this process, one after the other. Threads ask the items of an arm in parallel."""

    def map(self, perform: Perform, orders: Sequence[bytes]) -> Iterator[bytes]:
        return map(perform, orders)


class ProcessEngine:
    """Performs orders in one process per core, so that systems that compute much run in parallel."""

    def map(self, perform: Perform, orders: Sequence[bytes]) -> Iterator[bytes]:
        context = get_context("spawn")  # not fork: numeric libraries keep threads that do not survive one
        child, parent = context.Pipe(duplex=False)
        workers = max(1, min(len(orders), os.cpu_count() or 1))
        try:
            with ProcessPoolExecutor(workers, context, _exit_with_parent, (child,)) as pool:
                yield from _results(pool, perform, orders, parent)
        finally:
            parent.close()


def _results(
    pool: ProcessPoolExecutor, perform: Perform, orders: Sequence[bytes], parent: Connection
) -> Iterator[bytes]:
    try:
        waiting = {pool.submit(perform, order) for order in orders}
        while waiting:
            done, waiting = wait(waiting, TICK, FIRST_COMPLETED)
            yield from (future.result() for future in done)
    except BrokenProcessPool as error:
        what = "A worker process was killed or crashed, perhaps for want of memory."
        raise SystemFailure(f"{what} What was answered is stored: run again to resume.") from error
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        parent.close()  # ends the processes: their results are not wanted any more
        raise


def _exit_with_parent(parent: Connection) -> None:
    """Ends this process when its parent closes the pipe or dies. The journal survives that at any moment."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, which closes the pipe

    def wait_for_parent() -> None:
        parent.poll(None)
        os._exit(1)

    threading.Thread(target=wait_for_parent, daemon=True).start()


ENGINES: dict[str, type[Engine]] = {"local": LocalEngine, "processes": ProcessEngine}


def load_engine(name: str) -> Engine:
    """Returns the engine of that name."""
    if name not in ENGINES:
        raise PluginError(f"There is no engine {name!r}. {did_you_mean(name, ENGINES)}")
    return ENGINES[name]()
