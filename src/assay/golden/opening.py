"""A study opened for the sake of its golden set: systems, judges and gates may still be missing."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from assay.datasets.golden_json import Golden
from assay.errors import DataError, UsageError
from assay.plugins import DATASETS
from assay.study import Study, examine_study


class GoldenStudy(NamedTuple):
    """A study, and the golden set that its data names."""

    study: Study
    golden: Golden

    @property
    def lock(self) -> Path:
        """Beside the study: golden.lock.json, or NAME.golden.lock.json for one not called study.yaml."""
        return self.study.folder / f"{self.study.run_folder.name.removesuffix('run')}golden.lock.json"


def open_golden(path: Path) -> GoldenStudy:
    """The golden set of a study; of the study's problems, only those of its data count."""
    study, problems = examine_study(path)
    if of_data := [problem for problem in problems if problem.field.partition(".")[0] == "data"]:
        raise DataError(of_data)
    factors = {name: values[0] for name, values in study.file.factors.items() if values}
    spec = study.with_factors(DATASETS, study.data_spec, factors)
    golden = study.registry.create(DATASETS, spec)
    if not isinstance(golden, Golden):
        what = f"The data of {study.name!r} is {spec.name!r}, which has no golden sets in JSON."
        raise UsageError(f"{what} Write data: {{use: golden, sets: golden-set-*.json, corpus: corpus}}.")
    return GoldenStudy(study, golden)
