"""The judge stage: what everybody the study lists says about what came back.

Free judges are asked at every evaluation. Those that cost something are asked by `ask` alone; evaluation
reads what they found, and people's marks, from the store.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec

from assay.datasets.dataset import Dataset
from assay.judges.inquiry import Inquiry
from assay.judges.marks import Present, held, standing
from assay.judges.resolve import resolve
from assay.measures.block import Block, Labels
from assay.protocols import FreeJudge, Judge, PayingJudge
from assay.records import Judgment, Question
from assay.run.journal import Judged
from assay.run.performing import Progress, Silent, Tally
from assay.run.runner import Purse
from assay.run.store import Store
from assay.study import Study

SHOWN_ITEMS = 10  # of those whose marks are stale


@dataclass(frozen=True)
class Judging:
    """The judges of a study over its blocks, before anything is labelled."""

    study: Study
    blocks: Sequence[Block]
    store: Store

    @cached_property
    def names(self) -> list[str]:
        """Every name that judgments may be signed with, best first."""
        return [name for judge in self.study.judges for name in self._signed(judge, judge.names)]

    def _signed(self, judge: Judge, named: Sequence[str]) -> Sequence[str]:
        """The names of a judge; one that counts everybody has those of all who marked, earliest first."""
        if not getattr(judge, "everybody", False):
            return named
        taken = {name for other in self.study.judges for name in other.names}
        marked = (mark.judge for mark in self._stored_marks)
        return [name for name in dict.fromkeys(marked) if name not in taken]

    @cached_property
    def raters(self) -> list[str]:
        """The people whose agreement counts."""
        people = [judge for judge in self.study.judges if hasattr(judge, "raters")]
        return [name for judge in people for name in self._signed(judge, getattr(judge, "raters", ()))]

    @cached_property
    def judgments(self) -> list[Judgment]:
        """All that counts: marks that hold, what free judges say and what paying ones found."""
        return [*(mark for mark, now in self._marks if now), *self._worked_out]

    @cached_property
    def labels(self) -> Labels:
        """The judgments resolved; a mark on a text that some arms no longer return holds for the others."""
        now = [each for _, places in self._marks for each in places]
        return resolve([*now, *self._worked_out], self.names, self._closed)

    @cached_property
    def _closed(self) -> frozenset[str]:
        """The labels under which what nobody names is not relevant."""
        closed = frozenset().union(*(judge.closed_labels for judge in self.study.judges))
        return closed.difference(*(getattr(judge, "opens", ()) for judge in self.study.judges))

    @cached_property
    def bounded(self) -> frozenset[str]:
        """The closed labels of which only some was known beforehand: figures that read them are too low."""
        partly = (getattr(judge, "incomplete", ()) for judge in self.study.judges)
        return self._closed.intersection(frozenset[str]().union(*partly))

    @cached_property
    def warnings(self) -> list[str]:
        """What was said and does not count, and what is still to be said."""
        said = [*self._stored_marks, *self._worked_out]
        ignored = Counter(each.judge for each in said if each.judge not in self.names)
        listed = ", ".join(self.names) or "nobody"
        stale: dict[str, dict[str, None]] = {}
        for mark, now in self._marks:
            if not now:
                stale.setdefault(mark.judge, {})[mark.item_id] = None
        return [
            *(f"{_marks_by(judge, n)} ignored; the study lists {listed}" for judge, n in ignored.items()),
            *(
                f"marks by {judge} do not count, because what they were made on has changed: {_some(items)}"
                for judge, items in stale.items()
            ),
            *(warning for inquiry in self._inquiries for warning in inquiry.warnings()),
        ]

    def ask(self, progress: Progress | None = None) -> list[Tally]:
        """Asks judges that cost something what they were not asked yet; the caller holds the store's lock."""
        progress, purse = progress or Silent(), Purse.of(self.study, self.store)
        total = sum(len(inquiry.questions) for inquiry in self._inquiries)
        left = sum(len(inquiry.unanswered) for inquiry in self._inquiries)
        progress.begin(f"{self.study.name}, judges", total, total - left)
        asking = [inquiry for inquiry in self._inquiries if inquiry.unanswered]
        return [inquiry.ask(self.study, self.store, purse, progress) for inquiry in asking]

    @cached_property
    def _judged(self) -> list[Judged]:
        return self.store.judged()

    @cached_property
    def _stored_marks(self) -> list[Judgment]:
        """Judgments that were made without a question: by people, or imported."""
        return [entry.judgment for entry in self._judged if entry.judgment is not None and entry.key is None]

    @cached_property
    def _marks(self) -> list[tuple[Judgment, list[Judgment]]]:
        """Every mark that stands, and where it holds now; nowhere: it is stale."""
        present = [Present(block, self.study.dataset(block.arm).corpus) for block in self.blocks]
        listed = [mark for mark in self._stored_marks if mark.judge in self.names]
        return [(mark, held(mark, present)) for mark in standing(listed)]

    @cached_property
    def _worked_out(self) -> list[Judgment]:
        paid = [inquiry.judgments() for inquiry in self._inquiries]
        return [judgment for said in (*self._said_free.values(), *paid) for judgment in said]

    @cached_property
    def _said_free(self) -> dict[int, list[Judgment]]:
        """What each free judge says, by its place in the study's list."""
        judges = enumerate(self.study.judges)
        return {place: self._free(judge) for place, judge in judges if isinstance(judge, FreeJudge)}

    @cached_property
    def _inquiries(self) -> list[Inquiry]:
        return [
            Inquiry.of(judge, self._questions(place, judge), self._judged)
            for place, judge in enumerate(self.study.judges)
            if isinstance(judge, PayingJudge)
        ]

    def _questions(self, place: int, judge: PayingJudge) -> Iterator[Question]:
        """What a judge is to be asked: not what a better one decides for nothing."""
        decided = {
            (each.item_id, each.label, each.target, each.arm)
            for better, said in self._said_free.items()
            if better < place
            for each in said
        }
        for dataset, blocks in self._parts:
            for question in judge.questions(dataset, blocks):
                asked = question.item_id, question.label, question.target
                if decided.isdisjoint([(*asked, None), (*asked, question.arm)]):
                    yield question

    def _free(self, judge: FreeJudge) -> list[Judgment]:
        """What a free judge says; what it says of some datasets only holds for the arms on those."""
        said = [judge.judge(dataset, blocks, self.study.kit) for dataset, blocks in self._parts]
        if len(said) == 1:
            return said[0]
        everywhere = set(said[0]).intersection(*said[1:])
        found = [judgment for judgment in said[0] if judgment in everywhere]
        for (_, blocks), own in zip(self._parts, said, strict=True):
            arms = dict.fromkeys(block.arm.name for block in blocks)
            for judgment in own:
                if judgment not in everywhere:
                    places = arms if judgment.arm is None else [judgment.arm]
                    found += [msgspec.structs.replace(judgment, arm=arm) for arm in places]
        return found

    @cached_property
    def _parts(self) -> list[tuple[Dataset, list[Block]]]:
        """Each dataset with the blocks of the arms that ran on it."""
        parts: dict[int, tuple[Dataset, list[Block]]] = {}
        for block in self.blocks:
            dataset = self.study.dataset(block.arm)
            parts.setdefault(id(dataset), (dataset, []))[1].append(block)
        return list(parts.values())


def _marks_by(judge: str, n: int) -> str:
    return f"1 mark by {judge} is" if n == 1 else f"{n} marks by {judge} are"


def _some(items: Collection[str]) -> str:
    shown = ", ".join(list(items)[:SHOWN_ITEMS])
    return shown + (f" and {len(items) - SHOWN_ITEMS} more" if len(items) > SHOWN_ITEMS else "")
