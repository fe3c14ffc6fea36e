"""assay gate: the verdict from what is stored."""

from __future__ import annotations

from assay.cli.options import Against, AsJson, StudyPath
from assay.cli.showing import evaluated, finish, show
from assay.errors import UsageError


def command(study: StudyPath, against: Against = None, as_json: AsJson = False) -> None:
    """Decide a study's gates from stored scores: no system is asked again."""
    from assay.operations.pipeline import Evaluation
    from assay.study import open_study

    opened = open_study(study)
    if not opened.gates and against is None:
        raise UsageError(
            f"{opened.lines.where} declares no gates. Add `gates:`, or use: assay report {study}"
        )
    results = evaluated(Evaluation(opened), against)
    show(results, as_json=as_json, gates_only=True)
    finish(results.verdict)
