"""What the calls of a clause refer to: a mean of one measure of one system, or a statistic over several.

A call that refers to nothing, or says more than is read, is an error that names its column: whatever a gate
says must count.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assay.core.errors import PluginError, UsageError, did_you_mean
from assay.core.optional import PairMeasure
from assay.core.protocols import Measure, Statistic
from assay.core.registry import MEASURES, STATISTICS, Registry
from assay.core.spec import Spec
from assay.gates.hints import (
    explain_wrong_number,
    suggest_for_call,
    suggest_for_one_value,
    suggest_system_list,
)
from assay.gates.syntax import Arithmetic, Call, Clause, Condition, Expression, ItemTest, Negation
from assay.measures.parse import REFUSED, has_parameter, make_measure

CHOICES = ("max", "min")
ALL_SYSTEMS = "*"
_PERCENTILE = re.compile(r"p(\d{1,2}(?:\.\d+)?)")


@dataclass(frozen=True)
class Mean:
    """A leaf: the mean of one measure of one system over a slice."""

    system: str
    measure: Measure
    where: tuple[Condition, ...]

    @property
    def column(self) -> tuple[str, str]:
        """The column of scores it reads."""
        return self.system, self.measure.name

    @property
    def kind(self) -> tuple[str, ...]:
        """What it measures, whichever system: leaves of one kind can be compared."""
        return (self.measure.name,)

    @property
    def systems(self) -> list[str]:
        """Its system, and the one that a measure of two compares it with."""
        return [self.system, *([self.measure.against] if isinstance(self.measure, PairMeasure) else [])]


@dataclass(frozen=True)
class StatisticOperand:
    """A leaf: a statistic over columns of scores, or over raters' judgments of a label.

    With a `test` of each item, the statistic reads one column, of 1 where an item passes and 0 elsewhere;
    `calls` are those of the test that `columns` stand for.
    """

    name: str
    statistic: Statistic
    columns: tuple[Mean, ...] = ()
    label: str | None = None
    where: tuple[Condition, ...] = ()
    test: ItemTest | None = None
    calls: tuple[Call, ...] = ()

    @property
    def tag(self) -> str:
        """The tag whose number is its last column; empty where it reads none."""
        tag: str = getattr(self.statistic, "tag", "")
        return tag

    @property
    def raters(self) -> list[str]:
        """The judges that a statistic of judgments names; none: whoever the study counts as raters."""
        named = getattr(self.statistic, "raters", "")
        return named.split("|") if named else []

    @property
    def kind(self) -> tuple[str, ...]:
        measures = (column.measure.name for column in self.columns)
        return (self.name, *measures, *filter(None, [self.label, self.test.op if self.test else None]))


Operand = Mean | StatisticOperand


def operand_range(found: Operand) -> tuple[float, float]:
    """The values that a leaf can have; that of a statistic which declares none has no ends."""
    if isinstance(found, Mean):
        return found.measure.low, math.inf if found.measure.high is None else found.measure.high
    if getattr(found.statistic, "keeps_range", False):
        return operand_range(found.columns[0])
    low = getattr(found.statistic, "low", -math.inf)
    highest = max((operand_range(mean)[1] for mean in found.columns), default=math.inf)
    high = getattr(found.statistic, "high", highest if low == 0 else None)
    return low, math.inf if high is None else high


def means_of(found: Operand) -> tuple[Mean, ...]:
    """The columns of scores a leaf reads."""
    return (found,) if isinstance(found, Mean) else found.columns


def calls_in(expression: Expression, clause: Clause | None = None) -> Iterator[Call]:
    """Every call of an expression that stands for a number, functions such as `max` looked through.

    `clause` is the one that the expression is of, for mistakes to say how it would be written.
    """
    match expression:
        case Call(name=name, args=args) if name in CHOICES:
            if not args or expression.where or expression.params or expression.at is not None:
                raise _mistake(expression, f"{name} takes only values, as in {name}(R@5(a), R@5(b))")
            if len(args) == 1:
                raise _mistake(expression, suggest_for_one_value(expression, clause))
            for arg in args:
                yield from calls_in(arg, clause)
        case Call():
            yield expression
        case Negation(operand=operand):
            yield from calls_in(operand, clause)
        case Arithmetic(left=left, right=right) | ItemTest(left=left, right=right):
            yield from calls_in(left, clause)
            yield from calls_in(right, clause)


def resolve_call(
    call: Call,
    systems: Sequence[str],
    registry: Registry,
    where: tuple[Condition, ...] = (),
    clause: Clause | None = None,
) -> Operand:
    """What a call refers to; a name that is neither measure nor statistic nor system is an error."""
    place = (*where, *call.where)
    names = registry.names(STATISTICS)
    if call.name in names or _PERCENTILE.fullmatch(call.name):
        return _spanning(call, systems, registry, place, clause)
    if any(isinstance(arg, Call) and arg.name == ALL_SYSTEMS for arg in call.args):
        raise _mistake(call, suggest_system_list(call, systems, clause))
    if call.name not in registry.names(MEASURES) and (meant := suggest_for_call(call, clause)):
        raise _mistake(call, meant)
    params = dict(call.params)
    if len(call.args) == 2 and has_parameter(call.name, "against", registry):
        params["against"] = _system(call.args[1], systems, call)
    try:
        measure = make_measure(call.name, params, call.at, registry)
    except PluginError as error:
        if has_parameter(call.name, "against", registry) and "against" not in params:
            what = f"{call.head} compares two systems, as in {call.head}(new, old)"
            raise _mistake(call, what) from error
        known = call.name in registry.names(MEASURES) or call.name in REFUSED
        near = "" if known else _nearest_statistic(call, {*names, *CHOICES})
        what = f"there is no measure or statistic {call.name!r}. {near}" if near else str(error)
        raise _mistake(call, what) from error
    if not call.args and len(systems) == 1:
        return Mean(systems[0], measure, place)
    if len(call.args) != 1 + ("against" in params and "against" not in dict(call.params)):
        raise _mistake(call, f"{call.head} needs one system, as in {call.head}({systems[0]})")
    return Mean(_system(call.args[0], systems, call), measure, place)


def _nearest_statistic(call: Call, names: set[str]) -> str:
    """The statistics that a name may be meant for; all of them where it is called as one, else nothing."""
    word = call.name.lower()
    starts = [name for name in names if len(word) > 2 and (name.startswith(word) or word.startswith(name))]
    near = did_you_mean(word, starts or names, 0.0 if starts else 0.75)
    of_measures = any(not isinstance(arg, Call) or not _bare(arg) for arg in call.args)
    return near if near.startswith("Did") or of_measures else ""


def _spanning(
    call: Call,
    systems: Sequence[str],
    registry: Registry,
    where: tuple[Condition, ...],
    clause: Clause | None,
) -> StatisticOperand:
    if inner := next((each for arg in call.args for each in _choices_in(arg)), None):
        example = f"{inner.name}({', '.join(f'{call.name}({arg} …)' for arg in inner.args)})"
        raise _mistake(call, f"no system is the best of several item by item. Write {example}, or one system")
    spec = Spec(call.name, dict(call.params))
    short = _PERCENTILE.fullmatch(call.name)
    if short and call.name not in registry.names(STATISTICS):
        spec = Spec("percentile", {**spec.params, "rank": short[1]})
    try:
        statistic: Statistic = registry.create(STATISTICS, spec)
    except (PluginError, UsageError) as error:
        raise _mistake(call, str(error)) from error
    if getattr(statistic, "tests", False):
        return _tested(call, statistic, systems, registry, where)
    args = [arg for arg in call.args if isinstance(arg, Call)]
    takes = getattr(statistic, "takes", None)
    if takes is not None and len(call.args) != takes:
        raise _mistake(call, explain_wrong_number(call, takes, clause))
    if call.at is not None or len(args) != len(call.args) or not args:
        raise _mistake(call, f"{call.name} takes measures or a label, no numbers and no @")
    if statistic.reads == "judgments":
        if len(args) != 1 or not _bare(args[0]):
            raise _mistake(call, f"{call.name} takes one label, as in {call.name}(accuracy)")
        return StatisticOperand(call.name, statistic, label=args[0].name, where=where)
    columns = [resolve_call(arg, systems, registry, where) for arg in args]
    means = tuple(column for column in columns if isinstance(column, Mean))
    if len(means) != len(columns):
        raise _mistake(call, f"{call.name} takes measures, not statistics of them")
    return StatisticOperand(call.name, _bound(call, statistic, means), means, where=where)


def _choices_in(expression: Expression) -> Iterator[Call]:
    """Every `max` or `min` that stands in an argument."""
    match expression:
        case Call(name=name) if name in CHOICES:
            yield expression
        case Negation(operand=operand):
            yield from _choices_in(operand)
        case Arithmetic(left=left, right=right) | ItemTest(left=left, right=right):
            yield from _choices_in(left)
            yield from _choices_in(right)


def _tested(
    call: Call,
    statistic: Statistic,
    systems: Sequence[str],
    registry: Registry,
    where: tuple[Condition, ...],
) -> StatisticOperand:
    """A statistic of a test of each item, such as the share of items below a value."""
    test = call.args[0] if len(call.args) == 1 else None
    if not isinstance(test, ItemTest) or call.at is not None:
        example = f"{call.name}(nDCG@10({systems[0]}) < 0.1)"
        raise _mistake(call, f"{call.name} takes one test of each item, as in {example}")
    inside = tuple(dict.fromkeys(calls_in(test)))
    found = [resolve_call(each, systems, registry, where) for each in inside]
    columns = tuple(each for each in found if isinstance(each, Mean))
    if len(columns) != len(found) or not columns:
        raise _mistake(call, f"{call.name} tests measures of systems, not statistics or only numbers")
    return StatisticOperand(call.name, statistic, columns, where=where, test=test, calls=inside)


def _bound(call: Call, statistic: Statistic, means: Sequence[Mean]) -> Statistic:
    """A statistic that hangs on what its arguments are, such as their cut-offs, told what they are."""
    of = getattr(statistic, "of", None)
    try:
        return statistic if of is None else of([mean.measure for mean in means])
    except UsageError as error:
        raise _mistake(call, str(error)) from error


def _system(call: Expression, systems: Sequence[str], of: Call) -> str:
    if not isinstance(call, Call):
        raise _mistake(of, f"{of.head} needs one system, as in {of.head}({systems[0]})")
    if call.name not in systems:
        raise _mistake(call, f"there is no system {call.name!r}. {did_you_mean(call.name, systems)}")
    if not _bare(call):
        raise _mistake(
            call, f"{call.name} is a system: write its slice after the call, as in R@5(new)[tag=x]"
        )
    return call.name


def _bare(call: Call) -> bool:
    return not (call.params or call.args or call.where) and call.at is None


def _mistake(call: Call, what: str) -> UsageError:
    return UsageError(f"column {call.column}: {what}")
