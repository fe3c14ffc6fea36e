"""Asks one arm's system. Worker threads answer tasks and store them; one thread hands out the tasks.

Each worker stores its task before it takes the next one, so a crash loses only the tasks in progress. Python
cannot end a thread that hangs. So a worker that exceeds its time is abandoned and replaced, and its late
answer is dropped. The item fails, or is tried again if retries are left.
"""

from __future__ import annotations

import math
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import msgspec

from assay.core.dataset import Dataset
from assay.core.optional import IMPORTED, ClosableIndex, SystemWithOrigin, ThreadedPlugin
from assay.core.protocols import Index, Kit, Session, System
from assay.core.records import Budget, Fault, Observed, Query, Response
from assay.pipeline.response import check_response, fault_of
from assay.store.journal import Answer
from assay.store.keys import SessionTask
from assay.study.study_file import RunSettings

Scope = tuple[str, ...] | None

TICK = 0.05  # seconds between two looks at the clock
RESERVE = 8  # tasks handed out for each worker
GRACE = 5.0  # seconds that current tasks may take after the run was stopped


@dataclass
class _IndexSlot:
    """The place for one index, which may not be built yet."""

    building: threading.Lock = field(default_factory=threading.Lock)
    index: Index | None = None

    def close(self) -> None:
        """Closes the index if it has a `close`. If closing fails, the answers from the index still count."""
        index, self.index = self.index, None
        with suppress(Exception):
            if isinstance(index, ClosableIndex):
                index.close()


class IndexPool:
    """Builds each index when its first task needs it, and closes it when its last task is done.

    A build that fails leaves nothing behind: the next task, or the next attempt, builds again.
    """

    def __init__(self, build: Callable[[Scope], Index], tasks: Iterable[SessionTask]) -> None:
        self._build = build
        self._left = Counter(task.scope for task in tasks)
        self._slots: dict[Scope, _IndexSlot] = {scope: _IndexSlot() for scope in self._left}

    def get(self, scope: Scope) -> Index:
        """Returns the index over a scope. If another thread is building this index, the call waits."""
        slot = self._slots[scope]
        with slot.building:
            if slot.index is None:
                slot.index = self._build(scope)
            return slot.index

    def release(self, task: SessionTask) -> None:
        """Notes that a task no longer needs its index."""
        self._left[task.scope] -= 1
        if not self._left[task.scope]:
            self._slots[task.scope].close()

    def close(self) -> None:
        for slot in self._slots.values():
            slot.close()


@dataclass
class SystemUnderTest:
    """A system, the indexes that answer its tasks, and the settings for asking it."""

    system: System
    dataset: Dataset
    kit: Kit
    budgets: Sequence[Budget]
    settings: RunSettings
    indexes: IndexPool
    conceal: Callable[[str], str] = str  # removes from a message what must not be stored

    @property
    def threads(self) -> int:
        own = int(self.system.threads) if isinstance(self.system, ThreadedPlugin) else 1
        return self.settings.threads or own

    @property
    def is_timed(self) -> bool:
        """Whether the time that an answer takes here is the system's own. For an imported run it is not."""
        return not (isinstance(self.system, SystemWithOrigin) and self.system.origin == IMPORTED)

    def query(self, position: int) -> Query:
        return self.dataset.items[position].query

    def add_unasked(self, task: SessionTask, answers: Sequence[Answer]) -> list[Answer]:
        """Returns the answers of a task, and a fault for each item after the item that failed.

        The items after a failure in a sequence are not asked: the session lacks the earlier steps of the
        sequence, so their answers would not belong to this sequence.
        """
        if len(answers) == len(task.items):
            return list(answers)
        what = f"{answers[-1].item_id!r}, earlier in its sequence, failed"
        fault = Fault("NotAsked", what, retryable=True)
        rest = list(zip(task.items, task.keys, strict=True))[len(answers) :]
        return [
            *answers,
            *(Answer(key, self.query(position).item_id, Response(error=fault)) for position, key in rest),
        ]


@dataclass
class _UnitAttempt:
    task: SessionTask
    attempt: int = 1


