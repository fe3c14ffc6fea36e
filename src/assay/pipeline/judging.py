"""The judge stage: it collects the judgments of all judges that a study lists, on the answers of its systems.

Free judges are asked at every evaluation. Judges that cost something are asked only by `ask`; the evaluation
reads their findings, and people's marks, from the store.
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
from assay.core.optional import EverybodyJudge, IncompleteJudge, OpeningJudge
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

SHOWN_ITEMS = 10  # the items with stale marks that a warning names

Part = tuple[Dataset, list[Block]]


@dataclass(frozen=True)
class JudgeStage:
    """The judges of a study, and the blocks that they judge. The blocks have no labels yet."""

    study: Study
    blocks: Sequence[Block]
    store: Store

    @cached_property
    def names(self) -> list[str]:
        """All names with which judgments may be signed. The names of the best judge come first."""
        return [name for judge in self.study.judges for name in self._signed(judge, judge.names)]

    def _signed(self, judge: Judge, named: Sequence[str]) -> Sequence[str]:
        """Returns a judge's names. An `EverybodyJudge` has those of all people who marked, earliest first."""
        if not (isinstance(judge, EverybodyJudge) and judge.everybody):
            return named
        taken = {name for other in self.study.judges for name in other.names}
        marked = (mark.judge for mark in self._stored_marks)
        return [name for name in dict.fromkeys(marked) if name not in taken]

    @cached_property
    def raters(self) -> list[str]:
        """The names of the people whose agreement is measured."""
        people = [judge for judge in self.study.judges if isinstance(judge, PersonJudge)]
        return [name for judge in people for name in self._signed(judge, judge.raters)]

    @property
    def kinds(self) -> dict[str, str]:
        """For each name, best judge first: whether a person, a model or a rule signs with this name."""
        found: dict[str, str] = {}
        for judge in self.study.judges:
            other = "model" if isinstance(judge, PayingJudge) else "rule"
            kind = "person" if isinstance(judge, PersonJudge) else other
            found |= dict.fromkeys(self._signed(judge, judge.names), kind)
        return found

    @cached_property
    def judgments(self) -> list[Judgment]:
        """All judgments that count: marks that are not stale, and those of free and of paying judges."""
        return [*(mark for mark, now in self._marks if now), *self._not_by_people]

    @cached_property
    def labels(self) -> Labels:
        """The labels. If some arms no longer return a text, a mark on it still counts for the other arms."""
        marks = (self._placed(each) for _, now in self._marks for each in now)
        judged = [*marks, *self._free_judgments.values(), *map(self._placed, self._paid_judgments)]
        labels = resolve(itertools.chain.from_iterable(judged), self.names, self._closed)
        near = resolve((each.judgment for _, near in self._near for each in near), self.names, set()).frame
        doubts = near.with_columns(rank=pl.lit(len(labels.frame), pl.Int64)) if len(near) else None
        together, everyone = [_arm_names(blocks) for _, blocks in self._parts], _arm_names(self.blocks)
        apart = {arm: frozenset(everyone - arms) for arms in together for arm in arms}
        return dataclasses.replace(labels, apart=apart, near_misses=doubts)

    @cached_property
    def _near(self) -> list[tuple[NearMissJudge, list[NearMiss]]]:
        """Hits that nearly count and that no judge decided. Scores that depend on them are unjudged."""
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
        """The labels under which a passage that no judge names is not relevant."""
        closed = frozenset().union(*(judge.closed_labels for judge in self.study.judges))
        return closed.difference(
            *(judge.opens for judge in self.study.judges if isinstance(judge, OpeningJudge))
        )

    @cached_property
    def bounded(self) -> dict[str, float]:
        """The closed labels that are incomplete. Values of measures that read them are lower bounds.

        For each label, the number of first hits that have a label for every item. No further judgment can
        raise the value of a measure that reads only these hits.
        """
        incomplete = (judge.incomplete for judge in self.study.judges if isinstance(judge, IncompleteJudge))
        labels = self._closed.intersection(frozenset[str]().union(*incomplete))
        blocks = [dataclasses.replace(block, labels=self.labels) for block in self.blocks] if labels else []
        return {
            label: min((_labelled_depth(block, label) for block in blocks), default=inf) for label in labels
        }

    @cached_property
    def warnings(self) -> list[str]:
        """Warnings about judgments that do not count, and about questions that are still to be asked."""
        every = [*self._stored_marks, *self._not_by_people]
        ignored = Counter(each.judge for each in every if each.judge not in self.names)
        listed = ", ".join(self.names) or "nobody"
        is_cap_reached = SpendingCap.of(self.study, self.store).left == 0
        stale: dict[str, dict[str, None]] = {}
        for mark, now in self._marks:
            if not now:
                stale.setdefault(mark.judge, {})[mark.item_id] = None
        return [
            *(f"{_marks_by(judge, n)} ignored; the study lists {listed}" for judge, n in ignored.items()),
            *(
                f"marks by {judge} do not count, because what they were made on has changed: {some}"
                for judge, items in stale.items()
                for some in [_name_some(items)]
            ),
            *(warning for judge, near in self._near for warning in judge.describe(near)),
            *(
                warning
                for inquiry in self._inquiries
                for warning in inquiry.warnings(is_cap_reached=is_cap_reached)
            ),
        ]

    def ask(self, progress: Progress | None = None) -> list[Tally]:
        """Asks paying judges their open questions. The caller must hold the store's lock."""
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
        """Judgments that answer no question of a paying judge: people's marks, and imported judgments."""
        return [entry.judgment for entry in self._judged if entry.judgment is not None and entry.key is None]

    @cached_property
    def _marks(self) -> list[tuple[Judgment, list[Judgment]]]:
        """Every current mark, with the places where it still counts. A mark without such a place is stale."""
        present = [BlockTexts(block, self.study.dataset(block.arm).corpus) for block in self.blocks]
        listed = [mark for mark in self._stored_marks if mark.judge in self.names]
        return [(mark, restrict_to_same_text(mark, present)) for mark in current_judgments(listed)]

    @cached_property
    def _not_by_people(self) -> list[Judgment]:
        free = self._free_judgments.values()
        return [*itertools.chain.from_iterable(free), *self._paid_judgments]

    @cached_property
    def _paid_judgments(self) -> list[Judgment]:
        return [judgment for inquiry in self._inquiries for judgment in inquiry.judgments()]

    @cached_property
    def _free_judgments(self) -> dict[int, list[Judgment]]:
        """The judgments of each free judge, by the position of the judge in the study's list."""
        judges = enumerate(self.study.judges)
        return {place: self._ask_free(judge) for place, judge in judges if isinstance(judge, FreeJudge)}

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
        """Yields a paying judge's questions, except those that better free judges decide for all arms."""
        decided: dict[tuple[str, str, str | None], set[str | None]] = {}
        for better in (judged for rank, judged in self._free_judgments.items() if rank < place):
            for each in better:
                decided.setdefault((each.item_id, each.label, each.target), set()).add(each.arm)
        for dataset, blocks in self._parts:
            arms = _arm_names(blocks)
            with as_plugin_error(f"the judge {judge.names[0]} broke"):
                questions = list(judge.questions(dataset, blocks))
            for question in questions:
                known = decided.get((question.item_id, question.label, question.target), set())
                wanted = arms if question.arm is None else {question.arm}
                # in an open world all arms on a corpus read the label of one arm
                shared = question.arm is None and question.label not in self._closed and known & arms
                if not (shared or None in known or wanted <= known):
                    yield question

    def _ask_free(self, judge: FreeJudge) -> list[Judgment]:
        """Asks a free judge. A judgment that was not made on all datasets counts only for its own arms."""
        with as_plugin_error(f"the judge {judge.names[0] if judge.names else type(judge).__name__} broke"):
            made = [judge.judge(dataset, blocks, self.study.kit) for dataset, blocks in self._parts]
        counting = [[each for each in judgments if self._counts(judge, each)] for judgments in made]
        if len(counting) == 1:
            return counting[0]
        everywhere = set(counting[0]).intersection(*counting[1:])
        found = [judgment for judgment in counting[0] if judgment in everywhere]
        for (_, blocks), own in zip(self._parts, counting, strict=True):
            for judgment in own:
                if judgment not in everywhere:
                    places = _arm_names(blocks) if judgment.arm is None else [judgment.arm]
                    found += [msgspec.structs.replace(judgment, arm=arm) for arm in places]
        return found

    def _counts(self, judge: FreeJudge, judgment: Judgment) -> bool:
        """Whether a judgment about one arm counts if the judge closes a label that another judge opens.

        In that case arms share a pool, and the judgment counts only if the arm returned its target. A passage
        that an arm returned under another id is in the pool under that id, and must not be in the pool twice.
        """
        opened = judgment.label in judge.closed_labels and judgment.label not in self._closed
        if judgment.arm is None or not opened:
            return True
        return (judgment.item_id, judgment.target) in self._returned.get(judgment.arm, ())

    def _placed(self, judgment: Judgment) -> list[Judgment]:
        """Limits a judgment to the arms whose corpus has its passage, if not all corpora have it."""
        if judgment.arm is not None or judgment.target is None or len(self._parts) == 1:
            return [judgment]
        having = [part for part in self._parts if self._has(part, judgment, judgment.seen)]
        # a judge may have seen more than the text
        having = having or [part for part in self._parts if self._has(part, judgment, None)]
        if len(having) in (0, len(self._parts)):
            return [judgment]
        arms = [arm for _, blocks in having for arm in _arm_names(blocks)]
        return [msgspec.structs.replace(judgment, arm=arm) for arm in arms]

    def _has(self, part: Part, judgment: Judgment, seen: str | None) -> bool:
        """Whether a corpus has the judged passage with the text `seen`, or one of its arms returned it."""
        dataset, blocks = part
        text = dataset.corpus.text_of(judgment.target or "")
        if text is not None:
            return seen is None or text_hash(text) == seen
        key = judgment.item_id, judgment.target
        return any(key in self._returned[arm] for arm in _arm_names(blocks))

    @cached_property
    def _returned(self) -> dict[str, set[tuple[str, str | None]]]:
        """For each arm, the pairs of an item and a passage that the arm returned for it."""
        found: dict[str, set[tuple[str, str | None]]] = {}
        for block in self.blocks:
            found.setdefault(block.arm.name, set()).update(block.ranking.select("item", "doc").iter_rows())
        return found

    @cached_property
    def _parts(self) -> list[Part]:
        """Each dataset with the blocks of the arms on it."""
        parts: dict[int, Part] = {}
        for block in self.blocks:
            dataset = self.study.dataset(block.arm)
            parts.setdefault(id(dataset), (dataset, []))[1].append(block)
        return list(parts.values())


def _arm_names(blocks: Sequence[Block]) -> KeysView[str]:
    """Returns the names of the arms of some blocks, in the order of the blocks."""
    return dict.fromkeys(block.arm.name for block in blocks).keys()


def _labelled_depth(block: Block, label: str) -> float:
    """Counts the first hits that have a label for every item that is read; infinity if all hits have one."""
    view = View(label=label)
    gains, met = block.gains_in(view), [item.expects == INTENT for item in block.items]
    read = np.array(met, dtype=bool) if label == INTENT else block.rankable_in(view)
    there = np.arange(gains.grades.shape[1]) < gains.returned[:, None]
    unknown = (there & np.isnan(gains.grades))[read].any(axis=0)
    return float(unknown.argmax()) if unknown.any() else inf


def _marks_by(judge: str, n: int) -> str:
    return f"1 mark by {judge} is" if n == 1 else f"{n} marks by {judge} are"


def _name_some(items: Collection[str]) -> str:
    shown = ", ".join(list(items)[:SHOWN_ITEMS])
    return shown + (f" and {len(items) - SHOWN_ITEMS} more" if len(items) > SHOWN_ITEMS else "")
