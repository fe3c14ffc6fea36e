"""Makes questions on release notes: which pull request, author, group, release or version."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations
from random import Random
from typing import NamedTuple

from assay.core.records import Span
from assay.datasets.evidence import AGGREGATION, OUT_OF_KB
from assay_worlds.sources.source import SourcePage
from assay_worlds.suites.real.changelog_entries import (
    ChangelogEntry,
    ChangeSummary,
    Rivals,
    by_request,
    entries,
    entry_unit,
    summarize_change,
)
from assay_worlds.suites.real.question import LONG, QuestionDraft, Unit, characters, shuffled, some, unit_at
from assay_worlds.suites.real.value import Passages, with_also

_MOVED = re.compile(r"^- (?P<name>[\w./-]+): (?P<old>v?[\w.+-]+) → (?P<new>v?[\w.+-]+)$", re.MULTILINE)
_USER = re.compile(r"@[\w-]+")
_BUILT_WITH_GO = "Kubernetes"  # whose notes say with which Go version a release is built
_PATCH = re.compile(r"v(\d+)\.(\d+)\.(\d+)")


class ReleaseNotes(NamedTuple):
    """The pages of release notes, their entries by pull request, and their passages."""

    pages: Sequence[SourcePage]
    grouped: dict[str, list[ChangelogEntry]]
    passages: Passages

    def product(self, page: SourcePage) -> str:
        """Returns the product of a page's pull requests.

        The notes of a client list pull requests of the main product.
        """
        own = str(page.document.metadata["product"])
        every = {str(each.document.metadata["product"]) for each in self.pages}
        return min((each for each in every if f"{own} ".startswith(f"{each} ")), key=len)


def questions(pages: Sequence[SourcePage], passages: Passages, rng: Random) -> Iterator[QuestionDraft]:
    """Makes questions that one line, two lines or very many lines of release notes answer."""
    notes = ReleaseNotes(pages, by_request(list(entries(pages))), passages)
    yield from some(_which_request(notes, rng))
    yield from some(_which_release(notes, rng))
    yield from some(_dependency_moved(notes, rng))
    yield from some(_dependency_in_two(notes, rng))
    yield from some(_shared_group(notes, rng))
    yield from some(_other_of_author(notes, rng))
    yield from some(_all_of_group(notes, rng))
    yield from some(_release_not_there(notes, rng))


# ------------------------------------------------------------------------------------- one entry


def _which_request(notes: ReleaseNotes, rng: Random) -> Iterator[QuestionDraft]:
    """Asks for the number, the author or the group of a described change. The three take turns."""
    turns = Counter[str]()
    for same, thing in _distinct_requests(notes, rng):
        unit = entry_unit(same, notes.passages)
        if unit is None or len({entry.author for entry in same}) > 1:
            continue
        change, first = f"{thing.verb} {thing.thing}", same[0]
        group = first.groups[0] if len(first.groups) == 1 and _stable(same) else ""
        asked = {
            "changelog_request": (f"Which {notes.product(first.page)} pull request {change}?", first.request),
            "changelog_author": (f"Which GitHub user {change}?", f"@{first.author}"),
        }
        if group and group.lower() not in change.lower():
            text = f"Which special interest group (SIG) is named for the change that {change}?"
            asked["changelog_group"] = (text, f"SIG {group}")
        kind = min(asked, key=lambda each: turns[each])
        text, answer = asked[kind]
        if answer.strip("@").lower() not in text.lower():
            turns[kind] += 1
            yield QuestionDraft(text, answer, [unit], ("single_branch", "detail"), kind)


def _distinct_requests(
    notes: ReleaseNotes, rng: Random
) -> Iterator[tuple[list[ChangelogEntry], ChangeSummary]]:
    """Yields pull requests with a description that fits no other pull request."""
    rivals = Rivals(notes.grouped)
    for request, same in shuffled(notes.grouped.items(), rng):
        thing = summarize_change(same[0].what)
        if thing and rivals.lacks(thing.thing, request):
            yield same, thing


def _which_release(notes: ReleaseNotes, rng: Random) -> Iterator[QuestionDraft]:
    """Asks for the only release that lists a change."""
    for same, thing in _distinct_requests(notes, rng):
        entry = same[0]
        unit = entry_unit(same, notes.passages)
        version = str(entry.page.document.metadata["version"])
        release = _release_unit(entry.page, notes.passages)
        if len(same) > 1 or unit is None or release is None or version in thing.thing:
            continue
        if sum(f"{entry.request}," in page.document.text for page in notes.pages) > 1:
            continue  # another release lists it in a form that is not read as an entry
        product = entry.page.document.metadata["product"]
        text = f"The notes of which {product} release list the change that {thing.verb} {thing.thing}?"
        yield QuestionDraft(text, version, [unit, release], ("detail", "temporal"), "changelog_release")


def _release_unit(page: SourcePage, passages: Passages) -> Unit | None:
    """Returns the page's title as evidence of the release, with the headings as alternatives."""
    document = page.document
    sign = re.escape(f"({document.metadata['version']})")
    lines = [Span(0, len(document.title))]
    lines += [Span(*found.span()) for found in re.finditer(rf"^.+ {sign}$", document.text, re.MULTILINE)]
    units = [unit for line in lines if (unit := unit_at(page, line, passages))]
    return with_also(units[0], units) if units else None


