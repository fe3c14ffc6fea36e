"""The invented region, its vehicles, and the themes of its accident reports, read from text files."""

from __future__ import annotations

from functools import cache

from assay_worlds.texts import TextEntry, read_texts


class Region(TextEntry, frozen=True):
    """The names of districts, places, companies, vessels and people. Some depend on the kind of vehicle."""

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


GROUPS = ("crew", "attention", "setting", "machine", "company")


class AccidentTheme(TextEntry, frozen=True):
    """A cause of accidents. Reports mention it with its keywords or in other words.

    A keyword search looks for `words`. Every sentence of `keyword`, `advice_keyword` and `other_sense`
    contains one of these words. No sentence of `paraphrase` and `advice_paraphrase` contains one. In a
    sentence of `other_sense`, the words mean something else, or the cause is ruled out. Such sentences are
    used only in reports without the theme. All sentences are templates.
    """

    key: str
    words: tuple[str, ...]
    homes: tuple[str, ...]  # the sections that mention it first
    keyword: tuple[str, ...]
    paraphrase: tuple[str, ...]
    advice_keyword: tuple[str, ...]
    advice_paraphrase: tuple[str, ...]
    other_sense: tuple[str, ...]
    kinds: tuple[str, ...] = ("air", "water", "rail", "rope")


@cache
def themes() -> dict[str, AccidentTheme]:
    """Reads all themes, and returns them by key."""
    groups = (read_texts(tuple[AccidentTheme, ...], __package__, f"{group}_themes") for group in GROUPS)
    return {theme.key: theme for group in groups for theme in group}


class VehicleModel(TextEntry, frozen=True):
    """One vehicle model, and the words that its crew and the public use for it."""

    vehicle_type: str
    kind: str  # what the sentences of a theme are marked with: air, water, rail, rope
    model: str
    maker: str
    craft: tuple[str, ...]
    lead: str
    mate: str
    deck: str
    parts: tuple[str, ...]
    aboard: tuple[int, int]


class Vehicles(TextEntry, frozen=True):
    """All vehicle models. For each kind of vehicle: the phases of a trip, and its possible outcomes."""

    models: tuple[VehicleModel, ...]
    dispatcher: dict[str, str]
    trip_noun: dict[str, str]
    vehicle_noun: dict[str, str]
    phases: dict[str, dict[str, tuple[str, ...]]]
    outcomes: dict[str, tuple[str, ...]]
    standing: dict[str, tuple[str, ...]]


@cache
def vehicles() -> Vehicles:
    return read_texts(Vehicles, __package__, "vehicles")
