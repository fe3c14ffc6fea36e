"""The operands of a clause: what its calls refer to.

A call refers to the mean of a measure of one system, or to a statistic over several columns. A call that
refers to nothing, or has an unused part, is an error with its column: no part of a gate is ignored.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property

from assay.core.errors import PluginError, UsageError, did_you_mean
from assay.core.optional import MeasureBoundStatistic, PairMeasure
from assay.core.protocols import Measure, Statistic
from assay.core.registry import MEASURES, STATISTICS, Registry
from assay.core.spec import Spec
from assay.gates.hints import (
    explain_wrong_number,
    suggest_for_call,
    suggest_for_one_value,
    suggest_system_list,
)
from assay.gates.syntax import Call, Clause, Condition, Expression, ItemTest, walk
from assay.measures.parse import REFUSED, has_parameter, make_measure

CHOICES = ("max", "min")
ALL_SYSTEMS = "*"
_PERCENTILE = re.compile(r"p(\d{1,2}(?:\.\d+)?)")


@dataclass(frozen=True)
class Mean:
    """The mean of one measure of one system over a slice."""

    system: str
    measure: Measure
    where: tuple[Condition, ...]

    @property
    def column(self) -> tuple[str, str]:
        """The column of scores that the mean is taken of: system and measure."""
        return self.system, self.measure.name

    @property
    def kind(self) -> tuple[str, ...]:
        """What the mean measures, for any system. Operands of one kind can be compared."""
        return (self.measure.name,)

    @property
    def systems(self) -> list[str]:
        """The system, and the second system if the measure compares two."""
        return [self.system, *([self.measure.against] if isinstance(self.measure, PairMeasure) else [])]


@dataclass(frozen=True)
class StatisticTraits:
    """The properties that a statistic declares. A property that it leaves out has the default given here."""

    takes: int | None = None  # how many arguments; None: any number
    tests: bool = False  # whether its argument is a test of each item
    tag: str = ""  # a tag whose number is its last column
    raters: str = ""  # the judges to compare, as in "anna|llm"
    low: float = -math.inf
    high: float | None = math.nan  # None: no upper end; NaN: not declared
    keeps_range: bool = False  # whether its range is the range of the values that it reads
    unit: str = ""
    smooth: bool = False  # whether it has a jackknife
    stepwise: bool = False  # its values jump; the ends of an interval are values that were drawn
    settled: bool = True  # whether a value that no resample changes is certain
    total: bool = False  # whether it is a number of rows, not a share of rows
    sign: str = "<"  # the sign with which a count of the same rows is written
    share: float | None = None  # for a percentile: the share of rows below it
    most: float | None = None  # an infinite value is known to lie above this

    @classmethod
    def of(cls, statistic: Statistic) -> StatisticTraits:
        """Reads the traits of a statistic. Each is an attribute that a plugin may have."""
        names = [each.name for each in fields(cls) if hasattr(statistic, each.name)]
        return cls(**{name: getattr(statistic, name) for name in names})


@dataclass(frozen=True)
class StatisticOperand:
    """A statistic over columns of scores, or over raters' judgments of a label.

    With a `test` of each item, the statistic reads one column: 1 for an item that passes, 0 for other items.
    `calls` are the calls of the test, in the order of `columns`.
    """

    name: str
    statistic: Statistic
    columns: tuple[Mean, ...] = ()
    label: str | None = None
    where: tuple[Condition, ...] = ()
    test: ItemTest | None = None
    calls: tuple[Call, ...] = ()

    @cached_property
    def traits(self) -> StatisticTraits:
        return StatisticTraits.of(self.statistic)

    @property
    def tag(self) -> str:
        """The tag whose number is the last column; empty if the statistic reads no tag."""
        return self.traits.tag

    @property
    def raters(self) -> list[str]:
        """The judges that a statistic of judgments names. If it names none, the raters of the study count."""
        return self.traits.raters.split("|") if self.traits.raters else []

    @property
    def kind(self) -> tuple[str, ...]:
        """What the statistic is over, for any system. Operands of one kind can be compared."""
        measures = (column.measure.name for column in self.columns)
        return (self.name, *measures, *filter(None, [self.label, self.test.op if self.test else None]))


Operand = Mean | StatisticOperand


def operand_range(found: Operand) -> tuple[float, float]:
    """Returns the lowest and highest value that an operand can have; infinite where no range is declared."""
    if isinstance(found, Mean):
        return found.measure.low, math.inf if found.measure.high is None else found.measure.high
    traits = found.traits
    if traits.keeps_range:
        return operand_range(found.columns[0])
    if traits.high is None or not math.isnan(traits.high):
        return traits.low, math.inf if traits.high is None else traits.high
    highest = max((operand_range(mean)[1] for mean in found.columns), default=math.inf)
    return traits.low, highest if traits.low == 0 else math.inf


def means_of(found: Operand) -> tuple[Mean, ...]:
    """Returns the columns of scores that an operand reads."""
    return (found,) if isinstance(found, Mean) else found.columns


def calls_in(expression: Expression, clause: Clause | None = None) -> Iterator[Call]:
    """Yields every call of an expression that has a value of its own; for `max` and `min`, the calls inside.

    `clause` is the clause of the expression. Messages use it to suggest a correction.
    """
    for part in walk(expression):
        if not isinstance(part, Call):
            continue
        if part.name not in CHOICES:
            yield part
            continue
        if not part.args or part.where or part.params or part.at is not None:
            raise _mistake(part, f"{part.name} takes only values, as in {part.name}(R@5(a), R@5(b))")
        if len(part.args) == 1:
            raise _mistake(part, suggest_for_one_value(part, clause))
        for arg in part.args:
            yield from calls_in(arg, clause)


def choices_in(expression: Expression) -> Iterator[Call]:
    """Yields every `max` or `min` of an expression."""
    return (part for part in walk(expression) if isinstance(part, Call) and part.name in CHOICES)


def resolve_call(
    call: Call,
    systems: Sequence[str],
    registry: Registry,
    where: tuple[Condition, ...] = (),
    clause: Clause | None = None,
) -> Operand:
    """Returns the operand of a call. A name that is not a measure, statistic or system is an error."""
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
    """Suggests statistics that a name may mean; empty if the name is more likely a measure."""
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
    if inner := next((each for arg in call.args for each in choices_in(arg)), None):
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
    traits = StatisticTraits.of(statistic)
    if traits.tests:
        return _tested(call, statistic, systems, registry, where)
    args = [arg for arg in call.args if isinstance(arg, Call)]
    if traits.takes is not None and len(call.args) != traits.takes:
        raise _mistake(call, explain_wrong_number(call, traits.takes, clause))
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


def _tested(
    call: Call,
    statistic: Statistic,
    systems: Sequence[str],
    registry: Registry,
    where: tuple[Condition, ...],
) -> StatisticOperand:
    """Returns the operand of a statistic that tests each item, such as the share of items below a value."""
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
    """Returns the statistic, bound to the measures of its arguments if it depends on them."""
    if not isinstance(statistic, MeasureBoundStatistic):
        return statistic
    try:
        return statistic.of([mean.measure for mean in means])
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
