"""Multi-hop questions over paragraphs: what HotpotQA, MuSiQue, 2WikiMultiHopQA and HoVer have in common.

Each question gets a store of its own: its scope names the nodes of the paragraphs it is shown, or it is asked
of a whole corpus. Questions are never joined in one graph. A paragraph that several questions show is kept
once; another text under the same title gets a numbered stem, in the order of the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from assay.core.dataset import Corpus, Dataset, Place
from assay.core.errors import DataError, Problem
from assay.core.records import Document, Item, Passage, Span
from assay.datasets.public.release import name_some, read_release, release_doubts
from assay.kinds.memory.datasets.titles import DocumentStems, normalize_title

Graph = Literal["adjacent", "links"]
Policy = Literal["all", "any"]
Shown = tuple[str, list[str]]  # the title of a paragraph and its sentences
Fact = tuple[str, int]  # a title, and the number of a sentence from 0
Held = Literal["whole", "partial", "none"]  # how much of its support is there

PACKS = {"adjacent": "sentence_chain", "links": "sentence_links"}
UNPROVEN = (
    "whether edges have the right types",
    "whether nodes have the right roles",
    "exceptions and contradictions",
    "whether the path to the evidence is the right one",
    "what a memory learns from earlier questions",
)
_POLICIES = {"all": "every one of them", "any": "at least one of them"}


class Told(NamedTuple):
    """Where items come from, and what is worth knowing about them."""

    path: Path
    warnings: Sequence[str]
    places: Mapping[str, Place] = {}


@dataclass(frozen=True)
class BenchmarkForm:
    """How a benchmark is read: its name, what a node is, which graph is drawn, and when evidence is found."""

    name: str
    unit: str  # sentence, paragraph, passage
    graph: Graph
    policy: Policy

    @property
    def pack(self) -> str:
        return PACKS[self.graph]

    @property
    def labels(self) -> dict[str, str]:
        """What its labels mean."""
        needed = f"found when {_POLICIES[self.policy]} is returned"
        left = "of an item with the tag evidence=partial, those that are left"
        return {
            "relevance": f"1: a {self.unit} that the release gives as support, 0: any other",
            "evidence": f"the supporting {self.unit}s of an item, {left}; {needed} (policy {self.policy!r})",
        }

    def evidence(self, nodes: Iterable[str]) -> dict[str, Any]:
        """The gold of an item that rests on some nodes; without any there is nothing to score."""
        relevant = dict.fromkeys(nodes, 1.0)
        if not relevant:
            return {"relevant": {}}
        return {
            "relevant": relevant,
            "minimum_evidence_matches": len(relevant) if self.policy == "all" else 1,
        }

    def tags(self, own: Mapping[str, str | int | None], held: Held) -> dict[str, list[str]]:
        """The tags of an item: what the release says of it, less what it does not, and how much is there."""
        told = {name: [str(value)] for name, value in own.items() if value not in (None, "")}
        every = {"dataset": self.name, "policy": self.policy, "multi_hop": "yes", "evidence": held}
        return {**told, **{name: [value] for name, value in every.items()}}

    def dataset(self, corpus: Corpus, items: Sequence[Item], told: Told) -> Dataset:
        """The items over their corpus, with what the benchmark can and cannot show."""
        edgeless = self.graph == "adjacent" and self.unit != "sentence"
        bare = f"graph 'adjacent': each {self.unit} is a document of its own, so that no two are linked"
        return Dataset(
            f"{self.name}-{self.graph}",
            corpus,
            items,
            self.labels,
            [*told.warnings, *([bare] if edgeless else [])],
            places=told.places,
            layer="public",
            unproven=(*release_doubts(told.path), *UNPROVEN),
        )


class MultiHopQuestion(NamedTuple):
    """A question as a release gives it. `facts` are its supporting facts."""

    item_id: str
    text: str
    context: Sequence[Shown]
    facts: Sequence[Fact]
    answers: Sequence[str] = ()
    tags: Mapping[str, str | int | None] = {}

    @property
    def titles(self) -> list[str]:
        """The titles that its support stands under."""
        return list(dict.fromkeys(title for title, _ in self.facts))

    @property
    def gold_answers(self) -> dict[str, list[str]]:
        return {"answers": list(self.answers)} if self.answers else {}


# ------------------------------------------------------------------------------------- paragraphs


class Paragraph(NamedTuple):
    """A paragraph as one question shows it: its title, and its nodes by the number of the unit."""

    title: str
    nodes: Mapping[int, str]


class Paragraphs:
    """The different paragraphs of a file, cut into units. A blank unit keeps its number and is no node."""

    def __init__(self, pack: str) -> None:
        self._metadata = {"pack": pack}
        self._stems = DocumentStems()
        self._passages: dict[str, Passage] = {}
        self._documents: dict[str, Document] = {}

    @property
    def corpus(self) -> Corpus:
        return Corpus(list(self._passages.values()), self._documents)

    def add(self, title: str, units: Sequence[str], first: int = 0) -> Paragraph:
        """A paragraph, kept if it is new. Its units are numbered from `first` on."""
        stem = self._stems.of(title, tuple(units))
        texts = {number: text.strip() for number, text in enumerate(units, first) if text.strip()}
        nodes = {number: f"{stem}:{number}" for number in texts}
        if texts and stem not in self._documents:
            self._documents[stem] = Document(stem, " ".join(texts.values()), title)
        at = 0
        for number, text in texts.items():
            doc_id, span = nodes[number], Span(at, at + len(text))
            if doc_id not in self._passages:
                passage = Passage(doc_id, text, title, stem, span, metadata=self._metadata)
                self._passages[doc_id] = passage
            at = span.end + 1
        return Paragraph(title, nodes)


def located(fact: Fact, shown: Sequence[Paragraph]) -> str | None:
    """The node that a supporting fact names: its title as it is written or, failing that, in any spelling."""
    title, number = fact
    name = normalize_title(title)
    same = [each for each in shown if each.title == title]
    alike = same or [each for each in shown if normalize_title(each.title) == name]
    return next((each.nodes[number] for each in alike if number in each.nodes), None)


@dataclass
class MissingSupport:
    """What of a release names nothing. These are known faults of it, which its users cannot mend."""

    facts: list[str] = field(default_factory=list)
    items: list[str] = field(default_factory=list)

    def nodes(self, item_id: str, found: Mapping[str, str | None]) -> tuple[list[str], Held]:
        """The nodes of an item's facts that were found, and whether these are all; what was not is noted."""
        self.facts += [f"{fact} of {item_id!r}" for fact, node in found.items() if node is None]
        nodes = [node for node in found.values() if node is not None]
        if not nodes:
            self.items.append(repr(item_id))
            return nodes, "none"
        return nodes, "whole" if len(nodes) == len(found) else "partial"

    def warnings(self, where: str) -> list[str]:
        found = []
        if self.facts:
            what = f"{len(self.facts)} supporting facts name nothing that is there, and are left out"
            found.append(f"{where}: {what}: {name_some(self.facts)}")
        if self.items:
            found.append(
                f"{where}: {len(self.items)} items have no supporting fact left: {name_some(self.items)}"
            )
        return found


