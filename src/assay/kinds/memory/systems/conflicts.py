"""Units that disagree: nearly the same words, but another number of the same thing, or only one denies."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from assay.kinds.memory.systems.overlap import closest, shared_before
from assay.kinds.memory.systems.rule_file import ConflictRule

_NUMBER = re.compile(r"(\d+(?:[.,:]\d+)*)(?:\s*(%|\w+))?")


@dataclass(frozen=True)
class Statement:
    """What two units can disagree about: content words less numbers, numbers by what is counted, a denial."""

    words: frozenset[str]
    numbers: dict[str, frozenset[str]]
    denial: str | None
    conditional: bool

    @classmethod
    def of(cls, text: str, stems: frozenset[str], rule: ConflictRule, conditional: bool) -> Statement:
        numbers: dict[str, set[str]] = {}
        digits: set[str] = set()
        for number, what in _NUMBER.findall(text):
            numbers.setdefault(what.lower().removesuffix("s"), set()).add(number)
            digits.update(re.split(r"[.,:]", number))
        counted = {what: frozenset(each) for what, each in numbers.items()}
        return cls(stems - digits, counted, rule.denial(text), conditional)

    def disagrees(self, other: Statement) -> str | None:
        """Why it cannot hold together with a unit before it, in words; None where it can."""
        for what in sorted(self.numbers.keys() & other.numbers.keys()):
            mine, theirs = self.numbers[what], other.numbers[what]
            if mine.isdisjoint(theirs):
                said, before = (", ".join(sorted(each)) for each in (mine, theirs))
                return f"says {said} where the other says {before}{f' ({what})' if what else ''}"
        both = self.conditional and other.conditional  # the two cases of one question
        if (self.denial is None) == (other.denial is None) or both:
            return None
        return f"only one of the two says {self.denial or other.denial!r}"


def find_conflicts(units: Sequence[Statement], rule: ConflictRule) -> Iterator[tuple[int, int, str]]:
    """Pairs that disagree: the later unit, the earlier, and why."""
    sizes = np.array([len(unit.words) for unit in units])
    for place, shared in enumerate(shared_before([unit.words for unit in units])):
        least = np.minimum(sizes[:place], sizes[place])
        near = np.flatnonzero((shared >= rule.shared) & (shared >= rule.share * least))
        for one in closest(shared, near, rule.most):
            if reason := units[place].disagrees(units[one]):
                yield place, one, reason
