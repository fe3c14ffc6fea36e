"""The books that golden sets quote. Their chapters are files in a folder, or lines of one JSONL file.

corpus/en/the-book/03-the-ferry.md   language, book and number of a chapter; .txt files are read alike
corpus/documents.jsonl               book_slug, chapter_number, language, text, title; the rest is metadata
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from assay.core.errors import DataError, Problem, did_you_mean
from assay.core.records import Document, Span
from assay.core.yaml_lines import read_text
from assay.datasets.reading import FolderReader
from assay.kinds.search.anchor_text import SourceText

LISTED = "documents.jsonl"
_SUFFIXES = (".md", ".txt")
_NUMBER = re.compile(r"(\d{1,6})(?!\d)")
_HEADING = re.compile(r"^#[ \t]+(\S.*)$", re.MULTILINE)
_object = msgspec.json.Decoder(dict[str, Any]).decode


def read_documents(path: Path) -> dict[str, Document]:
    """Reads the chapters of a corpus by doc_id. Raises a DataError with all problems."""
    listed = path / LISTED if path.is_dir() else path
    if listed.is_file():
        reader = FolderReader(listed.parent)
        rows = reader.jsonl(listed, lambda line: _parse_row(_object(line)), key="doc_id")
        reader.finish()
        return {document.doc_id: document for document in rows.records}
    if not path.is_dir():
        fix = "Name a folder LANGUAGE/BOOK/NN.md, or a documents.jsonl."
        raise DataError(Problem("there is no such corpus", str(path), fix=fix))
    return _read_folder(path)


def _document(language: str, book: str, chapter: int, text: str, title: str, **more: Any) -> Document:
    metadata = {**more, "book": book, "chapter": chapter, "language": language}
    return Document(f"{language}/{book}/{chapter:02d}", text, title, metadata)


# ------------------------------------------------------------------------------------ one file


class _ChapterRow(msgspec.Struct):
    """The required fields of one line of documents.jsonl."""

    book_slug: str
    chapter_number: int
    language: str
    text: str
    title: str = ""


def _parse_row(record: dict[str, Any]) -> Document:
    given = {key: value for key, value in record.items() if value is not None}
    row = msgspec.convert(given, _ChapterRow)
    fix = "Fill it in."
    problems = [
        Problem("it is empty", field=name, fix=fix)
        for name in ("book_slug", "language", "text")
        if not getattr(row, name).strip()
    ]
    if row.chapter_number < 0:
        problems.append(Problem("it is below zero", field="chapter_number", fix="Count from 0 or 1."))
    if problems:
        raise DataError(problems)
    more = {key: value for key, value in given.items() if key not in _ChapterRow.__struct_fields__}
    return _document(row.language, row.book_slug, row.chapter_number, row.text, row.title, **more)


# ------------------------------------------------------------------------------------- a folder


def _read_folder(root: Path) -> dict[str, Document]:
    documents: dict[str, Document] = {}
    problems: list[Problem] = []
    files: dict[str, Path] = {}
    for language, book, path in _chapters(root, problems):
        number = _NUMBER.match(path.stem)
        if number is None:
            what, fix = "its name begins with no chapter number", "Name it like 03.md or 03-the-ferry.md."
            problems.append(Problem(what, str(path), fix=fix))
            continue
        try:
            document = _chapter(language, book, int(number[1]), path)
        except DataError as error:
            problems += error.problems
            continue
        if document.doc_id in files:
            what = f"{files[document.doc_id].name} is chapter {int(number[1])} too"
            problems.append(Problem(what, str(path), fix="Renumber one of the two."))
        files[document.doc_id] = path
        documents[document.doc_id] = document
    if not documents and not problems:
        fix = "Put each chapter at LANGUAGE/BOOK/NN.md, or write documents.jsonl."
        problems.append(Problem("there is no chapter here", str(root), fix=fix))
    if problems:
        raise DataError(problems)
    return documents


def _chapters(root: Path, problems: list[Problem]) -> Iterator[tuple[str, str, Path]]:
    """Yields language, book and file of every chapter. Texts in other folders become problems."""
    for language in _folders(root):
        problems += _misplaced(_texts(language), "a chapter lies in the folder of its book")
        for book in _folders(language):
            yield from ((language.name, book.name, path) for path in _texts(book))
            for inner in _folders(book):
                problems += _misplaced(_texts(inner), "a book has no folders in it")


def _folders(path: Path) -> list[Path]:
    return sorted(each for each in path.iterdir() if each.is_dir() and not each.name.startswith("."))


def _texts(path: Path) -> list[Path]:
    found = (each for each in path.iterdir() if each.suffix in _SUFFIXES and each.is_file())
    return sorted(each for each in found if not each.name.startswith("."))


def _misplaced(paths: list[Path], what: str) -> list[Problem]:
    return [Problem(what, str(path), fix="Move it to LANGUAGE/BOOK/NN.md.") for path in paths]


def _chapter(language: str, book: str, number: int, path: Path) -> Document:
    text = read_text(path)
    if not text.strip():
        raise DataError(Problem("the chapter is empty", str(path), fix="Fill it, or remove it."))
    heading = _HEADING.search(text)
    return _document(language, book, number, text, heading[1].strip() if heading else path.stem)


# ------------------------------------------------------------------------------- looking things up


@dataclass(frozen=True)
class Books:
    """The chapters of a corpus by language and book. Finds the places of texts in them."""

    documents: Mapping[str, Document]

    @cached_property
    def _by_book(self) -> dict[tuple[str, str], list[Document]]:
        found: dict[tuple[str, str], list[Document]] = {}
        for document in self.documents.values():
            key = document.metadata["language"], document.metadata["book"]
            found.setdefault(key, []).append(document)
        return found

    @cached_property
    def sources(self) -> dict[str, SourceText]:
        """A cache of searchable texts. Its keys are the original texts."""
        return {}

    def source(self, doc_id: str) -> SourceText:
        """Returns the searchable text of a chapter, from the cache if possible."""
        text = self.documents[doc_id].text
        if text not in self.sources:
            self.sources[text] = SourceText(text)
        return self.sources[text]

    def chapters(self, language: str | None, book: str, chapter: int | None = None) -> list[Document]:
        """Returns the chapters of a book in a language (None: any), or only the chapter with that number."""
        return [
            document
            for (spoken, slug), documents in self._by_book.items()
            if slug == book and language in (spoken, None)
            for document in documents
            if chapter in (document.metadata["chapter"], None)
        ]

    def absent(self, language: str | None, book: str, chapter: int | None) -> tuple[str, str, str] | None:
        """Returns field, problem and fix if the corpus does not have this book or chapter, otherwise None."""
        if self.chapters(language, book, chapter):
            return None
        within = "" if language is None else f" in {language!r}"
        if not (known := self.chapters(language, book)):
            books = {slug for spoken, slug in self._by_book if language in (spoken, None)}
            fix = did_you_mean(book, books) or "Add it to the corpus."
            return "book_slug", f"the corpus has no book {book!r}{within}", fix
        numbers = sorted({document.metadata["chapter"] for document in known})
        fix = f"It has chapters from {numbers[0]} to {numbers[-1]}."
        return "chapter_number", f"{book!r} has no chapter {chapter}{within}", fix

    def spans(self, language: str, book: str, chapter: int | None, text: str) -> list[tuple[str, Span]]:
        """Returns every place of a text in a book: the doc_id of the chapter, and the characters."""
        return [
            (document.doc_id, span)
            for document in self.chapters(language, book, chapter)
            for span in self.source(document.doc_id).spans(text)
        ]
