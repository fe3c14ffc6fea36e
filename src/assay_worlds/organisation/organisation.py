"""The knowledge base of a small fictional organisation, generated from a seed, with questions about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from assay.core.dataset import Corpus, Dataset
from assay.core.errors import UsageError
from assay.core.protocols import Kit
from assay_worlds.organisation.documents import (
    FinishedPage,
    PageDraft,
    editions,
    lay_out,
    pages,
    releases,
    topics,
)
from assay_worlds.organisation.matters import decisions, threads
from assay_worlds.organisation.questions import questions
from assay_worlds.organisation.world import World, create_world

SMALLEST, LARGEST = 400, 5000
SHARES = {"policy": 0.35, "procedure": 0.15, "release": 0.15, "people": 0.08, "decision": 0.1, "email": 0.17}
LABELS = {
    "relevance": "2: the passage holds the sentence that answers the question; "
    "1: it repeats the answer elsewhere, or is needed to make sense of it",
}


@dataclass(frozen=True)
class Organisation:
    """A generated intranet: policies, procedures, release notes, e-mail, people, decisions; and questions.

    The same parameters give the same bytes. The corpus has at least `passages` passages. Each kind of
    document may exceed its share by a part of one document. One question in fifteen has no answer in the
    corpus.
    """

    seed: int = 7
    passages: int = 2000
    queries: int = 60

    def load(self, kit: Kit) -> Dataset:
        """Generates everything in memory. Nothing is read or fetched."""
        if not SMALLEST <= self.passages <= LARGEST:
            raise UsageError(f"passages is {self.passages}; choose a number from {SMALLEST} to {LARGEST}.")
        if self.queries < 1:
            raise UsageError(f"queries is {self.queries}; ask for one or more.")
        world = create_world(self.seed, people=self.passages // 25, projects=self.passages // 50)
        written = self._write(world)
        mentions = [mention for page in written for mention in page.mentions]
        corpus = Corpus(
            [passage for page in written for passage in page.passages],
            {page.document.doc_id: page.document for page in written},
        )
        name = f"organisation-{self.seed}"
        return Dataset(name, corpus, questions(mentions, world, self.queries), LABELS)

    def _write(self, world: World) -> list[FinishedPage]:
        """Writes all pages, kind by kind. E-mail comes last, because it quotes the other kinds."""
        streams = {
            "policy": editions("policy", (*topics("office_policies"), *topics("company_policies")), world),
            "procedure": editions("procedure", topics("procedures"), world),
            "release": releases(world),
            "people": pages(world),
            "decision": decisions(world),
        }
        written = [page for kind, drafts in streams.items() for page in self._enough(kind, drafts)]
        stated = [mention.fact for page in written for mention in page.mentions]
        return [*written, *self._enough("email", threads(world, list(dict.fromkeys(stated))))]

    def _enough(self, kind: str, drafts: Iterable[PageDraft]) -> list[FinishedPage]:
        wanted, done = self.passages * SHARES[kind], 0
        written: list[FinishedPage] = []
        for draft in drafts:
            if done >= wanted:
                break
            written.append(lay_out(draft))
            done += len(draft.paragraphs)
        return written
