"""The marks that people give to hits under the label "review", beside what the rules say of the hits.

Each hit within the cut-off has one of three marks. A person's mark decides. If nobody marked a hit and the
rules call it relevant, it is a keyword match. Any other hit is unmarked.
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
    """Returns True for items that keywords cannot judge, except items that expect nothing."""
    asked = np.array(["yes" in item.values(REVIEW) for item in block.items], dtype=bool)
    return asked & ~block.expects_nothing


def marked_hits(block: Block, cutoff: int) -> pl.DataFrame:
    """Returns item, doc and mark of each hit within the cut-off, the best first.

    `mark` is null if neither a person nor a rule says what the hit is.
    """
    people = block.label(REVIEW).select("item", doc="target", person="category")
    found = block.top(cutoff)
    for known in (people, block.relevance):
        found = found.join(known, on=["item", "doc"], how="left", maintain_order="left")
    by_rule = pl.when(pl.col("grade") > 0).then(pl.lit(KEYWORD_MATCH))
    return found.select("item", "doc", mark=pl.coalesce("person", by_rule))
