"""What a source of real texts gives: pages of plain text with their sections, and passages cut from them."""

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

WORDS = 120  # of a passage, at most, unless a single paragraph has more
LEAST = 12  # a heading alone is no passage: it goes with what follows it
_GAP = re.compile(r"\n\s*\n")
_SHA256 = re.compile(r"[0-9a-fA-F]{64}")


class PageSection(NamedTuple):
    """A stretch of a page under one heading; the path of headings above it is joined by " > "."""

    heading: str
    span: Span


class SourcePage(NamedTuple):
    """A document as plain text: no markup, so that what is shown is what stands there.

    `document.metadata` has `kind` ("handbook", "mail", "changelog", "report"), `path`, and where known `date`
    (ISO), `version`, `as_of` (the day from which a dated snapshot is) and `snapshot_of` (the page's path,
    shared by all its snapshots).
    """

    document: Document
    sections: tuple[PageSection, ...]


@runtime_checkable
class TextSource(Protocol):
    """A plugin that reads pages from disk, in a fixed order.

    `sha256` pins the content: empty takes whatever is there, anything else must be what `fingerprint` gives.
    """

    kind: ClassVar[str]
    path: str
    sha256: str

    def pages(self, kit: Kit) -> Iterator[SourcePage]: ...


def passages_of(page: SourcePage, words: int = WORDS) -> list[Passage]:
    """The passages of a page: neighbouring paragraphs of one section, as many as `words` allow."""
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
    """The paragraphs of a stretch: what blank lines part, less the white space around each."""
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
    """A hash over the names and bytes of files, in the order given."""
    state = hashlib.sha256()
    for name, path in files:
        state.update(f"{name}\0{path.stat().st_size}\0".encode())
        state.update(path.read_bytes())
    return state.hexdigest()


def check_pin(where: Path, wanted: str, found: str) -> None:
    """Refuses content that is not what was pinned, and a pin that no content can have."""
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


def gathered(sources: Sequence[Any], kit: Kit) -> Iterator[SourcePage]:
    """Every page of every source; a source may still be as a study writes it.

    What is wrong with the sources is reported at the end, all of it together, each problem with its source.
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
