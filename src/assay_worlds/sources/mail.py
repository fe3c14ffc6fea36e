"""Reads e-mail from disk: a folder of message files, an mbox file, or JSONL of source texts.

    maildir/PERSON/FOLDER/1.       as the Enron corpus is distributed
    list.mbox
    messages.jsonl[.gz]            one {"_id": …, "raw": …} per line

If a folder contains mbox or JSONL files, only these files are read. Any other folder is a tree of message
files. The text of a page begins with the lines From, Date and Subject, so that these lines can be evidence.
"""

from __future__ import annotations

import mailbox
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.errors import MessageError
from email.message import EmailMessage, MIMEPart
from email.parser import BytesParser, Parser
from email.policy import default
from email.utils import parseaddr, parsedate_to_datetime
from itertools import islice
from pathlib import Path
from typing import ClassVar, NamedTuple

import msgspec

from assay.core.errors import DataError, Problem, UsageError
from assay.core.protocols import Kit
from assay.core.records import Document, Span
from assay.datasets.markdown_text import markdown_parser, plain_text
from assay.datasets.reading import FolderReader
from assay_worlds.sources.source import (
    WORDS,
    PageSection,
    SourcePage,
    check_pin,
    fingerprint,
    sort_files,
    split_paragraphs,
)

_PACKED = (".jsonl", ".jsonl.gz", ".mbox")
_HEADER = re.compile(rb"(?:From |[A-Za-z][A-Za-z0-9-]*:)")  # how a message begins
_SIGNATURE = re.compile(r"^-- ?$", re.MULTILINE)


class MessageSource(msgspec.Struct, frozen=True):
    """The source text of a message in a JSONL file."""

    id: str = msgspec.field(name="_id")
    raw: str


class LocatedMessage(NamedTuple):
    """A message, its id in the source, and its path."""

    id: str
    path: str
    message: MailMessage


@dataclass(frozen=True)
class Mail:
    """E-mails in the order of their files. With `limit`, only the first e-mails are read."""

    path: str
    sha256: str = ""
    limit: int | None = None

    kind: ClassVar[str] = "mail"

    def __post_init__(self) -> None:
        if self.limit is not None and self.limit < 1:
            raise UsageError(f"limit is {self.limit}; take 1 or more, or leave it out.")

    def pages(self, kit: Kit) -> Iterator[SourcePage]:
        """Yields one page per message. Threads are formed among all messages that are read."""
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
    return sort_files(paths, where)


def _is_message(path: Path) -> bool:
    with path.open("rb") as stream:
        return bool(_HEADER.match(stream.read(200).lstrip()))


def _messages(files: list[tuple[str, Path]], boxed: bool) -> Iterator[LocatedMessage]:
    """Yields the messages of all files. If `boxed`, every file is read as an mbox, whatever its name."""
    for name, path in files:
        if name.endswith((".jsonl", ".jsonl.gz")):
            reader = FolderReader(path.parent)
            rows = reader.jsonl(path, msgspec.json.Decoder(MessageSource).decode, key="id")
            reader.finish()
            yield from (LocatedMessage(each.id, each.id, read_message(each.raw)) for each in rows.records)
        elif boxed or name.endswith(".mbox"):
            yield from _mbox(name, path)
        else:
            yield LocatedMessage(name, name, read_message(path.read_bytes()))


def _mbox(name: str, path: Path) -> Iterator[LocatedMessage]:
    box = mailbox.mbox(path, create=False)
    try:
        for number, key in enumerate(box.iterkeys(), 1):
            yield LocatedMessage(f"{name}/{number}", name, read_message(box.get_bytes(key)))
    finally:
        box.close()


# ------------------------------------------------------------------------------------------ pages


def _page(found: LocatedMessage, place: ThreadPosition, among: list[LocatedMessage]) -> SourcePage:
    message = found.message
    sender = f"{message.name} <{message.address}>" if message.name else message.address
    when = message.date.isoformat(" ", "minutes") if message.date else ""
    lines = [("From", sender), ("Date", when), ("Subject", message.subject)]
    text = "\n".join(f"{name}: {value}" for name, value in lines if value)
    if message.body:
        text += f"\n\n{split_paragraphs(message.body, WORDS)}"
    metadata = {"kind": Mail.kind, "path": found.path, "thread": _doc_id(among[place.first])}
    if message.date:
        metadata["date"] = message.date.isoformat()
    if place.parent is not None:
        metadata["reply_to"] = _doc_id(among[place.parent])
    document = Document(_doc_id(found), text, message.subject, metadata)
    return SourcePage(document, tuple(_sections(text, message.subject)))


def _doc_id(found: LocatedMessage) -> str:
    return f"{Mail.kind}/{found.id}"


def _sections(text: str, subject: str) -> Iterator[PageSection]:
    """Yields the sections of a page: the message and its signature."""
    signature = list(_SIGNATURE.finditer(text))
    end = signature[-1].start() if signature else len(text)
    yield PageSection(subject, Span(0, end))
    if signature:
        yield PageSection(f"{subject} > signature", Span(end, len(text)))


NO_SUBJECT = "(no subject)"
# What the parser raises on headers and bodies that no standard foresaw.
_BROKEN = (MessageError, ValueError, LookupError, AttributeError, TypeError, RecursionError)
_ID = re.compile(r"<[^<>\s]+>")
_MARKS = re.compile(r"(?:\s*(?:(?:re|fw|fwd|aw)(?:\[\d+\])?\s*:|\[[^\]]{1,20}\]))+\s*", re.IGNORECASE)
_REPLY = re.compile(r"(?:\s*\[[^\]]{1,20}\])*\s*(?:re|aw)(?:\[\d+\])?\s*:", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ufeff\ufffe\uffff\ud800-\udfff]")
_BLANK = re.compile(r"\n(?:[ \t]*\n){2,}")
_UNREAD = "\ufffd"
_PLAIN = {"", "7bit", "8bit", "binary"}  # transfer encodings that encode nothing
_GAP = re.compile(r"\n\s*\n")


