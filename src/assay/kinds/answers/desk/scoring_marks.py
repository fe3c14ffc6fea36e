"""What a rater sends, as the mark that is kept."""

from __future__ import annotations

import msgspec

from assay.kinds.answers.scoring.assignment import RubricPass
from assay.kinds.answers.scoring.ledger import MarkIndex
from assay.kinds.answers.scoring.marks import FIRST, Mark
from assay.kinds.answers.scoring.precedents import join_precedents
from assay.kinds.answers.scoring.rules import DraftMark
from assay.review.work import Undo


def new_mark(
    ledger: MarkIndex, of: RubricPass, task_id: str, mark_id: str, said: DraftMark, now: float
) -> Mark:
    """A mark that replaces what stands, and names what it was looked at again for."""
    stands = ledger.mark(of.key(task_id))
    saw = ledger.saw(of.rater, of.step.name, task_id) if of.round == FIRST else None
    return Mark(
        mark_id,
        of.rater,
        task_id,
        of.step.name,
        of.step.grade_of(said.choice),
        list(said.claims),
        said.note,
        list(dict.fromkeys(said.flags)),
        of.round,
        now,
        replaces=None if stands is None else stands.mark_id,
        case=join_precedents(ledger.concerning(of, task_id)),
        suggested=None if saw is None else saw.value,
    )


def undo_mark(of: RubricPass, task_id: str, undo: Undo, earlier: Mark | None, now: float) -> Mark:
    """The earlier mark as one of its own, which stands again; or one that takes back what stands."""
    if earlier is None:
        who = (undo.mark_id, of.rater, task_id, of.step.name)
        return Mark(*who, round=of.round, time=now, replaces=undo.base, withdrawn=True)
    back = {"mark_id": undo.mark_id, "replaces": undo.base, "restores": earlier.mark_id}
    return msgspec.structs.replace(earlier, time=now, **back)
