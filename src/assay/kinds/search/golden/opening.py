"""A study opened for the sake of its golden set: systems, judges and gates may still be missing."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from assay.core.errors import DataError, UsageError
from assay.core.registry import DATASETS
from assay.kinds.search.datasets.golden_json import Golden
from assay.kinds.search.datasets.golden_lock import LOCK
from assay.study.study import Study, examine_study


class GoldenStudy(NamedTuple):
    """A study, and the golden set that its data names."""

    study: Study
    golden: Golden

    @property
    def lock(self) -> Path:
        """Beside the study: golden.lock.json, or NAME.golden.lock.json for one not called study.yaml."""
        return self.study.folder / f"{self.study.run_folder.name.removesuffix('run')}{LOCK}"


def open_golden(path: Path) -> GoldenStudy:
    """The golden set of a study; of the study's problems, only those of its data count."""
    study, problems = examine_study(path)
    if of_data := [problem for problem in problems if problem.field.partition(".")[0] == "data"]:
        raise DataError(of_data)
    golden = golden_of(study)
    if golden is None:
        what = f"The data of {study.name!r} is {study.data_spec.name!r}, which has no golden sets in JSON."
        raise UsageError(f"{what} Write data: {{use: golden, sets: golden-set-*.json, corpus: corpus}}.")
    return GoldenStudy(study, golden)


def golden_of(study: Study) -> Golden | None:
    """The golden set that a study's data names, with the first value of each factor; None: it names none."""
    factors = {name: values[0] for name, values in study.file.factors.items() if values}
    found = study.registry.create(DATASETS, study.with_factors(DATASETS, study.data_spec, factors))
    return found if isinstance(found, Golden) else None
