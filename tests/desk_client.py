"""A desk in this process, and what somebody at it can send."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from assay.desk.access import Access
from assay.desk.app import make_app
from small_work import SmallWork

HERE = "http://127.0.0.1:8501"


@dataclass
class Clock:
    """A time that only moves when it is told to."""

    now: float = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Desk:
    """A small work behind the whole app."""

    folder: Path
    password: str | None = None
    clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        self.start()

    def start(self) -> None:
        """Starts it, as after a kill: nothing was closed."""
        self.work = SmallWork(self.folder / "marks", self.clock)
        self.access = Access(self.folder / "desk", self.work.raters, password=self.password, clock=self.clock)
        self.app = make_app(self.work, self.access)

    def client(self, **how: Any) -> TestClient:
        """Somebody who is not logged in."""
        return TestClient(self.app, **{"base_url": HERE, **how})

    def rater(self, name: str = "anna") -> TestClient:
        """Somebody who is, and whose page brings what changes need."""
        client = self.client()
        entered = client.post("/api/session", json={"token": self.access.link(name)})
        assert entered.status_code == 200, entered.text
        client.headers["x-csrf"] = entered.json()["csrf"]
        return client


def mark_path(task_id: str, step: str = "accuracy") -> str:
    return f"/api/steps/{step}/tasks/{task_id}/mark"


def draft(number: int = 1, **more: Any) -> dict[str, Any]:
    """A draft that no rule forbids."""
    return {"mark_id": f"mark-{number:04d}", "choice": "3", **more}


def raw(
    client: TestClient, path: str, body: bytes, kind: str = "application/json", method: str = "PUT"
) -> Any:
    return client.request(method, path, content=body, headers={"content-type": kind})


def is_trouble(answer: Any, status: int) -> bool:
    """Whether a request was refused in the one way in which the desk refuses."""
    content = json.loads(answer.content)
    return (
        answer.status_code == status and set(content) == {"what", "problems", "current"} and content["what"]
    )
