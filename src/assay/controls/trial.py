"""A trial holds what controls are made from: a gate, its candidates, and their stored answers and scores.

A control replaces every candidate at the same time. If only one candidate in `max(M(a), M(b))` were replaced,
the other candidate would carry the control over the threshold.

Measures are really computed on the answers that a control makes. A control that is drawn at random is scored
in a few versions. Each version answers every item, and a draw takes each item from a random version. So 200
draws cost no more than these versions.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Protocol
from zlib import crc32

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.core.block import RESPONSE_PARTS, Block
from assay.core.dataset import Condition
from assay.core.errors import AssayError
from assay.core.protocols import Measure, OraclePart
from assay.core.records import Arm, Judgment, Response
from assay.gates.expansion import call_directions
from assay.gates.operand import Mean, Operand, means_of
from assay.gates.syntax import Arithmetic, Call, Clause
from assay.measures.declaration import declaration_of
from assay.measures.score import BrokenMeasures, score_blocks
from assay.stats.rows import Column, Rows

Random = np.random.Generator
Columns = Mapping[tuple[str, str], Column]  # the scores, by system and measure
Remake = Callable[[Block, Random], Block]
Leaves = Mapping[Call, Operand]
VERSIONS = 20  # of the answers of a control that is drawn at random


@dataclass(frozen=True)
class Roles:
    """The candidates of a gate. `pairs` has, for each candidate, the system it is compared with, or None."""

    pairs: Mapping[str, str | None]
    references: tuple[str, ...]

    @property
    def candidates(self) -> tuple[str, ...]:
        return tuple(self.pairs)


def find_roles(clauses: Sequence[tuple[str, Clause, Leaves]], baseline: str | None) -> Roles:
    """Finds the systems that a gate wants to be better, and the systems that it compares them with.

    Each clause is given with its role (first, go, kill) and its operands.
    """
    wanted: dict[str, set[int]] = {}
    together: list[set[str]] = []
    for role, clause, leaves in clauses:
        found = list(_directions(role, clause, leaves))
        together.append({system for system, _ in found})
        signs = {sign for _, sign in found}
        if len(together[-1]) == 1 and signs != {-1}:  # about one system, perhaps compared with itself
            found = [(found[0][0], 1)]
        for system, sign in found:
            wanted.setdefault(system, set()).add(sign)
    liked = [name for name, signs in wanted.items() if 1 in signs and -1 not in signs]
    torn = [name for name, signs in wanted.items() if {1, -1} <= signs or signs == {0}]
    candidates = liked + [name for name in torn if name != baseline]
    if not candidates:
        candidates = list(wanted)
    elif not liked and len(candidates) == len(wanted) > 1:
        candidates = candidates[:1]  # each is compared with every other: the first stands for all
    references = tuple(name for name in wanted if name not in candidates)
    return Roles(
        {name: _reference_of(name, together, references, baseline) for name in candidates}, references
    )


def _reference_of(
    name: str, together: Iterable[set[str]], references: Sequence[str], baseline: str | None
) -> str | None:
    """Returns the system with which the clauses compare a candidate, preferably the study's baseline."""
    near = [each for each in references if any({name, each} <= systems for systems in together)]
    return next((each for each in near if each == baseline), near[0] if near else None)


def _directions(role: str, clause: Clause, leaves: Leaves) -> Iterator[tuple[str, int]]:
    """Yields each system of a clause with a direction: 1, -1 or 0.

    It is 1 if the clause passes more easily when the system is better, and -1 if it does when the system is
    worse. It is 0 if neither is certain, as for the systems of a correlation.
    """
    toward = (1 if clause.upward else -1) * (-1 if role == "kill" else 1)
    for call, rises in call_directions(Arithmetic("-", clause.left, clause.right), leaves):
        found = leaves.get(call)
        sign = 0 if rises is None else 1 if rises else -1
        if isinstance(found, Mean):
            better = 1 if found.measure.better == "higher" else -1
            yield found.system, sign * better * toward
        elif found is not None:
            yield from ((mean.system, 0) for mean in means_of(found))


