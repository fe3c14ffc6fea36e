"""Signs, in a query and in what came back, that the query cannot be answered from it.

All are numbers that need no language model and no gold, the same for whatever system was asked: how much of
the query's weight in words the first passages hold, how near they are by the static model, how its scores
fall, how alike what came back is. A word weighs its inverse document frequency, as a share of the largest
there can be, so that it reads alike in a small corpus and in a large one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

import msgspec
import numpy as np

from assay.core.dataset import Corpus
from assay.core.parts import Floats, Model, Vectors
from assay.core.records import Hit
from assay.retrieval.tokens import sentence_spans
from assay.retrieval.words import asking, identifiers_of, names_of, stems_of

VERSION = "1"  # to be raised whenever a sign is worked out otherwise: what was fitted to it before is refused
NAMES = (
    "words", "names", "identifiers", "enumerating", "plural", "changing", "comparing",
    "mass_first", "mass_three", "mass_ten", "mass_passage", "mass_sentence", "heaviest_lost",
    "any_unknown", "unknown_words",
    "named_ten", "named_passage", "nowhere",
    "near_first", "near_rest", "near_spread", "near_sentence", "alike",
    "fall_second", "fall_tenth", "returned", "documents", "sections",
)  # fmt: skip
DEPTH = 10  # hits that are looked at
_SOME = 3
_BATCH = 1_000  # texts that are analysed at once
_FEW = 1e-12  # what a score is divided by at least


class WordFrequencies(msgspec.Struct, frozen=True):
    """In how many texts of a corpus each word occurs, and which identifiers occur in any."""

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
        """Lucene's inverse document frequency, as a share of that of a word which is nowhere."""
        count = self.words.get(word, 0)
        rarity = math.log1p((self.total - count + 0.5) / (count + 0.5))
        return rarity / math.log1p((self.total + 0.5) / 0.5)


def _count_batch(texts: Sequence[str], words: Counter[str], identifiers: set[str]) -> int:
    for text, stems in zip(texts, stems_of(texts), strict=True):
        words.update(set(stems))
        identifiers.update(identifiers_of(text))
    return len(texts)


@dataclass(frozen=True)
class HitTexts:
    """The first hits as far as they have a text."""

    texts: Sequence[str]
    documents: Sequence[str]
    sections: Sequence[str]


@dataclass(frozen=True)
class FeatureExtractor:
    """What works out the signs of a query and its hits over one corpus. Threads may share it."""

    corpus: Corpus
    frequencies: WordFrequencies
    model: Model

    def signs(self, query: str, hits: Sequence[Hit]) -> dict[str, float]:
        """Every sign by its name: all of NAMES, in that order."""
        found = self._found(hits)
        return {
            **asking(query),
            **self._words(query, found),
            **_name_features(query, found, self.frequencies.identifiers),
            **self._nearness(query, found),
            **_score_falls([hit.score for hit in hits[:DEPTH]]),
            **_hit_counts(found),
        }

    def _found(self, hits: Sequence[Hit]) -> HitTexts:
        shown = [(hit, text) for hit in hits[:DEPTH] if (text := self._text(hit)).strip()]
        return HitTexts(
            [text for _, text in shown],
            [self.corpus.document_of(hit.doc_id) for hit, _ in shown],
            [f"{self.corpus.document_of(hit.doc_id)}\n{self._section(hit)}" for hit, _ in shown],
        )

    def _section(self, hit: Hit) -> str:
        return self.corpus.section_of(hit.doc_id) or ""

    def _text(self, hit: Hit) -> str:
        position = self.corpus.position.get(hit.doc_id)
        title = "" if position is None else self.corpus.passages[position].title
        text = hit.text or self.corpus.text_of(hit.doc_id) or ""
        return f"{title}\n{text}" if title and text else text

    def _words(self, query: str, found: HitTexts) -> dict[str, float]:
        """How much of the query's words is there: in the first passage, in several, in one sentence."""
        weights = {word: self.frequencies.weight(word) for word in dict.fromkeys(stems_of([query])[0])}
        held = [set(stems) & weights.keys() for stems in stems_of(found.texts)]
        sentences = [set(stems) & weights.keys() for stems in stems_of(_sentences(found.texts))]
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
        """How near the passages are to the query, and to each other."""
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
    """The share of the weight that some words have; all of it where there is none."""
    total = math.fsum(weights.values())
    return math.fsum(weights[word] for word in sorted(held)) / total if total else 1.0


def _name_features(query: str, found: HitTexts, known: Set[str]) -> dict[str, float]:
    """Whether what the query calls by name is there: names and identifiers, letter by letter."""
    identifiers = identifiers_of(query)
    called = [*identifiers, *(name.casefold() for name in names_of(query))]
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
    """How far scores fall, as a share of the first; without a hit to compare with, all the way."""
    return {"fall_second": _fall(scores, 1), "fall_tenth": _fall(scores, DEPTH - 1)}


def _fall(scores: Sequence[float], at: int) -> float:
    if len(scores) <= at:
        return 1.0
    # a system may score below 0: what counts is how far it falls, beside how large scores are
    return min(1.0, (scores[0] - scores[at]) / max(abs(scores[0]), abs(scores[at]), _FEW))


def _hit_counts(found: HitTexts) -> dict[str, float]:
    """Over how many documents and sections what came back is spread, and how much came back."""
    return {
        "returned": len(found.texts) / DEPTH,
        "documents": len(set(found.documents)) / DEPTH,
        "sections": len(set(found.sections)) / DEPTH,
    }


def feature_matrix(rows: Sequence[Mapping[str, float]], names: Sequence[str]) -> Floats:
    """Signs as a matrix: a row a query, a column a name."""
    return np.array([[row[name] for name in names] for row in rows], dtype=np.float64).reshape(
        len(rows), len(names)
    )
