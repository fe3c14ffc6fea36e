"""Logistic regression with an L2 penalty, how strong to make it, and where to cut what it says.

Small data: a few hundred rows and a few dozen columns, all in memory.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.core.parts import Floats

Bools = NDArray[np.bool_]
STRENGTHS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)  # the penalty counts less and less
FOLDS = 5
_DIGITS = 6  # what is kept of each number: a model is a file that people read


@dataclass(frozen=True)
class Scaler:
    """What brings columns to mean 0 and deviation 1. A column that never varies stays 0."""

    means: Floats
    scales: Floats

    @classmethod
    def of(cls, rows: Floats) -> Scaler:
        deviations = rows.std(axis=0)
        scales: Floats = np.where(deviations > 10.0**-_DIGITS, deviations, 1.0).astype(np.float64)
        return cls(np.round(rows.mean(axis=0), _DIGITS), np.round(scales, _DIGITS))

    def scaled(self, rows: Floats) -> Floats:
        scaled: Floats = (rows - self.means) / self.scales
        return scaled


class LogisticModel(NamedTuple):
    """Weights of scaled columns, and what is added to their sum."""

    weights: Floats
    bias: float

    def logits(self, scaled: Floats) -> Floats:
        logits: Floats = scaled @ self.weights + self.bias
        return logits

    def probabilities(self, scaled: Floats) -> Floats:
        from scipy.special import expit

        found: Floats = expit(self.logits(scaled))
        return found

    def rounded(self) -> LogisticModel:
        return LogisticModel(np.round(self.weights, _DIGITS), round(self.bias, _DIGITS))


def fit_logistic(scaled: Floats, truth: Bools, strength: float) -> LogisticModel:
    """The weights with the least penalised loss; `strength` is what the data counts beside the penalty.

    Half the sum of the squared weights, plus `strength` times the sum of the log losses. The bias bears no
    penalty.
    """
    from scipy.optimize import minimize
    from scipy.special import expit

    signs = np.where(truth, 1.0, -1.0)
    columns = np.hstack([scaled, np.ones((len(scaled), 1))])
    penalised = np.append(np.ones(scaled.shape[1]), 0.0)

    def loss(point: Floats) -> tuple[float, Floats]:
        margins = signs * (columns @ point)
        value = 0.5 * (penalised * point) @ point + strength * np.logaddexp(0.0, -margins).sum()
        return float(value), penalised * point - strength * columns.T @ (signs * expit(-margins))

    def bend(point: Floats) -> Floats:
        said = expit(columns @ point)
        bent: Floats = np.diag(penalised) + strength * (columns.T * (said * (1 - said))) @ columns
        return bent

    # Newton's method: few columns make a small matrix, and L-BFGS stops some digits earlier
    start = np.zeros(columns.shape[1])
    point = minimize(loss, start, jac=True, hess=bend, method="Newton-CG", options={"xtol": 1e-9}).x
    return LogisticModel(point[:-1], float(point[-1]))


def best_strength(rows: Floats, truth: Bools) -> float:
    """The strength with the least log loss on rows that were left out, in five parts; ties to the weaker."""
    parts = folds(truth)
    losses = {strength: _left_out_loss(rows, truth, parts, strength) for strength in STRENGTHS}
    return min(losses, key=lambda strength: (round(losses[strength], _DIGITS), strength))


def folds(truth: Bools) -> NDArray[np.int64]:
    """The part that each row is left out with: both classes are dealt out in turn, in the order of rows."""
    parts = np.empty(len(truth), dtype=np.int64)
    for value in (False, True):
        (rows,) = np.nonzero(truth == value)
        parts[rows] = np.arange(len(rows)) % FOLDS
    return parts


def _left_out_loss(rows: Floats, truth: Bools, parts: NDArray[np.int64], strength: float) -> float:
    losses = []
    for part in range(FOLDS):
        left_out = parts == part
        scaling = Scaler.of(rows[~left_out])
        model = fit_logistic(scaling.scaled(rows[~left_out]), truth[~left_out], strength)
        margins = np.where(truth[left_out], 1.0, -1.0) * model.logits(scaling.scaled(rows[left_out]))
        losses += np.logaddexp(0.0, -margins).tolist()
    return math.fsum(losses) / len(losses)


class DetectionRates(NamedTuple):
    """How often it was right to raise an alarm, and how many of those due were raised."""

    precision: float | None  # None: no alarm
    recall: float | None  # None: none was due
    n: int  # how many were due

    @property
    def f1(self) -> float:
        if not self.precision or not self.recall:
            return 0.0
        return 2 * self.precision * self.recall / (self.precision + self.recall)

    @classmethod
    def of(cls, raised: Bools, due: Bools) -> DetectionRates:
        right, alarms, n = int((raised & due).sum()), int(raised.sum()), int(due.sum())
        return cls(right / alarms if alarms else None, right / n if n else None, n)


def best_threshold(probabilities: Floats, truth: Bools, least_precision: float) -> float:
    """Where to raise the alarm, from a probability on: the best F1 among those precise enough.

    Where none is, the best F1. Ties go to the higher threshold. Only a probability that occurs can be one,
    rounded down so that what it was read from stays above it.
    """
    step = 10.0**_DIGITS
    candidates = np.unique(np.floor(probabilities * step) / step)
    found = [(DetectionRates.of(probabilities >= each, truth), float(each)) for each in candidates]
    precise = [pair for pair in found if (pair[0].precision or 0.0) >= least_precision]
    _, threshold = max(precise or found, key=lambda pair: (pair[0].f1, pair[1]))
    return threshold
