"""A block holds everything that a measure may read about one arm and one seed.

Its items are in dataset order. Rankings and labels are read in a view: by passage or by document, and under
one label or several labels. In the view by document, a document has the rank of its first passage, and the
best grade of its passages that were returned. So several passages of one document never count twice, and a
wrong passage of the right document is wrong. If a view has several labels, written "review|relevance", the
first label that a target has counts.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from typing import Literal, NamedTuple

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.core.dataset import Corpus
from assay.core.gains import GainMatrix, gain_matrix
from assay.core.records import Arm, Budget, Hit, Item, Judgment, Response, Status, Structure
from assay.core.shown import ShownEvidence, shown_by_budget

STATUSES = tuple(Status)
RESPONSE_PARTS = frozenset({"hits", "contexts", "trace", "answer", "route", "flags"})
SCORED, MISSING, FAILED, UNJUDGED, PENDING, NOT_APPLICABLE = range(len(STATUSES))

Level = Literal["passage", "document"]


class View(NamedTuple):
    """How a measure reads rankings and labels.

    `level` says whether one result is a passage or a document. `label` names the labels to read, the best
    first, as in "review|relevance".
    """

    level: Level = "passage"
    label: str = "relevance"

    @property
    def labels(self) -> list[str]:
        return self.label.split("|")


LABEL_COLUMNS = {
    "item": pl.String,
    "label": pl.String,
    "target": pl.String,
    "start": pl.Int64,
    "end": pl.Int64,
    "arm": pl.String,
    "seed": pl.Int64,
    "grade": pl.Float64,
    "category": pl.String,
    "rank": pl.Int64,  # the rank of the judge among the study's judges; 0 is the best
}


@dataclass(frozen=True)
class Labels:
    """The judgments that count, with one grade per item, label, target, span, arm and seed.

    If several judges gave a grade, the grade of the most trusted judge counts. An arm or seed of null means
    every arm or seed. Under a closed label, a target without a grade is not relevant. Under any other label,
    such a target is unknown, and values have the hash of the pool that was looked at.
    """

    frame: pl.DataFrame
    closed: frozenset[str] = frozenset()
    pools: Mapping[str, str] = field(default_factory=dict)  # the hash of the pool, by open label
    apart: Mapping[str, frozenset[str]] = field(default_factory=dict)  # by arm: the arms on another corpus
    near_misses: pl.DataFrame | None = None  # the near misses as labels; None: there are none

    @classmethod
    def none(cls) -> Labels:
        return cls(pl.DataFrame(schema=LABEL_COLUMNS))

    def world(self, label: str) -> str:
        """Returns "open" if a target without a grade is unknown under a label, and "closed" otherwise.

        Under a closed label, a target without a grade is not relevant. Several labels, written
        "review|relevance", are closed if one of them is closed.
        """
        return "closed" if self.closed.intersection(label.split("|")) else "open"

    def of(self, label: str, arm: str, seed: int) -> pl.DataFrame:
        """Returns the labels of one name that apply to an arm and a seed."""
        here = [
            pl.col("arm").eq(arm) | pl.col("arm").is_null(),
            pl.col("seed").eq(seed) | pl.col("seed").is_null(),
        ]
        return _best(self.frame.filter(pl.col("label") == label, *here))

    def shared(self, label: str, arm: str, seed: int) -> pl.DataFrame:
        """Returns the labels of one name that apply to an arm, or to another arm on the same corpus.

        Labels of arms on another corpus are left out, since this arm cannot return their passages.
        """
        apart = pl.col("arm").is_in(list(self.apart.get(arm, ()))).fill_null(False)
        found = self.frame.filter(pl.col("label") == label, ~apart)
        others = [(pl.col("arm") != arm).fill_null(False), (pl.col("seed") != seed).fill_null(False)]
        return _best(found, *others)

    def anywhere(self, label: str) -> pl.DataFrame:
        """Returns the labels of one name, for any arm."""
        return _best(self.frame.filter(pl.col("label") == label))


def _best(found: pl.DataFrame, *others: pl.Expr) -> pl.DataFrame:
    """Returns one label per target: the label of the best judge, and of its labels the most specific one.

    Rows for which an expression in `others` is true come last.
    """
    ordered = found.sort("rank", *others, "arm", "seed", nulls_last=True, maintain_order=True)
    return ordered.unique(["item", "target", "start", "end"], keep="first", maintain_order=True)


@dataclass(frozen=True)
class Block:
    """The answers of one arm with one seed to every item, with everything that measures may read besides.

    `answers` has one row per item, with the columns in which the store keeps answers.
    """

    arm: Arm
    seed: int
    items: Sequence[Item]
    answers: pl.DataFrame  # columns: failed (null: pending), docs, scores, rest
    labels: Labels
    judgments: Sequence[Judgment] = ()
    structure: Structure | None = None  # the structure of the index over the whole corpus
    structures: Mapping[str, Structure] = field(default_factory=dict)  # for scoped items, by item_id
    gives: frozenset[str] | None = None  # the parts that responses can hold; None: not declared
    corpus: Corpus = Corpus(())  # the corpus that the system searched
    beside: Block | None = None  # the block of the second system, if a measure compares two

    def structure_of(self, item: Item) -> Structure | None:
        """Returns the tree or graph of the index that answered an item; None if the index published none."""
        return self.structure if item.scope is None else self.structures.get(item.item_id)

    @cached_property
    def with_near_misses(self) -> Block | None:
        """The same block with near misses counted as labels; None if there are no near misses."""
        if self.labels.near_misses is None:
            return None
        frame = pl.concat([self.labels.frame, self.labels.near_misses])
        labels = dataclasses.replace(self.labels, frame=frame, near_misses=None)
        return dataclasses.replace(self, labels=labels)

    @cached_property
    def asked(self) -> NDArray[np.int8]:
        """The outcome of asking each item, before anything is measured: SCORED, FAILED or PENDING."""
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
    def expects_passages(self) -> NDArray[np.bool_]:
        """True for items whose right answer is passages; false if it is nothing, a route or an intent."""
        return np.array([item.expects is None for item in self.items], dtype=bool)

    @cached_property
    def ranking(self) -> pl.DataFrame:
        """All hits of all items, with the columns item, doc and score.

        If a document has several hits, the best counts.
        """
        hits = pl.DataFrame({"item": self.item_ids}, schema={"item": pl.String}).with_columns(
            doc=self.answers["docs"], score=self.answers["scores"]
        )
        each = hits.filter(pl.col("doc").list.len() > 0).explode("doc", "score")
        if self.corpus.units:
            each = self._as_units(each)
        return each.unique(["item", "doc"], keep="first", maintain_order=True)

    def top(self, cutoff: int) -> pl.DataFrame:
        """Returns the hits of each item up to a cut-off, the best first.

        The columns are item, doc and score.
        """
        best = self.ranking.sort("item", "score", "doc", descending=[False, True, True])
        return best.group_by("item", maintain_order=True).head(cutoff)

    def ranked(self, level: Level) -> pl.DataFrame:
        """Returns the ranking by passage, or by document. A document has the rank of its best passage."""
        if level == "passage":
            return self.ranking
        best = self.ranking.sort("item", "score", "doc", descending=[False, True, True])
        documents = best.with_columns(doc=self._document_of(best))
        return documents.unique(["item", "doc"], keep="first", maintain_order=True)

    def _document_of(self, frame: pl.DataFrame) -> pl.Series:
        return pl.Series([self.corpus.document_of(doc) for doc in frame["doc"]], dtype=pl.String)

    def _as_units(self, hits: pl.DataFrame) -> pl.DataFrame:
        """Replaces hits by the units that they count as, in the order of the hits.

        A hit without units stays as it is.
        """
        ordered = hits.sort("item", "score", "doc", descending=[False, True, True])
        units = ordered.select("item", doc=self._units_of(ordered)).explode("doc")
        return units.with_columns(score=pl.int_range(pl.len(), 0, -1).cast(pl.Float64))

    def _units_of(self, frame: pl.DataFrame) -> pl.Series:
        """Returns, for each row, the units that its document counts as.

        A document without units counts as itself.
        """
        lists = [list(self.corpus.units.get(doc) or [doc]) for doc in frame["doc"]]
        return pl.Series(lists, dtype=pl.List(pl.String))

    def label(self, name: str) -> pl.DataFrame:
        """Returns the labels of one name that apply to this arm and seed."""
        return self.labels.of(name, self.arm.name, self.seed)

    @cached_property
    def relevance(self) -> pl.DataFrame:
        """The grades under the label "relevance", with the columns item, doc and grade."""
        return self.graded(View())

    def graded(self, view: View) -> pl.DataFrame:
        """Returns the grades in a view, with the columns item, doc and grade.

        Each document occurs once per item, with the best grade of its spans or passages.
        """
        parts = [self._graded(label) for label in view.labels]
        judged = pl.concat(parts).unique(["item", "doc"], keep="first", maintain_order=True)
        return judged if view.level == "passage" else self._by_document(judged)

    def _by_document(self, judged: pl.DataFrame) -> pl.DataFrame:
        """Replaces passages by their documents. Each document gets the best grade of its passages."""
        documents = judged.with_columns(doc=self._document_of(judged))
        return documents.group_by("item", "doc", maintain_order=True).agg(pl.col("grade").max())

    def _graded(self, label: str) -> pl.DataFrame:
        """Returns the grades under one label.

        Whether a passage is relevant does not depend on the arm that returned it. So in an open world all
        arms on a corpus share one pool. With separate pools, each arm would be compared with its own hits.
        """
        open_world = self.labels.world(label) == "open"
        named = self.labels.shared(label, self.arm.name, self.seed) if open_world else self.label(label)
        judged = named.drop_nulls("target").select("item", "grade", doc="target")
        if self.corpus.units:  # a mark on a passage is a mark on the units that it counts as
            judged = judged.select("item", "grade", doc=self._units_of(judged)).explode("doc")
        best = judged.group_by("item", "doc", maintain_order=True).agg(pl.col("grade").max())
        return best.select("item", "doc", "grade")

    @property
    def gains(self) -> GainMatrix:
        """The grades by rank for the ranking by passage, under the label "relevance"."""
        return self.gains_in(View())

    def gains_in(self, view: View) -> GainMatrix:
        """Returns the grades by rank in a view. They are computed once per view."""
        if view not in self._gains:
            ranking = self.ranked(view.level)
            # ranks, since scores of run files are compared in single precision, and those of systems are not
            placed = ranking.with_columns(score=pl.col("score").rank("dense").over("item"))
            found = gain_matrix(placed, self.graded(view), self.item_ids)
            if view.level == "document":
                returned = self.graded(View("passage", view.label)).join(
                    self.ranking, on=["item", "doc"], how="semi"
                )
                shown = gain_matrix(placed, self._by_document(returned), self.item_ids)
                found = dataclasses.replace(found, grades=shown.grades)
            self._gains[view] = found
        return self._gains[view]

    @cached_property
    def _gains(self) -> dict[View, GainMatrix]:
        return {}

    @property
    def rankable(self) -> NDArray[np.bool_]:
        """True for items whose ranking can be right or wrong under the label "relevance".

        See `rankable_in`.
        """
        return self.rankable_in(View())

    def rankable_in(self, view: View) -> NDArray[np.bool_]:
        """Returns True for items whose ranking can be right or wrong in a view.

        These are the items that expect passages and have labels. In an open world, items without labels count
        too, since nobody has judged them yet. An item whose gold is anchored in text counts even if no
        passage of this chunking contains the anchored text.
        """
        if self.labels.world(view.label) == "open":
            return self.expects_passages
        anchored = np.array([bool(item.gold.get("anchors")) for item in self.items], dtype=bool)
        known: NDArray[np.bool_] = self.gains_in(view).labelled | anchored
        return self.expects_passages & known

    def highest_in(self, view: View) -> float:
        """The highest grade of the golden set; infinity in an open world, where higher grades may come."""
        if self.labels.world(view.label) == "open" or len(view.labels) > 1:
            return inf
        grades = self.labels.frame.filter(pl.col("label") == view.label)["grade"].to_numpy()
        levels = {each.get("relevance") for item in self.items for each in item.gold.get("anchors", ())}
        # the grades of anchors, whether or not a passage of this chunking counts as one
        anchored = (1.0 if levels == {"partial"} else 2.0) if levels else -inf
        return max(anchored, float(grades.max(initial=-inf)))

    @cached_property
    def responses(self) -> list[Response | None]:
        """The responses as records. The value is None for an item that was not asked yet."""
        decode = msgspec.json.Decoder(Response).decode
        found: list[Response | None] = []
        for docs, scores, rest in self.answers.select("docs", "scores", "rest").iter_rows():
            response = None if rest is None else decode(rest)
            if response is not None and docs and not response.hits:
                response.hits = [Hit(doc, score) for doc, score in zip(docs, scores, strict=True)]
            found.append(response)
        return found

    @property
    def answered(self) -> Iterator[Response]:
        """The responses to items that were asked and did not fail."""
        return (each for each in self.responses if each is not None and each.error is None)

    @cached_property
    def shown(self) -> Mapping[Budget, Sequence[ShownEvidence | None]]:
        """For each budget: how much of its evidence the context of each item shows."""
        return shown_by_budget(self.items, self.responses, self.corpus)

    def lacks(self, needs: frozenset[str]) -> bool:
        """Whether the system declares that its responses never hold a part that a measure needs."""
        return self.gives is not None and bool((needs & RESPONSE_PARTS) - self.gives)

    def empty(self, needs: frozenset[str]) -> NDArray[np.bool_]:
        """Returns True for items whose answer has nothing in one of the parts that a measure needs."""
        blank = np.zeros(len(self.items), dtype=bool)
        if "hits" in needs:
            blank |= self.answers["docs"].list.len().fill_null(0).to_numpy() == 0
        for part in needs & (RESPONSE_PARTS - {"hits"}):
            held = [response is not None and bool(getattr(response, part)) for response in self.responses]
            blank |= ~np.array(held, dtype=bool)
        return blank
