"""The steps of a blinded scoring after blinding: the desk, suggestions, and opening the seal once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from assay.core.block import Block
from assay.core.errors import DataError, Problem, UsageError
from assay.core.spec import make_plugin, parse_spec
from assay.kinds.answers.blinding.acts import Act, record_unblinding
from assay.kinds.answers.panel import MODEL, scoring_folder
from assay.kinds.answers.scoring.marks import BookEntry, ScoringFolder
from assay.kinds.answers.scoring.suggestions import AccuracyJudge, SuggestionCounts, suggest_accuracy
from assay.kinds.answers.scoring_steps.summary import summarise_blinded, thresholds_of
from assay.kinds.answers.wording import difference_lines, disagreement, next_step
from assay.pipeline.evaluation import Evaluation
from assay.pipeline.runner import command_path
from assay.review.marks import MarkBook
from assay.study.study import Study

if TYPE_CHECKING:
    from assay.kinds.answers.desk.scoring_work import ScoringWork

MODEL_JUDGE = "llm"  # the name of a model judge in studies


class CollectedResponse(NamedTuple):
    """One response as it was collected."""

    item_id: str
    arm: str
    seed: int
    text: str


def collected_responses(blocks: Sequence[Block]) -> list[CollectedResponse]:
    """Returns all responses that did not fail."""
    return [
        CollectedResponse(item.item_id, block.arm.name, block.seed, response.answer or "")
        for block in blocks
        for item, response in zip(block.items, block.responses, strict=True)
        if response is not None and response.error is None
    ]


def describe_outdated(study: Study, scoring: ScoringFolder) -> str:
    """Says how the blinded responses differ from the responses of the run, and what to do.

    The text is empty if they do not differ, or if no responses are stored.
    """
    now = {each[:3]: each.text for each in collected_responses(Evaluation(study).blocks)}
    blinded = {(each.item_id, each.arm, each.seed): each.text for each in scoring.originals().values()}
    keys = now.keys() | blinded.keys()
    differ = sum(now.get(key) != blinded.get(key) for key in keys)
    if not now or not differ:
        return ""
    what = f"{differ} of {len(keys)} responses are not as they were blinded"
    why = "They were collected again, or the pack is another study's"
    begin = f"assay review blind {command_path(study)} --fresh"
    where = "in another folder of the panel where people have scored"
    return f"{what}. {why}. Put them back, or begin again, {where}: {begin}"


# ----------------------------------------------------------------------------------------- the desk


def scoring_work(study: Study, book: MarkBook[BookEntry] | None = None) -> ScoringWork:
    """Opens the scoring at the desk. Refuses if the seal was opened, or if the responses have changed.

    `book` stores the marks, if it is given.
    """
    from assay.kinds.answers.desk.scoring_work import ScoringWork

    scoring = scoring_folder(study)
    if scoring.is_open:
        what = f"{scoring.folder} was unblinded, so that anybody who scores now could know the conditions"
        raise UsageError(f"{what}. See: assay report {command_path(study)}")
    _ = scoring.pack  # there has to be one
    # Nobody should make marks that could not be unblinded, or that would not count
    if what := describe_outdated(study, scoring):
        raise DataError(Problem(what, str(scoring.folder)))
    return ScoringWork(scoring.folder, clock=study.kit.clock, book=book, thresholds=thresholds_of(study))


def refuse_unchecked(study: Study, accepted_by: str = "") -> None:
    """Raises a UsageError if the pack was not checked, or if it leaks and nobody accepts the leaks."""
    scoring, place = scoring_folder(study), command_path(study)
    _ = scoring.pack  # there has to be one
    last = scoring.acts.last_check
    if last is None:
        what = "Nobody has checked yet whether anything tells raters the condition"
        raise UsageError(f"{what}. Run: assay review check {place}")
    if last.act != "leaking":
        return
    if not accepted_by:
        again = f"Correct it, and check again: assay review check {place}"
        force = (
            f"To serve it as it is, which every report will say: assay review serve {place} --accept-leaks"
        )
        raise UsageError(f"The last check found leaks ({last.detail}). {again}. {force}")
    scoring.record("accepted", accepted_by, study.kit.clock(), last.detail)


# --------------------------------------------------------------------------------------- unblind


@dataclass(frozen=True)
class UnblindingResult:
    """The outcome of unblinding: who opened the seal and when, now or before."""

    state: str
    by: str
    time: float
    left: list[str]  # what was still to be done, if the seal was forced
    before: bool  # whether the seal was open already

    @property
    def sentence(self) -> str:
        if self.before:
            return f"it was opened before, by {self.by}: nothing changed"
        if self.left:
            return f"opened by force, which every report will say: {'; '.join(self.left)}"
        return "opened: every pass was complete"


def unblind_study(study: Study, *, by: str, force: bool = False, reason: str = "") -> UnblindingResult:
    """Opens the seal, once. Before scoring is finished, this needs `force`, which stays on record.

    Scoring is not finished while a pass is incomplete, or while raters agree too little: see `next_step`.
    """
    scoring, place = scoring_folder(study), command_path(study)
    _, now = scoring.pack, study.kit.clock()  # there has to be a pack
    with scoring.locked():
        found = summarise_blinded(study)
        left = [*found.left, *filter(None, [describe_outdated(study, scoring)])]
        refusal = ""
        if not left and found.failing:
            lines = [f"{'. '.join(disagreement(found))}. They differ on:", *difference_lines(found, place)]
            refusal = "\n".join([*lines, f"Next: {next_step(found, place)}."])
        if not scoring.is_open and (force or not left):  # while passes are incomplete, only they are left
            left += disagreement(found)
        if left and force and not reason.strip():
            say = "--force --reason TEXT. Every report will quote it"
            raise UsageError(f"Say why the seal is opened early: {say}.")
        act, opened = record_unblinding(
            scoring.folder,
            Act("unblinded", by, now, reason),
            missing="; ".join(left),
            force=force,
            head=scoring.head_path,
            refusal=refusal,
        )
    return UnblindingResult(act.act, act.by, act.time, left if opened else [], not opened)


# --------------------------------------------------------------------------------------- suggest


def suggest_study(study: Study, judge: str) -> SuggestionCounts:
    """Asks a model that is not under test to suggest the accuracy of every response."""
    spec = parse_spec(study.filled(judge))
    if spec.name != MODEL_JUDGE:
        raise UsageError(f"{spec.name!r} is not a model judge. Write {MODEL_JUDGE}(url=…, model=…).")
    made: AccuracyJudge = make_plugin(AccuracyJudge, spec)
    scoring = scoring_folder(study)
    tested = {value for arm in study.arms for name, value in arm.factors.items() if name == MODEL}
    return suggest_accuracy(scoring.folder, scoring.pack, made, tested, study.kit)
