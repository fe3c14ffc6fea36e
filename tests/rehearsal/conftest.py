"""One toy study of each kind, through the one core: from a study file to a verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
import pytest

from assay.core.records import Item, Passage
from assay.core.registry import Registry
from assay.pipeline.evaluate import judge_study
from assay.pipeline.evaluation import Evaluation
from assay.pipeline.runner import run_study
from assay.study.study import Study, open_study

Plugins = Mapping[str, Mapping[str, type]]


@pytest.fixture
def study_at(tmp_path: Path) -> Callable[..., Study]:
    """Writes a study folder and opens it, with the toy plugins of one rehearsal."""

    def write(text: str, items: list[Item], passages: list[Passage], plugins: Plugins | None = None) -> Study:
        for name, records in (("items", items), ("passages", passages)):
            lines = b"\n".join(msgspec.json.encode(record) for record in records)
            (tmp_path / f"{name}.jsonl").write_bytes(lines + b"\n")
        (tmp_path / "study.yaml").write_text(text)
        return open_study(tmp_path, registry=Registry(plugins))

    return write


@pytest.fixture
def evaluated() -> Callable[[Study], Evaluation]:
    """Runs a study and returns everything that follows from it."""

    def run(study: Study) -> Evaluation:
        run_study(study)
        judge_study(study)
        return Evaluation(open_study(study.folder, registry=study.registry))

    return run
