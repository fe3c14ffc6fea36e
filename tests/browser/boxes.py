"""Where things stand on a page, all read at one moment: between two calls the page may scroll."""

from __future__ import annotations

from typing import Any

READ = """(names) => names.map((name) =>
  [...document.querySelectorAll(name)].map((element) => element.getBoundingClientRect().toJSON()))"""


def boxes(page: Any, *selectors: str) -> list[list[dict[str, float]]]:
    """For each selector the boxes of all that it finds, as the window shows them."""
    return list(page.evaluate(READ, list(selectors)))
