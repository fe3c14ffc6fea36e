"""A golden set of two languages over one small book: five queries in English, three in Spanish."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

CROSSING = """\
# The Crossing

The ferry left before dawn, and the old man kept one hand upon the rope while fog lay on the water.

Nobody came that winter to gather the apples, and so the orchard fed the birds and the deer until spring.
"""
LAMP = """\
# The Lamp

When the lamp went out she did not call for help, but sat down beside the dark and waited for it to speak.
"""
OAR = """\
# The Still Oar

Breathe in for four counts, hold the breath for four, and let it go as slowly as an oar leaves the water.
"""
CRUCE = """\
# El cruce

La barca salió antes del alba, y el viejo dejó una mano sobre la cuerda mientras la niebla cubría el agua.
"""
REMO = """\
# El remo quieto

Respira cuatro veces, guarda el aire otras cuatro y suéltalo tan despacio como un remo deja el agua.
"""
CHAPTERS = {
    "en/ferry/01-the-crossing.md": CROSSING,
    "en/ferry/02-the-lamp.md": LAMP,
    "en/oar/01.txt": OAR,
    "es/ferry/01-el-cruce.md": CRUCE,
    "es/oar/01.md": REMO,
}
ROPE = "the old man kept one hand upon the rope while fog lay"
APPLES = "came that winter to gather the apples, and so the orchard"
DARK = "sat down beside the dark and waited for it to speak"
CUERDA = "el viejo dejó una mano sobre la cuerda mientras la niebla"

STUDY = """\
kind: search
data:
  use: golden
  sets: golden-set-*.json
  corpus: corpus
  forbidden: technique.json
  categories:
    direct: {by: passages, count: 2}
    boundary: {by: route, count: 1, withhold: true}
    night: {by: intent, count: 1}
    odd: {by: route}
chunk: tokens(size=30, overlap=5)
systems: {words: bm25}
judges: [anchors]
measures: [Success@3]
"""


def expected(
    text: str, chapter: int | None = 1, relevance: str = "high", book: str = "ferry"
) -> dict[str, Any]:
    """An expected passage."""
    number = {} if chapter is None else {"chapter_number": chapter}
    return {"book_slug": book, **number, "passage_substring": text, "relevance": relevance}


def entry(item_id: str, query: str, *passages: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A query of the golden set, its language and category as its id says."""
    language, category, _ = item_id.split("-")
    return {
        "id": item_id,
        "query": query,
        "language": language,
        "category": category,
        "expected_passages": list(passages),
        "expected_routing": "search",
        **more,
    }


def english() -> list[dict[str, Any]]:
    return [
        entry(
            "en-direct-001", "who held the rope in the fog", expected(ROPE), themes=["work"], notes="words"
        ),
        entry("en-direct-002", "apples nobody gathered", expected(APPLES), expected(ROPE, None, "partial")),
        entry("en-boundary-001", "how do I breathe right", expected_routing="practice_bridge"),
        entry(
            "en-night-001",
            "nothing left in me",
            expected(DARK, 2),
            retrieval_intent="console",
            expected_flags=["safety_interstitial"],
            added="2026-01-31",
        ),
        entry("en-odd-001", "weather tomorrow", expected_routing="no_results"),
    ]


def spanish() -> list[dict[str, Any]]:
    return [
        entry("es-direct-001", "quién tenía la cuerda", expected(CUERDA)),
        entry("es-boundary-001", "cómo respiro bien", expected_routing="practice_bridge"),
        entry("es-night-001", "ya no me queda nada", retrieval_intent="meet_first"),
    ]


def write_set(folder: Path, entries: Any, language: str = "en") -> Path:
    """The golden-set file of a language."""
    path = folder / f"golden-set-{language}.json"
    path.write_text(json.dumps(entries, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    return path


def write_golden(folder: Path, study: str = STUDY) -> Path:
    """The study with its books and golden sets; the path of its folder."""
    for name, text in CHAPTERS.items():
        path = folder / "corpus" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (folder / "study.yaml").write_text(study, encoding="utf-8")
    (folder / "technique.json").write_text('[{"book_slug": "oar"}]', encoding="utf-8")
    write_set(folder, english())
    write_set(folder, spanish(), "es")
    return folder
