"""Controls for every gate: systems that are not better, that know nothing, that fail, or that lose a part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import ClassVar

import msgspec
import numpy as np

from assay.controls.trial import (
    VERSIONS,
    ControlNotApplicable,
    Draw,
    Random,
    StandIn,
    Trial,
    replace_responses,
)
from assay.core.block import FAILED, Block
from assay.core.dataset import Condition
from assay.core.records import PATH, Context, Hit, Item, Piece, Response, Step
from assay.stats.rows import Column

DRAWS = 200
SMALLEST = 0.10  # the least share of the gate's items that a lost slice must have
MOST_RETURNED = 1_000  # documents per item of the system that returns everything
ANSWERED = frozenset({"hits", "contexts", "trace", "route", "flags"})  # people do not score these parts
ANYTHING = ANSWERED | {"answer"}


@dataclass(frozen=True)
class Twin:
    """A copy of the system that the candidate is compared with: it shows no gain and no loss."""

    expected: ClassVar[str] = "either"  # a gate that asks for a gain must refuse it: see `proving`
    draws: ClassVar[int] = 1
    twin: ClassVar[bool] = True

    def mutants(self, trial: Trial) -> Mapping[str, Draw]:
        pairs = trial.require_references()
        copied = {
            (system, measure.name): trial.rows.column(beside, measure.name)
            for system, beside in pairs.items()
            for measure in trial.measures
        }
        return {"": lambda _: StandIn(copied)}


@dataclass(frozen=True)
class Swap:
    """The candidate and the system it is compared with, swapped at random by cluster: neither is better."""

    expected: ClassVar[str] = "either"
    draws: ClassVar[int] = DRAWS
    twin: ClassVar[bool] = True

    def mutants(self, trial: Trial) -> Mapping[str, Draw]:
        pairs = trial.require_references()
        if len(set(pairs.values())) < len(pairs):
            raise ControlNotApplicable("several candidates share what they are compared with")
        clusters = trial.rows.clusters

        def draw(random: Random) -> StandIn:
            turned = random.random(int(clusters.max()) + 1)[clusters] < 0.5
            columns = {}
            for system, beside in pairs.items():
                for measure in trial.measures:
                    own, other = (trial.rows.column(name, measure.name) for name in (system, beside))
                    columns[system, measure.name] = _either(turned, other, own)
                    columns[beside, measure.name] = _either(turned, own, other)
            return StandIn(columns)

        return {"": draw}


def _either(first: np.ndarray, a: Column, b: Column) -> Column:
    return Column(np.where(first, a.values, b.values), np.where(first, a.status, b.status))


@dataclass(frozen=True)
class Noise:
    """The candidate's answers, given to other questions at random."""

    expected: ClassVar[str] = "refused"
    draws: ClassVar[int] = DRAWS

    def mutants(self, trial: Trial) -> Mapping[str, Draw]:
        trial.require(ANSWERED)
        return {"": trial.drawn("noise", self._dealt, VERSIONS)}

    @staticmethod
    def _dealt(block: Block, random: Random) -> Block:
        answered = [place for place, response in enumerate(block.responses) if response is not None]
        # each question gets the answer of the next one in a random order, so none keeps its own
        order = random.permutation(answered).tolist()
        dealt = dict(zip(order, [*order[1:], *order[:1]], strict=True))
        given = [dealt.get(place, place) for place in range(len(block.items))]
        return replace_responses(block, [block.responses[place] for place in given])


@dataclass(frozen=True)
class Shuffle:
    """The candidate's hits and paths in random order."""

    expected: ClassVar[str] = "refused"
    draws: ClassVar[int] = DRAWS

    def mutants(self, trial: Trial) -> Mapping[str, Draw]:
        trial.require(frozenset({"hits"}))
        return {"": trial.drawn("shuffle", self._shuffled, VERSIONS)}

    @staticmethod
    def _shuffled(block: Block, random: Random) -> Block:
        return replace_responses(block, [each and _in_random_order(each, random) for each in block.responses])


