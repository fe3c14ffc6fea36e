"""The gate grammar: text to syntax tree by recursive descent. Every mistake is reported with its column.

clause  = sum (">="|">"|"<="|"<") sum tail | sum "within" NUMBER "of" sum tail
tail    = ["where" slice] ["for" ("each"|INT "of") (cond|NAME)]
          ["on" ("estimate"|"interval")] ["at" NUMBER "%"]
sum     = product {("+"|"-") product}        product = atom {("*"|"/") atom}
atom    = NUMBER["%"|"ms"|"s"|"min"|"h"] | "-" atom | "(" sum ")" | call
call    = NAME ["(" param {"," param} ")"] ["@" (INT|"inf"|NAME)] ["(" arg {"," arg} ")"] ["[" slice "]"]
arg     = sum | sum (">="|">"|"<="|"<"|"="|"!=") sum | param
param   = NAME "=" value
slice   = cond {"," cond}
cond    = NAME ("="|"!=") value {"|" value} | NAME (">="|">"|"<="|"<") NUMBER

A name or value with other characters in it is quoted; a doubled quote inside is one quote. Some spellings are
read as others: `mean(x)` as x, `min(x by tag) >= y` as x >= y for each tag=*.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable
from decimal import Decimal
from typing import TypeVar

from assay.core.dataset import NAME, WORD, numbers
from assay.core.errors import UsageError
from assay.gates.hints import (
    HINTS,
    suggest_band,
    suggest_for_tail,
    suggest_plain_band,
    suggest_two_clauses,
)
from assay.gates.syntax import (
    OPPOSITE,
    RESERVED,
    RULES,
    UNITS,
    WITHIN,
    Arithmetic,
    Call,
    Clause,
    Condition,
    Expression,
    ForEach,
    ItemTest,
    Negation,
    Number,
    Param,
    Rule,
    parse_constant,
)

T = TypeVar("T")

# This bound keeps the parser, and all code that walks its tree, below Python's recursion limit.
MOST_ATOMS = 64

_COMPARISON = re.compile(r">=|<=|>(?!=)|<(?!=)")
_ITEM_SIGN = re.compile(rf"{_COMPARISON.pattern}|!=|=(?![=<>])")
_NUMBER = re.compile(r"(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?(?:\s*(%|ms|s|min|h))?(?![\w.])")
_INT = re.compile(r"\d+(?![\w.])")
_QUOTED = re.compile(r"'((?:[^']|'')*)'|\"((?:[^\"]|\"\")*)\"")
_PARAM = re.compile(rf"(?:{NAME.pattern}|{_QUOTED.pattern})\s*=(?![=<>])")
_PARAMS = re.compile(rf"\(\s*{_PARAM.pattern}")
_IN = re.compile(r"in\s*\(([^()]*)\)")
_NOT = re.compile(r"not\b(?!\s*[(@\[=])\s*")
_STAR = re.compile(r"\*(?=\s*\))")
_FOUND = re.compile(r"[\w.]+|[<>=!]+|\S")
_CLOSING = {"(": ")", "[": "]"}


def parse_clause(text: str) -> Clause:
    """Parses a line of a gate. A UsageError shows the column of a mistake."""
    return _Parser(text).clause()


def parse_expression(text: str) -> tuple[Expression, tuple[Condition, ...]]:
    """Parses an expression without a comparison, and the slice after `where`."""
    return _Parser(text).expression()


class _Parser:
    """Parses one clause from left to right. `at` is never at white space."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at, self.atoms = 0, 0
        self.by: tuple[str, str, Expression, int] | None = None  # parts and column of a `min(x by tag)`
        self._skip_to(0)

    def clause(self) -> Clause:
        if not self.text.strip():
            raise self._error("the clause is empty. Write one such as nDCG@10(new) >= 0.4")
        if (negated := self._match(_NOT)) is not None:
            inner = _Parser(self.text[len(negated) :].strip()).clause()
            fix = "" if inner.band else f": `{dataclasses.replace(inner, op=OPPOSITE[inner.op])}`"
            raise self._error(f"a clause has no 'not'. Write the turned sign{fix}", 0)
        left = self._sum()
        op, band = self._sign(left)
        right = self._sum()
        if _COMPARISON.match(self.text, self.at):
            raise self._error(suggest_two_clauses(self.text[: self.at], self.text[self.at :]))
        where = self._many(self._condition) if self._keyword("where") else ()
        each = self._for_each() if self._keyword("for") else None
        on, level = self._certainty()
        if self.at < len(self.text):
            given = bool(where or each or on or level), bool(each or on or level), on, level
            words = ("where", "for", "on", "at")
            rest = [f"'{word}'" for word, one in zip(words, given, strict=True) if not one]
            hint = suggest_for_tail(self.text[: self.at].strip(), self.text[self.at :], bool(where))
            raise self._expected(", ".join(rest) + " or " * bool(rest) + "the end of the clause", hint)
        if self.by is not None:
            each = self._every_slice(left, op, right, each)
        return Clause(left, op, right, where, each, on, band, level, self.text.strip())

    def _sign(self, left: Expression) -> tuple[str, Number | None]:
        """Parses the comparison of a clause, and the band if the comparison is `within`."""
        start = self.at
        if not self._keyword(WITHIN):
            op = self._match(_COMPARISON)
            if op is None:
                raise self._expected("'>=', '>', '<=' or '<'", suggest_band(str(left), self.text[start:]))
            return op, None
        if not self.text[self.at : self.at + 1].isdecimal() and not self.text.startswith(".", self.at):
            raise self._expected("a number such as 0.02")
        at, band = self.at, self._number()
        percent = "%" in self.text[at : self.at]
        if not self._keyword("of"):
            raise self._expected("'of', as in: within 0.02 of nDCG@10(old)")
        if percent:
            raise self._error(suggest_plain_band(str(left), str(band), self.text[self.at :]), at)
        if band.value == 0:
            raise self._error("a band of 0 is equality, which no sample shows. Give what may differ", at)
        return WITHIN, band

    def _certainty(self) -> tuple[Rule | None, float | None]:
        """Parses `on` and `at` of a clause, in either order."""
        on: Rule | None = None
        level: float | None = None
        start = self.at
        for _ in range(2):
            if on is None and self._keyword("on"):
                on = next((rule for rule in RULES if self._keyword(rule)), None)
                if on is None:
                    raise self._expected("'estimate' or 'interval'")
            elif level is None and self._keyword("at"):
                start = self.at
                level = self._number().value
                if not 0.5 <= level < 1:
                    raise self._error("a level lies between 50% and 100%, as in: at 99%", start)
        if on == "estimate" and level is not None:
            raise self._error("an estimate has no level: leave out 'on estimate' or 'at'", start)
        return on, level

    def _every_slice(self, left: Expression, op: str, right: Expression, each: ForEach | None) -> ForEach:
        """Returns the `for` that replaces `by`.

        `min(x by tag) >= y` is x >= y for each tag=*; `min(x by tag) <= y` is x <= y for 1 of tag=*.
        """
        name, tag, inner, column = self.by or ("", "", left, 1)
        if op == WITHIN or each is not None or (inner is not left and inner is not right):
            what = f"{name}(… by {tag}) is one whole side of a clause, without 'for' and 'within'"
            raise self._error(f"{what}. Write the clause for each {tag}=* or for 1 of {tag}=*", column - 1)
        rising = (op in {">", ">="}) == (inner is left)  # whether the clause asks for large values of `inner`
        return ForEach(None if rising == (name == "min") else 1, Condition(tag, True, ("*",)))

    def expression(self) -> tuple[Expression, tuple[Condition, ...]]:
        if not self.text.strip():
            raise self._error("the expression is empty. Write one such as nDCG@10(new) - nDCG@10(old)")
        found = self._sum()
        if _COMPARISON.match(self.text, self.at):
            raise self._error("a figure compares nothing. Leave the comparison out, or write a gate")
        where = self._many(self._condition) if self._keyword("where") else ()
        if self.at < len(self.text):
            raise self._expected("'where' or the end of the expression" if not where else "the end")
        if self.by is not None:
            raise self._error("'by' belongs to a clause. Write one figure for each slice", self.by[3] - 1)
        return found, where

    # -------------------------------------------------------------------------- expressions

    def _sum(self) -> Expression:
        return self._chain("+-", lambda: self._chain("*/", self._atom))

    def _chain(self, signs: str, operand: Callable[[], Expression]) -> Expression:
        left = operand()
        while (sign := self.text[self.at : self.at + 1]) and sign in signs:
            self._take(sign)
            left = Arithmetic(sign, left, operand())
        return left

    def _atom(self) -> Expression:
        self.atoms += 1
        if self.atoms > MOST_ATOMS:
            raise self._error(f"more than {MOST_ATOMS} numbers, calls and parentheses. Split the clause")
        start = self.at
        if self._take("-"):
            return Negation(self._atom())
        if self._take("("):
            inner = self._sum()
            self._close(start)
            return inner
        if self.text[start : start + 1].isdecimal() or self.text.startswith(".", start):
            return self._number()
        return self._call()

    def _number(self) -> Number:
        start, found = self.at, _NUMBER.match(self.text, self.at)
        if found is None:
            raise self._expected("a number such as 0.05, 5%, 400 or 300ms")
        self._skip_to(found.end())
        times, unit = UNITS.get(found[3] or "", ("1", ""))
        digits = found[1] + (found[2] or "")
        # 99.9% is the float nearest to 0.999, which 99.9 / 100 is not
        value = float(Decimal(digits) * Decimal(times)) if found[3] else float(digits)
        if math.isinf(value):
            raise self._error("this number is too large", start)
        return Number(value, unit)

    def _call(self) -> Expression:
        column = self.at + 1
        if any(self._at_keyword(word) for word in RESERVED):
            raise self._expected("a number, '(' or the name of a measure, statistic or system")
        name = self._name("a number, '(' or the name of a measure, statistic or system")
        params = self._enclosed(self._param) if _PARAMS.match(self.text, self.at) else ()
        at = self._cut() if self._take("@") else None
        if _PARAMS.match(self.text, self.at):
            raise self._error("parameters stand once, before '@', as in P(rel=2)@5(new)")
        given = self._enclosed(lambda: self._argument(name)) if self.text.startswith("(", self.at) else ()
        args = tuple(each for each in given if not isinstance(each, tuple))
        params = (*params, *(each for each in given if isinstance(each, tuple)))
        if len({key for key, _ in params}) < len(params):
            raise self._error("a parameter is given twice", column - 1)
        where = self._enclosed(self._condition) if self.text.startswith("[", self.at) else ()
        only = args[0] if len(args) == 1 and not params and at is None else None
        if name == "mean" and isinstance(only, Call):
            return dataclasses.replace(only, where=(*only.where, *where))
        if self.by is not None and only is self.by[2] and not where:
            self.by = (*self.by[:3], column)
            return self.by[2]
        return Call(name, params, at, args, where, column)

    def _argument(self, of: str) -> Expression | tuple[str, Param]:
        """Parses a value, a test of each item, a parameter, `*` for every system, or a value `by` a tag."""
        if _PARAM.match(self.text, self.at):
            return self._param()
        column = self.at + 1
        if self._match(_STAR) is not None:
            return Call("*", column=column)
        left = self._sum()
        if self._keyword("by"):
            tag = self._name("the name of a tag")
            if of not in {"min", "max"} or self.by is not None:
                what = "'by' stands once in a clause, as in min(R@5(new) by tag) >= 0.6"
                raise self._error(what, column - 1)
            self.by = (of, tag, left, column)
            return left
        sign = self.at
        op = self._match(_ITEM_SIGN)
        if op is None:
            return left
        right = self._sum()
        if not self.text.startswith((")", ","), self.at):
            self.at = sign  # a ')' is missing here: perhaps no test of items was meant
            return left
        return ItemTest(left, op, right)

    def _param(self) -> tuple[str, Param]:
        key = self._name("the name of a parameter")
        if not self._take("="):
            raise self._expected("'='")
        return key, self._value(parse_constant)

    def _cut(self) -> int | str:
        if (number := self._match(_INT)) is not None:
            return int(number)
        if (name := self._match(NAME)) is not None:
            return name
        raise self._expected("a whole number, 'inf' or a name after '@'")

    # ------------------------------------------------------------------------------- slices

    def _condition(self, *, bare: bool = False) -> Condition:
        name = self._name("the name of a tag or factor")
        start = self.at
        if (sign := self._match(_COMPARISON)) is not None:
            value = self._value(str)
            if not list(numbers([value])):
                raise self._error(f"{value!r} is not a number, and '{sign}' compares numbers", start)
            return Condition(name, True, (value,), sign)
        if bare and not self.text.startswith(("=", "!="), start):
            return Condition(name, True, ("*",))
        equal = not self._take("!=")
        if equal and not self._take("="):
            listed = _IN.match(self.text, start)
            spelt = listed and f"{name}={'|'.join(part.strip() for part in listed[1].split(','))}"
            raise self._expected("'=', '!=' or a sign such as '>'", f"Write `{spelt}`." if spelt else "")
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
        condition = self._condition(bare=True)
        if condition.sign:
            raise self._error(f"'for' repeats a clause for values. Write: where {condition}", start)
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

    def _expected(self, what: str, hint: str = "") -> UsageError:
        found = _FOUND.match(self.text, self.at)
        hint = hint or (HINTS.get(found[0], "") if found else "")
        return self._error(
            f"expected {what}, found {repr(found[0]) if found else 'the end'}. {hint}".rstrip(". ")
        )

    def _error(self, what: str, at: int | None = None) -> UsageError:
        at = self.at if at is None else at
        line = re.sub(r"\s", " ", self.text)  # one line, so that the caret is under the mistake
        return UsageError(f"column {at + 1}: {what}.\n    {line.rstrip()}\n    {' ' * at}^")
