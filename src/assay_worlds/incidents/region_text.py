"""The invented region: its districts and places, companies, vessels and people."""

from __future__ import annotations

BOARD = "Transport Safety Board of Tarnmark"

REGIONS = {
    "North Skerries": ("Grimsound", "Holm Ness", "Auk Haven", "Stennet", "Little Varr"),
    "Inner Sound": ("Port Isling", "Merle Quay", "Ostwick", "Brannoch Pier", "Sallowfirth"),
    "High Carrow": ("Carrow Pass", "Grey Tarn", "Upper Thole", "Wether Fell", "Stonegarth"),
    "Lake Vennet": ("Vennet Bridge", "Lindmouth", "Ash Landing", "Corrie Point", "Marsh End"),
    "Eastermoor": ("Easter Cross", "Pallin Hill", "Dunmere", "Hobb's Junction", "Tallow Green"),
    "Velding Valley": ("Velding", "Kirk Orme", "Lower Sikes", "Ravenscar Halt", "Millhollow"),
}

# Where each kind of vehicle runs: no ferry climbs a pass.
SERVED = {
    "air": tuple(REGIONS),
    "water": ("North Skerries", "Inner Sound", "Lake Vennet"),
    "rail": ("Inner Sound", "Lake Vennet", "Eastermoor", "Velding Valley"),
    "rope": ("High Carrow", "Lake Vennet", "Eastermoor", "Velding Valley"),
}

OPERATORS = {
    "air": ("Lorn Air", "Skerry Wings", "Vennet Aviation", "Carrow Air Taxi", "Tarnmark Aero Club"),
    "water": ("Sound Ferries", "Isling Steam Packet", "Skerries Line", "Vennet Lake Navigation"),
    "rail": ("Port Isling Tramways", "Eastermoor Light Railway", "Velding Metro"),
    "rope": ("Carrow Ropeways", "Grey Tarn Lifts", "Thole Mountain Company", "Pallin Hill Incline"),
}

# One a report: an accident is known by the name of what was lost or damaged in it.
NAMES = {
    "ferry": (
        "Saltgrass", "Oystercatcher", "Bramble Star", "Lady Maren", "Turnstone", "Old Constance", "Sea Pink",
        "Whin", "Guillemot", "Northern Thrift", "Ebba", "Marram", "Fulmar Queen", "Sandpiper", "Kittiwake",
        "Harebell", "Isling Rose", "Grey Wagtail", "Samphire", "Petrel", "Silver Dulse", "Bluethroat",
    ),
    "aeroplane": (
        "VL-KTR", "VL-AMB", "VL-OSK", "VL-PIN", "VL-RUE", "VL-DOV", "VL-HEX", "VL-JYN", "VL-WAX", "VL-TOL",
        "VL-GAB", "VL-NUT", "VL-ZED", "VL-FIR", "VL-LUM", "VL-QUI", "VL-SOW", "VL-BEE", "VL-CUD", "VL-EFT",
    ),
    "helicopter": (
        "VL-HYA", "VL-HIM", "VL-HUR", "VL-HOA", "VL-HIS", "VL-HAM", "VL-HEB", "VL-HOP", "VL-HUG", "VL-HYL",
    ),
    "light rail": (
        "car 214", "car 87", "car 131", "car 309", "car 56", "car 402", "car 178", "car 265", "car 93",
        "car 340", "car 117", "car 228", "car 371", "car 64", "car 155", "car 286", "car 419", "car 192",
        "car 247", "car 333",
    ),
    "cable car": (
        "cabin 14", "cabin 33", "cabin 47", "cabin 52", "cabin 21", "cabin 46", "cabin 19", "cabin 60",
        "cabin 28", "cabin 17",
    ),
    "funicular": (
        "wagon Edda", "wagon Saga", "wagon Runa", "wagon Signe", "wagon Tyra", "wagon Ylva", "wagon Hild",
        "wagon Bera", "wagon Alva", "wagon Gerd",
    ),
}  # fmt: skip

LANDMARKS = (
    "the chapel", "the old kiln", "the sluice", "the signal hut", "the quarry gate", "the boathouse",
    "the stone bridge", "the water tower", "the sawmill", "the ranger's lodge", "the tide gauge", "the weir",
    "the school", "the timber yard", "the lookout", "the pump house",
)  # fmt: skip

SURNAMES = (
    "Aldane", "Brask", "Corvin", "Dahlby", "Estergaard", "Fenner", "Gaunt", "Hollis", "Iversby", "Jarrow",
    "Kestle", "Lowther", "Maddern", "Nyholt", "Oxby", "Penhale", "Quill", "Rastrick", "Sandoe", "Thorley",
    "Ulven", "Varley", "Whitlam", "Yarrow", "Zellick", "Ambry", "Blyth", "Cragg", "Drewitt", "Elvin",
)  # fmt: skip

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip
