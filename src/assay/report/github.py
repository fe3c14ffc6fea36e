"""Writes the report as a comment on a pull request: verdict, means by slice, changes since a baseline."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from html import escape
from typing import ClassVar, NamedTuple
from urllib.parse import quote

from assay.core.records import Arm, Estimate, Verdict
from assay.core.results import BaselineChanges, ItemChange, ItemView, MeasureInfo, Results
from assay.report import tables, verdicts, wording
from assay.report.markdown import code, escaped, table
from assay.report.verdicts import proof_summary, verdict_words

WARNINGS, SYSTEMS = 10, 10  # the most of each that are shown
FACTS = ("assay", "python", "study fingerprint")  # facts about where the numbers come from

Count = Counter[tuple[object, ...]]


@dataclass(frozen=True)
class GitHubComment:
    """GitHub-flavoured Markdown that fits into one comment; details are left out first."""

    suffix: ClassVar[str] = ".github.md"

    def render(self, results: Results) -> bytes:
        return (fitted(list(_Comment(results).blocks())) + "\n").encode()


def marker(study: str) -> str:
    """Returns the first line of a study's comment. It is invisible, and serves to find the comment again."""
    return f"<!-- assay: {quote(study, safe=' ')[:200]} -->"


def _quoted(name: str) -> str:
    """Returns a name as code, for use inside HTML."""
    return f"<code>{escape(wording.shorten(wording.printable(name), NAME))}</code>"


def _when(created: float | None) -> str:
    return "" if created is None else f"{datetime.fromtimestamp(created, UTC):%Y-%m-%d %H:%M} UTC"


