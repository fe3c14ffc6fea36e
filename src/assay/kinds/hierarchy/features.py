"""Features of a query and of the hits that a system found for it. Fitted models use them to judge answers.

All features are numbers. They need neither a language model nor gold, and are computed in the same way for
every system. They measure how much of the weight of the query's words the first passages hold, how near the
passages are to the query by the static model, how fast the scores fall, and how alike the passages are. The
weight of a word is its inverse document frequency, as a share of the largest possible one. So the weights of
small and large corpora are comparable.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec
import numpy as np

from assay.core.dataset import Corpus, digest
from assay.core.parts import Floats, Model, Vectors
from assay.core.protocols import Kit
from assay.core.records import Hit
from assay.retrieval.embed.static import StaticEmbedder
from assay.retrieval.lexical import engine_version
from assay.retrieval.tokens import sentence_spans
from assay.retrieval.words import content_stems, find_capitalized_names, find_identifiers, question_features
from assay.store.disk import UNREADABLE, ArtifactCache, DamagedArtifact
from assay.systems.retrievers import WORTH_KEEPING, indexed_text, texts_with_progress

VERSION = "1"  # raise it whenever a feature is computed differently: files fitted before are then refused
NAMES = (
    "words", "names", "identifiers", "enumerating", "plural", "changing", "comparing",
    "mass_first", "mass_three", "mass_ten", "mass_passage", "mass_sentence", "heaviest_lost",
    "any_unknown", "unknown_words",
    "named_ten", "named_passage", "nowhere",
    "near_first", "near_rest", "near_spread", "near_sentence", "alike",
    "fall_second", "fall_tenth", "returned", "documents", "sections",
)  # fmt: skip
DEPTH = 10  # hits that count
_SOME = 3
_BATCH = 1_000  # texts analysed at once
_COUNTS = "frequencies.json"
_LEAST_SCORE = 1e-12  # what a fall is divided by at least


class WordFrequencies(msgspec.Struct, frozen=True):
    """The number of texts of a corpus in which each word occurs, and all identifiers in the corpus."""

    total: int
    words: dict[str, int]
    identifiers: set[str]

    @classmethod
    def count(cls, texts: Iterable[str]) -> WordFrequencies:
        total, words, identifiers = 0, Counter[str](), set[str]()
        batch: list[str] = []
        for text in texts:
            batch.append(text)
            if len(batch) == _BATCH:
                total += _count_batch(batch, words, identifiers)
                batch = []
        total += _count_batch(batch, words, identifiers)
        return cls(total, dict(words), identifiers)

    def weight(self, word: str) -> float:
        """Returns Lucene's inverse document frequency of a word, divided by its largest possible value."""
        count = self.words.get(word, 0)
        rarity = math.log1p((self.total - count + 0.5) / (count + 0.5))
        return rarity / math.log1p((self.total + 0.5) / 0.5)


def _count_batch(texts: Sequence[str], words: Counter[str], identifiers: set[str]) -> int:
    for text, stems in zip(texts, content_stems(texts), strict=True):
        words.update(set(stems))
        identifiers.update(find_identifiers(text))
    return len(texts)


@dataclass(frozen=True)
class HitTexts:
    """The texts of the first hits, and their documents and sections. Hits without a text are left out."""

    texts: list[str]
    documents: list[str]
    sections: list[str]


@dataclass(frozen=True)
class FeatureExtractor:
    """Computes the features of a query and its hits over one corpus. Threads may share an extractor."""

    corpus: Corpus
    frequencies: WordFrequencies
    model: Model

    def features(self, query: str, hits: Sequence[Hit]) -> dict[str, float]:
        """Returns the value of every feature, in the order of NAMES."""
        found = self._hit_texts(hits)
        return {
            **question_features(query),
            **self._words(query, found),
            **_name_features(query, found, self.frequencies.identifiers),
            **self._nearness(query, found),
            **_score_falls([hit.score for hit in hits[:DEPTH]]),
            **_hit_counts(found),
        }

    def _hit_texts(self, hits: Sequence[Hit]) -> HitTexts:
        found = HitTexts([], [], [])
        for hit in hits[:DEPTH]:
            position = self.corpus.position.get(hit.doc_id)
            title = "" if position is None else self.corpus.passages[position].title
            text = hit.text or self.corpus.text_of(hit.doc_id) or ""
            if title and text:
                text = f"{title}\n{text}"
            if text.strip():
                document = self.corpus.document_of(hit.doc_id)
                found.texts.append(text)
                found.documents.append(document)
                found.sections.append(f"{document}\n{self.corpus.section_of(hit.doc_id) or ''}")
        return found

    def _words(self, query: str, found: HitTexts) -> dict[str, float]:
        """Measures how much of the weight of the query's words the passages and their sentences hold."""
        weights = {word: self.frequencies.weight(word) for word in dict.fromkeys(content_stems([query])[0])}
        held = [set(stems) & weights.keys() for stems in content_stems(found.texts)]
        sentences = [set(stems) & weights.keys() for stems in content_stems(_sentences(found.texts))]
        together = set[str]().union(*held)
        unknown = sum(word not in self.frequencies.words for word in weights)
        return {
            "mass_first": _share(weights, set[str]().union(*held[:1])),
            "mass_three": _share(weights, set[str]().union(*held[:_SOME])),
            "mass_ten": _share(weights, together),
            "mass_passage": max((_share(weights, each) for each in held), default=0.0),
            "mass_sentence": max((_share(weights, each) for each in sentences), default=0.0),
            "heaviest_lost": max(
                (weight for word, weight in weights.items() if word not in together), default=0.0
            ),
            "any_unknown": float(unknown > 0),
            "unknown_words": unknown / max(1, len(weights)),
        }

    def _nearness(self, query: str, found: HitTexts) -> dict[str, float]:
        """Measures how similar the passages are to the query, and to each other."""
        vectors = self._vectors([query, *found.texts])
        near = vectors[1:] @ vectors[0]
        within = self._vectors(_sentences(found.texts)) @ vectors[0]
        alike = (vectors[1:] @ vectors[1:].T)[np.triu_indices(len(near), 1)]
        return {
            "near_first": float(near[0]) if len(near) else 0.0,
            "near_rest": float(near[1:].mean()) if len(near) > 1 else 0.0,
            "near_spread": float(near.std()) if len(near) else 0.0,
            "near_sentence": float(within.max(initial=0.0)),
            "alike": float(alike.mean()) if len(alike) else 0.0,
        }

    def _vectors(self, texts: Sequence[str]) -> Vectors:
        return self.model.embed(texts, "passage").vectors


