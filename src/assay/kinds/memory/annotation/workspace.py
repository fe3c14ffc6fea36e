"""Where the files of an annotation lie: beside the documents, never among them.

DOCUMENTS-annotation/
  guide.md               how to label, for the team to complete
  inventory.csv          one row a document
  snapshots/VERSION.json the hash of every document
  sample.csv, sample.json   which units to write cases about, and how they were drawn
  candidates.csv         every unit with its id and its text
  sheets/NAME.csv        one form a person
  adjudication.csv       what was decided where two people differ, and why
  marks/                 the journal of what people labelled and decided, as it was taken in
  cases/                 the case files
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from assay.core.errors import DataError, UsageError
from assay.core.records import Passage
from assay.datasets.units import SUFFIXES, UnitFolder, read_folder
from assay.store.disk import write_atomic

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")
_RULE = "Use letters, digits, dot, dash and underscore, at most 100, and begin with none of . and -."


@dataclass(frozen=True)
class SourceDocument:
    """A document as it is now: its numbered units, and the hash of its bytes."""

    doc_id: str
    path: Path
    sha256: str
    units: Sequence[Passage]


@dataclass(frozen=True)
class Workspace:
    """A folder of numbered documents, and the folder in which its annotation is kept."""

    documents: Path
    root: Path

    @property
    def guide(self) -> Path:
        return self.root / "guide.md"

    @property
    def inventory(self) -> Path:
        return self.root / "inventory.csv"

    @property
    def snapshots(self) -> Path:
        return self.root / "snapshots"

    @property
    def sample(self) -> Path:
        return self.root / "sample.csv"

    @property
    def candidates(self) -> Path:
        return self.root / "candidates.csv"

    @property
    def sheets(self) -> Path:
        return self.root / "sheets"

    @property
    def adjudication(self) -> Path:
        return self.root / "adjudication.csv"

    @property
    def marks(self) -> Path:
        return self.root / "marks"

    @property
    def cases(self) -> Path:
        return self.root / "cases"

    @cached_property
    def folder(self) -> UnitFolder:
        """The documents cut into units; raises with all that is wrong with any of them."""
        found = read_folder(self.documents)
        if found.problems:
            raise DataError(found.problems)
        return found

    @cached_property
    def sources(self) -> list[SourceDocument]:
        """Every document, in the order of their names."""
        units = self.folder.units
        files = sorted(each for each in self.documents.iterdir() if each.suffix.lower() in SUFFIXES)
        return [
            SourceDocument(path.stem, path, _sha256(path), units[path.stem].passages)
            for path in files
            if path.stem in units and path.is_file()
        ]

    @cached_property
    def nodes(self) -> dict[str, str]:
        """The text of every unit by its id, in document order."""
        return {unit.doc_id: unit.text for unit in self.folder.passages}


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def open_workspace(documents: Path, work: Path | None = None) -> Workspace:
    """The annotation of a folder of documents; by default it is kept beside the folder."""
    if not documents.is_dir():
        raise UsageError(f"{documents} is no folder. Name the folder that holds the documents.")
    place = documents.resolve()
    return Workspace(documents, work or place.with_name(f"{place.name}-annotation"))


def check_name(name: str, what: str) -> str:
    """A name that becomes part of a file's name."""
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} is no name for {what}. {_RULE}")
    return name


def write_file(path: Path, content: bytes) -> None:
    """Writes a file as a whole, or not at all."""
    write_atomic(path, lambda target: target.write_bytes(content))
