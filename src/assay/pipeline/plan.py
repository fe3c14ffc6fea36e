"""Runs a plan: small studies in order. The verdict of a study can stop the studies after it.

Every step is a study or a part of a study. It runs as it would without the plan, in its own run folder, so a
plan that was stopped or killed continues from there. All steps are checked before the first one runs.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from assay.core.errors import AssayError, DataError, Problem, SystemFailure, did_you_mean
from assay.core.records import Verdict
from assay.core.registry import Registry
from assay.core.results import INCONCLUSIVE, Results
from assay.core.yaml_lines import Lines
from assay.gates.gate import systems_of
from assay.gates.verdict import overall_verdict
from assay.pipeline.evaluate import run_and_judge
from assay.pipeline.runner import Outcome, Selection
from assay.pipeline.validate import Validation, check_study, validate_study
from assay.report.verdicts import headline, verdict_sentence
from assay.store.keys import AnswerBasis, plan_tasks
from assay.store.run_store import Store
from assay.study.plan_file import (
    UNREAD,
    Conditions,
    PlanFile,
    StepFile,
    check_options,
    duplicate_name_problems,
    file_of_plan,
    read_plan,
    unknown_factors,
)
from assay.study.study import Study, examine_study, open_study


@dataclass(frozen=True)
class PlanStep:
    """A checked step. Its study is opened again for the run, so that only one step's data is in memory."""

    place: int
    name: str
    about: str
    path: Path
    run_folder: Path
    page: Path  # the report. Steps that share a study have a page each
    selection: Selection
    keys: frozenset[str] = field(repr=False)  # of all its answers, stored or not
    gates: Mapping[str, bool]  # its gates, and whether each counts in the verdict
    validation: Validation
    registry: Registry | None = field(default=None, repr=False, compare=False)

    def study(self) -> Study:
        """Opens the study, with the gates of this step."""
        return dataclasses.replace(open_study(self.path, registry=self.registry), deciding=tuple(self.gates))


@dataclass(frozen=True)
class Plan:
    """A plan whose steps were checked."""

    path: Path
    file: PlanFile
    steps: tuple[PlanStep, ...]

    @property
    def name(self) -> str:
        return self.file.name or self.path.resolve().parent.name


# ---------------------------------------------------------------------------------------- opening


def open_plan(path: str | Path, registry: Registry | None = None, where: Conditions | None = None) -> Plan:
    """Opens a plan and checks every step. One error has all problems of the plan and of its studies.

    `where` replaces the plan's conditions on the same factors. The conditions of single steps stay.
    """
    path = file_of_plan(Path(path))
    file, lines, problems = read_plan(path)
    opening = _PlanReader(path, file, lines, registry, problems)
    read = [(place, step) for place, step in enumerate(file.steps) if step.study != UNREAD]
    studies = [(step, study) for _, step in read if (study := opening.study(step)) is not None]
    if len(studies) == len(file.steps):
        check_options(where or {}, studies)
        if unknown := unknown_factors(file, studies, lines):
            raise DataError([*problems, *unknown])  # without this, every step would report it
    steps = [opening.step(place, step, {**file.where, **(where or {})}) for place, step in read]
    problems += duplicate_name_problems({step.place: step.name for step in steps if step is not None}, lines)
    if problems:
        raise DataError(dict.fromkeys(problems))
    return Plan(path, file, tuple(step for step in steps if step is not None))


