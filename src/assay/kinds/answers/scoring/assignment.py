"""Who scores what, in which order, and when.

The primary rater scores every response in four passes. The others score the drawn part. Where there are no
others, the primary rater scores a drawn part again, each response no earlier than a while after the first
time, and is shown nothing of that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from assay.kinds.answers.blinding.pack import BlindPack
from assay.kinds.answers.scoring.marks import AGAIN, FIRST, Mark
from assay.kinds.answers.scoring.rubric import STEPS, RubricStep

HOUR, MINUTE = 3600.0, 60.0

# pack, rater, name of the pass, response_ids -> the same in the order in which this rater sees them
Order = Callable[[BlindPack, str, str, Sequence[str]], list[str]]


@dataclass(frozen=True)
class RubricPass:
    """One step of the rubric over all that one rater scores in one round."""

    rater: str
    step: RubricStep
    round: str
    response_ids: frozenset[str]

    @property
    def name(self) -> str:
        """`accuracy`, or `accuracy:again`."""
        return self.step.name if self.round == FIRST else f"{self.step.name}:{self.round}"

    @property
    def title(self) -> str:
        return self.step.title if self.round == FIRST else f"{self.step.title}, second time"

    def key(self, response_id: str) -> tuple[str, str, str, str]:
        """What a mark of this pass is about, as marks say it."""
        return self.rater, self.round, self.step.name, response_id


def raters_of(pack: BlindPack) -> list[str]:
    """Everybody who scores, the primary rater first."""
    return [pack.panel.primary, *pack.panel.others]


def passes_of(pack: BlindPack, rater: str) -> list[RubricPass]:
    """What a rater does, in its order; nothing for somebody who is not on the panel."""
    if rater not in raters_of(pack):
        return []
    primary = rater == pack.panel.primary
    known = {each.response_id for each in pack.responses}
    own = frozenset(known if primary else known & {*pack.drawn})
    rounds = [(FIRST, own)]
    if primary and (again := frozenset(known & {*pack.drawn_again})):
        rounds.append((AGAIN, again))
    return [RubricPass(rater, step, name, response_ids) for name, response_ids in rounds for step in STEPS]


def due_time(pack: BlindPack, first: Mark | None) -> float:
    """From when on a response may be scored again, by the mark that stands from the first time."""
    return math.inf if first is None else first.time + pack.panel.wait_hours * HOUR


def format_time(time: float) -> str:
    """A moment for people, never earlier than it is: 2026-02-25 14:05 UTC."""
    return datetime.fromtimestamp(math.ceil(time / MINUTE) * MINUTE, UTC).strftime("%Y-%m-%d %H:%M UTC")
