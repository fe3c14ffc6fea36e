"""The wait after which text that was planted in a page would have run, if it could."""

from __future__ import annotations

from typing import Any

OWN_IMAGE = "no-such-image"
FAIL = """(address) => new Promise((failed) => {
  const image = new Image();
  image.onerror = () => failed();
  image.src = address;
})"""


def wait_until_planted_would_have_run(page: Any) -> None:
    """Asks for one more image that fails: what the planted ones do when they fail is done by then."""
    page.evaluate(FAIL, OWN_IMAGE)
