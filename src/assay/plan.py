"""A plan: small studies in order, each able to stop the rest.

Every step is a study, or a part of one, run as it would be alone and into its own run folder. So a plan that
was stopped or killed goes on where it was: what is answered is not asked again. Nothing runs before every
step was checked.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from assay.errors import AssayError, DataError, Problem, SystemFailure
from assay.gates.verdict import overall
from assay.pipeline import Evaluation, judge_study
from assay.plan_file import UNREAD, PlanFile, StepFile, read_plan
from assay.plugins import Registry
from assay.records import Verdict
from assay.report.wording import headline
from assay.results import INCONCLUSIVE, Results
from assay.run.keys import Basis, plan_units
from assay.run.runner import Outcome, run_study
from assay.run.selection import Selection
from assay.run.store import Store
from assay.study import Study, examine_study, open_study
from assay.validate import Validation, check_study, validate_study
from assay.yaml_lines import Lines

SCHEMA = "assay/plan/1"


@dataclass(frozen=True)
class Step:
    """One step that was checked. To run, its study is opened again: no two steps' data lie in memory."""

    place: int
    name: str
    about: str
    path: Path
    run_folder: Path
    page: Path  # the report; of a study that serves several steps each has its own
    selection: Selection
    keys: frozenset[str] = field(repr=False)  # of every answer that it asks, or finds stored
    validation: Validation
    registry: Registry | None = field(default=None, repr=False, compare=False)

    def study(self) -> Study:
        """The study, opened."""
        return open_study(self.path, registry=self.registry)


@dataclass(frozen=True)
class Plan:
    """A plan file opened: every step was checked."""

    path: Path
    file: PlanFile
    steps: tuple[Step, ...]

    @property
    def name(self) -> str:
        return self.file.name or self.path.resolve().parent.name


@dataclass(frozen=True)
class StepResult:
    """What became of a step. `asked` and `reused` count answers; one that was skipped has neither."""

    name: str
    about: str
    study: str
    verdict: str | None
    asked: int
    reused: int
    seconds: float
    reason: str
    skipped: bool = False
    report: str | None = None


@dataclass(frozen=True)
class Saved:
    """What stopping left undone: by step, and together, the answers that would have been asked."""

    because: str
    steps: dict[str, int]
    answers: int  # an answer that two steps share is counted once


@dataclass(frozen=True)
class PlanResults:
    """A plan that was run, to its end or to the step that stopped it."""

    plan: str
    about: str
    steps: list[StepResult]
    saved: Saved | None = None
    broken: str | None = None  # why a step could not be decided, where its systems failed

    @property
    def verdict(self) -> str | None:
        """A no-go outweighs an open one, an open one outweighs go; None where nothing gates."""
        decided = [Verdict(step.name, step.verdict, []) for step in self.steps if step.verdict is not None]
        return overall([*decided, *([Verdict("", INCONCLUSIVE, [])] if self.broken else [])])

    def as_json(self) -> dict[str, Any]:
        """The documented, versioned JSON form."""
        return {"schema": SCHEMA, "verdict": self.verdict, **asdict(self)}


# ---------------------------------------------------------------------------------------- opening


def open_plan(path: str | Path, registry: Registry | None = None) -> Plan:
    """Opens a plan and checks every step; all problems of the plan and of its studies are in one error."""
    path = Path(path)
    file, lines, problems = read_plan(path)
    opening = _Opening(path, file, lines, registry, problems)
    steps = [opening.step(place, step) for place, step in enumerate(file.steps) if step.study != UNREAD]
    problems += _same_names(steps, lines)
    if problems:
        raise DataError(dict.fromkeys(problems))
    return Plan(path, file, tuple(step for step in steps if step is not None))


def _same_names(steps: Iterable[Step | None], lines: Lines) -> list[Problem]:
    """Steps that could not be told apart."""
    seen: set[str] = set()
    found = []
    for step in filter(None, steps):
        if step.name in seen:
            what = f"another step is called {step.name!r} too"
            found.append(lines.problem(["steps", step.place, "name"], what, "Give each a name of its own."))
        seen.add(step.name)
    return found


