"""How figures and verdicts read: three significant digits, the interval and n beside every mean."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence

from assay.core.errors import UsageError
from assay.core.records import (
    LOSS_SHOWN,
    NO_LOSS_SHOWN,
    ClauseResult,
    Comparison,
    Estimate,
    Status,
    Verdict,
)
from assay.core.results import (
    FIRST_FAILS,
    FIRST_OPEN,
    GO,
    GO_FAILS,
    INCONCLUSIVE,
    NO_GO,
    Figure,
    ItemView,
    MeasureInfo,
    Results,
)
from assay.core.spec import Spec, parse_spec
from assay.gates.verdict import describe_advice, reason_for_go, verdict_notes
from assay.measures.semantic import REVIEW

NOTHING = "n/a"
AT_LEAST = "≥ "
LOWER_BOUND = "≥: a lower bound. Results that nobody expected and nobody judged count as wrong."
FEW = 10  # a slice with fewer items is shown, faded
TITLES = {GO: "Go", NO_GO: "No-go", INCONCLUSIVE: "Inconclusive", None: "No verdict"}
DIRECTIONS = {"higher": "higher is better", "lower": "lower is better"}

# More relevant passages can only raise these. Recall and nDCG divide by what there is to find, and may fall.
_RISING = frozenset({"RR", "Success", "P"})
_STATES = {True: "holds", False: "fails", None: "undecided"}
_KILL_STATES = {True: "kill condition met", False: "kill condition not met", None: "undecided"}
_CLAUSE = re.compile(
    r"^(?P<left>.+?)\s*(?P<op>>=|<=|>|<)\s*(?P<right>.+?)(?P<scope>\s+(?:where|for|on|at)\s.+)?$"
)
_LITERAL = re.compile(r"[-+]?[\d.]+%?")
# What XML 1.0 forbids, a terminal might obey or turns the direction of writing; tab and line feed stay.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


def printable(text: str) -> str:
    """The text without control characters, marks of direction, lone surrogates and non-characters."""
    return _CONTROL.sub("", text)


def file_stem(name: str) -> str:
    """A name as part of a file's: what some systems do not allow there becomes an underscore."""
    return re.sub(r"[^A-Za-z0-9_.=,-]+", "_", name)


def name_list(names: Sequence[str]) -> str:
    """Names in a row: "a, b and c"."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def shorten(text: str, limit: int) -> str:
    """The text on one line, cut at a word where it is longer than the limit."""
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    head, space, _ = line[:limit].rpartition(" ")
    return (head if space and len(head) > limit * 0.7 else line[: limit - 1]) + "…"


def number(value: float | None, *, signed: bool = False) -> str:
    """Three significant digits: 0.512, 1.00, 12.3, 1234; very small values in powers of ten."""
    if value is None or not math.isfinite(value):
        return NOTHING
    if value == 0:
        return "0"
    if abs(value) < 1e-4:
        return f"{value:{'+' if signed else ''}.2e}"
    # Rounded first, so that 0.9996 counts as 1.00 and not as 1.000.
    magnitude = math.floor(math.log10(abs(float(f"{value:.2e}"))))
    return f"{value:{'+' if signed else ''}.{max(0, 2 - magnitude)}f}"


def number_or_infinity(value: float | None, *, signed: bool = False) -> str:
    """A number that may be infinite, such as a budget that no system reaches."""
    if value is not None and math.isinf(value):
        return "-∞" if value < 0 else "+∞" if signed else "∞"
    return number(value, signed=signed)


def interval(low: float | None, high: float | None, *, signed: bool = False) -> str:
    """An interval, or nothing where there is none."""
    if low is None or high is None:
        return ""
    return f"[{number_or_infinity(low, signed=signed)}, {number_or_infinity(high, signed=signed)}]"


def with_interval(value: float | None, low: float | None, high: float | None, *, signed: bool = False) -> str:
    """`0.512 [0.431, 0.588]`; a mean whose interval is unknown says so."""
    if value is None or math.isnan(value):
        return NOTHING
    return (
        f"{number_or_infinity(value, signed=signed)} {interval(low, high, signed=signed) or '[no interval]'}"
    )


def sample_size(estimate: Estimate, asked: int = 0) -> str:
    """How many items stand behind a mean: `500`, or `480/500` where some are left out.

    `asked` is how many the measure applies to with another system beside it: a mean over some of them is not
    the same figure. Those that got nothing back are in the mean with the value for absence, and are named.
    """
    missing = f" ({estimate.counts['missing']} missing)" if estimate.counts.get("missing") else ""
    of = max(estimate.n_expected, asked)
    return f"{estimate.n_scored}{'' if estimate.n_scored == of else f'/{of}'}{missing}"


def largest_sample(estimates: Iterable[Estimate]) -> int:
    """On how many items the measure of these estimates applies to the system that it applies to most."""
    return max((one.n_expected for one in estimates), default=0)


def grade_text(grade: float | None) -> str:
    """A judgment's grade in words."""
    return "unjudged" if grade is None else f"grade {grade:g}"


