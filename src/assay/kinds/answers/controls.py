"""A control with raters who guess: no clause on agreement may pass with their marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import msgspec

from assay.controls.general import DRAWS
from assay.controls.trial import ControlNotApplicable, Draw, Random, StandIn, Trial
from assay.core.records import Judgment

FIRST_ADDRESS = "assay.controls.raters"


@dataclass(frozen=True)
class GuessingRaters:
    """The raters' marks, with the grades of each rater moved to other responses at random."""

    expected: ClassVar[str] = "refused"
    draws: ClassVar[int] = DRAWS

    def mutants(self, trial: Trial) -> Mapping[str, Draw]:
        if not trial.labels:
            raise ControlNotApplicable("no clause reads the agreement of raters")
        if not any(mark.label in trial.labels for mark in trial.judgments):
            raise ControlNotApplicable("nobody has judged what its clauses read")
        return {"": lambda random: StandIn(judgments=_shuffled(trial.judgments, trial.labels, random))}


def _shuffled(marks: Sequence[Judgment], labels: Sequence[str], random: Random) -> list[Judgment]:
    """Returns the marks, with the grades of each label in `labels` permuted among each rater's marks."""
    made = list(marks)
    groups: dict[tuple[str, str], list[int]] = {}
    for place, mark in enumerate(marks):
        if mark.label in labels:
            groups.setdefault((mark.label, mark.judge), []).append(place)
    for places in groups.values():
        for place, other in zip(places, random.permutation(places).tolist(), strict=True):
            made[place] = msgspec.structs.replace(marks[place], grade=marks[other].grade)
    return made
