"""The entities of the organisation, by kind, and their facts, which are computed on demand.

Entities come in tiers, one tier per corpus stage. Facts about an entity refer only to entities of the same
tier or an earlier tier, so that a chain of facts never leaves the corpus.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache, cached_property, lru_cache
from itertools import islice
from random import Random
from typing import NamedTuple

from assay_worlds.template import capital, expand
from assay_worlds.texts import TextEntry, read_texts
from assay_worlds.workplace import names

FIRST_OFFICES, MORE_OFFICES = 14, 28  # up to the first tier and the second; the third has all
YEARS = tuple(str(year) for year in range(2018, 2026))
VERSIONS = 6  # versions of each product with release notes
CHANGED = 0.4  # the share of values that differ from the edition before
UNSTATED = 0.03  # the share of facts that no page states
EVERYWHERE = 3  # topics that every office of the first tier has a policy on
TERMS = 6000  # words that only this organisation uses


class Entity(NamedTuple):
    """A person or thing with a name."""

    kind: str
    name: str
    tier: int
    number: int


class Directory:
    """The organisation. `counts` has the number of entities of each kind up to each tier."""

    def __init__(
        self, seed: int, kinds: Mapping[str, PageKind], counts: Mapping[str, tuple[int, int, int]]
    ) -> None:
        self.seed, self.kinds = seed, kinds
        self._counts = {**counts, "office": (FIRST_OFFICES, MORE_OFFICES, len(names.towns()))}
        self.relation = {relation.key: relation for kind in kinds.values() for relation in kind.relations}
        self._known: dict[str, list[Entity]] = {}

    def rng(self, *path: object) -> Random:
        """Returns a random generator for one part of the organisation. Parts do not influence each other."""
        return Random("/".join(map(str, (self.seed, *path))))

    def every(self, kind: str) -> list[Entity]:
        """Returns all entities of a kind. The entities of the first tier come first."""
        if kind not in self._known:
            bounds = self._counts[kind]
            named = list(islice(self._names(kind), bounds[-1]))
            tiers = (sum(number >= bound for bound in bounds) for number in range(bounds[-1]))
            found = (Entity(kind, *each) for each in zip(named, tiers, range(bounds[-1]), strict=True))
            self._known[kind] = list(found)
        return self._known[kind]

    def upto(self, kind: str, tier: int) -> int:
        """Returns the number of entities of a kind up to a tier."""
        self.every(kind)
        return self._counts[kind][tier]

    def some(self, kind: str, tier: int, rng: Random) -> Entity:
        """Draws an entity of a kind from the tiers up to `tier`."""
        return self.every(kind)[rng.randrange(self.upto(kind, tier))]

    @cached_property
    def terms(self) -> list[str]:
        """The words that only this organisation uses. Common words come first."""
        return list(islice(names.words(self.rng("terms"), 2), TERMS))

    def term(self, rng: Random) -> str:
        """Draws a word of the organisation. A few words are frequent, most words are rare."""
        return self.terms[min(int(rng.paretovariate(0.35)) - 1, TERMS - 1)]

    # ------------------------------------------------------------------------------------ names

    def _names(self, kind: str) -> Iterator[str]:
        rng, parts = self.rng("names", kind), names.parts()
        makers: dict[str, Callable[[Random], Iterator[str]]] = {
            "person": names.person_names,
            "office": lambda _: iter(names.towns()),
            "team": lambda rng: (
                f"{rng.choice(parts.team_functions)} {capital(each)}" for each in names.words(rng)
            ),
            "service": lambda rng: (f"{each}-{rng.choice(parts.service_forms)}" for each in names.words(rng)),
            "product": lambda rng: map(capital, names.words(rng)),
            "project": lambda rng: (f"Project {capital(each)}" for each in names.words(rng)),
            "vendor": lambda rng: (
                f"{each} {rng.choice(parts.vendor_forms)}" for each in names.surnames(rng)
            ),
            "customer": lambda rng: (
                f"{capital(each)} {rng.choice(parts.customer_forms)}" for each in names.words(rng)
            ),
            "asset": _asset_names,
            "incident": _incident_names,
            "release": lambda _: (entity.name for entity in self.every("product")),
            "policy": lambda rng: self._at_offices("policy", rng),
            "procedure": lambda rng: self._at_offices("procedure", rng),
        }
        made = makers[kind](rng) if kind in makers else self._from_patterns(kind, rng)
        return _distinct(made)

    def _at_offices(self, kind: str, rng: Random) -> Iterator[str]:
        """Yields names of topics at offices. The first topics are at every office of the first tier."""
        topics = [expand(pattern, rng) for pattern in self.kinds[kind].names]
        towns = [office.name for office in self.every("office")]
        for topic in topics[:EVERYWHERE]:
            yield from (f"{topic} at the {town} office" for town in towns[:FIRST_OFFICES])
        for bound in self._counts["office"]:  # an office of a later tier is in no page of an earlier one
            pairs = [(topic, town) for topic in topics for town in towns[:bound]]
            rng.shuffle(pairs)
            yield from (f"{topic} at the {town} office" for topic, town in pairs)

    def _from_patterns(self, kind: str, rng: Random) -> Iterator[str]:
        patterns, rare = self.kinds[kind].names, names.words(rng)
        while True:
            found = expand(rng.choice(patterns), rng)
            yield f"{found} {capital(next(rare))}"

    # ------------------------------------------------------------------------------------ facts

    def editions(self, entity: Entity) -> tuple[str, ...]:
        """Returns the years or versions of an entity's pages; one empty name if there is only one page."""
        if not self.kinds[entity.kind].editions:
            return ("",)
        return YEARS if entity.kind == "policy" else self._versions(entity.name)

    @lru_cache(maxsize=65536)  # noqa: B019 (a directory lives as long as its corpus is written)
    def _versions(self, name: str) -> tuple[str, ...]:
        major, rng = 1 + len(name) % 5, self.rng("versions", name)
        found = []
        for minor in range(VERSIONS):
            found.append(f"{major}.{minor + rng.randint(0, 1) * (minor > 0)}")
            if minor == 3:
                major += 1
        return tuple(dict.fromkeys(found))

    def value(self, entity: Entity, relation: Relation, when: str = "") -> str:
        """Returns the value of a relation for an entity."""
        if not when:
            return self._drawn(entity, relation, 0)
        place = self.editions(entity).index(when)
        rng = self.rng("changes", relation.key, entity.name)
        changes = [rng.random() < CHANGED for _ in range(place)]
        return self._drawn(entity, relation, sum(changes))

    def _drawn(self, entity: Entity, relation: Relation, lap: int) -> str:
        """Returns the value after `lap` changes. Consecutive values differ."""
        values: list[str] = []
        for turn in range(lap + 1):
            rng, tries = self.rng("value", relation.key, entity.name, turn), 0
            found = self._once(entity, relation, rng)
            while found in (entity.name, *values[-1:]) and tries < 20:
                found, tries = self._once(entity, relation, rng), tries + 1
            values.append(found)
        return values[-1]

    def _once(self, entity: Entity, relation: Relation, rng: Random) -> str:
        if relation.gives:
            return self.some(relation.gives, entity.tier, rng).name
        return expand(relation.value, rng)

    def stated(self, entity: Entity, relation: Relation) -> bool:
        """Whether a page states the relation. Facts that no page states make unanswerable questions."""
        return self.rng("stated", relation.key, entity.name).random() >= UNSTATED


