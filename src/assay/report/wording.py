"""Writes numbers, names, means and differences for reports.

Numbers have three significant digits. A mean is written with its interval, or with the remark that there is
none.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence

from assay.core.errors import UsageError
from assay.core.records import Comparison, Estimate, Status
from assay.core.results import GO, INCONCLUSIVE, NO_GO, Figure, ItemView, MeasureInfo, Results
from assay.core.spec import Spec, parse_spec
from assay.measures.marks import REVIEW

NOTHING = "n/a"
AT_LEAST = "≥ "
LOWER_BOUND = "≥: a lower bound. Results that nobody expected and nobody judged count as wrong."
FEW = 10  # a slice with fewer items is faded
VARIES = "varies by itself"  # said of an item that a system answers differently each time
TITLES = {GO: "Go", NO_GO: "No-go", INCONCLUSIVE: "Inconclusive", None: "No verdict"}
DIRECTIONS = {"higher": "higher is better", "lower": "lower is better"}

# More relevant passages can only raise these. Recall and nDCG divide by what there is to find, and may fall.
_RISING = frozenset({"RR", "Success", "P"})
# Control characters, which a terminal may obey and XML 1.0 forbids, and signs that turn the text.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


# ---------------------------------------------------------------------------------------- text


def printable(text: str) -> str:
    """Returns the text without control characters, direction marks and lone surrogates.

    Tab and line feed stay.
    """
    return _CONTROL.sub("", text)


def file_stem(name: str) -> str:
    """Returns a name for use in a file name. Characters that some systems forbid become an underscore."""
    return re.sub(r"[^A-Za-z0-9_.=,-]+", "_", name)


def name_list(names: Sequence[str]) -> str:
    """Joins names: `a, b and c`."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def first_names(names: Sequence[str], most: int) -> str:
    """Joins the first of many names, and says how many more there are: `q1, q2 and 18 more`."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def shorten(text: str, limit: int) -> str:
    """Returns the text on one line. A text that is longer than the limit is cut, if possible at a word."""
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    head, space, _ = line[:limit].rpartition(" ")
    return (head if space and len(head) > limit * 0.7 else line[: limit - 1]) + "…"


def quantity(count: int, noun: str) -> str:
    """Returns a number with its noun: `1 clause`, `2 clauses`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


# ------------------------------------------------------------------------------------- numbers


def number(value: float | None, *, signed: bool = False) -> str:
    """Writes a number with three significant digits: 0.512, 1.00, 12.3, 1234.

    Values below 0.0001 are written in powers of ten.
    """
    if value is None or not math.isfinite(value):
        return NOTHING
    if value == 0:
        return "0"
    if abs(value) < 1e-4:
        return f"{value:{'+' if signed else ''}.2e}"
    return f"{value:{'+' if signed else ''}.{_decimals(value)}f}"


def _decimals(value: float) -> int:
    """Returns how many decimals show three significant digits of a value other than zero."""
    # The value is rounded first, so that 0.9996 is written as 1.00 and not as 1.000.
    return max(0, 2 - math.floor(math.log10(abs(float(f"{value:.2e}")))))


def number_or_infinity(value: float | None, *, signed: bool = False) -> str:
    """Writes a number that may be infinite, such as a budget that no system reaches."""
    if value is not None and math.isinf(value):
        return "-∞" if value < 0 else "+∞" if signed else "∞"
    return number(value, signed=signed)


def interval(low: float | None, high: float | None, *, signed: bool = False) -> str:
    """Writes an interval: `[0.431, 0.588]`; empty if an end is missing."""
    if low is None or high is None:
        return ""
    return f"[{number_or_infinity(low, signed=signed)}, {number_or_infinity(high, signed=signed)}]"


def with_interval(value: float | None, low: float | None, high: float | None, *, signed: bool = False) -> str:
    """Writes a value with its interval: `0.512 [0.431, 0.588]`, or `0.512 [no interval]`."""
    if value is None or math.isnan(value):
        return NOTHING
    ends = interval(low, high, signed=signed) or "[no interval]"
    return f"{number_or_infinity(value, signed=signed)} {ends}"


def shared_decimals(*values: float | None) -> int | None:
    """Returns how many decimals show three digits of the largest value; None if no value reaches 0.0001."""
    known = [abs(value) for value in values if value is not None and math.isfinite(value)]
    largest = max(known, default=0.0)
    return None if largest < 1e-4 else _decimals(largest)


def fixed(value: float | None, decimals: int | None, *, signed: bool = False) -> str:
    """Writes a number with the given decimals, to be read beside others.

    None means three digits of its own.
    """
    if decimals is None or value is None or not math.isfinite(value):
        return number_or_infinity(value, signed=signed)
    return f"{value:{'+' if signed and value else ''}.{decimals}f}"


def p_value(p: float | None) -> str:
    """Writes a p-value with three decimals, never as zero."""
    if p is None or not math.isfinite(p):
        return NOTHING
    return "<0.001" if p < 0.001 else f"{p:.3f}"


# ------------------------------------------------------------------------ measures and systems


def measure_title(measure: MeasureInfo) -> str:
    """Returns a measure's name with its unit, as the head of a column."""
    return f"{measure.name} ({measure.unit})" if measure.unit else measure.name


