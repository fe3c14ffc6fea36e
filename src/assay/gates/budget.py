"""How sure each clause of a gate must be, so that the whole gate is wrong no more often than it promises.

Half of what a gate may get wrong is for a false go, half for a false no-go. If every part must hold, each
part may use the whole half: a false go needs a part to pass that should not. If one of several is enough, or
some of them, luck has as many tries as there are parts, and they share the half: the bar is one that the
largest of their deviations passes no more often than a single one may (max-T; Westfall and Young, 1993;
Romano and Wolf, 2005). Parts that move together, such as two versions of one system, thus cost little. For a
no-go it is the other way round: of clauses that must all hold, any one that fails is enough.

The bar is turned back into a confidence level, so that every kind of interval can be taken at it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.gates.parts import ClauseGroup
from assay.gates.syntax import Clause
from assay.stats.families import shared_level

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Levels:
    """The confidence levels at which a clause is said to hold and to fail, and how many share each."""

    holds: float
    fails: float
    among: int = 1  # clauses of which one that holds, or fails, is enough; the larger number


def error_families(part: ClauseGroup | Clause, *, to_hold: bool) -> Iterator[list[Clause]]:
    """The clauses of a tree in sets of which one that is wrong can make the whole hold, or fail, wrongly."""
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
    """The levels of every clause of a tree, given what each was off by in the resamples, passing upwards.

    `base` is the level at which a clause would hold, and that at which it would fail, if it were the only
    one. A clause without deviations promises nothing and takes no share. `by_number` shares by number only,
    which no mark that is still to come can change.
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
        alone = base(clause)
        (holds, rivals), (fails, others) = (
            found.get(clause, (alone[side], 1)) for side, found in enumerate(shares)
        )
        if clause.level is not None:  # surer than the gate by its own word: it keeps its share of that
            holds, fails = (
                1 - (1 - clause.level) * (1 - each) / (1 - plain)
                for each, plain in ((holds, alone[0]), (fails, alone[1]))
            )
        levels[clause] = Levels(holds, fails, max(rivals, others))
    return levels
