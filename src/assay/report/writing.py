"""Reports on disk, in the run folder of a study or where somebody wants them."""

from __future__ import annotations

import dataclasses
from functools import partial
from pathlib import Path

from assay.core.errors import PluginError
from assay.core.protocols import FolderRenderer
from assay.core.registry import RENDERERS, as_plugin_error
from assay.core.results import Results
from assay.store.disk import write_atomic
from assay.study.study import Study


def write_reports(results: Results, study: Study) -> tuple[Results, list[str]]:
    """Writes the HTML page and what else the study asks for.

    Returns the results, which then name the page, and why a report could not be written: that costs neither
    the others nor the verdict.
    """
    named = dataclasses.replace(results, report=str(study.run_folder / "report.html"))
    broken = []
    for format_ in dict.fromkeys(["html", *study.file.reports]):
        try:
            write_report(named, study, format_)
        except PluginError as error:
            broken.append(f"{error}. This report is not written.")
    return named, broken


def write_report(results: Results, study: Study, format_: str, out: Path | None = None) -> Path:
    """Writes one format: a file, or a folder of files, in the run folder or where `out` says."""
    renderer = study.registry.create(RENDERERS, format_)
    with as_plugin_error(f"the report {format_} broke"):
        if isinstance(renderer, FolderRenderer):
            place = out or study.run_folder / format_
            content = {place / name: data for name, data in renderer.files(results).items()}
        else:
            place = out or study.run_folder / f"report{renderer.suffix}"
            content = {place: renderer.render(results)}
    for path, data in content.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, partial(Path.write_bytes, data=data))
    return place
