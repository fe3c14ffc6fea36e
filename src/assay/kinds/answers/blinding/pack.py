"""A pack: all that a rater may see of a study, in one folder that does not say which response is whose.

blind/
  pack.json      questions, gold answers, responses as shown, sources, who scores what
  map.sealed     which response is whose, encrypted; the key lies beside the folder
  marks/         what people said, as it came
  acts.jsonl     what was done with the seal, each line holding the hash of the one before
blind.key        the key of the map
blind.acts       how many acts there are, and the hash of the last
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import msgspec

from assay.core.errors import DataError, Problem
from assay.store.disk import write_atomic

SCHEMA = "assay/pack/1"
FOLDER = "blind"
PACK, MAP, MARKS, ACTS = "pack.json", "map.sealed", "marks", "acts.jsonl"


class BlindedResponse(msgspec.Struct, frozen=True):
    """One response as raters see it."""

    response_id: str
    question_id: str
    text: str  # betraying words masked
    source: str  # the key of the source that its question is about


class GoldQuestion(msgspec.Struct, frozen=True, omit_defaults=True):
    """One question, and what is right."""

    question_id: str
    text: str
    gold: str
    complexity: str = ""
    site: str = ""
    sections: list[str] = []


class MergedSource(msgspec.Struct, frozen=True):
    """What the models were given, as one text that is no condition's own."""

    title: str
    text: str


class Assignment(msgspec.Struct, frozen=True, omit_defaults=True):
    """Who scores: one rater everything, others or the same one later a drawn part."""

    primary: str
    others: list[str] = []
    share: float = 0.15  # of the responses, for each of the others
    again: float = 0.05  # of the responses, for the same rater, where there is no other
    wait_hours: float = 48.0  # between a rater's two scores of one response


class BlindPack(msgspec.Struct, frozen=True, omit_defaults=True):
    """What `pack.json` holds."""

    study: str
    panel: Assignment
    commitment: str  # hash of the sealed map as it was before it was encrypted
    order_key: str  # what shuffles the order of each rater and pass; it says nothing about conditions
    responses: list[BlindedResponse]  # in the order of their ids
    questions: dict[str, GoldQuestion]
    sources: dict[str, MergedSource]
    masked: dict[str, int] = {}  # how often each rule was used, over all responses
    drawn: list[str] = []  # response_ids that the others score
    drawn_again: list[str] = []  # response_ids that the primary scores again, where there are no others
    schema: str = SCHEMA

    def response(self, response_id: str) -> BlindedResponse | None:
        return next((each for each in self.responses if each.response_id == response_id), None)


class OriginalResponse(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the seal hides of one response."""

    response_id: str
    item_id: str
    arm: str
    seed: int
    text: str  # as the model wrote it
    # masks: from where to where of the text as shown, and of the text as written
    masks: list[tuple[int, int, int, int]] = []


class SealedMap(msgspec.Struct, frozen=True):
    """Which response is whose, and a salt so that its hash gives nothing away."""

    salt: str
    originals: list[OriginalResponse]


def write_pack(folder: Path, pack: BlindPack) -> None:
    """Writes `pack.json`, whole or not at all."""
    content = msgspec.json.format(msgspec.json.encode(pack), indent=1)
    write_atomic(folder / PACK, partial(Path.write_bytes, data=content))


def read_pack(folder: Path) -> BlindPack:
    """The pack in a folder."""
    path = folder / PACK
    try:
        return msgspec.json.decode(path.read_bytes(), type=BlindPack)
    except FileNotFoundError:
        fix = "Make one with: assay review blind STUDY"
        raise DataError(Problem("there is no pack of blinded responses", str(path), fix=fix)) from None
    except msgspec.DecodeError as error:
        fix = "Restore it: marks are made on what it shows."
        raise DataError(Problem(f"it cannot be read: {error}", str(path), fix=fix)) from None
