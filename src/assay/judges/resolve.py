"""Judgments resolved to labels by declared precedence: measures read labels, agreement reads judgments.

The study lists its judges best first, and only they count. For one item, label, target and span the best
judge's judgment is the label, whether it speaks of all arms and seeds or of one; the same judge's word on one
arm comes before its word on all, and its latest word before an earlier one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

import msgspec
import polars as pl

from assay.core.block import LABEL_COLUMNS, Block, Labels
from assay.core.dataset import Corpus, digest
from assay.core.records import Judgment
from assay.measures.semantic import REVIEW

Place = tuple[str | None, int | None]  # arm and seed; None: all of them


def text_hash(text: str) -> str:
    """What a judgment keeps of the text that was shown, in `seen`."""
    return digest([text.encode()])


def text_with_query(query: str, text: str) -> str:
    """What a reviewer has before them: another query makes another question of the same passage."""
    return f"{query}\n\n{text}"


def current_judgments(judgments: Sequence[Judgment]) -> list[Judgment]:
    """Those that their own judge has neither replaced nor withdrawn; nobody takes back what another said.

    What a withdrawn judgment had replaced stands again.
    """
    withdrawn = {(each.judge, each.replaces) for each in judgments if each.withdrawn and each.replaces}
    said = [
        each for each in judgments if not each.withdrawn and (each.judge, each.judgment_id) not in withdrawn
    ]
    replaced = {(each.judge, each.replaces) for each in said if each.replaces}
    return [each for each in said if (each.judge, each.judgment_id) not in replaced]


def covers(one: Place, other: Place) -> bool:
    """Whether what is said of one place is said of the other too."""
    return all(mine is None or mine == theirs for mine, theirs in zip(one, other, strict=True))


@dataclass(frozen=True)
class BlockTexts:
    """What there is to judge now in one block."""

    block: Block
    corpus: Corpus

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {item_id: row for row, item_id in enumerate(self.block.item_ids)}

    def text(self, judgment: Judgment) -> str | None:
        """The text that a judgment is about; None where it is about another arm, or no answer came yet."""
        row = self._rows.get(judgment.item_id)
        place = (judgment.arm, judgment.seed)
        if row is None or not covers(place, (self.block.arm.name, self.block.seed)):
            return None
        if judgment.target is not None:
            text = self._target(row, judgment.target)
            if text is None or judgment.label != REVIEW:
                return text
            return text_with_query(self.block.items[row].text, text)
        response = self.block.responses[row]
        return None if response is None or response.error is not None else response.answer or ""

    def _target(self, row: int, target: str) -> str | None:
        """The text of a passage, document or hit; None where a hit that brings its text did not come back."""
        if (text := self.corpus.text_of(target)) is not None:
            return text
        response = self.block.responses[row]
        hits = [] if response is None else response.hits
        text = next((hit.text for hit in hits if hit.doc_id == target and hit.text is not None), None)
        # an id of such a hit holds the hash of its text, so that another text would be another target
        return text if text is not None or "texts" in (self.block.gives or ()) else ""


def restrict_to_same_text(judgment: Judgment, present: Sequence[BlockTexts]) -> list[Judgment]:
    """A judgment as it holds now: as it was made, for the arms and seeds it still fits, or for none."""
    if judgment.seen is None:
        return [judgment]
    texts = [(each.block, text) for each in present if (text := each.text(judgment)) is not None]
    same = [block for block, text in texts if text_hash(text) == judgment.seen]
    if len(same) == len(texts):
        return [judgment]
    return [msgspec.structs.replace(judgment, arm=block.arm.name, seed=block.seed) for block in same]


def resolve(judgments: Iterable[Judgment], precedence: Sequence[str], closed: Set[str]) -> Labels:
    """Labels from the judgments of the judges that the precedence names; `closed` are labels by name."""
    rank = {judge: place for place, judge in enumerate(precedence)}
    counted = [judgment for judgment in judgments if judgment.judge in rank]
    latest = {
        (each.judge, each.item_id, each.label, each.target, each.span, each.arm, each.seed): each
        for each in counted
    }
    rows = [
        (
            each.item_id,
            each.label,
            each.target,
            each.span and each.span.start,
            each.span and each.span.end,
            each.arm,
            each.seed,
            each.grade,
            each.category,
            rank[each.judge],
        )
        for each in latest.values()
    ]
    open_labels = sorted({judgment.label for judgment in counted} - closed)
    return Labels(
        pl.DataFrame(rows, schema=LABEL_COLUMNS, orient="row"),
        frozenset(closed),
        {label: _pool(judgment for judgment in counted if judgment.label == label) for label in open_labels},
    )


def add_supposed(labels: Labels, judgments: Iterable[Judgment]) -> Labels:
    """The labels as they would be with further judgments on what nobody has judged."""
    rows = [
        {"item": each.item_id, "label": each.label, "target": each.target, "grade": each.grade}
        | {"category": each.category, "rank": len(labels.frame)}
        for each in judgments
    ]
    more = pl.DataFrame(rows, schema=LABEL_COLUMNS)
    return dataclasses.replace(labels, frame=pl.concat([labels.frame, more]))


def _pool(judgments: Iterable[Judgment]) -> str:
    """A hash of what was looked at, whatever was found there."""
    looked = {msgspec.json.encode([each.item_id, each.target, each.span]) for each in judgments}
    return digest(sorted(looked))
