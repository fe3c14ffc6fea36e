"""How many content words each unit of a document shares with the units before it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

import numpy as np
from scipy.sparse import csr_array

from assay.kinds.memory.systems.graph import Ints

_ROWS = 256  # units that are held against all others at once


def shared_before(words: Sequence[Set[str]]) -> Iterator[Ints]:
    """For each unit in turn, the number of words that it shares with each unit before it."""
    number: dict[str, int] = {}
    columns = [number.setdefault(word, len(number)) for own in words for word in own]
    ends = np.cumsum([0, *(len(own) for own in words)])
    having = csr_array((np.ones(len(columns), np.int64), columns, ends), shape=(len(words), len(number)))
    for start in range(0, len(words), _ROWS):
        rows = (having[start : start + _ROWS] @ having.T).toarray()
        for place, row in enumerate(rows, start):
            yield row[:place]


def closest(shared: Ints, places: Ints, most: int) -> list[int]:
    """Of some places, at most so many: those that share most, the nearer first, told in document order."""
    chosen: list[int] = places[np.lexsort((-places, -shared[places]))][:most].tolist()
    return sorted(chosen)
