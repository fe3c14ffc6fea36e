"""A verdict in words, from one place: terminal, page, Markdown, comments and build servers print these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.core.records import ClauseResult, Verdict
from assay.core.results import EXPOSED, UNPROVED, CaughtLoss, ControlResult, Proof, Results
from assay.report import wording
from assay.report.wording import name_list, quantity


@dataclass(frozen=True)
class ClauseWords:
    """One clause as a row: its text, its outcome and what that rests on, and its figures."""

    clause: ClauseResult
    state: str  # "holds", "kill condition not met"
    why: str  # why it came out so, and what would settle it
    margin: str
    n: str
    detectable: str
    sentence: str  # what was found, what was asked for, on how much evidence, and what it shows

    @property
    def text(self) -> str:
        return self.clause.text

    @property
    def shows(self) -> str:
        """The label: gain shown, threshold shown, loss shown, not guarded; nothing where nothing is shown."""
        return self.clause.shows

    @property
    def outcome(self) -> str:
        """State and label in one cell: `holds (gain shown)`."""
        return f"{self.state} ({self.shows})" if self.shows not in {"", self.state} else self.state

    @property
    def beneath(self) -> str:
        """Label and reason in one line, for a table whose cells are narrow."""
        return "; ".join(filter(None, ["" if self.shows == self.state else self.shows, self.why]))


@dataclass(frozen=True)
class VerdictWords:
    """A gate's verdict: the word, why, the clauses that decided it in one line, and every clause as a row."""

    verdict: Verdict
    title: str  # "Go"; "Failed, informs"
    reason: str  # "2 clauses hold (gain shown)"
    sentence: str
    clauses: list[ClauseWords]


def verdict_words(verdict: Verdict) -> VerdictWords:
    """The words that every report of a verdict is made of."""
    return VerdictWords(
        verdict,
        wording.gate_title(verdict),
        wording.verdict_reason(verdict),
        wording.verdict_sentence(verdict),
        [clause_words(clause) for clause in wording.unique_clauses(verdict)],
    )


def clause_words(clause: ClauseResult) -> ClauseWords:
    """The words of one clause."""
    return ClauseWords(
        clause,
        wording.clause_state(clause),
        wording.clause_outlook(clause),
        wording.with_interval(clause.value, clause.low, clause.high, signed=True),
        str(clause.n),
        wording.number(clause.mde),
        wording.clause_sentence(clause),
    )


# ----------------------------------------------------------------------------------------------

TITLE = "Controls"
LEAD = (
    "Each gate was tried on systems that must not pass it, made from the stored answers, and on an oracle "
    "that must."
)
UNTRIED = "The gates were not tried on controls: assay prove STUDY does that."
HEADER = ("control", "outcome", "passed", "why")
_MOST_NAMES = 4


def proof_of(results: Results, gate: str) -> Proof | None:
    """What trying a gate found, if it was tried as it is now."""
    return next((proof for proof in results.proofs if proof.gate == gate), None)


def proof_line(results: Results, gate: str) -> str:
    """One line about a gate's controls for the place beside its verdict; nothing if it was not tried."""
    proof = proof_of(results, gate)
    return "" if proof is None else summary(proof)


def summary(proof: Proof) -> str:
    """What trying one gate found, in a line."""
    if proof.exposed:
        names = _names(proof.exposed)
        verb = "A control passes" if len(proof.exposed) == 1 else f"{len(proof.exposed)} controls pass"
        return f"{verb} this gate: {names}."
    refused = [each for each in proof.controls if each.applies and each.expected == "refused"]
    if not refused:
        return "No control applies to this gate, so that nothing is known of what it refuses."
    parts = [f"It refuses {quantity(len(refused) - len(proof.harmless), 'control')}"]
    if proof.harmless:
        parts.append(f"lets pass what is declared harmless ({_names(proof.harmless)})")
    if proof.stuck:
        known = " (declared)" if all(each.harmless for each in proof.stuck) else ""
        parts.append(f"{_names(proof.stuck)} does not pass either{known}")
    elif any(each.applies and each.expected == "passes" for each in proof.controls):
        parts.append("the oracle passes")
    return f"{name_list(parts)}. {loss_text(proof.loss)}".strip()


def _names(controls: Sequence[ControlResult]) -> str:
    named = [f"{each.name} ({draws_text(each)})" if each.draws > 1 else each.name for each in controls]
    more = len(named) - _MOST_NAMES
    return ", ".join(named[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def loss_text(loss: CaughtLoss) -> str:
    """The smallest planted loss that is caught, in words."""
    if loss.share is None:
        return f"Planted losses: {loss.reason}." if loss.reason else ""
    whose = "the candidate" if loss.of == "candidate" else "the oracle"
    missed = f"; {100 * loss.missed:.0f} % is not" if loss.missed is not None else ""
    lost = f"{quantity(loss.items, 'item')} ({100 * loss.share:.0f} %)"
    return f"If {whose} loses {lost}, that is caught{missed}."


def draws_text(control: ControlResult) -> str:
    """How often it passed: `8 of 200, 4 % [2, 8]`, or nothing for one that is tried once."""
    if control.draws <= 1 or control.rate is None:
        return ""
    if control.low is None or control.high is None:
        return f"{control.passed} of {control.draws}"
    interval = f"[{100 * control.low:.0f}, {100 * control.high:.0f}]"
    return f"{control.passed} of {control.draws}, {100 * control.rate:.1f} % {interval}"


def outcome_text(control: ControlResult, alpha: float) -> str:
    """What became of a control, in a word or two."""
    if not control.applies:
        return "n/a"
    passes = control.passes(alpha)
    if control.expected == "passes":
        return "passes" if passes else "does not pass"
    if control.expected == "either":
        return "passes, and may" if passes else "refused"
    if not passes:
        return "refused"
    return "passes, harmless" if control.harmless else "PASSES"


def control_rows(proof: Proof) -> list[tuple[str, str, str, str]]:
    """One row per control: its name, what became of it, how often it passed, and why."""
    return [
        (each.name, outcome_text(each, proof.alpha), draws_text(each), _why(each, proof.alpha))
        for each in sorted(proof.controls, key=lambda each: _order(each, proof))
    ]


def _why(control: ControlResult, alpha: float) -> str:
    wrong = control.passes(alpha) != (control.expected == "passes")
    if control.harmless and control.applies and wrong:
        return control.harmless
    if not control.applies or control.verdict == "":
        return control.reason
    return f"{control.verdict}: {control.reason}" if control.reason else control.verdict


def _order(control: ControlResult, proof: Proof) -> int:
    """What is read first: what passes and must not, then what was refused, last what does not apply."""
    if control in proof.exposed or control in proof.stuck:
        return 0
    return 1 if control.applies else 2


def outcome_title(proof: Proof) -> str:
    """A proof's outcome with its mutation score: `proved, 14 of 14 refused`."""
    tried = [each for each in proof.controls if each.applies and each.expected == "refused"]
    refused = sum(not each.passes(proof.alpha) for each in tried)
    word = {EXPOSED: "a control passes", UNPROVED: "not proved"}.get(proof.outcome, "proved")
    score = "" if proof.mutation_score is None else f", mutation score {proof.mutation_score:.2f}"
    return f"{word}, {refused} of {len(tried)} refused{score}"
