"""The study file as written, checked field by field, with its sweep and with gates from another file.

Several studies can share a file of gates. A study names the file as `gates: gates.yaml`, or as `gates: {from:
gates.yaml, use: [H1a]}` if it uses only some of the gates. These gates count as if they were written in the
study. Only their problems name lines of that other file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
    model_validator,
)

from assay.core.errors import DataError, Problem, UsageError, did_you_mean
from assay.core.spec import parse_spec
from assay.core.yaml_lines import Lines, Loc, Word, Words, as_list, field_problem, read_yaml
from assay.gates.gate import GateFile
from assay.study.parameters import NULL

T = TypeVar("T")
MOST_SEEDS = 10_000


def _budget(value: Any) -> Any:
    return None if value in ("inf", None) or value == float("inf") else value


def _seeds(value: Any) -> Any:
    """Turns a number of seeds into a list of that many seeds, from 0 on."""
    if isinstance(value, int) and not isinstance(value, bool):
        if not 1 <= value <= MOST_SEEDS:
            raise ValueError(f"expected a number of seeds from 1 to {MOST_SEEDS}, or a list of them")
        return list(range(value))
    return value


def _distinct(values: list[T]) -> list[T]:
    if len(set(values)) < len(values):
        raise ValueError("a value is listed twice")
    return values


def _spec_form(value: Any) -> Any:
    if not isinstance(value, str | dict):
        raise ValueError("expected name(k=v) or {use: name, k: v}")
    return value


def _chunk_form(value: Any) -> Any:
    """Accepts one chunking, or several chunkings with names."""
    if isinstance(value, dict) and "use" not in value:
        if any(each is None and str(name).endswith(")") for name, each in value.items()):
            raise ValueError("a comma inside {…} ends a value: put each in quotes, or on a line of its own")
        if not value or not all(isinstance(each, str | dict) for each in value.values()):
            raise ValueError(
                "expected name(k=v), {use: name, k: v}, or several of these by names of your own"
            )
        return value
    return _spec_form(value)


SpecForm = Annotated[str | dict[str, Any], BeforeValidator(_spec_form)]
ChunkForm = Annotated[str | dict[str, Any], BeforeValidator(_chunk_form)]
Seeds = Annotated[
    list[Annotated[int, Field(ge=0, lt=2**63)]],  # columns have 64 bits
    Field(min_length=1),
    BeforeValidator(_seeds),
    AfterValidator(_distinct),
]
Tokens = Annotated[Annotated[int, Field(gt=0)] | None, BeforeValidator(_budget)]
Budgets = Annotated[list[Tokens], BeforeValidator(as_list), AfterValidator(_distinct)]


Outcome = Literal["go", "no-go", "inconclusive"]


class RunSettings(BaseModel, extra="forbid", frozen=True):
    """How systems are asked. None of these settings is part of a response's identity."""

    order: Literal["arm", "item"] = Field(
        "arm", description="arm: one after the other; item: an item of all arms before the next of any"
    )
    threads: int | None = Field(
        None, ge=1, le=256, description="items in flight; default: the system's own number"
    )
    timeout: float | None = Field(None, gt=0, description="seconds for one attempt at one item")
    retries: int = Field(2, ge=0, le=20, description="further attempts after a temporary failure")
    backoff: float = Field(0.5, ge=0, description="seconds before the first retry; doubles, with jitter")
    max_cost: float | None = Field(None, ge=0, description="stop asking once this much was spent")


class CompareSettings(BaseModel, extra="forbid", frozen=True):
    """Which systems are compared, and how their p-values are corrected."""

    against: Literal["baseline", "all"] = "baseline"
    correction: Literal["holm", "benjamini-hochberg", "none"] = "holm"
    resamples: int = Field(10_000, ge=100, le=1_000_000)


class LimitsFile(BaseModel, extra="forbid", frozen=True):
    """How much worse than a baseline the results may be. These limits are checked only with `--against`."""

    worse: dict[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]] = Field(
        {}, description="by measure: how far the mean may fall, or rise where less is better"
    )
    latency: float | None = Field(
        None, gt=0, allow_inf_nan=False, description="how many times as long, beside the reference"
    )
    reference: Word | None = Field(None, description="the system whose times are the unit of latency")


# ----------------------------------------------------------------------- sweeps

_CUT = "a comma inside {} ends a value: put each in quotes, or on a line of its own"


