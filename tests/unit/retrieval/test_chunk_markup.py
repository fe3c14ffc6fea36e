"""Chunkers of Markdown and HTML."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from html import escape, unescape
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from assay.core.errors import UsageError
from assay.core.parts import Chunker
from assay.core.protocols import Kit
from assay.core.records import Document, Passage, Span
from assay.retrieval.chunk_markup import Html, Markdown
from assay.retrieval.tokens import O200kBase


def cut(chunker: Chunker, text: str) -> list[tuple[str | None, str]]:
    return [(passage.section, passage.text) for passage in chunker.cut([Document("d", text)], Kit())]


def lost(text: str, passages: Sequence[Passage]) -> str:
    """The letters of a text that are in none of its passages."""
    left = list(text)
    for passage in passages:
        assert passage.span is not None
        assert passage.text == text[passage.span.start : passage.span.end]
        left[passage.span.start : passage.span.end] = " " * len(passage.text)
    return "".join(left).strip()


# ------------------------------------------------------------------------------------------ Markdown

HANDBOOK = """\
---
title: "Leave # not a heading"
---
Before any heading.

# Leave

## *Parental* [leave](x.md) for `all` <br>

Take time.
Ask `HR`.

```python
# not a heading
```

    # nor this

> # nor a quoted one

Sick leave
----------
Stay home.

# Travel #
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_markdown_is_cut_at_headings_and_named_by_their_path(newline: str) -> None:
    if newline == "\r":  # front matter is a matter of Unix and Windows files
        text = HANDBOOK.partition("---\nBefore")[2].replace("\n", newline)
        text = "Before" + text
    else:
        text = HANDBOOK.replace("\n", newline)
    parental = (
        "# Leave\n\n## *Parental* [leave](x.md) for `all` <br>\n\nTake time.\nAsk `HR`.\n\n"
        "```python\n# not a heading\n```\n\n    # nor this\n\n> # nor a quoted one"
    )
    assert cut(Markdown(), text) == [
        (None, "Before any heading."),
        ("Leave > Parental leave for all", parental.replace("\n", newline)),
        ("Leave > Sick leave", "Sick leave\n----------\nStay home.".replace("\n", newline)),
        ("Travel", "# Travel #"),
    ]


def test_levels_may_be_skipped_and_come_back() -> None:
    assert [section for section, _ in cut(Markdown(), "### a\nx\n# b\nx\n### c\nx\n## d\nx\n## e\nx")] == [
        "a",
        "b",
        "b > c",
        "b > d",
        "b > e",
    ]


def test_a_heading_without_text_goes_with_the_section_below_it() -> None:
    assert cut(Markdown(), "# a\n\n## b\n\ntext\n\n## empty\n\n## c\n\n# d\n") == [
        ("a > b", "# a\n\n## b\n\ntext"),
        ("a > empty", "## empty"),
        ("a > c", "## c"),
        ("d", "# d"),
    ]


def test_a_long_section_is_cut_between_sentences_and_keeps_its_path() -> None:
    text = "# Long\n\nOne is here. Two is here.\n\nThree is here.\n\n# Next\n\nFour is here."
    # o200k_base: "# Long\n\n" is 3 tokens, each sentence 4 (three words and the stop).
    assert cut(Markdown(8), text) == [
        ("Long", "# Long\n\nOne is here."),
        ("Long", "Two is here.\n\nThree is here."),
        ("Next", "# Next\n\nFour is here."),
    ]


def test_a_heading_is_never_parted_from_what_follows_it() -> None:
    text = "# Long\n\n" + "word " * 20
    first, *rest = cut(Markdown(8), text)
    assert first == ("Long", "# Long\n\nword word word word word")  # 3 + 5 tokens
    assert {section for section, _ in rest} == {"Long"}
    assert len(rest) == 2  # 15 words are left: 8 and 7


def test_a_rule_at_the_top_is_not_front_matter() -> None:
    assert cut(Markdown(), "---\n\nOne.\n\n---\n\nTwo.") == [(None, "---\n\nOne.\n\n---\n\nTwo.")]
    assert cut(Markdown(), "---\nnever: closed\n") == [(None, "---\nnever: closed")]
    assert cut(Markdown(), "\ufeff---\na: 1\n...\nText.") == [(None, "Text.")]
    assert cut(Markdown(), "---\na: 1\n---") == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "top",
    [
        "Aspirin halves the risk.\n\nMore text.",
        "# A heading",
        "- one\n- two",
        "So: it halves the risk.\n\nMore text.",
        "{{ a template }}",
        "[" * 5000,
    ],
)
def test_what_stands_between_two_rules_is_kept_unless_it_is_a_mapping(top: str) -> None:
    text = f"---\n{top}\n\n---\n\nThe rest."
    kept = " ".join(passage for _, passage in cut(Markdown(10**6), text))
    assert kept.split() == text.split()


