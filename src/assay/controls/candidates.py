"""Whom a gate is about: the systems that it wants to be better, and those that it compares them with.

A control takes the place of every candidate at once: of `max(M(a), M(b))` with one of them replaced, the
other would carry the control over the threshold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.gates.expansion import call_directions
from assay.gates.operand import Mean, Operand, means_of
from assay.gates.syntax import Arithmetic, Call, Clause

Leaves = Mapping[Call, Operand]


@dataclass(frozen=True)
class Roles:
    """The candidates of a gate, each with what it is compared with; None: with nothing."""

    pairs: Mapping[str, str | None]
    references: tuple[str, ...]

    @property
    def candidates(self) -> tuple[str, ...]:
        return tuple(self.pairs)


def find_roles(clauses: Sequence[tuple[str, Clause, Leaves]], baseline: str | None) -> Roles:
    """The roles of systems in a gate's clauses, each with its own role (first, go, kill) and its leaves."""
    wanted: dict[str, set[int]] = {}
    together: list[set[str]] = []
    for role, clause, leaves in clauses:
        found = list(_directions(role, clause, leaves))
        together.append({system for system, _ in found})
        signs = {sign for _, sign in found}
        if len(together[-1]) == 1 and signs != {-1}:  # about one system, perhaps compared with itself
            found = [(found[0][0], 1)]
        for system, sign in found:
            wanted.setdefault(system, set()).add(sign)
    liked = [name for name, signs in wanted.items() if 1 in signs and -1 not in signs]
    torn = [name for name, signs in wanted.items() if {1, -1} <= signs or signs == {0}]
    candidates = liked + [name for name in torn if name != baseline]
    if not candidates:
        candidates = list(wanted)
    elif not liked and len(candidates) == len(wanted) > 1:
        candidates = candidates[:1]  # each is compared with every other: the first stands for all
    references = tuple(name for name in wanted if name not in candidates)
    return Roles(
        {name: _reference_of(name, together, references, baseline) for name in candidates}, references
    )


def _reference_of(
    name: str, together: Iterable[set[str]], references: Sequence[str], baseline: str | None
) -> str | None:
    """What a candidate is compared with: in its own clauses, the study's baseline before others."""
    near = [each for each in references if any({name, each} <= systems for systems in together)]
    return next((each for each in near if each == baseline), near[0] if near else None)


def _directions(role: str, clause: Clause, leaves: Leaves) -> Iterator[tuple[str, int]]:
    """Each system of a clause, and whether it passes more easily with a better (1) or worse (-1) one.

    0 where that cannot be said, as of what a correlation is taken of.
    """
    toward = (1 if clause.upward else -1) * (-1 if role == "kill" else 1)
    for call, rises in call_directions(Arithmetic("-", clause.left, clause.right), leaves):
        found = leaves.get(call)
        sign = 0 if rises is None else 1 if rises else -1
        if isinstance(found, Mean):
            better = 1 if found.measure.better == "higher" else -1
            yield found.system, sign * better * toward
        elif found is not None:
            yield from ((mean.system, 0) for mean in means_of(found))
