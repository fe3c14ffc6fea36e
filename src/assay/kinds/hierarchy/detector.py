"""A detector: what was fitted to say that a query cannot be answered, and why, as a readable file.

It is a logistic regression a kind of impossible query, over signs of the query and of what came back
(`assay.kinds.hierarchy.signs`). The kinds are those of the data it was fitted on, of the two that there are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np

from assay.core.dataset import digest
from assay.core.errors import DataError, Problem, decoding_problem
from assay.core.parts import Floats
from assay.core.records import Factors
from assay.kinds.hierarchy.logistic import Detection, Logistic, Scaling
from assay.kinds.hierarchy.signs import NAMES, VERSION, table

FORMAT = "assay/detector/1"
FIT = "run `assay fit STUDY`"
KINDS = ("aggregation", "out_of_kb")  # what measures and gates can name


class Scale(msgspec.Struct, frozen=True):
    """What a sign is brought to mean 0 and deviation 1 by."""

    mean: float
    scale: float


class Kind(msgspec.Struct, frozen=True):
    """One kind of impossible query: from which probability on it is called, and what that follows from."""

    threshold: float
    strength: float  # what the data counts beside the penalty on weights
    bias: float
    weights: dict[str, float]  # by sign


class Reached(msgspec.Struct, frozen=True):
    """What the whole detector reached on some items: kind by kind, or whatever the kind."""

    precision: float | None
    recall: float | None
    f1: float
    n: int

    @classmethod
    def of(cls, found: Detection) -> Reached:
        precision, recall = (None if each is None else round(each, 4) for each in found[:2])
        return cls(precision, recall, round(found.f1, 4), found.n)


class FittedOn(msgspec.Struct, frozen=True):
    """Where a detector comes from."""

    dataset: str
    items: str  # the hash of dataset and items
    corpus: str  # the hash of the corpus
    arm: str
    factors: Factors
    system: str  # the identity of the system whose answers were looked at
    counts: dict[str, dict[str, int]]  # by split: how many items of each kind; "possible" are the others
    reached: dict[str, Reached]  # on the split that thresholds were chosen on


class Detector(msgspec.Struct, frozen=True):
    """The fitted models of all kinds, and the scale of the signs they read."""

    format: str
    version: str  # of the signs
    fitted: FittedOn
    signs: dict[str, Scale]
    kinds: dict[str, Kind]

    def probabilities(self, rows: Sequence[Mapping[str, float]]) -> dict[str, Floats]:
        """By kind, how probable it is that each query is of it."""
        names = list(self.signs)
        scaling = Scaling(*np.array([[each.mean, each.scale] for each in self.signs.values()]).T)
        scaled = scaling.scaled(table(rows, names))
        models = {
            kind: Logistic(np.array([each.weights[name] for name in names]), each.bias)
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
