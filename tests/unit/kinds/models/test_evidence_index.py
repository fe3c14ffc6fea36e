"""Signal words found in passages as a plain search finds them, whatever the letters."""

from __future__ import annotations

import re

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from assay.core.dataset import Corpus, Dataset
from assay.core.records import Passage
from assay.kinds.models.judges.rules import RuleIndex
from assay.kinds.models.judges.sql_clause import ClauseRefused

LETTERS = "abeds ing-_.ßİıſσΣéÉ\u0301日1\ud800"
TEXTS = st.lists(st.text(LETTERS, max_size=30), max_size=6)
WORDS = st.lists(st.text(LETTERS, min_size=1, max_size=4), min_size=1, max_size=4)


def index(texts: list[str], words: list[str], clauses: list[str] | None = None) -> RuleIndex:
    corpus = Corpus([Passage(str(at), text) for at, text in enumerate(texts)])
    return RuleIndex(Dataset("d", corpus, []), clauses or [], words, 5.0, "512MB")


def plainly(texts: list[str], signals: list[str], least: int) -> list[tuple[str, str]]:
    """Every word's pattern on every text."""
    words = {word.lower(): word for word in signals}
    found = []
    for at, text in enumerate(texts):
        pattern = r"\b{}(?:s|es|d|ed|ing)?\b"
        held = [
            word for lower, word in words.items() if re.search(pattern.format(re.escape(lower)), text.lower())
        ]
        if len(held) >= least:
            found.append((str(at), ", ".join(held)))
    return found


@settings(max_examples=300)
@given(TEXTS, WORDS, st.integers(1, 3))
def test_signals_are_found_as_by_every_pattern_on_every_text(
    texts: list[str], words: list[str], least: int
) -> None:
    assert list(index(texts, words).with_signals(words, least)) == plainly(texts, words, least)


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("Cracks and ICE.", "crack, ice"),
        ("cracked; iced", "crack, ice"),
        ("crackle, nice ice", ""),  # of two words only one
        ("a crack of an icebreaker, then ices", "crack, ice"),  # the first "ice" is not the one
        ("crack", ""),
    ],
)
def test_two_words_make_a_passage_found(text: str, held: str) -> None:
    found = list(index([text], ["crack", "ice"]).with_signals(["crack", "ice"], 2))
    assert found == ([("0", held)] if held else [])


def test_words_and_clauses_are_looked_up_beside_each_other() -> None:
    clauses = ["text LIKE '%tea%'", "lower(text) LIKE '%t%'", "nonsense = 1"]
    found = index(["Tea", "tea and toast", "coffee"], ["tea", "toast"], clauses)
    assert list(found.with_signals(["tea", "toast"], 1)) == [("0", "tea"), ("1", "tea, toast")]
    assert found.satisfying(clauses[0]) == ["1"]
    assert found.satisfying(clauses[1]) == ["0", "1"]
    with pytest.raises(ClauseRefused, match="no column 'nonsense'"):
        found.satisfying(clauses[2])
