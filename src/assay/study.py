"""The study file: what is compared, on what, by which measures, and what decides.

`StudyFile` is the file as written, checked field by field. `Study` is that file opened: plugins made, arms
laid out, measures and gates parsed. Opening collects every problem before it complains.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from assay.datasets.dataset import Dataset, digest
from assay.datasets.detect import dataset_spec
from assay.errors import AssayError, DataError, Problem, did_you_mean
from assay.plugins import DATASETS, JUDGES, SYSTEMS, Registry, identity
from assay.protocols import Kit
from assay.records import Arm, Budget, Factors
from assay.spec import Spec, parse_spec
from assay.yaml_lines import Lines, read_yaml

if TYPE_CHECKING:
    from assay.gates.verdict import Gate
    from assay.protocols import Judge, Measure, System


def _word(value: Any) -> Any:
    return (
        str(value).lower()
        if isinstance(value, bool)
        else str(value)
        if isinstance(value, int | float)
        else value
    )


def _listed(value: Any) -> Any:
    return value if isinstance(value, list | Mapping) or value is None else [value]


def _budget(value: Any) -> Any:
    return None if value in ("inf", None) or value == float("inf") else value


Word = Annotated[str, BeforeValidator(_word)]
Words = Annotated[list[Word], BeforeValidator(_listed)]
SpecForm = str | dict[str, Any]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RunSettings(_Strict):
    """How systems are asked. None of it is part of a response's identity."""

    threads: int | None = Field(
        None, ge=1, le=256, description="items in flight; default: what the system says"
    )
    timeout: float | None = Field(None, gt=0, description="seconds for one attempt at one item")
    retries: int = Field(2, ge=0, le=20, description="further attempts after a failure that may pass")
    backoff: float = Field(0.5, ge=0, description="seconds before the first retry; doubles, with jitter")
    max_cost: float | None = Field(None, ge=0, description="stop asking once this much was spent")


class CompareSettings(_Strict):
    """Which systems are compared, and how chance findings are kept in check."""

    against: Literal["baseline", "all"] = "baseline"
    correction: Literal["holm", "benjamini-hochberg", "none"] = "holm"
    resamples: int = Field(10_000, ge=100, le=1_000_000)
    level: float = Field(0.95, gt=0.5, lt=1)


class GateFile(_Strict):
    """One gate: clauses that must hold first, clauses for go, clauses that kill."""

    on: Literal["estimate", "interval"] | None = None
    first: Any = None
    go: Any = None
    kill: Any = None
    otherwise: Literal["inconclusive", "no-go"] | None = None
    min_items: int = Field(5, ge=1)
    failures: Literal["impute", "worst"] = "impute"


class StudyFile(_Strict):
    """`study.yaml`, as written."""

    kind: Word = "search"
    name: str | None = None
    data: SpecForm
    split: Word | None = None
    factors: dict[str, Words] = {}
    seeds: int | list[int] = 1
    budgets: Annotated[list[Annotated[int | None, BeforeValidator(_budget)]], BeforeValidator(_listed)] = []
    systems: dict[str, SpecForm] = Field(min_length=1)
    baseline: str | None = None
    judges: Annotated[list[SpecForm], BeforeValidator(_listed)] = ["ids"]
    measures: Annotated[list[str], BeforeValidator(_listed)] = Field(min_length=1)
    by: Words = []
    cluster: Word | None = None
    compare: CompareSettings = CompareSettings()
    run: RunSettings = RunSettings()
    steps: Words = []
    gates: dict[str, GateFile] = {}


