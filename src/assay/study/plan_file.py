"""The plan file as written: studies in the order in which they run, and the verdicts that stop the plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, ValidationError

from assay.core.errors import DataError, Problem, UsageError
from assay.core.yaml_lines import Lines, Loc, Word, Words, field_problem, read_yaml

if TYPE_CHECKING:
    from assay.study.study import Study

PLAN = "plan.yaml"
UNREAD = "-"  # the study of a step that cannot be read
_STUDY_FIELDS = {"data", "systems", "measures"}  # every study has them, and no plan


Conditions = Mapping[str, Sequence[str]]  # by factor: the values that match


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _alternatives(where: dict[str, list[str]]) -> dict[str, list[str]]:
    """Splits values as the command line does: `a|b` means a or b."""
    return {name: [value for text in texts for value in text.split("|")] for name, texts in where.items()}


Where = Annotated[dict[str, Words], AfterValidator(_alternatives)]


class StepFile(BaseModel, extra="forbid", frozen=True):
    """One step of a plan: a study, or a part of a study."""

    study: Word = Field(min_length=1, description="a study file or folder, relative to the plan")
    name: Word | None = Field(None, description="default: the study's name, or its file's")
    about: Word = Field("", description="what it is for, in a sentence")
    where: Where = Field({}, description="only these factors or tags, as --where; no option changes them")
    system: Words = Field([], description="only these systems, as --system")
    limit: int | None = Field(None, ge=1, description="only the first so many items, as --limit")
    gates: Words | None = Field(None, description="the gates that decide it; default: all of the study")


class PlanFile(BaseModel, extra="forbid", frozen=True):
    """The content of `plan.yaml`, as written."""

    name: Word | None = Field(None, description="default: the name of its folder")
    about: Word = Field("", description="what it is to find out, in a sentence")
    stop_on: Annotated[list[Literal["no-go", "inconclusive"]], BeforeValidator(_listed)] = Field(
        ["no-go"], description="the verdicts after which no further step runs"
    )
    where: Where = Field({}, description="factors of every step that has them, and that options replace")
    steps: list[StepFile] = Field(min_length=1)


def file_of_plan(path: Path) -> Path:
    """Returns the file of a plan. `path` is this file or its folder."""
    return path / PLAN if path.is_dir() else path


def is_plan(path: Path) -> bool:
    """Whether a path is a plan.

    A plan is a folder with plan.yaml, a file plan.yaml, or a file that has steps but no fields of a study.
    """
    path = file_of_plan(path)
    if not path.is_file():
        return False
    if path.name == PLAN:
        return True
    content, _ = read_yaml(path)
    return isinstance(content, dict) and "steps" in content and not _STUDY_FIELDS & content.keys()


def read_plan(path: Path) -> tuple[PlanFile, Lines, list[Problem]]:
    """Reads the file of a plan. Returns its content, its lines and its problems.

    Steps that cannot be read become placeholders, so that the other steps can be checked.
    """
    content, lines = read_yaml(path)
    if not isinstance(content, dict):
        what = "a plan is a mapping of fields: steps, where, about, stop_on"
        raise DataError(Problem(what, str(path), 1, fix="See docs/plans.md."))
    try:
        return PlanFile.model_validate(content), lines, []
    except ValidationError as error:
        found = error.errors()
    problems = [field_problem(each, lines, _known_fields) for each in found]
    if any(each["loc"] == ("steps",) for each in found):
        raise DataError(problems)  # without a list of steps nothing can be checked
    unread = {each["loc"][:2] for each in found}
    steps = [
        {"study": UNREAD} if ("steps", place) in unread else step
        for place, step in enumerate(content["steps"])
    ]
    sound = {name: value for name, value in content.items() if not any(loc[0] == name for loc in unread)}
    return PlanFile.model_validate({**sound, "steps": steps}), lines, problems


def _known_fields(loc: Loc) -> list[str]:
    """Returns the known fields at the place of an unknown field."""
    return list((StepFile if loc[0] == "steps" else PlanFile).model_fields)


def duplicate_name_problems(names: Mapping[int, str], lines: Lines) -> list[Problem]:
    """Returns the problems of steps that have the same name.

    `names` has the name of each step by its position.
    """
    seen: set[str] = set()
    found = []
    for place, name in names.items():
        if name in seen:
            what = f"another step is called {name!r} too"
            found.append(lines.problem(("steps", place, "name"), what, "Give each a name of its own."))
        seen.add(name)
    return found


# ---------------------------------------------------------------------- conditions for all steps


def unknown_factors(file: PlanFile, studies: Sequence[tuple[StepFile, Study]], lines: Lines) -> list[Problem]:
    """Returns the problems of factors and values that the plan sets for all steps but that no step has."""
    return [
        lines.problem(("where", name), *unknown)
        for name, values in file.where.items()
        if (unknown := _unknown(name, values, studies)) is not None
    ]


def check_options(where: Conditions, studies: Sequence[tuple[StepFile, Study]]) -> None:
    """Raises a UsageError if an option has an unknown factor or value, or if it would change nothing."""
    for name, values in where.items():
        option = f"--where {name}={'|'.join(values)}"
        if (unknown := _unknown(name, values, studies)) is not None:
            raise UsageError(f"{option}: {'. '.join(unknown)}")
        having = [(step, study.file.factors[name]) for step, study in studies if name in study.file.factors]
        concerned = [(step, known) for step, known in having if name not in step.where]
        if not concerned:
            fix = f"Write `where: {{{name}: …}}` at the top of the plan, not in its steps."
            raise UsageError(f"{option} changes nothing: every step that has {name} sets its own. {fix}")
        for step, known in concerned:
            if set(values).isdisjoint(known):
                there = f"There is: {', '.join(known)}."
                raise UsageError(f"{option}: {step.study}, which a step runs, has no such value. {there}")


def _unknown(
    name: str, values: Sequence[str], studies: Sequence[tuple[StepFile, Study]]
) -> tuple[str, str] | None:
    """Returns what is unknown about a factor or its values, and what is known.

    Returns None if the studies of the steps have the factor and all values.
    """
    known = dict.fromkeys(value for _, study in studies for value in study.file.factors.get(name, ()))
    if not known:
        factors = dict.fromkeys(factor for _, study in studies for factor in study.file.factors)
        return f"no step's study has a factor {name!r}", f"Factors: {', '.join(factors) or 'none'}."
    absent = [value for value in values if value not in known]
    return (f"no step's study has {name}={absent[0]}", f"There is: {', '.join(known)}.") if absent else None
