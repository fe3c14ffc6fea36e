"""Passages that people are asked to grade, pass by pass, as the desk shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from assay.core.dataset import digest
from assay.desk.messages import Block, Form, Rule
from assay.judges.marks import text_hash

Place = tuple[str, str, str, str]  # rater, item, label and passage


@dataclass(frozen=True)
class Subject:
    """One passage to grade for one item."""

    item_id: str
    doc_id: str
    label: str
    shown: str  # the text that a judgment is bound to
    blocks: Sequence[Block]

    @cached_property
    def task_id(self) -> str:
        """An id that says nothing of ranks, arms or texts."""
        return digest(part.encode() for part in (self.item_id, self.label, self.doc_id))[:24]

    @cached_property
    def seen(self) -> str:
        return text_hash(self.shown)

    def of(self, rater: str) -> Place:
        return rater, self.item_id, self.label, self.doc_id


@dataclass(frozen=True)
class Step:
    """One pass: its passages in order, and the words that they can be given."""

    name: str
    title: str
    about: str
    grades: Mapping[str, float]
    form: Form
    subjects: Sequence[Subject]
    rules: Sequence[Rule] = ()

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Where each task stands, from 0."""
        return {each.task_id: place for place, each in enumerate(self.subjects)}


@dataclass(frozen=True)
class Subjects:
    """What is asked of every rater: a study's name, a sentence, and the passes."""

    title: str
    about: str
    steps: Sequence[Step]
