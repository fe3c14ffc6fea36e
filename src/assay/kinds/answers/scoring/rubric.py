"""The rubric: four passes with questions, answers and guidance, and also worked examples and precedents.

The texts are in `rubric.toml`. The module `drafts` has the rules that a program enforces.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

from assay.core.errors import UsageError, did_you_mean
from assay.review.work import Choice, Flag, Message

ACCURACY, HALLUCINATION, COMPLETENESS, CITATION = "accuracy", "hallucination", "completeness", "citation"
REFUSAL = "refusal"
NONE_FOUND = "none_found"  # a rater has to say that there is no unsupported claim
NOT_APPLICABLE = "na"
FABRICATED, WRONG_SOURCE, EXTRAPOLATED, TEMPORAL = "H-FAB", "H-SRC", "H-EXT", "H-TMP"
CAPPING = frozenset({FABRICATED, EXTRAPOLATED, TEMPORAL})  # with such a claim, accuracy is below `BEST`
BEST = 3  # the highest accuracy
SINGLE, SYNTHESIS, RELATION = "single-fact", "multi-section-synthesis", "conceptual-relationship"


class Guidance(Message):
    """Advice on how to decide. Guidance with a complexity is only for questions of that complexity."""

    title: str
    text: str
    complexity: str = ""


class RubricStep(Message):
    """A step of the rubric. Raters take it as one pass over all responses."""

    name: str
    title: str
    about: str
    grades: tuple[Choice, ...] = ()  # empty: the pass counts claims
    categories: tuple[Choice, ...] = ()  # empty: the pass has no claims
    flags: tuple[Flag, ...] = ()
    note_needed: frozenset[str] = frozenset()  # the grades that need a reason
    note_label: str = "Note"
    guidance: tuple[Guidance, ...] = ()

    def grade_of(self, choice: str | None) -> int | None:
        """Converts a choice into the stored grade; None for no choice, or if the step does not apply."""
        return None if choice is None or choice == NOT_APPLICABLE else int(choice)

    def choice_of(self, grade: int | None) -> str | None:
        """Converts a stored grade into the choice that the rater made."""
        if grade is None:
            return NOT_APPLICABLE if NOT_APPLICABLE in {each.value for each in self.grades} else None
        return str(grade)

    def guidance_on(self, complexity: str) -> str:
        """Returns the guidance for questions of one complexity; empty if there is none."""
        found = (each.text for each in self.guidance if each.complexity == complexity)
        return " ".join(found) if complexity else ""


class WorkedExample(Message):
    """A question with its reference answer, and a response for each grade of accuracy with the reason."""

    complexity: str
    question: str
    reference: str
    graded: tuple[tuple[str, str], ...]  # from 0 upwards

    @property
    def text(self) -> str:
        """The example in lines. The response with the lowest grade comes first."""
        grades = [f"{grade}: “{said}” {why}" for grade, (said, why) in enumerate(self.graded)]
        return "\n".join([f"Question: {self.question}", f"Reference: {self.reference}", *grades])


class Precedent(Message):
    """A ruling on an edge case that comes with the rubric."""

    case_id: str
    situation: str
    decision: str
    rationale: str
    steps: tuple[str, ...]


class Rubric(Message):
    """The content of `rubric.toml`."""

    steps: tuple[RubricStep, ...]
    examples: tuple[WorkedExample, ...]
    precedents: tuple[Precedent, ...]


@cache
def rubric() -> Rubric:
    """Returns the rubric. The file is read only once."""
    text = files(__package__).joinpath("rubric.toml").read_text(encoding="utf-8")
    return Rubric.model_validate(tomllib.loads(text))


def step_of(name: str) -> RubricStep:
    """Returns the step with this name. Raises a UsageError if there is none."""
    steps = rubric().steps
    if found := next((step for step in steps if step.name == name), None):
        return found
    raise UsageError(f"There is no pass {name!r}. {did_you_mean(name, [step.name for step in steps])}")
