"""Words in a response that would betray its condition, and the neutral words that raters see in their place.

What betrays is naming the form in which the content was given: a curated text file, Markdown, HTML, a web
page with its menus. Such a word may also be what the question is about. So a rule is lenient where the rater
reads the word anyway: in the question or the gold answer, and, for words that are subjects in their own right
(HTML, a tag, a menu), in the source as it is shown. What says outright which form was read ("the provided
Markdown") is always masked.

A file's or page's name stays without its ending, and so do the names of sections: a citation has to be found
in the source. Headings, lists and bold type in a response stay as well: models write Markdown whatever they
were given. How far a response's form goes with its condition is measured once the seal is open
(`leak_statistics.guessable`). Blanks that no reader can see or tell apart are evened out.

Offsets are characters of Python strings: Unicode code points.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from assay.core.errors import UsageError

DOCUMENT, FORMAT, PART, TAG = "[the document]", "[format]", "[a part of the page]", "[tag]"
OWN = "own words"  # the rule of a study's own words
ENDS, LOOKALIKES, WIDTHLESS = "blanks at an end", "unusual blanks", "signs without width"
SHORTEST = 3  # letters of a word that can be masked: "A" is an article before it is a condition

Lenient = Literal["never", "asked", "shown"]  # where a word may stand for the rule to leave it alone
Mask = tuple[int, int, int, int]  # from where to where of the text as shown, and of the text as written
Offsets = tuple[int, int]


class MaskRule(NamedTuple):
    """What to look for, and what to show instead: a template of `re.Match.expand`.

    Where the pattern has a group `word`, that is what the rater may read anyway; else all that it found.
    """

    name: str
    pattern: re.Pattern[str]
    neutral: str
    lenient: Lenient = "asked"


class MaskedText(NamedTuple):
    """A text as raters see it, where it was changed, and by which rules how often."""

    text: str
    masks: list[Mask]
    used: Counter[str]


class _MaskMatch(NamedTuple):
    start: int
    end: int
    rule: str
    neutral: str


def _rule(name: str, pattern: str, neutral: str, lenient: Lenient = "asked") -> MaskRule:
    return MaskRule(name, re.compile(pattern, re.IGNORECASE | re.MULTILINE), neutral, lenient)


_INDEX = r"llms(?:[-_](?:full|ctx|small|medium)){0,2}[\s._-]?txt\b"
_ARTICLE = r"(?:\b(?:the|this|that|an?)\s+)?"
_THING = r"(?:\s+(?:file|document|page|content|source|version|text|format|documentation|docs|markup)s?\b)"
# Blanks that are no line break, and signs without width. Joiners stay: emoji and some scripts need them.
_BLANK = r"[ \t\r\f\v\x85\u00a0\u1680\u2000-\u200b\u2028\u2029\u202f\u205f\u2060\u3000\ufeff]"
_TAGS = (
    "html|head|body|div|span|p|a|ul|ol|li|table|thead|tbody|tr|td|th|h[1-6]|nav|main|section|article|aside|"
    "header|footer|script|style|meta|link|img|figure|figcaption|iframe|doc|docs|project"
)

RULES = (
    _rule(
        "form that was read",
        rf"{_ARTICLE}\b(?:provided|given|supplied|attached|above|input|source|following)\s+"
        rf"(?:/?{_INDEX}|markdown|html5?|web\s?page)(?!\w){_THING}?",
        DOCUMENT,
        "never",
    ),
    _rule(
        "curated index",
        rf"{_ARTICLE}(?:(?:https?://|www\.)[^\s<>()\[\]\"'`]*/|/)?(?<![\w.])(?P<word>{_INDEX})(?:\s+file\b)?",
        DOCUMENT,
    ),
    _rule(
        "ending of a page's name",
        r"(?<![\w@.-])(?P<stem>\w[\w.-]*?)(?:\.(?:html?|xhtml|md|mdx|markdown))+(?![\w-]|\.\w)",
        r"\g<stem>",
    ),
    _rule(
        "language of a fence",
        r"^(?P<fence>[ \t]*(?:`{3,}|~{3,}))[ \t]*(?:html5?|markdown|mdx?|xml)\b",
        r"\g<fence>",
        "never",
    ),
    _rule("condition", r"\bcondition\s+[ab]\b", DOCUMENT),
    _rule(
        "format that was read",
        rf"{_ARTICLE}(?P<word>\b(?:markdown|x?html5?)(?!\w){_THING})",
        DOCUMENT,
        "shown",
    ),
    _rule("format", r"(?<![\w.])(?:markdown|x?html5?)(?!\w)", FORMAT, "shown"),
    _rule("web page", rf"{_ARTICLE}(?P<word>\bweb[\s-]?page)(?:'s|s)?\b", DOCUMENT, "shown"),
    _rule("tag", rf"</?(?:{_TAGS})(?:\s[^<>\n]*)?/?>", TAG, "shown"),
    _rule("front matter", r"\b(?:yaml\s+)?front[\s-]?matter\b", PART, "shown"),
    _rule(
        "menu",
        r"\b(?:(?:navigation|nav)[\s-]?(?:bar|menu|pane|links?)|side[\s-]?bar|breadcrumbs?|cookie\s+banner|"
        r"skip\s+to\s+(?:main\s+)?content|page\s+(?:header|footer))\b",
        PART,
        "shown",
    ),
    _rule(
        ENDS,
        rf"\A(?:{_BLANK}|\n)+|(?<!{_BLANK})(?<!\n)(?:{_BLANK}|\n)+\Z|(?<!{_BLANK}){_BLANK}+$",
        "",
        "never",
    ),
    _rule(LOOKALIKES, r"[\u00a0\u2000-\u200a\u202f\u205f]", " ", "never"),
    _rule(WIDTHLESS, r"[\u200b\u2060\ufeff]+", "", "never"),
)


@dataclass(frozen=True)
class Masker:
    """The rules, and words or phrases of the study's own that would betray a condition."""

    words: Sequence[str] = ()
    rules: Sequence[MaskRule] = RULES

    def __post_init__(self) -> None:
        if short := [word for word in self.words if sum(map(str.isalnum, word)) < SHORTEST]:
            raise UsageError(
                f"{', '.join(map(repr, short))} cannot be masked: too short, it would stand in any text. "
                f"Give words of {SHORTEST} letters or more."
            )

    @cached_property
    def _all(self) -> list[MaskRule]:
        longest_first = sorted(self.words, key=len, reverse=True)
        pattern = "|".join(r"\s+".join(map(re.escape, word.split())) for word in longest_first)
        # a study's words come first: who names one knows why
        found = [_rule(OWN, rf"{_ARTICLE}(?<!\w)(?:{pattern})(?!\w)", DOCUMENT, "never")]
        return [*(found if pattern else []), *self.rules]

    def masked(self, text: str, asked: Sequence[str] = (), shown: str = "") -> MaskedText:
        """A text with neutral words where it would betray.

        `asked` is what the rater reads of the question and its gold answer; `shown` the source beside it.
        """
        found = _replaced(text, self._found(text, asked, shown))
        if self._found(found.text, asked, shown):  # a name without its ending: "front.md matter"
            blank = {ENDS, LOOKALIKES, WIDTHLESS}
            whole = [
                each if each.rule in blank else each._replace(neutral=DOCUMENT)
                for each in self._found(text, asked, shown)
            ]
            found = _replaced(text, whole)
        return found

    def betraying(self, text: str, asked: Sequence[str] = (), shown: str = "") -> list[str]:
        """The rules that would still find something."""
        return sorted({each.rule for each in self._found(text, asked, shown)})

    def _found(self, text: str, asked: Sequence[str], shown: str) -> list[_MaskMatch]:
        """What to mask: what begins first, then the longest, then the first rule's; and so on after it."""
        found: list[_MaskMatch] = []
        waiting = {rank: _next(rule, text, 0, asked, shown) for rank, rule in enumerate(self._all)}
        while left := {rank: match for rank, match in waiting.items() if match is not None}:
            rank = min(left, key=lambda rank: (left[rank].start(), -left[rank].end(), rank))
            match, rule = left[rank], self._all[rank]
            found.append(_MaskMatch(match.start(), match.end(), rule.name, match.expand(rule.neutral)))
            for other, later in left.items():
                if later.start() < match.end():
                    waiting[other] = _next(self._all[other], text, match.end(), asked, shown)
        return found


