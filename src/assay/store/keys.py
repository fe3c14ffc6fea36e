"""Makes the key of a response: a hash of everything that decides the response.

A key hashes the spec of the system, the code version, models and prompts, the corpus or scope, the seed, the
query, the budgets, and the earlier keys of the item's sequence. It does not hash gold, tags, measures or
gates. So these can be edited without asking a system again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from assay.core.dataset import Dataset, digest
from assay.core.errors import DataError, Problem
from assay.core.records import Arm, Budget, Item

if TYPE_CHECKING:
    from assay.study.study import Study

_encode = msgspec.json.Encoder(order="sorted").encode


WHOLE = ""  # the scope of items without a scope


class AnswerBasis(msgspec.Struct, frozen=True):
    """Everything that decides the answers of an arm, except seed and query.

    A run stores it, so that reports find the answers.
    """

    identity: str  # a hash of Study.system_identity
    budgets: list[Budget]
    corpora: dict[str, str]  # the hash of the indexed corpus, by the hash of the scope

    @classmethod
    def of(cls, study: Study, arm: Arm, dataset: Dataset) -> AnswerBasis:
        """Returns the basis of an arm for the study as it is now."""
        return cls(_system_hash(study, arm), study.budgets, _corpora(dataset))

    def head(self, seed: int, scope: str) -> bytes:
        """Returns a hash of what all keys with one seed and scope have in common."""
        parts = [self.identity.encode(), str(seed).encode(), _encode(self.budgets), self._corpus(scope)]
        return digest(parts).encode()

    def index_key(self, seed: int, scope: str = WHOLE) -> str:
        """Returns the key of an index: a hash of everything that decides the index."""
        return digest([self.identity.encode(), str(seed).encode(), self._corpus(scope)])

    def _corpus(self, scope: str) -> bytes:
        return self.corpora.get(scope, "").encode()  # a scope that is newer than the run has no answers

    def changes(self, study: Study, arm: Arm, dataset: Dataset) -> list[str]:
        """Returns which of "system", "budgets" and "corpus" have changed since the arm was run."""
        now = _corpora(dataset)
        found = {
            "system": self._other_system(study, arm),
            "budgets": self.budgets != study.budgets,
            "corpus": any(self.corpora[scope] != now[scope] for scope in self.corpora.keys() & now.keys()),
        }
        return [what for what, changed in found.items() if changed]

    def _other_system(self, study: Study, arm: Arm) -> bool:
        try:
            return _system_hash(study, arm) != self.identity
        except Exception:  # a variable is not set, or a model is gone: a report needs neither
            return False


@dataclass(frozen=True)
class SessionTask:
    """Items that run in one session and are stored in one write: a sequence, usually of one item."""

    items: tuple[int, ...]  # the positions of the items in the dataset
    keys: tuple[str, ...]
    scope: tuple[str, ...] | None = None


def plan_tasks(basis: AnswerBasis, seed: int, dataset: Dataset) -> list[SessionTask]:
    """Returns all tasks of an arm and seed, with the keys of their responses.

    Tasks with the same scope follow each other. Otherwise they are in the order of the items.
    """
    groups: dict[str, list[int]] = {}
    for position, item in enumerate(dataset.items):
        groups.setdefault(f"s:{item.sequence}" if item.sequence else f"i:{item.item_id}", []).append(position)
    heads: dict[tuple[str, ...] | None, bytes] = {}
    by_scope: dict[tuple[str, ...] | None, list[SessionTask]] = {}
    for positions in groups.values():
        items = [dataset.items[position] for position in positions]
        scope = _shared_scope(items, dataset.name)
        if scope not in heads:
            heads[scope] = basis.head(seed, scope_hash(scope))
        by_scope.setdefault(scope, []).append(
            SessionTask(tuple(positions), _chain(heads[scope], items), scope)
        )
    return [unit for units in by_scope.values() for unit in units]


def scope_hash(scope: Sequence[str] | None) -> str:
    """Returns the hash of a scope. The order of its passages does not matter."""
    return WHOLE if scope is None else digest(doc_id.encode() for doc_id in sorted(scope))


def _corpora(dataset: Dataset) -> dict[str, str]:
    scopes = {scope_hash(item.scope): item.scope for item in dataset.items}
    return {
        name: (dataset.corpus if scope is None else dataset.corpus.restricted(scope)).hash
        for name, scope in scopes.items()
    }


def _system_hash(study: Study, arm: Arm) -> str:
    return digest([study.system_identity(arm).encode()])


def _shared_scope(items: Sequence[Item], where: str) -> tuple[str, ...] | None:
    scope = items[0].scope
    if any(item.scope != scope for item in items):
        what = f"items of the sequence {items[0].sequence!r} have different scopes"
        fix = "A sequence runs in one session on one index: give all its items the same scope."
        raise DataError(Problem(what, where, fix=fix))
    return None if scope is None else tuple(sorted(scope))


def _chain(head: bytes, items: Sequence[Item]) -> tuple[str, ...]:
    """Returns one key per item.

    Each key hashes the key before it, and so all earlier queries of the sequence.
    """
    keys: list[str] = []
    for item in items:
        keys.append(digest([head, _encode(item.query), *(key.encode() for key in keys[-1:])]))
    return tuple(keys)


def keys_by_item(units: Sequence[SessionTask], n_items: int) -> list[str]:
    """Returns the key of every item, by the item's position in the dataset."""
    keys = [""] * n_items
    for unit in units:
        for position, key in zip(unit.items, unit.keys, strict=True):
            keys[position] = key
    return keys
