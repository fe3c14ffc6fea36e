"""Converts a saved page to the text that a model is given.

HTML becomes its words. Markdown and plain text stay nearly as they are. One of these names chooses how HTML
becomes text:

main         the text inside `main`, otherwise inside `article`, otherwise the body without its surroundings
visible      everything that a browser shows
trafilatura  what the library of that name finds to be the main text
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

from assay.core.errors import DataError, PluginError, Problem, UsageError, did_you_mean
from assay.core.yaml_lines import read_text

_LINE_TAGS = {
    "address", "article", "aside", "blockquote", "br", "caption", "dd", "details", "div", "dl", "dt",
    "figcaption", "figure", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav",
    "ol", "p", "pre", "section", "summary", "table", "tbody", "tfoot", "thead", "tr", "ul",
}  # fmt: skip
_HIDDEN_TAGS = {"iframe", "script", "style", "template", "title", "video"}
LEAST = 50  # characters of a page: with fewer, its text is most likely made by scripts
HTML = frozenset({".html", ".htm", ".xhtml"})
MARKDOWN = frozenset({".md", ".markdown"})
PLAIN = frozenset({".txt"})
SUFFIXES = HTML | MARKDOWN | PLAIN

_NOT_TEXT = frozenset({"noscript", "svg", "math", "object"})  # besides the hidden tags
_AROUND = frozenset({"aside", "button", "dialog", "footer", "form", "header", "nav"})
# A header inside the main text holds its title, and an aside there is a note that belongs to it.
_AROUND_INSIDE = _AROUND - {"aside", "header"}
_VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
)
_UNCLOSED = frozenset({"dd", "dt", "li", "option", "p", "td", "th", "tr"})  # ended by the next same element
_ROLES = _NOT_TEXT | _AROUND | {"article", "hidden", "main"}
_SPACE = re.compile(r"[^\S\n]+")
# Stand-ins for characters of `pre`, while lines lose their white space and empty list marks.
_SIGNS = dict(zip(" \t-|", "\ue000\ue001\ue002\ue003", strict=True))
_KEPT = str.maketrans(_SIGNS)
_BACK = str.maketrans({stand_in: sign for sign, stand_in in _SIGNS.items()})

_FENCE = r"^ {0,3}(?P<fence>`{3,}|~{3,})[^\n]*\n(?:[^\n]*\n)*?(?: {0,3}(?P=fence)[`~]*[ \t]*(?:\n|\Z)|\Z)"
# lengths are limited: a search to the end of the page from each beginning would be slow
_EMBEDDED = (
    rf"(?P<code>{_FENCE})"
    r"|!\[[^\]\n]{0,1000}\]\(\s*<?data:image/[^)\s]*(?:\s+\"[^\"\n]*\")?\s*\)"
    r"|^[ ]{0,3}\[[^\]\n]{1,1000}\]:[ \t]*<?data:image/[^\n]*\n?"
    r"|<img\b[^>]{0,1000}\bsrc\s*=\s*[\"']?data:image/[^>]*>"
)
_FLAGS = re.DOTALL | re.MULTILINE | re.IGNORECASE
_DROPPED = re.compile(rf"{_EMBEDDED}|<!--(?:.*?-->|(?P<open>.*))", _FLAGS)
_DROPPED_BUT_COMMENTS = re.compile(_EMBEDDED, _FLAGS)


class PageParser(HTMLParser):
    """An HTML parser for pages from unknown sources. It raises no error, and needs linear time.

    Pages may end anywhere, also inside a tag or a comment. The parser must get a whole page at once.
    """

    def __init__(self) -> None:
        super().__init__()
        self._unended = False  # a comment without an end: do not search for it again

    def close(self) -> None:
        """Reads everything after the last `>` as text, because no tag can end there."""
        end = self.rawdata.rfind(">") + 1
        rest, self.rawdata = self.rawdata[end:], self.rawdata[:end]
        super().close()
        if rest and self.cdata_elem is None:
            self.handle_data(unescape(rest))

    def parse_comment(self, i: int, report: bool = True) -> int:
        if self._unended:
            return -1
        end = super().parse_comment(i, report)
        self._unended = end < 0
        return end

    def parse_marked_section(self, i: int, report: bool = True) -> int:
        """Reads `<![…` as a comment, as browsers do. The standard parser sometimes raises an error."""
        return self.parse_bogus_comment(i, report)


class VisibleText(PageParser):
    """The text that a browser shows of a piece of HTML, with each block on its own line."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._unseen = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._unseen += tag in _HIDDEN_TAGS
        self._separate(tag)
        if tag in {"li", "td", "th"}:
            self.parts.append("- " if tag == "li" else " | ")

    def handle_endtag(self, tag: str) -> None:
        self._unseen = max(self._unseen - (tag in _HIDDEN_TAGS), 0)
        self._separate(tag)

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            before, after = (" " * end.isspace() for end in (data[:1], data[-1:]))
            self.parts.append(f"{before}{' '.join(data.split())}{after}")

    def _separate(self, tag: str) -> None:
        if tag in _LINE_TAGS:
            self.parts.append("\n")