def _in_random_order(response: Response, random: Random) -> Response:
    hits = [response.hits[place] for place in random.permutation(len(response.hits))]
    scores = sorted((hit.score for hit in hits), reverse=True)
    ranked = [msgspec.structs.replace(hit, score=score) for hit, score in zip(hits, scores, strict=True)]
    paths = list(_paths(response.trace))
    walked = [step for place in random.permutation(len(paths)) for step in paths[place]]
    rest = [step for step in response.trace if step.kind != PATH]
    return msgspec.structs.replace(response, hits=_with_falling_scores(ranked), trace=[*walked, *rest])


def _with_falling_scores(hits: list[Hit]) -> list[Hit]:
    """Returns the hits with strictly falling scores. Equal scores would restore the old order."""
    if all(a.score > b.score for a, b in pairwise(hits)):
        return hits
    return [msgspec.structs.replace(hit, score=1 - rank / len(hits)) for rank, hit in enumerate(hits)]


def _paths(trace: list[Step]) -> Iterator[list[Step]]:
    held: list[Step] = []
    for step in trace:
        if step.kind == PATH:
            if step.depth == 0 and held:
                yield held
                held = []
            held.append(step)
    if held:
        yield held


@dataclass(frozen=True)
class Everything:
    """Returns everything that any system found for any item, in arbitrary order, and sets every flag."""

    expected: ClassVar[str] = "refused"
    draws: ClassVar[int] = 1

    def mutants(self, trial: Trial) -> Mapping[str, Draw]:
        trial.require(frozenset({"hits", "contexts", "flags"}))
        pool = sorted({doc for block in trial.blocks for doc in block.ranking["doc"].unique()})
        shown = _pieces_by_item(trial)
        flags = {name: True for block in trial.blocks for name in _flag_names(block)}

        def return_everything(block: Block, random: Random) -> Block:
            right = _right_documents(block)
            made: list[Response | None] = []
            for item, response in zip(block.items, block.responses, strict=True):
                if response is None:
                    made.append(None)
                    continue
                docs = _some_of(pool, right.get(item.item_id, []), item, random)
                hits = [Hit(doc, 1 - rank / len(docs)) for rank, doc in enumerate(docs)]
                contexts = [_whole(each, shown.get(item.item_id, {})) for each in response.contexts]
                rest = [step for step in response.trace if step.kind != PATH]  # the hits are its paths
                made.append(
                    msgspec.structs.replace(response, hits=hits, contexts=contexts, flags=flags, trace=rest)
                )
            return replace_responses(block, made)

        return {"": trial.drawn("everything", return_everything)}


def _some_of(pool: list[str], right: list[str], item: Item, random: Random) -> list[str]:
    """Returns the right documents and others, in random order.

    There are at most MOST_RETURNED documents, unless more are right.
    """
    known = list(dict.fromkeys([*right, *(pool if item.scope is None else sorted({*pool, *item.scope}))]))
    kept = [*right, *(doc for doc in known if doc not in set(right))][: max(MOST_RETURNED, len(right))]
    return [kept[place] for place in random.permutation(len(kept))]


def _right_documents(block: Block) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for item_id, doc, grade in block.relevance.iter_rows():
        if grade > 0:
            found.setdefault(item_id, []).append(doc)
    return found


def _flag_names(block: Block) -> set[str]:
    named = {name for response in block.responses if response is not None for name in response.flags}
    return named.union(*(each.gold.get("flags", {}) for each in block.items))


def _pieces_by_item(trial: Trial) -> dict[str, dict[Piece, int]]:
    """Returns, for each item, every piece that any context shows, with its share of that context's tokens."""
    found: dict[str, dict[Piece, int]] = {}
    for block in trial.blocks:
        for item, response in zip(block.items, block.responses, strict=True):
            for context in response.contexts if response is not None else ():
                share = context.tokens // max(len(context.pieces), 1)
                held = found.setdefault(item.item_id, {})
                held.update({piece: max(share, held.get(piece, 0)) for piece in context.pieces})
    return found


def _whole(context: Context, pieces: Mapping[Piece, int]) -> Context:
    return msgspec.structs.replace(context, pieces=list(pieces), tokens=sum(pieces.values()))


