"""Texts about a blinded scoring: results of tests, agreement of raters, and what is still to be done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from statistics import median

from assay.kinds.answers.results import (
    TOKENS,
    ConditionTest,
    Correlation,
    RaterAgreement,
    ScoringResults,
    SiteTokens,
    metric_of,
)
from assay.kinds.answers.scoring.rubric import HALLUCINATION, step_of
from assay.report import wording as say

BLINDED, FORCED = "blinded", "forced"
ODDS = "odds ratio"
AUTHOR = "Cliff's "
FORCED_WARNING = (
    "The responses were unblinded by force before scoring was finished. Marks made after that were not "
    "blind, and this cannot be undone."
)
FAMILIES = {
    "primary": "Primary metrics",
    "secondary": "Secondary metrics",
    "complexity": "By complexity of the question",
    "size": "By size of the model",
    "model": "By model",
    "site": "Site by site",
    "interaction": "Does the effect differ between groups?",
}
HEADLINES = ("primary", "secondary")
ALL = "all"  # the part of a test that is about every question and model
BETWEEN = "between"  # the key of a test that asks whether groups differ


# -------------------------------------------------------------------------------------- tests


def families(scoring: ScoringResults) -> dict[str, list[ConditionTest]]:
    """Groups the tests by the title of their family. P-values are corrected within a family."""
    found: dict[str, list[ConditionTest]] = {}
    order = {name: place for place, name in enumerate(FAMILIES)}
    for one in sorted(scoring.tests, key=lambda one: order.get(one.family, len(order))):
        found.setdefault(FAMILIES.get(one.family, one.family.capitalize()), []).append(one)
    return found


def short_table(scoring: ScoringResults) -> tuple[list[str], list[list[str]]]:
    """Returns the primary and secondary tests as a table: a header, and one row per test."""
    head = ["metric", f"{scoring.b} - {scoring.a} [95 %]", "p adj.", "effect", "n", "win / tie / loss"]
    return head, [
        [test_name(one), _plain_difference(one), adjusted(one), short_effect(one), str(one.n), record(one)]
        for one in scoring.tests
        if one.family in HEADLINES
    ]


def subgroup(one: ConditionTest) -> str:
    """Names the part of the questions and models that a test is about."""
    place = ", ".join(f"between {value}" if key == BETWEEN else value for key, value in one.where.items())
    if one.family == "site":
        return f"{place}, site by site".removeprefix(", ")
    return place or ALL


def test_name(one: ConditionTest) -> str:
    """Returns the title of a test's metric, and the test's part if the test is not about everything."""
    place, title = subgroup(one), metric_of(one.metric).title
    return title if place == ALL else f"{title}: {place}"


def finding(one: ConditionTest, a: str, b: str) -> str:
    """Returns the result of a test as a sentence without its full stop."""
    metric = metric_of(one.metric)
    if one.difference is None:
        return f"{metric.title}: there is nothing to compare"
    if not one.shown:
        return f"{metric.title}: {b} does not clearly differ from {a}"
    return (metric.above if one.difference > 0 else metric.below).format(a=a, b=b)


def difference(one: ConditionTest) -> str:
    """Formats B minus A with its interval. For tokens, adds the difference in percent."""
    return ", ".join(filter(None, [_plain_difference(one), percent(one)]))


def _plain_difference(one: ConditionTest) -> str:
    return say.with_interval(one.difference, one.low, one.high, signed=True)


def percent(one: ConditionTest) -> str:
    """Formats the difference of tokens in percent of A. The text is empty for all other metrics."""
    if one.metric != TOKENS or one.difference is None or not one.mean_a:
        return ""
    return f"{100 * one.difference / one.mean_a:+.1f} %"


def effect(one: ConditionTest) -> str:
    """Formats the size of an effect with its interval. An odds ratio has no sign."""
    if one.effect is None:
        return say.NOTHING
    return say.with_interval(one.effect, one.effect_low, one.effect_high, signed=one.effect_name != ODDS)


def effect_name(one: ConditionTest) -> str:
    """Returns the name of the effect, and its size in a word: `Cliff's delta, small`."""
    return ", ".join(filter(None, [one.effect_name, one.size]))


def short_effect(one: ConditionTest) -> str:
    """Formats an effect without its interval: `delta +0.120, small`.

    For tokens, the difference in percent replaces the word for the size.
    """
    if one.effect is None:
        return say.NOTHING
    value = say.number(one.effect, signed=one.effect_name != ODDS)
    named = f"{one.effect_name.removeprefix(AUTHOR)} {value}".strip()
    return ", ".join(filter(None, [named, percent(one) or one.size]))


def record(one: ConditionTest) -> str:
    """Formats the numbers of pairs on which B is better, equal and worse."""
    return f"{one.wins} / {one.ties} / {one.losses}" if one.n else say.NOTHING


def adjusted(one: ConditionTest) -> str:
    """Formats the adjusted p-value, or the plain p-value if there is no adjusted one."""
    return say.p_value(one.p if one.p_adjusted is None else one.p_adjusted)


def test_note(one: ConditionTest) -> str:
    """Returns notes on a test: the number of pairs left out, and the gate that decides the test.

    If the test shows no difference, the smallest detectable difference is added.
    """
    found = [f"{one.left_out} left out: no value on one side"] if one.left_out else []
    found += [f"decided by {one.by}, with p adjusted within it"] if one.by else []
    if one.mde is not None and not one.shown:
        found.append(f"could detect {say.number(one.mde)}")
    return "; ".join(found)


def same_way(scoring: ScoringResults) -> str:
    """Says whether the accuracy of every model moves the same way; empty for fewer than two models."""
    moved = scoring.by_model
    if len(moved) < 2:
        return ""
    models = ", ".join(f"{model} {say.number(value, signed=True)}" for model, value in moved.items())
    signs = {(value > 0) - (value < 0) for value in moved.values()}
    word = "the same way" if len(signs) == 1 else "different ways"
    return f"Accuracy by model, {scoring.b} minus {scoring.a}: {models}. They point {word}."


# ---------------------------------------------------------------------------------- agreement


def agreement_state(one: RaterAgreement) -> str:
    """Says in words whether a value of agreement reaches its threshold."""
    if one.value is None:
        return "no value"
    if one.holds is None:
        return "informs"
    return f"{'passes' if one.holds else 'fails'}: needs {one.threshold:g}"


def agreement_name(one: RaterAgreement) -> str:
    return f"{one.metric.replace('_', ' ').capitalize()}: {one.statistic}"


def agreement_answer(agreement: Iterable[RaterAgreement]) -> str:
    """Says, as a title, whether the raters agree enough to go on."""
    required = [one for one in agreement if one.threshold is not None]
    for outcome, title in (
        (False, "Raters do not agree enough on {}"),
        (None, "How far raters agree is not known yet for {}"),
    ):
        metrics = [one.metric.replace("_", " ") for one in required if one.holds is outcome]
        if metrics:
            return title.format(say.name_list(list(dict.fromkeys(metrics))))
    return "Raters agree enough on every metric" if required else "How far do raters agree?"


def agreement_lines(scoring: ScoringResults) -> list[str]:
    """Returns one line for each value of agreement that has a threshold."""
    return [
        f"{one.metric.replace('_', ' ')}, {one.statistic}: "
        f"{say.with_interval(one.value, one.low, one.high)}, n {one.n}, {agreement_state(one)}"
        for one in scoring.agreement
        if one.threshold is not None
    ]


# ------------------------------------------------------------------------------------- tokens


def sites_answer(sites: Iterable[SiteTokens], b: str) -> str:
    """Says, as a title, on how many sites B needs fewer tokens, with the median change over all sites."""
    deltas = [one.delta_pct for one in sites]
    if not deltas:
        return "Which side needs fewer tokens is not known: no content pairs are given"
    of = f"{sum(delta < 0 for delta in deltas)} of {say.quantity(len(deltas), 'site')}"
    return f"{b} needs fewer tokens on {of}; on the median site {median(deltas):+.1f} %"


def correlation_text(one: Correlation) -> str:
    """Formats a coefficient with its interval and n: `Spearman's rho +0.12 [-0.03, +0.26], n 572`."""
    name, _, _ = one.name.partition(" of ")  # the picture shows of what the correlation is
    return f"{name} {say.with_interval(one.value, one.low, one.high, signed=True)}, n {one.n}"


def correlation_answer(found: Iterable[Correlation]) -> str:
    """Says, as a title, whether fewer tokens go with worse answers, and gives the first coefficient."""
    first = next(iter(found), None)
    if first is None or first.value is None:
        return "Do fewer tokens go with worse answers?"
    if first.low is None or first.high is None or first.low <= 0 <= first.high:
        answer = "A change in tokens does not clearly go with a change in accuracy"
    else:
        answer = f"Fewer tokens go with {'worse' if first.value > 0 else 'better'} answers"
    return f"{answer}: {correlation_text(first)}"


# -------------------------------------------------------------------------------------- state


def made_and_all(scoring: ScoringResults) -> tuple[int, int]:
    """Returns how many marks all raters have made in all passes, and how many marks are needed."""
    counts = [count for passes in scoring.progress.values() for count in passes.values()]
    return sum(done for done, _ in counts), sum(of for _, of in counts)


def state_lines(scoring: ScoringResults) -> list[str]:
    """Says how far the scoring is, and what to do next."""
    done, of = made_and_all(scoring)
    if scoring.state == FORCED:
        return [FORCED_WARNING]
    if not scoring.responses:
        return ["No responses are blinded yet. Do it with: assay review blind STUDY"]
    if scoring.state != BLINDED:
        return []
    lines = [f"The responses are blinded: nothing here says which is whose. {done} of {of} marks are made."]
    if scoring.left and not scoring.checked:
        return [*lines, f"Check for leaks before anybody scores: {next_step(scoring)}"]
    if scoring.left or done < of:
        return [*lines, "Go on scoring with: assay review serve STUDY"]
    if scoring.failing:
        return [*lines, *(f"{each}." for each in disagreement(scoring)), f"Next, {next_step(scoring)}"]
    return [*lines, "Every pass is complete. Go on with: assay review unblind STUDY"]


def next_step(scoring: ScoringResults, study: str = "STUDY") -> str:
    """Says what to do next while the responses are blinded."""
    if scoring.left:
        return f"assay review {'serve' if scoring.checked else 'check'} {study}"
    if scoring.failing:
        again = f"score it again with assay review serve {study}; then: assay review unblind {study}"
        return f"raters discuss what they differ on, still blind, and {again}"
    return f"assay review unblind {study}"


def disagreement(scoring: ScoringResults) -> list[str]:
    """Returns one line for each value of agreement that is below its threshold."""
    return [
        f"{' and '.join(one.raters)} agree too little on {one.metric}: {one.statistic} "
        f"{say.number(one.value)}, needs {one.threshold:g}"
        for one in scoring.failing
    ]


def difference_lines(scoring: ScoringResults, study: str, most: int = 20) -> list[str]:
    """Lists at most `most` responses on which raters differ, with both marks. No line names a condition."""
    lines = [
        f"  {one.response_id}, {one.metric}: "
        + ", ".join(f"{rater} {mark}" for rater, mark in zip(one.raters, one.marks, strict=True))
        for one in scoring.differences
    ]
    more = [f"  and {len(lines) - most} more: assay review agreement {study}"] if len(lines) > most else []
    return [*lines[:most], *more]


def category_name(code: str) -> str:
    """Returns the code of a hallucination category, and its meaning if the code is known."""
    known = {each.value: each.label.lower() for each in step_of(HALLUCINATION).categories}
    return f"{code}, {known[code]}" if code in known else code


def categories_answer(categories: Mapping[str, Mapping[str, int]]) -> str:
    """Says, as a title, which category of hallucination is the most frequent."""
    totals = Counter[str]()
    for counts in categories.values():
        totals.update(counts)
    if not totals.total():
        return "No hallucination was counted"
    code, count = totals.most_common(1)[0]
    return f"{count} of {say.quantity(totals.total(), 'hallucination')} are {category_name(code)}"
