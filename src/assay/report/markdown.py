"""Writes the report as Markdown, for pull requests and wikis: first the verdict, then the evidence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from assay.core.records import Arm, Comparison, Estimate
from assay.core.results import ItemView, Results
from assay.core.section import Place, Table, Text
from assay.report import tables, verdicts, wording
from assay.report.items import Changes, changes
from assay.report.tables import Refusals, figure_notes, figure_tables, figure_text
from assay.report.verdicts import proof_line, verdict_words

WORST = 20
BAR = r"\|"
TEXT = 120  # characters of corpus text in one cell
# Signs with a meaning within a line. Signs with a meaning only at the start of a line never occur there.
_SPECIAL = re.compile(r"([\\`*_{}\[\]#!|~$<&])")


@dataclass(frozen=True)
class MarkdownReport:
    """GitHub-flavoured Markdown. Text from corpora is escaped, so it can neither format nor break a table."""

    suffix: ClassVar[str] = ".md"

    def render(self, results: Results) -> bytes:
        blocks = [
            f"# {escaped(results.study)}: {wording.TITLES[results.verdict]}",
            f"**{escaped(told)}**" if (told := tables.recommendation(results)) else "",
            escaped(tables.outlook(results)),
            escaped(verdicts.headline(results)),
            *map(escaped, wording.limit_lines(results)),
            *_gates(results),
            *_review(results),
            *_sections(results, "verdict"),
            "## Systems",
            *_estimates(results),
            *_figures(results),
            *_differences(
                [one for measure in results.measures for one in wording.differences(results, measure.name)],
                Refusals(results),
            ),
            *_sections(results, "systems"),
            *_slices(results),
            *_flips(results),
            *_sections(results, "items"),
            *_controls(results),
            "## Trust",
            *_trust(results),
        ]
        return ("\n\n".join(block for block in blocks if block) + "\n").encode()


def escaped(text: str) -> str:
    """Returns text that Markdown shows unchanged, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(wording.printable(text).split()))


def code(text: str) -> str:
    """Returns text as inline code, or as plain text if it has backticks or backslashes."""
    line = " ".join(wording.printable(text).split())
    if not line or "`" in line or "\\" in line:
        return escaped(line)
    return f"`{line.replace('|', BAR)}`"


def table(header: Sequence[str], rows: Iterable[Sequence[str]], texts: int = 1) -> str:
    """Returns a table. The first `texts` columns hold words. The others hold numbers and are on the right."""
    rule = ["---" if index < texts else "---:" for index in range(len(header))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, rule, *rows))


def _gates(results: Results) -> list[str]:
    blocks: list[str] = []
    for verdict in verdicts.gates_in_order(results):
        words = verdict_words(verdict)
        tried = proof_line(results, verdict.gate)
        blocks.append(f"## {escaped(verdict.gate)}: {words.title}")
        blocks += [escaped(verdict.about), escaped(words.reason), f"**{escaped(tried)}**" if tried else ""]
        header = ("clause", "outcome", "why", "margin [95 %]", "n", "detectable")
        rows = [
            (code(each.text), escaped(each.outcome), escaped(each.why), each.margin, each.n, each.detectable)
            for each in words.clauses
        ]
        blocks.append(table(header, rows, texts=3) if rows else "")
    return blocks


def _controls(results: Results) -> list[str]:
    """Returns the outcome of every control, gate by gate."""
    if not results.verdicts:
        return []
    blocks = [
        f"## {verdicts.CONTROLS_TITLE}",
        verdicts.CONTROLS_LEAD if results.proofs else verdicts.CONTROLS_UNTRIED,
    ]
    for proof in results.proofs:
        blocks.append(f"**{escaped(proof.gate)}: {escaped(verdicts.proof_title(proof))}**")
        rows = [tuple(map(escaped, row)) for row in verdicts.control_rows(proof)]
        blocks.append(table(verdicts.CONTROLS_HEADER, rows, texts=4))
    return blocks


def _sections(results: Results, place: Place) -> list[str]:
    """Returns the sections of a place: an alarm first, then words and tables in their order."""
    blocks: list[str] = []
    for section in results.sections:
        if section.place != place or not (section.alarm or section.printed):
            continue
        blocks += [f"## {escaped(section.title)}", f"**{escaped(section.alarm)}**" if section.alarm else ""]
        for block in section.printed:
            blocks += [_text(block)] if isinstance(block, Text) else _table(block)
    return blocks


