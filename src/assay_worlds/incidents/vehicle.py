"""The kinds of vehicle: their models, and what can happen to them."""

from __future__ import annotations

from functools import cache

from assay_worlds.texts import TextEntry, read_texts


class VehicleModel(TextEntry, frozen=True):
    """One make of vehicle, and what its crew and public call it."""

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
    """All models, and by kind of vehicle: phases of a trip, and how it can end."""

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
