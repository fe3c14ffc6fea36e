"""What the templates of one report are filled with."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from assay_worlds.incidents.region_text import BOARD, LANDMARKS, MONTHS, SURNAMES
from assay_worlds.incidents.report import Report
from assay_worlds.incidents.vehicle_text import DISPATCHER, PHASES

_HE = {"he": "he", "his": "his", "him": "him", "himself": "himself"}
_SHE = {"he": "she", "his": "her", "him": "her", "himself": "herself"}
_TOLLS = (
    ("Nobody [was killed|lost a life].", "All on board [survived|lived]."),
    ("One person [died|was killed].", "[A passenger|One of the crew] [died|lost a life]."),
    ("Two persons [died|were killed].", "The accident cost two lives."),
    ("Three persons [died|were killed].", "The accident cost three lives."),
    ("Four persons [died|were killed].", "The accident cost four lives."),
)


def slots(rng: Random, report: Report, other: Report) -> dict[str, str | Sequence[str]]:
    """The slots that are the same throughout a report; several words in one are alternatives."""
    model, day = report.model, report.happened
    first, second, third = rng.sample(SURNAMES, 3)
    aboard = rng.randint(*model.aboard)
    person = rng.choice((_HE, _SHE))
    return {
        **person,
        "He": person["he"].title(),
        "His": person["his"].title(),
        "board": BOARD,
        "model": model.model,
        "maker": model.maker,
        "craft": model.craft,
        "lead": model.lead,
        "mate": model.mate,
        "deck": model.deck,
        "part": rng.choice(model.parts),
        "dispatcher": DISPATCHER[model.kind],
        "name": report.name,
        "operator": report.operator,
        "region": report.region,
        "place": report.place,
        "bound": report.bound,
        "phase": PHASES[model.kind][report.phase],
        "outcome": report.outcome,
        "toll": _TOLLS[report.fatalities],
        "aboard": str(aboard),
        "seats": str(aboard - rng.randint(2, 5) if report.has("overload") else aboard + rng.randint(2, 20)),
        "date": f"{day.day} {MONTHS[day.month - 1]} {day.year}",
        "adopted": f"{report.reported.day} {MONTHS[report.reported.month - 1]} {report.reported.year}",
        "landmark": rng.sample(LANDMARKS, 3),
        "weekday": f"{day:%A}",
        "clock": [f"{report.hour:02d}:{minute:02d}" for minute in sorted(rng.sample(range(2, 58), 8))],
        "visibility": ("eighty metres", "less than two hundred metres")
        if report.has("fog")
        else ("more than twenty km", "some fifteen km", "thirty km and more"),
        "temperature": str(rng.randint(-5, -1) if report.has("icing") else rng.randint(6, 18)),
        "age": str(rng.randint(27, 61)),
        "surname": first,
        "surname_2": second,
        "surname_3": third,
        "other": other.name,
        "earlier_year": str(report.reported.year - rng.randint(1, 6)),
        "report_year": str(other.reported.year),
    }
