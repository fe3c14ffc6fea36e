"""Realistic results made from a seed: three systems, 500 items, failures, one gate of each outcome."""

from __future__ import annotations

import dataclasses
from typing import Any

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.core.records import Advice, ClauseResult, Comparison, Estimate, Verdict
from assay.core.results import (
    ExpectedTarget,
    ItemView,
    MeasureInfo,
    RankedResult,
    Results,
    ReviewSummary,
    TrustSummary,
)
from assay.stats.families import shown_direction

Floats = NDArray[np.float64]
SYSTEMS = ["bm25", "dense", "hybrid"]
MEASURES = [
    MeasureInfo("nDCG@10", "higher", 0.0, 1.0, about="Discounted gain of the ranking against the ideal one."),
    MeasureInfo("R@10", "higher", 0.0, 1.0, about="The fraction of what is relevant that was found."),
    MeasureInfo(
        "Success@3", "higher", 0.0, 1.0, about="Whether anything relevant stands in the first three."
    ),
    MeasureInfo("Abstain", "higher", 0.0, 1.0, about="Whether nothing came back where nothing is right."),
    MeasureInfo("Seconds", "lower", 0.0, None, "s", "Wall-clock time of one answer."),
]
CATEGORIES = ["how-to", "reference", "troubleshooting", "billing", "legal", "edge case"]
WEIGHTS = [0.3, 0.25, 0.2, 0.15, 0.09, 0.01]
PHRASE = (
    "replica failover latency index shard token refresh invoice refund policy gateway timeout cluster "
    "snapshot restore quota billing region latency vector recall ranking query analyser synonym rollback"
)
OTHER = {
    "ja": "検索システムの再起動後に索引が壊れる場合の対処方法について説明します。",
    "ar": "كيف يمكنني استعادة الفهرس بعد انقطاع الخدمة؟",
    "de": "Wie stelle ich nach einem Datenbanküberlauf den Index wieder her?",
}


def sentence(rng: np.random.Generator, length: int) -> str:
    return (" ".join(rng.choice(PHRASE.split(), length)) + ".").capitalize()


