"""A verdict in words, from one place: terminal, page, Markdown, comments and build servers print these."""

from __future__ import annotations

from dataclasses import dataclass

from assay.core.records import ClauseResult, Verdict
from assay.report import wording as say


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
        say.gate_title(verdict),
        say.verdict_reason(verdict),
        say.verdict_sentence(verdict),
        [clause_words(clause) for clause in say.unique_clauses(verdict)],
    )


def clause_words(clause: ClauseResult) -> ClauseWords:
    """The words of one clause."""
    return ClauseWords(
        clause,
        say.clause_state(clause),
        say.clause_outlook(clause),
        say.with_interval(clause.value, clause.low, clause.high, signed=True),
        str(clause.n),
        say.number(clause.mde),
        say.clause_sentence(clause),
    )
