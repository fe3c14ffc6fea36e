"""Words that give a condition away, neutral words instead, and offsets from one text to the other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import UsageError
from assay.kinds.answers.blinding.masks import ENDS, OWN, WIDTHLESS, Masker, to_original, to_shown

MASKER = Masker(["Curated Index"])


@pytest.mark.parametrize(
    ("written", "shown", "rule"),
    [
        ("the Keys section of llms.txt says", "the Keys section of [the document] says", "curated index"),
        ("See the /llms-full.txt file.", "See [the document].", "curated index"),
        ("at https://docs.a.com/llms.txt.", "at [the document].", "curated index"),
        ("see https://a.com/b/fees.md today", "see https://a.com/b/fees today", "ending of a page's name"),
        ("[Guide](https://a.com/b.html.md)", "[Guide](https://a.com/b)", "ending of a page's name"),
        ("quickstart.htm, then README.md.", "quickstart, then README.", "ending of a page's name"),
        ("By the provided Markdown content, yes", "By [the document], yes", "form that was read"),
        ("Based on the given HTML, yes", "Based on [the document], yes", "form that was read"),
        ("the HTML page lists it", "[the document] lists it", "format that was read"),
        ("streams an HTML shell", "streams an [format] shell", "format"),
        ("the web page says", "[the document] says", "web page"),
        ('<doc title="API">x</doc>', "[tag]x[tag]", "tag"),
        ("in its front matter", "in its [a part of the page]", "front matter"),
        ("the navigation bar has it", "the [a part of the page] has it", "menu"),
        ("```html\n1\n```", "```\n1\n```", "language of a fence"),
        ("says the curated  index", "says [the document]", OWN),
        ("under Condition A it is", "under [the document] it is", "condition"),
    ],
)
def test_what_betrays_is_masked(written: str, shown: str, rule: str) -> None:
    found = MASKER.masked(written)
    assert found.text == shown
    assert rule in found.used
    assert MASKER.matching_rules(written)
    assert not MASKER.matching_rules(found.text)


@pytest.mark.parametrize(
    "text",
    [
        "## Limits\n- **ten** a minute\n- `retry_after`",  # models write so under both conditions
        "Vec<T>, a < b, <Image src='x'/>",
        "mail me@x.html or use node.js, sha.md5 and foo.mdb",
        "As described in the Quick Start guide, keys expire.",
        "A plan B is a plan.",
        "LLMs need text.",
    ],
)
def test_what_does_not_betray_stays(text: str) -> None:
    assert MASKER.masked(text) == (text, [], {})


def test_a_word_of_the_question_stays() -> None:
    question = ["What role does Mintlify's llms.txt play?"]
    assert MASKER.masked("The llms.txt file is its base.", question).text == "The llms.txt file is its base."
    assert MASKER.masked("The provided llms.txt says so.", question).text == "[the document] says so."


def test_a_subject_of_the_source_stays_but_no_name_of_a_file() -> None:
    source = "Streaming sends an HTML shell first. See llms.txt."
    assert MASKER.masked("An HTML shell comes first.", (), source).text == "An HTML shell comes first."
    assert MASKER.masked("The HTML page says so.", (), source).text == "[the document] says so."
    assert MASKER.masked("See llms.txt.", (), source).text == "See [the document]."
    # x.html in the source is no word HTML
    assert MASKER.masked("An HTML shell.", (), "at x.html").text == "An [format] shell."


def test_what_overlaps_is_masked_once_and_nothing_is_left_over() -> None:
    found = MASKER.masked("condition A llms.txt, html.md, front.md matter")
    assert not MASKER.matching_rules(found.text)
    assert "llms" not in found.text


def test_a_word_too_short_to_mask_is_refused() -> None:
    with pytest.raises(UsageError, match="'B' cannot be masked: too short"):
        Masker(["baseline", "B"])


# -------------------------------------------------------------------------------------- offsets

#        0         1         2
#        0123456789012345678901234567
TEXT = "See the llms.txt file, ok 😀."
# masked "the llms.txt file" [4, 21) becomes "[the document]" [4, 18): "See [the document], ok 😀."


def test_offsets_by_hand() -> None:
    text, masks, _ = MASKER.masked(TEXT)
    assert (text, masks) == ("See [the document], ok 😀.", [(4, 18, 4, 21)])
    assert to_original((0, 3), masks) == (0, 3)
    assert to_original((20, 24), masks) == (23, 27)
    assert TEXT[23:27] == text[20:24] == "ok 😀"
    assert to_original((6, 20), masks) == (4, 23)  # begins inside the mask: all of it
    assert to_original((0, 5), masks) == (0, 21)
    assert to_shown((12, 13), masks) == (4, 18)
    assert to_shown((23, 27), masks) == (20, 24)
    assert to_original((18, 18), masks) == (21, 21)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("Ten a minute. ", "Ten a minute."),
        ("Ten a minute.\n\n", "Ten a minute."),
        ("\n  Ten a minute.", "Ten a minute."),
        ("Ten,  \r\nor five.\t\nNo more.", "Ten,\nor five.\nNo more."),
        ("10\u00a0a\u202fminute", "10 a minute"),
        ("ten\u200b a minute \ufeff", "ten a minute"),
        ("  indented\n    code", "indented\n    code"),
        ("a \u200d b", "a \u200d b"),  # joiners make emoji and scripts
        ("See front.md matter ", "See [the document] matter"),  # what is masked whole needs no blank
        (" ", ""),
    ],
)
def test_blanks_that_nobody_can_tell_apart_are_evened_out(written: str, shown: str) -> None:
    masked = MASKER.masked(written)
    assert masked.text == shown
    assert not MASKER.matching_rules(shown)


def test_a_span_beside_a_blank_that_went_stays_where_it_is() -> None:
    written = "Ten, \nor five.\u200b No more. "
    shown, masks, used = MASKER.masked(written)
    assert used == {ENDS: 2, WIDTHLESS: 1}
    for words in ("Ten,", "or five.", "No more."):
        start = shown.index(words)
        first, last = to_original((start, start + len(words)), masks)
        assert written[first:last] == words


PIECES = st.sampled_from(
    [
        *("llms.txt", "x.html", "html.md", " the ", "Markdown", "provided ", "<div>", "```html", "web page"),
        *(
            "nav bar",
            "condition A ",
            "front ",
            "matter",
            "curated index",
            "section",
            ".",
            "/",
            " ",
            "\n",
            " \n",
            "\u00a0",
            "\u200b",
        ),
        *("é", "e\u0301", "😀", "Ａ", "İ"),
    ]
)


@st.composite
def texts(draw: st.DrawFn) -> str:
    return "".join(draw(st.lists(PIECES | st.text(max_size=4), max_size=12)))


@given(texts())
def test_nothing_betrays_twice_and_masks_lie_in_order(written: str) -> None:
    shown, masks, used = MASKER.masked(written)
    assert not MASKER.matching_rules(shown)
    assert sum(used.values()) == len(masks)
    at = last = 0
    rebuilt = ""
    for start, end, first, until in masks:
        assert at <= start <= end <= len(shown)  # blanks may leave nothing
        assert last <= first < until <= len(written)
        assert shown[at:start] == written[last:first]
        rebuilt += shown[at:start] + written[first:until]
        at, last = end, until
    assert rebuilt + shown[at:] == written


@given(texts(), st.data())
def test_spans_go_there_and_back(written: str, data: st.DataObject) -> None:
    shown, masks, _ = MASKER.masked(written)
    start = data.draw(st.integers(0, len(shown)))
    end = data.draw(st.integers(start, len(shown)))
    first, last = to_original((start, end), masks)
    assert 0 <= first <= last <= len(written)
    if start < end:
        back = to_shown((first, last), masks)
        assert back[0] <= start
        assert back[1] >= end  # a mask that was cut is whole now
        assert to_original(back, masks) == (first, last)
        if not any(mask[0] < end and start < mask[1] for mask in masks):
            assert written[first:last] == shown[start:end]


@given(texts(), st.data())
def test_spans_of_the_original_are_covered(written: str, data: st.DataObject) -> None:
    _, masks, _ = MASKER.masked(written)
    first = data.draw(st.integers(0, len(written)))
    last = data.draw(st.integers(first, len(written)))
    start, end = to_original(to_shown((first, last), masks), masks)
    lost = written[first:start] + written[end:last] if first < last else ""
    assert not lost.strip(
        " \n\t\r\f\v\x85\u00a0\u200b\u2028\u2029\u2060\u3000\ufeff"
    )  # blanks that nobody sees
