"""The report as a comment on a pull request: the verdict, figures by slice, what changed since a baseline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from html import escape
from typing import ClassVar
from urllib.parse import quote

from assay.core.records import Arm, Estimate, Verdict
from assay.core.results import BaselineChanges, ItemChange, ItemView, MeasureInfo, Results
from assay.report import review as reviewed
from assay.report import wording as say
from assay.report.github_text import (
    ITEMS,
    NAME,
    SENTENCE,
    TEXT,
    CommentPart,
    expected_text,
    fitted,
    folded,
    literal,
    prose,
    returned_text,
    tables,
)
from assay.report.proofs import summary
from assay.report.verdict_words import verdict_words

WARNINGS, SYSTEMS = 10, 10  # shown of each
FACTS = ("assay", "python", "study fingerprint")  # of where the figures are from

Count = Counter[tuple[object, ...]]


@dataclass(frozen=True)
class GitHubComment:
    """GitHub-flavoured Markdown for a comment, never longer than one may be; details give way first."""

    suffix: ClassVar[str] = ".github.md"

    def render(self, results: Results) -> bytes:
        return (fitted(list(_Comment(results).blocks())) + "\n").encode()


def marker(study: str) -> str:
    """The first line of a study's comment, which nobody sees and by which it is found again."""
    return f"<!-- assay: {quote(study, safe=' ')[:200]} -->"


def _quoted(name: str) -> str:
    """A name in a line of HTML, as code."""
    return f"<code>{escape(say.shorten(say.printable(name), NAME))}</code>"


def _when(created: float | None) -> str:
    return "" if created is None else f"{datetime.fromtimestamp(created, UTC):%Y-%m-%d %H:%M} UTC"