def interval(values: Floats) -> tuple[float | None, float | None, float | None]:
    """A mean and its normal 95 % interval: enough for a picture."""
    if not len(values):
        return None, None, None
    half = float(1.96 * values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0
    mean = float(values.mean())
    return mean, mean - half, mean + half


def value_table(rng: np.random.Generator, n: int) -> dict[tuple[str, str], Floats]:
    """Values by system and measure; NaN where there is no score."""
    ease = rng.beta(2, 2, n)
    table: dict[tuple[str, str], Floats] = {}
    for system, lift, seconds in zip(SYSTEMS, (0.0, 0.015, 0.055), (0.018, 0.047, 0.063), strict=True):
        quality: Floats = np.clip(ease + lift + rng.normal(0, 0.13, n), 0, 1)
        table[system, "nDCG@10"] = np.round(quality, 4)
        table[system, "R@10"] = (quality + 0.1).clip(0, 1).round(4)
        table[system, "Success@3"] = (quality > 0.45).astype(float)
        table[system, "Abstain"] = np.full(n, np.nan, dtype=np.float64)
        table[system, "Seconds"] = np.round(rng.lognormal(np.log(seconds), 0.4, n), 5)
    return table


def build_items(rng: np.random.Generator, n: int) -> list[ItemView]:
    texts = [sentence(rng, 60) for _ in range(1500)]
    items: list[ItemView] = []
    for index in range(n):
        language = str(rng.choice(["en", "de", "ja", "ar"], p=[0.7, 0.15, 0.1, 0.05]))
        question = OTHER.get(language) or "How does " + sentence(rng, 9).lower()
        gold = int(rng.integers(1500))
        anchor = " ".join(texts[gold].split()[10:18])
        pool = [gold, *(int(doc) for doc in rng.integers(0, 1500, 18))]
        returned = {}
        for system in SYSTEMS:
            ranked = rng.permutation(pool)[:10]
            returned[system] = [
                RankedResult(
                    f"kb/{doc:04d}",
                    12.0 - rank,
                    2.0 if doc == gold else 0.0 if rank < 6 else None,
                    texts[doc],
                )
                for rank, doc in enumerate(ranked)
            ]
        faults = {}
        if index % 97 == 5:
            faults = {"dense": "Timeout: no answer within 10 s after 3 attempts"}
            returned["dense"] = []
        if index % 120 == 7:
            returned["bm25"] = []
        expected = [ExpectedTarget(f"kb/{gold:04d}", 2.0, anchor)]
        tags = {
            "category": [str(rng.choice(CATEGORIES, p=WEIGHTS))],
            "language": [language],
        }
        long = " " + sentence(rng, 90) if index % 50 == 0 else ""
        items.append(ItemView(f"q{index:04d}", question + long, tags, expected, returned, faults))
    return items


def score_of(item: ItemView, system: str, measure: str, value: float) -> tuple[float | None, str]:
    if measure == "Abstain":
        return None, "not_applicable"
    if system in item.faults:
        return None, "failed"
    if not item.returned[system]:
        return (None if measure == "Seconds" else 0.0), "missing"
    return value, "scored"


def score_frame(items: list[ItemView], table: dict[tuple[str, str], Floats]) -> pl.DataFrame:
    rows: list[tuple[object, ...]] = [
        (item.item_id, system, "{}", system, 0, measure, *score_of(item, system, measure, value))
        for (system, measure), values in table.items()
        for item, value in zip(items, values.tolist(), strict=True)
    ]
    schema: dict[str, pl.DataType | type[pl.DataType]] = {
        "item": pl.String,
        "system": pl.String,
        "factors": pl.String,
        "arm": pl.String,
        "seed": pl.Int64,
        "measure": pl.String,
        "value": pl.Float64,
        "status": pl.String,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def estimate_of(scores: pl.DataFrame, system: str, measure: str, where: dict[str, str]) -> Estimate:
    mine = scores.filter((pl.col("system") == system) & (pl.col("measure") == measure))
    asked = mine.filter(pl.col("status") != "not_applicable")
    values = asked["value"].drop_nulls().to_numpy()
    counts = dict(mine["status"].value_counts().iter_rows())
    counts.pop("scored", None)
    return Estimate(
        system, {}, measure, where, *interval(values), len(values), len(asked), "percentile", counts
    )


def compare(scores: pl.DataFrame, system: str, measure: str) -> Comparison:
    def of(name: str) -> pl.DataFrame:
        return scores.filter((pl.col("system") == name) & (pl.col("measure") == measure)).select(
            "item", "value"
        )

    both = of(system).join(of("bm25"), on="item", suffix="_b").drop_nulls()
    if not len(both):
        return Comparison(
            system, "bm25", {}, measure, {}, None, None, None, None, None, None, 0, 0, 0, 0,
            refused="no item has a score on both sides",
        )  # fmt: skip
    delta = (both["value"] - both["value_b"]).to_numpy()
    mean, low, high = interval(delta)
    gain = -delta if measure == "Seconds" else delta
    z = abs(float(delta.mean())) / (float(delta.std(ddof=1)) / np.sqrt(len(delta)))
    p = float(np.exp(-0.717 * z - 0.416 * z * z))
    return Comparison(
        system, "bm25", {}, measure, {}, mean, low, high, p, min(1.0, 2 * p), 0.1,
        int((gain > 0).sum()), int((gain == 0).sum()), int((gain < 0).sum()), len(delta),
        "Cliff's delta", "sign-flip permutation", "primary",
        float(2.8 * delta.std(ddof=1) / np.sqrt(len(delta))),
        shown=shown_direction(low, high, upward=measure != "Seconds") if 2 * p < 0.05 else "",
    )  # fmt: skip


def build_verdicts() -> list[Verdict]:
    return [
        Verdict(
            "quality",
            "go",
            [
                ClauseResult(
                    "nDCG@10(hybrid) >= nDCG@10(bm25) + 0.02", True, 0.0342, 0.0151, 0.0529, 495,
                    left=0.556, right=0.5218, mde=0.027, role="go",
                ),
                ClauseResult("R@10(hybrid) >= 0.55", True, 0.084, 0.064, 0.104, 500, left=0.634, right=0.55),
            ],
        ),
        Verdict(
            "latency",
            "no-go",
            [
                ClauseResult(
                    "Seconds(hybrid) > 2 * Seconds(bm25)", True, 0.0296, 0.0262, 0.0331, 495,
                    left=0.0684, right=0.0388, role="kill", reason="three times the baseline's time",
                )
            ],
        ),
        Verdict(
            "dense only",
            "inconclusive",
            [
                ClauseResult(
                    "nDCG@10(dense) >= nDCG@10(bm25) + 0.01 where language=de|ja", None, 0.0061, -0.0163,
                    0.0284, 121, reason="the interval includes a loss", left=0.5341, right=0.528, mde=0.032,
                    advice=Advice(220, "", 0.83, 0.06),
                ),
                ClauseResult(
                    "Success@3(dense) >= 0.60", False, -0.0421, -0.0857, 0.0016, 494, left=0.5579, right=0.6,
                ),
            ],
            reason="a clause is open",
        ),
    ]  # fmt: skip


FIXED = {"better", "verdict", "role"}  # words of our own, which no corpus or study can choose


def planted(results: Results, plant: str) -> Results:
    """The same results with a text appended to every string and key, so that names still match."""

    def grown(value: Any) -> Any:
        if isinstance(value, str):
            return value + plant
        if isinstance(value, list):
            return [grown(part) for part in value]
        if isinstance(value, dict):
            return {grown(key): grown(part) for key, part in value.items()}
        if isinstance(value, msgspec.Struct):
            fields = {name: getattr(value, name) for name in value.__struct_fields__}
            return type(value)(**{k: part if k in FIXED else grown(part) for k, part in fields.items()})
        return value

    fields = {one.name: getattr(results, one.name) for one in dataclasses.fields(results)}
    names = [pl.col(name) + plant for name in ("item", "system", "arm", "measure")]
    scores = results.scores.with_columns(names)
    kept = {"verdict": results.verdict, "scores": scores}
    return Results(**{**{key: grown(value) for key, value in fields.items()}, **kept})


def build_results(n: int = 500, plant: str = "") -> Results:
    """The whole of it. `plant` is appended to every name and every text in it."""
    rng = np.random.default_rng(20240711)
    items = build_items(rng, n)
    scores = score_frame(items, value_table(rng, n))
    estimates = [estimate_of(scores, system, m.name, {}) for m in MEASURES for system in SYSTEMS]
    for tag in ("category", "language"):
        for value in sorted({item.tags[tag][0] for item in items}):
            inside = [item.item_id for item in items if value in item.tags[tag]]
            part = scores.filter(pl.col("item").is_in(inside))
            estimates += [estimate_of(part, s, m.name, {tag: value}) for m in MEASURES[:4] for s in SYSTEMS]
    first = scores.filter(pl.col("measure") == "nDCG@10")
    counts = {
        s: dict(first.filter(pl.col("system") == s)["status"].value_counts().iter_rows()) for s in SYSTEMS
    }
    trust = TrustSummary(
        counts,
        ["dense failed on 6 of 500 items; their scores are imputed at both ends of the range"],
        {
            "study": "9f31c2d07ab4e5561d0f",
            "dataset": "support-kb 2024-06 · 4b1e77aa90c2",
            "assay": "0.1.0",
            "seed": "20240711",
            "resamples": "10,000",
            "finished": "2024-07-11 14:03 UTC",
        },
        {
            s: {"p50": p, "p95": p * 2.1, "p99": p * 3.4}
            for s, p in zip(SYSTEMS, (0.018, 0.047, 0.063), strict=True)
        },
        {"dense": 0.42, "hybrid": 0.42},
    )
    comparisons = [compare(scores, s, m.name) for m in MEASURES for s in ("dense", "hybrid")]
    made = Results(
        study="support search",
        kind="search",
        systems=SYSTEMS,
        arms=SYSTEMS,
        baseline="bm25",
        measures=MEASURES,
        by=["category", "language"],
        scores=scores,
        estimates=estimates,
        comparisons=comparisons,
        verdicts=build_verdicts(),
        verdict="no-go",
        trust=trust,
        items=items,
        report="runs/latest/report.html",
    )
    return planted(made, plant) if plant else made


MARKS: dict[str, list[str | None]] = {
    "bm25": ["KEYWORD_MATCH", "KEYWORD_MATCH", "FALSE_POSITIVE", None],
    "dense": ["SEMANTIC_MATCH", "SEMANTIC_MATCH", "SEMANTIC_MATCH", "FALSE_POSITIVE"],
    "hybrid": ["KEYWORD_MATCH", "SEMANTIC_MATCH", "FALSE_POSITIVE", "FALSE_POSITIVE"],
}


def with_review(results: Results, plant: str = "") -> Results:
    """The same results half way through a review of the first two items, four results deep.

    The first item is judged for every system; of the second, one result of bm25 is open.
    """

    def marked(item: ItemView, place: int) -> ItemView:
        returned = {}
        for system, marks in MARKS.items():
            judged = [mark or ("FALSE_POSITIVE" if place == 0 else None) for mark in marks]
            hits = item.returned[system]
            returned[system] = [
                msgspec.structs.replace(hit, mark=mark, reason=f"signals: roster{plant}" if mark else "")
                for hit, mark in zip(hits[:4], judged, strict=True)
            ] + hits[4:]
        return msgspec.structs.replace(item, returned=returned, tags={**item.tags, "review": ["yes"]})

    names = ("SemanticPrecision@4", "SemanticLift@4", "FalsePositiveRate@4")
    # Of four results: precision bm25 2, dense 3, hybrid 2; lift 0, 3, 1; wrong 2, 1, 2.
    rates = {"bm25": (0.5, 0.0, 0.5), "dense": (0.75, 0.75, 0.25), "hybrid": (0.5, 0.25, 0.5)}
    review = ReviewSummary(
        4,
        2,
        [results.items[0].item_id],
        {"bm25": 1, "dense": 2, "hybrid": 2},
        9,
        1,
        [
            Estimate(s, {}, name, {}, rates[s][at], 0.0, 1.0, 1, 1)
            for at, name in enumerate(names)
            for s in SYSTEMS
        ],
        [
            Comparison(
                "dense", "bm25", {}, name, {}, rates["dense"][at] - rates["bm25"][at], -1.0, 1.0, 1.0, 1.0,
                None, 1, 0, 0, 1, p_wilcoxon=0.5,
            )
            for at, name in enumerate(names)
        ],
        # bm25's one open result of eight may be anything: its lift lies between 0 and 1 / 8.
        {
            name: {s: (rates[s][at], rates[s][at] + (s == "bm25") / 8) for s in SYSTEMS}
            for at, name in enumerate(names)
        },
        ["go", "no-go"],
        f"the verdict can still be go or no-go: 1 passage to judge{plant}",
    )  # fmt: skip
    return dataclasses.replace(
        results,
        items=[marked(item, place) for place, item in enumerate(results.items[:2])] + results.items[2:],
        review=review,
        recommendation=f"review first{plant}",
    )


def bare_results() -> Results:
    """What a study without gates, slices, baseline and items leaves to show."""
    full = build_results(n=12)
    return dataclasses.replace(
        full,
        baseline=None,
        by=[],
        estimates=[one for one in full.estimates if not one.where],
        comparisons=[],
        verdicts=[],
        verdict=None,
        items=[],
        report=None,
    )
