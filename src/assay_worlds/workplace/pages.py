"""Makes pages about entities: one sentence per fact, between sentences of prose without facts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from random import Random

from assay_worlds.organisation.documents import PageDraft, PageParagraph, Sentence
from assay_worlds.organisation.world import company
from assay_worlds.template import capital, render
from assay_worlds.workplace.directory import Directory, Entity, PageKind, Relation
from assay_worlds.workplace.facts import Atom
from assay_worlds.workplace.names import parts

STEP = "procedure.step"  # a relation without a wording of its own: its value is the whole sentence
FACTS_PER_PARAGRAPH = 2
STEPS = (3, 5)
YEARS_FROM, YEARS_TO = 2018, 2025
_ENTITIES = {
    **{
        kind: kind
        for kind in ("person", "team", "office", "product", "service", "project", "vendor", "customer")
    },
    "other_person": "person",
    "other_team": "team",
}


class Slots(dict[str, str]):
    """The slot values of a page's templates. Values that are not given are drawn."""

    def __init__(self, directory: Directory, tier: int, rng: Random, **given: str) -> None:
        super().__init__(given)
        self._directory, self._tier, self.rng = directory, tier, rng

    def __missing__(self, name: str) -> str:
        rng = self.rng
        if name in _ENTITIES:
            return self._directory.some(_ENTITIES[name], self._tier, rng).name
        match name:
            case "term" | "other_term":
                return self._directory.term(rng)
            case "month":
                return rng.choice(company().months)
            case "year":
                return str(rng.randint(YEARS_FROM, YEARS_TO))
            case "date":
                day, month = rng.randint(1, 28), rng.choice(company().months)
                return f"{day} {month} {rng.randint(YEARS_FROM, YEARS_TO)}"
            case "code":
                return f"{rng.choice(parts().code_prefixes)}-{rng.randint(1000, 99999)}"
        raise KeyError(name)


def fill(template: str, slots: Slots) -> str:
    """Renders a template as a sentence."""
    return capital(render(template, slots.rng, slots))


def pages(directory: Directory, entity: Entity) -> Iterator[PageDraft]:
    """Yields the pages about an entity: one page, or one page per edition."""
    for number, when in enumerate(directory.editions(entity)):
        doc_id = f"{entity.kind}-{entity.number:05d}" + (f"-{number + 1}" if when else "")
        yield page(directory, entity, when, doc_id)


def page(directory: Directory, entity: Entity, when: str, doc_id: str) -> PageDraft:
    """Makes one page about an entity, in one edition."""
    kind, rng = directory.kinds[entity.kind], directory.rng("page", doc_id)
    slots = Slots(directory, entity.tier, rng, subject=entity.name, when=when)
    prose = iter(rng.sample(kind.prose, len(kind.prose)))
    paragraphs = []
    for section, facts in _sections(directory, kind, entity):
        stated = [_stating(directory, entity, relation, when, slots) for relation in facts]
        paragraphs.append(_mixed(section, stated, prose, slots, rng))
    if kind.steps:
        paragraphs.insert(rng.randint(0, len(paragraphs)), _steps(entity, kind.steps, slots, rng))
    for _ in range(rng.randint(*further(kind))):
        paragraphs.insert(rng.randint(0, len(paragraphs)), _mixed("Notes", [], prose, slots, rng))
    metadata = {"kind": kind.key, "date": _date(when, rng), **({"edition": when} if when else {})}
    title = fill(rng.choice(kind.titles), slots)
    if when and when not in title:
        title = f"{title}, {when}"
    return PageDraft(doc_id, title, metadata, tuple(paragraphs))


def _sections(
    directory: Directory, kind: PageKind, entity: Entity
) -> Iterator[tuple[str, Sequence[Relation]]]:
    """Yields the facts of a page under their headings, with at most two facts per paragraph."""
    stated = [relation for relation in kind.relations if directory.stated(entity, relation)]
    stated.sort(key=lambda relation: relation.section)
    for section, facts in groupby(stated, key=lambda relation: relation.section):
        rest = list(facts)
        while rest:
            yield section or "Details", rest[:FACTS_PER_PARAGRAPH]
            rest = rest[FACTS_PER_PARAGRAPH:]


def _stating(directory: Directory, entity: Entity, relation: Relation, when: str, slots: Slots) -> Sentence:
    value = directory.value(entity, relation, when)
    template = slots.rng.choice(relation.states)
    text = render(template, slots.rng, {"subject": entity.name, "value": value, "when": when})
    return Sentence(capital(text), Atom(relation.key, entity.name, value, when))


def _mixed(
    section: str, stated: Sequence[Sentence], prose: Iterator[str], slots: Slots, rng: Random
) -> PageParagraph:
    """Mixes facts into sentences of prose."""
    sentences = [Sentence(fill(next(prose), slots)) for _ in range(rng.randint(2, 4))]
    for sentence in stated:
        sentences.insert(rng.randint(0, len(sentences)), sentence)
    return PageParagraph(section, tuple(sentences))


def _steps(entity: Entity, templates: Sequence[str], slots: Slots, rng: Random) -> PageParagraph:
    stated = []
    for number, template in enumerate(rng.sample(templates, rng.randint(*STEPS)), 1):
        slots["number"] = str(number)
        text = fill(template, slots)
        stated.append(Sentence(text, Atom(STEP, entity.name, text, str(number))))
    return PageParagraph("Steps", tuple(stated))


def further(kind: PageKind) -> tuple[int, int]:
    """Returns the smallest and the largest number of paragraphs without facts on a page."""
    return (0, 1) if kind.relations else (2, 4)


def memo(directory: Directory, kind: PageKind, tier: int, number: int, paragraphs: int) -> PageDraft:
    """Makes a page of prose without facts."""
    doc_id = f"{kind.key}-{tier}-{number:05d}"
    rng = directory.rng("page", doc_id)
    slots = Slots(directory, tier, rng, subject=fill(rng.choice(kind.names), Slots(directory, tier, rng)))
    prose = iter(rng.sample(kind.prose, len(kind.prose)))
    written = tuple(_mixed("Text", [], prose, slots, rng) for _ in range(paragraphs))
    title = fill(rng.choice(kind.titles), slots)
    return PageDraft(doc_id, title, {"kind": kind.key, "date": _date("", rng)}, written)


def _date(when: str, rng: Random) -> str:
    year = when if when.isdigit() else str(rng.randint(YEARS_FROM, YEARS_TO))
    return f"{year}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"
