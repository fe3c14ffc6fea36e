"""What the calls of a clause refer to: a mean of one measure of one system, or a statistic over several.

A call that refers to nothing, or says more than is read, is an error that names its column: whatever a gate
says must count.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assay.errors import PluginError, UsageError, did_you_mean
from assay.gates.syntax import Binary, Call, Condition, Expression, Negate
from assay.measures.parse import make_measure
from assay.plugins import MEASURES, STATISTICS, Registry
from assay.protocols import Measure, Statistic
from assay.spec import Spec

FUNCTIONS = ("max", "min")
_SPELLINGS = {
    **dict.fromkeys(("mean", "avg", "average"), "a measure of a system is its mean already: write {}"),
    "median": "the median is written p50({})",
}


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


@dataclass(frozen=True)
class Spanning:
    """A leaf: a statistic over columns of scores, or over raters' judgments of a label."""

    name: str
    statistic: Statistic
    columns: tuple[Mean, ...] = ()
    label: str | None = None
    where: tuple[Condition, ...] = ()

    @property
    def raters(self) -> list[str]:
        """The judges that a statistic of judgments names; none: whoever the study counts as raters."""
        named = getattr(self.statistic, "raters", "")
        return named.split("|") if named else []

    @property
    def kind(self) -> tuple[str, ...]:
        return (self.name, *(column.measure.name for column in self.columns), *filter(None, [self.label]))


Leaf = Mean | Spanning


def means_of(found: Leaf) -> tuple[Mean, ...]:
    """The columns of scores a leaf reads."""
    return (found,) if isinstance(found, Mean) else found.columns


def calls(expression: Expression) -> Iterator[Call]:
    """Every call of an expression that stands for a number, functions such as `max` looked through."""
    match expression:
        case Call(name=name, args=args) if name in FUNCTIONS:
            if not args or expression.where or expression.params or expression.at is not None:
                raise _mistake(expression, f"{name} takes values alone, as in {name}(R@5(a), R@5(b))")
            if len(args) == 1:
                raise _mistake(expression, _of_one(name, str(args[0])))
            for arg in args:
                yield from calls(arg)
        case Call():
            yield expression
        case Negate(operand=operand):
            yield from calls(operand)
        case Binary(left=left, right=right):
            yield from calls(left)
            yield from calls(right)


def _of_one(name: str, arg: str) -> str:
    """Why `max` or `min` of a single value is refused: it would be the mean, whatever its author meant."""
    what = f"{name} of one value is that value, and a measure of a system is its mean over the items"
    fix = f"Write {arg} for the mean, p50({arg}) for the median or p95({arg}) for the high end; to ask it"
    return f"{what}. {fix} of every value of a tag, end the clause with: for each TAG=*"


def leaf(call: Call, systems: Sequence[str], registry: Registry, where: tuple[Condition, ...] = ()) -> Leaf:
    """What a call refers to; a name that is neither measure nor statistic nor system is an error."""
    place = (*where, *call.where)
    if call.name in registry.names(STATISTICS):
        return _spanning(call, systems, registry, place)
    try:
        measure = make_measure(call.name, dict(call.params), call.at, registry)
    except PluginError as error:
        if (spelt := _SPELLINGS.get(call.name.lower())) and len(call.args) == 1:
            raise _mistake(call, spelt.format(call.args[0])) from error
        near = did_you_mean(call.name, {*registry.names(STATISTICS), *FUNCTIONS})
        unknown = call.name not in registry.names(MEASURES) and near.startswith("Did")
        what = f"there is no measure or statistic {call.name!r}. {near}" if unknown else str(error)
        raise _mistake(call, what) from error
    if not call.args and len(systems) == 1:
        return Mean(systems[0], measure, place)
    if len(call.args) != 1 or not isinstance(call.args[0], Call):
        raise _mistake(call, f"{call.head} needs one system, as in {call.head}({systems[0]})")
    return Mean(_system(call.args[0], systems), measure, place)


def _spanning(
    call: Call, systems: Sequence[str], registry: Registry, where: tuple[Condition, ...]
) -> Spanning:
    try:
        statistic: Statistic = registry.create(STATISTICS, Spec(call.name, dict(call.params)))
    except PluginError as error:
        raise _mistake(call, str(error)) from error
    args = [arg for arg in call.args if isinstance(arg, Call)]
    if call.at is not None or len(args) != len(call.args) or not args:
        raise _mistake(call, f"{call.name} takes measures or a label, no numbers and no @")
    if statistic.reads == "judgments":
        if len(args) != 1 or not _bare(args[0]):
            raise _mistake(call, f"{call.name} takes one label, as in {call.name}(accuracy)")
        return Spanning(call.name, statistic, label=args[0].name, where=where)
    columns = [leaf(arg, systems, registry, where) for arg in args]
    means = tuple(column for column in columns if isinstance(column, Mean))
    if len(means) != len(columns):
        raise _mistake(call, f"{call.name} takes measures, not statistics of them")
    return Spanning(call.name, _bound(call, statistic, means), means, where=where)


def _bound(call: Call, statistic: Statistic, means: Sequence[Mean]) -> Statistic:
    """A statistic that hangs on what its arguments are, such as their cut-offs, told what they are."""
    of = getattr(statistic, "of", None)
    try:
        return statistic if of is None else of([mean.measure for mean in means])
    except UsageError as error:
        raise _mistake(call, str(error)) from error


def _system(call: Call, systems: Sequence[str]) -> str:
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
