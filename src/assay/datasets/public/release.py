"""Reads the file of a release: a JSON array or JSON lines, plain or gzipped. All problems are reported at
once.

A file that cannot be proved to be the official release is also read, with a warning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from assay.core.dataset import Place
from assay.core.errors import DataError, Problem, decoding_problem
from assay.datasets.public.catalogue import LOCK, DataLock, content_sum, read_catalogue
from assay.datasets.trec_files import read_bytes

T = TypeVar("T")

REFUSED = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
UNKNOWN = "figures on the official release: this file is not known to be it"
_SHOWN = 3
_HASHED = 10**9  # bytes; of larger files only the length is compared


class _RawRecord(NamedTuple):
    """A record before it is decoded, and its place."""

    place: Place
    content: bytes | msgspec.Raw


def read_release(
    path: Path,
    kind: type[T],
    name: Callable[[T], str] | None = None,
    limit: int | None = None,
    check: Callable[[T], Sequence[Problem]] = lambda _: (),
) -> list[tuple[Place, T]]:
    """Returns the first `limit` records of a file (None: all), each with its place.

    `name` gives the id of a record, which must be unique. `check` returns further problems of a record.
    """
    decode = msgspec.json.Decoder(kind).decode
    found: list[tuple[Place, T]] = []
    problems: list[Problem] = []
    first: dict[str, Place] = {}
    for place, content in _raw_records(path)[:limit]:
        try:
            record = decode(content)
        except REFUSED as error:
            problems.append(decoding_problem(error, *place))
            continue
        found.append((place, record))
        problems += [replace(each, where=place.file, line=place.line) for each in check(record)]
        if name is not None and first.setdefault(own := name(record), place) != place:
            what = f"the id {own!r} stands at {_place_text(first[own])} already"
            problems.append(Problem(what, *place, fix="Ids must be unique."))
    if not found and not problems:
        problems.append(Problem("there is no record in it", str(path), fix="Check the path, or fill it."))
    if problems:
        raise DataError(problems)
    return found


def _raw_records(path: Path) -> list[_RawRecord]:
    data = read_bytes(path)
    if not data.lstrip().startswith(b"["):
        return list(_lines(path, data))
    try:
        records = msgspec.json.decode(data, type=list[msgspec.Raw])
    except REFUSED as error:
        fix = "Check that the file is whole: it must be one JSON array, or one JSON object per line."
        raise DataError(replace(decoding_problem(error, str(path)), fix=fix)) from None
    # released arrays are on one line, so the number of a record tells more
    return [_RawRecord(Place(f"{path}, record {number}"), record) for number, record in enumerate(records, 1)]


def _lines(path: Path, data: bytes) -> Iterator[_RawRecord]:
    for number, line in enumerate(data.splitlines(), 1):
        if line.strip():
            yield _RawRecord(Place(str(path), number), line)


def _place_text(place: Place) -> str:
    return place.file if place.line is None else f"{place.file}:{place.line}"


# ----------------------------------------------------------------------------- the official file


def release_doubts(path: Path) -> tuple[str, ...]:
    """Returns warnings about a file that is not proved to be the official release."""
    return () if path.is_file() and _is_official(path) else (UNKNOWN,)


def _is_official(path: Path) -> bool:
    """Whether a file is the one in the catalogue, or the one in the lock beside it."""
    name = path.name.removesuffix(".gz")
    known = [*_locked_files(path.with_name(LOCK), name), *_published_files()]
    size = path.stat().st_size
    if name == path.name:
        known = [
            each for each in known if each.bytes in (None, size)
        ]  # a file of another length need not be hashed
    if size >= _HASHED:
        return any(each.locked and each.bytes == size for each in known)
    return bool(known) and content_sum(path, name).sha256 in {each.sha256 for each in known}


class _OfficialFile(NamedTuple):
    """The checksum and the length of a file of an official release."""

    sha256: str
    bytes: int | None
    locked: bool


def _locked_files(path: Path, name: str) -> Iterator[_OfficialFile]:
    """Yields the official file of that name in a lock. Local copies do not count."""
    try:
        found = msgspec.json.decode(path.read_bytes(), type=DataLock).files.get(name)
    except (OSError, *REFUSED):  # without a readable lock, no file is known
        return
    if found is not None and found.pinned != "local copy":
        yield _OfficialFile(found.sha256, found.bytes, locked=True)


def _published_files() -> Iterator[_OfficialFile]:
    kept = (
        each for entry in read_catalogue().values() for download in entry.downloads for each in download.kept
    )
    return (_OfficialFile(each.sha256, each.bytes, locked=False) for each in kept if each.sha256)


def name_some(found: Sequence[str]) -> str:
    """Joins the first few names, and says how many more there are."""
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return ", ".join(found[:_SHOWN]) + more
