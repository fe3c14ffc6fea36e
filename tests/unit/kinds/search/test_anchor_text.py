"""Text as anchors are compared: what is alike, where it stands in the original, and what is nearest."""

from __future__ import annotations

import html
import re
import time
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assay.core.records import Span
from assay.kinds.search.anchor_text import SourceText, join_hyphens, normalize

ZWNJ, ZWJ, SHY, NBSP, NUKTA = "\u200c", "\u200d", "\u00ad", "\u00a0", "\u093c"


def found(text: str, wanted: str) -> list[str]:
    """The stretches of a text where a wanted one stands."""
    return [text[span.start : span.end] for span in SourceText(text).spans(wanted)]


# ------------------------------------------------------------------------------------- what is alike


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ﬁnd the ﬂow", "find the flow"),  # ligatures
        ("Ｆｕｌｌ　ｗｉｄｔｈ", "full width"),
        ("caf\u00e9", "cafe\u0301"),  # composed and decomposed
        ("मुझे क\u093c\u0932म", "मुझे \u0958\u0932म"),  # a nukta beside its letter, and in it
        ("ज\u093c\u0930ूरी", "\u095b\u0930ूरी"),
        (f"क्{ZWJ}ष{ZWNJ}", "क्ष"),
        ("“Rest,” he said: ‘now’", "\"Rest,\" he said: 'now'"),
        ("„Ruhe“ «calma»", "'Ruhe' 'calma'"),
        ("``so''", '"so"'),
        ("5′ 3″", "5' 3\""),
        ("acute´s", "acute's"),
        ("self‐taught – well — so−called", "self-taught - well - so-called"),
        ("yes--no", "yes—no"),
        ("wait… what", "wait... what"),
        (f"philo{SHY}sophy", "philosophy"),
        (f"philo{SHY}\n  sophy", "philosophy"),
        (f"a{NBSP}b\r\n\tc\u2003d", "a b c d"),
        ("  ends  \n", "ends"),
        ("GREAT Straße", "great strasse"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
    ],
)
def test_alike(one: str, other: str) -> None:
    assert normalize(one) == normalize(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("resume", "résumé"),
        ("the rapist", "therapist"),
        ("क\u0932म", "\u0958\u0932म"),  # a letter without its nukta
        ("कि", "की"),
        ("_so_", "so"),  # emphasis is text
        ("end.", "end…"),
        ("1914", "1915"),
    ],
)
def test_not_alike(one: str, other: str) -> None:
    assert normalize(one) != normalize(other)
    assert join_hyphens(one) != join_hyphens(other)


def test_a_span_is_of_the_original() -> None:
    #        0123456789 0123456789
    text = "  The “ﬁnal”\n  word — said  he."
    # the quotation mark is character 6, the dash 20; blanks at the ends of what is wanted do not count
    assert SourceText(text).spans(' "final" word - said ') == [Span(6, 26)]
    assert text[6:26] == "“ﬁnal”\n  word — said"


def test_every_place_is_found_once_and_in_order() -> None:
    assert SourceText("om Om  OM om").spans("om om") == [Span(0, 5), Span(7, 12)]
    assert SourceText("om").spans("") == []
    assert SourceText("").spans("om") == []


def test_half_a_character_is_not_found() -> None:
    assert found("ﬁnd", "ind") == []  # it would begin inside the ligature
    assert found("a ﬁg", "a f") == []
    assert found("cafe\u0301 noir", "cafe") == []
    assert found("wait…", "wait.") == []
    assert found("ﬁnd, then find", "ind") == ["ind"]  # and the search goes on behind it


@pytest.mark.parametrize("wanted", ["philosophy of rest", "philos-\nophy of rest", "philos- ophy of rest"])
def test_a_word_divided_by_the_end_of_a_line_is_found(wanted: str) -> None:
    assert found("the philos-\nophy of rest.", wanted) == ["philos-\nophy of rest"]


def test_words_and_compounds_divided_in_one_anchor_are_found() -> None:
    text = "a well-\nknown philos-\nophy -- of self-rule"
    assert found(text, "well-known philosophy—of self-rule") == [text[2:]]