def p_value(p: float | None) -> str:
    """A p-value to three digits, never as zero."""
    if p is None or not math.isfinite(p):
        return NOTHING
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def win_tie_loss(comparison: Comparison) -> str:
    """Wins, ties and losses of a against b."""
    if not comparison.n or comparison.refused:
        return NOTHING
    return f"{comparison.wins} / {comparison.ties} / {comparison.losses}"


def is_shown(comparison: Comparison) -> bool:
    """Whether a difference is shown, as its family decided; nothing else may decide it again."""
    return bool(comparison.shown)


def where_text(where: dict[str, str]) -> str:
    """A slice in words: `category=faq, language=en`."""
    return ", ".join(f"{key}={value}" for key, value in where.items())


def first_names(names: Sequence[str], most: int) -> str:
    """The first of many names, and how many more there are: `q1, q2 and 18 more`."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def measure_title(measure: MeasureInfo) -> str:
    """A measure's name with its unit, as it heads a column."""
    return f"{measure.name} ({measure.unit})" if measure.unit else measure.name


def parse_measure(measure: str) -> tuple[Spec, str]:
    """A measure's name as a spec, and what follows its @; one that is no spec has no parameters."""
    head, cut, depth = measure.rpartition("@")
    try:
        return parse_spec(head if cut else measure), depth if cut else ""
    except UsageError:
        return Spec(measure), ""


def lower_bound_sign(measure: MeasureInfo) -> str:
    """The sign before the means of a measure that somebody who looked could only raise."""
    return AT_LEAST if measure.lower_bound else ""


def quantity(count: int, noun: str) -> str:
    """`1 clause`, `2 clauses`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


# ---------------------------------------------------------------------------------- verdicts


def supports_go(clause: ClauseResult) -> bool | None:
    """Whether a clause speaks for shipping: a kill that holds speaks against it."""
    if clause.holds is None:
        return None
    return clause.holds != (clause.role == "kill")


def clause_state(clause: ClauseResult) -> str:
    """A clause's outcome in words; a comparison with a baseline shows a loss or none, and never "holds"."""
    if clause.role != "kill" and clause.shows in {LOSS_SHOWN, NO_LOSS_SHOWN}:
        return clause.shows
    return (_KILL_STATES if clause.role == "kill" else _STATES)[clause.holds]


def _sides(text: str) -> dict[str, str] | None:
    """The parts of a clause; a sign inside a call, as in `share(x < 0.1) <= 10%`, is not its comparison."""
    hidden, depth = "", 0
    for sign in text:
        depth += (sign in "([") - (sign in ")]")
        hidden += "_" if depth and sign in "<>=" else sign
    found = _CLAUSE.match(hidden)
    return found and {part: text[slice(*found.span(part))] for part in found.groupdict() if found[part]}


def clause_operator(clause: ClauseResult) -> str | None:
    """The comparison a clause makes, or None where its text has none."""
    found = _sides(clause.text)
    return found["op"] if found else None


