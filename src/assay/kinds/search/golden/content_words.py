"""The content words of queries: how many of them a passage shares, and which queries are similar."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from assay.kinds.search.anchor_text import normalize
from assay.kinds.search.golden.corpus import Books
from assay.kinds.search.golden.entry import HIGH, GoldenEntry
from assay.retrieval.lexical import Analysis, Language
from assay.retrieval.words import ENGLISH_STOP_WORDS

if TYPE_CHECKING:
    from tantivy import TextAnalyzer

NEAR = 90.0  # of 100: similarity from which two queries count as one
COMMON = 0.2  # share of paragraphs above which a word is a stop word, if its language has no list

_LANGUAGES: dict[str, Language] = {
    "ar": "arabic", "da": "danish", "nl": "dutch", "en": "english", "fi": "finnish", "fr": "french",
    "de": "german", "el": "greek", "hu": "hungarian", "it": "italian", "no": "norwegian", "pt": "portuguese",
    "ro": "romanian", "ru": "russian", "es": "spanish", "sv": "swedish", "ta": "tamil", "tr": "turkish",
}  # fmt: skip
_WITHOUT_LIST = frozenset({"arabic", "greek", "romanian", "tamil", "turkish", "any"})
_PARAGRAPH = re.compile(r"(?:\r?\n[ \t]*){2,}")


@dataclass(frozen=True)
class ContentWords:
    """Finds the content words of texts: all words but stop words, stemmed if their language has a stemmer."""

    books: Books

    @cached_property
    def _analyzers(self) -> dict[str, TextAnalyzer]:
        return {}

    def of(self, language: str, text: str) -> list[str]:
        """Returns the content words of a text, in the order of the text."""
        if language not in self._analyzers:
            self._analyzers[language] = self._analysis(language).analyzer()
        words: list[str] = self._analyzers[language].analyze(text)
        return words

    def key(self, language: str, text: str) -> str:
        """Returns a key to compare queries: the sorted content words, or the whole text if it has none."""
        return " ".join(sorted(self.of(language, text))) or normalize(text)

    def overlap(self, entry: GoldenEntry) -> float | None:
        """Returns the share of a query's content words that occur in the best of its answering passages.

        Returns None if the query has no content words, or if no passage answers it.
        """
        words = set(self.of(entry.language, entry.query))
        texts = [self._paragraphs(entry, index) for index in _answering_passages(entry)]
        if not words or not texts:
            return None
        return max(len(words & set(self.of(entry.language, text))) / len(words) for text in texts)

    def _paragraphs(self, entry: GoldenEntry, index: int) -> str:
        """Returns the paragraphs around an anchor, or only the anchor if it is not in the corpus."""
        one = entry.expected_passages[index]
        places = self.books.spans(entry.language, one.book_slug, one.chapter_number, one.passage_substring)
        if not places:
            return one.passage_substring
        doc_id, span = places[0]
        text = self.books.documents[doc_id].text
        start = max((end.end() for end in _PARAGRAPH.finditer(text, 0, span.start)), default=0)
        after = _PARAGRAPH.search(text, span.end)
        return text[start : after.start() if after else len(text)]

    def _analysis(self, language: str) -> Analysis:
        spoken = _LANGUAGES.get(language.partition("-")[0], "any")
        if spoken == "english":
            return Analysis(spoken, ENGLISH_STOP_WORDS)
        return Analysis(spoken, self._common(language) if spoken in _WITHOUT_LIST else None)

    def _common(self, language: str) -> tuple[str, ...]:
        """Returns the frequent words of a language's books, for languages without a list of stop words."""
        texts = [each.text for each in self.books.documents.values() if each.metadata["language"] == language]
        paragraphs = [part for text in texts for part in _PARAGRAPH.split(text) if part.strip()]
        words = Analysis("any").analyzer()
        counts = Counter(word for part in paragraphs for word in set(words.analyze(part)))
        return tuple(sorted(word for word, count in counts.items() if count > COMMON * len(paragraphs)))


def _answering_passages(entry: GoldenEntry) -> list[int]:
    return [index for index, one in enumerate(entry.expected_passages) if one.relevance == HIGH]


def similar_pairs(keys: Sequence[str]) -> list[tuple[int, int, float]]:
    """Returns the pairs of keys that are equal or nearly equal, with their similarity from 0 to 1."""
    from rapidfuzz import fuzz, process

    table = process.cdist(keys, keys, scorer=fuzz.ratio, score_cutoff=NEAR)
    pairs = [(int(row), int(column)) for row, column in zip(*table.nonzero(), strict=True) if row < column]
    return [(one, other, float(table[one, other]) / 100) for one, other in pairs]
