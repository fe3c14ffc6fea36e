"""What trying a gate on controls found: which of them it refuses, and which it lets pass."""

from __future__ import annotations

from typing import Any

import msgspec

PROVED, EXPOSED, UNPROVED = "proved", "exposed", "unproved"


class ControlResult(msgspec.Struct, frozen=True):
    """What became of one control in one gate."""

    control: str
    mutant: str = ""  # which one, of a control that makes several
    about: str = ""
    expected: str = "refused"  # what a sound gate does with it: refused, passes, or either
    passed: int = 0  # draws in which it passed the gate
    draws: int = 0  # 0: it does not apply
    rate: float | None = None
    low: float | None = None  # of the 95 % interval of the rate, where it is drawn at random
    high: float | None = None
    verdict: str = ""  # what the gate says of one that is not drawn at random
    reason: str = ""  # why it does not apply, or why the gate refuses it
    harmless: str = ""  # why the gate's author says that it may pass

    @property
    def name(self) -> str:
        """The control with the mutant that is meant."""
        return f"{self.control} ({self.mutant})" if self.mutant else self.control

    @property
    def applies(self) -> bool:
        return self.draws > 0

    def passes(self, alpha: float) -> bool:
        """Whether it passes the gate, or does so more often than the gate may err."""
        return self.applies and (self.passed > 0 if self.draws == 1 else self.passed > alpha * self.draws)


class CaughtLoss(msgspec.Struct, frozen=True):
    """The smallest planted loss that a gate refuses at this size."""

    of: str = ""  # whose answers it was planted in: the candidate's or the oracle's
    share: float | None = None  # of the items that were emptied; None: none was caught, or none was planted
    items: int = 0  # how many items that is
    missed: float | None = None  # the largest share that was not caught
    draws: int = 0
    reason: str = ""  # why nothing was planted


class Proof(msgspec.Struct, frozen=True):
    """One gate tried on every control."""

    gate: str
    candidates: list[str]
    references: list[str]
    controls: list[ControlResult]
    loss: CaughtLoss
    alpha: float = 0.05
    deciding: bool = True
    evidence: str = ""  # the hash of the gate, the answers and the labels that it was tried with

    @property
    def exposed(self) -> list[ControlResult]:
        """Controls that pass although they must not, and that nobody declared harmless."""
        return [each for each in self._passing if not each.harmless]

    @property
    def harmless(self) -> list[ControlResult]:
        """Controls that pass and may, for the reason that the gate's author gives."""
        return [each for each in self._passing if each.harmless]

    @property
    def _passing(self) -> list[ControlResult]:
        return [each for each in self.controls if each.expected == "refused" and each.passes(self.alpha)]

    @property
    def stuck(self) -> list[ControlResult]:
        """Controls that a gate should let pass, and does not."""
        return [
            each
            for each in self.controls
            if each.applies and each.expected == "passes" and not each.passes(self.alpha)
        ]

    @property
    def _refusable(self) -> list[ControlResult]:
        return [each for each in self.controls if each.applies and each.expected == "refused"]

    @property
    def mutation_score(self) -> float | None:
        """The share of the controls that must not pass which the gate refuses; None where none applies."""
        if not (tried := self._refusable):
            return None
        return sum(not each.passes(self.alpha) for each in tried) / len(tried)

    @property
    def outcome(self) -> str:
        """proved; exposed: a control passes; unproved: no control applies, or the oracle does not pass."""
        if self.exposed:
            return EXPOSED
        stuck = any(not each.harmless for each in self.stuck)
        return UNPROVED if stuck or not self._refusable else PROVED

    def as_json(self) -> dict[str, Any]:
        """The documented form: what is stored, and what follows from it."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        return {
            **found,
            "outcome": self.outcome,
            "mutation_score": self.mutation_score,
            "exposed_by": [each.name for each in self.exposed],
            "harmless": [each.name for each in self.harmless],
            "oracle_passes": not self.stuck if any(each.applies for each in self._oracles) else None,
        }

    @property
    def _oracles(self) -> list[ControlResult]:
        return [each for each in self.controls if each.expected == "passes"]
