"""Links between documents by name: a title that a text has, a rare name that two texts share."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from assay.core.records import Passage
from assay.kinds.memory.systems.graph import UnitLink
from assay.kinds.memory.systems.rule_file import NameRule

_WORD = re.compile(r"\w+")
_ASIDE = re.compile(r"\s*\([^)]*\)\s*$")  # what tells two titles apart is not part of the name
_NAME = re.compile(r"\b[A-Z][\w’'-]+(?:\s+(?:of|the|de|von|van|and|&)\s+[A-Z][\w’'-]+|\s+[A-Z][\w’'-]+)*")
_LONGEST = 8  # words of a title
_SHORTEST = 4  # letters of a name that is one word


def name_links(passages: Sequence[Passage], rule: NameRule) -> list[UnitLink]:
    """Every link by name among some passages, in their order."""
    return [*_by_title(passages, rule), *_by_name(passages, rule)]


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.casefold() for word in _WORD.findall(text))


def _by_title(passages: Sequence[Passage], rule: NameRule) -> Iterator[UnitLink]:
    titles = _titles(passages)
    longest = max(map(len, titles), default=0)
    for position, passage in enumerate(passages):
        words, seen = _words(passage.text), set[int]()
        for start in range(len(words)):
            for length in range(min(longest, len(words) - start), 0, -1):
                target = titles.get(words[start : start + length])
                if target is None or (length == 1 and len(words[start]) < _SHORTEST):
                    continue
                if _apart(passages, position, target) and target not in seen:
                    seen.add(target)
                    reason = f"names {passages[target].title!r}"
                    yield UnitLink(position, target, rule.title_edge, rule.weight, rule=reason)
                break  # a longer title hides the shorter ones that begin where it does


def _titles(passages: Sequence[Passage]) -> dict[tuple[str, ...], int]:
    """The first passage of each title, by its words, and by those before an aside where only one has them."""
    first = {passage.title: position for position, passage in reversed(list(enumerate(passages)))}
    whole, short = dict[tuple[str, ...], list[int]](), dict[tuple[str, ...], list[int]]()
    for title, position in first.items():
        for table, name in ((whole, title), (short, _ASIDE.sub("", title))):
            if words := _words(name)[:_LONGEST]:
                table.setdefault(words, []).append(position)
    return {words: found[0] for words, found in (short | whole).items() if len(found) == 1}


def _by_name(passages: Sequence[Passage], rule: NameRule) -> Iterator[UnitLink]:
    having: dict[str, list[int]] = {}
    for position, passage in enumerate(passages):
        names = {match[0] for match in _NAME.finditer(passage.text) if _tells(match)}
        for name in sorted(names):
            having.setdefault(name, []).append(position)
    for name, positions in having.items():
        if not 2 <= len(positions) <= rule.rarest:
            continue
        for place, other in enumerate(positions):
            for one in positions[:place]:
                if _apart(passages, one, other):
                    yield UnitLink(
                        one, other, rule.name_edge, rule.weight, both_ways=True, rule=f"shares {name!r}"
                    )


def _tells(match: re.Match[str]) -> bool:
    """Whether a run of capitalised words is likely a name: several, or one that does not begin the text."""
    return " " in match[0] or (len(match[0]) >= _SHORTEST and match.start() > 0)


def _apart(passages: Sequence[Passage], one: int, other: int) -> bool:
    """Whether two passages are of different documents: inside one, neighbours are linked already."""
    return (passages[one].source or passages[one].doc_id) != (
        passages[other].source or passages[other].doc_id
    )
