"""Relevance by rule: what an item's gold says about reports, sections, SQL and signal words decides passages.

report     the passage is from a report that gold names
section    it stands in a section that gold names
universal  it stands in a section that is valid for every question, such as a synopsis
sql        it satisfies the item's WHERE clause
signals    it holds at least so many of the item's signal words

Which rules count for which items, and what grade each gives, is declared in the study. A passage that several
rules find has the best of their grades, and every rule stands in its reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, get_args

from assay.core.block import Block
from assay.core.dataset import Dataset, Place
from assay.core.errors import Problem, UsageError
from assay.core.protocols import ItemFact, Kit
from assay.core.records import Item, Judgment
from assay.kinds.models.judges.evidence_index import EvidenceIndex
from assay.kinds.models.judges.sql_clause import ClauseRefused

FIRST_ADDRESS = "assay.judges.rules"

Rule = Literal["report", "section", "universal", "sql", "signals"]
RULES: tuple[Rule, ...] = get_args(Rule)
GOLD = {
    "report": "reports",
    "section": "sections",
    "universal": "universal",
    "sql": "sql",
    "signals": "signals",
}
NEGATIVE: tuple[Rule, ...] = ("sql", "signals")  # what must not come back where nothing is expected
SHOWN = 5


@dataclass(frozen=True)
class Rules:
    """Relevance by declared rules over a closed world: what no rule finds is not relevant.

    `rules` says which rules count for items with each value of the tag `by`; items of any other value go by
    every rule that their gold has something for.
    """

    by: str = "category"
    rules: dict[str, list[Rule]] = field(default_factory=dict)
    grades: dict[Rule, float] = field(default_factory=dict)  # 1 where it says nothing
    signals: int = 2  # words that make a passage relevant by signals
    seconds: float = 5.0  # for one clause
    memory: str = "1GB"  # for all of SQL

    version: ClassVar[str] = "1"
    names: ClassVar[tuple[str, ...]] = ("rules",)
    closed_labels: ClassVar[frozenset[str]] = frozenset({"relevance"})
    reasons: ClassVar[tuple[Rule, ...]] = RULES

    def __post_init__(self) -> None:
        if self.signals < 1:
            raise UsageError(f"signals is {self.signals}. One word at least must be found.")
        if wrong := {rule: grade for rule, grade in self.grades.items() if not grade >= 1}:
            rule, grade = next(iter(wrong.items()))
            raise UsageError(
                f"grades: {rule} is {grade}. A rule makes relevant: give it a grade of 1 or more."
            )

    def judge(self, dataset: Dataset, blocks: Sequence[Block], kit: Kit) -> list[Judgment]:
        by_sql = [item for item in dataset.items if "sql" in self.rules_of(item)]
        by_signals = [item for item in dataset.items if "signals" in self.rules_of(item)]
        index = self._index(dataset, by_sql, by_signals)
        return [judgment for item in dataset.items for judgment in self._judged(item, index)]

    def _index(self, dataset: Dataset, by_sql: Iterable[Item], by_signals: Iterable[Item]) -> EvidenceIndex:
        clauses = [str(item.gold["sql"]) for item in by_sql if item.gold.get("sql")]
        words = [str(word) for item in by_signals for word in item.gold["signals"]]
        return EvidenceIndex(dataset, clauses, words, self.seconds, self.memory)

    def _judged(self, item: Item, index: EvidenceIndex) -> Iterator[Judgment]:
        found: dict[str, dict[Rule, str]] = {}
        for rule in self.rules_of(item):
            for doc_id, why in self._found(rule, item, index):
                found.setdefault(doc_id, {})[rule] = why
        for doc_id in sorted(found, key=index.place):
            reasons = found[doc_id]
            grade = max(self.grades.get(rule, 1.0) for rule in reasons)
            yield Judgment(
                item.item_id,
                "relevance",
                grade,
                "rules",
                target=doc_id,
                category="+".join(reasons),
                version=self.version,
                reason="; ".join(f"{rule}: {why}" for rule, why in reasons.items()),
            )

    def rules_of(self, item: Item) -> list[Rule]:
        """The rules that count for an item and that its gold has something for."""
        if item.expects == "nothing":
            declared: Iterable[Rule] = NEGATIVE
        else:
            values = [value for value in item.values(self.by) if value in self.rules]
            declared = [rule for value in values for rule in self.rules[value]] if values else _plain(item)
        return [rule for rule in dict.fromkeys(declared) if item.gold.get(GOLD[rule])]

    def _found(self, rule: Rule, item: Item, index: EvidenceIndex) -> Iterator[tuple[str, str]]:
        """The passages that a rule finds for an item, and why."""
        gold = item.gold[GOLD[rule]]
        match rule:
            case "report":
                yield from ((doc_id, index.report_of(doc_id)) for doc_id in index.of_reports(gold))
            case "section" | "universal":
                yield from ((doc_id, index.section_of(doc_id)) for doc_id in index.in_sections(gold))
            case "sql":
                yield from ((doc_id, str(gold)) for doc_id in index.satisfying(str(gold)))
            case "signals":
                yield from index.with_signals(gold, min(self.signals, len(gold)))

    def describe_item(self, item: Item) -> list[ItemFact]:
        """What a reviewer may want to know of an item whose rules were not enough."""
        return [
            ItemFact("sql_ground_truth", _text(item.gold.get("sql"))),
            ItemFact("expected_report_ids", _words(item.gold.get("reports"))),
            ItemFact("relevance_signals", _words(item.gold.get("signals")), "Looked for"),
        ]

    # ---------------------------------------------------------------------------- before a run

    def examine(self, dataset: Dataset, kit: Kit) -> tuple[list[Problem], list[str]]:
        """What cannot be judged; and what can, but contradicts what an item's author declared."""
        index, problems, warnings = self._index(dataset, dataset.items, ()), list[Problem](), list[str]()
        for item in dataset.items:
            place = dataset.places.get(item.item_id, Place(dataset.name))
            if not self.rules_of(item):
                what = "no rule that counts for it has any gold"
                fix = f"Give its gold something to judge by, or list other rules for its {self.by}."
                problems.append(_problem(item, place, "", what, fix))
            if unknown := index.unknown_reports(item.gold.get("reports", ())):
                what, fix = f"not in the corpus: {', '.join(unknown[:SHOWN])}", "Correct the ids."
                problems.append(_problem(item, place, "expected_report_ids", what, fix))
            try:
                warnings += _contradictions(item, place, index)
            except ClauseRefused as error:
                problems.append(_problem(item, place, "verification_sql", str(error), ""))
        return problems, warnings


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _words(value: object) -> tuple[str, ...]:
    return tuple(str(each) for each in value) if isinstance(value, list | tuple) else ()


