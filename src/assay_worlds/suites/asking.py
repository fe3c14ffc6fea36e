"""Makes questions of all shapes about the organisation.

Each maker draws from the given random generator. It returns a question, or None if the draw gave no question.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache, cached_property, partial
from random import Random

from assay_worlds.suites.asked import (
    FactLookup,
    WordedQuestion,
    join_questions,
    list_in_words,
    word_open_question,
    word_question,
)
from assay_worlds.template import capital, expand, render, say
from assay_worlds.texts import TextEntry, read_texts
from assay_worlds.workplace import programs as program
from assay_worlds.workplace.directory import EVERYWHERE, YEARS, Directory, Entity, PageKind, Relation
from assay_worlds.workplace.facts import Facts

MANY, FEW = 25, (2, 6)  # sentences of a listing that may be too long for the budget; subjects of a short one
SHARED = 8  # subjects that have a value in common
COMPARED = (5, 6)  # subjects that are compared in every respect


class Wordings(TextEntry, frozen=True):
    """Wordings of questions that involve more than one relation."""

    for_which: tuple[str, ...]
    histories: tuple[str, ...]
    portraits: tuple[str, ...]
    step_by_step: tuple[str, ...]


@cache
def wordings() -> Wordings:
    return read_texts(Wordings, __package__, "wordings")


Maker = Callable[[Random, int], WordedQuestion | None]


class QuestionMaker:
    """Makes questions about the organisation from `facts`, which are the facts of the first stage."""

    def __init__(self, directory: Directory, facts: Facts) -> None:
        self.directory, self.facts, self.truth = directory, facts, FactLookup(directory)

    @cached_property
    def makers(self) -> dict[str, Maker]:
        """Returns the methods that make questions, by shape."""
        return {
            "unknown_name": self.unknown_name,
            "unknown_fact": self.unknown_fact,
            "unknown_name_detail": partial(self.unknown_name, detail=True),
            "unknown_fact_detail": partial(self.unknown_fact, detail=True),
            "listing": self.listing,
            "two_listings": self.two_listings,
            "join": self.join,
            "series": self.series,
            "history": self.history,
            "portraits": self.portraits,
            "mixed_portraits": self.mixed_portraits,
            "short_listing": self.short_listing,
            "steps": self.steps,
            "two_clauses": self.two_clauses,
            "change": self.change,
            "two_hops": self.two_hops,
            "three_hops": self.three_hops,
            "people_hops": self.people_hops,
            "compare": self.compare,
            "two_facts": self.two_facts,
            "two_topics": self.two_topics,
        }

    # ------------------------------------------------------------------------------- what there is

    @cached_property
    def plain(self) -> list[PageKind]:
        """The kinds that have one page per subject."""
        return [kind for kind in self.directory.kinds.values() if kind.relations and not kind.editions]

    @cached_property
    def relations(self) -> list[Relation]:
        return [relation for kind in self.plain for relation in kind.relations]

    def entity(self, kind: str, tier: int, rng: Random) -> Entity:
        """Draws an entity of a kind from the entities that a tier adds."""
        start = self.directory.upto(kind, tier - 1) if tier else 0
        return self.directory.every(kind)[rng.randrange(start, self.directory.upto(kind, tier))]

    def fresh(self, kind: str, rng: Random) -> str:
        """Returns a new name in the style of a kind. No entity has this name."""
        borne = {entity.name for entity in self.directory.every(kind)}
        while True:
            other = Directory(rng.getrandbits(30), self.directory.kinds, {kind: (1, 1, 1)})
            if (name := other.every(kind)[0].name) not in borne:
                return name

    # ---------------------------------------------------------------------------------- impossible

    def unknown_name(self, rng: Random, tier: int, *, detail: bool = False) -> WordedQuestion:
        """Asks about an entity that does not exist."""
        kinds = {"person", "service", "product", "project", "vendor", "customer"}
        relation = rng.choice([each for each in self._asked_for(detail) if each.kind in kinds])
        name = self.fresh(relation.kind, rng)
        return WordedQuestion(word_question(relation, rng, of=name), program.NoAnswer((relation.key, name)))

    def unknown_fact(self, rng: Random, tier: int, *, detail: bool = False) -> WordedQuestion:
        """Asks for a fact that no page states, about an existing entity."""
        relation, entity = rng.choice(self._unstated[detail])
        return WordedQuestion(
            word_question(relation, rng, of=entity.name), program.NoAnswer((relation.key, entity.name))
        )

    def _asked_for(self, detail: bool) -> list[Relation]:
        """Returns the relations to ask for.

        With `detail`, these are the relations with a drawn value. Otherwise they are the relations whose
        value is another entity.
        """
        return [each for each in self.relations if bool(each.gives) != detail]

    @cached_property
    def _unstated(self) -> dict[bool, list[tuple[Relation, Entity]]]:
        """The facts about entities of the first stage that no page states."""
        return {
            detail: [
                (relation, entity)
                for relation in self._asked_for(detail)
                for entity in self.directory.every(relation.kind)[: self.directory.upto(relation.kind, 0)]
                if not self.directory.stated(entity, relation)
            ]
            for detail in (False, True)
        }

    def listing(self, rng: Random, tier: int) -> WordedQuestion | None:
        """Asks for all subjects that have one of a few values."""
        relation = rng.choice([each for each in self.relations if each.listing])
        return self.listed(relation.key, expand(relation.listing, rng), "or", rng)

    def listed(self, relation: str, wording: str, between: str, rng: Random) -> WordedQuestion | None:
        """Fills a wording with one to three values. Several subjects share each value."""
        known, count = self.values(relation, SHARED), rng.randint(1, 3)
        if len(known) < count:
            return None
        chosen = rng.sample(known, count)
        parts = tuple(program.Listing(relation, value) for value in chosen)
        return WordedQuestion(
            capital(wording.format(value=list_in_words(chosen, between))), program.Conjunction(parts)
        )

    def two_listings(self, rng: Random, tier: int) -> WordedQuestion | None:
        """Asks for two lists of different kinds at once."""
        one, other = rng.sample([each for each in self.relations if each.listing], 2)
        if one.kind == other.kind:
            return None
        parts = [self.listed(each.key, expand(each.listing, rng), "or", rng) for each in (one, other)]
        known = [part for part in parts if part is not None]
        if len(known) < 2:
            return None
        text = join_questions(*(part.text for part in known))
        return WordedQuestion(text, program.Conjunction(tuple(part.program for part in known)))

    def short_listing(self, rng: Random, tier: int) -> WordedQuestion | None:
        """Asks for all subjects with a value that only few subjects have."""
        relation = rng.choice([each for each in self.relations if each.listing and each.gives])
        values = self.values(relation.key, *FEW)
        if not values:
            return None
        value = rng.choice(values)
        text = capital(render(relation.listing, rng, {"value": value}))
        return WordedQuestion(text, program.Listing(relation.key, value))

    def values(self, relation: str, least: int = 1, most: int | None = None) -> list[str]:
        """Returns the values that at least `least` and at most `most` subjects of the first stage share."""
        times = Counter(atom.value for atom in self.facts.all(relation))
        return [value for value, count in times.items() if least <= count and (most is None or count <= most)]

    def join(self, rng: Random, tier: int) -> WordedQuestion | None:
        """Asks for all subjects whose related entity has one of a few values."""
        outer = rng.choice([each for each in self.relations if each.gives and each.phrase])
        inner = [each for each in self._from(outer.gives) if each.listing and each.gives != outer.gives]
        kind = self.directory.kinds[outer.kind]
        if not inner or kind.key == outer.gives:
            return None
        chosen = rng.choice(inner)
        phrase = chosen.phrase.format(of=outer.phrase.format(of=f"the {kind.noun[0]}"))
        wording = rng.choice(wordings().for_which).format(kinds=kind.noun[1], phrase=phrase, value="{value}")
        return self.joined(outer.key, chosen.key, wording, rng)

    def joined(self, outer: str, inner: str, wording: str, rng: Random) -> WordedQuestion | None:
        """Fills a wording with one to three values of a related entity."""
        chosen = rng.sample(self.values(inner), rng.randint(1, 3))
        wanted = program.Conjunction(tuple(program.Join(outer, inner, value) for value in chosen))
        derived = wanted.derive(self.facts)
        if derived is None or len(derived.atoms) < MANY:
            return None
        return WordedQuestion(capital(wording.format(value=list_in_words(chosen, "or"))), wanted)

    def series(self, rng: Random, tier: int) -> WordedQuestion | None:
        """Asks for a value at every office, in two editions."""
        kind = self.directory.kinds["policy"]
        first = [entity.name for entity in self.directory.every("policy")[: self.directory.upto("policy", 0)]]
        topics = [name for name, times in Counter(map(_topic, first)).items() if times > EVERYWHERE]
        relation, topic = rng.choice([each for each in kind.relations if not each.gives]), rng.choice(topics)
        before, after = sorted(rng.sample(YEARS, 2))
        of, when = f"{topic} at every single office", f"{before}, and in {after}"
        parts = tuple(program.Series(relation.key, topic, year) for year in (before, after))
        text = word_open_question(relation, rng, of=of, when=when)
        return None if text is None else WordedQuestion(text, program.Conjunction(parts))

    def history(self, rng: Random, tier: int) -> WordedQuestion:
        """Asks for all rules of a policy, year by year."""
        name = self.entity("policy", tier, rng).name
        return WordedQuestion(capital(say(rng, wordings().histories, of=name)), program.History(name))

    def portraits(self, rng: Random, tier: int) -> WordedQuestion:
        """Asks for everything about several subjects."""
        kind = rng.choice([kind for kind in self.plain if len(kind.relations) > 4])
        chosen, listed = self.some_of(kind.key, COMPARED, rng)
        text = say(rng, wordings().portraits, kinds=kind.noun[1], names=listed)
        return WordedQuestion(capital(text), program.Portraits(chosen))

    def mixed_portraits(self, rng: Random, tier: int) -> WordedQuestion:
        """Asks for everything about subjects of two kinds."""
        one, other = rng.sample([kind for kind in self.plain if len(kind.relations) > 4], 2)
        chosen = [name for kind in (one, other) for name in self.some_of(kind.key, (3, 3), rng)[0]]
        kinds = f"{one.noun[1]} and {other.noun[1]}"
        text = say(rng, wordings().portraits, kinds=kinds, names=list_in_words(chosen, "and"))
        return WordedQuestion(capital(text), program.Portraits(tuple(chosen)))

    def some_of(self, kind: str, count: tuple[int, int], rng: Random) -> tuple[tuple[str, ...], str]:
        """Draws a few entities of the first stage. Returns their names, also as a list in words."""
        known = self.directory.every(kind)[: self.directory.upto(kind, 0)]
        chosen = tuple(entity.name for entity in rng.sample(known, rng.randint(*count)))
        return chosen, list_in_words(chosen, "and")

    # ------------------------------------------------------------------------------------ possible

    def steps(self, rng: Random, tier: int) -> WordedQuestion:
        name = self.entity("procedure", tier, rng).name
        return WordedQuestion(capital(say(rng, wordings().step_by_step, of=name)), program.Steps(name))

    def two_clauses(self, rng: Random, tier: int) -> WordedQuestion | None:
        """Asks for two clauses of one edition of a policy."""
        entity, when = self.entity("policy", tier, rng), rng.choice(YEARS)
        pair = rng.sample(self.directory.kinds["policy"].relations, 2)
        if not all(self.directory.stated(entity, each) for each in pair):
            return None
        texts = [word_question(each, rng, "natural", of=entity.name, when=when) for each in pair]
        chains = tuple(program.Chain(entity.name, (each.key,), when) for each in pair)
        return WordedQuestion(join_questions(*texts), program.Conjunction(chains))

    def change(self, rng: Random, tier: int) -> WordedQuestion | None:
        """Asks for the value of a setting before and after a change."""
        entity = self.entity("release", tier, rng)
        relation = rng.choice(self.directory.kinds["release"].relations)
        before, after = rng.sample(self.directory.editions(entity), 2)
        if not self._changed(entity, relation, before, after):
            return None
        text = (
            f"{word_question(relation, rng, of=entity.name, when=before).rstrip('?')}, and what in {after}?"
        )
        return WordedQuestion(text, program.ValueChange(relation.key, entity.name, before, after))

    def _changed(self, entity: Entity, relation: Relation, before: str, after: str) -> bool:
        values = {self.directory.value(entity, relation, when) for when in (before, after)}
        return self.directory.stated(entity, relation) and len(values) == 2

    def two_hops(self, rng: Random, tier: int) -> WordedQuestion | None:
        return self._chain(rng, tier, 2)

    def three_hops(self, rng: Random, tier: int) -> WordedQuestion | None:
        return self._chain(rng, tier, 3)

    def _chain(self, rng: Random, tier: int, hops: int) -> WordedQuestion | None:
        """Draws a chain of relations over several kinds that ends with a value, and asks for that value."""
        way = [rng.choice([each for each in self.relations if each.gives and each.phrase])]
        while len(way) < hops:
            last = len(way) == hops - 1
            on = [each for each in self._from(way[-1].gives) if last != bool(each.gives) and each not in way]
            on = [each for each in on if last or each.phrase]
            if not on:
                return None
            way.append(rng.choice(on))
        kinds = {relation.kind for relation in way}
        subject = self.entity(way[0].kind, tier, rng).name
        return self.chained(subject, tuple(way), rng) if len(kinds) > 1 else None

    def _from(self, kind: str) -> list[Relation]:
        return [each for each in self.relations if each.kind == kind]

    def chained(self, subject: str, way: tuple[Relation, ...], rng: Random) -> WordedQuestion | None:
        """Words a chain of relations as a question, if pages state every link of the chain."""
        if self.truth.ends(subject, way) is None:
            return None
        of = subject
        for relation in way[:-1]:
            of = relation.phrase.format(of=of)
        return WordedQuestion(
            word_question(way[-1], rng, of=of), program.Chain(subject, tuple(each.key for each in way))
        )

    def people_hops(self, rng: Random, tier: int) -> WordedQuestion | None:
        links = [each for each in self._from("person") if each.gives == "person" and each.phrase]
        ends = [each for each in self._from("person") if not each.gives]
        way = (*rng.sample(links, 2), rng.choice(ends))
        return self.chained(self.entity("person", tier, rng).name, way, rng)

    def compare(self, rng: Random, tier: int) -> WordedQuestion | None:
        """Asks which of two subjects has the larger value."""
        relation = rng.choice([each for each in self.relations if each.compare])
        kind = relation.kind
        a, b = (self.entity(kind, tier, rng).name for _ in range(2))
        wanted = program.LargerOfTwo(relation.key, (a, b))
        if a == b or wanted.derive(self.facts) is None:
            return None
        return WordedQuestion(capital(render(relation.compare, rng, {"a": a, "b": b})), wanted)

    def two_facts(self, rng: Random, tier: int) -> WordedQuestion | None:
        """Asks for two values of one subject."""
        kind = rng.choice(["service", "vendor", "asset", "incident", "customer"])
        entity = self.entity(kind, tier, rng)
        pair = rng.sample([each for each in self._from(kind) if not each.gives], 2)
        if not all(self.directory.stated(entity, each) for each in pair):
            return None
        texts = [word_question(each, rng, "natural", of=entity.name) for each in pair]
        chains = tuple(program.Chain(entity.name, (each.key,)) for each in pair)
        return WordedQuestion(join_questions(*texts), program.Conjunction(chains))

    def two_topics(self, rng: Random, tier: int) -> WordedQuestion | None:
        """Asks for the values of the same rule in two policies."""
        relation, when = rng.choice(self.directory.kinds["policy"].relations), rng.choice(YEARS)
        one, other = (self.entity("policy", tier, rng) for _ in range(2))
        if one == other or not all(self.directory.stated(each, relation) for each in (one, other)):
            return None
        of = f"{one.name}, and for {other.name}"
        chains = tuple(program.Chain(each.name, (relation.key,), when) for each in (one, other))
        text = word_open_question(relation, rng, of=of, when=when)
        return None if text is None else WordedQuestion(text, program.Conjunction(chains))


def _topic(name: str) -> str:
    return name.partition(" at the ")[0]