@dataclasses.dataclass(frozen=True)
class Study:
    """A study file opened: everything it names was found and makes sense."""

    folder: Path
    file: StudyFile
    lines: Lines
    registry: Registry
    kit: Kit

    @property
    def name(self) -> str:
        return self.file.name or self.folder.resolve().name

    @property
    def run_folder(self) -> Path:
        return self.folder / "run"

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the file as written, secrets not filled in."""
        return digest([msgspec.json.encode(self.file.model_dump(), order="sorted")])

    @cached_property
    def seeds(self) -> list[int]:
        given = self.file.seeds
        return list(range(given)) if isinstance(given, int) else given

    @property
    def budgets(self) -> list[Budget]:
        return self.file.budgets

    @property
    def baseline(self) -> str:
        return self.file.baseline or next(iter(self.file.systems))

    @cached_property
    def data_spec(self) -> Spec:
        return dataset_spec(_filled(self.file.data, self.kit.env), self.kit)

    @cached_property
    def measures(self) -> list[Measure]:
        from assay.measures.parse import parse_measure

        return [parse_measure(text, self.registry) for text in self.file.measures]

    @cached_property
    def judges(self) -> list[Judge]:
        return [self.registry.create(JUDGES, _filled(given, self.kit.env)) for given in self.file.judges]

    @cached_property
    def gates(self) -> list[Gate]:
        from assay.gates.verdict import Gate

        return [Gate.from_file(name, gate) for name, gate in self.file.gates.items()]

    @cached_property
    def arms(self) -> list[Arm]:
        """Every system with every combination of the factors that concern it."""
        data_fields = _fields(self.registry.load(DATASETS, self.data_spec.name))
        arms = []
        for name, given in self.file.systems.items():
            spec = parse_spec(given)
            concerned = data_fields | _fields(self.registry.load(SYSTEMS, spec.name))
            arms += [Arm(name, combo) for combo in _combinations(self.file.factors, concerned)]
        return arms

    def system(self, arm: Arm) -> System:
        """The system of an arm, its factors filled in where it has such a parameter."""
        spec = parse_spec(_filled(self.file.systems[arm.system], self.kit.env))
        cls = self.registry.load(SYSTEMS, spec.name)
        taken = {key: value for key, value in arm.factors.items() if key in _fields(cls)}
        system: System = self.registry.create(SYSTEMS, Spec(spec.name, {**spec.params, **taken}))
        return system

    def system_identity(self, arm: Arm) -> str:
        """What decides an arm's answers besides corpus, query and seed."""
        system = self.system(arm)
        spec = parse_spec(self.file.systems[arm.system])
        declared = getattr(system, "identity", None)
        more = declared(self.kit) if declared is not None else {}
        own = identity(system, self.registry.provider(SYSTEMS, spec.name))
        return own + msgspec.json.encode(more, order="sorted").decode()

    def dataset(self, arm: Arm) -> Dataset:
        """The dataset an arm runs on."""
        fields = _fields(self.registry.load(DATASETS, self.data_spec.name))
        taken = {key: value for key, value in arm.factors.items() if key in fields}
        return self._load(tuple(sorted(taken.items())))

    @cached_property
    def _loaded(self) -> dict[tuple[tuple[str, str], ...], Dataset]:
        return {}

    def _load(self, factors: tuple[tuple[str, str], ...]) -> Dataset:
        if factors not in self._loaded:
            spec = Spec(self.data_spec.name, {**self.data_spec.params, **dict(factors)})
            dataset: Dataset = self.registry.create(DATASETS, spec).load(self.kit)
            if self.file.split is not None:
                kept = [item for item in dataset.items if item.split == self.file.split]
                dataset = dataclasses.replace(dataset, items=kept)
            if not dataset.items:
                split = f" with split={self.file.split}" if self.file.split else ""
                raise DataError(self.lines.problem(["data"], f"the dataset has no items{split}"))
            self._loaded[factors] = dataset
        return self._loaded[factors]


def open_study(path: str | Path, *, registry: Registry | None = None, kit: Kit | None = None) -> Study:
    """Opens a study folder or file; every problem found is in the one DataError."""
    given = Path(path)
    file_path = given / "study.yaml" if given.is_dir() else given
    content, lines = read_yaml(file_path)
    if not isinstance(content, dict):
        raise DataError(
            Problem("a study is a mapping of fields", str(file_path), 1, fix="See docs/study-file.md.")
        )
    try:
        file = StudyFile.model_validate(content)
    except ValidationError as error:
        raise DataError([_field_problem(each, lines) for each in error.errors()]) from None
    folder = file_path.parent
    kit = dataclasses.replace(kit or Kit(), root=folder)
    study = Study(folder, file, lines, registry or Registry(), kit)
    if problems := list(_cross_check(study)):
        raise DataError(problems)
    return study


