"""The review desk under load: eight raters at once over HTTP, and a server that is killed while they work.

The server is a process of its own that scores 2,000 blinded responses. Each rater is a thread with its own
connection that opens a page (the page itself, the pass, one response) and saves a mark, twice a second: many
times what people manage. No peer does the same, so there are targets instead: 200 ms to open, 50 ms to save.
Then all work as fast as answers come, which shows what the server can take, and in the middle of that it is
killed with SIGKILL: every mark that it called saved has to be on disk.

    python -m bench.desk
"""

from __future__ import annotations

import http.client
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.size import sized

RESPONSES, RATERS = sized((2_000, 8), (300, 2))
MARKS, PACE = sized((40, 0.5), (2, 0.1))  # marks of each rater, seconds from one to the next
UNTIL_KILLED = sized(3.0, 0.5)  # seconds
OPEN, SAVE = 200.0, 50.0  # milliseconds
SOURCE = "The handbook says how long a token lives, and what becomes of it. " * 300  # some 20,000 characters

SERVER = """
import sys
from pathlib import Path
from assay.kinds.answers.desk.scoring_work import ScoringWork
from assay.desk.serving import serve

tell = lambda desk: print(desk.in_words, flush=True)
folder = Path(sys.argv[1])
serve(ScoringWork(folder / "blind"), state=folder / "desk", opened=tell)
"""


def write_blind(folder: Path) -> None:
    """A pack of responses, all of which every rater scores."""
    from assay.kinds.answers.blinding.pack import (
        Assignment,
        BlindedResponse,
        BlindPack,
        GoldQuestion,
        MergedSource,
        write_pack,
    )

    names = [f"rater{number}" for number in range(RATERS)]
    shown = [
        BlindedResponse(
            f"r{number:05d}",
            f"q{number % 286}",
            f"A token lives for {number} hours. " * 20,
            f"s{number % 286}",
        )
        for number in range(RESPONSES)
    ]
    questions = {
        f"q{n}": GoldQuestion(f"q{n}", f"How long does token {n} live?", "24 hours.") for n in range(286)
    }
    sources = {f"s{n}": MergedSource(f"Page {n}", SOURCE) for n in range(286)}
    panel = Assignment(names[0], names[1:], share=1.0)
    drawn = [each.response_id for each in shown]
    (folder / "blind").mkdir()
    write_pack(folder / "blind", BlindPack("bench", panel, "", "key", shown, questions, sources, drawn=drawn))


