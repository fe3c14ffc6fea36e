"""The invented region in which the accidents happen."""

from __future__ import annotations

from functools import cache

from assay_worlds.texts import TextEntry, read_texts


class Region(TextEntry, frozen=True):
    """Districts and places, companies, vessels and people; some of them by kind of vehicle."""

    board: str
    regions: dict[str, tuple[str, ...]]
    served: dict[str, tuple[str, ...]]
    operators: dict[str, tuple[str, ...]]
    names: dict[str, tuple[str, ...]]  # by type of vehicle
    landmarks: tuple[str, ...]
    surnames: tuple[str, ...]


@cache
def region() -> Region:
    return read_texts(Region, __package__, "region")
