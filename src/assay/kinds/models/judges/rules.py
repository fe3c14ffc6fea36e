"""Relevance by rule: an item's gold about reports, sections, SQL and signal words decides about passages.

report     the passage is from a report that the gold names
section    the passage stands in a section that the gold names
universal  the passage stands in a section that is valid for every question, such as a synopsis
sql        the passage satisfies the item's WHERE clause
signals    the passage holds at least a minimum number of the item's signal words

The study declares which rules count for which items, and which grade each rule gives. If several rules find a
passage, the passage gets the best of their grades, and its reason names every rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePath
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from assay.core.block import Block
from assay.core.dataset import Dataset, Place
from assay.core.errors import Problem, UsageError
from assay.core.protocols import ItemFact, Kit
from assay.core.records import Item, Judgment
from assay.kinds.models.judges.passage_table import PassageTable
from assay.kinds.models.judges.sql_clause import ClauseRefused
from assay.kinds.models.measures import is_section

FIRST_ADDRESS = "assay.judges.rules"

# "crack" is found in "cracks" and "cracked", "rest" not in "restricted"
_ENDINGS = r"(?:s|es|d|ed|ing)?"
_SUFFIXES = {".pdf", ".txt", ".html", ".htm", ".md", ".doc", ".docx", ".xml", ".json"}


def report_key(report: str) -> str:
    """Returns a report's id in the form for comparisons: without a file ending, in lower case."""
    path = PurePath(report.strip())
    plain = path.stem if path.suffix.lower() in _SUFFIXES else path.name
    return plain.casefold()