def parse_measure(measure: str) -> tuple[Spec, str]:
    """Splits a measure's name into a spec and the text after its @.

    A name that cannot be parsed has no parameters.
    """
    head, cut, depth = measure.rpartition("@")
    try:
        return parse_spec(head if cut else measure), depth if cut else ""
    except UsageError:
        return Spec(measure), ""


def lower_bound_sign(measure: MeasureInfo) -> str:
    """Returns the sign before a mean that further judgments can only raise; empty for other measures."""
    return AT_LEAST if measure.lower_bound else ""


def sample_size(estimate: Estimate, asked: int = 0) -> str:
    """Returns the number of items in a mean: `500`, or `480/500` if some are left out.

    `asked` is the number of items to which the measure applies for another system in the same table: a mean
    over fewer items is not comparable. Items that got nothing back are in the mean with the value for
    absence, and are counted here as missing.
    """
    missing = f" ({estimate.counts['missing']} missing)" if estimate.counts.get("missing") else ""
    of = max(estimate.n_expected, asked)
    return f"{estimate.n_scored}{'' if estimate.n_scored == of else f'/{of}'}{missing}"


def largest_sample(estimates: Iterable[Estimate]) -> int:
    """Returns the largest number of items to which the measure of these estimates applies for one system."""
    return max((one.n_expected for one in estimates), default=0)


def absence_text(counts: dict[str, int]) -> str:
    """Returns the statuses other than scored, in words: `3 missing, 2 failed`."""
    return ", ".join(
        f"{count} {status.replace('_', ' ')}"
        for status, count in counts.items()
        if count and status != Status.SCORED
    )


def grade_text(grade: float | None) -> str:
    """Returns a judgment's grade in words."""
    return "unjudged" if grade is None else f"grade {grade:g}"


def where_text(where: dict[str, str]) -> str:
    """Returns a slice in words: `category=faq, language=en`."""
    return ", ".join(f"{key}={value}" for key, value in where.items())


def overall(results: Results, measure: str) -> list[Estimate]:
    """Returns the estimates of one measure over all items, in the order in which they were made."""
    return [one for one in results.estimates if one.measure == measure and not one.where]


def limit_lines(results: Results) -> list[str]:
    """Returns lines about what the data can support, what it cannot show, and what a go does not mean."""
    line = f"Layer: {results.layer}." if results.layer else ""
    line += f" Not shown by this data: {', '.join(results.unproven)}." if results.unproven else ""
    return [*filter(None, [line.strip(), results.caveat])]


# --------------------------------------------------------------------- differences and figures


def differences(results: Results, measure: str) -> list[Comparison]:
    """Returns the comparisons of one measure over all items."""
    return [one for one in results.comparisons if one.measure == measure and not one.where]


def is_shown(comparison: Comparison) -> bool:
    """Whether a difference is shown. Its family has decided that, and no report decides it again."""
    return bool(comparison.shown)


def win_tie_loss(comparison: Comparison) -> str:
    """Returns the wins, ties and losses of `a` against `b`."""
    if not comparison.n or comparison.refused:
        return NOTHING
    return f"{comparison.wins} / {comparison.ties} / {comparison.losses}"


def pair_name(comparison: Comparison) -> str:
    """Returns the name of a pair: `hybrid - bm25`, with the factors that both sides share."""
    name = f"{comparison.a} - {comparison.b}"
    return f"{name} [{where_text(comparison.factors)}]" if comparison.factors else name


def comparison_note(comparison: Comparison, why: str = "") -> str:
    """Returns why there is no comparison.

    If there is one, returns what it shows or could have shown, and the gate that decided it.
    """
    if comparison.refused:
        return f"refused: {why or comparison.refused}"
    could = f"could detect {number(comparison.mde)}" if comparison.mde is not None else ""
    by = f"decided by {comparison.family}" if comparison.family.startswith("gate ") else ""
    return "; ".join(filter(None, [comparison.shown or could, by]))


def figure_title(figure: Figure) -> str:
    """Returns a figure's name with its unit."""
    return f"{figure.name} ({figure.unit})" if figure.unit else figure.name


def figure_value(figure: Figure) -> str:
    """Writes a figure with its interval: `400 [200, >1200]` if no budget up to 1200 is enough."""
    shown = with_interval(figure.value, figure.low, figure.high)
    return shown if figure.most is None else shown.replace("∞", f">{number(figure.most)}")


def figure_note(figure: Figure) -> str:
    """Returns the reason of a figure without a value, or with failed items; empty for other figures."""
    return figure.reason if figure.value is None or "failed" in figure.reason else ""


# -------------------------------------------------------------------------------------- review


def wants_review(item: ItemView) -> bool:
    """Whether an item wants a review, because keywords cannot judge it."""
    return "yes" in item.tags.get(REVIEW, [])


def only_rises(measure: str) -> bool:
    """Whether relevant passages that people find beyond the rules can raise a measure, but never lower it."""
    spec, _ = parse_measure(measure)
    reads_marks = REVIEW in str(spec.params.get("label", "")).split("|")
    return spec.name in _RISING and not reads_marks


def is_understated(results: Results, where: Mapping[str, str]) -> bool:
    """Whether rules understate a slice because some of its items want a review."""
    return any(
        wants_review(item) and all(value in item.tags.get(key, []) for key, value in where.items())
        for item in results.items
    )
