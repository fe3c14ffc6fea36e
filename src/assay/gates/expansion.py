"""Writes clauses with `for`, `max`, `min` and `within` as plain clauses, and says how sure each must be.

`max(M(a), M(b)) >= x` passes if M(a) or M(b) is at least x. `y >= max(M(a), M(b))` passes if y is at least
both of them. `x within 0.02 of y` passes if x <= y + 0.02 and x >= y - 0.02. So every comparison of a gate
becomes a clause of its own.

A gate has one error budget: half for a false go, half for a false no-go. If every clause must pass, each may
use the whole half, because a false go needs a wrong pass of some particular clause. If one of several clauses
is enough, chance has as many tries as there are clauses, so they share the half. Then all of them must pass a
higher bar. The largest of their deviations passes this bar no more often than a single deviation may pass the
plain bar (max-T; Westfall and Young, 1993; Romano and Wolf, 2005). So clauses that move together, such as two
versions of one system, cost little. For a no-go it is the reverse: if all clauses must pass, a single failing
clause is enough. The bar is turned back into a confidence level, so that every kind of interval can use it.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.gates.operand import CHOICES, Operand, choices_in, operand_range
from assay.gates.syntax import (
    WITHIN,
    Arithmetic,
    Call,
    Clause,
    Condition,
    Expression,
    ItemTest,
    Negation,
    Number,
    substitute,
)
from assay.stats.families import shared_level

KnownValues = Callable[[str], Sequence[str]]  # gives the values of a tag or factor
OperandLookup = Callable[[Clause], Mapping[Call, Operand]]


@dataclass(frozen=True)
class ClauseGroup:
    """Clauses of which `need` must pass: all of them, one of them, or a number in between."""

    need: int
    parts: tuple[ClauseGroup | Clause, ...]
    names: tuple[str, ...] = ()  # names of the parts, if they come from one clause
    band: float | None = None  # the band of a `within`; its parts are the upper and the lower end

    def holds(self, decided: Mapping[Clause, bool | None]) -> bool | None:
        """Whether enough clauses pass; None if this depends on undecided clauses."""
        values = [
            part.holds(decided) if isinstance(part, ClauseGroup) else decided[part] for part in self.parts
        ]
        if values.count(True) >= self.need:
            return True
        return None if values.count(True) + values.count(None) >= self.need else False

    def clauses(self) -> Iterator[Clause]:
        """Yields all clauses of the group and of groups within it."""
        for part in self.parts:
            yield from part.clauses() if isinstance(part, ClauseGroup) else (part,)

    def open_clauses(self, decided: Mapping[Clause, bool | None]) -> Iterator[Clause]:
        """Yields the undecided clauses that can still change the result of the group."""
        for part in self.parts if self.holds(decided) is None else ():
            if isinstance(part, ClauseGroup):
                yield from part.open_clauses(decided)
            elif decided[part] is None:
                yield part


def expand_clause(
    part: ClauseGroup | Clause, known: KnownValues, operands: OperandLookup
) -> ClauseGroup | Clause:
    """Returns a clause or group with every `for`, `max`, `min` and `within` replaced by plain clauses."""
    if isinstance(part, ClauseGroup):
        return ClauseGroup(part.need, tuple(expand_clause(each, known, operands) for each in part.parts))
    if part.each is not None:
        found = dict(expand_for_each(part, known))
        need = len(found) if part.each.need is None else part.each.need
        return ClauseGroup(
            need, tuple(expand_clause(each, known, operands) for each in found.values()), tuple(found)
        )
    if part.band is not None and part.op == WITHIN:
        plain = dataclasses.replace(part, band=None, chosen=True)
        above = dataclasses.replace(plain, op="<=", right=Arithmetic("+", part.right, part.band))
        below = dataclasses.replace(plain, op=">=", right=Arithmetic("-", part.right, part.band))
        ends = expand_clause(above, known, operands), expand_clause(below, known, operands)
        return ClauseGroup(2, ends, ("not above", "not below"), part.band.value)
    if (choice := _choice(part, operands)) is None:
        return part
    call, rises = choice
    ones = [expand_clause(_with(part, call, arg), known, operands) for arg in call.args]
    # if the margin rises with a maximum, one large value is enough; if it falls, all must be small
    any_will_do = (call.name == "max") == (rises == part.upward)
    return ClauseGroup(1 if any_will_do else len(ones), tuple(ones), tuple(map(str, call.args)))


def expand_for_each(clause: Clause, known: KnownValues) -> Iterator[tuple[str, Clause]]:
    """Yields each value of a clause's `for`, and the clause for this value.

    If the clause has the name of the `for` after an @, the value replaces it there. Otherwise the value
    selects a slice.
    """
    if clause.each is None:
        yield "", clause
        return
    condition = clause.each.condition
    values: Sequence[str] = condition.values
    if not condition.equal:
        values = [value for value in known(condition.name) if value not in condition.values]
    elif "*" in condition.values:
        values = known(condition.name)
    for value in values:
        left, right = (_bound(side, condition.name, value) for side in (clause.left, clause.right))
        where = clause.where
        if (left, right) == (clause.left, clause.right):
            where = (*where, Condition(condition.name, True, (value,)))
        yield value, dataclasses.replace(clause, left=left, right=right, where=where, each=None)


def _bound(expression: Expression, name: str, value: str) -> Expression:
    """Returns the expression with every `@name` replaced by the value."""
    match expression:
        case Call(at=at, args=args):
            found = (int(value) if value.isdigit() else value) if at == name else at
            return dataclasses.replace(
                expression, at=found, args=tuple(_bound(arg, name, value) for arg in args)
            )
        case Negation(operand=operand):
            return Negation(_bound(operand, name, value))
        case ItemTest(left=left, op=op, right=right):
            return ItemTest(_bound(left, name, value), op, _bound(right, name, value))
        case Arithmetic(op=op, left=left, right=right):
            return Arithmetic(op, _bound(left, name, value), _bound(right, name, value))
    return expression


def has_choice(clause: Clause) -> bool:
    """Whether a clause contains a `max` or `min`."""
    return any(choices_in(clause.left)) or any(choices_in(clause.right))


def _choice(clause: Clause, operands: OperandLookup) -> tuple[Call, bool] | None:
    """Returns the first `max` or `min` of a clause, and whether the margin rises with it; None without one.

    A `max` or `min` is skipped if its direction is unknown, or if it occurs in both directions.
    """
    if not has_choice(clause):
        return None
    found: dict[Call, set[bool | None]] = {}
    for call, rises in call_directions(_margin(clause), operands(clause)):
        if call.name in CHOICES:
            found.setdefault(call, set()).add(rises)
    clear = ((call, rises) for call, (rises, *others) in found.items() if not others and rises is not None)
    return next(clear, None)


def _margin(clause: Clause) -> Expression:
    return Arithmetic("-", clause.left, clause.right)


def call_directions(
    expression: Expression, operands: Mapping[Call, Operand], rises: bool | None = True
) -> Iterator[tuple[Call, bool | None]]:
    """Yields every call of an expression, and whether the whole rises with it.

    A `max` or `min` comes before its values. The direction is None if the call is multiplied or divided by
    something that can be negative or positive.
    """

    def inside(part: Expression, factor: int) -> Iterator[tuple[Call, bool | None]]:
        return call_directions(
            part, operands, rises == (factor > 0) if factor and rises is not None else None
        )

    match expression:
        case Call(name=name, args=args):
            yield expression, rises
            for arg in args if name in CHOICES else ():
                yield from inside(arg, 1)
        case Negation(operand=operand):
            yield from inside(operand, -1)
        case Arithmetic(op="+" | "-" as op, left=left, right=right):
            yield from inside(left, 1)
            yield from inside(right, 1 if op == "+" else -1)
        case Arithmetic(op="*", left=left, right=right):
            yield from inside(left, _sign(right, operands))
            yield from inside(right, _sign(left, operands))
        case Arithmetic(op="/", left=left, right=right):
            below = _sign(right, operands)  # if the sign never changes, the quotient moves one way only
            yield from inside(left, below)
            yield from inside(right, -_sign(left, operands) if below else 0)


def _sign(expression: Expression, operands: Mapping[Call, Operand]) -> int:
    """Returns 1 if an expression is never negative, -1 if it is never positive, and otherwise 0.

    An expression that is always zero has the sign 0.
    """
    low, high = _range(expression, operands)
    return 0 if low == high == 0 else 1 if low >= 0 else -1 if high <= 0 else 0


def _range(expression: Expression, operands: Mapping[Call, Operand]) -> tuple[float, float]:
    """Returns the least and the greatest value that an expression can have."""
    match expression:
        case Number(value=value):
            return value, value
        case Call(name=name, args=args) if name in CHOICES:
            lows, highs = zip(*(_range(arg, operands) for arg in args), strict=True)
            return (max(lows), max(highs)) if name == "max" else (min(lows), min(highs))
        case Call() if expression in operands:
            return operand_range(operands[expression])
        case Negation(operand=operand):
            low, high = _range(operand, operands)
            return -high, -low
        case Arithmetic(op=op, left=left, right=right):
            (low, high), (least, most) = _range(left, operands), _range(right, operands)
            if op == "+":
                return low + least, high + most
            if op == "-":
                return low - most, high - least
            signs = _sign(left, operands) * _sign(right, operands)
            if low == high and least == most and (op == "*" or least):
                whole = low * least if op == "*" else low / least
                return whole, whole
            return (0.0, math.inf) if signs > 0 else (-math.inf, 0.0) if signs < 0 else (-math.inf, math.inf)
    return -math.inf, math.inf


def _with(clause: Clause, call: Call, arg: Expression) -> Clause:
    """Returns the clause with one value of a `max` or `min` in place of the whole."""
    left, right = (substitute(side, call, arg) for side in (clause.left, clause.right))
    return dataclasses.replace(clause, left=left, right=right, chosen=True)


Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Levels:
    """The confidence levels at which a clause may pass and fail, and how many clauses share a level."""

    holds: float
    fails: float
    among: int = 1  # how many clauses share a level; the larger of both numbers


def error_families(part: ClauseGroup | Clause, *, to_hold: bool) -> Iterator[list[Clause]]:
    """Yields sets of clauses. One wrong clause of a set can make the whole pass wrongly, or fail wrongly.

    `to_hold` asks for sets that can make the whole pass wrongly.
    """
    if isinstance(part, Clause):
        yield [part]
    elif part.need == (len(part.parts) if to_hold else 1):
        for each in part.parts:
            yield from error_families(each, to_hold=to_hold)
    else:
        yield list(dict.fromkeys(part.clauses()))


def share_levels(
    tree: ClauseGroup | Clause,
    deviations: Mapping[Clause, Floats],
    base: Callable[[Clause], tuple[float, float]],
    *,
    by_number: bool = False,
) -> dict[Clause, Levels]:
    """Returns the levels of every clause of a tree.

    `deviations` are the errors of each margin in the resamples; larger ones are nearer to passing. A clause
    without them promises nothing and takes no share. `base` gives the levels at which a clause would pass and
    fail if it were the only one. With `by_number` the shares depend only on the number of clauses, which
    missing marks cannot change.
    """
    shares: list[dict[Clause, tuple[float, int]]] = [{}, {}]
    for side, found in enumerate(shares):
        for family in error_families(tree, to_hold=side == 0):
            sharing = [clause for clause in family if clause in deviations]
            shifts = [-deviations[clause] if side else deviations[clause] for clause in sharing]
            own: dict[float, float] = {}
            for clause in sharing if len(sharing) > 1 else ():
                level = base(clause)[side]
                if level not in own:
                    own[level] = 1 - (1 - level) / len(shifts) if by_number else shared_level(shifts, level)
                found[clause] = max(found.get(clause, (level, 1)), (own[level], len(shifts)))
    levels = {}
    for clause in tree.clauses() if isinstance(tree, ClauseGroup) else [tree]:
        plain_levels = base(clause)
        (holds, rivals), (fails, others) = (
            found.get(clause, (plain_levels[side], 1)) for side, found in enumerate(shares)
        )
        if clause.level is not None:  # the clause has its own level, and keeps its share of that level
            holds, fails = (
                1 - (1 - clause.level) * (1 - each) / (1 - plain)
                for each, plain in ((holds, plain_levels[0]), (fails, plain_levels[1]))
            )
        levels[clause] = Levels(holds, fails, max(rivals, others))
    return levels