@dataclass(frozen=True)
class _Opening:
    """A plan that is being opened: each study is read once, and problems gather."""

    path: Path
    file: PlanFile
    lines: Lines
    registry: Registry | None
    problems: list[Problem]
    _studies: dict[Path, Study | None] = field(default_factory=dict)

    def step(self, place: int, written: StepFile) -> Step | None:
        """A step that was checked; None where something is wrong with it."""
        path = self._path(written)
        study = self._study(path)
        if study is None:
            return None
        chosen = Selection(written.where, written.system, written.limit)
        try:
            arms = chosen.arms(study)
            chosen.refuse_unmet(study, arms)
            validation, keys = check_study(study, arms), frozenset(_keys(study, chosen))
        except DataError as error:
            self.problems.extend(error.problems)
            return None
        except AssayError as error:
            self.problems.append(self.lines.problem(["steps", place], str(error).removeprefix("--where ")))
            return None
        shared = sum(self._path(each).resolve() == path.resolve() for each in self.file.steps)
        page = study.run_folder / (f"step-{place + 1}.html" if shared > 1 else "report.html")
        stem = Path(study.lines.where).stem
        name = written.name or study.file.name or (study.name if stem == "study" else stem)
        return Step(
            place,
            name,
            written.about,
            path,
            study.run_folder,
            page,
            chosen,
            keys,
            validation,
            self.registry,
        )

    def _path(self, written: StepFile) -> Path:
        """The study's file, also where its folder is named; a folder without one is told as it is."""
        path = self.path.parent / written.study
        return file if (file := path / "study.yaml").is_file() else path

    def _study(self, path: Path) -> Study | None:
        """A study, read once; None where it has problems, which are told once too."""
        if path not in self._studies:
            try:
                study, problems = examine_study(path, registry=self.registry)
                if problems:
                    validate_study(path, self.registry)  # tells what is wrong with the data too
                self._studies[path] = study
            except DataError as error:
                self.problems.extend(error.problems)
                self._studies[path] = None
        return self._studies[path]


def _keys(study: Study, selection: Selection) -> Iterable[str]:
    """The key of every answer that a run would ask or reuse; nothing is run."""
    for arm in selection.arms(study):
        dataset = study.dataset(arm)
        basis, positions = Basis.of(study, arm, dataset), selection.positions(study, dataset)
        for seed in study.seeds_of(arm):
            for unit in plan_units(basis, seed, dataset):
                if not positions.isdisjoint(unit.items):  # a sequence runs as a whole
                    yield from unit.keys


# ---------------------------------------------------------------------------------------- running

Perform = Callable[[Step], tuple[Outcome, Results]]


def performed(step: Step) -> tuple[Outcome, Results]:
    """Runs one step, as far as it was not run yet, and says nothing meanwhile."""
    study = step.study()
    outcome = run_study(study, step.selection)
    judge_study(study, step.selection)
    return outcome, Evaluation(study, step.selection).results


def run_plan(plan: Plan, perform: Perform = performed) -> PlanResults:
    """Runs the steps in order until one stops the rest; `perform` runs one of them, and may show how."""
    done: list[StepResult] = []
    stopped = broken = None
    for step in plan.steps:
        started = time.monotonic()
        try:
            outcome, results = perform(step)
        except SystemFailure as error:
            broken, stopped = str(error), f"{step.name} could not be decided"
            done.append(_result(step, reason=broken, seconds=time.monotonic() - started))
            break
        asked = outcome.answered + outcome.failed
        seconds = time.monotonic() - started
        done.append(_result(step, results, asked=asked, reused=outcome.reused, seconds=seconds))
        if results.verdict in plan.file.stop_on:
            stopped = f"{step.name} is {results.verdict}"
            break
    left = plan.steps[len(done) :]
    done += [_result(step, reason=stopped, skipped=True) for step in left]
    saved = _saved(left, stopped) if stopped and left else None
    return PlanResults(plan.name, plan.file.about, done, saved, broken)


def _result(step: Step, results: Results | None = None, **found: Any) -> StepResult:
    if results is not None:
        found |= {"verdict": results.verdict, "reason": headline(results), "report": results.report}
    counts = {"verdict": None, "asked": 0, "reused": 0, "seconds": 0.0}
    return StepResult(step.name, step.about, str(step.path), **(counts | found))


def _saved(left: Iterable[Step], because: str) -> Saved:
    """What the steps that are left would still have asked."""
    open_keys = {step.name: step.keys - _answered(step) for step in left}
    every = frozenset[str]().union(*open_keys.values())
    return Saved(because, {name: len(keys) for name, keys in open_keys.items()}, len(every))


def _answered(step: Step) -> set[str]:
    return {key for key, good in Store(step.run_folder).outcomes().items() if good}


# ------------------------------------------------------------------------------------------ status


@dataclass(frozen=True)
class StepStatus:
    """How far a step is, in answers."""

    name: str
    study: str
    answers: int
    answered: int
    failed: int
    open: int


def plan_status(plan: Plan) -> list[StepStatus]:
    """Counts from the stores; nothing is run."""
    found = []
    for step in plan.steps:
        outcomes = Store(step.run_folder).outcomes()
        stored = [outcomes[key] for key in step.keys if key in outcomes]
        answered, total = sum(stored), len(step.keys)
        counts = (total, answered, len(stored) - answered, total - len(stored))
        found.append(StepStatus(step.name, str(step.path), *counts))
    return found
