"""What a control is made from: one gate's candidates with their stored answers and scores.

Measures are really computed on the answers that a control makes. One that is drawn at random is scored in a
few versions, each of which answers every item; a draw then takes each item from a version at random. So 200
draws cost no more than the versions do.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Protocol
from zlib import crc32

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.controls.candidates import Roles
from assay.core.block import RESPONSE_PARTS, Block
from assay.core.errors import AssayError
from assay.core.protocols import Measure, OraclePart
from assay.core.records import Arm, Judgment, Response
from assay.core.slices import Condition
from assay.measures.score import BrokenMeasures, score_blocks
from assay.stats.rows import Column, Rows

Random = np.random.Generator
Columns = Mapping[tuple[str, str], Column]  # by system and measure
Remake = Callable[[Block, Random], Block]
VERSIONS = 20  # of a control that is drawn at random


class ControlNotApplicable(AssayError):
    """A control cannot be made for a gate; the message is the reason, without a full stop."""


@dataclass(frozen=True)
class StandIn:
    """What takes the place of stored scores and marks in one draw."""

    columns: Columns = field(default_factory=dict)
    judgments: Sequence[Judgment] | None = None  # None: as they are


Draw = Callable[[Random], StandIn]


@dataclass(frozen=True)
class Trial:
    """One gate, and everything that controls may be made from."""

    roles: Roles
    measures: Sequence[Measure]  # that the gate reads
    blocks: Sequence[Block]  # of every arm of the study
    rows: Rows
    scores: pl.DataFrame
    judgments: Sequence[Judgment] = ()
    labels: Sequence[str] = ()  # whose agreement between raters the gate reads
    by: Sequence[str] = ()  # tags that the study is sliced by
    where: Sequence[tuple[Condition, ...]] = ()  # the slices that the gate reads
    baseline: str | None = None
    seed: int = 0
    every: Sequence[Measure] = ()  # that any gate of the study reads
    kept: dict[tuple[str, int, str, str, str], Column] = field(default_factory=dict)  # what is scored already
    oracle: Sequence[OraclePart] = ()  # what the oracle's answers hold beside hits

    # ---------------------------------------------------------------------------- what there is

    def random(self, *key: int) -> Random:
        """A generator that gives the same for the same key."""
        return np.random.default_rng([self.seed, *key])

    @cached_property
    def own(self) -> list[Block]:
        """The blocks of the candidates."""
        return [block for block in self.blocks if block.arm.system in self.roles.pairs]

    @cached_property
    def column_keys(self) -> list[tuple[str, str]]:
        """The columns that a control replaces."""
        return [(system, measure.name) for system in self.roles.candidates for measure in self.measures]

    @cached_property
    def columns(self) -> Columns:
        """The candidates' own scores."""
        return {key: self.rows.column(*key) for key in self.column_keys}

    @cached_property
    def read(self) -> NDArray[np.bool_]:
        """The rows that the gate reads: in its slices, and where one of its measures applies."""
        inside = np.any([self.rows.mask(where) for where in self.where or [()]], axis=0)
        applies = np.any([column.expected for column in self.columns.values()] or [inside], axis=0)
        return np.asarray(inside & applies)

    def beside(self, block: Block) -> Block | None:
        """The answers of what a candidate is compared with, or of the study's baseline, to the same items."""
        names = [self.roles.pairs.get(block.arm.system), self.baseline]
        for name in names:
            if name is not None and name != block.arm.system:
                arm = self.rows.arm(name, block.arm.factors) or Arm(name)
                fitting = [each for each in self.blocks if each.arm == arm and each.items == block.items]
                if fitting:
                    return next((each for each in fitting if each.seed == block.seed), fitting[0])
        return None

    def require(self, changes: frozenset[str]) -> None:
        """Refuses a control that changes nothing that the gate reads."""
        if not self.roles.candidates:
            raise ControlNotApplicable("no clause is about a system")
        if not self.own:
            raise ControlNotApplicable("its systems were not run")
        if not any(parts_read(measure) & changes for measure in self.measures):
            named = " or ".join(sorted(changes))
            raise ControlNotApplicable(f"no clause reads {named}")

    def require_references(self) -> Mapping[str, str]:
        """What each candidate is compared with; refuses a gate that compares with nothing."""
        pairs = {name: beside for name, beside in self.roles.pairs.items() if beside is not None}
        if not pairs:
            raise ControlNotApplicable("the gate compares with no other system")
        return pairs

    # ------------------------------------------------------------------------ what is made of it

    def drawn(self, name: str, remake: Remake, versions: int = 1, *, compared: bool = False) -> Draw:
        """Draws of answers that are made again: each row from one of so many versions.

        `name` says what is made: the same name is scored once for all gates; `compared`: once for all in
        which a candidate is compared with the same system.
        """
        made = [self.rescored(name, remake, version, compared=compared) for version in range(versions)]
        self._refuse_unchanged(made)
        if versions == 1:
            return lambda _: StandIn(made[0])

        def draw(random: Random) -> StandIn:
            which = random.integers(0, versions, len(self.rows))
            return StandIn({key: _choose_rows([each[key] for each in made], which) for key in made[0]})

        return draw

    def _refuse_unchanged(self, made: Sequence[Columns]) -> None:
        """Refuses what changes no score, unless a clause reads what was changed, and is blind to it."""
        silent = not any(map(_declared, self.measures))
        if silent and all(_same(each[key], own) for each in made for key, own in self.columns.items()):
            raise ControlNotApplicable("it changes nothing that the gate reads")

    def rescored(self, name: str, remake: Remake, version: int = 0, *, compared: bool = False) -> Columns:
        """The candidates' scores on answers that are made again."""

        def kept_under(system: str, measure: str) -> tuple[str, int, str, str, str]:
            return name, version, system, self._beside_name(system) if compared else "", measure

        keys = {column: kept_under(*column) for column in self.column_keys}
        wanted = {system for (system, _), key in keys.items() if key not in self.kept}
        if wanted:
            blocks = [block for block in self.own if block.arm.system in wanted]
            scores = self._scored([remake(block, self._random_for(block, version)) for block in blocks])
            others = self.scores.filter(~pl.col("system").is_in(list(wanted)))
            # the others only make the same rows: their factors decide which there are
            arms = others.unique("arm", maintain_order=True).select(scores.columns)
            variants = {block.arm.name: block.items for block in self.blocks}
            rows = Rows(pl.concat([scores, arms]), self.rows.items, None, variants)
            for system in wanted:
                for measure in (each.name for each in self.every):
                    self.kept[kept_under(system, measure)] = rows.column(system, measure)
        return {column: self.kept[key] for column, key in keys.items()}

    def _scored(self, blocks: Sequence[Block]) -> pl.DataFrame:
        broken: BrokenMeasures = {}
        scores = score_blocks(self.every, blocks, broken)
        for (_, measure), why in broken.items():
            if measure in {each.name for each in self.measures}:
                raise ControlNotApplicable(f"its answers cannot be scored: {why}")
        return scores

    def _beside_name(self, system: str) -> str:
        return self.roles.pairs.get(system) or self.baseline or ""

    def _random_for(self, block: Block, version: int) -> Random:
        return self.random(version, crc32(block.arm.name.encode()), block.seed)

    @cached_property
    def emptied(self) -> Columns:
        """The candidates' scores if they returned nothing at all."""
        made = self.rescored(
            "nothing", lambda block, _: replace_responses(block, [Response() for _ in block.items])
        )
        self._refuse_unchanged([made])
        # nobody scored an answer that was not given: of what people score it has the worst grade
        scored = {each.name: each for each in self.measures if {"answer", "labels"} <= each.needs}
        return {key: _worst(scored.get(key[1]), self.columns[key], made[key]) for key in made}

    def emptied_at(self, lost: NDArray[np.bool_]) -> StandIn:
        """The candidates with nothing returned on some rows."""
        which = lost.astype(np.int64)
        return StandIn(
            {key: _choose_rows([own, self.emptied[key]], which) for key, own in self.columns.items()}
        )