def clause_sentence(clause: ClauseResult) -> str:
    """What was found, what was asked for, and on how much evidence."""
    margin = f"margin {with_interval(clause.value, clause.low, clause.high, signed=True)}, n = {clause.n}"
    margin += f" ({clause.shows})" if clause.shows else ""
    found = _sides(clause.text)
    if found is None or clause.left is None or clause.right is None:
        return f"{clause.text}: {margin}"
    verb = "stops the study if" if clause.role == "kill" else "needs"
    target = f"{found['op']} {found['right']}"
    if not _LITERAL.fullmatch(found["right"]):
        target += f" = {number_or_infinity(clause.right)}"
    # with failures, the figures are those of the least favourable way to count them
    is_ = "is at worst" if "failed" in clause.reason else "is"
    value = number_or_infinity(clause.left)
    return f"{found['left']} {is_} {value}, {verb} {target}{found.get('scope', '')}; {margin}"


def clause_outlook(clause: ClauseResult) -> str:
    """Why a clause is open and what would settle it; for any clause, the reason it was given."""
    parts = [f"way {' and '.join(map(str, clause.ways))} to go"] if clause.ways else []
    parts += [clause.reason.rstrip(".")] if clause.reason else []
    if clause.holds is None and clause.advice is not None:
        parts.append(describe_advice(clause.advice))
    return "; ".join(parts)


def unique_clauses(verdict: Verdict) -> list[ClauseResult]:
    """A gate's clauses, each once, though it may stand in several branches; a kill says another thing."""
    found: dict[tuple[str, bool], ClauseResult] = {}
    for clause in verdict.clauses:
        found.setdefault((clause.text, clause.role == "kill"), clause)
    return list(found.values())


def relevant_clauses(verdict: Verdict) -> list[ClauseResult]:
    """A gate's clauses without those that cannot change its verdict: beside a failed `first`, all others."""
    clauses = unique_clauses(verdict)
    if verdict.reason in {FIRST_FAILS, FIRST_OPEN}:
        state = False if verdict.reason == FIRST_FAILS else None
        return [clause for clause in clauses if clause.role == "first" and clause.holds is state]
    if verdict.reason.startswith(GO_FAILS):
        return [clause for clause in clauses if clause.role != "go" or clause.holds is False]
    return clauses


def gates_in_order(results: Results) -> list[Verdict]:
    """Gates that decide before those that inform."""
    return sorted(results.verdicts, key=lambda verdict: not verdict.deciding)


def gate_title(verdict: Verdict) -> str:
    """A gate's verdict in words, and whether it counts; one that only informs stops nothing, it fails."""
    if verdict.deciding:
        return TITLES[verdict.verdict]
    killed = any(clause.role == "kill" and clause.holds for clause in verdict.clauses)
    return f"{'Failed' if verdict.verdict == NO_GO and not killed else TITLES[verdict.verdict]}, informs"


def verdict_reason(verdict: Verdict) -> str:
    """Why a gate says what it says; of a go, what its clauses show and what they cannot have seen."""
    reason = verdict.reason or (reason_for_go(verdict.clauses) if verdict.verdict == GO else "")
    return "; ".join(filter(None, [reason, *verdict_notes(verdict)]))


def verdict_sentence(verdict: Verdict) -> str:
    """The clauses that decided a gate, in one line of words."""
    wanted = {GO: True, NO_GO: False, INCONCLUSIVE: None}.get(verdict.verdict)
    wanted = False if verdict.reason == FIRST_FAILS else wanted
    clauses = relevant_clauses(verdict)
    deciding = [clause for clause in clauses if supports_go(clause) is wanted]
    # one without figures first: it waits for them, or its system failed, and that is what there is to do
    deciding.sort(key=lambda clause: wanted is not True and clause.value is not None)
    if not deciding:
        return verdict.reason or f"{verdict.gate} decided on {quantity(len(clauses), 'clause')}"
    sentence = clause_sentence(deciding[0])
    first = deciding[0]
    explained = verdict.verdict == INCONCLUSIVE or first.value is None or first.shows == LOSS_SHOWN
    if outlook := clause_outlook(first) if explained else "":
        sentence += f" ({outlook})"
    if verdict.reason == FIRST_FAILS:
        sentence = f"{verdict.reason}: {sentence}"
    rest = len(deciding) - 1
    if rest and wanted is True:
        return f"{verdict_reason(verdict)}: {sentence}"
    one, several = ("speaks against it", "speak against it") if wanted is False else ("is open", "are open")
    more = [f"{quantity(rest, 'more clause')} {several if rest > 1 else one}"] if rest else []
    return "; ".join([sentence, *more, *verdict_notes(verdict)])


