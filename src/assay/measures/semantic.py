"""Shares of hits that people found relevant, relevant beyond keywords, or not relevant.

Under the label "review", each hit within the cut-off has one of three marks. A person's mark decides. If
nobody marked a hit and the rules call it relevant, it is a keyword match. Any other hit is unmarked, and
makes the score of the item `unjudged`. A person's mark also counts if a rule matches the passage. A rule may
match a word that means something else there, so the person decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.core.block import Block
from assay.measures.declaration import Declaration, TopHitsMeasure, top_hits_declaration
from assay.measures.marks import FALSE_POSITIVE, KEYWORD_MATCH, SEMANTIC_MATCH, marked_hits, wants_review


@dataclass(frozen=True)
class MarkShare(TopHitsMeasure):
    """The share of hits with certain marks among the hits within the cut-off.

    If fewer hits came back than the cut-off, it is the share of the hits that came back.
    """

    marks: ClassVar[frozenset[str]]

    def applies(self, block: Block) -> NDArray[np.bool_]:
        return wants_review(block)

    def values(self, block: Block) -> NDArray[np.float64]:
        counted = pl.col("mark").is_in(sorted(self.marks)).mean()
        whole = pl.when(pl.col("mark").is_null().any()).then(None).otherwise(counted)
        shares = marked_hits(block, self.cutoff).group_by("item").agg(share=whole)
        items = pl.DataFrame({"item": block.item_ids}, schema={"item": pl.String})
        found = items.join(shares, on="item", how="left", maintain_order="left")["share"]
        return found.cast(pl.Float64).fill_null(np.nan).to_numpy()


@dataclass(frozen=True)
class SemanticPrecision(MarkShare):
    """Semantic precision: the share of hits within the cut-off that are relevant, by a rule or a person.

    Range 0 to 1; 0 if nothing came back. The score is `unjudged` as long as a hit has no mark and no rule
    matches it. Applies only to items that want a review.
    """

    declares: ClassVar[Declaration] = top_hits_declaration("SemanticPrecision")
    marks: ClassVar[frozenset[str]] = frozenset({KEYWORD_MATCH, SEMANTIC_MATCH})


@dataclass(frozen=True)
class SemanticLift(MarkShare):
    """Semantic lift: the share of hits within the cut-off that a person calls relevant beyond keywords.

    Range 0 to 1; 0 if nothing came back. The score is `unjudged` as long as a hit has no mark and no rule
    matches it. Applies only to items that want a review.
    """

    declares: ClassVar[Declaration] = top_hits_declaration("SemanticLift")
    marks: ClassVar[frozenset[str]] = frozenset({SEMANTIC_MATCH})


@dataclass(frozen=True)
class FalsePositiveRate(MarkShare):
    """False-positive rate: the share of hits within the cut-off that a person calls not relevant.

    Range 0 to 1, lower is better; 0 if nothing came back. The score is `unjudged` as long as a hit has no
    mark and no rule matches it. Applies only to items that want a review.
    """

    declares: ClassVar[Declaration] = top_hits_declaration("FalsePositiveRate", better="lower")
    marks: ClassVar[frozenset[str]] = frozenset({FALSE_POSITIVE})