def _sentences(texts: Sequence[str]) -> list[str]:
    return [text[span.start : span.end] for text in texts for span in sentence_spans(text)]


def _share(weights: Mapping[str, float], held: Set[str]) -> float:
    """Returns the share of the total weight that the words in `held` have, or 1 if the total weight is 0."""
    total = math.fsum(weights.values())
    return math.fsum(weights[word] for word in sorted(held)) / total if total else 1.0


def _name_features(query: str, found: HitTexts, known: Set[str]) -> dict[str, float]:
    """Returns the shares of the query's names and identifiers that occur in the texts, and a count.

    The names are compared letter by letter, and case is ignored. The count is of the identifiers that occur
    nowhere in the corpus.
    """
    identifiers = find_identifiers(query)
    called = [*identifiers, *(name.casefold() for name in find_capitalized_names(query))]
    texts = [text.casefold() for text in found.texts]
    held = [{name for name in called if name in text} for text in texts]
    together = set[str]().union(*held)
    of = max(1, len(set(called)))
    return {
        "named_ten": len(together) / of if called else 1.0,
        "named_passage": max((len(each) / of for each in held), default=0.0) if called else 1.0,
        "nowhere": float(sum(each not in known for each in identifiers)),
    }


def _score_falls(scores: Sequence[float]) -> dict[str, float]:
    """Returns how far the scores fall, as a share of the larger score. It is 1 if there are too few hits."""
    return {"fall_second": _fall(scores, 1), "fall_tenth": _fall(scores, DEPTH - 1)}


def _fall(scores: Sequence[float], at: int) -> float:
    if len(scores) <= at:
        return 1.0
    # a system may score below 0, so the fall is divided by the larger of the two in size
    return min(1.0, (scores[0] - scores[at]) / max(abs(scores[0]), abs(scores[at]), _LEAST_SCORE))


def _hit_counts(found: HitTexts) -> dict[str, float]:
    """Counts the passages, documents and sections of the hits with a text. Each count is divided by DEPTH."""
    return {
        "returned": len(found.texts) / DEPTH,
        "documents": len(set(found.documents)) / DEPTH,
        "sections": len(set(found.sections)) / DEPTH,
    }


def feature_extractor(corpus: Corpus, kit: Kit) -> FeatureExtractor:
    """Returns the extractor for a corpus. Its words are counted once, and the cache keeps the counts."""
    return FeatureExtractor(corpus, _word_frequencies(corpus, kit), StaticEmbedder().load(kit))


def _word_frequencies(corpus: Corpus, kit: Kit) -> WordFrequencies:
    if len(corpus) < WORTH_KEEPING:
        return WordFrequencies.count(map(indexed_text, corpus.passages))
    cache = ArtifactCache(kit.cache / "frequencies")
    key = digest(part.encode() for part in (VERSION, engine_version(), corpus.hash))
    if (known := cache.read(key, _read_counts)) is not None:
        return known
    counted = WordFrequencies.count(texts_with_progress(corpus, kit, "counting words"))
    cache.put(key, partial(_write_counts, counted))
    return counted


def _write_counts(counted: WordFrequencies, folder: Path) -> None:
    (folder / _COUNTS).write_bytes(msgspec.json.encode(counted, order="sorted"))


def _read_counts(folder: Path) -> WordFrequencies:
    try:
        return msgspec.json.decode((folder / _COUNTS).read_bytes(), type=WordFrequencies)
    except UNREADABLE as error:
        raise DamagedArtifact(folder, error) from error


def feature_matrix(rows: Sequence[Mapping[str, float]], names: Sequence[str]) -> Floats:
    """Returns the features as a matrix with one row per query and one column per name."""
    return np.array([[row[name] for name in names] for row in rows], dtype=np.float64).reshape(
        len(rows), len(names)
    )
