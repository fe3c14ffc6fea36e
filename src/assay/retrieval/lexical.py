"""BM25: an index on tantivy that ranks texts, and term weights that say how much each word adds to a score.

A search engine gives only scores. A tree also needs the most that a word can add to the score of any passage
below a node. Index and weights use Lucene's formula. The weights use the exact lengths of texts, which Lucene
rounds to one byte.
"""

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

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from assay.core.errors import UsageError
from assay.core.parts import Floats, Ints, Ranking
from assay.retrieval.vectors.exact import save_array
from assay.store.disk import UNREADABLE, DamagedArtifact

if TYPE_CHECKING:
    from tantivy import Index as TantivyIndex
    from tantivy import TextAnalyzer


Language = Literal[
    "arabic", "danish", "dutch", "english", "finnish", "french", "german", "greek", "hungarian",
    "italian", "norwegian", "portuguese", "romanian", "russian", "spanish", "swedish", "tamil", "turkish",
    "any",  # words as they are: no stemming, no stop words, vowel signs stay with their letters
]  # fmt: skip

# A threshold, not a reservation. A few million passages stay below it, and so in one segment, where equal
# scores come back in the order of insertion.
_HEAP_BYTES = 1 << 30
_LITTLE = 1 << 16  # bytes
_WORDS = r"[\w\p{M}]+"


def engine_version() -> str:
    """Returns the name and version of the search engine; another version may rank differently."""
    return f"tantivy {importlib.metadata.version('tantivy')}"