def _plain(item: Item) -> list[Rule]:
    """Every rule that gold has something for; sections that are always valid make nothing relevant."""
    return [rule for rule in RULES if rule != "universal" and item.gold.get(GOLD[rule])]


def _problem(item: Item, place: Place, field: str, what: str, fix: str) -> Problem:
    name = f"{item.item_id}.{field}" if field else item.item_id
    return Problem(what.removesuffix("."), place.file, place.line, name, fix)


def _contradictions(item: Item, place: Place, index: EvidenceIndex) -> Iterator[str]:
    """What the corpus holds that an item's author did not expect."""
    declared: Mapping[str, float] = item.gold.get("declared", {})
    where = f"{place.file}{f':{place.line}' if place.line is not None else ''}: {item.item_id}"
    if clause := item.gold.get("sql"):
        matching = index.satisfying(clause)
        reports = len({index.report_of(doc_id) for doc_id in matching})
        if not matching and item.expects != "nothing":
            yield f"{where}: its clause matches no passage"
        elif matching and item.expects == "nothing":
            yield f"{where}: nothing is expected, but its clause matches {_passages(len(matching))}"
        yield from _differing(where, declared, "expected_chunk_count", len(matching), "its clause matches")
        yield from _differing(where, declared, "expected_report_count", reports, "distinct reports match:")
        least = declared.get("min_relevant_reports", 0)
        if matching and reports < least:
            yield f"{where}: min_relevant_reports says {least:g}, and its clause matches {reports} reports"
    if sections := item.gold.get("sections"):
        count = len(index.in_sections(sections))
        if not count:
            yield f"{where}: no passage stands in {', '.join(sections)}"
        yield from _differing(where, declared, "section_chunk_count", count, "those sections hold")


def _differing(
    where: str, declared: Mapping[str, float], field: str, found: int, words: str
) -> Iterator[str]:
    if field in declared and declared[field] != found:
        yield f"{where}: {field} says {declared[field]:g}, {words} {found}"


def _passages(number: int) -> str:
    return f"{number} passage{'s' * (number != 1)}"
