"""A dataset in memory: its corpus, its items and the definitions of its labels.

The module also has the conditions of slices, which select items.
"""

from __future__ import annotations

import hashlib
import operator
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite
from typing import NamedTuple

import msgspec

from assay.core.errors import DataError, Problem
from assay.core.records import Document, Item, Passage

_encode = msgspec.json.Encoder(order="sorted").encode


def digest(parts: Iterable[bytes]) -> str:
    """Returns a short hash of a list of parts.

    The lengths of the parts are hashed too. So two lists that join to the same bytes have different hashes.
    """
    state = hashlib.blake2b(digest_size=16)
    for part in parts:
        state.update(len(part).to_bytes(8, "little"))
        state.update(part)
    return state.hexdigest()


@dataclass(frozen=True)
class Corpus:
    """The passages that a system indexes, in a fixed order, and the documents they were cut from."""

    passages: Sequence[Passage]
    documents: Mapping[str, Document] = field(default_factory=dict)
    # the units that a passage counts as, if documents were cut again and gold names the earlier passages
    units: Mapping[str, Sequence[str]] = field(default_factory=dict)
    before: Corpus | None = None  # the corpus that has these units

    def __len__(self) -> int:
        return len(self.passages)

    @property
    def is_uncut(self) -> bool:
        """Whether the corpus has only documents, which were not cut into passages yet."""
        return not self.passages and bool(self.documents)

    @cached_property
    def hash(self) -> str:
        """A hash of everything that a system can see: the passages, then their documents."""
        return digest(_encode(record) for record in (*self.passages, *self.documents.values()))

    @cached_property
    def position(self) -> dict[str, int]:
        """The position of each doc_id in `passages`."""
        return {passage.doc_id: index for index, passage in enumerate(self.passages)}

    def text_of(self, doc_id: str) -> str | None:
        """Returns the text of a passage, document or unit; None if the corpus has no text with that id."""
        if (index := self.position.get(doc_id)) is not None:
            return self.passages[index].text
        if doc_id in self.documents:
            return self.documents[doc_id].text
        return None if self.before is None else self.before.text_of(doc_id)

    def document_of(self, doc_id: str) -> str:
        """Returns the document from which a passage or unit was cut.

        If there is none, returns the given id.
        """
        if (index := self.position.get(doc_id)) is not None:
            return self.passages[index].source or doc_id
        return doc_id if self.before is None else self.before.document_of(doc_id)

    def section_of(self, doc_id: str) -> str | None:
        """Returns the section that contains a passage or unit; None if it has no section."""
        if (index := self.position.get(doc_id)) is not None:
            return self.passages[index].section
        return None if self.before is None else self.before.section_of(doc_id)

    def restricted(self, doc_ids: Iterable[str]) -> Corpus:
        """Returns a corpus with only these passages, in corpus order, and the documents of these passages."""
        found = sorted({self.position[doc_id] for doc_id in doc_ids if doc_id in self.position})
        passages = [self.passages[index] for index in found]
        sources = dict.fromkeys(passage.source or passage.doc_id for passage in passages)
        documents = {each: self.documents[each] for each in sources if each in self.documents}
        return Corpus(passages, documents, self.units, self.before)


class Place(NamedTuple):
    """A file and a line in it."""

    file: str
    line: int | None = None


@dataclass(frozen=True)
class Dataset:
    """A corpus, with a golden set of items for it."""

    name: str
    corpus: Corpus
    items: Sequence[Item]
    label_definitions: Mapping[str, str] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    columns: Mapping[str, str] = field(default_factory=dict)  # names of passage fields, by the authors
    places: Mapping[str, Place] = field(default_factory=dict)  # the file and line of each item
    layer: str = ""  # public, structured or private: the claims that a result can support
    unproven: Sequence[str] = ()  # what results on this data cannot show, however good they are

    def __post_init__(self) -> None:
        problems = [
            *_duplicate_problems("item_id", (item.item_id for item in self.items), self.name),
            *_duplicate_problems("doc_id", (passage.doc_id for passage in self.corpus.passages), self.name),
        ]
        if problems:
            raise DataError(problems)

    @cached_property
    def hash(self) -> str:
        units = [_encode(self.corpus.units)] if self.corpus.units else []
        return digest([self.corpus.hash.encode(), *(_encode(item) for item in self.items), *units])


