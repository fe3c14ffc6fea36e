"""The study that a sweep is: one system, a grid or changes as factors, no gates, a run folder of its own."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from assay.core.errors import AssayError, DataError, MissingVariable, Problem, UsageError, did_you_mean
from assay.core.records import Arm, Factors
from assay.core.registry import DATASETS, SYSTEMS
from assay.core.spec import WrongParameter, parse_spec
from assay.core.yaml_lines import Loc
from assay.study.parameters import parameter_names, part_parameter_names, top_parameter
from assay.study.problems import study_problems
from assay.study.study import Study
from assay.study.study_file import SweepFile

RUN_NAME = "sweep"
_CHANGES: Loc = ("sweep", "changes")


@dataclasses.dataclass(frozen=True)
class SweepStudy(Study):
    """A study of one system, whose own parameters are meant where the dataset has one of that name too."""

    def data_factors(self, factors: Factors) -> Factors:
        """What the system leaves to the dataset and the chunking."""
        (system,) = self.file.systems
        own = self._system_fields(system)
        return super().data_factors(
            {name: text for name, text in factors.items() if top_parameter(name) not in own}
        )


@dataclasses.dataclass(frozen=True)
class ChangeStudy(SweepStudy):
    """A study of one system as it is and with one change at a time: arms that no product of factors gives."""

    chosen: tuple[Arm, ...] = ()

    @cached_property
    def arms(self) -> list[Arm]:
        """The system as it is, then each change, as they are written."""
        return list(self.chosen)


def declared_sweep(study: Study) -> SweepFile:
    """The section `sweep` of a study, which must have one."""
    how: SweepFile | None = study.file.sweep
    if how is None:
        fix = "Add one, such as sweep: {grid: {fuse.k: [40, 60, 80]}}; see docs/sweep.md"
        raise UsageError(f"{study.lines.where}: the study has no section `sweep`. {fix}")
    return how


def sweep_as_study(study: Study) -> Study:
    """The sweep of a study as a study; every problem of its section is in the one DataError."""
    how = declared_sweep(study)
    if problems := sweep_problems(study):
        raise DataError(problems)
    return _derived(study, how)


def sweep_problems(study: Study) -> list[Problem]:
    """What is wrong with the section `sweep` of a study that has no other problem, in the order of lines."""
    how, lines = study.file.sweep, study.lines
    if how is None:
        return []
    if how.system is not None and how.system not in study.file.systems:
        what = f"there is no system {how.system!r}"
        return [lines.problem(("sweep", "system"), what, did_you_mean(how.system, study.file.systems))]
    found = _change_problems(study, how) if how.changes else _grid_problems(study, how)
    return sorted(found, key=lambda problem: problem.line or 0)


def _derived(study: Study, how: SweepFile) -> SweepStudy:
    system = how.system or next(iter(study.file.systems))
    first = how.measure or study.file.measures[0]
    by = [how.by] if how.by is not None else study.file.by[:1]
    file = study.file.model_copy(
        update={
            "factors": {**_held(study, how), **how.grid},
            "systems": {system: study.file.systems[system]},
            "measures": list(dict.fromkeys([first, *study.file.measures])),
            "by": by,
            "baseline": None,
            "gates": {},
            "figures": {},
            "steps": [],
            "recommend": {},
            "reports": [],
            "sweep": None,
            "limits": None,
        }
    )
    swept = SweepStudy(**{**_fields(study), "file": file, "run_name": RUN_NAME})
    return _changed(swept, how.changes.values()) if how.changes else swept


def _fields(study: Study) -> dict[str, Any]:
    return {field.name: getattr(study, field.name) for field in dataclasses.fields(Study)}


def _changed(swept: SweepStudy, changes: Iterable[Factors]) -> ChangeStudy:
    """The system as a study has it, and as each change makes it."""
    (own,) = swept.arms
    arms, factors = [own], {name: list(values) for name, values in swept.file.factors.items()}
    for change in changes:
        arms.append(Arm(own.system, {**own.factors, **change}))
        for name, value in change.items():
            factors[name] = list(dict.fromkeys([*factors.get(name, []), value]))
    file = swept.file.model_copy(update={"factors": factors})
    return ChangeStudy(**{**_fields(swept), "file": file}, chosen=tuple(arms))


def _held(study: Study, how: SweepFile) -> dict[str, list[str]]:
    """The study's own factors that the grid leaves alone: each at its first value."""
    return {name: values[:1] for name, values in study.file.factors.items() if name not in how.grid}


# ------------------------------------------------------------------------------ problems of a grid


def _grid_problems(study: Study, how: SweepFile) -> list[Problem]:
    if all(len(values) == 1 for values in how.grid.values()):
        what = "it has one setting alone, and nothing to compare it with"
        return [study.lines.problem(("sweep", "grid"), what, "List several values of a parameter.")]
    strange = _unknown(study, how, how.grid)
    known = {name: values for name, values in how.grid.items() if name not in strange}
    found = _section_problems(study, how.model_copy(update={"grid": known}))
    # a bad value spoils the settings of every parameter: it is told once, where its own name is
    found.sort(key=lambda problem: not _speaks_of_itself(problem))
    once = {problem.what: problem for problem in reversed(found)}
    unknown = [_unknown_problem(study, ("sweep", "grid", name), fix) for name, fix in strange.items()]
    return [*unknown, *once.values()]


