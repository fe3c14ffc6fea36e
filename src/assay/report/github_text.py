"""Text for a comment on GitHub: shown as it is, whatever it holds, and no longer than a comment may be.

No text of a corpus, a query or a study can format the comment, make a link of itself or call anybody. Even
the name of a measure could: `Success(rel=2)@3` holds the name of a user.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from assay.core.results import ItemView
from assay.report import wording as say
from assay.report.markdown import code, escaped, table

MOST = 65_000  # characters. GitHub takes 65,536; whoever posts the comment may add a line
ROWS, ITEMS = (100, 20), (20, 10, 5)  # of a table, and of one whose rows hold texts: as many as have room
NAME, TEXT, SENTENCE = 80, 120, 600  # characters of a name, of a corpus text, of a sentence
JOINER = "\u2060"  # invisible, and no part of any name
# Where GitHub begins to read a name, a number, an address or an emoji: @name, #12, GH-12, ://, www., :tada:
_CALLS = re.compile(
    r"(?<=@)(?=\w)|(?<=#)(?=\d)|(?<=\bgh-)(?=\d)|(?<=:)(?=//)|(?<=\bwww)(?=\.)|(?<=:)(?=[\w+-]+:)",
    re.IGNORECASE,
)


def prose(text: str, limit: int = SENTENCE) -> str:
    """A text on one line that is shown as it is, whatever it holds."""
    return escaped(_CALLS.sub(JOINER, say.shorten(say.printable(text), limit)))


def literal(text: str, limit: int = NAME) -> str:
    """A name as inline code, inside which GitHub reads nothing; as prose where it cannot be code."""
    short = say.shorten(text, limit)
    found = code(short)
    return found if found.startswith("`") else prose(short, limit)


def expected_text(item: ItemView) -> str:
    """What should have come of an item: the best passage that it names, or the route, flag or intent."""
    best = item.expected[0] if item.expected and item.expects is None else None
    if best is None:
        return item.expectation
    return f"{best.target}: {best.text}" if best.text else best.target


def returned_text(item: ItemView, arm: str) -> str:
    """What came of it: why there is no answer, or the route taken and the first hit."""
    if arm in item.faults:
        return f"failed: {item.faults[arm]}"
    took = item.took(arm) if item.expectation else ""
    first = next(iter(item.returned.get(arm, [])), None)
    hit = "nothing" if first is None else f"{first.doc_id}: {first.text}" if first.text else first.doc_id
    return "; ".join(filter(None, [took, hit]))


class CommentPart(NamedTuple):
    """A part of the comment in forms of falling length; `name` is told where there is no room for any."""

    name: str
    forms: Sequence[str]


def fitted(blocks: Sequence[CommentPart]) -> str:
    """The blocks in order, in the longest forms that fit; the first and the last have room before others."""
    room, last = MOST - 2 * SENTENCE, len(blocks) - 1  # the rest is for saying what is left out
    chosen: dict[int, str] = {}
    for place in sorted(range(len(blocks)), key=lambda place: (0 < place < last, place)):
        form = next((form for form in blocks[place].forms if len(form) + 2 <= room), "")
        chosen[place] = form
        room -= len(form) + 2
    absent = [block.name for place, block in enumerate(blocks) if block.forms and not chosen[place]]
    told = f"Too long for a comment, and left out: {', '.join(absent)}. The full report has it all."
    parts = [*(chosen[place] for place in range(last)), prose(told) if absent else "", chosen[last]]
    return "\n\n".join(filter(None, parts))


def tables(
    header: Sequence[str], rows: Sequence[Sequence[str]], texts: int, sizes: Sequence[int] = ROWS, of: int = 0
) -> list[str]:
    """A table in forms with fewer and fewer of its rows; `of` is how many there are, if more than given."""
    total, found = max(of, len(rows)), []
    for size in sizes:
        more = f"\n\n… and {total - size} more." if total > size else ""
        found.append(table(header, rows[:size], texts) + more)
    return list(dict.fromkeys(found)) if rows else []


def folded(summary: str, forms: Sequence[str]) -> list[str]:
    """Forms that open at a click. The summary is HTML."""
    return [f"<details><summary>{summary}</summary>\n\n{form}\n\n</details>" for form in forms]
