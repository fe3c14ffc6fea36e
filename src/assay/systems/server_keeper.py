"""Starts one server, reports when it has ended, and ends it on request or when its parent is gone.

This script runs in its own process, so that the server never outlives the program that started it, even if
that program is killed. The script leads the process group of the server and of all processes that the server
starts. A byte on its input, or the end of its input, asks it to end the server. It writes the server's exit
code to its output, once.
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
    """Starts a server and ends it on request. Returns only if the server could not be started.

    Otherwise the last step ends the process group that this process leads.
    """
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
    with contextlib.suppress(OSError):  # nobody reads it any more
        sys.stdout.buffer.write(b"%d\n" % code)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    keep_server(sys.argv[1:])
