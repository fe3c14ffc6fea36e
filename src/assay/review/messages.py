"""What the desk's page and its server say to each other: the one definition of both sides.

A *work* has steps (passes over all that is to be judged); a step has tasks, one a screen. A task shows blocks
of text, one of which may be marked, and takes a draft: a choice, a note, claims on spans of text, flags.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

SHORT, LONG = 200, 10_000
Name = Annotated[str, StringConstraints(min_length=1, max_length=SHORT)]
Short = Annotated[str, StringConstraints(max_length=SHORT)]
Text = Annotated[str, StringConstraints(max_length=LONG)]
Wording = Annotated[str, StringConstraints(min_length=1, max_length=LONG)]
MarkId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9-]{8,64}$")]  # made by whoever sends it


class Message(BaseModel):
    """Nothing unknown is let through, either way."""

    model_config = ConfigDict(extra="forbid", frozen=True)


# ------------------------------------------------------------------------------------ who is there


class Credentials(Message):
    """What opens a session: the token of a link, or a name and the password."""

    token: Short | None = None
    rater: Short | None = None
    password: Short | None = None


class LoginSession(Message):
    """Who is logged in, and what every change has to bring with it."""

    rater: str
    csrf: str
    title: str  # of the study


# ------------------------------------------------------------------------------- what there is to do


class StepState(Message):
    """One pass, and how far this rater is."""

    step: str
    title: str
    state: Literal["open", "waiting", "done"]  # waiting: an earlier one has to be finished first
    why: str = ""  # why it waits
    total: int
    done: int
    queued: int = 0  # tasks to look at again


class WorkState(Message):
    """All passes of one rater."""

    title: str
    about: str  # one sentence on what is asked
    steps: list[StepState]
    current: str | None  # the step to go on with; None: all is done
    register_open: bool = False  # whether precedents can be set
    finished: str = ""  # what to do next once all is done


class Choice(Message):
    """One grade, and the key that gives it."""

    value: str
    label: str
    about: str = ""
    key: str


class Flag(Message):
    """Something to say beside the grade or the claims; it may force a grade."""

    name: str
    label: str
    key: str
    forces: str | None = None  # the only choice that goes with it
    no_claims: bool = False  # it says that there is no claim, which takes a text that was shown to its end


class StepForm(Message):
    """What a step asks for."""

    choices: list[Choice] = []  # empty: no grade is asked for
    categories: list[Choice] = []  # empty: no spans are asked for
    flags: list[Flag] = []
    note_needed_for: list[str] = []  # choices that need a note
    note_label: str = "Note"


class Rule(Message):
    """A decision rule, a worked boundary or a precedent, shown beside the form."""

    title: str
    text: str


class TaskState(Message):
    """One task in the order of a step."""

    task_id: str
    done: bool
    queued: str | None = None  # why it should be looked at again


class StepView(Message):
    """A step opened."""

    step: str
    title: str
    about: str
    form: StepForm
    rules: list[Rule]
    tasks: list[TaskState]


class TextBlock(Message):
    """A text on the screen."""

    role: Literal["question", "response", "reference", "source", "fact"]
    title: str
    text: str
    markable: bool = False  # spans are offsets into this text, in Unicode code points


class SpanClaim(Message):
    """A claim at characters [start, end) of the markable text, counted in Unicode code points."""

    category: Name
    start: int = Field(ge=0)
    end: int = Field(ge=1)
    claim: Text
    note: Text


class MarkView(Message):
    """A mark as it stands, or as it was."""

    mark_id: str
    choice: str | None
    note: str
    spans: list[SpanClaim] = []
    flags: list[str] = []
    time: float
    withdrawn: bool = False
    case: str | None = None  # the precedents that it was looked at again for


class Task(Message):
    """One screen."""

    task_id: str
    step: str
    number: int  # from 1, in the order of the step
    total: int
    blocks: list[TextBlock]
    mark: MarkView | None  # what stands
    history: list[MarkView]  # oldest first, the standing one last
    queued: str | None = None  # why it should be looked at again
    suggestion: bool = False  # whether one can be asked for
    reminders: list[str] = []  # what earlier passes said that this one must fit


class Draft(Message):
    """What a rater wants to save. `base` is the mark that stood when the page was shown."""

    mark_id: MarkId
    base: Short | None = None
    choice: Short | None = None
    note: Text = ""
    spans: Annotated[list[SpanClaim], Field(max_length=100)] = []
    flags: Annotated[list[Name], Field(max_length=10)] = []


class Undo(Message):
    """Goes back to what stood before `base`, or to nothing."""

    mark_id: MarkId
    base: Short


class SaveReceipt(Message):
    """It is on disk."""

    mark: MarkView | None  # None: after an undo nothing stands
    step: StepState
    # the next task of this step that is not done, or this one where what was saved does not settle why it
    # came back; None: there is none
    next: str | None


class Suggestion(Message):
    """What a rule or a model would say; only a person's word counts."""

    value: str | None
    by: str
    reason: str = ""


class PrecedentView(Message):
    """A precedent."""

    case_id: str
    situation: str
    decision: str
    rationale: str
    step: str | None = None  # None: it came with the rubric
    to_look_at: int = 0  # responses of this rater that are still to be looked at again for it


class NewPrecedent(Message):
    """A precedent to be set, and which of the responses scored before are to be looked at again for it."""

    mark_id: MarkId
    step: Name
    situation: Wording
    decision: Wording
    rationale: Wording
    again: Literal["none", "question", "words", "all"] = "none"
    # "question": those of the same question as this task; "words": those whose text holds these words
    task_id: Short | None = None
    words: Short = ""


class ErrorMessage(Message):
    """Why something was not done: nothing was saved."""

    what: str
    problems: list[str] = []
    current: MarkView | None = None  # on a conflict: what stands now