def _text(value: Any) -> str:
    """Returns the text of a factor's value: text as it is, a part as its spec, and other values as JSON."""
    if isinstance(value, str):
        if value.count("(") != value.count(")"):
            raise ValueError(_CUT.format("[…]"))
        return value
    if isinstance(value, Mapping):
        try:
            return str(parse_spec(value))
        except UsageError as error:
            raise ValueError(str(error)) from error
    if value is None:
        raise ValueError("a value is empty")
    return json.dumps(value)


def _texts(value: Any) -> list[str]:
    """Returns the texts of the values of a factor or tag. A value that is listed twice is refused.

    A single value needs no list.
    """
    texts = [_text(each) for each in (value if isinstance(value, list) else [value])]
    if len(set(texts)) < len(texts):
        raise ValueError("a value is listed twice")
    return texts


def _set_to(value: Any) -> str:
    """Returns the text of the value that a change sets. A list is one value, and null is a value too."""
    return NULL if value is None else _text(value)


def _change(value: Any) -> Any:
    if isinstance(value, Mapping) and any(
        each is None and str(name).endswith(")") for name, each in value.items()
    ):
        raise ValueError(_CUT.format("{…}"))
    return value


Texts = Annotated[list[str], BeforeValidator(_texts), Field(min_length=1)]
Change = Annotated[
    dict[str, Annotated[str, BeforeValidator(_set_to)]], BeforeValidator(_change), Field(min_length=1)
]


