"""Multi-hop questions of published benchmarks: HotpotQA, 2WikiMultiHopQA, HoVer and MuSiQue."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec

from assay.core.dataset import Corpus, Dataset
from assay.core.errors import Problem, UsageError
from assay.core.protocols import Kit
from assay.core.records import Item
from assay.datasets.beir import Beir
from assay.datasets.public.release import name_some, read_release
from assay.datasets.reading import FolderReader
from assay.kinds.memory.datasets.paragraphs import (
    BenchmarkForm,
    Fact,
    Graph,
    MissingSupport,
    MultiHopQuestion,
    Paragraphs,
    Policy,
    TitledSentences,
    by_sentence,
    by_title,
    normalize_title,
)

Text = Annotated[str, msgspec.Meta(min_length=1)]
Limit = Annotated[int, msgspec.Meta(ge=1)] | None
_SHAPE = re.compile(r"(?P<shape>(?P<hops>\d)hop\d*)_")  # how an id of MuSiQue begins: 3hop1__…


class _SentenceQuestion(msgspec.Struct):
    """A question with paragraphs of sentences, as HotpotQA and 2WikiMultiHopQA release it."""

    item_id: str = msgspec.field(name="_id")
    question: Text
    supporting_facts: list[Fact]
    context: list[TitledSentences] = []
    answer: str | None = None
    type: str | None = None
    level: str | None = None

    def common(self) -> MultiHopQuestion:
        # a hop is a title that has supporting facts
        hops = len({title for title, _ in self.supporting_facts})
        tags = {"type": self.type, "level": self.level, "hops": hops}
        answers = [] if self.answer is None else [self.answer]
        return MultiHopQuestion(
            self.item_id, self.question, self.context, self.supporting_facts, answers, tags
        )


@dataclass(frozen=True)
class HotpotQA:
    """HotpotQA's questions in the distractor setting, each over the sentences of its own context.

    `graph` is "adjacent" or "links". "adjacent" draws edges only between neighbouring sentences of one title.
    "links" also draws edges by titles and names. `policy` says whether all supporting sentences must be found
    or any of them.

    The file is a JSON array of {_id, question, answer, type, level, context, supporting_facts}. A context is
    a list of [title, [sentence, …]]. A supporting fact is [title, number of the sentence from 0].

    Yang et al., "HotpotQA: a dataset for diverse, explainable multi-hop question answering", EMNLP 2018.
    """

    path: str
    graph: Graph = "adjacent"
    policy: Policy = "all"
    limit: Limit = None

    def load(self, kit: Kit) -> Dataset:
        path = kit.path(self.path)
        records = read_release(path, _SentenceQuestion, lambda record: record.item_id, self.limit)
        form = BenchmarkForm("hotpotqa", "sentence", self.graph, self.policy)
        return by_sentence(form, [(place, record.common()) for place, record in records], path)


# -------------------------------------------------------------------------------------------- HoVer


class _Claim(msgspec.Struct):
    uid: str
    claim: Text
    supporting_facts: list[Fact]
    label: Literal["SUPPORTED", "NOT_SUPPORTED"] | None = None
    num_hops: int | None = None
    context: list[TitledSentences] = []

    def common(self) -> MultiHopQuestion:
        tags = {"label": (self.label or "").lower(), "hops": self.num_hops}
        return MultiHopQuestion(self.uid, self.claim, self.context, self.supporting_facts, tags=tags)


@dataclass(frozen=True)
class Hover:
    """HoVer's claims over a corpus of {title, text} or, without a corpus, each over its own context.

    The evidence is what the release lists, for supported and for unsupported claims. `graph` and `policy` are
    as in HotpotQA. Over a corpus, nodes are whole passages, and "adjacent" has no edges.

    The file is a JSON array of {uid, claim, supporting_facts: [[title, number of the sentence]], label,
    num_hops, hpqa_id}. The release has no texts. They come from a corpus, or from a `context` in each claim.

    Jiang et al., "HoVer: a dataset for many-hop fact extraction and claim verification", Findings of EMNLP
    2020.
    """

    path: str
    corpus: str | None = None
    graph: Graph = "links"
    policy: Policy = "all"
    limit: Limit = None

    def load(self, kit: Kit) -> Dataset:
        path = kit.path(self.path)
        records = read_release(path, _Claim, lambda record: record.uid, self.limit)
        claims = [(place, record.common()) for place, record in records]
        if self.corpus is None:
            return by_sentence(BenchmarkForm("hover", "sentence", self.graph, self.policy), claims, path)
        form = BenchmarkForm("hover", "passage", self.graph, self.policy)
        return by_title(form, claims, path, kit.path(self.corpus))


# ---------------------------------------------------------------------------------- 2WikiMultiHopQA


class _QueryMetadata(msgspec.Struct, frozen=True):
    """The metadata that a BEIR folder of 2WikiMultiHopQA has for a question."""

    type: str | None = None
    answer: str | None = None
    supporting_facts: list[Fact] = []


class _TwoWikiQuery(msgspec.Struct):
    item_id: str = msgspec.field(name="_id")
    metadata: _QueryMetadata = _QueryMetadata()


@dataclass(frozen=True)
class TwoWiki:
    """2WikiMultiHopQA's questions, each over its own context or all over an open corpus.

    `path` is the released file, which has the form of HotpotQA's file. Without `corpus`, each question is
    asked of the sentences in its own context. With `corpus`, a file of {title, text}, each question is asked
    of the whole corpus; supporting facts then name pages, and a node is a whole passage. If `path` is a
    folder in the BEIR layout, the folder has its own corpus, and passages keep the ids that its qrels use.

    `graph` and `policy` are as in HotpotQA. But passages of an open corpus have no neighbours, so "adjacent"
    has no edges there.

    Ho et al., "Constructing a multi-hop QA dataset for comprehensive evaluation of reasoning steps", COLING
    2020.
    """

    path: str
    corpus: str | None = None
    graph: Graph = "links"
    policy: Policy = "all"
    limit: Limit = None

    def load(self, kit: Kit) -> Dataset:
        path = kit.path(self.path)
        if path.is_dir():
            return self._of_folder(kit)
        records = read_release(path, _SentenceQuestion, lambda record: record.item_id, self.limit)
        questions = [(place, record.common()) for place, record in records]
        if self.corpus is not None:
            return by_title(self._form("passage"), questions, path, kit.path(self.corpus))
        return by_sentence(self._form("sentence"), questions, path)

    def _form(self, unit: str) -> BenchmarkForm:
        return BenchmarkForm("2wikimultihopqa", unit, self.graph, self.policy)

    def _of_folder(self, kit: Kit) -> Dataset:
        if self.corpus is not None:
            raise UsageError("corpus: the folder that path names has one of its own. Leave corpus out.")
        plain, form = Beir(self.path).load(kit), self._form("passage")
        reader = FolderReader(kit.path(self.path))
        decode = msgspec.json.Decoder(_TwoWikiQuery).decode
        queries = reader.jsonl(reader.need("queries.jsonl"), decode, key="item_id")
        reader.finish()
        about = {query.item_id: query.metadata for query in queries.records}
        corpus = Corpus(
            [
                msgspec.structs.replace(each, metadata={**each.metadata, "pack": form.pack})
                for each in plain.corpus.passages
            ]
        )
        items = []
        for item in plain.items[: self.limit]:
            nodes, own = _relevant(item), about[item.item_id]
            # the qrels only name passages of the corpus, or they would have been refused
            tags = form.tags({"type": own.type, "hops": len(nodes)}, "whole" if nodes else "none")
            gold = form.evidence(nodes, [] if own.answer is None else [own.answer])
            items.append(msgspec.structs.replace(item, tags=tags, gold=gold))
        return form.dataset(corpus, items, reader.folder, _title_warnings(items, about, corpus))


def _relevant(item: Item) -> list[str]:
    return [doc_id for doc_id, grade in item.gold["relevant"].items() if grade > 0]


def _title_warnings(items: Sequence[Item], about: Mapping[str, _QueryMetadata], corpus: Corpus) -> list[str]:
    """Warns of supporting facts whose title no relevant passage has.

    Only the qrels decide what is relevant.
    """
    strange = []
    for item in items:
        marked = [corpus.passages[corpus.position[doc_id]] for doc_id in _relevant(item)]
        known = {normalize_title(passage.title) for passage in marked}
        facts = dict.fromkeys(title for title, _ in about[item.item_id].supporting_facts)
        strange += [
            f"{title!r} of {item.item_id!r}" for title in facts if normalize_title(title) not in known
        ]
    if not strange:
        return []
    return [
        f"{len(strange)} titles of supporting facts are none of the relevant passages': {name_some(strange)}"
    ]


# ------------------------------------------------------------------------------------------ MuSiQue


class _MuSiQueParagraph(msgspec.Struct):
    idx: int
    title: str
    paragraph_text: str
    is_supporting: bool = False


class _MuSiQueQuestion(msgspec.Struct):
    id: str
    question: Text
    paragraphs: Annotated[list[_MuSiQueParagraph], msgspec.Meta(min_length=1)]
    question_decomposition: list[dict[str, Any]] = []
    answer: str | None = None
    answer_aliases: list[str] = []
    answerable: bool = True

    @property
    def item_id(self) -> str:
        """The id of the question. A question that cannot be answered gets the ending "~unanswerable".

        The full release has each question twice under one id: as it is, and with its answer removed.
        """
        return self.id if self.answerable else f"{self.id}~unanswerable"

    def problems(self) -> list[Problem]:
        numbers = Counter(each.idx for each in self.paragraphs)
        return [
            Problem(f"{times} paragraphs have the idx {number}", field="paragraphs", fix="Give each its own.")
            for number, times in numbers.items()
            if times > 1
        ]

    def item(self, form: BenchmarkForm, paragraphs: Paragraphs, missing: MissingSupport) -> Item:
        nodes: dict[int, str] = {}
        for each in self.paragraphs:
            nodes |= paragraphs.add(each.title, [each.paragraph_text], each.idx).nodes
        found = _SHAPE.match(self.id)
        own = {
            "hops": found["hops"] if found else len(self.question_decomposition) or None,
            "shape": found["shape"] if found else None,
            "answerable": "yes" if self.answerable else "no",
        }
        scope = list(nodes.values())
        if not self.answerable:
            tags = form.tags(own, "none")
            return Item(self.item_id, self.question, tags=tags, expects="nothing", scope=scope)
        marked = {
            f"{each.title!r} {each.idx}": nodes.get(each.idx)
            for each in self.paragraphs
            if each.is_supporting
        }
        evidence, support = missing.nodes(self.item_id, marked)
        answers = [] if self.answer is None else list(dict.fromkeys([self.answer, *self.answer_aliases]))
        gold, tags = form.evidence(evidence, answers), form.tags(own, support)
        return Item(self.item_id, self.question, tags=tags, gold=gold, scope=scope)


@dataclass(frozen=True)
class MuSiQue:
    """MuSiQue's questions, each over its own paragraphs, twenty in the release.

    With `graph` "links", there is an edge if a paragraph names a title or shares a rare name. With
    "adjacent", there are no edges, because every paragraph is a document of its own. `policy` says whether
    all supporting paragraphs must be found or any of them. If a question cannot be answered from its
    paragraphs, its item expects nothing.

    The file is JSON lines, or a JSON array, of {id, question, paragraphs: [{idx, title, paragraph_text,
    is_supporting}], question_decomposition, answer, answer_aliases, answerable}. Support is marked by
    paragraph, so a node is a paragraph.

    Trivedi et al., "MuSiQue: multihop questions via single-hop question composition", TACL 2022.
    """

    path: str
    graph: Graph = "links"
    policy: Policy = "all"
    limit: Limit = None

    def load(self, kit: Kit) -> Dataset:
        path = kit.path(self.path)
        form = BenchmarkForm("musique", "paragraph", self.graph, self.policy)
        records = read_release(
            path, _MuSiQueQuestion, lambda record: record.item_id, self.limit, _MuSiQueQuestion.problems
        )
        paragraphs, missing = Paragraphs(form.pack), MissingSupport()
        items = [record.item(form, paragraphs, missing) for _, record in records]
        places = {record.item_id: place for place, record in records}
        return form.dataset(paragraphs.corpus, items, path, missing.warnings(path), places)