@dataclass(frozen=True)
class Analysis:
    """The rules by which a text becomes words.

    A word is a run of letters and digits, in lower case and Snowball-stemmed. Stop words are left out. If
    `stop_words` is None, the language's own list is used. If it is empty, no word is left out. The language
    "any" has no stemming and no list of its own.
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
    """An index that ranks texts by BM25 and names them by position. Any number of threads may search.

    tantivy fixes k1 = 1.2 and b = 0.75, and uses Lucene's idf.
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
        """Indexes texts in a folder, or in memory if no folder is given."""
        import tantivy

        analyzer = (analysis or Analysis()).analyzer()
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("text", tokenizer_name="words", index_option="freq")
        builder.add_unsigned_field("position", fast=True)
        with _disk_errors(folder):
            index = tantivy.Index(builder.build(), path=None if folder is None else str(folder))
            index.register_tokenizer("words", analyzer)
            # one thread: with several threads, the order of equal scores would depend on chance
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
        """Opens the index in a folder. `analysis` must be the one that built the index."""
        import tantivy

        analyzer = (analysis or Analysis()).analyzer()
        try:
            return cls(tantivy.Index.open(str(folder)), analyzer)
        except UNREADABLE as error:
            raise DamagedArtifact(folder, error) from error

    def __len__(self) -> int:
        return self._searcher.num_docs

    def search(self, text: str, k: int) -> Ranking:
        """Returns the best k texts that share a word with `text`.

        `text` is read as plain words, never as query syntax.
        """
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
    """Turns a ValueError of tantivy into an OSError if the disk is full or denies access.

    If the disk was full for one of its threads, tantivy only reports that the thread died. So the free space
    is checked too.
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


K1, B = 1.2, 0.75
_PARTS = ("indptr", "indices", "data")


@dataclass(frozen=True)
class QueryTerms:
    """The words of a query that occur in the corpus: their numbers, and how often the query has each."""

    numbers: Ints
    times: Floats


@dataclass(frozen=True)
class TermWeights:
    """How much each term adds to the BM25 score of each text. A term that a text does not have adds 0."""

    vocabulary: dict[str, int]
    by_term: csc_array  # rows are texts, columns terms, float32
    analysis: Analysis

    @classmethod
    def build(cls, texts: Iterable[str], analysis: Analysis | None = None) -> TermWeights:
        analysis = analysis or Analysis()
        vocabulary: dict[str, int] = {}
        counts = _count_terms(texts, analysis, vocabulary)
        lengths = np.asarray(counts.sum(axis=1)).ravel()
        having = np.bincount(counts.indices, minlength=len(vocabulary))
        rarity = np.log1p((counts.shape[0] - having + 0.5) / (having + 0.5))
        of = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
        mean = lengths.mean() if lengths.any() else 1.0
        damped = counts.data + K1 * (1 - B + B * lengths[of] / mean)
        weights = rarity[counts.indices] * counts.data * (K1 + 1) / damped
        matrix = csr_array((weights.astype(np.float32), counts.indices, counts.indptr), counts.shape)
        return cls(vocabulary, csc_array(matrix), analysis)

    def __len__(self) -> int:
        rows: int = self.by_term.shape[0]
        return rows

    def terms(self, query: str) -> QueryTerms:
        """Returns the words of a query that occur in at least one text."""
        words = self.analysis.analyzer().analyze(query)
        known = [self.vocabulary[word] for word in words if word in self.vocabulary]
        numbers, times = np.unique(np.array(known, np.int64), return_counts=True)
        return QueryTerms(numbers, times.astype(np.float64))

    def scores(self, terms: QueryTerms) -> Floats:
        """Returns the BM25 score of every text."""
        found = np.zeros(len(self))
        for column, times in self.columns(terms):
            found[column.indices] += times * column.data
        return found

    def scores_at(self, terms: QueryTerms, positions: Ints) -> Floats:
        """Returns the BM25 scores of some texts, bit for bit equal to the results of `scores`."""
        if len(positions) * 4 > len(self):
            return self.scores(terms)[positions]
        found = np.zeros(len(positions))
        for column, times in self.columns(terms):
            place = np.minimum(np.searchsorted(column.indices, positions), len(column.indices) - 1)
            here = column.indices[place] == positions
            found[here] += times * column.data[place[here]]
        return found

    def columns(self, terms: QueryTerms) -> Iterator[tuple[SparseColumn, float]]:
        """Yields, for each term, how much it adds to which texts, and how often the query has the term."""
        for number, times in zip(terms.numbers.tolist(), terms.times.tolist(), strict=True):
            yield sparse_column(self.by_term, number), times

    def save(self, folder: Path) -> None:
        """Writes the weights into a folder."""
        for part in _PARTS:
            save_array(folder / f"{part}.npy", getattr(self.by_term, part))
        words = sorted(self.vocabulary, key=self.vocabulary.__getitem__)
        (folder / "terms.json").write_bytes(msgspec.json.encode([self.by_term.shape[0], words]))

    @classmethod
    def read(cls, folder: Path, analysis: Analysis) -> TermWeights:
        """Reads weights from a folder. `analysis` must be the one that built them.

        Large parts are mapped into memory.
        """
        try:
            count, words = msgspec.json.decode(
                (folder / "terms.json").read_bytes(), type=tuple[int, list[str]]
            )
            parts = {
                part: np.load(folder / f"{part}.npy", mmap_mode="r", allow_pickle=False) for part in _PARTS
            }
            check_runs(parts["indptr"], parts["indices"], len(words), count)
            if parts["data"].shape != parts["indices"].shape or parts["data"].dtype.kind != "f":
                raise ValueError("there is not a weight for each entry")
        except UNREADABLE as error:
            raise DamagedArtifact(folder, error) from error
        matrix = csc_array((parts["data"], parts["indices"], parts["indptr"]), (count, len(words)))
        return cls({word: number for number, word in enumerate(words)}, matrix, analysis)


class SparseColumn:
    """The entries of one column of a sparse matrix, as views."""

    __slots__ = ("data", "indices")

    def __init__(self, indices: NDArray[np.integer], data: NDArray[np.floating]) -> None:
        self.indices = indices
        self.data = data


def sparse_column(matrix: csc_array, number: int) -> SparseColumn:
    """Returns one column of a matrix that is stored by columns."""
    part = slice(matrix.indptr[number], matrix.indptr[number + 1])
    return SparseColumn(matrix.indices[part], matrix.data[part])


def check_runs(starts: Ints, items: Ints, runs: int, width: int) -> None:
    """Raises a ValueError unless `starts` and `items` describe valid runs.

    Run n is `items[starts[n]:starts[n + 1]]`. Its items must rise, and be 0 or more and below `width`.
    Compiled code does not check this, and would read outside its memory.
    """
    check_starts(starts, runs, len(items))
    items = np.asarray(items)  # a mapped array would be slower
    if items.ndim != 1 or items.dtype.kind not in "iu":
        raise ValueError("entries are not whole numbers")
    if len(items) and not 0 <= items.min() <= items.max() < width:
        raise ValueError(f"an entry is {items.min()} or {items.max()}, and there are {width}")
    falls = np.flatnonzero(items[1:] <= items[:-1]) + 1
    if not np.isin(falls, starts).all():
        raise ValueError("entries do not rise")


def check_starts(starts: Ints, runs: int, total: int) -> None:
    """Raises a ValueError unless `starts` divides the range from 0 to `total` into `runs` runs."""
    if starts.dtype.kind not in "iu" or starts.shape != (runs + 1,):
        raise ValueError(f"there are no {runs + 1} whole numbers that say where entries start")
    if starts[0] != 0 or starts[-1] != total or (starts[1:] < starts[:-1]).any():
        raise ValueError(f"where entries start does not rise from 0 to {total}")


def _count_terms(texts: Iterable[str], analysis: Analysis, vocabulary: dict[str, int]) -> csr_array:
    """Counts how often each text has each term.

    Terms are numbered in the order in which they first occur.
    """
    analyzer = analysis.analyzer()
    columns, counts, ends = [np.empty(0, np.int32)], [np.empty(0, np.int64)], [0]
    for text in texts:
        words = [vocabulary.setdefault(word, len(vocabulary)) for word in analyzer.analyze(text)]
        found, times = np.unique(np.array(words, np.int32), return_counts=True)
        columns.append(found)
        counts.append(times)
        ends.append(ends[-1] + len(found))
    shape = (len(ends) - 1, len(vocabulary))
    return csr_array(
        (np.concatenate(counts).astype(np.float64), np.concatenate(columns), np.array(ends)), shape
    )


def largest_child_weights(children: csr_array, by_term: csc_array) -> csc_array:
    """Returns, for each node and term, the largest weight of the term among the node's children.

    The rows of `by_term` are the children.
    """
    rows = csr_array(by_term)
    picked = rows[children.indices]  # the rows of the children of each node, one node after the other
    node = np.repeat(np.arange(children.shape[0]), np.diff(children.indptr))
    of = np.repeat(node, np.diff(picked.indptr))
    terms = by_term.shape[1]
    order = np.lexsort((picked.indices, of))
    key = of[order].astype(np.int64) * terms + picked.indices[order]
    starts = np.flatnonzero(np.diff(key, prepend=-1))
    largest = np.maximum.reduceat(picked.data[order], starts) if len(starts) else picked.data
    firsts = key[starts]
    shape = (children.shape[0], terms)
    return csc_array(csr_array((largest, (firsts // terms, firsts % terms)), shape))