class RuleIndex:
    """Lookups in a dataset's corpus that rules need.

    If documents were cut again, the lookups use the original passages. Clauses and words of all items are
    looked up together, once, because passes over the whole text are expensive. `clauses` and `words` must
    have all clauses and words that are looked up later.
    """

    def __init__(
        self, dataset: Dataset, clauses: Iterable[str], words: Iterable[str], seconds: float, memory: str
    ) -> None:
        self._corpus = dataset.corpus.before or dataset.corpus
        self._columns, self._limits = dataset.columns, (seconds, memory)
        self._clauses = list(dict.fromkeys(clauses))
        self._words = list(dict.fromkeys(word.lower() for word in words))

    def place(self, doc_id: str) -> int:
        """Returns the position of a passage in the corpus."""
        return self._corpus.position[doc_id]

    def report_of(self, doc_id: str) -> str:
        return self._corpus.document_of(doc_id)

    def section_of(self, doc_id: str) -> str:
        return self._corpus.section_of(doc_id) or ""

    # --------------------------------------------------------------------- reports and sections

    @cached_property
    def _by_report(self) -> dict[str, list[str]]:
        reports = [passage.source or passage.doc_id for passage in self._corpus.passages]
        keys = {report: report_key(report) for report in set(reports)}
        found: dict[str, list[str]] = {}
        for report, passage in zip(reports, self._corpus.passages, strict=True):
            found.setdefault(keys[report], []).append(passage.doc_id)
        return found

    def of_reports(self, reports: Iterable[str]) -> list[str]:
        """Returns the passages of some reports."""
        return [doc_id for report in reports for doc_id in self._by_report.get(report_key(report), ())]

    def unknown_reports(self, reports: Iterable[str]) -> list[str]:
        return [report for report in reports if report_key(report) not in self._by_report]

    @cached_property
    def _by_section(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for passage in self._corpus.passages:
            if passage.section is not None:
                found.setdefault(passage.section, []).append(passage.doc_id)
        return found

    def in_sections(self, sections: Sequence[str]) -> list[str]:
        """Returns the passages in sections of these names. Names are compared flexibly."""
        named = [name for name in self._by_section if is_section(name, sections)]
        return [doc_id for name in named for doc_id in self._by_section[name]]

    # ------------------------------------------------------------------------------------- SQL

    @cached_property
    def _satisfying(self) -> dict[str, list[str] | ClauseRefused]:
        seconds, memory = self._limits
        with PassageTable(self._corpus, self._columns, seconds=seconds, memory=memory) as table:
            if self._words:
                _ = self._mentions  # worked out here while the table is loaded there
            return dict(zip(self._clauses, table.matching_all(self._clauses), strict=True))

    def satisfying(self, clause: str) -> list[str]:
        """Returns the passages that satisfy one of the clauses."""
        found = self._satisfying[clause]
        if isinstance(found, ClauseRefused):
            raise found
        return found

    # --------------------------------------------------------------------------------- signals

    @cached_property
    def _lowered(self) -> list[str]:
        return [passage.text.lower() for passage in self._corpus.passages]

    @cached_property
    def _mentions(self) -> dict[str, np.ndarray[Any, np.dtype[np.bool_]]]:
        """For every word, the passages that contain its letters. This fast filter lets too many through."""
        import polars as pl

        try:
            texts = pl.Series(self._lowered, dtype=pl.String)
        except UnicodeEncodeError:
            texts = pl.Series([_encodable(text) for text in self._lowered], dtype=pl.String)
        held = (
            pl.lit(texts).str.contains(_encodable(word), literal=True).alias(str(number))
            for number, word in enumerate(self._words)
        )
        found = pl.select(held)
        return {word: found[str(number)].to_numpy() for number, word in enumerate(self._words)}

    def with_signals(self, signals: Sequence[str], least: int) -> Iterator[tuple[str, str]]:
        """Yields the passages that hold at least `least` of the words, each with the words that it holds."""
        words = {str(word).lower(): str(word) for word in signals}
        patterns = {word: re.compile(rf"\b{re.escape(word)}{_ENDINGS}\b") for word in words}
        mentions = {word: self._mentions[word] for word in words}
        counts = np.sum(list(mentions.values()), axis=0, dtype=np.intp)
        for place in np.flatnonzero(counts >= max(least, 1)).tolist():
            text = self._lowered[place]
            near = [word for word, places in mentions.items() if places[place]]
            held = [words[word] for word in near if _occurs(patterns[word], word, text)]
            if len(held) >= least:
                yield self._corpus.passages[place].doc_id, ", ".join(held)


def _occurs(pattern: re.Pattern[str], word: str, text: str) -> bool:
    """Whether a pattern that begins with a word matches in a text. It is tried only where the word occurs."""
    place = text.find(word)
    while place >= 0:
        if pattern.match(text, place):
            return True
        place = text.find(word, place + 1)
    return False


def _encodable(text: str) -> str:
    """Returns the text with question marks for half characters, which no column can hold."""
    return text.encode(errors="replace").decode()


Rule = Literal["report", "section", "universal", "sql", "signals"]
RULES: tuple[Rule, ...] = get_args(Rule)
GOLD = {
    "report": "reports",
    "section": "sections",
    "universal": "universal",
    "sql": "sql",
    "signals": "signals",
}
NEGATIVE: tuple[Rule, ...] = ("sql", "signals")  # what must not come back if nothing is expected
SHOWN = 5


@dataclass(frozen=True)
class RelevanceRules:
    """Relevance by declared rules over a closed world: a passage that no rule finds is not relevant.

    `rules` lists, for each value of the tag `by`, the rules that count for items with this value. For items
    with other values, every rule counts that their gold has something for, except universal. For items that
    expect nothing, only sql and signals count.
    """

    first_address: ClassVar[str] = "assay.judges.rules:Rules"

    by: str = "category"
    rules: dict[str, list[Rule]] = field(default_factory=dict)
    grades: dict[Rule, float] = field(default_factory=dict)  # 1 for rules without an entry
    signals: int = 2  # how many words make a passage relevant by signals
    seconds: float = 5.0  # the time limit for one clause
    memory: str = "1GB"  # the memory limit for all SQL

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
                f"grades: {rule} is {grade}. A rule marks passages as relevant: give it a grade of 1 or more."
            )

    def judge(self, dataset: Dataset, blocks: Sequence[Block], kit: Kit) -> list[Judgment]:
        by_sql = [item for item in dataset.items if "sql" in self.rules_of(item)]
        by_signals = [item for item in dataset.items if "signals" in self.rules_of(item)]
        index = self._index(dataset, by_sql, by_signals)
        return [judgment for item in dataset.items for judgment in self._judged(item, index)]

    def _index(self, dataset: Dataset, by_sql: Iterable[Item], by_signals: Iterable[Item]) -> RuleIndex:
        clauses = [str(item.gold["sql"]) for item in by_sql if item.gold.get("sql")]
        words = [str(word) for item in by_signals for word in item.gold["signals"]]
        return RuleIndex(dataset, clauses, words, self.seconds, self.memory)

    def _judged(self, item: Item, index: RuleIndex) -> Iterator[Judgment]:
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
        """Returns the rules that count for an item and that its gold has something for."""
        if item.expects == "nothing":
            declared: Iterable[Rule] = NEGATIVE
        else:
            values = [value for value in item.values(self.by) if value in self.rules]
            declared = (
                [rule for value in values for rule in self.rules[value]] if values else _default_rules(item)
            )
        return [rule for rule in dict.fromkeys(declared) if item.gold.get(GOLD[rule])]

    def _found(self, rule: Rule, item: Item, index: RuleIndex) -> Iterator[tuple[str, str]]:
        """Yields the passages that a rule finds for an item, each with the reason."""
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
        """Returns facts for the reviewers of an item whose rules were not enough."""
        return [
            ItemFact("sql_ground_truth", _text(item.gold.get("sql"))),
            ItemFact("expected_report_ids", _words(item.gold.get("reports"))),
            ItemFact("relevance_signals", _words(item.gold.get("signals")), "Looked for"),
        ]

    # ---------------------------------------------------------------------------- before a run

    def examine(self, dataset: Dataset, kit: Kit) -> tuple[list[Problem], list[str]]:
        """Returns problems of items that cannot be judged, and warnings.

        There is a warning for each declaration that the corpus contradicts.
        """
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