@dataclass(frozen=True)
class _PlanReader:
    """Reads the steps of a plan. It reads each study once, and collects all problems."""

    path: Path
    file: PlanFile
    lines: Lines
    registry: Registry | None
    problems: list[Problem]
    _studies: dict[Path, Study | None] = field(default_factory=dict)
    _unreadable: dict[Path, tuple[Problem, ...]] = field(default_factory=dict)

    def step(self, place: int, written: StepFile, where: Conditions) -> PlanStep | None:
        """Checks a step and returns it; None if it has problems. `where` applies to all steps."""
        path, study = self._path(written), self.study(written)
        if study is None:
            self.problems.extend(self._unreadable[path])
            return None
        of_plan = {name: values for name, values in where.items() if name in study.file.factors}
        chosen = Selection({**of_plan, **written.where}, written.system, written.limit)
        self.problems.extend(found := list(self._gate_problems(place, written, study)))
        try:
            arms = chosen.arms(study)
            chosen.check_conditions(study, arms)
            validation, keys = check_study(study, arms), frozenset(_answer_keys(study, chosen))
        except DataError as error:
            self.problems.extend(error.problems)
            return None
        except AssayError as error:
            self.problems.append(self.lines.problem(["steps", place], str(error).removeprefix("--where ")))
            return None
        if found:
            return None
        named = study.file.gates if written.gates is None else written.gates
        gates = {name: study.file.gates[name].deciding for name in named}
        shared = sum(self._path(each).resolve() == path.resolve() for each in self.file.steps)
        page = study.run_folder / (f"step-{place + 1}.html" if shared > 1 else "report.html")
        return PlanStep(
            place,
            self._name(written, study),
            written.about,
            path,
            study.run_folder,
            page,
            chosen,
            keys,
            gates,
            dataclasses.replace(validation, gates=list(gates)),
            self.registry,
        )

    @staticmethod
    def _name(written: StepFile, study: Study) -> str:
        stem = Path(study.lines.where).stem
        return written.name or study.file.name or (study.name if stem == "study" else stem)

    def _gate_problems(self, place: int, written: StepFile, study: Study) -> Iterator[Problem]:
        """Yields gates that the study does not have, or that read systems which the step leaves out."""
        gates = {gate.name: gate for gate in study.gates}
        for index, name in enumerate(written.gates or ()):
            loc = ("steps", place, "gates", index)
            if name not in gates:
                fix = did_you_mean(name, gates) or "It declares none."
                yield self.lines.problem(loc, f"{written.study} has no gate {name!r}", fix)
            elif written.system and (absent := sorted(systems_of([gates[name]], study) - {*written.system})):
                what = f"{name!r} reads {', '.join(absent)}, which `system` leaves out"
                yield self.lines.problem(loc, what, "Select it, or drop it.")

    def _path(self, written: StepFile) -> Path:
        """Returns the path of the study file, or the named folder if it has no `study.yaml`."""
        path = self.path.parent / written.study
        return file if (file := path / "study.yaml").is_file() else path

    def study(self, written: StepFile) -> Study | None:
        """Returns the study of a step; None if the study has problems, which are reported with the step."""
        if (path := self._path(written)) not in self._studies:
            try:
                study, problems = examine_study(path, registry=self.registry)
                if problems:
                    validate_study(path, self.registry)  # reports the problems of the data too
                self._studies[path] = study
            except DataError as error:
                self._studies[path], self._unreadable[path] = None, error.problems
        return self._studies[path]


def _answer_keys(study: Study, selection: Selection) -> Iterable[str]:
    """Yields the key of every answer that a run would ask or reuse. Nothing is run."""
    for arm in selection.arms(study):
        dataset = study.dataset(arm)
        basis, positions = AnswerBasis.of(study, arm, dataset), selection.positions(study, dataset)
        for seed in study.seeds_of(arm):
            for task in plan_tasks(basis, seed, dataset):
                if not positions.isdisjoint(task.items):  # a sequence runs as a whole
                    yield from task.keys


# ---------------------------------------------------------------------------------------- running

Perform = Callable[[PlanStep], tuple[Outcome, Results]]


def run_step(step: PlanStep) -> tuple[Outcome, Results]:
    """Runs one step, as far as it was not run yet, without showing progress."""
    outcome, evaluation = run_and_judge(step.study(), step.selection)
    return outcome, evaluation.results


def run_plan(plan: Plan, perform: Perform = run_step, *, keep_going: bool = False) -> PlanResults:
    """Runs the steps in order until a step stops the plan. `perform` runs one step.

    With `keep_going`, no verdict stops the plan; the result names the verdict that would have stopped it.
    """
    for step in plan.steps:
        if step.page.name != "report.html":  # a page of the step only: an old one would look like a result
            step.page.unlink(missing_ok=True)
    done: list[StepResult] = []
    gates: list[GateResult] = []
    paces: list[tuple[int, float]] = []
    stops = broken = None
    for step in plan.steps:
        started = time.monotonic()
        try:
            outcome, results = perform(step)
        except SystemFailure as error:
            broken, stops = str(error), f"{step.name} could not be decided"
            done.append(_step_result(step, reason=broken, seconds=time.monotonic() - started))
            gates += _undecided_gates(step, f"not decided: {broken.splitlines()[0]}")
            break
        asked = outcome.answered + outcome.failed
        paces.append((asked, outcome.seconds))
        seconds = time.monotonic() - started
        done.append(_step_result(step, results, asked=asked, reused=outcome.reused, seconds=seconds))
        gates += _decided_gates(step, results)
        if results.verdict in plan.file.stop_on:
            stops = stops or f"{step.name} is {results.verdict}"
            if not keep_going:
                break
    left = plan.steps[len(done) :]
    done += [_step_result(step, reason=stops, skipped=True) for step in left]
    gates += [gate for step in left for gate in _undecided_gates(step, f"not reached: {stops}")]
    saved = _avoided_work(left, stops, paces) if stops and left else None
    would_stop = stops if keep_going and broken is None else None
    return PlanResults(plan.name, plan.file.about, done, gates, saved, broken, would_stop)


