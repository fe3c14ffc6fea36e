"""Replaces words in a response that would give its condition away by neutral words.

A word gives a condition away if it names the form of the content: a curated text file, Markdown, HTML, or a
web page with its menus. But a question may be about that very word. Therefore a rule does not mask a word
that the rater reads anyway in the question or the gold answer. Some words can be a subject of their own
(HTML, a tag, a menu). These words are also not masked if the rater reads them in the source. A phrase that
says which form was read ("the provided Markdown") is always masked.

The name of a file or page stays, without its ending. Names of sections stay too, because a citation has to be
found in the source. Headings, lists and bold type also stay, because models write Markdown under every
condition. Once the seal is open, `leaks.statistics.guess_from_form` measures how well the form of responses
predicts their condition. Blanks that no reader can see or distinguish are made equal.

Offsets count characters of Python strings: Unicode code points.
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
SHORTEST = 3  # letters that a masked word needs: "A" is more often an article than a condition

Lenient = Literal["never", "asked", "shown"]  # the texts that may allow a word
Mask = tuple[int, int, int, int]  # start and end in the text as shown, start and end in the text as written
Offsets = tuple[int, int]


class MaskRule(NamedTuple):
    """A pattern to look for, and its replacement: a template of `re.Match.expand`.

    Depending on `lenient`, a match stays if the rater reads the same words anyway. If the pattern has a group
    `word`, only that group is compared with the words that the rater reads.
    """

    name: str
    pattern: re.Pattern[str]
    neutral: str
    lenient: Lenient = "asked"


class MaskedText(NamedTuple):
    """A text as raters see it, the places where it was changed, and how often each rule changed it."""

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
# Blanks except line breaks, and characters without width. Joiners stay: emoji and some scripts need them.
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
    """The mask rules, and the words or phrases of the study that would give a condition away."""

    words: Sequence[str] = ()
    rules: Sequence[MaskRule] = RULES

    def __post_init__(self) -> None:
        if short := [word for word in self.words if sum(map(str.isalnum, word)) < SHORTEST]:
            raise UsageError(
                f"{', '.join(map(repr, short))} cannot be masked: too short, it would occur in any text. "
                f"Give words of {SHORTEST} letters or more."
            )

    @cached_property
    def _all_rules(self) -> list[MaskRule]:
        """All rules. The rule of the study's own words comes first, as a study names it for a reason."""
        longest_first = sorted(self.words, key=len, reverse=True)
        pattern = "|".join(r"\s+".join(map(re.escape, word.split())) for word in longest_first)
        own = [_rule(OWN, rf"{_ARTICLE}(?<!\w)(?:{pattern})(?!\w)", DOCUMENT, "never")]
        return [*(own if pattern else []), *self.rules]

    def masked(self, text: str, asked: Sequence[str] = (), shown: str = "") -> MaskedText:
        """Replaces the words that would give a condition away by neutral words.

        `asked` has the question and the gold answer as the rater reads them. `shown` is the source.
        """
        matches = self._matches(text, asked, shown)
        found = _replace(text, matches)
        if self._matches(found.text, asked, shown):  # masking made a new match: "front.md matter"
            blank = {ENDS, LOOKALIKES, WIDTHLESS}
            found = _replace(
                text, [each if each.rule in blank else each._replace(neutral=DOCUMENT) for each in matches]
            )
        return found

    def matching_rules(self, text: str, asked: Sequence[str] = (), shown: str = "") -> list[str]:
        """Returns the names of the rules that would still mask something in the text."""
        return sorted({each.rule for each in self._matches(text, asked, shown)})

    def _matches(self, text: str, asked: Sequence[str], shown: str) -> list[_MaskMatch]:
        """Returns the words to mask, which do not overlap.

        The match that begins first is taken. Of several, the longest is taken, and then the match of the
        first rule. The search goes on after each match.
        """
        found: list[_MaskMatch] = []
        waiting = {rank: _next(rule, text, 0, asked, shown) for rank, rule in enumerate(self._all_rules)}
        while left := {rank: match for rank, match in waiting.items() if match is not None}:
            rank = min(left, key=lambda rank: (left[rank].start(), -left[rank].end(), rank))
            match, rule = left[rank], self._all_rules[rank]
            found.append(_MaskMatch(match.start(), match.end(), rule.name, match.expand(rule.neutral)))
            for other, later in left.items():
                if later.start() < match.end():
                    waiting[other] = _next(self._all_rules[other], text, match.end(), asked, shown)
        return found


def _next(rule: MaskRule, text: str, begin: int, asked: Sequence[str], shown: str) -> re.Match[str] | None:
    """Returns a rule's first match from `begin` on, but skips words that the rater reads anyway."""
    read = {"never": [], "asked": asked, "shown": [*asked, shown]}[rule.lenient]
    for match in rule.pattern.finditer(text, begin):
        words = match["word"] if "word" in match.re.groupindex else match[0]
        pattern = re.compile(rf"(?<![\w.]){re.escape(words)}(?!\w)", re.IGNORECASE)
        if not any(pattern.search(each) for each in read if each):
            return match
    return None


def _replace(text: str, found: Iterable[_MaskMatch]) -> MaskedText:
    parts, masks, used, at, length = list[str](), list[Mask](), Counter[str](), 0, 0
    for start, end, rule, neutral in found:
        parts += [text[at:start], neutral]
        length += start - at
        masks.append((length, length + len(neutral), start, end))
        length += len(neutral)
        used[rule] += 1
        at = end
    return MaskedText("".join([*parts, text[at:]]), masks, used)


# -------------------------------------------------------------------------------------- offsets


def to_original(span: Offsets, masks: Sequence[Mask]) -> Offsets:
    """Converts a span of the shown text into the original text. A span that cuts a mask covers all of it."""
    start, end = span
    first = _place(start, masks, last=False)
    return first, first if start >= end else _place(end - 1, masks, last=True)


def to_shown(span: Offsets, masks: Sequence[Mask]) -> Offsets:
    """Converts a span of the original text into the shown text. A span that cuts a mask covers all of it."""
    return to_original(span, [(first, last, start, end) for start, end, first, last in masks])


def _place(at: int, masks: Sequence[Mask], *, last: bool) -> int:
    """Returns the place of a character in the other text; with `last`, the place after that character."""
    before = bisect_right(masks, at, key=lambda mask: mask[0]) - 1
    if before < 0:
        return at + last
    _, end, first, until = masks[before]
    if at < end:
        return until if last else first
    return at - end + until + last
