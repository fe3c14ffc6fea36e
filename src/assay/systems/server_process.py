"""A server process that is started for one index and ends with it."""

from __future__ import annotations

import os
import select
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from assay.core.endpoint import Endpoint
from assay.core.errors import SystemFailure, UsageError
from assay.core.protocols import Kit
from assay.systems import server_keeper

_TICK = 0.05  # seconds between two checks whether it is ready
_CHECK = 2.0  # seconds for one check
_NOTICE = 0.2  # seconds until the end of a server is noticed
_TAIL = 2000  # bytes of its output that a message shows
_WORD = {"python": sys.executable, "python3": sys.executable}


def split_command(command: str) -> list[str]:
    """Splits a command as a shell does. `python` becomes the interpreter that runs this program."""
    try:
        found = shlex.split(command)
    except ValueError as error:
        what = f"start: {command!r} cannot be split into words: {error}"
        raise UsageError(f"{what}. Mend the quotes.") from None
    if not found:
        raise UsageError("start: there is no command. Write one, or leave start out.")
    return [_WORD.get(found[0], found[0]), *found[1:]]


def free_port() -> int:
    """Returns a port of this machine on which no program listens now."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


class ServerProcess:
    """A running server. Messages show the end of its output."""

    def __init__(self, command: str, kit: Kit) -> None:
        self.command = split_command(command)
        self._code: str | None = None
        self._turn = threading.Lock()  # held while the exit code is read
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the server
        keeper = [sys.executable, "-I", "-S", server_keeper.__file__]
        self._keeper = subprocess.Popen(  # noqa: S603
            [*keeper, *self.command],
            cwd=kit.root,
            env={**os.environ, **kit.env, "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            start_new_session=True,  # Ctrl-C reaches only this program, which then ends the server
        )
        self.stop = weakref.finalize(self, _stop, self._keeper, self._log)

    def ended(self, wait: float = _NOTICE) -> str | None:
        """Returns the exit code if the server has ended, else None."""
        output = self._keeper.stdout
        with self._turn:
            may_read = self._code is None and output is not None and not output.closed
            if output is not None and may_read and select.select([output], [], [], wait)[0]:
                self._code = output.readline().decode().strip() or "unknown"
            return self._code

    def exit_message(self) -> str:
        """Returns the message for a server that has ended."""
        code = self.ended()
        not_started = code == str(server_keeper.NOT_STARTED)
        why = "cannot be started" if not_started else f"has ended, with code {code}"
        return f"The server that start: runs {why}. Correct start, or the server.{self.output_tail()}"

    def output_tail(self) -> str:
        """Returns the end of the server's output, as the last sentence of a message."""
        if self._log.closed:
            return ""
        size = os.fstat(self._log.fileno()).st_size
        tail = os.pread(self._log.fileno(), _TAIL, max(0, size - _TAIL)).decode("utf-8", "replace").strip()
        return f" The end of its output: {tail}" if tail else " It printed nothing."


def _stop(keeper: subprocess.Popen[bytes], log: IO[bytes]) -> None:
    """Ends a server and all processes that it started. Returns when they are gone."""
    with suppress(OSError):
        if keeper.stdin is not None:
            keeper.stdin.write(b"\n")  # closing is not enough: a process forked meanwhile may hold it open
            keeper.stdin.close()
    try:
        keeper.wait(server_keeper.PATIENCE + 1.0)
    except subprocess.TimeoutExpired:
        pass
    finally:
        with suppress(ProcessLookupError):
            os.killpg(keeper.pid, signal.SIGKILL)
        keeper.wait()
        if keeper.stdout is not None:
            keeper.stdout.close()
        log.close()


def await_ready(probe: Callable[[float], str | None], patience: float, served: ServerProcess | None) -> None:
    """Waits until a probe reports nothing missing. Raises a SystemFailure after `patience` seconds."""
    until = time.monotonic() + patience
    while True:
        missing = probe(min(_CHECK, patience))
        if served is not None and served.ended(0.0) is not None:
            raise SystemFailure(served.exit_message())
        if missing is None:
            return
        if time.monotonic() > until:
            last = "" if served is None else served.output_tail()
            what = f"The service is not ready after {patience:g} s: {missing}"
            raise SystemFailure(f"{what}. Raise patience, or correct start, url or ready.{last}")
        time.sleep(_TICK)


def readiness_probe(url: str, headers: Mapping[str, str], any_status: bool) -> Callable[[float], str | None]:
    """Returns a check of a server. The check returns None if the server is ready, else what is missing.

    The server is ready if it answers with a status 2xx. With `any_status`, any answer is enough.
    """
    shown = Endpoint(url).address

    def missing(timeout: float) -> str | None:
        import urllib3

        with urllib3.PoolManager(headers=headers, retries=False) as pool:
            try:
                answer = pool.request("GET", url, timeout=timeout, redirect=False, preload_content=False)
            except urllib3.exceptions.HTTPError:
                return f"nobody answers at {shown}"
        return None if any_status or 200 <= answer.status < 300 else f"{shown} answers {answer.status}"

    return missing


def is_port_taken(url: str) -> bool:
    """Whether another program listens on the port of a URL."""
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((parts.hostname or "", port), timeout=_CHECK).close()
    except OSError:
        return False
    return True


def find_missing_program(command: str, kit: Kit) -> str | None:
    """Returns the program of a command if it does not exist, else None."""
    import shutil

    program = split_command(command)[0]
    at_home = Path(kit.root, program)
    found = shutil.which(program) or ("/" in program and at_home.is_file())
    return None if found else program
