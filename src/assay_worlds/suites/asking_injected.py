"""Questions on what was injected: each is about one group of misleading pages."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from assay_worlds.suites.asked import WordedQuestion
from assay_worlds.template import capital, say
from assay_worlds.workplace import injections as injected
from assay_worlds.workplace import programs as program
from assay_worlds.workplace.injections import InjectedGroup

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
    """Makes questions from groups; each group is used once."""

    def __init__(self, groups: Sequence[InjectedGroup]) -> None:
        self._groups = {
            name: [group for group in groups if group.injector == name and group.named]
            for name in injected.BREAKS
        }
        self._texts = injected.injected_texts()

    def make(self, shape: str, rng: Random) -> WordedQuestion | None:
        """The next question of a shape; None where no group is left."""
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
        return WordedQuestion(capital(asked), program.AsOf(injected.RULE, group.atoms[0].subject, year))

    def _shelf(self, rng: Random) -> WordedQuestion:
        group = self._next("shelf")
        asked = say(rng, self._texts.buried_questions, **group.named)
        return WordedQuestion(capital(asked), program.Chain(group.named["subject"], (injected.SHELF,)))

    def _weigh(self, rng: Random) -> WordedQuestion | None:
        if len(self._groups[injected.BURIED]) < 2:
            return None
        a, b = (self._next("weigh").named["subject"] for _ in range(2))
        asked = say(rng, self._texts.weighed_questions, a=a, b=b)
        return WordedQuestion(capital(asked), program.Compare(injected.WEIGHT, (a, b)))

    def _readings(self, rng: Random) -> WordedQuestion:
        name = self._next("readings").named["name"]
        asked = say(rng, self._texts.collision_questions, name=name)
        return WordedQuestion(capital(asked), program.Readings(injected.EXTENSION, name))

    def _glossed(self, rng: Random) -> WordedQuestion:
        named = self._next("glossed").named
        asked = say(rng, self._texts.glossed_questions, **named)
        return WordedQuestion(capital(asked), program.Glossed(named["meaning"], named["office"]))
