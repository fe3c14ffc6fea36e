"""How questions on handbooks are worded: which sentences can carry one, and what stands around it."""

from __future__ import annotations

import re
from datetime import date
from random import Random

from assay_worlds.sources.source import Page
from assay_worlds.suites.real.stated import Stated

_SHORTEST, _LONGEST = 7, 32  # words of a sentence that a question is made of
_VAGUE = re.compile(
    r"^(?:[aq]:|it|this|that|these|those|they|he|she|there|such|here|then|however|also|for example|e\.g|ex:"
    r"|note|and|but|or|so|whether|yes|no|same|their|therefore|thus|because|finally|instead|again|if so"
    r"|otherwise|in this|in that|in these|i|my|example)\b",
    re.IGNORECASE,
)
_ODD = re.compile(
    r"[|{}<>\[\]=`\\~^]|https?:|www\.|--|\?|\be\.g|\bi\.e|\b[Ee]xample|\betc\b|TODO|TBD|\.{3}|…|::"
    r"|\s[,.;:](?:\s|$)|\(\s*\)|Jump to|Table of Contents"  # what links leave behind, and pointers
)
TITLE = re.compile(r"[\w(][\w ,.&:'’()/+#-]{3,70}[\w).!]")


def sound(said: str, closed: bool = False) -> bool:
    """Whether a sentence stands on its own and reads as one; `closed`, whether it must end as one too."""
    words = said.split()
    letters = sum(word.strip(".,;:()\"'’“”").replace("-", "").isalpha() for word in words)
    return (
        _SHORTEST <= len(words) <= _LONGEST
        and said[0].isupper()
        and (said[-1] in ".!)" or (not closed and said[-1].isalnum()))
        and said.count("(") == said.count(")")
        and said.count('"') % 2 == 0
        and letters >= 0.75 * len(words)
        and not _VAGUE.match(said)
        and not _ODD.search(said)
    )


def named(page: Page) -> str | None:
    """The page's name as a question can use it; None where a reader could not tell it from a fragment."""
    name = str(page.document.metadata["page"])
    return name if TITLE.fullmatch(name) and not name.lower().endswith("readme") else None


def handbook(page: Page) -> str:
    return str(page.document.metadata["handbook"])


def as_of(page: Page) -> str:
    """The day from which a page says what it says, as people write a month: "April 2022"."""
    return spoken(str(page.document.metadata["as_of"]))


def spoken(day: str) -> str:
    return f"{date.fromisoformat(day):%B %Y}"


def page_of(page: Page) -> str:
    """A page as a question names it."""
    return f'the "{named(page)}" page of the {handbook(page)}'


def place(stated: Stated, rng: Random) -> str:
    """Where a sentence stands, for the opening of a question."""
    where, heading = page_of(stated.page), stated.heading
    if heading and heading != named(stated.page) and TITLE.fullmatch(heading) and rng.random() < 0.5:
        return f'the section "{heading}" on {where}'
    return where
