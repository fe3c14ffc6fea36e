"""What a leak is looked for in: the files of a pack and what was served, read as far as they can be read.

JSON, JSON lines and CSV are read into fields; of each field it is known to which response it belongs, which
is the nearest id around it. Anything else is text.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from assay.kinds.answers.blinding.pack import ACTS, MAP, MARKS, PACK
from assay.kinds.answers.scoring.suggestions import FOLDER as SUGGESTIONS


class FieldValue(NamedTuple):
    """A value, the keys that lead to it (without places in lists), and the response that it belongs to."""

    keys: tuple[str, ...]
    value: Any
    response_id: str | None

    @property
    def name(self) -> str:
        return next((key for key in reversed(self.keys) if key != "*"), "")


class ResponseRecord(NamedTuple):
    """The keys that lead to what is said of one response, and the names of its fields as they come."""

    keys: tuple[str, ...]
    names: list[str]
    response_id: str


@dataclass(frozen=True)
class VisibleText:
    """A file or a served answer, under the name that a message gives it."""

    name: str
    text: str
    ids: Collection[str]
    path: Path | None = None

    @property
    def ours(self) -> bool:
        """Whether it is a file of which a pack is made."""
        return self.path is not None and (self.name in {PACK, MAP, ACTS} or self.said)

    @property
    def said(self) -> bool:
        """Whether it holds what raters or models said of responses: that may go with the condition."""
        return self.path is not None and self.name.startswith((f"{MARKS}/", f"{SUGGESTIONS}/"))

    @cached_property
    def tree(self) -> Any:
        """What it says as maps and lists; None where it is plain text."""
        for read in (_json, _json_lines, _table):
            if (found := read(self.text)) is not None:
                return found
        return None

    @cached_property
    def fields(self) -> list[FieldValue]:
        """Every single value in it; of plain text, what a line says beside the one id that it holds."""
        tree = self.tree
        return list(_lines(self.text, self.ids) if tree is None else _fields(tree, (), None, self.ids))

    def records(self) -> Iterator[ResponseRecord]:
        """Every map that is about one response."""
        yield from _records(self.tree, (), "", self.ids)

    def sequences(self) -> Iterator[list[str]]:
        """Every list that orders two responses or more; of plain text, the ids in the order they come in."""
        if self.tree is not None:
            yield from _sequences(self.tree, self.ids)
        elif len(found := _in_text(self.text, self.ids)) > 1:
            yield found


def visible_texts(folder: Path, served: Mapping[str, str], ids: Collection[str]) -> list[VisibleText]:
    """Every file of a folder, and every text that was served."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return [
        *(
            VisibleText(
                path.relative_to(folder).as_posix(), path.read_bytes().decode("utf-8", "replace"), ids, path
            )
            for path in files
        ),
        *(VisibleText(name, text, ids) for name, text in served.items()),
    ]


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
    mark = next((mark for mark in ",;\t" if lines and mark in lines[0]), None)
    if mark is None or len(lines) < 2:
        return None
    try:
        rows = list(csv.DictReader(io.StringIO(text), delimiter=mark, strict=True))
    except csv.Error:
        return None
    whole = all(None not in row and None not in row.values() for row in rows)
    return rows if rows and whole else None


def _fields(
    node: Any, keys: tuple[str, ...], owner: str | None, ids: Collection[str]
) -> Iterator[FieldValue]:
    if isinstance(node, dict):
        own = [value for value in node.values() if isinstance(value, str) and value in ids]
        owner = own[0] if own else owner
        for key, value in node.items():
            inner = key if key in ids else owner  # a map from ids to something
            yield from _fields(value, (*keys, "*" if key in ids else str(key)), inner, ids)
    elif isinstance(node, list):
        for value in node:
            yield from _fields(value, keys, owner, ids)
    else:
        yield FieldValue(keys, node, owner)


def _records(node: Any, keys: tuple[str, ...], owner: str, ids: Collection[str]) -> Iterator[ResponseRecord]:
    """`owner` is the response under whose id a node stands, if it does."""
    if isinstance(node, dict):
        if about := _owner(node, ids) or owner:
            yield ResponseRecord(keys, list(node), about)
        for key, value in node.items():
            named = key if key in ids else ""
            yield from _records(value, (*keys, "*" if named else str(key)), named, ids)
    elif isinstance(node, list):
        for value in node:
            yield from _records(value, keys, "", ids)


def _lines(text: str, ids: Collection[str]) -> Iterator[FieldValue]:
    for line in text.splitlines():
        if len(found := _in_text(line, ids)) == 1:
            yield FieldValue(("line",), line.replace(found[0], "").strip(), found[0])


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


def _in_text(text: str, ids: Collection[str]) -> list[str]:
    return list(dict.fromkeys(word for word in re.findall(r"[\w-]+", text) if word in ids))