def _asset_names(rng: Random) -> Iterator[str]:
    while True:
        yield f"{rng.choice(names.parts().asset_prefixes)}-{rng.randint(1000, 99999)}"


def _incident_names(rng: Random) -> Iterator[str]:
    while True:
        yield f"INC-{rng.randint(2018, 2025)}-{rng.randint(1000, 9999)}"


def _distinct(made: Iterator[str]) -> Iterator[str]:
    seen: set[str] = set()
    for name in made:
        if name not in seen:
            seen.add(name)
            yield name


# The order decides which questions are drawn.
KEYS = (
    *("person", "team", "service", "product", "project", "vendor", "customer", "policy", "procedure"),
    *("release", "incident", "asset", "course", "site", "committee", "minutes", "memo", "thread"),
)
FILL = "memo"  # the kind of page that fills the remaining room


class Relation(TextEntry, frozen=True):
    """A relation of a subject to a value or to another entity.

    Each sentence can be understood without its page's title. Every one of `states` names {subject} and
    {value}, and also {when} if the kind has editions. Questions name the subject as {of}. This is a name or,
    in a chain, a phrase such as "the owner of Kestrel". `natural` uses some of the words of `states`.
    `paraphrase` uses as few of them as possible, like a person who does not know the company's terms.
    """

    key: str  # "service.region": the kind, then the relation
    states: tuple[str, ...]
    keyword: str
    natural: tuple[str, ...]
    paraphrase: tuple[str, ...]
    gives: str = ""  # the kind of entity that the value is; empty: `value` is drawn
    value: str = ""  # a template
    phrase: str = ""  # "the owner of {of}": with it, a chain can continue from the value
    listing: str = ""  # "Which services run in {value}?": asks for every subject of a value
    compare: str = ""  # "Which runs longer, {a} or {b}?": asks for the one with the larger number
    section: str = ""  # the heading above its sentence

    @property
    def kind(self) -> str:
        """The kind of the relation's subject."""
        return self.key.partition(".")[0]


class PageKind(TextEntry, frozen=True):
    """A kind of page. Each page is about one subject and states its relations, between sentences of prose."""

    key: str
    noun: tuple[str, str]  # singular, plural: "service", "services"
    titles: tuple[str, ...]  # with {subject}
    prose: tuple[str, ...]
    relations: tuple[Relation, ...] = ()
    names: tuple[str, ...] = ()  # templates of subjects' names, if the organisation has no names of its own
    steps: tuple[str, ...] = ()  # sentences, of which several make a paragraph: what to do, in order
    editions: bool = False  # whether there is a page per edition (year or version), with different values


@cache
def kinds() -> dict[str, PageKind]:
    """Reads all kinds of pages, by key."""
    return {key: read_texts(PageKind, __package__, key) for key in KEYS}
