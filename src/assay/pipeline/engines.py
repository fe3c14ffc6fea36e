"""Where work is performed. An engine maps packed work to tallies; what it did lies in journal segments.

Work holds names, hashes and positions, never live objects, so that it can travel to another process or
machine. Each performer opens the study itself and writes a segment of its own.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Protocol

from assay.core.errors import PluginError, SystemFailure, did_you_mean

TICK = 0.1  # seconds; Polars' handler of Ctrl-C restarts a wait, so that an endless one is never interrupted

Perform = Callable[[bytes], bytes]


class Engine(Protocol):
    """Performs work somewhere; yields each result as it is there."""

    def map(self, perform: Perform, works: Sequence[bytes]) -> Iterator[bytes]: ...


class LocalEngine:
    """In this process, one arm after the other; threads inside an arm ask in parallel."""

    def map(self, perform: Perform, works: Sequence[bytes]) -> Iterator[bytes]:
        return map(perform, works)


class ProcessEngine:
    """One process a core: arms of systems that compute run side by side."""

    def map(self, perform: Perform, works: Sequence[bytes]) -> Iterator[bytes]:
        context = get_context("spawn")  # not fork: numeric libraries keep threads that do not survive one
        theirs, ours = context.Pipe(duplex=False)
        workers = max(1, min(len(works), os.cpu_count() or 1))
        try:
            with ProcessPoolExecutor(workers, context, _watch, (theirs,)) as pool:
                yield from _results(pool, perform, works, ours)
        finally:
            ours.close()


def _results(
    pool: ProcessPoolExecutor, perform: Perform, works: Sequence[bytes], ours: Connection
) -> Iterator[bytes]:
    try:
        waiting = {pool.submit(perform, work) for work in works}
        while waiting:
            done, waiting = wait(waiting, TICK, FIRST_COMPLETED)
            yield from (future.result() for future in done)
    except BrokenProcessPool as error:
        what = "A worker process was killed or crashed, perhaps for want of memory."
        raise SystemFailure(f"{what} What was answered is stored: run again to resume.") from error
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        ours.close()  # ends the processes, so that nobody waits for what is no longer wanted
        raise


def _watch(parent: Connection) -> None:
    """Ends this process when its parent closes the pipe or dies; the journal bears that at any moment."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, which closes the pipe

    def outlive() -> None:
        parent.poll(None)
        os._exit(1)

    threading.Thread(target=outlive, daemon=True).start()


ENGINES: dict[str, type[Engine]] = {"local": LocalEngine, "processes": ProcessEngine}


def load_engine(name: str) -> Engine:
    """The engine of that name."""
    if name not in ENGINES:
        raise PluginError(f"There is no engine {name!r}. {did_you_mean(name, ENGINES)}")
    return ENGINES[name]()