@dataclass
class AnsweredTask:
    """A task with one answer per item."""

    task: SessionTask
    answers: list[Answer]


class _Worker(threading.Thread):
    """A thread that does jobs one after the other, until it gets None or is abandoned."""

    def __init__(self, pool: WorkerPool) -> None:
        super().__init__(daemon=True)
        self.target, self.pool = pool.target, pool
        self.answers: list[Answer] = []  # the answers of the current job so far
        self._lock = threading.Lock()  # held while the current job is taken, ended or abandoned
        self._job: _UnitAttempt | None = None
        self._since = math.inf  # when the current attempt began
        self._is_abandoned = False
        self._session: Session | None = None

    def run(self) -> None:
        while (job := self.pool.jobs.get()) is not None and not self.pool.stopping.is_set():
            if not self._take(job):
                self.pool.jobs.put(job)
                return
            try:
                self._answer(job)
                if not self._take(None):
                    return
                # the run was stopped in the middle of a sequence: nobody waits for its answers
                if len(self.answers) < len(job.task.items) and self.answers[-1].response.error is None:
                    return
                answered = AnsweredTask(job.task, self.target.add_unasked(job.task, self.answers))
                self.pool.store(answered.answers)
                self.pool.done.put(answered)
            except Exception as error:  # a full disk: the thread that waits for this task raises it
                self.pool.done.put(error)

    def overdue(self, timeout: float) -> _UnitAttempt | None:
        """Abandons the worker if its attempt takes too long, and returns its job; else returns None."""
        with self._lock:
            if self._job is None or time.monotonic() - self._since <= timeout:
                return None
            self._is_abandoned = True
            return self._job

    def _take(self, job: _UnitAttempt | None) -> bool:
        """Starts a job; None ends the last job. Returns False if the worker was abandoned meanwhile."""
        with self._lock:
            self._job, self._since = job, math.inf
            if job is not None:
                self.answers = []
            return not self._is_abandoned

    def _answer(self, job: _UnitAttempt) -> None:
        self._session = None
        for position, key in zip(job.task.items, job.task.keys, strict=True):
            query = self.target.query(position)
            response = self._ask(job, query)
            with self._lock:
                if self._is_abandoned:  # the answer is too late: another worker asks this item and the rest
                    return
                self.answers.append(Answer(key, query.item_id, response))
            if response.error is not None or self.pool.stopping.is_set():
                return

    def _ask(self, job: _UnitAttempt, query: Query) -> Response:
        settings, attempt, spent = self.target.settings, job.attempt, 0.0
        while True:
            clock = self.target.kit.clock()
            response = self._attempt(job.task, query)
            seen = response.observed
            if seen.cost:
                self.pool.pay(seen.cost)
            spent += seen.cost or 0.0
            seen.cost = spent or seen.cost  # an attempt that failed was paid for too
            seen.attempts, seen.concurrency, seen.time = attempt, self.target.threads, clock
            self._since = math.inf
            is_final = response.error is None or not response.error.retryable or attempt > settings.retries
            if is_final or self._is_abandoned:
                return response
            from assay.core.endpoint import pause_before  # few runs need a retry

            attempt += 1
            if self.pool.stopping.wait(pause_before(attempt, settings.backoff)):
                return response

    def _attempt(self, task: SessionTask, query: Query) -> Response:
        target = self.target
        self._since = started = time.monotonic()
        try:
            if self._session is None:
                self._session = target.indexes.get(task.scope).session()
                self._since = started = time.monotonic()
            response = check_response(self._session.answer(query, target.budgets), target.budgets)
        except BaseException as error:  # anything that a system raises is its failure, SystemExit too
            # an error of any class may carry what the attempt cost
            paid = Observed(cost=getattr(error, "cost", None))
            response = Response(error=fault_of(error, target.conceal), observed=paid)
        if response.error is not None:
            message = target.conceal(response.error.message)
            response.error = msgspec.structs.replace(response.error, message=message)
        if target.is_timed:
            response.observed.seconds.setdefault("total", time.monotonic() - started)
        return response


