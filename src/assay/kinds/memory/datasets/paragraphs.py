"""Multi-hop questions over paragraphs: what HotpotQA, MuSiQue, 2WikiMultiHopQA and HoVer have in common.

Either all questions are asked of one corpus, or the scope of each question names the nodes of the paragraphs
that come with it. The graphs of different questions are never joined. A paragraph that comes with several
questions is kept once. Another text under the same title gets a numbered stem, in file order.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from assay.core.dataset import Corpus, Dataset, Place
from assay.core.errors import DataError, Problem
from assay.core.records import Document, Item, Passage, Span
from assay.datasets.public.release import name_some, read_release, release_doubts

Graph = Literal["adjacent", "links"]
Policy = Literal["all", "any"]
TitledSentences = tuple[str, list[str]]  # the title of a paragraph and its sentences
Fact = tuple[str, int]  # a title, and the number of a sentence from 0
SupportShare = Literal["whole", "partial", "none"]  # how much of a question's support was found

PACKS = {"adjacent": "sentence_chain", "links": "sentence_links"}
UNPROVEN = (
    "whether edges have the right types",
    "whether nodes have the right roles",
    "exceptions and contradictions",
    "whether the path to the evidence is the right one",
    "what a memory learns from earlier questions",
)
UNTITLED = "untitled"
_POLICIES = {"all": "every one of them", "any": "at least one of them"}
_SYMBOLS = frozenset({"Sm", "Sc", "So"})  # signs that make titles different, as in C++ and C

# ----------------------------------------------------------------------------------------- titles


def normalize_title(title: str) -> str:
    """Returns the title in one spelling: letters unified, case folded, words joined by underscores.

    Compatible forms of a letter become one letter. Punctuation and space of any length separate words. A
    title of only punctuation keeps the punctuation, so that it does not become empty.
    """
    folded = "".join(sign for sign in title if unicodedata.category(sign) != "Cf")
    for _ in range(2):  # folding can make new work for composing, and the other way round
        folded = unicodedata.normalize("NFKC", folded).casefold()
    folded = unicodedata.normalize("NFKC", folded)
    words = "".join(sign if _is_in_word(sign) else " " for sign in folded).split()
    signs = folded.replace(":", " ").split()  # a colon separates stem and number
    return "_".join(words or signs) or UNTITLED


def _is_in_word(sign: str) -> bool:
    category = unicodedata.category(sign)
    return category[0] in "LMN" or category in _SYMBOLS


class DocumentStems:
    """The stems of texts: the normalised title, with a number from the second text of a title on.

    No normalised title with letters or digits contains the # before the number, so all stems are different.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[str, tuple[str, ...]], str] = {}
        self._texts: Counter[str] = Counter()

    def of(self, title: str, units: tuple[str, ...]) -> str:
        name = normalize_title(title)
        if (name, units) not in self._known:
            self._texts[name] += 1
            number = self._texts[name]
            self._known[name, units] = name if number == 1 else f"{name}#{number}"
        return self._known[name, units]


# ------------------------------------------------------------------------------------- benchmarks


@dataclass(frozen=True)
class BenchmarkForm:
    """How a benchmark is read: its name, what a node is, which graph is drawn, when evidence is found."""

    name: str
    unit: str  # sentence, paragraph, passage
    graph: Graph
    policy: Policy

    @property
    def pack(self) -> str:
        return PACKS[self.graph]

    def evidence(self, nodes: Iterable[str], answers: Sequence[str] = ()) -> dict[str, Any]:
        """Returns the gold of an item whose evidence is these nodes.

        Without nodes there is nothing to score.
        """
        gold: dict[str, Any] = {"relevant": dict.fromkeys(nodes, 1.0)}
        if found := len(gold["relevant"]):
            gold["minimum_evidence_matches"] = found if self.policy == "all" else 1
        return gold | ({"answers": list(answers)} if answers else {})

    def tags(self, own: Mapping[str, str | int | None], support: SupportShare) -> dict[str, list[str]]:
        """Returns the tags of an item: the tags of the release that have a value, and further tags.

        `support` says how much of the item's support was found.
        """
        found = {name: [str(value)] for name, value in own.items() if value not in (None, "")}
        every = {"dataset": self.name, "policy": self.policy, "multi_hop": "yes", "evidence": support}
        return {**found, **{name: [value] for name, value in every.items()}}

    def dataset(
        self,
        corpus: Corpus,
        items: Sequence[Item],
        path: Path,
        warnings: Sequence[str],
        places: Mapping[str, Place] | None = None,
    ) -> Dataset:
        """Returns the items over their corpus, with what the benchmark cannot prove."""
        needed = f"found when {_POLICIES[self.policy]} is returned"
        left = "of an item with the tag evidence=partial, those that are left"
        labels = {
            "relevance": f"1: a {self.unit} that the release gives as support, 0: any other",
            "evidence": f"the supporting {self.unit}s of an item, {left}; {needed} (policy {self.policy!r})",
        }
        edgeless = self.graph == "adjacent" and self.unit != "sentence"
        bare = f"graph 'adjacent': each {self.unit} is a document of its own, so that no two are linked"
        return Dataset(
            f"{self.name}-{self.graph}",
            corpus,
            items,
            labels,
            [*warnings, *([bare] if edgeless else [])],
            places=places or {},
            layer="public",
            unproven=(*release_doubts(path), *UNPROVEN),
        )