def _cross_check(study: Study) -> Iterator[Problem]:
    """What no single field can show: unknown plugins, measures, factors, names in gates."""
    file = study.file
    yield from _attempt(study, ["data"], lambda: study.registry.create(DATASETS, study.data_spec))
    for name, given in file.systems.items():
        yield from _attempt(study, ["systems", name], lambda given=given: _made(study, given))
    for index, text in enumerate(file.measures):
        yield from _attempt(study, ["measures", index], lambda text=text: _parsed(study, text))
    for index, judge in enumerate(file.judges):
        yield from _attempt(
            study, ["judges", index], lambda judge=judge: study.registry.create(JUDGES, judge)
        )
    if file.baseline is not None and file.baseline not in file.systems:
        fix = did_you_mean(file.baseline, file.systems)
        yield study.lines.problem(["baseline"], f"there is no system {file.baseline!r}", fix)
    for step in file.steps:
        if step not in file.gates:
            yield study.lines.problem(["steps"], f"there is no gate {step!r}", did_you_mean(step, file.gates))
    for name, gate in file.gates.items():
        yield from _gate_problems(study, name, gate)
    for factor in file.factors:
        yield from _attempt(study, ["factors", factor], lambda factor=factor: _factor_used(study, factor))


def _gate_problems(study: Study, name: str, gate: GateFile) -> Iterator[Problem]:
    from assay.gates.verdict import Gate, names_unknown_to

    try:
        parsed = Gate.from_file(name, gate)
    except AssayError as error:
        yield study.lines.problem(["gates", name], str(error))
        return
    for clause in parsed.clauses():
        yield from (study.lines.problem(["gates", name], what) for what in names_unknown_to(clause, study))


def _attempt(study: Study, loc: list[str | int], act: Any) -> Iterator[Problem]:
    try:
        act()
    except DataError as error:
        yield from error.problems
    except AssayError as error:
        yield study.lines.problem(loc, str(error))


def _made(study: Study, given: SpecForm) -> Any:
    return study.registry.create(SYSTEMS, _filled(given, study.kit.env))


def _parsed(study: Study, text: str) -> Any:
    from assay.measures.parse import parse_measure

    return parse_measure(text, study.registry)


def _factor_used(study: Study, factor: str) -> None:
    if not any(factor in arm.factors for arm in study.arms):
        raise DataError(
            study.lines.problem(
                ["factors", factor],
                "neither the dataset nor any system has such a parameter",
                "A factor sets a parameter of that name.",
            )
        )


def _field_problem(error: Any, lines: Lines) -> Problem:
    loc = tuple(part for part in error["loc"] if part not in {"str", "dict[str,any]", "int", "list[int]"})
    what = error["msg"][0].lower() + error["msg"][1:]
    if error["type"] == "extra_forbidden":
        known = GateFile.model_fields if loc[:1] == ("gates",) else StudyFile.model_fields
        return lines.problem(loc, "there is no such field", did_you_mean(str(loc[-1]), known))
    if error["type"] == "missing":
        return lines.problem(loc, "this field is required")
    return lines.problem(loc, what)


def _fields(cls: type) -> set[str]:
    return {field.name for field in dataclasses.fields(cls)} if dataclasses.is_dataclass(cls) else set()


def _combinations(factors: Mapping[str, list[str]], concerned: set[str]) -> Iterator[Factors]:
    names = [name for name in factors if name in concerned]
    for values in itertools.product(*(factors[name] for name in names)):
        yield dict(zip(names, values, strict=True))


def _filled(given: Any, env: Mapping[str, str]) -> Any:
    """`${NAME}` replaced by the environment variable of that name, everywhere inside."""
    if isinstance(given, str):
        return re.sub(r"\$\{(\w+)\}", lambda match: Kit(env=env).secret(match[1]), given)
    if isinstance(given, Mapping):
        return {key: _filled(value, env) for key, value in given.items()}
    return [_filled(value, env) for value in given] if isinstance(given, list) else given
