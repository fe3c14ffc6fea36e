"""Tests whether anything about ids, order or export goes with the condition more than chance allows.

This is a permutation test. Conditions are shuffled many times among the responses to each question. A
statistic of the true conditions must not stand out among the statistics of the shuffles. Many statistics are
tested together: the largest statistic is compared with the largest of each shuffle. Therefore one clean pack
in a thousand raises an alarm, however many statistics are tested. The shuffles are seeded: the same pack
gives the same answer.
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

SHUFFLES = 1023
ALARM = 0.001  # the share of clean packs that may raise an alarm
FOLDS = 5
CLOSE = 1e-5  # values that differ by less are equal: a shuffle equal to the truth must count as equal
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
    """Returns the system of an arm. Raters must not know the system."""
    return arm.partition("[")[0]


@dataclass(frozen=True, eq=False)
class LabelPermutations:
    """The conditions of responses, shuffled many times.

    There is one table per condition, or only one table if there are two conditions. A table has one column
    per response: 1 if the response has the condition, else 0. The first row has the true conditions. Each
    other row is a shuffle.
    """

    tables: Sequence[Floats]
    groups: Sequence[int]  # the question of each response

    @classmethod
    def of(cls, questions: Sequence[str], conditions: Sequence[str]) -> LabelPermutations:
        """Shuffles conditions within each question.

        If no question has two conditions, shuffles them among all responses.
        """
        names, labels = np.unique(np.array(conditions, dtype=str), return_inverse=True)
        places, groups = np.unique(np.array(questions, dtype=str), return_inverse=True)
        if len(set(zip(questions, conditions, strict=True))) == len(places):
            groups = np.zeros_like(groups)
        rng = np.random.default_rng(0)
        slots = np.argsort(groups, kind="stable")
        shuffled = np.empty((SHUFFLES + 1, len(labels)), dtype=np.int64)
        shuffled[0] = labels
        shuffled[1:, slots] = labels[np.argsort(groups + rng.random((SHUFFLES, len(labels))), axis=1)]
        tested = range(1 if len(names) == 2 else len(names))
        return cls([(shuffled == each).astype(np.float32) for each in tested], groups.tolist())

    def alarms(self, statistics: Mapping[str, Sequence[Floats]]) -> list[str]:
        """Returns the names whose statistics stand out. A statistic has one value per row of the tables."""
        spread = {
            name: np.max([_standardized(each) for each in some], axis=0)
            for name, some in statistics.items()
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
        """Computes, for each condition, how far its responses have the larger values."""
        ranked = np.zeros(len(self.groups), dtype=np.float32)  # 0, the middle rank, if there is no value
        ranked[np.arange(len(values)) if at is None else np.asarray(at)] = _ranks(values)
        return [table @ ranked for table in self.tables]

    def in_sequence(self, at: Sequence[int]) -> list[Floats]:
        """Computes how far a sequence, given as places of responses, goes with the condition.

        The statistics measure which responses are in the sequence, which of them come early or late, and how
        often the condition changes.
        """
        there = np.zeros(len(self.groups))
        there[np.asarray(at)] = 1.0
        changes = [
            (np.diff(table[:, np.asarray(at)], axis=1) != 0).sum(axis=1).astype(float)
            for table in self.tables
        ]
        return [*self.with_values(there), *self.with_values(np.arange(len(at), dtype=float), at), *changes]


def _standardized(values: Floats) -> Floats:
    deviation = values.std()
    return np.abs(values - values.mean()) / deviation if deviation > 1e-12 else np.zeros_like(values)


def _ranks(values: Floats) -> Floats:
    from scipy.stats import rankdata

    ranks: Floats = np.asarray(rankdata(values), dtype=np.float64)
    centred: Floats = ranks - ranks.mean()
    return centred


# ------------------------------------------------------------------------------------ a classifier


class Guess(NamedTuple):
    """The quality of a prediction of conditions, measured on responses that were left out of training."""

    auc: float  # 0.5 is chance
    p: float  # the probability that chance does as well

    @property
    def beats_chance(self) -> bool:
        return self.p <= ALARM


def guess_conditions(permutations: LabelPermutations, features: Floats) -> Guess:
    """Trains a ridge classifier on four fifths of the questions and tests it on the rest, for each fifth."""
    groups = permutations.groups
    folds = np.asarray(groups if len(set(groups)) > 1 else range(len(features))) % FOLDS
    parts = [np.flatnonzero(folds == fold) for fold in range(FOLDS)]
    spread = features.std(axis=0)
    scaled = ((features - features.mean(axis=0)) / np.where(spread > 1e-9, spread, 1.0)).astype(np.float32)
    squares = [scaled[part].T @ scaled[part] for part in parts]
    penalty = RIDGE * len(scaled) * np.eye(scaled.shape[1], dtype=np.float32)
    tables, best = permutations.tables, Guess(0.5, 1.0)
    for table in tables:
        labels = table - table.mean(axis=1, keepdims=True)  # one row per shuffle
        products = [scaled[part].T @ labels[:, part].T for part in parts]
        scores, success = np.zeros(len(scaled)), np.zeros(len(labels))
        for part, square, product in zip(parts, squares, products, strict=True):
            weights = np.linalg.solve(sum(squares) - square + penalty, sum(products) - product)
            scores[part] = scaled[part] @ weights[:, 0]
            success += (weights * product).sum(axis=0)  # predictions for the left-out fifth, times the truth
        chance = min(1.0, float(np.mean(success >= success[0] - CLOSE * abs(success[0]))) * len(tables))
        best = min(best, Guess(_auc(scores, table[0] == 1), chance), key=lambda guess: guess.p)
    return best


def _auc(scores: Floats, positive: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> float:
    from scipy.stats import rankdata

    n, of = int(positive.sum()), len(scores)
    if n in {0, of}:
        return 0.5
    return float((rankdata(scores)[positive].sum() - n * (n + 1) / 2) / (n * (of - n)))


def features_of(ids: Sequence[str], sequences: Sequence[Mapping[str, int]]) -> Floats:
    """Returns features that could predict a condition, one row per response.

    The features are the characters of ids, the parity and counts of the characters, and the places in
    sequences.
    """
    rows, longest = [], max(map(len, ids), default=0)
    for each in ids:
        values = [ID_CHARACTERS.find(character.upper()) for character in each.ljust(longest)]
        counts = [each.upper().count(character) for character in ID_CHARACTERS]
        places = [place.get(each, -1) for place in sequences]
        rows.append([*values, *(value % 2 for value in values), *counts, *places, *(at % 2 for at in places)])
    return np.array(rows, dtype=np.float64)


def guess_from_form(pack: BlindPack, sealed: SealedMap) -> Guess:
    """Measures how well the form of responses predicts their condition: length, lists, headings, masks.

    The form is not a leak, because the models wrote the responses in this form. The result is reported once
    the seal is open.
    """
    arms = {each.response_id: each.arm for each in sealed.originals}
    shown = [each for each in pack.responses if each.response_id in arms]
    permutations = LabelPermutations.of(
        [each.question_id for each in shown], [condition_of(arms[each.response_id]) for each in shown]
    )
    rows = [
        [len(each.text), *(len(re.findall(form, each.text, re.MULTILINE)) for form in _FORM)]
        for each in shown
    ]
    return guess_conditions(permutations, np.log1p(np.array(rows, dtype=np.float64)))
