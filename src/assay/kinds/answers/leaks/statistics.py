"""Whether anything about ids, order or export goes with the condition, beyond what chance does.

Conditions are dealt out again and again among the responses to each question, as if the labels had been drawn
from a hat. What holds of the true labels must not stand out among those deals. Many figures are looked at
together: the largest of them all is compared with the largest of each deal, so that one clean pack in a
thousand gives an alarm, however much is looked at. Seeded: the same pack gives the same answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from assay.kinds.answers.blinding.ids import ID_CHARACTERS
from assay.kinds.answers.blinding.pack import BlindPack, SealedMap

if TYPE_CHECKING:
    from assay.core.protocols import Floats

DEALS = 1023
ALARM = 0.001  # how rarely a clean pack may stand out
FOLDS = 5
CLOSE = 1e-5  # figures that differ by less are equal: a deal that repeats the truth must count as it
RIDGE = 0.1  # the penalty, as a share of the number of responses

_FORM = (
    r"^#{1,6} ",
    r"^\s*[-*+] ",
    r"^\s*\d+[.)] ",
    r"\*\*",
    r"`",
    r"\]\(",
    r"\n\n",
    r"\|",
    r"\[the document\]",
    r"\[(?:format|tag|a part of the page)\]",
    r"[\u00a0\u200b-\u200d\ufeff]",
    r"\s\Z",
)


def condition_of(arm: str) -> str:
    """The system of an arm: what raters must not know."""
    return arm.partition("[")[0]


@dataclass(frozen=True, eq=False)
class LabelPermutations:
    """Which responses are of a condition: the truth in the first row, then the deals; a table a condition."""

    tables: Sequence[Floats]
    groups: Sequence[int]  # the question of each response

    @classmethod
    def of(cls, questions: Sequence[str], conditions: Sequence[str]) -> LabelPermutations:
        """Labels dealt out within each question; among all, where no question has two conditions."""
        names = {name: number for number, name in enumerate(sorted(set(conditions)))}
        labels = np.array([names[each] for each in conditions], dtype=np.int64)
        places = {name: number for number, name in enumerate(sorted(set(questions)))}
        groups = np.array([places[each] for each in questions], dtype=np.int64)
        if len(set(zip(questions, conditions, strict=True))) == len(places):
            groups = np.zeros_like(groups)
        rng = np.random.default_rng(0)
        slots = np.argsort(groups, kind="stable")
        dealt = np.empty((DEALS + 1, len(labels)), dtype=np.int64)
        dealt[0] = labels
        dealt[1:, slots] = labels[np.argsort(groups + rng.random((DEALS, len(labels))), axis=1)]
        asked = list(names.values())[:1] if len(names) == 2 else list(names.values())
        return cls([(dealt == each).astype(np.float32) for each in asked], groups.tolist())

    def alarms(self, figures: Mapping[str, Sequence[Floats]]) -> list[str]:
        """The names whose figures stand out; each figure has a value a row of the tables."""
        spread = {
            name: np.max([_deviations(each) for each in some], axis=0)
            for name, some in figures.items()
            if some
        }
        if not spread:
            return []
        largest = np.max(list(spread.values()), axis=0)
        rank = np.mean(
            largest[None, :] >= np.array([each[0] for each in spread.values()])[:, None] - 1e-9, axis=1
        )
        return [name for name, share in zip(spread, rank, strict=True) if share <= ALARM]

    def with_values(self, values: Floats, at: Sequence[int] | None = None) -> list[Floats]:
        """How far each condition's responses have the larger values."""
        ranked = np.zeros(len(self.groups), dtype=np.float32)  # 0, the middle rank, for whatever has no value
        ranked[np.arange(len(values)) if at is None else np.asarray(at)] = _ranks(values)
        return [table @ ranked for table in self.tables]

    def in_sequence(self, at: Sequence[int]) -> list[Floats]:
        """Whether a sequence, given as places of responses, goes with the condition.

        By who is in it, who stands early or late, and how often the condition changes from one to the next.
        """
        there = np.zeros(len(self.groups))
        there[np.asarray(at)] = 1.0
        changes = [
            (np.diff(table[:, np.asarray(at)], axis=1) != 0).sum(axis=1).astype(float)
            for table in self.tables
        ]
        return [*self.with_values(there), *self.with_values(np.arange(len(at), dtype=float), at), *changes]