def search_problems(dataset: Dataset, system: object) -> list[Problem]:
    """Returns the reasons why a system that searches passages cannot find anything in a dataset."""
    passages = dataset.corpus.passages
    if not passages:
        fix = "Add passages or documents to it, or name a system that brings its own answers."
        what = f"it has no passages, and {type(system).__name__} searches passages"
        return [Problem(what, dataset.name, fix=fix)]
    texts = {f"{passage.title or ''} {passage.text}".strip() for passage in passages}
    if not any(any(map(str.isalnum, text)) for text in texts):
        what = f"none of its {len(passages)} passages has any words"
        return [Problem(what, dataset.name, fix="Check how their texts were read.")]
    if len(passages) > 1 and len(texts) == 1:
        what = f"all of its {len(passages)} passages have the same text, {_shorten(texts.pop())!r}"
        return [Problem(what, dataset.name, fix="Check how their texts were read.")]
    found = []
    for item in dataset.items:
        if item.scope is not None and not any(each in dataset.corpus.position for each in item.scope):
            place = dataset.places.get(item.item_id, Place(dataset.name))
            what, fix = "its scope names no passage", "Name some, or leave it out for the whole corpus."
            found.append(Problem(what, place.file, place.line, f"{item.item_id}.scope", fix))
    return found


def _shorten(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:39]}…"


def _duplicate_problems(what: str, ids: Iterable[str], where: str) -> list[Problem]:
    seen: set[str] = set()
    doubled: dict[str, None] = {}
    for each in ids:
        if each in seen:
            doubled[each] = None
        seen.add(each)
    return [
        Problem(f"the {what} {each!r} occurs more than once", where, fix="Ids must be unique.")
        for each in doubled
    ]


# --------------------------------------------------------------------------------------- slices

# A hyphen belongs to a name only if a letter follows: `bge-m3` is a name, `recall-0.1` a difference.
NAME = re.compile(r"[^\W\d]\w*(?:\.\w+|-[^\W\d]\w*)*")
WORD = re.compile(r"[^\s,|()\[\]'\"=!<>≥≤]+")  # a value that needs no quotes

_COMPARE = {">=": operator.ge, ">": operator.gt, "<=": operator.le, "<": operator.lt}


@dataclass(frozen=True)
class Condition:
    """A condition of a slice: a tag or factor has one of the values or, if `equal` is false, none of them.

    If `sign` is given, the tag is a number that is compared with the only value, as in `freq > 5`.
    """

    name: str
    equal: bool
    values: tuple[str, ...]
    sign: str = ""

    def met_by(self, values: Iterable[str]) -> bool:
        """Whether an item or arm with these values of the tag or factor is in the slice.

        `*` among the values of the condition matches any value.
        """
        if self.sign:
            bound = float(self.values[0])
            return any(_COMPARE[self.sign](number, bound) for number in numbers(values))
        own = set(values)
        found = not own.isdisjoint(self.values) or ("*" in self.values and bool(own))
        return found == self.equal

    def __str__(self) -> str:
        values = "|".join(bare_or_quoted(value, WORD) for value in self.values)
        sign = f" {self.sign} " if self.sign else "=" if self.equal else "!="
        return f"{bare_or_quoted(self.name, NAME)}{sign}{values}"


def numbers(values: Iterable[str]) -> Iterator[float]:
    """Yields those values that are finite numbers, as numbers."""
    for value in values:
        try:
            number = float(value)
        except ValueError:
            continue
        if isfinite(number):
            yield number


def bare_or_quoted(text: str, bare: re.Pattern[str]) -> str:
    """Returns the text as it is, or in quotes if it could not be read back without quotes."""
    return text if bare.fullmatch(text) else "'" + text.replace("'", "''") + "'"
