"""Logistic regression with an L2 penalty, and the choice of its strength and of a threshold.

The data are small: a few hundred rows and a few dozen columns, all in memory.
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
_DIGITS = 6  # of each number that is stored: people read the file of a model


@dataclass(frozen=True)
class Scaler:
    """Brings columns to mean 0 and standard deviation 1. A column that never varies becomes 0."""

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
    """The weights of the scaled columns, and the bias that is added to the weighted sum."""

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
    """Fits the model that has the least penalised loss.

    The loss is half the sum of the squared weights, plus `strength` times the sum of the log losses. So
    `strength` is the weight of the data relative to the penalty. The bias is not penalised.
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

    def hessian(point: Floats) -> Floats:
        likely = expit(columns @ point)
        curvature: Floats = np.diag(penalised) + strength * (columns.T * (likely * (1 - likely))) @ columns
        return curvature

    # Newton's method, because few columns make a small matrix, and L-BFGS stops some digits earlier
    start = np.zeros(columns.shape[1])
    point = minimize(loss, start, jac=True, hess=hessian, method="Newton-CG", options={"xtol": 1e-9}).x
    return LogisticModel(point[:-1], float(point[-1]))


def best_strength(rows: Floats, truth: Bools) -> float:
    """Returns the strength with the least log loss in five-fold cross-validation. The weaker wins a tie."""
    parts = folds(truth)
    losses = {strength: _left_out_loss(rows, truth, parts, strength) for strength in STRENGTHS}
    return min(losses, key=lambda strength: (round(losses[strength], _DIGITS), strength))


def folds(truth: Bools) -> NDArray[np.int64]:
    """Returns the fold of each row. The rows of each class are dealt to the folds in turn, in their order."""
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
    """The precision and the recall of alarms, and the number of alarms that were due."""

    precision: float | None  # None: there was no alarm
    recall: float | None  # None: no alarm was due
    n: int  # how many alarms were due

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
    """Returns the probability from which the alarm is raised.

    It is the threshold with the best F1 among those whose precision is at least `least_precision`. If no
    threshold is precise enough, it is the one with the best F1 of all. The higher threshold wins a tie. Every
    candidate is a probability that occurs, rounded down so that the probability is not below its own
    threshold.
    """
    step = 10.0**_DIGITS
    candidates = np.unique(np.floor(probabilities * step) / step)
    found = [(DetectionRates.of(probabilities >= each, truth), float(each)) for each in candidates]
    precise = [pair for pair in found if (pair[0].precision or 0.0) >= least_precision]
    _, threshold = max(precise or found, key=lambda pair: (pair[0].f1, pair[1]))
    return threshold
