"""What only the generator knows: which passages speak of which theme, and so which answer a query.

A verification clause finds keywords. A perfect reviewer finds meaning: the passages that speak of the theme,
whether or not they name it, and none in which its words mean something else.
"""

from __future__ import annotations

from typing import NamedTuple

from assay_worlds.incidents.corpus import SEED, chunks
from assay_worlds.incidents.passages import PARAPHRASE

WEIGHED = ("analysis", "findings", "cause")


class Asked(NamedTuple):
    """What a query asks for: a theme, in some sections alone where it says so."""

    theme: str
    sections: tuple[str, ...] = ()


ASKED = {
    "CON-001": Asked("fatigue"),
    "CON-002": Asked("icing"),
    "CON-003": Asked("crack"),
    "CON-004": Asked("fog"),
    "CON-005": Asked("fuel"),
    "CON-006": Asked("automation"),
    "CON-007": Asked("alcohol"),
    "CON-008": Asked("distraction"),
    "CON-009": Asked("incapacitation"),
    "CON-010": Asked("overload"),
    "CON-011": Asked("corrosion"),
    "CON-012": Asked("evacuation"),
    "CMP-001": Asked("maintenance", sections=WEIGHED),
    "CMP-002": Asked("warning"),
    "CMP-003": Asked("design"),
    "CMP-004": Asked("night"),
    "CMP-005": Asked("oversight"),
    "CMP-006": Asked("training", sections=WEIGHED),
    "CMP-007": Asked("pressure"),
    "CMP-008": Asked("communication"),
}


def themes_of(chunk_id: str, seed: int = SEED) -> dict[str, str]:
    """The themes that a passage speaks of, each with how: `keyword` or `paraphrase`."""
    return {chunk.chunk_id: dict(chunk.written.themes) for chunk in chunks(seed)}.get(chunk_id, {})


def truth(seed: int = SEED) -> dict[str, set[str]]:
    """For each conceptual and comparative query, the passages that a perfect reviewer calls relevant."""
    return {item_id: _relevant(asked, seed) for item_id, asked in ASKED.items()}


def unnamed(seed: int = SEED) -> dict[str, set[str]]:
    """The part of the truth that speaks of its theme without any of its keywords."""
    found = truth(seed)
    hows = {chunk.chunk_id: chunk.written.themes for chunk in chunks(seed)}
    return {
        item_id: {chunk_id for chunk_id in found[item_id] if hows[chunk_id][asked.theme] == PARAPHRASE}
        for item_id, asked in ASKED.items()
    }


def _relevant(asked: Asked, seed: int) -> set[str]:
    return {
        chunk_id
        for chunk_id, _, written in chunks(seed)
        if asked.theme in written.themes and (not asked.sections or written.section.key in asked.sections)
    }
