"""Reads handbooks: a folder of Markdown pages, and dated snapshots of their earlier texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import msgspec

from assay.core.errors import DataError, Problem, UsageError
from assay.core.protocols import Kit
from assay.core.records import Document, Span
from assay.datasets.markdown_text import PlainText, TextHeading, markdown_parser, plain_text
from assay_worlds.sources.source import PageSection, SourcePage, check_pin, fingerprint, read_unpacked

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

HISTORY = "history_snapshots.jsonl.gz"
_SUFFIXES = {".md", ".markdown"}
# At the top of a folder, these files are about the repository. Further down, they are normal pages.
_ABOUT = {
    "readme",
    "license",
    "licence",
    "source",
    "security",
    "contributing",
    "code_of_conduct",
    "changelog",
}
_KIND = "handbook"


class _SnapshotLine(msgspec.Struct):
    """A line of the snapshot file: the text of a page from a day on, or the deletion of the page."""

    as_of: str
    path: str
    text: str | None = None
    deleted: bool = False


class _PageVersion(NamedTuple):
    as_of: str
    until: str | None  # the day from which another text holds
    source: str


@dataclass(frozen=True)
class Handbook:
    """A folder of Markdown pages, with or without front matter, and their earlier texts.

    If the snapshots cover a page, each of its texts becomes a document. The current text is the page itself.
    `snapshots` is a file in the folder, gzipped or not. It has JSON lines with `as_of`, `path`, and `text` or
    `deleted`. A page without snapshots has only one text. `snapshots_per_page` limits the earlier texts of a
    page to the latest ones. `name` is what people call the handbook.
    """

    path: str
    sha256: str = ""
    snapshots: str = HISTORY
    include_snapshots: bool = True
    snapshots_per_page: int | None = None
    name: str = ""
    kind: ClassVar[str] = _KIND

    def __post_init__(self) -> None:
        if self.snapshots_per_page is not None and self.snapshots_per_page < 0:
            raise UsageError(f"snapshots_per_page is {self.snapshots_per_page}; give 0 or more.")

    def pages(self, kit: Kit) -> Iterator[SourcePage]:
        """Yields the pages by path, each followed by its earlier texts, oldest first."""
        folder = kit.path(self.path)
        files = _files(folder)
        history = folder / self.snapshots if self.snapshots else None
        if history is not None and not history.is_file():
            if self.snapshots != HISTORY:
                fix = "Correct the name, or leave `snapshots` empty."
                raise DataError(Problem("there is no such file", str(history), fix=fix))
            history = None
        if self.sha256:
            named = [*files.items(), *([(history.name, history)] if history else [])]
            check_pin(folder, self.sha256, fingerprint(named))
        name = self.name or _called(folder)
        versions = _versions(history) if history else {}
        parser, found = markdown_parser(), False
        for path in sorted({*files, *(versions if self.include_snapshots else ())}):
            for page in self._texts(folder.resolve().name, name, path, files.get(path), versions, parser):
                found = True
                yield page
        if not found:
            raise DataError(
                Problem("no page of Markdown with text in it", str(folder), fix="Check the path.")
            )

    def _texts(
        self,
        prefix: str,
        name: str,
        path: str,
        file: Path | None,
        versions: Mapping[str, Sequence[_PageVersion]],
        parser: MarkdownIt,
    ) -> Iterator[SourcePage]:
        """Yields the current text of a page, if the page still exists, and then its earlier texts."""
        source = None if file is None else _read(file)
        dated = versions.get(path, ())
        doc_id = f"{prefix}/{path.rpartition('.')[0]}"
        about = {"kind": _KIND, "handbook": name, "path": path}
        if source is not None:
            now = next((each for each in dated if each.source == source and each.until is None), None)
            own = about if now is None else {**about, "as_of": now.as_of, "snapshot_of": path}
            yield from _page(doc_id, source, own, parser)
        earlier = [each for each in dated if each.source != source or each.until is not None]
        kept = len(earlier) if self.snapshots_per_page is None else self.snapshots_per_page
        for each in earlier[max(len(earlier) - kept, 0) :] if self.include_snapshots else ():
            then = {**about, "as_of": each.as_of, "snapshot_of": path}
            ended = {"until": each.until} if each.until else {}
            yield from _page(f"{doc_id}@{each.as_of}", each.source, {**then, **ended}, parser)


# ------------------------------------------------------------------------------------------- files


def _files(folder: Path) -> dict[str, Path]:
    """Returns the pages of a folder by their path in the folder. Hidden folders are skipped."""
    if not folder.is_dir():
        fix = "Give the folder of Markdown pages, relative to the study."
        raise DataError(Problem("there is no such folder", str(folder), fix=fix))
    found = {}
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        hidden = any(part.startswith(".") or part == "node_modules" for part in inside.parts)
        about = len(inside.parts) == 1 and path.stem.lower() in _ABOUT
        if path.suffix.lower() in _SUFFIXES and not hidden and not about and path.is_file():
            found[inside.as_posix()] = path
    return found


def _read(path: Path) -> str | None:
    """Returns the text of a file, or None if the file is not text. Broken characters are replaced."""
    content = path.read_bytes()
    return None if b"\0" in content else content.decode("utf-8", "replace")


def _called(folder: Path) -> str:
    words = re.split(r"[-_.\s]+", folder.resolve().name)
    return " ".join([*(word.title() for word in words if word and word.lower() != _KIND), _KIND])


def _versions(path: Path) -> dict[str, list[_PageVersion]]:
    """Reads the texts of each page with their days of validity. All broken lines are reported together."""
    by_path: dict[str, list[_SnapshotLine]] = {}
    problems = []
    decode = msgspec.json.Decoder(_SnapshotLine).decode
    for line, text in enumerate(read_unpacked(path).split(b"\n"), 1):
        if not text.strip():
            continue
        try:
            record = decode(text)
            date.fromisoformat(record.as_of)
            by_path.setdefault(record.path, []).append(record)
        except ValueError as error:
            problems.append(Problem(str(error), str(path), line, fix="Mend or remove the line."))
    if problems:
        raise DataError(problems)
    return {each: _ended(records) for each, records in by_path.items()}


def _ended(records: list[_SnapshotLine]) -> list[_PageVersion]:
    found: list[_PageVersion] = []
    ordered = sorted(records, key=lambda record: record.as_of)
    for record, following in zip(ordered, [*ordered[1:], None], strict=True):
        if record.text is not None and not record.deleted:
            found.append(_PageVersion(record.as_of, following.as_of if following else None, record.text))
    return found


# ------------------------------------------------------------------------------------------- pages


def _page(doc_id: str, source: str, metadata: dict[str, Any], parser: MarkdownIt) -> Iterator[SourcePage]:
    """Yields the page of a Markdown text; yields nothing if it has no text."""
    plain = plain_text(source, parser)
    if not plain.text.strip():
        return
    title = _title(plain, metadata["path"])
    if not plain.text.startswith(title):
        moved = len(title) + 2
        headings = tuple(TextHeading(each.level, each.text, each.start + moved) for each in plain.headings)
        plain = PlainText(f"{title}\n\n{plain.text}", headings, plain.front)
    dated = f"{title} (as of {metadata['as_of']})" if "@" in doc_id else title
    document = Document(doc_id, plain.text, dated, {**metadata, "page": title})
    yield SourcePage(document, tuple(_sections(plain, title)))


def _title(plain: PlainText, path: str) -> str:
    written = plain.front.get("title")
    if isinstance(written, str | int | float) and str(written).strip():
        return " ".join(str(written).split())
    if plain.headings:
        return min(plain.headings, key=lambda heading: heading.level).text
    name = Path(path)
    words = name.stem if name.stem not in {"index", "_index"} else name.parent.name or name.stem
    return re.sub(r"[-_]+", " ", words).strip().capitalize()


def _sections(plain: PlainText, title: str) -> Iterator[PageSection]:
    """Yields the sections between headings. A heading without text belongs to the section below it."""
    path: list[TextHeading] = []
    start = 0
    top, bottom = TextHeading(0, title, 0), TextHeading(0, "", len(plain.text))
    for heading, following in zip([top, *plain.headings], [*plain.headings, bottom], strict=True):
        while path and path[-1].level >= heading.level > 0:
            path.pop()
        path.append(heading)
        body = plain.text[heading.start : following.start].removeprefix(heading.text)
        if not body.strip() and (following.level > heading.level or heading is top):
            continue
        end = heading.start + len(plain.text[heading.start : following.start].rstrip())
        if end > start:
            names = dict.fromkeys(each.text for each in path)
            yield PageSection(" > ".join(names), Span(start, end))
        start = following.start
