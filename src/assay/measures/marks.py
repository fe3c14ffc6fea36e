"""The marks that people give to hits under the label "review", beside what the rules say of them.

Every hit within a cut-off is one of three. A person's mark decides; where nobody marked a hit that the rules
call relevant, it is a keyword match; any other hit is unmarked.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.core.block import Block

REVIEW = "review"  # the label of people's marks; also the tag that says whether an item wants them
KEYWORD_MATCH = "KEYWORD_MATCH"  # relevant, and the rules say so
SEMANTIC_MATCH = "SEMANTIC_MATCH"  # relevant beyond keywords: only a person says so
FALSE_POSITIVE = "FALSE_POSITIVE"  # not relevant
GRADES: Mapping[str, float] = {KEYWORD_MATCH: 1.0, SEMANTIC_MATCH: 1.0, FALSE_POSITIVE: 0.0}


def wants_review(block: Block) -> NDArray[np.bool_]:
    """The items that keywords alone cannot judge; where nothing is right, there is nothing to find."""
    asked = np.array(["yes" in item.values(REVIEW) for item in block.items], dtype=bool)
    return asked & ~block.expects_nothing


def marked_hits(block: Block, cutoff: int) -> pl.DataFrame:
    """item, doc, mark for every hit within the cut-off, best first; mark is null where nobody knows."""
    people = block.label(REVIEW).select("item", doc="target", person="category")
    found = block.top(cutoff)
    for known in (people, block.relevance):
        found = found.join(known, on=["item", "doc"], how="left", maintain_order="left")
    by_rule = pl.when(pl.col("grade") > 0).then(pl.lit(KEYWORD_MATCH))
    return found.select("item", "doc", mark=pl.coalesce("person", by_rule))
