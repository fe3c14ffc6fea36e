"""What the desk is opened for: the review that a study asks people for, or the one that is named."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay.core.errors import UsageError, did_you_mean
from assay.core.protocols import PersonJudge
from assay.core.registry import REVIEWS
from assay.pipeline.plugins import named_plugins_for
from assay.pipeline.reviewing import reviews_for
from assay.review.work import DeskWork
from assay.study.study import Study


def work_of(study: Study, what: str | None, raters: Sequence[str], *, accepted_by: str = "") -> DeskWork:
    """The work that a study asks people for, or the one that is named."""
    offered, known = reviews_for(study), study.registry.names(REVIEWS)
    if what is None:
        if not offered:
            why = " and ".join(each.absent for each in named_plugins_for(study, REVIEWS).values())
            raise UsageError(f"This study asks people for nothing: {why}.")
        what = next(iter(offered))
    if what not in known:
        raise UsageError(f"The desk does not know {what!r}. {did_you_mean(what, known)}")
    if what not in offered:
        has = f"It has {' and '.join(offered)}." if offered else ""
        raise UsageError(f"This study has no {what} to review. {has}")
    return offered[what].work(study, raters, accepted_by)


def desk_state(study: Study) -> Path:
    """Where the desk keeps its secret and which links were used; nothing that anybody judged."""
    return study.folder / "desk"


def raters_of(study: Study, named: Sequence[str]) -> list[str]:
    """Those named, or those whose marks the study counts by name."""
    people = [judge for judge in study.judges if isinstance(judge, PersonJudge)]
    listed = list(named) or [name for judge in people for name in judge.raters]
    if not listed:
        raise UsageError("The study names no rater. Say who will judge: --rater NAME.")
    return listed
