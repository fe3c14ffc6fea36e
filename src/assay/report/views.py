"""Prepares what reports show of single items: what was expected, and what came back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from math import inf
from typing import Any

from assay.core.block import Block, View
from assay.core.dataset import Corpus, Dataset
from assay.core.protocols import Measure
from assay.core.records import QUOTED_GRADES, Hit, Item, Response
from assay.core.results import ExpectedTarget, ItemView, MeasureInfo, RankedResult
from assay.measures.declaration import cutoff_of, declaration_of, view_of
from assay.measures.marks import GRADES as MARK_GRADES
from assay.measures.marks import REVIEW, marked_hits, wants_review

# For each label that is only partly known: how many hits were judged, counted from the first hit.
Bounded = Mapping[str, float]
Key = tuple[str, str]  # item and passage
PERSON = "person"
SHOWN_HITS = 10
SNIPPET = 240
_UNITS = {"Seconds": "s"}


def measure_infos(measures: Sequence[Measure], bounded: Bounded | None = None) -> list[MeasureInfo]:
    """Returns, for each measure, what a reader needs to read its column."""
    return [
        MeasureInfo(
            measure.name,
            measure.better,
            measure.low,
            measure.high,
            _UNITS.get(declaration_of(measure).family, ""),
            (type(measure).__doc__ or "").strip().partition("\n")[0],
            is_lower_bound(measure, bounded or {}),
        )
        for measure in measures
    ]


def is_lower_bound(measure: Measure, bounded: Bounded) -> bool:
    """Whether a measure can only rise when somebody judges results that were not expected.

    A measure that depends on how much there is to find can also fall, because then more passages are
    relevant.
    """
    if "labels" not in measure.needs or measure.better != "higher" or declaration_of(measure).pooled:
        return False
    view = view_of(measure)
    ranks = measure.at == "rank" and view.level == "passage"
    deepest = (cutoff_of(measure) if ranks else None) or inf
    return any(bounded.get(label, inf) < deepest for label in view.labels)


def item_views(
    items: Sequence[Item],
    blocks: Sequence[Block],
    datasets: Mapping[str, Dataset],
    judges: Mapping[str, str] | None = None,
) -> list[ItemView]:
    """Returns every item with its gold and the top hits of each arm's first seed.

    `judges` are the names that count, best first, each with its kind: a person, a model or a rule.
    """
    returned: dict[str, dict[str, list[RankedResult]]] = {item.item_id: {} for item in items}
    faults: dict[str, dict[str, str]] = {item.item_id: {} for item in items}
    took: dict[str, dict[str, Response]] = {item.item_id: {} for item in items}
    expected: dict[str, list[ExpectedTarget]] = {}
    seeds: dict[str, int] = {}
    for block in blocks:
        if seeds.setdefault(block.arm.name, block.seed) != block.seed:
            continue
        corpus = datasets[block.arm.name].corpus
        grades, judgment = _grades(block), _Judgments.of(block, judges or {})
        unnamed = {label: 0.0 if block.labels.world(label) == "closed" else None for label in QUOTED_GRADES}
        for item, response, wanted in zip(block.items, block.responses, wants_review(block), strict=True):
            known = grades.get(item.item_id, {})
            # keywords cannot judge such an item: a hit that no rule finds is not wrong, people decide
            absent = None if wanted else unnamed[item.label]
            if item.item_id not in expected:
                expected[item.item_id] = _expected(item, known, corpus)
            if response is None:
                continue
            took[item.item_id][block.arm.name] = response
            if response.error is not None:
                faults[item.item_id][block.arm.name] = f"{response.error.kind}: {response.error.message}"
            returned[item.item_id][block.arm.name] = [
                judgment.returned(
                    item.item_id,
                    hit,
                    _grade(corpus.units.get(hit.doc_id) or [hit.doc_id], known, absent),
                    hit.text or _snippet(corpus, hit.doc_id),
                )
                for hit in sorted(response.hits, key=_as_scored, reverse=True)[:SHOWN_HITS]
            ]
    return [
        ItemView(
            item.item_id,
            item.text,
            item.tags,
            expected.get(item.item_id, []),
            returned[item.item_id],
            faults[item.item_id],
            item.expects,
            item.language,
            item.gold.get("route"),
            item.gold.get("flags", {}),
            {arm: given.route for arm, given in took[item.item_id].items() if given.route is not None},
            {arm: given.flags for arm, given in took[item.item_id].items() if given.flags},
            enough=_enough(item),
        )
        for item in items
    ]


def _expected(item: Item, known: Mapping[str, float], corpus: Corpus) -> list[ExpectedTarget]:
    """Returns what gold names: the texts that its author quoted, or the passages with the best grades."""
    if item.expects == "nothing":  # the passages that gold names here must not come back
        return []
    if anchors := item.gold.get("anchors"):
        grades = QUOTED_GRADES[item.label]
        named = [
            ExpectedTarget(_place(each), grades.get(each["relevance"], 0.0), each["text"]) for each in anchors
        ]
        return sorted(named, key=lambda each: -each.grade)
    best = sorted(known.items(), key=lambda pair: -pair[1])[:SHOWN_HITS]
    return [ExpectedTarget(doc, grade, _snippet(corpus, doc)) for doc, grade in best if grade > 0]


def _enough(item: Item) -> tuple[int, int] | None:
    """Returns how many of the passages that gold names are enough, and how many it names.

    Returns None unless fewer than all of them are enough.
    """
    least, named = item.gold.get("minimum_evidence_matches"), item.gold.get("relevant")
    if not isinstance(least, int) or not isinstance(named, Mapping):
        return None
    return (least, len(named)) if 0 < least < len(named) else None


def _place(anchor: Mapping[str, Any]) -> str:
    return anchor["book"] if anchor.get("chapter") is None else f"{anchor['book']} {anchor['chapter']}"


def _grade(units: Sequence[str], known: Mapping[str, float], unnamed: float | None) -> float | None:
    """Returns the best grade of the units that a hit counts as; `unnamed` if no grade is known."""
    return max((known[unit] for unit in units if unit in known), default=unnamed)


def _as_scored(hit: Hit) -> tuple[float, str]:
    """Returns the key by which hits are ordered for scoring: the score, and for ties the document id."""
    return hit.score, hit.doc_id


def _grades(block: Block) -> dict[str, dict[str, float]]:
    """Returns the grades of passages by item, under the label that is read for each item."""
    read = {item.item_id: item.label for item in block.items}
    grades: dict[str, dict[str, float]] = {}
    for label in QUOTED_GRADES:
        for item, doc, grade in block.graded(View(label=label)).iter_rows():
            if read.get(item) == label:
                grades.setdefault(item, {})[doc] = grade
    return grades


@dataclass(frozen=True)
class _Judgments:
    """The judgments of a block's hits besides their grades, by item and passage."""

    marks: Mapping[Key, str | None]  # the marks of hits of items that want a review
    people: Set[Key]  # those that a person marked
    judges: Mapping[Key, str]  # the kind of judge whose grade counts
    reasons: Mapping[Key, str]  # why hits are relevant, if their judge gives a reason

    @classmethod
    def of(cls, block: Block, judges: Mapping[str, str]) -> _Judgments:
        asked = zip(block.item_ids, wants_review(block), strict=True)
        wanted = {item_id for item_id, wants in asked if wants}
        hits = marked_hits(block, SHOWN_HITS).iter_rows() if wanted else ()
        rank = {name: place for place, name in enumerate(judges)}
        said = [((each.item_id, each.target), each) for each in block.judgments if each.target is not None]
        graded = [(key, each.judge) for key, each in said if each.label in QUOTED_GRADES]
        counted = [(key, judge) for key, judge in graded if judge in rank]
        counted.sort(key=lambda one: -rank[one[1]])  # the best judge comes last, so its grade is kept
        return cls(
            {(item, doc): mark for item, doc, mark in hits if item in wanted},
            {*block.label(REVIEW).select("item", "target").iter_rows()},
            {key: judges[judge] for key, judge in counted},
            {key: each.reason for key, each in said if each.reason},
        )

    def returned(self, item_id: str, hit: Hit, grade: float | None, text: str) -> RankedResult:
        """Returns a hit as reports show it. `grade` is the grade by rules or models."""
        key = item_id, hit.doc_id
        mark, by = self.marks.get(key), self.judges.get(key, "rule")
        ruled = grade is not None and grade > 0 and by != PERSON
        if mark is not None and key in self.people:
            grade, by = MARK_GRADES.get(mark, grade), PERSON
        return RankedResult(hit.doc_id, hit.score, grade, text, mark, self.reasons.get(key, ""), by, ruled)


def _snippet(corpus: Corpus, doc_id: str) -> str:
    text = corpus.text_of(doc_id) or ""
    return text if len(text) <= SNIPPET else text[:SNIPPET].rsplit(" ", 1)[0] + " …"
