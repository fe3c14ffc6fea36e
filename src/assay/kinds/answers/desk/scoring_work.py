"""Scoring blinded responses at the desk: passes, queues, precedents and suggestions on one pack.

All that was said is held in memory and kept up line by line; a line is on disk before it counts. One lock
makes threads take turns, and one process at a time may serve a pack.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from assay.kinds.answers.blinding.order import blind_order
from assay.kinds.answers.blinding.pack import MARKS, BlindedResponse, read_pack
from assay.kinds.answers.desk import scoring_views as views
from assay.kinds.answers.desk.scoring_cases import new_precedent
from assay.kinds.answers.desk.scoring_marks import new_mark, undo_mark
from assay.kinds.answers.scoring import suggestions
from assay.kinds.answers.scoring.agreement import THRESHOLDS, rater_pairs
from assay.kinds.answers.scoring.assignment import Order, RubricPass, format_time, raters_of
from assay.kinds.answers.scoring.ledger import MarkIndex
from assay.kinds.answers.scoring.marks import (
    FIRST,
    BookEntry,
    Mark,
    SuggestionView,
    distinct_marks,
    score_book,
)
from assay.kinds.answers.scoring.progress import PassState, current_pass, due_at, pass_states, remaining_work
from assay.kinds.answers.scoring.rubric import HALLUCINATION
from assay.kinds.answers.scoring.rule_suggestions import RULE, suggest_by_rule
from assay.kinds.answers.scoring.rules import DraftMark, draft_problems, reminders
from assay.review.marks import MarkBook
from assay.review.work import (
    Conflict,
    Draft,
    NewPrecedent,
    NotFound,
    PrecedentView,
    RuleViolation,
    SaveReceipt,
    StepView,
    Suggestion,
    Task,
    TaskState,
    Undo,
    WorkState,
)
from assay.store.disk import hold_lock_for

ABOUT = "Score every response against its reference answer{source}, one pass after the other."
FINISHED = "Everything is scored. Tell whoever runs the study: it can be unblinded once everybody is through."
DISCUSS = (
    "Everything is scored, but raters agree too little on {metrics}: the study cannot be unblinded yet. "
    "Discuss the responses on which you differ, still blind; whoever runs the study can list them. "
    "Set precedents where a rule is missing, and score these responses again."
)


class ScoringWork:
    """The passes of everybody on a panel, over the pack in a folder.

    `book` takes the marks and holds those from before; by default it is the one in the folder.
    """

    def __init__(
        self,
        folder: Path,
        *,
        clock: Callable[[], float] = time.time,
        order: Order | None = None,
        book: MarkBook[BookEntry] | None = None,
        thresholds: Mapping[tuple[str, str], float] = THRESHOLDS,
    ) -> None:
        self._pack = read_pack(folder)
        self._release = hold_lock_for(self, folder, busy=f"serving {folder}, or taking scores in")
        self._clock, self._order, self._thresholds = clock, order or blind_order, thresholds
        self._turn = threading.RLock()
        self._known: dict[tuple[str, bool], TaskState] = {}
        self._book = score_book(folder / MARKS) if book is None else book
        self._ledger = MarkIndex(self._pack, self._book.lines)
        self._responses = {each.response_id: each for each in self._pack.responses}
        self._orders: dict[tuple[str, str], list[str]] = {}
        self._suggested = {
            (each.step, each.response_id): each for each in suggestions.read_suggestions(folder)
        }

    @property
    def title(self) -> str:
        return self._pack.study

    @property
    def raters(self) -> Sequence[str]:
        return raters_of(self._pack)

    def close(self) -> None:
        with self._turn:
            self._book.close()
            self._release()

    # ------------------------------------------------------------------------------- what there is

    def state(self, rater: str) -> WorkState:
        with self._turn:
            states = self._states(rater)
            now = current_pass(states)
            waiting = next((state for state in states if state.state == "waiting"), None)
            after = FINISHED if waiting is None else f"Nothing to do now. {waiting.of.title}: {waiting.why}"
            differ = self._differ_on() if now is None and waiting is None else []
            after = DISCUSS.format(metrics=" and ".join(differ)) if differ else after
            return WorkState(
                title=self.title,
                about=ABOUT.format(source=self._and_source),
                steps=[views.step_state(state) for state in states],
                current=None if now is None else now.of.name,
                register_open=bool(differ)
                or any(state.of.round == FIRST and state.state == "open" for state in states),
                finished=after if now is None else "",
            )

    @cached_property
    def _and_source(self) -> str:
        return " and its source" if any(each.text.strip() for each in self._pack.sources.values()) else ""

    def _differ_on(self) -> list[str]:
        """The metrics on which raters agree too little, once everybody is through."""
        lines = self._book.lines
        if remaining_work(self._pack, lines, self._clock()):
            return []
        pairs = rater_pairs(self._pack, list(distinct_marks(lines)), self._thresholds, resamples=1)
        return list(
            dict.fromkeys(each.metric for pair in pairs for each in pair.figures() if each.holds is False)
        )

    def step(self, rater: str, step: str) -> StepView:
        with self._turn:
            of = self._pass(rater, step)
            queue = self._ledger.queue(of)
            tasks = [
                self._listed_as(each, self._done(of, each), queue.get(each)) for each in self._listed(of)
            ]
            return StepView(
                step=step,
                title=of.title,
                about=of.step.about,
                form=views.form(of.step),
                rules=views.rules(of.step, self._ledger),
                tasks=tasks,
            )

    def _listed_as(self, task_id: str, done: bool, queued: str | None) -> TaskState:
        """A task in a list. Made once: a list holds thousands, and is sent with every page."""
        if queued is not None:
            return TaskState(task_id=task_id, done=done, queued=queued)
        found = self._known.get((task_id, done))
        if found is None:
            found = self._known[task_id, done] = TaskState(task_id=task_id, done=done)
        return found

    def task(self, rater: str, step: str, task_id: str) -> Task:
        with self._turn:
            of, response = self._place(rater, step, task_id)
            self._check_open(of, task_id)
            key, listed = of.key(task_id), self._listed(of)
            past = [view for mark in self._ledger.past(key) if (view := views.mark_view(mark)) is not None]
            return Task(
                task_id=task_id,
                step=step,
                number=listed.index(task_id) + 1,
                total=len(listed),
                blocks=views.blocks(self._pack, of.step, response),
                mark=views.mark_view(self._ledger.mark(key)),
                history=past,
                queued=self._ledger.why_queued(of, task_id),
                suggestion=_suggests(of),
                reminders=reminders(of.step, self._ledger.others(key)),
            )

    # ------------------------------------------------------------------------------------- marking

    def save(
        self, rater: str, step: str, task_id: str, draft: Draft, when: float | None = None
    ) -> SaveReceipt:
        with self._turn:
            of, _ = self._place(rater, step, task_id)
            mark = self._repeated(of, task_id, draft.mark_id)
            if mark is None:
                self._check_base(of, task_id, draft.base)
                said = views.draft_mark(draft)
                self._check_rules(of, task_id, said)
                at = self._clock() if when is None else when
                mark = self._keep(new_mark(self._ledger, of, task_id, draft.mark_id, said, at))
            return self._saved(of, task_id, mark)

    def undo(self, rater: str, step: str, task_id: str, undo: Undo) -> SaveReceipt:
        with self._turn:
            of, _ = self._place(rater, step, task_id)
            mark = self._repeated(of, task_id, undo.mark_id)
            if mark is None:
                self._check_base(of, task_id, undo.base)
                earlier = self._ledger.before(of.key(task_id))
                if earlier is not None:
                    self._check_rules(of, task_id, DraftMark.of(of.step, earlier))
                mark = self._keep(undo_mark(of, task_id, undo, earlier, self._clock()))
            return self._saved(of, task_id, mark)

    def _keep(self, mark: Mark) -> Mark:
        self._book.add(mark)
        self._ledger.take(mark)
        return mark

    def _saved(self, of: RubricPass, task_id: str, mark: Mark) -> SaveReceipt:
        state = next(state for state in self._states(of.rater) if state.of.name == of.name)
        return SaveReceipt(
            mark=None if mark.withdrawn else views.mark_view(mark),
            step=views.step_state(state),
            next=self._next(of, task_id),
        )

    def _next(self, of: RubricPass, task_id: str) -> str | None:
        """This one, where what was saved does not settle why it came back; else the next that is not scored.

        Where all are scored, it is the next to look at again.
        """
        if self._ledger.why_queued(of, task_id) is not None:
            return task_id
        listed = self._listed(of)
        at = listed.index(task_id) + 1
        ahead = [*listed[at:], *listed[: at - 1]]
        left = next((each for each in ahead if not self._done(of, each)), None)
        queue = self._ledger.queue(of) if left is None else {}
        return left or next((each for each in ahead if each in queue), None)

    # ------------------------------------------------------------------------ suggestions, precedents

    def suggestion(self, rater: str, step: str, task_id: str) -> Suggestion:
        with self._turn:
            of, response = self._place(rater, step, task_id)
            self._check_open(of, task_id)
            if not _suggests(of):
                raise NotFound
            found = self._suggestion(of, response)
            saw = SuggestionView(rater, task_id, of.step.name, found.value or "", self._clock())
            if (known := self._ledger.saw(rater, of.step.name, task_id)) is None or known.value != saw.value:
                self._book.add(saw)
                self._ledger.take(saw)
            return found

    def _suggestion(self, of: RubricPass, response: BlindedResponse) -> Suggestion:
        if (stored := self._suggested.get((of.step.name, response.response_id))) is not None:
            return Suggestion(value=stored.value, by=stored.by, reason=stored.reason)
        found = suggest_by_rule(of.step.name, self._pack.questions[response.question_id], response.text)
        if found is None:
            raise NotFound
        return Suggestion(value=found.value, by=RULE, reason=found.reason)

    def register(self, rater: str) -> list[PrecedentView]:
        with self._turn:
            self._known_rater(rater)
            return views.precedent_register(self._ledger, rater)

    def add_case(self, rater: str, case: NewPrecedent) -> PrecedentView:
        with self._turn:
            of = self._pass(rater, case.step)
            known = next((each for each in self._ledger.cases.values() if each.mark_id == case.mark_id), None)
            if known is None:
                about = None if case.task_id is None else self._place(rater, of.name, case.task_id)[1]
                known = new_precedent(self._ledger, of, case, about, self._clock())
                self._book.add(known)
                self._ledger.take(known)
            elif (known.rater, known.step) != (rater, of.step.name):
                raise Conflict("This precedent was sent before, as another one. Send it anew.")
            entries = views.precedent_register(self._ledger, rater)
            return next(entry for entry in entries if entry.case_id == known.case_id)

    # -------------------------------------------------------------------------- places, and who may

    def _states(self, rater: str) -> list[PassState]:
        self._known_rater(rater)
        return pass_states(self._ledger, rater, self._clock())

    def _known_rater(self, rater: str) -> None:
        if rater not in self._ledger.passes:
            raise NotFound

    def _pass(self, rater: str, step: str) -> RubricPass:
        found = next((of for of in self._ledger.passes.get(rater, []) if of.name == step), None)
        if found is None:
            raise NotFound
        return found

    def _place(self, rater: str, step: str, task_id: str) -> tuple[RubricPass, BlindedResponse]:
        of = self._pass(rater, step)
        if task_id not in of.response_ids:
            raise NotFound
        return of, self._responses[task_id]

    def _done(self, of: RubricPass, task_id: str) -> bool:
        return self._ledger.mark(of.key(task_id)) is not None

    def _listed(self, of: RubricPass) -> list[str]:
        """The responses of a pass in this rater's order; of a second round, those whose time has come."""
        if (of.rater, of.name) not in self._orders:
            ids = sorted(of.response_ids)
            self._orders[of.rater, of.name] = self._order(self._pack, of.rater, of.name, ids)
        shown = self._orders[of.rater, of.name]
        if of.round == FIRST:
            return shown
        now = self._clock()
        return [each for each in shown if self._done(of, each) or due_at(self._ledger, of, each) <= now]

    # -------------------------------------------------------------------------------- what forbids it

    def _check_open(self, of: RubricPass, task_id: str) -> None:
        states = self._states(of.rater)
        state = next(state for state in states if state.of.name == of.name)
        if state.blocked:
            raise Conflict(f"{of.title} is not open yet. {state.why}")
        if of.round == FIRST and task_id in self._pack.drawn_again and _through(states):
            raise Conflict("You score this response a second time, so what you said first is not shown.")
        at = due_at(self._ledger, of, task_id)
        if at > self._clock() and not self._done(of, task_id):
            raise Conflict(f"This response can be scored again from {format_time(at)} on.")

    def _repeated(self, of: RubricPass, task_id: str, mark_id: str) -> Mark | None:
        """The mark that was saved under an id before."""
        mark = self._ledger.marked(mark_id)
        if mark is not None and mark.key != of.key(task_id):
            raise Conflict("This mark was sent before, for something else. Send it anew.")
        return mark

    def _check_base(self, of: RubricPass, task_id: str, base: str | None) -> None:
        self._check_open(of, task_id)
        stands = self._ledger.mark(of.key(task_id))
        if base != (None if stands is None else stands.mark_id):
            what = "It was changed elsewhere" if stands is not None else "It was taken back elsewhere"
            raise Conflict(f"{what} since you opened it.", views.mark_view(stands))

    def _check_rules(self, of: RubricPass, task_id: str, said: DraftMark) -> None:
        text, others = self._responses[task_id].text, self._ledger.others(of.key(task_id))
        if wrong := draft_problems(of.step, said, text, others):
            raise RuleViolation(wrong)


def _suggests(of: RubricPass) -> bool:
    """Whether a suggestion may be asked for: never of hallucinations, never in a second round."""
    return of.round == FIRST and of.step.name != HALLUCINATION


def _through(states: Sequence[PassState]) -> bool:
    """Whether a first round is over, with nothing left to look at again."""
    return all(state.state == "done" for state in states if state.of.round == FIRST)
