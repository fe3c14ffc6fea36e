"""What pages say, sentence by sentence, with where each stands and when else it was said."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from assay.core.records import Passage, Span
from assay.datasets.evidence import paragraph_unit, sentence_unit
from assay.retrieval.sentences import sentence_spans
from assay_worlds.sources.source import Page
from assay_worlds.suites.real.question import Passages

_MARK = re.compile(r"\A\s*(?:[-*+•]|\d{1,3}[.)])\s+")


class Stated(NamedTuple):
    """A sentence of a page; `said` is the sentence without the mark of a list."""

    page: Page
    passage: Passage
    span: Span
    said: str

    @property
    def unit(self) -> dict[str, Any]:
        return sentence_unit(self.passage, self.span)

    @property
    def heading(self) -> str:
        """The heading that stands right above it."""
        return (self.passage.section or "").rpartition(" > ")[2]


class Book:
    """The sentences of many pages, and the texts that each page had through time."""

    def __init__(self, pages: Sequence[Page], passages: Passages) -> None:
        self.pages = pages
        self._passages = passages
        self._cut: dict[str, list[Span]] = {}  # texts come again in every snapshot of a page
        self._by_page: dict[str, list[Stated]] = {}
        self._forms: dict[tuple[tuple[str, str], Callable[[str], str]], dict[str, set[str]]] = {}
        self._texts: dict[tuple[str, str], list[Page]] | None = None

    def sentences(self, page: Page) -> list[Stated]:
        """The sentences of a page in order, headings among them."""
        doc_id = page.document.doc_id
        if doc_id not in self._by_page:
            self._by_page[doc_id] = [
                each for passage in self._passages[doc_id] for each in self._stated(page, passage)
            ]
        return self._by_page[doc_id]

    def passages(self, page: Page) -> list[Passage]:
        return self._passages[page.document.doc_id]

    def texts(self, page: Page) -> list[Page]:
        """The texts of a page through time: all pages of its name in its handbook."""
        if self._texts is None:
            self._texts = {}
            for each in self.pages:
                self._texts.setdefault(_name(each), []).append(each)
        return self._texts[_name(page)]

    def unit(self, stated: Stated) -> dict[str, Any]:
        """A sentence as evidence, with where the page says the same at other times."""
        same = (each for text in self.texts(stated.page) for each in self.sentences(text))
        return with_also(stated.unit, (each.unit for each in same if each.said == stated.said))

    def contested(self, stated: Stated, form: Callable[[str], str]) -> bool:
        """Whether a text of the page, at any time, has a sentence of the same form that says otherwise."""
        key = (_name(stated.page), form)
        if key not in self._forms:
            known = self._forms[key] = {}
            for text in self.texts(stated.page):
                for each in self.sentences(text):
                    known.setdefault(form(each.said), set()).add(each.said)
        return len(self._forms[key][form(stated.said)]) > 1

    def paragraph(self, page: Page, passage: Passage, needs: Sequence[Span]) -> dict[str, Any]:
        """A passage as evidence, with where the page has the same passage at other times."""
        here = passage.span or Span(0, 0)
        copies = []
        for copy in (each for text in self.texts(page) for each in self.passages(text)):
            if copy.text == passage.text:
                by = (copy.span or Span(0, 0)).start - here.start
                copies.append(paragraph_unit(copy, [Span(need.start + by, need.end + by) for need in needs]))
        return with_also(paragraph_unit(passage, needs), copies)

    def _stated(self, page: Page, passage: Passage) -> Iterable[Stated]:
        text, base = passage.text, passage.span.start if passage.span else 0
        if text not in self._cut:
            self._cut[text] = sentence_spans(text)
        for span in self._cut[text]:
            said = " ".join(_MARK.sub("", text[span.start : span.end]).split())
            yield Stated(page, passage, Span(base + span.start, base + span.end), said)


def _name(page: Page) -> tuple[str, str]:
    metadata = page.document.metadata
    return str(metadata["handbook"]), str(metadata["page"]).casefold()


def with_also(unit: dict[str, Any], same: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """A unit with those of the same words that stand elsewhere."""
    also = [each for each in same if (each["source"], each["start"]) != (unit["source"], unit["start"])]
    return {**unit, "also": also} if also else unit
