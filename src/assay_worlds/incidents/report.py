"""Plans the reports as facts: what happened, to which vehicle, where and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random
from typing import NamedTuple

from assay_worlds.incidents.lexicon import AccidentTheme, VehicleModel, region, themes, vehicles

YEARS, A_YEAR = range(2006, 2024), 5
THREE = 0.6  # the share of reports with three themes; the others have two
# How readily a report names a theme outright; a third of the reports never do.
CANDOUR = (0.75, 0.4, 0.0)
COLD, DARK = (1, 2, 3, 11, 12), (1, 2, 10, 11, 12)
PHASES = ("departure", "en route", "arrival", "stationary")
PHASE_SHARES = (26, 30, 28, 16)
BURNT = 0.35  # the share of vehicles that caught fire
TOLL_SHARES = (60, 18, 10, 6, 6)  # the weights of no fatality to four fatalities


@dataclass(frozen=True)
class Cause:
    """A theme of a report. `candour` is the probability that a mention uses its keywords."""

    theme: AccidentTheme
    candour: float


@dataclass(frozen=True)
class AccidentReport:
    """One accident, and the day on which the board reported on it."""

    report_id: str
    model: VehicleModel
    name: str
    operator: str
    phase: str
    outcome: str
    region: str
    place: str
    bound: str
    happened: date
    hour: int
    reported: date
    fatalities: int
    fire: bool
    causes: tuple[Cause, ...]  # weightiest first

    def has(self, key: str) -> bool:
        return any(cause.theme.key == key for cause in self.causes)


def plan(rng: Random) -> list[AccidentReport]:
    """Plans all reports.

    Each model occurs equally often, each theme about equally often, and each name only once.
    """
    names = {key: rng.sample(pool, len(pool)) for key, pool in region().names.items()}
    count = len(YEARS) * A_YEAR
    known = vehicles().models
    models = rng.sample(known * (count // len(known)), count)
    dealer = _ThemeDealer(rng)
    reports = []
    for number, model in enumerate(models):
        year, place_in_year = YEARS[number // A_YEAR], number % A_YEAR
        causes = tuple(dealer.draw(model.kind, 3 if rng.random() < THREE else 2))
        report_id = f"IR{year}-{place_in_year + 1:02d}.pdf"
        reported = date(year, 2 + 2 * place_in_year, rng.randint(1, 28))
        reports.append(_report(rng, report_id, model, names[model.vehicle_type].pop(), reported, causes))
    return reports


def _report(
    rng: Random, report_id: str, model: VehicleModel, name: str, reported: date, causes: tuple[Cause, ...]
) -> AccidentReport:
    keys = {cause.theme.key for cause in causes}
    known = region()
    district = rng.choice(known.served[model.kind])
    place, bound = rng.sample(known.regions[district], 2)
    phase = rng.choices(PHASES, PHASE_SHARES)[0]
    outcomes = vehicles().standing if phase == "stationary" else vehicles().outcomes
    return AccidentReport(
        report_id,
        model,
        name,
        rng.choice(known.operators[model.kind]),
        phase,
        rng.choice(outcomes[model.kind]),
        district,
        place,
        bound,
        _day(rng, reported, keys),
        rng.choice((0, 1, 22, 23)) if "night" in keys else rng.randint(9, 15),
        reported,
        rng.choices(range(len(TOLL_SHARES)), TOLL_SHARES)[0],
        rng.random() < BURNT,
        causes,
    )


def _day(rng: Random, reported: date, keys: set[str]) -> date:
    """Draws a day that lies 240 to 600 days before the report, in a season that suits the report's themes."""
    days = [reported - timedelta(days=before) for before in range(240, 600)]
    if "icing" in keys:
        days = [day for day in days if day.month in COLD]
    if "night" in keys:
        days = [day for day in days if day.month in DARK]
    return rng.choice(days)


class _ThemeDealer:
    """Deals all themes about equally often, and the values of candour in turn."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._left: list[AccidentTheme] = []
        self._candour = {key: rng.sample(CANDOUR, len(CANDOUR)) for key in themes()}
        self._drawn = dict.fromkeys(themes(), 0)

    def draw(self, kind: str, count: int) -> Iterator[Cause]:
        chosen: list[AccidentTheme] = []
        while len(chosen) < count:
            theme = self._next(kind, chosen)
            chosen.append(theme)
            candour = self._candour[theme.key][self._drawn[theme.key] % len(CANDOUR)]
            self._drawn[theme.key] += 1
            yield Cause(theme, candour)

    def _next(self, kind: str, chosen: Sequence[AccidentTheme]) -> AccidentTheme:
        while True:
            for theme in self._left:
                if kind in theme.kinds and theme not in chosen:
                    self._left.remove(theme)
                    return theme
            self._left += self._rng.sample(list(themes().values()), len(themes()))


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


class ReportSection(NamedTuple):
    """A section: its key, and its heading in the report."""

    key: str
    name: str


def sections(rng: Random, report: AccidentReport) -> list[ReportSection]:
    """Returns the sections of a report: ten that every report has, and up to four more.

    The additional sections include the home section of the first theme, if that section is not in every
    report.
    """
    home = [key for cause in report.causes[:1] for key in cause.theme.homes if key in OPTIONAL][:1]
    others = [key for key in OPTIONAL if key not in home]
    extra = {*home, *rng.sample(others, rng.randint(1, 4) - len(home))}
    keys = [key for key in ORDER if key not in OPTIONAL or key in extra]
    style = rng.choice(("plain", "numbered", "lettered", "title"))
    return [ReportSection(key, _heading(rng, report, key, style, number)) for number, key in enumerate(keys)]


def _heading(rng: Random, report: AccidentReport, key: str, style: str, number: int) -> str:
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
