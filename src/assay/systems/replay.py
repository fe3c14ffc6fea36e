"""Replay: the answers another system already gave, from a TREC run file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from assay.core.dataset import Corpus, Dataset, digest
from assay.core.errors import Problem
from assay.core.protocols import Kit
from assay.core.records import Budget, Hit, Query, Response
from assay.datasets.trec import read_bytes, read_run

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class ReplayIndex:
    """Hits by item. No query changes it, so it is its own session."""

    ranked: Mapping[str, tuple[pl.Series, pl.Series]]  # doc_ids and scores of an item, best first

    def session(self) -> ReplayIndex:
        return self

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        """What the file holds for the item, and no timing: nobody saw how long that answer took."""
        if query.item_id not in self.ranked:
            return Response()
        return Response(hits=[Hit(*pair) for pair in zip(*self.ranked[query.item_id], strict=True)])


@dataclass(frozen=True)
class Replay:
    """Answers by `item_id` from a TREC run file; an item that the file lacks gets no hits."""

    path: str
    version: ClassVar[str] = "1"
    gives: ClassVar[frozenset[str]] = frozenset({"hits"})
    origin: ClassVar[str] = "imported"

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> ReplayIndex:
        # The order trec_eval gives a run: score, then document id, both descending. Ranks are not read.
        run = read_run(kit.path(self.path)).sort("score", "doc", descending=True)
        items = run.group_by("item").agg("doc", "score")
        return ReplayIndex(
            dict(zip(items["item"], zip(items["doc"], items["score"], strict=True), strict=True))
        )

    def problems(self, dataset: Dataset, kit: Kit) -> list[Problem]:
        """What shows that the file belongs to other data: no item, or no passage, in common."""
        run = read_run(kit.path(self.path))
        items = [item.item_id for item in dataset.items]
        shared = [("item", run["item"], items), ("doc", run["doc"], list(dataset.corpus.position))]
        fix = "Check that run and dataset belong together and write ids the same way."
        return [
            Problem(
                f"no {what}_id of the dataset occurs here: here {found[0]!r}, there {known[0]!r}",
                str(kit.path(self.path)),
                fix=fix,
            )
            for what, found, known in shared
            if known and set(known).isdisjoint(found.unique())
        ]

    def identity(self, kit: Kit) -> str:
        """The hash of what the file holds, packed or not."""
        return digest([read_bytes(kit.path(self.path))])
