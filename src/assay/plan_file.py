"""The plan file as written: studies in the order in which they run, and what stops the rest."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from assay.errors import DataError, Problem
from assay.study_file import Word, Words
from assay.study_problems import field_problem
from assay.yaml_lines import Lines, Loc, read_yaml

PLAN = "plan.yaml"
UNREAD = "-"  # the study of a step that does not read
_STUDY_FIELDS = {"data", "systems", "measures"}  # what every study has, and no plan


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _alternatives(where: dict[str, list[str]]) -> dict[str, list[str]]:
    """Values as the command line writes them: `a|b` is either."""
    return {name: [value for text in texts for value in text.split("|")] for name, texts in where.items()}


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class StepFile(_Strict):
    """One step: a study, or a part of one."""

    study: Word = Field(min_length=1, description="a study file or folder, relative to the plan")
    name: Word | None = Field(None, description="default: the study's name, or its file's")
    about: Word = Field("", description="what it is for, in a sentence")
    where: Annotated[dict[str, Words], AfterValidator(_alternatives)] = Field(
        {}, description="only these factors or tags, as --where"
    )
    system: Words = Field([], description="only these systems, as --system")
    limit: int | None = Field(None, ge=1, description="only the first so many items, as --limit")


class PlanFile(_Strict):
    """`plan.yaml`, as written."""

    name: Word | None = Field(None, description="default: the name of its folder")
    about: Word = Field("", description="what it is to find out, in a sentence")
    stop_on: Annotated[list[Literal["no-go", "inconclusive"]], BeforeValidator(_listed)] = Field(
        ["no-go"], description="the verdicts after which no further step runs"
    )
    steps: list[StepFile] = Field(min_length=1)


def is_plan(path: Path) -> bool:
    """Whether a path is a plan's file: called plan.yaml, or with steps and nothing that a study has."""
    if not path.is_file():
        return False
    if path.name == PLAN:
        return True
    content, _ = read_yaml(path)
    return isinstance(content, dict) and "steps" in content and not _STUDY_FIELDS & content.keys()


def read_plan(path: Path) -> tuple[PlanFile, Lines, list[Problem]]:
    """The file, with placeholders for steps that do not read, so that the rest can still be checked."""
    content, lines = read_yaml(path)
    if not isinstance(content, dict):
        what = "a plan is a mapping of fields: steps, about, stop_on"
        raise DataError(Problem(what, str(path), 1, fix="See docs/plans.md."))
    try:
        return PlanFile.model_validate(content), lines, []
    except ValidationError as error:
        found = error.errors()
    problems = [field_problem(each, lines, _known_fields) for each in found]
    if any(each["loc"] == ("steps",) for each in found):
        raise DataError(problems)  # there is no list of steps
    unread = {each["loc"][:2] for each in found}
    steps = [
        {"study": UNREAD} if ("steps", place) in unread else step
        for place, step in enumerate(content["steps"])
    ]
    sound = {name: value for name, value in content.items() if not any(loc[0] == name for loc in unread)}
    return PlanFile.model_validate({**sound, "steps": steps}), lines, problems


def _known_fields(loc: Loc) -> list[str]:
    """The fields that may stand where an unknown one was found."""
    return list((StepFile if loc[0] == "steps" else PlanFile).model_fields)
