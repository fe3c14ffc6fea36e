"""Puts verdicts into words: gates, their clauses, and the controls that gates were tried on.

Every report gets its words from here: terminal, page, Markdown, comments and build servers. A clause passes,
fails or is undecided. All numbers in the sentence about a clause have the same number of decimals.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from assay.core.records import LOSS_SHOWN, NO_LOSS_SHOWN, ClauseResult, Verdict
from assay.core.results import (
    EXPOSED,
    FIRST_FAILS,
    FIRST_OPEN,
    GO,
    GO_FAILS,
    INCONCLUSIVE,
    NO_GO,
    UNPROVED,
    CaughtLoss,
    ControlResult,
    Proof,
    Results,
)
from assay.gates.verdict import describe_advice, reason_for_go, verdict_notes
from assay.report.wording import (
    NOTHING,
    TITLES,
    first_names,
    fixed,
    name_list,
    number,
    quantity,
    shared_decimals,
)

_STATES = {True: "passes", False: "fails", None: "undecided"}
_KILL_STATES = {True: "kill condition met", False: "kill condition not met", None: "undecided"}
_CLAUSE = re.compile(
    r"^(?P<left>.+?)\s*(?P<op>>=|<=|>|<)\s*(?P<right>.+?)(?P<scope>\s+(?:where|for|on|at)\s.+)?$"
)
_LITERAL = re.compile(r"[-+]?[\d.]+%?")
_OPERATORS = {">=": "at least", ">": "more than", "<=": "at most", "<": "less than"}

# --------------------------------------------------------------------------------------- clauses


@dataclass(frozen=True)
class ClauseWords:
    """The words about a clause, for a row of a table and for a sentence."""

    clause: ClauseResult
    state: str  # "passes", "kill condition not met"
    why: str  # the reason of the outcome, and what would settle an undecided clause
    margin: str
    n: str
    detectable: str
    sentence: str  # what was found, what is needed, and on how much evidence

    @property
    def text(self) -> str:
        return self.clause.text

    @property
    def outcome(self) -> str:
        """The state and the label in one cell: `passes (gain shown)`."""
        shows = self.clause.shows
        return f"{self.state} ({shows})" if shows not in {"", self.state} else self.state

    @property
    def beneath(self) -> str:
        """The label and the reason in one line, for tables with narrow cells."""
        shows = self.clause.shows
        return "; ".join(filter(None, ["" if shows == self.state else shows, self.why]))


def clause_words(clause: ClauseResult) -> ClauseWords:
    """Returns the words about one clause."""
    return ClauseWords(
        clause,
        clause_state(clause),
        clause_reason(clause),
        _margin(clause, shared_decimals(clause.value, clause.low, clause.high)),
        str(clause.n),
        number(clause.mde),
        clause_sentence(clause),
    )


def supports_go(clause: ClauseResult) -> bool | None:
    """Whether a clause supports a go; None if undecided. A kill condition does if it is not met."""
    if clause.holds is None:
        return None
    return clause.holds != (clause.role == "kill")


def clause_state(clause: ClauseResult) -> str:
    """Returns a clause's outcome in words, or whether a loss since a baseline is shown."""
    if clause.role != "kill" and clause.shows in {LOSS_SHOWN, NO_LOSS_SHOWN}:
        return clause.shows
    return (_KILL_STATES if clause.role == "kill" else _STATES)[clause.holds]


def clause_sentence(clause: ClauseResult) -> str:
    """Returns a sentence: what was found, what is needed, and on how much evidence. For example:

    `R@10(a) is 0.866; it needs at least R@10(b) + 0.02 = 0.797; margin +0.069 [+0.007, +0.152], n = 56`.
    """
    groups = (clause.left, clause.right), (clause.value, clause.low, clause.high)
    needed = [count for group in groups if (count := shared_decimals(*group)) is not None]
    decimals = max(needed, default=None)
    evidence = f"margin {_margin(clause, decimals)}, n = {clause.n}"
    evidence += f" ({clause.shows})" if clause.shows else ""
    found = _sides(clause.text)
    if found is None or clause.left is None or clause.right is None:
        return f"{clause.text}: {evidence}"
    target = f"{_OPERATORS[found['op']]} {found['right']}"
    if not _LITERAL.fullmatch(found["right"]):
        target += f" = {fixed(clause.right, decimals)}"
    target += found.get("scope", "")
    asked = f"{target} stops the study" if clause.role == "kill" else f"it needs {target}"
    # With failed items, the values are those of the least favourable way to count them.
    is_ = "is at worst" if "failed" in clause.reason else "is"
    return f"{found['left']} {is_} {fixed(clause.left, decimals)}; {asked}; {evidence}"


