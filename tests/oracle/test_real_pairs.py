"""Real pages as HTML and as Markdown: token counts held against a count that shares no code with ours.

Ours reads HTML with the parser of the standard library. Here lxml builds the tree, the text is read off it by
rules written down anew, and splintr is called directly. The counts below were taken that way for all six.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.kinds.answers.content_pairs import delta_distributions, folder_pairs, pair_tokens, site_tokens
from assay.retrieval.tokens import load_packaged

COUNTS = {
    "core": (2328, 2616),
    "domains": (678, 764),
    "ed": (590, 701),
    "index": (2066, 2584),
    "intro": (942, 1043),
    "nbdev": (1759, 2072),
}
LEFT_OUT = {"button", "footer", "form", "nav", "script", "style", "svg"}
LINES = {
    *(
        "blockquote",
        "br",
        "div",
        "figcaption",
        "figure",
        "h1",
        "h2",
        "h3",
        "h4",
        "header",
        "li",
        "main",
        "ol",
    ),
    *("p", "pre", "section", "table", "tbody", "thead", "tr", "ul"),
}


@pytest.fixture(scope="module")
def folder(shared_data: Callable[[str], Path]) -> Path:
    return shared_data("html_md_pairs") / "llms-txt"


def walked(element: Any, code: bool) -> str:
    """The text below an element; inside code, blanks and marks are private signs until lines are trimmed."""
    if not isinstance(element.tag, str) or element.tag in LEFT_OUT:
        return ""
    code = code or element.tag == "pre"

    def told(text: str | None) -> str:
        if code:
            return re.sub(r"\n(?=\n)", "\n\x01", text or "").translate({32: "\x01", 45: "\x02", 124: "\x03"})
        return re.sub(r"\s+", " ", text or "")

    edge = "\n" if element.tag in LINES else ""
    mark = {"li": "- ", "td": " | ", "th": " | "}.get(element.tag, "")
    inner = "".join(walked(child, code) + told(child.tail) for child in element)
    return f"{edge}{mark}{told(element.text)}{inner}{edge}"


def main_text(page: Path) -> str:
    html = pytest.importorskip("lxml.html")
    (main,) = html.fromstring(page.read_bytes().decode()).iter("main")
    lines = (re.sub(r"[^\S\n]+", " ", line).strip() for line in walked(main, False).split("\n"))
    kept = (line + " |" * line.startswith("| ") for line in lines if line.strip("-| "))
    back = {1: " ", 2: "-", 3: "|"}
    return "\n".join(line.translate(back).rstrip() for line in kept)


@pytest.mark.parametrize("name", ["core", "domains", "index"])
def test_three_pairs_are_what_another_count_makes_them(folder: Path, name: str) -> None:
    from splintr import Tokenizer

    encode = Tokenizer.from_pretrained("llama3").encode_ordinary
    (markdown,) = (each for each in folder.glob(f"{name}*.md"))
    raw = markdown.read_bytes().decode()
    if name == "core":  # it has one comment, between two blank lines and one: the two are left
        before, _, after = raw.partition("<!--")
        raw = before + after.partition("-->\n\n")[2]
    # nothing else that is left out of Markdown stands in these files, so that they are counted as they are
    assert not re.search(r"<!--|data:image|\r|\n{4}", raw)
    assert (len(encode(main_text(folder / f"{name}.html"))), len(encode(raw.strip()))) == COUNTS[name]


def test_all_six_pairs_and_their_site(folder: Path) -> None:
    found = pair_tokens(folder_pairs(folder), [load_packaged("llama3")])
    assert {
        each.content_pair_id: (each.condition_a_tokens, each.condition_b_tokens) for each in found
    } == COUNTS
    core = found[0]
    # 2616 - 2328 = 288, and 288 / 2328 = 0.1237
    assert (core.delta, round(core.delta_pct, 2)) == (288, 12.37)
    (site,) = site_tokens(found)
    # A: 8363 / 6, in the middle (942 + 1759) / 2; B: 9780 / 6, in the middle (1043 + 2072) / 2
    assert (site.pairs, site.mean_a, site.mean_b) == (6, pytest.approx(8363 / 6), 1630.0)
    assert (site.median_a, site.median_b) == (1350.5, 1557.5)
    assert site.delta_pct == pytest.approx(100 * (9780 - 8363) / 8363)
    assert delta_distributions([site])[0].fewer == 0.0
