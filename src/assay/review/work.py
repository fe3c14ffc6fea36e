"""What people are asked to judge, task by task, however it is shown: at the desk, in forms, in tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple, Protocol, runtime_checkable

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

if TYPE_CHECKING:
    from assay.core.section import Table, Text
    from assay.study.study import Study


class NotFound(Exception):
    """There is no such step or task for this rater."""


class Conflict(Exception):
    """Something else stands here than the page believed, or the step is not open."""

    def __init__(self, what: str, current: MarkView | None = None) -> None:
        super().__init__(what)
        self.what, self.current = what, current


class RuleViolation(Exception):
    """A draft that a rule of the rubric forbids."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = list(problems)


class MarkRecorder(Protocol):
    """What keeps the marks of people, by the rules of what they were asked: every mark comes this way.

    `when` is when it was made, if that was not just now.
    """

    def task(self, rater: str, step: str, task_id: str) -> Task: ...
    def save(
        self, rater: str, step: str, task_id: str, draft: Draft, when: float | None = None
    ) -> SaveReceipt: ...


class DeskWork(MarkRecorder, Protocol):
    """Something that raters do at the desk. Threads share it; each rater sees only their own marks.

    Whatever returns after saving returns once that is on disk. A draft whose `mark_id` was saved before is
    answered as it was then, and saved no second time.
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
    """Something that people of a study are asked to judge, task by task.

    It is asked as checks are. `absent` says why a study that does not ask for it does not.
    """

    absent: ClassVar[str]

    def asked(self, study: Study) -> bool: ...
    def work(self, study: Study, raters: Sequence[str], accepted_by: str = "") -> DeskWork:
        """The work for the desk. `accepted_by` accepts what a check found, where it would be refused."""
        ...


class ReviewResult(NamedTuple):
    """What a step of a review found: for programs, for people, and what to do next."""

    data: Mapping[str, Any]
    blocks: Sequence[Table | Text] = ()
    notes: Sequence[str] = ()


@runtime_checkable
class OwnReview(Protocol):
    """A review whose forms, progress and agreement are its own, and no others are asked for beside it.

    `place` is the study as it was named, for commands to go on with.
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
    claim: LongText
    note: LongText


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
    note: LongText = ""
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