def _decided_gates(step: PlanStep, results: Results) -> list[GateResult]:
    return [
        GateResult(step.name, found.gate, found.verdict, verdict_sentence(found), found.deciding)
        for found in results.verdicts
    ]


def _undecided_gates(step: PlanStep, reason: str) -> list[GateResult]:
    """Returns inconclusive results for the gates of a step that has no results."""
    return [
        GateResult(step.name, gate, INCONCLUSIVE, reason, deciding) for gate, deciding in step.gates.items()
    ]


def _step_result(step: PlanStep, results: Results | None = None, **found: Any) -> StepResult:
    if results is not None:
        found |= {"verdict": results.verdict, "reason": headline(results), "report": results.report}
        found["outdated"] = results.outdated
    counts = {"verdict": None, "asked": 0, "reused": 0, "seconds": 0.0}
    return StepResult(step.name, step.about, str(step.path), **(counts | found))


def _avoided_work(left: Iterable[PlanStep], because: str, paces: Iterable[tuple[int, float]]) -> AvoidedWork:
    """Counts the answers that unreached steps would have asked, and estimates the time for them."""
    open_keys = {step.name: step.keys - _answered_keys(step) for step in left}
    answers = len(frozenset[str]().union(*open_keys.values()))
    timed = [(asked, seconds) for asked, seconds in paces if asked]
    pace = sum(seconds for _, seconds in timed) / sum(asked for asked, _ in timed) if timed else None
    seconds = None if pace is None else pace * answers
    return AvoidedWork(because, {name: len(keys) for name, keys in open_keys.items()}, answers, seconds)


def _answered_keys(step: PlanStep) -> set[str]:
    return {key for key, good in Store(step.run_folder).outcomes().items() if good}


# ------------------------------------------------------------------------------------------ status


def plan_status(plan: Plan) -> list[StepStatus]:
    """Counts the stored answers of each step. Nothing is run."""
    found = []
    for step in plan.steps:
        outcomes = Store(step.run_folder).outcomes()
        stored = [outcomes[key] for key in step.keys if key in outcomes]
        answered, total = sum(stored), len(step.keys)
        counts = (total, answered, len(stored) - answered, total - len(stored))
        found.append(StepStatus(step.name, str(step.path), *counts))
    return found


SCHEMA = "assay/plan/1"


@dataclass(frozen=True)
class StepResult:
    """The result of a step. `asked` and `reused` count answers; both are 0 for a skipped step."""

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
    outdated: list[str] = field(default_factory=list)  # why its answers are older than what they decide


@dataclass(frozen=True)
class GateResult:
    """The verdict of one gate of one step. A gate that was not reached is inconclusive, with the reason."""

    step: str
    gate: str
    verdict: str
    reason: str
    deciding: bool = True  # whether it counts in the step's verdict


@dataclass(frozen=True)
class AvoidedWork:
    """The number of answers that were not asked because a step stopped the plan, per step and in total."""

    because: str
    steps: dict[str, int]
    answers: int  # an answer that two steps share is counted once
    seconds: float | None = None  # at the pace of the answers so far; None if none was asked


@dataclass(frozen=True)
class PlanResults:
    """The results of a plan that ran to its end or to the step that stopped it."""

    plan: str
    about: str
    steps: list[StepResult]
    gates: list[GateResult] = field(default_factory=list)  # every gate of every step, in order
    saved: AvoidedWork | None = None
    broken: str | None = None  # why a step could not be decided, if its systems failed
    would_stop: str | None = None  # what would have stopped it without `keep_going`

    @property
    def verdict(self) -> str | None:
        """No-go if any step is no-go, else inconclusive if any step is, else go; None without gates."""
        decided = [Verdict(step.name, step.verdict, []) for step in self.steps if step.verdict is not None]
        return overall_verdict([*decided, *([Verdict("", INCONCLUSIVE, [])] if self.broken else [])])

    @property
    def outdated(self) -> list[str]:
        """The reasons why stored answers are older than the studies, data or gates, with the step of each."""
        return [f"{step.name}: {reason}" for step in self.steps for reason in step.outdated]

    def as_json(self) -> dict[str, Any]:
        """Returns the JSON form, with the version of its schema."""
        return {"schema": SCHEMA, "verdict": self.verdict, "outdated": self.outdated, **asdict(self)}


@dataclass(frozen=True)
class StepStatus:
    """The number of answers of a step: all, answered, failed, and still to be asked."""

    name: str
    study: str
    answers: int
    answered: int
    failed: int
    open: int
