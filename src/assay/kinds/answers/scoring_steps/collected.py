"""What systems answered and what they were given, as a pack is made of it; and whether it still is so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from assay.core.block import Block
from assay.core.records import Item
from assay.kinds.answers.blinding.pack import MergedSource
from assay.kinds.answers.blinding.sources import neutral_source
from assay.kinds.answers.scoring.opened import ScoringFolder
from assay.pipeline.evaluation import Evaluation
from assay.pipeline.runner import command_path
from assay.study.study import Study


@dataclass(frozen=True)
class CollectedResponse:
    """One response as it was collected."""

    item_id: str
    arm: str
    seed: int
    text: str


@dataclass(frozen=True)
class CollectedResponses:
    """What systems answered, and what they were given to answer from."""

    blocks: Sequence[Block]

    @cached_property
    def items(self) -> Mapping[str, Item]:
        return {item.item_id: item for block in self.blocks for item in block.items}

    @cached_property
    def responses(self) -> list[CollectedResponse]:
        return [
            CollectedResponse(item.item_id, block.arm.name, block.seed, response.answer or "")
            for block in self.blocks
            for item, response in zip(block.items, block.responses, strict=True)
            if response is not None and response.error is None
        ]

    @cached_property
    def sources(self) -> Mapping[str, MergedSource]:
        """For each question that was answered, what models were given under both conditions, as one text."""
        answered = {each.item_id for each in self.responses}
        texts: dict[str, dict[str, tuple[str, str, str]]] = {item_id: {} for item_id in sorted(answered)}
        titles: dict[str, dict[str, None]] = {item_id: {} for item_id in texts}
        for block in self.blocks:
            for item, response in zip(block.items, block.responses, strict=True):
                for hit in response.hits if response is not None and item.item_id in texts else ():
                    place = block.corpus.position.get(hit.doc_id)
                    if place is not None:
                        passage = block.corpus.passages[place]
                        form = str(passage.metadata.get("form", "text"))
                        texts[item.item_id].setdefault(hit.doc_id, (block.arm.system, form, passage.text))
                        titles[item.item_id].setdefault(passage.title)
        return {
            item_id: MergedSource(
                "; ".join(filter(None, titles[item_id])), neutral_source(list(given.values()))
            )
            for item_id, given in texts.items()
        }


def describe_outdated(study: Study, scoring: ScoringFolder) -> str:
    """How the responses that were blinded differ from those of the run, and what to do; else nothing.

    Where nothing is stored there is nothing to compare with.
    """
    stored = CollectedResponses(Evaluation(study).blocks).responses
    now = {(each.item_id, each.arm, each.seed): each.text for each in stored}
    blinded = {(each.item_id, each.arm, each.seed): each.text for each in scoring.originals().values()}
    differ = sum(now.get(key) != blinded.get(key) for key in now.keys() | blinded.keys())
    if not now or not differ:
        return ""
    of = len(now.keys() | blinded.keys())
    what = f"{differ} of {of} responses are not as they were blinded"
    why = "They were collected anew, or the pack is another study's"
    begin = f"assay review blind {command_path(study)} --fresh"
    where = "in another folder of the panel where people have scored"
    return f"{what}. {why}. Put them back, or begin again, {where}: {begin}"
