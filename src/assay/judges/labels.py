"""Turns judgments into the labels that measures read: which judgments count, precedence, shared ratings.

The study lists its judges best first, and only the listed judges count. For one item, label, target and span,
the label is the best judge's judgment, whether it is about all arms and seeds or about one. Among the
judgments of one judge, a judgment about one arm comes before a judgment about all arms, and a later judgment
comes before an earlier one.
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
from assay.core.records import Judgment, Span
from assay.measures.marks import REVIEW

ArmSeed = tuple[str | None, int | None]  # None: all of them
# what several raters judge: item, target and span, of which arm and seed
RatedTarget = tuple[str, str | None, Span | None, ArmSeed]


# ---------------------------------------------------------------------- judgments that still hold


def text_hash(text: str) -> str:
    """Hashes a text that was shown. A judgment keeps the hash in `seen`."""
    return digest([text.encode()])


def text_with_query(query: str, text: str) -> str:
    """Returns the query and the passage in the form that a reviewer sees: a mark is about both."""
    return f"{query}\n\n{text}"


def current_judgments(judgments: Sequence[Judgment]) -> list[Judgment]:
    """Returns the judgments that their own judge has neither replaced nor withdrawn.

    If a judgment is withdrawn, the judgment that it had replaced counts again.
    """
    withdrawn = {(each.judge, each.replaces) for each in judgments if each.withdrawn and each.replaces}
    made = [
        each for each in judgments if not each.withdrawn and (each.judge, each.judgment_id) not in withdrawn
    ]
    replaced = {(each.judge, each.replaces) for each in made if each.replaces}
    return [each for each in made if (each.judge, each.judgment_id) not in replaced]


def covers(one: ArmSeed, other: ArmSeed) -> bool:
    """Whether a judgment about `one` arm and seed is also about the `other`."""
    return all(mine is None or mine == theirs for mine, theirs in zip(one, other, strict=True))


@dataclass(frozen=True)
class BlockTexts:
    """The texts that can be judged in one block."""

    block: Block
    corpus: Corpus

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {item_id: row for row, item_id in enumerate(self.block.item_ids)}

    def text(self, judgment: Judgment) -> str | None:
        """Returns the text that a judgment is about; None if this block has no such text.

        There is none if the judgment is about another arm, or if no answer came yet.
        """
        row = self._rows.get(judgment.item_id)
        if row is None or not covers((judgment.arm, judgment.seed), (self.block.arm.name, self.block.seed)):
            return None
        response = self.block.responses[row]
        if judgment.target is None:
            return None if response is None or response.error is not None else response.answer or ""
        if (text := self.corpus.text_of(judgment.target)) is None:
            hits = [] if response is None else response.hits
            found = (hit.text for hit in hits if hit.doc_id == judgment.target and hit.text is not None)
            # The id of a hit that brings its text holds the hash of the text, so another text is another
            # target: if no such hit came back, there is no text.
            text = next(found, None if "texts" in (self.block.gives or ()) else "")
        if text is None or judgment.label != REVIEW:
            return text
        return text_with_query(self.block.items[row].text, text)


def restrict_to_same_text(judgment: Judgment, present: Sequence[BlockTexts]) -> list[Judgment]:
    """Returns a judgment for the arms and seeds that still have the text that was judged.

    If the text is the same everywhere, this is the judgment itself; else one judgment per arm and seed.
    """
    if judgment.seen is None:
        return [judgment]
    texts = [(each.block, text) for each in present if (text := each.text(judgment)) is not None]
    same = [block for block, text in texts if text_hash(text) == judgment.seen]
    if len(same) == len(texts):
        return [judgment]
    return [msgspec.structs.replace(judgment, arm=block.arm.name, seed=block.seed) for block in same]


# ------------------------------------------------------------------------------------ precedence


def resolve(judgments: Iterable[Judgment], precedence: Sequence[str], closed: Set[str]) -> Labels:
    """Makes labels from judgments. `precedence` lists judges, best first; `closed` names closed labels."""
    rank = {judge: place for place, judge in enumerate(precedence)}
    counted = [judgment for judgment in judgments if judgment.judge in rank]
    latest = {
        (each.judge, each.item_id, each.label, each.target, each.span, each.arm, each.seed): each
        for each in counted
    }
    rows = [
        (
            *(each.item_id, each.label, each.target),
            *((each.span.start, each.span.end) if each.span else (None, None)),
            *(each.arm, each.seed, each.grade, each.category, rank[each.judge]),
        )
        for each in latest.values()
    ]
    open_labels = sorted({judgment.label for judgment in counted} - closed)
    pools = {label: _pool_hash(each for each in counted if each.label == label) for label in open_labels}
    return Labels(pl.DataFrame(rows, schema=LABEL_COLUMNS, orient="row"), frozenset(closed), pools)


def _pool_hash(judgments: Iterable[Judgment]) -> str:
    """Hashes which items, targets and spans were judged, without the grades."""
    return digest(sorted({msgspec.json.encode([each.item_id, each.target, each.span]) for each in judgments}))


def add_supposed(labels: Labels, judgments: Iterable[Judgment]) -> Labels:
    """Returns the labels as they would be with further judgments on things that nobody has judged."""
    rows = [
        {"item": each.item_id, "label": each.label, "target": each.target, "grade": each.grade}
        | {"category": each.category, "rank": len(labels.frame)}
        for each in judgments
    ]
    more = pl.DataFrame(rows, schema=LABEL_COLUMNS)
    return dataclasses.replace(labels, frame=pl.concat([labels.frame, more]))


# --------------------------------------------------------------------- ratings that raters share


def shared_ratings(
    judgments: Iterable[Judgment], raters: Sequence[str]
) -> dict[RatedTarget, dict[str, float]]:
    """Returns the grades of everything that two or more raters judged, by rater, in the raters' order.

    A mark for all seeds and a mark for a single seed are about the same thing: the response with that seed.
    """
    marks: dict[tuple[str, str | None, Span | None], dict[ArmSeed, dict[str, float]]] = {}
    for each in judgments:
        if each.judge in raters:
            places = marks.setdefault((each.item_id, each.target, each.span), {})
            places.setdefault((each.arm, each.seed), {})[each.judge] = each.grade
    found: dict[RatedTarget, dict[str, float]] = {}
    for (item_id, target, span), places in marks.items():
        for place in places:
            if any(other != place and covers(place, other) for other in places):
                continue  # the narrower places include the marks of this one
            by: dict[str, float] = {}
            for other in sorted(places, key=lambda each: sum(part is not None for part in each)):
                if covers(other, place):
                    by |= places[other]  # the most specific grade of a rater replaces the others
            if len(by) > 1:
                found[item_id, target, span, place] = {each: by[each] for each in raters if each in by}
    return found
