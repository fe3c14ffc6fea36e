"""How sure one way of retrieving is that what it shows is enough: what a race between ways decides by.

A logistic regression a way (`beam`, `collapsed`), over signs of the query and of what that way found
(`assay.kinds.hierarchy.signs`), gives the probability that its context is enough. It is fitted, and kept as a
readable file. Without a file one formula serves all ways.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from assay.core.errors import DataError, Problem, UsageError, decoding_problem, did_you_mean
from assay.core.records import Factors
from assay.kinds.hierarchy.detector import FIT, Scale, detector_hash
from assay.kinds.hierarchy.logistic import Logistic, Scaling
from assay.kinds.hierarchy.signs import NAMES, VERSION, table

FORMAT = "assay/confidence/1"
Signs = Mapping[str, float]


@dataclass(frozen=True)
class Uncalibrated:
    """The confidence of any way, where none was fitted: `mass_sentence` × `near_sentence`, from 0 to 1.

    It is high where one sentence among the first hits holds much of the query's words by weight, and one is
    near to it by the static model.
    """

    def of(self, path: str, signs: Signs) -> float:
        """The same whichever way found it."""
        return signs["mass_sentence"] * signs["near_sentence"]


UNCALIBRATED = Uncalibrated()


class Way(msgspec.Struct, frozen=True):
    """What was fitted for one way: the scale of its signs, and what each weighs."""

    strength: float  # what the data counts beside the penalty on weights
    bias: float
    signs: dict[str, Scale]
    weights: dict[str, float]  # by sign

    def of(self, signs: Signs) -> float:
        """How probable it is that what was found is enough."""
        names = list(self.signs)
        scaling = Scaling(*np.array([[each.mean, each.scale] for each in self.signs.values()]).T)
        model = Logistic(np.array([self.weights[name] for name in names]), self.bias)
        return float(model.probabilities(scaling.scaled(table([signs], names)))[0])


class Asked(msgspec.Struct, frozen=True):
    """How many answers of each way were looked at, and how many of them were enough."""

    answers: int
    enough: dict[str, int]


class Raced(msgspec.Struct, frozen=True):
    """The share of answers that are enough: each way alone, and by who chooses between them."""

    alone: dict[str, float]
    race: float  # by what was fitted
    uncalibrated: float  # by the formula that serves without a file
    perfect: float  # by somebody who knows: no choice between these ways can be better


class CalibratedOn(msgspec.Struct, frozen=True):
    """Where a confidence comes from."""

    dataset: str
    items: str  # the hash of dataset and items
    corpus: str  # the hash of the corpus
    arm: str
    factors: Factors
    system: str  # the identity of the system that races
    budget: int  # tokens that the context has to be enough within
    seeds: list[int]
    counts: dict[str, Asked]  # by split
    reached: Raced  # on the split that strengths were chosen on


class Confidence(msgspec.Struct, frozen=True):
    """The fitted models of all ways."""

    format: str
    version: str  # of the signs
    fitted: CalibratedOn
    paths: dict[str, Way]

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
    if unusable := _unusable(confidence, paths):
        raise DataError(Problem(unusable, str(path), fix=_fix(" again")))
    return confidence


def confidence_hash(path: Path) -> str:
    """The hash of what a file holds."""
    return detector_hash(path)


def _unusable(confidence: Confidence, paths: Collection[str]) -> str:
    """Why a confidence that reads cannot be used; nothing where it can."""
    if confidence.format != FORMAT or confidence.version != VERSION:
        written = f"{confidence.format}, signs {confidence.version}"
        return f"not fitted yet for this version: it is {written}, not {FORMAT}, signs {VERSION}"
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


def _fix(again: str) -> str:
    return f"Fit it{again}: {FIT}."
