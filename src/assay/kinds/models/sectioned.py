"""Passages of sectioned reports from a Parquet file, with one row per passage, and a golden set in YAML."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from assay.core.dataset import Corpus, Dataset
from assay.core.errors import DataError, Problem
from assay.core.protocols import Kit
from assay.core.records import Item, Passage
from assay.datasets.reading import FolderReader, table_rows
from assay.kinds.models.golden_yaml import GoldenQuery, YamlGoldenSet, read_golden


@dataclass(frozen=True)
class SectionedReports:
    """Reports that were cut into passages with known sections, and queries by category.

    `id`, `text`, `report` and `section` are the names of the table's columns. Every other column becomes
    metadata. `people` names the categories that keywords cannot judge. Their items get the tag review=yes.
    """

    passages: str
    golden: str
    id: str = "chunk_id"
    text: str = "chunk_text"
    report: str = "report_id"
    section: str = "section_name"
    people: tuple[str, ...] = ("conceptual_queries", "comparative_queries")

    def load(self, kit: Kit) -> Dataset:
        problems: list[Problem] = []
        corpus = golden = None
        try:
            corpus = self._corpus(kit.path(self.passages))
        except DataError as error:
            problems += error.problems
        try:
            golden = read_golden(kit.path(self.golden))
        except DataError as error:
            problems += error.problems
        if corpus is None or golden is None:
            raise DataError(problems)
        return Dataset(
            Path(self.golden).stem,
            corpus,
            [
                _item(entry, category, category in self.people, golden.universal)
                for category, entries in golden.entries.items()
                for entry in entries
            ],
            warnings=[
                *golden.warnings,
                *golden.differing(_corpus_stats(corpus)),
                *self._absences(golden, corpus),
            ],
            columns={"doc_id": self.id, "text": self.text, "source": self.report, "section": self.section},
            places=golden.places,
        )

    def _corpus(self, path: Path) -> Corpus:
        reader = FolderReader(path.parent)
        columns = (self.id, self.text, self.report, self.section)
        rows = table_rows(reader, path, needed=columns, texts=columns)
        passages = reader.collect(path, rows, self._passage, key="doc_id")
        reader.finish()
        return Corpus(passages.records)

    def _passage(self, row: dict[str, Any]) -> Passage:
        fix = "Fill it, or take the row out."
        problems = [
            Problem("the cell is empty", field=column, fix=fix)
            for column in (self.id, self.text)
            if row[column] is None
        ]
        if problems:
            raise DataError(problems)
        own = {self.id, self.text, self.report, self.section}
        return Passage(
            row[self.id],
            row[self.text],
            source=row[self.report] or None,
            section=row[self.section] or None,
            metadata={key: value for key, value in row.items() if value is not None and key not in own},
        )

    def _absences(self, golden: YamlGoldenSet, corpus: Corpus) -> Iterator[str]:
        """Yields warnings about missing things: categories in `people`, and reports without a passage."""
        if unknown := [name for name in self.people if name not in golden.entries]:
            what = f"no category is called {' or '.join(map(repr, unknown))}, which people are to review"
            yield str(Problem(what, self.golden, fix=f"Categories: {', '.join(golden.entries)}."))
        there = {passage.source or passage.doc_id for passage in corpus.passages}
        absent: dict[str, str] = {}
        for entry in chain.from_iterable(golden.entries.values()):
            for report in entry.ground_truth.expected_report_ids or ():
                if report not in there:
                    absent.setdefault(report, entry.id)
        if absent:
            report, item_id = next(iter(absent.items()))
            what = (
                f"no passage is from {len(absent)} of the expected reports, such as {report!r} of {item_id}"
            )
            yield str(Problem(what, self.golden, fix="Check how the table writes their names."))


def _corpus_stats(corpus: Corpus) -> dict[str, Any]:
    """Returns the facts about a corpus that a golden set may state.

    The first and last report are known only if the metadata have `report_date`.
    """
    dates = [str(each.metadata["report_date"]) for each in corpus.passages if "report_date" in each.metadata]
    counts = {
        "total_chunks": len(corpus),
        "total_reports": len({passage.source or passage.doc_id for passage in corpus.passages}),
        "total_sections": len({passage.section for passage in corpus.passages if passage.section}),
    }
    return counts | ({"first_report": min(dates), "last_report": max(dates)} if dates else {})


def _item(entry: GoldenQuery, category: str, review: bool, universal: list[str]) -> Item:
    """Returns the item of an entry. Its gold holds what the authors declared."""
    truth = entry.ground_truth
    sections = truth.primary_sections or None
    tags = {
        "category": [category],
        "difficulty": entry.difficulty,
        "intent": entry.intent,
        "review": ["yes" if review else "no"],
    }
    gold = {
        "sql": truth.verification_sql,
        "reports": truth.expected_report_ids or None,
        "sections": sections,
        "universal": universal if sections else None,
        "signals": truth.relevance_signals or None,
        "declared": truth.declared or None,
    }
    return Item(
        entry.id,
        entry.query,
        tags={key: values for key, values in tags.items() if values},
        gold={key: value for key, value in gold.items() if value is not None},
        expects="nothing" if entry.is_negative else None,
    )
