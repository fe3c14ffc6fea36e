"""The lock of a golden set, golden.lock.json: its ids, which are never used again, and the items with these
ids.

`assay golden freeze` writes the lock. When the set is loaded later, warnings report all changes since then:
without the queries that failed, a system looks better than it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from pathlib import Path
from typing import Any

import msgspec

from assay.core.dataset import digest
from assay.core.errors import DataError, Problem
from assay.datasets.reading import read_json
from assay.kinds.search.golden.entry import GoldenSets

LOCK_SCHEMA = "assay/golden-lock/1"
LOCK = "golden.lock.json"  # or NAME.golden.lock.json, for a study that is not called study.yaml
SHOWN = 3  # ids in a warning
_encode = msgspec.json.Encoder(order="sorted").encode


class ItemDigest(msgspec.Struct, frozen=True, omit_defaults=True):
    """The identity of an item, and hashes with which changes are found."""

    language: str
    category: str
    query: str  # a hash
    routing: str
    passages: str  # a hash
    others: str  # a hash of intent and flags
    since: int = 0  # the first version of the lock with this item
    text: str = ""  # the query itself, which a lock does not hold

    def is_another(self, now: ItemDigest) -> bool:
        """Whether an id now belongs to another item."""
        return (self.language, self.category, self.query) != (now.language, now.category, now.query)

    def expects_the_same(self, now: ItemDigest) -> bool:
        return (self.routing, self.passages, self.others) == (now.routing, now.passages, now.others)


class GoldenLock(msgspec.Struct, frozen=True):
    """The content of a lock file."""

    schema: str
    version: int
    frozen: str  # the day
    items: dict[str, ItemDigest]


def digest_item(raw: Mapping[str, Any]) -> ItemDigest:
    """Returns the digest of an entry as it is written, valid or not."""
    text = _strip(raw.get("query"))
    listed = raw.get("expected_passages")
    passages = [
        {key: _strip(value) for key, value in each.items() if value is not None}
        for each in (listed if isinstance(listed, list) else [])
        if isinstance(each, dict)
    ]
    flags = raw.get("expected_flags") or []
    named = dict.fromkeys(flags, True) if isinstance(flags, list) and _all_words(flags) else flags
    return ItemDigest(
        str(_strip(raw.get("language"))),
        str(_strip(raw.get("category"))),
        digest([_encode(text)]),
        str(_strip(raw.get("expected_routing"))),
        digest([_encode(passages)]),
        digest([_encode([_strip(raw.get("retrieval_intent")), named])]),
        text=str(text),
    )


def _strip(value: Any) -> Any:
    return value.strip() if isinstance(value, str) else value


def _all_words(values: list[Any]) -> bool:
    return all(isinstance(each, str) for each in values)


def read_lock(path: Path) -> GoldenLock | None:
    """Reads a lock. Returns None if there is no lock."""
    if not path.is_file():
        return None
    content, _ = read_json(path)
    return parse_lock(content, path)


def parse_lock(content: Any, path: Path) -> GoldenLock:
    """Parses the content of a lock file."""
    schema = content.get("schema") if isinstance(content, dict) else None
    if schema != LOCK_SCHEMA:
        what = f"this is not a lock of a golden set: its schema is {schema!r}, not {LOCK_SCHEMA!r}"
        raise DataError(Problem(what, str(path), fix="Restore it, or update Assay."))
    try:
        return msgspec.convert(content, GoldenLock)
    except msgspec.ValidationError as error:
        fix = "Restore it from version control."
        raise DataError(Problem(f"the lock is damaged: {error}", str(path), fix=fix)) from None


# ------------------------------------------------------------------------------- since it was frozen


def changes_since_frozen(folder: Path, sets: GoldenSets, languages: Set[str] | None) -> Iterator[str]:
    """Yields warnings about changes since the locks in a folder, for some languages (None: all).

    A lock that shares no id with the sets belongs to other sets, and is ignored.
    """
    now = {name: digest_item(file.raw[index]) for name, (file, index) in sets.found.items()}
    for path in sorted(folder.glob(f"*{LOCK}")):
        lock = read_lock(path)
        items = lock.items if lock is not None and not now.keys().isdisjoint(lock.items) else {}
        then = {name: each for name, each in items.items() if languages is None or each.language in languages}
        both = [name for name in then if name in now]
        another = [name for name in both if then[name].is_another(now[name])]
        changed = [name for name in both if not then[name].expects_the_same(now[name])]
        changes = [
            ("is gone", "are gone", [name for name in then if name not in now]),
            ("stands for something else", "stand for something else", another),
            ("expects something else", "expect something else", changed),
        ]
        for one, several, names in changes:
            if names:
                verb = one if len(names) == 1 else several
                what = f"{len(names)} item{'s' * (len(names) > 1)} of {path.name} {verb}"
                more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
                yield f"{what} now: {', '.join(names[:SHOWN])}{more}. See: assay golden check"
