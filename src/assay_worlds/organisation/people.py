"""People's pages: what they do, how to reach them, where they came from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache

from assay_worlds.organisation.draft import Draft, Paragraph, prose, state
from assay_worlds.organisation.phrase import Phrase
from assay_worlds.organisation.world import Fact, Person, World
from assay_worlds.texts import TextEntry, read_texts


class Duty(TextEntry, frozen=True):
    """A duty as its holder's page words it, and as a colleague in need of it would."""

    text: str
    plain: str


class PeopleTexts(TextEntry, frozen=True):
    """What people's pages say."""

    duties: tuple[Duty, ...]
    duty: Phrase
    extension: Phrase
    background: Phrase
    prose: tuple[str, ...]


@cache
def people_texts() -> PeopleTexts:
    return read_texts(PeopleTexts, __package__, "people")


def pages(world: World) -> Iterator[Draft]:
    """A page for each person; the first ones hold the duties there are."""
    bearers = Counter(person.name for person in world.people)
    extensions = world.rng("extensions").sample(range(2000, 9999), len(world.people))
    known = people_texts().duties
    duties = world.rng("duties").sample(known, len(known))
    for number, person in enumerate(world.people):
        duty = duties[number] if number < len(duties) else None
        doc_id = f"people-{person.name.partition(' ')[2].lower()}-{number:03d}"
        yield _page(doc_id, person, duty, (str(extensions[number]), bearers[person.name] > 1), world)


def _page(doc_id: str, person: Person, duty: Duty | None, call: tuple[str, bool], world: World) -> Draft:
    rng, texts = world.rng(doc_id), people_texts()
    extension, contested = call
    year = str(rng.randint(2008, 2025))
    slots = {**person._asdict(), "first": person.first, "year": year}
    reach = Fact("people", "people/extension", texts.extension, extension, slots, contested=contested)
    before = rng.choice(texts.background.values)
    past = Fact("people", "people/past", texts.background, before, slots, contested=contested)
    lines = rng.sample(texts.prose, 5)
    profile = f"{person.name} is {person.role} in {person.team} at the {person.office} office."
    paragraphs = [
        Paragraph("Profile", prose(profile, *lines[:2])),
        Paragraph("Background", (state(past), *prose(lines[2]))),
        Paragraph("Contact", (state(reach), *prose(lines[3]))),
    ]
    if duty:
        own = {"duty": duty.text, "plain": duty.plain}
        holds = Fact("people", f"people/duty/{duty.text}", texts.duty, person.name, own)
        paragraphs.append(Paragraph("Responsibilities", (state(holds), *prose(lines[4]))))
    metadata = {
        "kind": "people",
        "date": f"{year}-04-01",
        "team": person.team,
        "office": person.office,
    }
    return Draft(doc_id, f"{person.name}, {person.team}", metadata, tuple(paragraphs))
