"""Finds values in sentences (numbers, amounts, dates, names), asks for them, and follows them over time.

A question keeps the word order of the sentence. It replaces the value by a question word ("… within how many
days of the trip?"), or by a blank if no question word fits. This needs no grammar and cannot garble the
sentence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from assay.core.records import Passage, Span
from assay.datasets.evidence import paragraph_unit, sentence_unit
from assay.retrieval.tokens import sentence_spans
from assay_worlds.sources.source import SourcePage

_MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December"
    r"|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\.?"
)
_NUMBERS = {
    "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9",
    "ten": "10", "eleven": "11", "twelve": "12", "fifteen": "15", "twenty": "20", "thirty": "30",
    "forty": "40", "sixty": "60", "ninety": "90",
}  # fmt: skip
_UNIT = r"(?=[ -](?P<unit>(?:(?:business|calendar|working|consecutive|full|pay|sick|paid) )?[a-z]{3,}))"
# In the order in which they are tried: the first that fits a place decides what it is.
_PATTERNS = {
    "email": r"(?<![\w.])[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
    "channel": r"(?<![\w/&])#[a-z][a-z0-9_-]{2,}[a-z0-9]",
    "amount": r"[$€£]\s?\d+(?:,\d{3})*(?:\.\d+)?(?:\s?(?:k|K|M|million|billion)\b)?(?!\w)",
    "percent": r"(?<![\w.])\d+(?:\.\d+)?\s?%",
    "date": rf"\b{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}}\b|\b\d{{4}}-\d\d-\d\d\b",
    "month": rf"\b{_MONTH} \d{{4}}\b",
    "day": rf"\b{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?\b",
    "clock": r"\b\d{1,2}(?::\d\d)?\s?(?:am|pm|AM|PM|a\.m\.|p\.m\.)",
    "number": rf"(?<![\w.,#/:+&-])(?:\d+(?:,\d{{3}})*(?:\.\d+)?|{'|'.join(_NUMBERS)}){_UNIT}",
}
_ANY = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in _PATTERNS.items()))
_HINT = re.compile(rf"[\d#@]|\b(?:{'|'.join(_NUMBERS)})\b")  # without a match there is no value
_ASKED = {
    "email": "which e-mail address",
    "channel": "which Slack channel",
    "amount": "how much money",
    "percent": "what percentage",
    "date": "which date",
    "month": "which month and year",
    "day": "which date",
    "clock": "what time",
    "number": "how many",
}
# A number before one of these counts nothing that can be asked with "how many".
_NO_UNIT = {
    "and",
    "are",
    "for",
    "from",
    "has",
    "have",
    "is",
    "per",
    "that",
    "the",
    "was",
    "were",
    "which",
    "will",
}
_NO_UNIT |= {
    "can",
    "may",
    "must",
    "should",
    "needs",
    "does",
    "plus",
    "who",
    "with",
    "but",
    "not",
    "its",
    "our",
    "your",
    "their",
    "more",
    "in",
}
_ARTICLE = re.compile(
    r"\b(?:the|a|an|our|your|this|these|those|its|their|each|every|another)\s+$", re.IGNORECASE
)
_CHANNEL = re.compile(
    r"\A(?:\s+team)?(?:\s+slack)?\s+channel\b(?:\s+(?:in|on)\s+slack\b)?|\A\s+(?:in|on)\s+slack\b",
    re.IGNORECASE,
)
_NUMBERED = re.compile(
    r"(?-i:[A-Za-z] [A-Z][a-z]+ $)|\b(?:phase|part|step|level|tier|stage|play|question) $"
    r"|[-–—] ?$|\b(?:\d+|one|two|three|four|five) (?:to|or|and) $",
    re.IGNORECASE,
)
_CURRENCY = re.compile(r"\A (?:USD|EUR|GBP)\b")
_KINDS = re.compile(
    r"(?:\s+(?P<noun>team|group|department|chapter|platform|program|policy|form|office|guild))\b"
)
_NAME = re.compile(r"(?:[A-Z][\w’'.&/-]*|&|of|and)(?:\s+(?:[A-Z0-9][\w’'.&/-]*|&|of|and))*")
_CAPITALS_BEFORE = re.compile(r"(?:(?:(?<=\s)|(?<=\())[A-Z][\w&/-]* |\A[A-Z]{2,} )+$")  # a name's first words
_EDGE = '.,;:!?)("”“'
BLANK = "____"


class Value(NamedTuple):
    """A value in a sentence: its span, its sort, and its text in an answer."""

    start: int
    end: int
    sort: str
    answer: str


def values(said: str) -> list[Value]:
    """Returns the values of a sentence in order. A number that counts nothing is not a value."""
    if not _HINT.search(said):
        return []
    return [value for value in _found(said) if value.sort != "number" or _countable(said, value)]


def _found(said: str) -> Iterator[Value]:
    for match in _ANY.finditer(said):
        sort = next(name for name in _PATTERNS if match[name] is not None)
        text = match[sort]
        unit = f" {match['unit']}" if sort == "number" else ""
        yield Value(match.start(), match.start() + len(text), sort, text + unit)


def _countable(said: str, value: Value) -> bool:
    unit = value.answer.rpartition(" ")[2]
    numbered = _NUMBERED.search(said, 0, value.start)  # "Phase 1 needs" counts nothing
    plural = unit.endswith("s") and not unit.endswith("ss") and unit not in _NO_UNIT
    return plural and said[value.end] == " " and not numbered


def as_question(said: str, value: Value) -> str | None:
    """Turns a sentence into a question for one of its values; None if it would not read well."""
    before, after = said[: value.start], said[value.end :]
    if before.endswith("("):
        return None
    if value.sort == "channel":
        before, after = _ARTICLE.sub("", before), _CHANNEL.sub("", after)
    elif value.sort == "name":
        return _asked_name(before, after)
    elif _ARTICLE.search(before):
        return None
    if value.sort == "amount":
        after = re.sub(r"\A/(?=[a-z])", " per ", _CURRENCY.sub("", after))
    return _closed(f"{before}{_ASKED[value.sort]}{after}")


def _asked_name(before: str, after: str) -> str | None:
    article = re.search(r"\bthe\s+$", before, re.IGNORECASE)
    if article and (noun := _KINDS.match(after)):
        return _closed(f"{before[: article.start()]}which {noun['noun']}{after[noun.end() :]}")
    return None


def with_blank(said: str, value: Value) -> str:
    """Returns the sentence with a blank in place of the value."""
    return f"{said[: value.start]}{BLANK}{said[value.end :]}"


def _closed(question: str) -> str:
    first = question[:1].upper() + question[1:]
    return f"{first.rstrip('.!;,: ')}?"


def mask_values(said: str) -> str:
    """Returns the sentence with blanks for values. Sentences that differ only in values become equal."""
    return " ".join((_ANY.sub(BLANK, said) if _HINT.search(said) else said).split()).casefold()


# --------------------------------------------------------------------------------------- changes


def changed_value(old: str, new: str) -> tuple[Value, Value] | None:
    """Returns the only value in which two sentences differ, in its old and its new form; or None."""
    for mine, other in zip(values(old), values(new), strict=False):
        same = old[: mine.start] == new[: other.start] and old[mine.end :] == new[other.end :]
        if same and mine.sort == other.sort and _digits(mine.answer) != _digits(other.answer):
            return mine, other
    return _changed_name(old, new)


def _digits(answer: str) -> str:
    """Writes the number of an answer in digits, so that "three weeks" and "3 weeks" are equal."""
    first, _, rest = answer.partition(" ")
    return f"{_NUMBERS.get(first, first.replace(',', ''))} {rest}"


def _changed_name(old: str, new: str) -> tuple[Value, Value] | None:
    steps = SequenceMatcher(None, old.split(), new.split(), autojunk=False).get_opcodes()
    differing = [step for step in steps if step[0] != "equal"]
    if len(differing) != 1 or differing[0][0] != "replace":
        return None
    _, a, b, c, d = differing[0]
    mine, other = _name(old, a, b), _name(new, c, d)
    if mine is None or other is None or _alike(mine.answer, other.answer):
        return None
    same = old[: mine.start] == new[: other.start] and old[mine.end :] == new[other.end :]
    return (mine, other) if same else None


def _name(said: str, first: int, last: int) -> Value | None:
    """Returns the words between two positions as a name.

    Returns None if the words are not capitalised like a name, or if they begin the sentence.
    """
    places = [match.span() for match in re.finditer(r"\S+", said)]
    start, end = places[first][0], places[last - 1][1]
    text = said[start:end]
    start += len(text) - len(text.lstrip(_EDGE))
    text = text.strip(_EDGE)
    text = re.sub(r"[’']s$", "", text)
    if first and text and (left := _CAPITALS_BEFORE.search(said, 0, start)):
        start, text = left.start(), said[left.start() : start + len(text)]
    if first == 0 or not _NAME.fullmatch(text) or not re.search(r"[a-z]{2}", text):
        return None
    return Value(start, start + len(text), "name", text)


def _alike(one: str, other: str) -> bool:
    """Whether two names may be the same name in two spellings."""
    a, b = (re.sub(r"\W", "", text).casefold() for text in (one, other))
    initials = {"".join(word[0] for word in text.split()).casefold() for text in (one, other)}
    return a in b or b in a or bool({a, b} & initials) or SequenceMatcher(None, a, b).ratio() > 0.6


_MARK = re.compile(r"\A\s*(?:[-*+•]|\d{1,3}[.)])\s+")


Passages = Mapping[str, list[Passage]]


class PageSentence(NamedTuple):
    """A sentence of a page. `said` is the sentence without the mark of a list."""

    page: SourcePage
    passage: Passage
    span: Span
    said: str

    @property
    def unit(self) -> dict[str, Any]:
        return sentence_unit(self.passage, self.span)

    @property
    def heading(self) -> str:
        """The heading directly above the sentence."""
        return (self.passage.section or "").rpartition(" > ")[2]


class PageBook:
    """The sentences of pages, and the texts of each page over time."""

    def __init__(self, pages: Sequence[SourcePage], passages: Passages) -> None:
        self.pages = pages
        self._passages = passages
        self._cut: dict[str, list[Span]] = {}  # texts come again in every snapshot of a page
        self._by_page: dict[str, list[PageSentence]] = {}
        self._forms: dict[tuple[tuple[str, str], Callable[[str], str]], dict[str, set[str]]] = {}
        self._texts: dict[tuple[str, str], list[SourcePage]] | None = None

    def sentences(self, page: SourcePage) -> list[PageSentence]:
        """Returns the sentences of a page in order. Headings count as sentences."""
        doc_id = page.document.doc_id
        if doc_id not in self._by_page:
            self._by_page[doc_id] = [
                each for passage in self._passages[doc_id] for each in self._stated(page, passage)
            ]
        return self._by_page[doc_id]

    def passages(self, page: SourcePage) -> list[Passage]:
        return self._passages[page.document.doc_id]

    def texts(self, page: SourcePage) -> list[SourcePage]:
        """Returns the texts of a page over time: all pages of the same name in the same handbook."""
        if self._texts is None:
            self._texts = {}
            for each in self.pages:
                self._texts.setdefault(_page_key(each), []).append(each)
        return self._texts[_page_key(page)]

    def unit(self, stated: PageSentence) -> dict[str, Any]:
        """Returns a sentence as evidence. The same sentence in other texts of the page is an alternative."""
        same = (each for text in self.texts(stated.page) for each in self.sentences(text))
        return with_also(stated.unit, (each.unit for each in same if each.said == stated.said))

    def contested(self, stated: PageSentence, form: Callable[[str], str]) -> bool:
        """Whether any text of the page has another sentence of the same form."""
        key = (_page_key(stated.page), form)
        if key not in self._forms:
            known = self._forms[key] = {}
            for text in self.texts(stated.page):
                for each in self.sentences(text):
                    known.setdefault(form(each.said), set()).add(each.said)
        return len(self._forms[key][form(stated.said)]) > 1

    def paragraph(self, page: SourcePage, passage: Passage, needs: Sequence[Span]) -> dict[str, Any]:
        """Returns a passage as evidence. The same passage in other texts of the page is an alternative."""
        here = passage.span or Span(0, 0)
        copies = []
        for copy in (each for text in self.texts(page) for each in self.passages(text)):
            if copy.text == passage.text:
                by = (copy.span or Span(0, 0)).start - here.start
                copies.append(paragraph_unit(copy, [Span(need.start + by, need.end + by) for need in needs]))
        return with_also(paragraph_unit(passage, needs), copies)

    def _stated(self, page: SourcePage, passage: Passage) -> Iterable[PageSentence]:
        text, base = passage.text, passage.span.start if passage.span else 0
        if text not in self._cut:
            self._cut[text] = sentence_spans(text)
        for span in self._cut[text]:
            said = " ".join(_MARK.sub("", text[span.start : span.end]).split())
            yield PageSentence(page, passage, Span(base + span.start, base + span.end), said)


def _page_key(page: SourcePage) -> tuple[str, str]:
    metadata = page.document.metadata
    return str(metadata["handbook"]), str(metadata["page"]).casefold()


def with_also(unit: dict[str, Any], same: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Adds the units that have the same words in other places as alternatives."""
    also = [each for each in same if (each["source"], each["start"]) != (unit["source"], unit["start"])]
    return {**unit, "also": also} if also else unit
