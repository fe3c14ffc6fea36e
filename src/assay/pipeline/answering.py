"""Asking one arm: worker threads answer units and write them down, one hands out and watches the clock.

A worker records a unit before it takes the next, so that a crash costs no more than the units in hand.
Python cannot end a thread that hangs. A worker that exceeds its time is abandoned and replaced, its late
answer is dropped, and the item counts as failed (or is tried again where retries are left).
"""

from __future__ import annotations

import math
import queue
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import msgspec

from assay.core.dataset import Dataset
from assay.core.protocols import Index, Kit, Session, System
from assay.core.records import Budget, Fault, Observed, Query, Response
from assay.pipeline.response import check_response, fault_of
from assay.store.journal import Answer
from assay.store.keys import SessionTask
from assay.study.study_file import RunSettings

Scope = tuple[str, ...] | None


@dataclass
class _IndexSlot:
    """Where one index stands, or will."""

    building: threading.Lock = field(default_factory=threading.Lock)
    index: Index | None = None


class IndexPool:
    """Builds an index when its first unit needs it, and closes it when its last unit is done.

    A build that fails leaves nothing behind: the next unit, or the next attempt, tries again.
    """

    def __init__(self, build: Callable[[Scope], Index], units: Iterable[SessionTask]) -> None:
        self._build = build
        self._left = Counter(unit.scope for unit in units)
        self._places: dict[Scope, _IndexSlot] = {scope: _IndexSlot() for scope in self._left}

    def of(self, scope: Scope) -> Index:
        """The index over a scope; whoever comes while it is being built waits for it."""
        place = self._places[scope]
        with place.building:
            if place.index is None:
                place.index = self._build(scope)
            return place.index

    def done(self, unit: SessionTask) -> None:
        """Notes that a unit needs its index no longer."""
        self._left[unit.scope] -= 1
        if not self._left[unit.scope]:
            _close(self._places[unit.scope])

    def close(self) -> None:
        """Closes all that are still open."""
        for place in self._places.values():
            _close(place)


def _close(place: _IndexSlot) -> None:
    """Closes an index that offers it. One that cannot be closed has answered all the same."""
    index, place.index = place.index, None
    with suppress(Exception):
        getattr(index, "close", lambda: None)()


TICK = 0.05  # seconds between looks at the clock
RESERVE = 8  # units handed out for each worker
GRACE = 5.0  # seconds for what is in hand when nobody waits any more
LONGEST_PAUSE = 60.0  # seconds between two attempts, however many there were


@dataclass
class SystemUnderTest:
    """A system ready to be asked: the indexes its units are answered from, and how it is asked."""

    system: System
    dataset: Dataset
    kit: Kit
    budgets: Sequence[Budget]
    settings: RunSettings
    indexes: IndexPool
    conceal: Callable[[str], str] = str  # takes out of a message what no store may hold

    @property
    def threads(self) -> int:
        return self.settings.threads or int(getattr(self.system, "threads", 1))

    @property
    def timed(self) -> bool:
        """Whether the seconds an answer takes here are the system's; an imported run's are not."""
        return getattr(self.system, "origin", None) != "imported"

    def query(self, position: int) -> Query:
        return self.dataset.items[position].query

    def completed(self, unit: SessionTask, answers: Sequence[Answer]) -> list[Answer]:
        """The answers of a unit, and a fault for each item after the one that failed.

        What follows a failure in a sequence is not asked: its session lacks what the sequence says came
        before, so that its answers would not be those of the sequence.
        """
        if len(answers) == len(unit.items):
            return list(answers)
        what = f"{answers[-1].item_id!r}, earlier in its sequence, failed"
        fault = Fault("NotAsked", what, retryable=True)
        rest = list(zip(unit.items, unit.keys, strict=True))[len(answers) :]
        return [
            *answers,
            *(Answer(key, self.query(position).item_id, Response(error=fault)) for position, key in rest),
        ]


@dataclass
class _Job:
    unit: SessionTask
    attempt: int = 1


@dataclass
class AnsweredUnit:
    """A unit that came back, with an answer for each of its items."""

    unit: SessionTask
    answers: list[Answer]


