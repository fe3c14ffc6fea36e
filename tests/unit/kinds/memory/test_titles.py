"""One spelling for a title, and one stem for a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.kinds.memory.datasets.paragraphs import DocumentStems, normalize_title


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Farm story", "farm_story"),
        ("  Farm\u00a0 Story ", "farm_story"),
        ("Farm_story", "farm_story"),
        ("Lilu (mythology)", "lilu_mythology"),
        ("Lambert, Margrave of Tuscany", "lambert_margrave_of_tuscany"),
        ("Al\u00fb", "al\u00fb"),
        ("Alu\u0302", "al\u00fb"),  # the same letter, written as two
        ("\ufb01lm \u2163", "film_iv"),  # a ligature and a Roman numeral of one sign each
        ("Stra\u00dfe", "strasse"),
        ("Sophie\u2019s Choice", "sophie_s_choice"),
        ("Sophie's Choice", "sophie_s_choice"),
        ("Spider\u2013Man", "spider_man"),
        ("zero\u200bwidth", "zerowidth"),
        ("Star Trek: Picard", "star_trek_picard"),
        ("C++", "c++"),
        ("C", "c"),
        ("\u0917\u094d\u0930\u0940\u0928 \u091f\u0940", "\u0917\u094d\u0930\u0940\u0928_\u091f\u0940"),
        ("!!!", "!!!"),
        ("?", "?"),
        (":", "untitled"),
        ("", "untitled"),
    ],
)
def test_a_title_has_one_spelling(title: str, name: str) -> None:
    assert normalize_title(title) == name


@pytest.mark.slow
@given(st.text())
def test_a_name_is_its_own_name_and_can_stand_before_a_number(title: str) -> None:
    name = normalize_title(title)
    assert normalize_title(name) == name
    assert name
    assert ":" not in name
    assert " " not in name


def test_another_text_under_a_title_is_numbered_and_the_same_is_shared() -> None:
    stems = DocumentStems()
    given = [("Queen of Spades", "a card"), ("Queen of spades", "a film"), ("QUEEN of Spades", "a card")]
    assert [stems.of(title, (text,)) for title, text in given] == [
        "queen_of_spades",
        "queen_of_spades#2",
        "queen_of_spades",
    ]
    # a title that ends in a number is not taken for a numbered stem
    assert stems.of("Queen of Spades #2", ("a sequel",)) == "queen_of_spades_2"


def test_the_cut_into_sentences_makes_another_text() -> None:
    stems = DocumentStems()
    assert stems.of("T", ("a", "b")) != stems.of("T", ("a b",))


@given(st.lists(st.tuples(st.text("aA# 2!:", max_size=4), st.text("xy", max_size=2))))
def test_no_two_texts_share_a_stem(texts: list[tuple[str, str]]) -> None:
    stems = DocumentStems()
    named = {(normalize_title(title), text): stems.of(title, (text,)) for title, text in texts}
    assert len(set(named.values())) == len(named)
