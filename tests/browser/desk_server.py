"""A desk in a process of its own, which can be killed and started again at the same address."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

WORKS = Path(__file__).parents[1]
START = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from small_work import SmallWork
from assay.desk.serving import serve
tell = lambda desk: print(desk.in_words, flush=True)
folder = Path(sys.argv[2])
work = SmallWork(folder / "marks", raters=sys.argv[4:])
serve(work, state=folder / "desk", port=int(sys.argv[3]), opened=tell)
"""


class DeskServer:
    """Serves a small work from a folder; its links are those of the latest start."""

    def __init__(self, folder: Path, raters: Sequence[str]) -> None:
        self._folder, self._raters = folder, list(raters)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]
        self.address = f"http://127.0.0.1:{self._port}"
        self.start()

    def command(self) -> list[str]:
        return ["-c", START, str(WORKS), str(self._folder), str(self._port), *self._raters]

    def start(self) -> None:
        """Starts it, and returns once it takes connections."""
        command = [sys.executable, *self.command()]
        self._child = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8"
        )
        assert self._child.stdout is not None
        said = [self._child.stdout.readline() for _ in range(1 + len(self._raters))]
        self.links = dict(re.findall(r"^  (\S+): (\S+)$", "".join(said), re.MULTILINE))

    def kill(self) -> None:
        """As a power cut would: nothing is closed in order."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def _end(self, how: signal.Signals) -> None:
        self._child.send_signal(how)
        self._child.wait(timeout=30)
        assert self._child.stdout is not None
        self._child.stdout.close()


class StudyDeskServer(DeskServer):
    """Serves a blinded study as people do, by `assay review serve`."""

    def command(self) -> list[str]:
        return ["-m", "assay", "review", "serve", str(self._folder), "--port", str(self._port)]
