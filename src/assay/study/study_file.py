"""The study file as written, checked field by field, and the `${NAME}` in it.

A variable is filled in when a plugin is made, and put back wherever text is stored or shown.
`${NAME:-other}` means the other text if the variable is not set, or empty. A variable is a secret if a word
of its name says so (`API_KEY`, `HF_TOKEN`, `PGPASSWORD`). Secrets decide who may ask, never what is answered,
so no identity holds them; any other variable, such as an endpoint, makes another system of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar
from urllib.parse import quote

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, ValidationError

from assay.core.errors import Problem, did_you_mean
from assay.core.protocols import Kit
from assay.core.records import Arm
from assay.core.yaml_lines import Lines, Loc, Word, Words, as_list
from assay.gates.gate import GateFile
from assay.study.sweep_file import SweepFile

if TYPE_CHECKING:
    from assay.study.study import Study


_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")
_SECRET = re.compile(
    r"(APIKEY|PASSWORD|PASSWD|((^|_)(KEY|TOKEN|SECRET|CREDENTIAL|AUTH|AUTHORIZATION|PASS|PWD|PAT)))S?(_|$)",
    re.IGNORECASE,
)


def fill_variables(given: Any, kit: Kit, *, secrets: bool = True) -> Any:
    """Every variable inside replaced by its value; secrets stay as written unless they are asked for."""

    def value(match: re.Match[str]) -> str:
        name, otherwise = match.groups()
        if not secrets and _SECRET.search(name):
            return match[0]
        return otherwise if otherwise is not None and not kit.env.get(name) else kit.secret(name)

    return _each_text(given, lambda text: _VARIABLE.sub(value, text))


def _each_text(given: Any, change: Callable[[str], str]) -> Any:
    if isinstance(given, str):
        return change(given)
    if isinstance(given, Mapping):
        return {key: _each_text(value, change) for key, value in given.items()}
    return [_each_text(value, change) for value in given] if isinstance(given, list) else given


def conceal_variables(text: str, kit: Kit) -> str:
    """A text without the values that the kit gave out: their `${NAME}` stands there instead.

    Secrets are looked for everywhere, plain and as in a URL; other values, which may be as short as a port,
    only where no letter or digit adjoins them.
    """
    values = {name: value for name in sorted(kit.given_secrets) if (value := kit.env.get(name))}
    for name in sorted(values, key=lambda each: -len(values[each])):  # one may be part of another
        in_url = quote(values[name], safe="", errors="surrogateescape")
        pattern = "|".join(map(re.escape, dict.fromkeys((values[name], in_url))))
        if not _SECRET.search(name):
            pattern = rf"(?<!\w)(?:{pattern})(?!\w)"
        text = re.sub(pattern, f"${{{name}}}", text)
    return text


T = TypeVar("T")
MOST_SEEDS = 10_000


def _budget(value: Any) -> Any:
    return None if value in ("inf", None) or value == float("inf") else value


def _seeds(value: Any) -> Any:
    """A number of seeds stands for the first so many."""
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
    """A chunking, or several by name."""
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
    """How systems are asked. None of it is part of a response's identity."""

    order: Literal["arm", "item"] = Field(
        "arm", description="arm: one after the other; item: an item of all arms before the next of any"
    )
    threads: int | None = Field(
        None, ge=1, le=256, description="items in flight; default: what the system says"
    )
    timeout: float | None = Field(None, gt=0, description="seconds for one attempt at one item")
    retries: int = Field(2, ge=0, le=20, description="further attempts after a failure that may pass")
    backoff: float = Field(0.5, ge=0, description="seconds before the first retry; doubles, with jitter")
    max_cost: float | None = Field(None, ge=0, description="stop asking once this much was spent")


class CompareSettings(BaseModel, extra="forbid", frozen=True):
    """Which systems are compared, and how chance findings are kept in check."""

    against: Literal["baseline", "all"] = "baseline"
    correction: Literal["holm", "benjamini-hochberg", "none"] = "holm"
    resamples: int = Field(10_000, ge=100, le=1_000_000)


class LimitsFile(BaseModel, extra="forbid", frozen=True):
    """What may be lost since a baseline; it holds with --against alone."""

    worse: dict[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]] = Field(
        {}, description="by measure: how far the mean may fall, or rise where less is better"
    )
    latency: float | None = Field(
        None, gt=0, allow_inf_nan=False, description="how many times as long, beside the reference"
    )
    reference: Word | None = Field(None, description="the system that times are taken as a multiple of")


class StudyFile(BaseModel, extra="forbid", frozen=True):
    """`study.yaml`, as written."""

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
        """The chunkings by name, where it names several."""
        return self.chunk if isinstance(self.chunk, dict) and "use" not in self.chunk else {}


def read_fields(content: dict[str, Any], lines: Lines) -> tuple[StudyFile, list[Problem]]:
    """The file, with placeholders for what does not read, so that the rest can still be checked."""
    from assay.study.problems import field_problem

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
    """The fields that may stand where an unknown one was found."""
    nested: dict[str, type[BaseModel]] = {
        "run": RunSettings,
        "compare": CompareSettings,
        "gates": GateFile,
        "limits": LimitsFile,
        "sweep": SweepFile,
    }
    model = nested[str(loc[0])] if len(loc) > 1 else StudyFile
    return list(model.model_fields)


def limit_problems(study: Study) -> Iterator[Problem]:
    """Limits on what the study does not measure, and times that nothing makes comparable."""
    limits, problem, systems = study.file.limits, study.lines.problem, study.file.systems
    if limits is None:
        return
    listed = {measure.name for measure in study.measures}
    for name in limits.worse:
        loc = ("limits", "worse", name)
        if name.partition("(")[0] == "Seconds":
            yield problem(loc, "seconds of two runs do not compare", "Use latency and reference.")
        elif name not in {*listed, *study.file.measures}:
            what = f"{name} is not among the study's measures"
            yield problem(loc, what, f"{did_you_mean(name, listed)} A limit needs its measure listed.")
    if not limits.worse and limits.latency is None:
        yield problem(("limits",), "it limits nothing", "Add worse: {MEASURE: 0.02}, or latency: 1.2.")
    if limits.latency is not None and limits.reference is None:
        what = "seconds of two runs compare only beside those of a system that both ran"
        yield problem(("limits", "latency"), what, f"Add reference, one of: {', '.join(systems)}.")
    if limits.latency is not None and "Seconds" not in listed:
        what = "Seconds is not among the study's measures, so that no baseline keeps times"
        yield problem(("limits", "latency"), what, "Add Seconds to measures.")
    if (reference := limits.reference) is None:
        return
    if reference not in systems:
        what = f"there is no system {reference!r}"
        yield problem(("limits", "reference"), what, did_you_mean(reference, systems))
    elif limits.latency is None:
        yield problem(("limits", "reference"), "there is no latency to limit beside it", "Add latency: 1.2.")
    elif study.imported(Arm(reference)):
        what = f"the seconds of {reference} were taken elsewhere, not in a run of this study"
        yield problem(("limits", "reference"), what, "Name a system that this study runs.")
