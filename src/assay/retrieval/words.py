"""Words of English texts: words that carry content, and words that say what kind of answer a question wants.

Stop words and cues are listed here. Names and identifiers are recognised by their letters.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import takewhile
from typing import TYPE_CHECKING

from assay.retrieval.lexical import Analysis

if TYPE_CHECKING:
    from tantivy import TextAnalyzer


# tantivy's English list has only 33 words, and no question words
_WORDS = """
    a about after all also am an and any anymore anyone anything are as at be because been being but by
    can cannot could d did do does doing don done down for from get go had has have he her here him his
    how i if in into is it its just let like ll m make may me might more most much must my myself no nor
    not now of off on one only or other our out over own re s said say says shall she should so some
    something such t tell than that the their them then there these they this those through to too up us
    ve very was we were what when where which while who whom whose why will with without would you your
"""
ENGLISH_STOP_WORDS = tuple(_WORDS.split())


def content_stems(texts: Sequence[str], stop_words: Sequence[str] | None = None) -> list[list[str]]:
    """Returns the stemmed content words of each English text, in the order of the text."""
    analyzer = _analyzer(ENGLISH_STOP_WORDS if stop_words is None else tuple(stop_words))
    return [analyzer.analyze(text) for text in texts]


@cache
def _analyzer(stop_words: tuple[str, ...]) -> TextAnalyzer:
    return Analysis("english", stop_words).analyzer()


ENUMERATING = (
    "all", "any", "catalogue", "complete", "each", "entire", "enumerate", "every", "everyone", "everything",
    "full", "how many", "in total", "inventory", "list", "name the", "overall", "overview", "throughout",
)  # fmt: skip
CHANGING = (
    "added", "between", "change", "changed", "changes", "differ", "difference", "differences", "differs",
    "evolved", "history", "new in", "no longer", "removed", "revised", "since", "updated", "used to",
)  # fmt: skip
COMPARING = (
    "between", "both", "compare", "compared", "earlier", "fewer", "first", "higher", "larger", "later",
    "less", "longer", "lower", "more", "most", "or", "rather", "same", "shorter", "than", "versus", "vs",
)  # fmt: skip
_WHICH = {"which", "what", "whose", "who", "list", "name"}
_NOT_PLURAL = ("ss", "us", "is")
_HEAD = 3  # words after "which" among which its noun may be
_WORD = re.compile(r"[^\W_]+")
# INC-2041, v1.30.2, 2024-05-01: parts joined by signs, at least one with a digit. A match may only begin at
# the first part; otherwise every part would be tried, and time would grow with the square of the length.
_JOINT = r"[-._/:#]"
_IDENTIFIER = re.compile(
    rf"(?<![^\W_])(?<![^\W\d_]{_JOINT})(?:[^\W\d_]+{_JOINT})*[^\W\d_]*\d[^\W_]*(?:{_JOINT}[^\W_]+)*"
)
_STOPS = frozenset(ENGLISH_STOP_WORDS)


def _phrase_pattern(cues: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, cues))})\b", re.IGNORECASE)


_ENUMERATING, _CHANGING, _COMPARING = map(_phrase_pattern, (ENUMERATING, CHANGING, COMPARING))


def question_features(query: str) -> dict[str, float]:
    """Counts the words of a question, and how many of them are names, plurals, comparisons and so on."""
    words = _WORD.findall(query)
    return {
        "words": float(len(words)),
        "names": float(len(find_capitalized_names(query))),
        "identifiers": float(len(find_identifiers(query))),
        "enumerating": float(len(_ENUMERATING.findall(query))),
        "plural": float(_asks_for_plural(words)),
        "changing": float(len(_CHANGING.findall(query))),
        "comparing": float(len(_COMPARING.findall(query))),
    }


def find_identifiers(text: str) -> list[str]:
    """Returns the numbers, versions, dates and codes in a text, in lower case and without repetition."""
    return list(dict.fromkeys(found[0].casefold() for found in _IDENTIFIER.finditer(text)))


def find_capitalized_names(query: str) -> list[str]:
    """Returns the runs of capitalised words in a question.

    A single capitalised word at the beginning does not count. If a longer run begins the question with a stop
    word, the stop word is removed.
    """
    runs: list[list[re.Match[str]]] = []
    for word in _WORD.finditer(query):
        if not word[0][0].isupper() or any(letter.isdigit() for letter in word[0]):
            continue
        if runs and query[runs[-1][-1].end() : word.start()] in {" ", "-"}:
            runs[-1].append(word)
        else:
            runs.append([word])
    if runs and runs[0][0].start() == 0 and (len(runs[0]) == 1 or runs[0][0][0].lower() in _STOPS):
        runs[0] = runs[0][1:]
    return list(dict.fromkeys(query[run[0].start() : run[-1].end()] for run in runs if run))


def _asks_for_plural(words: list[str]) -> bool:
    """Whether a plural follows "which" or a similar word, with no stop word between them."""
    small = [word.lower() for word in words]
    return any(
        _is_plural(after)
        for at, word in enumerate(small, 1)
        if word in _WHICH
        for after in takewhile(lambda each: each not in _STOPS, small[at : at + _HEAD])
    )


def _is_plural(word: str) -> bool:
    return len(word) > _HEAD and word.endswith("s") and not word.endswith(_NOT_PLURAL)
