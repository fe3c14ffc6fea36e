"""Cheap signs of what a unit does: wordings of exceptions, conditions and obligations, in English.

They help to choose what to write cases about. They label nothing: they are
in the sample, for whoever writes queries, and not in the table of units that people label from.
"""

from __future__ import annotations

import re

CUES = {
    "exception": (
        "except",
        "exception",
        "excluding",
        "unless",
        "notwithstanding",
        "however",
        "other than",
        "does not apply",
        "do not apply",
        "waived",
        "overrides",
    ),
    "condition": (
        "if",
        "when",
        "whenever",
        "provided that",
        "in case",
        "in the event",
        "subject to",
        "until",
        "as long as",
        "only after",
    ),
    "obligation": (
        "shall",
        "must",
        "required to",
        "obliged to",
        "has to",
        "have to",
        "may not",
        "responsible for",
    ),
}
_PATTERNS = {
    kind: re.compile(rf"\b(?:{'|'.join(re.escape(word) for word in words)})\b", re.IGNORECASE)
    for kind, words in CUES.items()
}


def cues_of(text: str) -> list[str]:
    """The kinds of cue that a text has, in the order of `CUES`."""
    return [kind for kind, pattern in _PATTERNS.items() if pattern.search(text)]
