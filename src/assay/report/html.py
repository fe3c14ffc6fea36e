"""Writes the report as one self-contained page: no network, light and dark, the answer first."""

from __future__ import annotations

import base64
import hashlib
import math
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from assay.core.records import Arm, Comparison, Estimate, Verdict
from assay.core.results import GO, INCONCLUSIVE, NO_GO, MeasureInfo, Results
from assay.report import charts, tables, verdicts, wording
from assay.report.charts import style_of
from assay.report.items import Changes, changes, item_data, score_grid
from assay.report.section_page import SectionPage, block_name
from assay.report.tables import Refusals, figure_tables
from assay.report.verdicts import ClauseWords, verdict_words

SHADES = 6  # steps of the heat table
MOST = 1_950_000  # bytes of the whole page
WORST = 12  # flips shown for each arm; the item table has them all
FLIP_TEXT = 160

_OUTCOMES = {True: GO, False: NO_GO, None: INCONCLUSIVE}
_PARAMETERS = {  # the parameters of measures, in words
    "rel": "relevant is grade {} or better",
    "view": "hits count by {}",
    "label": "grades are those of {}",
    "above": "only a score above {} counts as a find",
}
_POLICY = (
    "default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'; "
    "base-uri 'none'; form-action 'none'"
)


@dataclass(frozen=True)
class HtmlReport:
    """One HTML file with its style, script and data inside; it loads nothing from anywhere."""

    suffix: ClassVar[str] = ".html"

    def render(self, results: Results) -> bytes:
        pages = templates()
        sections = SectionPage(results)
        style = _source(pages, "style.css") + sections.style
        script = _source(pages, "script.js")
        grid = score_grid(results)
        folded = _folded(results)
        panels = [
            _panel(results, measure) | {"folded": folded.get(measure.name, "")}
            for measure in results.measures
        ]
        page = partial(
            pages.get_template("page.html").render,
            results=results,
            wording=wording,
            tables=tables,
            charts=charts,
            policy=_POLICY.format(script=source_hash(script), style=source_hash(style)),
            style=style,
            script=script,
            refusals=Refusals(results),
            gates=[_gate(verdict) for verdict in verdicts.gates_in_order(results)],
            verdicts=verdicts,
            lift=_lift(results),
            panels=panels,
            compared=any(row["against"] for panel in panels for row in panel["rows"]),
            sections=sections,
            block_name=block_name,
            figure_tables=figure_tables(results),
            further=_further(results),
            slices=_slices(results),
            changed=[_changed(results, change) for change in changes(results, grid)],
            style_of=lambda name: style_of(results, name),
        )
        # The item table gets the room that everything else leaves.
        taken = len(page(data="", snippets=0).encode())
        data, snippets = item_data(results, grid, MOST - taken)
        return page(data=Markup(data), snippets=snippets).encode()  # noqa: S704 (escaped for script elements)


