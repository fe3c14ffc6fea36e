"""Converts Markdown to plain text: the lines and paragraphs that a reader sees of a page, with its headings.

Headings, paragraphs and table rows are on lines of their own. A short list stays together. Each item of a
longer list is a paragraph, so that passages can end between items. Front matter, comments, tags, link
targets, images, emphasis and the shortcodes of site generators are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from assay.datasets.page_text import VisibleText

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_FRONT_MATTER = re.compile(r"\ufeff?---[ \t]*\r?\n((?:.*\n)*?)(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)")
_SHORTCODE = re.compile(r"\{(?=([{%]))")  # the beginning of those of Hugo, Jekyll and Nunjucks
_SHORTCODE_END = {"{": "}}", "%": "%}"}
_ATTRIBUTE = re.compile(r"(?<!\s)\s*\{[:#.][^{}\n]*\}")  # {#anchor}, {:.no_toc}
_CONTENTS = re.compile(r"^[ \t]*(?:\[\[?_?TOC_?\]\]?|:::.*)[ \t]*$", re.MULTILINE)
_REFERENCE = re.compile(r"\[\^[^\[\]\s]+\]:?")
_TASK = re.compile(r"\A\[[ xX]\]\s+")
_ALERT = re.compile(r"\[!([A-Z]+)\]")  # GitHub's: [!NOTE]
_SPACE = re.compile(r"[^\S\n]+")
_HELD_TOGETHER = 90  # words; the items of a longer list or table are paragraphs


class TextHeading(NamedTuple):
    """A heading, its level (1 is the highest), and the place in the text where its line begins."""

    level: int
    text: str
    start: int


class PlainText(NamedTuple):
    """The text of a page, its headings, and its front matter."""

    text: str
    headings: tuple[TextHeading, ...]
    front: Mapping[str, Any]


class _TextBlock(NamedTuple):
    """Lines that belong together. `level` is the level of a heading, and 0 for other blocks."""

    text: str
    level: int = 0


def markdown_parser() -> MarkdownIt:
    """Returns a parser of CommonMark with tables and strikethrough, which can parse any number of pages."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable(["table", "strikethrough"])


def plain_text(source: str, parser: MarkdownIt) -> PlainText:
    """Converts a page in Markdown to the text that a reader sees."""
    front, begin = front_matter(source)
    body = _CONTENTS.sub("", _ATTRIBUTE.sub("", _without_shortcodes(source[begin:])))
    parts, headings, at = list[str](), list[TextHeading](), 0
    for block in _blocks(parser.parse(body)):
        if block.level:
            headings.append(TextHeading(block.level, block.text, at))
        parts.append(block.text)
        at += len(block.text) + 2
    return PlainText("\n\n".join(parts), tuple(headings), front)


def front_matter(source: str) -> tuple[Mapping[str, Any], int]:
    """Returns the YAML at the top of a page, and the place where the text begins.

    Ordinary text between two rules does not count as YAML.
    """
    found = _FRONT_MATTER.match(source)
    try:
        data = yaml.safe_load(_without_shortcodes(found[1])) if found else None
    except (yaml.YAMLError, ValueError, RecursionError):  # an impossible date; nested too deeply
        data = None
    if found is None or not isinstance(data, dict):
        return {}, 0
    return {str(key): value for key, value in data.items()}, found.end()


def _without_shortcodes(source: str) -> str:
    """Removes the shortcodes from a text.

    If a shortcode has no end, it stays, and no more shortcodes of its kind are searched.
    """
    kept, at, ends = list[str](), 0, dict(_SHORTCODE_END)
    for found in _SHORTCODE.finditer(source):
        if found.start() < at or found[1] not in ends:
            continue
        end = source.find(ends[found[1]], found.start() + 2)
        if end < 0:
            del ends[found[1]]
            continue
        kept.append(source[at : found.start()])
        at = end + 2
    return "".join([*kept, source[at:]])


# ------------------------------------------------------------------------------------------ blocks


