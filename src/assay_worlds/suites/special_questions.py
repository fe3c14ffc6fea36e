"""Makes hand-worded questions, and questions on pages that were injected to mislead."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from random import Random

from assay_worlds.suites.asked import WordedQuestion
from assay_worlds.suites.asking import COMPARED, QuestionMaker
from assay_worlds.template import capital, say
from assay_worlds.texts import TextEntry, read_texts
from assay_worlds.workplace import injections as injected
from assay_worlds.workplace import programs as program
from assay_worlds.workplace.directory import YEARS
from assay_worlds.workplace.injections import InjectedGroup


class HandWording(TextEntry, frozen=True):
    """A wording that was written by hand, and the relations it asks for."""

    text: str
    relations: tuple[str, ...] = ()


@cache
def by_hand() -> dict[str, tuple[HandWording, ...]]:
    """Reads the hand-written wordings, by shape."""
    return read_texts(dict[str, tuple[HandWording, ...]], __package__, "by_hand")


class HandQuestionMaker:
    """Fills hand-written wordings with names. Each wording is used once."""

    def __init__(self, asking: QuestionMaker) -> None:
        self._asking = asking
        self._left = {shape: list(wordings) for shape, wordings in by_hand().items()}
        self._tried: str | None = None

    def make(self, shape: str, rng: Random, tier: int) -> WordedQuestion | None:
        """Fills the next wording of a shape with names that are drawn."""
        self._tried = shape
        hand = self._left[shape][0]
        return {
            "steps": self._steps,
            "two_clauses": self._two_clauses,
            "change": self._change,
            "two_hops": self._chain,
            "three_hops": self._chain,
            "compare": self._compare,
            "unknown": self._unknown,
            "listing": self._listing,
            "join": self._join,
            "history": self._history,
            "portraits": self._portraits,
        }[shape](hand, rng, tier)

    def settle(self) -> None:
        """Marks the last wording as used."""
        if self._tried is not None:
            self._left[self._tried].pop(0)
            self._tried = None

    def _steps(self, hand: HandWording, rng: Random, tier: int) -> WordedQuestion:
        name = self._asking.entity("procedure", tier, rng).name
        return WordedQuestion(capital(hand.text.format(of=name)), program.Steps(name))

    def _two_clauses(self, hand: HandWording, rng: Random, tier: int) -> WordedQuestion:
        name, when = self._asking.entity("policy", tier, rng).name, rng.choice(YEARS)
        parts = tuple(program.Chain(name, (relation,), when) for relation in hand.relations)
        return WordedQuestion(capital(hand.text.format(of=name, when=when)), program.Conjunction(parts))

    def _change(self, hand: HandWording, rng: Random, tier: int) -> WordedQuestion:
        entity = self._asking.entity("release", tier, rng)
        editions = self._asking.directory.editions(entity)
        before, after = sorted(rng.sample(range(len(editions)), 2))
        when, then = editions[before], editions[after]
        text = hand.text.format(of=entity.name, when=when, then=then)
        return WordedQuestion(capital(text), program.ValueChange(hand.relations[0], entity.name, when, then))

    def _chain(self, hand: HandWording, rng: Random, tier: int) -> WordedQuestion:
        name = self._asking.entity(hand.relations[0].partition(".")[0], tier, rng).name
        return WordedQuestion(capital(hand.text.format(of=name)), program.Chain(name, hand.relations))

    def _compare(self, hand: HandWording, rng: Random, tier: int) -> WordedQuestion:
        kind = hand.relations[0].partition(".")[0]
        a, b = (self._asking.entity(kind, tier, rng).name for _ in range(2))
        return WordedQuestion(
            capital(hand.text.format(a=a, b=b)), program.LargerOfTwo(hand.relations[0], (a, b))
        )

    def _unknown(self, hand: HandWording, rng: Random, tier: int) -> WordedQuestion:
        return WordedQuestion(hand.text, program.NoAnswer((hand.text,)))

    def _listing(self, hand: HandWording, rng: Random, tier: int) -> WordedQuestion | None:
        return self._asking.listed(hand.relations[0], hand.text, "and", rng)

    def _join(self, hand: HandWording, rng: Random, tier: int) -> WordedQuestion | None:
        outer, inner = hand.relations
        return self._asking.joined(outer, inner, hand.text, rng)

    def _history(self, hand: HandWording, rng: Random, tier: int) -> WordedQuestion:
        name = self._asking.entity("policy", tier, rng).name
        return WordedQuestion(capital(hand.text.format(of=name)), program.History(name))

    def _portraits(self, hand: HandWording, rng: Random, tier: int) -> WordedQuestion:
        chosen, listed = self._asking.some_of(rng.choice(["service", "vendor", "customer"]), COMPARED, rng)
        return WordedQuestion(capital(hand.text.format(names=listed)), program.Portraits(chosen))


_GAP_YEARS = ("2019", "2021", "2023", "2025")  # between two versions, so that no version names them
OF = {
    "loan": injected.NEAR_DUPLICATE,
    "as_of": injected.CONTRADICTION,
    "shelf": injected.BURIED,
    "weigh": injected.BURIED,
    "readings": injected.COLLISION,
    "glossed": injected.SYNONYM,
}


class InjectedQuestionMaker:
    """Makes questions from groups of injected pages. Each group is used once."""

    def __init__(self, groups: Sequence[InjectedGroup]) -> None:
        self._groups = {
            name: [group for group in groups if group.injector == name and group.named]
            for name in injected.BREAKS
        }
        self._texts = injected.injected_texts()

    def make(self, shape: str, rng: Random) -> WordedQuestion | None:
        """Returns the next question of a shape, or None if no group is left."""
        if not self._groups[OF[shape]]:
            return None
        return {
            "loan": self._loan,
            "as_of": self._as_of,
            "shelf": self._shelf,
            "weigh": self._weigh,
            "readings": self._readings,
            "glossed": self._glossed,
        }[shape](rng)

    def _next(self, shape: str) -> InjectedGroup:
        return self._groups[OF[shape]].pop(0)

    def _loan(self, rng: Random) -> WordedQuestion:
        group = self._next("loan")
        atom, letter = rng.choice(list(zip(group.atoms, self._texts.letters, strict=True)))
        asked = say(rng, self._texts.loan_questions, letter=letter, **group.named)
        return WordedQuestion(capital(asked), program.Chain(atom.subject, (atom.relation,)))

    def _as_of(self, rng: Random) -> WordedQuestion:
        group = self._next("as_of")
        year = rng.choice(_GAP_YEARS)
        asked = say(rng, self._texts.version_questions, year=year, **group.named)
        return WordedQuestion(capital(asked), program.ValueAsOf(injected.RULE, group.atoms[0].subject, year))

    def _shelf(self, rng: Random) -> WordedQuestion:
        group = self._next("shelf")
        asked = say(rng, self._texts.buried_questions, **group.named)
        return WordedQuestion(capital(asked), program.Chain(group.named["subject"], (injected.SHELF,)))

    def _weigh(self, rng: Random) -> WordedQuestion | None:
        if len(self._groups[injected.BURIED]) < 2:
            return None
        a, b = (self._next("weigh").named["subject"] for _ in range(2))
        asked = say(rng, self._texts.weighed_questions, a=a, b=b)
        return WordedQuestion(capital(asked), program.LargerOfTwo(injected.WEIGHT, (a, b)))

    def _readings(self, rng: Random) -> WordedQuestion:
        name = self._next("readings").named["name"]
        asked = say(rng, self._texts.collision_questions, name=name)
        return WordedQuestion(capital(asked), program.Readings(injected.EXTENSION, name))

    def _glossed(self, rng: Random) -> WordedQuestion:
        named = self._next("glossed").named
        asked = say(rng, self._texts.glossed_questions, **named)
        return WordedQuestion(capital(asked), program.GlossedTerm(named["meaning"], named["office"]))
