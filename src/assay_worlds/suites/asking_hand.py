"""Questions in words written by hand: each wording is used once, the name it is about is drawn."""

from __future__ import annotations

from functools import cache
from random import Random

from assay_worlds.suites.asked import WordedQuestion
from assay_worlds.suites.asking import COMPARED, QuestionMaker
from assay_worlds.template import capital
from assay_worlds.texts import TextEntry, read_texts
from assay_worlds.workplace import programs as program
from assay_worlds.workplace.directory import YEARS


class Hand(TextEntry, frozen=True):
    """One wording, and the relations it asks by."""

    text: str
    relations: tuple[str, ...] = ()


@cache
def by_hand() -> dict[str, tuple[Hand, ...]]:
    """The wordings of each shape."""
    return read_texts(dict[str, tuple[Hand, ...]], __package__, "by_hand")


class HandQuestionMaker:
    """Fills wordings with names until they fit; the next wording follows once one is settled."""

    def __init__(self, asking: QuestionMaker) -> None:
        self._asking = asking
        self._left = {shape: list(wordings) for shape, wordings in by_hand().items()}
        self._tried: str | None = None

    def make(self, shape: str, rng: Random, tier: int) -> WordedQuestion | None:
        """The next wording of a shape, about somebody."""
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
        """The wording tried last was taken."""
        if self._tried is not None:
            self._left[self._tried].pop(0)
            self._tried = None

    def _steps(self, hand: Hand, rng: Random, tier: int) -> WordedQuestion:
        name = self._asking.entity("procedure", tier, rng).name
        return WordedQuestion(capital(hand.text.format(of=name)), program.Steps(name))

    def _two_clauses(self, hand: Hand, rng: Random, tier: int) -> WordedQuestion:
        name, when = self._asking.entity("policy", tier, rng).name, rng.choice(YEARS)
        parts = tuple(program.Chain(name, (relation,), when) for relation in hand.relations)
        return WordedQuestion(capital(hand.text.format(of=name, when=when)), program.Together(parts))

    def _change(self, hand: Hand, rng: Random, tier: int) -> WordedQuestion:
        entity = self._asking.entity("release", tier, rng)
        editions = self._asking.directory.editions(entity)
        before, after = sorted(rng.sample(range(len(editions)), 2))
        when, then = editions[before], editions[after]
        text = hand.text.format(of=entity.name, when=when, then=then)
        return WordedQuestion(capital(text), program.Change(hand.relations[0], entity.name, when, then))

    def _chain(self, hand: Hand, rng: Random, tier: int) -> WordedQuestion:
        name = self._asking.entity(hand.relations[0].partition(".")[0], tier, rng).name
        return WordedQuestion(capital(hand.text.format(of=name)), program.Chain(name, hand.relations))

    def _compare(self, hand: Hand, rng: Random, tier: int) -> WordedQuestion:
        kind = hand.relations[0].partition(".")[0]
        a, b = (self._asking.entity(kind, tier, rng).name for _ in range(2))
        return WordedQuestion(capital(hand.text.format(a=a, b=b)), program.Compare(hand.relations[0], (a, b)))

    def _unknown(self, hand: Hand, rng: Random, tier: int) -> WordedQuestion:
        return WordedQuestion(hand.text, program.Absent((hand.text,)))

    def _listing(self, hand: Hand, rng: Random, tier: int) -> WordedQuestion | None:
        return self._asking.listed(hand.relations[0], hand.text, "and", rng)

    def _join(self, hand: Hand, rng: Random, tier: int) -> WordedQuestion | None:
        outer, inner = hand.relations
        return self._asking.joined(outer, inner, hand.text, rng)

    def _history(self, hand: Hand, rng: Random, tier: int) -> WordedQuestion:
        name = self._asking.entity("policy", tier, rng).name
        return WordedQuestion(capital(hand.text.format(of=name)), program.History(name))

    def _portraits(self, hand: Hand, rng: Random, tier: int) -> WordedQuestion:
        chosen, listed = self._asking.some_of(rng.choice(["service", "vendor", "customer"]), COMPARED, rng)
        return WordedQuestion(capital(hand.text.format(names=listed)), program.Portraits(chosen))
