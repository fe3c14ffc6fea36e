"""The report of a benchmark as Markdown: what to do first, then what it rests on."""

from __future__ import annotations

from collections.abc import Sequence

from assay.core.records import Comparison, Estimate
from assay.core.results import ReviewSummary
from assay.kinds.models.benchmark.columns import RATES, MeasureColumn
from assay.kinds.models.benchmark.figures import ALL, BenchmarkResults, Where, rate_names
from assay.kinds.models.benchmark.tables import (
    CATEGORY,
    DIFFICULTY,
    QUANTILES,
    quantiles,
    rate_bounds,
    readings_of,
    relevance_columns,
)
from assay.measures.semantic import REVIEW
from assay.report import verdicts
from assay.report import wording as say
from assay.report.markdown import code, escaped, table
from assay.report.verdicts import verdict_words

SHOWN_IDS = 12
HOW_TO_READ = """\
- Every mean stands with its 95 % interval and the number of queries behind it. `n/a` means that nothing was
  measured, never zero.
- A difference is the first model less the second, on the same queries. It is demonstrated where the interval
  still leaves 0 out when it is widened for all differences of its family, or as a gate decided it. Otherwise
  the table gives the smallest difference that so many queries would reveal.
- Wins, ties and losses count queries. The Wilcoxon test assumes symmetric differences; the interval does not.
- Slices hold few queries, and there are many slices: some look clear by chance. Decide on the totals.
- Automated figures count what rules recognise as relevant. Where a query needs a person's eye they are a
  lower bound, marked ≥, as long as people reject none of the rules' matches. Recall and nDCG carry no mark:
  more relevant passages also raise what there is to find.
- Human-adjusted figures use people's marks on the queries that need them. Mixed figures use them there, and
  the rules elsewhere. A passage that nobody has marked counts as the rules have it."""


def final_report(figures: BenchmarkResults) -> bytes:
    """The whole report, as UTF-8."""
    blocks = [
        f"# {escaped(figures.results.study)}: final benchmark report",
        *_answer(figures),
        *_totals(figures),
        *_differences(figures),
        *_slices(figures, CATEGORY),
        *_slices(figures, DIFFICULTY),
        *_review(figures),
        *_latency(figures),
        *_negatives(figures),
        "## How to read this",
        HOW_TO_READ,
        *_provenance(figures),
    ]
    return ("\n\n".join(block for block in blocks if block) + "\n").encode()


def estimate_words(one: Estimate | None, *, at_least: bool = False) -> str:
    """A mean with its interval and n, marked where it is a lower bound."""
    if one is None or one.value is None:
        return say.NOTHING
    mark = say.AT_LEAST if at_least else ""
    return f"{mark}{say.with_interval(one.value, one.low, one.high)}, n = {say.sample_size(one)}"


