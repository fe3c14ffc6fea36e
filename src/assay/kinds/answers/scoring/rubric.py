"""The rubric: four passes in their order, the question of each, and the keys that answer it.

The guidance and the precedents that go with it are in `guidance`. The rules that are enforced are in
`drafts`.
"""

from __future__ import annotations

from dataclasses import dataclass

from assay.core.errors import UsageError, did_you_mean

ACCURACY, HALLUCINATION, COMPLETENESS, CITATION = "accuracy", "hallucination", "completeness", "citation"
REFUSAL = "refusal"
NONE_FOUND = (
    "none_found"  # a rater has to say that there is no unsupported claim: an empty form is not enough
)
NOT_APPLICABLE = "na"
FABRICATED, WRONG_SOURCE, EXTRAPOLATED, TEMPORAL = "H-FAB", "H-SRC", "H-EXT", "H-TMP"
CAPPING = frozenset({FABRICATED, EXTRAPOLATED, TEMPORAL})  # with such a claim, accuracy is below `BEST`
BEST = 3  # the highest accuracy


@dataclass(frozen=True)
class RubricOption:
    """A grade or a category: its name, its meaning, and the key that chooses it."""

    value: str
    label: str
    about: str
    key: str


@dataclass(frozen=True)
class RubricFlag:
    """A flag beside the grade or the claims, and the only grade that goes with it, if there is one."""

    name: str
    label: str
    key: str
    forces: str | None = None


@dataclass(frozen=True)
class RubricStep:
    """One pass over all responses."""

    name: str
    title: str
    about: str
    grades: tuple[RubricOption, ...] = ()  # none: the pass counts claims
    categories: tuple[RubricOption, ...] = ()  # none: the pass takes no claims
    flags: tuple[RubricFlag, ...] = ()
    note_needed: frozenset[str] = frozenset()  # the grades that need a reason
    note_label: str = "Note"

    def grade_of(self, choice: str | None) -> int | None:
        """The grade as it is stored; None if there is none, or if it does not apply."""
        return None if choice is None or choice == NOT_APPLICABLE else int(choice)

    def choice_of(self, grade: int | None) -> str | None:
        """What a rater chose, from the grade as it is stored."""
        if grade is None:
            return NOT_APPLICABLE if NOT_APPLICABLE in {each.value for each in self.grades} else None
        return str(grade)


STEPS = (
    RubricStep(
        ACCURACY,
        "Factual accuracy",
        "How far does the response say what the reference answer says? Go by the reference answer, not by "
        "what you know of the subject.",
        grades=(
            RubricOption(
                "0",
                "Wrong",
                "Contradicts the reference, is made up, answers something else, or refuses: nothing of the "
                "right answer is in it.",
                "0",
            ),
            RubricOption(
                "1",
                "Partly right",
                "Something in it is right, but there are grave errors or gaps, or a part of the question is "
                "left out, so that nobody could rely on it.",
                "1",
            ),
            RubricOption(
                "2",
                "Mostly right",
                "The core is right and nobody would be misled; small things are missing or not quite exact.",
                "2",
            ),
            RubricOption(
                "3",
                "Fully right",
                "Everything that matters in the reference is there, in whatever words; more that is right "
                "does no harm.",
                "3",
            ),
        ),
        flags=(RubricFlag(REFUSAL, "It refuses to answer", "r", forces="0"),),
        note_needed=frozenset({"0", "1", "2"}),
        note_label="What is right, what is missing or wrong (needed below 3)",
    ),
    RubricStep(
        HALLUCINATION,
        "Hallucinations",
        "Mark every claim that the source does not support, each once. If there is none, choose "
        "“None found”.",
        categories=(
            RubricOption(
                FABRICATED,
                "Made up",
                "A fact that is not in the source and that cannot be reasonably concluded from it: a mobile "
                "app that no page mentions.",
                "1",
            ),
            RubricOption(
                WRONG_SOURCE,
                "Wrong source",
                "The response names a section, a page or a concept where this is not to be found, even if "
                "the source has it elsewhere: “as the page on billing says”, of something on that on limits.",
                "2",
            ),
            RubricOption(
                EXTRAPOLATED,
                "Goes too far",
                "A conclusion beyond what the source says, presented as a fact: backups run every night, so "
                "nothing is ever lost.",
                "3",
            ),
            RubricOption(
                TEMPORAL,
                "Wrong time",
                "Out of date, announced for a future that the source knows nothing of, or at a wrong time: "
                "“from next spring on”, where no date is given.",
                "4",
            ),
        ),
        flags=(RubricFlag(NONE_FOUND, "None found", "0"),),
        note_label="Note (doubtful cases that you did not count)",
    ),
    RubricStep(
        COMPLETENESS,
        "Completeness",
        "Does the response say something to every part of the question, be it right or wrong?",
        grades=(
            RubricOption(
                "0", "Incomplete", "At least one thing that was asked for is not dealt with at all.", "0"
            ),
            RubricOption(
                "1", "Complete", "Everything that was asked for gets an answer, if only a partial one.", "1"
            ),
        ),
    ),
    RubricStep(
        CITATION,
        "Citation fidelity",
        "If the question asks for a source or the response names one: do the references point to the place "
        "of the information?",
        grades=(
            RubricOption(
                "0",
                "None, or invented",
                "The question asks for a source and the response names none that could be looked up; or what "
                "it cites does not exist.",
                "0",
            ),
            RubricOption(
                "1",
                "Wrong place",
                "Real sections or pages are named, but at least one does not hold what it is cited for.",
                "1",
            ),
            RubricOption("2", "Right", "Every reference points to the place of the information.", "2"),
            RubricOption(
                NOT_APPLICABLE,
                "Not applicable",
                "The question does not ask for a source, and the response names none.",
                "x",
            ),
        ),
        note_needed=frozenset({"0", "1"}),
        note_label="What is cited, and why it is wrong (needed below 2)",
    ),
)


def step_of(name: str) -> RubricStep:
    """The pass with this name; a UsageError if there is none."""
    if found := next((step for step in STEPS if step.name == name), None):
        return found
    raise UsageError(f"There is no pass {name!r}. {did_you_mean(name, [step.name for step in STEPS])}")
