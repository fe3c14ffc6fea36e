"""The kinds of vehicle: their models, crews, parts, phases of a trip, and how it can end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Model(NamedTuple):
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


_HULL = ("bow ramp hinge", "steering ram", "shaft coupling", "rudder stock", "davit arm")
_FLOAT = ("float strut", "elevator cable", "engine mount", "flap track", "trim rod")
_TRAM = ("bogie frame", "brake calliper", "coupling pin", "door interlock", "axle journal")
_LIFT = ("hanger arm", "grip spring", "sheave axle", "service brake", "counterweight pin")
_ROTOR = ("tail rotor shaft", "swashplate link", "skid tube", "blade grip", "gearbox mount")

MODELS = (
    Model("ferry", "water", "Merrow catamaran", "Isling Yards", ("ferry", "catamaran", "vessel"),
          "master", "mate", "wheelhouse", _HULL, (60, 180)),
    Model("ferry", "water", "Dunlin double-ender", "Varr Shipbuilders", ("ferry", "vessel", "ship"),
          "master", "mate", "wheelhouse", _HULL, (60, 180)),
    Model("aeroplane", "air", "Tern 40 floatplane", "Lorn Aircraft", ("floatplane", "aircraft", "seaplane"),
          "pilot", "co-pilot", "cockpit", _FLOAT, (9, 13)),
    Model("aeroplane", "air", "Kestrel II twin", "Brask & Quill", ("aeroplane", "aircraft", "twin"),
          "pilot", "co-pilot", "cockpit", _FLOAT, (9, 13)),
    Model("helicopter", "air", "Wren 5", "Stonegarth Rotor Works", ("helicopter", "aircraft", "machine"),
          "pilot", "winch operator", "cockpit", _ROTOR, (8, 10)),
    Model("light rail", "rail", "Lind T3", "Lind Carriage Works", ("tram", "vehicle", "tramcar"),
          "driver", "conductor", "cab", _TRAM, (30, 110)),
    Model("light rail", "rail", "Hobb Arrow", "Hobb Rolling Stock", ("train", "vehicle", "unit"),
          "driver", "conductor", "cab", _TRAM, (30, 110)),
    Model("cable car", "rope", "Alvar 8 gondola", "Alvar Seilbau", ("gondola", "cabin", "car"),
          "operator", "platform attendant", "control room", _LIFT, (9, 14)),
    Model("funicular", "rope", "Corran incline", "Corran Hoists", ("funicular", "wagon", "car"),
          "brakesman", "platform attendant", "control room", _LIFT, (24, 60)),
)  # fmt: skip

# Whom the crew speaks to, and the noun for a trip in the name of the section on its history.
DISPATCHER = {
    "water": "harbour control",
    "air": "the tower",
    "rail": "the control centre",
    "rope": "the valley station",
}
TRIP = {"water": "VOYAGE", "air": "FLIGHT", "rail": "JOURNEY", "rope": "RIDE"}

PHASES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "water": {
        "departure": (
            "during departure from {place}",
            "while casting off at {place}",
            "as it backed away from {place}",
        ),
        "en route": (
            "on passage from {place} to {bound}",
            "in open water off {place}",
            "under way, midway to {bound}",
        ),
        "arrival": (
            "during the approach to {bound}",
            "while coming alongside at {bound}",
            "in the last ship's length before {bound}",
        ),
        "stationary": ("while moored at {place}", "at berth in {place}", "with lines ashore at {place}"),
    },
    "air": {
        "departure": (
            "during departure from {place}",
            "on the takeoff run at {place}",
            "seconds after leaving the ground at {place}",
        ),
        "en route": (
            "in cruise between {place} and {bound}",
            "en route to {bound}",
            "in level flight past {place}",
        ),
        "arrival": (
            "during the approach to {bound}",
            "while landing at {bound}",
            "as it came down at {bound}",
        ),
        "stationary": (
            "while parked at {place}",
            "on the apron at {place}",
            "with engines stopped at {place}",
        ),
    },
    "rail": {
        "departure": (
            "during departure from {place}",
            "on pulling out of the stop at {place}",
            "in the first metres beyond {place}",
        ),
        "en route": ("between {place} and {bound}", "en route to {bound}", "at line speed past {place}"),
        "arrival": (
            "during the approach to {bound}",
            "while braking for the terminus at {bound}",
            "on rolling into {bound}",
        ),
        "stationary": (
            "while standing at {place}",
            "at the platform in {place}",
            "with doors open at {place}",
        ),
    },
    "rope": {
        "departure": (
            "during departure from {place}",
            "on leaving the lower station at {place}",
            "just beyond the loading ramp at {place}",
        ),
        "en route": ("half-way along the line", "en route to {bound}", "half-way up the slope at {place}"),
        "arrival": (
            "during the approach to {bound}",
            "while entering the top station at {bound}",
            "on being slowed into {bound}",
        ),
        "stationary": (
            "while standing at {place}",
            "at the platform in {place}",
            "with the line stopped at {place}",
        ),
    },
}  # fmt: skip

OUTCOMES: Mapping[str, tuple[str, ...]] = {
    "water": (
        "grounding on a shoal", "contact with the pier head", "capsizing in a cross sea",
        "collision with a workboat",
        "flooding of the engine room", "fall of the ramp on to the car deck",
        "blackout and drift on to rocks",
    ),
    "air": (
        "collision with a fence", "loss of control and impact with the lake", "heavy landing and nose-over",
        "forced landing on a moor", "ditching", "roll-over on uneven ground",
    ),
    "rail": (
        "derailment on a curve", "collision with the buffer stop", "collision with a delivery van",
        "dragging of a passenger caught in a door", "runaway down the gradient",
        "side collision at a junction",
    ),
    "rope": (
        "slide of one car into the next", "rollback over half the line", "fall of a car from the line",
        "derailment of the rope from a tower", "violent emergency stop", "overtravel into the end buffer",
    ),
}  # fmt: skip

STANDING: Mapping[str, tuple[str, ...]] = {
    "water": (
        "fall of the ramp on to the car deck",
        "flooding of the engine room",
        "crushing of a mooring hand",
    ),
    "air": ("collision with a fuel bowser", "injury of a ground worker", "collapse of the landing gear"),
    "rail": (
        "trapping of a passenger in a door",
        "roll-away into the buffer stop",
        "fall between step and kerb",
    ),
    "rope": ("roll-away of an empty car", "fall of a passenger into the pit", "violent restart of the line"),
}  # fmt: skip
