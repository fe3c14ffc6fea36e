"""BM25 over texts, in memory or in a folder, on tantivy."""

from __future__ import annotations

import errno
import importlib.metadata
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from assay.core.errors import UsageError
from assay.core.parts import Ranking
from assay.store.cache import UNREADABLE, DamagedArtifact

if TYPE_CHECKING:
    from tantivy import Index as TantivyIndex
    from tantivy import TextAnalyzer

Language = Literal[
    "arabic", "danish", "dutch", "english", "finnish", "french", "german", "greek", "hungarian",
    "italian", "norwegian", "portuguese", "romanian", "russian", "spanish", "swedish", "tamil", "turkish",
    "any",  # words as they are: neither stemmed nor stopped, vowel signs kept with their letters
]  # fmt: skip

# A threshold, not a reservation. Some million passages stay below it and so in one segment, where equal
# scores come back in the order of insertion.
_HEAP_BYTES = 1 << 30
_LITTLE = 1 << 16  # bytes
_WORDS = r"[\w\p{M}]+"


def engine() -> str:
    """The engine and its version: its analysis and its scoring decide a ranking."""
    return f"tantivy {importlib.metadata.version('tantivy')}"


@dataclass(frozen=True)
class Analysis:
    """How a text becomes words: runs of letters and digits, lower-cased, less stop words, Snowball-stemmed.

    `stop_words` None means the language's own list; an empty one, none.
    """

    language: Language = "english"
    stop_words: tuple[str, ...] | None = None

    def analyzer(self) -> TextAnalyzer:
        from tantivy import Filter, TextAnalyzerBuilder, Tokenizer

        any_script = self.language == "any"
        words = TextAnalyzerBuilder(Tokenizer.regex(_WORDS) if any_script else Tokenizer.simple())
        words = words.filter(Filter.lowercase())
        if self.stop_words is not None:
            words = words.filter(Filter.custom_stopword([word.lower() for word in self.stop_words]))
        if any_script:
            return words.build()
        try:
            if self.stop_words is None:
                words = words.filter(Filter.stopword(self.language))
            return words.filter(Filter.stemmer(self.language)).build()
        except ValueError as error:
            fix = "Choose another language, or give stop_words ([] for none)."
            raise UsageError(f"{error}. {fix}") from error


class LexicalIndex:
    """Texts by position, ranked by BM25 (k1 = 1.2, b = 0.75, which tantivy fixes, with Lucene's idf).

    Any number of threads may search.
    """

    def __init__(self, index: TantivyIndex, analyzer: TextAnalyzer) -> None:
        index.register_tokenizer("words", analyzer)
        index.reload()
        self._analyzer = analyzer
        self._schema = index.schema
        self._searcher = index.searcher()

    @classmethod
    def build(
        cls, texts: Iterable[str], analysis: Analysis | None = None, folder: Path | None = None
    ) -> LexicalIndex:
        """Indexes texts; without a folder, in memory."""
        import tantivy

        analyzer = (analysis or Analysis()).analyzer()
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("text", tokenizer_name="words", index_option="freq")
        builder.add_unsigned_field("position", fast=True)
        with _disk_errors(folder):
            index = tantivy.Index(builder.build(), path=None if folder is None else str(folder))
            index.register_tokenizer("words", analyzer)
            # One thread: several would share the texts out by chance, and with them the order of ties.
            writer = index.writer(_HEAP_BYTES, num_threads=1)
            for position, text in enumerate(texts):
                document = tantivy.Document()
                document.add_text("text", text)
                document.add_unsigned("position", position)
                writer.add_document(document)
            writer.commit()
            writer.wait_merging_threads()
        return cls(index, analyzer)

    @classmethod
    def open(cls, folder: Path, analysis: Analysis | None = None) -> LexicalIndex:
        """The index that a folder holds, analysed as it was built."""
        import tantivy

        analyzer = (analysis or Analysis()).analyzer()
        try:
            return cls(tantivy.Index.open(str(folder)), analyzer)
        except UNREADABLE as error:
            raise DamagedArtifact(folder, error) from error

    def __len__(self) -> int:
        return self._searcher.num_docs

    def search(self, text: str, k: int) -> Ranking:
        """The k best texts that share a word with `text`, which is words and never query syntax."""
        from tantivy import Occur, Query

        words = self._analyzer.analyze(text)
        hits = []
        if words and k > 0:
            terms = [(Occur.Should, Query.term_query(self._schema, "text", word, "freq")) for word in words]
            hits = self._searcher.search(Query.boolean_query(terms), k, count=False).hits
        positions = self._searcher.fast_field_values("position", [address for _, address in hits])
        scores = [score for score, _ in hits]
        return Ranking(np.array(positions, dtype=np.int64), np.array(scores, dtype=np.float64))


@contextmanager
def _disk_errors(folder: Path | None) -> Iterator[None]:
    """Tantivy tells of a full disk by a ValueError; a caller that looks after disks expects an OSError.

    Where one of its threads met the full disk, it only says that the thread died.
    """
    try:
        yield
    except ValueError as error:
        for code in (errno.ENOSPC, errno.EDQUOT, errno.EACCES):
            if os.strerror(code) in str(error):
                raise OSError(code, str(error)) from error
        if folder is not None and shutil.disk_usage(folder).free < _LITTLE:
            raise OSError(errno.ENOSPC, str(error)) from error
        raise
