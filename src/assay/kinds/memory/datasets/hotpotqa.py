"""HotpotQA in its distractor form: questions over two paragraphs or more, shown among others.

Yang et al., "HotpotQA: a dataset for diverse, explainable multi-hop question answering", EMNLP 2018. The file
is a JSON array of {_id, question, answer, type, level, context, supporting_facts}: a context is a list of
[title, [sentence, …]], and supporting facts are [title, number of the sentence from 0].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import msgspec

from assay.core.dataset import Dataset
from assay.core.protocols import Kit
from assay.datasets.public.release import read_release
from assay.kinds.memory.datasets.paragraphs import (
    BenchmarkForm,
    Fact,
    Graph,
    MultiHopQuestion,
    Policy,
    Shown,
    by_sentence,
)


class SentenceQuestion(msgspec.Struct):
    """A question with sentences by paragraph, as HotpotQA and 2WikiMultiHopQA release it."""

    item_id: str = msgspec.field(name="_id")
    question: Annotated[str, msgspec.Meta(min_length=1)]
    supporting_facts: list[Fact]
    context: list[Shown] = []
    answer: str | None = None
    type: str | None = None
    level: str | None = None

    def asked(self) -> MultiHopQuestion:
        """What all such benchmarks have in common. A hop is a title that holds support."""
        tags = {
            "type": self.type,
            "level": self.level,
            "hops": len({title for title, _ in self.supporting_facts}),
        }
        answers = [] if self.answer is None else [self.answer]
        return MultiHopQuestion(
            self.item_id, self.question, self.context, self.supporting_facts, answers, tags
        )


def item_id_of(record: SentenceQuestion) -> str:
    """What no two questions may share."""
    return record.item_id


@dataclass(frozen=True)
class HotpotQA:
    """HotpotQA's questions, each over the sentences of its own context.

    `graph` is "adjacent" (edges between neighbouring sentences of one title, and no others) or "links" (those
    and what titles and names make). `policy` says whether all supporting sentences must be found or any.
    """

    path: str
    graph: Graph = "adjacent"
    policy: Policy = "all"
    limit: Annotated[int, msgspec.Meta(ge=1)] | None = None

    def load(self, kit: Kit) -> Dataset:
        path = kit.path(self.path)
        records = read_release(path, SentenceQuestion, item_id_of, self.limit)
        form = BenchmarkForm("hotpotqa", "sentence", self.graph, self.policy)
        return by_sentence(form, [(place, record.asked()) for place, record in records], path)
