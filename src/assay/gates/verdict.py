"""Concludes the verdict of a gate from its clauses: go, no-go or inconclusive, with its words.

If a kill condition is met, the verdict is no-go. If all go clauses pass, it is go. `first` clauses must pass
before anything else counts. In all other cases the verdict is what the gate declares as `otherwise`. Without
`otherwise` it is inconclusive, or no-go if a go clause failed and no kill condition is declared. Every report
prints the words of this module, so no page says more than the clauses do.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from assay.core.records import LABELS, Advice, ClauseResult, Verdict
from assay.core.results import FIRST_FAILS, FIRST_OPEN, GO, GO_FAILS, INCONCLUSIVE, NO_GO
from assay.gates.decision import decide_clause, is_guarded, levels_for
from assay.gates.evaluator import Evaluator
from assay.gates.expansion import Levels, error_families, expand_clause, expand_for_each
from assay.gates.gate import UNLISTED, Gate
from assay.gates.intervals import linear_form
from assay.gates.looks import LookHistory, NextLook, evidence_of
from assay.gates.operand import Mean, Operand, StatisticOperand, means_of
from assay.gates.syntax import Arithmetic, Clause
from assay.stats.families import GateDifference
from assay.stats.widening import unseen_share

FAILS_TOO_OFTEN = "a system failed on more items than the gate allows"
SCORE_AGAIN = "more items do not help: raters have to agree first, so make the rules clearer and score again"


def gate_levels(
    gate: Gate, evaluator: Evaluator, looking: NextLook | None = None
) -> dict[str, dict[Clause, Levels]]:
    """Returns how sure each clause of a gate must be, by role; `for`, `max` and `min` are written out."""
    return {role: levels_for(group, gate.rules, evaluator, looking) for role, group in gate.groups.items()}


def has_guarded_clause(gate: Gate, evaluator: Evaluator) -> bool:
    """Whether an interval decides any clause of a gate, and not only its estimate."""
    each = (one for clause in gate.clauses() for _, one in expand_for_each(clause, lambda _: [UNLISTED]))
    return any(is_guarded(one, gate.rules, evaluator) for one in each)


def decide_gates(
    gates: Sequence[Gate],
    evaluator: Evaluator,
    steps: Sequence[str] = (),
    settled: Callable[[Verdict], Verdict] = lambda verdict: verdict,
    book: LookHistory | None = None,
) -> list[Verdict]:
    """Returns the verdict of every gate. After a no-go, the later gates among `steps` are not reached.

    `settled` may decide a gate that is undecided only because some judgments are missing. `book` has the
    earlier looks at the gates, and records this look.
    """
    verdicts: dict[str, Verdict] = {}
    order = {name: place for place, name in enumerate(steps)}
    for gate in sorted(gates, key=lambda gate: order.get(gate.name, len(order))):
        stopper = stopping_step(gate.name, {name: each.verdict for name, each in verdicts.items()}, steps)
        if stopper is not None:
            reason = f"not reached: {stopper} is no-go"
            found = _make_verdict(gate, INCONCLUSIVE, [], reason)
        else:
            found = settled(_verdict(gate, evaluator, book or LookHistory()))
        verdicts[gate.name] = msgspec.structs.replace(found, reads=_reads(gate, evaluator))
    return list(verdicts.values())


def stopping_step(gate: str, words: Mapping[str, str], steps: Sequence[str]) -> str | None:
    """Returns the earlier step whose no-go keeps a gate from being reached; None if there is none."""
    earlier = steps[: steps.index(gate)] if gate in steps else ()
    return next((step for step in earlier if words.get(step) == NO_GO), None)


def overall_verdict(verdicts: Sequence[Verdict]) -> str | None:
    """Returns one verdict for all deciding gates: no-go if any is no-go, else inconclusive if any is."""
    words = {verdict.verdict for verdict in verdicts if verdict.deciding}
    return next((word for word in (NO_GO, INCONCLUSIVE, GO) if word in words), None)


def find_recommendation(
    verdicts: Sequence[Verdict], recommend: Mapping[str, Mapping[str, str]]
) -> str | None:
    """Returns the first recommendation whose conditions on gates are all met."""
    found = {verdict.gate: verdict.verdict for verdict in verdicts}
    fitting = (say for say, when in recommend.items() if all(found.get(g) == w for g, w in when.items()))
    return next(fitting, None)


def next_look(gate: Gate, evaluator: Evaluator, book: LookHistory) -> NextLook:
    """Returns the look at a gate with its present evidence, after the earlier looks."""
    return book.at(gate.name, evidence_of(_means(gate, evaluator), evaluator), gate.rules.planned)


def _verdict(gate: Gate, evaluator: Evaluator, book: LookHistory) -> Verdict:
    """Returns the verdict of a gate with its clauses, and records this look at the gate."""
    looking = next_look(gate, evaluator, book)
    levels = gate_levels(gate, evaluator, looking)
    results = {
        clause: decide_clause(
            clause,
            gate.rules,
            evaluator,
            kills=role == "kill",
            levels=levels[role],
            looking=looking,
        )
        for role, clause in gate.by_role()
    }
    guarded = has_guarded_clause(gate, evaluator) and any(
        result.low is not None for result in results.values()
    )
    if guarded:
        decided = {each.text: each.holds for each in results.values() if each.holds is not None}
        book.record(looking, decided)
    word, reason = conclude(gate, results)
    ways, can_turn = gate.ways(), gate.open_clauses({each: result.holds for each, result in results.items()})
    shown = [
        msgspec.structs.replace(
            result,
            role=role,
            ways=ways.get(clause, []) if role == "go" else [],
            reason="; ".join(filter(None, [result.reason, _to_do(role, clause, result, evaluator)])),
            advice=result.advice if clause in can_turn else None,
        )
        for role, clause in gate.by_role()
        for result in [results[clause]]
    ]
    found = _make_verdict(gate, word, shown, reason or (reason_for_go(shown) if word == GO else ""))
    level = looking.level(evaluator.level) if guarded else None
    compared = [each.n for each in shown if each.holds is not None and each.low is not None]
    unseen = unseen_share(min(compared)) if word == GO and compared and not gate.rules.strict else None
    return msgspec.structs.replace(found, look=looking.number if guarded else 1, level=level, unseen=unseen)


def _to_do(role: str, clause: Clause, result: ClauseResult, evaluator: Evaluator) -> str:
    """Says what helps if a `first` clause about the agreement of raters fails."""
    about_raters = any(
        isinstance(found, StatisticOperand) and found.label for found in _leaves(clause, evaluator)
    )
    return SCORE_AGAIN if role == "first" and result.holds is False and about_raters else ""


def _make_verdict(gate: Gate, word: str, clauses: list[ClauseResult], reason: str) -> Verdict:
    """Returns a verdict with what the gate's author says about the gate."""
    return Verdict(gate.name, word, clauses, reason, gate.rules.deciding, gate.rules.about)


