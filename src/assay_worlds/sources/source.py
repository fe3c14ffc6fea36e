"""Sources of real texts: pages of plain text with sections, and the passages cut from these pages."""

from __future__ import annotations

import gzip
import hashlib
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

from assay.core.errors import DataError, Problem
from assay.core.protocols import Kit
from assay.core.records import Document, Passage, Span
from assay.core.registry import Registry

SOURCES = "assay.sources"  # the group of plugins

WORDS = 120  # the most words of a passage, unless a single paragraph has more
LEAST = 12  # a shorter piece, such as a heading, joins the text that follows it
_GAP = re.compile(r"\n\s*\n")
_SHA256 = re.compile(r"[0-9a-fA-F]{64}")


class PageSection(NamedTuple):
    """A span of a page under one heading. The heading is the path of headings, joined by " > "."""

    heading: str
    span: Span


class SourcePage(NamedTuple):
    """A document as plain text, without markup, so that people see exactly the text that is searched.

    `document.metadata` has `kind` ("handbook", "mail", "changelog", "report") and `path`. If they are known,
    it also has `date` (ISO), `version`, `as_of` (the day on which a dated snapshot begins) and `snapshot_of`
    (the path of the page, which all its snapshots share).
    """

    document: Document
    sections: tuple[PageSection, ...]


@runtime_checkable
class TextSource(Protocol):
    """A plugin that reads pages from disk, in a fixed order.

    `sha256` pins the content. If it is empty, any content is accepted. Otherwise it must be equal to the
    `fingerprint` of the content.
    """

    kind: ClassVar[str]
    path: str
    sha256: str

    def pages(self, kit: Kit) -> Iterator[SourcePage]: ...


def passages_of(page: SourcePage, words: int = WORDS) -> list[Passage]:
    """Cuts a page into passages of neighbouring paragraphs in one section, up to `words` words each."""
    document, found = page.document, list[Passage]()
    for section in page.sections:
        for span in _packed(document.text, section.span, words):
            doc_id = f"{document.doc_id}#p{len(found) + 1}"
            text = document.text[span.start : span.end]
            metadata = {key: value for key, value in document.metadata.items() if key != "path"}
            found.append(
                Passage(doc_id, text, document.title, document.doc_id, span, section.heading, metadata)
            )
    return found


def paragraphs(text: str, inside: Span) -> Iterator[Span]:
    """Yields the paragraphs of a span, which blank lines separate, without surrounding white space."""
    start = inside.start
    for gap in (*_GAP.finditer(text, inside.start, inside.end), None):
        end = inside.end if gap is None else gap.start()
        piece = text[start:end]
        if piece.strip():
            first = start + len(piece) - len(piece.lstrip())
            yield Span(first, first + len(piece.strip()))
        start = end if gap is None else gap.end()


def _packed(text: str, inside: Span, words: int) -> Iterator[Span]:
    held: Span | None = None
    for paragraph in paragraphs(text, inside):
        joined = paragraph if held is None else Span(held.start, paragraph.end)
        full = len(text[joined.start : joined.end].split()) > words
        if held is not None and full and len(text[held.start : held.end].split()) >= LEAST:
            yield held
            joined = paragraph
        held = joined
    if held is not None:
        yield held


def fingerprint(files: Iterable[tuple[str, Path]]) -> str:
    """Returns a hash over the names and bytes of files, in the given order."""
    state = hashlib.sha256()
    for name, path in files:
        state.update(f"{name}\0{path.stat().st_size}\0".encode())
        state.update(path.read_bytes())
    return state.hexdigest()


def check_pin(where: Path, wanted: str, found: str) -> None:
    """Raises a DataError if the content does not have the pinned hash, or if the pin is not a hash."""
    if wanted and not _SHA256.fullmatch(wanted):
        what = f"{wanted!r} is not a sha256, which has 64 digits from 0 to f"
        raise DataError(
            Problem(what, str(where), field="sha256", fix=f"Write {found}, or leave it empty to pin nothing.")
        )
    if wanted and wanted.lower() != found:
        what = f"the content has changed: its sha256 is {found}, and {wanted} is pinned"
        raise DataError(Problem(what, str(where), fix="Get the pinned version, or pin the new one."))


_NUMBERS = re.compile(r"(\d+)")
_SENTENCE_END = re.compile(r"\n|(?<=[.!?])[ \t]+(?=[\"'(]?[A-Z0-9])")


def sort_files(paths: Iterable[Path], root: Path) -> list[tuple[str, Path]]:
    """Returns files with their names in the folder, sorted. Numbers in names are sorted by value."""
    named = [(path.relative_to(root).as_posix(), path) for path in paths]
    return sorted(named, key=lambda each: (_counted(each[0]), each[0]))


def _counted(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in _NUMBERS.split(name)]


def read_unpacked(path: Path) -> bytes:
    """Returns the bytes of a file, decompressed if the file is gzipped."""
    if path.suffix != ".gz":
        return path.read_bytes()
    try:
        return gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(Problem(f"cannot be unpacked: {error}", str(path), fix="Fetch it again.")) from None


def split_paragraphs(text: str, words: int) -> str:
    """Splits paragraphs that are much longer than `words` words.

    They are split at the ends of lines or sentences. Only white space changes.
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


def read_sources(sources: Sequence[Any], kit: Kit) -> Iterator[SourcePage]:
    """Yields all pages of all sources. A source may be an object or its specification in a study.

    The problems of all sources are collected, and raised together at the end. Each problem names its source.
    """
    registry = Registry()
    made: list[TextSource] = [
        each if isinstance(each, TextSource) else registry.create(SOURCES, each) for each in sources
    ]
    problems = list[Problem]()
    for number, source in enumerate(made):
        try:
            yield from source.pages(kit)
        except DataError as error:
            problems += (_placed(each, f"sources.{number}") for each in error.problems)
    if problems:
        raise DataError(problems)


def _placed(problem: Problem, place: str) -> Problem:
    return replace(problem, field=f"{place}.{problem.field}" if problem.field else place)