def test_words_are_joined_only_where_nothing_else_is_found() -> None:
    text = "re-\nform, then reform, then re-form"
    # as it stands, the wanted word is the second one alone; joining would also give the other two
    assert SourceText(text).spans("reform") == [Span(15, 21)]
    assert join_hyphens(text) == "reform, then reform, then reform"


# ------------------------------------------------------------------------------------- any text

# what typography does to a text, and a way back for each
MANGLED = {
    "'": ["’", "‘", "“", "”", '"', "«", "`", "′"],
    " ": ["\n", "  ", "\t\n ", NBSP, "\u2009", " \u200b"],
    "-": ["‐", "–", "—", "--", "−", "\u2011"],
    "fi": ["ﬁ"],
    "fl": ["ﬂ"],
    "...": ["…"],
    "é": ["e\u0301"],
    "o": ["O", f"{SHY}o", f"o{ZWJ}"],
    "\u0958": ["क" + NUKTA],
}
PIECES = st.sampled_from([*MANGLED, *"abcdnorst.,;", "ß", "कि", "हिं", "ñ", "ü", "\u0915", NUKTA])
WRITTEN = st.lists(PIECES, min_size=1, max_size=60).map("".join)


@given(WRITTEN)
@example("´ ´")
@example(f"a{SHY}\n{SHY} b")
def test_the_normal_form_of_a_normal_form_is_itself(text: str) -> None:
    assert normalize(normalize(text)) == normalize(text)


@given(st.text(max_size=80) | WRITTEN)
@example("ﷺ\ud800")
def test_any_text_has_one_form_and_a_place_for_each_character_of_it(text: str) -> None:
    source = SourceText(text)
    assert source.normal == normalize(text)
    assert source.joined == join_hyphens(text)
    if source.normal:
        spans = source.spans(text)
        assert spans
        assert 0 <= spans[0].start < spans[0].end <= len(text)


@given(st.text(max_size=40) | WRITTEN, st.data())
def test_the_text_of_a_span_is_what_was_wanted(text: str, data: st.DataObject) -> None:
    form = normalize(text)
    if not form:
        return
    start = data.draw(st.integers(0, len(form) - 1))
    wanted = form[start : data.draw(st.integers(start + 1, len(form)))]
    for place in found(text, wanted):
        assert normalize(place) == normalize(wanted) or join_hyphens(place) == join_hyphens(wanted)


def words(draw: st.DataObject) -> list[str]:
    return draw.draw(st.lists(st.text("abcfilos'é-\u0958", min_size=1, max_size=8), min_size=3, max_size=12))


@given(st.data())
def test_a_mangled_substring_stands_where_the_substring_does(data: st.DataObject) -> None:
    given_words = words(data)
    text = "zzz " + " ".join(given_words) + " zzz"
    first = data.draw(st.integers(0, len(given_words) - 1))
    wanted = " ".join(given_words[first : data.draw(st.integers(first + 1, len(given_words)))])
    if not join_hyphens(wanted):  # hyphens alone
        return
    mangled = wanted
    for plain, ways in MANGLED.items():
        parts = mangled.split(plain)
        mangled = "".join(
            part + (data.draw(st.sampled_from([plain, *ways])) if place < len(parts) - 1 else "")
            for place, part in enumerate(parts)
        )
    source = SourceText(text)
    assert source.spans(mangled) == source.spans(wanted)
    assert source.spans(wanted)


@given(st.data())
def test_a_substring_stands_where_it_did_in_the_mangled_text(data: st.DataObject) -> None:
    """The other way round: the source is typeset, what is wanted is typed."""
    typed = words(data)
    first = data.draw(st.integers(0, len(typed) - 1))
    last = data.draw(st.integers(first + 1, len(typed)))
    typed[first] = "q" + typed[first]  # it stands at one place only
    typeset = [
        data.draw(st.sampled_from([word, word.upper(), word.replace("fi", "ﬁ").replace("'", "”")]))
        for word in typed
    ]
    blanks = [data.draw(st.sampled_from([" ", *MANGLED[" "]])) for _ in typed]
    before = "".join(map("".join, zip(typeset[:first], blanks[:first], strict=True)))
    inside = "".join(map("".join, zip(typeset[first:last], [*blanks[first : last - 1], ""], strict=True)))
    after = "".join(map("".join, zip(blanks[last - 1 :], [*typeset[last:], "zzz"], strict=True)))
    source = SourceText(before + inside + after)
    assert source.spans(" ".join(typed[first:last])) == [Span(len(before), len(before + inside))]


