"""Asking one arm: worker threads answer units, one thread writes them down and watches the clock.

Python cannot end a thread that hangs. A worker that exceeds its time is abandoned and replaced, its late
answer is dropped, and the item counts as failed (or is tried again where retries are left).
"""

from __future__ import annotations

import math
import queue
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from assay.datasets.dataset import Dataset
from assay.errors import Retryable
from assay.protocols import Index, Kit, Session, System
from assay.records import Budget, Fault, Observed, Query, Response
from assay.run.journal import Answer
from assay.run.keys import Unit
from assay.study import RunSettings

TICK = 0.05  # seconds between looks at the clock
PASSING = (Retryable, TimeoutError, ConnectionError)


@dataclass
class Asked:
    """A system ready to be asked: its index over the whole corpus, or one a scope."""

    system: System
    dataset: Dataset
    seed: int
    kit: Kit
    budgets: Sequence[Budget]
    settings: RunSettings
    index: Index | None = None  # None: every unit has a scope of its own

    def session(self, unit: Unit) -> Session:
        if unit.scope is None and self.index is not None:
            return self.index.session()
        corpus = self.dataset.corpus.restricted(unit.scope or ())
        return self.system.build(corpus, self.seed, self.kit).session()

    def queries(self, unit: Unit) -> list[Query]:
        return [self.dataset.items[position].query for position in unit.items]


@dataclass
class _Job:
    unit: Unit
    attempt: int = 1


class _Worker(threading.Thread):
    """Answers jobs one at a time until it gets None or is abandoned."""

    def __init__(
        self, asked: Asked, jobs: queue.SimpleQueue[_Job | None], done: queue.SimpleQueue[Finished]
    ) -> None:
        super().__init__(daemon=True)
        self.asked, self.jobs, self.done = asked, jobs, done
        self.job: _Job | None = None
        self.since = math.inf
        self.abandoned = False

    def run(self) -> None:
        while not self.abandoned and (job := self.jobs.get()) is not None:
            self.job = job
            answers = self._answers(job)
            self.since = math.inf
            if not self.abandoned:
                self.done.put(Finished(self, job, answers))

    def _answers(self, job: _Job) -> list[Answer]:
        try:
            self.since = time.monotonic()
            session = self.asked.session(job.unit)
        except Exception as error:  # whatever a system does wrong is its failure, never ours
            fault = Fault(type(error).__name__, str(error)[:2000], isinstance(error, PASSING))
            return [
                Answer(key, query.item_id, Response(error=fault))
                for key, query in zip(job.unit.keys, self.asked.queries(job.unit), strict=True)
            ]
        return [
            Answer(key, query.item_id, self._ask(session, query, job.attempt))
            for key, query in zip(job.unit.keys, self.asked.queries(job.unit), strict=True)
        ]

    def _ask(self, session: Session, query: Query, attempt: int) -> Response:
        settings = self.asked.settings
        while True:
            self.since = started = time.monotonic()
            clock = self.asked.kit.clock()
            try:
                response = _checked(session.answer(query, self.asked.budgets))
            except Exception as error:  # as above
                passing = isinstance(error, PASSING)
                response = Response(error=Fault(type(error).__name__, str(error)[:2000], passing))
            observed = response.observed
            observed.seconds.setdefault("total", time.monotonic() - started)
            observed.attempts, observed.time = attempt, clock
            observed.concurrency = settings.threads or 1
            if response.error is None or not response.error.retryable or attempt > settings.retries:
                return response
            self.since = math.inf
            time.sleep(settings.backoff * 2 ** (attempt - 1) * (0.5 + random.random()))
            attempt += 1


@dataclass
class Finished:
    """A job that came back."""

    worker: _Worker
    job: _Job
    answers: list[Answer]


@dataclass
class Crew:
    """The workers of one arm. `finished()` yields units as they come back, in no particular order."""

    asked: Asked
    size: int
    go_on: Callable[[], bool] = lambda: True  # looked at before each unit is handed out
    jobs: queue.SimpleQueue[_Job | None] = field(default_factory=queue.SimpleQueue)
    done: queue.SimpleQueue[Finished] = field(default_factory=queue.SimpleQueue)
    workers: list[_Worker] = field(default_factory=list)

    def finished(self, units: Sequence[Unit]) -> Iterator[tuple[Unit, list[Answer]] | None]:
        """Each unit with its answers; None now and then, when nothing has come back for a while."""
        waiting = iter(units)
        in_flight = 0
        for _ in range(min(self.size, len(units))):
            self._hire()
        try:
            in_flight += self._hand_out(waiting, self._depth)
            while in_flight:
                came = self._next()
                if came is None:
                    yield None
                    continue
                in_flight -= 1
                yield came.job.unit, came.answers
                in_flight += self._hand_out(waiting, 1)
        finally:
            for worker in self.workers:
                worker.abandoned = True
                self.jobs.put(None)

    def _next(self) -> Finished | None:
        try:
            return self.done.get(timeout=TICK)
        except queue.Empty:
            return self._overdue()

    @property
    def _depth(self) -> int:
        # a spending cap wants as little as possible already handed out when it is reached
        return self.size if self.asked.settings.max_cost is not None else self.size * 16

    def _hand_out(self, waiting: Iterator[Unit], number: int) -> int:
        handed = 0
        while handed < number and self.go_on() and (unit := next(waiting, None)) is not None:
            self.jobs.put(_Job(unit))
            handed += 1
        return handed

    def _hire(self) -> None:
        worker = _Worker(self.asked, self.jobs, self.done)
        self.workers.append(worker)
        worker.start()

    def _overdue(self) -> Finished | None:
        """Gives up on one worker whose attempt takes too long; its unit is tried again or failed."""
        timeout = self.asked.settings.timeout
        now = time.monotonic()
        for worker in self.workers if timeout is not None else ():
            job = worker.job
            if job is None or now - worker.since <= (timeout or math.inf):
                continue
            worker.abandoned = True
            self.workers.remove(worker)
            self._hire()
            if job.attempt <= self.asked.settings.retries:
                self.jobs.put(_Job(job.unit, job.attempt + 1))
                return None
            fault = Fault("Timeout", f"no answer within {timeout:g} s", retryable=True)
            seen = Observed(attempts=job.attempt, seconds={"total": timeout or 0.0})
            answers = [
                Answer(key, query.item_id, Response(error=fault, observed=seen))
                for key, query in zip(job.unit.keys, self.asked.queries(job.unit), strict=True)
            ]
            return Finished(worker, job, answers)
        return None


def _checked(response: Response) -> Response:
    """The response as it is, or a fault where it breaks what every measure relies on."""
    if not isinstance(response, Response):
        return Response(
            error=Fault("BadResponse", f"answer() returned {type(response).__name__}, not Response")
        )
    seen: set[str] = set()
    above = math.inf
    for rank, hit in enumerate(response.hits, 1):
        if not math.isfinite(hit.score):
            what = f"hit {rank} ({hit.doc_id}) has the score {hit.score}"
        elif hit.doc_id in seen:
            what = f"hit {rank} repeats {hit.doc_id}; a response names each passage once"
        elif hit.score > above:
            what = f"hit {rank} scores higher than hit {rank - 1}; hits come best first"
        else:
            seen.add(hit.doc_id)
            above = hit.score
            continue
        return Response(error=Fault("BadResponse", what), observed=response.observed)
    return response
