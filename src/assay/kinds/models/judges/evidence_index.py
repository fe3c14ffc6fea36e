"""A corpus looked up by what rules ask for: reports, sections, SQL clauses, signal words.

Clauses and words of all items are looked up together, once: passes over the whole text are what costs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import PurePath
from typing import Any

import numpy as np

from assay.core.dataset import Dataset
from assay.kinds.models.datasets.section_names import is_section
from assay.kinds.models.judges.passage_table import PassageTable
from assay.kinds.models.judges.sql_clause import ClauseRefused

# "crack" is found in "cracks" and "cracked", "rest" not in "restricted"
_ENDINGS = r"(?:s|es|d|ed|ing)?"
_SUFFIXES = {".pdf", ".txt", ".html", ".htm", ".md", ".doc", ".docx", ".xml", ".json"}


def report_key(report: str) -> str:
    """A report's id as it is compared: without the ending of a file, in lower case."""
    path = PurePath(report.strip())
    plain = path.stem if path.suffix.lower() in _SUFFIXES else path.name
    return plain.casefold()


class EvidenceIndex:
    """What rules can ask of a dataset's corpus: of the passages as they came, where it was cut anew.

    `clauses` and `words` are all that will be asked for.
    """

    def __init__(
        self, dataset: Dataset, clauses: Iterable[str], words: Iterable[str], seconds: float, memory: str
    ) -> None:
        self._corpus = dataset.corpus.before or dataset.corpus
        self._columns, self._limits = dataset.columns, (seconds, memory)
        self._clauses = list(dict.fromkeys(clauses))
        self._words = list(dict.fromkeys(word.lower() for word in words))

    def place(self, doc_id: str) -> int:
        """Where a passage stands in the corpus."""
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
        """The passages of some reports."""
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
        """The passages in sections of these names, flexibly read."""
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
        """The passages that satisfy one of the clauses."""
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
        """For every word the passages that hold its letters: a quick sieve, which lets too many through."""
        import polars as pl

        try:
            texts = pl.Series(self._lowered, dtype=pl.String)
        except UnicodeEncodeError:
            texts = pl.Series([_whole(text) for text in self._lowered], dtype=pl.String)
        held = (
            pl.lit(texts).str.contains(_whole(word), literal=True).alias(str(number))
            for number, word in enumerate(self._words)
        )
        found = pl.select(held)
        return {word: found[str(number)].to_numpy() for number, word in enumerate(self._words)}

    def with_signals(self, signals: Sequence[str], least: int) -> Iterator[tuple[str, str]]:
        """The passages that hold at least so many of the words, and which."""
        words = {str(word).lower(): str(word) for word in signals}
        patterns = {word: re.compile(rf"\b{re.escape(word)}{_ENDINGS}\b") for word in words}
        mentions = {word: self._mentions[word] for word in words}
        counts = np.sum(list(mentions.values()), axis=0, dtype=np.intp)
        for place in np.flatnonzero(counts >= max(least, 1)).tolist():
            text = self._lowered[place]
            near = [word for word, places in mentions.items() if places[place]]
            held = [words[word] for word in near if _found(patterns[word], word, text)]
            if len(held) >= least:
                yield self._corpus.passages[place].doc_id, ", ".join(held)


def _found(pattern: re.Pattern[str], word: str, text: str) -> bool:
    """Whether a pattern that begins with a word is in a text; tried only where the word's letters are."""
    place = text.find(word)
    while place >= 0:
        if pattern.match(text, place):
            return True
        place = text.find(word, place + 1)
    return False


def _whole(text: str) -> str:
    """The text with a question mark for half a character, which can stand in no column."""
    return text.encode(errors="replace").decode()