class MailMessage(NamedTuple):
    """The parts of an e-mail that are used: sender, date, subject, references and text."""

    name: str
    address: str
    date: datetime | None
    subject: str
    body: str
    message_id: str
    references: tuple[str, ...]  # the ids of the messages that it answers, the nearest last

    @property
    def bare_subject(self) -> str:
        """The subject without the prefixes of replies and mailing lists."""
        return bare(self.subject)

    @property
    def is_reply(self) -> bool:
        """Whether the subject marks the message as a reply."""
        return says_reply(self.subject)


def bare(subject: str) -> str:
    """Returns a subject without "Re:" and the tags of mailing lists."""
    found = _MARKS.match(subject)
    return subject[found.end() :] if found else subject


def says_reply(subject: str) -> bool:
    """Whether a subject begins like the subject of a reply."""
    return bool(_REPLY.match(subject))


def _parsed(raw: bytes | str, head: bool = False) -> EmailMessage:
    if isinstance(raw, bytes):
        return BytesParser(EmailMessage, policy=default).parsebytes(raw, headersonly=head)
    return Parser(EmailMessage, policy=default).parsestr(raw, headersonly=head)


def read_message(raw: bytes | str) -> MailMessage:
    """Reads an e-mail from its source text. Parts that cannot be read are empty."""
    try:
        message = _parsed(raw)
    except RecursionError:  # too many nested parts: only the head is read
        message = _parsed(raw, head=True)
    name, address = parseaddr(_header(message, "from"))
    references = _ID.findall(_header(message, "references"))
    answered = _ID.findall(_header(message, "in-reply-to"))
    references = [each for each in references if each not in answered[:1]] + answered[:1]
    own = _ID.findall(_header(message, "message-id"))
    return MailMessage(
        _line(name),
        _line(address),
        _date(_header(message, "date")),
        _line(_header(message, "subject")) or NO_SUBJECT,
        _body(message),
        own[0] if own else "",
        tuple(references),
    )


def _header(message: EmailMessage, name: str) -> str:
    try:
        return str(message.get(name, ""))
    except _BROKEN:
        return next((str(value) for key, value in message.raw_items() if key.lower() == name), "")


def _line(text: str) -> str:
    return " ".join(_CONTROL.sub("", text).split())


def _date(text: str) -> datetime | None:
    try:
        return parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return None


def _body(message: EmailMessage) -> str:
    """Returns the text of a message: its plain part, or else its HTML. Attachments are left out."""
    try:
        part = message.get_body(("plain", "html"))
    except _BROKEN:
        part = message
    if part is None or part.is_multipart():
        return ""
    try:
        text = str(part.get_content())
    except _BROKEN:  # an encoding that does not exist
        text = _UNREAD
    if _UNREAD in text:
        text = _guessed(part)
    if part.get_content_type() == "text/html":
        # A block of HTML in Markdown goes on to the next blank line.
        text = plain_text("<div>\n" + _GAP.sub("\n", text), markdown_parser()).text
    lines = _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).split("\n")
    return _BLANK.sub("\n\n", "\n".join(line.rstrip() for line in lines)).strip()


def _guessed(part: MIMEPart) -> str:
    """Decodes a part whose declared encoding is wrong or missing."""
    source = part.get_payload()
    plain = str(part.get("content-transfer-encoding", "")).strip().lower() in _PLAIN
    if plain and isinstance(source, str) and _UNREAD not in source:
        return source
    payload = part.get_payload(decode=True)
    raw = payload if isinstance(payload, bytes) else b""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("cp1252", "replace")


_UNDATED = datetime.max.replace(tzinfo=UTC)


class ThreadPosition(NamedTuple):
    """The position of the first message of the thread, and the position of the message that is answered."""

    first: int
    parent: int | None


def places(messages: Sequence[MailMessage]) -> list[ThreadPosition]:
    """Returns the position of each message in its thread.

    Messages form a thread if they refer to each other or to the same missing message. A reply without a known
    reference joins the last earlier message with the same subject.
    """
    from scipy.cluster.hierarchy import DisjointSet

    known: dict[str, int] = {}
    for position, message in enumerate(messages):
        if message.message_id:
            known.setdefault(message.message_id, position)
    joined = DisjointSet(range(len(messages)))
    absent: dict[str, int] = {}  # an id that no message here has -> the first that refers to it
    latest: dict[str, int] = {}
    parents: list[int | None] = [None] * len(messages)
    for position in sorted(range(len(messages)), key=lambda each: (moment(messages[each]), each)):
        message = messages[position]
        named = [known[each] for each in message.references if known.get(each, position) != position]
        others = [absent.setdefault(each, position) for each in message.references if each not in known]
        parents[position] = named[-1] if named else None
        subject = message.bare_subject.casefold()
        links = named + [each for each in others if each != position]
        if not links and message.is_reply and message.subject != NO_SUBJECT and subject in latest:
            links = [latest[subject]]
        for other in links:
            joined.merge(position, other)
        latest[subject] = position
    firsts = {
        position: min(group, key=lambda each: (moment(messages[each]), each))
        for group in joined.subsets()
        for position in group
    }
    return [ThreadPosition(firsts[position], parents[position]) for position in range(len(messages))]


def moment(message: MailMessage) -> datetime:
    """Returns the sort key of a message: the time of sending. Messages without a date come last."""
    if message.date is None:
        return _UNDATED
    return message.date if message.date.tzinfo else message.date.replace(tzinfo=UTC)