def read_page(path: Path, extract: str = "main") -> str:
    """Returns the text of a page's file. The suffix of the file decides how it is read.

    Raises a DataError if the page has almost no text.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        fix = f"Save it as one of {', '.join(sorted(SUFFIXES))}."
        raise DataError(Problem(f"{suffix or 'a file without a suffix'} is not a page", str(path), fix=fix))
    source = read_text(path)
    text = html_text(source, extract) if suffix in HTML else _plain_source(source, suffix in MARKDOWN)
    if len(text) < LEAST:
        what = f"the page gives {len(text)} characters of text, fewer than {LEAST}"
        fix = "If scripts write its text, save it as a browser shows it; or give another page."
        raise DataError(Problem(what, str(path), fix=fix))
    return text


def extractor(name: str) -> Callable[[str], str]:
    """Returns the function of that name, which turns HTML into text."""
    known: dict[str, Callable[[str], str]] = {
        "main": _main_text,
        "visible": _visible_text,
        "trafilatura": _trafilatura_text,
    }
    if name not in known:
        raise UsageError(f"extract: there is no {name!r}. {did_you_mean(name, known)}")
    return known[name]


def html_text(source: str, extract: str = "main") -> str:
    """Returns the text of an HTML page."""
    return extractor(extract)(source)


def markdown_content(source: str) -> str:
    """Removes comments and embedded images from Markdown, and leaves at most two blank lines in a row.

    A comment inside a fenced block of code is code, and stays.
    """
    kept = _DROPPED.sub(_keep_code, _normalize_lines(source))
    return re.sub(r"\n(?:[ \t]*\n){3,}", "\n\n\n", kept).strip()


def _keep_code(dropped: re.Match[str]) -> str:
    """Returns the part of a match that stays: code, or the text after a comment that never ends."""
    if (rest := dropped.groupdict().get("open")) is None:
        return dropped["code"] or ""
    return "<!--" + _DROPPED_BUT_COMMENTS.sub(_keep_code, rest)


def _plain_source(source: str, markdown: bool) -> str:
    return markdown_content(source) if markdown else _normalize_lines(source).strip()


def _normalize_lines(source: str) -> str:
    return source.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


# ---------------------------------------------------------------------------------------- pages


class _VisiblePage(VisibleText):
    """The text of a page in parts. Each part has the elements around it, which decide whether it is used."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.around: list[frozenset[str]] = []  # for each part
        self._open: list[
            tuple[str, frozenset[str]]
        ] = []  # each open element, and the roles around its content
        self._pre = 0
        self.feed(source)
        self.close()
        self._note()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._note()
        if tag in _UNCLOSED and self._open and self._open[-1][0] == tag:
            self._open.pop()
        if tag not in _VOID:
            role = "hidden" if _is_hidden(dict(attrs)) else tag
            self._open.append((tag, self._state | {role} if role in _ROLES else self._state))
        self._pre += tag == "pre"
        super().handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        super().handle_endtag(tag)
        self._note()
        if any(tag == each for each, _ in reversed(self._open)):
            while self._open.pop()[0] != tag:
                pass
        self._pre = max(self._pre - (tag == "pre"), 0)

    def handle_data(self, data: str) -> None:
        if self._unseen:
            return
        if self._pre:
            held = re.sub(r"\n(?=\n)", "\n ", _normalize_lines(data))  # keeps empty lines of code
            self.parts.append(held.translate(_KEPT))
        else:
            self.parts.append(re.sub(r"\s+", " ", data))

    @property
    def _state(self) -> frozenset[str]:
        return self._open[-1][1] if self._open else frozenset()

    def _note(self) -> None:
        """Records the elements around the parts that were added since the last tag."""
        self.around += [self._state] * (len(self.parts) - len(self.around))

    def text(self, inside: str, without: frozenset[str]) -> str:
        """Returns the text inside an element (of the whole page if `inside` is empty).

        The content of the elements in `without` is left out.
        """
        left_out = without | _NOT_TEXT | {"hidden"}
        kept = (
            part if part == "\n" or not (around & left_out or (inside and inside not in around)) else ""
            for part, around in zip(self.parts, self.around, strict=True)
        )
        lines = (_SPACE.sub(" ", line).strip() for line in "".join(kept).split("\n"))
        rows = (f"{line} |" if line.startswith("| ") else line for line in lines if line.strip("-| "))
        return "\n".join(row.translate(_BACK).rstrip() for row in rows)


def _is_hidden(attributes: dict[str, str | None]) -> bool:
    style = re.sub(r"\s", "", attributes.get("style") or "").lower()
    shown = "hidden" not in attributes or attributes["hidden"] == "until-found"
    return not shown or "display:none" in style or "visibility:hidden" in style


def _main_text(source: str) -> str:
    page = _VisiblePage(source)
    for inside in ("main", "article"):
        if found := page.text(inside, _AROUND_INSIDE):
            return found
    return page.text("", _AROUND)


def _visible_text(source: str) -> str:
    return _VisiblePage(source).text("", frozenset())


def _trafilatura_text(source: str) -> str:
    try:
        from trafilatura import extract
    except ImportError as error:
        how = "Install it: pip install 'retrieval-assay[pages]', or choose extract: main"
        raise PluginError(f"trafilatura is not installed. {how}") from error
    found = extract(source, include_comments=False)
    return found.strip() if found else ""
