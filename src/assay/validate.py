"""The validate stage: a study, its data and its gates, checked without asking any system."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from assay.datasets.dataset import Dataset
from assay.errors import AssayError, DataError, Problem
from assay.gates.verdict import measures_of
from assay.pipeline import warnings_of
from assay.plugins import Registry
from assay.slices import Condition
from assay.stats.rows import Rows
from assay.study import Study, open_study


@dataclass(frozen=True)
class Validation:
    """What a study consists of, and what is worth a second look."""

    study: str
    items: int
    passages: int
    arms: list[str]
    measures: list[str]
    gates: list[str]
    warnings: list[str]

    @property
    def summary(self) -> str:
        counts = f"{self.items} items, {self.passages} passages, {len(self.arms)} arms"
        return f"{self.study}: ok, {counts}, {len(self.measures)} measures, {len(self.gates)} gates"

    def as_json(self) -> dict[str, Any]:
        return {"schema": "assay/validation/1", **asdict(self)}


def validate_study(path: str | Path, registry: Registry | None = None) -> Validation:
    """Opens the study and its data; every problem found is in the one DataError."""
    study = open_study(path, registry=registry)
    datasets: dict[str, Dataset] = {}
    problems: list[Problem] = []
    for arm in study.arms:
        try:
            datasets[arm.name] = study.dataset(arm)
            study.system_identity(arm)
        except DataError as error:
            problems += [each for each in error.problems if each not in problems]
        except AssayError as error:
            problems.append(study.lines.problem(["systems", arm.system], str(error)))
    problems += _empty_slices(study, datasets)
    if problems:
        raise DataError(problems)
    measures = {each.name: each for each in [*study.measures, *measures_of(study.gates, study)]}
    first = next(iter(datasets.values()))
    return Validation(
        study.name,
        len(first.items),
        len(first.corpus),
        list(datasets),
        list(measures),
        [gate.name for gate in study.gates],
        warnings_of(study, datasets, list(measures.values())),
    )


def _empty_slices(study: Study, datasets: dict[str, Dataset]) -> list[Problem]:
    """Conditions in gates that no item can meet: a misspelt tag would leave its clause open for ever."""
    if not datasets:
        return []
    known: dict[str, set[str]] = {name: set(values) for name, values in study.file.factors.items()}
    for dataset in datasets.values():
        for item in dataset.items:
            for name in (*item.tags, "language", "split", "sequence"):
                known.setdefault(name, set()).update(Rows.values_of(item, name))
    return [
        study.lines.problem(["gates", gate.name], f"no item has {condition}, which {clause.text!r} asks for")
        for gate in study.gates
        for clause in gate.clauses()
        for condition in clause.where
        if not _possible(condition, known)
    ]


def _possible(condition: Condition, known: dict[str, set[str]]) -> bool:
    values = known.get(condition.name, set())
    return not condition.equal or "*" in condition.values or bool(values & set(condition.values))
