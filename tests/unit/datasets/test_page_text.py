"""Pages as text: what of HTML counts, what Markdown loses, and which page is refused."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from assay.core.errors import DataError, PluginError, UsageError
from assay.datasets.page_text import html_text, markdown_content, read_page

PAGE = """\
<!doctype html><html><head><title>Kilns</title><style>p { color: red }</style></head><body>
<header>Clay Works</header><nav><a href=/>Home</a></nav>
<main><header><h1>Firing</h1></header>
<p>Fire <b>twice</b> a&nbsp;week
  at 1,200&deg;C.</p>
<ul><li>Cone <code>6</code></li><li></li></ul>
<table><tr><th>Cone</th><th>Heat</th></tr><tr><td>6</td><td>1222</td></tr></table>
<pre><code>---
if hot:
    <span>wait()</span>

| a</code></pre>
<nav>On this page</nav><form><p>Was this useful?</p></form><button>Copy</button>
<div hidden>Not <div>now</div> and not here</div><p style="display: none">Nor here</p>
<noscript>Turn scripts on</noscript><script>write("x")</script><svg><text>tick</text></svg>
</main><aside>Offers</aside><footer>Imprint</footer></body></html>
"""
MAIN = """\
Firing
Fire twice a week at 1,200°C.
- Cone 6
| Cone | Heat |
| 6 | 1222 |
---
if hot:
    wait()

| a"""


def test_the_main_text_is_what_stands_in_main() -> None:
    assert html_text(PAGE) == MAIN


def test_everything_that_a_browser_shows() -> None:
    around = "Clay Works\nHome\n", "\nOn this page\nWas this useful?\nCopy\nOffers\nImprint"
    assert html_text(PAGE, "visible") == MAIN.join(around)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("<nav>n</nav><article><header>h</header>one</article><article>two</article>", "h\none\ntwo"),
        ("<header>h</header><nav>n</nav><p>one<p>two<footer>f</footer>", "one\ntwo"),
        ("<main></main><article>one</article>", "one"),  # an empty main is none
        ("<main>one<nav>n</main>two", "one"),  # a nav that is never closed ends with what it is in
        ("<div><p hidden>n</div>one", "one"),  # and so does a hidden paragraph
        ("<p hidden>n<p>one", "one"),
        ("<main>one<img hidden>two", "onetwo"),
        ("no tags &lt;at all&gt;", "no tags <at all>"),
        ("<main>a<![CDATA[b]]>c<![if x]>d</main>", "acd"),
    ],
)
def test_pages_without_a_main_text_of_their_own(source: str, text: str) -> None:
    assert html_text(source) == text


def test_the_library_finds_the_main_text_too() -> None:
    pytest.importorskip("trafilatura")
    words = "Kilns are fired twice a week, and cones are read by two people. " * 5
    assert (
        html_text(f"<body><nav>Home</nav><main><p>{words}</p></main></body>", "trafilatura") == words.strip()
    )


def test_a_missing_library_is_told_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "trafilatura", None)
    with pytest.raises(PluginError, match=r"pip install 'retrieval-assay\[pages\]'"):
        html_text(PAGE, "trafilatura")
    with pytest.raises(UsageError, match="there is no 'all'"):
        html_text(PAGE, "all")


def test_markdown_loses_comments_embedded_images_and_wide_gaps() -> None:
    source = (
        "\ufeff# Kilns\r\n<!-- a\r\ndraft -->\r\n\r\n\r\n\r\n\r\n"
        "Fire ![x](data:image/png;base64,AAAA) twice.\r\n"
        '<img alt="y" src="data:image/gif;base64,BBBB">![kept](kiln.png)\n[z]: data:image/png;base64,CCCC\n'
        "```html\n<!-- code -->\n\n```\n<!-- after -->\n"
    )
    wanted = "# Kilns\n\n\nFire  twice.\n![kept](kiln.png)\n```html\n<!-- code -->\n\n```"
    assert markdown_content(source) == wanted


def test_a_comment_that_never_ends_is_text_and_costs_no_time() -> None:
    image = "![x](data:image/png;base64,AA)"
    assert markdown_content(f"one <!-- two {image} three") == "one <!-- two  three"
    assert markdown_content("<!-- gone --> one <!-- two") == "one <!-- two"
    many = "<!-- " * 100_000
    began = time.process_time()
    assert markdown_content(many) == many.strip()
    assert time.process_time() - began < 2.0


def test_a_page_that_gives_nothing_is_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text("<main>" + "x" * 49)
    with pytest.raises(DataError, match=r"page.html: the page gives 49 characters of text, fewer than 50"):
        read_page(path)
    path.write_text("<main>" + "x" * 50)
    assert read_page(path) == "x" * 50
    (tmp_path / "page.pdf").write_text("")
    with pytest.raises(DataError, match=r"\.pdf is not a page\. Save it as one of \.htm, "):
        read_page(tmp_path / "page.pdf")
