"""Tags that differ between corpora: each combination of factors is sliced by its own items."""

from __future__ import annotations

import polars as pl

from assay.core.block import STATUSES
from assay.core.dataset import Condition
from assay.core.records import Item
from assay.stats.rows import STATUS, Rows


def item(item_id: str, present: str) -> Item:
    return Item(item_id, "q", tags={"present": [present]})


def test_a_slice_takes_each_stage_s_own_tags() -> None:
    small, large = [item("a", "yes"), item("b", "no")], [item("a", "yes"), item("b", "yes")]
    rows = [
        (name, "s", f'{{"stage":"{stage}"}}', f"s[stage={stage}]", 0, "A", 1.0, "scored")
        for stage in ("10k", "50k")
        for name in ("a", "b")
    ]
    columns = ["item", "system", "factors", "arm", "seed", "measure", "value", "status"]
    scores = pl.DataFrame(rows, schema=columns, orient="row").with_columns(pl.col("status").cast(STATUS))
    assert len(STATUSES) == 6
    for variants in (
        {"s[stage=10k]": small, "s[stage=50k]": large},
        {"s[stage=50k]": large, "s[stage=10k]": small},
    ):
        found = Rows(scores, large, None, variants)
        assert found.mask([Condition("present", True, ("yes",))]).tolist() == [True, False, True, True]
        assert found.item_of(1).tags == {"present": ["no"]}
        assert found.known_values("present") == ["yes", "no"]
