"""Chunkers for Markdown and HTML. Each passage lies in one section, and names that section."""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, ClassVar, NamedTuple

import yaml

from assay.core.parts import Tokenizer, Tokens
from assay.core.records import Document, Passage, Span
from assay.core.registry import TOKENIZERS
from assay.datasets.page_text import PageParser
from assay.retrieval.chunk import TokenLine, check_at_least, cutter_identity, make_passage
from assay.retrieval.tokens import O200kBase, package_release, sentence_spans, trim_span

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

    from assay.core.protocols import Kit

_NEWLINE = re.compile(r"\r\n?|\n")  # what counts as the end of a line in CommonMark
_FRONT_MATTER = re.compile(r"\ufeff?---[ \t]*\r?\n(?!\s*\n)((?:.*\n)*?)(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)")

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
# Elements that a browser does not show. They hold all text of a head, so `head` need not be listed, and a
# page whose head is never closed loses no text.
_UNSEEN = {"noscript", "script", "style", "template", "title"}
_LINES = {
    "address", "article", "aside", "blockquote", "body", "br", "caption", "center", "dd", "details", "dialog",
    "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "header", "hgroup", "hr", "html",
    "legend", "li", "main", "menu", "nav", "ol", "option", "p", "pre", "search", "section", "select",
    "summary", "table", "tbody", "textarea", "tfoot", "thead", "tr", "ul", *_HEADINGS,
}  # fmt: skip
_CELLS = {"button", "img", "input", "td", "th"}  # separated from their neighbours, but on the same line
_RUN = re.compile(r"\s+|\S+(?: \S+)*")
_REFERENCE = re.compile(
    r"&(?:#[0-9]+;?|#[xX][0-9a-fA-F]+;?|[^\t\n\f <&#;]{1,32};?)"
)  # the pattern of html.unescape


@dataclass(frozen=True)
class _MarkupChunker:
    """The shared parameters: the size of a passage, the language of the sentences, and the tokenizer."""

    tokens: int = 300
    language: str = "en"
    tokenizer: Annotated[Tokenizer, TOKENIZERS] = O200kBase()
    version: ClassVar[str] = "1"

    def __post_init__(self) -> None:
        check_at_least(1, tokens=self.tokens)


@dataclass(frozen=True)
class Markdown(_MarkupChunker):
    """Sections of a Markdown document. A section of more than `tokens` tokens is cut between sentences.

    A passage is a stretch of the source. Its section is the path of headings above it ("Leave > Parental
    leave"). A heading is in the first passage of its section. A heading without text of its own is in the
    first passage of the section below it. YAML front matter is left out.
    """

    def identity(self, kit: Kit) -> str:
        return cutter_identity(self.tokenizer, kit, "markdown-it-py", "sentencex")

    def cut(self, documents: Sequence[Document], kit: Kit) -> list[Passage]:
        package_release("markdown-it-py")
        from markdown_it import MarkdownIt

        parser = MarkdownIt("commonmark").enable("table")
        tokens = self.tokenizer.load(kit)
        return [each for document in documents for each in self._passages(document, parser, tokens)]

    def _passages(self, document: Document, parser: MarkdownIt, tokens: Tokens) -> Iterator[Passage]:
        text = document.text
        begin = _front_matter(text)
        headings = _markdown_headings(text, begin, parser)
        for span, section in _sections(
            TokenLine(text, tokens), begin, headings, self.tokens, self._sentences
        ):
            yield make_passage(document, span, section)

    def _sentences(self, text: str) -> list[Span]:
        return sentence_spans(text, self.language)


