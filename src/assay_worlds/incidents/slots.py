"""What the templates of one report are filled with."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from random import Random

from assay_worlds.incidents.region import region
from assay_worlds.incidents.report import Report
from assay_worlds.incidents.vehicle import vehicles
from assay_worlds.texts import read_texts

_HE = {"he": "he", "his": "his", "him": "him", "himself": "himself"}
_SHE = {"he": "she", "his": "her", "him": "her", "himself": "herself"}


@cache
def words() -> dict[str, str]:
    """What is the same in every report, as templates."""
    return read_texts(dict[str, str], __package__, "words")


@cache
def pools() -> dict[str, tuple[str, ...]]:
    """The sentences of the sections, and a few that several share."""
    return read_texts(dict[str, tuple[str, ...]], __package__, "sections")


def slots(rng: Random, report: Report, other: Report) -> dict[str, str | Sequence[str]]:
    """What fills the slots of a report; several words in one are alternatives."""
    model, day, known = report.model, report.happened, region()
    first, second, third = rng.sample(known.surnames, 3)
    aboard = rng.randint(*model.aboard)
    person = rng.choice((_HE, _SHE))
    return {
        **words(),
        **person,
        "He": person["he"].title(),
        "His": person["his"].title(),
        "board": known.board,
        "model": model.model,
        "maker": model.maker,
        "craft": model.craft,
        "lead": model.lead,
        "mate": model.mate,
        "deck": model.deck,
        "part": rng.choice(model.parts),
        "dispatcher": vehicles().dispatcher[model.kind],
        "name": report.name,
        "operator": report.operator,
        "region": report.region,
        "place": report.place,
        "bound": report.bound,
        "phase": vehicles().phases[model.kind][report.phase],
        "outcome": report.outcome,
        "toll": pools()[f"toll_{report.fatalities}"],
        "aboard": str(aboard),
        "seats": str(aboard - rng.randint(2, 5) if report.has("overload") else aboard + rng.randint(2, 20)),
        "date": f"{day.day} {day:%B %Y}",
        "adopted": f"{report.reported.day} {report.reported:%B %Y}",
        "landmark": rng.sample(known.landmarks, 3),
        "weekday": f"{day:%A}",
        "clock": [f"{report.hour:02d}:{minute:02d}" for minute in sorted(rng.sample(range(2, 58), 8))],
        "visibility": ("eighty metres", "less than two hundred metres")
        if report.has("fog")
        else ("more than twenty km", "some fifteen km", "thirty km and more"),
        "temperature": str(rng.randint(-5, -1) if report.has("icing") else rng.randint(6, 18)),
        "age": str(rng.randint(27, 61)),
        "person": known.surnames,
        "surname": first,
        "surname_2": second,
        "surname_3": third,
        "other": other.name,
        "earlier_year": str(report.reported.year - rng.randint(1, 6)),
        "report_year": str(other.reported.year),
    }
