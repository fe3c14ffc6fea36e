"""The standard library's parser of HTML for pages of strangers: no error, no time beyond their length."""

from __future__ import annotations

from html import unescape
from html.parser import HTMLParser


class PageParser(HTMLParser):
    """A parser that copes with pages which end anywhere, in the middle of a tag or of a comment too.

    It is fed a page at once.
    """

    def __init__(self) -> None:
        super().__init__()
        self._unended = False  # a comment that nothing ends: the parser would look for its end from each on

    def close(self) -> None:
        """Takes what stands after the last `>` for text: no tag ends there, whichever begin."""
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
        """`<![…` as browsers take it, for a comment; the parser's own way ends in an error for some."""
        return self.parse_bogus_comment(i, report)
