"""One e-mail as plain text, whatever is broken in it, by the standard library's parser."""

from __future__ import annotations

import re
from datetime import datetime
from email.errors import MessageError
from email.message import EmailMessage, MIMEPart
from email.parser import BytesParser, Parser
from email.policy import default
from email.utils import parseaddr, parsedate_to_datetime
from typing import NamedTuple

from assay.datasets.markdown_text import markdown_parser, plain_text

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


class Message(NamedTuple):
    """What of an e-mail is read: who, when, about what, in answer to what, and the words."""

    name: str
    address: str
    date: datetime | None
    subject: str
    body: str
    message_id: str
    references: tuple[str, ...]  # what it answers, nearest last

    @property
    def bare_subject(self) -> str:
        """The subject less what replies and mailing lists put before it."""
        return bare(self.subject)

    @property
    def is_reply(self) -> bool:
        """Whether its subject says that it answers something."""
        return says_reply(self.subject)


def bare(subject: str) -> str:
    """A subject less "Re:" and the tags that mailing lists put before it."""
    found = _MARKS.match(subject)
    return subject[found.end() :] if found else subject


def says_reply(subject: str) -> bool:
    """Whether a subject begins as replies do."""
    return bool(_REPLY.match(subject))


def _parsed(raw: bytes | str, head: bool = False) -> EmailMessage:
    if isinstance(raw, bytes):
        return BytesParser(EmailMessage, policy=default).parsebytes(raw, headersonly=head)
    return Parser(EmailMessage, policy=default).parsestr(raw, headersonly=head)


def read_message(raw: bytes | str) -> Message:
    """An e-mail from its source text; what cannot be read of it is left empty."""
    try:
        message = _parsed(raw)
    except RecursionError:  # parts within parts within parts: its head is all that is read
        message = _parsed(raw, head=True)
    name, address = parseaddr(_header(message, "from"))
    references = _ID.findall(_header(message, "references"))
    answered = _ID.findall(_header(message, "in-reply-to"))
    references = [each for each in references if each not in answered[:1]] + answered[:1]
    own = _ID.findall(_header(message, "message-id"))
    return Message(
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
    """The words of a message: its plain part, or its HTML where there is none; attachments are left out."""
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
    """The text of a part whose encoding is not what it says, if it says any."""
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