# ----------------------------------------------------------------------------------- real languages


@pytest.fixture(scope="module")
def declaration(shared_data: Callable[[str], Path]) -> Callable[[str], str]:
    folder = shared_data("udhr")

    def read(name: str) -> str:
        return html.unescape(re.sub(r"<[^>]+>", "", (folder / f"{name}.html").read_text(encoding="utf-8")))

    return read


@pytest.mark.parametrize("name", ["hin", "spa", "ben", "tam", "fra", "deu_1996"])
@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC"])
def test_every_paragraph_is_found_in_whatever_form(
    declaration: Callable[[str], str], name: str, form: Literal["NFC", "NFD", "NFKC"]
) -> None:
    text = declaration(name)
    source = SourceText(text)
    paragraphs = [line.strip() for line in text.splitlines() if len(line.split()) >= 8]
    assert len(paragraphs) > 40
    for paragraph in paragraphs:
        typed = unicodedata.normalize(form, paragraph).replace(" ", NBSP).replace("—", "--")
        (span, *_) = source.spans(typed)
        assert text[span.start : span.end] == paragraph


def test_hindi_with_and_without_joiners_and_nuktas(declaration: Callable[[str], str]) -> None:
    text = declaration("hin")
    wanted = "भाषण और धर्म की आज़ादी तथा भय और अभाव से मुक्ति"
    composed = wanted.replace("ज" + NUKTA, "\u095b")
    assert (composed != wanted) or "\u095b" in wanted
    for typed in (wanted, composed, wanted.replace("र्म", f"र्{ZWJ}म"), f"{ZWNJ}".join(wanted)):
        assert [normalize(place) for place in found(text, typed)] == [normalize(wanted)]


# ------------------------------------------------------------------------------------- the nearest


def test_the_nearest_text_is_shown_as_it_stands() -> None:
    text = "First a line. Then “calmness is the living\nbreath of God's immortality” in you. And an end."
    near = SourceText(text).nearest("calmness is a living breath of God's immortality")
    assert near.text == "“calmness is the living\nbreath of God's immortality”"
    assert text[near.span.start : near.span.end] == near.text
    # 48 characters of both but for "a" and "the": (2 × 47) / (48 + 50) is 0.959; cut to the wanted length it
    # is somewhat less or more, by where the cut falls
    assert 0.93 < near.similarity < 0.99


def test_nothing_is_near_a_text_of_other_words() -> None:
    near = SourceText("a page about rivers").nearest("quarks")
    assert (near.span, near.text, near.similarity) == (Span(0, 0), "", 0.0)
    assert SourceText("").nearest("anything at all").text == ""


def test_the_nearest_is_found_without_a_shared_word() -> None:
    near = SourceText("The philos-\nophy of “rest”").nearest("philosophy of unrest")
    assert near.text == "philos-\nophy of “rest”"


def test_the_nearest_is_found_in_a_book_of_many_alike_pages() -> None:
    lines = [f"On day {day} the river rose and the farmer went to market." for day in range(2000)]
    lines[1234] = "On this day the river fell, and no farmer ever went back to the market."
    near = SourceText("\n".join(lines)).nearest("the river fell and no farmer ever went to the market")
    assert near.text in lines[1234]
    assert near.similarity > 0.85


@pytest.mark.parametrize("letters", ["The quick “fox” – jumps-\nover it. ", "मानव अधिकारों की आ\u095bादी। "])
def test_a_book_of_a_million_characters_takes_a_moment(letters: str) -> None:
    text = letters * (1_000_000 // len(letters)) + "the very end of it"
    start = time.process_time()
    source = SourceText(text)
    assert len(source.spans("the very end")) == 1
    assert source.nearest("the verry end of it").similarity > 0.8
    assert time.process_time() - start < 3  # a third of a second here; nothing quadratic would pass
