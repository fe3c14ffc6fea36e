"""Noise as the null of a shift: the same answers with scores that tremble are not another system."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import msgspec

from assay.controls.general import DRAWS
from assay.controls.trial import VERSIONS, ControlNotApplicable, Draw, Random, Trial, replace_responses
from assay.core.block import Block
from assay.core.records import Response


@dataclass(frozen=True)
class Jitter:
    """What the candidate is compared with, every score off by up to a tenth at random.

    It learned nothing from what was asked before, and finds no more; a gate that asks only whether something
    moved lets it pass.
    """

    expected: ClassVar[str] = "either"
    draws: ClassVar[int] = DRAWS
    twin: ClassVar[bool] = True
    share: float = 0.10

    def mutants(self, trial: Trial) -> Mapping[str, Draw]:
        trial.require(frozenset({"hits"}))
        trial.require_references()
        if any(trial.beside(block) is None for block in trial.own):
            raise ControlNotApplicable("what the candidate is compared with has no answers to the same items")

        def moved(block: Block, random: Random) -> Block:
            return self._moved(trial, block, random)

        return {"": trial.drawn(f"jitter {self.share}", moved, VERSIONS, compared=True)}

    def _moved(self, trial: Trial, block: Block, random: Random) -> Block:
        beside = trial.beside(block) or block
        return replace_responses(block, [each and self._trembling(each, random) for each in beside.responses])

    def _trembling(self, response: Response, random: Random) -> Response:
        off = 1 + self.share * random.uniform(-1, 1, len(response.hits))
        hits = [
            msgspec.structs.replace(hit, score=hit.score * by)
            for hit, by in zip(response.hits, off.tolist(), strict=True)
        ]
        ordered = sorted(hits, key=lambda hit: -hit.score)
        return msgspec.structs.replace(response, hits=ordered)