def test_front_matter_need_not_make_sense_to_be_left_out() -> None:
    assert cut(Markdown(), "---\ndate: 2024-13-45\ntags: [a, b]\nof: !odd 1\n---\nText.") == [(None, "Text.")]


lines = st.sampled_from(
    ["# a", "## b", "### *c*", "text. More text!", "```", "# x", "", "===", "---", "- item", "> # q", "#",
     "| a | b |", "|---|---|", "    code", "\t# tab", "<div>", "</div>", "é弘👩 \x0b\x0c\u2028 end", "[a]: b",
     "&amp;", "\0"]
)  # fmt: skip


@given(st.lists(lines, max_size=15), st.sampled_from(["\n", "\r\n", "\r"]), st.integers(1, 20))
@settings(max_examples=200)
def test_markdown_loses_nothing(parts: list[str], newline: str, tokens: int) -> None:
    text = newline.join(["x", *parts])  # the first line is no front matter
    document = Document("d", text)
    passages = Markdown(tokens).cut([document], Kit())
    assert Markdown(tokens).cut([document], Kit()) == passages
    assert lost(text, passages) == ""
    spans = [passage.span for passage in passages if passage.span]
    edges = [edge for span in spans for edge in (span.start, span.end)]
    assert edges == sorted(edges)
    tokens_of = O200kBase().load(Kit()).spans(text)
    for span in spans:
        assert sum(token.overlap(span) > 0 for token in tokens_of) <= tokens


def pages(folder: Path) -> list[Document]:
    found = sorted(folder.rglob("*.md"))
    return [Document(str(path), path.read_bytes().decode()) for path in found]


def check_handbook(documents: list[Document]) -> None:
    passages = Markdown().cut(documents, Kit())
    of: dict[str, list[Passage]] = {}
    for passage in passages:
        of.setdefault(passage.source or "", []).append(passage)
    for document in documents:
        rest = lost(document.text, of.get(document.doc_id, []))
        assert rest == "" or rest.startswith("---")  # front matter
        assert "\n# " not in rest
    # What an editor's outline shows: headings with # at the start of a line, outside of fences.
    outline = Counter(
        found
        for document in documents
        for found in re.findall(r"^#{1,6} +(\w[\w ]*\w)$", unfenced(document.text), re.MULTILINE)
    )
    ends = {(passage.section or "").rpartition(" > ")[2] for passage in passages}
    parts = {part for passage in passages for part in (passage.section or "").split(" > ")}
    assert sum(outline.values()) > 500
    assert len(outline.keys() - parts) / len(outline) < 0.01
    assert len(ends) > 300