def _same(a: Column, b: Column) -> bool:
    return np.array_equal(a.values, b.values, equal_nan=True) and np.array_equal(a.status, b.status)


def _worst(measure: Measure | None, own: Column, made: Column) -> Column:
    if measure is None:
        return made
    if measure.better == "lower":
        return own  # there is no worst of what is unbounded
    return Column(np.where(own.counted, measure.low, own.values), own.status)


def _choose_rows(versions: Sequence[Column], which: NDArray[np.int64]) -> Column:
    """Each row from one of several columns."""
    rows = np.arange(len(which))
    values = np.stack([each.values for each in versions])[which, rows]
    status = np.stack([each.status for each in versions])[which, rows]
    return Column(values, status)


def parts_read(measure: Measure) -> frozenset[str]:
    """The parts of a response that a measure looks at; all but the answer where it does not say."""
    return _declared(measure) or RESPONSE_PARTS - {"answer"}


def _declared(measure: Measure) -> frozenset[str]:
    named = frozenset[str](measure.needs) | getattr(measure, "blank", frozenset())
    return named & RESPONSE_PARTS


def replace_responses(block: Block, responses: Sequence[Response | None]) -> Block:
    """A block with other responses; None: the item was not asked.

    What was seen from outside stays as it was: nobody knows how long these would have taken.
    """
    responses = [
        given if given is None or own is None else msgspec.structs.replace(given, observed=own.observed)
        for given, own in zip(responses, block.responses, strict=True)
    ]
    answers = pl.DataFrame(
        {
            "failed": [None if each is None else each.error is not None for each in responses],
            "docs": [[hit.doc_id for hit in each.hits] if each else [] for each in responses],
            "scores": [[hit.score for hit in each.hits] if each else [] for each in responses],
            "rest": [None for _ in responses],
        },
        schema={
            "failed": pl.Boolean,
            "docs": pl.List(pl.String),
            "scores": pl.List(pl.Float64),
            "rest": pl.Binary,
        },
    )
    made = dataclasses.replace(block, answers=answers)
    vars(made)["responses"] = list(responses)  # where a block keeps them once they are decoded
    return made


class Control(Protocol):
    """Answers or scores that take the place of a gate's candidates, made from what is stored.

    `expected`  what a sound gate does with it: "refused", "passes", or "either", which depends on the gate
    `draws`     how often it is tried: once, or many times if it is drawn at random
    `mutants`   how to draw each of the systems that it makes, by name ("" for the only one); raises
                DoesNotApply, with the reason, if it cannot be made for a gate

    May have `twin`, true if it is no better and no worse than what the candidate is compared with: it must
    then be refused by a gate that asks for a gain, and by no other.
    """

    expected: ClassVar[str]
    draws: ClassVar[int]

    def mutants(self, trial: Trial) -> Mapping[str, Draw]: ...
