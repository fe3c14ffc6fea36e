"""A gate as a study declares it, and what its clauses read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from pydantic import BaseModel, Field

from assay.core.errors import UsageError, did_you_mean
from assay.core.protocols import Judge, Measure
from assay.core.registry import Registry
from assay.core.yaml_lines import Share, Word
from assay.gates.expansion import ClauseGroup, expand_for_each
from assay.gates.grammar import parse_clause
from assay.gates.operand import Operand, StatisticOperand, calls_in, means_of, resolve_call
from assay.gates.syntax import Call, Clause


class GateFile(BaseModel, extra="forbid", frozen=True):
    """The fields of a gate: clauses that must pass first, clauses for go, kill conditions, and rules."""

    about: Word = Field("", description="what it is for, in a sentence; shown under its name")
    on: Literal["estimate", "interval"] | None = None
    first: Any = None
    go: Any = None
    kill: Any = None
    otherwise: Literal["inconclusive", "no-go"] | None = None
    min_items: int = Field(5, ge=1)
    failures: Literal["impute", "worst"] = "impute"
    max_failed: Share = Field(
        0.05, description="the share of its items on which a system may fail; beyond it, its clauses fail"
    )
    interval: Literal["bootstrap", "subsets"] = "bootstrap"
    planned: int | None = Field(
        None, ge=2, description="how many items it will be decided on in the end, for sharper bounds there"
    )
    strict: bool = Field(False, description="bounds reckon with rare losses that no item has shown")
    deciding: bool = Field(True, description="false: it informs a recommendation, and decides nothing")
    harmless: dict[Word, Word] = Field(
        {}, description="controls that may pass it, each with the reason (docs/controls.md)"
    )


UNLISTED = "*"  # stands for values that only the data have


def _group(given: Any, role: str, *, every: bool | None) -> ClauseGroup:
    """Returns the group of clauses that a study file declares.

    If `every` is None, a list of several clauses must say `any` or `all`.
    """
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
    """The names of a study that clauses and figures may use."""

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
    """A gate after parsing: clauses that must pass first, clauses for go, and kill conditions."""

    name: str
    first: ClauseGroup | None
    go: ClauseGroup | None
    kill: ClauseGroup | None
    rules: GateFile

    @classmethod
    def from_file(cls, name: str, file: GateFile) -> Gate:
        """Parses a gate. Every mistake in its clauses is a UsageError."""
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
        """The groups that the gate declares, by role."""
        every = {"first": self.first, "go": self.go, "kill": self.kill}
        return {role: group for role, group in every.items() if group is not None}

    def by_role(self) -> Iterator[tuple[str, Clause]]:
        for role, group in self.groups.items():
            yield from ((role, clause) for clause in group.clauses())

    def clauses(self) -> Iterator[Clause]:
        yield from (clause for _, clause in self.by_role())

    def open_clauses(self, decided: Mapping[Clause, bool | None]) -> set[Clause]:
        """Returns the undecided clauses that can still change the verdict."""
        if self.first is not None and self.first.holds(decided) is not True:
            return set(self.first.open_clauses(decided))
        if self.kill is not None and self.kill.holds(decided):
            return set()
        return {clause for group in (self.go, self.kill) if group for clause in group.open_clauses(decided)}

    def ways(self) -> dict[Clause, list[int]]:
        """Returns the parts of `go` that each clause belongs to, counted from 1. Empty if all must pass."""
        found: dict[Clause, list[int]] = {}
        if self.go is None or self.go.need == len(self.go.parts):
            return found
        for way, part in enumerate(self.go.parts, 1):
            for clause in part.clauses() if isinstance(part, ClauseGroup) else (part,):
                found.setdefault(clause, []).append(way)
        return found


def measures_of(gates: Sequence[Gate], names: StudyNames) -> list[Measure]:
    """Returns every measure that gates read, so that these measures are scored."""
    operands = (found for gate in gates for clause in gate.clauses() for found in operands_of(clause, names))
    return list({mean.measure.name: mean.measure for found in operands for mean in means_of(found)}.values())


def systems_of(gates: Sequence[Gate], names: StudyNames) -> set[str]:
    """Returns every system that gates are about."""
    operands = (found for gate in gates for clause in gate.clauses() for found in operands_of(clause, names))
    return {system for found in operands for mean in means_of(found) for system in mean.systems}


def operands_of(clause: Clause, names: StudyNames) -> Iterator[Operand]:
    """Yields the operands of a clause.

    Before a run, values that `for` puts after an @ must be written out in the clause.
    """
    if not [*calls_in(clause.left, clause), *calls_in(clause.right, clause)]:
        raise UsageError("a clause is about a measure of a system, and this one has only numbers")
    for _, one in expand_for_each(clause, lambda _: [UNLISTED]):
        for call in (*calls_in(one.left), *calls_in(one.right)):
            if call.at == UNLISTED:
                raise UsageError(f"column {call.column}: write out the values that `for` puts after the @")
            found = resolve_call(call, list(names.system_names), names.registry, clause=clause)
            if isinstance(found, StatisticOperand) and found.raters:
                _check_known_judges(call, found.raters, names)
            yield found


def _check_known_judges(call: Call, raters: Sequence[str], names: StudyNames) -> None:
    """Raises an error if a clause names a rater that is not a judge of the study. It would have no marks."""
    listed = [name for judge in names.judges for name in judge.names]
    for name in raters:
        if name not in listed:
            what = f"the study lists no judge {name!r}. {did_you_mean(name, listed)}"
            raise UsageError(f"column {call.column}: {what}")
