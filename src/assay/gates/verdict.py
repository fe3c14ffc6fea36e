"""Gates: from clauses to go, no-go or inconclusive.

A passed kill is no-go; all go clauses passed is go; `first` clauses must hold before anything else counts.
The rest is what the gate declares as `otherwise`: by default inconclusive, or no-go where a go clause failed
and no kill is declared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec

from assay.core.errors import UsageError, did_you_mean
from assay.core.protocols import Judge, Measure
from assay.core.records import ClauseResult, Verdict
from assay.core.registry import Registry
from assay.core.results import FIRST_FAILS, FIRST_OPEN, GO, GO_FAILS, INCONCLUSIVE, NO_GO
from assay.gates.budget import Levels
from assay.gates.clause import decide_clause, levels_for
from assay.gates.decision import is_guarded
from assay.gates.evaluate import Evaluator
from assay.gates.gate_file import GateFile
from assay.gates.grammar import parse_clause
from assay.gates.leaf import Mean, Operand, StatisticOperand, calls_in, means_of, resolve_call
from assay.gates.looks import LookHistory, NextLook, evidence_of
from assay.gates.parts import ClauseGroup, expand_for_each
from assay.gates.reason import NO_KILL, reason_for_go
from assay.gates.syntax import Call, Clause
from assay.stats.unseen import unseen_share

UNLISTED = "*"  # stands for the values that only the data know
FAILS_TOO_OFTEN = "a system failed on more items than the gate allows"
SCORE_AGAIN = "more items do not help: raters have to agree first, so make the rules clearer and score again"


def _group(given: Any, role: str, *, every: bool | None) -> ClauseGroup:
    """A group from what the study file says; `every` None: several clauses must say any or all."""
    if isinstance(given, str):
        return ClauseGroup(1, (parse_clause(given),))
    if isinstance(given, dict):
        if len(given) != 1 or next(iter(given)) not in {"any", "all"}:
            raise UsageError(f"{role}: write a clause, a list of clauses, {{any: […]}} or {{all: […]}}")
        ((word, parts),) = given.items()
        return _group(parts, role, every=word == "all")
    if not isinstance(given, list) or not given:
        raise UsageError(f"{role}: expected at least one clause")
    if every is None and len(given) > 1:
        raise UsageError(
            f"{role}: several clauses need {{any: […]}} or {{all: […]}}, so that it is plain which"
        )
    parts = tuple(
        parse_clause(part) if isinstance(part, str) else _group(part, role, every=True) for part in given
    )
    return ClauseGroup(1 if every is False else len(parts), parts)


class StudyNames(Protocol):
    """What clauses and figures of a study may name."""

    @property
    def registry(self) -> Registry: ...
    @property
    def system_names(self) -> Sequence[str]: ...
    @property
    def judges(self) -> Sequence[Judge]: ...
    @property
    def figures(self) -> Mapping[str, str]:
        """The expression of each figure, by its name."""
        ...


@dataclass(frozen=True)
class Gate:
    """A gate as parsed: what must hold first, what makes go, what kills."""

    name: str
    first: ClauseGroup | None
    go: ClauseGroup | None
    kill: ClauseGroup | None
    rules: GateFile

    @classmethod
    def from_file(cls, name: str, file: GateFile) -> Gate:
        """Parses a gate; every mistake in its clauses is a UsageError."""
        if file.go is None and file.kill is None:
            raise UsageError("a gate needs `go` or `kill` clauses")
        return cls(
            name,
            None if file.first is None else _group(file.first, "first", every=True),
            None if file.go is None else _group(file.go, "go", every=True),
            None if file.kill is None else _group(file.kill, "kill", every=None),
            file,
        )

    @property
    def groups(self) -> dict[str, ClauseGroup]:
        """What the gate declares, by role."""
        every = {"first": self.first, "go": self.go, "kill": self.kill}
        return {role: group for role, group in every.items() if group is not None}

    def by_role(self) -> Iterator[tuple[str, Clause]]:
        for role, group in self.groups.items():
            yield from ((role, clause) for clause in group.clauses())

    def levels(
        self, evaluator: Evaluator, looking: NextLook | None = None
    ) -> dict[str, dict[Clause, Levels]]:
        """How sure each clause must be, by role: `for`, `max` and `min` written out."""
        return {
            role: levels_for(group, self.rules, evaluator, looking) for role, group in self.groups.items()
        }

    def clauses(self) -> Iterator[Clause]:
        yield from (clause for _, clause in self.by_role())

    def guarded(self, evaluator: Evaluator) -> bool:
        """Whether any clause is decided on more than an estimate."""
        each = (one for clause in self.clauses() for _, one in expand_for_each(clause, lambda _: [UNLISTED]))
        return any(is_guarded(one, self.rules, evaluator) for one in each)

    def open_clauses(self, decided: Mapping[Clause, bool | None]) -> set[Clause]:
        """The open clauses that can still change the verdict: none beside a failed `first` or a met kill."""
        if self.first is not None and self.first.holds(decided) is not True:
            return set(self.first.open_clauses(decided))
        if self.kill is not None and self.kill.holds(decided):
            return set()
        return {clause for group in (self.go, self.kill) if group for clause in group.open_clauses(decided)}

    def ways(self) -> dict[Clause, list[int]]:
        """Where any of several parts makes go: the parts, counted from 1, that each clause stands in."""
        found: dict[Clause, list[int]] = {}
        if self.go is None or self.go.need == len(self.go.parts):
            return found
        for way, part in enumerate(self.go.parts, 1):
            for clause in part.clauses() if isinstance(part, ClauseGroup) else (part,):
                found.setdefault(clause, []).append(way)
        return found


def measures_of(gates: Sequence[Gate], names: StudyNames) -> list[Measure]:
    """Every measure that gates read, so that it is scored."""
    leaves = (found for gate in gates for clause in gate.clauses() for found in operands_of(clause, names))
    return list({mean.measure.name: mean.measure for found in leaves for mean in means_of(found)}.values())


def systems_of(gates: Sequence[Gate], names: StudyNames) -> set[str]:
    """Every system that gates speak of."""
    leaves = (found for gate in gates for clause in gate.clauses() for found in operands_of(clause, names))
    return {system for found in leaves for mean in means_of(found) for system in mean.systems}


def operands_of(clause: Clause, names: StudyNames) -> Iterator[Operand]:
    """What a clause reads; what `for` puts in the place of an @ must be written out to be known by now."""
    if not [*calls_in(clause.left, clause), *calls_in(clause.right, clause)]:
        raise UsageError("a clause is about a measure of a system, and this one has numbers alone")
    for _, one in expand_for_each(clause, lambda _: [UNLISTED]):
        for call in (*calls_in(one.left), *calls_in(one.right)):
            if call.at == UNLISTED:
                raise UsageError(f"column {call.column}: write out the values that `for` puts after the @")
            found = resolve_call(call, list(names.system_names), names.registry, clause=clause)
            if isinstance(found, StatisticOperand) and found.raters:
                _check_known_judges(call, found.raters, names)
            yield found


def _check_known_judges(call: Call, raters: Sequence[str], names: StudyNames) -> None:
    """Raters that a clause names must be judges of the study, or nothing they said would ever count."""
    listed = [name for judge in names.judges for name in judge.names]
    for name in raters:
        if name not in listed:
            what = f"the study lists no judge {name!r}. {did_you_mean(name, listed)}"
            raise UsageError(f"column {call.column}: {what}")


def decide_gates(
    gates: Sequence[Gate],
    evaluator: Evaluator,
    steps: Sequence[str] = (),
    settled: Callable[[Verdict], Verdict] = lambda verdict: verdict,
    book: LookHistory | None = None,
) -> list[Verdict]:
    """The verdict of every gate; among `steps`, a no-go leaves the later ones unreached.

    `settled` may decide a gate that is open only because something is still to be judged; `book` knows how
    often a gate was decided before on other evidence, and learns of this time.
    """
    verdicts: dict[str, Verdict] = {}
    order = {name: place for place, name in enumerate(steps)}
    for gate in sorted(gates, key=lambda gate: order.get(gate.name, len(order))):
        stopper = stopping_step(gate.name, {name: each.verdict for name, each in verdicts.items()}, steps)
        if stopper is not None:
            reason = f"not reached: {stopper} is no-go"
            found = _told(gate, INCONCLUSIVE, [], reason)
        else:
            found = settled(_verdict(gate, evaluator, book or LookHistory()))
        verdicts[gate.name] = msgspec.structs.replace(found, reads=_reads(gate, evaluator))
    return list(verdicts.values())


def stopping_step(gate: str, words: Mapping[str, str], steps: Sequence[str]) -> str | None:
    """The earlier step whose no-go keeps a gate from being reached."""
    earlier = steps[: steps.index(gate)] if gate in steps else ()
    return next((step for step in earlier if words.get(step) == NO_GO), None)


def overall_verdict(verdicts: Sequence[Verdict]) -> str | None:
    """One word over all gates: a no-go outweighs an open one, an open one outweighs go."""
    words = {verdict.verdict for verdict in verdicts if verdict.deciding}
    return next((word for word in (NO_GO, INCONCLUSIVE, GO) if word in words), None)


def find_recommendation(
    verdicts: Sequence[Verdict], recommend: Mapping[str, Mapping[str, str]]
) -> str | None:
    """The first recommendation all of whose conditions on gates are met."""
    found = {verdict.gate: verdict.verdict for verdict in verdicts}
    fitting = (say for say, when in recommend.items() if all(found.get(g) == w for g, w in when.items()))
    return next(fitting, None)


def next_look(gate: Gate, evaluator: Evaluator, book: LookHistory) -> NextLook:
    """The look at a gate that its evidence allows, after those before."""
    return book.at(gate.name, evidence_of(_means(gate, evaluator), evaluator), gate.rules.planned)


def _verdict(gate: Gate, evaluator: Evaluator, book: LookHistory) -> Verdict:
    looking = next_look(gate, evaluator, book)
    levels = gate.levels(evaluator, looking)
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
    guarded = gate.guarded(evaluator) and any(result.low is not None for result in results.values())
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
    found = _told(gate, word, shown, reason or (reason_for_go(shown) if word == GO else ""))
    level = looking.level(evaluator.level) if guarded else None
    compared = [each.n for each in shown if each.holds is not None and each.low is not None]
    unseen = unseen_share(min(compared)) if word == GO and compared and not gate.rules.strict else None
    return msgspec.structs.replace(found, look=looking.number if guarded else 1, level=level, unseen=unseen)


def _to_do(role: str, clause: Clause, result: ClauseResult, evaluator: Evaluator) -> str:
    """What helps if a clause on the agreement of raters was to hold first and does not."""
    about_raters = any(
        isinstance(found, StatisticOperand) and found.label for found in _leaves(clause, evaluator)
    )
    return SCORE_AGAIN if role == "first" and result.holds is False and about_raters else ""


def _told(gate: Gate, word: str, clauses: list[ClauseResult], reason: str) -> Verdict:
    """A verdict with what the gate's author says of it."""
    return Verdict(gate.name, word, clauses, reason, gate.rules.deciding, gate.rules.about)


