"""Why a gate says what it says, in words: what its clauses show, what they cannot have seen, what to do next.

Every report prints these words, so that no page says more than the clauses do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from assay.core.records import LABELS, Advice, ClauseResult, Verdict

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


def verdict_notes(verdict: Verdict) -> Iterator[str]:
    """What stands beside a verdict: what no item can have shown, and how often it was decided before."""
    if verdict.unseen is not None:
        yield f"up to {verdict.unseen:.1%} of the items could have lost everything unseen"
    if verdict.look > 1 and verdict.level is not None:
        yield f"look {verdict.look} at this gate, so its intervals are at {verdict.level:.1%}"


def describe_advice(advice: Advice) -> str:
    """How many more items are likely to settle a clause, or what to do instead."""
    if advice.items is None or advice.chance is None or advice.by_luck is None:
        return f"more items are unlikely to settle it: {advice.instead}"
    of = f" of {advice.where}" if advice.where else ""
    number = f"{advice.items} more item{'s' * (advice.items != 1)}{of}"
    chances = f"{advice.chance:.0%} to settle it if the effect is what it looks like"
    return f"with {number}, {chances}, {advice.by_luck:.0%} if there is none"