def _text(block: Text) -> str:
    """Returns a paragraph for each line. Lists and cautions become list items.

    The line is bold if the tone is `empty`: then something is still to be done.
    """
    lines = [escaped(line) for line in block.lines]
    if block.tone in {"list", "caution"}:
        return "\n".join(f"- {line}" for line in lines)
    return "\n\n".join(f"**{line}**" if block.tone == "empty" else line for line in lines)


def _table(block: Table) -> list[str]:
    figures = [place for place, column in enumerate(block.columns) if column.figure]
    header = [escaped(column.head) for column in block.columns]
    rows = [[escaped(text) for text in row] for row in block.texts]
    title = f"**{escaped(block.title)}**" if block.title else ""
    return [title, table(header, rows, texts=min(figures, default=len(header)))]


def _figures(results: Results) -> list[str]:
    """Returns the figures that the study asks for, with one row per figure and one column per system."""
    blocks = []
    for found in figure_tables(results):
        header = ["figure", *(map(escaped, found.systems) if found.systems else ["value [95 %] n"])]
        rows = [[escaped(row.title), *map(figure_text, row.cells)] for row in found.rows]
        place = f"**Figures ({escaped(found.place)})**" if found.place else ""
        blocks += [place, table(header, rows), *map(escaped, figure_notes(found))]
    return blocks


def _estimates(results: Results) -> list[str]:
    drawn = {name for section in results.sections for name in section.measures}
    rows = [
        (
            escaped(wording.measure_title(measure)),
            escaped(Arm(one.system, one.factors).name),
            ("" if one.value is None else wording.lower_bound_sign(measure))
            + wording.with_interval(one.value, one.low, one.high),
            wording.sample_size(one, wording.largest_sample(found)),
            escaped(wording.absence_text(one.counts)),
        )
        for measure in results.measures
        if measure.name not in drawn
        for found in [wording.overall(results, measure.name)]
        for one in found
    ]
    header = ("measure", "system", "mean [95 %]", "n", "left out or absent")
    bounded = any(measure.lower_bound for measure in results.measures)
    return (
        [table(header, rows, texts=2), *([escaped(wording.LOWER_BOUND)] if bounded else [])] if rows else []
    )


def _differences(comparisons: Sequence[Comparison], refusals: Refusals) -> list[str]:
    header = (
        *("measure", "difference of", "note", "difference [95 %]"),
        *("p adjusted", "Wilcoxon p", "win / tie / loss", "n"),
    )
    rows = [
        (
            escaped(one.measure),
            escaped(wording.pair_name(one)),
            escaped(refusals.note(one)),
            wording.with_interval(one.difference, one.low, one.high, signed=True),
            wording.p_value(one.p_adjusted if one.p_adjusted is not None else one.p),
            wording.p_value(one.p_wilcoxon),
            wording.win_tie_loss(one),
            str(one.n),
        )
        for one in comparisons
    ]
    return [table(header, rows, texts=3)] if rows else []


def _review(results: Results) -> list[str]:
    """Returns what people found, and what they still have to judge."""
    review = results.review
    if review is None:
        return []
    marks = tables.marks_by_arm(results, review)
    words = list(tables.ABOUT)
    counts = [
        (escaped(each.arm), *(str(each.counts[word]) for word in words), str(each.total)) for each in marks
    ]
    rates = [
        (escaped(rate.measure), escaped(rate.arm), rate.mean, rate.n, rate.bounds)
        for found in tables.review_rates(results, review).values()
        for rate in found
    ]
    return [
        "## Review",
        escaped(tables.progress(review)),
        escaped(tables.basis(review)),
        table(("measure", "system", "mean [95 %]", "n", "possible range"), rates, texts=2) if rates else "",
        *_differences(review.comparisons, Refusals(results)),
        f"**{escaped(tables.lift_answer(marks))}** ({escaped(tables.scope(review))})",
        table(("system", *words, "results"), counts),
    ]


