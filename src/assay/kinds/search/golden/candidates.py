"""Queries that people found unhelpful again and again, as candidates for the golden set.

Wordings of one query are put together: the same but for case, blanks and quotes, then those whose content
words are nearly the same. The most frequent wording leads. What the golden set has already is listed, not
proposed. A person fills in what a candidate expects and signs it (`accepted_by`); only then is it taken in.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from assay.core.errors import DataError, UsageError
from assay.kinds.search.datasets.anchor_text import normal
from assay.kinds.search.golden.content_words import NEAR, ContentWords
from assay.kinds.search.golden.feedback import Feedback, read_feedback
from assay.kinds.search.golden.opening import GoldenStudy
from assay.store.disk import write_atomic

SCHEMA = "assay/golden-candidates/1"
# an address, or so many digits that they may be a telephone number
_PERSONAL = re.compile(r"\S@\S|(?:\d[\s().-]{0,2}){7,}")
_BLANK: dict[str, Any] = {
    "category": "",
    "expected_passages": [],
    "expected_routing": "",
    "retrieval_intent": "",
    "expected_flags": [],
    "themes": [],
    "notes": "",
    "accepted_by": "",
}


@dataclass
class _Group:
    """Every vote on one query, by wording."""

    wordings: Counter[str] = field(default_factory=Counter)
    unhelpful: int = 0
    helpful: int = 0
    times: list[datetime] = field(default_factory=list)

    def take(self, vote: Feedback) -> None:
        self.wordings[vote.query] += 1
        self.helpful += vote.helpful
        self.unhelpful += not vote.helpful
        self.times.append(vote.time)

    def join(self, other: _Group) -> None:
        self.wordings += other.wordings
        self.unhelpful += other.unhelpful
        self.helpful += other.helpful
        self.times += other.times

    @property
    def query(self) -> str:
        """The most frequent wording; of equals the first in the alphabet."""
        return min(self.wordings, key=lambda each: (-self.wordings[each], each))


class Seen(msgspec.Struct, frozen=True):
    """How often and when a query was voted on, and its other wordings."""

    unhelpful: int
    helpful: int
    first: str
    last: str
    wordings: list[str]


class Proposal(msgspec.Struct, frozen=True):
    """A query of the feedback; `covered_by` is the item that has it already, if one has."""

    query: str
    language: str
    seen: Seen
    covered_by: str = ""

    def to_fill(self) -> dict[str, Any]:
        """As it stands in the file of candidates, with the fields a person fills in."""
        return {"id": "", "query": self.query, "language": self.language, **_BLANK, "seen": self.seen}


@dataclass(frozen=True)
class Proposed:
    """What the feedback proposes, what is covered already, and how many wordings were left out."""

    candidates: list[Proposal]
    covered: list[Proposal]
    personal: int  # wordings that hold an address or a long number


def find_candidates(opened: GoldenStudy, path: Path, least: int = 3) -> Proposed:
    """Queries with at least `least` unhelpful votes, and more of them than helpful ones."""
    votes = read_feedback(path)
    sets = opened.golden.read(opened.study.kit)
    if sets.problems:
        raise DataError(sets.problems)
    fit = [vote for vote in votes if not _PERSONAL.search(vote.query)]
    personal = len({vote.query for vote in votes} - {vote.query for vote in fit})
    words = ContentWords(opened.golden.books(opened.study.kit))
    by_language: dict[str, list[Feedback]] = {}
    for vote in fit:
        by_language.setdefault(vote.language, []).append(vote)
    known: dict[str, dict[str, str]] = {}
    for _, _, entry in sets.entries():
        known.setdefault(entry.language, {}).setdefault(words.key(entry.language, entry.query), entry.id)
    proposals = []
    for language in sorted(by_language):
        groups = _merged(_alike_but_for_case(by_language[language]), language, words)
        found = [_proposal(each, language) for each in groups if _unhelpful(each, least)]
        found.sort(key=lambda each: (-each.seen.unhelpful, each.query))
        proposals += [_covered(each, known.get(language, {}), words) for each in found]
    return Proposed(
        [each for each in proposals if not each.covered_by],
        [each for each in proposals if each.covered_by],
        personal,
    )


def _unhelpful(group: _Group, least: int) -> bool:
    return group.unhelpful >= least and group.unhelpful > group.helpful


def _alike_but_for_case(votes: Iterable[Feedback]) -> list[_Group]:
    groups: dict[str, _Group] = {}
    for vote in votes:
        groups.setdefault(normal(vote.query), _Group()).take(vote)
    return sorted(groups.values(), key=lambda group: (-group.wordings.total(), group.query))


def _merged(groups: list[_Group], language: str, words: ContentWords) -> list[_Group]:
    """Each group with the first before it that is nearly the same, most frequent first."""
    leads: dict[str, _Group] = {}
    for group in groups:
        key = words.key(language, group.query)
        lead = _nearest(key, leads)
        if lead is None:
            leads[key] = group
        else:
            leads[lead].join(group)
    return list(leads.values())


def _nearest(key: str, known: Mapping[str, Any]) -> str | None:
    from rapidfuzz import fuzz, process

    if key in known:
        return key
    found = process.extractOne(key, known.keys(), scorer=fuzz.ratio, score_cutoff=NEAR)
    return None if found is None else str(found[0])


def _proposal(group: _Group, language: str) -> Proposal:
    first, last = (when(group.times).date().isoformat() for when in (min, max))
    others = [wording for wording, _ in group.wordings.most_common() if wording != group.query]
    return Proposal(group.query, language, Seen(group.unhelpful, group.helpful, first, last, others))


def _covered(proposal: Proposal, known: Mapping[str, str], words: ContentWords) -> Proposal:
    for wording in (proposal.query, *proposal.seen.wordings):
        if (key := _nearest(words.key(proposal.language, wording), known)) is not None:
            return msgspec.structs.replace(proposal, covered_by=known[key])
    return proposal


def write_candidates(found: Proposed, folder: Path, out: Path | None = None) -> list[Path]:
    """Writes candidates-LANGUAGE.json into a folder, or all of them to one file; none is overwritten."""
    by_file: dict[Path, list[Proposal]] = {}
    for each in found.candidates:
        by_file.setdefault(out or folder / f"candidates-{each.language}.json", []).append(each)
    if there := [str(path) for path in by_file if path.exists()]:
        fix = "Somebody may have worked on it: move it away, or name another with --out."
        raise UsageError(f"{', '.join(there)} is there already. {fix}")
    for path, candidates in by_file.items():
        write_file(path, [each.to_fill() for each in candidates])
    return list(by_file)


def write_file(path: Path, candidates: list[dict[str, Any]]) -> None:
    """A file of candidates, for a person to fill in."""
    content = {"schema": SCHEMA, "candidates": candidates}
    data = msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n"
    write_atomic(path, lambda target: target.write_bytes(data))
