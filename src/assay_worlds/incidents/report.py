"""The reports as facts, before they are written: what happened to whom, where, and for which reasons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random

from assay_worlds.incidents.region import region
from assay_worlds.incidents.theme import AccidentTheme, themes
from assay_worlds.incidents.vehicle import VehicleModel, vehicles

YEARS, A_YEAR = range(2006, 2024), 5
THREE = 0.6  # of the reports have three themes, the others two
# How readily a report names a theme outright; a third of the reports never do.
CANDOUR = (0.75, 0.4, 0.0)
COLD, DARK = (1, 2, 3, 11, 12), (1, 2, 10, 11, 12)
PHASES = ("departure", "en route", "arrival", "stationary")
PHASE_SHARES = (26, 30, 28, 16)
BURNT = 0.35  # of the vehicles caught fire
TOLL_SHARES = (60, 18, 10, 6, 6)  # none to four


@dataclass(frozen=True)
class Cause:
    """A theme in a report: how likely each mention of it is to use its keywords."""

    theme: AccidentTheme
    candour: float


@dataclass(frozen=True)
class Report:
    """One accident, and when the board reported on it."""

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


def plan(rng: Random) -> list[Report]:
    """Every report: each model equally often, each theme about equally often, no name twice."""
    names = {key: rng.sample(pool, len(pool)) for key, pool in region().names.items()}
    count = len(YEARS) * A_YEAR
    known = vehicles().models
    models = rng.sample(known * (count // len(known)), count)
    dealer = _Themes(rng)
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
) -> Report:
    keys = {cause.theme.key for cause in causes}
    known = region()
    district = rng.choice(known.served[model.kind])
    place, bound = rng.sample(known.regions[district], 2)
    phase = rng.choices(PHASES, PHASE_SHARES)[0]
    outcomes = vehicles().standing if phase == "stationary" else vehicles().outcomes
    return Report(
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
    """A day in the year and a half before the report, in a season in which its themes are possible."""
    days = [reported - timedelta(days=before) for before in range(240, 600)]
    if "icing" in keys:
        days = [day for day in days if day.month in COLD]
    if "night" in keys:
        days = [day for day in days if day.month in DARK]
    return rng.choice(days)


class _Themes:
    """Themes dealt so that each comes about equally often, with each candour in turn."""

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
