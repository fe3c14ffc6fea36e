"""Passages that people are asked to grade, pass by pass, and those that somebody graded in a form."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from assay.core.dataset import digest
from assay.core.errors import Problem
from assay.judges.labels import text_hash
from assay.review.messages import Choice, Draft, Rule, StepForm, Task, TextBlock

Place = tuple[str, str, str, str]  # rater, item, label and passage


@dataclass(frozen=True)
class PassageTask:
    """One passage to grade for one item."""

    item_id: str
    doc_id: str
    label: str
    shown: str  # the text that a judgment is bound to
    blocks: Sequence[TextBlock] = ()  # what is on the screen

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
class GradingStep:
    """One pass: its passages in order, and the words that they can be given."""

    name: str
    title: str
    about: str
    grades: Mapping[str, float]
    form: StepForm
    subjects: Sequence[PassageTask]
    rules: Sequence[Rule] = ()

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Where each task stands, from 0."""
        return {each.task_id: place for place, each in enumerate(self.subjects)}


@dataclass(frozen=True)
class GradingSteps:
    """What is asked of every rater: a study's name, a sentence, and the passes."""

    title: str
    about: str
    steps: Sequence[GradingStep]


@dataclass(frozen=True)
class FilledPassage:
    """One passage as a person graded it in a form."""

    subject: PassageTask
    rater: str
    word: str
    note: str
    mark_id: str
    when: float
    grades: Mapping[str, float]  # the words that the form takes
    place: Callable[[str, str], Problem]  # a problem of this row, of what is wrong and what to do

    @property
    def step(self) -> str:
        return f"{self.subject.label}: {', '.join(self.grades)}"

    @property
    def task_id(self) -> str:
        return self.subject.task_id

    def draft(self, task: Task) -> Draft:
        base = None if task.mark is None else task.mark.mark_id
        return Draft.model_construct(mark_id=self.mark_id, base=base, choice=self.word, note=self.note)

    def unknown(self) -> Problem:
        return self.problem("nobody is asked for this passage", "Export the form again.")

    def problem(self, what: str, fix: str = "") -> Problem:
        return self.place(what, fix)


def steps_of_forms(filled: Sequence[FilledPassage]) -> GradingSteps:
    """The passages of forms, as passes: one for each label and its words."""
    by_step: dict[str, dict[str, FilledPassage]] = {}
    for each in filled:
        by_step.setdefault(each.step, {}).setdefault(each.task_id, each)
    steps = []
    for name, found in by_step.items():
        grades = next(iter(found.values())).grades
        asked = StepForm(choices=[Choice(value=word, label=word, key="") for word in grades])
        steps.append(GradingStep(name, name, "", grades, asked, [each.subject for each in found.values()]))
    return GradingSteps("forms", "", steps)
