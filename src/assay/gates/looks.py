"""Looks: how often a gate was decided before on other evidence, and how sure it must be this time.

A look is the same gate with the same versions of its systems on more or other evidence. Reading the same
evidence again is not a look, and a new version of a system starts at the first look. `stats/planning.py` says
what a further look costs. If an earlier look already decided a clause, the same result needs only the plain
bound: it was reported before, and repeating it adds no error.

The module also advises on an undecided clause: how many more items are likely to decide it at the next look,
or what to ask instead.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy import special

from assay.core.dataset import digest
from assay.core.records import Advice
from assay.gates.evaluator import Evaluator
from assay.gates.margin import BoundedValue, Margin
from assay.gates.operand import Mean
from assay.gates.syntax import Clause
from assay.stats.planning import POWER, chance_to_decide, last_look_tail, size_of, step_of

LEAST_SHARED = 0.9  # the least share of a look's evidence that must remain in a file that grew
HASH = 12  # hex digits of the hash of one item's evidence


class Look(msgspec.Struct, frozen=True):
    """One decision of a gate: the evidence behind it, and which clauses it decided."""

    question: str  # a hash of the gate and of the versions of its systems
    step: int  # step of the grid of sizes; a second look at one step uses the next step
    evidence: list[str]  # one hash per item
    shown: dict[str, bool] = {}  # by clause: whether it passed or failed


@dataclass(frozen=True)
class NextLook:
    """A gate about to be decided on some evidence, after its earlier looks."""

    evidence: frozenset[str]
    earlier: Sequence[Look] = ()
    planned: int | None = None
    question: str = ""

    @classmethod
    def at(
        cls,
        question: str,
        evidence: Iterable[str],
        looks: Iterable[Look],
        planned: int | None = None,
        *,
        grown: bool = False,
    ) -> NextLook:
        """Returns the next look at a question, given every look on record.

        If `grown` is true, only looks count whose evidence is still present, except for a few corrected
        labels.
        """
        now = frozenset(evidence)
        same = sorted((look for look in looks if look.question == question), key=lambda look: look.step)
        if grown:
            same = [
                each for each in same if len(now & set(each.evidence)) >= LEAST_SHARED * len(each.evidence)
            ]
        # if this evidence was seen before, only the looks before that one count
        earlier = list(itertools.takewhile(lambda look: frozenset(look.evidence) != now, same))
        return cls(now, earlier, planned, question)

    @classmethod
    def of_size(cls, items: int) -> NextLook:
        """Returns the first look, at this number of items."""
        return cls(frozenset(map(str, range(items))))

    @property
    def number(self) -> int:
        return len(self.earlier) + 1

    @cached_property
    def seen(self) -> int:
        """The number of items, each with its scores, that all looks together have seen."""
        return len(self.evidence.union(*(look.evidence for look in self.earlier)))

    @cached_property
    def first(self) -> int:
        """The size at which the grid starts: the planned size, or the size of the first look."""
        return self.planned or len(self.earlier[0].evidence if self.earlier else self.evidence) or 1

    @cached_property
    def step(self) -> int:
        """The step of the grid that this look uses."""
        reached = step_of(max(self.seen, 1), self.first)
        return max(reached, self.earlier[-1].step + 1) if self.earlier else reached

    def level(self, plain: float) -> float:
        """Returns the confidence level of this look, if a single look would have the level `plain`."""
        return self.level_after(0, plain) if self.earlier or self.step < 0 else plain

    def level_after(self, steps: int, plain: float) -> float:
        """Returns the level of a look some steps later that adds new items and drops none."""
        used, shared = [*(look.step for look in self.earlier), self.step], self._shared
        if steps:
            used.append(self.step + steps)
            shared = np.pad(shared, (0, 1), "edge")
            shared[-1, -1] += self.size_after(steps) - self.seen
        size = np.sqrt(np.diag(shared))
        return 1 - 2 * last_look_tail(used, shared / np.outer(size, size), (1 - plain) / 2)

    @cached_property
    def _shared(self) -> NDArray[np.float64]:
        """The number of items that every two looks share. This look is the last."""
        sets = [*(frozenset(look.evidence) for look in self.earlier), self.evidence]
        return np.array([[max(len(one & other), one is other) for other in sets] for one in sets], np.float64)

    def size_after(self, steps: int) -> int:
        """Returns the number of items for a decision some steps later."""
        return max(size_of(self.step + steps, self.first), self.seen + 1)

    def levels(self, clause: str, plain: float) -> tuple[float, float]:
        """Returns the levels at which a clause passes and fails."""
        now = self.level(plain)
        before = {look.shown.get(clause) for look in self.earlier}
        return (plain if True in before else now, plain if False in before else now)

    def recorded(self, shown: Mapping[str, bool]) -> Look:
        """Returns the record of this look."""
        return Look(self.question, self.step, sorted(self.evidence), dict(shown))


@dataclass(frozen=True)
class LookHistory:
    """Every look at the gates of a study so far, and a function that stores the next look."""

    looks: list[Look] = field(default_factory=list)
    question: Callable[[str], str] = str  # gives the hash of a gate and its systems, by the gate's name
    keep: Callable[[Look], None] | None = None
    # says by a gate's name whether the answers of its systems come from files
    imported: Callable[[str], bool] = lambda _: False

    def at(self, gate: str, evidence: Iterable[str], planned: int | None) -> NextLook:
        """Returns the look that is about to happen.

        A file of answers grows with the items, and does not say which version of a system wrote it. So a look
        at such answers is a further look if it contains the evidence of the earlier look.
        """
        grown = self.imported(gate)
        return NextLook.at(self.question(gate), evidence, self.looks, planned, grown=grown)

    def record(self, looking: NextLook, shown: Mapping[str, bool]) -> None:
        """Records a look, unless the same evidence was looked at before."""
        same = (look for look in self.looks if look.question == looking.question)
        if looking.evidence and all(frozenset(look.evidence) != looking.evidence for look in same):
            look = looking.recorded(shown)
            self.looks.append(look)
            if self.keep is not None:
                self.keep(look)


def evidence_of(means: Sequence[Mean], evaluator: Evaluator) -> list[str]:
    """Returns one hash for each item that has a score in any of the columns.

    It is a hash of the item's id and these scores.
    """
    rows = evaluator.rows
    columns = sorted({mean.column for mean in means if mean.system in rows.systems})
    if not columns:
        return []
    table = np.stack([rows.column(*column).values for column in columns])
    by_item = table.reshape(len(columns), -1, len(rows.items)).transpose(2, 0, 1)
    return [
        digest([item.item_id.encode(), values.tobytes()])[:HASH]
        for item, values in zip(rows.items, by_item, strict=True)
        if not np.isnan(values).all()
    ]


MOST_TIMES, MOST_ITEMS = 9, 300  # advice of more items: at most 9 times those there are, or 300
COMPARED = "ask whether what may be lost is small enough, as in >= M(old) - 0.02, or decide by cost"
ABSOLUTE = "the value lies too near to the threshold; move the threshold, or decide by other evidence"


@dataclass(frozen=True)
class UndecidedMargin:
    """The margin of an undecided clause, and the value whose bound must exclude a loss.

    Larger values of both are nearer to passing.
    """

    margin: Margin
    bound: BoundedValue
    level: float
    plain: float  # the level of a single clause at its first look
    compares: bool  # the clause compares systems or slices with each other, not with a number

    def chances(self, more: int, steps: int, looking: NextLook) -> tuple[float, float]:
        """Returns two chances that more items decide the clause.

        The first chance assumes that the true effect equals the estimate. The second assumes no effect at
        all.
        """
        whole, n = self.margin.whole, self.margin.n
        now, later = (_reach(looking.level_after(each, self.plain)) for each in (0, steps))
        reach, slack = _reach(self.level) * later / now, self.bound.value - whole.value
        error = (whole.high - whole.low) / 2 / _reach(self.level)
        alike = whole.value - self.margin.gain.value  # the margin if all systems were equal
        as_it_looks, by_luck = (
            chance_to_decide(whole.value, truth, slack, error, n, more, reach)
            for truth in (whole.value, alike)
        )
        return as_it_looks, by_luck


def advise(clause: Clause, plan: UndecidedMargin, looking: NextLook) -> Advice | None:
    """Advises how many more items are likely to decide an undecided clause, or what to do instead.

    The sizes tried are those of the next looks. A decision at a size between two of them would cost as much
    and have less evidence.
    """
    if not plan.margin.whole.low < plan.margin.whole.high:
        return None
    for steps in itertools.count(1):
        more = looking.size_after(steps) - looking.seen
        if more > max(MOST_TIMES * plan.margin.n, MOST_ITEMS):
            break
        likely, by_luck = plan.chances(more, steps, looking)
        if likely >= POWER:
            return Advice(more, ", ".join(map(str, clause.where)), likely, by_luck)
    return Advice(None, instead=COMPARED if plan.compares else ABSOLUTE)


def _reach(level: float) -> float:
    """Returns the distance of a bound at this level, in standard errors."""
    return float(special.ndtri((1 + level) / 2))
