"""Names of sections, compared as people write them: numbered, bracketed, in capitals or not.

"(b) PROBABLE CAUSE", "1.18 Probable Cause" and "Probable Cause and Findings" are all the section "PROBABLE
CAUSE": the wanted words stand in them together and in order. "Cause" alone is not.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

_WORD = re.compile(r"[^\W_]+")
_NUMBERING = re.compile(r"\d+|[a-z]|[ivxl]+")


def is_section(name: str | None, wanted: Iterable[str]) -> bool:
    """Whether a section bears one of the wanted names."""
    words = _words(name or "")
    return any(_contains(words, _words(each)) for each in wanted)


def _words(name: str) -> list[str]:
    """The words of a name in lower case, less the numbering it begins with."""
    folded = unicodedata.normalize("NFKC", name).casefold().replace("&", " and ")
    words = _WORD.findall(folded)
    start = 0
    while start < len(words) - 1 and _NUMBERING.fullmatch(words[start]):
        start += 1
    return words[start:]


def _contains(words: Sequence[str], part: Sequence[str]) -> bool:
    places = range(len(words) - len(part) + 1)
    return bool(part) and any(words[place : place + len(part)] == part for place in places)
