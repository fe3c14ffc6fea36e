"""Words in a response that would give its condition away, and the neutral words that raters see instead.

A word gives a condition away if it names the form in which the content was given: a curated text file,
Markdown, HTML, a web page with its menus. But a question may be about that very word. So a rule does not mask
a word if the rater reads it anyway: in the question or the gold answer, and, for words that can be a subject
of their own (HTML, a tag, a menu), in the source as it is shown. A phrase that says which form was read ("the
provided Markdown") is always masked.

The name of a file or page stays without its ending, and so do names of sections: a citation has to be found
in the source. Headings, lists and bold type in a response stay too: models write Markdown whatever they were
given. How well the form of responses predicts their condition is measured once the seal is open
(`leaks.statistics.guess_from_form`). Blanks that no reader can see or tell apart are made equal.

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

Lenient = Literal["never", "asked", "shown"]  # where the rater may read a word, so that the rule leaves it
Mask = tuple[int, int, int, int]  # start and end in the text as shown, start and end in the text as written
Offsets = tuple[int, int]


class MaskRule(NamedTuple):
    """A pattern to look for, and what to show instead: a template of `re.Match.expand`.

    If the pattern has a group `word`, only that group may be what the rater reads anyway; else the whole
    match.
    """

    name: str
    pattern: re.Pattern[str]
    neutral: str
    lenient: Lenient = "asked"


class MaskedText(NamedTuple):
    """A text as raters see it, where it was changed, and how often by which rule."""

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
    """The rules, and words or phrases of the study that would give a condition away."""

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
        """The rule of the study's own words first: if a study names a word, it has a reason."""
        longest_first = sorted(self.words, key=len, reverse=True)
        pattern = "|".join(r"\s+".join(map(re.escape, word.split())) for word in longest_first)
        own = [_rule(OWN, rf"{_ARTICLE}(?<!\w)(?:{pattern})(?!\w)", DOCUMENT, "never")]
        return [*(own if pattern else []), *self.rules]

    def masked(self, text: str, asked: Sequence[str] = (), shown: str = "") -> MaskedText:
        """A text with neutral words in place of telling ones.

        `asked` is what the rater reads of the question and its gold answer, `shown` is the source.
        """
        matches = self._matches(text, asked, shown)
        found = _replace(text, matches)
        if self._matches(found.text, asked, shown):  # a name without its ending: "front.md matter"
            blank = {ENDS, LOOKALIKES, WIDTHLESS}
            found = _replace(
                text, [each if each.rule in blank else each._replace(neutral=DOCUMENT) for each in matches]
            )
        return found

    def matching_rules(self, text: str, asked: Sequence[str] = (), shown: str = "") -> list[str]:
        """The names of the rules that would still mask something."""
        return sorted({each.rule for each in self._matches(text, asked, shown)})

    def _matches(self, text: str, asked: Sequence[str], shown: str) -> list[_MaskMatch]:
        """What to mask: the match that begins first, then the longest, then the first rule's; and so on."""
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
    """A rule's first match from `begin` on, except words that the rater reads anyway."""
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
    """A span of the text as shown, in the text as written. A span that cuts a mask covers all of it."""
    start, end = span
    first = _place(start, masks, last=False)
    return first, first if start >= end else _place(end - 1, masks, last=True)


def to_shown(span: Offsets, masks: Sequence[Mask]) -> Offsets:
    """A span of the text as written, in the text as shown. A span that cuts a mask covers all of it."""
    return to_original(span, [(first, last, start, end) for start, end, first, last in masks])


def _place(at: int, masks: Sequence[Mask], *, last: bool) -> int:
    """Where a character is in the other text: its place, or with `last` the place after it."""
    before = bisect_right(masks, at, key=lambda mask: mask[0]) - 1
    if before < 0:
        return at + last
    _, end, first, until = masks[before]
    if at < end:
        return until if last else first
    return at - end + until + last