class _Worker(threading.Thread):
    """Answers jobs one at a time until it gets None or is given up on."""

    def __init__(self, crew: WorkerPool) -> None:
        super().__init__(daemon=True)
        self.asked, self.crew = crew.asked, crew
        self.answers: list[Answer] = []  # of the job in hand, so far
        self._turn = threading.Lock()  # over who decides what becomes of the job in hand
        self._job: _Job | None = None
        self._since = math.inf
        self._abandoned = False
        self._session: Session | None = None

    def run(self) -> None:
        while (job := self.crew.jobs.get()) is not None and not self.crew.stopping.is_set():
            if not self._take(job):
                self.crew.jobs.put(job)
                return
            try:
                self._answer(job)
                if not self._take(None) or self._cut_short(job):
                    return
                self.crew.done.put(self._recorded(job))
            except Exception as error:  # a full disk: the thread that waits for this unit raises it
                self.crew.done.put(error)

    def _recorded(self, job: _Job) -> AnsweredUnit:
        finished = AnsweredUnit(job.unit, self.asked.completed(job.unit, self.answers))
        self.crew.record(finished.answers)
        return finished

    def _cut_short(self, job: _Job) -> bool:
        """Whether nobody waits any more for a sequence that did not fail, but was not asked to its end."""
        return len(self.answers) < len(job.unit.items) and self.answers[-1].response.error is None

    def overdue(self, timeout: float) -> _Job | None:
        """Abandons the worker where its attempt takes too long, and says at what."""
        with self._turn:
            if self._job is None or time.monotonic() - self._since <= timeout:
                return None
            self._abandoned = True
            return self._job

    def _take(self, job: _Job | None) -> bool:
        """Takes a job in hand, or lays the last one down; False: somebody else was given it meanwhile."""
        with self._turn:
            self._job, self._since = job, math.inf
            if job is not None:
                self.answers = []
            return not self._abandoned

    def _note(self, answer: Answer) -> bool:
        """Keeps an answer; False: it came too late, and what follows it is asked by somebody else."""
        with self._turn:
            if not self._abandoned:
                self.answers.append(answer)
            return not self._abandoned

    def _answer(self, job: _Job) -> None:
        self._session = None
        for position, key in zip(job.unit.items, job.unit.keys, strict=True):
            query = self.asked.query(position)
            response = self._ask(job, query)
            late = not self._note(Answer(key, query.item_id, response))
            if late or response.error is not None or self.crew.stopping.is_set():
                break

    def _ask(self, job: _Job, query: Query) -> Response:
        settings, attempt, spent = self.asked.settings, job.attempt, 0.0
        while True:
            clock = self.asked.kit.clock()
            response = self._attempt(job.unit, query)
            seen = response.observed
            if seen.cost:
                self.crew.pay(seen.cost)
            spent += seen.cost or 0.0
            seen.cost = spent or seen.cost  # an attempt that failed was paid for too
            seen.attempts, seen.concurrency, seen.time = attempt, self.asked.threads, clock
            self._since = math.inf
            final = response.error is None or not response.error.retryable or attempt > settings.retries
            if final or self._abandoned:
                return response
            pause = settings.backoff * 2 ** (attempt - 1) * (0.5 + random.random())
            if self.crew.stopping.wait(min(pause, LONGEST_PAUSE)):
                return response
            attempt += 1

    def _attempt(self, unit: SessionTask, query: Query) -> Response:
        asked = self.asked
        self._since = started = time.monotonic()
        try:
            if self._session is None:
                self._session = asked.indexes.of(unit.scope).session()
                self._since = started = time.monotonic()
            response = check_response(self._session.answer(query, asked.budgets), asked.budgets)
        except BaseException as error:  # whatever a system raises, SystemExit too, is its failure, never ours
            paid = Observed(cost=getattr(error, "cost", None))  # an answer of no use may cost all the same
            response = Response(error=fault_of(error, asked.conceal), observed=paid)
        if response.error is not None:
            message = asked.conceal(response.error.message)
            response.error = msgspec.structs.replace(response.error, message=message)
        if asked.timed:
            response.observed.seconds.setdefault("total", time.monotonic() - started)
        return response