def _speaks_of_itself(problem: Problem) -> bool:
    return f"{problem.field.rpartition('.')[2]}: " in problem.what


def _section_problems(study: Study, how: SweepFile) -> list[Problem]:
    """The problems of the derived study; the study's own factors are sound, though others may have them."""
    own = {f"factors.{name}" for name in study.file.factors.keys() - how.grid.keys()}
    found = study_problems(_derived(study, how), set())
    return [_placed(study, problem) for problem in found if problem.field not in own]


def _placed(study: Study, problem: Problem) -> Problem:
    """A problem of the derived study where the section `sweep` causes it."""
    field, _, rest = problem.field.partition(".")
    places: dict[str, tuple[str, ...]] = {
        "factors": ("sweep", "grid", rest),
        "measures": ("sweep", "measure"),
    }
    if field not in places:
        return problem
    return study.lines.problem(places[field], problem.what, problem.fix)


def _unknown(study: Study, how: SweepFile, names: Iterable[str]) -> dict[str, str]:
    """The parameters that neither the dataset nor the swept system has, each with what to write instead."""
    plain = _derived(study, how.model_copy(update={"grid": {}, "changes": {}}))
    asked = {name: [""] for name in names}
    file = plain.file.model_copy(update={"factors": asked})
    (arm,) = dataclasses.replace(plain, file=file).arms  # it has the factors that concern it
    spec = parse_spec(plain.file.systems[arm.system])
    inside = list(part_parameter_names(plain.registry, SYSTEMS, spec))
    own = parameter_names(plain.registry.load(SYSTEMS, spec.name))
    return {name: _instead(name, own, inside) for name in asked if name not in arm.factors}


def _instead(name: str, own: Iterable[str], inside: Iterable[str]) -> str:
    deeper = sorted((each for each in inside if each.endswith(f".{name}")), key=lambda each: each.count("."))
    return f"Write {deeper[0]}: it is a parameter of a part." if deeper else did_you_mean(name, own)


def _unknown_problem(study: Study, loc: Loc, fix: str) -> Problem:
    return study.lines.problem(loc, "neither the dataset nor any system has such a parameter", fix)


# ---------------------------------------------------------------------------- problems of changes


def _change_problems(study: Study, how: SweepFile) -> list[Problem]:
    unchanged = how.model_copy(update={"changes": {}})
    plain, found = _derived(study, unchanged), _section_problems(study, unchanged)
    found += _name_problems(study, how, plain.arms[0].system)
    strange = _unknown(study, how, [name for change in how.changes.values() for name in change])
    known: dict[str, Factors] = {}
    for name, change in how.changes.items():
        unknown = [each for each in change if each in strange]
        found += [_unknown_problem(study, (*_CHANGES, name, each), strange[each]) for each in unknown]
        known.update({} if unknown else {name: change})
    return [*found, *_made_problems(study, plain, known)]


def _name_problems(study: Study, how: SweepFile, system: str) -> Iterator[Problem]:
    """Changes that a reader could not tell apart, from each other or from the system as it is."""
    taken = {_spoken(system): "the system as it is is"}
    for name in how.changes:
        if other := taken.get(_spoken(name)):
            what = f"{other} called that too"
            yield study.lines.problem((*_CHANGES, name), what, "Give each a name of its own.")
        taken.setdefault(_spoken(name), f"another change ({name!r}) is")


def _spoken(name: str) -> str:
    return " ".join(name.casefold().split())


def _made_problems(study: Study, plain: Study, changes: Mapping[str, Factors]) -> Iterator[Problem]:
    """Changes that cannot be made, and those that make nothing new."""
    (own,) = plain.arms
    made: list[tuple[str, Any]] = [("", _made(plain, own))]
    for name, change in changes.items():
        try:
            here = _made(plain, Arm(own.system, {**own.factors, **change}))
        except DataError as error:
            yield from error.problems
        except AssayError as error:
            yield study.lines.problem((*_CHANGES, name, *_culprit(error, change)), str(error))
        else:
            same = next((other for other, there in made if there == here), None)
            if same is not None:
                what = f"it comes to the same as {same!r}" if same else f"{own.system} is like this as it is"
                yield study.lines.problem((*_CHANGES, name), what, "Set another value, or remove the change.")
            made.append((name, here))


def _made(plain: Study, arm: Arm) -> Any:
    """Everything that an arm's factors decide, made, to be held against others; data is not read for it."""
    data = plain.with_factors(DATASETS, plain.data_spec, arm.factors)
    cut = plain.chunker(plain.data_factors(arm.factors)), plain.registry.create(DATASETS, data)
    try:
        return plain.system(arm), *cut
    except MissingVariable:  # a file may be checked where the secrets of a run are not known
        return arm.factors


def _culprit(error: AssayError, change: Factors) -> tuple[str, ...]:
    """The parameter of a change that an error speaks of, where that can be told."""
    where = ".".join(error.path) if isinstance(error, WrongParameter) else ""
    near = [name for name in change if f"{where}.".startswith(f"{name}.")]
    return tuple(near[:1] or (list(change) if len(change) == 1 else []))
