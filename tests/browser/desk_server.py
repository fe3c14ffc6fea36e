"""A desk in a process of its own, which can be killed and started again, and raters who sit down at it."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

WORKS = Path(__file__).parents[1]
WIDE = {"width": 1600, "height": 1000}
TAKES_KEYS = "main:not([inert])"  # between two screens the page takes none
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
        self.unused = iter(self._raters)  # who has not sat down yet
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


@contextmanager
def seats(browser: Any, server: DeskServer) -> Iterator[Callable[..., Any]]:
    """Seats raters who have done nothing yet, and fails on whatever their pages complain about."""
    contexts: list[Any] = []
    said: list[str] = []

    def seat(**how: Any) -> Any:
        context = browser.new_context(**({"viewport": WIDE} | how))
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("console", lambda message: said.append(message.text))
        page.goto(server.links[next(server.unused)])
        page.locator(f"{TAKES_KEYS} .steps").wait_for()
        return page

    yield seat
    for context in contexts:
        context.close()
    assert [text for text in said if "Failed to load resource" not in text] == []


def press(page: Any, *keys: str) -> None:
    """Presses keys as somebody does who looks at the page: each once it is taken."""
    for key in keys:
        page.locator(TAKES_KEYS).wait_for()
        page.keyboard.press(key)


def wait_for_heading(page: Any, text: str) -> None:
    page.locator(TAKES_KEYS).get_by_role("heading", level=1, name=text, exact=True).wait_for()


def close_dialog(page: Any) -> None:
    """A key that comes before the dialog is gone would be lost on it."""
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="detached")


def open_claims(page: Any, number: int) -> None:
    """Opens a task of the small work's pass on claims."""
    ids = page.evaluate("fetch('/api/steps/hallucination').then(answer => answer.json())")["tasks"]
    open_task(page, "hallucination", ids[number - 1]["task_id"])
    wait_for_heading(page, f"Unsupported claims: {number} of {len(ids)}")


def open_task(page: Any, step: str, task_id: str) -> None:
    """Opens a task, and waits until it is the one that is shown."""
    page.goto(f"{page.url.partition('#')[0]}#/{step}/{task_id}")
    page.locator(f"{TAKES_KEYS} .task[data-step='{step}'][data-task='{task_id}']").wait_for()