@dataclass(frozen=True)
class Html(_MarkupChunker):
    """Sections of an HTML page, cut like sections of Markdown. The text is what a browser shows of them.

    White space is collapsed except in `pre`. Each block of HTML is on a line of its own. The span of a
    passage goes from the first character of its text in the source to the last, with the markup between them.
    """

    def identity(self, kit: Kit) -> str:
        return cutter_identity(self.tokenizer, kit, "sentencex")

    def cut(self, documents: Sequence[Document], kit: Kit) -> list[Passage]:
        tokens = self.tokenizer.load(kit)
        return [each for document in documents for each in self._passages(document, tokens)]

    def _passages(self, document: Document, tokens: Tokens) -> Iterator[Passage]:
        page = _RenderedPage(document.text)
        line = TokenLine(page.text, tokens)
        for span, section in _sections(line, 0, page.headings, self.tokens, self._sentences):
            yield make_passage(document, page.place(span), section, page.text[span.start : span.end])

    def _sentences(self, text: str) -> list[Span]:
        """Returns the sentences of each line, because each block of the page is on its own line."""
        ends = (found.end() for found in re.finditer(r"\n|\Z", text))
        return [
            _shift(span, start)
            for start, end in pairwise((0, *ends))
            for span in sentence_spans(text[start:end], self.language)
        ]


# ---------------------------------------------------------------------------------------- sections


class _SectionHeading(NamedTuple):
    level: int
    title: str
    span: Span


def _sections(
    line: TokenLine,
    begin: int,
    headings: Sequence[_SectionHeading],
    limit: int,
    sentences: Callable[[str], list[Span]],
) -> Iterator[tuple[Span, str | None]]:
    """Yields the passages of a text from `begin` on, each with the path of headings above it."""
    top, bottom = (_SectionHeading(0, "", Span(at, at)) for at in (begin, len(line.text)))
    path: list[_SectionHeading] = []
    start = begin
    for heading, following in pairwise([top, *headings, bottom]):
        while path and path[-1].level >= heading.level:
            path.pop()
        path.append(heading)
        body = Span(heading.span.end, following.span.start)
        if trim_span(line.text, body) is None and following.level > heading.level:
            continue  # a heading without text would be an empty passage: it goes with the next section
        whole = trim_span(line.text, Span(start, body.end))
        start = body.end
        if whole is not None:
            units = [_shift(span, body.start) for span in sentences(line.text[body.start : body.end])]
            units[:1] = [Span(whole.start, units[0].end if units else whole.end)]
            section = " > ".join(each.title for each in path if each.title) or None
            yield from ((span, section) for span in line.packed(units, limit))


def _shift(span: Span, by: int) -> Span:
    return Span(span.start + by, span.end + by)


def _front_matter(text: str) -> int:
    """Returns where the YAML at the top of a Markdown document ends.

    Returns 0 if there is no YAML, for example only ordinary text between two rules.
    """
    found = _FRONT_MATTER.match(text)
    try:
        node = yaml.compose(found[1], Loader=yaml.SafeLoader) if found else None
    except (yaml.YAMLError, RecursionError):  # RecursionError: it is nested too deeply
        return 0
    is_data = isinstance(node, yaml.MappingNode) and not node.flow_style  # `{{ … }}` belongs to a template
    return found.end() if found and is_data else 0


def _markdown_headings(text: str, begin: int, parser: MarkdownIt) -> list[_SectionHeading]:
    """Returns the headings that begin a section.

    Headings in quotes and lists do not count, and neither do comments in code.
    """
    body = text[begin:]
    starts = [begin, *(begin + found.end() for found in _NEWLINE.finditer(body)), len(text)]
    blocks: list[Token] = []
    parser.block.parse(_NEWLINE.sub("\n", body), parser, {}, blocks)
    return [
        _SectionHeading(
            _HEADINGS[block.tag],
            _plain_title(inline.content, parser),
            Span(starts[block.map[0]], starts[block.map[1]]),
        )
        for block, inline in pairwise(blocks)
        if block.type == "heading_open" and block.level == 0 and block.map
    ]


def _plain_title(title: str, parser: MarkdownIt) -> str:
    """Returns the text of a heading without emphasis, links, code marks and tags."""
    parts = parser.parseInline(title)[0].children or []
    seen = (" " if "break" in part.type else part.content for part in parts if part.type != "html_inline")
    return " ".join("".join(seen).split())


# -------------------------------------------------------------------------------------------- pages


class _SourceRange(NamedTuple):
    """The place of a piece of visible text in the source.

    If `verbatim` is false, the source has a character reference there.
    """

    start: int
    end: int
    verbatim: bool


