"""The texts in which leaks are searched for: files of a pack, and texts that are served or exported.

JSON, JSON lines and CSV are read into fields. A field belongs to the response that the nearest enclosing map
names. Any other content is plain text.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from assay.kinds.answers.blinding.ids import blind_order
from assay.kinds.answers.blinding.masks import Masker
from assay.kinds.answers.blinding.pack import ACTS, MAP, MARKS, PACK, BlindPack, SealedMap
from assay.kinds.answers.leaks.statistics import LabelPermutations, condition_of
from assay.kinds.answers.scoring.passes import passes_of
from assay.kinds.answers.scoring.suggestions import FOLDER as SUGGESTIONS


class Leak(NamedTuple):
    """One leak: the check that found it, what it is, and where it is."""

    check: str
    what: str
    where: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what} [{self.check}]"


class FieldValue(NamedTuple):
    """A value, the keys on the path to it (without places in lists), and the response that it belongs to."""

    keys: tuple[str, ...]
    value: Any
    response_id: str | None

    @property
    def name(self) -> str:
        return next((key for key in reversed(self.keys) if key != "*"), "")


class ResponseRecord(NamedTuple):
    """A map about one response: the keys on the path to the map, and the names of its fields in order."""

    keys: tuple[str, ...]
    names: list[str]
    response_id: str


@dataclass(frozen=True)
class SearchedText:
    """A file, or a text that is served or exported, with the name that messages use for it."""

    name: str
    text: str
    ids: Collection[str]
    path: Path | None = None

    @property
    def is_pack_file(self) -> bool:
        return self.path is not None and (self.name in {PACK, MAP, ACTS} or self.has_marks)

    @property
    def has_marks(self) -> bool:
        """Whether the text contains marks or suggestions on responses, which may go with the condition."""
        return self.path is not None and self.name.startswith((f"{MARKS}/", f"{SUGGESTIONS}/"))

    @cached_property
    def tree(self) -> Any:
        """The content as maps and lists; None if the text is plain text."""
        for read in (_json, _json_lines, _table):
            if (found := read(self.text)) is not None:
                return found
        return None

    @cached_property
    def fields(self) -> list[FieldValue]:
        """Every single value of the text. In plain text: each line with exactly one id, without that id."""
        if self.tree is not None:
            return list(_fields(self.tree, (), None, self.ids))
        return [
            FieldValue(("line",), line.replace(ids[0], "").strip(), ids[0])
            for line in self.text.splitlines()
            if len(ids := _ids_in(line, self.ids)) == 1
        ]

    def records(self) -> Iterator[ResponseRecord]:
        """Yields every map that is about one response."""
        yield from _records(self.tree, (), "", self.ids)

    def sequences(self) -> Iterator[list[str]]:
        """Yields every list of two or more responses. In plain text, yields all ids in their order."""
        if self.tree is not None:
            yield from _sequences(self.tree, self.ids)
        elif len(found := _ids_in(self.text, self.ids)) > 1:
            yield found


@dataclass(frozen=True)
class LeakSearch:
    """The texts of a pack, and the words that must not occur in them."""

    folder: Path
    pack: BlindPack
    sealed: SealedMap
    words: Sequence[str]
    masker: Masker
    served: Mapping[str, str] = field(default_factory=dict)
    exported: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def ids(self) -> list[str]:
        return [each.response_id for each in self.pack.responses]

    @cached_property
    def place(self) -> dict[str, int]:
        return {each: place for place, each in enumerate(self.ids)}

    @cached_property
    def conditions(self) -> list[str]:
        """The condition of each response, in the order of the pack."""
        known = {each.response_id: condition_of(each.arm) for each in self.sealed.originals}
        return [known.get(each, "") for each in self.ids]

    @cached_property
    def stated(self) -> re.Pattern[str]:
        """A pattern that finds one of the words, given as the value of a key: condition=A, "arm": "A"."""
        words = "|".join(map(re.escape, sorted(self.words, key=len, reverse=True)))
        name, value = r"(?:condition|arm|system|variant)s?", rf"(?P<word>{words or '(?!)'})"
        return re.compile(rf"{name}[\"']?\s*[:=]\s*[\"']?{value}(?![\w\[])")

    @cached_property
    def texts(self) -> list[SearchedText]:
        """Every file of the folder, and every text that is served or exported."""
        ids, found = frozenset(self.ids), list[SearchedText]()
        for path in sorted(path for path in self.folder.rglob("*") if path.is_file()):
            text = path.read_bytes().decode("utf-8", "replace")
            found.append(SearchedText(path.relative_to(self.folder).as_posix(), text, ids, path))
        others = {**self.served, **self.exported}
        return [*found, *(SearchedText(name, text, ids) for name, text in others.items())]

    def response_of(self, text: SearchedText) -> str:
        """Returns the response that a file is named after, or an empty text if there is none."""
        stem = text.name.rsplit("/", 1)[-1].split(".")[0]
        return stem if stem in self.place else ""

    @cached_property
    def orders(self) -> dict[tuple[str, str], list[str]]:
        """The order of responses of each rater in each pass."""
        return {
            (rater, each.name): blind_order(self.pack, rater, each.name, sorted(each.response_ids))
            for rater in self.pack.panel.raters
            for each in passes_of(self.pack, rater)
        }

    @cached_property
    def permutations(self) -> LabelPermutations:
        return LabelPermutations.of([each.question_id for each in self.pack.responses], self.conditions)


# ---------------------------------------------------------------------------------------- reading


def _json(text: str) -> Any:
    try:
        found = msgspec.json.decode(text.encode())
    except (msgspec.DecodeError, UnicodeEncodeError):
        return None
    return found if isinstance(found, dict | list) else None


def _json_lines(text: str) -> list[Any] | None:
    found = [_json(line) for line in text.splitlines() if line.strip()]
    return found if found and all(isinstance(each, dict) for each in found) else None


def _table(text: str) -> list[dict[str, str]] | None:
    lines = text.splitlines()
    delimiter = next((each for each in ",;\t" if lines and each in lines[0]), None)
    if delimiter is None or len(lines) < 2:
        return None
    try:
        rows = list(csv.DictReader(io.StringIO(text), delimiter=delimiter, strict=True))
    except csv.Error:
        return None
    whole = all(None not in row and None not in row.values() for row in rows)
    return rows if rows and whole else None


def _fields(
    node: Any, keys: tuple[str, ...], owner: str | None, ids: Collection[str]
) -> Iterator[FieldValue]:
    if isinstance(node, dict):
        owner = _owner(node, ids) or owner
        for key, value in node.items():
            inner = key if key in ids else owner  # a map from ids to something
            yield from _fields(value, (*keys, "*" if key in ids else str(key)), inner, ids)
    elif isinstance(node, list):
        for value in node:
            yield from _fields(value, keys, owner, ids)
    else:
        yield FieldValue(keys, node, owner)


def _records(node: Any, keys: tuple[str, ...], owner: str, ids: Collection[str]) -> Iterator[ResponseRecord]:
    """Yields the maps about one response. `owner` is the response whose id is the key of `node`, if any."""
    if isinstance(node, dict):
        if about := _owner(node, ids) or owner:
            yield ResponseRecord(keys, list(node), about)
        for key, value in node.items():
            named = key if key in ids else ""
            yield from _records(value, (*keys, "*" if named else str(key)), named, ids)
    elif isinstance(node, list):
        for value in node:
            yield from _records(value, keys, "", ids)


def _sequences(node: Any, ids: Collection[str]) -> Iterator[list[str]]:
    if isinstance(node, list):
        found = [_owner(each, ids) for each in node]
        order = list(dict.fromkeys(each for each in found if each is not None))
        if len(order) > 1:
            yield order
    elif isinstance(node, dict) and len(order := [key for key in node if key in ids]) > 1:
        yield order
    for value in node if isinstance(node, list) else node.values() if isinstance(node, dict) else ():
        yield from _sequences(value, ids)


def _owner(node: Any, ids: Collection[str]) -> str | None:
    values = node.values() if isinstance(node, dict) else [node]
    return next((value for value in values if isinstance(value, str) and value in ids), None)


def _ids_in(text: str, ids: Collection[str]) -> list[str]:
    return list(dict.fromkeys(word for word in re.findall(r"[\w-]+", text) if word in ids))
