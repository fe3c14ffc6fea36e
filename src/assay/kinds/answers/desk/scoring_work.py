"""Scoring blinded responses at the desk: passes, queues, precedents and suggestions on one pack.

All marks are held in memory and updated entry by entry. An entry is on disk before it counts. One lock makes
threads take turns. Only one process at a time may serve a pack.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from msgspec.structs import replace

from assay.kinds.answers.blinding.ids import blind_order
from assay.kinds.answers.blinding.pack import MARKS, BlindedResponse, read_pack
from assay.kinds.answers.desk import scoring_views as views
from assay.kinds.answers.scoring.agreement import THRESHOLDS, rater_pairs
from assay.kinds.answers.scoring.drafts import draft_of, draft_problems, new_mark, reminders
from assay.kinds.answers.scoring.marks import (
    FIRST,
    BookEntry,
    Mark,
    RaterPrecedent,
    SuggestionView,
    current_marks,
    score_book,
)
from assay.kinds.answers.scoring.passes import (
    QUESTION,
    WORDS,
    Order,
    RubricPass,
    concerned_responses,
    format_time,
    next_precedent_id,
)
from assay.kinds.answers.scoring.progress import (
    MarkIndex,
    PassState,
    current_pass,
    pass_states,
    remaining_work,
)
from assay.kinds.answers.scoring.rubric import HALLUCINATION
from assay.kinds.answers.scoring.suggestions import read_suggestions, suggest_by_rule
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
FINISHED = (
    "Everything is scored. Tell the person who runs the study: it can be unblinded once everybody is through."
)
DISCUSS = (
    "Everything is scored, but raters agree too little on {metrics}: the study cannot be unblinded yet. "
    "Discuss the responses on which you differ, still blind; the person who runs the study can list them. "
    "Set precedents where a rule is missing, and score these responses again."
)


class ScoringWork:
    """The passes of all raters of a panel, over the pack in a folder.

    `book` stores new marks and has the earlier marks. By default, it is the book in the folder.
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
        self._lock = threading.RLock()
        self._task_states: dict[tuple[str, bool], TaskState] = {}
        self._book = score_book(folder / MARKS) if book is None else book
        self._index = MarkIndex(self._pack, self._book.lines)
        self._responses = {each.response_id: each for each in self._pack.responses}
        self._orders: dict[tuple[str, str], list[str]] = {}
        self._suggested = {(each.step, each.response_id): each for each in read_suggestions(folder)}

    @property
    def title(self) -> str:
        return self._pack.study

    @property
    def raters(self) -> Sequence[str]:
        return self._pack.panel.raters

    def close(self) -> None:
        with self._lock:
            self._book.close()
            self._release()

    # ------------------------------------------------------------------------------- what there is

    def state(self, rater: str) -> WorkState:
        with self._lock:
            states = self._states(rater)
            now = current_pass(states)
            waiting = next((state for state in states if state.state == "waiting"), None)
            after = (
                FINISHED if waiting is None else f"Nothing to do now. {waiting.pass_.title}: {waiting.why}"
            )
            failing = self._failing_metrics() if now is None and waiting is None else []
            after = DISCUSS.format(metrics=" and ".join(failing)) if failing else after
            scoring = any(state.pass_.round == FIRST and state.state == "open" for state in states)
            return WorkState(
                title=self.title,
                about=ABOUT.format(source=self._and_source),
                steps=[views.step_state(state) for state in states],
                current=None if now is None else now.pass_.name,
                register_open=bool(failing) or scoring,
                finished=after if now is None else "",
            )

    @cached_property
    def _and_source(self) -> str:
        return " and its source" if any(each.text.strip() for each in self._pack.sources.values()) else ""

    def _failing_metrics(self) -> list[str]:
        """Returns the metrics on which raters agree too little; empty while anybody has work left."""
        if remaining_work(self._index, self._clock()):
            return []
        marks = list(current_marks(self._book.lines).values())
        pairs = rater_pairs(self._pack, marks, self._thresholds, resamples=1)
        agreement = [each for pair in pairs for each in pair.agreement()]
        return list(dict.fromkeys(each.metric for each in agreement if each.holds is False))

    def step(self, rater: str, step: str) -> StepView:
        with self._lock:
            pass_ = self._pass(rater, step)
            queue = self._index.queue(pass_)
            return StepView(
                step=step,
                title=pass_.title,
                about=pass_.step.about,
                form=views.form(pass_.step),
                rules=views.rules(pass_.step, self._index),
                tasks=[
                    self._task_state(each, self._is_done(pass_, each), queue.get(each))
                    for each in self._listed(pass_)
                ],
            )

    def _task_state(self, task_id: str, done: bool, queued: str | None) -> TaskState:
        """Returns the entry of a task in a list. It is made once, as long lists are sent with each page."""
        if queued is not None:
            return TaskState(task_id=task_id, done=done, queued=queued)
        found = self._task_states.get((task_id, done))
        if found is None:
            found = self._task_states[task_id, done] = TaskState(task_id=task_id, done=done)
        return found

    def task(self, rater: str, step: str, task_id: str) -> Task:
        with self._lock:
            pass_, response = self._find(rater, step, task_id)
            self._check_open(pass_, task_id)
            key, listed = pass_.key(task_id), self._listed(pass_)
            current = self._index.mark(key)
            return Task(
                task_id=task_id,
                step=step,
                number=listed.index(task_id) + 1,
                total=len(listed),
                blocks=views.blocks(self._pack, pass_.step, response),
                mark=None if current is None else views.mark_view(current),
                history=[views.mark_view(mark) for mark in self._index.history(key)],
                queued=self._index.why_queued(pass_, task_id),
                suggestion=_has_suggestions(pass_),
                reminders=reminders(pass_.step, self._index.others(key)),
            )

    # ------------------------------------------------------------------------------------- marking

    def save(
        self, rater: str, step: str, task_id: str, draft: Draft, when: float | None = None
    ) -> SaveReceipt:
        with self._lock:
            pass_, _ = self._find(rater, step, task_id)
            mark = self._repeated(pass_, task_id, draft.mark_id)
            if mark is None:
                self._check_base(pass_, task_id, draft.base)
                self._check_rules(pass_, task_id, draft)
                at = self._clock() if when is None else when
                mark = new_mark(self._index, pass_, task_id, draft, at)
                self._keep(mark)
            return self._receipt(pass_, task_id, mark)

    def undo(self, rater: str, step: str, task_id: str, undo: Undo) -> SaveReceipt:
        """Makes the earlier mark count again, as a new mark; without one, withdraws the current mark."""
        with self._lock:
            pass_, _ = self._find(rater, step, task_id)
            mark = self._repeated(pass_, task_id, undo.mark_id)
            if mark is None:
                self._check_base(pass_, task_id, undo.base)
                earlier = self._index.before(pass_.key(task_id))
                if earlier is not None:
                    self._check_rules(pass_, task_id, draft_of(pass_.step, earlier))
                    mark = replace(
                        earlier, mark_id=undo.mark_id, replaces=undo.base, restores=earlier.mark_id
                    )
                else:
                    who = undo.mark_id, pass_.rater, task_id, pass_.step.name
                    mark = Mark(*who, round=pass_.round, replaces=undo.base, withdrawn=True)
                mark = replace(mark, time=self._clock())
                self._keep(mark)
            return self._receipt(pass_, task_id, mark)

    def _keep(self, entry: BookEntry) -> None:
        self._book.add(entry)
        self._index.add(entry)

    def _receipt(self, pass_: RubricPass, task_id: str, mark: Mark) -> SaveReceipt:
        state = next(state for state in self._states(pass_.rater) if state.pass_.name == pass_.name)
        return SaveReceipt(
            mark=None if mark.withdrawn else views.mark_view(mark),
            step=views.step_state(state),
            next=self._next(pass_, task_id),
        )

    def _next(self, pass_: RubricPass, task_id: str) -> str | None:
        """Returns the task to continue with after a task is saved.

        This is the same task if it is still to be looked at again. Otherwise it is the next task that is not
        scored. If all tasks are scored, it is the next task to look at again.
        """
        if self._index.why_queued(pass_, task_id) is not None:
            return task_id
        listed = self._listed(pass_)
        at = listed.index(task_id) + 1
        ahead = [*listed[at:], *listed[: at - 1]]
        left = next((each for each in ahead if not self._is_done(pass_, each)), None)
        queue = self._index.queue(pass_) if left is None else {}
        return left or next((each for each in ahead if each in queue), None)

    # ------------------------------------------------------------------------ suggestions, precedents

    def suggestion(self, rater: str, step: str, task_id: str) -> Suggestion:
        with self._lock:
            pass_, response = self._find(rater, step, task_id)
            self._check_open(pass_, task_id)
            if not _has_suggestions(pass_):
                raise NotFound
            question = self._pack.questions[response.question_id]
            found = self._suggested.get((pass_.step.name, task_id)) or suggest_by_rule(
                pass_.step.name, task_id, question, response.text
            )
            if found is None:
                raise NotFound
            view = SuggestionView(rater, task_id, pass_.step.name, found.value or "", self._clock())
            known = self._index.suggestion_view(rater, pass_.step.name, task_id)
            if known is None or known.value != view.value:
                self._keep(view)
            return Suggestion(value=found.value, by=found.by, reason=found.reason)

    def register(self, rater: str) -> list[PrecedentView]:
        with self._lock:
            self._check_rater(rater)
            return views.precedent_register(self._index, rater)

    def add_case(self, rater: str, case: NewPrecedent) -> PrecedentView:
        with self._lock:
            pass_ = self._pass(rater, case.step)
            cases = self._index.cases.values()
            known = next((each for each in cases if each.mark_id == case.mark_id), None)
            if known is None:
                response = None if case.task_id is None else self._find(rater, pass_.name, case.task_id)[1]
                known = self._new_precedent(pass_, case, response)
                self._keep(known)
            elif (known.rater, known.step) != (rater, pass_.step.name):
                raise Conflict("This precedent was sent before, as another one. Send it again.")
            entries = views.precedent_register(self._index, rater)
            return next(entry for entry in entries if entry.case_id == known.case_id)

    def _new_precedent(
        self, pass_: RubricPass, sent: NewPrecedent, response: BlindedResponse | None
    ) -> RaterPrecedent:
        """Makes the precedent that a rater sets. It concerns only responses that were scored in this pass."""
        texts = {"situation": sent.situation, "decision": sent.decision, "rationale": sent.rationale}
        wrong = [f"Say the {name}." for name, text in texts.items() if not text.strip()]
        if pass_.round != FIRST:
            wrong.append("Precedents are set in the first round: the second one checks its results.")
        if sent.again == QUESTION and response is None:
            wrong.append("Say which response the precedent is about, so that its question is known.")
        if sent.again == WORDS and not any(each.isalnum() for each in sent.words):
            wrong.append("Give the words that responses must hold to be looked at again.")
        if wrong:
            raise RuleViolation(wrong)
        question_id = None if response is None else response.question_id
        concerned = concerned_responses(self._pack, sent.again, question_id=question_id, words=sent.words)
        return RaterPrecedent(
            case_id=next_precedent_id(self._index.cases.values()),
            mark_id=sent.mark_id,
            rater=pass_.rater,
            step=pass_.step.name,
            about=sorted(each for each in concerned if self._index.is_scored(pass_.step.name, each)),
            time=self._clock(),
            **{name: text.strip() for name, text in texts.items()},
        )

    # -------------------------------------------------------------------------------------- finding

    def _states(self, rater: str) -> list[PassState]:
        self._check_rater(rater)
        return pass_states(self._index, rater, self._clock())

    def _pass(self, rater: str, step: str) -> RubricPass:
        found = next((pass_ for pass_ in self._index.passes.get(rater, []) if pass_.name == step), None)
        if found is None:
            raise NotFound
        return found

    def _find(self, rater: str, step: str, task_id: str) -> tuple[RubricPass, BlindedResponse]:
        pass_ = self._pass(rater, step)
        if task_id not in pass_.response_ids:
            raise NotFound
        return pass_, self._responses[task_id]

    def _is_done(self, pass_: RubricPass, task_id: str) -> bool:
        return self._index.mark(pass_.key(task_id)) is not None

    def _listed(self, pass_: RubricPass) -> list[str]:
        """Returns a pass's responses in this rater's order; in a second round, only due or scored ones."""
        if (pass_.rater, pass_.name) not in self._orders:
            ids = sorted(pass_.response_ids)
            self._orders[pass_.rater, pass_.name] = self._order(self._pack, pass_.rater, pass_.name, ids)
        shown = self._orders[pass_.rater, pass_.name]
        if pass_.round == FIRST:
            return shown
        now = self._clock()
        return [
            each for each in shown if self._is_done(pass_, each) or self._index.due_at(pass_, each) <= now
        ]

    # -------------------------------------------------------------------------------------- refusing

    def _check_rater(self, rater: str) -> None:
        if rater not in self._index.passes:
            raise NotFound

    def _check_open(self, pass_: RubricPass, task_id: str) -> None:
        states = self._states(pass_.rater)
        state = next(state for state in states if state.pass_.name == pass_.name)
        if state.blocked:
            raise Conflict(f"{pass_.title} is not open yet. {state.why}")
        first_is_over = all(state.state == "done" for state in states if state.pass_.round == FIRST)
        if pass_.round == FIRST and task_id in self._pack.drawn_again and first_is_over:
            raise Conflict("You score this response a second time, so what you said first is not shown.")
        at = self._index.due_at(pass_, task_id)
        if at > self._clock() and not self._is_done(pass_, task_id):
            raise Conflict(f"This response can be scored again from {format_time(at)} on.")

    def _repeated(self, pass_: RubricPass, task_id: str, mark_id: str) -> Mark | None:
        """Returns the mark that was saved before under this id, if there is one."""
        mark = self._index.by_id(mark_id)
        if mark is not None and mark.key != pass_.key(task_id):
            raise Conflict("This mark was sent before, for something else. Send it again.")
        return mark

    def _check_base(self, pass_: RubricPass, task_id: str, base: str | None) -> None:
        """Raises a Conflict if the sender does not know the mark that counts."""
        self._check_open(pass_, task_id)
        current = self._index.mark(pass_.key(task_id))
        if current is None and base is not None:
            raise Conflict("It was taken back elsewhere since you opened it.")
        if current is not None and base != current.mark_id:
            raise Conflict("It was changed elsewhere since you opened it.", views.mark_view(current))

    def _check_rules(self, pass_: RubricPass, task_id: str, draft: Draft) -> None:
        text, others = self._responses[task_id].text, self._index.others(pass_.key(task_id))
        if wrong := draft_problems(pass_.step, draft, text, others):
            raise RuleViolation(wrong)


def _has_suggestions(pass_: RubricPass) -> bool:
    """Whether a rater may ask for a suggestion: never on hallucinations, never in a second round."""
    return pass_.round == FIRST and pass_.step.name != HALLUCINATION
