"""Statistics of a corpus: the growth of its vocabulary, and its near-duplicates."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

_WORD = re.compile(r"\w+")
SHINGLE = 5  # words
ALIKE = 0.8  # the share of shingles that near-duplicates have in common
BANDS, ROWS = 12, 4  # a pair at ALIKE meets in some band with 1 - (1 - 0.8⁴)¹² = 99.8 %
MOST_MET = 200  # of one bucket that are compared with each other; more are as good as the same
_PRIME = (1 << 61) - 1


class Growth(NamedTuple):
    """Heaps' law, V = k · n^beta: the number of distinct words among the first n."""

    k: float
    beta: float
    words: int
    distinct: int


def heaps(texts: Iterable[str], points: int = 40) -> Growth:
    """Fits Heaps' law by least squares on logarithms, at evenly spaced points."""
    counts, seen, total = list[tuple[int, int]](), set[str](), 0
    for text in texts:
        for word in _WORD.findall(text.lower()):
            total += 1
            seen.add(word)
        counts.append((total, len(seen)))
    if total == 0:
        return Growth(math.nan, math.nan, 0, 0)
    first = max(total / 1000, counts[0][0])
    marks = np.geomspace(first, total, points)
    ends = np.array(counts, dtype=np.float64)
    chosen = ends[np.minimum(np.searchsorted(ends[:, 0], marks), len(ends) - 1)]
    beta, log_k = np.polyfit(np.log(chosen[:, 0]), np.log(chosen[:, 1]), 1)
    return Growth(float(np.exp(log_k)), float(beta), total, len(seen))


def near_duplicates(texts: Sequence[str]) -> set[int]:
    """The positions of texts that share at least four fifths of their shingles with another one.

    Candidates come from MinHash bands (Broder 1997), and every pair of them is then compared.
    """
    shingles = [_shingles(text) for text in texts]
    found: set[int] = set()
    for bucket in _candidate_groups(shingles):
        for one, other in combinations(bucket[:MOST_MET], 2):
            if not {one, other} <= found and _alike(shingles[one], shingles[other]):
                found |= {one, other}
    return found


def _shingles(text: str) -> NDArray[np.uint64]:
    words = _WORD.findall(text.lower())
    grams = {" ".join(words[at : at + SHINGLE]) for at in range(max(1, len(words) - SHINGLE + 1))}
    return np.unique(np.fromiter((crc32(gram.encode()) for gram in grams), np.uint64))


def _alike(one: NDArray[np.uint64], other: NDArray[np.uint64]) -> bool:
    shared = len(np.intersect1d(one, other, assume_unique=True))
    return shared >= ALIKE * (len(one) + len(other) - shared)


def _candidate_groups(shingles: Sequence[NDArray[np.uint64]]) -> Iterator[list[int]]:
    """Yields groups of texts that agree in all rows of a band."""
    random = np.random.Generator(np.random.PCG64(0))
    a, b = random.integers(1, 2**31, (2, BANDS * ROWS), dtype=np.uint64)
    signatures = np.array([_signature(each, a, b) for each in shingles])
    for band in range(BANDS):
        rows: NDArray[Any] = signatures[:, band * ROWS : (band + 1) * ROWS]
        _, bucket, sizes = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
        order = np.argsort(bucket.ravel(), kind="stable")
        ends = np.cumsum(sizes)
        for place in np.flatnonzero(sizes > 1).tolist():
            yield order[ends[place] - sizes[place] : ends[place]].tolist()


def _signature(
    shingles: NDArray[np.uint64], a: NDArray[np.uint64], b: NDArray[np.uint64]
) -> NDArray[np.uint64]:
    smallest: NDArray[np.uint64] = ((shingles[:, None] * a + b) % np.uint64(_PRIME)).min(axis=0)
    return smallest