@dataclass(frozen=True)
class _Comment:
    """The content of the comment on a study's results."""

    results: Results

    def blocks(self) -> Iterator[CommentPart]:
        """Yields the parts in reading order: the answer, the evidence, the details, the origin."""
        against = self.results.against
        yield CommentPart("verdict", [self._head()])
        yield CommentPart("gates", self._gates(deciding=True))
        yield CommentPart("figures", self._figures())
        first, *others = self._slices() or [("slice", [])]
        yield CommentPart(f"by {first[0]}", first[1])
        if against is not None:
            name = _quoted(against.baseline)
            yield CommentPart("what got worse", self._turns(f"Worse than {name}", against.regressions))
            yield CommentPart("what got better", self._turns(f"Better than {name}", against.recoveries))
        yield CommentPart("failed items", self._failures())
        yield CommentPart("warnings", self._warnings())
        for tag, forms in others:
            yield CommentPart(f"by {tag}", folded(f"By {_quoted(tag)}", forms))
        yield CommentPart("gates that inform", folded("Gates that inform", self._gates(deciding=False)))
        yield CommentPart("origin", [self._foot()])

    # ------------------------------------------------------------------------------- the answer

    def _head(self) -> str:
        results = self.results
        told = tables.recommendation(results)
        parts = [
            f"{marker(results.study)}\n## {wording.TITLES[results.verdict]}: {literal(results.study)}",
            f"**{prose(verdicts.headline(results), 2 * SENTENCE)}**",
            f"**{prose(told)}**" if told else "",
            prose(tables.outlook(results)),
            *map(prose, wording.limit_lines(results)),
            *(
                f"**{literal(each.gate)}: {prose(proof_summary(each))}**"
                for each in results.proofs
                if each.exposed
            ),
            _since(results.against) if results.against is not None else "",
        ]
        return "\n\n".join(filter(None, parts))

    def _gates(self, *, deciding: bool) -> list[str]:
        gates = [gate for gate in self.results.verdicts if gate.deciding is deciding]
        header = ("gate", "clause", "outcome", "why", "margin [95 %]", "n")
        return _table_forms(header, [row for gate in gates for row in _clauses(gate)], texts=4)

    # ------------------------------------------------------------------------------ the figures

    def _system(self, cell: str = "system") -> list[str]:
        """Returns the cell of the system column, which exists only if there are several systems."""
        return [cell] if len(self.results.arms) > 1 else []

    def _header(self, *names: str) -> list[str]:
        against = self.results.against
        since = [] if against is None else [f"since {literal(against.baseline)}"]
        return [*names, *self._system(), "mean [95 %]", "n", *since]

    def _figures(self) -> list[str]:
        rows = [
            [
                literal(wording.measure_title(measure)),
                *self._figure(one, measure, wording.largest_sample(found)),
            ]
            for measure in self.results.measures
            for found in [wording.overall(self.results, measure.name)]
            for one in found
        ]
        return _table_forms(self._header("measure"), rows, texts=len(self._system("")) + 1)

    def _slices(self) -> list[tuple[str, list[str]]]:
        """Returns a table for each tag, with the measures that apply to each value of the tag."""
        infos = {measure.name: measure for measure in self.results.measures}
        tags: dict[str, dict[str, list[Estimate]]] = {}
        for one in self.results.estimates:
            for tag, value in one.where.items() if one.n_expected and one.measure in infos else ():
                tags.setdefault(tag, {}).setdefault(value, []).append(one)
        found = []
        for tag, values in tags.items():
            rows = [
                [
                    "" if place else literal(value),
                    literal(one.measure),
                    *self._figure(one, infos[one.measure]),
                ]
                for value, estimates in values.items()
                for place, one in enumerate(estimates)
            ]
            header = self._header(prose(tag, NAME), "measure")
            forms = _table_forms(header, rows, texts=len(self._system("")) + 2)
            found.append((tag, forms))
        return found

    def _figure(self, one: Estimate, measure: MeasureInfo, asked: int = 0) -> list[str]:
        """Returns the cells of a mean: system, value, n, and the change since the baseline."""
        arm, against = Arm(one.system, one.factors).name, self.results.against
        bound = wording.lower_bound_sign(measure) or tables.review_bound_sign(one, self._understated)
        return [
            *self._system(literal(arm)),
            ("" if one.value is None else bound) + wording.with_interval(one.value, one.low, one.high),
            wording.sample_size(one, asked),
            *([] if against is None else [self._change(against, arm, one)]),
        ]

    @cached_property
    def _understated(self) -> set[tables.Slice]:
        return tables.understated_slices(self.results)

    def _change(self, against: BaselineChanges, arm: str, one: Estimate) -> str:
        """Returns how a mean changed, and how many items changed; empty if the measure is not compared."""
        compared = [
            each for each in against.comparisons if each.measure == one.measure and each.family == arm
        ]
        if not compared:
            return ""
        if all(each.refused for each in compared) or not self._in_both >= one.where.items():
            return "not compared"
        worse, better = (count[arm, one.measure, *one.where.items()] for count in self._turned)
        items = f"{worse} worse, {better} better" if worse or better else "no item changed"
        same = next((each for each in compared if each.where == one.where), None)
        if same is None or same.difference is None:
            return items
        return f"{wording.with_interval(same.difference, same.low, same.high, signed=True)}; {items}"

    @cached_property
    def _in_both(self) -> set[tuple[str, str]]:
        """The slices with an item that the baseline has too and that did not change."""
        against = self.results.against
        apart = {*against.added, *against.changed} if against is not None else set()
        both = [item for item in self.results.items if item.item_id not in apart]
        return {(tag, value) for tag in self.results.by for item in both for value in _values(item, tag)}

    @cached_property
    def _turned(self) -> list[Count]:
        """The number of items that are worse, and the number that are better, by arm, measure and slice."""
        return [] if self.results.against is None else [*map(self._counted, _sides(self.results.against))]

    def _counted(self, turns: Sequence[ItemChange]) -> Count:
        found: Count = Counter()
        for turn in turns:
            item = self._items.get(turn.item_id)
            slices = [(tag, value) for tag in self.results.by if item for value in _values(item, tag)]
            found.update([(turn.arm, turn.measure), *((turn.arm, turn.measure, each) for each in slices)])
        return found

    @cached_property
    def _items(self) -> Mapping[str, ItemView]:
        return {item.item_id: item for item in self.results.items}

    # ------------------------------------------------------------------------------- the details

    def _turns(self, title: str, turns: Sequence[ItemChange]) -> list[str]:
        texts = ["item", "query", "measure", *self._system(), "expected", "came back first"]
        rows = []
        for turn in turns[: max(ITEMS)]:
            item = self._items.get(turn.item_id)
            rows.append(
                [
                    literal(turn.item_id),
                    prose(turn.text, TEXT),
                    literal(turn.measure),
                    *self._system(literal(turn.arm)),
                    "" if item is None else prose(expected_text(item), TEXT),
                    "" if item is None else prose(returned_text(item, turn.arm), TEXT),
                    f"{wording.number(turn.before)} → {wording.number(turn.after)}"
                    + (f", {wording.VARIES}" if turn.varies else ""),
                ]
            )
        forms = _table_forms([*texts, "before → after"], rows, len(texts), ITEMS, of=len(turns))
        return folded(f"{title}: {len(turns)}", forms)

    def _failures(self) -> list[str]:
        header = ["item", "query", *self._system(), "failure"]
        rows = [
            [literal(item.item_id), prose(item.text, TEXT), *self._system(literal(arm)), prose(why, 2 * TEXT)]
            for item in self.results.items
            for arm, why in item.faults.items()
        ]
        return folded(f"Failed: {len(rows)}", _table_forms(header, rows, len(header), ITEMS))

    def _warnings(self) -> list[str]:
        found = self.results.trust.warnings
        lines = [f"- Warning: {prose(warning)}" for warning in found[:WARNINGS]]
        if len(found) > WARNINGS:
            lines.append(f"- … and {len(found) - WARNINGS} more.")
        return ["\n".join(lines)] if lines else []

    def _foot(self) -> str:
        """Returns a last line with the systems, the baseline, the time and the versions."""
        results, facts, against = self.results, self.results.trust.provenance, self.results.against
        shown = [literal(arm) for arm in results.arms[:SYSTEMS]]
        more = [f"{len(results.arms) - SYSTEMS} more"] if len(results.arms) > SYSTEMS else []
        kept = "none" if against is None else f"{literal(against.baseline)} {_when(against.created)}"
        parts = [
            f"systems: {', '.join([*shown, *more])}",
            f"baseline: {kept.strip()}",
            f"answers: {_when(results.created)}" if results.created else "",
            *(f"{name}: {literal(facts[name])}" for name in FACTS if name in facts),
        ]
        return f"<sub>{'; '.join(filter(None, parts))}</sub>"


