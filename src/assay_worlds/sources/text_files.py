"""Files of text as sources find them: in a fixed order, plain or gzipped, in whatever encoding."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterable
from pathlib import Path

from assay.core.errors import DataError, Problem

_NUMBERS = re.compile(r"(\d+)")
_SENTENCE_END = re.compile(r"\n|(?<=[.!?])[ \t]+(?=[\"'(]?[A-Z0-9])")


def in_order(paths: Iterable[Path], root: Path) -> list[tuple[str, Path]]:
    """Files with their names under a folder, sorted so that numbers in names count as numbers."""
    named = [(path.relative_to(root).as_posix(), path) for path in paths]
    return sorted(named, key=lambda each: (_counted(each[0]), each[0]))


def _counted(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in _NUMBERS.split(name)]


def unpacked(path: Path) -> bytes:
    """The bytes of a file, unpacked where it is gzipped."""
    if path.suffix != ".gz":
        return path.read_bytes()
    try:
        return gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(Problem(f"cannot be unpacked: {error}", str(path), fix="Fetch it again.")) from None


def parted(text: str, words: int) -> str:
    """A text in which no paragraph has many more than so many words.

    A longer one is parted by blank lines, at the ends of lines or sentences; only white space changes.
    """
    return "\n\n".join(_parted(paragraph, words) for paragraph in re.split(r"\n[ \t]*\n", text))


def _parted(paragraph: str, words: int) -> str:
    if len(paragraph.split()) <= words:
        return paragraph
    pieces, start, held = list[str](), 0, 0
    last = 0
    for end in (*_SENTENCE_END.finditer(paragraph), None):
        stop = len(paragraph) if end is None else end.start()
        more = len(paragraph[last:stop].split())
        if held and held + more > words:
            pieces.append(paragraph[start:last].strip())
            start, held = last, 0
        held += more
        last = stop
    return "\n\n".join([*pieces, paragraph[start:].strip()])