@dataclass(frozen=True)
class _Comment:
    """What the comment says of some results."""

    results: Results

    def blocks(self) -> Iterator[CommentPart]:
        """In the order in which they are read: the answer, the evidence, the details, where it is from."""
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
        told = reviewed.recommendation(results)
        parts = [
            f"{marker(results.study)}\n## {say.TITLES[results.verdict]}: {literal(results.study)}",
            f"**{prose(say.headline(results), 2 * SENTENCE)}**",
            f"**{prose(told)}**" if told else "",
            prose(reviewed.outlook(results)),
            *map(prose, say.limit_lines(results)),
            *(f"**{literal(each.gate)}: {prose(summary(each))}**" for each in results.proofs if each.exposed),
            _since(results.against) if results.against is not None else "",
        ]
        return "\n\n".join(filter(None, parts))

    def _gates(self, *, deciding: bool) -> list[str]:
        gates = [gate for gate in self.results.verdicts if gate.deciding is deciding]
        header = ("gate", "clause", "outcome", "why", "margin [95 %]", "n")
        return tables(header, [row for gate in gates for row in _clauses(gate)], texts=4)

    # ------------------------------------------------------------------------------ the figures

    def _system(self, cell: str = "system") -> list[str]:
        """The cell of a column that stands only where there are several systems."""
        return [cell] if len(self.results.arms) > 1 else []

    def _header(self, *names: str) -> list[str]:
        against = self.results.against
        since = [] if against is None else [f"since {literal(against.baseline)}"]
        return [*names, *self._system(), "mean [95 %]", "n", *since]

    def _figures(self) -> list[str]:
        rows = [
            [literal(say.measure_title(measure)), *self._figure(one, measure, say.largest_sample(found))]
            for measure in self.results.measures
            for found in [say.overall(self.results, measure.name)]
            for one in found
        ]
        return tables(self._header("measure"), rows, texts=len(self._system("")) + 1)

    def _slices(self) -> list[tuple[str, list[str]]]:
        """A table for each tag: of every value, the measures that apply to it."""
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
            forms = tables(header, rows, texts=len(self._system("")) + 2)
            found.append((tag, forms))
        return found

    def _figure(self, one: Estimate, measure: MeasureInfo, asked: int = 0) -> list[str]:
        """The cells of a mean: system, value, n, and the change since the baseline."""
        arm, against = Arm(one.system, one.factors).name, self.results.against
        bound = say.lower_bound_sign(measure) or reviewed.at_least(one, self._understated)
        return [
            *self._system(literal(arm)),
            ("" if one.value is None else bound) + say.with_interval(one.value, one.low, one.high),
            say.sample_size(one, asked),
            *([] if against is None else [self._change(against, arm, one)]),
        ]

    @cached_property
    def _understated(self) -> set[reviewed.Slice]:
        return reviewed.lower_bounds(self.results)

    def _change(self, against: BaselineChanges, arm: str, one: Estimate) -> str:
        """How a mean changed, and how many items did; nothing for a measure that is not compared."""
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
        return f"{say.with_interval(same.difference, same.low, same.high, signed=True)}; {items}"

    @cached_property
    def _in_both(self) -> set[tuple[str, str]]:
        """The slices that hold an item which the baseline has too, unchanged."""
        against = self.results.against
        apart = {*against.added, *against.changed} if against is not None else set()
        both = [item for item in self.results.items if item.item_id not in apart]
        return {(tag, value) for tag in self.results.by for item in both for value in _values(item, tag)}

    @cached_property
    def _turned(self) -> list[Count]:
        """How many items are worse, and how many better, by arm, measure and slice."""
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
                    f"{say.number(turn.before)} → {say.number(turn.after)}"
                    + (f", {say.VARIES}" if turn.varies else ""),
                ]
            )
        forms = tables([*texts, "before → after"], rows, len(texts), ITEMS, of=len(turns))
        return folded(f"{title}: {len(turns)}", forms)

    def _failures(self) -> list[str]:
        header = ["item", "query", *self._system(), "failure"]
        rows = [
            [literal(item.item_id), prose(item.text, TEXT), *self._system(literal(arm)), prose(why, 2 * TEXT)]
            for item in self.results.items
            for arm, why in item.faults.items()
        ]
        return folded(f"Failed: {len(rows)}", tables(header, rows, len(header), ITEMS))

    def _warnings(self) -> list[str]:
        found = self.results.trust.warnings
        lines = [f"- Warning: {prose(warning)}" for warning in found[:WARNINGS]]
        if len(found) > WARNINGS:
            lines.append(f"- … and {len(found) - WARNINGS} more.")
        return ["\n".join(lines)] if lines else []

    def _foot(self) -> str:
        """What was asked, when and with what."""
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
    """What changed since a baseline, in a sentence or two."""
    worse, better = (len({turn.item_id for turn in turns}) for turns in _sides(against))
    kept = ", ".join(filter(None, [_when(against.created), say.TITLES[against.verdict]]))
    groups = {"new": against.added, "removed": against.removed, "changed": against.changed}
    apart = [f"{len(ids)} {what}" for what, ids in groups.items() if ids]
    told = (
        f"Since {literal(against.baseline)} ({kept}): {say.quantity(worse, 'item')} worse, {better} better."
    )
    told += f" Not compared: {', '.join(apart)}." if apart else ""
    again = len(against.relabelled)
    return f"{told} Judged otherwise than then: {again}." if again else told


def _sides(against: BaselineChanges) -> tuple[list[ItemChange], list[ItemChange]]:
    return against.regressions, against.recoveries


def _values(item: ItemView, tag: str) -> list[str]:
    own = [item.language] if tag == "language" and item.language else []
    return item.tags.get(tag, own)


def _clauses(gate: Verdict) -> Iterator[list[str]]:
    """A row a clause; one for the gate where it has none."""
    words = verdict_words(gate)
    title = words.title.removesuffix(", informs")  # which the heading above them says
    name = f"{literal(gate.gate)} {title}" + (f": {prose(gate.about, TEXT)}" if gate.about else "")
    if not words.clauses:
        yield [name, "", "", prose(words.reason), "", ""]
    for place, each in enumerate(words.clauses):
        text, why = literal(each.text, 2 * NAME), prose(each.why, 2 * TEXT)
        yield ["" if place else name, text, prose(each.outcome, NAME), why, each.margin, each.n]
