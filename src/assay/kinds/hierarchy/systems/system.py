"""Tree: coarse-to-fine retrieval, from a clustering of the passages to what is shown under a token budget."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Final, Literal

from assay.core.dataset import Corpus, Dataset, search_problems
from assay.core.errors import DataError, Problem, UsageError
from assay.core.parts import Embedder, Fusion, LinkBuilder, Reranker, Selector, Tokenizer
from assay.core.protocols import Kit
from assay.core.registry import (
    EMBEDDERS,
    FUSIONS,
    LINKS,
    RERANKERS,
    SELECTORS,
    TOKENIZERS,
    identity,
    part_identities,
)
from assay.kinds.hierarchy.confidence import UNCALIBRATED, confidence_hash, read_confidence
from assay.kinds.hierarchy.systems.abstaining import observer_of
from assay.kinds.hierarchy.systems.beam import Beam
from assay.kinds.hierarchy.systems.bounds import BestFirst
from assay.kinds.hierarchy.systems.builders import TREES, Builder, KMeans
from assay.kinds.hierarchy.systems.collapsed import Collapsed
from assay.kinds.hierarchy.systems.ground import Blend, Ground
from assay.kinds.hierarchy.systems.index import BeamPath, BoundsPath, CollapsedPath, TreeIndex, Way
from assay.kinds.hierarchy.systems.keywords import Keywords
from assay.kinds.hierarchy.systems.planted import Planted
from assay.kinds.hierarchy.systems.planting import planted
from assay.kinds.hierarchy.systems.race import Race, Sure
from assay.kinds.hierarchy.systems.routers import ROUTERS, Router, Words
from assay.kinds.hierarchy.systems.summaries import SUMMARIES, Summariser
from assay.kinds.hierarchy.systems.summarised import summarised
from assay.retrieval.context import Grain, Showing, Top
from assay.retrieval.embed.static import Static
from assay.retrieval.fuse import Weighted
from assay.retrieval.lexical import engine
from assay.retrieval.rerankers import MaxSim
from assay.retrieval.tokens import O200kBase
from assay.study.study_file import conceal_variables
from assay.systems.answering import AnswerBuilder
from assay.systems.retrievers import RerankStage

FIRST_ADDRESS = "assay.systems.hierarchy.system"

Path = Literal["beam", "collapsed", "race", "bounds"]
BEAM: Final = "beam"
COLLAPSED: Final = "collapsed"
RACE: Final = "race"
BOUNDS: Final = "bounds"
RACERS: tuple[Path, ...] = (BEAM, COLLAPSED)


@dataclass(frozen=True, kw_only=True)
class TreeSystem:
    """Retrieval down a tree of clusters, over the tree collapsed, by bounds, or by a race of the first two.

    `tree` is how it is built (with `start`, on the first so many passages, and grown by the rest), `router`
    how it is walked, `summaries` what nodes say of themselves. `links` adds passages by the names they share
    with those found. Passages are ranked as `flat_strong` ranks them: words and vectors fused, the first
    `rerank_depth` looked at again. A summary that the collapsed tree finds `brings` that many passages.
    `confidence` is the fitted file by which a race decides; without it, a fixed formula. By bounds a
    passage scores `words` × BM25 + `dense` × cosine, and `most` leaves are opened, or as many as it takes.
    """

    path: Path = "beam"
    tree: Annotated[Builder, TREES] = KMeans()
    start: int = 0
    summaries: Annotated[Summariser, SUMMARIES] = Keywords()
    router: Annotated[Router, ROUTERS] = Words()
    links: Annotated[LinkBuilder | None, LINKS] = None
    confidence: str = ""
    model: Annotated[Embedder, EMBEDDERS] = Static()
    fuse: Annotated[Fusion, FUSIONS] = Weighted(weights=(0.8, 0.2))
    depth: int = 100
    rerank: Annotated[Reranker, RERANKERS] = MaxSim()
    rerank_depth: int = 20
    trust: float = 0.5
    brings: int = 3
    words: float = 0.05
    dense: float = 1.0
    most: int | None = None
    k: int = 100
    show: int = 50
    select: Annotated[Selector, SELECTORS] = Top()
    grain: Grain = "sentence"
    tokenizer: Annotated[Tokenizer, TOKENIZERS] = O200kBase()
    gives: ClassVar[frozenset[str]] = frozenset({"hits", "contexts", "trace"})
    version: ClassVar[str] = "1"

    def __post_init__(self) -> None:
        for name in ("k", "show", "depth", "rerank_depth", "brings"):
            if (count := getattr(self, name)) < 1:
                raise UsageError(f"{name} is {count}. It must be at least 1.")
        if self.most is not None and self.most < 1:
            raise UsageError(f"most is {self.most}. It must be at least 1, or null: as many as it takes.")
        if self.start < 0:
            raise UsageError(f"start is {self.start}. It is a number of passages; 0 means all of them.")
        if not 0.0 <= self.trust <= 1.0:
            raise UsageError(f"trust is {self.trust}. It is a share, from 0 to 1.")
        if self.words < 0 or self.dense < 0 or not self.words + self.dense:
            raise UsageError(f"words is {self.words}, dense {self.dense}. Neither is below 0, one above it.")
        if self.confidence and self.path != RACE:
            raise UsageError(f"confidence is for a race, and path is {self.path}. Leave it out.")

    def paths(self) -> dict[str, TreeSystem]:
        """Each path of a race as a system of its own; none where nothing races."""
        if self.path != RACE:
            return {}
        return {path: replace(self, path=path, confidence="") for path in RACERS}

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> TreeIndex:
        ground = Ground.of(corpus, self.model, self.fuse, self.depth, kit)
        known = ground.meanings.embedding.identity
        tree = planted(self.tree, self.start, corpus, ground.vectors, known, seed, kit)
        standing = Planted(ground, tree, summarised(self.summaries, tree, ground, kit))
        showing = Showing(self.select, self.grain, self.tokenizer.load(kit), Static().load(kit))
        showing.warm()
        links = None if self.links is None else self.links.build(corpus, kit)
        answering = AnswerBuilder(corpus, showing, self.k, self.show, links)
        return TreeIndex(standing, self._ways(standing, kit), answering, self._race(corpus, kit))

    def _ways(self, planted: Planted, kit: Kit) -> dict[str, Way]:
        if self.path == BOUNDS:
            search = BestFirst(planted, Blend(self.words, self.dense), self.k, self.most)
            return {BOUNDS: BoundsPath(search)}
        scorer = self.rerank.load(self.model, kit)
        look = RerankStage(scorer, planted.ground.corpus.passages, self.rerank_depth, self.trust)
        names = RACERS if self.path == RACE else (self.path,)
        made: dict[str, Way] = {}
        if BEAM in names:
            second = None if self.router.rerank is None else self.router.rerank.load(self.model, kit)
            made[BEAM] = BeamPath(Beam(planted, self.router, self.router.load(planted), second), look)
        if COLLAPSED in names:
            made[COLLAPSED] = CollapsedPath(Collapsed(planted, self.brings), look)
        return made

    def _race(self, corpus: Corpus, kit: Kit) -> Race | None:
        if self.path != RACE:
            return None
        sure: Sure = read_confidence(kit.path(self.confidence), RACERS) if self.confidence else UNCALIBRATED
        return Race(observer_of(corpus, kit), sure)

    def problems(self, dataset: Dataset, kit: Kit) -> list[Problem]:
        """Why it could find nothing, or why the file of a race's confidence cannot be used."""
        try:
            if self.confidence:
                read_confidence(kit.path(self.confidence), RACERS)
        except DataError as error:
            return list(error.problems)
        return search_problems(dataset, self)

    def warnings(self, dataset: Dataset, kit: Kit) -> list[str]:
        """Where nothing is grown, and where a race decides by what was fitted on something else."""
        found = []
        if self.start > (held := len(dataset.corpus)):
            found.append(f"start is {self.start}, and the corpus has {held} passages: nothing is grown")
        return [*found, *self._misfits(dataset, kit)] if self.confidence else found

    def _misfits(self, dataset: Dataset, kit: Kit) -> list[str]:
        fitted = read_confidence(kit.path(self.confidence), RACERS).fitted
        found = []
        if fitted.system != conceal_variables(identity(self), kit):
            found.append(f"{self.confidence} was fitted on another system's answers: fit it again")
        if fitted.corpus != dataset.corpus.hash:
            where = f"on {fitted.dataset} ({fitted.arm}), and is used on {dataset.name}"
            found.append(f"{self.confidence} was fitted {where}")
        return found

    def identity(self, kit: Kit) -> dict[str, Any]:
        """What decides answers besides parameters: engine, static model, the fitted file, and the parts."""
        found = {"words": engine(), "static": Static().identity(kit), **part_identities(self, kit)}
        if self.confidence:
            found["confidence"] = confidence_hash(kit.path(self.confidence))
        return found
