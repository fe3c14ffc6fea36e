"""What stands of all that was said, kept up line by line, so that no question reads it all again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from assay.kinds.answers.blinding.pack import BlindPack
from assay.kinds.answers.scoring.assignment import RubricPass, passes_of, raters_of
from assay.kinds.answers.scoring.marks import FIRST, BookEntry, Mark, RaterPrecedent, SuggestionView
from assay.kinds.answers.scoring.precedents import precedents_named, why_again
from assay.kinds.answers.scoring.reconcile import LATER, contradiction
from assay.kinds.answers.scoring.rubric import ACCURACY, STEPS

Key = tuple[str, str, str, str]  # rater, round, pass, response
Value = TypeVar("Value")


class MarkIndex:
    """The lines of one pack. It is no thread's own: whoever shares it takes turns."""

    def __init__(self, pack: BlindPack, lines: Iterable[BookEntry] = ()) -> None:
        self.pack = pack
        self.passes: dict[str, list[RubricPass]] = {
            rater: passes_of(pack, rater) for rater in raters_of(pack)
        }
        self.cases: dict[str, RaterPrecedent] = {}  # by case_id
        self._marks: dict[str, Mark] = {}  # by mark_id
        self._past: dict[Key, list[Mark]] = {}
        self._standing: dict[Key, Mark] = {}
        self._done: Counter[tuple[str, str, str]] = Counter()
        self._saw: dict[tuple[str, str, str], SuggestionView] = {}
        self._own = {(of.rater, of.round): of.response_ids for all_ in self.passes.values() for of in all_}
        # precedents by response: those set after it was scored, and those of them not looked at again for
        self._concerned: dict[tuple[str, str], dict[str, list[str]]] = {}
        self._open: dict[tuple[str, str], dict[str, list[str]]] = {}
        self._contradictions: dict[tuple[str, str, str], dict[str, str]] = {}  # by the later pass
        for line in lines:
            self.take(line)

    def take(self, line: BookEntry) -> None:
        """Counts one more line; a mark or a precedent that is known already counts once."""
        if isinstance(line, Mark):
            if line.mark_id not in self._marks:
                self._take_mark(line)
        elif isinstance(line, RaterPrecedent):
            if line.case_id not in self.cases:
                self._take_case(line)
        else:
            self._saw[line.rater, line.step, line.response_id] = line

    def _take_mark(self, mark: Mark) -> None:
        self._marks[mark.mark_id] = mark
        self._past.setdefault(mark.key, []).append(mark)
        stood = mark.key in self._standing
        if mark.withdrawn:
            self._standing.pop(mark.key, None)
        else:
            self._standing[mark.key] = mark
        if mark.response_id in self._own.get((mark.rater, mark.round), ()):
            self._done[mark.rater, mark.round, mark.step] += (not mark.withdrawn) - stood
        self._look_again(mark.rater, mark.step, mark.response_id)
        self._compare(mark)

    def _take_case(self, case: RaterPrecedent) -> None:
        self.cases[case.case_id] = case
        for rater in self.passes:
            for response_id in case.about:
                if (rater, FIRST, case.step, response_id) in self._standing:
                    concerned = self._concerned.setdefault((rater, case.step), {})
                    concerned.setdefault(response_id, []).append(case.case_id)
                    self._look_again(rater, case.step, response_id)

    def _look_again(self, rater: str, step: str, response_id: str) -> None:
        concerned = self._concerned.get((rater, step), {}).get(response_id)
        if concerned is None:
            return
        mark = self._standing.get((rater, FIRST, step, response_id))
        left = [] if mark is None else [each for each in concerned if each not in precedents_named(mark)]
        _put(self._open.setdefault((rater, step), {}), response_id, left)

    def _compare(self, mark: Mark) -> None:
        rater, round_, changed, response_id = mark.key
        accuracy = self.mark((rater, round_, ACCURACY, response_id))
        for later in LATER if changed == ACCURACY else {changed} & {*LATER}:
            found = self._contradictions.setdefault((rater, round_, later), {})
            why = contradiction(accuracy, self.mark((rater, round_, later, response_id)))
            _put(found, response_id, why)

    # ------------------------------------------------------------------------------- what stands

    def mark(self, key: Key) -> Mark | None:
        """The mark that counts."""
        return self._standing.get(key)

    def marked(self, mark_id: str) -> Mark | None:
        """The mark of an id, standing or not."""
        return self._marks.get(mark_id)

    def past(self, key: Key) -> Sequence[Mark]:
        """All that a rater ever said here, oldest first."""
        return self._past.get(key, [])

    def before(self, key: Key) -> Mark | None:
        """What stood before the mark that stands: where undoing leads. None: nothing did.

        What was undone is gone from this line, so that undoing twice goes back two steps, not to and fro.
        """
        line: list[Mark] = []
        for mark in self.past(key):
            if mark.withdrawn:
                line.clear()
            elif mark.restores is not None and len(line) > 1:
                line[-2:] = [mark]
            else:
                line.append(mark)
        return line[-2] if len(line) > 1 else None

    def others(self, key: Key) -> dict[str, Mark]:
        """What the same rater says of the same response in the other passes of the round."""
        rater, round_, own, response_id = key
        found = {
            step.name: self.mark((rater, round_, step.name, response_id))
            for step in STEPS
            if step.name != own
        }
        return {name: mark for name, mark in found.items() if mark is not None}

    def saw(self, rater: str, step: str, response_id: str) -> SuggestionView | None:
        """The suggestion that a rater was shown here."""
        return self._saw.get((rater, step, response_id))

    def scored(self, step: str, response_id: str) -> bool:
        """Whether anybody has scored a response in a pass."""
        return any((rater, FIRST, step, response_id) in self._standing for rater in self.passes)

    def done(self, of: RubricPass) -> int:
        """How many responses of a pass have a mark."""
        return self._done[of.rater, of.round, of.step.name]

    # ----------------------------------------------------------------------- what to look at again

    def concerning(self, of: RubricPass, response_id: str) -> list[str]:
        """The precedents that were set after this rater scored a response and may concern it."""
        return self._concerned.get((of.rater, of.step.name), {}).get(response_id, []) if _first(of) else []

    def to_look_at(self, case: RaterPrecedent, rater: str) -> int:
        """How many responses a rater has still to look at again for a precedent."""
        return sum(case.case_id in left for left in self._open.get((rater, case.step), {}).values())

    def queue(self, of: RubricPass) -> Mapping[str, str]:
        """The responses of a pass that are to be looked at again, and why."""
        found = dict(self._reconciling(of))
        for response_id, left in (self._open.get((of.rater, of.step.name), {}) if _first(of) else {}).items():
            why = why_again(self.cases[case_id] for case_id in left)
            found[response_id] = f"{found[response_id]} {why}" if response_id in found else why
        return found

    def queued(self, of: RubricPass) -> int:
        """How many those are."""
        again = self._open.get((of.rater, of.step.name), {}) if _first(of) else {}
        return len(again.keys() | self._reconciling(of).keys())

    def why_queued(self, of: RubricPass, response_id: str) -> str | None:
        """Why one of them is."""
        left = self._open.get((of.rater, of.step.name), {}).get(response_id, []) if _first(of) else []
        told = [self._reconciling(of).get(response_id)]
        told += [why_again(self.cases[case_id] for case_id in left)] if left else []
        return " ".join(filter(None, told)) or None

    def _reconciling(self, of: RubricPass) -> Mapping[str, str]:
        """Contradictions come up in the pass on accuracy, each kind once its later pass is through."""
        found: dict[str, str] = {}
        for later in LATER if of.step.name == ACCURACY else ():
            key = of.rater, of.round, later
            if self._done[key] >= len(of.response_ids):
                for response_id, why in self._contradictions.get(key, {}).items():
                    found[response_id] = f"{found[response_id]} {why}" if response_id in found else why
        return found


def _first(of: RubricPass) -> bool:
    return of.round == FIRST


def _put(table: dict[str, Value], name: str, value: Value | None) -> None:
    if value:
        table[name] = value
    else:
        table.pop(name, None)
