"""Routing summaries without a language model: words and names that distinguish a node, and sentences.

The weight of a label is its share at the node × log(its share at the node / its share in the reference). This
is a class-based TF-IDF. The reference of a `generic` summary is the whole corpus. The reference of a
`contrastive` summary is the node and its siblings together. A label that has the same share everywhere has
the weight 0, even if there are few siblings.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array

from assay.core.errors import UsageError
from assay.core.parts import Floats, Ints, Vectors
from assay.core.protocols import Kit
from assay.core.records import Passage
from assay.kinds.hierarchy.systems.tree import QuotedSentence, Style, Summary, Tree, centroids
from assay.retrieval.entities import find_names
from assay.retrieval.tokens import sentence_spans
from assay.retrieval.words import content_stems
from assay.systems.retrievers import indexed_text

FIRST_ADDRESS = "assay.systems.hierarchy.keywords"

_WORD = re.compile(r"[^\W_]+")
_TERM = re.compile(r"(?=\d*[^\W\d_]).{2,}")  # a single letter, or a number, says little about a subject
_NEAREST = 20  # members whose sentences can be chosen
_FEWEST = 4  # terms that a sentence must have
_LONGEST = 400  # characters of a sentence
_ALIKE = 0.5  # of the terms of two sentences: with a larger share in common, the second repeats the first
_WEAK = 0.25  # of a term's share in the reference: a node with less lacks the term
_INCLUDED = 6  # titles and sections
_SHARED = 0.25  # of the members: a title or section of that many can name the theme
_THEME = 5  # terms of a theme
_DIGITS = 12  # of a weight: smaller differences are rounding, and tie
_Rival = tuple[int, int]  # a term, and a node that it is strong in


@dataclass(frozen=True)
class Keywords:
    """Summaries of the strongest terms and names of each node, shared titles and sections, and key sentences.

    `terms`, `entities` and `quotes` limit how many of each a summary has. The sentences come from the members
    nearest to the node's centroid. They are the sentences with the strongest terms, and no two of them are
    alike.
    """

    style: Style = "contrastive"
    terms: int = 12
    entities: int = 8
    quotes: int = 3

    version: ClassVar[str] = "1"

    def __post_init__(self) -> None:
        for name, least in (("terms", 1), ("entities", 0), ("quotes", 0)):
            if (count := getattr(self, name)) < least:
                raise UsageError(f"keywords: {name} is {count}. It must be {least} or more.")

    def summarise(
        self, tree: Tree, passages: Sequence[Passage], vectors: Vectors, kit: Kit
    ) -> list[list[Summary]]:
        """Returns one list per level from 1 on, with one summary per node."""
        book = _CorpusLabels.of(passages)
        found = []
        for level in range(1, tree.depth + 1):
            found.append(self._level(book, tree, level, vectors))
            kit.progress("summarising", level, tree.depth)
        return found

    def _level(self, book: _CorpusLabels, tree: Tree, level: int, vectors: Vectors) -> list[Summary]:
        below = tree.passages[level]
        words, middle = _counts_below(below, book.words.counts), centroids(tree, level, vectors)
        sums = [_counts_below(below, table.counts) for table in (book.terms, book.names, book.places)]
        whole = [_column_sums(table.counts) for table in (book.terms, book.names, book.places)]
        found: dict[int, Summary] = {}
        for nodes, family in _families(tree, level, self.style):
            of = [_column_sums(each[family]) for each in sums] if len(family) > 1 else whole
            terms, names, places = map(LabelContrast, sums, of if self.style == "contrastive" else whole)
            strongest = {node: terms.strongest(node, self.terms) for node in family.tolist()}
            rivals = _rivals(terms, strongest) if self.style == "contrastive" else []
            for node in nodes:
                members = tree.members(level, node)
                near = np.argsort(-(vectors[members] @ middle[node]).round(6), kind="stable")[:_NEAREST]
                lacking = _missing_terms(terms, node, rivals, self.terms)
                key_terms = book.shown(words, node, strongest[node])
                titles = places.strongest(node, _INCLUDED, least=2)
                leading = [each for each in titles if places.times(node, each) >= _SHARED * len(members)]
                found[node] = Summary(
                    _theme(book.places.named(leading), key_terms),
                    book.places.named(titles),
                    [book.shown(words, sibling, [term])[0] for term, sibling in lacking],
                    book.names.named(names.strongest(node, self.entities)),
                    key_terms,
                    book.quotes(members[near].tolist(), terms.weights(node), self.quotes),
                )
        return [found[node] for node in range(len(found))]


def _theme(titles: Sequence[str], terms: Sequence[str]) -> str:
    """Returns a short phrase: the first of `titles`, if there is one, and the strongest terms."""
    return ": ".join(filter(None, [*titles[:1], ", ".join(terms[:_THEME])]))


def _families(tree: Tree, level: int, style: Style) -> list[tuple[list[int], Ints]]:
    """Returns the nodes of a level in groups. Each group has a family to compare with.

    The family of a `generic` summary is the whole level. The family of a `contrastive` summary is the group
    and all siblings of its nodes.
    """
    every = np.arange(tree.size(level))
    if style == "generic":
        return [(every.tolist(), every)]
    above = tree.below[level - 1]
    parents: list[list[int]] = [[] for _ in every]
    for parent in range(len(above)):
        for child in above.of(parent).tolist():
            parents[child].append(parent)
    groups: dict[tuple[int, ...], list[int]] = {}
    for node, each in enumerate(parents):
        groups.setdefault(tuple(each), []).append(node)
    return [(nodes, np.union1d(above.of_all(of), nodes)) for of, nodes in groups.items()]


# ------------------------------------------------------------------------- what distinguishes a node


@dataclass(frozen=True)
class LabelContrast:
    """How often each label occurs below each node of a level, and how often it occurs in the reference."""

    counts: csr_array  # one row per node
    reference: Floats

    def _row(self, node: int) -> tuple[Ints, Floats]:
        part = slice(self.counts.indptr[node], self.counts.indptr[node + 1])
        return self.counts.indices[part], self.counts.data[part]

    def times(self, node: int, label: int) -> float:
        """Returns how often a label occurs below a node."""
        labels, times = self._row(node)
        place = int(np.searchsorted(labels, label))
        return float(times[place]) if place < len(labels) and labels[place] == label else 0.0

    def weights(self, node: int) -> tuple[Ints, Floats]:
        """Returns the labels below a node, and how much each label distinguishes the node.

        A weight is below 0 if the label is rarer at the node than in the reference.
        """
        labels, times = self._row(node)
        shares = times / times.sum()
        return labels, shares * np.log(shares / (self.reference[labels] / self.reference.sum()))

    def strongest(self, node: int, most: int, least: int = 1) -> list[int]:
        """Returns the labels that distinguish a node most, of those that occur there `least` times or more.

        If no label distinguishes the node, these are the labels with the highest weights. Of equal weights,
        the more common label comes first.
        """
        (labels, weights), (_, times) = self.weights(node), self._row(node)
        order = np.lexsort((labels, -times, -weights.round(_DIGITS)))
        order = order[times[order] >= least]
        telling = order[weights[order] > 0]
        found: list[int] = labels[(telling if len(telling) else order)[:most]].tolist()
        return found

    def lacks(self, node: int, label: int) -> bool:
        """Whether a label is much rarer below a node than in the reference."""
        _, times = self._row(node)
        expected = self.reference[label] / self.reference.sum() * times.sum()
        return bool(self.times(node, label) < _WEAK * expected)


def _rivals(terms: LabelContrast, strongest: dict[int, list[int]]) -> list[_Rival]:
    """Returns the strongest terms of a family, each with its node.

    The strongest term of every node comes first, then the second strongest, and so on.
    """
    found = []
    for node, labels in strongest.items():
        known, weights = terms.weights(node)
        for rank, label in enumerate(labels):
            weight = round(float(weights[np.searchsorted(known, label)]), _DIGITS)
            found.append((rank, -weight, label, node))
    return [(label, node) for _, _, label, node in sorted(found)]


def _missing_terms(terms: LabelContrast, node: int, rivals: Iterable[_Rival], most: int) -> list[_Rival]:
    """Returns the strongest terms of siblings that a node lacks. Each term occurs once, with a sibling."""
    found: dict[int, int] = {}
    for label, sibling in rivals:
        if len(found) == most:
            break
        if sibling != node and label not in found and terms.lacks(node, label):
            found[label] = sibling
    return list(found.items())


def _counts_below(below: csr_array, counts: csr_array) -> csr_array:
    """Returns how often each label occurs below each node of a level, with labels in rising order."""
    found = csr_array(below @ counts)
    found.sort_indices()
    return found


def _column_sums(counts: csr_array) -> Floats:
    return np.asarray(counts.sum(axis=0), np.float64).ravel()


# -------------------------------------------------------------------------------- what is counted


@dataclass(frozen=True)
class LabelCounts:
    """How often each label occurs in each passage. Labels are sorted, so ties are in alphabetical order."""

    labels: list[str]
    counts: csr_array  # one row per passage, one column per label

    @classmethod
    def of(cls, found: Iterable[Iterable[str]]) -> LabelCounts:
        """Returns the counts of the labels of each passage."""
        numbers: dict[str, int] = {}
        columns, ends = array("q"), [0]
        for each in found:
            columns.extend([numbers.setdefault(label, len(numbers)) for label in each])
            ends.append(len(columns))
        labels = sorted(numbers)
        rank = np.empty(len(labels), np.int64)
        rank[[numbers[label] for label in labels]] = np.arange(len(labels))
        shape = (len(ends) - 1, len(labels))
        counts = csr_array((np.ones(len(columns)), rank[np.array(columns, np.int64)], ends), shape)
        counts.sum_duplicates()
        return cls(labels, counts)

    def named(self, numbers: Iterable[int]) -> list[str]:
        return [self.labels[number] for number in numbers]


@dataclass(frozen=True)
class _CorpusLabels:
    """The labels of a corpus: its words and their terms (stems), its names, and its titles and sections."""

    passages: Sequence[Passage]
    words: LabelCounts  # the words that are a form of a term
    terms: LabelCounts
    term_of: Ints  # the term of each word, by number
    number_of: dict[str, int]  # the number of a term, by any of its words
    names: LabelCounts
    places: LabelCounts

    @classmethod
    def of(cls, passages: Sequence[Passage]) -> _CorpusLabels:
        every = LabelCounts.of(_words(indexed_text(passage)) for passage in passages)
        stems = [each[0] if len(each) == 1 else "" for each in content_stems(every.labels)]
        kept = [
            at for at, word in enumerate(every.labels) if stems[at] and len(word) > 1 and not word.isdigit()
        ]
        words = LabelCounts(every.named(kept), csr_array(every.counts[:, kept]))
        terms = LabelCounts.of([stems[at]] for at in kept)  # one row per word
        return cls(
            passages,
            words,
            LabelCounts(terms.labels, csr_array(words.counts @ terms.counts)),
            np.asarray(terms.counts.indices, np.int64),
            dict(zip(words.labels, terms.counts.indices.tolist(), strict=True)),
            LabelCounts.of(_names(passage) for passage in passages),
            LabelCounts.of(filter(None, (passage.title, passage.section)) for passage in passages),
        )

    def shown(self, words: csr_array, node: int, terms: Sequence[int]) -> list[str]:
        """Returns each of some terms of a node in the form that is most common there."""
        part = slice(words.indptr[node], words.indptr[node + 1])
        numbers, times = words.indices[part], words.data[part]
        forms = np.flatnonzero(np.isin(self.term_of[numbers], terms))
        forms = forms[np.lexsort((numbers[forms], -times[forms]))]
        found: dict[int, str] = {}
        for number in numbers[forms].tolist():
            found.setdefault(int(self.term_of[number]), self.words.labels[number])
        return [found[term] for term in terms]

    def quotes(self, near: Iterable[int], weights: tuple[Ints, Floats], most: int) -> list[QuotedSentence]:
        """Returns the sentences of some passages that have the strongest terms. No two of them are alike."""
        worth = dict(zip(*(each.tolist() for each in weights), strict=True))
        found: list[tuple[float, set[int], QuotedSentence]] = []
        for position in near if most else ():
            text = self.passages[position].text
            for span in sentence_spans(text):
                quoted = QuotedSentence(position, span.start, span.end, text[span.start : span.end])
                terms = {self.number_of[word] for word in _words(quoted.text) if word in self.number_of}
                if len(terms) >= _FEWEST and len(quoted.text) <= _LONGEST:
                    sum_ = math.fsum(worth.get(term, 0.0) for term in terms)
                    found.append((round(sum_ / math.sqrt(len(terms)), _DIGITS), terms, quoted))
        chosen: list[tuple[set[int], QuotedSentence]] = []
        for _, terms, quoted in sorted(found, key=lambda each: -each[0]):
            if len(chosen) == most:
                break
            if all(len(terms & other) < _ALIKE * len(terms | other) for other, _ in chosen):
                chosen.append((terms, quoted))
        return [quoted for _, quoted in chosen]


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _names(passage: Passage) -> dict[str, None]:
    """Returns the names in a passage's title and text, each once."""
    return dict.fromkeys([*find_names(passage.title), *find_names(passage.text)])