class _RenderedPage(PageParser):
    """The text that a browser shows of an HTML source, and the place of each piece of it in the source."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self._source = source
        self._lines = [0, *(found.end() for found in re.finditer("\n", source))]
        self._shown: list[str] = []
        self._size = 0
        self._gap = ""  # what to put before the next piece
        self._starts: list[int] = []  # of each piece in the text
        self._places: list[_SourceRange] = []
        self._unseen: list[str] = []  # open elements that hide what is in them
        self._pre = 0
        self._headings: list[tuple[int, int, int]] = []  # level, start, end; -1 while it is open
        self.feed(source)
        self.close()
        self.text = "".join(self._shown)

    @property
    def headings(self) -> list[_SectionHeading]:
        """The headings that have text. A heading that is never closed ends at the end of its line."""
        found = []
        for level, start, closed in self._headings:
            end = closed if closed >= 0 else _find_or_end("\n", self.text, start + 1)
            if title := " ".join(self.text[start:end].split()):
                found.append(_SectionHeading(level, title, Span(start, end)))
        return found

    def place(self, span: Span) -> Span:
        """Returns the place of a stretch of the text in the source."""
        first, last = (bisect_right(self._starts, at) - 1 for at in (span.start, span.end - 1))
        end = self._places[last]
        return Span(
            self._places[first].start + span.start - self._starts[first],
            end.start + span.end - self._starts[last] if end.verbatim else end.end,
        )

    # The parser calls these methods.

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._separate(tag)
        if tag in _UNSEEN:
            self._unseen.append(tag)
        elif tag in _HEADINGS and not self._unseen:
            if self._headings and self._headings[-1][1:] == (self._size, -1):
                self._headings.pop()  # a heading without text: nested headings count once
            self._headings.append((_HEADINGS[tag], self._size, -1))
        self._pre += tag == "pre"

    def handle_endtag(self, tag: str) -> None:
        self._separate(tag)
        if tag in self._unseen:
            while self._unseen.pop() != tag:
                pass
        elif tag in _HEADINGS and self._headings and self._headings[-1][2] < 0:
            self._headings[-1] = (*self._headings[-1][:2], self._size)
        self._pre = max(self._pre - (tag == "pre"), 0)

    def handle_data(self, data: str) -> None:
        line, column = self.getpos()
        at = self._lines[line - 1] + column
        if self._source.startswith(data, at):
            self._show(data, at)
            return
        left = len(data)  # of the visible text; the source is longer, as references stand for characters
        while left > 0:
            if written := _character_reference(self._source, at):
                piece, after = html.unescape(written), at + len(written)
                self._show(piece, at, after)
            else:
                after = min(_find_or_end("&", self._source, at + 1), at + left)
                piece = self._source[at:after]
                self._show(piece, at)
            at = after
            left -= len(piece)

    def _separate(self, tag: str) -> None:
        if tag in _LINES:
            self._gap = "\n"
        elif tag in _CELLS:
            self._gap = self._gap or " "

    def _show(self, text: str, at: int, after: int | None = None) -> None:
        """Adds text that was read at a place in the source. `after` is the end of a character reference."""
        if self._unseen:
            return
        for run in _RUN.finditer(text):
            if run.group().isspace():
                self._gap = self._gap + run.group() if self._pre else self._gap or " "
                continue
            if self._gap and self._shown:
                self._shown.append(self._gap)
                self._size += len(self._gap)
            self._gap = ""
            place = (
                _SourceRange(at + run.start(), at + run.end(), True)
                if after is None
                else _SourceRange(at, after, False)
            )
            self._starts.append(self._size)
            self._places.append(place)
            self._shown.append(run.group())
            self._size += len(run.group())


def _find_or_end(sign: str, text: str, start: int) -> int:
    """Returns the next place of a character, or the end of the text if the character does not occur."""
    found = text.find(sign, start)
    return len(text) if found < 0 else found


def _character_reference(source: str, at: int) -> str:
    """Returns the character reference that begins at a place, or an empty text.

    If the source has `&notit;`, the reference is `&not`.
    """
    found = _REFERENCE.match(source, at)
    written = found.group() if found else ""
    while written and html.unescape(written) == html.unescape(written[:-1]) + written[-1]:
        written = written[:-1]
    return written
