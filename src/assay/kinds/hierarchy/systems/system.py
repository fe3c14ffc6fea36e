"""The tree system: coarse-to-fine retrieval, from a clustering of the passages to the contexts.

`Scan` scores every passage, without a tree, in the same way as the search by bounds. Both must find the same
passages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, ClassVar, Final, Literal, Protocol

import numpy as np

from assay.core.dataset import Corpus, Dataset, search_problems
from assay.core.errors import DataError, Problem, UsageError
from assay.core.parts import Embedder, Fusion, LinkBuilder, Reranker, Selector, Tokenizer
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
from assay.kinds.hierarchy.systems.corpus_tree import (
    Blend,
    CorpusIndex,
    EncodedQuery,
    IndexedTree,
    top_ranking,
)
from assay.kinds.hierarchy.systems.keywords import Keywords
from assay.kinds.hierarchy.systems.routers import ROUTERS, Router, WordRouter
from assay.kinds.hierarchy.systems.search import Beam, BestFirst, Collapsed, PathResult
from assay.kinds.hierarchy.systems.tree import SUMMARIES, Summariser, cached_summaries
from assay.retrieval.context import ContextBuilder, Grain, Top
from assay.retrieval.embed.static import StaticEmbedder
from assay.retrieval.fuse import RRF, WeightedFusion
from assay.retrieval.lexical import engine_version
from assay.retrieval.rerankers import MaxSim
from assay.retrieval.tokens import O200kBase
from assay.study.parameters import conceal_variables
from assay.systems.answering import AnswerBuilder, Meter
from assay.systems.retrievers import RerankStage

FIRST_ADDRESS = "assay.systems.hierarchy.system"

Path = Literal["beam", "collapsed", "race", "bounds"]
BEAM: Final = "beam"
COLLAPSED: Final = "collapsed"
RACE: Final = "race"
BOUNDS: Final = "bounds"
RACERS: tuple[Path, ...] = (BEAM, COLLAPSED)
SearchPath = Callable[[EncodedQuery, Meter], PathResult]


class ConfidenceModel(Protocol):
    """Returns the confidence in a path, from features of the query and of the hits of the path."""

    def of(self, path: str, features: Mapping[str, float]) -> float: ...


@dataclass(frozen=True)
class Race:
    """Decides whose answer is used among several paths. Threads may share a race.

    The confidence depends only on the query and its hits, so the same query always gets the same path, and no
    gold is involved.
    """

    extractor: FeatureExtractor
    confidence: ConfidenceModel

    def taken(self, query: str, found: Mapping[str, Sequence[Hit]]) -> tuple[str, list[Step]]:
        """Returns the surest path, and one step per path. If several are equally sure, the first one wins."""
        sure = {
            path: self.confidence.of(path, self.extractor.features(query, hits))
            for path, hits in found.items()
        }
        best = max(sure, key=lambda path: sure[path])
        steps = [
            Step(RACE, 0, path, scores={"confidence": round(value, 4)}, selected=path == best)
            for path, value in sure.items()
        ]
        return best, steps


def _search_beam(beam: Beam, rerank: RerankStage, query: EncodedQuery, meter: Meter) -> PathResult:
    """Ranks the passages of the leaves that a beam keeps, as a flat system does, and reranks them."""
    leaves, steps, scored = beam.descend(query, meter)
    meter.lap("route")
    among = beam.indexed.tree.below[-1].of_all(leaves)
    first = beam.indexed.corpus_index.ranked(query, among)
    meter.lap("search")
    return PathResult(rerank.at(query.text, first, meter), steps, scored, len(among))


def _search_collapsed(
    collapsed: Collapsed, rerank: RerankStage, query: EncodedQuery, meter: Meter
) -> PathResult:
    """Searches summaries and passages in one pool, and reranks the passages that it finds."""
    tree = collapsed.indexed.tree
    first = collapsed.ranked(query)
    meter.lap("search")
    every = [tree.size(level) for level in range(1, tree.depth + 1)]
    passages = len(collapsed.indexed.corpus_index.corpus)
    return PathResult(rerank.at(query.text, first, meter), [], every, passages)


def _search_bounds(search: BestFirst, query: EncodedQuery, meter: Meter) -> PathResult:
    found = search.search(query)
    meter.lap("search")
    return found


@dataclass(frozen=True)
class TreeIndex:
    """A built tree that is searched along one path, or along several that race. It is its own session."""

    indexed: IndexedTree
    paths: dict[str, SearchPath]
    answering: AnswerBuilder
    race: Race | None = None

    def session(self) -> TreeIndex:
        return self

    def structure(self) -> Structure:
        return self.indexed.structure(self.answering.links)

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        meter = Meter()
        encoded = self.corpus_index.ask(query.text, meter)
        found = {name: search(encoded, meter) for name, search in self.paths.items()}
        gathered = {
            name: self.answering.gather(
                query.text, each.ranking, meter, self.corpus_index.rescoring.scores_for
            )
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
        """Returns steps with the numbers of scored nodes of each level, and of scored passages.

        If several paths race, the largest number of any path counts.
        """
        tree = self.indexed.tree
        most = np.max([each.nodes for each in found], axis=0).tolist()
        levels = [(level, f"L{level}", nodes, tree.size(level)) for level, nodes in enumerate(most, 1)]
        passages = max(each.passages for each in found)
        levels.append((tree.depth + 1, "passages", passages, len(self.corpus_index.corpus)))
        return [
            Step("visited", level, name, scores={"nodes": float(nodes), "of": float(of)})
            for level, name, nodes, of in levels
        ]

    @property
    def corpus_index(self) -> CorpusIndex:
        return self.indexed.corpus_index

    def close(self) -> None:
        self.corpus_index.close()


@dataclass(frozen=True, kw_only=True)
class TreeSystem:
    """Retrieval down a tree of clusters, over the collapsed tree, by bounds, or by a race of the first two.

    `tree` builds the tree. With `start`, it builds the tree on the first `start` passages, and the others are
    added to it. `router` chooses nodes in the tree, and `summaries` describes the nodes. `links` adds
    passages that share names with the passages found.

    Passages are ranked as `flat_strong` ranks them: by words and vectors, fused, with the first
    `rerank_depth` reranked. A summary that the collapsed tree finds is replaced by `brings` passages below
    it. `confidence` is the fitted file by which a race decides. Without a file, a race decides by a fixed
    formula. By bounds, a passage scores `words` × BM25 + `dense` × cosine. At most `most` leaves are then
    opened, or as many as needed.
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
        """Returns each path of a race as a system of its own. Without a race, the result is empty."""
        if self.path != RACE:
            return {}
        return {path: replace(self, path=path, confidence="") for path in RACERS}

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> TreeIndex:
        corpus_index = CorpusIndex.of(corpus, self.model, self.fuse, self.depth, kit)
        known = corpus_index.meanings.embedding.identity
        tree = cached_tree(self.tree, self.start, corpus, corpus_index.vectors, known, seed, kit)
        standing = IndexedTree(
            corpus_index,
            tree,
            cached_summaries(self.summaries, tree, corpus, corpus_index.vectors, known, kit),
        )
        showing = ContextBuilder(
            self.select, self.grain, self.tokenizer.load(kit), StaticEmbedder().load(kit)
        )
        showing.warm()
        links = None if self.links is None else self.links.build(corpus, kit)
        answering = AnswerBuilder(corpus, showing, self.k, self.show, links)
        return TreeIndex(standing, self._search_paths(standing, kit), answering, self._race(corpus, kit))

    def _search_paths(self, indexed: IndexedTree, kit: Kit) -> dict[str, SearchPath]:
        if self.path == BOUNDS:
            search = BestFirst(indexed, Blend(self.words, self.dense), self.k, self.most)
            return {BOUNDS: partial(_search_bounds, search)}
        scorer = self.rerank.load(self.model, kit)
        rerank = RerankStage(scorer, indexed.corpus_index.corpus.passages, self.rerank_depth, self.trust)
        names = RACERS if self.path == RACE else (self.path,)
        made: dict[str, SearchPath] = {}
        if BEAM in names:
            second = None if self.router.rerank is None else self.router.rerank.load(self.model, kit)
            beam = Beam(indexed, self.router, self.router.load(indexed), second)
            made[BEAM] = partial(_search_beam, beam, rerank)
        if COLLAPSED in names:
            made[COLLAPSED] = partial(_search_collapsed, Collapsed(indexed, self.brings), rerank)
        return made

    def _race(self, corpus: Corpus, kit: Kit) -> Race | None:
        if self.path != RACE:
            return None
        sure: ConfidenceModel = (
            read_confidence(kit.path(self.confidence), RACERS) if self.confidence else FIXED_CONFIDENCE
        )
        return Race(feature_extractor(corpus, kit), sure)

    def problems(self, dataset: Dataset, kit: Kit) -> list[Problem]:
        """Returns why the system could find nothing, or why the file of the confidence cannot be used."""
        try:
            if self.confidence:
                read_confidence(kit.path(self.confidence), RACERS)
        except DataError as error:
            return list(error.problems)
        return search_problems(dataset, self)

    def warnings(self, dataset: Dataset, kit: Kit) -> list[str]:
        """Warns if no passage is left to grow the tree, and if the origin of the confidence differs."""
        found = []
        if self.start > (held := len(dataset.corpus)):
            found.append(f"start is {self.start}, and the corpus has {held} passages: nothing is grown")
        if self.confidence:
            origin = read_confidence(kit.path(self.confidence), RACERS).fitted
            found += origin.warnings(self.confidence, dataset, conceal_variables(identity(self), kit))
        return found

    def identity(self, kit: Kit) -> dict[str, Any]:
        """Returns what decides answers besides parameters: engine, static model, fitted file, and parts."""
        found = {
            "words": engine_version(),
            "static": StaticEmbedder().identity(kit),
            **part_identities(self, kit),
        }
        if self.confidence:
            found["confidence"] = fitted_hash(kit.path(self.confidence))
        return found


