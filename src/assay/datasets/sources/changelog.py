"""Release notes in Markdown: one file, or a folder of them, each with its releases newest first.

Every first-level heading that is a version begins a release (`# v1.20.1`). Tables of contents and of files to
download are left out. Each heading's line names its release, because a passage is read away from its page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import ClassVar, NamedTuple

from assay.datasets.sources.markdown_text import Heading, PlainText, markdown_parser, plain_text
from assay.datasets.sources.source import Page, Section, check_pin, fingerprint
from assay.datasets.sources.text_files import in_order, unpacked
from assay.errors import DataError, Problem
from assay.protocols import Kit
from assay.records import Document, Span

_VERSION = re.compile(r"\[?(v?\d+(?:\.\d+)+[\w.+-]*)\]?(?:\s.*)?")
_LEFT_OUT = re.compile(r"downloads? for|downloads?$|table of contents", re.IGNORECASE)
_SUFFIX = re.compile(r"\.md(?:\.gz)?$")
_NOT_NAME = re.compile(r"(?i)change_?log|\d+(?:\.\d+)*|[\W_]+")
_NOTHING = "Nothing has changed."


class _Part(NamedTuple):
    """What stands under one heading of a release; `path` has the headings above it and its own."""

    path: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class Changelog:
    """The releases of a product, one page each."""

    path: str
    sha256: str = ""
    product: str = "Kubernetes"  # what the titles of pages begin with

    kind: ClassVar[str] = "changelog"

    def pages(self, kit: Kit) -> Iterator[Page]:
        """One page a release, in the order of files and of releases in them."""
        where = kit.path(self.path)
        files = _files(where)
        if self.sha256:
            check_pin(where, self.sha256, fingerprint(files))
        parser, found = markdown_parser(), False
        for name, path in files:
            plain = plain_text(unpacked(path).decode("utf-8", "replace"), parser)
            for version, parts in _releases(plain):
                found = True
                yield self._page(name, version, parts)
        if not found:
            fix = "A release begins with a heading such as '# v1.2.3'."
            raise DataError(Problem("there is no release in it", str(where), fix=fix))

    def _page(self, name: str, version: str, parts: Sequence[_Part]) -> Page:
        stem = _SUFFIX.sub("", name)
        product = " ".join([self.product, *_NOT_NAME.sub(" ", Path(stem).name).split()])
        title = f"{product} {version} release notes"
        text, sections = title, list[Section]()
        for part in parts or [_Part((), "")]:
            start = len(text) + 2 if sections else 0
            heading = f"{part.path[-1]} ({version})\n\n" if part.path else ""
            text = f"{text}\n\n{heading}{part.text}".rstrip()
            sections.append(Section(" > ".join(part.path) or title, Span(start, len(text))))
        metadata = {"kind": self.kind, "path": name, "version": version, "product": product}
        return Page(Document(f"{self.kind}/{stem}/{version}", text, title, metadata), tuple(sections))


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
    return in_order(named or notes, where)


def _releases(plain: PlainText) -> Iterator[tuple[str, list[_Part]]]:
    """Each release with its parts, less what is a list of files or says that nothing changed."""
    ends = [*(heading.start for heading in plain.headings), len(plain.text)]
    spans = list(zip(plain.headings, pairwise(ends), strict=True))
    version, parts, above = "", list[_Part](), list[Heading]()
    for heading, (start, end) in spans:
        body = plain.text[start + len(heading.text) : end].strip()
        released = _VERSION.fullmatch(heading.text) if heading.level == 1 else None
        if released:
            if version:
                yield version, parts
            version, parts, above = released[1], [], []
            parts += [_Part((), body)] if body else []
            continue
        above = [each for each in above if each.level < heading.level] + [heading]
        path = tuple(each.text for each in above)
        unwanted = any(_LEFT_OUT.search(each) for each in path)
        if version and body and body.strip("_") != _NOTHING and not unwanted:
            parts.append(_Part(path, body))
    if version:
        yield version, parts
