"""Handbooks: plain text of Markdown, sections, snapshots, and what a broken folder says."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from assay.core.errors import DataError, UsageError
from assay.core.protocols import Kit
from assay.datasets.markdown_text import markdown_parser, plain_text
from assay_worlds.sources.handbook import Handbook
from assay_worlds.sources.source import SourcePage, fingerprint, passages_of

PAGE = """---
title: Sick leave
keywords: {{ site.keywords }}
---
You can ask for **40 hours** of [leave]({% page "/leave" %}).<br>Ask early.
<!-- nobody sees this -->

## How to ask {#how}

1. Fill in the *form*.
2. Send it to `leave@example.org`.
   - Copy your lead.

> [!NOTE]
> It takes two days.

{{< hint >}}
| Who | Days |
|---|---|
| Interns | 3 |

<table><tr><td>One</td><td>Two</td></tr></table>

![a picture](x.png)
"""


def folder(root: Path, files: dict[str, str | bytes], history: list[dict[str, object]] | None = None) -> Path:
    base = root / "handbook_acme"
    base.mkdir()
    for name, text in files.items():
        path = base / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
    if history is not None:
        lines = "\n".join(json.dumps(record) for record in history)
        (base / "history_snapshots.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    return base


def read(base: Path, **params: object) -> list[SourcePage]:
    return list(Handbook(str(base), **params).pages(Kit()))  # type: ignore[arg-type]


def test_markdown_becomes_what_a_reader_sees() -> None:
    plain = plain_text(PAGE, markdown_parser())
    assert plain.front["title"] == "Sick leave"
    assert plain.text.split("\n\n") == [
        "You can ask for 40 hours of leave.\nAsk early.",
        "How to ask",
        "1. Fill in the form.\n2. Send it to leave@example.org.\n  - Copy your lead.",
        "NOTE: It takes two days.",
        "| Who | Days |\n| Interns | 3 |",
        "| One | Two |",
    ]
    assert [(each.level, each.text) for each in plain.headings] == [(2, "How to ask")]
    assert plain.text[plain.headings[0].start :].startswith("How to ask\n")


def test_a_long_list_is_cut_between_its_items() -> None:
    items = [f"- {'word ' * 30}number {at}." for at in range(4)]  # 4 × 33 words are more than 90
    plain = plain_text("\n".join(items), markdown_parser())
    assert len(plain.text.split("\n\n")) == 4


def test_text_between_two_rules_is_no_front_matter() -> None:
    assert plain_text("---\nJust a line.\n---\nMore.", markdown_parser()).front == {}


def test_pages_have_sections_and_passages_lie_where_they_say(tmp_path: Path) -> None:
    (page,) = read(folder(tmp_path, {"pages/sick.md": PAGE}))
    assert page.document.doc_id == "handbook_acme/pages/sick"
    assert page.document.title == "Sick leave"
    assert page.document.metadata["handbook"] == "Acme handbook"
    assert page.document.text.startswith("Sick leave\n\nYou can ask")
    assert [section.heading for section in page.sections] == ["Sick leave", "Sick leave > How to ask"]
    for passage in passages_of(page):
        assert passage.span is not None
        assert page.document.text[passage.span.start : passage.span.end] == passage.text
    assert passages_of(page)[1].text.startswith("How to ask\n\n1. Fill")


def test_a_heading_without_text_goes_with_the_section_below(tmp_path: Path) -> None:
    (page,) = read(folder(tmp_path, {"a.md": "# Travel\n\n## Booking\n\nBook early.\n\n## Empty\n"}))
    assert page.sections[0].heading == "Travel > Booking"
    first = page.sections[0].span
    assert page.document.text[first.start : first.end] == "Travel\n\nBooking\n\nBook early."


def test_snapshots_are_pages_of_their_own_and_the_current_one_is_not_doubled(tmp_path: Path) -> None:
    history: list[dict[str, object]] = [
        {"as_of": "2023-01-01", "commit": "c", "path": "a.md", "blob": "b", "text": "# Leave\n\nTen days."},
        {
            "as_of": "2024-01-01",
            "commit": "c",
            "path": "a.md",
            "blob": "b",
            "text": "# Leave\n\nTwelve days.",
        },
        {"as_of": "2023-01-01", "commit": "c", "path": "old.md", "blob": "b", "text": "# Fax\n\nUse it."},
        {"as_of": "2024-01-01", "commit": "c", "path": "old.md", "deleted": True},
    ]
    base = folder(tmp_path, {"a.md": "# Leave\n\nTwelve days."}, history)
    pages = {page.document.doc_id.partition("/")[2]: page.document for page in read(base)}
    assert list(pages) == ["a", "a@2023-01-01", "old@2023-01-01"]
    assert pages["a"].metadata["as_of"] == "2024-01-01"
    assert "until" not in pages["a"].metadata
    assert pages["a@2023-01-01"].title == "Leave (as of 2023-01-01)"
    assert pages["a@2023-01-01"].metadata["until"] == "2024-01-01"
    assert pages["old@2023-01-01"].metadata["until"] == "2024-01-01"
    assert len(read(base, include_snapshots=False)) == 1
    assert len(read(base, snapshots_per_page=0)) == 1


def test_what_is_about_the_repository_or_no_text_is_no_page(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "README.md": "# How to build",
        "LICENSE.md": "Free.",
        "team/README.md": "# The team\n\nWe are nine.",
        "empty.md": "",
        "redirect.md": "---\nredirect: /x\n---\n",
        "picture.md": b"\x89PNG\0\0",
        "broken.md": b"# Caf\xe9\n\nOpen at nine.",
        "notes.txt": "no Markdown",
        ".hidden/x.md": "# Hidden",
    }
    pages = read(folder(tmp_path, files))
    assert [page.document.metadata["path"] for page in pages] == ["broken.md", "team/README.md"]
    assert "\ufffd" in pages[0].document.title


def test_a_missing_folder_and_an_empty_one_say_so(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such folder"):
        read(tmp_path / "nowhere")
    with pytest.raises(DataError, match="no page of Markdown"):
        read(folder(tmp_path, {"README.md": "# About"}))
    with pytest.raises(DataError, match="no such file"):
        read(tmp_path / "handbook_acme", snapshots="other.jsonl")
    with pytest.raises(UsageError, match="snapshots_per_page"):
        Handbook("x", snapshots_per_page=-1)


def test_every_broken_line_of_the_snapshots_is_named(tmp_path: Path) -> None:
    history: list[dict[str, object]] = [{"path": "a.md"}, {"as_of": "soon", "path": "a.md", "text": "x"}]
    with pytest.raises(DataError) as raised:
        read(folder(tmp_path, {"a.md": "# A\n\nText."}, history))
    assert [problem.line for problem in raised.value.problems] == [1, 2]


def test_a_pin_is_held(tmp_path: Path) -> None:
    base = folder(tmp_path, {"a.md": "# A\n\nText."})
    assert read(base, sha256=fingerprint([("a.md", base / "a.md")]))
    with pytest.raises(DataError, match="content has changed"):
        read(base, sha256="0" * 64)
