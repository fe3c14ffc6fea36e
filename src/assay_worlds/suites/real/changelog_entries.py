"""Reads the entries of release notes: the change, its pull request, its author, and a short description."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from assay.core.records import Span
from assay_worlds.sources.source import SourcePage
from assay_worlds.suites.real.question import Unit, unit_at
from assay_worlds.suites.real.value import Passages, with_also

_ENTRY = re.compile(
    r"^- (?P<what>[^\n]+?) \((?:[\w.-]+/[\w.-]+)?(?P<request>#\d{4,}), @(?P<author>[\w-]+)\)"
    r"(?: \[SIG (?P<groups>[^\]\n]+)\])?$",
    re.MULTILINE,
)
_AND = re.compile(r", | and ")
_COMPONENT = re.compile(r"^([\w-]{3,25}): (?=\w)")
_WORD = re.compile(r"[\w./-]*\w")
_CLAUSES = re.compile(
    r",? (?=(?:after|when|whenever|where|which|that|by|so|because|if|unless|due|instead|during|while|using"
    r"|via|but|until|since|without)\b)"
)
_PHRASES = re.compile(r",? (?=(?:from|in|on|for|to|with|and|as|at|into|through)\b)|[,;] ")
_CLAUSE = re.compile(r"[.:!?](?:\s|$)| [–—-]+ | and (?=(?:mark|enable|make|set|add|remove|use|provided?)\b)")
_ASIDE = re.compile(r" \([^()]*\)")
_DANGLING = re.compile(
    r"(?:^|\s)(?:a|an|the|of|in|to|is|are|was|were|be|and|or|not|only|this|its|their|new|support|ability|can|even|"
    r"so|then|also|moves|now|more|that|which|has|have|had|due|(?:to|as) (?:\w+ly )?\w+)$",
    re.IGNORECASE,
)
_VERBS = {
    "fixed": "fix fixes fixed",
    "added": "add adds added",
    "removed": "remove removes removed",
    "promoted": "promote promotes promoted",
    "graduated": "graduate graduates graduated",
    "deprecated": "deprecate deprecates deprecated",
    "introduced": "introduce introduces introduced",
    "enabled": "enable enables enabled",
    "disabled": "disable disables disabled",
    "improved": "improve improves improved",
    "changed": "change changes changed",
    "updated": "update updates updated",
    "renamed": "rename renames renamed",
    "implemented": "implement implements implemented",
    "reduced": "reduce reduces reduced",
    "increased": "increase increases increased",
    "moved": "move moves moved",
    "extended": "extend extends extended",
    "reverted": "revert reverts reverted",
    "migrated": "migrate migrates migrated",
}
_PAST = {form: past for past, forms in _VERBS.items() for form in forms.split()}
_COMMON = frozenset(
    re.findall(
        r"\w+",
        "a an the of in on to for and or is are was were be been with from by that which when where if not no"
        " now can will it its this as at into so bug issue support feature kubernetes",
    )
)
FEWEST = 4  # distinctive words that a description needs


class ChangelogEntry(NamedTuple):
    """One line of release notes that describes a change."""

    page: SourcePage
    span: Span
    what: str
    request: str  # "#97013"
    author: str
    groups: tuple[str, ...]  # special interest groups
    heading: str


class ChangeSummary(NamedTuple):
    """A short description of a change, such as "fixed" and "the volume plugin in kubeadm"."""

    verb: str
    thing: str


def entries(pages: Sequence[SourcePage]) -> Iterator[ChangelogEntry]:
    """Yields the entries that name a pull request and an author, in the order of the pages."""
    for page in pages:
        text = page.document.text
        for section in page.sections:
            for found in _ENTRY.finditer(text, section.span.start, section.span.end):
                groups = tuple(_AND.split(found["groups"])) if found["groups"] else ()
                yield ChangelogEntry(
                    page,
                    Span(*found.span()),
                    found["what"],
                    found["request"],
                    found["author"],
                    groups,
                    section.heading,
                )


def by_request(found: Sequence[ChangelogEntry]) -> dict[str, list[ChangelogEntry]]:
    """Groups entries by pull request. Release notes repeat the entries of their pre-releases."""
    grouped = defaultdict[str, list[ChangelogEntry]](list)
    for entry in found:
        grouped[entry.request].append(entry)
    return grouped


def entry_unit(same: Sequence[ChangelogEntry], passages: Passages) -> Unit | None:
    """Returns the first of several equal entries as evidence, with the others as alternatives."""
    units = [unit for entry in same if (unit := unit_at(entry.page, entry.span, passages))]
    return with_also(units[0], units) if units else None


# ------------------------------------------------------------------------------------ descriptions


def telling(text: str) -> set[str]:
    """Returns the distinctive words of a text."""
    return {word for word in _WORD.findall(text.lower()) if word not in _COMMON and len(word) > 1}


def summarize_change(what: str) -> ChangeSummary | None:
    """Makes a short description of a change from its first clause; None if it would not read well."""
    component = _COMPONENT.match(what)
    first, _, rest = (what[component.end() :] if component else what).partition(" ")
    verb = _PAST.get(first.lower())
    whole = _CLAUSE.split(rest, maxsplit=1)[0]
    sentence = _ASIDE.sub("", whole)
    if verb is None or re.search(r"https?:|\.\.\.|→|#\d", sentence):
        return None
    ends = [cut.start() for cuts in (_PHRASES, _CLAUSES) for cut in cuts.finditer(sentence)]
    dropped = len(what.split()) - len(sentence.split()) > 3
    for end in [len(sentence)] * dropped + ends[::-1]:
        thing = sentence[:end].strip()
        if len(thing.split()) <= 16 and len(telling(thing)) >= FEWEST and not _DANGLING.search(thing):
            if thing.count('"') % 2 or thing.count("(") != thing.count(")") or thing.count("'") % 2:
                continue
            if thing.count(",") > 1:  # a list that may have been cut
                continue
            name = component[1] if component else ""
            where = f" (in {name if name.isupper() else name.lower()})" if name else ""
            where = "" if name.lower() in thing.lower() else where
            return ChangeSummary(verb, thing + where)
    return None


class Rivals:
    """The words of all entries, which show whether a description fits only one pull request."""

    def __init__(self, grouped: Mapping[str, Sequence[ChangelogEntry]]) -> None:
        self._requests = defaultdict[str, set[str]](set)
        for request, same in grouped.items():
            for word in {word for entry in same for word in telling(entry.what)}:
                self._requests[word].add(request)

    def lacks(self, thing: str, request: str, share: float = 0.75) -> bool:
        """Whether no entry of another pull request has at least this share of the description's words."""
        words = telling(thing)
        shared = Counter(other for word in words for other in self._requests[word] if other != request)
        return not shared or max(shared.values()) < share * len(words)
