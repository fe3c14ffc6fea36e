"""Keeps one server: starts it, tells when it has ended, and ends it when told to or when nobody is there.

Run as a script, apart from the program that wants the server, so that no way for that program to end, however
sudden, leaves the server behind. It leads a process group that the server and whatever the server starts are
in. On its input a byte, or the end, means: end it. On its output it writes the server's exit code once.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence

PATIENCE = 5.0  # seconds between asking the server to end and ending it
NOT_STARTED = 127


def keep_server(command: Sequence[str]) -> None:
    """Does not return: the last thing it ends is its own group."""
    try:
        server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=2, stderr=2)  # noqa: S603
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr, flush=True)
        _report_exit(NOT_STARTED)
        sys.stdin.buffer.read(1)
        return
    threading.Thread(target=lambda: _report_exit(server.wait()), daemon=True).start()
    sys.stdin.buffer.read(1)
    signal.signal(signal.SIGTERM, lambda *_: None)
    os.killpg(0, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        server.wait(PATIENCE)
    os.killpg(0, signal.SIGKILL)


def _report_exit(code: int) -> None:
    with contextlib.suppress(OSError):  # nobody listens any more
        sys.stdout.buffer.write(b"%d\n" % code)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    keep_server(sys.argv[1:])
