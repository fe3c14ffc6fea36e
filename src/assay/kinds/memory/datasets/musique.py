"""MuSiQue: questions of two to four hops, each over twenty paragraphs.

Trivedi et al., "MuSiQue: multihop questions via single-hop question composition", TACL 2022. The file is JSON
lines, or a JSON array, of {id, question, paragraphs: [{idx, title, paragraph_text, is_supporting}],
question_decomposition, answer, answer_aliases, answerable}. Support is marked by paragraph, so that a node is
a paragraph.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec

from assay.core.dataset import Dataset
from assay.core.errors import Problem
from assay.core.protocols import Kit
from assay.core.records import Item
from assay.datasets.public.release import read_release
from assay.kinds.memory.datasets.paragraphs import (
    BenchmarkForm,
    Graph,
    MissingSupport,
    Paragraphs,
    Policy,
    Told,
)

_SHAPE = re.compile(r"(?P<shape>(?P<hops>\d)hop\d*)_")  # how an id begins: 3hop1__…


class _MuSiQueParagraph(msgspec.Struct):
    idx: int
    title: str
    paragraph_text: str
    is_supporting: bool = False


class _MuSiQueQuestion(msgspec.Struct):
    id: str
    question: Annotated[str, msgspec.Meta(min_length=1)]
    paragraphs: Annotated[list[_MuSiQueParagraph], msgspec.Meta(min_length=1)]
    question_decomposition: list[dict[str, Any]] = []
    answer: str | None = None
    answer_aliases: list[str] = []
    answerable: bool = True

    @property
    def item_id(self) -> str:
        """Its id. The full release has each question twice under one: with its answer taken away, too."""
        return self.id if self.answerable else f"{self.id}~unanswerable"

    @property
    def answers(self) -> list[str]:
        return [] if self.answer is None else list(dict.fromkeys([self.answer, *self.answer_aliases]))

    @property
    def tags(self) -> dict[str, str | int | None]:
        found = _SHAPE.match(self.id)
        hops = found["hops"] if found else len(self.question_decomposition) or None
        answerable = "yes" if self.answerable else "no"
        return {"hops": hops, "shape": found["shape"] if found else None, "answerable": answerable}


def _doubled(record: _MuSiQueQuestion) -> list[Problem]:
    numbers = Counter(each.idx for each in record.paragraphs)
    return [
        Problem(f"{times} paragraphs have the idx {number}", field="paragraphs", fix="Give each its own.")
        for number, times in numbers.items()
        if times > 1
    ]


def _item_id_of(record: _MuSiQueQuestion) -> str:
    return record.item_id


@dataclass(frozen=True)
class MuSiQue:
    """MuSiQue's questions, each over its own paragraphs.

    `graph` "links" draws an edge where a paragraph names a title or shares a rare name; "adjacent" draws none
    here, since every paragraph is a document of its own. `policy` says whether all supporting paragraphs must
    be found or any. A question that cannot be answered from its paragraphs expects nothing.
    """

    path: str
    graph: Graph = "links"
    policy: Policy = "all"
    limit: Annotated[int, msgspec.Meta(ge=1)] | None = None

    def load(self, kit: Kit) -> Dataset:
        path = kit.path(self.path)
        form = BenchmarkForm("musique", "paragraph", self.graph, self.policy)
        records = read_release(path, _MuSiQueQuestion, _item_id_of, self.limit, _doubled)
        paragraphs, lost = Paragraphs(form.pack), MissingSupport()
        items = [_item(record, form, paragraphs, lost) for _, record in records]
        places = {record.item_id: place for place, record in records}
        return form.dataset(paragraphs.corpus, items, Told(path, lost.warnings(str(path)), places))


def _item(
    record: _MuSiQueQuestion, form: BenchmarkForm, paragraphs: Paragraphs, lost: MissingSupport
) -> Item:
    nodes: dict[int, str] = {}
    for each in record.paragraphs:
        nodes |= paragraphs.add(each.title, [each.paragraph_text], each.idx).nodes
    scope = list(nodes.values())
    if not record.answerable:
        tags = form.tags(record.tags, "none")
        return Item(record.item_id, record.question, tags=tags, expects="nothing", scope=scope)
    marked = [each for each in record.paragraphs if each.is_supporting]
    found = {f"{each.title!r} {each.idx}": nodes.get(each.idx) for each in marked}
    evidence, held = lost.nodes(record.item_id, found)
    gold = form.evidence(evidence)
    if record.answers:
        gold["answers"] = record.answers
    tags = form.tags(record.tags, held)
    return Item(record.item_id, record.question, tags=tags, gold=gold, scope=scope)
