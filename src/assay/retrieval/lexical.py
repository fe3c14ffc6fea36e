"""BM25 over texts in memory, on tantivy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from assay.errors import UsageError
from assay.retrieval.fuse import Ranking

if TYPE_CHECKING:
    from tantivy import TextAnalyzer

Language = Literal[
    "arabic", "danish", "dutch", "english", "finnish", "french", "german", "greek", "hungarian",
    "italian", "norwegian", "portuguese", "romanian", "russian", "spanish", "swedish", "tamil", "turkish",
]  # fmt: skip

# A threshold, not a reservation. Some million passages stay below it and so in one segment, where equal
# scores come back in the order of insertion.
_HEAP_BYTES = 1 << 30


class LexicalIndex:
    """Texts by position, ranked by BM25 (k1 = 1.2, b = 0.75, which tantivy fixes, with Lucene's idf).

    Words are runs of letters and digits, lower-cased, less stop words, Snowball-stemmed. `stop_words` None
    means the language's own list; an empty one, none. Any number of threads may search.
    """

    def __init__(
        self,
        texts: Iterable[str],
        language: Language = "english",
        stop_words: Sequence[str] | None = None,
    ) -> None:
        import tantivy

        self._analyzer = _analyzer(language, stop_words)
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("text", tokenizer_name="words", index_option="freq")
        builder.add_unsigned_field("position", fast=True)
        self._schema = builder.build()
        index = tantivy.Index(self._schema)
        index.register_tokenizer("words", self._analyzer)
        # One thread: several would share the texts out by chance, and with them the order of ties.
        writer = index.writer(_HEAP_BYTES, num_threads=1)
        for position, text in enumerate(texts):
            document = tantivy.Document()
            document.add_text("text", text)
            document.add_unsigned("position", position)
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
        self._searcher = index.searcher()

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


def _analyzer(language: Language, stop_words: Sequence[str] | None) -> TextAnalyzer:
    from tantivy import Filter, TextAnalyzerBuilder, Tokenizer

    try:
        stemmer = Filter.stemmer(language)
        if stop_words is None:
            stop = Filter.stopword(language)
        else:
            stop = Filter.custom_stopword([word.lower() for word in stop_words])
        words = TextAnalyzerBuilder(Tokenizer.simple()).filter(Filter.lowercase())
        return words.filter(stop).filter(stemmer).build()
    except ValueError as error:
        raise UsageError(f"{error}. Choose another language, or give stop_words ([] for none).") from error