class SweepFile(BaseModel, extra="forbid", frozen=True):
    """The section `sweep`: which parameters of a system vary, and which measure ranks the settings.

    It has either a grid, whose combinations are the settings, or changes to the system, which are made one at
    a time.
    """

    system: str | None = Field(None, description="default: the study's first")
    measure: str | None = Field(None, description="what settings are ranked by; default: the study's first")
    grid: dict[str, Texts] = Field(
        {}, min_length=1, description="by parameter: its values; dotted inside a part"
    )
    changes: dict[str, Change] = Field(
        {}, min_length=1, description="by name: the parameters that one change sets, and to what"
    )
    where: dict[str, Texts] = Field({}, description="only items with these tags")
    by: str | None = Field(None, description="the tag that the heat map shows; default: the study's first")

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if bool(self.grid) == bool(self.changes):
            raise ValueError("expected either grid or changes" + ", found both" * bool(self.grid))
        return self

    @model_serializer(mode="wrap")
    def _written(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leaves out an empty grid or empty changes, so that older sweeps keep their fingerprint."""
        return {
            name: value for name, value in handler(self).items() if value or name not in {"grid", "changes"}
        }


# ----------------------------------------------------------------------- the whole file


class StudyFile(BaseModel, extra="forbid", frozen=True):
    """The content of `study.yaml`, as written."""

    kind: Word = ""
    name: Word | None = None
    data: SpecForm
    split: Word | None = None
    chunk: ChunkForm | None = None
    factors: dict[str, Words] = {}
    seeds: Seeds = [0]
    budgets: Budgets = []
    systems: dict[str, SpecForm] = Field(min_length=1)
    baseline: str | None = None
    judges: Annotated[list[SpecForm], BeforeValidator(as_list)] = ["ids"]
    measures: Annotated[list[str], BeforeValidator(as_list)] = Field(min_length=1)
    by: Words = []
    cluster: Word | None = None
    compare: CompareSettings = CompareSettings()
    run: RunSettings = RunSettings()
    steps: Words = []
    gates: dict[str, GateFile] = {}
    recommend: dict[str, dict[str, Outcome]] = {}
    figures: dict[str, str] = {}
    sweep: SweepFile | None = None
    reports: Words = []
    baselines: Word | None = None
    limits: LimitsFile | None = None

    @property
    def chunkings(self) -> dict[str, Any]:
        """The chunkings by name, if there are several; otherwise empty."""
        return self.chunk if isinstance(self.chunk, dict) and "use" not in self.chunk else {}


def read_fields(content: dict[str, Any], lines: Lines) -> tuple[StudyFile, list[Problem]]:
    """Reads the fields of a study. Returns the study and the problems of its fields.

    Fields that cannot be read become placeholders, so that the other fields can be checked.
    """
    try:
        return StudyFile.model_validate(content), []
    except ValidationError as error:
        found = error.errors()
    unread = {each["loc"][0] for each in found}
    sound = {key: value for key, value in content.items() if key not in unread}
    placeholders = {"data": "-", "systems": {"-": "-"}, "measures": ["-"]}
    problems = [field_problem(each, lines, _known_fields) for each in found]
    return StudyFile.model_validate(placeholders | sound), problems


def _known_fields(loc: Loc) -> list[str]:
    """Returns the known fields at the place of an unknown field."""
    nested: dict[str, type[BaseModel]] = {
        "run": RunSettings,
        "compare": CompareSettings,
        "gates": GateFile,
        "limits": LimitsFile,
        "sweep": SweepFile,
    }
    model = nested[str(loc[0])] if len(loc) > 1 else StudyFile
    return list(model.model_fields)


# ----------------------------------------------------------------------- gates in another file

GATES = "gates"  # the field


class GatesReference(BaseModel, extra="forbid", frozen=True):
    """The name of a file of gates, and the gates in it to use."""

    file: Word = Field(alias="from", min_length=1, description="a file of gates, relative to the study")
    use: Annotated[Words, Field(min_length=1)] = Field([], description="only these; default: all of them")


@dataclass(kw_only=True)
class SharedLines(Lines):
    """The lines of a study whose gates are in another file.

    Problems of a gate have their line in that file.
    """

    gates: Lines

    def problem(self, loc: Sequence[str | int], what: str, fix: str = "") -> Problem:
        """Returns a problem at a field of the study, or of a gate in the other file."""
        if len(loc) > 1 and loc[0] == GATES:
            return self.gates.problem(loc[1:], what, fix)
        return super().problem(loc, what, fix)

    def move_to_gate(self, problem: Problem) -> Problem:
        """Moves a problem of a whole gate from the line that names the file to the gate's own line.

        Any other problem is returned as it is.
        """
        field, _, name = problem.field.partition(".")
        named = problem.where == self.where and field == GATES and (name,) in self.gates.at
        return self.gates.problem((name,), problem.what, problem.fix) if named else problem


def include_gates(content: dict[str, Any], lines: Lines) -> tuple[dict[str, Any], Lines, list[Problem]]:
    """Adds the gates of another file to the content of a study. Gates that cannot be read are left out.

    Returns the content, its lines and the problems.
    """
    given = content.get(GATES)
    if isinstance(given, str):
        given = {"from": given}
    if not isinstance(given, dict) or isinstance(given.get("from", {}), dict):
        return content, lines, []  # the gates are in the study; one of them may be called `from`
    rest = {name: value for name, value in content.items() if name != GATES}
    try:
        wanted = GatesReference.model_validate(given)
        gates, places = _read_gates(wanted, lines)
    except ValidationError as error:
        found = error.errors()
        for each in found:
            each["loc"] = (GATES, *each["loc"])
        return rest, lines, [field_problem(each, lines, lambda _: ["from", "use"]) for each in found]
    except DataError as error:
        return rest, lines, list(error.problems)
    unknown = [
        lines.problem((GATES, "use", index), f"{wanted.file} has no gate {name!r}", did_you_mean(name, gates))
        for index, name in enumerate(wanted.use)
        if name not in gates
    ]
    taken = {name: gate for name, gate in gates.items() if name in wanted.use or not wanted.use}
    return {**rest, GATES: taken}, SharedLines(lines.where, lines.at, gates=places), unknown


def _read_gates(wanted: GatesReference, lines: Lines) -> tuple[dict[str, Any], Lines]:
    """Returns the gates of the file by name, and their lines."""
    path = Path(lines.where).parent / wanted.file
    if not path.is_file():
        fix = "Give a file, relative to the study."
        raise DataError(lines.problem((GATES, "from"), f"there is no file {wanted.file}", fix))
    content, places = read_yaml(path)
    if not isinstance(content, dict):
        fix = "Write them as in a study: docs/gates.md."
        raise DataError(Problem("a file of gates is a mapping of names to gates", str(path), 1, fix=fix))
    return content, places


def unreadable_fields(problems: Iterable[Problem], lines: Lines) -> set[str]:
    """Returns the fields of a study that have problems.

    Problems in another file belong to the field `gates`.
    """
    return {
        problem.field.partition(".")[0] if problem.where == lines.where else GATES for problem in problems
    }


def sort_problems(problems: Iterable[Problem], lines: Lines) -> list[Problem]:
    """Sorts problems by their lines. Problems in the study file come first."""
    moved = [lines.move_to_gate(each) if isinstance(lines, SharedLines) else each for each in problems]
    return sorted(moved, key=lambda problem: (problem.where != lines.where, problem.line or 0))