class ControlNotApplicable(AssayError):
    """A control cannot be made for a gate. The message is the reason, without a full stop."""


@dataclass(frozen=True)
class StandIn:
    """The scores and judgments that replace the stored ones in one draw."""

    columns: Columns = field(default_factory=dict)
    judgments: Sequence[Judgment] | None = None  # None: the stored ones stay


Draw = Callable[[Random], StandIn]


@dataclass(frozen=True)
class Trial:
    """One gate, with everything from which controls can be made."""

    roles: Roles
    measures: Sequence[Measure]  # the measures that the gate reads
    blocks: Sequence[Block]  # the blocks of every arm of the study
    rows: Rows
    scores: pl.DataFrame
    judgments: Sequence[Judgment] = ()
    labels: Sequence[str] = ()  # labels on which the gate reads the agreement between raters
    by: Sequence[str] = ()  # the tags by which the study is sliced
    where: Sequence[tuple[Condition, ...]] = ()  # the slices that the gate reads
    baseline: str | None = None
    seed: int = 0
    every: Sequence[Measure] = ()  # the measures that any gate of the study reads
    kept: dict[tuple[str, int, str, str, str], Column] = field(default_factory=dict)  # known scores
    oracle: Sequence[OraclePart] = ()  # the parts that add traces to the oracle's answers

    # ------------------------------------------------------------------------------- what is stored

    def random(self, *key: int) -> Random:
        """Returns a random generator that depends only on the seed and the key."""
        return np.random.default_rng([self.seed, *key])

    @cached_property
    def own(self) -> list[Block]:
        """The blocks of the candidates."""
        return [block for block in self.blocks if block.arm.system in self.roles.pairs]

    @cached_property
    def column_keys(self) -> list[tuple[str, str]]:
        """The system and measure of each column that a control replaces."""
        return [(system, measure.name) for system in self.roles.candidates for measure in self.measures]

    @cached_property
    def columns(self) -> Columns:
        """The candidates' own scores."""
        return {key: self.rows.column(*key) for key in self.column_keys}

    @cached_property
    def read(self) -> NDArray[np.bool_]:
        """The rows that the gate reads: rows in its slices to which one of its measures applies."""
        inside = np.any([self.rows.mask(where) for where in self.where or [()]], axis=0)
        applies = np.any([column.expected for column in self.columns.values()] or [inside], axis=0)
        return np.asarray(inside & applies)

    def beside(self, block: Block) -> Block | None:
        """Returns the answers to the same items by the system with which a candidate is compared.

        If there are none, returns the baseline's answers to the same items, or None.
        """
        names = [self.roles.pairs.get(block.arm.system), self.baseline]
        for name in names:
            if name is not None and name != block.arm.system:
                arm = self.rows.arm(name, block.arm.factors) or Arm(name)
                fitting = [each for each in self.blocks if each.arm == arm and each.items == block.items]
                if fitting:
                    return next((each for each in fitting if each.seed == block.seed), fitting[0])
        return None

    def require(self, changes: frozenset[str]) -> None:
        """Raises ControlNotApplicable if a control with these changes changes nothing that the gate reads."""
        if not self.roles.candidates:
            raise ControlNotApplicable("no clause is about a system")
        if not self.own:
            raise ControlNotApplicable("its systems were not run")
        if not any(parts_read(measure) & changes for measure in self.measures):
            named = " or ".join(sorted(changes))
            raise ControlNotApplicable(f"no clause reads {named}")

    def require_references(self) -> Mapping[str, str]:
        """Returns, for each candidate, the system with which it is compared.

        Raises ControlNotApplicable if the gate compares no candidate with another system.
        """
        pairs = {name: beside for name, beside in self.roles.pairs.items() if beside is not None}
        if not pairs:
            raise ControlNotApplicable("the gate compares with no other system")
        return pairs

    # ------------------------------------------------------------------------------- what is made

    def drawn(self, name: str, remake: Remake, versions: int = 1, *, compared: bool = False) -> Draw:
        """Returns a function that draws scores of remade answers.

        Each row of a draw comes from a random version. Answers with the same `name` are scored once for all
        gates. With `compared`, they are scored once for all gates in which a candidate is compared with the
        same system.
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
        """Raises ControlNotApplicable if new answers change no score.

        They are accepted if a measure declares the parts of a response that it reads. It then has read the
        change and ignores it.
        """
        silent = not any(map(_declared, self.measures))
        if silent and all(_same(each[key], own) for each in made for key, own in self.columns.items()):
            raise ControlNotApplicable("it changes nothing that the gate reads")

    def rescored(self, name: str, remake: Remake, version: int = 0, *, compared: bool = False) -> Columns:
        """Returns the candidates' scores on remade answers."""

        def kept_under(system: str, measure: str) -> tuple[str, int, str, str, str]:
            return name, version, system, self._beside_name(system) if compared else "", measure

        keys = {column: kept_under(*column) for column in self.column_keys}
        wanted = {system for (system, _), key in keys.items() if key not in self.kept}
        if wanted:
            blocks = [block for block in self.own if block.arm.system in wanted]
            scores = self._scored([remake(block, self._random_for(block, version)) for block in blocks])
            others = self.scores.filter(~pl.col("system").is_in(list(wanted)))
            # the factors of the other arms decide which rows there are
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
        """The scores that the candidates would have if they returned nothing at all."""
        made = self.rescored(
            "nothing", lambda block, _: replace_responses(block, [Response() for _ in block.items])
        )
        self._refuse_unchanged([made])
        # people did not score these empty answers, so they get the worst value of such measures
        scored = {each.name: each for each in self.measures if {"answer", "labels"} <= each.needs}
        return {key: _worst(scored.get(key[1]), self.columns[key], made[key]) for key in made}

    def emptied_at(self, lost: NDArray[np.bool_]) -> StandIn:
        """Returns scores as if the candidates had returned nothing on the rows where `lost` is true."""
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
        return own  # an unbounded measure has no worst value
    return Column(np.where(own.counted, measure.low, own.values), own.status)