def unfenced(text: str) -> str:
    return re.sub(r"^---\n.*?^---$|^ *(```|~~~).*?^ *\1|<!--.*?-->", "", text, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_every_page_of_a_handbook_is_cut_without_loss(shared_data: Callable[[str], Path]) -> None:
    check_handbook(pages(shared_data("handbook_18f")))


@pytest.mark.slow
def test_every_page_of_a_larger_handbook_is_cut_without_loss(shared_data: Callable[[str], Path]) -> None:
    check_handbook(pages(shared_data("handbook_sourcegraph")))


# ---------------------------------------------------------------------------------------------- HTML

PAGE = """<!DOCTYPE html>
<html><head><title>Leave</title><style>p {}</style><script>if (a < b) { "<p>no</p>" }</script></head>
<body><nav><a href="/">Home</a></nav>
<h1>Leave</h1>
<p>Caf&eacute;s &amp; <b>bars</b> are
   closed.<br>Sorry &#8212; <i>re</i>ally.</p>
<!-- <p>not this</p> --><template><p>nor this</p></template><noscript>nor that</noscript>
<h2><span>Sick</span>
leave</h2><ul><li>Stay home<li>Call us</ul>
<table><tr><td>1</td><td>2</td></tr><tr><th>3</th></tr></table>
<pre>def f():
    return 1 &lt; 2
</pre>
</body></html>"""


def test_html_gives_what_a_browser_shows_section_by_section() -> None:
    assert cut(Html(), PAGE) == [
        (None, "Home"),
        ("Leave", "Leave\nCafés & bars are closed.\nSorry — really."),
        ("Leave > Sick leave", "Sick leave\nStay home\nCall us\n1 2\n3\ndef f():\n    return 1 < 2"),
    ]


def test_a_span_goes_from_the_first_character_to_the_last_in_the_source() -> None:
    document = Document("d", PAGE, "T", {"k": 1})
    found = Html().cut([document], Kit())
    assert [PAGE[each.span.start : each.span.end].splitlines()[0] for each in found if each.span] == [
        "Home",
        "Leave</h1>",
        "Sick</span>",
    ]
    assert [PAGE[each.span.start : each.span.end].splitlines()[-1] for each in found if each.span] == [
        "Home",
        "   closed.<br>Sorry &#8212; <i>re</i>ally.",
        "    return 1 &lt; 2",
    ]
    for passage in found:
        assert passage.span is not None
        assert passage.doc_id == f"d#{passage.span.start}-{passage.span.end}"
        assert (passage.source, passage.title, passage.metadata) == ("d", "T", {"k": 1})


def test_a_reference_at_an_edge_is_wholly_in_the_span() -> None:
    (only,) = Html().cut([Document("d", "<p>&nbsp;&eacute;t&eacute;&nbsp;</p>")], Kit())
    assert (only.text, only.span) == ("été", Span(9, 26))  # 3 + len("&nbsp;") = 9; + 8 + 1 + 8 = 26


def test_a_long_section_is_cut_at_lines_and_sentences() -> None:
    text = "<h1>Long</h1><p>One is here. Two is here.<p>Three is here."
    # o200k_base: "Long" and its line break are 2 tokens, each sentence 4; ".\\n" is one token.
    assert cut(Html(7), text) == [
        ("Long", "Long\nOne is here."),
        ("Long", "Two is here."),
        ("Long", "Three is here."),
    ]
    assert cut(Html(8), text)[1:] == [("Long", "Two is here.\nThree is here.")]


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("", []),
        ("just text", [(None, "just text")]),
        ("a < b & c &unknown; d &#; e", [(None, "a < b & c &unknown; d &#; e")]),
        ("<head><meta charset=x><p>head never closed", [(None, "head never closed")]),
        ("<h1>One<p>text<h2>Two</h3>more", [("One", "One\ntext"), ("One > Two", "Two\nmore")]),
        ("<p>a<![foo]>b<![CDATA[c]]>d<!x>e<?y>f", [(None, "abdef")]),
        ("</p></b>a</h1>", [(None, "a")]),
        ("<h1><img alt=x></h1><h1> </h1>text", [(None, "text")]),
        ("a<b", [(None, "a<b")]),
        ("x &am", [(None, "x &am")]),
        ("<div<p>tag in tag</p>", [(None, "tag in tag")]),
        ("<template>a<template>b</template>c</template>d", [(None, "d")]),
        ("<title>x</title>y<svg><title>z</title></svg>", [(None, "y")]),
        ("<script>never closed <p>a</p>", []),
        ("if &notit; or &not; so", [(None, "if ¬it; or ¬ so")]),
        ("a&#x1;b &#0; &NotEqualTilde;c", [(None, "ab � ≂̸c")]),
    ],
)
def test_malformed_html_is_read_as_far_as_it_goes(page: str, expected: list[tuple[str | None, str]]) -> None:
    assert cut(Html(), page) == expected


scraps = st.sampled_from(
    ["<p>", "</p>", "<h1>", "</h1>", "<h2 class=a>", "<b", "<", ">", "&", "&amp;", "&#", "&#x41;", "&lt", ";",
     "<!--", "-->", "<![", "]]>", "<!", "<?", "</", "<pre>", "</pre>", "\n", "  ", "\r\n", "w1 ", " w2.",
     "é弘👩", "<a b='", "'", '"', "<td>", "<br/>", "&nbsp;", "&notit;", "\0", "<script>", "</script>"]
)  # fmt: skip


@given(st.lists(scraps, max_size=25).map("".join), st.integers(5, 20))
@example("&notit;&notit;", 5)
@settings(max_examples=300)
def test_any_scraps_of_html_are_cut_and_spans_stay_in_order(page: str, tokens: int) -> None:
    passages = Html(tokens).cut([Document("d", page)], Kit())
    assert Html(tokens).cut([Document("d", page)], Kit()) == passages
    spans = [passage.span for passage in passages if passage.span]
    assert all(0 <= span.start < span.end <= len(page) for span in spans)
    assert [span.start for span in spans] == sorted(span.start for span in spans)
    assert [span.end for span in spans] == sorted({span.end for span in spans})
    assert all(passage.text == passage.text.strip() != "" for passage in passages)


