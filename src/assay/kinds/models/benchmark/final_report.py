"""The report of a benchmark as Markdown. The recommendation comes first, then its evidence."""

from __future__ import annotations

from collections.abc import Sequence

from assay.core.records import Comparison, Estimate
from assay.core.results import ReviewSummary
from assay.kinds.models.benchmark.columns import RATES, MeasureColumn
from assay.kinds.models.benchmark.results import ALL, BenchmarkResults, Where, rate_names
from assay.kinds.models.benchmark.tables import (
    CATEGORY,
    DIFFICULTY,
    QUANTILES,
    quantiles,
    rate_bounds,
    readings_of,
    relevance_columns,
)
from assay.measures.marks import REVIEW
from assay.report import verdicts
from assay.report import wording as say
from assay.report.markdown import code, escaped, table
from assay.report.verdicts import verdict_words

SHOWN_IDS = 12
HOW_TO_READ = """\
- Every mean has its 95 % interval and the number of queries that it is over. `n/a` means that nothing was
  measured, never zero.
- A difference is the first model minus the second, on the same queries. It is demonstrated if the interval
  excludes 0 even when it is widened for all differences of its family, or if a gate decided so. Otherwise
  the table gives the smallest difference that so many queries would reveal.
- Wins, ties and losses count queries. The Wilcoxon test assumes symmetric differences; the interval does not.
- Slices hold few queries, and there are many slices: some look clear by chance. Decide on the totals.
- Automated values count what rules recognise as relevant. If people have to judge a query, its values are a
  lower bound, marked ≥, as long as people reject none of the rules' matches. Recall and nDCG have no mark:
  more relevant passages also raise what there is to find.
- Human-adjusted values use people's marks on the queries that need them. Mixed values use them there, and
  the rules elsewhere. A passage without a mark counts as the rules have it."""


def final_report(benchmark: BenchmarkResults) -> bytes:
    """Returns the whole report, as UTF-8."""
    blocks = [
        f"# {escaped(benchmark.results.study)}: final benchmark report",
        *_answer(benchmark),
        *_totals(benchmark),
        *_differences(benchmark),
        *_slices(benchmark, CATEGORY),
        *_slices(benchmark, DIFFICULTY),
        *_review(benchmark),
        *_latency(benchmark),
        *_negatives(benchmark),
        "## How to read this",
        HOW_TO_READ,
        *_provenance(benchmark),
    ]
    return ("\n\n".join(block for block in blocks if block) + "\n").encode()


def estimate_words(one: Estimate | None, *, at_least: bool = False) -> str:
    """Returns a mean with its interval and n. With `at_least`, it is marked as a lower bound."""
    if one is None or one.value is None:
        return say.NOTHING
    mark = say.AT_LEAST if at_least else ""
    return f"{mark}{say.with_interval(one.value, one.low, one.high)}, n = {say.sample_size(one)}"


