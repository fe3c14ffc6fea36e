"""The files that `assay fit` writes: detectors of impossible queries, confidences that races decide by."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from assay.core.dataset import digest
from assay.core.errors import DataError, Problem, UsageError, decoding_problem, did_you_mean
from assay.core.parts import Floats
from assay.core.records import Factors
from assay.kinds.hierarchy.logistic import DetectionRates, LogisticModel, Scaler
from assay.kinds.hierarchy.signs import NAMES, VERSION, feature_matrix

FORMAT = "assay/detector/1"
FIT = "run `assay fit STUDY`"
KINDS = ("aggregation", "out_of_kb")  # what measures and gates can name


class FeatureScale(msgspec.Struct, frozen=True):
    """What a sign is brought to mean 0 and deviation 1 by."""

    mean: float
    scale: float


class KindModel(msgspec.Struct, frozen=True):
    """One kind of impossible query: from which probability on it is called, and what that follows from."""

    threshold: float
    strength: float  # what the data counts beside the penalty on weights
    bias: float
    weights: dict[str, float]  # by sign


class DetectionQuality(msgspec.Struct, frozen=True):
    """What the whole detector reached on some items: kind by kind, or whatever the kind."""

    precision: float | None
    recall: float | None
    f1: float
    n: int

    @classmethod
    def of(cls, found: DetectionRates) -> DetectionQuality:
        precision, recall = (None if each is None else round(each, 4) for each in found[:2])
        return cls(precision, recall, round(found.f1, 4), found.n)


class DetectorOrigin(msgspec.Struct, frozen=True):
    """Where a detector comes from."""

    dataset: str
    items: str  # the hash of dataset and items
    corpus: str  # the hash of the corpus
    arm: str
    factors: Factors
    system: str  # the identity of the system whose answers were looked at
    counts: dict[str, dict[str, int]]  # by split: how many items of each kind; "possible" are the others
    reached: dict[str, DetectionQuality]  # on the split that thresholds were chosen on


class Detector(msgspec.Struct, frozen=True):
    """The fitted models of all kinds, and the scale of the signs they read."""

    format: str
    version: str  # of the signs
    fitted: DetectorOrigin
    signs: dict[str, FeatureScale]
    kinds: dict[str, KindModel]

    def probabilities(self, rows: Sequence[Mapping[str, float]]) -> dict[str, Floats]:
        """By kind, how probable it is that each query is of it."""
        names = list(self.signs)
        scaling = Scaler(*np.array([[each.mean, each.scale] for each in self.signs.values()]).T)
        scaled = scaling.scaled(feature_matrix(rows, names))
        models = {
            kind: LogisticModel(np.array([each.weights[name] for name in names]), each.bias)
            for kind, each in self.kinds.items()
        }
        return {kind: model.probabilities(scaled) for kind, model in models.items()}

    def decide(self, rows: Sequence[Mapping[str, float]]) -> list[str | None]:
        """The kind of each query, None where it may be possible; the more probable where two are called."""
        found = self.probabilities(rows)
        decided: list[str | None] = []
        for at in range(len(rows)):
            called = {
                kind: float(found[kind][at])
                for kind, model in self.kinds.items()
                if found[kind][at] >= model.threshold
            }
            decided.append(max(called, key=lambda kind: called[kind]) if called else None)
        return decided

    def encoded(self) -> bytes:
        """The file: the same bytes for the same detector."""
        return msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n"


def read_detector(path: Path) -> Detector:
    """The detector in a file; what keeps it from being used is in the one DataError."""
    return _decoded(_bytes(path), path)


def detector_hash(path: Path) -> str:
    """The hash of what a file holds."""
    return digest([_bytes(path)])


def _bytes(path: Path) -> bytes:
    if not path.is_file():
        raise DataError(Problem("not fitted yet", str(path), fix=_fix("")))
    return path.read_bytes()


def _decoded(data: bytes, path: Path) -> Detector:
    try:
        detector = msgspec.json.decode(data, type=Detector)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        wrong = decoding_problem(error)
        what = f"not a detector: {wrong.what}"
        raise DataError(Problem(what, str(path), field=wrong.field, fix=_fix(" again"))) from None
    if unusable := _unusable(detector):
        raise DataError(Problem(unusable, str(path), fix=_fix(" again")))
    return detector


def _unusable(detector: Detector) -> str:
    """Why a detector that reads cannot be used; nothing where it can."""
    if detector.format != FORMAT or detector.version != VERSION:
        written = f"{detector.format}, signs {detector.version}"
        return f"not fitted yet for this version: it is {written}, not {FORMAT}, signs {VERSION}"
    if set(detector.signs) != set(NAMES):
        odd = sorted(set(detector.signs) ^ set(NAMES))
        return f"it reads other signs than there are: {', '.join(odd)}"
    for name, scale in detector.signs.items():
        if scale.scale <= 0:
            return f"the scale of {name!r} is {scale.scale:g}, which is not above 0"
    if odd := sorted(set(detector.kinds) - set(KINDS)):
        named = ", ".join(map(repr, odd))
        return f"{named} is no kind of impossible query; gold `impossible` is one of {', '.join(KINDS)}"
    for kind, model in detector.kinds.items():
        if model.weights.keys() != detector.signs.keys():
            return f"the weights of {kind!r} are not those of its signs"
    return "" if detector.kinds else "it knows no kind of impossible query"


def _fix(again: str) -> str:
    return f"Fit it{again}: {FIT}."


CONFIDENCE_FORMAT = "assay/confidence/1"
Signs = Mapping[str, float]


@dataclass(frozen=True)
class FixedConfidence:
    """The confidence of any way, where none was fitted: `mass_sentence` × `near_sentence`, from 0 to 1.

    It is high where one sentence among the first hits holds much of the query's words by weight, and one is
    near to it by the static model.
    """

    def of(self, path: str, signs: Signs) -> float:
        """The same whichever way found it."""
        return signs["mass_sentence"] * signs["near_sentence"]


FIXED_CONFIDENCE = FixedConfidence()


class PathModel(msgspec.Struct, frozen=True):
    """What was fitted for one way: the scale of its signs, and what each weighs."""

    strength: float  # what the data counts beside the penalty on weights
    bias: float
    signs: dict[str, FeatureScale]
    weights: dict[str, float]  # by sign

    def of(self, signs: Signs) -> float:
        """How probable it is that what was found is enough."""
        names = list(self.signs)
        scaling = Scaler(*np.array([[each.mean, each.scale] for each in self.signs.values()]).T)
        model = LogisticModel(np.array([self.weights[name] for name in names]), self.bias)
        return float(model.probabilities(scaling.scaled(feature_matrix([signs], names)))[0])


class AnswerCounts(msgspec.Struct, frozen=True):
    """How many answers of each way were looked at, and how many of them were enough."""

    answers: int
    enough: dict[str, int]


class RaceQuality(msgspec.Struct, frozen=True):
    """The share of answers that are enough: each way alone, and by who chooses between them."""

    alone: dict[str, float]
    race: float  # by what was fitted
    uncalibrated: float  # by the formula that serves without a file
    perfect: float  # by somebody who knows: no choice between these ways can be better


class ConfidenceOrigin(msgspec.Struct, frozen=True):
    """Where a confidence comes from."""

    dataset: str
    items: str  # the hash of dataset and items
    corpus: str  # the hash of the corpus
    arm: str
    factors: Factors
    system: str  # the identity of the system that races
    budget: int  # tokens that the context has to be enough within
    seeds: list[int]
    counts: dict[str, AnswerCounts]  # by split
    reached: RaceQuality  # on the split that strengths were chosen on


class Confidence(msgspec.Struct, frozen=True):
    """The fitted models of all ways."""

    format: str
    version: str  # of the signs
    fitted: ConfidenceOrigin
    paths: dict[str, PathModel]

    def of(self, path: str, signs: Signs) -> float:
        """How probable it is that what a way found is enough."""
        if (way := self.paths.get(path)) is None:
            raise UsageError(f"No confidence was fitted for {path!r}. {did_you_mean(path, self.paths)}")
        return way.of(signs)

    def encoded(self) -> bytes:
        """The file: the same bytes for the same confidence."""
        return msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n"


def read_confidence(path: Path, paths: Collection[str] = ()) -> Confidence:
    """The confidence in a file, of these ways at least; what keeps it from being used is in the DataError."""
    if not path.is_file():
        raise DataError(Problem("not fitted yet", str(path), fix=_fix("")))
    try:
        confidence = msgspec.json.decode(path.read_bytes(), type=Confidence)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        wrong = decoding_problem(error)
        what = f"not a confidence: {wrong.what}"
        raise DataError(Problem(what, str(path), field=wrong.field, fix=_fix(" again"))) from None
    if unusable := _unusable_confidence(confidence, paths):
        raise DataError(Problem(unusable, str(path), fix=_fix(" again")))
    return confidence


def confidence_hash(path: Path) -> str:
    """The hash of what a file holds."""
    return detector_hash(path)


def _unusable_confidence(confidence: Confidence, paths: Collection[str]) -> str:
    """Why a confidence that reads cannot be used; nothing where it can."""
    if confidence.format != CONFIDENCE_FORMAT or confidence.version != VERSION:
        written = f"{confidence.format}, signs {confidence.version}"
        return f"not fitted yet for this version: it is {written}, not {CONFIDENCE_FORMAT}, signs {VERSION}"
    if lost := [name for name in paths if name not in confidence.paths]:
        return f"it was not fitted for {', '.join(lost)}"
    for name, way in confidence.paths.items():
        if set(way.signs) != set(NAMES):
            odd = sorted(set(way.signs) ^ set(NAMES))
            return f"{name} reads other signs than there are: {', '.join(odd)}"
        if way.weights.keys() != way.signs.keys():
            return f"the weights of {name} are not those of its signs"
        for sign, scale in way.signs.items():
            if scale.scale <= 0:
                return f"{name}: the scale of {sign!r} is {scale.scale:g}, which is not above 0"
    return "" if confidence.paths else "it knows no way of retrieving"
