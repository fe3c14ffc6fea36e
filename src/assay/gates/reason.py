"""Why a gate says go, in words: which clauses hold, and what each of them shows.

The verdict stores these words as its reason, and every report prints them, so that no page says more than the
clauses do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from assay.records import LABELS, ClauseResult

NO_KILL = "no kill condition is met"


def reason_for_go(clauses: Sequence[ClauseResult]) -> str:
    """`2 clauses hold (gain shown)`, `1 of 10 clauses holds (not guarded)`, `no kill condition is met`."""
    asked = _once([clause for clause in clauses if clause.role == "go"])
    kills = _once([clause for clause in clauses if clause.role == "kill"])
    holding = [clause for clause in asked if clause.holds]
    parts = []
    if asked:
        parts.append(f"{_number(len(holding), len(asked))}{_labels(holding)}")
    if kills:
        parts.append(f"{NO_KILL}{_labels(kills)}")
    return ", ".join(parts)


def _once(clauses: Sequence[ClauseResult]) -> list[ClauseResult]:
    """Each clause once, though it may stand in several branches."""
    return list({clause.text: clause for clause in clauses}.values())


def _number(holding: int, of: int) -> str:
    if of == 1:
        return "the clause holds"
    all_of_them = f"{holding} clauses" if holding == of else f"{holding} of {of} clauses"
    return f"{all_of_them} {'holds' if holding == 1 else 'hold'}"


def _labels(clauses: Sequence[ClauseResult]) -> str:
    """What clauses show, in brackets: one word for all of them, or how many show what."""
    counts = Counter(clause.shows for clause in clauses if clause.shows)
    if not counts:
        return ""
    if len(counts) == 1 and counts.total() == len(clauses):
        return f" ({next(iter(counts))})"
    return f" ({', '.join(f'{counts[label]} {label}' for label in LABELS if counts[label])})"
