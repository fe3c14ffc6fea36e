"""E-mails as questions see them: who wrote when, about what, in which thread, in answer to whom."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from assay.core.records import Span
from assay_worlds.sources.mail_message import bare, says_reply
from assay_worlds.sources.source import Page
from assay_worlds.suites.real.question import Passages
from assay_worlds.suites.real.text_lines import Unit, field_of, field_units, unit_at

_NAME = re.compile(r"[A-Z][\w'-]+(?: [A-Z](?:\.|[\w'-]+)?){1,3}")
_SUBJECT = re.compile(r"(?=.*[a-z])[\w\"'(][\w .,?!'/&+()-]{6,70}[\w?!)]")
_SAID = re.compile(r"^(?![>|]).{3,110}\b(?:wrote|writes|said|says) ?:?$", re.MULTILINE)


class Letter(NamedTuple):
    """A message whose sender, day and subject can be named in a question."""

    page: Page
    name: str
    address: str
    day: str  # YYYY-MM-DD, where it was sent
    subject: str  # less "Re:" and tags of lists
    is_reply: bool
    thread: str

    @property
    def doc_id(self) -> str:
        return self.page.document.doc_id

    def units(self, fields: Sequence[str], passages: Passages) -> list[Unit]:
        """Lines at its head as evidence."""
        return field_units(self.page, fields, passages)


def letters(pages: Iterable[Page]) -> list[Letter]:
    """The messages with a dated head; a sender without a full name, or an odd subject, is left empty."""
    found = []
    for page in pages:
        name, _, address = field_of(page, "From").rpartition(" <")
        subject = field_of(page, "Subject")
        day = field_of(page, "Date")[:10]
        if day:
            found.append(
                Letter(
                    page,
                    name if _NAME.fullmatch(name) else "",
                    address.rstrip(">"),
                    day,
                    bare(subject).strip(),
                    says_reply(subject),
                    str(page.document.metadata["thread"]),
                )
            )
    return found


def nameable(subject: str) -> bool:
    """Whether a subject can stand in a question."""
    return len(subject.split()) >= 2 and bool(_SUBJECT.fullmatch(subject))


class Threads:
    """Messages by thread and by subject."""

    def __init__(self, found: Sequence[Letter]) -> None:
        self.letters = found
        self.by_thread = defaultdict[str, list[Letter]](list)
        self.by_subject = defaultdict[str, list[Letter]](list)
        for letter in found:
            self.by_thread[letter.thread].append(letter)
            self.by_subject[letter.subject.casefold()].append(letter)

    def about(self, letter: Letter) -> list[Letter]:
        """All messages with the subject of this one."""
        return self.by_subject[letter.subject.casefold()]

    def named(self, letter: Letter) -> bool:
        """Whether its subject can be asked about and means one thread, in all of which it is the subject."""
        return nameable(letter.subject) and {each.thread for each in self.about(letter)} == {letter.thread}

    def openers(self) -> list[Letter]:
        """The messages that opened their thread: first in it, no reply, and all others of the subject are."""
        return [
            letter
            for letter in self.letters
            if letter.thread == letter.doc_id
            and not letter.is_reply
            and letter.name
            and self.named(letter)
            and all(other.is_reply for other in self.about(letter) if other is not letter)
        ]


def answered(letter: Letter, by_id: dict[str, Letter]) -> Letter | None:
    """The message that this one answers, where it is among those known."""
    return by_id.get(str(letter.page.document.metadata.get("reply_to")))


def attribution(letter: Letter, other: Letter, passages: Passages) -> Unit | None:
    """The line that says whose words a message quotes ("Ann Lee wrote:"), where it quotes one person only."""
    text = letter.page.document.text
    found = list(_SAID.finditer(text, text.find("\n\n") + 1))
    if len(found) != 1 or not other.name or other.name not in found[0][0]:
        return None
    return unit_at(letter.page, Span(*found[0].span()), passages)