def _reads(gate: Gate, evaluator: Evaluator) -> list[str]:
    """Returns the measures that a gate's clauses read, each once."""
    return list(dict.fromkeys(mean.measure.name for mean in _means(gate, evaluator)))


def _means(gate: Gate, evaluator: Evaluator) -> list[Mean]:
    operands = (found for clause in gate.clauses() for found in _leaves(clause, evaluator))
    return [mean for found in operands for mean in means_of(found)]


def _leaves(clause: Clause, evaluator: Evaluator) -> Iterator[Operand]:
    for _, one in expand_for_each(clause, lambda _: [UNLISTED]):
        yield from evaluator.operands(one).values()


def conclude(gate: Gate, results: Mapping[Clause, ClauseResult]) -> tuple[str, str]:
    """Returns the verdict that follows from decided clauses, and the reason."""
    bare = {result.holds for result in results.values() if result.value is None}
    decided = {clause: result.holds for clause, result in results.items()}
    first, go = (True if part is None else part.holds(decided) for part in (gate.first, gate.go))
    # a clause without a value fails only if a system failed on too many items
    if first is True and go is False and False in bare:
        return NO_GO, FAILS_TOO_OFTEN
    return _conclusion(gate, decided, None in bare)


def _unshown(gate: Gate) -> str:
    """Says that go was not shown, and how many ways to go there were."""
    ways = max((way for ways in gate.ways().values() for way in ways), default=0)
    return f"none of the {ways} ways to go is shown" if ways else "go is not shown"


def _conclusion(gate: Gate, decided: Mapping[Clause, bool | None], blocked: bool) -> tuple[str, str]:
    """Returns the verdict and its reason.

    `blocked` says that some clause has no value: then a declared `otherwise` must not replace the verdict.
    """
    first = gate.first.holds(decided) if gate.first else True
    kill = gate.kill.holds(decided) if gate.kill else False
    go = gate.go.holds(decided) if gate.go else True
    if first is not True:
        return INCONCLUSIVE, FIRST_FAILS if first is False else FIRST_OPEN
    if kill is True:
        return NO_GO, "a kill condition is met"
    if go is True and kill is False:
        return GO, ""  # the reason comes later, from the labels of the clauses
    if gate.rules.otherwise is not None and not blocked:
        return gate.rules.otherwise, f"{_unshown(gate)}, and for that the gate says {gate.rules.otherwise}"
    if go is False and gate.kill is None:
        return NO_GO, GO_FAILS
    open_or_failed = [
        "a go clause is undecided" if go is None else GO_FAILS if go is False else "",
        "a kill condition is undecided" if kill is None else NO_KILL if gate.kill else "",
    ]
    return INCONCLUSIVE, ", ".join(filter(None, open_or_failed))


