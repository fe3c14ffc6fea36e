"""Tree: coarse-to-fine retrieval, from a clustering of the passages to what is shown under a token budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Final, Literal, Protocol

import numpy as np

from assay.core.dataset import Corpus, Dataset, search_problems
from assay.core.errors import DataError, Problem, UsageError
from assay.core.parts import Embedder, Fusion, Ints, LinkBuilder, Ranking, Reranker, Selector, Tokenizer
from assay.core.protocols import Kit
from assay.core.records import Budget, Hit, Query, Response, Step, Structure
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
from assay.kinds.hierarchy.features import FeatureExtractor, feature_extractor
from assay.kinds.hierarchy.fitted import FIXED_CONFIDENCE, fitted_hash, read_confidence
from assay.kinds.hierarchy.systems.builders import TREES, Builder, KMeans, cached_tree
from assay.kinds.hierarchy.systems.corpus_tree import Blend, CorpusIndex, EncodedQuery, TreeIndexData
from assay.kinds.hierarchy.systems.keywords import Keywords
from assay.kinds.hierarchy.systems.routers import ROUTERS, Router, WordRouter
from assay.kinds.hierarchy.systems.search import Beam, BestFirst, Collapsed, DescentLog
from assay.kinds.hierarchy.systems.summaries import SUMMARIES, Summariser, cached_summaries
from assay.retrieval.context import ContextBuilder, Grain, Top
from assay.retrieval.embed.static import StaticEmbedder
from assay.retrieval.fuse import WeightedFusion
from assay.retrieval.lexical import engine_version
from assay.retrieval.rerankers import MaxSim
from assay.retrieval.tokens import O200kBase
from assay.study.parameters import conceal_variables
from assay.systems.answering import AnswerBuilder, Meter
from assay.systems.retrievers import RerankStage

FIRST_ADDRESS = "assay.systems.hierarchy.system"

RACE_STEP = "race"


class ConfidenceModel(Protocol):
    """What says how sure a path is, by signs of the query and of what the path found."""

    def of(self, path: str, signs: Mapping[str, float]) -> float: ...


@dataclass(frozen=True)
class Race:
    """Which of several paths to take. Threads may share it."""

    extractor: FeatureExtractor
    confidence: ConfidenceModel

    def taken(self, query: str, found: Mapping[str, Sequence[Hit]]) -> tuple[str, list[Step]]:
        """The path that is surest, the first of those that are equally sure, and the steps that say so."""
        sure = {
            path: self.confidence.of(path, self.extractor.features(query, hits))
            for path, hits in found.items()
        }
        best = max(sure, key=lambda path: sure[path])
        steps = [
            Step(RACE_STEP, 0, path, scores={"confidence": round(value, 4)}, selected=path == best)
            for path, value in sure.items()
        ]
        return best, steps


VISITED = "visited"


@dataclass(frozen=True)
class PathResult:
    """What one path found: passages, the steps of its way, and how many nodes and passages it scored."""

    ranking: Ranking
    steps: list[Step]
    nodes: Sequence[int]
    passages: int


@dataclass(frozen=True)
class BeamPath:
    """Down the tree to some leaves, then their passages as a flat system ranks them, with a second look."""

    beam: Beam
    look: RerankStage

    def found(self, asked: EncodedQuery, meter: Meter) -> PathResult:
        walk, planted = DescentLog(), self.beam.planted
        leaves = self.beam.leaves(asked, walk, meter)
        meter.lap("route")
        among: Ints = planted.tree.below[-1].of_all(leaves)
        first = planted.ground.ranked(asked, among)
        meter.lap("search")
        return PathResult(self.look.at(asked.text, first, meter), walk.steps, walk.scored, len(among))


@dataclass(frozen=True)
class CollapsedPath:
    """Summaries and passages at once, with the same second look."""

    collapsed: Collapsed
    look: RerankStage

    def found(self, asked: EncodedQuery, meter: Meter) -> PathResult:
        tree = self.collapsed.planted.tree
        first = self.collapsed.ranked(asked)
        meter.lap("search")
        every = [tree.size(level) for level in range(1, tree.depth + 1)]
        passages = len(self.collapsed.planted.ground.corpus)
        return PathResult(self.look.at(asked.text, first, meter), [], every, passages)


@dataclass(frozen=True)
class BoundsPath:
    """Best-first by bounds: the best passages under one scorer, as they are."""

    search: BestFirst

    def found(self, asked: EncodedQuery, meter: Meter) -> PathResult:
        walk = DescentLog()
        ranking, scored = self.search.ranked(asked, walk)
        meter.lap("search")
        return PathResult(ranking, [], walk.scored, scored)


SearchPath = BeamPath | CollapsedPath | BoundsPath


@dataclass(frozen=True)
class TreeIndex:
    """A tree and one or more ways through it. No query changes it, so it is its own session."""

    planted: TreeIndexData
    ways: dict[str, SearchPath]
    answering: AnswerBuilder
    race: Race | None = None

    def session(self) -> TreeIndex:
        return self

    def structure(self) -> Structure:
        return self.planted.structure(self.answering.links)

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        meter = Meter()
        asked = self.ground.ask(query.text, meter)
        found = {name: way.found(asked, meter) for name, way in self.ways.items()}
        gathered = {
            name: self.answering.gather(query.text, each.ranking, meter, self.ground.rescoring.beside)
            for name, each in found.items()
        }
        taken, steps = next(iter(found)), list[Step]()
        if self.race is not None:
            hits = {name: self.answering.hits(each) for name, each in gathered.items()}
            taken, steps = self.race.taken(query.text, hits)
            meter.lap("race")
        response = self.answering.respond(query.text, gathered[taken], budgets, meter)
        routed = [step for each in found.values() for step in each.steps]
        response.trace = [*routed, *steps, *self._visited(list(found.values())), *response.trace]
        response.route = taken
        response.observed = meter.observed()
        return response

    def _visited(self, found: Sequence[PathResult]) -> list[Step]:
        """How much of each level, and of the corpus, was scored: the most that any path did."""
        tree = self.planted.tree
        most = np.max([each.nodes for each in found], axis=0).tolist()
        levels = [(level, f"L{level}", nodes, tree.size(level)) for level, nodes in enumerate(most, 1)]
        passages = max(each.passages for each in found)
        levels.append((tree.depth + 1, "passages", passages, len(self.ground.corpus)))
        return [
            Step(VISITED, level, name, scores={"nodes": float(nodes), "of": float(of)})
            for level, name, nodes, of in levels
        ]

    @property
    def ground(self) -> CorpusIndex:
        return self.planted.ground

    def close(self) -> None:
        self.ground.close()


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
    router: Annotated[Router, ROUTERS] = WordRouter()
    links: Annotated[LinkBuilder | None, LINKS] = None
    confidence: str = ""
    model: Annotated[Embedder, EMBEDDERS] = StaticEmbedder()
    fuse: Annotated[Fusion, FUSIONS] = WeightedFusion(weights=(0.8, 0.2))
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
        ground = CorpusIndex.of(corpus, self.model, self.fuse, self.depth, kit)
        known = ground.meanings.embedding.identity
        tree = cached_tree(self.tree, self.start, corpus, ground.vectors, known, seed, kit)
        standing = TreeIndexData(
            ground, tree, cached_summaries(self.summaries, tree, corpus, ground.vectors, known, kit)
        )
        showing = ContextBuilder(
            self.select, self.grain, self.tokenizer.load(kit), StaticEmbedder().load(kit)
        )
        showing.warm()
        links = None if self.links is None else self.links.build(corpus, kit)
        answering = AnswerBuilder(corpus, showing, self.k, self.show, links)
        return TreeIndex(standing, self._ways(standing, kit), answering, self._race(corpus, kit))

    def _ways(self, planted: TreeIndexData, kit: Kit) -> dict[str, SearchPath]:
        if self.path == BOUNDS:
            search = BestFirst(planted, Blend(self.words, self.dense), self.k, self.most)
            return {BOUNDS: BoundsPath(search)}
        scorer = self.rerank.load(self.model, kit)
        look = RerankStage(scorer, planted.ground.corpus.passages, self.rerank_depth, self.trust)
        names = RACERS if self.path == RACE else (self.path,)
        made: dict[str, SearchPath] = {}
        if BEAM in names:
            second = None if self.router.rerank is None else self.router.rerank.load(self.model, kit)
            made[BEAM] = BeamPath(Beam(planted, self.router, self.router.load(planted), second), look)
        if COLLAPSED in names:
            made[COLLAPSED] = CollapsedPath(Collapsed(planted, self.brings), look)
        return made

    def _race(self, corpus: Corpus, kit: Kit) -> Race | None:
        if self.path != RACE:
            return None
        sure: ConfidenceModel = (
            read_confidence(kit.path(self.confidence), RACERS) if self.confidence else FIXED_CONFIDENCE
        )
        return Race(feature_extractor(corpus, kit), sure)

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
        if self.confidence:
            origin = read_confidence(kit.path(self.confidence), RACERS).fitted
            found += origin.warnings(self.confidence, dataset, conceal_variables(identity(self), kit))
        return found

    def identity(self, kit: Kit) -> dict[str, Any]:
        """What decides answers besides parameters: engine, static model, the fitted file, and the parts."""
        found = {
            "words": engine_version(),
            "static": StaticEmbedder().identity(kit),
            **part_identities(self, kit),
        }
        if self.confidence:
            found["confidence"] = fitted_hash(kit.path(self.confidence))
        return found
