"""What is looked at for leaks, all of it in one place: the pack, the map, the files, and what was served."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from assay.kinds.answers.blinding.masks import Masker
from assay.kinds.answers.blinding.order import blind_order
from assay.kinds.answers.blinding.pack import BlindPack, SealedMap
from assay.kinds.answers.leaks.statistics import LabelPermutations, condition_of
from assay.kinds.answers.leaks.texts import VisibleText, visible_texts
from assay.kinds.answers.scoring.assignment import passes_of, raters_of


class Leak(NamedTuple):
    """What was found, by which check, and where."""

    check: str
    what: str
    where: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what} [{self.check}]"


@dataclass(frozen=True)
class LeakSearch:
    """All that is looked at, and what must not show there."""

    folder: Path
    pack: BlindPack
    sealed: SealedMap
    words: Sequence[str]
    masking: Masker
    served: Mapping[str, str] = field(default_factory=dict)
    exported: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def ids(self) -> list[str]:
        return [each.response_id for each in self.pack.responses]

    @cached_property
    def place(self) -> dict[str, int]:
        return {each: place for place, each in enumerate(self.ids)}

    @cached_property
    def conditions(self) -> list[str]:
        """The condition of each response of the pack, in its order."""
        known = {each.response_id: condition_of(each.arm) for each in self.sealed.originals}
        return [known.get(each, "") for each in self.ids]

    @cached_property
    def stated(self) -> re.Pattern[str]:
        """What gives one of the words as the value of something: condition=A, "arm": "A"."""
        words = "|".join(map(re.escape, sorted(self.words, key=len, reverse=True)))
        name, value = r"(?:condition|arm|system|variant)s?", rf"(?P<word>{words or '(?!)'})"
        return re.compile(rf"{name}[\"']?\s*[:=]\s*[\"']?{value}(?![\w\[])")

    @cached_property
    def seen(self) -> list[VisibleText]:
        return visible_texts(self.folder, {**self.served, **self.exported}, frozenset(self.ids))

    def of_one(self, seen: VisibleText) -> str:
        """The response that a file is called after; empty where it is none."""
        stem = seen.name.rsplit("/", 1)[-1].split(".")[0]
        return stem if stem in self.place else ""

    @cached_property
    def orders(self) -> dict[tuple[str, str], list[str]]:
        """Each rater's order in each pass."""
        return {
            (rater, each.name): blind_order(self.pack, rater, each.name, sorted(each.response_ids))
            for rater in raters_of(self.pack)
            for each in passes_of(self.pack, rater)
        }

    @cached_property
    def deals(self) -> LabelPermutations:
        return LabelPermutations.of([each.question_id for each in self.pack.responses], self.conditions)
