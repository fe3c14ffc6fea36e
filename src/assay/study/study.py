"""An open study: what is compared, on which data, by which measures, and which gates decide.

Opening a study makes its plugins, arms, measures and gates, and reports all problems together.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import msgspec

from assay.core.dataset import Dataset, digest
from assay.core.errors import DataError, PluginError, Problem, UsageError, did_you_mean
from assay.core.optional import (
    IMPORTED,
    DeclaringSystem,
    FileDeclaringSystem,
    FileReadingJudge,
    IdentifiedPlugin,
    SeededSystem,
    SystemWithOrigin,
)
from assay.core.protocols import Kit, Reference, WithholdingJudge
from assay.core.records import Arm, Budget, Factors
from assay.core.registry import CHUNKERS, DATASETS, JUDGES, SYSTEMS, Registry, identity
from assay.core.spec import Spec, WrongParameter, parse_spec
from assay.core.yaml_lines import Lines, read_yaml
from assay.datasets.folder import dataset_spec
from assay.study.parameters import (
    conceal_variables,
    fill_variables,
    parameter_names,
    set_parameter,
    top_parameter,
)
from assay.study.study_file import SpecForm, StudyFile, read_fields

if TYPE_CHECKING:
    from assay.core.parts import Chunker
    from assay.core.protocols import Judge, Measure, System
    from assay.gates.gate import Gate


_DATA = "data"  # the prefix of a factor that sets a parameter of the dataset
_CHUNK = "chunk"  # a field that may also be a factor
_NOT_CUT = ""  # the value of the factor `chunk` for the dataset before chunking


@dataclasses.dataclass(frozen=True)
class Study:
    """A study whose file was read and whose names all exist."""

    folder: Path
    file: StudyFile
    lines: Lines
    registry: Registry
    kit: Kit
    run_name: str = "run"  # a sweep has a run folder of its own
    deciding: tuple[str, ...] | None = None  # the gates to decide; None: all

    @property
    def name(self) -> str:
        return self.file.name or self.folder.resolve().name

    @property
    def run_folder(self) -> Path:
        """The folder `run` beside the file study.yaml, or `NAME.run` beside a study file NAME.yaml."""
        stem = Path(self.lines.where).stem
        return self.folder / (self.run_name if stem == "study" else f"{stem}.{self.run_name}")

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the file as written. It does not contain the values of secrets."""
        written = self.file.model_dump()
        if not written["figures"]:  # added later: a study without them keeps its earlier fingerprint
            del written["figures"]
        if written["run"]["order"] == "arm":
            del written["run"]["order"]
        return digest([msgspec.json.encode(written, order="sorted")])

    @property
    def system_names(self) -> list[str]:
        return list(self.file.systems)

    @property
    def figures(self) -> Mapping[str, str]:
        """The expressions that are reported with their intervals, by name."""
        return self.file.figures

    @property
    def seeds(self) -> list[int]:
        return self.file.seeds

    def seeds_of(self, arm: Arm) -> list[int]:
        """Returns the seeds of an arm.

        If its system declares that the seed changes nothing, only the first seed is used.
        """
        system = self.system(arm, secrets=False)
        return self.seeds if not isinstance(system, SeededSystem) or system.seeded else self.seeds[:1]

    @property
    def budgets(self) -> list[Budget]:
        return self.file.budgets

    @property
    def baseline(self) -> str:
        return self.file.baseline or next(iter(self.file.systems))

    def filled(self, given: Any) -> Any:
        """Replaces each `${NAME}` in a value by the environment variable of that name."""
        return fill_variables(given, self.kit)

    def concealed(self, text: str) -> str:
        """Puts `${NAME}` back for the values of variables in a text, such as an error message."""
        return conceal_variables(text, self.kit)

    @cached_property
    def data_spec(self) -> Spec:
        return dataset_spec(self.filled(self.file.data), self.kit)

    @cached_property
    def measures(self) -> list[Measure]:
        from assay.measures.parse import parse_measure

        return [parse_measure(text, self.registry) for text in self.file.measures]

    @cached_property
    def judges(self) -> list[Judge]:
        return [self.judge(given) for given in self.file.judges]

    def judge(self, given: SpecForm) -> Judge:
        """Makes a judge as it is written in the study, with the files of the study that it reads."""
        judge: Judge = self._made(JUDGES, given)
        return judge.within(self.kit) if isinstance(judge, FileReadingJudge) else judge

    @property
    def withholds(self) -> bool:
        """Whether some judge must not know yet which system is which. If so, nothing is shown by system."""
        return any(isinstance(judge, WithholdingJudge) and judge.withholds(self.kit) for judge in self.judges)

    @property
    def decides(self) -> bool:
        """Whether a gate decides. If no gate decides, there is no verdict."""
        return any(gate.rules.deciding for gate in self.gates)

    @cached_property
    def gates(self) -> list[Gate]:
        from assay.gates.gate import Gate

        named = self.file.gates if self.deciding is None else self.deciding
        return [Gate.from_file(name, self.file.gates[name]) for name in named]

    @cached_property
    def arms(self) -> list[Arm]:
        """Every system with every combination of its factors.

        These are the factors of the study that are parameters of the system or of its data.
        """
        of_data = self.data_factors(dict.fromkeys(self.file.factors, ""))
        arms = []
        for name in self.file.systems:
            fields = self._system_fields(name)
            concerned = [
                each for each in self.file.factors if each in of_data or top_parameter(each) in fields
            ]
            arms += [Arm(name, combo) for combo in _combinations(self.file.factors, concerned)]
        return arms

    def system(self, arm: Arm, *, secrets: bool = True) -> System:
        """Makes the system of an arm, with the arm's factors as parameters.

        Without `secrets`, the system can only be examined. It cannot be asked.
        """
        spec = self.with_factors(SYSTEMS, parse_spec(self.file.systems[arm.system]), arm.factors)
        system: System = self._made(SYSTEMS, spec, secrets=secrets)
        return system

    def _made(self, group: str, given: Any, *, secrets: bool = True) -> Any:
        """Makes a plugin with variables replaced by their values.

        Error messages do not contain these values.
        """
        try:
            return self.registry.create(group, given, partial(fill_variables, kit=self.kit, secrets=secrets))
        except WrongParameter as error:
            raise WrongParameter(self.concealed(str(error)), error.path) from None
        except (PluginError, UsageError) as error:
            raise type(error)(self.concealed(str(error))) from None

    def gives(self, arm: Arm) -> frozenset[str] | None:
        """Returns the parts that the responses of an arm's system can hold; None if they are not declared."""
        system = self.system(arm, secrets=False)
        if isinstance(system, FileDeclaringSystem):
            return system.gives_in(self.kit)
        return system.gives if isinstance(system, DeclaringSystem) else None

    def origin(self, arm: Arm) -> str | None:
        """Returns where an arm's answers come from; None if the class of its system does not declare it."""
        found = self.system_class(arm)
        return found.origin if isinstance(found, SystemWithOrigin) else None

    def is_imported(self, arm: Arm) -> bool:
        """Whether an arm's answers were made elsewhere and are read from files."""
        return self.origin(arm) == IMPORTED

    def system_class(self, arm: Arm) -> type:
        """Returns the class of an arm's system. It is known even if the system cannot be made."""
        return self.registry.load(SYSTEMS, parse_spec(self.file.systems[arm.system]).name)

    def system_identity(self, arm: Arm) -> str:
        """Returns a text of everything that decides an arm's answers except corpus, query and seed.

        It does not contain secrets.
        """
        if arm.name not in self._identities:
            system = self.system(arm)
            more = system.identity(self.kit) if isinstance(system, IdentifiedPlugin) else {}
            spec = parse_spec(self.file.systems[arm.system])
            provider = self.registry.provider(SYSTEMS, spec.name)
            own = identity(self.system(arm, secrets=False), provider)
            self._identities[arm.name] = own + msgspec.json.encode(more, order="sorted").decode()
        return self._identities[arm.name]

    @cached_property
    def _identities(self) -> dict[str, str]:
        return {}

    def dataset(self, arm: Arm) -> Dataset:
        """Returns the dataset of an arm."""
        return self._load(tuple(sorted(self.data_factors(arm.factors).items())))

    def data_factors(self, factors: Factors) -> Factors:
        """Returns the factors that are parameters of the dataset or of the chunking."""
        fields = self._data_fields | {_CHUNK}
        return {
            name: text for name, text in factors.items() if top_parameter(self._inside_data(name)) in fields
        }

    def systems_with_parameter(self, factor: str) -> list[str]:
        """Returns the systems with the parameter that a factor names, if the dataset has that parameter too.

        The factor could then set either parameter.
        """
        if top_parameter(factor) == _CHUNK or not self.data_factors({factor: ""}):
            return []
        return [name for name in self.file.systems if top_parameter(factor) in self._system_fields(name)]

    def _inside_data(self, factor: str) -> str:
        """Returns the name that a factor has in the dataset. A study may write it as `data.NAME`."""
        first, _, rest = factor.partition(".")
        return rest if first == _DATA and top_parameter(rest) in self._data_fields else factor

    @cached_property
    def _data_fields(self) -> set[str]:
        return set(parameter_names(self.registry.load(DATASETS, self.data_spec.name)))

    def _system_fields(self, name: str) -> set[str]:
        return set(parameter_names(self.system_class(Arm(name))))

    def chunker(self, factors: Factors) -> Chunker | None:
        """Makes the study's chunker, or the chunker that the factor `chunk` names; None if there is none."""
        chosen = factors.get(_CHUNK)
        given = self.file.chunk if chosen is None else self.file.chunkings.get(chosen, chosen)
        inside = {factor.partition(".")[2]: factor for factor in factors if factor.startswith(f"{_CHUNK}.")}
        if not given or (chosen is None and self.file.chunkings):
            if inside:
                name = ", ".join(inside.values())
                raise UsageError(f"{name}: there is no chunking to set it in. Add chunk: tokens, or another.")
            return None
        spec = parse_spec(given)
        for path, factor in inside.items():
            spec = set_parameter(self.registry, CHUNKERS, spec, path, factors[factor])
        chunker: Chunker = self._made(CHUNKERS, spec)
        return chunker

    def with_factors(self, group: str, spec: Spec, factors: Factors) -> Spec:
        """Returns the spec with its parameters set by the factors of the same names.

        A factor may also set a parameter of a part, as `fuse.k`.
        """
        if group == DATASETS:
            factors = {self._inside_data(name): text for name, text in self.data_factors(factors).items()}
        fields = parameter_names(self.registry.load(group, spec.name))
        for factor in sorted(factors, key=lambda each: each.count(".")):  # a part before its parameters
            if top_parameter(factor) in fields:
                spec = set_parameter(self.registry, group, spec, factor, factors[factor])
        return spec

    @cached_property
    def _loaded(self) -> dict[tuple[tuple[str, str], ...], Dataset]:
        return {}

    def _load(self, factors: tuple[tuple[str, str], ...]) -> Dataset:
        if factors not in self._loaded:
            self._loaded[factors] = self._read(dict(factors))
        return self._loaded[factors]

    def _read(self, factors: Factors) -> Dataset:
        """Loads the dataset with its factors. If the study has a chunking, the documents are cut again."""
        if (chunker := self.chunker(factors)) is not None:
            from assay.retrieval.chunk import rechunk

            others = {factor: value for factor, value in factors.items() if top_parameter(factor) != _CHUNK}
            as_it_came = tuple(sorted({**others, _CHUNK: _NOT_CUT}.items()))
            return rechunk(self._load(as_it_came), chunker, self.kit)
        spec = self.data_spec
        if self.file.split is not None and "split" in self._data_fields:  # the reader loads only that split
            spec = set_parameter(self.registry, DATASETS, spec, "split", self.file.split)
        spec = self.with_factors(DATASETS, spec, factors)
        dataset: Dataset = self.registry.create(DATASETS, spec).load(self.kit)
        splits = {item.split for item in dataset.items if item.split is not None}
        if self.file.split is not None:
            kept = [item for item in dataset.items if item.split == self.file.split]
            dataset = dataclasses.replace(dataset, items=kept)
        if not dataset.items:
            raise DataError(self._no_items(splits))
        if dataset.corpus.is_uncut and factors.get(_CHUNK) != _NOT_CUT:
            from assay.retrieval.chunk import WholeDocuments, rechunk

            return rechunk(dataset, WholeDocuments(), self.kit)
        return dataset

    def _no_items(self, splits: set[str]) -> Problem:
        if (wanted := self.file.split) is None:
            return self.lines.problem(["data"], "the dataset has no items", "Add some, or name another.")
        fix = did_you_mean(wanted, splits) or "No item names a split: remove the field."
        return self.lines.problem(["split"], f"no item has the split {wanted!r}", fix)


