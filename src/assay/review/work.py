"""What people are asked to judge, task by task, however it is shown: at the desk, in forms, in tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, runtime_checkable

from assay.review.messages import (
    Draft,
    MarkView,
    NewPrecedent,
    PrecedentView,
    SaveReceipt,
    StepView,
    Suggestion,
    Task,
    Undo,
    WorkState,
)

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
