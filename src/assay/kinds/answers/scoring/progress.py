"""The state of all marks on a pack: which marks count, what to look at again, and everybody's progress."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from assay.kinds.answers.blinding.pack import BlindPack
from assay.kinds.answers.scoring.marks import FIRST, BookEntry, Mark, MarkKey, RaterPrecedent, SuggestionView
from assay.kinds.answers.scoring.passes import (
    CONTRADICTING,
    RubricPass,
    contradiction,
    due_time,
    format_time,
    passes_of,
    precedents_named,
    why_again,
)
from assay.kinds.answers.scoring.rubric import ACCURACY, rubric

Value = TypeVar("Value")


class MarkIndex:
    """The marks of one pack, updated entry by entry. No query has to read all marks again.

    The index is not thread-safe: threads that share it need a lock.
    """

    def __init__(self, pack: BlindPack, entries: Iterable[BookEntry] = ()) -> None:
        self.pack = pack
        self.passes: dict[str, list[RubricPass]] = {
            rater: passes_of(pack, rater) for rater in pack.panel.raters
        }
        self.cases: dict[str, RaterPrecedent] = {}  # by case_id
        self._marks: dict[str, Mark] = {}  # by mark_id
        self._history: dict[MarkKey, list[Mark]] = {}
        self._current: dict[MarkKey, Mark] = {}
        self._done: Counter[tuple[str, str, str]] = Counter()
        self._views: dict[tuple[str, str, str], SuggestionView] = {}
        self._own = {
            (pass_.rater, pass_.round): pass_.response_ids for all_ in self.passes.values() for pass_ in all_
        }
        # by response: precedents set after it was scored, and those for which it must still be looked at
        self._concerned: dict[tuple[str, str], dict[str, list[str]]] = {}
        self._open: dict[tuple[str, str], dict[str, list[str]]] = {}
        self._contradictions: dict[tuple[str, str, str], dict[str, str]] = {}  # by the later pass
        for entry in entries:
            self.add(entry)

    def add(self, entry: BookEntry) -> None:
        """Adds one entry. A mark or a precedent that is already known is ignored."""
        if isinstance(entry, Mark):
            if entry.mark_id not in self._marks:
                self._add_mark(entry)
        elif isinstance(entry, RaterPrecedent):
            if entry.case_id not in self.cases:
                self._add_precedent(entry)
        else:
            self._views[entry.rater, entry.step, entry.response_id] = entry

    def _add_mark(self, mark: Mark) -> None:
        self._marks[mark.mark_id] = mark
        self._history.setdefault(mark.key, []).append(mark)
        counted = mark.key in self._current
        _put(self._current, mark.key, None if mark.withdrawn else mark)
        if mark.response_id in self._own.get((mark.rater, mark.round), ()):
            self._done[mark.rater, mark.round, mark.step] += (not mark.withdrawn) - counted
        self._update_open(mark.rater, mark.step, mark.response_id)
        rater, round_, changed, response_id = mark.key
        accuracy = self.mark((rater, round_, ACCURACY, response_id))
        for later in CONTRADICTING if changed == ACCURACY else {changed} & {*CONTRADICTING}:
            found = self._contradictions.setdefault((rater, round_, later), {})
            why = contradiction(accuracy, self.mark((rater, round_, later, response_id)))
            _put(found, response_id, why)

    def _add_precedent(self, case: RaterPrecedent) -> None:
        self.cases[case.case_id] = case
        for rater in self.passes:
            for response_id in case.about:
                if (rater, FIRST, case.step, response_id) in self._current:
                    concerned = self._concerned.setdefault((rater, case.step), {})
                    concerned.setdefault(response_id, []).append(case.case_id)
                    self._update_open(rater, case.step, response_id)

    def _update_open(self, rater: str, step: str, response_id: str) -> None:
        """Updates the precedents for which a rater still has to look at a response again."""
        concerned = self._concerned.get((rater, step), {}).get(response_id)
        if concerned is None:
            return
        mark = self._current.get((rater, FIRST, step, response_id))
        left = [] if mark is None else [each for each in concerned if each not in precedents_named(mark)]
        _put(self._open.setdefault((rater, step), {}), response_id, left)

    # ------------------------------------------------------------------------------- what counts

    def mark(self, key: MarkKey) -> Mark | None:
        """Returns the mark that counts under a key; None if there is none."""
        return self._current.get(key)

    def by_id(self, mark_id: str) -> Mark | None:
        """Returns the mark with this id, whether the mark counts or not."""
        return self._marks.get(mark_id)

    def history(self, key: MarkKey) -> Sequence[Mark]:
        """Returns all marks that were ever made under a key, oldest first."""
        return self._history.get(key, [])

    def before(self, key: MarkKey) -> Mark | None:
        """Returns the mark that counted before the current one; None if there is none. Undo restores it.

        A mark that was undone is skipped. Therefore two undos go back two steps, and do not return to the
        start.
        """
        line: list[Mark] = []
        for mark in self.history(key):
            if mark.withdrawn:
                line.clear()
            elif mark.restores is not None and len(line) > 1:
                line[-2:] = [mark]
            else:
                line.append(mark)
        return line[-2] if len(line) > 1 else None

    def others(self, key: MarkKey) -> dict[str, Mark]:
        """Returns the marks of the same rater on the same response in the other passes of the round."""
        rater, round_, own, response_id = key
        found = {step.name: self.mark((rater, round_, step.name, response_id)) for step in rubric().steps}
        return {name: mark for name, mark in found.items() if mark is not None and name != own}

    def suggestion_view(self, rater: str, step: str, response_id: str) -> SuggestionView | None:
        """Returns the record of the suggestion that a rater was shown for a response in a pass."""
        return self._views.get((rater, step, response_id))

    def is_scored(self, step: str, response_id: str) -> bool:
        """Whether anybody has scored a response in a pass."""
        return any((rater, FIRST, step, response_id) in self._current for rater in self.passes)

    def done(self, pass_: RubricPass) -> int:
        """Counts the responses of a pass that have a mark."""
        return self._done[pass_.rater, pass_.round, pass_.step.name]

    def due_at(self, pass_: RubricPass, response_id: str) -> float:
        """Returns the time from which a response may be scored in a pass. The first round is always due."""
        if pass_.round == FIRST:
            return float("-inf")
        return due_time(self.pack, self.mark((pass_.rater, FIRST, pass_.step.name, response_id)))

    # ----------------------------------------------------------------------- what to look at again

    def concerning(self, pass_: RubricPass, response_id: str) -> list[str]:
        """Returns the precedents that may concern a response and were set after this rater scored it."""
        return self._of_pass(self._concerned, pass_).get(response_id, [])

    def count_open(self, case: RaterPrecedent, rater: str) -> int:
        """Counts the responses that a rater still has to look at again because of a precedent."""
        return sum(case.case_id in left for left in self._open.get((rater, case.step), {}).values())

    def queue(self, pass_: RubricPass) -> dict[str, str]:
        """Returns the responses of a pass that are to be looked at again, with the reasons."""
        found = self._due_contradictions(pass_)
        for response_id, left in self._of_pass(self._open, pass_).items():
            _extend(found, response_id, why_again(self.cases[case_id] for case_id in left))
        return found

    def count_queued(self, pass_: RubricPass) -> int:
        """Counts the responses of a pass that are to be looked at again."""
        return len(self._of_pass(self._open, pass_).keys() | self._due_contradictions(pass_).keys())

    def why_queued(self, pass_: RubricPass, response_id: str) -> str | None:
        """Says why a response is to be looked at again; None if it is not."""
        left = self._of_pass(self._open, pass_).get(response_id, [])
        why = [self._due_contradictions(pass_).get(response_id)]
        why += [why_again(self.cases[case_id] for case_id in left)] if left else []
        return " ".join(filter(None, why)) or None

    def _of_pass(
        self, table: Mapping[tuple[str, str], dict[str, list[str]]], pass_: RubricPass
    ) -> Mapping[str, list[str]]:
        """Returns the part of a table that belongs to a pass. Precedents concern the first round only."""
        return table.get((pass_.rater, pass_.step.name), {}) if pass_.round == FIRST else {}

    def _due_contradictions(self, pass_: RubricPass) -> dict[str, str]:
        """Returns the contradictions with later passes that are complete.

        Only the pass on accuracy asks raters to resolve contradictions.
        """
        found: dict[str, str] = {}
        for later in CONTRADICTING if pass_.step.name == ACCURACY else ():
            key = pass_.rater, pass_.round, later
            if self._done[key] >= len(pass_.response_ids):
                for response_id, why in self._contradictions.get(key, {}).items():
                    _extend(found, response_id, why)
        return found


Key = TypeVar("Key")


def _put(table: dict[Key, Value], key: Key, value: Value | None) -> None:
    if value:
        table[key] = value
    else:
        table.pop(key, None)


def _extend(reasons: dict[str, str], response_id: str, why: str) -> None:
    reasons[response_id] = f"{reasons[response_id]} {why}" if response_id in reasons else why


# ------------------------------------------------------------------------------------ progress


@dataclass(frozen=True)
class PassState:
    """A pass of one rater, and how much of the pass is done."""

    pass_: RubricPass
    done: int
    queued: int  # responses to look at again
    state: Literal["open", "waiting", "done"]
    why: str = ""  # why it waits
    blocked: bool = False  # an earlier pass is not finished

    @property
    def total(self) -> int:
        return len(self.pass_.response_ids)

    @property
    def left(self) -> int:
        return self.total - self.done


def pass_states(index: MarkIndex, rater: str, now: float) -> list[PassState]:
    """Returns all passes of a rater in their order. A pass begins when the pass before it is complete."""
    found: list[PassState] = []
    before: PassState | None = None
    for pass_ in index.passes.get(rater, []):
        done, queued = index.done(pass_), index.count_queued(pass_)
        left = len(pass_.response_ids) - done
        if before is not None:
            why = f"{before.pass_.title} comes first: {before.left} of {before.total} left."
            state = PassState(pass_, done, queued, "waiting", why, blocked=True)
        elif (at := _waits_until(index, pass_, now)) is not None:
            why = f"{left} left, the next of them from {format_time(at)} on."
            state = PassState(pass_, done, queued, "waiting", why)
        else:
            state = PassState(pass_, done, queued, "open" if left or queued else "done")
        if before is None and left:
            before = state
        found.append(state)
    return found


def _waits_until(index: MarkIndex, pass_: RubricPass, now: float) -> float | None:
    """Returns when the next response of a second round is due; None if one is due now or none is left."""
    left = (
        [each for each in pass_.response_ids if index.mark(pass_.key(each)) is None]
        if pass_.round != FIRST
        else []
    )
    at = min((index.due_at(pass_, each) for each in left), default=now)
    return at if at > now else None


def current_pass(states: Iterable[PassState]) -> PassState | None:
    """Returns the pass to continue with: the first pass that has something to do now."""
    return next((state for state in states if state.state == "open"), None)


def progress(index: MarkIndex) -> dict[str, dict[str, tuple[int, int]]]:
    """Counts the responses that each rater has scored in each pass, and all responses of the pass."""
    return {
        rater: {pass_.name: (index.done(pass_), len(pass_.response_ids)) for pass_ in passes}
        for rater, passes in index.passes.items()
    }


def remaining_work(index: MarkIndex, now: float) -> list[str]:
    """Lists the remaining work in sentences; empty if every pass is complete and nothing is queued."""
    return [
        sentence
        for rater in index.passes
        for state in pass_states(index, rater, now)
        for sentence in _left(rater, state)
    ]


def _left(rater: str, state: PassState) -> Iterator[str]:
    where = f"{rater}: {state.pass_.title}"
    if state.left:
        waits = f": {state.why}" if state.state == "waiting" and not state.blocked else ""
        yield f"{where}: {state.left} of {state.total} to score{waits}"
    if state.queued:
        yield f"{where}: {state.queued} to look at again"
