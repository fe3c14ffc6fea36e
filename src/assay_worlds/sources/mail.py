"""E-mail as it is kept: a tree of message files, an mbox file, or JSONL of source texts.

    maildir/PERSON/FOLDER/1.       as the Enron corpus is distributed
    list.mbox
    messages.jsonl[.gz]            {"_id": …, "raw": …} a line

A folder that holds mbox or JSONL files is read as those; any other is a tree of messages. The text of a page
begins with the lines From, Date and Subject, so that they can be evidence.
"""

from __future__ import annotations

import mailbox
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import ClassVar, NamedTuple

import msgspec

from assay.core.errors import DataError, Problem, UsageError
from assay.core.protocols import Kit
from assay.core.records import Document, Span
from assay.datasets.reading import Reader
from assay_worlds.sources.mail_message import Message, read_message
from assay_worlds.sources.mail_threads import Place, places
from assay_worlds.sources.source import WORDS, Page, Section, check_pin, fingerprint
from assay_worlds.sources.text_files import in_order, parted

_PACKED = (".jsonl", ".jsonl.gz", ".mbox")
_HEADER = re.compile(rb"(?:From |[A-Za-z][A-Za-z0-9-]*:)")  # how a message begins
_SIGNATURE = re.compile(r"^-- ?$", re.MULTILINE)


class Raw(msgspec.Struct, frozen=True):
    """The source text of a message in a JSONL file."""

    id: str = msgspec.field(name="_id")
    raw: str


class Found(NamedTuple):
    """A message with its id in this source and the path it was found at."""

    id: str
    path: str
    message: Message


@dataclass(frozen=True)
class Mail:
    """E-mails in the order of their files; `limit` takes the first ones only."""

    path: str
    sha256: str = ""
    limit: int | None = None

    kind: ClassVar[str] = "mail"

    def __post_init__(self) -> None:
        if self.limit is not None and self.limit < 1:
            raise UsageError(f"limit is {self.limit}; take 1 or more, or leave it out.")

    def pages(self, kit: Kit) -> Iterator[Page]:
        """One page a message. Threads are found among all that are read."""
        where = kit.path(self.path)
        files = _files(where)
        if self.sha256:
            check_pin(where, self.sha256, fingerprint(files))
        most = None if self.limit is None else min(self.limit, sys.maxsize)
        found = list(islice(_messages(files, where.is_file()), most))
        placed = places([each.message for each in found])
        for each, place in zip(found, placed, strict=True):
            yield _page(each, place, found)


def _files(where: Path) -> list[tuple[str, Path]]:
    if where.is_file():
        return [(where.name, where)]
    if not where.is_dir():
        fix = "Check the path: a folder of messages, an mbox file or a JSONL file."
        raise DataError(Problem("there is no such file or folder", str(where), fix=fix))
    packed = [path for path in where.iterdir() if path.name.endswith(_PACKED)]
    paths = packed or [path for path in where.rglob("*") if path.is_file() and _is_message(path)]
    if not paths:
        raise DataError(Problem("there is no message in the folder", str(where), fix="Check the path."))
    return in_order(paths, where)


def _is_message(path: Path) -> bool:
    with path.open("rb") as stream:
        return bool(_HEADER.match(stream.read(200).lstrip()))


def _messages(files: list[tuple[str, Path]], boxed: bool) -> Iterator[Found]:
    """The messages of all files; `boxed` says that a file of any name holds several."""
    for name, path in files:
        if name.endswith((".jsonl", ".jsonl.gz")):
            reader = Reader(path.parent)
            rows = reader.jsonl(path, msgspec.json.Decoder(Raw).decode, key="id")
            reader.finish()
            yield from (Found(each.id, each.id, read_message(each.raw)) for each in rows.records)
        elif boxed or name.endswith(".mbox"):
            yield from _mbox(name, path)
        else:
            yield Found(name, name, read_message(path.read_bytes()))


def _mbox(name: str, path: Path) -> Iterator[Found]:
    box = mailbox.mbox(path, create=False)
    try:
        for number, key in enumerate(box.iterkeys(), 1):
            yield Found(f"{name}/{number}", name, read_message(box.get_bytes(key)))
    finally:
        box.close()


# ------------------------------------------------------------------------------------------ pages


def _page(found: Found, place: Place, among: list[Found]) -> Page:
    message = found.message
    sender = f"{message.name} <{message.address}>" if message.name else message.address
    when = message.date.isoformat(" ", "minutes") if message.date else ""
    lines = [("From", sender), ("Date", when), ("Subject", message.subject)]
    text = "\n".join(f"{name}: {value}" for name, value in lines if value)
    if message.body:
        text += f"\n\n{parted(message.body, WORDS)}"
    metadata = {"kind": Mail.kind, "path": found.path, "thread": _doc_id(among[place.first])}
    if message.date:
        metadata["date"] = message.date.isoformat()
    if place.parent is not None:
        metadata["reply_to"] = _doc_id(among[place.parent])
    document = Document(_doc_id(found), text, message.subject, metadata)
    return Page(document, tuple(_sections(text, message.subject)))


def _doc_id(found: Found) -> str:
    return f"{Mail.kind}/{found.id}"


def _sections(text: str, subject: str) -> Iterator[Section]:
    """The message, and what stands under it as a signature."""
    signature = list(_SIGNATURE.finditer(text))
    end = signature[-1].start() if signature else len(text)
    yield Section(subject, Span(0, end))
    if signature:
        yield Section(f"{subject} > signature", Span(end, len(text)))
