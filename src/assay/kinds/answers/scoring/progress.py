"""How far everybody is: what is open, what waits for what, and what is left before unblinding."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from assay.kinds.answers.blinding.pack import BlindPack
from assay.kinds.answers.scoring.assignment import RubricPass, due_time, format_time
from assay.kinds.answers.scoring.ledger import MarkIndex
from assay.kinds.answers.scoring.marks import FIRST, BookEntry

State = Literal["open", "waiting", "done"]


@dataclass(frozen=True)
class PassState:
    """A pass of one rater, and how far it is."""

    of: RubricPass
    done: int
    queued: int  # responses to look at again
    state: State
    why: str = ""  # why it waits
    blocked: bool = False  # an earlier pass is not finished

    @property
    def total(self) -> int:
        return len(self.of.response_ids)

    @property
    def left(self) -> int:
        return self.total - self.done


def pass_states(ledger: MarkIndex, rater: str, now: float) -> list[PassState]:
    """All passes of a rater, in their order. Each begins when the one before it is through."""
    found: list[PassState] = []
    before: PassState | None = None
    for of in ledger.passes.get(rater, []):
        state = _state(ledger, of, now, before)
        if before is None and state.left:
            before = state
        found.append(state)
    return found


def _state(ledger: MarkIndex, of: RubricPass, now: float, before: PassState | None) -> PassState:
    done, queued = ledger.done(of), ledger.queued(of)
    left = len(of.response_ids) - done
    if before is not None:
        why = f"{before.of.title} comes first: {before.left} of {before.total} left."
        return PassState(of, done, queued, "waiting", why, blocked=True)
    if left and (at := waits_until(ledger, of, now)) is not None:
        return PassState(
            of, done, queued, "waiting", f"{left} left, the next of them from {format_time(at)} on."
        )
    return PassState(of, done, queued, "open" if left or queued else "done")


def waits_until(ledger: MarkIndex, of: RubricPass, now: float) -> float | None:
    """When the next response of a second round may be scored; None: one may be now."""
    if of.round == FIRST:
        return None
    left = (each for each in of.response_ids if ledger.mark(of.key(each)) is None)
    at = min((due_at(ledger, of, response_id) for response_id in left), default=now)
    return at if at > now else None


def due_at(ledger: MarkIndex, of: RubricPass, response_id: str) -> float:
    """From when on a response may be scored in a pass: at once in the first round."""
    if of.round == FIRST:
        return float("-inf")
    return due_time(ledger.pack, ledger.mark((of.rater, FIRST, of.step.name, response_id)))


def current_pass(states: Iterable[PassState]) -> PassState | None:
    """The pass to go on with: the first that has something to do now."""
    return next((state for state in states if state.state == "open"), None)


def progress(
    pack: BlindPack, lines: Iterable[BookEntry], now: float
) -> dict[str, dict[str, tuple[int, int]]]:
    """How many responses each rater has scored in each pass, and of how many."""
    ledger = MarkIndex(pack, lines)
    return {
        rater: {state.of.name: (state.done, state.total) for state in pass_states(ledger, rater, now)}
        for rater in ledger.passes
    }


def remaining_work(pack: BlindPack, lines: Iterable[BookEntry], now: float) -> list[str]:
    """What is left to do, in words; empty: every pass of everybody is through, and nothing is queued."""
    ledger = MarkIndex(pack, lines)
    return [
        said
        for rater in ledger.passes
        for state in pass_states(ledger, rater, now)
        for said in _left(rater, state)
    ]


def _left(rater: str, state: PassState) -> Iterable[str]:
    where = f"{rater}: {state.of.title}"
    if state.left:
        waits = f": {state.why}" if state.state == "waiting" and not state.blocked else ""
        yield f"{where}: {state.left} of {state.total} to score{waits}"
    if state.queued:
        yield f"{where}: {state.queued} to look at again"