@contextmanager
def server(folder: Path) -> Iterator[tuple[subprocess.Popen[str], dict[str, str]]]:
    """A desk in a process of its own, and the link of each rater."""
    command = [sys.executable, "-c", SERVER, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            said = "".join(process.stdout.readline() for _ in range(1 + RATERS))
            yield process, dict(re.findall(r"^  (\S+): (\S+)$", said, re.MULTILINE))
        finally:
            process.kill()


@dataclass
class Rater:
    """One browser: a connection that stays, a cookie, and what it saw."""

    link: str
    opened: list[float] = field(default_factory=list)  # seconds
    saved: list[float] = field(default_factory=list)
    marks: list[str] = field(default_factory=list)  # those that were called saved

    def __post_init__(self) -> None:
        host, _, self._token = self.link.removeprefix("http://").partition("/#")
        self._connection = http.client.HTTPConnection(host)
        self._headers = {"content-type": "application/json"}
        session = self._ask("POST", "/api/session", {"token": self._token})
        self._headers["x-csrf"] = session["csrf"]

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        content = None if body is None else json.dumps(body)
        self._connection.request(method, path, content, self._headers)
        answer = self._connection.getresponse()
        if cookie := answer.getheader("set-cookie"):
            self._headers["cookie"] = cookie.partition(";")[0]
        text = answer.read()
        assert answer.status == 200, (answer.status, text)
        return json.loads(text) if path.startswith("/api") else text

    def work(self, marks: int, pace: float) -> None:
        """Scores until it is through, or until the server is gone."""
        done, step = 0, "/api/steps/accuracy"
        time.sleep(random.random() * pace)
        try:
            while done < marks:
                begun = start = time.perf_counter()
                self._ask("GET", "/")
                tasks = self._ask("GET", step)["tasks"]
                task_id = next(each["task_id"] for each in tasks if not each["done"])
                self._ask("GET", f"{step}/tasks/{task_id}")
                self.opened.append(time.perf_counter() - start)
                draft = {"mark_id": str(uuid.uuid4()), "choice": "2", "note": "the hours are wrong"}
                start = time.perf_counter()
                self._ask("PUT", f"{step}/tasks/{task_id}/mark", draft)
                self.saved.append(time.perf_counter() - start)
                self.marks.append(draft["mark_id"])
                done += 1
                time.sleep(max(0.0, begun + pace - time.perf_counter()))
        except (http.client.HTTPException, OSError):  # the server was killed
            self._connection.close()


def at_once(raters: list[Rater], marks: int, pace: float) -> list[threading.Thread]:
    crew = [threading.Thread(target=each.work, args=(marks, pace)) for each in raters]
    for thread in crew:
        thread.start()
    return crew


def measured(folder: Path) -> list[Rater]:
    """All raters through their marks."""
    with server(folder) as (_, links):
        raters = [Rater(link) for link in links.values()]
        for thread in at_once(raters, MARKS, PACE):
            thread.join()
    return raters


def killed(folder: Path) -> tuple[list[Rater], int]:
    """Raters whose server was killed, and how many of the marks that it called saved are lost."""
    from assay.kinds.answers.blinding.pack import MARKS as MARKED
    from assay.kinds.answers.scoring.marks import Mark, score_book

    with server(folder) as (process, links):
        raters = [Rater(link) for link in links.values()]
        crew = at_once(raters, RESPONSES, 0.0)
        time.sleep(UNTIL_KILLED)
        os.kill(process.pid, signal.SIGKILL)
        for thread in crew:
            thread.join()
    told = {mark for each in raters for mark in each.marks}
    book = score_book(folder / "blind" / MARKED)
    kept = {mark.mark_id for mark in book.lines if isinstance(mark, Mark)}
    return raters, len(told - kept)


def rows() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_blind(folder)
        raters = measured(folder)
        busiest, lost = killed(folder)
    told = sum(len(each.marks) for each in busiest)
    rate = f"flat out, {told / UNTIL_KILLED:.0f} a second"
    return [
        _row("a page opened", _all(raters, "opened"), OPEN),
        _row("a mark saved", _all(raters, "saved"), SAVE),
        _row(f"a page opened, {rate}", _all(busiest, "opened"), None),
        _row(f"a mark saved, {rate}", _all(busiest, "saved"), None),
        {**_bare(f"{told} marks saved, then SIGKILL: {lost} lost"), "target": "0 lost", "met": lost == 0},
    ]


def _all(raters: list[Rater], what: str) -> list[float]:
    return sorted(seconds for each in raters for seconds in getattr(each, what))


def _row(what: str, seconds: list[float], most: float | None) -> dict[str, Any]:
    """What it took, at most and mostly; seconds are in order."""
    p50, p95, worst = (1000 * seconds[int(len(seconds) * part)] for part in (0.5, 0.95, 1 - 1e-9))
    about = f"{what}, {RATERS} raters (p50 {p50:.1f}, p95 {p95:.1f}, max {worst:.1f} ms)"
    aim = {} if most is None else {"target": f"p95 < {most:g} ms", "met": p95 < most}
    return {**_bare(about), "ours_s": p95 / 1000, **aim}


def _bare(what: str) -> dict[str, Any]:
    return {
        "what": what,
        "ours_s": None,
        "peer": "",
        "peer_s": None,
        "ratio": None,
        "target": None,
        "met": None,
    }


if __name__ == "__main__":
    for each in rows():
        met = "" if each["met"] is None else f"{each['target']}: {'met' if each['met'] else 'missed'}"
        print(f"{each['what']:100} {met}")