@dataclass(frozen=True)
class ScanIndex:
    """A corpus whose passages are all scored for each query. It is its own session."""

    corpus_index: CorpusIndex
    blend: Blend
    k: int

    def session(self) -> ScanIndex:
        return self

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        meter = Meter()
        encoded = self.corpus_index.ask(query.text, meter)
        every = np.arange(len(self.corpus_index.corpus))
        found = top_ranking(every, self.blend.scores(self.corpus_index, encoded, every), self.k)
        meter.lap("search")
        passages = self.corpus_index.corpus.passages
        pairs = zip(found.positions.tolist(), found.scores.tolist(), strict=True)
        hits = [Hit(passages[position].doc_id, score) for position, score in pairs]
        return Response(hits=hits, observed=meter.observed())

    def close(self) -> None:
        self.corpus_index.close()


@dataclass(frozen=True)
class Scan:
    """Scores all passages by `words` × BM25 + `dense` × cosine."""

    first_address: ClassVar[str] = "assay.systems.hierarchy.scan:Scan"

    words: float = 0.05
    dense: float = 1.0
    model: Annotated[Embedder, EMBEDDERS] = StaticEmbedder()
    k: int = 100
    gives: ClassVar[frozenset[str]] = frozenset({"hits"})
    seeded: ClassVar[bool] = False
    version: ClassVar[str] = "1"

    def __post_init__(self) -> None:
        if self.k < 1:
            raise UsageError(f"k is {self.k}. It must be at least 1.")
        if self.words < 0 or self.dense < 0 or not self.words + self.dense:
            raise UsageError(f"words is {self.words}, dense {self.dense}. Neither is below 0, one above it.")

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> ScanIndex:
        return ScanIndex(
            CorpusIndex.of(corpus, self.model, RRF(), self.k, kit), Blend(self.words, self.dense), self.k
        )

    def problems(self, dataset: Dataset, kit: Kit) -> list[Problem]:
        """Returns why the system could find nothing."""
        return search_problems(dataset, self)

    def identity(self, kit: Kit) -> dict[str, Any]:
        return {"words": engine_version(), **part_identities(self, kit)}
