"""Performing one piece of work: an arm and seed built and asked, in this process or another."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Protocol

import msgspec

from assay.protocols import Structured
from assay.records import Arm
from assay.run.answering import Asked, Crew, close
from assay.run.journal import Answer, Answered, Built, Writer
from assay.run.keys import Unit, index_key, plan_units
from assay.run.response import fault_of
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

    study: str  # the study file
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

    def count(self, answers: list[Answer]) -> int:
        """Adds the answers of one unit; how many of them failed."""
        faults = [answer.response.error for answer in answers if answer.response.error is not None]
        self.answered += len(answers) - len(faults)
        self.failed += len(faults)
        self.cost += sum(answer.response.observed.cost or 0.0 for answer in answers)
        if faults:
            self.last_fault = f"{faults[0].kind}: {faults[0].message}"
        return len(faults)


def perform_packed(packed: bytes) -> bytes:
    """Performs work in a process of its own: opens the study from its file."""
    work = msgspec.json.decode(packed, type=Work)
    study = open_study(work.study)
    plan = plan_units(study, work.arm, work.seed, study.dataset(work.arm))
    return msgspec.json.encode(perform(work, plan, study, Silent()))


def perform(work: Work, plan: Sequence[Unit], study: Study, progress: Progress) -> Tally:
    """Builds the arm's index and asks it, writing a journal segment of its own."""
    tally = Tally(work.arm.name, work.seed)

    def affordable() -> bool:
        return work.spend is None or tally.cost < work.spend

    if not affordable():
        return tally
    dataset = study.dataset(work.arm)
    units = [plan[index] for index in work.units]
    system = study.system(work.arm)
    asked = Asked(system, dataset, work.seed, study.kit, study.budgets, study.file.run)
    with Store(study.run_folder).writer() as writer:
        if any(unit.scope is None for unit in units):
            try:
                _build(asked, work, index_key(study, work.arm, work.seed, dataset), writer)
            except (Exception, SystemExit) as error:  # an index that cannot be built is the system's failure
                fault = fault_of(error)
                tally.broken = f"{fault.kind}: {fault.message}"
                return tally

        def record(answers: list[Answer]) -> None:
            writer.append(Answered(work.arm.name, work.seed, answers))

        for finished in Crew(asked, record, affordable).finished(units):
            if finished is None:
                writer.flush()
            else:
                progress.advance(len(finished.answers), tally.count(finished.answers))
    close(asked.index)
    return tally


def _build(asked: Asked, work: Work, key: str, writer: Writer) -> None:
    started = time.monotonic()
    asked.index = asked.system.build(asked.dataset.corpus, asked.seed, asked.kit)
    seconds = time.monotonic() - started
    structure = asked.index.structure() if isinstance(asked.index, Structured) else None
    writer.append(Built(key, work.arm.name, work.seed, seconds, structure))
