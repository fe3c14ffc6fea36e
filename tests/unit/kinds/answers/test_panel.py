"""A panel says whose marks count, and who agrees with whom."""

from __future__ import annotations

from typing import Any

import pytest

from assay.kinds.answers.panel import Panel


def test_the_primary_comes_first_and_others_are_compared_with_it() -> None:
    panel = Panel("anna", ["ben"])
    assert panel.names == ["anna", "ben", "anna (again)"]
    assert panel.raters == ["anna", "ben"]


def test_without_others_a_rater_is_compared_with_themself() -> None:
    assert Panel("anna").raters == ["anna", "anna (again)"]


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({"others": ["anna"]}, "name of their own"),
        ({"others": [" "]}, "name of their own"),
        ({"share": 0.05}, "share is 0.05"),
        ({"share": 1.5}, "share is 1.5"),
        ({"again": 0.01}, "again is 0.01"),
        ({"wait_hours": -1}, "wait_hours is -1"),
    ],
)
def test_what_a_panel_cannot_be(given: dict[str, Any], what: str) -> None:
    with pytest.raises(ValueError, match=what):
        Panel("anna", **given)