words = st.text(st.characters(categories=["L", "N", "S", "P"]), min_size=1, max_size=8)
inline = st.sampled_from(["<b>", "</b>", "<i class='x'>", "</i>", "<!-- c -->", "<span>", ""])
gaps = st.sampled_from([" ", "\n ", "<p>", "<br>", "&nbsp;"])


@given(st.lists(st.tuples(words, inline, gaps), max_size=15))
@settings(max_examples=200)
def test_words_come_through_markup_whole_and_in_order(parts: list[tuple[str, str, str]]) -> None:
    page = "".join(f"{escape(word)}{tag}{gap}" for word, tag, gap in parts)
    passages = Html(5).cut([Document("d", page)], Kit())
    assert "".join("".join(each.text.split()) for each in passages) == "".join(word for word, *_ in parts)


def test_every_page_shows_the_words_that_lxml_finds(shared_data: Callable[[str], Path]) -> None:
    lxml_html = pytest.importorskip("lxml.html", reason="lxml is the other reader")
    files = [
        *sorted(shared_data("html_md_pairs").rglob("*.html")),
        *sorted(shared_data("udhr").glob("*.html")),
    ]
    assert len(files) >= 14
    for path in files:
        source = path.read_bytes().decode()
        page = lxml_html.document_fromstring(source.encode(), parser=lxml_html.HTMLParser(encoding="utf-8"))
        for unseen in page.xpath("//script|//style|//template|//noscript|//head"):
            unseen.drop_tree()
        expected = Counter(re.findall(r"\w+", " ".join(page.xpath("//text()"))))
        passages = Html().cut([Document("d", source)], Kit())
        found = Counter(word for passage in passages for word in re.findall(r"\w+", passage.text))
        # Two words that markup parts are one for a browser, and two in lxml's list of texts.
        assert sum((expected - found).values()) <= 0.01 * sum(expected.values()), path
        assert sum((found - expected).values()) <= 0.01 * sum(expected.values()), path
        for passage in passages:
            assert passage.span is not None
            stretch = source[passage.span.start : passage.span.end]
            start, end = passage.text.split()[0], passage.text.split()[-1]
            assert unescape(stretch)[0] == start[0]
            assert unescape(stretch)[-1] == end[-1]


def test_html_and_markdown_of_one_page_have_the_same_sections(shared_data: Callable[[str], Path]) -> None:
    folder = shared_data("html_md_pairs") / "llms-txt"
    shown = Html().cut([Document("d", (folder / "index.html").read_text())], Kit())
    written = Markdown().cut([Document("d", (folder / "index.md").read_text())], Kit())
    sections = {part for passage in written for part in (passage.section or "").split(" > ")} - {""}
    assert len(sections) >= 6
    assert sections <= {part for passage in shown for part in (passage.section or "").split(" > ")}


# ---------------------------------------------------------------------------------------------- both


@pytest.mark.parametrize(
    ("chunker", "line"),
    [
        (Markdown(), "## Head\n\nThe quick brown fox. It jumps over *lazy* dogs.\n\n- an item\n\n"),
        (Html(), "<h2>Head</h2><p>The quick brown fox. It jumps &amp; runs over <i>lazy</i> dogs.</p>\n"),
        (Html(), "The quick brown fox. It jumps &amp; runs over <i>lazy</i> dogs. "),
    ],
)
def test_a_long_document_takes_time_in_proportion(chunker: Chunker, line: str) -> None:
    def seconds(characters: int) -> float:
        text = line * (characters // len(line))
        start = time.process_time()
        chunker.cut([Document("d", text)], Kit())
        return time.process_time() - start

    seconds(20_000)
    small, large = (min(seconds(each) for _ in range(3)) for each in (25_000, 200_000))
    assert large < 8 * 4 * small


@pytest.mark.slow
@pytest.mark.parametrize("chunker", [Markdown(), Html()])
def test_ten_megabytes_are_cut_and_nothing_is_lost(chunker: Chunker) -> None:
    text = "The quick brown fox jumps over the lazy dog, and nobody minds. It is late.\n\n" * 130_000
    passages = chunker.cut([Document("d", text)], Kit())
    assert " ".join(passage.text for passage in passages).split() == text.split()


def test_parts_check_their_parameters_and_say_what_they_are_made_with() -> None:
    for part in (Markdown, Html):
        with pytest.raises(UsageError, match="tokens is 0"):
            part(0)
        assert isinstance(part(), Chunker)
    assert re.fullmatch(
        r"markdown-it-py [\d.]+, sentencex [\d.]+, o200k_base by .*", Markdown().identity(Kit())
    )
    assert re.fullmatch(r"sentencex [\d.]+, o200k_base by .*", Html().identity(Kit()))
