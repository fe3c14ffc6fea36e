"""The content words of texts: stemmed, less the words that say nothing about the subject."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from assay.retrieval.lexical import Analysis

if TYPE_CHECKING:
    from tantivy import TextAnalyzer

# tantivy's English list has 33 words, and none that asks
_WORDS = """
    a about after all also am an and any anymore anyone anything are as at be because been being but by
    can cannot could d did do does doing don done down for from get go had has have he her here him his
    how i if in into is it its just let like ll m make may me might more most much must my myself no nor
    not now of off on one only or other our out over own re s said say says shall she should so some
    something such t tell than that the their them then there these they this those through to too up us
    ve very was we were what when where which while who whom whose why will with without would you your
"""
ENGLISH = tuple(_WORDS.split())


def stems_of(texts: Sequence[str], stop_words: Sequence[str] | None = None) -> list[list[str]]:
    """The content words of each English text, stemmed, in its order."""
    analyzer = _analyzer(ENGLISH if stop_words is None else tuple(stop_words))
    return [analyzer.analyze(text) for text in texts]


@cache
def _analyzer(stop_words: tuple[str, ...]) -> TextAnalyzer:
    return Analysis("english", stop_words).analyzer()
