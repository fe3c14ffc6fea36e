"""Turns a sweep into a study with one system and no gates. The study has a run folder of its own.

The factors of this study are the grid or the changes of the sweep.
"""

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
    """A study of one system.

    If system and dataset have a parameter of the same name, a factor of that name sets the system's
    parameter.
    """

    def data_factors(self, factors: Factors) -> Factors:
        """Returns the factors of the dataset and the chunking that are not parameters of the system."""
        (system,) = self.file.systems
        own = self._system_fields(system)
        return super().data_factors(
            {name: text for name, text in factors.items() if top_parameter(name) not in own}
        )


@dataclasses.dataclass(frozen=True)
class ChangeStudy(SweepStudy):
    """A study of one system as it is, and of the same system with one change at a time.

    Its arms are listed in `chosen`. They are not all combinations of the factors.
    """

    chosen: tuple[Arm, ...] = ()

    @cached_property
    def arms(self) -> list[Arm]:
        """The system as it is, and then the system with each change, in the order of the file."""
        return list(self.chosen)


def declared_sweep(study: Study) -> SweepFile:
    """Returns the section `sweep` of a study. Raises a UsageError if there is none."""
    how: SweepFile | None = study.file.sweep
    if how is None:
        fix = "Add one, such as sweep: {grid: {fuse.k: [40, 60, 80]}}; see docs/sweep.md"
        raise UsageError(f"{study.lines.where}: the study has no section `sweep`. {fix}")
    return how


def sweep_as_study(study: Study) -> Study:
    """Returns the study that runs the sweep of a study.

    Raises a DataError with all problems of the section `sweep`.
    """
    how = declared_sweep(study)
    if problems := sweep_problems(study):
        raise DataError(problems)
    return _derive(study, how)


def sweep_problems(study: Study) -> list[Problem]:
    """Returns the problems of the section `sweep`, in the order of lines.

    The other sections of the study must be without problems.
    """
    how, lines = study.file.sweep, study.lines
    if how is None:
        return []
    if how.system is not None and how.system not in study.file.systems:
        what = f"there is no system {how.system!r}"
        return [lines.problem(("sweep", "system"), what, did_you_mean(how.system, study.file.systems))]
    found = _change_problems(study, how) if how.changes else _grid_problems(study, how)
    return sorted(found, key=lambda problem: problem.line or 0)


