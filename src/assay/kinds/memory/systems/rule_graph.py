"""The graph that the rules of a pack draw over passages: roles, weights, and links with their reasons."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_array

from assay.core.records import Passage
from assay.kinds.memory.systems.graph import Ints, Traits, UnitLink
from assay.kinds.memory.systems.pack_rules import ConflictRule, LinkRule, NameRule, PackRules
from assay.retrieval.words import content_stems

_ROWS = 256  # how many units are compared with all others in one step
_NUMBER = re.compile(r"(\d+(?:[.,:]\d+)*)(?:\s*(%|\w+))?")
_WORD = re.compile(r"\w+")
_ASIDE = re.compile(r"\s*\([^)]*\)\s*$")  # a final "(…)" is not part of the name
_NAME = re.compile(r"\b[A-Z][\w’'-]+(?:\s+(?:of|the|de|von|van|and|&)\s+[A-Z][\w’'-]+|\s+[A-Z][\w’'-]+)*")
_LONGEST = 8  # the most words of a title that count
_SHORTEST = 4  # the fewest letters of a name that is one word


@dataclass(frozen=True)
class RuleGraph:
    """The graph that the rules of a pack draw over passages. A node is a position in the list of passages."""

    passages: Sequence[Passage]
    rules: PackRules

    @cached_property
    def documents(self) -> list[list[int]]:
        """The positions of the passages of each document, in order."""
        found: dict[str, list[int]] = {}
        for position, passage in enumerate(self.passages):
            found.setdefault(_document_of(passage), []).append(position)
        return list(found.values())

    def traits(self) -> Traits:
        rules, texts = self.rules, [passage.text for passage in self.passages]
        roles = [next((each for each in rules.roles if each.found(text)), None) for text in texts]
        parts = {
            name: np.array([each.high if each.found(text) else each.low for text in texts])
            for name, each in rules.weights.items()
        }
        rest = max(0.0, 1.0 - sum(each.part for each in rules.weights.values()))
        weight = np.full(len(texts), rules.confidence * rest)
        for name, values in parts.items():
            weight = weight + rules.weights[name].part * values
        strong = [parts[name] >= rules.striking for name in ("risk", "novelty") if name in parts]
        return Traits(
            [rules.otherwise if each is None else each.role for each in roles],
            np.clip(weight, 0.0, 1.0),
            np.logical_or.reduce(strong) if strong else np.zeros(len(texts), dtype=bool),
            np.array([0.0 if each is None else each.bonus for each in roles]),
        )

    def links(self) -> list[UnitLink]:
        found: list[UnitLink] = []
        for document in self.documents:
            found += self._link_neighbours(document)
            found += self._link_references(document)
        for document in self._amended_documents():
            found += self._link_antecedents(document)
            if self.rules.conflicts is not None:
                found += self._link_conflicts(document, self.rules.conflicts)
        if self.rules.names is not None:
            found += _link_titles(self.passages, self.rules.names)
            found += _link_shared_names(self.passages, self.rules.names)
        return found

    def _amended_documents(self) -> list[list[int]]:
        """Returns the positions of each document, followed by those of the documents that amend it."""
        if not self.rules.amendments:
            return self.documents
        words = "|".join(map(re.escape, self.rules.amendments))
        ending = re.compile(rf"[_-](?:{words})[_-]?\w*$", re.IGNORECASE)
        found: dict[str, list[int]] = {}
        sources = [self.passages[document[0]].source or "" for document in self.documents]
        pairs = zip(sources, self.documents, strict=True)
        for source, document in sorted(pairs, key=lambda each: len(each[0])):
            main = ending.sub("", source)
            found.setdefault(main if main in sources else source, []).extend(document)
        return list(found.values())

    def _link_neighbours(self, document: Sequence[int]) -> Iterator[UnitLink]:
        rule, why = self.rules.following, f"stands next in its {self.rules.following.within}"
        for one, other in pairwise(document):
            same = rule.within == "source" or self._section(one) == self._section(other)
            if (kind := rule.edge if same else rule.across) is not None:
                yield UnitLink(one, other, kind, rule.weight, both_ways=True, rule=why)

    def _section(self, position: int) -> object:
        """Returns the session of a dialogue, or the section of a document, in which a unit is."""
        passage = self.passages[position]
        return passage.metadata.get("session", passage.section)

    @cached_property
    def _stems(self) -> list[frozenset[str]]:
        """The stemmed content words of each passage."""
        texts = [passage.text for passage in self.passages]
        return [frozenset(words) for words in content_stems(texts, self.rules.stop_words)]

    def _link_antecedents(self, document: Sequence[int]) -> Iterator[UnitLink]:
        """Yields the links of units that have a word such as "if" or "unless".

        The links lead to the units that the text names by number. If the text names none, they lead to the
        earlier units that share most words with it.
        """
        if not self.rules.links:
            return
        for place, shared in enumerate(_words_shared([self._stems[position] for position in document])):
            position, linked = document[place], set[int]()
            for rule in self.rules.links:
                word = rule.found(self.passages[position].text)
                if word is None:
                    continue
                for target, why in self._named_units[position] or _antecedents(document, shared, rule):
                    if rule.once and target in linked:
                        continue
                    linked.add(target)
                    reason = f"{word.lower()!r}, and {why}"
                    yield UnitLink(position, target, rule.edge, rule.weight, rule.both_ways, reason)

    @cached_property
    def _named_units(self) -> list[list[tuple[int, str]]]:
        """For each unit, the other units of its document that its text names by number, with the reason."""
        rule = self.rules.references
        named: list[list[tuple[int, str]]] = [[] for _ in self.passages]
        if rule is None:
            return named
        words = "|".join(re.escape(word) for word in rule.words)
        pattern = re.compile(rf"(?<!\w)(?:{words})s?\s*(\d+(?:\.\d+)*)", re.IGNORECASE)
        for document in self.documents:
            of = {self.passages[position].doc_id.rpartition(":")[2]: position for position in document}
            for position in document:
                matches = pattern.finditer(self.passages[position].text)
                found = {of[match[1]]: match[0] for match in matches if match[1] in of}
                named[position] = [
                    (at, f"names {words.lower()!r}") for at, words in found.items() if at != position
                ]
        return named

    def _link_references(self, document: Sequence[int]) -> Iterator[UnitLink]:
        if (rule := self.rules.references) is not None:
            for position in document:
                for target, why in self._named_units[position]:
                    yield UnitLink(position, target, rule.edge, rule.weight, rule=why)

    def _link_conflicts(self, document: Sequence[int], rule: ConflictRule) -> Iterator[UnitLink]:
        condition = self.rules.links[0] if self.rules.links else None
        units = []
        for position in document:
            text = self.passages[position].text
            conditional = condition is not None and condition.found(text) is not None
            units.append(Statement.of(text, self._stems[position], rule, conditional))
        sizes = np.array([len(unit.words) for unit in units])
        for later, shared in enumerate(_words_shared([unit.words for unit in units])):
            smaller = np.minimum(sizes[:later], sizes[later])
            near = np.flatnonzero((shared >= rule.shared) & (shared >= rule.share * smaller))
            for earlier in _closest(shared, near, rule.most):
                if why := units[later].disagrees(units[earlier]):
                    ends = document[later], document[earlier]
                    yield UnitLink(*ends, rule.edge, rule.weight, both_ways=True, rule=why)


def _document_of(passage: Passage) -> str:
    return passage.source or passage.doc_id


# --------------------------------------------------------------------------------- words in common


def _words_shared(words: Sequence[Set[str]]) -> Iterator[Ints]:
    """Yields for each unit in turn the number of words that it shares with each earlier unit."""
    number: dict[str, int] = {}
    columns = [number.setdefault(word, len(number)) for own in words for word in own]
    ends = np.cumsum([0, *(len(own) for own in words)])
    having = csr_array((np.ones(len(columns), np.int64), columns, ends), shape=(len(words), len(number)))
    for start in range(0, len(words), _ROWS):
        rows = (having[start : start + _ROWS] @ having.T).toarray()
        for place, row in enumerate(rows, start):
            yield row[:place]


def _closest(shared: Ints, places: Ints, most: int) -> list[int]:
    """Chooses the `most` places that share most words, the nearer of equal ones; returns them in order."""
    chosen: list[int] = places[np.lexsort((-places, -shared[places]))][:most].tolist()
    return sorted(chosen)


def _antecedents(document: Sequence[int], shared: Ints, rule: LinkRule) -> Iterator[tuple[int, str]]:
    """Yields earlier units that share enough words, and more than half as many as the closest unit shares."""
    enough = np.flatnonzero((shared >= rule.shared) & (2 * shared > int(shared.max(initial=0))))
    for place in _closest(shared, enough, rule.most):
        yield document[place], f"{shared[place]} content words shared"


# -------------------------------------------------------------------------------------- conflicts


@dataclass(frozen=True)
class Statement:
    """The parts of a unit that can contradict another unit."""

    words: frozenset[str]  # its content words without its numbers
    numbers: dict[str, frozenset[str]]  # by the thing that they count
    negation: str | None
    conditional: bool

    @classmethod
    def of(cls, text: str, stems: frozenset[str], rule: ConflictRule, conditional: bool) -> Statement:
        numbers: dict[str, set[str]] = {}
        digits: set[str] = set()
        for number, what in _NUMBER.findall(text):
            numbers.setdefault(what.lower().removesuffix("s"), set()).add(number)
            digits.update(re.split(r"[.,:]", number))
        counted = {what: frozenset(each) for what, each in numbers.items()}
        return cls(stems - digits, counted, rule.negation_words.found(text), conditional)

    def disagrees(self, other: Statement) -> str | None:
        """Returns in words why the unit contradicts an earlier one; None if it does not."""
        for what in sorted(self.numbers.keys() & other.numbers.keys()):
            mine, theirs = self.numbers[what], other.numbers[what]
            if mine.isdisjoint(theirs):
                here, there = (", ".join(sorted(each)) for each in (mine, theirs))
                return f"says {here} where the other says {there}{f' ({what})' if what else ''}"
        both = self.conditional and other.conditional  # the two cases of one question
        if (self.negation is None) == (other.negation is None) or both:
            return None
        return f"only one of the two says {self.negation or other.negation!r}"


# ------------------------------------------------------------------------------ names and titles


def _link_titles(passages: Sequence[Passage], rule: NameRule) -> Iterator[UnitLink]:
    """Yields a link from each passage to the first passage of every other document whose title it has."""
    titles = _unique_titles(passages)
    longest = max(map(len, titles), default=0)
    for position, passage in enumerate(passages):
        words, seen = _casefolded(passage.text), set[int]()
        for start in range(len(words)):
            for length in range(min(longest, len(words) - start), 0, -1):
                target = titles.get(words[start : start + length])
                if target is None or (length == 1 and len(words[start]) < _SHORTEST):
                    continue
                # passages of one document are neighbours, and need no link by name
                if _document_of(passage) != _document_of(passages[target]) and target not in seen:
                    seen.add(target)
                    why = f"names {passages[target].title!r}"
                    yield UnitLink(position, target, rule.title_edge, rule.weight, rule=why)
                break  # a longer title hides the shorter ones that begin at the same word


def _unique_titles(passages: Sequence[Passage]) -> dict[tuple[str, ...], int]:
    """Returns the first passage of each title, by the words of the title, with and without a final "(…)".

    If several titles have the same words, these words are left out.
    """
    first = {passage.title: position for position, passage in reversed(list(enumerate(passages)))}
    whole, short = dict[tuple[str, ...], list[int]](), dict[tuple[str, ...], list[int]]()
    for title, position in first.items():
        for table, name in ((whole, title), (short, _ASIDE.sub("", title))):
            if words := _casefolded(name)[:_LONGEST]:
                table.setdefault(words, []).append(position)
    return {words: found[0] for words, found in (short | whole).items() if len(found) == 1}


def _casefolded(text: str) -> tuple[str, ...]:
    return tuple(word.casefold() for word in _WORD.findall(text))


def _link_shared_names(passages: Sequence[Passage], rule: NameRule) -> Iterator[UnitLink]:
    """Yields a link between any two passages of different documents that have the same rare name."""
    having: dict[str, list[int]] = {}
    for position, passage in enumerate(passages):
        for name in sorted({match[0] for match in _NAME.finditer(passage.text) if _is_name(match)}):
            having.setdefault(name, []).append(position)
    for name, positions in having.items():
        if 2 <= len(positions) <= rule.rarest:
            pairs = ((one, other) for place, other in enumerate(positions) for one in positions[:place])
            for one, other in pairs:
                if _document_of(passages[one]) != _document_of(passages[other]):
                    why = f"shares {name!r}"
                    yield UnitLink(one, other, rule.name_edge, rule.weight, both_ways=True, rule=why)


def _is_name(match: re.Match[str]) -> bool:
    """Whether capitalised words are likely a name: several words, or a long word inside the text."""
    return " " in match[0] or (len(match[0]) >= _SHORTEST and match.start() > 0)
