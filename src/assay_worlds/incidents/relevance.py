"""What only the generator knows: which passages mention which theme, and so which answer a query.

A verification clause finds keywords. A perfect reviewer finds meaning: the passages that mention the theme,
whether or not they name it, and none in which its words mean something else.
"""

from __future__ import annotations

from typing import NamedTuple

from assay_worlds.incidents.corpus import SEED, chunks
from assay_worlds.incidents.passages import PARAPHRASE

WEIGHED = ("analysis", "findings", "cause")


class ThemeQuery(NamedTuple):
    """What a query asks for: a theme, or one in some sections only."""

    theme: str
    sections: tuple[str, ...] = ()


ASKED = {
    "CON-001": ThemeQuery("fatigue"),
    "CON-002": ThemeQuery("icing"),
    "CON-003": ThemeQuery("crack"),
    "CON-004": ThemeQuery("fog"),
    "CON-005": ThemeQuery("fuel"),
    "CON-006": ThemeQuery("automation"),
    "CON-007": ThemeQuery("alcohol"),
    "CON-008": ThemeQuery("distraction"),
    "CON-009": ThemeQuery("incapacitation"),
    "CON-010": ThemeQuery("overload"),
    "CON-011": ThemeQuery("corrosion"),
    "CON-012": ThemeQuery("evacuation"),
    "CMP-001": ThemeQuery("maintenance", sections=WEIGHED),
    "CMP-002": ThemeQuery("warning"),
    "CMP-003": ThemeQuery("design"),
    "CMP-004": ThemeQuery("night"),
    "CMP-005": ThemeQuery("oversight"),
    "CMP-006": ThemeQuery("training", sections=WEIGHED),
    "CMP-007": ThemeQuery("pressure"),
    "CMP-008": ThemeQuery("communication"),
}


def themes_of(chunk_id: str, seed: int = SEED) -> dict[str, str]:
    """The themes that a passage mentions, each with how: `keyword` or `paraphrase`."""
    return {chunk.chunk_id: dict(chunk.written.themes) for chunk in chunks(seed)}.get(chunk_id, {})


def truth(seed: int = SEED) -> dict[str, set[str]]:
    """For each conceptual and comparative query, the passages that a perfect reviewer calls relevant."""
    return {item_id: _relevant(asked, seed) for item_id, asked in ASKED.items()}


def unnamed(seed: int = SEED) -> dict[str, set[str]]:
    """The part of the truth that mentions its theme without any of its keywords."""
    found = truth(seed)
    hows = {chunk.chunk_id: chunk.written.themes for chunk in chunks(seed)}
    return {
        item_id: {chunk_id for chunk_id in found[item_id] if hows[chunk_id][asked.theme] == PARAPHRASE}
        for item_id, asked in ASKED.items()
    }


def _relevant(asked: ThemeQuery, seed: int) -> set[str]:
    return {
        chunk_id
        for chunk_id, _, written in chunks(seed)
        if asked.theme in written.themes and (not asked.sections or written.section.key in asked.sections)
    }
