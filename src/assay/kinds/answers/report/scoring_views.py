"""A blinded scoring as the page shows it: tables with the pictures that stand in them."""

from __future__ import annotations

import statistics
from typing import Any

from markupsafe import Markup

from assay.core.results import GO, INCONCLUSIVE, NO_GO, Results
from assay.kinds.answers.report import scoring as told
from assay.kinds.answers.report.scoring_figures import (
    count_bars,
    drawn_points,
    model_styles,
    scatter,
    site_bar,
    strip,
)
from assay.kinds.answers.report.scoring_metrics import metric_of
from assay.kinds.answers.results import Agreed, Scoring, SiteTokens, Tested
from assay.report import svg

_OUTCOMES = {True: GO, False: NO_GO, None: INCONCLUSIVE}
_WAYS = ((-1, "fewer tokens"), (0, "as many"), (1, "more tokens"))
_CHANGES = ((1, "better"), (0, "the same"), (-1, "worse"))


def scoring_view(results: Results) -> dict[str, Any] | None:
    """Everything that the section shows; None where nobody scores blinded responses."""
    scoring = results.scoring
    if scoring is None:
        return None
    style = svg.style_of(results, scoring.b)
    return {
        "told": told,
        "found": scoring,
        "lines": told.state_lines(scoring),
        "forced": scoring.state == told.FORCED,
        "passes": list(dict.fromkeys(step for passes in scoring.progress.values() for step in passes)),
        "complete": _complete(scoring),
        "agreement": [_agreed(one) for one in scoring.agreement],
        "metrics": _metrics(scoring, style),
        "families": told.families(scoring),
        "scatter": _scatter(scoring),
        "sites": _sites(scoring, style),
        "categories": _categories(results, scoring),
    }


def _complete(scoring: Scoring) -> bool:
    done, of = told.made_and_all(scoring)
    return done == of and of > 0


def _agreed(one: Agreed) -> dict[str, Any]:
    """One figure of agreement beside its threshold, the side that is enough shaded."""
    plot = Markup()
    if one.value is not None and one.threshold is not None:
        low, high = (None if end is None else end - one.threshold for end in (one.low, one.high))
        plot = svg.margin((one.value - one.threshold, low, high), True, _OUTCOMES[one.holds])
    asked = one.threshold is not None
    return {"one": one, "plot": plot, "outcome": _OUTCOMES[one.holds] if asked else None}


def _metrics(scoring: Scoring, style: str) -> list[dict[str, Any]]:
    """A picture a metric: its difference over all and in every part, on one axis through zero."""
    grouped: dict[str, list[Tested]] = {}
    for tests in told.families(scoring).values():
        for one in (one for one in tests if told.BETWEEN not in one.where):
            grouped.setdefault(one.metric, []).append(one)
    return [_metric(scoring, tests, style) for tests in grouped.values()]


def _metric(scoring: Scoring, tests: list[Tested], style: str) -> dict[str, Any]:
    axis = svg.axis_over((end for one in tests for end in (one.difference, one.low, one.high)), zero=True)
    rows = [
        {
            "one": one,
            "plot": svg.whisker(axis, (one.difference, one.low, one.high), style, told.subgroup(one))
            if axis is not None and one.difference is not None
            else "",
        }
        for one in tests
    ]
    return {
        "metric": metric_of(tests[0].metric),
        "answer": told.finding(tests[0], scoring.a, scoring.b),
        "scale": svg.scale(axis) if axis is not None else "",
        "rows": rows,
    }


def _scatter(scoring: Scoring) -> dict[str, Any] | None:
    """Tokens against accuracy, and the same counted: fewer, as many, more by better, the same, worse."""
    points = scoring.points
    if not points:
        return None
    styles = model_styles(list(dict.fromkeys(point.model for point in points)))
    counts: dict[tuple[int, int], int] = {}
    for point in points:
        ways = _sign(point.accuracy), _sign(point.tokens)
        counts[ways] = counts.get(ways, 0) + 1
    rows = [(word, [counts.get((change, way), 0) for way, _ in _WAYS]) for change, word in _CHANGES]
    return {
        "answer": told.correlation_answer(scoring.correlations),
        "picture": scatter(points, styles),
        "styles": styles,
        "ways": [word for _, word in _WAYS],
        "rows": rows,
        "all": len(points),
        "drawn": len(drawn_points(points)),
    }


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


def _sites(scoring: Scoring, style: str) -> list[dict[str, Any]]:
    """By tokenizer: how the sites' changes spread, and every site with its bar, the largest saving first."""
    by_tokenizer: dict[str, list[SiteTokens]] = {}
    for site in scoring.sites:
        by_tokenizer.setdefault(site.tokenizer, []).append(site)
    views = []
    for tokenizer, sites in by_tokenizer.items():
        ordered = sorted(sites, key=lambda one: (one.delta_pct, one.site_id))
        axis = svg.axis_over((one.delta_pct for one in ordered), zero=True) or svg.Axis(-1, 1)
        median = statistics.median(one.delta_pct for one in ordered)
        views.append(
            {
                "tokenizer": tokenizer,
                "answer": told.sites_answer(ordered, scoring.b),
                "picture": strip(ordered, style, median),
                "scale": svg.scale(axis),
                "rows": [{"site": one, "plot": site_bar(one, axis, style)} for one in ordered],
            }
        )
    return views


def _categories(results: Results, scoring: Scoring) -> dict[str, Any] | None:
    """Hallucinations by category and condition, a bar each."""
    if not scoring.categories:
        return None
    names = [name for name in (scoring.a, scoring.b) if name in scoring.categories]
    styles = {name: svg.style_of(results, name) for name in names}
    codes = [*told.CATEGORIES, *dict.fromkeys(code for each in scoring.categories.values() for code in each)]
    counts = {
        code: [scoring.categories[name].get(code, 0) for name in names] for code in dict.fromkeys(codes)
    }
    most = max(map(max, counts.values()), default=0)
    rows = [
        {
            "code": code,
            "counts": each,
            "plot": count_bars([(name, n, styles[name]) for name, n in zip(names, each, strict=True)], most),
        }
        for code, each in counts.items()
    ]
    return {
        "answer": told.categories_answer(scoring.categories),
        "names": names,
        "styles": styles,
        "rows": rows,
    }