def _reads(gate: Gate, evaluator: Evaluator) -> list[str]:
    """The measures that a gate's clauses read, each once."""
    return list(dict.fromkeys(mean.measure.name for mean in _means(gate, evaluator)))


def _means(gate: Gate, evaluator: Evaluator) -> list[Mean]:
    leaves = (found for clause in gate.clauses() for found in _leaves(clause, evaluator))
    return [mean for found in leaves for mean in means_of(found)]


def _leaves(clause: Clause, evaluator: Evaluator) -> Iterator[Operand]:
    for _, one in expand_for_each(clause, lambda _: [UNLISTED]):
        yield from evaluator.leaves(one).values()


def conclude(gate: Gate, results: Mapping[Clause, ClauseResult]) -> tuple[str, str]:
    """The verdict that follows from decided clauses, and why."""
    bare = {result.holds for result in results.values() if result.value is None}
    decided = {clause: result.holds for clause, result in results.items()}
    first, go = (True if part is None else part.holds(decided) for part in (gate.first, gate.go))
    # a clause fails without a figure only if a system did not answer often enough to have one
    if first is True and go is False and False in bare:
        return NO_GO, FAILS_TOO_OFTEN
    return _conclusion(gate, decided, None in bare)


def _unshown(gate: Gate) -> str:
    """That nothing speaks for go clearly enough, and how many ways there were."""
    ways = max((way for ways in gate.ways().values() for way in ways), default=0)
    return f"none of the {ways} ways to go is shown" if ways else "go is not shown"


def _conclusion(gate: Gate, decided: Mapping[Clause, bool | None], blocked: bool) -> tuple[str, str]:
    """The verdict. `blocked`: some clause has no figures, which no declared outcome may stand in for."""
    first = gate.first.holds(decided) if gate.first else True
    kill = gate.kill.holds(decided) if gate.kill else False
    go = gate.go.holds(decided) if gate.go else True
    if first is not True:
        return INCONCLUSIVE, FIRST_FAILS if first is False else FIRST_OPEN
    if kill is True:
        return NO_GO, "a kill condition is met"
    if go is True and kill is False:
        return GO, ""  # the clauses, once they are known, say what was shown
    if gate.rules.otherwise is not None and not blocked:
        return gate.rules.otherwise, f"{_unshown(gate)}, and for that the gate says {gate.rules.otherwise}"
    if go is False and gate.kill is None:
        return NO_GO, GO_FAILS
    open_or_failed = [
        "a go clause is open" if go is None else GO_FAILS if go is False else "",
        "a kill condition is open" if kill is None else NO_KILL if gate.kill else "",
    ]
    return INCONCLUSIVE, ", ".join(filter(None, open_or_failed))
