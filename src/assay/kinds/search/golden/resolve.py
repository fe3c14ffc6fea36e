"""Finds the anchors of a study's golden set in its corpus, for each chunking."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from assay.core.dataset import Dataset, Place
from assay.core.errors import Problem
from assay.core.records import FORBIDDEN, Arm, Span
from assay.core.spec import parse_spec
from assay.kinds.search.anchor_index import Anchor, AnchorIndex, anchors_of
from assay.kinds.search.anchors import Anchors
from assay.kinds.search.golden.entry import GoldenFile, anchor_location
from assay.kinds.search.golden.study import golden_of
from assay.study.study import Study

UNCUT = "whole documents"


@dataclass(frozen=True)
class Resolution:
    """The result for an anchor in a chunking: its place, and the passages that count as the anchor."""

    item_id: str
    anchor: str
    place: Place  # the place of its words in the golden set, as exact as possible
    field: str
    chunking: str
    doc_id: str | None = None  # its document; None: not found
    span: Span | None = None
    passages: int = 0
    passage_ids: tuple[str, ...] = ()
    problem: str = ""  # empty: there is none
    fix: str = ""
    nearest: str = ""  # if it was not found, the most similar text

    @property
    def message(self) -> str:
        """The problem with its place and fix, as a text."""
        return str(Problem(self.problem, self.place.file, self.place.line, self.field, self.fix))


def resolve_golden(study: Study) -> list[Resolution]:
    """Looks up every anchor of every item, in each dataset on which the study's arms run."""
    judge = next((each for each in study.judges if isinstance(each, Anchors)), Anchors())
    golden = golden_of(study)
    found = {} if golden is None else golden.read(study.kit).found
    chunkings: dict[int, tuple[str, Dataset]] = {}
    for arm in study.arms:
        dataset = study.dataset(arm)
        chunkings.setdefault(id(dataset), (_describe_chunking(study, arm), dataset))
    return [
        each
        for chunking, dataset in chunkings.values()
        for each in _resolve_dataset(judge, dataset, chunking, found)
    ]


def _describe_chunking(study: Study, arm: Arm) -> str:
    """Describes how an arm's documents are cut, in the words of the study."""
    factors = {name: value for name, value in arm.factors.items() if name.partition(".")[0] == "chunk"}
    inside = ", ".join(f"{name.partition('.')[2]}={value}" for name, value in factors.items() if "." in name)
    given = factors.get("chunk") or (not study.file.chunkings and study.file.chunk)
    name = str(parse_spec(given)) if given else UNCUT
    return f"{name}, {inside}" if inside else name


def _resolve_dataset(
    judge: Anchors, dataset: Dataset, chunking: str, entries: Mapping[str, tuple[GoldenFile, int]]
) -> Iterator[Resolution]:
    index = judge.index(dataset)
    for item in dataset.items:
        wanted = [anchor for anchor in anchors_of(item) if anchor.label != FORBIDDEN]
        for number, anchor in enumerate(wanted):
            place, field = dataset.places.get(item.item_id, Place(dataset.name)), item.item_id
            if item.item_id in entries:
                file, entry = entries[item.item_id]
                exact = file.problem(entry, anchor_location(number), "", "")
                place, field = Place(exact.where, exact.line), exact.field
            at = Resolution(item.item_id, anchor.text or "", place, field, chunking)
            yield _look_up(at, anchor, judge, index)


def _look_up(at: Resolution, anchor: Anchor, judge: Anchors, index: AnchorIndex) -> Resolution:
    places = index.places(anchor)
    if not places:
        problem, fix = index.missing(anchor)
        return replace(at, problem=problem, fix=fix, nearest=str(index.nearest(anchor) or ""))
    ids = tuple(passage.doc_id for passage in judge.passages(anchor, index))
    problem = "" if ids else f"no passage counts as {str(anchor)!r}: {judge.lacking(anchor, index)}"
    there = replace(at, doc_id=places[0].document.doc_id, span=places[0].span, problem=problem)
    return replace(there, passages=len(ids), passage_ids=ids)
