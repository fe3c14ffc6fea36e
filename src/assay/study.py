"""The study file: what is compared, on what, by which measures, and what decides.

`StudyFile` is the file as written, checked field by field. `Study` is that file opened: plugins made, arms
laid out, measures and gates parsed. Opening collects every problem before it complains.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import msgspec
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from assay.datasets.dataset import Dataset, digest
from assay.datasets.detect import dataset_spec
from assay.environment import conceal, fill
from assay.errors import DataError, PluginError, Problem, did_you_mean
from assay.plugins import CHUNKERS, DATASETS, JUDGES, SYSTEMS, Registry, identity
from assay.protocols import Kit
from assay.records import Arm, Budget, Factors
from assay.spec import Spec, parse_spec
from assay.yaml_lines import Lines, Loc, read_yaml

if TYPE_CHECKING:
    from assay.gates.verdict import Gate
    from assay.protocols import Judge, Measure, System
    from assay.retrieval.parts import Chunker

T = TypeVar("T")
MOST_SEEDS = 10_000
_CHUNK = "chunk"  # the field that may also be a factor


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


Word = Annotated[str, BeforeValidator(_word)]
Words = Annotated[list[Word], BeforeValidator(_listed)]
SpecForm = Annotated[str | dict[str, Any], BeforeValidator(_spec_form)]
Seeds = Annotated[
    list[Annotated[int, Field(ge=0)]],
    Field(min_length=1),
    BeforeValidator(_seeds),
    AfterValidator(_distinct),
]
Tokens = Annotated[Annotated[int, Field(gt=0)] | None, BeforeValidator(_budget)]
Budgets = Annotated[list[Tokens], BeforeValidator(_listed), AfterValidator(_distinct)]


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

    kind: Word = ""
    name: Word | None = None
    data: SpecForm
    split: Word | None = None
    chunk: SpecForm | None = None
    factors: dict[str, Words] = {}
    seeds: Seeds = [0]
    budgets: Budgets = []
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
        """Beside the study file: `run`, or `NAME.run` for a file that is not called study.yaml."""
        stem = Path(self.lines.where).stem
        return self.folder / ("run" if stem == "study" else f"{stem}.run")

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the file as written, secrets not filled in."""
        return digest([msgspec.json.encode(self.file.model_dump(), order="sorted")])

    @property
    def seeds(self) -> list[int]:
        return self.file.seeds

    @property
    def budgets(self) -> list[Budget]:
        return self.file.budgets

    @property
    def baseline(self) -> str:
        return self.file.baseline or next(iter(self.file.systems))

    def filled(self, given: Any) -> Any:
        """`${NAME}` replaced by the environment variable of that name, everywhere inside."""
        return fill(given, self.kit)

    def concealed(self, text: str) -> str:
        """A text, such as an error message, with `${NAME}` put back for what it was filled with."""
        return conceal(text, self.kit)

    @cached_property
    def data_spec(self) -> Spec:
        return dataset_spec(self.filled(self.file.data), self.kit)

    @cached_property
    def measures(self) -> list[Measure]:
        from assay.measures.parse import parse_measure

        return [parse_measure(text, self.registry) for text in self.file.measures]

    @cached_property
    def judges(self) -> list[Judge]:
        return [self.registry.create(JUDGES, self.filled(parse_spec(given))) for given in self.file.judges]

    @cached_property
    def gates(self) -> list[Gate]:
        from assay.gates.verdict import Gate

        return [Gate.from_file(name, gate) for name, gate in self.file.gates.items()]

    @cached_property
    def arms(self) -> list[Arm]:
        """Every system with every combination of the factors that concern it."""
        data_fields = _fields(self.registry.load(DATASETS, self.data_spec.name)) | {_CHUNK}
        arms = []
        for name, given in self.file.systems.items():
            spec = parse_spec(given)
            concerned = data_fields | _fields(self.registry.load(SYSTEMS, spec.name))
            arms += [Arm(name, combo) for combo in _combinations(self.file.factors, concerned)]
        return arms

    def system(self, arm: Arm) -> System:
        """The system of an arm, its factors filled in where it has such a parameter."""
        return self._system(arm, secrets=True)

    def _system(self, arm: Arm, *, secrets: bool) -> System:
        # parsed first, so that no character of a secret is read as a part of the spec
        spec = fill(parse_spec(self.file.systems[arm.system]), self.kit, secrets=secrets)
        try:
            system: System = self.registry.create(SYSTEMS, self.with_factors(SYSTEMS, spec, arm.factors))
        except PluginError as error:
            raise PluginError(self.concealed(str(error))) from None
        return system

    def gives(self, arm: Arm) -> frozenset[str] | None:
        """What the responses of an arm's system can hold, where its class says so."""
        spec = parse_spec(self.file.systems[arm.system])
        given: frozenset[str] | None = getattr(self.registry.load(SYSTEMS, spec.name), "gives", None)
        return given

    def system_identity(self, arm: Arm) -> str:
        """What decides an arm's answers besides corpus, query and seed, worked out once; no secret does."""
        if arm.name not in self._identities:
            declared = getattr(self.system(arm), "identity", None)
            more = declared(self.kit) if declared is not None else {}
            spec = parse_spec(self.file.systems[arm.system])
            provider = self.registry.provider(SYSTEMS, spec.name)
            own = identity(self._system(arm, secrets=False), provider)
            self._identities[arm.name] = own + msgspec.json.encode(more, order="sorted").decode()
        return self._identities[arm.name]

    @cached_property
    def _identities(self) -> dict[str, str]:
        return {}

    def dataset(self, arm: Arm) -> Dataset:
        """The dataset an arm runs on."""
        taken = dict(self.with_factors(DATASETS, Spec(self.data_spec.name), arm.factors).params)
        if _CHUNK in arm.factors:
            taken[_CHUNK] = arm.factors[_CHUNK]
        return self._load(tuple(sorted(taken.items())))

    def chunker(self, factors: Factors) -> Chunker | None:
        """What cuts the documents anew: the study's chunking, or the one that the factor `chunk` picks."""
        given, chosen = self.file.chunk, factors.get(_CHUNK)
        if isinstance(given, dict) and "use" not in given:  # chunkings by name
            given = given.get(chosen or "", chosen)
        elif chosen is not None:
            given = chosen
        if given is None:
            return None
        chunker: Chunker = self.registry.create(CHUNKERS, self.filled(parse_spec(given)))
        return chunker

    def with_factors(self, group: str, spec: Spec, factors: Factors) -> Spec:
        """The spec with every factor that is a parameter of its plugin."""
        fields = _fields(self.registry.load(group, spec.name))
        return Spec(spec.name, {**spec.params, **{key: factors[key] for key in factors if key in fields}})

    @cached_property
    def _loaded(self) -> dict[tuple[tuple[str, str], ...], Dataset]:
        return {}

    def _load(self, factors: tuple[tuple[str, str], ...]) -> Dataset:
        if factors not in self._loaded:
            # a dataset that is stored by split is read by split
            chosen = {"split": self.file.split} if self.file.split is not None else {}
            spec = self.with_factors(DATASETS, self.data_spec, {**chosen, **dict(factors)})
            dataset: Dataset = self.registry.create(DATASETS, spec).load(self.kit)
            splits = {item.split for item in dataset.items if item.split is not None}
            if self.file.split is not None:
                kept = [item for item in dataset.items if item.split == self.file.split]
                dataset = dataclasses.replace(dataset, items=kept)
            if (chunker := self.chunker(dict(factors))) is not None:
                from assay.retrieval.rechunk import rechunked

                dataset = rechunked(dataset, chunker, self.kit)
            if not dataset.items:
                raise DataError(self._no_items(splits))
            self._loaded[factors] = dataset
        return self._loaded[factors]

    def _no_items(self, splits: set[str]) -> Problem:
        if (wanted := self.file.split) is None:
            return self.lines.problem(["data"], "the dataset has no items", "Add some, or name another.")
        fix = did_you_mean(wanted, splits) or "No item names a split: remove the field."
        return self.lines.problem(["split"], f"no item has the split {wanted!r}", fix)