def templates() -> Environment:
    """Returns our templates. Data is escaped, and an unknown name is an error."""
    return Environment(
        loader=PackageLoader("assay", "report/templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _source(pages: Environment, name: str) -> Markup:
    """Returns one of our files, to be put into the page unchanged."""
    loader = pages.loader
    if loader is None:
        raise RuntimeError("the environment has no loader")
    return Markup(loader.get_source(pages, name)[0])  # noqa: S704 (our own file)


def source_hash(source: str) -> str:
    return base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()


# ---------------------------------------------------------------------------------- verdicts


def _gate(verdict: Verdict) -> dict[str, Any]:
    words = verdict_words(verdict)
    return {"verdict": verdict, "words": words, "clauses": [_clause(each) for each in words.clauses]}


def _clause(words: ClauseWords) -> dict[str, Any]:
    clause = words.clause
    outcome = _OUTCOMES[verdicts.supports_go(clause)]
    at = point(clause.value, clause.low, clause.high)
    above = (verdicts.clause_operator(clause) or ">").startswith(">") != (clause.role == "kill")
    return {
        "words": words,
        "clause": clause,
        "outcome": outcome,
        "plot": charts.margin(at, above, outcome) if at else "",
    }


# ----------------------------------------------------------------------------------- systems


def _panel(results: Results, measure: MeasureInfo) -> dict[str, Any]:
    """Returns the panel of one measure: every arm on one axis, with its difference from the baseline."""
    estimates = wording.overall(results, measure.name)
    axis = charts.axis_over(bound for one in estimates for bound in (one.value, one.low, one.high))
    against = {
        _arm_of(one): one for one in wording.differences(results, measure.name) if one.b == results.baseline
    }
    rows = []
    for one in estimates:
        name = Arm(one.system, one.factors).name
        at = point(one.value, one.low, one.high)
        style = style_of(results, name)
        plot = charts.whisker(axis, at, style, name) if axis and at else ""
        rows.append(
            {"name": name, "style": style, "estimate": one, "plot": plot, "against": against.get(name)}
        )
    return {
        "measure": measure,
        "about": about(measure),
        "answer": answer(results, measure),
        "scale": charts.scale(axis) if axis else "",
        "asked": wording.largest_sample(estimates),
        "rows": rows,
    }


def about(measure: MeasureInfo) -> str:
    """Returns what a measure is, what its parameters mean, and whether higher or lower is better."""
    spec, depth = wording.parse_measure(measure.name)
    found = [f"the cut-off is {depth}"] if depth and "cut" in measure.about else []
    found += [
        _PARAMETERS[name].format(value) if name in _PARAMETERS else f"{name} is {value}"
        for name, value in spec.params.items()
    ]
    here = f"Here {'; '.join(found)}." if found else ""
    direction = wording.DIRECTIONS.get(measure.better, measure.better).capitalize()
    return " ".join(filter(None, [measure.about, here, f"{direction}."]))


def answer(results: Results, measure: MeasureInfo) -> str:
    """Returns what the comparisons of one measure show, as the title of its picture."""
    pairs = [one for one in wording.differences(results, measure.name) if one.difference is not None]
    if not pairs:
        found = wording.overall(results, measure.name)
        if any(one.value is not None for one in found):
            return ""
        return "no figures yet" if any(one.n_expected for one in found) else "applies to no item"
    groups: dict[tuple[str, str], list[str]] = {}
    for pair in pairs:
        groups.setdefault((pair.shown, pair.b), []).append(Arm(pair.a, pair.factors).name)
    return "; ".join(_finding(names, finding, other) for (finding, other), names in groups.items())


def _finding(names: list[str], finding: str, other: str) -> str:
    listed = wording.name_list(names)
    if not finding:
        none = f"neither {' nor '.join(names)}" if len(names) == 2 else f"none of {listed}"
        return (
            f"{names[0]} does not clearly differ from {other}"
            if len(names) == 1
            else f"{none} clearly differs from {other}"
        )
    return f"{listed} {'are' if len(names) > 1 else 'is'} {finding} than {other}"


def _folded(results: Results) -> dict[str, str]:
    """Returns the measures that a section draws and no gate reads, each with the section's name."""
    read = {name for gate in results.verdicts for name in gate.reads}
    return {name: section.name for section in results.sections for name in section.drawn if name not in read}


def _arm_of(comparison: Comparison) -> str:
    return Arm(comparison.a, comparison.factors).name


def _further(results: Results) -> list[Comparison]:
    """Returns comparisons that have no row in a panel: other pairs, or whole systems over several arms."""
    return [
        one
        for one in results.comparisons
        if not one.where and not (one.b == results.baseline and _arm_of(one) in results.arms)
    ]


def point(
    value: float | None, low: float | None, high: float | None
) -> tuple[float, float | None, float | None] | None:
    return None if value is None or not math.isfinite(value) else (value, low, high)


# ------------------------------------------------------------------------------------ review


def _lift(results: Results) -> dict[str, Any] | None:
    """Returns the marks of each arm's results: one bar per arm, and the numbers behind it."""
    if results.review is None:
        return None
    marks = tables.marks_by_arm(results, results.review)
    rows = []
    for each in marks:
        style = style_of(results, each.arm)
        parts = [
            (word.replace(" ", "-"), each.share(word), f"{each.arm}: {count} {word}")
            for word, count in each.counts.items()
        ]
        rows.append({"marks": each, "style": style, "plot": charts.stacked(parts, style)})
    return {"answer": tables.lift_answer(marks), "rows": rows}


# ------------------------------------------------------------------------------------ slices


def _slices(results: Results) -> list[dict[str, Any]]:
    understated = tables.understated_slices(results)
    found = (_heat(results, measure, understated) for measure in results.measures)
    return [table for table in found if table["groups"]]


def _heat(results: Results, measure: MeasureInfo, understated: set[tables.Slice]) -> dict[str, Any]:
    """Returns a table of slices by arms for one measure, grouped by tag.

    It has only slices to which the measure applies.
    """
    known = [one for one in results.estimates if one.where and one.measure == measure.name]
    asked: dict[tuple[tuple[str, str], ...], int] = {}
    for one in known:
        place = tuple(one.where.items())
        asked[place] = max(one.n_expected, asked.get(place, 0))
    sliced = [one for one in known if asked[tuple(one.where.items())]]
    solid = [one.value for one in sliced if one.value is not None and one.n_scored >= wording.FEW]
    groups: dict[str, dict[str, dict[str, Any]]] = {}
    for one in sliced:
        group = groups.setdefault(" × ".join(one.where), {})
        row = group.setdefault(" × ".join(one.where.values()), dict.fromkeys(results.arms))
        row[Arm(one.system, one.factors).name] = {
            "estimate": one,
            "n": wording.sample_size(one, asked[tuple(one.where.items())]),
            "style": shade(one, solid, measure.better),
            "at_least": wording.lower_bound_sign(measure) or tables.review_bound_sign(one, understated),
        }
    bound = any(tables.review_bound_sign(one, understated) for one in sliced)
    return {"measure": measure, "groups": groups, "bound": bound}


def shade(estimate: Estimate, solid: list[float], better: str) -> str:
    if estimate.value is None:
        return "nothing"
    if estimate.n_scored < wording.FEW:
        return "few"
    low, high = min(solid), max(solid)
    share = (estimate.value - low) / (high - low) if high > low else 0.5
    return f"h{round((share if better == 'higher' else 1 - share) * SHADES)}"


# ----------------------------------------------------------------------------------- changes


def _changed(results: Results, change: Changes) -> dict[str, Any]:
    """Returns the worst flips of one arm, with what was expected and what came back first."""
    rows = []
    for flip in change.flips[:WORST]:
        if flip.gain >= 0:
            break
        hits = flip.item.returned.get(change.arm, [])
        rows.append(
            {
                "flip": flip,
                "text": wording.shorten(flip.item.text, FLIP_TEXT),
                "expected": [
                    (one.target, wording.shorten(one.text, FLIP_TEXT)) for one in flip.item.expected[:1]
                ],
                "returned": [
                    (
                        one,
                        tables.mark_word(results.review, one, 0, wording.wants_review(flip.item)),
                        wording.shorten(one.text, FLIP_TEXT),
                    )
                    for one in hits[:1]
                ],
                "fault": flip.item.faults.get(change.arm),
            }
        )
    return {"change": change, "style": style_of(results, change.arm), "rows": rows}
