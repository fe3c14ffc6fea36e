"""How the scores of a system vary by themselves: its items asked again, without any change.

A difference between two versions is a loss of the newer one only as far as the system gives the same answer
twice. `assay run --repeat` asks again and keeps the answers apart; here they are scored as the first ones
were, by the same judges, and compared with them.
"""

from __future__ import annotations

import msgspec
import polars as pl

from assay.core.records import Status
from assay.measures.observed import Seconds
from assay.pipeline.evaluation import Evaluation
from assay.stats.columns import TIE

_COUNTED = (Status.SCORED.value, Status.MISSING.value)


class Churn(msgspec.Struct, frozen=True):
    """What was seen of an arm whose items were asked again, by measure."""

    repeats: int
    items: dict[str, list[str]]  # those that have a value each time
    varied: dict[str, list[str]]  # of these, those whose value was not the same each time


def measure_churn(evaluation: Evaluation) -> dict[str, Churn]:
    """What varies by itself, by arm whose items were asked again; scores that are sealed say nothing."""
    begun = evaluation.store.repetition(1).root.parent.glob("*/")
    numbers = sorted(int(path.name) for path in begun if path.name.isdecimal())
    if not numbers or evaluation.repetition or evaluation.sealed:
        return {}
    again = [Evaluation(evaluation.study, evaluation.selection, number) for number in numbers]
    rounds = [_answered(each) for each in (evaluation, *again)]
    found = {}
    for arm in rounds[0]["arm"].unique(maintain_order=True):
        asked = [part for each in rounds if len(part := each.filter(pl.col("arm") == arm))]
        if len(asked) > 1:
            found[arm] = _churn(asked)
    return found


def _answered(evaluation: Evaluation) -> pl.DataFrame:
    """The value of every arm, measure and item, the mean of its seeds; only if each seed has one."""
    counted = pl.col("status").cast(pl.String).is_in(_COUNTED)
    values = evaluation.scores.filter(pl.col("measure") != Seconds().name)
    by_item = values.group_by("arm", "measure", "item", maintain_order=True)
    return by_item.agg(pl.col("value").mean(), counted=counted.all()).filter("counted").drop("counted")


def _churn(asked: list[pl.DataFrame]) -> Churn:
    """One arm: its answers, then one frame per repetition."""
    together = pl.concat(asked).group_by("measure", "item", maintain_order=True)
    spread = (pl.col("value").max() - pl.col("value").min()).alias("spread")
    whole = together.agg(spread, times=pl.len()).filter(pl.col("times") == len(asked))
    measures = asked[0]["measure"].unique(maintain_order=True).to_list()
    items, varied = (
        {name: part.filter(pl.col("measure") == name)["item"].to_list() for name in measures}
        for part in (whole, whole.filter(pl.col("spread") > TIE))
    )
    return Churn(len(asked) - 1, items, varied)
