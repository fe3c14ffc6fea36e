"""Imports finished results as stored runs. The results are checked, copied beside the study, and then run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from assay.core.errors import DataError, Problem
from assay.core.records import Arm
from assay.core.registry import JUDGES, SYSTEMS, Registry
from assay.core.spec import parse_spec
from assay.judges.direct import Human
from assay.pipeline.runner import ArmStatus, Selection, run_study, study_status
from assay.pipeline.work_orders import Progress
from assay.store.disk import write_atomic
from assay.store.run_store import Store
from assay.study.study import Study, open_study
from assay.systems.imported import Imported, ResultsFile, foreign_data_problems, read_results_file

FOLDER = "imported"  # beside the study file
REVIEWS = {".yaml", ".yml"}

Readers = Mapping[Path, Sequence[Arm]]  # the arms that read a file


@dataclass(frozen=True)
class ResultImport:
    """The runs that were stored, and the next command."""

    study: str
    stored: Sequence[ArmStatus]
    next_step: str

    @property
    def summary(self) -> str:
        said = [f"{each.arm}{_seed(each, self.stored)} ({_counts(each)})" for each in self.stored]
        return f"{self.study}: stored {', '.join(said)}; next: {self.next_step}"

    def as_json(self) -> dict[str, Any]:
        return {"schema": "assay/import/1", **asdict(self)}


def import_results(
    path: Path,
    files: Sequence[Path],
    *,
    replace: bool = False,
    registry: Registry | None = None,
    progress: Progress | None = None,
) -> ResultImport:
    """Stores the answers in files of finished results as runs of the systems that read these files.

    Everything is checked before anything is written, and the stored bytes are the checked ones. If other
    results of the same model are stored already, the new ones are refused unless `replace` is set.
    """
    study = open_study(path, registry=registry)
    given = [read_results_file(file) for file in files if file.suffix.lower() not in REVIEWS]
    readers = _readers(study)
    reviews = [_is_review(file, path) for file in files if file.suffix.lower() in REVIEWS]
    if problems := [*reviews, *_problems(study, given, readers, replace)]:
        raise DataError(problems)
    kept = {_kept(study, benchmark): benchmark for benchmark in given}
    store = Store(study.run_folder)
    with store.locked():  # a run that has started must not find other results
        for target, benchmark in kept.items():
            if not _holds(target, benchmark.data):
                write_atomic(target, partial(Path.write_bytes, data=benchmark.data))
    arms = [arm for target in kept for arm in readers[target.resolve()]]
    run_study(study, Selection(systems=[*{arm.system: None for arm in arms}]), progress=progress)
    names = {arm.name for arm in arms}
    stored = [row for row in study_status(study).arms if row.arm in names]
    return ResultImport(study.name, stored, _next(study, path))


def _readers(study: Study) -> Readers:
    """Returns every file of results that the study reads, with the arms that read it."""
    found: dict[Path, list[Arm]] = {}
    for arm in study.arms:
        name = parse_spec(study.file.systems[arm.system]).name
        if issubclass(study.registry.load(SYSTEMS, name), Imported):
            system = study.system(arm)
            if isinstance(system, Imported):
                found.setdefault(study.kit.path(system.path).resolve(), []).append(arm)
    return found


# ------------------------------------------------------------------------------------ checking


def _problems(
    study: Study, given: Sequence[ResultsFile], readers: Readers, replace: bool
) -> Iterator[Problem]:
    """Yields all reasons why a file cannot be stored."""
    targets: dict[Path, ResultsFile] = {}
    unread: dict[str, None] = {}
    for benchmark in given:
        yield from benchmark.problems
        if (name := _name(benchmark)) is None:
            if benchmark.data:
                fix = "Add the name of the model: the results are kept under it."
                yield Problem("expected a name", benchmark.where, field="model_name", fix=fix)
            continue
        target = _kept(study, benchmark)
        if (other := targets.setdefault(target, benchmark)) is not benchmark:
            what = f"{other.where} holds results of {name!r} too"
            fix = "Give one; let a system of its own read the other where it lies: imported(path=…)."
            yield Problem(what, benchmark.where, field="model_name", fix=fix)
        elif target.is_file() and not replace and not _holds(target, benchmark.data):
            what = f"other results are kept as {target} already"
            yield Problem(what, benchmark.where, fix="Add --replace to put these in their place.")
        arms = readers.get(target.resolve(), ())
        yield from dict.fromkeys(
            each for arm in arms for each in foreign_data_problems(benchmark, study.dataset(arm))
        )
        if not arms:
            unread[name] = None
    if unread:
        yield _undeclared(study, list(unread))


def _undeclared(study: Study, names: Sequence[str]) -> Problem:
    """Returns the problem that no system of the study reads some results, with the lines to add."""
    files = " and ".join(f"{FOLDER}/{name}.json" for name in names)
    lines = (
        f"  {name + '_imported' * (name in study.file.systems)}: imported(path={FOLDER}/{name}.json)"
        for name in names
    )
    fix = "Add under systems:\n" + "\n".join(lines)
    return study.lines.problem(["systems"], f"no system reads {files}", fix)


def _is_review(file: Path, study: Path) -> Problem:
    fix = f"Import it with: assay review import {study} {file}"
    return Problem("a YAML file holds a person's review, not results", str(file), fix=fix)


def _name(benchmark: ResultsFile) -> str | None:
    """Returns the name of the model as a file name: group/name becomes group_name."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "_", benchmark.model or "").strip("._-")
    return name or None


def _kept(study: Study, benchmark: ResultsFile) -> Path:
    return study.folder / FOLDER / f"{_name(benchmark)}.json"


def _holds(path: Path, data: bytes) -> bool:
    return path.is_file() and path.read_bytes() == data


# -------------------------------------------------------------------------------------- saying


def _next(study: Study, path: Path) -> str:
    """Returns the next command: the import of people's marks if people judge, else the report."""
    judges = (study.registry.load(JUDGES, parse_spec(given).name) for given in study.file.judges)
    if any(issubclass(judge, Human) for judge in judges):
        return f"assay review import {path} FORMS…"
    return f"assay report {path}"


def _seed(row: ArmStatus, rows: Sequence[ArmStatus]) -> str:
    return f" seed {row.seed}" if len({each.seed for each in rows}) > 1 else ""


def _counts(row: ArmStatus) -> str:
    absent = f", {row.failed} item{'s' * (row.failed != 1)} without a result" if row.failed else ""
    pending = f", {row.pending} not stored" if row.pending else ""
    return f"{row.answered} answer{'s' * (row.answered != 1)}{absent}{pending}"
