"""The one browser is started after everything that could not run beside it."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.browser


def test_what_uses_the_browser_comes_last(request: pytest.FixtureRequest) -> None:
    used = ["browser" in getattr(item, "fixturenames", ()) for item in request.session.items]
    assert used == sorted(used)
