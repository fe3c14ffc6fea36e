"""The steps of a blinded scoring once responses are blinded: the desk, suggestions, the seal opened once."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.core.errors import DataError, Problem, UsageError
from assay.core.spec import make_plugin, parse_spec
from assay.kinds.answers.blinding.acts import Act, append_act, record_unblinding
from assay.kinds.answers.panel import MODEL, panel_of
from assay.kinds.answers.results import ScoringResults
from assay.kinds.answers.scoring.marks import BookEntry
from assay.kinds.answers.scoring.opened import ScoringFolder, head_path
from assay.kinds.answers.scoring.suggestions import AccuracyJudge, SuggestionCounts, suggest_accuracy
from assay.kinds.answers.scoring_steps.collected import describe_outdated
from assay.kinds.answers.scoring_steps.summary import summarise_blinded, thresholds_of
from assay.kinds.answers.wording import difference_lines, disagreement, next_step
from assay.pipeline.runner import command_path
from assay.review.marks import MarkBook
from assay.study.study import Study

if TYPE_CHECKING:
    from assay.kinds.answers.desk.scoring_work import ScoringWork

MODEL_JUDGE = "llm"  # as studies name a model that judges


def scoring_folder(study: Study) -> ScoringFolder:
    """The files of a study's scoring."""
    return panel_of(study).scoring(study.kit)


def scoring_work(study: Study, book: MarkBook[BookEntry] | None = None) -> ScoringWork:
    """The scoring at the desk; refused once the seal was opened. `book` takes the marks, where given."""
    from assay.kinds.answers.desk.scoring_work import ScoringWork

    scoring = scoring_folder(study)
    if scoring.open:
        what = f"{scoring.folder} was unblinded, and whoever scores now could know the conditions"
        raise UsageError(f"{what}. See: assay report {command_path(study)}")
    _ = scoring.pack  # there has to be one
    if what := describe_outdated(
        study, scoring
    ):  # what could not be unblinded, or would not count, is not worth a mark
        raise DataError(Problem(what, str(scoring.folder)))
    return ScoringWork(scoring.folder, clock=study.kit.clock, book=book, thresholds=thresholds_of(study))


def refuse_unchecked(study: Study, accepted_by: str = "") -> None:
    """Nobody scores what nobody has checked, or what was found leaking, unless somebody accepts that."""
    scoring, place = scoring_folder(study), command_path(study)
    _ = scoring.pack  # there has to be one
    last = scoring.acts.checked
    if last is None:
        what = "Nobody has checked yet whether anything tells raters the condition"
        raise UsageError(f"{what}. Run: assay review check {place}")
    if last.act != "leaking":
        return
    if not accepted_by:
        again = f"Mend it, and check again: assay review check {place}"
        force = (
            f"To serve it as it is, which every report will say: assay review serve {place} --accept-leaks"
        )
        raise UsageError(f"The last check found leaks ({last.detail}). {again}. {force}")
    accepted = Act("accepted", accepted_by, study.kit.clock(), last.detail)
    append_act(scoring.folder, accepted, head_path(scoring.folder))


# --------------------------------------------------------------------------------------- unblind


@dataclass(frozen=True)
class UnblindingResult:
    """The seal was opened, now or before."""

    state: str
    by: str
    time: float
    left: Sequence[str]  # what was not complete, where it was forced
    before: bool  # it was open already

    def as_json(self) -> dict[str, Any]:
        return {**dataclasses.asdict(self), "left": list(self.left)}

    @property
    def in_words(self) -> str:
        if self.before:
            return f"it was opened before, by {self.by}: nothing changed"
        if self.left:
            return f"opened by force, which every report will say: {'; '.join(self.left)}"
        return "opened: every pass was complete"


def unblind_study(study: Study, *, by: str, force: bool = False, reason: str = "") -> UnblindingResult:
    """Opens the seal, once; before scoring is finished only by force, which stays on record.

    It is not finished while a pass is incomplete, or while raters agree too little: see `next_step`.
    """
    scoring = scoring_folder(study)
    _, now = scoring.pack, study.kit.clock()  # there has to be a pack
    with scoring.hold_lock():
        found = summarise_blinded(study)
        left = [*found.left, *filter(None, [describe_outdated(study, scoring)])]
        refusal = "" if left or not found.failing else _disagreeing(found, command_path(study))
        if not scoring.open and (force or not left):  # while passes are incomplete, that is what is left
            left += disagreement(found)
        if left and force and not reason.strip():
            say = "--force --reason TEXT. Every report will quote it"
            raise UsageError(f"Say why the seal is opened early: {say}.")
        asked = Act("unblinded", by, now, reason)
        head, missing = head_path(scoring.folder), "; ".join(left)
        act, opened = record_unblinding(
            scoring.folder, asked, missing=missing, force=force, head=head, refusal=refusal
        )
    return UnblindingResult(act.act, act.by, act.time, left if opened else [], not opened)


def _disagreeing(found: ScoringResults, place: str) -> str:
    lines = [f"{'. '.join(disagreement(found))}. They differ on:", *difference_lines(found, place)]
    return "\n".join([*lines, f"Next: {next_step(found, place)}."])


# --------------------------------------------------------------------------------------- suggest


def suggest_study(study: Study, judge: str) -> SuggestionCounts:
    """Asks a model, none of those under test, for a first guess at the accuracy of every response."""
    spec = parse_spec(study.filled(judge))
    if spec.name != MODEL_JUDGE:
        raise UsageError(f"{spec.name!r} is no model that judges. Write {MODEL_JUDGE}(url=…, model=…).")
    made: AccuracyJudge = make_plugin(AccuracyJudge, spec)
    scoring = scoring_folder(study)
    tested = {value for arm in study.arms for name, value in arm.factors.items() if name == MODEL}
    return suggest_accuracy(scoring.folder, scoring.pack, made, tested, study.kit)