def _blocks(tokens: Sequence[Token]) -> Iterator[_TextBlock]:
    at = 0
    while at < len(tokens):
        token = tokens[at]
        end = _closing_index(tokens, at)
        if token.type == "heading_open":
            if text := _inline_text(tokens[at + 1]).replace("\n", " "):
                yield _TextBlock(text, int(token.tag[1]))
        elif token.type in {"bullet_list_open", "ordered_list_open"}:
            yield from _join_short(list(_list_items(tokens[at : end + 1], "")))
        elif token.type == "table_open":
            yield from _join_short(list(_table_rows(tokens[at:end])))
        elif token.type == "blockquote_open":
            yield from (_TextBlock(block.text) for block in _blocks(tokens[at + 1 : end]))
        elif token.type == "html_block":
            yield from _join_short(_html_lines(token.content))
        elif text := _leaf_text(tokens, at):
            yield from (_TextBlock(part) for part in text.split("\n\n") if part.strip())
        at = end + 1


def _closing_index(tokens: Sequence[Token], at: int) -> int:
    """Returns the index of the token that closes the token at `at`, or `at` if that token opens nothing."""
    depth = 0
    for place in range(at, len(tokens)):
        depth += tokens[place].nesting
        if depth <= 0:
            return place
    return len(tokens) - 1


def _join_short(lines: list[str]) -> Iterator[_TextBlock]:
    if sum(len(line.split()) for line in lines) <= _HELD_TOGETHER:
        lines = ["\n".join(lines)] if lines else []
    yield from (_TextBlock(line) for line in lines)


def _leaf_text(tokens: Sequence[Token], at: int) -> str:
    """Returns the text of a block that has no inner blocks."""
    token = tokens[at]
    if token.type in {"fence", "code_block"}:
        return re.sub(r"\n\s*\n", "\n", token.content).strip("\n").rstrip()
    if token.type == "inline":
        return _inline_text(token)
    return _inline_text(tokens[at + 1]) if token.type == "paragraph_open" else ""


def _list_items(tokens: Sequence[Token], indent: str) -> Iterator[str]:
    """Yields the items of a list, one line each. Inner lists are indented."""
    ordered = tokens[0].type == "ordered_list_open"
    number = int(tokens[0].attrGet("start") or 1) if ordered else 1
    at = 1
    while at < len(tokens) - 1:
        end = _closing_index(tokens, at)
        sign = f"{number}." if ordered else "-"
        inside, texts, deeper = at + 1, list[str](), list[str]()
        while inside < end:
            last = _closing_index(tokens, inside)
            if tokens[inside].type in {"bullet_list_open", "ordered_list_open"}:
                deeper += _list_items(tokens[inside : last + 1], indent + "  ")
            else:
                found = " ".join(block.text for block in _blocks(tokens[inside : last + 1]))
                (deeper or texts).append(f"{indent}  {found}" if deeper else found)
            inside = last + 1
        text = _TASK.sub("", " ".join(" ".join(texts).split()))
        if text:
            yield f"{indent}{sign} {text}"
        yield from deeper
        number, at = number + 1, end + 1


def _table_rows(tokens: Sequence[Token]) -> Iterator[str]:
    cells: list[str] = []
    for token in tokens:
        if token.type == "tr_open":
            cells = []
        elif token.type == "inline":
            cells.append(" ".join(_inline_text(token).split()))
        elif token.type == "tr_close" and any(cells):
            yield f"| {' | '.join(cells)} |"


# ------------------------------------------------------------------------------------------ inline


def _inline_text(token: Token) -> str:
    shown = "".join(_visible_part(part) for part in token.children or ())
    lines = (
        _SPACE.sub(" ", line).strip() for line in _ALERT.sub(r"\1:", _REFERENCE.sub("", shown)).split("\n")
    )
    return "\n".join(line for line in lines if line)


def _visible_part(part: Token) -> str:
    if part.type == "softbreak":
        return " "
    if part.type == "hardbreak" or (part.type == "html_inline" and part.content.lower().startswith("<br")):
        return "\n"
    return part.content if part.type in {"text", "code_inline"} else ""


def _html_lines(source: str) -> list[str]:
    shown = VisibleText()
    shown.feed(source)
    shown.close()
    lines = (_SPACE.sub(" ", line).strip() for line in "".join(shown.parts).split("\n"))
    return [f"{line} |" if line.startswith("| ") else line for line in lines if line.strip("-| ")]