def _next(rule: MaskRule, text: str, begin: int, asked: Sequence[str], shown: str) -> re.Match[str] | None:
    """A rule's first match from a place on that the rater does not read anyway."""
    matches = rule.pattern.finditer(text, begin)
    return next((each for each in matches if not _read_anyway(each, rule.lenient, asked, shown)), None)


def _replaced(text: str, found: Iterable[_MaskMatch]) -> MaskedText:
    parts, masks, used, at, length = list[str](), list[Mask](), Counter[str](), 0, 0
    for start, end, rule, neutral in found:
        parts += [text[at:start], neutral]
        length += start - at
        masks.append((length, length + len(neutral), start, end))
        length += len(neutral)
        used[rule] += 1
        at = end
    return MaskedText("".join([*parts, text[at:]]), masks, used)


def _read_anyway(match: re.Match[str], lenient: Lenient, asked: Sequence[str], shown: str) -> bool:
    if lenient == "never":
        return False
    words = match["word"] if "word" in match.re.groupindex else match[0]
    pattern = re.compile(rf"(?<![\w.]){re.escape(words)}(?!\w)", re.IGNORECASE)
    where = [*asked, shown] if lenient == "shown" else asked
    return any(pattern.search(text) for text in where if text)


# -------------------------------------------------------------------------------------- offsets


def to_original(span: Offsets, masks: Sequence[Mask]) -> Offsets:
    """A span of the text as shown, in the text as written. One that cuts a mask covers it whole."""
    return _moved(span, masks)


def to_shown(span: Offsets, masks: Sequence[Mask]) -> Offsets:
    """A span of the text as written, in the text as shown. One that cuts a mask covers it whole."""
    return _moved(span, [(first, last, start, end) for start, end, first, last in masks])


def _moved(span: Offsets, masks: Sequence[Mask]) -> Offsets:
    start, end = span
    if start >= end:
        at = _place(start, masks, last=False)
        return at, at
    return _place(start, masks, last=False), _place(end - 1, masks, last=True)


def _place(at: int, masks: Sequence[Mask], *, last: bool) -> int:
    """Where a character went: its place, or the place after it; in a mask, that of the mask."""
    before = bisect_right(masks, at, key=lambda mask: mask[0]) - 1
    if before < 0:
        return at + last
    _, end, first, until = masks[before]
    if at < end:
        return until if last else first
    return at - end + until + last