def _default_rules(item: Item) -> list[Rule]:
    """Returns every rule that the gold has something for, except universal, which never counts by default."""
    return [rule for rule in RULES if rule != "universal" and item.gold.get(GOLD[rule])]


def _problem(item: Item, place: Place, field: str, what: str, fix: str) -> Problem:
    name = f"{item.item_id}.{field}" if field else item.item_id
    return Problem(what.removesuffix("."), place.file, place.line, name, fix)


def _contradictions(item: Item, place: Place, index: RuleIndex) -> Iterator[str]:
    """Yields a warning for each declaration of an item that the corpus contradicts."""
    declared: Mapping[str, float] = item.gold.get("declared", {})
    where = f"{place.file}{f':{place.line}' if place.line is not None else ''}: {item.item_id}"
    if clause := item.gold.get("sql"):
        matching = index.satisfying(clause)
        reports = len({index.report_of(doc_id) for doc_id in matching})
        if not matching and item.expects != "nothing":
            yield f"{where}: its clause matches no passage"
        elif matching and item.expects == "nothing":
            yield f"{where}: nothing is expected, but its clause matches {_passages(len(matching))}"
        yield from _count_mismatch(
            where, declared, "expected_chunk_count", len(matching), "its clause matches"
        )
        yield from _count_mismatch(
            where, declared, "expected_report_count", reports, "distinct reports match:"
        )
        least = declared.get("min_relevant_reports", 0)
        if matching and reports < least:
            yield f"{where}: min_relevant_reports says {least:g}, and its clause matches {reports} reports"
    if sections := item.gold.get("sections"):
        count = len(index.in_sections(sections))
        if not count:
            yield f"{where}: no passage stands in {', '.join(sections)}"
        yield from _count_mismatch(where, declared, "section_chunk_count", count, "those sections hold")


def _count_mismatch(
    where: str, declared: Mapping[str, float], field: str, found: int, words: str
) -> Iterator[str]:
    if field in declared and declared[field] != found:
        yield f"{where}: {field} says {declared[field]:g}, {words} {found}"


def _passages(number: int) -> str:
    return f"{number} passage{'s' * (number != 1)}"
