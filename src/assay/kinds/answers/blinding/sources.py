"""What the models were given, as one text for raters that is no condition's own.

Both conditions' contents are taken apart into lines of plain text. What both say, in the same words or
nearly, stands once; what only one says stands at its place among the rest. Nothing shows which line came from
where, and the text is the same whichever condition is named first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from assay.datasets.markdown_text import markdown_parser, plain_text

SAME = 90.0  # of 100: two lines that are as alike say the same
SHORT = 12  # signs of a line that must be equal to count as the same: "Step 1" is not "Step 2"

_MARKDOWN, _TEXT = {"markdown", "md", "mdx"}, {"text", "txt"}
_READS_AS_MARKDOWN = re.compile(r"\s*(?:# \S|<(?:project|docs?)\b)")  # as curated texts begin
_LISTED = re.compile(r"\s*(?:[-*+•|>]|\d+[.)])\s")
_DECORATION = re.compile(r"^\s*(?:[-*+•>#|]+|\d+[.)])\s+|[`*_|]+")
_WIDTH = (45, 100)  # of lines that were broken by hand


class _SourceLine(NamedTuple):
    """A line as it is shown, as it is compared, and whether it begins something."""

    text: str
    said: str
    begins: bool


def neutral_source(texts: Sequence[tuple[str, str, str]]) -> str:
    """One text out of (condition, kind, content) of all contents that a question was asked with.

    `kind` is the ending of the content's file: `md` is Markdown, and so is a `txt` that begins like it; any
    other content is text already. Several contents of one condition follow each other.
    """
    sides: dict[str, list[_SourceLine]] = {}
    for condition, kind, content in texts:
        sides.setdefault(condition, []).extend(_lines(kind, content))
    merged: list[_SourceLine] = []
    # The fullest first, equals by what they say: names and order of the conditions decide nothing
    for lines in sorted(sides.values(), key=lambda lines: (-len(lines), lines)):
        merged = _merged(merged, lines) if merged else lines
    return "\n".join(f"\n{line.text}" if line.begins else line.text for line in merged).lstrip("\n")


# ---------------------------------------------------------------------------------------- lines


def _lines(kind: str, content: str) -> Iterator[_SourceLine]:
    kind = kind.lower().lstrip(".")
    if kind in _MARKDOWN or (kind in _TEXT and _READS_AS_MARKDOWN.match(content)):
        content = plain_text(content, markdown_parser()).text
    for paragraph in re.split(r"\n[^\S\n]*\n", content.replace("\r\n", "\n")):
        lines = [line.rstrip() for line in paragraph.split("\n") if line.strip()]
        lines = [" ".join(line.strip() for line in lines)] if _wrapped(lines) else lines
        unbroken = any(len(line) > _WIDTH[1] for line in lines)  # then every line is a paragraph
        for number, line in enumerate(lines):
            begins = number == 0 or (unbroken and not _LISTED.match(line) and not line[0].isspace())
            if said := " ".join(_DECORATION.sub(" ", line).casefold().split()):
                yield _SourceLine(line, said, begins)


def _wrapped(lines: Sequence[str]) -> bool:
    """Whether lines are one paragraph that was broken to a width."""
    least, most = _WIDTH
    return (
        len(lines) > 1
        and all(least <= len(line) <= most for line in lines[:-1])
        and len(lines[-1]) <= most
        and not any(map(_LISTED.match, lines))
    )


# -------------------------------------------------------------------------------------- merging


def _merged(base: list[_SourceLine], other: list[_SourceLine]) -> list[_SourceLine]:
    """The lines of both in one order, those that say the same once, in the longer form of the two."""
    ours, theirs = [line.said for line in base], [line.said for line in other]
    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    elsewhere = _said_elsewhere(ours, theirs, matcher)
    found: list[_SourceLine] = []
    for kind, first, last, start, end in matcher.get_opcodes():
        if kind == "equal":
            found += map(_fuller, base[first:last], other[start:end])
        else:
            right = [(line, place in elsewhere) for place, line in enumerate(other[start:end], start)]
            found += _woven(base[first:last], right)
    return found


def _woven(left: Sequence[_SourceLine], right: Sequence[tuple[_SourceLine, bool]]) -> Iterator[_SourceLine]:
    """A stretch on which the two differ: near twins once, each of the rest where its own side has it."""
    at = 0
    for line in left:
        twins = (
            place for place in range(at, len(right)) if right[place][1] and _alike(line, right[place][0])
        )
        twin = next(twins, None)
        if twin is None:
            yield line
        else:
            yield from (each for each, elsewhere in right[at:twin] if not elsewhere)
            yield _fuller(line, right[twin][0])
            at = twin + 1
    yield from (each for each, elsewhere in right[at:] if not elsewhere)


def _alike(one: _SourceLine, other: _SourceLine) -> bool:
    from rapidfuzz import fuzz

    return fuzz.ratio(one.said, other.said, score_cutoff=SAME) > 0


def _said_elsewhere(ours: Sequence[str], theirs: Sequence[str], matcher: SequenceMatcher[str]) -> set[int]:
    """The places of their lines that ours say too, nearly or somewhere else."""
    from rapidfuzz import fuzz, process

    equal = {block.b + step for block in matcher.get_matching_blocks() for step in range(block.size)}
    places = [place for place, said in enumerate(theirs) if place not in equal and len(said) >= SHORT]
    known = sorted({said for said in ours if len(said) >= SHORT})
    if not places or not known:
        return set()
    alike = process.cdist([theirs[place] for place in places], known, scorer=fuzz.ratio, score_cutoff=SAME)
    return {place for place, best in zip(places, alike.max(axis=1).tolist(), strict=True) if best}


def _fuller(one: _SourceLine, other: _SourceLine) -> _SourceLine:
    return max(one, other, key=lambda line: (len(line.text), line))
