"""Describes the work of people, task by task, and the messages between the desk's page and its server.

A *work* has steps: passes over everything that is to be judged. A step has tasks, and a screen shows one
task. A task shows blocks of text, and in one of them raters may mark spans. The answer to a task is a draft:
a choice, a note, claims on spans of text, and flags. Forms and tables that people fill in hold answers to the
same tasks.
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
    """Raised when a rater has no such step or task."""


class Conflict(Exception):
    """Raised when the page showed another mark than the current one, or when the step is not open."""

    def __init__(self, what: str, current: MarkView | None = None) -> None:
        super().__init__(what)
        self.what, self.current = what, current


class RuleViolation(Exception):
    """Raised when a rule of the pass forbids the draft."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = list(problems)


class MarkRecorder(Protocol):
    """An object that saves people's marks, by the rules of their tasks. Every mark is saved this way.

    `when` is the time of a mark that was not made just now.
    """

    def task(self, rater: str, step: str, task_id: str) -> Task: ...
    def save(
        self, rater: str, step: str, task_id: str, draft: Draft, when: float | None = None
    ) -> SaveReceipt: ...


class DeskWork(MarkRecorder, Protocol):
    """A work that raters do at the desk. Threads share it. Each rater sees only their own marks.

    A method that saves a mark returns only when the mark is on disk. A draft whose `mark_id` was saved before
    gets the same answer again. It is not saved twice.
    """

    @property
    def title(self) -> str: ...
    @property
    def raters(self) -> Sequence[str]:
        """The raters who may log in."""
        ...

    def state(self, rater: str) -> WorkState: ...
    def step(self, rater: str, step: str) -> StepView: ...
    def undo(self, rater: str, step: str, task_id: str, undo: Undo) -> SaveReceipt: ...
    def suggestion(self, rater: str, step: str, task_id: str) -> Suggestion: ...
    def register(self, rater: str) -> list[PrecedentView]: ...
    def add_case(self, rater: str, case: NewPrecedent) -> PrecedentView: ...
    def close(self) -> None: ...


class Review(Protocol):
    """A plugin for a kind of review. It makes the tasks in which people judge something of a study.

    `absent` is the reason to show for a study that has nothing of this kind to review.
    """

    absent: ClassVar[str]

    def asked(self, study: Study) -> bool: ...
    def work(self, study: Study, raters: Sequence[str], accepted_by: str = "") -> DeskWork:
        """Returns the work for the desk.

        A check of the study may find problems and refuse. `accepted_by` names the person who accepts these
        problems. Then the check does not refuse.
        """
        ...


class ReviewResult(NamedTuple):
    """The result of a review command: data for programs, blocks for people, and notes on what to do next."""

    data: Mapping[str, Any]
    blocks: Sequence[Table | Text] = ()
    notes: Sequence[str] = ()


@runtime_checkable
class OwnReview(Protocol):
    """A review with its own forms, progress and agreement. A study with such a review has no other review.

    `place` is the study as the user named it. Commands that the result suggests contain it.
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
    """A message between page and server. A message with unknown fields is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


# ------------------------------------------------------------------------------------ who is there


class Credentials(Message):
    """The credentials of a login: the token of a link, or a name and the password."""

    token: Short | None = None
    rater: Short | None = None
    password: Short | None = None


class LoginSession(Message):
    """The rater who is logged in, and the token that every change has to send."""

    rater: str
    csrf: str
    title: str  # of the study


# ------------------------------------------------------------------------------- what there is to do


class StepState(Message):
    """The state of one pass: how much of it this rater has done."""

    step: str
    title: str
    state: Literal["open", "waiting", "done"]  # waiting: an earlier pass must be finished first
    why: str = ""  # why the pass waits
    total: int
    done: int
    queued: int = 0  # tasks to look at again


class WorkState(Message):
    """The state of all passes of one rater."""

    title: str
    about: str  # one sentence on what people are asked to do
    steps: list[StepState]
    current: str | None  # the step to continue with; None: everything is done
    register_open: bool = False  # whether precedents can be set
    finished: str = ""  # what to do next when everything is done


class Choice(Message):
    """A grade or a category that raters can choose, with its key on the keyboard."""

    value: str
    label: str
    about: str = ""
    key: str


class Flag(Message):
    """A statement that a rater adds to the grade or the claims. It may force a grade."""

    name: str
    label: str
    key: str
    forces: str | None = None  # the only choice allowed with this flag
    no_claims: bool = False  # it says that there is no claim: the text must have been shown to its end


class StepForm(Message):
    """The form of a step: the choices, categories, flags and notes that it asks for."""

    choices: list[Choice] = []  # empty: no grade is asked for
    categories: list[Choice] = []  # empty: no spans are asked for
    flags: list[Flag] = []
    note_needed_for: list[str] = []  # choices that need a note
    note_label: str = "Note"


class Rule(Message):
    """A text shown beside the form: a decision rule, a worked boundary case or a precedent."""

    title: str
    text: str


class TaskState(Message):
    """A task in the list of a step, and whether this rater has done it."""

    task_id: str
    done: bool
    queued: str | None = None  # why it should be looked at again


class StepView(Message):
    """A step as the page shows it: its form, its rules and its tasks."""

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
    """A mark as the page shows it, current or earlier."""

    mark_id: str
    choice: str | None
    note: str
    spans: list[SpanClaim] = []
    flags: list[str] = []
    time: float
    withdrawn: bool = False
    case: str | None = None  # the precedents because of which it was judged again


class Task(Message):
    """A task as one screen shows it."""

    task_id: str
    step: str
    number: int  # from 1, in the order of the step
    total: int
    blocks: list[TextBlock]
    mark: MarkView | None  # the current one
    history: list[MarkView]  # oldest first, the current one last
    queued: str | None = None  # why it should be looked at again
    suggestion: bool = False  # whether a suggestion can be asked for
    reminders: list[str] = []  # results of earlier passes that this mark has to agree with


class Draft(Message):
    """A mark that a rater wants to save. `base` is the current mark at the time when the page was shown."""

    mark_id: MarkId
    base: Short | None = None
    choice: Short | None = None
    note: LongText = ""
    spans: Annotated[list[SpanClaim], Field(max_length=100)] = []
    flags: Annotated[list[Name], Field(max_length=10)] = []


class Undo(Message):
    """A request to go back to the mark before `base`, or to no mark."""

    mark_id: MarkId
    base: Short


class SaveReceipt(Message):
    """The answer to a save. The mark is then on disk."""

    mark: MarkView | None  # None: there is no mark after an undo
    step: StepState
    # the next task of this step that is not done, or this task if it must be judged again; None if all tasks
    # are done
    next: str | None


class Suggestion(Message):
    """The grade that a rule or a model suggests. Only a person's mark counts."""

    value: str | None
    by: str
    reason: str = ""


class PrecedentView(Message):
    """A precedent as the page shows it."""

    case_id: str
    situation: str
    decision: str
    rationale: str
    step: str | None = None  # None: the precedent came with the rubric
    to_look_at: int = 0  # responses that this rater still has to judge again because of it


class NewPrecedent(Message):
    """A new precedent. `again` says which responses marked before have to be judged again because of it."""

    mark_id: MarkId
    step: Name
    situation: Wording
    decision: Wording
    rationale: Wording
    again: Literal["none", "question", "words", "all"] = "none"
    # "question": responses to the question of this task; "words": responses that contain `words`
    task_id: Short | None = None
    words: Short = ""


class ErrorMessage(Message):
    """The reason why a request was refused. Nothing was saved."""

    what: str
    problems: list[str] = []
    current: MarkView | None = None  # on a conflict: the current mark