def _since(against: BaselineChanges) -> str:
    """Returns a sentence or two about what changed since a baseline."""
    worse, better = (len({turn.item_id for turn in turns}) for turns in _sides(against))
    kept = ", ".join(filter(None, [_when(against.created), wording.TITLES[against.verdict]]))
    groups = {"new": against.added, "removed": against.removed, "changed": against.changed}
    apart = [f"{len(ids)} {what}" for what, ids in groups.items() if ids]
    count = f"{wording.quantity(worse, 'item')} worse, {better} better"
    told = f"Since {literal(against.baseline)} ({kept}): {count}."
    told += f" Not compared: {', '.join(apart)}." if apart else ""
    again = len(against.relabelled)
    return f"{told} Judged otherwise than then: {again}." if again else told


def _sides(against: BaselineChanges) -> tuple[list[ItemChange], list[ItemChange]]:
    return against.regressions, against.recoveries


def _values(item: ItemView, tag: str) -> list[str]:
    own = [item.language] if tag == "language" and item.language else []
    return item.tags.get(tag, own)


def _clauses(gate: Verdict) -> Iterator[list[str]]:
    """Yields one row per clause. A gate without clauses gets one row."""
    words = verdict_words(gate)
    title = words.title.removesuffix(", informs")  # the heading above says that
    name = f"{literal(gate.gate)} {title}" + (f": {prose(gate.about, TEXT)}" if gate.about else "")
    if not words.clauses:
        yield [name, "", "", prose(words.reason), "", ""]
    for place, each in enumerate(words.clauses):
        text, why = literal(each.text, 2 * NAME), prose(each.why, 2 * TEXT)
        yield ["" if place else name, text, prose(each.outcome, NAME), why, each.margin, each.n]


