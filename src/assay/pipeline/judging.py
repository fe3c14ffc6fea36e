"""The judge stage: what everybody the study lists says about what came back.

Free judges are asked at every evaluation. Those that cost something are asked by `ask` alone; evaluation
reads what they found, and people's marks, from the store.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from collections.abc import Collection, Iterator, KeysView, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import polars as pl

from assay.core.block import Block, Labels, View
from assay.core.dataset import Dataset
from assay.core.protocols import FreeJudge, Judge, NearMiss, NearMissJudge, PayingJudge, PersonJudge
from assay.core.records import INTENT, Judgment, Question
from assay.core.registry import as_plugin_error
from assay.judges.labels import BlockTexts, current_judgments, resolve, restrict_to_same_text, text_hash
from assay.pipeline.work_orders import NoProgress, Progress, SpendingCap, Tally
from assay.store.journal import JudgmentEntry
from assay.store.run_store import Store
from assay.study.study import Study

if TYPE_CHECKING:
    from assay.pipeline.paying_judges import JudgeQuestions

SHOWN_ITEMS = 10  # of those whose marks are stale

Part = tuple[Dataset, list[Block]]


@dataclass(frozen=True)
class JudgeStage:
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
        people = [judge for judge in self.study.judges if isinstance(judge, PersonJudge)]
        return [name for judge in people for name in self._signed(judge, judge.raters)]

    @property
    def kinds(self) -> dict[str, str]:
        """What signs with each name, best first: a person, a model that is asked, or a rule."""
        found: dict[str, str] = {}
        for judge in self.study.judges:
            other = "model" if isinstance(judge, PayingJudge) else "rule"
            kind = "person" if isinstance(judge, PersonJudge) else other
            found |= dict.fromkeys(self._signed(judge, judge.names), kind)
        return found

    @cached_property
    def judgments(self) -> list[Judgment]:
        """All that counts: marks that hold, what free judges say and what paying ones found."""
        return [*(mark for mark, now in self._marks if now), *self._worked_out]

    @cached_property
    def labels(self) -> Labels:
        """The judgments resolved; a mark on a text that some arms no longer return holds for the others."""
        marks = (self._placed(each) for _, now in self._marks for each in now)
        said = [*marks, *self._said_free.values(), *map(self._placed, self._paid)]
        labels = resolve(itertools.chain.from_iterable(said), self.names, self._closed)
        near = resolve((each.judgment for _, near in self._near for each in near), self.names, set()).frame
        doubts = near.with_columns(rank=pl.lit(len(labels.frame), pl.Int64)) if len(near) else None
        together, everyone = [_arm_names(blocks) for _, blocks in self._parts], _arm_names(self.blocks)
        apart = {arm: frozenset(everyone - arms) for arms in together for arm in arms}
        return dataclasses.replace(labels, apart=apart, doubts=doubts)

    @cached_property
    def _near(self) -> list[tuple[NearMissJudge, list[NearMiss]]]:
        """Hits that nearly count and that no judge has decided: what hangs on them is not judged."""
        decided = {(each.item_id, each.label, each.target, each.arm) for each in self.judgments}
        judges = [judge for judge in self.study.judges if isinstance(judge, NearMissJudge)]
        return [(judge, list(self._undecided(judge, decided))) for judge in judges]

    def _undecided(self, judge: NearMissJudge, decided: Set[tuple[object, ...]]) -> Iterator[NearMiss]:
        for dataset, blocks in self._parts:
            for near in judge.near_misses(dataset, blocks, self.judgments):
                one = near.judgment
                for arm in [one.arm] if one.arm or len(self._parts) == 1 else _arm_names(blocks):
                    if decided.isdisjoint((one.item_id, one.label, one.target, of) for of in (arm, None)):
                        yield near._replace(judgment=msgspec.structs.replace(one, arm=arm))

    @cached_property
    def _closed(self) -> frozenset[str]:
        """The labels under which what nobody names is not relevant."""
        closed = frozenset().union(*(judge.closed_labels for judge in self.study.judges))
        return closed.difference(*(getattr(judge, "opens", ()) for judge in self.study.judges))

    @cached_property
    def bounded(self) -> dict[str, float]:
        """The closed labels of which only some was known beforehand, so that figures that read them are low.

        Each with the number of hits, from the first on, that everywhere have a label, from whomever: no
        further word can raise a figure that looks no deeper.
        """
        partly = (getattr(judge, "incomplete", ()) for judge in self.study.judges)
        labels = self._closed.intersection(frozenset[str]().union(*partly))
        blocks = [dataclasses.replace(block, labels=self.labels) for block in self.blocks] if labels else []
        return {
            label: min((_labelled_depth(block, label) for block in blocks), default=inf) for label in labels
        }

    @cached_property
    def warnings(self) -> list[str]:
        """What was said and does not count, and what is still to be said."""
        said = [*self._stored_marks, *self._worked_out]
        ignored = Counter(each.judge for each in said if each.judge not in self.names)
        listed = ", ".join(self.names) or "nobody"
        is_cap_reached = SpendingCap.of(self.study, self.store).left == 0
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
            *(warning for judge, near in self._near for warning in judge.describe(near)),
            *(
                warning
                for inquiry in self._inquiries
                for warning in inquiry.warnings(is_cap_reached=is_cap_reached)
            ),
        ]

    def ask(self, progress: Progress | None = None) -> list[Tally]:
        """Asks judges that cost something what they were not asked yet; the caller holds the store's lock."""
        progress, purse = progress or NoProgress(), SpendingCap.of(self.study, self.store)
        total = sum(len(inquiry.questions) for inquiry in self._inquiries)
        left = sum(len(inquiry.unanswered) for inquiry in self._inquiries)
        progress.begin(f"{self.study.name}, judges", total, total - left)
        asking = [inquiry for inquiry in self._inquiries if inquiry.unanswered]
        return [inquiry.ask(self.study, self.store, purse, progress) for inquiry in asking]

    @cached_property
    def _judged(self) -> list[JudgmentEntry]:
        return self.store.judged()

    @cached_property
    def _stored_marks(self) -> list[Judgment]:
        """Judgments that were made without a question: by people, or imported."""
        return [entry.judgment for entry in self._judged if entry.judgment is not None and entry.key is None]

    @cached_property
    def _marks(self) -> list[tuple[Judgment, list[Judgment]]]:
        """Every mark that stands, and where it holds now; nowhere: it is stale."""
        present = [BlockTexts(block, self.study.dataset(block.arm).corpus) for block in self.blocks]
        listed = [mark for mark in self._stored_marks if mark.judge in self.names]
        return [(mark, restrict_to_same_text(mark, present)) for mark in current_judgments(listed)]

    @cached_property
    def _worked_out(self) -> list[Judgment]:
        return [*(judgment for said in self._said_free.values() for judgment in said), *self._paid]

    @cached_property
    def _paid(self) -> list[Judgment]:
        return [judgment for inquiry in self._inquiries for judgment in inquiry.judgments()]

    @cached_property
    def _said_free(self) -> dict[int, list[Judgment]]:
        """What each free judge says, by its place in the study's list."""
        judges = enumerate(self.study.judges)
        return {place: self._free(judge) for place, judge in judges if isinstance(judge, FreeJudge)}

    @cached_property
    def _inquiries(self) -> list[JudgeQuestions]:
        paying = [
            (place, judge) for place, judge in enumerate(self.study.judges) if isinstance(judge, PayingJudge)
        ]
        if not paying:
            return []
        from assay.pipeline.paying_judges import JudgeQuestions

        return [
            JudgeQuestions.of(judge, self._questions(place, judge), self._judged) for place, judge in paying
        ]

    def _questions(self, place: int, judge: PayingJudge) -> Iterator[Question]:
        """What a judge is to be asked: not what a better one decides for nothing, where all arms read it."""
        decided: dict[tuple[str, str, str | None], set[str | None]] = {}
        for better in (said for rank, said in self._said_free.items() if rank < place):
            for each in better:
                decided.setdefault((each.item_id, each.label, each.target), set()).add(each.arm)
        for dataset, blocks in self._parts:
            arms = _arm_names(blocks)
            with as_plugin_error(f"the judge {judge.names[0]} broke"):
                questions = list(judge.questions(dataset, blocks))
            for question in questions:
                known = decided.get((question.item_id, question.label, question.target), set())
                wanted = arms if question.arm is None else {question.arm}
                # in an open world one arm's label is read by all on its corpus
                shared = question.arm is None and question.label not in self._closed and known & arms
                if not (shared or None in known or wanted <= known):
                    yield question

    def _free(self, judge: FreeJudge) -> list[Judgment]:
        """What a free judge says; what it says of some datasets only holds for the arms on those."""
        with as_plugin_error(f"the judge {judge.names[0] if judge.names else type(judge).__name__} broke"):
            made = [judge.judge(dataset, blocks, self.study.kit) for dataset, blocks in self._parts]
        said = [[each for each in judgments if self._counts(judge, each)] for judgments in made]
        if len(said) == 1:
            return said[0]
        everywhere = set(said[0]).intersection(*said[1:])
        found = [judgment for judgment in said[0] if judgment in everywhere]
        for (_, blocks), own in zip(self._parts, said, strict=True):
            for judgment in own:
                if judgment not in everywhere:
                    places = _arm_names(blocks) if judgment.arm is None else [judgment.arm]
                    found += [msgspec.structs.replace(judgment, arm=arm) for arm in places]
        return found

    def _counts(self, judge: FreeJudge, judgment: Judgment) -> bool:
        """Whether what a judge says of one arm counts, where it closes a label that another judge opens.

        Arms share a pool then, and it does if that arm returned it. A passage that one of them returned under
        another id is in the pool under that id, and what it is to the others would be there twice.
        """
        opened = judgment.label in judge.closed_labels and judgment.label not in self._closed
        if judgment.arm is None or not opened:
            return True
        return (judgment.item_id, judgment.target) in self._returned.get(judgment.arm, ())

    def _placed(self, judgment: Judgment) -> list[Judgment]:
        """What was said of a passage, for the arms on those corpora that have it, where not all have it."""
        if judgment.arm is not None or judgment.target is None or len(self._parts) == 1:
            return [judgment]
        having = [part for part in self._parts if self._has(part, judgment, judgment.seen)]
        # a judge may have been shown more than the text alone
        having = having or [part for part in self._parts if self._has(part, judgment, None)]
        if len(having) in (0, len(self._parts)):
            return [judgment]
        arms = [arm for _, blocks in having for arm in _arm_names(blocks)]
        return [msgspec.structs.replace(judgment, arm=arm) for arm in arms]

    def _has(self, part: Part, judgment: Judgment, seen: str | None) -> bool:
        """Whether a corpus has what was judged, with the text that was seen, or an arm on it returned it."""
        dataset, blocks = part
        text = dataset.corpus.text_of(judgment.target or "")
        if text is not None:
            return seen is None or text_hash(text) == seen
        key = judgment.item_id, judgment.target
        return any(key in self._returned[arm] for arm in _arm_names(blocks))

    @cached_property
    def _returned(self) -> dict[str, set[tuple[str, str | None]]]:
        """Items and what came back for them, by arm."""
        found: dict[str, set[tuple[str, str | None]]] = {}
        for block in self.blocks:
            found.setdefault(block.arm.name, set()).update(block.ranking.select("item", "doc").iter_rows())
        return found

    @cached_property
    def _parts(self) -> list[Part]:
        """Each dataset with the blocks of the arms that ran on it."""
        parts: dict[int, Part] = {}
        for block in self.blocks:
            dataset = self.study.dataset(block.arm)
            parts.setdefault(id(dataset), (dataset, []))[1].append(block)
        return list(parts.values())


def _arm_names(blocks: Sequence[Block]) -> KeysView[str]:
    """The arms of some blocks, in their order."""
    return dict.fromkeys(block.arm.name for block in blocks).keys()


def _labelled_depth(block: Block, label: str) -> float:
    """How many hits, from the first on, have a label wherever it is read; all of them: infinity."""
    view = View(label=label)
    gains, met = block.gains_in(view), [item.expects == INTENT for item in block.items]
    read = np.array(met, dtype=bool) if label == INTENT else block.rankable_in(view)
    there = np.arange(gains.grades.shape[1]) < gains.returned[:, None]
    unknown = (there & np.isnan(gains.grades))[read].any(axis=0)
    return float(unknown.argmax()) if unknown.any() else inf


def _marks_by(judge: str, n: int) -> str:
    return f"1 mark by {judge} is" if n == 1 else f"{n} marks by {judge} are"


def _some(items: Collection[str]) -> str:
    shown = ", ".join(list(items)[:SHOWN_ITEMS])
    return shown + (f" and {len(items) - SHOWN_ITEMS} more" if len(items) > SHOWN_ITEMS else "")
