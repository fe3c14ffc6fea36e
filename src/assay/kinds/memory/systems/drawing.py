"""Drawing the graph of some passages by the rules of a pack: roles, weights, and links with their reasons."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from assay.core.records import Passage
from assay.kinds.memory.systems.conflicts import Statement, find_conflicts
from assay.kinds.memory.systems.graph import Ints, Traits, UnitLink
from assay.kinds.memory.systems.names import name_links
from assay.kinds.memory.systems.overlap import closest, shared_before
from assay.kinds.memory.systems.rule_file import ConflictRule, LinkRule, PackRules, WordList
from assay.retrieval.words import stems_of


@dataclass(frozen=True)
class RuleGraph:
    """The passages of one pack, and what its rules make of them."""

    passages: Sequence[Passage]
    rules: PackRules

    @cached_property
    def stems(self) -> list[frozenset[str]]:
        """The content words of each passage, stemmed."""
        return [
            frozenset(words) for words in stems_of([p.text for p in self.passages], self.rules.stop_words)
        ]

    @cached_property
    def documents(self) -> list[list[int]]:
        """The positions of each document's passages, in order."""
        found: dict[str, list[int]] = {}
        for position, passage in enumerate(self.passages):
            found.setdefault(passage.source or passage.doc_id, []).append(position)
        return list(found.values())

    # ----------------------------------------------------------------------------- nodes

    def traits(self) -> Traits:
        rules, texts = self.rules, [passage.text for passage in self.passages]
        roles = [next((each for each in rules.roles if each.found(text)), None) for text in texts]
        parts = {
            name: np.array([each.high if each.found(text) else each.low for text in texts])
            for name, each in rules.weights.items()
        }
        weight = np.full(len(texts), rules.confidence * _left(rules))
        for name, values in parts.items():
            weight = weight + rules.weights[name].part * values
        strong = [parts[name] >= rules.striking for name in ("risk", "novelty") if name in parts]
        return Traits(
            [rules.otherwise if each is None else each.role for each in roles],
            np.clip(weight, 0.0, 1.0),
            np.logical_or.reduce(strong) if strong else np.zeros(len(texts), dtype=bool),
            np.array([0.0 if each is None else each.bonus for each in roles]),
        )

    # ----------------------------------------------------------------------------- links

    def links(self) -> list[UnitLink]:
        found: list[UnitLink] = []
        for document in self.documents:
            found += self._following(document)
            found += self._references(document)
        for document in self._amended():
            found += self._backwards(document)
            if self.rules.conflicts is not None:
                found += self._conflicts(document, self.rules.conflicts)
        if self.rules.names is not None:
            found += name_links(self.passages, self.rules.names)
        return found

    def _amended(self) -> list[list[int]]:
        """The documents, each with what amends it after it."""
        if not self.rules.amendments:
            return self.documents
        ending = re.compile(
            rf"[_-](?:{'|'.join(map(re.escape, self.rules.amendments))})[_-]?\w*$", re.IGNORECASE
        )
        found: dict[str, list[int]] = {}
        sources = [self.passages[document[0]].source or "" for document in self.documents]
        for source, document in sorted(
            zip(sources, self.documents, strict=True), key=lambda each: len(each[0])
        ):
            main = ending.sub("", source)
            found.setdefault(main if main in sources else source, []).extend(document)
        return list(found.values())

    def _following(self, document: Sequence[int]) -> Iterator[UnitLink]:
        rule = self.rules.following
        for one, other in pairwise(document):
            same = rule.within == "source" or self._group(one) == self._group(other)
            kind = rule.edge if same else rule.across
            if kind is not None:
                yield UnitLink(
                    one, other, kind, rule.weight, both_ways=True, rule=f"stands next in its {rule.within}"
                )

    def _group(self, position: int) -> object:
        """The part of a document that a unit stands in: its session, or its section."""
        passage = self.passages[position]
        return passage.metadata.get("session", passage.section)

    def _backwards(self, document: Sequence[int]) -> Iterator[UnitLink]:
        """The edges from units to what their words make them depend on, or except them from.

        That is what a unit names by number, or else the units before it that it shares most with.
        """
        for place, shared in enumerate(shared_before([self.stems[position] for position in document])):
            position, linked = document[place], set[int]()
            for rule in self.rules.links:
                word = rule.found(self.passages[position].text)
                if word is None:
                    continue
                for target, why in self._named[position] or _antecedents(document, shared, rule):
                    if rule.once and target in linked:
                        continue
                    linked.add(target)
                    reason = f"{word.lower()!r}, and {why}"
                    yield UnitLink(position, target, rule.edge, rule.weight, rule.both_ways, reason)

    @cached_property
    def _named(self) -> list[list[tuple[int, str]]]:
        """For each unit, the others of its document that it names by number, and how it does."""
        rule = self.rules.references
        named: list[list[tuple[int, str]]] = [[] for _ in self.passages]
        if rule is None:
            return named
        words = "|".join(re.escape(word) for word in rule.words)
        pattern = re.compile(rf"(?<!\w)(?:{words})s?\s*(\d+(?:\.\d+)*)", re.IGNORECASE)
        for document in self.documents:
            of = {self.passages[position].doc_id.rpartition(":")[2]: position for position in document}
            for position in document:
                found = {
                    of[match[1]]: match[0]
                    for match in pattern.finditer(self.passages[position].text)
                    if match[1] in of
                }
                named[position] = [
                    (at, f"names {said.lower()!r}") for at, said in found.items() if at != position
                ]
        return named

    def _references(self, document: Sequence[int]) -> Iterator[UnitLink]:
        rule = self.rules.references
        if rule is not None:
            for position in document:
                for target, why in self._named[position]:
                    yield UnitLink(position, target, rule.edge, rule.weight, rule=why)

    def _conflicts(self, document: Sequence[int], rule: ConflictRule) -> Iterator[UnitLink]:
        condition = self.rules.links[0] if self.rules.links else WordList([])
        units = [
            Statement.of(text, self.stems[position], rule, condition.found(text) is not None)
            for position, text in ((position, self.passages[position].text) for position in document)
        ]
        for later, earlier, why in find_conflicts(units, rule):
            yield UnitLink(
                document[later], document[earlier], rule.edge, rule.weight, both_ways=True, rule=why
            )


def _antecedents(document: Sequence[int], shared: Ints, rule: LinkRule) -> Iterator[tuple[int, str]]:
    """The units before one that it shares enough with, and more than half as much as with the closest."""
    enough = np.flatnonzero((shared >= rule.shared) & (2 * shared > int(shared.max(initial=0))))
    for place in closest(shared, enough, rule.most):
        yield document[place], f"{shared[place]} content words shared"


def _left(rules: PackRules) -> float:
    """The part of a weight that is left for confidence."""
    return max(0.0, 1.0 - sum(each.part for each in rules.weights.values()))
