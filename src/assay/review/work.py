"""The work of people, task by task, and the messages between the desk's page and its server.

A *work* has steps (passes over everything that is to be judged); a step has tasks, one per screen. A task
shows blocks of text, one of which may be marked, and takes a draft: a choice, a note, claims on spans of
text, flags. The same tasks come back from forms and tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple, Protocol, runtime_checkable

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

if TYPE_CHECKING:
    from assay.core.section import Table, Text
    from assay.study.study import Study


class NotFound(Exception):
    """This rater has no such step or task."""


class Conflict(Exception):
    """The current mark is not the one that the page showed, or the step is not open."""

    def __init__(self, what: str, current: MarkView | None = None) -> None:
        super().__init__(what)
        self.what, self.current = what, current


class RuleViolation(Exception):
    """A rule of the pass forbids the draft."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = list(problems)


class MarkRecorder(Protocol):
    """Saves the marks of people, by the rules of their task; every mark comes this way.

    `when` is the time of the mark, if it was not made just now.
    """

    def task(self, rater: str, step: str, task_id: str) -> Task: ...
    def save(
        self, rater: str, step: str, task_id: str, draft: Draft, when: float | None = None
    ) -> SaveReceipt: ...


class DeskWork(MarkRecorder, Protocol):
    """Something that raters do at the desk. Threads share it; each rater sees only their own marks.

    A method that saves returns when the mark is on disk. A draft whose `mark_id` was saved before gets the
    same answer again, and is not saved twice.
    """

    @property
    def title(self) -> str: ...
    @property
    def raters(self) -> Sequence[str]:
        """Who may log in."""
        ...

    def state(self, rater: str) -> WorkState: ...
    def step(self, rater: str, step: str) -> StepView: ...
    def undo(self, rater: str, step: str, task_id: str, undo: Undo) -> SaveReceipt: ...
    def suggestion(self, rater: str, step: str, task_id: str) -> Suggestion: ...
    def register(self, rater: str) -> list[PrecedentView]: ...
    def add_case(self, rater: str, case: NewPrecedent) -> PrecedentView: ...
    def close(self) -> None: ...


class Review(Protocol):
    """A plugin for something that a study asks people to judge, task by task.

    `absent` says why a study without it has nothing to review.
    """

    absent: ClassVar[str]

    def asked(self, study: Study) -> bool: ...
    def work(self, study: Study, raters: Sequence[str], accepted_by: str = "") -> DeskWork:
        """The work for the desk. `accepted_by` names who accepts what a check found, instead of a refusal."""
        ...


class ReviewResult(NamedTuple):
    """The result of a review command: for programs, for people, and what to do next."""

    data: Mapping[str, Any]
    blocks: Sequence[Table | Text] = ()
    notes: Sequence[str] = ()


@runtime_checkable
class OwnReview(Protocol):
    """A review with forms, progress and agreement of its own; a study with one has no other review.

    `place` is the study as the user named it, for the commands that follow.
    """

    def asked(self, study: Study) -> bool: ...
    def export(self, study: Study, folder: Path | None, place: str) -> ReviewResult: ...
    def take(self, study: Study, paths: Sequence[Path], place: str) -> ReviewResult: ...
    def status(self, study: Study, place: str) -> ReviewResult: ...
    def agreement(self, study: Study, place: str) -> ReviewResult: ...


# ----------------------------------------------------------------------------------------------

SHORT, LONG = 200, 10_000
Name = Annotated[str, StringConstraints(min_length=1, max_length=SHORT)]
Short = Annotated[str, StringConstraints(max_length=SHORT)]
LongText = Annotated[str, StringConstraints(max_length=LONG)]
Wording = Annotated[str, StringConstraints(min_length=1, max_length=LONG)]
MarkId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9-]{8,64}$")]  # made by the sender


class Message(BaseModel):
    """A message without unknown fields, in both directions."""

    model_config = ConfigDict(extra="forbid", frozen=True)


# ------------------------------------------------------------------------------------ who is there


class Credentials(Message):
    """What a login needs: the token of a link, or a name and the password."""

    token: Short | None = None
    rater: Short | None = None
    password: Short | None = None


class LoginSession(Message):
    """Who is logged in, and the token that every change has to send."""

    rater: str
    csrf: str
    title: str  # of the study


# ------------------------------------------------------------------------------- what there is to do


class StepState(Message):
    """One pass, and how far this rater is."""

    step: str
    title: str
    state: Literal["open", "waiting", "done"]  # waiting: an earlier pass has to be finished first
    why: str = ""  # why it waits
    total: int
    done: int
    queued: int = 0  # tasks to look at again


class WorkState(Message):
    """All passes of one rater."""

    title: str
    about: str  # one sentence on what is asked
    steps: list[StepState]
    current: str | None  # the step to go on with; None: everything is done
    register_open: bool = False  # whether precedents can be set
    finished: str = ""  # what to do next when everything is done


class Choice(Message):
    """One grade, and its key on the keyboard."""

    value: str
    label: str
    about: str = ""
    key: str


class Flag(Message):
    """A statement besides the grade or the claims; it may force a grade."""

    name: str
    label: str
    key: str
    forces: str | None = None  # the only choice that goes with it
    no_claims: bool = False  # it says that there is no claim: the text must have been shown to its end


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
    claim: LongText
    note: LongText


class MarkView(Message):
    """A mark, current or earlier."""

    mark_id: str
    choice: str | None
    note: str
    spans: list[SpanClaim] = []
    flags: list[str] = []
    time: float
    withdrawn: bool = False
    case: str | None = None  # the precedents for which it was judged again


class Task(Message):
    """One screen."""

    task_id: str
    step: str
    number: int  # from 1, in the order of the step
    total: int
    blocks: list[TextBlock]
    mark: MarkView | None  # the current one
    history: list[MarkView]  # oldest first, the current one last
    queued: str | None = None  # why it should be looked at again
    suggestion: bool = False  # whether one can be asked for
    reminders: list[str] = []  # results of earlier passes that this one has to fit


class Draft(Message):
    """What a rater wants to save. `base` is the mark that was current when the page was shown."""

    mark_id: MarkId
    base: Short | None = None
    choice: Short | None = None
    note: LongText = ""
    spans: Annotated[list[SpanClaim], Field(max_length=100)] = []
    flags: Annotated[list[Name], Field(max_length=10)] = []


class Undo(Message):
    """Goes back to the mark before `base`, or to none."""

    mark_id: MarkId
    base: Short


class SaveReceipt(Message):
    """The answer to a save: the mark is on disk."""

    mark: MarkView | None  # None: after an undo there is no mark
    step: StepState
    # the next task of this step that is not done, or this one if it still has to be judged again; None: all
    # are done
    next: str | None


class Suggestion(Message):
    """The grade of a rule or a model; only a person's mark counts."""

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
    to_look_at: int = 0  # responses that this rater still has to judge again for it


class NewPrecedent(Message):
    """A new precedent, and the responses marked before that have to be judged again for it."""

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
    """Why a request was refused; nothing was saved."""

    what: str
    problems: list[str] = []
    current: MarkView | None = None  # on a conflict: the current mark
