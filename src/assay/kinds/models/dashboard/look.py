"""How models look in every picture, and how figures read on the page."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

from assay.report import wording as say
from assay.report.markdown import escaped

# Okabe-Ito as in the report: yellow and black are darkened, or brightened, to be seen on the page.
LIGHT = ("#0072b2", "#e69f00", "#cc79a7", "#56b4e9", "#009e73", "#d55e00", "#8a8f00", "#6b7680")
DARK = ("#2a92d0", "#e69f00", "#cc79a7", "#56b4e9", "#009e73", "#d55e00", "#f0e442", "#c3cbd1")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-left", "stroke")
SIGNS = ("●", "■", "▲", "◆", "✚", "▼", "◀", "━")
AT_LEAST = "≥ "


@dataclass(frozen=True)
class Look:
    """The colours and shapes of models: the same everywhere, by their order in the files."""

    models: tuple[str, ...]
    dark: bool = False

    @property
    def ink(self) -> str:
        return "#d8dce1" if self.dark else "#31333f"

    @property
    def soft(self) -> str:
        return "#8b929b" if self.dark else "#767c86"

    @property
    def palette(self) -> tuple[str, ...]:
        return DARK if self.dark else LIGHT

    @property
    def colours(self) -> list[str]:
        return _taken(self.palette, 0, len(self.models))

    @property
    def shapes(self) -> list[str]:
        return _taken(SHAPES, 0, len(self.models))

    def others(self, count: int) -> tuple[list[str], list[str]]:
        """Colours and shapes for what is not a model: those that no model has come first."""
        start = len(self.models)
        return _taken(self.palette, start, count), _taken(SHAPES, 0, count)

    def name(self, model: str) -> str:
        """A model's name as HTML, its sign in its colour before it."""
        place = self.models.index(model)
        colour, sign = self.colours[place], _taken(SIGNS, place, 1)[0]
        return f'<span style="color:{colour}" aria-hidden="true">{sign}</span> {html.escape(model)}'


def _taken(choices: tuple[str, ...], start: int, count: int) -> list[str]:
    return [choices[(start + place) % len(choices)] for place in range(count)]


def plain(text: Any) -> str:
    """Text of a file as Markdown shows it: as it is, with no link, picture or sign made of it."""
    return escaped(str(text)).replace(":", "\\:")


def spaced(text: str | None) -> str:
    """A tag's value in words."""
    return "none" if text is None else text.replace("_", " ")


def at_least(value: float | None, *, bound: bool) -> str:
    """A figure, marked where it can only rise."""
    return (AT_LEAST if bound and value is not None else "") + say.number(value)


def in_full(found: dict[str, Any]) -> str:
    """A figure with its interval and count: `≥ 0.650 [0.529, 0.767], n = 49`."""
    value = found.get("value")
    if value is None:
        return say.NOTHING
    span = say.interval(found.get("low"), found.get("high"))
    n = "" if found.get("n") is None else f", n = {found['n']}"
    return f"{at_least(value, bound=bool(found.get('lower_bound')))} {span}".strip() + n
