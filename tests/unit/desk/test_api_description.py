"""The description of the desk's API: every refusal that can come is in it."""

from __future__ import annotations

from pathlib import Path

from desk_client import Desk

TASK = "/api/steps/{step}/tasks/{task_id}"


def test_whatever_writes_may_find_the_disk_refusing(tmp_path: Path) -> None:
    paths = Desk(tmp_path).rater().get("/api/openapi.json").json()["paths"]
    writing = {
        (method, path)
        for path, operations in paths.items()
        for method, operation in operations.items()
        if "503" in operation["responses"]
    }
    assert writing == {
        ("post", "/api/session"),
        ("delete", "/api/session"),
        ("put", f"{TASK}/mark"),
        ("post", f"{TASK}/undo"),
        ("get", f"{TASK}/suggestion"),  # that somebody saw one is kept
        ("post", "/api/register"),
    }
