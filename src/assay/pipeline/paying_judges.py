"""Asks judges that cost something. Each question is asked once, and each finding is stored at once.

The key of a question is a hash of the judge and of everything that the judge is shown. So a finding is used
again only where the same judge would be shown exactly the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property

import msgspec

from assay.core.dataset import Corpus, Dataset, digest
from assay.core.optional import ThreadedPlugin, VersionedPlugin
from assay.core.protocols import Kit, PayingJudge
from assay.core.records import Budget, Finding, Item, Judgment, Observed, Query, Question, Response
from assay.core.registry import identity
from assay.judges.labels import text_hash
from assay.pipeline.work_orders import Progress, SpendingCap, Tally
from assay.pipeline.worker_pool import IndexPool, SystemUnderTest, WorkerPool
from assay.store.journal import Answer, JudgmentEntry
from assay.store.keys import SessionTask
from assay.store.run_store import Store
from assay.study.study import Study

HOPELESS = 10  # failures without any answer after which a judge is asked no more: it is down, or does not fit

_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True)
class JudgeQuestions:
    """A paying judge, all its questions about a study, and the stored entries of those that were asked."""

    judge: PayingJudge
    questions: Mapping[str, Sequence[Question]]  # by key: one for each response that shows the same
    entries: Mapping[str, JudgmentEntry]

    @classmethod
    def of(
        cls, judge: PayingJudge, questions: Iterable[Question], judged: Iterable[JudgmentEntry]
    ) -> JudgeQuestions:
        """Groups questions by key. Each key has its first judgment or, if it has none, its last fault."""
        by_key: dict[str, list[Question]] = {}
        for question in dict.fromkeys(questions):  # arms that share a question may each raise it
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
        """The questions that have no finding, because they were not asked yet or because they failed."""
        found = {key for key, entry in self.entries.items() if entry.judgment is not None}
        return {key: alike[0] for key, alike in self.questions.items() if key not in found}

    def judgments(self) -> list[Judgment]:
        """Returns a judgment for every response that shows a judged text."""
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

    def warnings(self, *, is_cap_reached: bool = False) -> list[str]:
        """Reports how many questions failed or were not asked yet, and why."""
        faults = [entry.fault for entry in self.entries.values() if entry.fault is not None]
        waiting = len(self.unanswered) - len(faults)
        found = []
        if faults:
            why = f"the last failure: {faults[-1].kind}: {faults[-1].message}"
            found.append(f"{self.name} failed on {len(faults)} of {len(self.questions)} questions; {why}")
        if waiting:
            cap = ", because max_cost was reached: raise it under `run`, and run again"
            why = cap if is_cap_reached else ""
            if len(faults) == len(self.entries) >= HOPELESS:
                why = ", because none of the first was answered"
            found.append(
                f"{waiting} of {len(self.questions)} questions to {self.name} were not asked yet{why}"
            )
        return found

    def ask(self, study: Study, store: Store, cap: SpendingCap, progress: Progress) -> Tally:
        """Asks all open questions. As for systems, there are threads, retries and a spending cap."""
        tally, spent, is_answered = Tally(self.name, 0), list[float](), list[bool]()
        system = _JudgeAsSystem(self.judge, self.unanswered, study.kit)
        items = [Item(key, question.text) for key, question in self.unanswered.items()]
        tasks = [SessionTask((place,), (key,)) for place, key in enumerate(self.unanswered)]
        target = SystemUnderTest(
            system,
            Dataset(self.name, Corpus(()), items),
            study.kit,
            (),
            study.file.run,
            IndexPool(lambda _: system, tasks),
            study.concealed,
        )

        def may_go_on() -> bool:
            if len(is_answered) >= HOPELESS and not any(is_answered):
                return False
            return cap.left is None or math.fsum(spent) < cap.left

        def store_findings(answers: Sequence[Answer]) -> None:
            is_answered.extend(answer.response.error is None for answer in answers)
            for answer in answers:
                response = answer.response
                judgment = None if response.error is not None else self._judgment(answer.key, response)
                writer.append(
                    JudgmentEntry(judgment, answer.key, response.observed.cost, response.error), now=True
                )

        with store.writer() as writer:
            pool = WorkerPool(target, store_findings, spent.append, may_go_on)
            with closing(pool.answer(tasks)) as answered:
                for task in answered:
                    if task is not None:
                        progress.advance(1, tally.count(task.answers))
        tally.cost = math.fsum(spent)
        cap.pay(tally.cost)
        return tally

    def _judgment(self, key: str, response: Response) -> Judgment:
        question = self.unanswered[key]
        finding = msgspec.json.decode(response.answer or "", type=Finding)
        return Judgment(
            question.item_id,
            question.label,
            finding.grade,
            self.name,
            target=question.target,
            span=question.span,
            category=finding.category,
            version=self.judge.version if isinstance(self.judge, VersionedPlugin) else "1",
            seen=text_hash(question.text),
            reason=finding.reason,
            time=response.observed.time,
        )


def question_key(judge: PayingJudge, question: Question) -> str:
    """Returns the key of a question. Questions with equal keys share one finding.

    If the question has a text, the key depends on the text, not on the ids of passages. It never depends on
    the arm or the seed.
    """
    named = (None, None) if question.text else (question.target, question.span)
    shown = msgspec.structs.replace(question, target=named[0], span=named[1], arm=None, seed=None)
    return digest([identity(judge).encode(), _encode(shown)])


@dataclass(frozen=True)
class _JudgeAsSystem:
    """A judge in the form of a system: a query names a question by its key, and the answer is the finding."""

    judge: PayingJudge
    questions: Mapping[str, Question]
    kit: Kit

    @property
    def threads(self) -> int:
        return int(self.judge.threads) if isinstance(self.judge, ThreadedPlugin) else 1

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> _JudgeAsSystem:
        return self

    def session(self) -> _JudgeAsSystem:
        return self

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        finding = self.judge.ask(self.questions[query.item_id], self.kit)
        if not math.isfinite(finding.grade):
            raise ValueError(f"the grade is {finding.grade}")
        return Response(answer=_encode(finding).decode(), observed=Observed(cost=finding.cost))