def _margin(clause: ClauseResult, decimals: int | None) -> str:
    """Returns the margin with its interval, all with the same decimals: `+0.069 [+0.007, +0.152]`."""
    if clause.value is None:
        return NOTHING
    value, *ends = (
        fixed(each, decimals, signed=True)
        for each in (clause.value, clause.low, clause.high)
        if each is not None
    )
    return f"{value} [{', '.join(ends)}]" if len(ends) == 2 else f"{value} [no interval]"


def _sides(text: str) -> dict[str, str] | None:
    """Splits the text of a clause into its parts; None if it has no comparison.

    A sign inside a call, as in `share(x < 0.1) <= 10%`, is not the comparison of the clause.
    """
    hidden, depth = "", 0
    for sign in text:
        depth += (sign in "([") - (sign in ")]")
        hidden += "_" if depth and sign in "<>=" else sign
    found = _CLAUSE.match(hidden)
    return found and {part: text[slice(*found.span(part))] for part in found.groupdict() if found[part]}


def clause_operator(clause: ClauseResult) -> str | None:
    """Returns the sign of the comparison that a clause makes, or None if its text has none."""
    found = _sides(clause.text)
    return found["op"] if found else None


def clause_reason(clause: ClauseResult) -> str:
    """Returns the reason of a clause's outcome, and what would settle an undecided clause."""
    parts = [f"way {' and '.join(map(str, clause.ways))} to go"] if clause.ways else []
    parts += [clause.reason.rstrip(".")] if clause.reason else []
    if clause.holds is None and clause.advice is not None:
        parts.append(describe_advice(clause.advice))
    return "; ".join(parts)


# -------------------------------------------------------------------------------------- verdicts


@dataclass(frozen=True)
class VerdictWords:
    """The words about a gate's verdict: its title, its reason, what decided it, and a row for each clause."""

    verdict: Verdict
    title: str  # "Go"; "Failed, informs"
    reason: str  # "2 clauses pass (gain shown)"
    sentence: str
    clauses: list[ClauseWords]


def verdict_words(verdict: Verdict) -> VerdictWords:
    """Returns the words about a verdict, which every report uses."""
    return VerdictWords(
        verdict,
        gate_title(verdict),
        verdict_reason(verdict),
        verdict_sentence(verdict),
        [clause_words(clause) for clause in unique_clauses(verdict)],
    )


def unique_clauses(verdict: Verdict) -> list[ClauseResult]:
    """Returns a gate's clauses, each text once. A kill condition is not merged with other clauses."""
    found: dict[tuple[str, bool], ClauseResult] = {}
    for clause in verdict.clauses:
        found.setdefault((clause.text, clause.role == "kill"), clause)
    return list(found.values())


def relevant_clauses(verdict: Verdict) -> list[ClauseResult]:
    """Returns a gate's clauses without those that cannot change its verdict.

    If a `first` clause fails, for example, the clauses with other roles cannot change the verdict.
    """
    clauses = unique_clauses(verdict)
    if verdict.reason in {FIRST_FAILS, FIRST_OPEN}:
        state = False if verdict.reason == FIRST_FAILS else None
        return [clause for clause in clauses if clause.role == "first" and clause.holds is state]
    if verdict.reason.startswith(GO_FAILS):
        return [clause for clause in clauses if clause.role != "go" or clause.holds is False]
    return clauses


def gates_in_order(results: Results) -> list[Verdict]:
    """Returns the gates: first those that decide, then those that only inform."""
    return sorted(results.verdicts, key=lambda verdict: not verdict.deciding)


