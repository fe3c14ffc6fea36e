"""The sections of a report: which there are, in which order, and under which names."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from assay_worlds.incidents.report import Report
from assay_worlds.incidents.vehicle import vehicles

OPTIONAL = ("recorders", "wreckage", "fire", "tests", "organisation", "appendix")
ORDER = (
    "synopsis",
    "history",
    "personnel",
    "vehicle",
    "weather",
    "recorders",
    "wreckage",
    "fire",
    "survival",
    "tests",
    "organisation",
    "analysis",
    "findings",
    "cause",
    "recommendations",
    "appendix",
)
_NAMES = {
    "synopsis": ("SYNOPSIS", "SYNOPSIS", "EXECUTIVE SUMMARY", "SUMMARY", "ABSTRACT"),
    "personnel": ("PERSONNEL INFORMATION", "PERSONNEL INFORMATION", "CREW INFORMATION"),
    "weather": ("METEOROLOGICAL INFORMATION",),
    "recorders": ("RECORDERS", "RECORDED DATA"),
    "wreckage": ("WRECKAGE AND IMPACT INFORMATION",),
    "fire": ("FIRE",),
    "survival": ("SURVIVAL ASPECTS",),
    "tests": ("TESTS AND RESEARCH",),
    "organisation": ("ORGANISATIONAL AND MANAGEMENT INFORMATION", "ORGANISATIONAL INFORMATION"),
    "analysis": ("ANALYSIS",),
    "findings": ("FINDINGS", "CONCLUSIONS"),
    "cause": ("PROBABLE CAUSE", "PROBABLE CAUSE", "PROBABLE CAUSE AND CONTRIBUTING FACTORS"),
    "recommendations": ("RECOMMENDATIONS", "SAFETY RECOMMENDATIONS"),
    "appendix": ("APPENDIX A", "APPENDIX A - FILE NOTES", "APPENDICES"),
}
_UNNUMBERED = ("synopsis", "appendix")
_CONCLUDING = {"analysis": "2", "findings": "3.1", "cause": "3.2", "recommendations": "4"}
_LETTERED = {"findings": "(a)", "cause": "(b)", "recommendations": "(c)"}


class Section(NamedTuple):
    """A section by what it is, and by the name its report gives it."""

    key: str
    name: str


def sections(rng: Random, report: Report) -> list[Section]:
    """The sections of a report: ten that all have, and up to four more, its first theme's home among them."""
    home = [key for cause in report.causes[:1] for key in cause.theme.homes if key in OPTIONAL][:1]
    others = [key for key in OPTIONAL if key not in home]
    extra = {*home, *rng.sample(others, rng.randint(1, 4) - len(home))}
    keys = [key for key in ORDER if key not in OPTIONAL or key in extra]
    style = rng.choice(("plain", "numbered", "lettered", "title"))
    return [Section(key, _heading(rng, report, key, style, number)) for number, key in enumerate(keys)]


def _heading(rng: Random, report: Report, key: str, style: str, number: int) -> str:
    if key == "history":
        name = f"HISTORY OF THE {vehicles().trip_noun[report.model.kind]}"
    elif key == "vehicle":
        name = f"{vehicles().vehicle_noun[report.model.kind]} INFORMATION"
    else:
        name = rng.choice(_NAMES[key])
    if style == "numbered" and key not in _UNNUMBERED:
        return f"{_CONCLUDING.get(key, f'1.{number}')} {name}"
    if style == "lettered" and key in _LETTERED:
        return f"{_LETTERED[key]} {name}"
    return name.title() if style == "title" else name
