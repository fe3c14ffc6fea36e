"""The files that `assay fit` writes: detectors of impossible queries, and confidences for races.

A detector holds one logistic regression per kind of impossible query. It says whether a query can be answered
and, if not, which kind of impossible query it is. A confidence holds one logistic regression per path of a
race (`beam`, `collapsed`). It gives the probability that the context found on this path is enough. Both read
the features of a query and of its hits (`features.py`), and both are JSON files that people can read. A race
without a file decides by a fixed formula.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec
import numpy as np

from assay.core.dataset import Dataset, digest
from assay.core.errors import DataError, Problem, UsageError, decoding_problem, did_you_mean
from assay.core.parts import Floats
from assay.core.records import Factors
from assay.kinds.hierarchy.features import NAMES, VERSION, feature_matrix
from assay.kinds.hierarchy.logistic import DetectionRates, LogisticModel, Scaler

DETECTOR_FORMAT = "assay/detector/1"
CONFIDENCE_FORMAT = "assay/confidence/1"
FIT = "run `assay fit STUDY`"
KINDS = ("aggregation", "out_of_kb")  # of impossible queries: those that measures and gates can name

Features = Mapping[str, float]
File = TypeVar("File", bound="Detector | Confidence")


class FeatureScale(msgspec.Struct, frozen=True):
    """The mean and the scale that bring a feature to mean 0 and standard deviation 1."""

    mean: float
    scale: float


class FitOrigin(msgspec.Struct, frozen=True):
    """The data and the system that a model was fitted on."""

    dataset: str
    items: str  # the hash of dataset and items
    corpus: str  # the hash of the corpus
    arm: str
    factors: Factors
    system: str  # the identity of the system that answered

    def warnings(self, file: str, dataset: Dataset, system: str) -> list[str]:
        """Warns if the file was fitted on another system's answers, or on another corpus."""
        found = []
        if self.system != system:
            found.append(f"{file} was fitted on another system's answers: fit it again")
        if self.corpus != dataset.corpus.hash:
            found.append(f"{file} was fitted on {self.dataset} ({self.arm}), and is used on {dataset.name}")
        return found


def encode_fitted(fitted: Detector | Confidence) -> bytes:
    """Returns the content of the file. The same models always give the same bytes."""
    return msgspec.json.format(msgspec.json.encode(fitted), indent=2) + b"\n"


def fitted_hash(path: Path) -> str:
    """Returns the hash of the content of a fitted file."""
    return digest([_content(path)])


# ---------------------------------------------------------------------------------------- detectors


class KindModel(msgspec.Struct, frozen=True):
    """The model of one kind of impossible query: how to compute its probability, and the threshold for it."""

    threshold: float
    strength: float  # the weight of the data relative to the penalty
    bias: float
    weights: dict[str, float]  # by feature


class DetectionQuality(msgspec.Struct, frozen=True):
    """The precision, recall and F1 that the whole detector reached on a set of items."""

    precision: float | None
    recall: float | None
    f1: float
    n: int

    @classmethod
    def of(cls, rates: DetectionRates) -> DetectionQuality:
        precision, recall = (None if each is None else round(each, 4) for each in rates[:2])
        return cls(precision, recall, round(rates.f1, 4), rates.n)


class DetectorOrigin(FitOrigin, frozen=True):
    """The data and the system that a detector was fitted on, and the quality that it reached."""

    counts: dict[str, dict[str, int]]  # by split: the number of items per kind, or "possible"
    reached: dict[str, DetectionQuality]  # by kind, and for "any", on dev


class Detector(msgspec.Struct, frozen=True):
    """The fitted models of all kinds of impossible queries, and the scales of the features that they read."""

    format: str
    version: str  # of the features
    fitted: DetectorOrigin
    signs: dict[str, FeatureScale]
    kinds: dict[str, KindModel]

    def probabilities(self, rows: Sequence[Features]) -> dict[str, Floats]:
        """Returns, for each kind of impossible query, the probability that each query is of this kind."""
        return {
            kind: _probabilities(rows, self.signs, model.weights, model.bias)
            for kind, model in self.kinds.items()
        }

    def decide(self, rows: Sequence[Features]) -> list[str | None]:
        """Returns the kind of each query, or None if no kind reaches its threshold.

        If several kinds reach their thresholds, the most probable kind is returned.
        """
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


def read_detector(path: Path) -> Detector:
    """Reads the detector in a file. The DataError says why the file cannot be used."""
    detector = _read(path, Detector, "detector", DETECTOR_FORMAT)
    problem = _scale_problem(detector.signs, "it reads", "the scale of")
    if not problem and (odd := sorted(set(detector.kinds) - set(KINDS))):
        named = ", ".join(map(repr, odd))
        verb = "is not a kind" if len(odd) == 1 else "are not kinds"
        problem = f"{named} {verb} of impossible query; gold `impossible` is one of {', '.join(KINDS)}"
    for kind, model in detector.kinds.items():
        if not problem and model.weights.keys() != detector.signs.keys():
            problem = f"the weights of {kind!r} are not those of its features"
    if not detector.kinds and not problem:
        problem = "it knows no kind of impossible query"
    return _usable(detector, path, problem)


# -------------------------------------------------------------------------------------- confidences


class PathModel(msgspec.Struct, frozen=True):
    """The fitted model of one path: the scales of its features, and their weights."""

    strength: float  # the weight of the data relative to the penalty
    bias: float
    signs: dict[str, FeatureScale]
    weights: dict[str, float]  # by feature

    def of(self, features: Features) -> float:
        """Returns the probability that the context found on the path is enough."""
        return float(_probabilities([features], self.signs, self.weights, self.bias)[0])


class AnswerCounts(msgspec.Struct, frozen=True):
    """The number of examined answers per path, and for each path the number of answers that were enough."""

    answers: int
    enough: dict[str, int]


class RaceQuality(msgspec.Struct, frozen=True):
    """The share of answers that are enough, for each single path and for each way to choose a path."""

    alone: dict[str, float]
    race: float  # by the fitted models
    uncalibrated: float  # by the fixed formula
    perfect: float  # by the best possible choice, which knows the truth


class ConfidenceOrigin(FitOrigin, frozen=True):
    """The data and the system that a confidence was fitted on, and the quality that the race reached."""

    budget: int  # the number of tokens of a context that has to be enough
    seeds: list[int]
    counts: dict[str, AnswerCounts]  # by split
    reached: RaceQuality  # on dev


class Confidence(msgspec.Struct, frozen=True):
    """The fitted models of all paths of a race."""

    format: str
    version: str  # of the features
    fitted: ConfidenceOrigin
    paths: dict[str, PathModel]

    def of(self, path: str, features: Features) -> float:
        """Returns the probability that the context found on a path is enough."""
        if (model := self.paths.get(path)) is None:
            raise UsageError(f"No confidence was fitted for {path!r}. {did_you_mean(path, self.paths)}")
        return model.of(features)


@dataclass(frozen=True)
class FixedConfidence:
    """The confidence in a path of a race without a file: `mass_sentence` × `near_sentence`, from 0 to 1.

    It is high under two conditions. One sentence among the first hits must hold much of the weight of the
    query's words, and one sentence must be near the query by the static model.
    """

    def of(self, path: str, features: Features) -> float:
        """Returns the value of the formula, which is the same for every path."""
        return features["mass_sentence"] * features["near_sentence"]


FIXED_CONFIDENCE = FixedConfidence()


def read_confidence(path: Path, paths: Collection[str] = ()) -> Confidence:
    """Reads the confidence in a file, which must know all of `paths`.

    The DataError says why the file cannot be used.
    """
    confidence = _read(path, Confidence, "confidence", CONFIDENCE_FORMAT)
    problem = "" if confidence.paths else "it knows no path of retrieval"
    if lost := [name for name in paths if name not in confidence.paths]:
        problem = f"it was not fitted for {', '.join(lost)}"
    for name, model in confidence.paths.items() if not problem else ():
        problem = problem or _scale_problem(model.signs, f"{name} reads", f"{name}: the scale of")
        if not problem and model.weights.keys() != model.signs.keys():
            problem = f"the weights of {name} are not those of its features"
    return _usable(confidence, path, problem)


# ------------------------------------------------------------------------------------- both


def _probabilities(
    rows: Sequence[Features], scales: Mapping[str, FeatureScale], weights: Features, bias: float
) -> Floats:
    names = list(scales)
    scaler = Scaler(*np.array([[each.mean, each.scale] for each in scales.values()]).T)
    model = LogisticModel(np.array([weights[name] for name in names]), bias)
    return model.probabilities(scaler.scaled(feature_matrix(rows, names)))


def _content(path: Path) -> bytes:
    if not path.is_file():
        raise DataError(Problem("not fitted yet", str(path), fix=f"Fit it: {FIT}."))
    return path.read_bytes()


def _read(path: Path, kind: type[File], name: str, form: str) -> File:
    try:
        found = msgspec.json.decode(_content(path), type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        wrong = decoding_problem(error)
        what = f"not a {name}: {wrong.what}"
        raise DataError(Problem(what, str(path), field=wrong.field, fix=f"Fit it again: {FIT}.")) from None
    problem = ""
    if (found.format, found.version) != (form, VERSION):
        written = f"{found.format}, features {found.version}"
        problem = f"not fitted yet for this version: it is {written}, not {form}, features {VERSION}"
    return _usable(found, path, problem)


def _usable(found: File, path: Path, problem: str) -> File:
    if problem:
        raise DataError(Problem(problem, str(path), fix=f"Fit it again: {FIT}."))
    return found


def _scale_problem(scales: Mapping[str, FeatureScale], reads: str, scale_of: str) -> str:
    """Returns what is wrong with the features that a model reads, or an empty text."""
    if odd := sorted(set(scales) ^ set(NAMES)):
        return f"{reads} other features than there are: {', '.join(odd)}"
    wrong = ((name, each.scale) for name, each in scales.items() if each.scale <= 0)
    name, scale = next(wrong, ("", 0.0))
    return f"{scale_of} {name!r} is {scale:g}, which is not above 0" if name else ""