def _choose_rows(versions: Sequence[Column], which: NDArray[np.int64]) -> Column:
    """Returns a column whose rows come from several columns.

    `which` has the number of the column for each row.
    """
    rows = np.arange(len(which))
    values = np.stack([each.values for each in versions])[which, rows]
    status = np.stack([each.status for each in versions])[which, rows]
    return Column(values, status)


def parts_read(measure: Measure) -> frozenset[str]:
    """Returns the parts of a response that a measure reads; if it names none, all parts except the answer."""
    return _declared(measure) or RESPONSE_PARTS - {"answer"}


def _declared(measure: Measure) -> frozenset[str]:
    named = measure.needs | (declaration_of(measure).blank or frozenset())
    return named & RESPONSE_PARTS


def replace_responses(block: Block, responses: Sequence[Response | None]) -> Block:
    """Returns a block with other responses. None is the response to an item that was not asked.

    Times and costs stay as they were, since the other responses were never really made.
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
    vars(made)["responses"] = list(responses)  # a block keeps decoded responses there
    return made


class Control(Protocol):
    """Answers or scores that replace those of a gate's candidates. They are made from stored data.

    `expected`  what a sound gate does with the control: "refused", "passes", or "either" (it depends on
                the gate)
    `draws`     how often the control is tried: once, or many times if it is drawn at random
    `mutants`   returns how to draw each system that the control makes, by name ("" for the only one); raises
                ControlNotApplicable, with the reason, if the control cannot be made for a gate

    A `TwinControl` is neither better nor worse than the system with which the candidate is compared. Only a
    gate that asks for a gain must refuse it.
    """

    expected: ClassVar[str]
    draws: ClassVar[int]

    def mutants(self, trial: Trial) -> Mapping[str, Draw]: ...
