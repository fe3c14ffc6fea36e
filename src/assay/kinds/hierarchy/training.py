"""Trains the models of a detector and of a confidence on answers, and measures their quality.

Weights come from the rows of tune. Thresholds and the strengths of confidences are chosen on the rows of dev.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from assay.core.parts import Floats
from assay.kinds.hierarchy.features import NAMES, VERSION, feature_matrix
from assay.kinds.hierarchy.fitted import (
    CONFIDENCE_FORMAT,
    DETECTOR_FORMAT,
    FIXED_CONFIDENCE,
    Confidence,
    ConfidenceOrigin,
    DetectionQuality,
    Detector,
    DetectorOrigin,
    Features,
    FeatureScale,
    KindModel,
    PathModel,
    RaceQuality,
)
from assay.kinds.hierarchy.logistic import (
    STRENGTHS,
    Bools,
    DetectionRates,
    LogisticModel,
    Scaler,
    best_strength,
    best_threshold,
    fit_logistic,
)

POSSIBLE, ANY = "possible", "any"
LEAST_PRECISION = 0.8  # of a kind on dev, if a threshold can reach it: false alarms cost answers
_DIGITS = 6  # of a loss: smaller differences do not count


class LabelledRows(NamedTuple):
    """The features of the answers to some items, and the kind of each item. None: the item is possible."""

    features: Sequence[Features]
    kinds: Sequence[str | None]

    @property
    def counts(self) -> dict[str, int]:
        return dict(sorted(Counter(kind or POSSIBLE for kind in self.kinds).items()))


def train_detector(tune: LabelledRows, dev: LabelledRows, origin: DetectorOrigin) -> Detector:
    """Fits weights on tune, chooses thresholds on dev, and measures the quality of the detector on dev."""
    rows, other = (feature_matrix(each.features, NAMES) for each in (tune, dev))
    scaler = Scaler.of(rows)
    models = {}
    for kind in sorted(set(tune.kinds) - {None}, key=str):
        due = _equal_to(kind, tune.kinds)
        strength = best_strength(rows, due)
        model = fit_logistic(scaler.scaled(rows), due, strength).rounded()
        probabilities = model.probabilities(scaler.scaled(other))
        threshold = best_threshold(probabilities, _equal_to(kind, dev.kinds), LEAST_PRECISION)
        models[str(kind)] = KindModel(threshold, strength, model.bias, _weights(model))
    detector = Detector(DETECTOR_FORMAT, VERSION, origin, _feature_scales(scaler), models)
    called = detector.decide(dev.features)
    rates = {kind: DetectionRates.of(_equal_to(kind, called), _equal_to(kind, dev.kinds)) for kind in models}
    rates[ANY] = DetectionRates.of(~_equal_to(None, called), ~_equal_to(None, dev.kinds))
    reached = {kind: DetectionQuality.of(each) for kind, each in rates.items()}
    return replace(detector, fitted=replace(origin, reached=reached))


def _equal_to(kind: str | None, kinds: Sequence[str | None]) -> Bools:
    return np.array([each == kind for each in kinds], dtype=np.bool_)


class RaceExample(NamedTuple):
    """One item with one seed: for each path, the features of its hits and whether its context is enough."""

    features: Mapping[str, Features]
    enough: Mapping[str, bool]

    def taken(self, confidence: Callable[[str, Features], float]) -> bool:
        """Whether the answer of the surest path is enough. If several are equally sure, the first is used."""
        surest = max(self.features, key=lambda path: confidence(path, self.features[path]))
        return self.enough[surest]


def train_confidence(
    tune: Sequence[RaceExample], dev: Sequence[RaceExample], origin: ConfidenceOrigin
) -> Confidence:
    """Fits weights on tune, chooses their strength on dev, and measures the quality of the race on dev."""
    models = _best_models(tune, dev)
    reached = RaceQuality(
        {path: _share([row.enough[path] for row in dev]) for path in models},
        _raced_share(models, dev),
        _share([row.taken(FIXED_CONFIDENCE.of) for row in dev]),
        _share([any(row.enough.values()) for row in dev]),
    )
    return Confidence(CONFIDENCE_FORMAT, VERSION, replace(origin, reached=reached), models)


def _best_models(tune: Sequence[RaceExample], dev: Sequence[RaceExample]) -> dict[str, PathModel]:
    """Returns the models fitted on tune, with the strength that is best on dev.

    The best strength is the one whose race most often finds enough on dev. If two strengths are equal, the
    one with the smaller log loss on dev wins, then the weaker one. With the weakest strengths, a model knows
    little more than how often its path was enough on tune. The better path then wins nearly every race, so
    features without information have almost no effect.
    """
    paths = list(tune[0].features)
    columns = {path: feature_matrix([row.features[path] for row in tune], NAMES) for path in paths}
    by_strength = {
        strength: {path: _path_model(path, columns[path], tune, strength) for path in paths}
        for strength in STRENGTHS
    }

    def badness(strength: float) -> tuple[float, float, float]:
        models = by_strength[strength]
        right = ((models[path].of(row.features[path]), row.enough[path]) for row in dev for path in paths)
        loss = sum(-math.log(max(p if enough else 1.0 - p, sys.float_info.min)) for p, enough in right)
        return -_raced_share(models, dev), round(loss / len(dev), _DIGITS), strength

    return by_strength[min(STRENGTHS, key=badness)]


def _path_model(path: str, columns: Floats, tune: Sequence[RaceExample], strength: float) -> PathModel:
    scaler = Scaler.of(columns)
    truth: Bools = np.array([row.enough[path] for row in tune], dtype=np.bool_)
    model = fit_logistic(scaler.scaled(columns), truth, strength).rounded()
    return PathModel(strength, model.bias, _feature_scales(scaler), _weights(model))


def _share(found: Sequence[bool]) -> float:
    return round(sum(found) / len(found), 4)


def _raced_share(models: Mapping[str, PathModel], dev: Sequence[RaceExample]) -> float:
    return _share([row.taken(lambda path, features: models[path].of(features)) for row in dev])


def _feature_scales(scaler: Scaler) -> dict[str, FeatureScale]:
    scales = zip(scaler.means.tolist(), scaler.scales.tolist(), strict=True)
    return {name: FeatureScale(*scale) for name, scale in zip(NAMES, scales, strict=True)}


def _weights(model: LogisticModel) -> dict[str, float]:
    return dict(zip(NAMES, model.weights.tolist(), strict=True))