def _slices(results: Results) -> list[str]:
    sliced: dict[str, dict[str, list[Estimate]]] = {}
    for one in results.estimates:
        if one.where:
            sliced.setdefault(one.measure, {}).setdefault(wording.where_text(one.where), []).append(one)
    blocks = ["## Slices"] if sliced else []
    understated = tables.understated_slices(results)
    bounded = {measure.name for measure in results.measures if measure.lower_bound}
    for measure, rows in sliced.items():
        blocks.append(f"### {escaped(measure)}")
        header = ("slice", *(escaped(arm) for arm in results.arms))
        sign = wording.AT_LEAST if measure in bounded else ""
        cells = [(escaped(name), *_cells(row, results, understated, sign)) for name, row in rows.items()]
        blocks.append(table(header, cells))
        if any(tables.review_bound_sign(one, understated) for row in rows.values() for one in row):
            blocks.append(escaped(tables.LOWER_BOUND))
    return blocks


def _cells(row: list[Estimate], results: Results, understated: set[tables.Slice], sign: str) -> list[str]:
    by_arm = {Arm(one.system, one.factors).name: one for one in row}
    cells, asked = [], wording.largest_sample(row)
    for arm in results.arms:
        one = by_arm.get(arm)
        if one is None or one.value is None:
            cells.append(wording.NOTHING)
        else:
            figure = wording.with_interval(one.value, one.low, one.high)
            bound = sign or tables.review_bound_sign(one, understated)
            cells.append(f"{bound}{figure}, n = {wording.sample_size(one, asked)}")
    return cells


def _flips(results: Results) -> list[str]:
    changed = changes(results)
    blocks = ["## What changed"] if changed else []
    for change in changed:
        blocks.append(
            f"**{escaped(change.arm)} against {escaped(change.baseline)} "
            f"on {escaped(change.measure.name)}**: "
            f"{change.worse} worse, {change.better} better, {change.same} the same, "
            f"{change.unpaired} without a score on both sides."
        )
        blocks.append(_worst(change))
    return blocks


def _worst(change: Changes) -> str:
    header = ("item", "question", "expected", "came back", "before", "after", "change")
    rows = [
        (
            escaped(flip.item.item_id),
            escaped(wording.shorten(flip.item.text, TEXT)),
            escaped(wording.shorten(_expected(flip.item), TEXT)),
            escaped(wording.shorten(_returned(flip.item, change.arm), TEXT)),
            wording.number(flip.before),
            wording.number(flip.after),
            wording.number(flip.after - flip.before, signed=True),
        )
        for flip in change.flips[:WORST]
        if flip.gain < 0
    ]
    return table(header, rows, texts=4) if rows else "Nothing got worse."


def _expected(item: ItemView) -> str:
    if not item.expected:
        return item.expects or ""
    best = item.expected[0]
    enough = f" ({item.sufficient})" if item.sufficient else ""
    return f"{best.target}: {best.text}{enough}" if best.text else f"{best.target}{enough}"


def _returned(item: ItemView, arm: str) -> str:
    if arm in item.faults:
        return item.faults[arm]
    hits = item.returned.get(arm, [])
    return f"{hits[0].doc_id}: {hits[0].text}" if hits else "nothing"


def _trust(results: Results) -> list[str]:
    trust = results.trust
    statuses = list(dict.fromkeys(status for counts in trust.counts.values() for status in counts))
    counts = [(escaped(arm), *(str(of.get(s, 0)) for s in statuses)) for arm, of in trust.counts.items()]
    quantiles = list(dict.fromkeys(name for seconds in trust.seconds.values() for name in seconds))
    spent = [
        (
            escaped(arm),
            *(wording.number(trust.seconds.get(arm, {}).get(name)) for name in quantiles),
            wording.number(trust.cost.get(arm)),
        )
        for arm in dict.fromkeys([*trust.seconds, *trust.cost])
    ]
    facts = [(escaped(key), code(value)) for key, value in trust.provenance.items()]
    return [
        "\n".join(f"- Warning: {escaped(warning)}" for warning in trust.warnings),
        table(("scores", *(escaped(s.replace("_", " ")) for s in statuses)), counts) if counts else "",
        table(("system", *(f"{escaped(q)} (s)" for q in quantiles), "cost"), spent) if spent else "",
        table(("provenance", ""), facts, texts=2) if facts else "",
    ]
