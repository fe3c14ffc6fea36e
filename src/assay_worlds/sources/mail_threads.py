"""Which e-mails belong together: by what they say they answer, else by their subject."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from assay_worlds.sources.mail_message import NO_SUBJECT, Message

_UNDATED = datetime.max.replace(tzinfo=UTC)


class Place(NamedTuple):
    """Where a message stands: the first message of its thread, and the one it answers, by position."""

    first: int
    parent: int | None


def places(messages: Sequence[Message]) -> list[Place]:
    """The place of each message.

    Messages that refer to one another, or to one that is not here, are of one thread. A reply that refers to
    nothing known joins the last message before it that has the same subject.
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
    return [Place(firsts[position], parents[position]) for position in range(len(messages))]


def moment(message: Message) -> datetime:
    """When a message was sent, to sort by; what has no date comes last."""
    if message.date is None:
        return _UNDATED
    return message.date if message.date.tzinfo else message.date.replace(tzinfo=UTC)
