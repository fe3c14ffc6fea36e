"""The desk against its own description: whatever schemathesis makes of it, no fault and no surprise."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from desk_client import Desk, draft, mark_path

pytestmark = pytest.mark.slow

EXAMPLES = 40  # of each kind an operation
OPERATIONS = 12
NOES = [400, 401, 403, 404, 405, 409, 413, 422, 429]  # ways to turn down what the description forbids


def operations(desk: Desk) -> Iterator[tuple[Any, dict[str, str]]]:
    """Every operation, and the headers of a session for it."""
    import schemathesis

    anna = desk.rater()
    anna.put(mark_path(desk.work.ids[0]), json=draft())
    content = anna.get("/api/openapi.json").json()
    there = {"step": ["accuracy", "hallucination", "completeness"], "task_id": desk.work.ids[:3]}
    for operation in (each for path in content["paths"].values() for each in path.values()):
        operation.pop("security", None)  # who asks is the same all along
        for parameter in operation.get("parameters", ()):  # most often something that is there
            parameter["schema"] = {"type": "string", "enum": [*there[parameter["name"]], "nothing"]}
    config = {"checks": {"negative_data_rejection": {"expected-statuses": NOES}}}
    schema = schemathesis.openapi.from_dict(content, config=schemathesis.Config.from_dict(config))
    schema.app = desk.app
    for each in schema.get_all_operations():
        yield each.ok(), fresh(desk)


def fresh(desk: Desk) -> dict[str, str]:
    """The headers of a new session."""
    anna = desk.rater()
    cookie = f"{desk.access.cookie}={anna.cookies[desk.access.cookie]}"
    return {"Cookie": cookie, "X-CSRF": anna.headers["x-csrf"]}


def play(desk: Desk, operation: Any, mode: Any, headers: dict[str, str]) -> int:
    """Sends what the description allows, or what it does not; how often."""
    from schemathesis.specs.openapi.checks import positive_data_acceptance

    # The desk turns down much that is well formed: rules, stale pages, unknown tasks. That is no fault.
    left_out = [positive_data_acceptance]
    sent = 0

    @settings(
        max_examples=EXAMPLES,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def check(case: Any) -> None:
        nonlocal sent
        desk.clock.now += 60  # attempts to log in are not what is tried here
        own = fresh(desk) if operation.label == "DELETE /api/session" else headers
        case.call_and_validate(base_url="http://127.0.0.1:8501", headers=own, excluded_checks=left_out)
        sent += 1

    check()
    return sent


def test_every_operation_does_as_it_is_described(tmp_path: Path) -> None:
    from schemathesis import GenerationMode
    from schemathesis.checks import load_all_checks

    load_all_checks()
    desk = Desk(tmp_path)
    counts = {}
    for operation, headers in operations(desk):
        counts[operation.label] = play(desk, operation, GenerationMode.POSITIVE, headers)
        if operation.body:  # what takes nothing can be given nothing wrong
            counts[operation.label] += play(desk, operation, GenerationMode.NEGATIVE, headers)
    assert len(counts) == OPERATIONS
    assert sum(counts.values()) > 200