def gate_title(verdict: Verdict) -> str:
    """Returns a gate's verdict in words.

    If the gate only informs, its no-go reads as failed, unless a kill condition is met.
    """
    if verdict.deciding:
        return TITLES[verdict.verdict]
    killed = any(clause.role == "kill" and clause.holds for clause in verdict.clauses)
    return f"{'Failed' if verdict.verdict == NO_GO and not killed else TITLES[verdict.verdict]}, informs"


def verdict_reason(verdict: Verdict) -> str:
    """Returns the reason of a verdict; for a go, what its clauses show and what they cannot have seen."""
    reason = verdict.reason or (reason_for_go(verdict.clauses) if verdict.verdict == GO else "")
    return "; ".join(filter(None, [reason, *verdict_notes(verdict)]))


def verdict_sentence(verdict: Verdict) -> str:
    """Returns one line about what decided a gate: its first deciding clause, and the number of others."""
    wanted = {GO: True, NO_GO: False, INCONCLUSIVE: None}.get(verdict.verdict)
    wanted = False if verdict.reason == FIRST_FAILS else wanted
    clauses = relevant_clauses(verdict)
    deciding = [clause for clause in clauses if supports_go(clause) is wanted]
    # A clause without a value comes first: it waits for values, or its system failed, so this is next to do.
    deciding.sort(key=lambda clause: wanted is not True and clause.value is not None)
    if not deciding:
        return verdict.reason or f"{verdict.gate} decided on {quantity(len(clauses), 'clause')}"
    first, *others = deciding
    sentence = clause_sentence(first)
    explained = verdict.verdict == INCONCLUSIVE or first.value is None or first.shows == LOSS_SHOWN
    if explained and (reason := clause_reason(first)):
        sentence += f" ({reason})"
    if verdict.reason == FIRST_FAILS:
        sentence = f"{verdict.reason}: {sentence}"
    if wanted is True and others:
        why = verdict.reason or reason_for_go(verdict.clauses)
        return "; ".join([f"{why}: {sentence}", *verdict_notes(verdict)])
    return "; ".join([sentence, *_others(others), *verdict_notes(verdict)])


def _others(clauses: Sequence[ClauseResult]) -> list[str]:
    """Returns phrases about the other clauses that decided a gate, such as `2 more clauses fail`."""
    kills = [clause for clause in clauses if clause.role == "kill" and clause.holds]
    failing = [clause for clause in clauses if clause.role != "kill" and clause.holds is False]
    undecided = [clause for clause in clauses if clause.holds is None]
    return [
        f"{quantity(len(found), noun)} {one if len(found) == 1 else several}"
        for found, noun, one, several in (
            (failing, "more clause", "fails", "fail"),
            (kills, "more kill condition", "is met", "are met"),
            (undecided, "more clause", "is undecided", "are undecided"),
        )
        if found
    ]


def headline(results: Results) -> str:
    """Returns the answer of the whole study in one sentence."""
    if results.verdict is None:
        return "No gate is declared, so there is no verdict."
    decisive = next((one for one in gates_in_order(results) if one.verdict == results.verdict), None)
    return verdict_sentence(decisive) if decisive else ""


# -------------------------------------------------------------------------------------- controls

CONTROLS_TITLE = "Controls"
CONTROLS_LEAD = (
    "Each gate was tried on systems that must not pass it, made from the stored answers, and on an oracle "
    "that must pass it."
)
CONTROLS_UNTRIED = "The gates were not tried on controls: assay prove STUDY does that."
CONTROLS_HEADER = ("control", "outcome", "passed", "why")
_MOST_NAMES = 4


def proof_line(results: Results, gate: str) -> str:
    """Returns one line about a gate's controls; empty if the gate was not tried in its present form."""
    proof = next((proof for proof in results.proofs if proof.gate == gate), None)
    return "" if proof is None else proof_summary(proof)


