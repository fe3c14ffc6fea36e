"""What every store is given and asked, checked and put into one form for all of them.

Metadata becomes facets: one text for each key and value, `["language", "en"]`, so that 1, "1" and true stay
three values in whatever keeps them, and a key may hold any character. Only texts, whole numbers and booleans,
alone or in a list, can be asked for; other metadata has no facet.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from assay.core.errors import UsageError
from assay.core.parts import Ints, Vectors, Where, normalize_rows

_PLAIN = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True)
class Given:
    """Vectors of length 1 and the facets of each. A row of zeros has no direction, so nothing finds it."""

    vectors: Vectors
    facets: Sequence[Sequence[str]]

    @property
    def shape(self) -> tuple[int, int]:
        rows, dims = self.vectors.shape
        return rows, dims

    @property
    def directed(self) -> Ints:
        """The positions of the vectors that a search can find."""
        return np.flatnonzero(self.vectors.any(axis=1))

    def positions(self) -> dict[str, list[int]]:
        """Where each facet is found, in order."""
        found: dict[str, list[int]] = {}
        for position in self.directed.tolist():
            for facet in self.facets[position]:
                found.setdefault(facet, []).append(position)
        return found


def given(vectors: ArrayLike, metadata: Sequence[Mapping[str, object]]) -> Given:
    """What a store is to keep."""
    rows = np.asarray(vectors)
    if rows.ndim != 2:
        raise UsageError(f"A store takes a matrix, a row a vector. This has {rows.ndim} dimensions.")
    if metadata and len(metadata) != len(rows):
        raise UsageError(f"There are {len(rows)} vectors and metadata of {len(metadata)}. Give one for each.")
    return Given(normalize_rows(rows), [facets(each) for each in metadata] or [()] * len(rows))


def check_same(name: str, stored: tuple[int, int], new: tuple[int, int]) -> None:
    """Refuses to take one content for another under the same name."""
    if stored != new and (stored[0] or new[0]):
        (rows, dims), (new_rows, new_dims) = stored, new
        raise UsageError(
            f"The index {name} already holds {rows} vectors of {dims} dimensions, "
            f"and these are {new_rows} of {new_dims}. A name stands for one content: choose another."
        )


def directions(queries: ArrayLike, length: int, dims: int) -> Vectors:
    """The queries, of length 1, for an index of `length` vectors; an empty one takes any."""
    rows = np.asarray(queries)
    if rows.ndim != 2:
        raise UsageError(f"A search takes a matrix, a row a query. This has {rows.ndim} dimensions.")
    if length and rows.shape[1] != dims:
        raise UsageError(
            f"The queries have {rows.shape[1]} dimensions and the index {dims}. "
            "Embed both with the same model."
        )
    return normalize_rows(rows)


def facets(metadata: Mapping[str, object]) -> list[str]:
    """Everything that can be asked of some metadata."""
    return [_facet(key, value) for key, held in metadata.items() for value in _values(held)]


def wanted(where: Where | None) -> list[list[str]]:
    """For each key asked for, the facets of which one must be there."""
    asked = []
    for key, value in (where or {}).items():
        values = _values(value)
        if len(values) != len(_listed(value)):
            raise UsageError(
                f"where: {key} is compared with {value!r}. Use texts, whole numbers, true or false."
            )
        asked.append([_facet(key, each) for each in values])
    return asked


def stored_name(*parts: object, longest: int = 60) -> str:
    """Parts joined to a name that folders, tables and collections take; a long or odd one ends in a hash."""
    name = "-".join(map(str, parts))
    if _PLAIN.fullmatch(name) and len(name) <= longest:
        return name
    mark = hashlib.blake2b(name.encode(), digest_size=10).hexdigest()
    return re.sub(r"[^A-Za-z0-9_-]+", "_", name)[: longest - len(mark) - 1] + "-" + mark


def _values(held: object) -> list[str | int]:
    return [value for value in _listed(held) if isinstance(value, str | int)]


def _listed(held: object) -> list[object]:
    return list(held) if isinstance(held, Sequence | Set) and not isinstance(held, str | bytes) else [held]


def _facet(key: str, value: str | int | bool) -> str:
    return json.dumps([key, value])
