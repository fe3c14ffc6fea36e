"""2WikiMultiHopQA: questions that follow relations between two or four pages of Wikipedia.

Ho et al., "Constructing a multi-hop QA dataset for comprehensive evaluation of reasoning steps", COLING 2020.
The release has the form of HotpotQA's. Over an open corpus, support is found by title: the supporting facts
name pages, and a node is a whole passage.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import msgspec

from assay.core.dataset import Corpus, Dataset
from assay.core.errors import UsageError
from assay.core.protocols import Kit
from assay.core.records import Item
from assay.datasets.beir import Beir
from assay.datasets.public.release import name_some, read_release
from assay.datasets.reading import FolderReader
from assay.kinds.memory.datasets.hotpotqa import SentenceQuestion, item_id_of
from assay.kinds.memory.datasets.paragraphs import (
    BenchmarkForm,
    Fact,
    Graph,
    Policy,
    Told,
    by_sentence,
    by_title,
)
from assay.kinds.memory.datasets.titles import normalize_title


class _QueryMetadata(msgspec.Struct, frozen=True):
    """What the release says of a question."""

    type: str | None = None
    answer: str | None = None
    supporting_facts: list[Fact] = []


class _TwoWikiQuery(msgspec.Struct):
    item_id: str = msgspec.field(name="_id")
    metadata: _QueryMetadata = _QueryMetadata()


@dataclass(frozen=True)
class TwoWiki:
    """2WikiMultiHopQA's questions, each over its own context or all over an open corpus.

    `path` is the released file, and each question is asked of its own sentences; or, with `corpus`, a file of
    {title, text}, of all of that corpus. Where `path` is a folder in the BEIR layout, the corpus is its own,
    and passages keep its ids, which are those of its qrels. `graph` and `policy` are as in HotpotQA, but that
    passages of an open corpus have no neighbours: there, "adjacent" has no edges.
    """

    path: str
    corpus: str | None = None
    graph: Graph = "links"
    policy: Policy = "all"
    limit: Annotated[int, msgspec.Meta(ge=1)] | None = None

    def load(self, kit: Kit) -> Dataset:
        path = kit.path(self.path)
        if path.is_dir():
            return self._of_folder(kit)
        records = read_release(path, SentenceQuestion, item_id_of, self.limit)
        questions = [(place, record.asked()) for place, record in records]
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
        chosen = plain.items[: self.limit]
        passages = [
            msgspec.structs.replace(each, metadata={**each.metadata, "pack": form.pack})
            for each in plain.corpus.passages
        ]
        corpus = Corpus(passages)
        told = Told(reader.folder, _strange_titles(chosen, about, corpus))
        return form.dataset(corpus, [_item(each, about[each.item_id], form) for each in chosen], told)


def _item(item: Item, about: _QueryMetadata, form: BenchmarkForm) -> Item:
    nodes = [doc_id for doc_id, grade in item.gold["relevant"].items() if grade > 0]
    answers = {} if about.answer is None else {"answers": [about.answer]}
    # what the qrels name is in the corpus, or they would have been refused
    tags = form.tags({"type": about.type, "hops": len(nodes)}, "whole" if nodes else "none")
    return msgspec.structs.replace(item, tags=tags, gold={**form.evidence(nodes), **answers})


def _strange_titles(items: Sequence[Item], about: Mapping[str, _QueryMetadata], corpus: Corpus) -> list[str]:
    """Supporting facts whose title none of the relevant passages has: the qrels count."""
    strange = []
    for item in items:
        marked = [corpus.position[doc_id] for doc_id, grade in item.gold["relevant"].items() if grade > 0]
        known = {normalize_title(corpus.passages[position].title) for position in marked}
        facts = dict.fromkeys(title for title, _ in about[item.item_id].supporting_facts)
        strange += [
            f"{title!r} of {item.item_id!r}" for title in facts if normalize_title(title) not in known
        ]
    if not strange:
        return []
    return [
        f"{len(strange)} titles of supporting facts are none of the relevant passages': {name_some(strange)}"
    ]
