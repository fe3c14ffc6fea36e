"""Documents of numbered units: clauses of a contract, steps of a runbook, lines of a dialogue.

# Title
## Section                sections nest: "Section / Part of it"
1 The first unit.         also 1. and 1) and (1) and 1.2, which is the unit 1.2
  Lines without a number continue the unit above them, also after blank lines.

Each unit becomes the node STEM:NUMBER, where STEM is the file's name without its suffix.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from assay.core.errors import DataError, Problem, did_you_mean
from assay.core.records import Document, Passage, Span
from assay.core.yaml_lines import read_text

SUFFIXES = (".md", ".txt")
_LINE = re.compile(r"([^\r\n]*)(?:\r\n|\r|\n|\Z)")
_HEADING = re.compile(r"[ ]{0,3}(#{1,6})(?:[ \t]+(.*)|)", re.DOTALL)
_NUMBER = r"[0-9]{1,9}(?:\.[0-9]{1,9}){0,9}"  # longer ones are not unit numbers
_UNIT = re.compile(rf"([ \t]*)(?:\(({_NUMBER})\)|({_NUMBER})\.?\)?)(?:[ \t]+(.*)|)", re.DOTALL)
_NESTED = 4  # a list that is indented by this many columns more than the first unit is part of its unit
_LISTED = 12
_SEPARATOR = " / "


@dataclass
class _UnitDraft:
    """A unit while it is read."""

    number: str
    line: int
    section: str | None
    parts: list[str] = field(default_factory=list)
    start: int = 0
    end: int = 0

    def add(self, text: str, at: int) -> None:
        """Adds text from a place in the document, without the white space around the text."""
        if part := text.strip():
            start = at + len(text) - len(text.lstrip())
            self.start = self.start if self.parts else start
            self.end = start + len(part)
            self.parts.append(part)


@dataclass(frozen=True)
class UnitDocument:
    """A document, its units in order, and its problems and warnings."""

    document: Document
    passages: list[Passage]
    problems: list[Problem] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def read_units(path: Path, pack: str = "") -> UnitDocument:
    """Reads the units of one document as passages.

    `pack` is the name of the domain pack in their metadata.
    """
    try:
        path.stem.encode()
        text = read_text(path)
    except UnicodeEncodeError:
        shown = os.fsencode(path).decode(errors="backslashreplace")
        what = "the name of the file is not UTF-8, so that no node can be named after it"
        return UnitDocument(Document(ascii(path.stem), ""), [], [Problem(what, shown, fix="Rename it.")])
    except DataError as error:
        return UnitDocument(Document(path.stem, ""), [], list(error.problems))
    title, found = _cut_units(text)
    document = Document(path.stem, text, title or path.stem)
    problems = list(_find_problems(found, str(path)))
    passages: dict[str, Passage] = {}
    for unit in found:
        passage = _passage(document, unit, pack)
        passages.setdefault(passage.doc_id, passage)
    return UnitDocument(document, list(passages.values()), problems, list(_find_oddities(found, str(path))))


def _passage(document: Document, unit: _UnitDraft, pack: str) -> Passage:
    return Passage(
        doc_id=f"{document.doc_id}:{unit.number}",
        text=" ".join(unit.parts),
        title=document.title,
        source=document.doc_id,
        span=Span(unit.start, unit.end),
        section=unit.section,
        metadata={**({"pack": pack} if pack else {}), "line": unit.line},
    )


# ---------------------------------------------------------------------------------- the text


def _cut_units(text: str) -> tuple[str, list[_UnitDraft]]:
    """Returns the title of a text and its units."""
    title, sections, units = "", dict[int, str](), list[_UnitDraft]()
    margin: int | None = None  # where the first unit begins
    unit: _UnitDraft | None = None
    for number, found in enumerate(_LINE.finditer(text), 1):
        line = found[1]
        if heading := _HEADING.fullmatch(line):
            level, name = len(heading[1]), _name(heading[2] or "")
            unit = None  # text under a heading before the next number is not part of a unit
            if level == 1 and not title:
                title = name
            else:
                sections = {above: each for above, each in sections.items() if above < level}
                sections[level] = name
        elif begun := _match_unit(line, margin):
            margin = _column(begun[1]) if margin is None else margin
            section = _SEPARATOR.join(filter(None, sections.values())) or None
            unit = _UnitDraft(begun[2] or begun[3], number, section)
            unit.add(begun[4] or "", found.start() + (begun.start(4) if begun[4] else 0))
            units.append(unit)
        elif unit is not None:
            unit.add(line, found.start())
    return title, units


def _name(heading: str) -> str:
    """Returns a heading without the number signs at its end."""
    name = heading.strip()
    bare = name.rstrip("#")
    return bare.strip() if not bare or bare[-1].isspace() else name


def _match_unit(line: str, margin: int | None) -> re.Match[str] | None:
    """Matches a line that begins a unit. An item of an indented list belongs to the unit around it."""
    found = _UNIT.fullmatch(line)
    if found is None or margin is None or "." in (found[2] or found[3]):
        return found
    return found if _column(found[1]) < margin + _NESTED else None


def _column(indent: str) -> int:
    return len(indent.expandtabs(_NESTED))


# ------------------------------------------------------------------------------ what is wrong


def _find_problems(units: list[_UnitDraft], where: str) -> Iterator[Problem]:
    if not units:
        fix = "Begin each unit with its number, such as: 1 The buyer pays. Or remove the document."
        yield Problem("the document has no numbered unit", where, fix=fix)
    first: dict[str, int] = {}
    for unit in units:
        if unit.number in first:
            what = f"the number {unit.number} stands on line {first[unit.number]} already"
            yield Problem(what, where, unit.line, fix="A number names one unit: renumber one of the two.")
        first.setdefault(unit.number, unit.line)
        if not unit.parts:
            fix = "Write its text after the number."
            yield Problem(f"the unit {unit.number} is empty", where, unit.line, fix=fix)


def _find_oddities(units: list[_UnitDraft], where: str) -> Iterator[str]:
    """Warns once if numbers go back: a wrapped line that begins with a number looks like a unit."""
    for one, two in pairwise(units):
        if _number_parts(two) < _number_parts(one):
            yield (
                f"{where}:{two.line}: the unit {two.number} follows the unit {one.number}. Where line "
                f"{one.line} only goes on with a sentence, join it to the line above."
            )
            return


def _number_parts(unit: _UnitDraft) -> tuple[int, ...]:
    return tuple(map(int, unit.number.split(".")))


# ---------------------------------------------------------------------------- a whole folder


@dataclass(frozen=True)
class UnitFolder:
    """The documents of a folder by stem, their files, and all their problems."""

    path: Path
    units: dict[str, UnitDocument]
    files: dict[str, Path]
    problems: list[Problem]

    @property
    def passages(self) -> list[Passage]:
        """The passages of all units, in the order of the documents."""
        return [passage for each in self.units.values() for passage in each.passages]

    @cached_property
    def nodes(self) -> dict[str, list[str]]:
        """The ids of the nodes of each document."""
        return {stem: [each.doc_id for each in units.passages] for stem, units in self.units.items()}

    def absent(self, node_id: str, near: bool = True) -> tuple[str, str] | None:
        """Returns problem and fix if no document has the node.

        Returns None if a document has the node, or if the document cannot be read. With `near`, the fix also
        suggests similar nodes.
        """
        stem, _, number = node_id.rpartition(":")
        if stem in self.units:
            known = self.nodes[stem]
            if node_id in known or not known:
                return None
            numbers = [each.removeprefix(f"{stem}:") for each in known]
            if len(numbers) > _LISTED:
                numbers = [*numbers[: _LISTED - 1], "…", numbers[-1]]
            meant = f"{did_you_mean(node_id, known)} " if near else ""
            return f"there is no node {node_id!r}", f"{meant}The units of {stem!r} are {', '.join(numbers)}."
        ids = [f"{each}:{number}" for each in self.units] if near else []
        fix = did_you_mean(node_id, [each for each in ids if each in self.nodes[each.rpartition(":")[0]]])
        if not fix.startswith("Did"):
            few = list(self.units)[:_LISTED]
            fix = f"Write STEM:NUMBER. The documents are {', '.join(map(repr, few))}"
            fix += f" and {len(self.units) - len(few)} more." if len(self.units) > len(few) else "."
        return f"there is no node {node_id!r}, as no document is called {stem!r}", fix

    def changes_since(self, frozen: Mapping[str, object]) -> Iterator[tuple[str, str, str]]:
        """Yields name, problem and fix of each document that differs from the frozen hashes."""
        files = {path.name: path for path in self.files.values()}
        for name, path in files.items():
            if name not in frozen:
                fix = "Freeze the documents again, or take this one out."
                yield name, f"the document {name!r} is not among the frozen ones", fix
            elif str(frozen[name]).lower() != document_hash(path):
                fix = "Restore the document, or look through its cases and freeze it again."
                yield name, f"the content of {name!r} is not what was frozen", fix
        for name in sorted(frozen.keys() - files.keys()):
            yield name, f"the directory has no document {name!r}", did_you_mean(name, files)


def document_hash(path: Path) -> str:
    """Returns the SHA-256 sum of a document's bytes in hex; an empty text if the document cannot be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:  # reading its text reports the error
        return ""