def _derive(study: Study, how: SweepFile) -> SweepStudy:
    system = how.system or next(iter(study.file.systems))
    first = how.measure or study.file.measures[0]
    by = [how.by] if how.by is not None else study.file.by[:1]
    file = study.file.model_copy(
        update={
            "factors": {**_fixed_factors(study, how), **how.grid},
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
    return _with_changes(swept, how.changes.values()) if how.changes else swept


def _fields(study: Study) -> dict[str, Any]:
    return {field.name: getattr(study, field.name) for field in dataclasses.fields(Study)}


def _with_changes(swept: SweepStudy, changes: Iterable[Factors]) -> ChangeStudy:
    """Returns a study of the system as it is, and with each change."""
    (own,) = swept.arms
    arms, factors = [own], {name: list(values) for name, values in swept.file.factors.items()}
    for change in changes:
        arms.append(Arm(own.system, {**own.factors, **change}))
        for name, value in change.items():
            factors[name] = list(dict.fromkeys([*factors.get(name, []), value]))
    file = swept.file.model_copy(update={"factors": factors})
    return ChangeStudy(**{**_fields(swept), "file": file}, chosen=tuple(arms))


def _fixed_factors(study: Study, how: SweepFile) -> dict[str, list[str]]:
    """Returns the study's own factors that the grid does not set. Each has only its first value."""
    return {name: values[:1] for name, values in study.file.factors.items() if name not in how.grid}


# ------------------------------------------------------------------------------ problems of a grid


def _grid_problems(study: Study, how: SweepFile) -> list[Problem]:
    if all(len(values) == 1 for values in how.grid.values()):
        what = "it has only one setting, and nothing to compare it with"
        return [study.lines.problem(("sweep", "grid"), what, "List several values of a parameter.")]
    strange = _unknown(study, how, how.grid)
    known = {name: values for name, values in how.grid.items() if name not in strange}
    found = _section_problems(study, how.model_copy(update={"grid": known}))
    # A bad value breaks the settings of every parameter. It is reported once, at its own parameter.
    found.sort(key=lambda problem: f"{problem.field.rpartition('.')[2]}: " not in problem.what)
    once = {problem.what: problem for problem in reversed(found)}
    unknown = [_unknown_problem(study, ("sweep", "grid", name), fix) for name, fix in strange.items()]
    return [*unknown, *once.values()]


def _section_problems(study: Study, how: SweepFile) -> list[Problem]:
    """Returns the problems of the derived study.

    Problems of the study's own factors are left out, since these factors have been checked.
    """
    own = {f"factors.{name}" for name in study.file.factors.keys() - how.grid.keys()}
    found = study_problems(_derive(study, how), set())
    return [_move_problem(study, problem) for problem in found if problem.field not in own]


def _move_problem(study: Study, problem: Problem) -> Problem:
    """Returns a problem of the derived study, moved to the place in the section `sweep` that causes it."""
    field, _, rest = problem.field.partition(".")
    places: dict[str, tuple[str, ...]] = {
        "factors": ("sweep", "grid", rest),
        "measures": ("sweep", "measure"),
    }
    if field not in places:
        return problem
    return study.lines.problem(places[field], problem.what, problem.fix)


def _unknown(study: Study, how: SweepFile, names: Iterable[str]) -> dict[str, str]:
    """Returns the names that are not parameters of dataset or system, each with a suggested correction."""
    plain = _derive(study, how.model_copy(update={"grid": {}, "changes": {}}))
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
    plain, found = _derive(study, unchanged), _section_problems(study, unchanged)
    found += _name_problems(study, how, plain.arms[0].system)
    strange = _unknown(study, how, [name for change in how.changes.values() for name in change])
    known: dict[str, Factors] = {}
    for name, change in how.changes.items():
        unknown = [each for each in change if each in strange]
        found += [_unknown_problem(study, (*_CHANGES, name, each), strange[each]) for each in unknown]
        known.update({} if unknown else {name: change})
    return [*found, *_effect_problems(study, plain, known)]


def _name_problems(study: Study, how: SweepFile, system: str) -> Iterator[Problem]:
    """Yields a problem for each change that has the same name as another change or as the system.

    Letter case and spaces are ignored.
    """
    taken = {" ".join(system.casefold().split()): "the system as it is is"}
    for name in how.changes:
        key = " ".join(name.casefold().split())
        if other := taken.get(key):
            what = f"{other} called that too"
            yield study.lines.problem((*_CHANGES, name), what, "Give each a name of its own.")
        taken.setdefault(key, f"another change ({name!r}) is")


def _effect_problems(study: Study, plain: Study, changes: Mapping[str, Factors]) -> Iterator[Problem]:
    """Yields the problems of changes that cannot be made.

    A change is also a problem if its result is the same as that of another change, or as the system as it is.
    """
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
    """Makes everything that the factors of an arm decide, without reading data.

    Arms can be compared by the result.
    """
    data = plain.with_factors(DATASETS, plain.data_spec, arm.factors)
    cut = plain.chunker(plain.data_factors(arm.factors)), plain.registry.create(DATASETS, data)
    try:
        return plain.system(arm), *cut
    except MissingVariable:  # a file can be checked without the secrets of a run
        return arm.factors


def _culprit(error: AssayError, change: Factors) -> tuple[str, ...]:
    """Returns the parameter of a change that caused an error, or no parameter if it is unknown."""
    where = ".".join(error.path) if isinstance(error, WrongParameter) else ""
    near = [name for name in change if f"{where}.".startswith(f"{name}.")]
    return tuple(near[:1] or (list(change) if len(change) == 1 else []))
