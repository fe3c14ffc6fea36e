"""E-mail threads and decision records: people disagree on a matter until one sentence settles it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from functools import cache
from random import Random

from assay_worlds.organisation.documents import REPEATS, PageDraft, PageParagraph, Sentence, prose, state
from assay_worlds.organisation.world import STYLES, Fact, Person, Phrase, World, company
from assay_worlds.texts import TextEntry, read_texts

ANNOUNCED = 4  # facts that an announcement quotes, and threads per announcement
FIRST_CODE = 2043  # the first number of a matter
QUOTABLE = ("policy", "procedure", "release", "decision")


class Matter(TextEntry, frozen=True):
    """A question on which people disagree, and the sentence that settles it. `{code}` is its number."""

    key: str
    subject: str
    opening: str  # what is to be settled: it supports the answer, but does not give it
    objections: tuple[str, ...]
    settled: Phrase


class MatterTexts(TextEntry, frozen=True):
    """The texts of threads, decision records and announcements."""

    greeting: tuple[str, ...]
    agreeing: tuple[str, ...]
    closing: tuple[str, ...]
    announcing: tuple[str, ...]
    threads: tuple[Matter, ...]
    decisions: tuple[Matter, ...]


@cache
def matter_texts() -> MatterTexts:
    return read_texts(MatterTexts, __package__, "matters")


def decisions(world: World) -> Iterator[PageDraft]:
    """Yields one decision record per matter and project, in random order."""
    texts, filler = matter_texts(), company().filler
    for number, fact, matter in _settled("decision", texts.decisions, world):
        rng = world.rng("decision", number)
        author, day = rng.choice(world.people), _day(rng, 2022)
        opening = Sentence(matter.opening.format_map(fact.slots), fact, REPEATS)
        review = f"{author.name} of {author.team} reviews the outcome in {day.year + 1}."
        paragraphs = (
            PageParagraph("Context", (opening, *prose(*rng.sample(filler, 2)))),
            PageParagraph("Options", prose(*matter.objections)),
            PageParagraph(
                "Decision", (*prose(rng.choice(filler)), state(fact), *prose(rng.choice(texts.agreeing)))
            ),
            PageParagraph("Consequences", prose(review, *rng.sample(filler, 2))),
        )
        metadata = {"kind": "decision", "date": day.isoformat(), "project": fact.slots["project"]}
        yield PageDraft(f"decision-{matter.key}-{number:03d}", _title(matter, fact), metadata, paragraphs)


def threads(world: World, facts: Sequence[Fact]) -> Iterator[PageDraft]:
    """Yields e-mail threads and, every few threads, an announcement that quotes facts of other documents."""
    quotable = [fact for fact in facts if fact.kind in QUOTABLE]
    world.rng("announcements").shuffle(quotable)
    for number, fact, matter in _settled("email", matter_texts().threads, world):
        if number % ANNOUNCED == 0:
            quoted = quotable[number : number + ANNOUNCED]
            yield _announcement(f"email-bulletin-{number // ANNOUNCED:03d}", quoted, world)
        yield _thread(f"email-{matter.key}-{number:03d}", matter, fact, world)


def _thread(doc_id: str, matter: Matter, fact: Fact, world: World) -> PageDraft:
    rng, texts = world.rng(doc_id), matter_texts()
    day = _day(rng, 2022)
    heads = [_head(writer, day + timedelta(at)) for at, writer in enumerate(rng.sample(world.people, 4))]
    first, second = rng.sample(matter.objections, 2)
    opening = Sentence(matter.opening.format_map(fact.slots), fact, REPEATS)
    messages = (
        (*prose(heads[0], rng.choice(texts.greeting)), opening, *prose("What do you think?")),
        prose(heads[1], first, rng.choice(company().filler)),
        prose(heads[2], f"> {first}", "I see it differently.", second),
        (*prose(heads[3], rng.choice(texts.agreeing)), state(fact), *prose(rng.choice(texts.closing))),
    )
    paragraphs = tuple(
        PageParagraph(f"Message {number}", message) for number, message in enumerate(messages, 1)
    )
    metadata = {"kind": "email", "date": day.isoformat()}
    return PageDraft(doc_id, f"E-mail: {_title(matter, fact)}", metadata, paragraphs)


def _announcement(doc_id: str, quoted: Sequence[Fact], world: World) -> PageDraft:
    rng, texts = world.rng(doc_id), matter_texts()
    day = _day(rng, 2025)
    head = _head(rng.choice(world.people), day)
    paragraphs = []
    for number, fact in enumerate(quoted, 1):
        quote = Sentence(_quoted(fact), fact, REPEATS)
        around = prose(head, rng.choice(texts.announcing))
        paragraphs.append(
            PageParagraph(f"Item {number}", (*around, quote, *prose(rng.choice(texts.closing))))
        )
    title = f"E-mail: Bulletin for {day:%B %Y}"
    return PageDraft(doc_id, title, {"kind": "email", "date": day.isoformat()}, tuple(paragraphs))


def _quoted(fact: Fact) -> str:
    """Returns the sentence of a fact as a bulletin quotes it, after the names that the fact is about."""
    scope = fact.asked.get("keyword", {}).get("scope", "")
    about = [word for word in (scope, fact.slots.get("product"), fact.slots.get("version")) if word]
    return f"{' '.join(about)}: {fact.sentence}" if about else fact.sentence


def _title(matter: Matter, fact: Fact) -> str:
    subject = matter.subject.format_map(fact.slots)
    return f"{subject} ({fact.slots['team']})" if "team" in fact.slots else subject


def _head(writer: Person, day: date) -> str:
    return f"{writer.name} ({writer.team}) wrote on {day.day} {day:%B %Y}:"


def _day(rng: Random, since: int) -> date:
    return date(rng.randint(since, 2026), rng.randint(1, 12), rng.randint(1, 28))


def _settled(kind: str, matters: Sequence[Matter], world: World) -> Iterator[tuple[int, Fact, Matter]]:
    """Yields each matter with each possible subject, in random order, and the fact that settles it."""
    cases = [
        (matter, slots, contested) for matter in matters for slots, contested in _subjects(matter, world)
    ]
    rng = world.rng(kind)
    rng.shuffle(cases)
    for number, (matter, slots, contested) in enumerate(cases):
        code = str(FIRST_CODE + 7 * number)
        yield number, _fact(kind, matter, {**slots, "code": code}, contested, rng), matter


def _fact(kind: str, matter: Matter, slots: dict[str, str], contested: bool, rng: Random) -> Fact:
    # A name that two projects share is only clear with the team's name beside it.
    named = {"project": f"{slots['project']} ({slots['team']})"} if contested else {}
    asked = dict.fromkeys(STYLES, named)
    value = rng.choice(matter.settled.values)
    return Fact(kind, f"{kind}/{matter.key}", matter.settled, value, slots, asked, contested)


def _subjects(matter: Matter, world: World) -> Iterator[tuple[dict[str, str], bool]]:
    """Yields the possible subjects of a matter, and whether another subject has the same name."""
    if "{project}" in matter.subject:
        for project in world.projects:
            yield {"project": project.name, "team": project.team}, project.shared
    elif "{product}" in matter.subject + matter.opening:
        for product in world.products:
            yield from (({"product": product.name, "office": office.name}, False) for office in world.offices)
    else:
        yield from (({"office": office.name}, False) for office in world.offices)
