"""Reads release notes in Markdown: one file, or a folder of files. A file has its newest release first.

A heading that is a version begins a release (`# v1.20.1`, `## [1.2.0] - 2024-03-01`). Only headings of the
highest level that has versions count. Tables of contents and of files to download are left out. The line of
each heading names its release, because a passage is read without its page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import ClassVar, NamedTuple

from assay.core.errors import DataError, Problem
from assay.core.protocols import Kit
from assay.core.records import Document, Span
from assay.datasets.markdown_text import PlainText, TextHeading, markdown_parser, plain_text
from assay_worlds.sources.source import (
    PageSection,
    SourcePage,
    check_pin,
    fingerprint,
    read_unpacked,
    sort_files,
)

_VERSION = re.compile(r"\[?(v?\d+\.\d[\w.+-]*)\]?(?:\s.*)?")
_LEFT_OUT = re.compile(r"downloads? for|downloads?$|table of contents", re.IGNORECASE)
_SUFFIX = re.compile(r"\.md(?:\.gz)?$")
_NOT_NAME = re.compile(r"(?i)change_?log|\d+(?:\.\d+)*|[\W_]+")
_NOTES = re.compile(
    r"(?i)\b(?:change[ _-]?logs?|release[ _-]notes?|releases|unreleased|table of contents"
    r"|(?:version )?history|news|(?:all )?notable changes)\b|(?<!\w)v?\d+(?:\.(?:\d+|x))*(?!\w)"
)
_EDGE = re.compile(r"(?i)^(?:for|of|in|to|the)\s|\s(?:for|of|in|to)$|^[\W_]+|[^\w)+#]+$")
_NOTHING = "Nothing has changed."
_LONGEST = 200  # characters of a heading that may name a product


class _ReleasePart(NamedTuple):
    """The text under one heading of a release. `path` has the headings above it and its own heading."""

    path: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class Changelog:
    """The releases of a product, one page each.

    The titles of pages begin with `product`, followed by the remaining words of the file's name. Without
    `product`, a file's first heading names the product, or else the name of the file or of its folder.
    """

    path: str
    sha256: str = ""
    product: str = ""

    kind: ClassVar[str] = "changelog"

    def pages(self, kit: Kit) -> Iterator[SourcePage]:
        """Yields one page per release, in the order of the files."""
        where = kit.path(self.path)
        files = _files(where)
        if self.sha256:
            check_pin(where, self.sha256, fingerprint(files))
        parser, found = markdown_parser(), False
        for name, path in files:
            plain = plain_text(read_unpacked(path).decode("utf-8", "replace"), parser)
            level = _release_level(plain)
            product = self._called(name) if self.product else _product(plain, level, path)
            for version, parts in _releases(plain, level):
                found = True
                yield self._page(name, _place(where, name), product, version, parts)
        if not found:
            fix = "A release begins with a heading such as '# v1.2.3' or '## [1.2.3] - 2024-03-01'."
            raise DataError(Problem("there is no release in it", str(where), fix=fix))

    def _called(self, name: str) -> str:
        """Returns the given product name with the rest of the file name: "Pumps python client"."""
        return " ".join([self.product, *_NOT_NAME.sub(" ", Path(_SUFFIX.sub("", name)).name).split()])

    def _page(
        self, name: str, place: str, product: str, version: str, parts: Sequence[_ReleasePart]
    ) -> SourcePage:
        title = f"{product} {version} release notes"
        text, sections = title, list[PageSection]()
        for part in parts or [_ReleasePart((), "")]:
            start = len(text) + 2 if sections else 0
            heading = f"{part.path[-1]} ({version})\n\n" if part.path else ""
            text = f"{text}\n\n{heading}{part.text}".rstrip()
            sections.append(PageSection(" > ".join(part.path) or title, Span(start, len(text))))
        metadata = {"kind": self.kind, "path": name, "version": version, "product": product}
        return SourcePage(Document(f"{self.kind}/{place}/{version}", text, title, metadata), tuple(sections))


def _files(where: Path) -> list[tuple[str, Path]]:
    if where.is_file():
        return [(where.name, where)]
    if not where.is_dir():
        fix = "Check the path: a Markdown file, or a folder of them."
        raise DataError(Problem("there is no such file or folder", str(where), fix=fix))
    notes = [path for path in where.rglob("*") if path.name.endswith((".md", ".md.gz"))]
    named = [path for path in notes if "changelog" in path.name.lower()]
    if not notes:
        raise DataError(Problem("there is no Markdown file in it", str(where), fix="Check the path."))
    return sort_files(named or notes, where)


def _place(where: Path, name: str) -> str:
    """Returns the prefix of the ids of a file's pages.

    The prefix contains the folder's name if the file is the only one or has a generic name. Many products
    have a CHANGELOG.md, and a study may read several of them.
    """
    stem = _SUFFIX.sub("", name)
    if where.is_file():
        return f"{where.resolve().parent.name}/{stem}"
    says = _less_notes(stem.replace("_", " ").replace("-", " ")) or any(sign.isdigit() for sign in stem)
    return stem if says else f"{where.resolve().name}/{stem}"


def _release_level(plain: PlainText) -> int:
    """Returns the highest level at which headings are versions; 0 if no heading is a version."""
    return min((each.level for each in plain.headings if _VERSION.fullmatch(each.text)), default=0)


def _product(plain: PlainText, level: int, path: Path) -> str:
    """Returns the product of release notes, from their first heading, their file name or a folder above."""
    headings = [each.text for each in plain.headings[:1] if each.level <= level]
    folders = [folder.name.replace("_", " ").replace("-", " ") for folder in path.resolve().parents[:2]]
    stem = _SUFFIX.sub("", path.name)
    for text in (*headings, stem.replace("_", " ").replace("-", " "), *folders):
        if len(text) <= _LONGEST and not _VERSION.fullmatch(text) and (name := _less_notes(text)):
            return name if name != name.lower() else name[0].upper() + name[1:]
    return stem


def _less_notes(text: str) -> str:
    """Removes words such as "changelog" and "release notes" from a name."""
    name, before = " ".join(_NOTES.sub(" ", text).split()), ""
    while name != before:
        name, before = _EDGE.sub("", name), name
    return name


def _releases(plain: PlainText, level: int) -> Iterator[tuple[str, list[_ReleasePart]]]:
    """Yields the releases with their parts. Lists of files and parts without a change are left out."""
    ends = [*(heading.start for heading in plain.headings), len(plain.text)]
    spans = list(zip(plain.headings, pairwise(ends), strict=True))
    version, parts, above = "", list[_ReleasePart](), list[TextHeading]()
    for heading, (start, end) in spans:
        body = plain.text[start + len(heading.text) : end].strip()
        released = _VERSION.fullmatch(heading.text) if heading.level == level else None
        if released or heading.level < level:  # text above all releases belongs to no release
            if version:
                yield version, parts
            version, parts, above = released[1] if released else "", [], []
            parts += [_ReleasePart((), body)] if body else []
            continue
        above = [each for each in above if each.level < heading.level] + [heading]
        path = tuple(each.text for each in above)
        unwanted = any(_LEFT_OUT.search(each) for each in path)
        if version and body and body.strip("_") != _NOTHING and not unwanted:
            parts.append(_ReleasePart(path, body))
    if version:
        yield version, parts