@dataclass(frozen=True)
class Silence:
    """Returns nothing at all."""

    expected: ClassVar[str] = "refused"
    draws: ClassVar[int] = 1

    def mutants(self, trial: Trial) -> Mapping[str, Draw]:
        trial.require(ANYTHING)
        everywhere = np.ones(len(trial.rows), dtype=bool)
        _ = trial.emptied  # raises at once if the control does not apply
        return {"": lambda _: trial.emptied_at(everywhere)}


@dataclass(frozen=True)
class Failing:
    """The candidate, failing on a tenth of the items."""

    expected: ClassVar[str] = "refused"
    draws: ClassVar[int] = 1
    share: float = 0.10

    def mutants(self, trial: Trial) -> Mapping[str, Draw]:
        if not trial.roles.candidates:
            raise ControlNotApplicable("no clause is about a system")
        places = np.flatnonzero(trial.read)
        if not len(places):
            raise ControlNotApplicable("the gate reads no item")
        failed = np.zeros(len(trial.rows), dtype=bool)
        count = int(np.ceil(self.share * len(places)))
        failed[trial.random(0).choice(places, count, replace=False)] = True

        def draw(_: Random) -> StandIn:
            return StandIn({key: _failing(column, failed) for key, column in trial.columns.items()})

        return {"": draw}


def _failing(column: Column, failed: np.ndarray) -> Column:
    lost = failed & column.expected
    return Column(
        np.where(lost, np.nan, column.values), np.where(lost, FAILED, column.status).astype(np.int8)
    )


@dataclass(frozen=True)
class LostSlice:
    """The candidate, with nothing returned for one value of a tag that the study is sliced by."""

    expected: ClassVar[str] = "refused"
    draws: ClassVar[int] = 1

    def mutants(self, trial: Trial) -> Mapping[str, Draw]:
        trial.require(ANYTHING)
        if not trial.by:
            raise ControlNotApplicable("the study is not sliced by any tag (by: […])")
        _ = trial.emptied
        found = {f"{tag}={value}": lost for tag in trial.by for value, lost in self._slices(trial, tag)}
        if not found:
            raise ControlNotApplicable(
                f"no slice has {SMALLEST:.0%} of the items that the gate reads, or only one has"
            )
        return {name: partial(_empty_at, trial, lost) for name, lost in found.items()}

    @staticmethod
    def _slices(trial: Trial, tag: str) -> Iterator[tuple[str, np.ndarray]]:
        """Yields the values of a tag that enough items have, with these items.

        With fewer items, a gate of this size cannot detect a loss.
        """
        for value in trial.rows.known_values(tag):
            lost = trial.rows.mask([Condition(tag, True, (value,))]) & trial.read
            if SMALLEST * trial.read.sum() <= lost.sum() < trial.read.sum():
                yield value, lost


def _empty_at(trial: Trial, lost: np.ndarray, _: Random) -> StandIn:
    return trial.emptied_at(lost)


@dataclass(frozen=True)
class Jitter:
    """The system that the candidate is compared with, with each score changed at random by up to a tenth.

    It learned nothing and finds nothing more. A gate that only asks whether something moved lets it pass.
    """

    expected: ClassVar[str] = "either"
    draws: ClassVar[int] = DRAWS
    twin: ClassVar[bool] = True
    first_address: ClassVar[str] = "assay.controls.jitter:Jitter"
    share: float = 0.10

    def mutants(self, trial: Trial) -> Mapping[str, Draw]:
        trial.require(frozenset({"hits"}))
        trial.require_references()
        if any(trial.beside(block) is None for block in trial.own):
            raise ControlNotApplicable("what the candidate is compared with has no answers to the same items")

        def jittered(block: Block, random: Random) -> Block:
            beside = trial.beside(block) or block
            return replace_responses(
                block, [each and self._jittered(each, random) for each in beside.responses]
            )

        return {"": trial.drawn(f"jitter {self.share}", jittered, VERSIONS, compared=True)}

    def _jittered(self, response: Response, random: Random) -> Response:
        off = 1 + self.share * random.uniform(-1, 1, len(response.hits))
        hits = [
            msgspec.structs.replace(hit, score=hit.score * by)
            for hit, by in zip(response.hits, off.tolist(), strict=True)
        ]
        return msgspec.structs.replace(response, hits=sorted(hits, key=lambda hit: -hit.score))
