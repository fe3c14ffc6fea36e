"""A study whose responses people scored blind: two conditions, two models, 37 sites, made from a seed."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.core.records import ClauseResult, Estimate, Verdict
from assay.core.results import ExpectedTarget, ItemView, MeasureInfo, Results, TrustSummary
from assay.kinds.answers.report.scoring_section import scoring_section
from assay.kinds.answers.results import (
    ClaimOverlap,
    ConditionTest,
    Correlation,
    RaterAgreement,
    ScoringResults,
    SiteTokens,
    SuggestionUptake,
    TokenChange,
)
from assay.kinds.answers.scoring.agreement import LINEAR
from assay.report.html import HtmlReport
from assay.stats.families import shown_direction as shown_by

MODELS = ["small-8b", "large-70b"]
LEVELS = ["single-fact", "multi-section-synthesis", "conceptual-relationship"]
SITES = [f"S{number:03d}" for number in range(1, 38)]
SCALES = {"accuracy": 0.12, "hallucinations": -0.1, "completeness": 0.05, "citation": 0.03}
MEASURES = [
    MeasureInfo("Accuracy", "higher", 0, 3, about="Factual accuracy against the gold answer."),
    MeasureInfo("Hallucinations", "lower", 0, None, about="Claims that the source does not support."),
]


def outcome(
    metric: str, family: str, where: dict[str, str], shift: float, n: int, **more: Any
) -> ConditionTest:
    """A test whose interval is as wide as n pairs leave it."""
    unit = 900.0 if metric == "tokens" else 1.0
    half = 1.4 * unit / float(np.sqrt(n))
    settled = abs(shift) > half
    decided = shown_by(shift - half, shift + half, upward=metric not in {"hallucinations", "tokens"})
    wins = int(n * min(0.3 + abs(shift) / unit / 4, 0.6))
    binary = metric == "completeness"
    return ConditionTest(
        metric, family, where, n, n // 2, 2.0 * unit, 2.0 * unit + shift, shift, shift - half, shift + half,
        "McNemar, by question" if binary else "Wilcoxon, by question",
        0.0004 if settled else 0.21, 0.001 if settled else 0.34,
        "odds ratio" if binary else "Cliff's delta", 1.4 if binary else shift / unit / 2,
        0.9 if binary else shift / unit / 2 - 0.08, 2.1 if binary else shift / unit / 2 + 0.08,
        "" if binary else "small", wins, n - wins - wins // 2, wins // 2,
        mde=None if settled else 2 * half, shown=decided, **more,
    )  # fmt: skip


def all_tests() -> list[ConditionTest]:
    tests = [outcome(name, "primary", {}, SCALES[name], 572) for name in ("accuracy", "hallucinations")]
    tests.append(outcome("tokens", "primary", {}, -1430.0, 572))
    tests.append(outcome("completeness", "secondary", {}, SCALES["completeness"], 572))
    tests.append(outcome("citation", "secondary", {}, SCALES["citation"], 188, left_out=384))
    for name in ("accuracy", "hallucinations"):
        for level, factor, n in zip(LEVELS, (0.2, 2.0, 1.1), (268, 184, 120), strict=True):
            tests.append(outcome(name, "complexity", {"complexity": level}, SCALES[name] * factor, n))
        for size, factor in (("small", 1.8), ("large", 0.2)):
            tests.append(outcome(name, "size", {"size": size}, SCALES[name] * factor, 286))
        tests.append(outcome(name, "site", {}, SCALES[name], 74))
    return tests


def site_rows(rng: np.random.Generator, tokenizer: str, by: float) -> list[SiteTokens]:
    rows = []
    for site in SITES:
        a = float(rng.integers(1500, 9000))
        change = float(np.clip(rng.normal(-38 + by, 24), -85, 60))
        b = a * (1 + change / 100)
        moved = float(rng.normal(0.12, 0.3))
        rows.append(SiteTokens(site, tokenizer, 4, a, b, a * 0.9, b * 0.92, b - a, change, moved))
    return rows


def points(rng: np.random.Generator) -> list[TokenChange]:
    steps: NDArray[np.int64] = rng.choice([-2, -1, 0, 1, 2, 3], 572, p=[0.03, 0.12, 0.55, 0.2, 0.08, 0.02])
    return [
        TokenChange(
            f"{SITES[at % 37]}-Q{at // 74:02d}", MODELS[at % 2], float(rng.normal(-1400, 1500)), float(step)
        )
        for at, step in enumerate(steps)
    ]


def scoring_of(state: str = "unblinded") -> ScoringResults:
    rng = np.random.default_rng(7)
    steps = {"accuracy": (1144, 1144), "hallucination": (1144, 1144), "completeness": (1144, 1144)}
    return ScoringResults(
        state,
        "A",
        "B",
        "anna",
        ["ben"],
        1144,
        {"anna": {**steps, "citation": (1144, 1144)}, "ben": dict.fromkeys([*steps, "citation"], (172, 172))},
        agreement=[
            RaterAgreement("accuracy", LINEAR, ("anna", "ben"), 172, 0.78, 0.71, 0.84, 0.81, 0.6),
            RaterAgreement("citation", LINEAR, ("anna", "ben"), 57, 0.66, 0.49, 0.8, 0.79, 0.6),
            RaterAgreement("completeness", "kappa", ("anna", "ben"), 172, 0.52, 0.34, 0.68, 0.9, 0.6),
            RaterAgreement("hallucinations", "Spearman's rho", ("anna", "ben"), 172, 0.71, 0.6, 0.8, 0.83),
            RaterAgreement(
                "hallucination_category", "kappa", ("anna", "ben"), 31, note="only one category occurs"
            ),
        ],
        matched=[
            ClaimOverlap(
                ("anna", "ben"), 31, 7, 4, {"H-FAB": {"H-FAB": 18, "H-EXT": 3}, "H-SRC": {"H-SRC": 10}}
            )
        ],
        suggestions=[SuggestionUptake("completeness", "rules", 1144, 0.91, 0.62, 40)],
        tests=all_tests(),
        categories={
            "A": {"H-FAB": 61, "H-SRC": 20, "H-EXT": 33, "H-TMP": 4},
            "B": {"H-FAB": 38, "H-SRC": 24, "H-EXT": 21, "H-TMP": 3},
        },
        sites=[*site_rows(rng, "llama3", 0.0), *site_rows(rng, "cl100k", 4.0)],
        points=points(rng),
        correlations=[Correlation("Spearman's rho", 0.06, -0.03, 0.15, 572)],
        by_model={"small-8b": 0.216, "large-70b": 0.024},
        masked={"llms.txt": 12, "file ending": 31},
        excluded={"A": 2, "B": 3},
        acts=[
            "2026-03-01 09:00 blinded by kim: 1144 responses",
            "2026-03-09 17:20 unblinded by kim: every pass complete",
        ],
    )  # fmt: skip


def blinded_of(scoring: ScoringResults, done: int = 400) -> ScoringResults:
    """The same half way: nothing that needs a condition."""
    progress = {"anna": {"accuracy": (done, 1144), "hallucination": (0, 1144)}, "ben": {"accuracy": (0, 172)}}
    return ScoringResults(
        *("blinded", "A", "B", "anna"),
        others=["ben"],
        responses=scoring.responses,
        progress=progress,
        masked=scoring.masked,
        acts=["2026-03-01 09:00 blinded by kim: 1144 responses"],
    )


def scored_results(scoring: ScoringResults | None = None) -> Results:
    arms = [f"{name}[model={model}]" for name in "AB" for model in MODELS]
    rows = [
        (
            f"q{item}",
            arm[0],
            f'{{"model":"{arm[8:-1]}"}}',
            arm,
            0,
            "Accuracy",
            float((item + at) % 4),
            "scored",
        )
        for item in range(12)
        for at, arm in enumerate(arms)
    ]
    columns = ["item", "system", "factors", "arm", "seed", "measure", "value", "status"]
    estimates = [
        Estimate(
            arm[0], {"model": arm[8:-1]}, measure.name, {}, 1.9 + at / 9, 1.8 + at / 9, 2.0 + at / 9, 286, 286
        )
        for measure in MEASURES
        for at, arm in enumerate(arms)
    ]
    clause = ClauseResult("Accuracy(B) >= Accuracy(A)", True, 0.12, 0.06, 0.18, 572, left=2.12, right=2.0)
    return Results(
        study="formats", kind="answers", systems=["A", "B"], arms=arms, baseline="A", measures=MEASURES,
        by=[], scores=pl.DataFrame(rows, schema=columns, orient="row"), estimates=estimates, comparisons=[],
        verdicts=[Verdict("effect", "go", [clause])], verdict="go",
        trust=TrustSummary({arm: {"scored": 286} for arm in arms}, [], {"seed": "0"}),
        items=[ItemView(f"q{item}", f"What does section {item} say?", {}, [ExpectedTarget("p", 1.0)], {})
               for item in range(12)],
        sections=[scoring_section(scoring_of() if scoring is None else scoring)],
    )  # fmt: skip


def planted_scoring(plant: str) -> ScoringResults:
    """Every text that somebody else chooses with a plant in it."""
    full = scoring_of()
    return ScoringResults(
        "forced", f"A{plant}", f"B{plant}", f"anna{plant}", [f"ben{plant}"], 4,
        {f"anna{plant}": {f"accuracy{plant}": (1, 4)}},
        agreement=[RaterAgreement(f"m{plant}", f"s{plant}", (f"a{plant}", f"b{plant}"), 3, note=plant)],
        matched=[ClaimOverlap((f"a{plant}", f"b{plant}"), 1, 0, 0, {plant: {plant: 1}})],
        suggestions=[SuggestionUptake(plant, plant, 1, None, None, 0)],
        tests=[planted_test(full.tests[0], plant)],
        categories={f"A{plant}": {plant: 1}, f"B{plant}": {plant: 2}},
        sites=[SiteTokens(plant, plant, 1, 2, 1, 2, 1, -1, -50.0)],
        points=[TokenChange(plant, plant, -1.0, 1.0)],
        correlations=[Correlation(plant, 0.5, 0.1, 0.7, 9), Correlation(plant, None, None, None, 0)],
        by_model={plant: 0.1, f"x{plant}": -0.1}, masked={plant: 1}, excluded={plant: 1}, acts=[plant],
        cautions=[plant],
    )  # fmt: skip


def planted_test(one: ConditionTest, plant: str) -> ConditionTest:
    return msgspec.structs.replace(
        one, metric=plant, family=plant, where={plant: plant}, test=plant, effect_name=plant, size=plant
    )


def section(scoring: ScoringResults | None = None) -> str:
    """The part of the page that is about scoring, by itself."""
    page = HtmlReport().render(scored_results(scoring)).decode()
    return page.partition('<section id="scoring"')[2].partition(">")[2].partition("</section>")[0]
