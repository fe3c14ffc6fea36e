"""A question drawn from real text, as its maker hands it over: words, answer, evidence and tags.

A maker is a function `questions(pages, passages, rng) -> Iterator[Drafted]`. `pages` are those of its own
kind, in the order of their sources; `passages` has each page's passages by the page's doc_id; all chance
comes from `rng`. It drafts more than are used, best rules first or mixed, and the dataset chooses among them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from assay.core.records import Passage
from assay.datasets.evidence import PARAGRAPH, SENTENCE
from assay_worlds.sources.source import Page

Passages = Mapping[str, list[Passage]]


class Drafted(NamedTuple):
    """A question with its answer and evidence, before it is checked, counted and chosen."""

    text: str
    answer: str | list[str]  # a list: all of its texts belong to the answer
    units: Sequence[dict[str, Any]]  # of `suites.evidence`; none where the corpus holds no answer
    tags: tuple[str, ...]
    kind: str  # the rule that made it, such as "handbook_number": choices are balanced over it
    impossible: str | None = None  # "aggregation", "out_of_kb", or None

    @property
    def grain(self) -> str:
        """What one unit is: a paragraph where units say which of their sentences are needed."""
        return PARAGRAPH if any("needs" in unit for unit in self.units) else SENTENCE


Maker = Callable[[Sequence[Page], Passages, Random], Iterator[Drafted]]