# ----------------------------------------------------------------------------------------------

MOST = 65_000  # characters. GitHub takes 65,536; the sender may add a line
ROWS, ITEMS = (100, 20), (20, 10, 5)  # rows of a table, and of one with texts: the first that fits
NAME, TEXT, SENTENCE = 80, 120, 600  # characters of a name, of a corpus text, of a sentence
JOINER = "\u2060"  # invisible, and no part of any name
# Where GitHub begins to read a name, a number, an address or an emoji: @name, #12, GH-12, ://, www., :tada:
_CALLS = re.compile(
    r"(?<=@)(?=\w)|(?<=#)(?=\d)|(?<=\bgh-)(?=\d)|(?<=:)(?=//)|(?<=\bwww)(?=\.)|(?<=:)(?=[\w+-]+:)",
    re.IGNORECASE,
)


def prose(text: str, limit: int = SENTENCE) -> str:
    """Returns a text on one line that GitHub shows unchanged."""
    return escaped(_CALLS.sub(JOINER, wording.shorten(wording.printable(text), limit)))


def literal(text: str, limit: int = NAME) -> str:
    """Returns a name as inline code, in which GitHub interprets nothing; as prose if it cannot be code."""
    short = wording.shorten(text, limit)
    found = code(short)
    return found if found.startswith("`") else prose(short, limit)


def expected_text(item: ItemView) -> str:
    """Returns what was expected of an item: its best passage, or the route, flag or intent."""
    best = item.expected[0] if item.expected and item.expects is None else None
    if best is None:
        return item.expectation
    return f"{best.target}: {best.text}" if best.text else best.target


def returned_text(item: ItemView, arm: str) -> str:
    """Returns what came back: the failure, or the route taken and the first hit."""
    if arm in item.faults:
        return f"failed: {item.faults[arm]}"
    took = item.took(arm) if item.expectation else ""
    first = next(iter(item.returned.get(arm, [])), None)
    hit = "nothing" if first is None else f"{first.doc_id}: {first.text}" if first.text else first.doc_id
    return "; ".join(filter(None, [took, hit]))


class CommentPart(NamedTuple):
    """A part of the comment, in shorter and shorter forms. `name` is listed if no form fits."""

    name: str
    forms: Sequence[str]


def fitted(blocks: Sequence[CommentPart]) -> str:
    """Joins the parts in order, in the longest forms that fit.

    The first and the last part get their room before the others.
    """
    room, last = MOST - 2 * SENTENCE, len(blocks) - 1  # the rest is for saying what is left out
    chosen: dict[int, str] = {}
    for place in sorted(range(len(blocks)), key=lambda place: (0 < place < last, place)):
        form = next((form for form in blocks[place].forms if len(form) + 2 <= room), "")
        chosen[place] = form
        room -= len(form) + 2
    absent = [block.name for place, block in enumerate(blocks) if block.forms and not chosen[place]]
    told = f"Too long for a comment, and left out: {', '.join(absent)}. The full report has it all."
    parts = [*(chosen[place] for place in range(last)), prose(told) if absent else "", chosen[last]]
    return "\n\n".join(filter(None, parts))


def _table_forms(
    header: Sequence[str], rows: Sequence[Sequence[str]], texts: int, sizes: Sequence[int] = ROWS, of: int = 0
) -> list[str]:
    """Returns a table in forms with fewer and fewer rows.

    `of` is the number of all rows, if there are more rows than given.
    """
    total, found = max(of, len(rows)), []
    for size in sizes:
        more = f"\n\n… and {total - size} more." if total > size else ""
        found.append(table(header, rows[:size], texts) + more)
    return list(dict.fromkeys(found)) if rows else []


def folded(summary: str, forms: Sequence[str]) -> list[str]:
    """Returns the forms, each folded so that it opens at a click. `summary` is HTML."""
    return [f"<details><summary>{summary}</summary>\n\n{form}\n\n</details>" for form in forms]
