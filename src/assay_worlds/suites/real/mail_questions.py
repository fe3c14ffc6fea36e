"""Makes questions on e-mail: who wrote, when a thread began, who answered whom, who wrote what else."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from random import Random
from typing import NamedTuple

from assay.core.records import Span
from assay.datasets.evidence import AGGREGATION, OUT_OF_KB
from assay_worlds.sources.mail import bare, says_reply
from assay_worlds.sources.source import SourcePage
from assay_worlds.suites.real.question import (
    LONG_HEADS,
    QuestionDraft,
    Unit,
    characters,
    day_in_words,
    field_of,
    field_units,
    shuffled,
    some,
    unit_at,
)
from assay_worlds.suites.real.value import Passages

_HEAD = ("From", "Date", "Subject")
_MOST_LETTERS = 3  # the most messages behind an ambiguous question, so that its answer stays short


def questions(pages: Sequence[SourcePage], passages: Passages, rng: Random) -> Iterator[QuestionDraft]:
    """Makes questions that the headers of one or more messages answer."""
    threads = Threads(letters(pages))
    yield from some(_who_wrote(threads, passages, rng))
    yield from some(_when_opened(threads, passages, rng))
    yield from some(_which_address(threads, passages, rng))
    yield from some(_whom_answered(threads, passages, rng))
    yield from some(_when_answered(threads, passages, rng))
    yield from some(_chain(threads, passages, rng))
    yield from some(_other_thread(threads, passages, rng))
    yield from some(_earlier_thread(threads, passages, rng))
    yield from some(_shared_subject(threads, passages, rng))
    yield from some(_several_days(threads, passages, rng))
    yield from some(_thread_list(threads, passages, rng))
    yield from some(_sender_list(threads, passages, rng))
    yield from some(_year_not_there(threads, rng))


# ------------------------------------------------------------------------------------ one message


def _who_wrote(threads: Threads, passages: Passages, rng: Random) -> Iterator[QuestionDraft]:
    """Asks for the sender of a message that is the only one on its subject that day."""
    for letter in shuffled(threads.letters, rng):
        same = [other for other in threads.about(letter) if other.day == letter.day]
        units = letter.units(_HEAD, passages)
        if not letter.name or len(same) > 1 or not units or not threads.named(letter):
            continue
        text = f"Who wrote the e-mail about “{letter.subject}” on {day_in_words(letter.day)}?"
        if not _gives_answer_away(letter.name, text):
            yield QuestionDraft(text, letter.name, units, ("single_branch", "detail"), "mail_sender")


def _when_opened(threads: Threads, passages: Passages, rng: Random) -> Iterator[QuestionDraft]:
    """Asks for the day on which a thread began."""
    for letter in shuffled(threads.openers(), rng):
        units = letter.units(_HEAD, passages)
        if units and len(threads.by_thread[letter.thread]) > 1:
            text = f"On which day did {letter.name} open the e-mail thread “{letter.subject}”?"
            yield QuestionDraft(text, letter.day, units, ("single_branch", "temporal"), "mail_opened")


def _which_address(threads: Threads, passages: Passages, rng: Random) -> Iterator[QuestionDraft]:
    """Asks for the address of a person who wrote only one message."""
    written = Counter(letter.name for letter in threads.letters)
    for letter in shuffled(threads.letters, rng):
        units = letter.units(("From",), passages)
        if letter.name and written[letter.name] == 1 and units and "@" in letter.address:
            text = f"From which e-mail address did {letter.name} write?"
            yield QuestionDraft(text, letter.address, units, ("single_branch", "detail"), "mail_address")


# --------------------------------------------------------------------------------------- replies


def _replies(
    threads: Threads, passages: Passages, rng: Random
) -> Iterator[tuple[Letter, Letter, list[Unit]]]:
    """Yields replies that name the person they answer, with that message and the evidence.

    The reply is the sender's only message in the thread that day.
    """
    by_id = {letter.doc_id: letter for letter in threads.letters}
    for reply in shuffled(threads.letters, rng):
        parent = answered(reply, by_id)
        if parent is None or not reply.name or not parent.name or not threads.named(reply):
            continue
        same = [other for other in threads.about(reply) if (other.name, other.day) == (reply.name, reply.day)]
        quote = attribution(reply, parent, passages)
        units = reply.units(_HEAD, passages)
        if len(same) == 1 and quote and units and parent.name != reply.name:
            yield reply, parent, [*units, quote]


def _whom_answered(threads: Threads, passages: Passages, rng: Random) -> Iterator[QuestionDraft]:
    for reply, parent, units in _replies(threads, passages, rng):
        text = f"Whose words did {reply.name} answer about “{reply.subject}” on {day_in_words(reply.day)}?"
        if not _gives_answer_away(parent.name, text):
            yield QuestionDraft(text, parent.name, units, ("single_branch", "detail"), "mail_answered")


def _when_answered(threads: Threads, passages: Passages, rng: Random) -> Iterator[QuestionDraft]:
    """Asks for the day of the message that a reply answers."""
    for reply, parent, units in _replies(threads, passages, rng):
        own = [other for other in threads.by_thread[parent.thread] if other.name == parent.name]
        more = parent.units(_HEAD, passages)
        if len(own) == 1 and more and parent.day != reply.day and threads.named(parent):
            text = (
                f"On {day_in_words(reply.day)} {reply.name} answered an e-mail about “{reply.subject}”."
                " On which day had the e-mail been sent that this one answered?"
            )
            tags = ("two_hop", "entity_spanning", "temporal")
            yield QuestionDraft(text, parent.day, [*units, *more], tags, "mail_answered_day")


def _chain(threads: Threads, passages: Passages, rng: Random) -> Iterator[QuestionDraft]:
    """Asks for the day of the first message of a chain: a reply to a reply to that message."""
    by_id = {letter.doc_id: letter for letter in threads.letters}
    for reply, parent, units in _replies(threads, passages, rng):
        first = answered(parent, by_id)
        if first is None or not first.name or len({reply.name, parent.name, first.name}) < 3:
            continue
        thread = Counter(other.name for other in threads.by_thread[reply.thread])
        quote = attribution(parent, first, passages)
        middle, last = parent.units(("From", "Subject"), passages), first.units(_HEAD, passages)
        single = thread[parent.name] == thread[first.name] == 1 and first.day not in {reply.day, parent.day}
        if single and quote and middle and last and threads.named(first):
            text = (
                f"On {day_in_words(reply.day)} {reply.name} answered an e-mail about “{reply.subject}”, which"
                " answered an earlier one in turn. On which day had that earlier one been sent?"
            )
            evidence = [*units, *middle, quote, *last]
            tags = ("three_hop", "entity_spanning", "temporal")
            yield QuestionDraft(text, first.day, evidence, tags, "mail_chain")


# ------------------------------------------------------------------------------------ two threads


def _other_thread(threads: Threads, passages: Passages, rng: Random) -> Iterator[QuestionDraft]:
    """Asks which other thread the author of a thread began on a given day."""
    opened = defaultdict[str, list[Letter]](list)
    for letter in threads.letters:
        if not letter.is_reply:
            opened[letter.name].append(letter)
    for letter in shuffled(threads.openers(), rng):
        for other in shuffled(opened[letter.name], rng)[:1]:
            that_day = [each for each in opened[letter.name] if each.day == other.day]
            units = [*letter.units(("From", "Subject"), passages), *other.units(_HEAD, passages)]
            if len(that_day) == 1 and other.day != letter.day and nameable(other.subject) and len(units) == 5:
                text = (
                    f"The person who opened the e-mail thread “{letter.subject}” also began a new one on"
                    f" {day_in_words(other.day)}. What was its subject?"
                )
                tags = ("two_hop", "entity_spanning")
                if not _gives_answer_away(other.subject, text):
                    yield QuestionDraft(text, other.subject, units, tags, "mail_other_thread")


def _earlier_thread(threads: Threads, passages: Passages, rng: Random) -> Iterator[QuestionDraft]:
    """Asks who began the earlier of two threads."""
    openers = shuffled(threads.openers(), rng)
    for one, two in zip(openers[::2], openers[1::2], strict=False):
        earlier, later = sorted((one, two), key=lambda letter: letter.day)
        units = [*earlier.units(_HEAD, passages), *later.units(("Date", "Subject"), passages)]
        if one.day != two.day and one.name != two.name and len(units) == 5:
            text = f"Who opened the earlier of the two e-mail threads “{one.subject}” and “{two.subject}”?"
            tags = ("comparative", "two_hop", "temporal")
            if not _gives_answer_away(earlier.name, text):
                yield QuestionDraft(text, earlier.name, units, tags, "mail_earlier")


def _shared_subject(threads: Threads, passages: Passages, rng: Random) -> Iterator[QuestionDraft]:
    """Asks who began the threads with a subject that several threads share. All authors are the answer."""
    for found in shuffled(threads.by_subject.values(), rng):
        first = [letter for letter in found if not letter.is_reply and letter.thread == letter.doc_id]
        names = sorted({letter.name for letter in first})
        units = [unit for letter in first for unit in letter.units(("From", "Subject"), passages)]
        covered = {letter.thread for letter in found} == {letter.thread for letter in first}
        text = f"Who opened an e-mail thread “{found[0].subject}”?"
        if not (2 <= len(names) == len(first) <= _MOST_LETTERS and all(names) and covered):
            continue
        if nameable(first[0].subject) and not any(_gives_answer_away(name, text) for name in names):
            yield QuestionDraft(text, names, units, ("ambiguous", "entity_spanning"), "mail_shared_subject")


def _several_days(threads: Threads, passages: Passages, rng: Random) -> Iterator[QuestionDraft]:
    """Asks when a person wrote about a subject on several days. All these days are the answer."""
    written = defaultdict[tuple[str, str], list[Letter]](list)
    for letter in threads.letters:
        written[letter.name, letter.subject.casefold()].append(letter)
    for (name, _), found in shuffled(written.items(), rng):
        days = sorted({letter.day for letter in found})
        units = [unit for letter in found for unit in letter.units(_HEAD, passages)]
        if name and 2 <= len(days) == len(found) <= _MOST_LETTERS and threads.named(found[0]):
            text = f"When did {name} write about “{found[0].subject}”?"
            yield QuestionDraft(text, days, units, ("ambiguous", "temporal"), "mail_several_days")


# ------------------------------------------------------------------------------------- impossible


def _thread_list(threads: Threads, passages: Passages, rng: Random) -> Iterator[QuestionDraft]:
    for found in shuffled(threads.by_subject.values(), rng):
        units = [unit for letter in found for unit in letter.units(_HEAD, passages)]
        if characters(units) >= LONG_HEADS and len(units) == 3 * len(found) and threads.named(found[0]):
            text = (
                f"List everyone who wrote about “{found[0].subject}”, with the day of each of their e-mails."
            )
            answer = sorted({letter.name or letter.address for letter in found})
            yield QuestionDraft(text, answer, units, ("aggregation",), "mail_thread_list", AGGREGATION)


def _sender_list(threads: Threads, passages: Passages, rng: Random) -> Iterator[QuestionDraft]:
    by_name = defaultdict[str, list[Letter]](list)
    for letter in threads.letters:
        by_name[letter.name].append(letter)
    for name, found in shuffled(by_name.items(), rng):
        units = [unit for letter in found for unit in letter.units(_HEAD, passages)]
        if name and characters(units) >= LONG_HEADS and len(units) == 3 * len(found):
            text = f"List the subjects of all e-mails that {name} sent, each with its day."
            answer = sorted({letter.subject for letter in found})
            yield QuestionDraft(text, answer, units, ("aggregation",), "mail_sender_list", AGGREGATION)


def _year_not_there(threads: Threads, rng: Random) -> Iterator[QuestionDraft]:
    """Asks about existing people and threads in a year without messages."""
    years = Counter(int(letter.day[:4]) for letter in threads.letters)
    if not years:
        return
    usual = years.most_common(1)[0][0]
    absent = [year for year in range(usual + 2, usual + 8) if year not in years]
    asked = [
        "Who opened the e-mail thread “{subject}” in {month} {year}?",
        "What did {name} write about “{subject}” in {month} {year}?",
        "Whom did {name} answer about “{subject}” in {month} {year}?",
    ]
    for number, letter in enumerate(shuffled(threads.openers(), rng)):
        month = day_in_words(letter.day).split()[1]
        text = asked[number % len(asked)].format(
            subject=letter.subject, name=letter.name, month=month, year=rng.choice(absent)
        )
        yield QuestionDraft(text, "", [], ("out_of_distribution",), "mail_absent", OUT_OF_KB)


def _gives_answer_away(answer: str, text: str) -> bool:
    """Whether a question contains a word of its answer that has more than three letters."""
    return any(word.casefold() in text.casefold() for word in answer.split() if len(word) > 3)


_NAME = re.compile(r"[A-Z][\w'-]+(?: [A-Z](?:\.|[\w'-]+)?){1,3}")
_SUBJECT = re.compile(r"(?=.*[a-z])[\w\"'(][\w .,?!'/&+()-]{6,70}[\w?!)]")
_SAID = re.compile(r"^(?![>|]).{3,110}\b(?:wrote|writes|said|says) ?:?$", re.MULTILINE)


class Letter(NamedTuple):
    """A message whose sender, day and subject can be named in a question."""

    page: SourcePage
    name: str
    address: str
    day: str  # YYYY-MM-DD, where it was sent
    subject: str  # without "Re:" and tags of lists
    is_reply: bool
    thread: str

    @property
    def doc_id(self) -> str:
        return self.page.document.doc_id

    def units(self, fields: Sequence[str], passages: Passages) -> list[Unit]:
        """Returns header lines as evidence."""
        return field_units(self.page, fields, passages)


def letters(pages: Iterable[SourcePage]) -> list[Letter]:
    """Returns the messages with a date.

    `name` is empty if there is no full name. `subject` is empty if it cannot be quoted.
    """
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
    """Whether a subject can be quoted in a question."""
    return len(subject.split()) >= 2 and bool(_SUBJECT.fullmatch(subject))


class Threads:
    """Messages, grouped by thread and by subject."""

    def __init__(self, found: Sequence[Letter]) -> None:
        self.letters = found
        self.by_thread = defaultdict[str, list[Letter]](list)
        self.by_subject = defaultdict[str, list[Letter]](list)
        for letter in found:
            self.by_thread[letter.thread].append(letter)
            self.by_subject[letter.subject.casefold()].append(letter)

    def about(self, letter: Letter) -> list[Letter]:
        """Returns all messages with the same subject as this message."""
        return self.by_subject[letter.subject.casefold()]

    def named(self, letter: Letter) -> bool:
        """Whether the subject can be quoted and belongs to exactly one thread."""
        return nameable(letter.subject) and {each.thread for each in self.about(letter)} == {letter.thread}

    def openers(self) -> list[Letter]:
        """Returns the messages that began their thread, if a question can name them."""
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
    """Returns the message that this message answers, if it is known."""
    return by_id.get(str(letter.page.document.metadata.get("reply_to")))


def attribution(letter: Letter, other: Letter, passages: Passages) -> Unit | None:
    """Returns the line before a quotation ("Ann Lee wrote:") as evidence.

    Returns None if the message does not quote exactly one person, or if that person did not write `other`.
    """
    text = letter.page.document.text
    found = list(_SAID.finditer(text, text.find("\n\n") + 1))
    if len(found) != 1 or not other.name or other.name not in found[0][0]:
        return None
    return unit_at(letter.page, Span(*found[0].span()), passages)
