"""The corpus in stages. Each stage begins with the whole stage before it, in the same order."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, count, groupby
from random import Random

from assay.core.dataset import Corpus
from assay.core.protocols import ProgressCallback, ignore_progress
from assay_worlds.organisation.documents import FinishedPage, Mention, PageDraft, lay_out
from assay_worlds.workplace.directory import FILL, VERSIONS, YEARS, Directory, PageKind, kinds
from assay_worlds.workplace.pages import FACTS_PER_PARAGRAPH, further, memo, pages

SIZES = {"10k": 10_000, "50k": 50_000, "200k": 200_000}
STAGES = tuple(SIZES)
FOR_ADDED = 600  # passages kept free for what is injected
# Of the passages; what is left is filled with memos, to the passage.
SHARES = {
    "person": 0.11,
    "team": 0.02,
    "service": 0.07,
    "product": 0.03,
    "project": 0.09,
    "vendor": 0.05,
    "customer": 0.07,
    "policy": 0.14,
    "procedure": 0.05,
    "release": 0.08,
    "incident": 0.08,
    "asset": 0.06,
    "course": 0.03,
    "site": 0.02,
    "committee": 0.02,
    "minutes": 0.02,
    "thread": 0.03,
}


def counts(room: Sequence[int]) -> dict[str, tuple[int, int, int]]:
    """Returns the number of entities of each kind up to each tier. Kinds get their shares of passages."""
    found = {}
    for key, share in SHARES.items():
        kind = kinds()[key]
        size = _paragraphs(kind) * _editions(kind)
        first, second, third = (max(1, int(share * total / size)) for total in room)
        found[key] = (first, second, third)
    return found


def _paragraphs(kind: PageKind) -> float:
    """Estimates the largest usual number of paragraphs on a page of a kind."""
    sections = groupby(sorted(relation.section for relation in kind.relations))
    stated = sum(math.ceil(len(list(facts)) / FACTS_PER_PARAGRAPH) for _, facts in sections)
    return stated + sum(further(kind)) / 2 + bool(kind.steps)


def _editions(kind: PageKind) -> int:
    if not kind.editions:
        return 1
    return len(YEARS) if kind.key == "policy" else VERSIONS


def allot_pages(pages: Sequence[FinishedPage], share: float, seed: int) -> tuple[list[FinishedPage], ...]:
    """Distributes real pages over the tiers in random order, up to the share `share` of each tier."""
    waiting = Random(f"{seed}/gathered").sample(pages, len(pages))
    found: list[list[FinishedPage]] = []
    before = 0
    for size in SIZES.values():
        left, some = share * (size - before), list[FinishedPage]()
        while waiting and len(waiting[-1].passages) <= left:
            some.append(waiting.pop())
            left -= len(some[-1].passages)
        found.append(some)
        before = size
    return tuple(found)


@dataclass(frozen=True)
class WrittenStage:
    """A stage of the organisation: its corpus, and the places of all facts."""

    corpus: Corpus
    mentions: list[Mention]


@dataclass(frozen=True)
class Workforce:
    """The organisation that a seed gives, and the pages about it.

    Each tier begins with its real pages from `gathered`. Generated pages fill the rest.
    """

    seed: int
    gathered: tuple[list[FinishedPage], ...] = ([], [], [])

    @cached_property
    def directory(self) -> Directory:
        taken = accumulate(sum(len(page.passages) for page in pages) for pages in self.gathered)
        room = [size - held - FOR_ADDED for size, held in zip(SIZES.values(), taken, strict=True)]
        return Directory(self.seed, kinds(), counts(room))

    def drafts(self, tier: int) -> list[PageDraft]:
        """Returns the pages about a tier's entities, in random order."""
        directory, found = self.directory, list[PageDraft]()
        for key in SHARES:
            for entity in directory.every(key):
                if entity.tier == tier:
                    found.extend(pages(directory, entity))
        directory.rng("order", tier).shuffle(found)
        return found

    def written(
        self, stage: str, added: Sequence[PageDraft] = (), tell: ProgressCallback = ignore_progress
    ) -> WrittenStage:
        """Writes a stage. The drafts in `added` follow the pages about the entities of the first tier."""
        laid: list[FinishedPage] = []
        for tier, size in enumerate(list(SIZES.values())[: STAGES.index(stage) + 1]):
            laid.extend(self.gathered[tier])
            laid.extend(map(lay_out, self.drafts(tier)))
            laid.extend(map(lay_out, added if tier == 0 else ()))
            laid.extend(map(lay_out, self._filling(tier, size - sum(len(page.passages) for page in laid))))
            tell("writing pages", size, SIZES[stage])
        corpus = Corpus(
            [passage for page in laid for passage in page.passages],
            {page.document.doc_id: page.document for page in laid},
        )
        return WrittenStage(corpus, [mention for page in laid for mention in page.mentions])

    def _filling(self, tier: int, left: int) -> Iterator[PageDraft]:
        """Yields memos of one to three paragraphs until `left` passages are reached."""
        rng = self.directory.rng("filling", tier)
        for number in count():
            if left <= 0:
                return
            size = min(left, rng.randint(1, 3))
            yield memo(self.directory, kinds()[FILL], tier, number, size)
            left -= size
