"""A block: everything a measure may read about one arm and one seed, items in dataset order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.measures.gains import GainMatrix, gain_matrix
from assay.records import Arm, Hit, Item, Judgment, Response, Status, Structure

STATUSES = tuple(Status)
SCORED, MISSING, FAILED, UNJUDGED, PENDING, NOT_APPLICABLE = range(len(STATUSES))

LABEL_COLUMNS = {
    "item": pl.String,
    "label": pl.String,
    "target": pl.String,
    "arm": pl.String,
    "grade": pl.Float64,
    "category": pl.String,
}


@dataclass(frozen=True)
class Labels:
    """Judgments resolved by precedence: one grade an item, label, target and arm (null: every arm).

    `world` is "closed" where what is not named is not relevant, "open" where it is unknown; figures of an
    open world carry the hash of the pool that was looked at.
    """

    frame: pl.DataFrame
    world: str = "closed"
    pool: str | None = None

    @classmethod
    def none(cls) -> Labels:
        return cls(pl.DataFrame(schema=LABEL_COLUMNS))

    def of(self, label: str, arm: str) -> pl.DataFrame:
        """The labels of one kind that hold for one arm; one made for this arm outweighs one for all."""
        holds = pl.col("arm").is_null() | (pl.col("arm") == arm)
        found = self.frame.filter((pl.col("label") == label) & holds).sort(
            "arm", nulls_last=True, maintain_order=True
        )
        return found.unique(["item", "target"], keep="first", maintain_order=True)


@dataclass(frozen=True)
class Block:
    """One arm and one seed on every item. `answers` has a row an item, as the store keeps them."""

    arm: Arm
    seed: int
    items: Sequence[Item]
    answers: pl.DataFrame  # failed (null: pending), docs, scores, rest
    labels: Labels
    judgments: Sequence[Judgment] = ()
    structure: Structure | None = None

    @cached_property
    def asked(self) -> NDArray[np.int8]:
        """SCORED, FAILED or PENDING for each item: what became of asking, before anything is measured."""
        failed = self.answers["failed"]
        status = np.where(failed.fill_null(False).to_numpy(), FAILED, SCORED)
        return np.where(failed.is_null().to_numpy(), PENDING, status).astype(np.int8)

    @cached_property
    def item_ids(self) -> list[str]:
        return [item.item_id for item in self.items]

    @cached_property
    def expects_nothing(self) -> NDArray[np.bool_]:
        return np.array([item.expects == "nothing" for item in self.items], dtype=bool)

    @cached_property
    def ranking(self) -> pl.DataFrame:
        """Every hit of every item: item, doc, score."""
        hits = pl.DataFrame({"item": self.item_ids}, schema={"item": pl.String}).with_columns(
            doc=self.answers["docs"], score=self.answers["scores"]
        )
        return hits.filter(pl.col("doc").list.len() > 0).explode("doc", "score")

    @cached_property
    def gains(self) -> GainMatrix:
        """Grades by rank under the label "relevance"."""
        relevance = self.labels.of("relevance", self.arm.name).select("item", doc="target", grade="grade")
        return gain_matrix(self.ranking, relevance.drop_nulls("doc"), self.item_ids)

    @cached_property
    def responses(self) -> list[Response | None]:
        """The responses as records; None where the item was not asked yet."""
        decode = msgspec.json.Decoder(Response).decode
        found: list[Response | None] = []
        for docs, scores, rest in self.answers.select("docs", "scores", "rest").iter_rows():
            response = None if rest is None else decode(rest)
            if response is not None and docs and not response.hits:
                response.hits = [Hit(doc, score) for doc, score in zip(docs, scores, strict=True)]
            found.append(response)
        return found

    def empty(self, needs: frozenset[str]) -> NDArray[np.bool_]:
        """Where an item was answered, but with none of what a measure needs to look at."""
        blank = np.zeros(len(self.items), dtype=bool)
        if "hits" in needs:
            blank |= self.answers["docs"].list.len().fill_null(0).to_numpy() == 0
        for part in needs & {"contexts", "trace", "answer", "route"}:
            held = [response is not None and bool(getattr(response, part)) for response in self.responses]
            blank |= ~np.array(held, dtype=bool)
        return blank