class MultiHopQuestion(NamedTuple):
    """A question of a release. `facts` are its supporting facts."""

    item_id: str
    text: str
    context: Sequence[TitledSentences]
    facts: Sequence[Fact]
    answers: Sequence[str] = ()
    tags: Mapping[str, str | int | None] = {}


# ------------------------------------------------------------------------------------- paragraphs


class Paragraph(NamedTuple):
    """A paragraph of one question: its title, and its nodes by the number of the unit."""

    title: str
    nodes: Mapping[int, str]


class Paragraphs:
    """The different paragraphs of a file, cut into units. A blank unit keeps its number but gets no node."""

    def __init__(self, pack: str) -> None:
        self._metadata = {"pack": pack}
        self._stems = DocumentStems()
        self._passages: dict[str, Passage] = {}
        self._documents: dict[str, Document] = {}

    @property
    def corpus(self) -> Corpus:
        return Corpus(list(self._passages.values()), self._documents)

    def add(self, title: str, units: Sequence[str], first: int = 0) -> Paragraph:
        """Adds a paragraph if it is new, and returns it. Its units are numbered from `first` on."""
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


@dataclass
class MissingSupport:
    """The supporting facts that name nothing.

    These faults are in the release, and users cannot repair them.
    """

    facts: list[str] = field(default_factory=list)
    items: list[str] = field(default_factory=list)

    def nodes(self, item_id: str, found: Mapping[str, str | None]) -> tuple[list[str], SupportShare]:
        """Returns the nodes that were found, and whether all, some or none were found.

        `found` has the node of each fact. Facts without a node are remembered for the warnings.
        """
        self.facts += [f"{fact} of {item_id!r}" for fact, node in found.items() if node is None]
        nodes = [node for node in found.values() if node is not None]
        if not nodes:
            self.items.append(repr(item_id))
            return nodes, "none"
        return nodes, "whole" if len(nodes) == len(found) else "partial"

    def warnings(self, where: Path) -> list[str]:
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
    """Returns a dataset in which each question is asked of the sentences of its own paragraphs."""
    fix = "Use the release that has contexts, or name a corpus if the data set takes one."
    problems = [
        Problem("no sentence is shown with it", *place, field="context", fix=fix)
        for place, each in questions
        if not any(sentence.strip() for _, sentences in each.context for sentence in sentences)
    ]
    if problems:
        raise DataError(problems)
    paragraphs, missing, items = Paragraphs(form.pack), MissingSupport(), []
    for _, each in questions:
        context = [paragraphs.add(title, sentences) for title, sentences in each.context]
        found = {f"{title!r} {number}": _node_of((title, number), context) for title, number in each.facts}
        nodes, support = missing.nodes(each.item_id, found)
        scope = list(dict.fromkeys(node for paragraph in context for node in paragraph.nodes.values()))
        gold, tags = form.evidence(nodes, each.answers), form.tags(each.tags, support)
        items.append(Item(each.item_id, each.text, tags=tags, gold=gold, scope=scope))
    places = {each.item_id: place for place, each in questions}
    return form.dataset(paragraphs.corpus, items, path, missing.warnings(path), places)


def _node_of(fact: Fact, context: Sequence[Paragraph]) -> str | None:
    """Returns the node that a supporting fact names; None if there is none.

    A paragraph with exactly the title of the fact is preferred. Otherwise the spelling of titles does not
    matter.
    """
    title, number = fact
    name = normalize_title(title)
    same = [each for each in context if each.title == title]
    alike = same or [each for each in context if normalize_title(each.title) == name]
    return next((each.nodes[number] for each in alike if number in each.nodes), None)


class CorpusPage(msgspec.Struct):
    """A page of an open corpus."""

    title: str
    text: str


def by_title(
    form: BenchmarkForm, questions: Sequence[tuple[Place, MultiHopQuestion]], path: Path, corpus: Path
) -> Dataset:
    """Returns a dataset in which all questions are asked of one open corpus.

    The title of a supporting fact names a passage of the corpus.
    """
    paragraphs, as_written, in_any_spelling = Paragraphs(form.pack), dict[str, str](), dict[str, str]()
    doubled: list[str] = []
    for _, page in read_release(corpus, CorpusPage):
        for node in paragraphs.add(page.title, [page.text]).nodes.values():
            if as_written.setdefault(page.title, node) != node:
                doubled.append(page.title)
            in_any_spelling.setdefault(normalize_title(page.title), node)
    missing, items, named = MissingSupport(), [], set[str]()
    for _, each in questions:
        titles = dict.fromkeys(title for title, _ in each.facts)
        named.update(titles)
        found = {
            repr(title): as_written.get(title) or in_any_spelling.get(normalize_title(title))
            for title in titles
        }
        nodes, support = missing.nodes(each.item_id, found)
        gold, tags = form.evidence(nodes, each.answers), form.tags(each.tags, support)
        items.append(Item(each.item_id, each.text, tags=tags, gold=gold))
    warnings = missing.warnings(path)
    if ambiguous := sorted(named.intersection(doubled)):
        what = f"{len(ambiguous)} titles of supporting facts are here more than once, and the first counts"
        warnings.append(f"{corpus}: {what}: {name_some([repr(title) for title in ambiguous])}")
    places = {each.item_id: place for place, each in questions}
    return form.dataset(paragraphs.corpus, items, path, warnings, places)