def open_study(path: str | Path, *, registry: Registry | None = None, kit: Kit | None = None) -> Study:
    """Opens a study. `path` is its folder or file. Raises one DataError with all problems."""
    study, problems = examine_study(path, registry=registry, kit=kit)
    if problems:
        raise DataError(problems)
    return study


def examine_study(
    path: str | Path, *, registry: Registry | None = None, kit: Kit | None = None
) -> tuple[Study, list[Problem]]:
    """Returns a study as far as its file can be read, and all problems in the order of their lines."""
    from assay.study.problems import study_problems
    from assay.study.study_file import include_gates, sort_problems, unreadable_fields

    file_path = _study_file(Path(path))
    content, lines = read_yaml(file_path)
    if not isinstance(content, dict):
        what = "a study is a mapping of fields, such as data, systems and measures"
        raise DataError(
            Problem(what, str(file_path), 1, fix="See docs/study-file.md, or start from: assay demo")
        )
    if "steps" in content and content.keys().isdisjoint(("data", "systems", "measures")):
        fix = "Name one of its studies; assay run, validate and status take a plan as a whole."
        raise DataError(Problem("this is a plan, not a study", str(file_path), 1, fix=fix))
    content, lines, problems = include_gates(content, lines)
    file, unread = read_fields(content, lines)
    problems += unread
    kit = dataclasses.replace(kit or Kit(), root=file_path.parent)
    study = Study(file_path.parent, file, lines, registry or Registry(), kit)
    problems += study_problems(study, unreadable_fields(problems, lines))
    return study, sort_problems(problems, lines)


def _study_file(given: Path) -> Path:
    if not given.exists():
        fix = "Give a folder that holds study.yaml, or the file."
        raise DataError(Problem("there is no such study", str(given), fix=fix))
    if given.is_dir() and not (given / "study.yaml").is_file():
        fix = "Begin one with `assay init KIND`."
        raise DataError(Problem("there is no study.yaml in this folder", str(given), fix=fix))
    return given / "study.yaml" if given.is_dir() else given


def _combinations(factors: Mapping[str, list[str]], names: list[str]) -> Iterator[Factors]:
    for values in itertools.product(*(factors[name] for name in names)):
        yield dict(zip(names, values, strict=True))


class Check(Protocol):
    """Finds problems and warnings of a study before it runs.

    A check applies to studies that use a plugin of its package, or that are of its kind.
    """

    def of(self, study: Study) -> tuple[list[Problem], list[str]]: ...


@runtime_checkable
class StudyReferringMeasure(Protocol):
    """A measure that refers to names that the data, judges or systems of a study must have."""

    def references(self, study: Study, datasets: Mapping[str, Dataset]) -> Iterable[Reference]: ...