@dataclass
class WorkerPool:
    """The workers of one arm. `finished()` yields units as they come back, in no particular order."""

    asked: SystemUnderTest
    record: Callable[[list[Answer]], None]  # called by workers, one unit at a time each
    pay: Callable[[float], None]  # called by workers, for each attempt that cost something
    go_on: Callable[[], bool] = lambda: True  # looked at before each unit is handed out
    jobs: queue.SimpleQueue[_Job | None] = field(default_factory=queue.SimpleQueue)
    done: queue.SimpleQueue[AnsweredUnit | Exception] = field(default_factory=queue.SimpleQueue)
    workers: list[_Worker] = field(default_factory=list)
    stopping: threading.Event = field(default_factory=threading.Event)  # nothing more is to be asked
    looked: float = 0.0  # when the clock was looked at last

    def finished(self, units: Sequence[SessionTask]) -> Generator[AnsweredUnit | None, None, None]:
        """Each unit with its answers; None now and then, when nothing has come back for a while."""
        waiting = iter(units)
        for _ in range(min(self.asked.threads, len(units))):
            self._hire()
        try:
            in_flight = self._hand_out(waiting, self._depth)
            while in_flight:
                came = self._overdue() or self._came()
                if came is not None:
                    in_flight -= 1
                    self.asked.indexes.done(came.unit)
                yield came
                if came is not None:
                    in_flight += self._hand_out(waiting, 1)
        finally:
            self._dismiss()

    def _dismiss(self) -> None:
        """Takes back what nobody has begun, and waits a little for what is in hand: it may be paid for."""
        self.stopping.set()
        with suppress(queue.Empty):
            while True:
                self.jobs.get_nowait()
        for _ in self.workers:
            self.jobs.put(None)
        until = time.monotonic() + GRACE
        for worker in self.workers:
            worker.join(max(0.0, until - time.monotonic()))

    @property
    def _depth(self) -> int:
        # A reserve keeps workers that answer at once from waiting for the next unit. A spending cap allows
        # none: what is handed out when it is reached will still be paid for.
        return self.asked.threads * (1 if self.asked.settings.max_cost is not None else RESERVE)

    def _hand_out(self, waiting: Iterator[SessionTask], number: int) -> int:
        handed = 0
        while handed < number and self.go_on() and (unit := next(waiting, None)) is not None:
            self.jobs.put(_Job(unit))
            handed += 1
        return handed

    def _hire(self) -> None:
        worker = _Worker(self)
        self.workers.append(worker)
        worker.start()

    def _came(self) -> AnsweredUnit | None:
        try:
            came = self.done.get(timeout=TICK)
        except queue.Empty:
            return None
        if isinstance(came, Exception):
            raise came
        return came

    def _overdue(self) -> AnsweredUnit | None:
        """Gives up on one worker whose attempt takes too long; its unit is tried again or failed."""
        timeout = self.asked.settings.timeout
        if timeout is None or time.monotonic() - self.looked < TICK:
            return None
        for worker in list(self.workers):
            if (job := worker.overdue(timeout)) is None:
                continue
            self.workers.remove(worker)
            self._hire()
            if job.attempt > self.asked.settings.retries:
                finished = AnsweredUnit(job.unit, self._timed_out(worker, job, timeout))
                self.record(finished.answers)
                return finished
            self.jobs.put(_Job(job.unit, job.attempt + 1))
        self.looked = time.monotonic()
        return None

    def _timed_out(self, worker: _Worker, job: _Job, timeout: float) -> list[Answer]:
        answers = list(worker.answers)
        position, key = job.unit.items[len(answers)], job.unit.keys[len(answers)]
        fault = Fault("Timeout", f"no answer within {timeout:g} s", retryable=True)
        seen = Observed(seconds={"total": timeout}, attempts=job.attempt, concurrency=self.asked.threads)
        answers.append(Answer(key, self.asked.query(position).item_id, Response(error=fault, observed=seen)))
        return self.asked.completed(job.unit, answers)
