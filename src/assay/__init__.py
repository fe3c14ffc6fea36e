"""Assay decides, with evidence, whether a retrieval system is good enough.

    import assay

    results = assay.evaluate("studies/demo")          # run, judge, score, compare, gate
    print(results.verdict, results.estimates[0])

    assay.evaluate_runs(["a.run", "b.run"], "qrels.txt", ["nDCG@10"]).comparisons

Names are loaded when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.core.protocols import Kit
    from assay.core.registry import Registry
    from assay.core.results import Results
    from assay.measures.parse import parse_measure
    from assay.pipeline.evaluate import evaluate
    from assay.pipeline.evaluation import Evaluation
    from assay.pipeline.run_files import evaluate_runs
    from assay.pipeline.runner import Selection, run_study
    from assay.report.formats import write_report
    from assay.study.study import Study, open_study

__version__ = "0.1.0"

_HOME = {
    "Evaluation": "assay.pipeline.evaluation",
    "Kit": "assay.core.protocols",
    "Registry": "assay.core.registry",
    "Results": "assay.core.results",
    "Selection": "assay.pipeline.runner",
    "Study": "assay.study.study",
    "evaluate": "assay.pipeline.evaluate",
    "evaluate_runs": "assay.pipeline.run_files",
    "open_study": "assay.study.study",
    "parse_measure": "assay.measures.parse",
    "run_study": "assay.pipeline.runner",
    "write_report": "assay.report.formats",
}

__all__ = [
    "Evaluation",
    "Kit",
    "Registry",
    "Results",
    "Selection",
    "Study",
    "__version__",
    "evaluate",
    "evaluate_runs",
    "open_study",
    "parse_measure",
    "run_study",
    "write_report",
]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'assay' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)
