"""The effects in a blinded scoring: differences between the conditions, tokens, and hallucinations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from assay.core.section import (
    BlockGroup,
    Chart,
    ChartPoint,
    ChartSeries,
    SectionBlock,
    Table,
    TableCell,
    TableColumn,
    Text,
)
from assay.kinds.answers import wording as words
from assay.kinds.answers.results import ConditionTest, ScoringResults, SiteTokens, metric_of
from assay.kinds.answers.scoring.rubric import HALLUCINATION, step_of
from assay.report import wording as say

_TOKEN_COLUMNS = ((-1, "Fewer tokens"), (0, "As many"), (1, "More tokens"))
_ACCURACY_ROWS = ((1, "Better"), (0, "The same"), (-1, "Worse"))


def effect_blocks(scoring: ScoringResults) -> Iterator[SectionBlock]:
    """Yields the tests, then tokens against accuracy, the sites, and the categories of hallucinations."""
    yield from _tests(scoring)
    yield from _tokens_and_accuracy(scoring)
    yield from _sites(scoring)
    yield from _categories(scoring)


# -------------------------------------------------------------------------------------- tests


def _tests(scoring: ScoringResults) -> Iterator[SectionBlock]:
    families = words.families(scoring)
    grouped: dict[str, list[ConditionTest]] = {}
    for one in (one for tests in families.values() for one in tests if words.BETWEEN not in one.where):
        grouped.setdefault(one.metric, []).append(one)
    if not grouped:
        return
    first, *others = grouped.values()
    finding = words.finding(first[0], scoring.a, scoring.b)
    panels = [
        _metric(scoring, first, metric_of(first[0].metric).title),
        *(_metric(scoring, tests, words.finding(tests[0], scoring.a, scoring.b)) for tests in others),
    ]
    about = (
        f"Each picture: how far {scoring.b} is from {scoring.a}, with 95 % intervals, over all and in "
        f"parts. The line is zero. {words.same_way(scoring)}"
    ).strip()
    yield BlockGroup(finding, [Text([about], "quiet"), BlockGroup("", panels, side_by_side=True, small=True)])
    note = (
        "p-values are adjusted within a family. Bold: the interval leaves zero out, widened for all tests of "
        f"the family. Win, tie and loss count pairs on which {scoring.b} is better, as good, worse. n counts "
        "pairs; below it, the questions or sites that they come from, which are what is resampled."
    )
    yield BlockGroup("Every test, by family", [Text([note], "quiet"), _by_family(scoring, families)])


def _metric(scoring: ScoringResults, tests: list[ConditionTest], title: str) -> Table:
    """Returns one metric's differences, over everything and in every part, on one axis through zero."""
    metric = metric_of(tests[0].metric)
    better = f" {say.DIRECTIONS[metric.better].capitalize()}." if metric.better else ""
    columns = [
        TableColumn("Part", figure=False),
        TableColumn(f"{scoring.b} − {scoring.a} [95 %]", drawn="interval"),
        TableColumn("n"),
    ]
    rows = [
        [
            TableCell(words.subgroup(one), strong=words.subgroup(one) == words.ALL),
            _difference(one, scoring.b),
            TableCell(str(one.n)),
        ]
        for one in tests
    ]
    name = f"{metric.title}, over all and in parts"
    return Table(columns, rows, title, f"{metric.about}{better}", name)


def _difference(one: ConditionTest, system: str = "") -> TableCell:
    return TableCell(
        words.difference(one),
        value=one.difference,
        low=one.low,
        high=one.high,
        strong=bool(one.shown),
        system=system,
    )


def _by_family(scoring: ScoringResults, families: Mapping[str, Sequence[ConditionTest]]) -> Table:
    a, b = scoring.a, scoring.b
    columns = [
        TableColumn("Metric", figure=False),
        *(TableColumn(f"Mean {side}") for side in (a, b)),
        TableColumn(f"{b} − {a} [95 %]"),
        TableColumn("p"),
        TableColumn("p adj.", "p-value, adjusted within its family"),
        TableColumn("Effect [95 %]"),
        TableColumn("n"),
        TableColumn("Win / tie / loss"),
    ]
    rows = []
    for family, tests in families.items():
        rows += [[TableCell(family)], *map(_test, tests)]
    return Table(columns, rows, name="Tests by family")


def _test(one: ConditionTest) -> list[TableCell]:
    drawn_from = f"in {one.clusters}" if one.clusters and one.clusters != one.n else ""
    return [
        TableCell(words.test_name(one), "; ".join(filter(None, [one.test, words.test_note(one)]))),
        TableCell(say.number(one.mean_a), value=one.mean_a),
        TableCell(say.number(one.mean_b), value=one.mean_b),
        _difference(one),
        TableCell(say.p_value(one.p), value=one.p),
        TableCell(words.adjusted(one), value=one.p_adjusted),
        TableCell(words.effect(one), words.effect_name(one), one.effect, one.effect_low, one.effect_high),
        TableCell(str(one.n), drawn_from, one.n),
        TableCell(words.record(one)),
    ]