def _deviations(figure: Floats) -> Floats:
    deviation = figure.std()
    return np.abs(figure - figure.mean()) / deviation if deviation > 1e-12 else np.zeros_like(figure)


def _ranks(values: Floats) -> Floats:
    from scipy.stats import rankdata

    ranks: Floats = np.asarray(rankdata(values), dtype=np.float64)
    centred: Floats = ranks - ranks.mean()
    return centred


# ------------------------------------------------------------------------------------ a classifier


class Guess(NamedTuple):
    """How well conditions can be told from some features, on responses that were left out of learning."""

    auc: float  # 0.5: not at all
    p: float  # how often chance does as well

    @property
    def beats_chance(self) -> bool:
        return self.p <= ALARM


def guess_conditions(deals: LabelPermutations, features: Floats) -> Guess:
    """A ridge classifier, learnt on four fifths of the questions, tried on the fifth: for truth and deals."""
    folds = np.asarray(deals.groups if len(set(deals.groups)) > 1 else range(len(features))) % FOLDS
    parts = [np.flatnonzero(folds == fold) for fold in range(FOLDS)]
    spread = features.std(axis=0)
    scaled = ((features - features.mean(axis=0)) / np.where(spread > 1e-9, spread, 1.0)).astype(np.float32)
    squares = [scaled[part].T @ scaled[part] for part in parts]
    penalty = RIDGE * len(scaled) * np.eye(scaled.shape[1], dtype=np.float32)
    best = Guess(0.5, 1.0)
    for table in deals.tables:
        labels = table - table.mean(axis=1, keepdims=True)  # a row a deal
        products = [scaled[part].T @ labels[:, part].T for part in parts]
        scores, success = np.zeros(len(scaled)), np.zeros(len(labels))
        for part, square, product in zip(parts, squares, products, strict=True):
            weights = np.linalg.solve(sum(squares) - square + penalty, sum(products) - product)
            scores[part] = scaled[part] @ weights[:, 0]
            success += (weights * product).sum(axis=0)  # what was said of those left out, times the truth
        chance = min(1.0, float(np.mean(success >= success[0] - CLOSE * abs(success[0]))) * len(deals.tables))
        best = min(best, Guess(_auc(scores, table[0] == 1), chance), key=lambda guess: guess.p)
    return best


def _auc(scores: Floats, positive: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> float:
    from scipy.stats import rankdata

    n, of = int(positive.sum()), len(scores)
    if n in {0, of}:
        return 0.5
    return float((rankdata(scores)[positive].sum() - n * (n + 1) / 2) / (n * (of - n)))


def features_of(ids: Sequence[str], sequences: Sequence[Mapping[str, int]]) -> Floats:
    """What ids and their places in some sequences could tell: signs, their values and parity, position."""
    rows, longest = [], max(map(len, ids), default=0)
    for each in ids:
        values = [ID_CHARACTERS.find(sign.upper()) for sign in each.ljust(longest)]
        counts = [each.upper().count(sign) for sign in ID_CHARACTERS]
        places = [place.get(each, -1) for place in sequences]
        rows.append([*values, *(value % 2 for value in values), *counts, *places, *(at % 2 for at in places)])
    return np.array(rows, dtype=np.float64)


def guess_from_form(pack: BlindPack, sealed: SealedMap) -> Guess:
    """How well the form of the responses alone tells their condition: length, lists, headings, masks.

    No leak, since the models wrote them so: to be reported once the seal is open.
    """
    original = {each.response_id: each for each in sealed.originals}
    shown = [each for each in pack.responses if each.response_id in original]
    deals = LabelPermutations.of(
        [each.question_id for each in shown], [condition_of(original[each.response_id].arm) for each in shown]
    )
    rows = [
        [len(each.text), *(len(re.findall(sign, each.text, re.MULTILINE)) for sign in _FORM)]
        for each in shown
    ]
    return guess_conditions(deals, np.log1p(np.array(rows, dtype=np.float64)))