def _bullets(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _answer(figures: BenchmarkResults) -> list[str]:
    results = figures.results
    blocks = [f"**Recommendation: {escaped(figures.recommendation)}**"]
    if results.recommendation is not None and results.verdict is not None:
        blocks.append(f"Verdict: {say.TITLES[results.verdict]}. It rests on these clauses.")
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


def _totals(figures: BenchmarkResults) -> list[str]:
    bound = figures.is_lower_bound(ALL)
    header = ["measure", "model", "automated"]
    header += ["automated, review queries", "human-adjusted, review queries", "mixed"] if bound else []
    found = {model: readings_of(figures, model) for model in figures.models}
    rows = []
    for column in relevance_columns(figures):
        for model in figures.models:
            total = found[model][column]
            mark = bound and column.only_rises
            cells = [estimate_words(total.automated, at_least=mark)]
            if bound:
                cells.append(estimate_words(total.automated_where_reviewed, at_least=mark))
                cells += [estimate_words(total.human_adjusted), estimate_words(total.mixed)]
            rows.append((_title(column), escaped(model), *cells))
    if not rows:
        return []
    review = figures.results.review
    note = "Human-adjusted and mixed figures are partial: the review is not finished."
    unfinished = note if bound and review is not None and review.partial else ""
    return ["## Totals", _bound_note(figures, ALL), unfinished, table(header, rows, texts=2)]


def _bound_note(figures: BenchmarkResults, where: Where) -> str:
    wanting = sum("yes" in item.tags.get(REVIEW, []) for item in figures.inside(where))
    if not wanting:
        return ""
    need = "needs" if wanting == 1 else "need"
    return f"{_queries(wanting)} {need} a person's eye: automated figures marked ≥ are a lower bound."


def _queries(count: int) -> str:
    return "1 query" if count == 1 else f"{count} queries"


def _title(column: MeasureColumn) -> str:
    return f"{code(column.name)} ({escaped(column.measure)})"


def _differences(figures: BenchmarkResults) -> list[str]:
    names = {column.name: _title(column) for column in figures.columns}
    names |= {rate: f"{code(rate)} (human review)" for rate in RATES}
    rows = [
        (title, escaped(f"{a} - {b}"), *_compared(one))
        for name, title in names.items()
        for a, b in figures.pairs
        if (one := figures.comparison((a, b), name)) is not None
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
    tests = sorted({one.test for found in figures.compared.values() for one in found.values() if one.test})
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


def _slices(figures: BenchmarkResults, tag: str) -> list[str]:
    values = figures.slices(tag)
    columns = [
        column
        for column in relevance_columns(figures)
        if any(estimate_words(figures.estimate(model, column)) != say.NOTHING for model in figures.models)
    ]
    if not columns or not values:
        return []
    rows = []
    for value in values:
        where = {tag: value}
        bound = figures.is_lower_bound(where)
        title = f"{escaped(value)} ({len(figures.inside(where))})" + (", lower bound" if bound else "")
        for model in figures.models:
            cells = (
                estimate_words(figures.estimate(model, column, where), at_least=bound and column.only_rises)
                for column in columns
            )
            rows.append((title, escaped(model), *cells))
    header = (f"{tag} (queries)", "model", *(code(column.name) for column in columns))
    note = "Automated figures, by rule alone."
    return [f"## By {tag}", note, table(header, rows, texts=2)]


def _review(figures: BenchmarkResults) -> list[str]:
    review = figures.results.review
    if review is None:
        wanting = _bound_note(figures, ALL)
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
        table(header, _rate_rows(figures, review), texts=2),
    ]


def _rate_rows(figures: BenchmarkResults, review: ReviewSummary) -> list[Sequence[str]]:
    names = rate_names(list(dict.fromkeys([*RATES, *(rate for _, rate in figures.rates)])))
    return [
        (
            code(rate),
            escaped(model),
            estimate_words(figures.rates.get((model, rate))),
            say.interval(*bounds) if (bounds := rate_bounds(review, model).get(rate)) else say.NOTHING,
            f"{review.complete_by_arm.get(model, 0)}/{review.items}",
        )
        for rate in names
        for model in figures.models
    ]


def _latency(figures: BenchmarkResults) -> list[str]:
    means = {column.name: column for column in figures.columns if column.stage is not None}
    rows = []
    for model in figures.models:
        known = quantiles(figures, model)
        for name in dict.fromkeys([*means, "total_latency_ms"]):
            mean = figures.estimate(model, means[name]) if name in means else None
            shares = [known.get(f"{quantile}_{name}") for quantile in QUANTILES]
            if (mean is not None and mean.value is not None) or any(share is not None for share in shares):
                stage = escaped(name.removesuffix("_latency_ms"))
                rows.append((escaped(model), stage, estimate_words(mean), *map(say.number, shares)))
    if not rows:
        return []
    return ["## Latency (ms)", table(("model", "stage", "mean [95 %]", *QUANTILES), rows, texts=2)]


def _negatives(figures: BenchmarkResults) -> list[str]:
    if not (ids := figures.negatives):
        return []
    more = f" and {len(ids) - SHOWN_IDS} more" if len(ids) > SHOWN_IDS else ""
    told = f"The right answer to these is no answer: {escaped(', '.join(ids[:SHOWN_IDS]))}{more}."
    rows = [
        (_title(column), escaped(model), estimate_words(figures.estimate(model, column)))
        for column in figures.about_negatives
        for model in figures.models
    ]
    shown = table(("measure", "model", "mean [95 %]"), rows, texts=2) if rows else "Nothing measures them."
    return ["## Negative queries", told, shown]


def _provenance(figures: BenchmarkResults) -> list[str]:
    trust = figures.results.trust
    facts = [(escaped(key), code(value)) for key, value in trust.provenance.items()]
    if figures.timestamp is not None:
        facts.append(("answers stored", code(figures.timestamp)))
    if not facts and not trust.warnings:
        return []
    warnings = _bullets([f"Warning: {escaped(warning)}" for warning in trust.warnings])
    return ["## Provenance", warnings, table(("provenance", ""), facts, texts=2) if facts else ""]
