"""What reports show of single items: what was expected beside what came back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

from assay.datasets.dataset import Corpus, Dataset
from assay.judges.anchor_index import GRADES, RELEVANCE
from assay.measures.block import Block, View
from assay.measures.semantic import REVIEW, marked_hits
from assay.protocols import Measure
from assay.records import Hit, Item, Response
from assay.results import Expected, ItemView, MeasureInfo, Returned

SHOWN_HITS = 10
SNIPPET = 240
_UNITS = {"Seconds": "s"}


def measure_infos(measures: Sequence[Measure], bounded: Set[str] = frozenset()) -> list[MeasureInfo]:
    """How to read each measure's column; `bounded` are labels of which only a part is known."""
    return [
        MeasureInfo(
            measure.name,
            measure.better,
            measure.low,
            measure.high,
            _UNITS.get(getattr(measure, "family", ""), ""),
            (type(measure).__doc__ or "").strip().partition("\n")[0],
            is_lower_bound(measure, bounded),
        )
        for measure in measures
    ]


def is_lower_bound(measure: Measure, bounded: Set[str]) -> bool:
    """Whether a measure can only rise once somebody looks at what came back and was not expected."""
    reads = bounded & set(getattr(measure, "seen_in", View()).labels)
    return bool(reads) and "labels" in measure.needs and measure.better == "higher"


def item_views(
    items: Sequence[Item], blocks: Sequence[Block], datasets: Mapping[str, Dataset]
) -> list[ItemView]:
    """Every item with its gold and the top hits of each arm's first seed."""
    returned: dict[str, dict[str, list[Returned]]] = {item.item_id: {} for item in items}
    faults: dict[str, dict[str, str]] = {item.item_id: {} for item in items}
    took: dict[str, dict[str, Response]] = {item.item_id: {} for item in items}
    expected: dict[str, list[Expected]] = {}
    seeds: dict[str, int] = {}
    for block in blocks:
        if seeds.setdefault(block.arm.name, block.seed) != block.seed:
            continue
        corpus = datasets[block.arm.name].corpus
        grades, marks, reasons = _grades(block), _marks(block), _reasons(block)
        unnamed = 0.0 if block.labels.world("relevance") == "closed" else None
        for item, response in zip(block.items, block.responses, strict=True):
            known = grades.get(item.item_id, {})
            if item.item_id not in expected:
                expected[item.item_id] = _expected(item, known, corpus)
            if response is None:
                continue
            took[item.item_id][block.arm.name] = response
            if response.error is not None:
                faults[item.item_id][block.arm.name] = f"{response.error.kind}: {response.error.message}"
            returned[item.item_id][block.arm.name] = [
                Returned(
                    hit.doc_id,
                    hit.score,
                    _grade(corpus.units.get(hit.doc_id) or [hit.doc_id], known, unnamed),
                    hit.text or _snippet(corpus, hit.doc_id),
                    marks.get((item.item_id, hit.doc_id)),
                    reasons.get((item.item_id, hit.doc_id), ""),
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
        )
        for item in items
    ]


def _expected(item: Item, known: Mapping[str, float], corpus: Corpus) -> list[Expected]:
    """What gold names: the text that its author anchored it in, or the passages with the best grades."""
    if anchors := item.gold.get("anchors"):
        return [
            Expected(_place(each), GRADES[RELEVANCE].get(each["relevance"], 0.0), each["text"])
            for each in sorted(anchors, key=lambda each: -GRADES[RELEVANCE].get(each["relevance"], 0.0))
        ]
    best = sorted(known.items(), key=lambda pair: -pair[1])[:SHOWN_HITS]
    return [Expected(doc, grade, _snippet(corpus, doc)) for doc, grade in best if grade > 0]


def _place(anchor: Mapping[str, Any]) -> str:
    return anchor["book"] if anchor.get("chapter") is None else f"{anchor['book']} {anchor['chapter']}"


def _grade(units: Sequence[str], known: Mapping[str, float], unnamed: float | None) -> float | None:
    """The best grade of what a hit counts as."""
    return max((known[unit] for unit in units if unit in known), default=unnamed)


def _as_scored(hit: Hit) -> tuple[float, str]:
    """The order in which hits are scored: equal scores are a tie, which goes by document id."""
    return hit.score, hit.doc_id


def _grades(block: Block) -> dict[str, dict[str, float]]:
    grades: dict[str, dict[str, float]] = {}
    for item, doc, grade in block.relevance.iter_rows():
        grades.setdefault(item, {})[doc] = grade
    return grades


def _marks(block: Block) -> dict[tuple[str, str], str]:
    """What a review made of the hits of items that want one."""
    wanted = {item.item_id for item in block.items if "yes" in item.values(REVIEW)}
    if not wanted:
        return {}
    return {
        (item, doc): mark for item, doc, mark in marked_hits(block, SHOWN_HITS).iter_rows() if item in wanted
    }


def _reasons(block: Block) -> dict[tuple[str, str], str]:
    """Why passages are relevant, as far as whoever judged them says so."""
    return {
        (each.item_id, each.target): each.reason
        for each in block.judgments
        if each.reason and each.target is not None
    }


def _snippet(corpus: Corpus, doc_id: str) -> str:
    text = corpus.text_of(doc_id) or ""
    return text if len(text) <= SNIPPET else text[:SNIPPET].rsplit(" ", 1)[0] + " …"
