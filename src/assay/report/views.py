"""What reports show of single items: what was expected beside what came back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.datasets.dataset import Corpus, Dataset
from assay.measures.block import Block
from assay.measures.semantic import REVIEW, marked_hits
from assay.protocols import Measure
from assay.records import Hit, Item
from assay.results import Expected, ItemView, MeasureInfo, Returned

SHOWN_HITS = 10
SNIPPET = 240
_UNITS = {"Seconds": "s"}


def measure_infos(measures: Sequence[Measure]) -> list[MeasureInfo]:
    """How to read each measure's column."""
    return [
        MeasureInfo(
            measure.name,
            measure.better,
            measure.low,
            measure.high,
            _UNITS.get(getattr(measure, "family", ""), ""),
            (type(measure).__doc__ or "").strip().partition("\n")[0],
        )
        for measure in measures
    ]


def item_views(
    items: Sequence[Item], blocks: Sequence[Block], datasets: Mapping[str, Dataset]
) -> list[ItemView]:
    """Every item with its gold and the top hits of each arm's first seed."""
    returned: dict[str, dict[str, list[Returned]]] = {item.item_id: {} for item in items}
    faults: dict[str, dict[str, str]] = {item.item_id: {} for item in items}
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
                best = sorted(known.items(), key=lambda pair: -pair[1])
                expected[item.item_id] = [
                    Expected(doc, grade, _snippet(corpus, doc))
                    for doc, grade in best[:SHOWN_HITS]
                    if grade > 0
                ]
            if response is None:
                continue
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
        )
        for item in items
    ]


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
