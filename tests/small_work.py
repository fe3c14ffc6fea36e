"""A desk's work that is small and complete: two raters, three passes, twenty answers to score.

It keeps its marks in memory, and in a folder too where one is given, so that a server may be killed. Run as a
program it serves itself: python small_work.py FOLDER [PORT].
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from assay.review.work import (
    Choice,
    Conflict,
    Draft,
    Flag,
    MarkView,
    NewPrecedent,
    NotFound,
    PrecedentView,
    Rule,
    RuleViolation,
    SaveReceipt,
    SpanClaim,
    StepForm,
    StepState,
    StepView,
    Suggestion,
    Task,
    TaskState,
    TextBlock,
    Undo,
    WorkState,
)
from assay.store.journal import JournalWriter, read_lines

RATERS = ("anna", "ben")
TASKS = 20
PASSAGES = [
    "A token lives for 24 hours. After that the server answers 401, and the client asks for a new one.",
    "Use the header <b>X-Key</b>. <script>document.title = 'taken'</script> Never put the key in an address.",
    "The 🚀 plan has 𝟛 regions: 東京, Zürich and São Paulo. 👩‍👩‍👧 Families share one quota 🎉 of 500 calls.",
    "Limits:\n\n- 100 requests a minute\n- 10 MB a body\n\nAccording to the Quick Start, both can be raised.",
    "I cannot answer this from the material that I was given.",
]
CHOICES = [
    Choice(value="0", label="Wrong", about="Nothing in it is right, or it refuses to answer.", key="0"),
    Choice(
        value="1",
        label="Partly right",
        about="Something is right, and something that matters is not.",
        key="1",
    ),
    Choice(value="2", label="Mostly right", about="Right but for a detail.", key="2"),
    Choice(value="3", label="Right", about="Every fact that matters is there, and none is wrong.", key="3"),
]
CATEGORIES = [
    Choice(value="H-FAB", label="Fabricated", about="The source has nothing of the kind.", key="1"),
    Choice(value="H-SRC", label="Wrong source", about="True, and said to come from elsewhere.", key="2"),
    Choice(value="H-EXT", label="Extrapolated", about="More than the source says.", key="3"),
    Choice(value="H-TMP", label="Out of date", about="It was so, or will be.", key="4"),
]
FORMS = {
    "accuracy": StepForm(
        choices=CHOICES,
        flags=[Flag(name="refusal", label="It refuses to answer", key="r", forces="0")],
        note_needed_for=["0", "1", "2"],
        note_label="What was right, and what was not",
    ),
    "hallucination": StepForm(
        categories=CATEGORIES, flags=[Flag(name="none_found", label="None found", key="0", no_claims=True)]
    ),
    "completeness": StepForm(
        choices=[
            Choice(value="0", label="Something is missing", key="0"),
            Choice(value="1", label="All parts are answered", key="1"),
        ]
    ),
}
TITLES = {"accuracy": "Accuracy", "hallucination": "Unsupported claims", "completeness": "Completeness"}
RULES = [
    Rule(
        title="More than was asked",
        text="Facts beyond the reference answer do no harm if the source has them.",
    ),
    Rule(title="EC-04", text="24 hours and one day are the same."),
]
Place = tuple[str, str, str]  # rater, step and task


class Kept(msgspec.Struct, frozen=True):
    """A mark as it is stored."""

    place: Place
    draft: dict[str, Any]
    time: float
    before: str | None  # the mark that an undo goes back to
    withdrawn: bool = False

    @property
    def mark_id(self) -> str:
        return str(self.draft["mark_id"])

    @property
    def view(self) -> MarkView:
        said = Draft.model_validate(self.draft)
        return MarkView(
            mark_id=said.mark_id,
            choice=said.choice,
            note=said.note,
            spans=said.spans,
            flags=said.flags,
            time=self.time,
            withdrawn=self.withdrawn,
        )


class SmallWork:
    """Passes over twenty answers; completeness waits for accuracy, the other two are open at once."""

    def __init__(
        self,
        folder: Path | None = None,
        clock: Callable[[], float] = time.time,
        raters: Sequence[str] = RATERS,
        tasks: int = TASKS,
    ) -> None:
        self._raters, self._clock, self._turn = tuple(raters), clock, threading.RLock()
        self.ids = [f"r-{number * 7919 % 9973:04x}" for number in range(1, tasks + 1)]
        self._marks: dict[tuple[str, str], Kept] = {}  # by rater and mark_id, in order
        self._places: dict[Place, list[Kept]] = {}
        self._cases: list[tuple[str, NewPrecedent]] = []
        self._writer: JournalWriter | None = None
        if folder is not None:
            for kept in read_lines(folder, Kept) if folder.is_dir() else ():
                self._keep(kept)
            self._writer = JournalWriter(folder)

    # ------------------------------------------------------------------------------ what is shown

    @property
    def title(self) -> str:
        return "A small study"

    @property
    def raters(self) -> Sequence[str]:
        return self._raters

    def state(self, rater: str) -> WorkState:
        steps = [self._state(rater, step) for step in FORMS]
        current = next((each.step for each in steps if each.state == "open"), None)
        return WorkState(
            title=self.title,
            about="Score each answer against the reference answer and the source.",
            steps=steps,
            current=current,
            register_open=True,
            finished="" if current else "Every pass is complete: tell whoever leads the study.",
        )

    def step(self, rater: str, step: str) -> StepView:
        self._open(rater, step)
        tasks = [
            TaskState(
                task_id=each,
                done=self._stands((rater, step, each)) is not None,
                queued=self._queued(rater, step, each),
            )
            for each in self.ids
        ]
        about = f"Score the {TITLES[step].lower()} of every answer before you go on to the next pass."
        return StepView(
            step=step, title=TITLES[step], about=about, form=FORMS[step], rules=RULES, tasks=tasks
        )

    def task(self, rater: str, step: str, task_id: str) -> Task:
        self._open(rater, step)
        number = self._number(task_id)
        place = (rater, step, task_id)
        kept = self._stands(place)
        history = [each.view for each in self._places.get(place, ())]
        return Task(
            task_id=task_id,
            step=step,
            number=number,
            total=len(self.ids),
            blocks=[
                TextBlock(
                    role="question", title="Question", text=f"Question {number}: how long does a token live?"
                ),
                TextBlock(
                    role="response", title="Answer", text=self.text(task_id), markable=step == "hallucination"
                ),
                TextBlock(role="reference", title="Reference answer", text="24 hours."),
                TextBlock(
                    role="source", title="Source", text="\n\n".join([*PASSAGES[:4], "Further reading. "] * 6)
                ),
                TextBlock(role="fact", title="Sections", text="Quick Start; Limits"),
            ],
            mark=kept.view if kept else None,
            history=history,
            queued=self._queued(rater, step, task_id),
            suggestion=step == "completeness",
            reminders=["You gave accuracy 3."] if step == "hallucination" and number % 3 == 0 else [],
        )

    def text(self, task_id: str) -> str:
        """The answer that a task is about."""
        return PASSAGES[(self._number(task_id) - 1) % len(PASSAGES)]

    def suggestion(self, rater: str, step: str, task_id: str) -> Suggestion:
        self.task(rater, step, task_id)
        if step != "completeness":
            raise NotFound("there are suggestions for completeness alone")
        return Suggestion(value="1", by="rule", reason="Every word of the question is in the answer.")

    # ------------------------------------------------------------------------------ what is saved

    def save(self, rater: str, step: str, task_id: str, draft: Draft) -> SaveReceipt:
        place = self._place(rater, step, task_id)
        with self._turn:
            self._open(rater, step)
            if not self._known(place, draft.mark_id):
                before = self._at_base(place, draft.base)
                if problems := self._problems(step, task_id, draft):
                    raise RuleViolation(problems)
                self._keep(Kept(place, draft.model_dump(), self._clock(), before.mark_id if before else None))
            return self._saved(place)

    def undo(self, rater: str, step: str, task_id: str, undo: Undo) -> SaveReceipt:
        place = self._place(rater, step, task_id)
        with self._turn:
            if not self._known(place, undo.mark_id):
                stands = self._at_base(place, undo.base)
                if stands is None:
                    raise Conflict("nothing stands here that could be taken back")
                target = self._marks.get((rater, stands.before or ""))
                draft = (target or stands).draft | {"mark_id": undo.mark_id, "base": undo.base}
                before = target.before if target else None
                self._keep(Kept(place, draft, self._clock(), before, withdrawn=target is None))
            return self._saved(place)

    def register(self, rater: str) -> list[PrecedentView]:
        first = PrecedentView(
            case_id="EC-01",
            situation="The answer says more than the reference answer.",
            decision="It is right if the source has it.",
            rationale="The reference answer is the least that is wanted.",
        )
        own = [
            PrecedentView(
                case_id=f"EC-{number}",
                situation=case.situation,
                decision=case.decision,
                rationale=case.rationale,
                step=case.step,
            )
            for number, (_, case) in enumerate(self._cases, start=11)
        ]
        return [first, *own]

    def add_case(self, rater: str, case: NewPrecedent) -> PrecedentView:
        if case.step not in FORMS:
            raise NotFound(f"there is no step {case.step!r}")
        with self._turn:
            known = [each.mark_id for _, each in self._cases]
            if case.mark_id not in known:
                self._cases.append((rater, case))
                known.append(case.mark_id)
            return self.register(rater)[1 + known.index(case.mark_id)]

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()

    # ------------------------------------------------------------------------------ beneath

    def _open(self, rater: str, step: str) -> None:
        if step not in FORMS or rater not in self._raters:
            raise NotFound(f"there is no step {step!r}")
        if (state := self._state(rater, step)).state == "waiting":
            raise Conflict(state.why)

    def _state(self, rater: str, step: str) -> StepState:
        done = self._done(rater, step)
        waits = step == "completeness" and self._done(rater, "accuracy") < len(self.ids)
        queued = sum(self._queued(rater, step, each) is not None for each in self.ids)
        return StepState(
            step=step,
            title=TITLES[step],
            state="waiting" if waits else "done" if done == len(self.ids) and not queued else "open",
            why="The pass on accuracy comes first." if waits else "",
            total=len(self.ids),
            done=done,
            queued=queued,
        )

    def _done(self, rater: str, step: str) -> int:
        return sum(self._stands((rater, step, each)) is not None for each in self.ids)

    def _queued(self, rater: str, step: str, task_id: str) -> str | None:
        if step != "accuracy":
            return None
        accuracy = self._stands((rater, step, task_id))
        claims = self._stands((rater, "hallucination", task_id))
        if accuracy is None or claims is None or accuracy.draft["choice"] != "3":
            return None
        capped = any(each["category"] != "H-SRC" for each in claims.draft["spans"])
        return "Accuracy 3 with a claim that the source does not support." if capped else None

    def _number(self, task_id: str) -> int:
        if task_id not in self.ids:
            raise NotFound(f"there is no task {task_id!r}")
        return self.ids.index(task_id) + 1

    def _place(self, rater: str, step: str, task_id: str) -> Place:
        self._number(task_id)
        if step not in FORMS:
            raise NotFound(f"there is no step {step!r}")
        return rater, step, task_id

    def _known(self, place: Place, mark_id: str) -> bool:
        kept = self._marks.get((place[0], mark_id))
        if kept is not None and kept.place != place:
            raise Conflict("this mark was saved for another task")
        return kept is not None

    def _stands(self, place: Place) -> Kept | None:
        last = next(reversed(self._places.get(place, ())), None)
        return None if last is None or last.withdrawn else last

    def _at_base(self, place: Place, base: str | None) -> Kept | None:
        stands = self._stands(place)
        if (stands.mark_id if stands else None) != base:
            raise Conflict("something else was saved here since", stands.view if stands else None)
        return stands

    def _problems(self, step: str, task_id: str, draft: Draft) -> list[str]:
        form, text, found = FORMS[step], self.text(task_id), list[str]()
        if form.choices and draft.choice not in {each.value for each in form.choices}:
            found.append("Choose one of the grades.")
        if not form.choices and draft.choice is not None:
            found.append("This pass has no grade.")
        if draft.choice in form.note_needed_for and not draft.note.strip():
            found.append("A note is needed for this grade.")
        for flag in form.flags:
            if flag.name in draft.flags and draft.choice != flag.forces:
                found.append(f"{flag.label}: the grade is then {flag.forces}.")
        if unknown := set(draft.flags) - {flag.name for flag in form.flags}:
            found.append(f"There is no flag {min(unknown)!r}.")
        if form.categories and bool(draft.spans) == ("none_found" in draft.flags):
            found.append("Mark a claim, or choose “None found”.")
        for span in draft.spans:
            found += _of_span(span, form, text)
        return found

    def _keep(self, kept: Kept) -> None:
        place = (kept.place[0], kept.place[1], kept.place[2])
        if self._writer is not None:
            self._writer.append(kept, now=True)
        self._marks[place[0], kept.mark_id] = kept
        self._places.setdefault(place, []).append(kept)

    def _saved(self, place: Place) -> SaveReceipt:
        rater, step, task_id = place
        kept = self._stands(place)
        after = self._number(task_id)
        turned = [*self.ids[after:], *self.ids[: after - 1]]
        left = next((each for each in turned if self._stands((rater, step, each)) is None), None)
        return SaveReceipt(mark=kept.view if kept else None, step=self._state(rater, step), next=left)


def _of_span(span: SpanClaim, form: StepForm, text: str) -> list[str]:
    if span.category not in {each.value for each in form.categories}:
        return [f"There is no category {span.category!r}."]
    if not span.start < span.end <= len(text):
        return ["The marked text lies outside the answer."]
    return [] if span.claim.strip() and span.note.strip() else ["Each claim needs its text and a note."]


def main() -> None:
    """Serves it from a folder, and says each rater's link."""
    from assay.desk.serving import serve

    folder = Path(sys.argv[1])
    port = int(sys.argv[2]) if len(sys.argv) > 2 else None
    work = SmallWork(folder / "marks")
    serve(work, state=folder / "desk", port=port, opened=lambda desk: print(desk.in_words, flush=True))


if __name__ == "__main__":
    main()
