"""One rendering of both conditions' content."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.kinds.answers.blinding.sources import neutral_source

HTML = """Skip to content
Rate limits
Every key may send ten requests a minute, and no more than that.
- burst: 20
Contact us"""
MARKDOWN = """---
title: x
---
# Rate limits

Every **key** may send [ten requests](https://a.com/x.md) a minute, and no more than that!

- burst: 20
- daily: 500
"""


def test_what_both_say_stands_once_and_the_rest_at_its_place() -> None:
    found = neutral_source([("A", "html", HTML), ("B", "md", MARKDOWN)])
    assert found.count("ten requests") == 1
    assert [line for line in found.splitlines() if line] == [
        "Skip to content",
        "Rate limits",
        # as long as the other, so the later sign decides: "." comes after "!"
        "Every key may send ten requests a minute, and no more than that.",
        "- burst: 20",
        "Contact us",
        "- daily: 500",
    ]


def test_swapping_conditions_changes_nothing() -> None:
    one = neutral_source([("A", "html", HTML), ("B", "md", MARKDOWN)])
    assert one == neutral_source([("B", "html", HTML), ("A", "md", MARKDOWN)])
    assert one == neutral_source([("A", "md", MARKDOWN), ("B", "html", HTML)])
    assert one == neutral_source([("baseline", "md", MARKDOWN), ("x", "html", HTML)])


def test_a_curated_text_is_markdown_whatever_it_is_called() -> None:
    curated = "# Docs\n\n> About **limits**.\n\n- [Keys](https://a.com/keys.md): what they do"
    found = neutral_source(
        [("A", "html", "Docs\nAbout limits.\n- Keys: what they do"), ("B", "txt", curated)]
    )
    assert [line for line in found.splitlines() if line] == ["Docs", "About limits.", "- Keys: what they do"]


def test_text_of_a_page_is_not_read_as_markdown() -> None:
    assert (
        neutral_source([("A", "html", "Install\n# a comment in a script")])
        == "Install\n# a comment in a script"
    )


def test_lines_broken_by_hand_are_one_paragraph() -> None:
    broken = (
        "Every key may send ten requests a minute to any of the\n"
        "regions, and whoever sends more is told to wait for a while\nuntil the minute is over."
    )
    whole = " ".join(broken.split("\n"))
    assert neutral_source([("A", "txt", broken), ("B", "md", whole)]) == whole


def test_short_lines_must_be_equal() -> None:
    # "release 1.10" and "release 1.11" have 11 of 12 signs in common, 92 of 100, and are 12 signs long;
    # "release 1.1" and "release 1.2" have 10 of 11, 91 of 100, and are too short to be taken for one
    assert neutral_source([("A", "txt", "release 1.10"), ("B", "txt", "release 1.11")]) == "release 1.11"
    found = neutral_source([("A", "txt", "release 1.1"), ("B", "txt", "release 1.2")])
    assert sorted(found.split("\n\n")) == ["release 1.1", "release 1.2"]
    found = neutral_source([("A", "txt", "Step 1"), ("B", "txt", "Step 2")])
    assert sorted(found.split("\n\n")) == ["Step 1", "Step 2"]


def test_a_line_that_moved_stands_once() -> None:
    lines = [f"This is the long line number {word} of the page." for word in ("one", "two", "three", "four")]
    one = "\n\n".join(lines)
    other = "\n\n".join([lines[3], *lines[:3]])
    assert len(neutral_source([("A", "txt", one), ("B", "txt", other)]).split("\n\n")) == 4


def test_several_contents_of_one_condition_follow_each_other() -> None:
    pages = ("First page.", "Second page.")
    texts = [(name, kind, page) for page in pages for name, kind in (("A", "txt"), ("B", "md"))]
    assert neutral_source(texts) == "First page.\n\nSecond page."
    assert neutral_source([]) == ""


def test_a_large_page_is_quick() -> None:
    rng = random.Random(0)
    words = ["".join(rng.choices("abcdefghijk", k=rng.randint(2, 9))) for _ in range(2000)]
    lines = [" ".join(rng.choices(words, k=rng.randint(3, 20))) for _ in range(1400)]
    other = [f"- {line} more" if rng.random() < 0.3 else line for line in lines]
    begin = time.process_time()
    found = neutral_source([("A", "html", "\n".join(lines)), ("B", "md", "\n\n".join(other))])
    assert len("\n".join(lines)) > 90_000
    assert time.process_time() - begin < 1.0
    assert len(found) < 1.1 * len("\n".join(other))


@pytest.mark.parametrize("page", ["domains", "ed"])
def test_real_pages_are_reported_once(page: str, shared_data: Callable[[str], Path]) -> None:
    trafilatura = pytest.importorskip("trafilatura")
    folder = shared_data("html_md_pairs") / "llms-txt"
    html = trafilatura.extract((folder / f"{page}.html").read_text()) or ""
    markdown = (folder / f"{page}-commonmark.md").read_text()
    found = neutral_source([("A", "html", html), ("B", "md", markdown)])
    assert len(found) < 1.15 * max(len(html), len(markdown))
    assert found == neutral_source([("A", "md", markdown), ("B", "html", html)])
