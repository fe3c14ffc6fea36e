"""The identity of a response: what it would take to get the same one again.

A key hashes system spec, code version, models and prompts, corpus or scope, seed, query, budgets and the
earlier keys of the item's sequence. Gold, tags, measures and gates stay out: editing them re-pays nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from assay.datasets.dataset import Dataset, digest
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
    head = [study.system_identity(arm).encode(), str(seed).encode(), _encode(study.budgets)]
    groups: dict[str, list[int]] = {}
    for position, item in enumerate(dataset.items):
        groups.setdefault(f"s:{item.sequence}" if item.sequence else f"i:{item.item_id}", []).append(position)
    scopes: dict[tuple[str, ...], bytes] = {}
    units = []
    for positions in groups.values():
        first = dataset.items[positions[0]]
        scope = tuple(sorted(first.scope)) if first.scope is not None else None
        if scope is not None and scope not in scopes:
            scopes[scope] = dataset.corpus.restricted(scope).hash.encode()
        corpus = scopes[scope] if scope is not None else dataset.corpus.hash.encode()
        keys = _chain(head, corpus, [dataset.items[position] for position in positions])
        units.append(Unit(tuple(positions), keys, scope))
    return units


def _chain(head: Sequence[bytes], corpus: bytes, items: Sequence[Item]) -> tuple[str, ...]:
    keys: list[str] = []
    for item in items:
        keys.append(digest([*head, corpus, _encode(item.query), *(key.encode() for key in keys)]))
    return tuple(keys)


def in_item_order(units: Sequence[Unit], n_items: int) -> list[str]:
    """The key of every item, by its position in the dataset."""
    keys = [""] * n_items
    for unit in units:
        for position, key in zip(unit.items, unit.keys, strict=True):
            keys[position] = key
    return keys