# --------------------------------------------------------------------------------------- datasets


def by_sentence(
    form: BenchmarkForm, questions: Sequence[tuple[Place, MultiHopQuestion]], path: Path
) -> Dataset:
    """Each question over the sentences of the paragraphs that it comes with."""
    _refuse_without_context(questions)
    paragraphs, lost, items = Paragraphs(form.pack), MissingSupport(), []
    for _, each in questions:
        shown = [paragraphs.add(title, sentences) for title, sentences in each.context]
        found = {f"{title!r} {number}": located((title, number), shown) for title, number in each.facts}
        nodes, held = lost.nodes(each.item_id, found)
        scope = list(dict.fromkeys(node for paragraph in shown for node in paragraph.nodes.values()))
        gold = form.evidence(nodes) | each.gold_answers
        items.append(Item(each.item_id, each.text, tags=form.tags(each.tags, held), gold=gold, scope=scope))
    places = {each.item_id: place for place, each in questions}
    return form.dataset(paragraphs.corpus, items, Told(path, lost.warnings(str(path)), places))


def _refuse_without_context(questions: Sequence[tuple[Place, MultiHopQuestion]]) -> None:
    fix = "Use the release that has contexts, or name a corpus where the data set takes one."
    problems = [
        Problem("no sentence is shown with it", *place, field="context", fix=fix)
        for place, each in questions
        if not any(sentence.strip() for _, sentences in each.context for sentence in sentences)
    ]
    if problems:
        raise DataError(problems)


class CorpusPage(msgspec.Struct):
    """A text of an open corpus."""

    title: str
    text: str


def by_title(
    form: BenchmarkForm, questions: Sequence[tuple[Place, MultiHopQuestion]], path: Path, corpus: Path
) -> Dataset:
    """All questions over one open corpus. Support is found by title: each names a passage."""
    paragraphs, as_written, in_any_spelling = Paragraphs(form.pack), dict[str, str](), dict[str, str]()
    doubled: list[str] = []
    for _, page in read_release(corpus, CorpusPage):
        for node in paragraphs.add(page.title, [page.text]).nodes.values():
            if as_written.setdefault(page.title, node) != node:
                doubled.append(page.title)
            in_any_spelling.setdefault(normalize_title(page.title), node)
    lost, items = MissingSupport(), []
    for _, each in questions:
        found = {
            repr(title): as_written.get(title) or in_any_spelling.get(normalize_title(title))
            for title in each.titles
        }
        nodes, held = lost.nodes(each.item_id, found)
        gold = form.evidence(nodes) | each.gold_answers
        items.append(Item(each.item_id, each.text, tags=form.tags(each.tags, held), gold=gold))
    named = {title for _, each in questions for title in each.titles}
    warnings = [*lost.warnings(str(path)), *_ambiguous(sorted(named.intersection(doubled)), corpus)]
    places = {each.item_id: place for place, each in questions}
    return form.dataset(paragraphs.corpus, items, Told(path, warnings, places))


def _ambiguous(titles: Sequence[str], corpus: Path) -> list[str]:
    if not titles:
        return []
    what = f"{len(titles)} titles of supporting facts stand here more than once, and the first counts"
    return [f"{corpus}: {what}: {name_some([repr(title) for title in titles])}"]