def _bullets(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _answer(benchmark: BenchmarkResults) -> list[str]:
    results = benchmark.results
    blocks = [f"**Recommendation: {escaped(benchmark.recommendation)}**"]
    if results.recommendation is not None and results.verdict is not None:
        blocks.append(f"Verdict: {say.TITLES[results.verdict]}. These are its clauses.")
    if results.review is not None and results.review.partial:
        blocks.append(
            f"The human review is not finished: {len(results.review.complete)} of "
            f"{_queries(results.review.items)} judged for every model."
        )
    for verdict in verdicts.gates_in_order(results):
        words = verdict_words(verdict)
        lines = [
            f"{code(each.text)}: {each.state}; {escaped(each.sentence)}"
            + (f" ({escaped(each.why)})" if each.why else "")
            for each in words.clauses
        ]
        blocks += [f"### {escaped(verdict.gate)}: {words.title}", escaped(verdict.about)]
        blocks.append(_bullets(lines))
    return blocks


def _totals(benchmark: BenchmarkResults) -> list[str]:
    bound = benchmark.is_lower_bound(ALL)
    header = ["measure", "model", "automated"]
    header += ["automated, review queries", "human-adjusted, review queries", "mixed"] if bound else []
    found = {model: readings_of(benchmark, model) for model in benchmark.models}
    rows = []
    for column in relevance_columns(benchmark):
        for model in benchmark.models:
            total = found[model][column]
            mark = bound and column.only_rises
            cells = [estimate_words(total.automated, at_least=mark)]
            if bound:
                cells.append(estimate_words(total.automated_where_reviewed, at_least=mark))
                cells += [estimate_words(total.human_adjusted), estimate_words(total.mixed)]
            rows.append((_title(column), escaped(model), *cells))
    if not rows:
        return []
    review = benchmark.results.review
    note = "Human-adjusted and mixed values are partial: the review is not finished."
    unfinished = note if bound and review is not None and review.partial else ""
    return ["## Totals", _bound_note(benchmark, ALL), unfinished, table(header, rows, texts=2)]


def _bound_note(benchmark: BenchmarkResults, where: Where) -> str:
    wanting = sum("yes" in item.tags.get(REVIEW, []) for item in benchmark.inside(where))
    if not wanting:
        return ""
    return f"People have to judge {_queries(wanting)}: automated values marked ≥ are a lower bound."


def _queries(count: int) -> str:
    return "1 query" if count == 1 else f"{count} queries"


def _title(column: MeasureColumn) -> str:
    return f"{code(column.name)} ({escaped(column.measure)})"


def _differences(benchmark: BenchmarkResults) -> list[str]:
    names = {column.name: _title(column) for column in benchmark.columns}
    names |= {rate: f"{code(rate)} (human review)" for rate in RATES}
    rows = [
        (title, escaped(f"{a} - {b}"), *_compared(one))
        for name, title in names.items()
        for a, b in benchmark.pairs
        if (one := benchmark.comparison((a, b), name)) is not None
    ]
    if not rows:
        return []
    header = (
        "measure",
        "difference of",
        "note",
        "difference [95 %]",
        "win / tie / loss",
        "n",
        "p Wilcoxon",
        "p",
        "p adjusted",
        "effect size",
        "detectable",
    )
    tests = sorted({one.test for found in benchmark.compared.values() for one in found.values() if one.test})
    note = f"p is of the {escaped(' or '.join(tests))} test, which fits the measure." if tests else ""
    return ["## Differences", note, table(header, rows, texts=3)]


def _compared(one: Comparison) -> Sequence[str]:
    effect = say.number(one.effect, signed=True)
    return (
        escaped(f"refused: {one.refused}")
        if one.refused
        else "demonstrated"
        if say.is_shown(one)
        else "not demonstrated",
        say.with_interval(one.difference, one.low, one.high, signed=True),
        say.win_tie_loss(one),
        str(one.n),
        say.p_value(one.p_wilcoxon),
        say.p_value(one.p),
        say.p_value(one.p_adjusted),
        f"{effect} ({escaped(one.effect_name)})" if one.effect is not None and one.effect_name else effect,
        say.number(one.mde),
    )


def _slices(benchmark: BenchmarkResults, tag: str) -> list[str]:
    values = benchmark.slices(tag)
    columns = [
        column
        for column in relevance_columns(benchmark)
        if any(estimate_words(benchmark.estimate(model, column)) != say.NOTHING for model in benchmark.models)
    ]
    if not columns or not values:
        return []
    rows = []
    for value in values:
        where = {tag: value}
        bound = benchmark.is_lower_bound(where)
        title = f"{escaped(value)} ({len(benchmark.inside(where))})" + (", lower bound" if bound else "")
        for model in benchmark.models:
            cells = (
                estimate_words(benchmark.estimate(model, column, where), at_least=bound and column.only_rises)
                for column in columns
            )
            rows.append((title, escaped(model), *cells))
    header = (f"{tag} (queries)", "model", *(code(column.name) for column in columns))
    note = "Automated values, by rules only."
    return [f"## By {tag}", note, table(header, rows, texts=2)]


def _review(benchmark: BenchmarkResults) -> list[str]:
    review = benchmark.results.review
    if review is None:
        wanting = _bound_note(benchmark, ALL)
        return ["## Human review", f"No person has judged anything yet. {wanting}"] if wanting else []
    state = "partial" if review.partial else "complete"
    every = len(review.complete)
    told = (
        f"The review is **{state}**: {every} of {_queries(review.items)} judged for every model, "
        f"{say.quantity(review.depth, 'result')} deep. "
        f"People judged {say.quantity(review.marked, 'passage')}; "
        f"{review.open} open. Rates are over {_queries(every)}, the same for every model. "
        f"Bounds are over all {review.items}, whatever the open judgments turn out to be."
    )
    header = ("rate", "model", "mean [95 %]", "bounds", "queries judged for this model")
    return [
        "## Human review",
        told,
        escaped(review.outlook),
        table(header, _rate_rows(benchmark, review), texts=2),
    ]


def _rate_rows(benchmark: BenchmarkResults, review: ReviewSummary) -> list[Sequence[str]]:
    names = rate_names(list(dict.fromkeys([*RATES, *(rate for _, rate in benchmark.rates)])))
    return [
        (
            code(rate),
            escaped(model),
            estimate_words(benchmark.rates.get((model, rate))),
            say.interval(*bounds) if (bounds := rate_bounds(review, model).get(rate)) else say.NOTHING,
            f"{review.complete_by_arm.get(model, 0)}/{review.items}",
        )
        for rate in names
        for model in benchmark.models
    ]


def _latency(benchmark: BenchmarkResults) -> list[str]:
    means = {column.name: column for column in benchmark.columns if column.stage is not None}
    rows = []
    for model in benchmark.models:
        known = quantiles(benchmark, model)
        for name in dict.fromkeys([*means, "total_latency_ms"]):
            mean = benchmark.estimate(model, means[name]) if name in means else None
            shares = [known.get(f"{quantile}_{name}") for quantile in QUANTILES]
            if (mean is not None and mean.value is not None) or any(share is not None for share in shares):
                stage = escaped(name.removesuffix("_latency_ms"))
                rows.append((escaped(model), stage, estimate_words(mean), *map(say.number, shares)))
    if not rows:
        return []
    return ["## Latency (ms)", table(("model", "stage", "mean [95 %]", *QUANTILES), rows, texts=2)]


def _negatives(benchmark: BenchmarkResults) -> list[str]:
    if not (ids := benchmark.negatives):
        return []
    more = f" and {len(ids) - SHOWN_IDS} more" if len(ids) > SHOWN_IDS else ""
    told = f"The right answer to these is not to answer: {escaped(', '.join(ids[:SHOWN_IDS]))}{more}."
    rows = [
        (_title(column), escaped(model), estimate_words(benchmark.estimate(model, column)))
        for column in benchmark.about_negatives
        for model in benchmark.models
    ]
    shown = table(("measure", "model", "mean [95 %]"), rows, texts=2) if rows else "Nothing measures them."
    return ["## Negative queries", told, shown]


def _provenance(benchmark: BenchmarkResults) -> list[str]:
    trust = benchmark.results.trust
    facts = [(escaped(key), code(value)) for key, value in trust.provenance.items()]
    if benchmark.timestamp is not None:
        facts.append(("answers stored", code(benchmark.timestamp)))
    if not facts and not trust.warnings:
        return []
    warnings = _bullets([f"Warning: {escaped(warning)}" for warning in trust.warnings])
    return ["## Provenance", warnings, table(("provenance", ""), facts, texts=2) if facts else ""]