# ----------------------------------------------------------------------------------- dependencies


class _VersionMove(NamedTuple):
    page: SourcePage
    span: Span
    name: str
    old: str
    new: str


def _moves(notes: ReleaseNotes) -> Iterator[_VersionMove]:
    for page in notes.pages:
        for found in _MOVED.finditer(page.document.text):
            yield _VersionMove(page, Span(*found.span()), found["name"], found["old"], found["new"])


def _dependency_moved(notes: ReleaseNotes, rng: Random) -> Iterator[QuestionDraft]:
    """Asks to which version a dependency moved from a given version, if all entries agree."""
    grouped = defaultdict[tuple[str, str], list[_VersionMove]](list)
    for move in _moves(notes):
        grouped[move.name, move.old].append(move)
    for (name, old), same in shuffled(grouped.items(), rng):
        units = [unit for move in same if (unit := unit_at(move.page, move.span, notes.passages))]
        if len({move.new for move in same}) == 1 and units and "." in old:
            unit = with_also(units[0], units)
            product = notes.product(same[0].page)
            text = f"To which version did {product} move its dependency {name} from {old}?"
            if same[0].new in text:
                continue
            yield QuestionDraft(text, same[0].new, [unit], ("detail", "temporal"), "changelog_dependency")


def _dependency_in_two(notes: ReleaseNotes, rng: Random) -> Iterator[QuestionDraft]:
    """Asks to which versions two final releases moved the same dependency."""
    grouped = defaultdict[str, dict[str, _VersionMove]](dict)
    for move in _moves(notes):
        if _PATCH.fullmatch(version := str(move.page.document.metadata["version"])):
            grouped[move.name].setdefault(version, move)
    for name, found in shuffled(grouped.items(), rng):
        for one, two in combinations(found.values(), 2):
            units = [
                unit
                for move in (one, two)
                for unit in (
                    unit_at(move.page, move.span, notes.passages),
                    _release_unit(move.page, notes.passages),
                )
                if unit
            ]
            if len(units) == 4 and one.new != two.new:
                titles = [move.page.document.title.removesuffix(" release notes") for move in (one, two)]
                text = f"To which version was {name} moved in {titles[0]}, and to which in {titles[1]}?"
                tags = ("comparative", "temporal", "two_hop")
                yield QuestionDraft(text, [one.new, two.new], units, tags, "changelog_two_releases")


# ------------------------------------------------------------------------------------ two entries


def _shared_group(notes: ReleaseNotes, rng: Random) -> Iterator[QuestionDraft]:
    """Asks for the only group that two pull requests share."""
    several = [same for same in notes.grouped.values() if _stable(same) and 2 <= len(same[0].groups) <= 3]
    mixed = shuffled(several, rng)
    for one, two in zip(mixed[::2], mixed[1::2], strict=False):
        common = set(one[0].groups) & set(two[0].groups)
        units = [unit for same in (one, two) if (unit := entry_unit(same, notes.passages))]
        product = notes.product(one[0].page)
        if len(common) == 1 and len(units) == 2 and notes.product(two[0].page) == product:
            numbers = f"{one[0].request} and {two[0].request}"
            text = f"Which special interest group is named for both {product} pull requests {numbers}?"
            tags = ("comparative", "two_hop", "entity_spanning", "detail")
            yield QuestionDraft(text, f"SIG {common.pop()}", units, tags, "changelog_shared_group")


