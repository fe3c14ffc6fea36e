"""A benchmark of models as a folder of files: a report to read, JSON and Parquet for dashboards."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from assay.core.dataset import digest
from assay.core.results import Results
from assay.kinds.models.report.benchmark.figures import Figures
from assay.kinds.models.report.benchmark.final_report import final_report
from assay.kinds.models.report.benchmark.groups import CATEGORY, DIFFICULTY, aggregate_table, group_table
from assay.kinds.models.report.benchmark.head_to_head import comparison_json, decision_table, query_table
from assay.kinds.models.report.benchmark.one_model import model_json, model_table
from assay.kinds.models.report.benchmark.people import details_table, review_json
from assay.kinds.models.report.benchmark.totals import combined_json

LONGEST_NAME = 80
UNDATED = "undated"


@dataclass(frozen=True)
class Benchmark:
    """The files of a model benchmark, by path relative to where they are written.

    Each model's own files lie there twice: under the time of the run, and under a name that stays the same.
    """

    def files(self, results: Results) -> dict[str, bytes]:
        """The path and content of every file."""
        figures = Figures(results)
        time = UNDATED if figures.time is None else figures.time.strftime("%Y%m%d_%H%M%S")
        found = {"final_benchmark_report.md": final_report(figures)}
        for model, name in file_names(figures.models).items():
            for suffix, content in (
                ("json", model_json(figures, model)),
                ("parquet", model_table(figures, model)),
            ):
                found[f"results/benchmark_{name}_{time}.{suffix}"] = content
                found[f"results/{name}_results.{suffix}"] = content
            if results.review is not None:
                found[f"results/human_review_{name}.json"] = review_json(figures, results.review, model)
        found |= {
            "results/comparison_report.json": comparison_json(figures),
            "results/combined_metrics.json": combined_json(figures),
            "results/query_comparison.parquet": query_table(figures),
            "results/aggregate_metrics.parquet": aggregate_table(figures),
            "results/category_metrics.parquet": group_table(figures, CATEGORY),
            "results/difficulty_metrics.parquet": group_table(figures, DIFFICULTY),
            "results/benchmark_decision.parquet": decision_table(figures),
        }
        if results.review is not None:
            found["results/human_review_details.parquet"] = details_table(figures, results.review)
        return found


def file_names(models: Sequence[str]) -> dict[str, str]:
    """What stands for each model in a file's name: safe on any disk, and no two alike."""
    plain = {model: re.sub(r"[^A-Za-z0-9_.=,-]+", "_", model)[:LONGEST_NAME] for model in models}
    # Some disks do not tell capitals from small letters.
    often = Counter(name.casefold() for name in plain.values())
    return {
        model: name if often[name.casefold()] == 1 else f"{name}.{digest([model.encode()])[:8]}"
        for model, name in plain.items()
    }
