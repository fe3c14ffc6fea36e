"""Merges the content that models were given under both conditions into one neutral text for raters.

The content of both conditions is split into lines of plain text. A line that both conditions contain in the
same or nearly the same words appears once. A line of only one condition appears at its place among the
others. The text does not show which condition a line came from, and does not depend on which condition is
named first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from assay.datasets.markdown_text import markdown_parser, plain_text

SAME = 90.0  # of 100: two lines with this similarity count as the same
SHORT = 12  # characters; a shorter line must be equal to count as the same: "Step 1" is not "Step 2"

_MARKDOWN, _TEXT = {"markdown", "md", "mdx"}, {"text", "txt"}
_READS_AS_MARKDOWN = re.compile(r"\s*(?:# \S|<(?:project|docs?)\b)")  # the beginning of curated texts
_LISTED = re.compile(r"\s*(?:[-*+•|>]|\d+[.)])\s")
_DECORATION = re.compile(r"^\s*(?:[-*+•>#|]+|\d+[.)])\s+|[`*_|]+")
_WIDTH = (45, 100)  # of lines that were broken by hand


class _SourceLine(NamedTuple):
    """A line as it is shown, the words by which it is compared, and whether it begins a paragraph."""

    text: str
    words: str
    begins: bool


def neutral_source(texts: Sequence[tuple[str, str, str]]) -> str:
    """Merges all contents (condition, kind, content) that were given with a question into one text.

    `kind` is the ending of the content's file. `md` is Markdown. A `txt` that begins like Markdown is treated
    as Markdown too. Any other content is treated as plain text. Several contents of one condition follow each
    other.
    """
    sides: dict[str, list[_SourceLine]] = {}
    for condition, kind, content in texts:
        sides.setdefault(condition, []).extend(_lines(kind, content))
    merged: list[_SourceLine] = []
    # The longest first, then by content, so that names and order of the conditions do not matter
    for lines in sorted(sides.values(), key=lambda lines: (-len(lines), lines)):
        merged = _merge(merged, lines) if merged else lines
    return "\n".join(f"\n{line.text}" if line.begins else line.text for line in merged).lstrip("\n")


def _lines(kind: str, content: str) -> Iterator[_SourceLine]:
    kind = kind.lower().lstrip(".")
    if kind in _MARKDOWN or (kind in _TEXT and _READS_AS_MARKDOWN.match(content)):
        content = plain_text(content, markdown_parser()).text
    for paragraph in re.split(r"\n[^\S\n]*\n", content.replace("\r\n", "\n")):
        lines = [line.rstrip() for line in paragraph.split("\n") if line.strip()]
        lines = [" ".join(line.strip() for line in lines)] if _is_wrapped(lines) else lines
        unbroken = any(len(line) > _WIDTH[1] for line in lines)  # then every line is a paragraph
        for number, line in enumerate(lines):
            begins = number == 0 or (unbroken and not _LISTED.match(line) and not line[0].isspace())
            if words := " ".join(_DECORATION.sub(" ", line).casefold().split()):
                yield _SourceLine(line, words, begins)


def _is_wrapped(lines: Sequence[str]) -> bool:
    """Whether the lines are one paragraph that was broken to a width."""
    least, most = _WIDTH
    return (
        len(lines) > 1
        and all(least <= len(line) <= most for line in lines[:-1])
        and len(lines[-1]) <= most
        and not any(map(_LISTED.match, lines))
    )


def _merge(base: list[_SourceLine], other: list[_SourceLine]) -> list[_SourceLine]:
    """Merges the lines of both sides into one order. Of two matching lines, the longer one is taken."""
    ours, theirs = [line.words for line in base], [line.words for line in other]
    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    repeated = _repeated(ours, theirs, matcher)
    found: list[_SourceLine] = []
    for kind, first, last, start, end in matcher.get_opcodes():
        if kind == "equal":
            found += map(_longer, base[first:last], other[start:end])
        else:
            right = [(line, place in repeated) for place, line in enumerate(other[start:end], start)]
            found += _weave(base[first:last], right)
    return found


def _weave(left: Sequence[_SourceLine], right: Sequence[tuple[_SourceLine, bool]]) -> Iterator[_SourceLine]:
    """Merges a stretch on which the sides differ.

    `right` has each line, and whether the left side contains that line too.
    """
    at = 0
    for line in left:
        twins = (
            place for place in range(at, len(right)) if right[place][1] and _alike(line, right[place][0])
        )
        twin = next(twins, None)
        if twin is None:
            yield line
        else:
            yield from (each for each, repeated in right[at:twin] if not repeated)
            yield _longer(line, right[twin][0])
            at = twin + 1
    yield from (each for each, repeated in right[at:] if not repeated)


def _alike(one: _SourceLine, other: _SourceLine) -> bool:
    from rapidfuzz import fuzz

    return fuzz.ratio(one.words, other.words, score_cutoff=SAME) > 0


def _repeated(ours: Sequence[str], theirs: Sequence[str], matcher: SequenceMatcher[str]) -> set[int]:
    """Returns the places of lines of `theirs` that `ours` contains too, nearly equal or at another place."""
    from rapidfuzz import fuzz, process

    equal = {block.b + step for block in matcher.get_matching_blocks() for step in range(block.size)}
    places = [place for place, words in enumerate(theirs) if place not in equal and len(words) >= SHORT]
    known = sorted({words for words in ours if len(words) >= SHORT})
    if not places or not known:
        return set()
    alike = process.cdist([theirs[place] for place in places], known, scorer=fuzz.ratio, score_cutoff=SAME)
    return {place for place, best in zip(places, alike.max(axis=1).tolist(), strict=True) if best}


def _longer(one: _SourceLine, other: _SourceLine) -> _SourceLine:
    return max(one, other, key=lambda line: (len(line.text), line))
