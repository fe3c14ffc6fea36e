"""Pages that are made to keep a reader busy take time by their length, not by its square."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.core.protocols import Kit
from assay.core.records import Document
from assay.datasets.markdown_text import VisibleText, markdown_parser, plain_text
from assay.retrieval.chunk_markup import Html
from assay_worlds.sources.changelog import Changelog
from assay_worlds.sources.safety_reports import clean

SMALL, LARGE = 3_000, 30_000  # characters: ten times the time, where the square would be a hundred times
MOST, IDLE = 30.0, 0.1  # how many times as long is well; seconds below which nothing can be told


def markdown(text: str) -> None:
    plain_text(text, markdown_parser())


def shown(text: str) -> None:
    page = VisibleText()
    page.feed(text)
    page.close()


def chunked(text: str) -> None:
    Html().cut([Document("page", text)], Kit())


def headed(text: str) -> None:
    plain_text(f"# {text}", markdown_parser())


HOSTILE: list[tuple[Callable[[str], object], list[str]]] = [
    (markdown, ["{{", "{%", "{", "{#", "{{ \n", "[^", "<!--", "`", "*", "|", '"', "&"]),
    (headed, ["{{", "[^"]),
    (shown, ["<", "<a ", "<br ", "<!--", "<!-- >", "</", "<?", "<![", "<img src=data:image/ ", '<a "', "&"]),
    (chunked, ["<a ", "<!--", "<!-- >", "</", "<h1>", "<pre>", "&amp;", "&#", "&a", '"']),
    (clean, ["\n", " ", "\t", "\r", "\r\n", "\u2028", "<br ", " <br>"]),
]


@pytest.mark.slow
@pytest.mark.parametrize(("read", "sign"), [(read, sign) for read, signs in HOSTILE for sign in signs])
def test_the_time_for_a_page_grows_with_its_length(read: Callable[[str], object], sign: str) -> None:
    for more in ("", " word" * (SMALL // 5)):  # alone, and with something to read after it

        def taken(size: int, more: str = more) -> float:
            """The least of three: whatever else the process has to do comes now and then."""
            text = (sign * (size // len(sign) + 1))[:size] + more * (size // SMALL)
            return min(_seconds(read, text) for _ in range(3))

        large = taken(LARGE)
        if large > IDLE:
            assert large < MOST * max(taken(SMALL), IDLE / MOST)


def _seconds(read: Callable[[str], object], text: str) -> float:
    started = time.process_time()
    read(text)
    return time.process_time() - started


def test_what_no_tag_and_no_comment_ends_is_text() -> None:
    for written, read in {
        "<p>if a <b then": "if a <b then",
        "one <!-- two": "one <!-- two",
        "one <!-- two > three <b>four</b>": "one <!-- two > three four",
        "AT&amp;T &am": "AT&T &am",
        "<script>let a = 1 <": "",
    }.items():
        page = VisibleText()
        page.feed(written)
        page.close()
        assert " ".join("".join(page.parts).split()) == read


def test_shortcodes_that_end_are_left_out_and_one_that_does_not_stays() -> None:
    def read(text: str) -> str:
        return plain_text(text, markdown_parser()).text

    assert read("a {{< note >}} b {% x %} c") == "a  b  c".replace("  ", " ")
    assert read("a {{ b {% x %} c") == "a {{ b c"
    assert read("a {% b {{ x }} c") == "a {% b c"
    assert read("a {{% x %}} b") == "a b"


def test_headings_that_open_in_one_place_are_one() -> None:
    (found,) = Html().cut([Document("page", "<h1><h1><h2>Leave<p>Thirty days.")], Kit())
    assert found.section == "Leave"


def test_a_heading_too_long_for_a_name_names_no_product(tmp_path: Path) -> None:
    (tmp_path / "pump.md").write_text(f"# {'for ' * 20_000}\n\n## 1.2.0\n\n- Starts.\n")
    (page,) = Changelog("pump.md").pages(Kit(root=tmp_path))
    assert page.document.title == "Pump 1.2.0 release notes"