def open_study(path: str | Path, *, registry: Registry | None = None, kit: Kit | None = None) -> Study:
    """Opens a study folder or file; every problem found is in the one DataError."""
    study, problems = examine_study(path, registry=registry, kit=kit)
    if problems:
        raise DataError(problems)
    return study


def examine_study(
    path: str | Path, *, registry: Registry | None = None, kit: Kit | None = None
) -> tuple[Study, list[Problem]]:
    """A study as far as its file can be read, and every problem of that file in the order of its lines."""
    from assay.study_problems import study_problems

    file_path = _study_file(Path(path))
    content, lines = read_yaml(file_path)
    if not isinstance(content, dict):
        what = "a study is a mapping of fields, such as data, systems and measures"
        raise DataError(
            Problem(what, str(file_path), 1, fix="See docs/study-file.md, or start from: assay demo")
        )
    file, problems = _read_fields(content, lines)
    kit = dataclasses.replace(kit or Kit(), root=file_path.parent)
    study = Study(file_path.parent, file, lines, registry or Registry(), kit)
    problems += study_problems(study, {problem.field.partition(".")[0] for problem in problems})
    return study, sorted(problems, key=lambda problem: problem.line or 0)


def _study_file(given: Path) -> Path:
    if not given.exists():
        fix = "Give a folder that holds study.yaml, or the file."
        raise DataError(Problem("there is no such study", str(given), fix=fix))
    if given.is_dir() and not (given / "study.yaml").is_file():
        fix = "Write one; `assay demo` shows how it looks."
        raise DataError(Problem("there is no study.yaml in this folder", str(given), fix=fix))
    return given / "study.yaml" if given.is_dir() else given


def _read_fields(content: dict[str, Any], lines: Lines) -> tuple[StudyFile, list[Problem]]:
    """The file, with placeholders for what does not read, so that the rest can still be checked."""
    from assay.study_problems import field_problem

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
    nested: dict[str, type[BaseModel]] = {"run": RunSettings, "compare": CompareSettings, "gates": GateFile}
    model = nested[str(loc[0])] if len(loc) > 1 else StudyFile
    return list(model.model_fields)


def _fields(cls: type) -> set[str]:
    return {field.name for field in dataclasses.fields(cls)} if dataclasses.is_dataclass(cls) else set()


def _combinations(factors: Mapping[str, list[str]], concerned: set[str]) -> Iterator[Factors]:
    names = [name for name in factors if name in concerned]
    for values in itertools.product(*(factors[name] for name in names)):
        yield dict(zip(names, values, strict=True))
