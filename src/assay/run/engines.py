"""Where work is performed. An engine maps packed work to tallies; what it did lies in journal segments.

Work holds names, hashes and positions, never live objects, so that it can travel to another process or
machine. Each performer opens the study itself and writes a segment of its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import Protocol

from assay.errors import PluginError

Perform = Callable[[bytes], bytes]


class Engine(Protocol):
    """Performs work somewhere; yields each result as it is there."""

    def map(self, perform: Perform, works: Sequence[bytes]) -> Iterator[bytes]: ...


class Local:
    """In this process, one arm after the other; threads inside an arm ask in parallel."""

    def map(self, perform: Perform, works: Sequence[bytes]) -> Iterator[bytes]:
        return map(perform, works)


class Processes:
    """One process a core: arms of systems that compute run side by side."""

    def map(self, perform: Perform, works: Sequence[bytes]) -> Iterator[bytes]:
        # spawn, not fork: numeric libraries keep threads that do not survive a fork
        with ProcessPoolExecutor(min(len(works), os.cpu_count() or 1), get_context("spawn")) as pool:
            for future in as_completed([pool.submit(perform, work) for work in works]):
                yield future.result()


ENGINES: dict[str, type[Engine]] = {"local": Local, "processes": Processes}


def engine(name: str) -> Engine:
    """The engine of that name."""
    if name not in ENGINES:
        raise PluginError(f"There is no engine {name!r}. Known: {', '.join(ENGINES)}.")
    return ENGINES[name]()
