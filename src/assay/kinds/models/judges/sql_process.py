"""The process that holds the table of passages, and the code of both sides: of the parent and of the process.

The process can open no file, sees no environment and has little memory. It ends itself when its time is up,
because some work inside DuckDB cannot be interrupted, such as an expensive regular expression.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import subprocess
import sys
import weakref
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import IO

import msgspec

from assay.kinds.models.judges.sql_select import (
    ClauseReply,
    SqlColumn,
    answer_clauses,
    connect,
    import_modules,
)

GRACE = 1.0  # seconds between the interruption and the end of the process
MOST = 60.0  # seconds for any number of clauses together
SLACK = 1 << 30  # address space that threads and allocators reserve and do not use

TableContents = tuple[
    list[SqlColumn], dict[str, str], int, float
]  # columns, names for columns, bytes, seconds
_replies: msgspec.msgpack.Decoder[list[ClauseReply]] = msgspec.msgpack.Decoder(list[ClauseReply])


def seconds_for(clauses: int, seconds: float) -> float:
    """Returns the time limit for several clauses together, computed from the limit for one clause."""
    return max(seconds, min(seconds * clauses, MOST))


# ------------------------------------------------------------------------------------- from outside


class SqlWorker:
    """A process that holds the table. It loads the table once, then answers clauses."""

    def __init__(self) -> None:
        path = os.pathsep.join([*filter(None, sys.path), str(Path(str(files("assay"))).parent)])
        kept = ("SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")  # what a Python may need to start
        self._process = subprocess.Popen(  # noqa: S603
            [
                *(sys.executable, "-P", "-c"),
                "from assay.kinds.models.judges.sql_process import run_worker; run_worker()",
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={"PYTHONPATH": path, **{name: os.environ[name] for name in kept if name in os.environ}},
            start_new_session=True,  # Ctrl-C reaches only the parent, which ends it
        )
        self._loading = False
        self._finish = weakref.finalize(self, _finish, self._process)

    def load(self, table: bytes) -> None:
        """Sends the table. The process loads it in the background, and `loaded` waits until it is loaded."""
        self._tell(table)
        self._loading = True

    def loaded(self) -> None:
        """Waits until the table is loaded. Raises EOFError if the process ended instead."""
        if self._loading:
            self._hear()
            self._loading = False

    def ask(self, clauses: Sequence[str]) -> list[ClauseReply]:
        """Returns the replies to some clauses. Raises EOFError if the process ended instead."""
        self._tell(msgspec.msgpack.encode(clauses))
        return self._hear()

    def _tell(self, message: bytes) -> None:
        if self._process.stdin is None:
            raise EOFError
        try:
            _send_message(self._process.stdin, message)
        except OSError as error:
            raise EOFError from error

    def _hear(self) -> list[ClauseReply]:
        if self._process.stdout is None:
            raise EOFError
        return _replies.decode(_receive_message(self._process.stdout))

    def end(self) -> str:
        """Ends the process at once, and returns the last line of its error output."""
        return self._finish() or ""


def _finish(process: subprocess.Popen[bytes]) -> str:
    process.kill()
    _, complaint = process.communicate()
    return (complaint.decode(errors="replace").strip().splitlines() or [""])[-1]


def _send_message(stream: IO[bytes], message: bytes) -> None:
    stream.write(len(message).to_bytes(8, "little"))
    stream.write(message)
    stream.flush()


def _receive_message(stream: IO[bytes]) -> bytes:
    size = stream.read(8)
    message = stream.read(int.from_bytes(size, "little"))
    if len(size) < 8 or len(message) < int.from_bytes(size, "little"):
        raise EOFError
    return message


# ------------------------------------------------------------------------------------- from inside


def run_worker() -> None:
    """Loads the table that it receives, restricts its own process, and answers until the input ends."""
    questions, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a stray print must not corrupt the answers
    import_modules()  # while the other side still prepares the table
    columns, others, memory, seconds = msgspec.msgpack.decode(_receive_message(questions), type=TableContents)
    connection = connect(columns, others, memory)
    places = {doc_id: place for place, doc_id in enumerate(columns[0][2])}
    del columns
    # all that these need is imported while files can still be read
    answer_clauses(connection, places, ["true"], 60)
    answer_clauses(connection, places, ["true", "lower(text) = 'a'"], 60)
    _confine(memory)
    _send_message(answers, msgspec.msgpack.encode([]))
    with contextlib.suppress(EOFError):
        while True:
            clauses = msgspec.msgpack.decode(_receive_message(questions), type=list[str])
            limit = seconds_for(len(clauses), seconds)
            faulthandler.dump_traceback_later(limit + GRACE, exit=True)
            found = answer_clauses(connection, places, clauses, limit)
            faulthandler.cancel_dump_traceback_later()
            _send_message(answers, msgspec.msgpack.encode(found))


def _confine(memory: int) -> None:
    """Forbids new files, writing and core dumps, and limits memory, if the system supports this."""
    if sys.platform == "win32":
        return
    import resource

    limits = {resource.RLIMIT_FSIZE: 0, resource.RLIMIT_CORE: 0, resource.RLIMIT_NOFILE: 0}
    held = Path("/proc/self/statm")
    if held.exists():
        limits[resource.RLIMIT_AS] = (
            int(held.read_text().split()[0]) * resource.getpagesize() + memory + SLACK
        )
    for limit, most in limits.items():
        resource.setrlimit(limit, (most, most))