@dataclass
class WorkerPool:
    """The workers of one arm. `answer()` yields tasks as they are answered, in no particular order."""

    target: SystemUnderTest
    store: Callable[[list[Answer]], None]  # called by workers, with the answers of one task
    pay: Callable[[float], None]  # called by workers, for each attempt that cost something
    may_go_on: Callable[[], bool] = lambda: True  # asked before each task is handed out
    jobs: queue.SimpleQueue[_UnitAttempt | None] = field(default_factory=queue.SimpleQueue)
    done: queue.SimpleQueue[AnsweredTask | Exception] = field(default_factory=queue.SimpleQueue)
    workers: list[_Worker] = field(default_factory=list)
    stopping: threading.Event = field(default_factory=threading.Event)  # set: nothing more is to be asked
    last_look: float = 0.0  # when the clock was last read

    def answer(self, tasks: Sequence[SessionTask]) -> Generator[AnsweredTask | None, None, None]:
        """Yields each task with its answers. Yields None when no task has come back for a while."""
        waiting = iter(tasks)
        # A reserve keeps workers that answer at once from waiting for the next task. A spending cap allows
        # none: what is handed out when it is reached will still be paid for.
        depth = self.target.threads * (1 if self.target.settings.max_cost is not None else RESERVE)
        for _ in range(min(self.target.threads, len(tasks))):
            self._start_worker()
        try:
            in_flight = self._hand_out(waiting, depth)
            while in_flight:
                answered = self._give_up_overdue() or self._next_answered()
                if answered is not None:
                    in_flight -= 1
                    self.target.indexes.release(answered.task)
                yield answered
                if answered is not None:
                    in_flight += self._hand_out(waiting, 1)
        finally:
            self._stop()

    def _stop(self) -> None:
        """Drops the jobs that no worker has begun, and waits a little for the others: they may cost money."""
        self.stopping.set()
        with suppress(queue.Empty):
            while True:
                self.jobs.get_nowait()
        for _ in self.workers:
            self.jobs.put(None)
        until = time.monotonic() + GRACE
        for worker in self.workers:
            worker.join(max(0.0, until - time.monotonic()))

    def _hand_out(self, waiting: Iterator[SessionTask], number: int) -> int:
        handed = 0
        while handed < number and self.may_go_on() and (task := next(waiting, None)) is not None:
            self.jobs.put(_UnitAttempt(task))
            handed += 1
        return handed

    def _start_worker(self) -> None:
        worker = _Worker(self)
        self.workers.append(worker)
        worker.start()

    def _next_answered(self) -> AnsweredTask | None:
        try:
            answered = self.done.get(timeout=TICK)
        except queue.Empty:
            return None
        if isinstance(answered, Exception):
            raise answered
        return answered

    def _give_up_overdue(self) -> AnsweredTask | None:
        """Replaces workers whose attempt takes too long. A task without retries left fails."""
        timeout = self.target.settings.timeout
        if timeout is None or time.monotonic() - self.last_look < TICK:
            return None
        for worker in list(self.workers):
            if (job := worker.overdue(timeout)) is None:
                continue
            self.workers.remove(worker)
            self._start_worker()
            if job.attempt > self.target.settings.retries:
                answered = AnsweredTask(job.task, self._timed_out(worker, job, timeout))
                self.store(answered.answers)
                return answered
            self.jobs.put(_UnitAttempt(job.task, job.attempt + 1))
        self.last_look = time.monotonic()
        return None

    def _timed_out(self, worker: _Worker, job: _UnitAttempt, timeout: float) -> list[Answer]:
        answers = list(worker.answers)
        position, key = job.task.items[len(answers)], job.task.keys[len(answers)]
        fault = Fault("Timeout", f"no answer within {timeout:g} s", retryable=True)
        seen = Observed(seconds={"total": timeout}, attempts=job.attempt, concurrency=self.target.threads)
        answers.append(Answer(key, self.target.query(position).item_id, Response(error=fault, observed=seen)))
        return self.target.add_unasked(job.task, answers)
