"""Performing one piece of work: an arm and seed built and asked, in this process or another."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Protocol

import msgspec

from assay.core.dataset import Dataset
from assay.core.errors import SystemFailure
from assay.core.optional import StructuredIndex
from assay.core.protocols import Index, System
from assay.core.records import Arm
from assay.pipeline.answering import IndexPool, Scope, SystemUnderTest, WorkerPool
from assay.pipeline.response import fault_of
from assay.store.journal import Answer, AnswersEntry, CostEntry, IndexEntry, JournalWriter
from assay.store.keys import AnswerBasis, SessionTask, plan_tasks, scope_hash
from assay.store.run_store import Store
from assay.study.study import Study, open_study


class Progress(Protocol):
    """Told what happens, so that somebody can show it."""

    def begin(self, label: str, total: int, done: int) -> None: ...
    def advance(self, items: int, failed: int) -> None: ...
    def stage(self, what: str, done: int, total: int) -> None: ...


class NoProgress:
    """Shows nothing."""

    def begin(self, label: str, total: int, done: int) -> None: ...
    def advance(self, items: int, failed: int) -> None: ...
    def stage(self, what: str, done: int, total: int) -> None: ...


class WorkOrder(msgspec.Struct):
    """One arm and seed to be asked about some units: all a performer needs to know."""

    study: str  # the study file
    arm: Arm
    seed: int
    basis: AnswerBasis
    units: list[int]  # positions in the arm's plan
    n_items: int
    generation: int = 0
    spend: float | None = None  # what is left to spend
    repetition: int = 0  # of items that were answered before; 0: these are the answers


class Tally(msgspec.Struct):
    """What became of one piece of work."""

    arm: str
    seed: int
    answered: int = 0
    failed: int = 0
    cost: float = 0.0
    broken: str | None = None  # why the system could not be opened
    last_fault: str | None = None

    def count(self, answers: list[Answer]) -> int:
        """Adds the answers of one unit; how many of them failed."""
        faults = [answer.response.error for answer in answers if answer.response.error is not None]
        self.answered += len(answers) - len(faults)
        self.failed += len(faults)
        if faults:
            self.last_fault = f"{faults[0].kind}: {faults[0].message}"
        return len(faults)


class SpendingLog:
    """Writes down what one piece of work pays, as it pays it; threads may share it.

    What comes after it was closed is dropped, as a Writer does.
    """

    def __init__(self, folder: Path, work: WorkOrder) -> None:
        self.total = 0.0
        self._folder, self._work = folder, work
        self._turn = threading.Lock()
        self._writer: JournalWriter | None = None
        self._open = True

    def pay(self, cost: float) -> None:
        with self._turn:
            if not self._open:
                return
            if self._writer is None:  # a run that costs nothing leaves no file
                self._writer = JournalWriter(self._folder)
            self._writer.append(CostEntry(self._work.arm.name, self._work.seed, cost))
            self.total += cost

    @property
    def affordable(self) -> bool:
        return self._work.spend is None or self.total < self._work.spend

    def close(self) -> None:
        with self._turn:
            self._open = False
            if self._writer is not None:
                self._writer.close()


def perform_encoded(packed: bytes) -> bytes:
    """Performs work in a process of its own: opens the study from its file."""
    works = msgspec.json.decode(packed, type=list[WorkOrder])
    study = open_study(works[0].study)
    plans = [plan_tasks(work.basis, work.seed, study.dataset(work.arm)) for work in works]
    return msgspec.json.encode(perform_work(works, plans, study, NoProgress()))


def perform_work(
    works: Sequence[WorkOrder], plans: Sequence[Sequence[SessionTask]], study: Study, progress: Progress
) -> list[Tally]:
    """Builds what arms are asked of and asks them, each writing a journal segment of its own.

    Several arms take turns: all of them are asked an item before any is asked the next, so that what drifts
    with time, such as the load of a service, meets them alike. Who is first changes from item to item.
    """
    with ExitStack() as stack:
        at_work = [
            stack.enter_context(_open_arm_run(work, plan, study, progress))
            for work, plan in zip(works, plans, strict=True)
        ]
        if len(at_work) == 1:
            at_work[0].ask(at_work[0].units)
        else:
            _take_turns(at_work)
    return [performance.tally for performance in at_work]


def _take_turns(at_work: Sequence[_ArmRun]) -> None:
    turns: dict[int, list[tuple[_ArmRun, SessionTask]]] = {}
    for performance in at_work:
        for unit in performance.units:
            turns.setdefault(min(unit.items), []).append((performance, unit))
    for number, position in enumerate(sorted(turns)):
        for performance, unit in turns[position][:: -1 if number % 2 else 1]:
            performance.ask([unit])


@contextmanager
def _open_arm_run(
    work: WorkOrder, plan: Sequence[SessionTask], study: Study, progress: Progress
) -> Iterator[_ArmRun]:
    store, tally = Store(study.run_folder), Tally(work.arm.name, work.seed)
    units = [plan[index] for index in work.units]
    answers = store.repetition(work.repetition)  # what all of it costs stands in one place
    with closing(SpendingLog(store.spending, work)) as ledger, answers.writer() as writer:
        performance = _ArmRun(study, work, units, writer, ledger, progress, tally)
        with closing(performance.indexes):
            yield performance
        tally.cost = ledger.total


@dataclass(frozen=True)
class _ArmRun:
    """One arm and seed at work: what it writes to and whom it tells."""

    study: Study
    work: WorkOrder
    units: Sequence[SessionTask]
    writer: JournalWriter
    ledger: SpendingLog
    progress: Progress
    tally: Tally

    @cached_property
    def system(self) -> System:
        return self.study.system(self.work.arm)

    @cached_property
    def dataset(self) -> Dataset:
        return self.study.dataset(self.work.arm)

    @cached_property
    def indexes(self) -> IndexPool:
        return IndexPool(self._build, self.units)

    @cached_property
    def _ready(self) -> bool:
        """Whether it can be asked: it is paid for, and the index that its units share could be built."""
        try:
            if self.ledger.affordable and any(unit.scope is None for unit in self.units):
                self.indexes.of(None)
        except (Exception, SystemExit) as error:  # an index that cannot be built is the system's failure
            fault = fault_of(error, self.study.concealed)
            self.tally.broken = f"{fault.kind}: {fault.message}"
            return False
        return self.ledger.affordable

    def ask(self, units: Sequence[SessionTask]) -> None:
        """Asks some of its units, unless it cannot be asked."""
        if not self._ready:
            return
        study = self.study
        asked = SystemUnderTest(
            self.system, self.dataset, study.kit, study.budgets, study.file.run, self.indexes, study.concealed
        )
        crew = WorkerPool(asked, self._record, self.ledger.pay, lambda: self.ledger.affordable)
        with closing(crew.finished(units)) as coming:  # so that an interrupt here ends the crew at once
            for finished in coming:
                if finished is None:
                    self.writer.flush()
                else:
                    self.progress.advance(len(finished.answers), self.tally.count(finished.answers))

    def _record(self, answers: list[Answer]) -> None:
        self.writer.append(AnswersEntry(self.work.arm.name, self.work.seed, answers, self.work.generation))

    def _pay(self, cost: float) -> None:
        """Books what building costs as it arises, and stops it where the cap is reached."""
        if not cost:
            return
        self.ledger.pay(cost)
        if not self.ledger.affordable:
            raise SystemFailure(
                "the spending cap was reached. Raise max_cost, and run again: what was paid is kept"
            )

    def _told(self, what: str, done: int, total: int) -> None:
        self.progress.stage(f"{self.work.arm.name}, {what}", done, total)

    def _build(self, scope: Scope) -> Index:
        """An index; what it took, cost and publishes is written down."""
        corpus = self.dataset.corpus if scope is None else self.dataset.corpus.restricted(scope)
        started = time.monotonic()
        kit = replace(self.study.kit, progress=self._told, pay=self._pay)
        index = self.system.build(corpus, self.work.seed, kit)
        seconds = time.monotonic() - started
        if cost := getattr(index, "cost", None):
            self.ledger.pay(float(cost))
        structure = index.structure() if isinstance(index, StructuredIndex) else None
        key = self.work.basis.index_key(self.work.seed, scope_hash(scope))
        self.writer.append(IndexEntry(key, self.work.arm.name, self.work.seed, seconds, structure))
        return index
