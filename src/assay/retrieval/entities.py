"""Finds names (of people, teams, products, identifiers), and the passages and sentences that have them.

A name is recognised by its spelling. Names are runs of capitalised words (Simon Traethsen, House of Lords)
and words joined by hyphens (maequyng-archive, INC-2041). A name that is recognised once is then found
everywhere, in any case: "soflafurk" matches "Soflafurk".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import dropwhile, pairwise
from pathlib import Path

import msgspec
import numpy as np
from scipy.sparse import csr_array

from assay.core.dataset import Corpus, digest
from assay.core.parts import Ints
from assay.core.protocols import Kit, ProgressCallback, ignore_progress
from assay.core.records import Passage
from assay.retrieval.lexical import check_runs, check_starts
from assay.retrieval.tokens import package_release, sentence_spans
from assay.retrieval.vectors.exact import save_array
from assay.retrieval.words import ENGLISH_STOP_WORDS
from assay.store.disk import UNREADABLE, ArtifactCache, DamagedArtifact

# Increase this when the recognition of names changes, so that stored entities are not used.
VERSION = "2"
LONGEST = 6  # words of a name
# passages; for fewer, entities are found in a fraction of a second
WORTH_KEEPING = 2_000

_CAPITAL = r"[A-ZÀ-ÖØ-Þ][\w’'-]*"
_JOINER = r"(?:of|the|de|la|von|van|&)"
_RUN = re.compile(rf"(?<![\w’'-]){_CAPITAL}(?:[ \t]+(?:{_JOINER}[ \t]+)?{_CAPITAL})*")
_JOINED = re.compile(r"\b\w+(?:-\w+)+\b")
# before a word that begins a sentence, a line, an item of a list or a cell
_OPENING = re.compile(r"(?:^|[.!?:;|\n])[\s\"'“”‘’«»()\[\]*#>–-]*$")
_BEFORE = 12  # characters before a word that are looked at
# AT&T, O'Neill and maequyng-archive are one word each; the s of a genitive is left off
_WORD = re.compile(r"(\w+(?:(?:[-&]|[’'](?!s\b))\w+)*)(?:[’']s\b)?")
_STOPS = frozenset(ENGLISH_STOP_WORDS)
_NAMES = "names.json"
_ARRAYS = ("starts", "ends", "numbers", "home_ends", "home_positions")


def split_words(text: str) -> list[str]:
    """Returns the words of a text, in lower case."""
    return _WORD.findall(text.casefold())


def find_names(text: str) -> list[str]:
    """Returns the names in a text, in lower case and without repetition.

    A single capitalised word that begins a sentence does not count as a name. Stop words such as "The" are
    removed from the beginning of a name.
    """
    return list(dict.fromkeys(_candidate_names(text, opening=False)))


def find_title_names(title: str) -> list[str]:
    """Returns the names in a title. The first word of a title may also be a name."""
    return list(dict.fromkeys(_candidate_names(title, opening=True)))


def _candidate_names(text: str, *, opening: bool) -> Iterator[str]:
    for found in _RUN.finditer(text):
        words = split_words(found[0])
        begins = _OPENING.search(text[max(0, found.start() - _BEFORE) : found.start()])
        kept = list(dropwhile(_STOPS.__contains__, words))
        if kept and (len(words) > 1 or opening or not begins):
            yield " ".join(kept[:LONGEST])
    for joined in _JOINED.finditer(text):
        yield " ".join(split_words(joined[0])[:LONGEST])


def contains_name(text: str, name: str) -> bool:
    """Whether a name, given in lower case, occurs in the text as whole words."""
    words, wanted = split_words(text), name.split()
    return any(words[at : at + len(wanted)] == wanted for at, word in enumerate(words) if word == wanted[0])


@dataclass(frozen=True)
class Entities:
    """The numbered names of a corpus, and the sentences and titles that contain them.

    Passage p has the sentences with the numbers `starts[p]` up to, but not including, `starts[p + 1]`.
    Sentence s has the names `numbers[ends[s]:ends[s + 1]]`, in rising order. The matrix `homes` has a row for
    each name and a column for each passage; an entry is 1 if the title of the passage has the name.
    """

    names: Sequence[str]
    starts: Ints
    ends: Ints
    numbers: Ints
    homes: csr_array

    @classmethod
    def of(cls, corpus: Corpus, kit: Kit) -> Entities:
        """Returns the entities of a corpus. The entities of a large corpus are stored in the cache."""
        if len(corpus) < WORTH_KEEPING:
            return cls.build(corpus.passages)
        cache = ArtifactCache(kit.cache / "entities")
        key = digest(part.encode() for part in (VERSION, package_release("sentencex"), corpus.hash))

        def write(folder: Path) -> None:
            cls.build(corpus.passages, kit.progress).save(folder)

        return cache.read_or_put(key, cls.read, write)

    @classmethod
    def build(cls, passages: Sequence[Passage], progress: ProgressCallback = ignore_progress) -> Entities:
        """Finds the entities of passages: reads them once to collect the names, and again to find their
        places."""
        names = _collect_names(passages, progress)
        lookup = NameLookup(names)
        starts, ends, numbers = [0], [0], list[int]()
        home_ends, homes = [0], list[int]()
        for position, passage in enumerate(passages):
            _report_progress(progress, "finding names", position, len(passages))
            for span in sentence_spans(passage.text):
                numbers += sorted(lookup.found(split_words(passage.text[span.start : span.end])))
                ends.append(len(numbers))
            starts.append(len(ends) - 1)
            homes += sorted(lookup.found(split_words(passage.title), inside=True))
            home_ends.append(len(homes))
        _report_progress(progress, "finding names", len(passages), len(passages))
        shape = (len(passages), len(names))
        titled = csr_array((np.ones(len(homes), np.int8), np.array(homes, np.int64), home_ends), shape)
        starts_, ends_, numbers_ = (np.array(each, np.int64) for each in (starts, ends, numbers))
        return cls(names, starts_, ends_, numbers_, csr_array(titled.T))._without_dead_ends()

    def _without_dead_ends(self) -> Entities:
        """Keeps the names that occur in a title or in at least two passages. Other names link to nothing."""
        having = np.bincount(self.mentions.indices, minlength=len(self.names))
        kept = (np.diff(self.homes.indptr) > 0) | (having > 1)
        number, staying = np.cumsum(kept) - 1, kept[self.numbers]
        names = [name for name, keep in zip(self.names, kept.tolist(), strict=True) if keep]
        ends = np.concatenate([[0], np.cumsum(staying)])[self.ends]
        return Entities(names, self.starts, ends, number[self.numbers[staying]], self.homes[kept])

    @cached_property
    def mentions(self) -> csr_array:
        """A matrix of how many sentences of each passage (row) have each name (column)."""
        bounds = self.ends[self.starts]
        ones = np.ones(len(self.numbers), np.int32)
        shape = (len(self.starts) - 1, len(self.names))
        found = csr_array((ones, self.numbers.copy(), bounds), shape)
        found.sum_duplicates()  # this works in place, so on a copy
        return found

    @cached_property
    def lookup(self) -> NameLookup:
        """A lookup that finds the names in any text."""
        return NameLookup(self.names)

    def mentions_of(self, text: str) -> set[int]:
        """Returns the numbers of the names in a text."""
        return self.lookup.found(split_words(text))

    def of_sentences(self, position: int) -> list[Ints]:
        """Returns the numbers of the names in each sentence of a passage."""
        first, last = self.starts[position], self.starts[position + 1]
        bounds = self.ends[first : last + 1].tolist()
        return [self.numbers[start:end] for start, end in pairwise(bounds)]

    def save(self, folder: Path) -> None:
        """Writes entities into a folder."""
        arrays = (self.starts, self.ends, self.numbers, self.homes.indptr, self.homes.indices)
        for name, array in zip(_ARRAYS, arrays, strict=True):
            save_array(folder / f"{name}.npy", np.asarray(array, np.int64))
        (folder / _NAMES).write_bytes(msgspec.json.encode(list(self.names)))

    @classmethod
    def read(cls, folder: Path) -> Entities:
        """Reads entities from a folder."""
        try:
            names = msgspec.json.decode((folder / _NAMES).read_bytes(), type=list[str])
            arrays = [np.load(folder / f"{name}.npy", allow_pickle=False) for name in _ARRAYS]
            starts, ends, numbers, home_ends, homes = arrays
            check_starts(starts, starts.size - 1, ends.size - 1)
            check_runs(ends, numbers, ends.size - 1, len(names))
            check_runs(home_ends, homes, len(names), starts.size - 1)
        except UNREADABLE as error:
            raise DamagedArtifact(folder, error) from error
        shape = (len(names), len(starts) - 1)
        return cls(
            names, starts, ends, numbers, csr_array((np.ones(len(homes), np.int8), homes, home_ends), shape)
        )


class NameLookup:
    """Finds names in words, and prefers the longest. It finds names inside longer names only on request."""

    def __init__(self, names: Sequence[str]) -> None:
        self._single: dict[str, int] = {}
        self._longer: dict[str, dict[tuple[str, ...], int]] = {}
        for number, name in enumerate(names):
            words = tuple(name.split(" "))
            if len(words) == 1:
                self._single[name] = number
            else:
                self._longer.setdefault(words[0], {})[words] = number

    def found(self, words: Sequence[str], *, inside: bool = False) -> set[int]:
        """Returns the numbers of the names in the words of a text.

        With `inside`, names inside longer names are returned too.
        """
        found, at = set[int](), 0
        while at < len(words):
            step = 1
            for length, number in self._at(words, at):
                found.add(number)
                if not inside:
                    step = length
                    break
            at += step
        return found

    def _at(self, words: Sequence[str], at: int) -> Iterator[tuple[int, int]]:
        """Yields the names that begin at a place, the longest first.

        Each is given by its number of words and the number of the name.
        """
        if (longer := self._longer.get(words[at])) is not None:
            for length in range(min(LONGEST, len(words) - at), 1, -1):
                if (number := longer.get(tuple(words[at : at + length]))) is not None:
                    yield length, number
        if (single := self._single.get(words[at])) is not None:
            yield 1, single


def _collect_names(passages: Sequence[Passage], progress: ProgressCallback) -> list[str]:
    """Collects the names of titles, single words, and runs of words that occur in at least two passages.

    A run of words that occurs in only one passage is usually a name with unrelated words beside it.
    """
    having, titled = Counter[str](), set[str]()
    for position, passage in enumerate(passages):
        _report_progress(progress, "collecting names", position, len(passages))
        having.update(find_names(passage.text))
        titled.update(find_title_names(passage.title))
    return sorted(titled | {name for name, count in having.items() if count > 1 or " " not in name})


def _report_progress(progress: ProgressCallback, what: str, done: int, total: int) -> None:
    if done % 10_000 == 0 or done == total:
        progress(what, done, total)
