"""The identity of a response: what it would take to get the same one again.

A key hashes system spec, code version, models and prompts, corpus or scope, seed, query, budgets and the
earlier keys of the item's sequence. Gold, tags, measures and gates stay out: editing them re-pays nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from assay.datasets.dataset import Dataset, digest
from assay.errors import DataError, Problem
from assay.records import Arm, Item
from assay.study import Study

_encode = msgspec.json.Encoder(order="sorted").encode


@dataclass(frozen=True)
class Unit:
    """What runs in one session and is stored in one write: a sequence of items, usually of one."""

    items: tuple[int, ...]  # positions in the dataset
    keys: tuple[str, ...]
    scope: tuple[str, ...] | None = None


def plan_units(study: Study, arm: Arm, seed: int, dataset: Dataset) -> list[Unit]:
    """Every unit of an arm and seed, in dataset order, with the keys its responses will carry."""
    identity = [study.system_identity(arm).encode(), str(seed).encode(), _encode(study.budgets)]
    groups: dict[str, list[int]] = {}
    for position, item in enumerate(dataset.items):
        groups.setdefault(f"s:{item.sequence}" if item.sequence else f"i:{item.item_id}", []).append(position)
    heads: dict[tuple[str, ...] | None, bytes] = {}  # what all keys of a scope have in common
    units = []
    for positions in groups.values():
        items = [dataset.items[position] for position in positions]
        scope = _scope(items, dataset.name)
        if scope not in heads:
            corpus = dataset.corpus if scope is None else dataset.corpus.restricted(scope)
            heads[scope] = digest([*identity, corpus.hash.encode()]).encode()
        units.append(Unit(tuple(positions), _chain(heads[scope], items), scope))
    return units


def index_key(study: Study, arm: Arm, seed: int, dataset: Dataset) -> str:
    """The identity of an arm's index: what it would take to build the same one again."""
    parts = [study.system_identity(arm), str(seed), dataset.corpus.hash]
    return digest(part.encode() for part in parts)


def _scope(items: Sequence[Item], where: str) -> tuple[str, ...] | None:
    scope = items[0].scope
    if any(item.scope != scope for item in items):
        what = f"items of the sequence {items[0].sequence!r} have different scopes"
        fix = "A sequence runs in one session on one index: give all its items the same scope."
        raise DataError(Problem(what, where, fix=fix))
    return None if scope is None else tuple(sorted(scope))


def _chain(head: bytes, items: Sequence[Item]) -> tuple[str, ...]:
    """One key an item; each holds the one before it, and so all earlier queries of the sequence."""
    keys: list[str] = []
    for item in items:
        keys.append(digest([head, _encode(item.query), *(key.encode() for key in keys[-1:])]))
    return tuple(keys)


def in_item_order(units: Sequence[Unit], n_items: int) -> list[str]:
    """The key of every item, by its position in the dataset."""
    keys = [""] * n_items
    for unit in units:
        for position, key in zip(unit.items, unit.keys, strict=True):
            keys[position] = key
    return keys
