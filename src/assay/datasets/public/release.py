"""Reading the file of a release: a JSON array or JSON lines, plain or gzipped, every problem at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from assay.datasets.dataset import Place
from assay.datasets.reading import explained
from assay.datasets.run_file import read_bytes
from assay.errors import DataError, Problem

T = TypeVar("T")

_REFUSED = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
_SHOWN = 3


class _Raw(NamedTuple):
    """A record as it stands in a file."""

    place: Place
    content: bytes | msgspec.Raw


def read_release(
    path: Path,
    kind: type[T],
    name: Callable[[T], str] | None = None,
    limit: int | None = None,
    check: Callable[[T], Sequence[Problem]] = lambda _: (),
) -> list[tuple[Place, T]]:
    """The first `limit` records of a file (None: all), each with where it stands.

    `name` gives what no two records may share; `check` says what else is wrong with one.
    """
    decode = msgspec.json.Decoder(kind).decode
    found: list[tuple[Place, T]] = []
    problems: list[Problem] = []
    first: dict[str, Place] = {}
    for place, content in _raw_records(path)[:limit]:
        try:
            record = decode(content)
        except _REFUSED as error:
            problems.append(explained(error, *place))
            continue
        found.append((place, record))
        problems += [replace(each, where=place.file, line=place.line) for each in check(record)]
        if name is not None and first.setdefault(own := name(record), place) != place:
            what = f"the id {own!r} stands at {_told(first[own])} already"
            problems.append(Problem(what, *place, fix="Ids must be unique."))
    if not found and not problems:
        problems.append(Problem("there is no record in it", str(path), fix="Check the path, or fill it."))
    if problems:
        raise DataError(problems)
    return found


def _raw_records(path: Path) -> list[_Raw]:
    data = read_bytes(path)
    if not data.lstrip().startswith(b"["):
        return list(_lines(path, data))
    try:
        records = msgspec.json.decode(data, type=list[msgspec.Raw])
    except _REFUSED as error:
        fix = "Check that the file is whole: it must be one JSON array, or one JSON object a line."
        raise DataError(replace(explained(error, str(path)), fix=fix)) from None
    # released arrays stand on one line, so that a record's number says more than a line's
    return [_Raw(Place(f"{path}, record {number}"), record) for number, record in enumerate(records, 1)]


def _lines(path: Path, data: bytes) -> Iterator[_Raw]:
    for number, line in enumerate(data.splitlines(), 1):
        if line.strip():
            yield _Raw(Place(str(path), number), line)


def _told(place: Place) -> str:
    return place.file if place.line is None else f"{place.file}:{place.line}"


def some(found: Sequence[str]) -> str:
    """The first few of what a warning is about."""
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return ", ".join(found[:_SHOWN]) + more
