"""assay gate: the verdict from what is stored."""

from __future__ import annotations

from assay.cli.options import AcceptChanges, Against, AsJson, RequireVerdict, StudyPath
from assay.cli.showing import finish, require_gates, show
from assay.core.errors import UsageError


def command(
    study: StudyPath,
    against: Against = None,
    accept_changes: AcceptChanges = False,
    require_verdict: RequireVerdict = False,
    as_json: AsJson = False,
) -> None:
    """Decide a study's gates from stored scores: no system is asked again.

    Exit code 12: gates, study or data were changed after the answers were stored, so the verdict shown does
    not count.
    """
    from assay.pipeline.evaluate import compare_results_with
    from assay.pipeline.evaluation import Evaluation
    from assay.study.study import open_study

    opened = open_study(study)
    if not opened.gates and against is None:
        raise UsageError(
            f"{opened.lines.where} declares no gates. Add `gates:`, or use: assay report {study}"
        )
    if require_verdict:
        require_gates(opened.decides or against is not None, opened.lines.where)
    results = compare_results_with(Evaluation(opened, detailed=False), against)
    show(results, as_json=as_json, gates_only=True)
    finish(results.verdict, results.outdated, accept=accept_changes)
