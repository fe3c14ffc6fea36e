"""What the desk is opened for: scoring, relevance review or a second opinion beside a model judge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from assay.core.errors import UsageError, did_you_mean
from assay.core.protocols import PayingJudge, PersonJudge
from assay.review.work import Work
from assay.study.study import Study

SCORING, RELEVANCE, VERDICTS = "scoring", "relevance", "verdicts"


def work_of(study: Study, what: str | None, raters: Sequence[str], leaks_accepted_by: str = "") -> Work:
    """The work that a study asks people for, or the one that is named."""
    offered = _offered(study)
    if what is None:
        if not offered:
            found = "no judge is a panel, no item carries the tag review=yes, and no model judges anything"
            raise UsageError(f"This study asks people for nothing: {found}.")
        what = offered[0]
    if what not in MAKERS:
        raise UsageError(f"The desk does not know {what!r}. {did_you_mean(what, MAKERS)}")
    if what not in offered:
        has = f"It has {' and '.join(offered)}." if offered else ""
        raise UsageError(f"This study has no {what} to review. {has}")
    if what == SCORING:
        from assay.kinds.answers.scoring_steps.work import refuse_unchecked

        refuse_unchecked(study, leaks_accepted_by)
    return MAKERS[what](study, raters)


def desk_state(study: Study) -> Path:
    """Where the desk keeps its secret and which links were used; nothing that anybody judged."""
    return study.folder / "desk"


def _offered(study: Study) -> list[str]:
    from assay.kinds.answers.panel import find_panel

    found = [SCORING] if find_panel(study) is not None else []
    if any("yes" in item.values("review") for arm in study.arms[:1] for item in study.dataset(arm).items):
        found.append(RELEVANCE)
    if any(isinstance(judge, PayingJudge) for judge in study.judges):
        found.append(VERDICTS)
    return found


def _named(study: Study, raters: Sequence[str]) -> list[str]:
    """Those given, or those whose marks the study counts by name."""
    people = [judge for judge in study.judges if isinstance(judge, PersonJudge)]
    listed = list(raters) or [name for judge in people for name in judge.raters]
    if not listed:
        raise UsageError("The study names no rater. Say who will judge: --rater NAME.")
    return listed


def _scoring(study: Study, raters: Sequence[str]) -> Work:
    from assay.kinds.answers.scoring_steps.work import scoring_work

    work = scoring_work(study)
    if strangers := [name for name in raters if name not in work.raters]:
        what = f"The panel does not list {' and '.join(strangers)}"
        raise UsageError(f"{what}. {did_you_mean(strangers[0], work.raters)}")
    return work


def _relevance(study: Study, raters: Sequence[str]) -> Work:
    from assay.desk.relevance_work import RelevanceWork

    return RelevanceWork(study, _named(study, raters))


def _verdicts(study: Study, raters: Sequence[str]) -> Work:
    from assay.desk.verdict_work import VerdictWork

    return VerdictWork(study, _named(study, raters))


MAKERS: dict[str, Callable[[Study, Sequence[str]], Work]] = {
    SCORING: _scoring,
    RELEVANCE: _relevance,
    VERDICTS: _verdicts,
}