def _stable(same: Sequence[ChangelogEntry]) -> bool:
    return len({(entry.author, entry.groups) for entry in same}) == 1


def _other_of_author(notes: ReleaseNotes, rng: Random) -> Iterator[QuestionDraft]:
    """Asks for the other pull request of an author with exactly two pull requests."""
    grouped = defaultdict[str, list[list[ChangelogEntry]]](list)
    for same in notes.grouped.values():
        grouped[same[0].author].append(same)
    named = Counter(_USER.findall("\n".join(page.document.text for page in notes.pages)))
    for pair in shuffled((pair for pair in grouped.values() if len(pair) == 2), rng):
        one, two = shuffled(pair, rng)
        units = [unit for same in (one, two) if (unit := entry_unit(same, notes.passages))]
        all_read = named[f"@{one[0].author}"] == len(one) + len(two)
        if len(units) == 2 and _stable(one) and _stable(two) and all_read:
            text = (
                f"The author of {notes.product(one[0].page)} pull request {one[0].request} has one other"
                " in the release notes: what is its number?"
            )
            tags = ("two_hop", "entity_spanning", "detail")
            yield QuestionDraft(text, two[0].request, units, tags, "changelog_same_author")


# ------------------------------------------------------------------------------------- impossible


def _all_of_group(notes: ReleaseNotes, rng: Random) -> Iterator[QuestionDraft]:
    """Asks for all changes of one kind by a group in a release. They are too many for a small context."""
    grouped = defaultdict[tuple[str, str, str], list[ChangelogEntry]](list)
    for same in notes.grouped.values():
        for entry in same:
            for group in entry.groups:
                kind = entry.heading.rpartition(" > ")[2]
                grouped[entry.page.document.doc_id, kind, group].append(entry)
    for (_, kind, group), found in shuffled(grouped.items(), rng):
        once = by_request(found)
        units = [unit for same in once.values() if (unit := entry_unit(same, notes.passages))]
        if characters(units) >= LONG and len(units) == len(once) and _all_read(found, kind, group):
            release = found[0].page.document.title.removesuffix(" release notes")
            text = (
                f"List every change of SIG {group} that {release} has under “{kind}”, with its pull request."
            )
            yield QuestionDraft(text, sorted(once), units, ("aggregation",), "changelog_list", AGGREGATION)


def _all_read(found: Sequence[ChangelogEntry], kind: str, group: str) -> bool:
    """Whether every line of a kind that names a group was read as an entry."""
    page = found[0].page
    spans = [section.span for section in page.sections if section.heading.rpartition(" > ")[2] == kind]
    named = re.compile(rf"\bSIG [^\]\n]*\b{re.escape(group)}\b")
    lines = [line for span in spans for line in page.document.text[span.start : span.end].split("\n")]
    return sum(bool(named.search(line)) for line in lines) == len(found)


def _release_not_there(notes: ReleaseNotes, rng: Random) -> Iterator[QuestionDraft]:
    """Asks for patch releases that the notes neither contain nor mention."""
    told = "\n".join(page.document.text for page in notes.pages)
    product = notes.pages[0].document.metadata["product"] if notes.pages else ""
    own = [page.document.metadata for page in notes.pages if page.document.metadata["product"] == product]
    versions = [str(metadata["version"]) for metadata in own]
    lines = sorted({(int(found[1]), int(found[2])) for each in versions if (found := _PATCH.match(each))})
    if not lines:
        return
    major, lowest, highest = lines[0][0], lines[0][1], max(minor for _, minor in lines)
    absent = [
        f"v{major}.{minor}.{patch}" for minor in range(lowest - 2, highest + 3) for patch in range(2, 10)
    ]
    asked = [
        "Which bugs were fixed in {product} {version}?",
        *(["Which Go version is {product} {version} built with?"] if product == _BUILT_WITH_GO else []),
        "Which dependencies did {product} {version} move to newer versions?",
        "Which pull requests went into the patch release {product} {version}?",
    ]
    for number, version in enumerate(shuffled(absent, rng)):
        if version[1:] not in told:
            text = asked[number % len(asked)].format(product=product, version=version)
            yield QuestionDraft(text, "", [], ("out_of_distribution",), "changelog_absent", OUT_OF_KB)