def headline(results: Results) -> str:
    """The answer of the whole study in one sentence."""
    if results.verdict is None:
        return "No gate is declared, so there is no verdict."
    decisive = next((one for one in gates_in_order(results) if one.verdict == results.verdict), None)
    return verdict_sentence(decisive) if decisive else ""


def limit_lines(results: Results) -> list[str]:
    """What the data can support, what it says nothing about, and what a go must not be taken for."""
    line = f"Layer: {results.layer}." if results.layer else ""
    line += f" Not shown by this data: {', '.join(results.unproven)}." if results.unproven else ""
    return [*filter(None, [line.strip(), results.caveat])]


# ----------------------------------------------------------------------------------- systems


def overall(results: Results, measure: str) -> list[Estimate]:
    """The estimates of one measure over all items, in the order they were made."""
    return [one for one in results.estimates if one.measure == measure and not one.where]


def differences(results: Results, measure: str) -> list[Comparison]:
    """The comparisons of one measure over all items."""
    return [one for one in results.comparisons if one.measure == measure and not one.where]


def figure_title(figure: Figure) -> str:
    """A figure's name with its unit."""
    return f"{figure.name} ({figure.unit})" if figure.unit else figure.name


def figure_value(figure: Figure) -> str:
    """A figure with its interval: `400 [200, >1200]` where no budget up to 1200 reaches what is asked for."""
    shown = with_interval(figure.value, figure.low, figure.high)
    return shown if figure.most is None else shown.replace("∞", f">{number(figure.most)}")


def figure_note(figure: Figure) -> str:
    """What has to be said of a figure beyond its value, which shows by itself that it is infinite."""
    return figure.reason if figure.value is None or "failed" in figure.reason else ""


def pair_name(comparison: Comparison) -> str:
    """`hybrid - bm25`, with the factors both sides share."""
    name = f"{comparison.a} - {comparison.b}"
    return f"{name} [{where_text(comparison.factors)}]" if comparison.factors else name


def comparison_note(comparison: Comparison, why: str = "") -> str:
    """Why there is no comparison, what it shows or else could have shown, and which gate decided it."""
    if comparison.refused:
        return f"refused: {why or comparison.refused}"
    could = f"could detect {number(comparison.mde)}" if comparison.mde is not None else ""
    by = f"decided by {comparison.family}" if comparison.family.startswith("gate ") else ""
    return "; ".join(filter(None, [comparison.shown or could, by]))


VARIES = "varies by itself"  # of an item that a system answers differently each time


# -------------------------------------------------------------------------------------- review


def wants_review(item: ItemView) -> bool:
    """Whether keywords alone cannot judge an item."""
    return "yes" in item.tags.get(REVIEW, [])


def only_rises(measure: str) -> bool:
    """Whether what people find beyond the rules can raise a measure and never lower it."""
    spec, _ = parse_measure(measure)
    reads_marks = REVIEW in str(spec.params.get("label", "")).split("|")
    return spec.name in _RISING and not reads_marks


def is_understated(results: Results, where: Mapping[str, str]) -> bool:
    """Whether rules alone understate a slice: some of its items want a person's eye."""
    return any(
        wants_review(item) and all(value in item.tags.get(key, []) for key, value in where.items())
        for item in results.items
    )


def absence_text(counts: dict[str, int]) -> str:
    """The statuses other than scored, in words: `3 missing, 2 failed`."""
    return ", ".join(
        f"{count} {status.replace('_', ' ')}"
        for status, count in counts.items()
        if count and status != Status.SCORED
    )