# ------------------------------------------------------------------------------------- tokens


def _tokens_and_accuracy(scoring: ScoringResults) -> Iterator[SectionBlock]:
    """Yields a chart of tokens against accuracy, and a table that counts its points by direction."""
    if not scoring.points:
        return
    by_model: dict[str, list[ChartPoint]] = {}
    counts = Counter[tuple[int, int]]()
    for point in scoring.points:
        tokens, accuracy = (say.number(value, signed=True) for value in (point.tokens, point.accuracy))
        text = f"{point.item_id}, {point.model}: tokens {tokens}, accuracy {accuracy}"
        by_model.setdefault(point.model, []).append(ChartPoint(point.tokens, point.accuracy, text=text))
        counts[_sign(point.accuracy), _sign(point.tokens)] += 1
    about = (
        f"A dot is a question and model. Across: tokens of content, {scoring.b} minus {scoring.a}. Up: "
        f"accuracy, {scoring.b} minus {scoring.a}; dots of one step are moved apart."
    )
    chart = Chart("scatter", [ChartSeries(model, found) for model, found in by_model.items()], "", about)
    columns = [TableColumn("Accuracy", figure=False), *(TableColumn(word) for _, word in _TOKEN_COLUMNS)]
    rows = [
        [TableCell(word), *(TableCell(str(counts[up, across])) for across, _ in _TOKEN_COLUMNS)]
        for up, word in _ACCURACY_ROWS
    ]
    more = [Text([words.correlation_text(one)], "quiet") for one in scoring.correlations[1:]]
    table = Table(columns, rows, name="Accuracy by tokens, counted")
    yield BlockGroup(words.correlation_answer(scoring.correlations), [chart, *more, table])


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


def _sites(scoring: ScoringResults) -> Iterator[SectionBlock]:
    """Yields, for each tokenizer, a chart of the sites' changes, and a table of all sites.

    The site with the largest saving comes first.
    """
    by_tokenizer: dict[str, list[SiteTokens]] = {}
    for site in scoring.sites:
        by_tokenizer.setdefault(site.tokenizer, []).append(site)
    a, b = scoring.a, scoring.b
    for place, (tokenizer, sites) in enumerate(by_tokenizer.items()):
        ordered = sorted(sites, key=lambda one: (one.delta_pct, one.site_id))
        middle = median(one.delta_pct for one in ordered)
        points = [ChartPoint(one.delta_pct, text=f"{one.site_id}: {one.delta_pct:+.1f} %") for one in ordered]
        about = (
            f"A dot is a site: the change of its mean tokens in percent of {a}, negative if {b} needs fewer. "
            "Dashed: the median."
        )
        chart = Chart("strip", [ChartSeries(b, points, b)], "", about, middle)
        heads = [f"Tokens, {b} − {a}", f"Mean {a}", f"Mean {b}", f"Median {a}", f"Median {b}", "Pairs"]
        columns = [
            TableColumn("Site", figure=False),
            TableColumn("%", drawn="bar", system=b),
            *map(TableColumn, [*heads, f"Accuracy, {b} − {a}"]),
        ]
        table = Table(columns, [_site(one) for one in ordered], name=f"Tokens by site, {tokenizer}")
        yield BlockGroup(
            words.sites_answer(ordered, b),
            [chart, table],
            folds=True,
            opened=place == 0,
            beside=f"tokenizer {tokenizer}",
        )


def _site(one: SiteTokens) -> list[TableCell]:
    means = (one.mean_a, one.mean_b, one.median_a, one.median_b)
    return [
        TableCell(one.site_id),
        TableCell(f"{one.delta_pct:+.1f}", value=one.delta_pct),
        TableCell(say.number(one.delta, signed=True), value=one.delta),
        *(TableCell(say.number(value), value=value) for value in means),
        TableCell(str(one.pairs)),
        TableCell(say.number(one.accuracy_difference, signed=True), value=one.accuracy_difference),
    ]


def _categories(scoring: ScoringResults) -> Iterator[SectionBlock]:
    """Yields the numbers of hallucinations by category and condition, with one bar each."""
    names = [name for name in (scoring.a, scoring.b) if name in scoring.categories]
    if not names:
        return
    known = [each.value for each in step_of(HALLUCINATION).categories]
    found = [code for each in scoring.categories.values() for code in each]
    columns = [
        TableColumn("Category", figure=False),
        *(TableColumn(name, drawn="bar", system=name) for name in names),
    ]
    rows = []
    for code in dict.fromkeys([*known, *found]):
        counts = [scoring.categories[name].get(code, 0) for name in names]
        cells = [TableCell(str(count), value=count) for count in counts]
        rows.append([TableCell(words.category_name(code)), *cells])
    table = Table(columns, rows, name="Hallucinations by category")
    yield BlockGroup(words.categories_answer(scoring.categories), [table])