def proof_title(proof: Proof) -> str:
    """Returns a proof's outcome with its mutation score: `proved, 14 of 14 refused, mutation score 1.00`."""
    tried = [each for each in proof.controls if each.applies and each.expected == "refused"]
    refused = sum(not each.passes(proof.alpha) for each in tried)
    word = {EXPOSED: "a control passes", UNPROVED: "not proved"}.get(proof.outcome, "proved")
    score = "" if proof.mutation_score is None else f", mutation score {proof.mutation_score:.2f}"
    return f"{word}, {refused} of {len(tried)} refused{score}"


def proof_summary(proof: Proof) -> str:
    """Returns one line about what the controls showed about a gate."""
    if proof.exposed:
        names = _control_names(proof.exposed)
        verb = "A control passes" if len(proof.exposed) == 1 else f"{len(proof.exposed)} controls pass"
        return f"{verb} this gate: {names}."
    refused = [each for each in proof.controls if each.applies and each.expected == "refused"]
    if not refused:
        return "No control applies to this gate, so nothing is known about what it refuses."
    parts = [f"It refuses {quantity(len(refused) - len(proof.harmless), 'control')}"]
    if proof.harmless:
        parts.append(f"lets pass what is declared harmless ({_control_names(proof.harmless)})")
    if proof.stuck:
        known = " (declared)" if all(each.harmless for each in proof.stuck) else ""
        parts.append(f"{_control_names(proof.stuck)} does not pass either{known}")
    elif any(each.applies and each.expected == "passes" for each in proof.controls):
        parts.append("the oracle passes")
    return f"{name_list(parts)}. {_caught_loss(proof.loss)}".strip()


def _control_names(controls: Sequence[ControlResult]) -> str:
    names = [f"{each.name} ({_passes(each)})" if each.draws > 1 else each.name for each in controls]
    return first_names(names, _MOST_NAMES)


def _caught_loss(loss: CaughtLoss) -> str:
    """Returns a sentence about the smallest planted loss that the gate catches."""
    if loss.share is None:
        return f"Planted losses: {loss.reason}." if loss.reason else ""
    whose = "the candidate" if loss.of == "candidate" else "the oracle"
    missed = f"; {100 * loss.missed:.0f} % is not" if loss.missed is not None else ""
    lost = f"{quantity(loss.items, 'item')} ({100 * loss.share:.0f} %)"
    return f"If {whose} loses {lost}, that is caught{missed}."


def control_rows(proof: Proof) -> list[tuple[str, str, str, str]]:
    """Returns one row per control: its name, its outcome, how often it passed, and why.

    Controls with a wrong outcome come first.
    """

    def order(control: ControlResult) -> int:
        if control in proof.exposed or control in proof.stuck:
            return 0
        return 1 if control.applies else 2

    return [
        (each.name, _outcome(each, proof.alpha), _passes(each), _why(each, proof.alpha))
        for each in sorted(proof.controls, key=order)
    ]


def _passes(control: ControlResult) -> str:
    """Returns how often a control passed: `8 of 200, 4.0 % [2, 8]`; empty if it is tried once."""
    if control.draws <= 1 or control.rate is None:
        return ""
    if control.low is None or control.high is None:
        return f"{control.passed} of {control.draws}"
    interval = f"[{100 * control.low:.0f}, {100 * control.high:.0f}]"
    return f"{control.passed} of {control.draws}, {100 * control.rate:.1f} % {interval}"


def _outcome(control: ControlResult, alpha: float) -> str:
    """Returns a control's outcome in a word or two."""
    if not control.applies:
        return NOTHING
    passes = control.passes(alpha)
    if control.expected == "passes":
        return "passes" if passes else "does not pass"
    if control.expected == "either":
        return "passes, and may" if passes else "refused"
    if not passes:
        return "refused"
    return "passes, harmless" if control.harmless else "PASSES"


def _why(control: ControlResult, alpha: float) -> str:
    wrong = control.passes(alpha) != (control.expected == "passes")
    if control.harmless and control.applies and wrong:
        return control.harmless
    if not control.applies or control.verdict == "":
        return control.reason
    return f"{control.verdict}: {control.reason}" if control.reason else control.verdict
