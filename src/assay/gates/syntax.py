"""The parts of a gate clause. Each part prints as canonical text that parses back to the same part.

Clause ─ left, op, right      two expressions and the sign between them, or `within` a band
├── Expression                Number, Negation, Arithmetic or Call; as an argument of a call also ItemTest
├── where: Condition…         the rows that the clause is about
├── each: ForEach             the values for which the clause is repeated
├── on: Rule                  whether its estimate or its interval decides it
└── level                     the confidence level of its interval
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, get_args

from assay.core.dataset import NAME, WORD, Condition, bare_or_quoted

__all__ = [
    "Arithmetic",
    "Call",
    "Clause",
    "Condition",
    "Expression",
    "ForEach",
    "ItemTest",
    "Negation",
    "Number",
]

RESERVED = frozenset({"where", "for", "on"})
WITHIN = "within"
SECONDS = "s"
UNITS = {  # the factor that a number is multiplied by, and the unit of the result
    "%": ("0.01", ""),
    "ms": ("0.001", SECONDS),
    "s": ("1", SECONDS),
    "min": ("60", SECONDS),
    "h": ("3600", SECONDS),
}
OPPOSITE = {">=": "<", "<": ">=", ">": "<=", "<=": ">"}

Rule = Literal["estimate", "interval"]
RULES: tuple[Rule, ...] = get_args(Rule)
Param = bool | int | float | str
_PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2}
_ATOM = 3


@dataclass(frozen=True)
class Number:
    """A constant. Percentages are fractions: 80 % is 0.8. Times are in seconds: 300ms is 0.3s."""

    value: float
    unit: str = ""

    def __str__(self) -> str:
        whole = self.value.is_integer() and self.value < 1e15
        return (str(int(self.value)) if whole else repr(self.value)) + self.unit


@dataclass(frozen=True)
class Negation:
    """Minus an expression."""

    operand: Expression

    def __str__(self) -> str:
        return f"-{_enclosed(self.operand, _ATOM)}"


@dataclass(frozen=True)
class Arithmetic:
    """A sum, difference, product or ratio."""

    op: str
    left: Expression
    right: Expression

    def __str__(self) -> str:
        level = _PRECEDENCE[self.op]
        return f"{_enclosed(self.left, level)} {self.op} {_enclosed(self.right, level + 1)}"


@dataclass(frozen=True)
class Call:
    """A name with its parameters, cut-off, arguments and slice: `P(rel=2)@5(new)[language=en]`.

    The name may be of a measure, a statistic, a function or (without arguments) a system; `operand.py` finds
    out which. `column` is its place in the clause, for error messages.
    """

    name: str
    params: tuple[tuple[str, Param], ...] = ()
    at: int | str | None = None  # a rank, tokens, "inf", a level, or the name of a `for`
    args: tuple[Expression, ...] = ()
    where: tuple[Condition, ...] = ()
    column: int = field(default=1, compare=False)

    @property
    def head(self) -> str:
        """The call without arguments and slice, as the name of a measure is printed: `P(rel=2)@5`."""
        name = f"'{self.name}'" if self.name in RESERVED else bare_or_quoted(self.name, NAME)
        params = ", ".join(f"{bare_or_quoted(key, NAME)}={_show(value)}" for key, value in self.params)
        return name + (f"({params})" if params else "") + ("" if self.at is None else f"@{self.at}")

    def __str__(self) -> str:
        args = f"({', '.join(map(str, self.args))})" if self.args else ""
        return self.head + args + (f"[{_slice(self.where)}]" if self.where else "")


@dataclass(frozen=True)
class ItemTest:
    """The test that `share` and `count` apply to each item: `nDCG@10(new) < 0.1`."""

    left: Expression
    op: str  # a sign of a clause, = or !=
    right: Expression

    def __str__(self) -> str:
        # a bare name before = would read as a parameter
        bare = self.op == "=" and isinstance(self.left, Call) and self.left == Call(self.left.name)
        return f"{f'({self.left})' if bare else self.left} {self.op} {self.right}"


Expression = Number | Negation | Arithmetic | Call | ItemTest


@dataclass(frozen=True)
class ForEach:
    """Repeats a clause for each value of a condition. `need` repeats must pass; None: all of them."""

    need: int | None
    condition: Condition

    def __str__(self) -> str:
        return f"for {'each' if self.need is None else f'{self.need} of'} {self.condition}"


@dataclass(frozen=True)
class Clause:
    """Two expressions and a comparison. `text` is what its author wrote; verdicts quote it."""

    left: Expression
    op: str
    right: Expression
    where: tuple[Condition, ...] = ()
    each: ForEach | None = None
    on: Rule | None = None  # what decides the clause; None: the gate's rule
    band: Number | None = None  # how far apart the sides of a `within` may be
    level: float | None = None  # the level of its interval; None: the gate's level
    text: str = field(default="", compare=False)
    chosen: bool = field(default=False, compare=False)  # it was written out from a `max`, `min` or `within`

    @property
    def upward(self) -> bool:
        """Whether a larger margin, left minus right, is nearer to passing."""
        return self.op in {">", ">="}

    def __str__(self) -> str:
        sign = self.op if self.band is None else f"{WITHIN} {self.band} of"
        parts = [f"{self.left} {sign} {self.right}"]
        if self.where:
            parts.append(f"where {_slice(self.where)}")
        if self.each:
            parts.append(str(self.each))
        if self.on:
            parts.append(f"on {self.on}")
        if self.level is not None:
            parts.append(f"at {100 * self.level:.12g}%")
        return " ".join(parts)


def walk(expression: Expression) -> Iterator[Expression]:
    """Yields an expression and all of its parts, except the parts inside a call."""
    yield expression
    match expression:
        case Negation(operand=operand):
            yield from walk(operand)
        case Arithmetic(left=left, right=right) | ItemTest(left=left, right=right):
            yield from walk(left)
            yield from walk(right)


def substitute(expression: Expression, call: Call, by: Expression) -> Expression:
    """Returns the expression with `by` in place of a call, except inside other calls."""
    match expression:
        case Call() if expression == call:
            return by
        case Negation(operand=operand):
            return Negation(substitute(operand, call, by))
        case Arithmetic(op=op, left=left, right=right):
            return Arithmetic(op, substitute(left, call, by), substitute(right, call, by))
    return expression


def parse_constant(word: str) -> Param:
    """Returns the value of an unquoted parameter: true, false, a number, or the word itself."""
    if word in {"true", "false"}:
        return word == "true"
    if re.fullmatch(r"-?\d+", word):
        return int(word)
    if re.fullmatch(r"-?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", word):
        return float(word)
    return word


def _show(value: Param) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and not isinstance(parse_constant(value), str):
        return f"'{value}'"
    return bare_or_quoted(value, WORD) if isinstance(value, str) else repr(value)


def _slice(conditions: tuple[Condition, ...]) -> str:
    return ", ".join(map(str, conditions))


def _enclosed(expression: Expression, level: int) -> str:
    """Returns an operand as text, in parentheses if it binds less tightly than its place needs."""
    binds = _PRECEDENCE[expression.op] if isinstance(expression, Arithmetic) else _ATOM
    return str(expression) if binds >= level else f"({expression})"