def read_folder(folder: Path, pack: str = "") -> UnitFolder:
    """Reads every document of a folder, in the order of the file names. Inner folders are ignored."""
    problems: list[Problem] = []
    units: dict[str, UnitDocument] = {}
    files: dict[str, Path] = {}
    for path in _texts(folder, problems):
        read = read_units(path, pack)
        stem = read.document.doc_id
        problems += read.problems
        if stem in files:
            what = f"{files[stem].name} has the same stem, so that their nodes would have the same ids"
            problems.append(Problem(what, str(path), fix="Rename one of the two."))
            continue
        files[stem], units[stem] = path, read
    return UnitFolder(folder, units, files, problems)


def _texts(folder: Path, problems: list[Problem]) -> list[Path]:
    if not os.path.isdir(folder):
        problems.append(Problem("there is no such folder of documents", str(folder), fix="Check the path."))
        return []
    try:
        names = sorted(each.name for each in folder.iterdir())
    except OSError as error:
        fix = "Check its permissions."
        problems.append(Problem(f"cannot be read: {error.strerror or error}", str(folder), fix=fix))
        return []
    visible = (folder / name for name in names if not name.startswith("."))
    named = [path for path in visible if path.suffix.lower() in SUFFIXES]
    found = [path for path in named if path.is_file()]
    for path in (path for path in named if path not in found):
        what = "the link leads nowhere" if path.is_symlink() and not path.exists() else "this is not a file"
        fix = "It has the name of a document: put one there, rename it, or remove it."
        problems.append(Problem(what, str(path), fix=fix))
    if not named:
        fix = f"Put documents there that end in {' or '.join(SUFFIXES)}."
        problems.append(Problem("no document lies in this folder", str(folder), fix=fix))
    return found
