"""Asking judges that cost something: each question once, each finding written down before the next is asked.

A question's key hashes the judge and everything it is shown, so that a finding is used again wherever the
same judge would be shown the same, and never where it would be shown anything else.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property

import msgspec

from assay.core.dataset import Corpus, Dataset, digest
from assay.core.protocols import Kit, PayingJudge
from assay.core.records import Budget, Finding, Item, Judgment, Observed, Query, Question, Response
from assay.core.registry import identity
from assay.judges.resolve import text_hash
from assay.pipeline.answering import IndexPool, SystemUnderTest, WorkerPool
from assay.pipeline.performing import Progress, Tally
from assay.pipeline.runner import SpendingCap
from assay.store.journal import Answer, JournalWriter, JudgmentEntry
from assay.store.keys import SessionTask
from assay.store.run_store import Store
from assay.study.study import Study

HOPELESS = 10  # questions that failed, none having been answered: a judge that is down, or does not fit

_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True)
class JudgeQuestions:
    """A paying judge, every question it has about a study, and what became of those that were asked."""

    judge: PayingJudge
    questions: Mapping[str, Sequence[Question]]  # by key: one for each response that shows the same
    entries: Mapping[str, JudgmentEntry]

    @classmethod
    def of(
        cls, judge: PayingJudge, questions: Iterable[Question], judged: Iterable[JudgmentEntry]
    ) -> JudgeQuestions:
        """The questions under their keys, each with the first judgment given or the last fault."""
        by_key: dict[str, list[Question]] = {}
        for question in dict.fromkeys(questions):  # arms that share a question may raise it each
            by_key.setdefault(question_key(judge, question), []).append(question)
        entries: dict[str, JudgmentEntry] = {}
        for entry in judged:
            if entry.key in by_key and (entry.key not in entries or entries[entry.key].judgment is None):
                entries[entry.key] = entry
        return cls(judge, by_key, entries)

    @property
    def name(self) -> str:
        return self.judge.names[0]

    @cached_property
    def unanswered(self) -> dict[str, Question]:
        """The questions without a finding: not asked yet, or failed."""
        found = {key for key, entry in self.entries.items() if entry.judgment is not None}
        return {key: alike[0] for key, alike in self.questions.items() if key not in found}

    def judgments(self) -> list[Judgment]:
        """What was found, for every response that shows what was asked about."""
        return [
            msgspec.structs.replace(
                entry.judgment,
                target=question.target,
                span=question.span,
                arm=question.arm,
                seed=question.seed,
            )
            for key, alike in self.questions.items()
            if (entry := self.entries.get(key)) is not None and entry.judgment is not None
            for question in alike
        ]

    def warnings(self, spent: bool = False) -> list[str]:
        """How many questions are open, and why; `spent`: the study has paid as much as it may."""
        faults = [entry.fault for entry in self.entries.values() if entry.fault is not None]
        waiting = len(self.unanswered) - len(faults)
        found = []
        if faults:
            why = f"the last failure: {faults[-1].kind}: {faults[-1].message}"
            found.append(f"{self.name} failed on {len(faults)} of {len(self.questions)} questions; {why}")
        if waiting:
            why = ", because max_cost was reached: raise it under `run`, and run again" if spent else ""
            if len(faults) == len(self.entries) >= HOPELESS:
                why = ", because none of the first was answered"
            found.append(
                f"{waiting} of {len(self.questions)} questions to {self.name} were not asked yet{why}"
            )
        return found

    def ask(self, study: Study, store: Store, purse: SpendingCap, progress: Progress) -> Tally:
        """Asks what is open, as systems are asked: in threads, with retries, within what may be spent."""
        todo, tally = self.unanswered, Tally(self.name, 0)
        spent: list[float] = []
        answered: list[bool] = []
        asker = _JudgeAsSystem(self.judge, todo, study.kit)
        items = Dataset(self.name, Corpus(()), [Item(key, question.text) for key, question in todo.items()])
        units = [SessionTask((place,), (key,)) for place, key in enumerate(todo)]
        indexes = IndexPool(lambda _: asker, units)
        asked = SystemUnderTest(asker, items, study.kit, (), study.file.run, indexes, study.concealed)

        def worthwhile() -> bool:
            if len(answered) >= HOPELESS and not any(answered):
                return False
            return purse.left is None or math.fsum(spent) < purse.left

        def record(answers: Sequence[Answer]) -> None:
            answered.extend(answer.response.error is None for answer in answers)
            self._record(answers, writer)

        with store.writer() as writer:
            crew = WorkerPool(asked, record, spent.append, worthwhile)
            with closing(crew.finished(units)) as coming:
                for finished in coming:
                    if finished is not None:
                        progress.advance(1, tally.count(finished.answers))
        tally.cost = math.fsum(spent)
        purse.pay(tally.cost)
        return tally

    def _record(self, answers: Sequence[Answer], writer: JournalWriter) -> None:
        for answer in answers:
            response, judgment = answer.response, None
            if response.error is None:
                finding = msgspec.json.decode(response.answer or "", type=Finding)
                judgment = self._judgment(self.unanswered[answer.key], finding, response.observed.time)
            writer.append(
                JudgmentEntry(judgment, answer.key, response.observed.cost, response.error), now=True
            )

    def _judgment(self, question: Question, finding: Finding, time: float | None) -> Judgment:
        return Judgment(
            question.item_id,
            question.label,
            finding.grade,
            self.name,
            target=question.target,
            span=question.span,
            category=finding.category,
            version=getattr(self.judge, "version", "1"),
            seen=text_hash(question.text),
            reason=finding.reason,
            time=time,
        )


def question_key(judge: PayingJudge, question: Question) -> str:
    """The identity of a finding: the text shown decides, not its id in one index, nor who returned it."""
    named = (None, None) if question.text else (question.target, question.span)
    shown = msgspec.structs.replace(question, target=named[0], span=named[1], arm=None, seed=None)
    return digest([identity(judge).encode(), _encode(shown)])


@dataclass(frozen=True)
class _JudgeAsSystem:
    """A judge in the place of a system: a query names a question by its key, the answer is the finding."""

    judge: PayingJudge
    questions: Mapping[str, Question]
    kit: Kit

    @property
    def threads(self) -> int:
        return int(getattr(self.judge, "threads", 1))

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> _JudgeAsSystem:
        return self

    def session(self) -> _JudgeAsSystem:
        return self

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        finding = self.judge.ask(self.questions[query.item_id], self.kit)
        if not math.isfinite(finding.grade):
            raise ValueError(f"the grade is {finding.grade}")
        return Response(answer=_encode(finding).decode(), observed=Observed(cost=finding.cost))
