"""The gate grammar: text to syntax tree, by recursive descent, every mistake with its column.

clause  = sum (">="|">"|"<="|"<") sum ["where" slice] ["for" ("each"|INT "of") cond]
          ["on" ("estimate"|"interval")]
sum     = product {("+"|"-") product}        product = atom {("*"|"/") atom}
atom    = NUMBER["%"] | "-" atom | "(" sum ")" | call
call    = NAME ["(" param {"," param} ")"] ["@" (INT|"inf"|NAME)] ["(" sum {"," sum} ")"] ["[" slice "]"]
param   = NAME "=" value
slice   = cond {"," cond}                    cond = NAME ("="|"!=") value {"|" value}

A name or value with other signs in it stands in quotes; a doubled quote inside stands for one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import TypeVar

from assay.errors import UsageError
from assay.gates.syntax import (
    RESERVED,
    RULES,
    Binary,
    Call,
    Clause,
    Condition,
    Expression,
    ForEach,
    Negate,
    Number,
    Param,
    Rule,
    constant,
)
from assay.slices import NAME, WORD

T = TypeVar("T")

# One bound on a clause keeps the parser, and all that walks its tree, off Python's recursion limit.
MOST_ATOMS = 64

_COMPARISON = re.compile(r">=|<=|>(?!=)|<(?!=)")
_NUMBER = re.compile(r"(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?(\s*%)?(?![\w.])")
_INT = re.compile(r"\d+(?![\w.])")
_QUOTED = re.compile(r"'((?:[^']|'')*)'|\"((?:[^\"]|\"\")*)\"")
_PARAMS = re.compile(rf"\(\s*(?:{NAME.pattern}|{_QUOTED.pattern})\s*=")
_FOUND = re.compile(r"[\w.]+|[<>=!]+|\S")
_CLOSING = {"(": ")", "[": "]"}
_HINTS = {
    "≥": "Write >=.",
    "≤": "Write <=.",
    "=>": "Write >=.",
    "=<": "Write <=.",
    "−": "Write the plain minus sign, -.",
    "–": "Write the plain minus sign, -.",
    "×": "Write *.",
    "÷": "Write /.",
    "∞": "Write inf.",
    "and": "Write each condition as a clause of its own.",
    "or": "Write each condition as a clause of its own.",
    "by": "To ask it of every value of a tag, end the clause with: for each TAG=*.",
    "{": "In figures, {system} stands for each system.",
}


def parse_clause(text: str) -> Clause:
    """The clause a line of a gate stands for; a UsageError shows the column of a mistake."""
    return _Parser(text).clause()


def parse_expression(text: str) -> tuple[Expression, tuple[Condition, ...]]:
    """An expression without a comparison, and the slice it is about."""
    return _Parser(text).expression()


class _Parser:
    """Reads one clause from left to right. `at` is always on a sign, never on white space."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.atoms = 0
        self._skip_to(0)

    def clause(self) -> Clause:
        if not self.text.strip():
            raise self._error("the clause is empty. Write one such as nDCG@10(new) >= 0.4")
        left = self._sum()
        op = self._match(_COMPARISON)
        if op is None:
            raise self._expected("'>=', '>', '<=' or '<'")
        right = self._sum()
        if _COMPARISON.match(self.text, self.at):
            raise self._error("a second comparison. A clause has one: write two clauses")
        where = self._many(self._condition) if self._keyword("where") else ()
        each = self._for_each() if self._keyword("for") else None
        on = self._rule() if self._keyword("on") else None
        if self.at < len(self.text):
            told = bool(where or each or on), bool(each or on), on is not None
            rest = [f"'{word}'" for word, said in zip(("where", "for", "on"), told, strict=True) if not said]
            raise self._expected(", ".join(rest) + " or " * bool(rest) + "the end of the clause")
        return Clause(left, op, right, where, each, on, self.text.strip())

    def expression(self) -> tuple[Expression, tuple[Condition, ...]]:
        if not self.text.strip():
            raise self._error("the expression is empty. Write one such as nDCG@10(new) - nDCG@10(old)")
        found = self._sum()
        if _COMPARISON.match(self.text, self.at):
            raise self._error("a figure compares nothing. Leave the comparison out, or write a gate")
        where = self._many(self._condition) if self._keyword("where") else ()
        if self.at < len(self.text):
            raise self._expected("'where' or the end of the expression" if not where else "the end")
        return found, where

    def _rule(self) -> Rule:
        """What the clause is decided on, whatever the gate says."""
        for rule in RULES:
            if self._keyword(rule):
                return rule
        raise self._expected("'estimate' or 'interval'")

    # -------------------------------------------------------------------------- expressions

    def _sum(self) -> Expression:
        return self._chain("+-", lambda: self._chain("*/", self._atom))

    def _chain(self, signs: str, operand: Callable[[], Expression]) -> Expression:
        left = operand()
        while (sign := self.text[self.at : self.at + 1]) and sign in signs:
            self._take(sign)
            left = Binary(sign, left, operand())
        return left

    def _atom(self) -> Expression:
        self.atoms += 1
        if self.atoms > MOST_ATOMS:
            raise self._error(f"more than {MOST_ATOMS} numbers, calls and parentheses. Split the clause")
        start = self.at
        if self._take("-"):
            return Negate(self._atom())
        if self._take("("):
            inner = self._sum()
            self._close(start)
            return inner
        if self.text[start : start + 1].isdecimal() or self.text.startswith(".", start):
            return self._number()
        return self._call()

    def _number(self) -> Number:
        start = self.at
        digits = self._match(_NUMBER)
        if digits is None:
            raise self._expected("a number such as 0.05, 5% or 400")
        value = float(digits.rstrip("%")) / (100 if digits.endswith("%") else 1)
        if math.isinf(value):
            raise self._error("this number is too large", start)
        return Number(value)

    def _call(self) -> Call:
        column = self.at + 1
        if any(self._at_keyword(word) for word in RESERVED):
            raise self._expected("a number, '(' or the name of a measure, statistic or system")
        name = self._name("a number, '(' or the name of a measure, statistic or system")
        params = self._enclosed(self._param) if _PARAMS.match(self.text, self.at) else ()
        if len({key for key, _ in params}) < len(params):
            raise self._error("a parameter is given twice", column - 1)
        at = self._cut() if self._take("@") else None
        if _PARAMS.match(self.text, self.at):
            raise self._error("parameters stand once, before '@', as in P(rel=2)@5(new)")
        args = self._enclosed(self._sum) if self.text.startswith("(", self.at) else ()
        where = self._enclosed(self._condition) if self.text.startswith("[", self.at) else ()
        return Call(name, params, at, args, where, column)

    def _param(self) -> tuple[str, Param]:
        key = self._name("the name of a parameter")
        if not self._take("="):
            raise self._expected("'='")
        return key, self._value(constant)

    def _cut(self) -> int | str:
        if (number := self._match(_INT)) is not None:
            return int(number)
        if (name := self._match(NAME)) is not None:
            return name
        raise self._expected("a whole number, 'inf' or a name after '@'")

    # ------------------------------------------------------------------------------- slices

    def _condition(self) -> Condition:
        name = self._name("the name of a tag or factor")
        equal = not self._take("!=")
        if equal and not self._take("="):
            raise self._expected("'=' or '!='")
        values = [self._value(str)]
        while self._take("|"):
            values.append(self._value(str))
        return Condition(name, equal, tuple(values))

    def _for_each(self) -> ForEach:
        start = self.at
        need = None
        if not self._keyword("each"):
            count = self._match(_INT)
            if count is None or not self._keyword("of"):
                raise self._expected("'each', or a number and 'of', as in: for 2 of tag=a|b|c")
            need = int(count)
        condition = self._condition()
        listed = condition.equal and "*" not in condition.values
        if need == 0 or (need and listed and need > len(condition.values)):
            raise self._error(f"{need} of {len(condition.values)} values cannot be asked for", start)
        return ForEach(need, condition)

    # -------------------------------------------------------------------------------- signs

    def _many(self, part: Callable[[], T]) -> tuple[T, ...]:
        parts = [part()]
        while self._take(","):
            parts.append(part())
        return tuple(parts)

    def _enclosed(self, part: Callable[[], T]) -> tuple[T, ...]:
        start = self.at
        self._take(self.text[start])
        parts = self._many(part)
        self._close(start)
        return parts

    def _close(self, start: int) -> None:
        opening = self.text[start]
        if not self._take(_CLOSING[opening]):
            raise self._expected(f"{_CLOSING[opening]!r} for the {opening!r} of column {start + 1}")

    def _name(self, wanted: str) -> str:
        if (name := self._quoted()) is not None or (name := self._match(NAME)) is not None:
            return name
        raise self._expected(wanted)

    def _value(self, read: Callable[[str], T]) -> T | str:
        if (quoted := self._quoted()) is not None:
            return quoted
        if (word := self._match(WORD)) is not None:
            return read(word)
        raise self._expected("a value")

    def _quoted(self) -> str | None:
        quote = self.text[self.at : self.at + 1]
        if quote not in {"'", '"'}:
            return None
        whole = self._match(_QUOTED)
        if whole is None:
            raise self._error("this quote is never closed")
        return whole[1:-1].replace(quote * 2, quote)

    def _keyword(self, word: str) -> bool:
        return self._at_keyword(word) and self._take(word)

    def _at_keyword(self, word: str) -> bool:
        found = NAME.match(self.text, self.at)
        return found is not None and found[0] == word

    def _take(self, sign: str) -> bool:
        found = self.text.startswith(sign, self.at)
        if found:
            self._skip_to(self.at + len(sign))
        return found

    def _match(self, pattern: re.Pattern[str]) -> str | None:
        found = pattern.match(self.text, self.at)
        if found is None:
            return None
        self._skip_to(found.end())
        return found[0]

    def _skip_to(self, end: int) -> None:
        while self.text[end : end + 1].isspace():
            end += 1
        self.at = end

    # ----------------------------------------------------------------------------- mistakes

    def _expected(self, what: str) -> UsageError:
        found = _FOUND.match(self.text, self.at)
        hint = _HINTS.get(found[0], "") if found else ""
        return self._error(
            f"expected {what}, found {repr(found[0]) if found else 'the end'}. {hint}".rstrip(". ")
        )

    def _error(self, what: str, at: int | None = None) -> UsageError:
        at = self.at if at is None else at
        line = re.sub(r"\s", " ", self.text)  # one line, so that the caret stands under its sign
        return UsageError(f"column {at + 1}: {what}.\n    {line.rstrip()}\n    {' ' * at}^")
