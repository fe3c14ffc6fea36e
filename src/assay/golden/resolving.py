"""Where the anchors of a study's golden set stand in its corpus, chunking by chunking."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assay.datasets.dataset import Dataset, Place
from assay.judges.anchor_index import FORBIDDEN, Anchor, AnchorIndex, anchors_of
from assay.judges.anchors import Anchors
from assay.records import Arm, Span
from assay.spec import parse_spec
from assay.study import Study

UNCUT = "whole documents"


@dataclass(frozen=True)
class Resolution:
    """One anchor in one chunking: where it stands, and how many passages count as it."""

    item_id: str
    anchor: str
    place: Place  # of the item
    doc_id: str | None  # the document it stands in; None: in none
    span: Span | None
    passages: int
    chunking: str
    problem: str  # empty: there is none
    nearest: str  # where it stands nowhere, the text that is most like it


def resolve_golden(study: Study) -> list[Resolution]:
    """Every anchor of every item, for each of the datasets that a study's arms run on."""
    judge = next((each for each in study.judges if isinstance(each, Anchors)), Anchors())
    chunkings: dict[int, tuple[str, Dataset]] = {}
    for arm in study.arms:
        dataset = study.dataset(arm)
        chunkings.setdefault(id(dataset), (_chunking(study, arm), dataset))
    return [each for chunking, dataset in chunkings.values() for each in _resolved(judge, dataset, chunking)]


def _chunking(study: Study, arm: Arm) -> str:
    """How an arm's documents are cut, as the study writes it."""
    factors = {name: value for name, value in arm.factors.items() if name.partition(".")[0] == "chunk"}
    inside = ", ".join(f"{name.partition('.')[2]}={value}" for name, value in factors.items() if "." in name)
    given = factors.get("chunk") or (not study.file.chunkings and study.file.chunk)
    name = str(parse_spec(given)) if given else UNCUT
    return f"{name}, {inside}" if inside else name


def _resolved(judge: Anchors, dataset: Dataset, chunking: str) -> Iterator[Resolution]:
    index = judge.index(dataset)
    for item in dataset.items:
        place = dataset.places.get(item.item_id, Place(dataset.name))
        for anchor in anchors_of(item):
            if anchor.label != FORBIDDEN:
                yield _resolution(item.item_id, anchor, place, chunking, judge, index)


def _resolution(
    item_id: str, anchor: Anchor, place: Place, chunking: str, judge: Anchors, index: AnchorIndex
) -> Resolution:
    text, places = anchor.text or "", index.places(anchor)
    if not places:
        problem, _ = index.missing(anchor)
        nearest = str(index.nearest(anchor) or "")
        return Resolution(item_id, text, place, None, None, 0, chunking, problem, nearest)
    counted = len(judge.passages(anchor, index))
    problem = "" if counted else f"no passage counts as {str(anchor)!r}: {judge.lacking(anchor, index)}"
    first = places[0]
    return Resolution(
        item_id, text, place, first.document.doc_id, first.span, counted, chunking, problem, nearest=""
    )