NO_KILL = "no kill condition is met"


def reason_for_go(clauses: Sequence[ClauseResult]) -> str:
    """Says why the verdict is go, for example `2 clauses pass (gain shown)`.

    Other examples are `1 of 10 clauses passes (not guarded)` and `no kill condition is met`.
    """
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
    """Returns each clause once, even if it is in several branches."""
    return list({clause.text: clause for clause in clauses}.values())


def _number(holding: int, of: int) -> str:
    if of == 1:
        return "the clause passes"
    all_of_them = f"{holding} clauses" if holding == of else f"{holding} of {of} clauses"
    return f"{all_of_them} {'passes' if holding == 1 else 'pass'}"


def _labels(clauses: Sequence[ClauseResult]) -> str:
    """Says in brackets what clauses show: one label for all of them, or how many have each label."""
    counts = Counter(clause.shows for clause in clauses if clause.shows)
    if not counts:
        return ""
    if len(counts) == 1 and counts.total() == len(clauses):
        return f" ({next(iter(counts))})"
    return f" ({', '.join(f'{counts[label]} {label}' for label in LABELS if counts[label])})"


def verdict_notes(verdict: Verdict) -> Iterator[str]:
    """Yields notes on a verdict: losses that no item may have shown, and how many looks came before."""
    if verdict.unseen is not None:
        yield f"up to {verdict.unseen:.1%} of the items could have lost everything unseen"
    if verdict.look > 1 and verdict.level is not None:
        yield f"look {verdict.look} at this gate, so its intervals are at {verdict.level:.1%}"


def describe_advice(advice: Advice) -> str:
    """Says how many more items are likely to decide a clause, or what to do instead."""
    if advice.items is None or advice.chance is None or advice.by_luck is None:
        return f"more items are unlikely to settle it: {advice.instead}"
    of = f" of {advice.where}" if advice.where else ""
    number = f"{advice.items} more item{'s' * (advice.items != 1)}{of}"
    chances = f"{advice.chance:.0%} to settle it if the effect is what it looks like"
    return f"with {number}, {chances}, {advice.by_luck:.0%} if there is none"


def find_decided_differences(
    gates: Sequence[Gate], verdicts: Sequence[Verdict], evaluator: Evaluator, book: LookHistory
) -> list[GateDifference]:
    """Returns each difference of two systems that a gate decides, those of deciding gates first.

    A clause such as `M(a) >= M(b) + 0.02` decides the difference of two systems in one measure. A report must
    say the same about this difference as the clause, at the level that the gate gives the clause. Gates that
    only inform are included, because their outcome is on the same page. A gate that was not reached decides
    nothing.
    """
    reached = {verdict.gate for verdict in verdicts if verdict.clauses}
    found = [gate for gate in gates if gate.name in reached]
    found.sort(key=lambda gate: not gate.rules.deciding)
    return [each for gate in found for each in _of_gate(gate, evaluator, book)]


def _of_gate(gate: Gate, evaluator: Evaluator, book: LookHistory) -> Iterator[GateDifference]:
    sharing = 0
    for role, levels in gate_levels(gate, evaluator, next_look(gate, evaluator, book)).items():
        tree = expand_clause(gate.groups[role], evaluator.rows.known_values, evaluator.operands)
        for family in error_families(tree, to_hold=True):
            sharing += 1
            for clause in family:
                pair = _pair(clause, evaluator)
                if pair is None or not is_guarded(clause, gate.rules, evaluator):
                    continue
                (above, below), constant = pair
                found = decide_clause(clause, gate.rules, evaluator, kills=role == "kill", levels=levels)
                if found.value is None:
                    continue
                yield GateDifference(
                    gate.name,
                    above.system,
                    below.system,
                    above.measure.name,
                    evaluator.rows.mask(above.where),
                    math.nan if found.low is None else found.low - constant,
                    math.nan if found.high is None else found.high - constant,
                    levels[clause].holds,
                    sharing,
                )


def _pair(clause: Clause, evaluator: Evaluator) -> tuple[tuple[Mean, Mean], float] | None:
    """Returns the two means whose difference a clause is about, and the constant added to it; or None."""
    form = linear_form(Arithmetic("-", clause.left, clause.right))
    if form is None or sorted(form[0].values()) != [-1, 1]:
        return None
    calls, operands = sorted(form[0], key=lambda call: -form[0][call]), evaluator.operands(clause)
    above, below = (operands[call] for call in calls)
    if not isinstance(above, Mean) or not isinstance(below, Mean):
        return None
    alike = above.measure.name == below.measure.name and above.where == below.where
    return ((above, below), form[1]) if alike and above.system != below.system else None
