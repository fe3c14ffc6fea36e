"""What is worth knowing before a figure of a study is trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.measures.reach import cut_short_in, unreached_in
from assay.pipeline.trust import (
    checked_by_people,
    empty_arms,
    faults,
    few_items,
    lower_bounds,
    not_computed,
    timed_elsewhere,
    unused_marks,
)
from assay.pipeline.unmeasured import unseen
from assay.pipeline.validate import study_warnings

if TYPE_CHECKING:
    from assay.pipeline.evaluation import Evaluation


def warnings_of(evaluation: Evaluation) -> list[str]:
    """Every warning about an evaluation, gravest first."""
    study, blocks, measures = evaluation.study, evaluation.blocks, evaluation.measures
    chosen = [f"{name}={'|'.join(values)}" for name, values in evaluation.selection.where.items()]
    chosen += [f"system {name}" for name in evaluation.selection.systems]
    part = (
        [f"only a part of the study: {', '.join(chosen)} ({len(evaluation.items)} items)"] if chosen else []
    )
    return [
        *part,
        *evaluation.outdated,
        *few_items(evaluation.summary[0]),
        *faults(blocks, by_arm=not evaluation.sealed),
        *not_computed(evaluation.broken),
        *([] if evaluation.sealed else [*timed_elsewhere(study, blocks), *empty_arms(blocks)]),
        *evaluation.store.warnings(),
        *unseen(measures, blocks),
        *unreached_in(measures, blocks),
        *cut_short_in(measures, blocks),
        *lower_bounds(measures, evaluation.judging.bounded),
        *checked_by_people(evaluation.summary[0]),
        *(unused_marks(study, evaluation.sides, evaluation.judgments) if evaluation.pays else []),
        *evaluation.judging.warnings,
        *(evaluation.reviewing.warnings if evaluation.wants_review else []),
        *study_warnings(study, evaluation.datasets, measures, sealed=evaluation.sealed),
    ]
