"""The study that a sweep is: one system, the grid as its factors, no gates, and a run folder of its own."""

from __future__ import annotations

import dataclasses

from assay.errors import DataError, Problem, UsageError, did_you_mean
from assay.study import Study
from assay.study_problems import study_problems
from assay.sweep_file import SweepFile

RUN_NAME = "sweep"


def declared_sweep(study: Study) -> SweepFile:
    """The section `sweep` of a study, which must have one."""
    how: SweepFile | None = study.file.sweep
    if how is None:
        fix = "Add one, such as sweep: {grid: {fuse.k: [40, 60, 80]}}; see docs/sweep.md"
        raise UsageError(f"{study.lines.where}: the study has no section `sweep`. {fix}")
    return how


def swept_study(study: Study) -> Study:
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
    if all(len(values) == 1 for values in how.grid.values()):
        what = "it has one setting alone, and nothing to compare it with"
        return [lines.problem(("sweep", "grid"), what, "List several values of a parameter.")]
    found = [_placed(study, problem) for problem in study_problems(_derived(study, how), set())]
    # a bad value spoils the settings of every parameter: it is told once, where its own name is
    found.sort(key=lambda problem: not _speaks_of_itself(problem))
    once = {problem.what: problem for problem in reversed(found)}
    return sorted(once.values(), key=lambda problem: problem.line or 0)


def _speaks_of_itself(problem: Problem) -> bool:
    return f"{problem.field.rpartition('.')[2]}: " in problem.what


def _derived(study: Study, how: SweepFile) -> Study:
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
    return dataclasses.replace(study, file=file, run_name=RUN_NAME)


def _held(study: Study, how: SweepFile) -> dict[str, list[str]]:
    """The study's own factors that the grid leaves alone: each at its first value."""
    return {name: values[:1] for name, values in study.file.factors.items() if name not in how.grid}


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
