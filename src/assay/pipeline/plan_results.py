"""What a plan found: step by step, gate by gate, what stopping left undone, and how far it is."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from assay.core.records import Verdict
from assay.core.results import INCONCLUSIVE
from assay.gates.verdict import overall

SCHEMA = "assay/plan/1"


@dataclass(frozen=True)
class StepResult:
    """What became of a step. `asked` and `reused` count answers; one that was skipped has neither."""

    name: str
    about: str
    study: str
    verdict: str | None
    asked: int
    reused: int
    seconds: float
    reason: str
    skipped: bool = False
    report: str | None = None
    outdated: list[str] = field(default_factory=list)  # why its answers are older than what they decide


@dataclass(frozen=True)
class GateResult:
    """What one gate of one step says; one that was not reached is inconclusive, with the reason."""

    step: str
    gate: str
    verdict: str
    reason: str
    deciding: bool = True  # whether it counts in the step's verdict


@dataclass(frozen=True)
class AvoidedWork:
    """What stopping left undone: by step, and together, the answers that would have been asked."""

    because: str
    steps: dict[str, int]
    answers: int  # an answer that two steps share is counted once
    seconds: float | None = None  # at the pace of the answers so far; None where none was asked


@dataclass(frozen=True)
class PlanResults:
    """A plan that was run, to its end or to the step that stopped it."""

    plan: str
    about: str
    steps: list[StepResult]
    gates: list[GateResult] = field(default_factory=list)  # every gate of every step, in order
    saved: AvoidedWork | None = None
    broken: str | None = None  # why a step could not be decided, where its systems failed
    would_stop: str | None = None  # what would have stopped it, where it was told to keep going

    @property
    def verdict(self) -> str | None:
        """A no-go outweighs an open one, an open one outweighs go; None where nothing gates."""
        decided = [Verdict(step.name, step.verdict, []) for step in self.steps if step.verdict is not None]
        return overall([*decided, *([Verdict("", INCONCLUSIVE, [])] if self.broken else [])])

    @property
    def outdated(self) -> list[str]:
        """Why stored answers are older than what they are to decide, step by step."""
        return [f"{step.name}: {reason}" for step in self.steps for reason in step.outdated]

    def as_json(self) -> dict[str, Any]:
        """The documented, versioned JSON form."""
        return {"schema": SCHEMA, "verdict": self.verdict, "outdated": self.outdated, **asdict(self)}


@dataclass(frozen=True)
class StepStatus:
    """How far a step is, in answers."""

    name: str
    study: str
    answers: int
    answered: int
    failed: int
    open: int
