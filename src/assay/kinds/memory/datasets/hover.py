"""HoVer: claims that two to four pages of Wikipedia support or refute.

Jiang et al., "HoVer: a dataset for many-hop fact extraction and claim verification", Findings of EMNLP 2020.
The file is a JSON array of {uid, claim, supporting_facts: [[title, number of the sentence]], label, num_hops,
hpqa_id}. The release has no texts: they come from a corpus, where evidence is found by title, or stand as a
`context` in each claim, as in HotpotQA.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

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
    by_title,
)


class _Claim(msgspec.Struct):
    uid: str
    claim: Annotated[str, msgspec.Meta(min_length=1)]
    supporting_facts: list[Fact]
    label: Literal["SUPPORTED", "NOT_SUPPORTED"] | None = None
    num_hops: int | None = None
    context: list[Shown] = []

    def asked(self) -> MultiHopQuestion:
        tags = {"label": (self.label or "").lower(), "hops": self.num_hops}
        return MultiHopQuestion(self.uid, self.claim, self.context, self.supporting_facts, tags=tags)


def _uid_of(record: _Claim) -> str:
    return record.uid


@dataclass(frozen=True)
class Hover:
    """HoVer's claims over a corpus of {title, text}, or, without one, each over its own context.

    Evidence is what the release lists, whether the claim is supported or not. `graph` and `policy` are as in
    HotpotQA; over a corpus a node is a whole passage, and "adjacent" has no edges.
    """

    path: str
    corpus: str | None = None
    graph: Graph = "links"
    policy: Policy = "all"
    limit: Annotated[int, msgspec.Meta(ge=1)] | None = None

    def load(self, kit: Kit) -> Dataset:
        path = kit.path(self.path)
        records = read_release(path, _Claim, _uid_of, self.limit)
        claims = [(place, record.asked()) for place, record in records]
        if self.corpus is None:
            return by_sentence(BenchmarkForm("hover", "sentence", self.graph, self.policy), claims, path)
        form = BenchmarkForm("hover", "passage", self.graph, self.policy)
        return by_title(form, claims, path, kit.path(self.corpus))
