"""Ways through a tree: what a beam keeps and says, what bounds lose, what the collapsed tree brings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

from assay.core.dataset import Corpus, Dataset
from assay.core.errors import UsageError
from assay.core.parts import Floats, Ints, Ranking, RerankResult
from assay.core.protocols import Kit
from assay.core.records import Passage, Step
from assay.kinds.hierarchy.systems.builders import KMeans
from assay.kinds.hierarchy.systems.corpus_tree import (
    Blend,
    CorpusIndex,
    EncodedQuery,
    IndexedTree,
    top_ranking,
)
from assay.kinds.hierarchy.systems.keywords import Keywords
from assay.kinds.hierarchy.systems.routers import (
    CascadeRouter,
    CentroidRouter,
    HybridRouter,
    Router,
    SummaryRouter,
    WordRouter,
)
from assay.kinds.hierarchy.systems.search import Beam, BeamDescent, BestFirst, Collapsed
from assay.kinds.hierarchy.systems.system import Scan, TreeSystem
from assay.kinds.hierarchy.systems.tree import ChildLists, Tree
from assay.retrieval.embed.static import StaticEmbedder
from assay.retrieval.fuse import WeightedFusion
from assay.systems.answering import Meter

SUBJECTS = {
    "cat": "cats sleep purr whiskers kitten mouse",
    "tax": "income tax return refund deduction april",
    "ship": "harbour vessel cargo anchor captain port",
    "bread": "flour yeast oven dough crust baker",
}


@cache
def planted() -> IndexedTree:
    """48 passages on four subjects, in 4 × 3 nodes that are the subjects; one passage lies in two leaves."""
    rng = np.random.default_rng(5)
    passages = [
        Passage(f"{name}-{number}", " ".join([*rng.permutation(words.split())[:4], f"number{number}"]))
        for name, words in SUBJECTS.items()
        for number in range(12)
    ]
    leaves = [list(range(start, start + 4)) for start in range(0, 48, 4)]
    leaves[-1].append(0)  # the first cat lies with the bread too
    tree = Tree(
        (
            ChildLists.of_lists([range(4)]),
            ChildLists.of_lists([range(start, start + 3) for start in range(0, 12, 3)]),
            ChildLists.of_lists(leaves),
        )
    )
    ground = CorpusIndex.of(Corpus(passages), StaticEmbedder(), WeightedFusion(weights=(0.8, 0.2)), 20, Kit())
    return IndexedTree(ground, tree, Keywords().summarise(tree, passages, ground.vectors, Kit()))


def asked(text: str) -> EncodedQuery:
    return planted().corpus_index.ask(text, Meter())


@dataclass(frozen=True)
class Told:
    """A router that scores nodes as it is told, by level and number."""

    given: Mapping[int, Mapping[int, float]]

    def scores(self, asked: EncodedQuery, level: int, nodes: Ints) -> Mapping[str, Floats]:
        return {"first": np.array([self.given[level].get(node, 0.0) for node in nodes.tolist()], float)}


def walked(
    router: Router, given: Mapping[int, Mapping[int, float]] | None = None
) -> tuple[list[int], BeamDescent]:
    scorer = router.load(planted()) if given is None else Told(given)
    second = None if router.rerank is None else router.rerank.load(StaticEmbedder(), Kit())
    descent = Beam(planted(), router, scorer, second).descend(asked("tax refund"), Meter())
    return descent.leaves.tolist(), descent


@pytest.mark.parametrize(
    "router",
    [
        WordRouter(),
        HybridRouter(),
        CentroidRouter(),
        CentroidRouter(vectors=3),
        SummaryRouter(),
        CascadeRouter(),
    ],
)
def test_every_router_finds_the_branch_of_its_subject(router: Router) -> None:
    _, walk = walked(router)
    first = max((step for step in walk.steps if step.depth == 1), key=lambda step: step.scores["score"])
    assert first.target == "L1:1"
    assert first.selected


def test_every_candidate_of_every_expanded_node_has_a_step() -> None:
    leaves, walk = walked(WordRouter(beam=(2, 3)), {1: {0: 4, 1: 3, 2: 2, 3: 1}, 2: {0: 1, 4: 9, 5: 8}})
    told = [(step.depth, step.source, step.target, step.selected, step.stop) for step in walk.steps]
    assert told == [
        (1, "root", "L1:0", True, None),
        (1, "root", "L1:1", True, None),
        (1, "root", "L1:2", False, "beam"),
        (1, "root", "L1:3", False, "beam"),
        (2, "L1:0", "L2:0", True, None),
        (2, "L1:0", "L2:1", False, "beam"),
        (2, "L1:0", "L2:2", False, "beam"),
        (2, "L1:1", "L2:4", True, None),
        (2, "L1:1", "L2:5", True, None),
        (2, "L1:1", "L2:3", False, "beam"),
    ]
    assert leaves == [0, 4, 5]
    assert walk.scored == [4, 6]
    assert [step.scores["score"] for step in walk.steps[:4]] == pytest.approx([1, 2 / 3, 1 / 3, 0], abs=1e-4)


def test_expand_limits_the_children_of_one_node_and_cut_those_looked_at_again() -> None:
    given = {1: {0: 4, 1: 3, 2: 2, 3: 1}, 2: {0: 9, 1: 8, 2: 7, 3: 1}}
    _, walk = walked(WordRouter(beam=(2, 6), expand=1, cut=2), given)
    stops = {step.target: step.stop for step in walk.steps}
    assert stops["L1:1"] == "expand"  # one child of the root alone
    assert (stops["L1:2"], stops["L1:3"]) == ("cut", "cut")
    assert (stops["L2:0"], stops["L2:1"], stops["L2:2"]) == (None, "expand", "cut")


def test_a_path_carries_its_score_down() -> None:
    given = {
        1: {0: 2, 1: 1, 2: 0, 3: 0},
        2: {0: 8, 3: 10, 1: 0},
    }  # own: L2:0 0.8, L2:3 1.0; above: 1.0 and 0.5
    without, _ = walked(WordRouter(beam=(2, 1)), given)
    carried, _ = walked(WordRouter(beam=(2, 1), ema=0.5), given)
    assert (without, carried) == ([3], [0])  # 0.5 × 1.0 + 0.5 × 0.8 = 0.9 beats 0.5 × 0.5 + 0.5 × 1.0 = 0.75


def test_diversity_keeps_a_node_that_is_unlike_the_first() -> None:
    given = {1: {0: 1, 1: 0, 2: 0, 3: 0}, 2: {0: 10, 1: 9.5, 2: 0}}
    plain, _ = walked(WordRouter(beam=(4, 2)), {**given, 2: {0: 10, 1: 9.5, 9: 9}})
    diverse, _ = walked(WordRouter(beam=(4, 2), diversity=0.5), {**given, 2: {0: 10, 1: 9.5, 9: 9}})
    assert plain == [0, 1]
    assert diverse == [0, 9]


class _Liking:
    """A reranker that likes a word."""

    def load(self, embedder: object, kit: object) -> _Liking:
        return self

    def scores(self, query: str, texts: list[str]) -> RerankResult:
        return RerankResult(np.array([float(text.lower().count("anchor")) for text in texts]))


def test_a_second_look_decides_among_those_it_sees() -> None:
    given = {1: {0: 4, 1: 3, 2: 2, 3: 1}, 2: {}}
    _, walk = walked(WordRouter(beam=(1, 9), cut=3, rerank=_Liking()), given)
    steps = {step.target: step for step in walk.steps if step.depth == 1}
    assert [name for name, step in steps.items() if step.selected] == ["L1:2"]  # the ships
    assert "rerank" not in steps["L1:3"].scores  # it was cut before
    assert steps["L1:2"].scores["rerank"] > 0


def test_parameters_out_of_range_are_refused() -> None:
    for wrong in ({"beam": ()}, {"beam": (0,)}, {"cut": 0}, {"ema": 1.0}, {"diversity": -0.1}):
        with pytest.raises(UsageError):
            WordRouter(**wrong)  # type: ignore[arg-type]
    for router in (CentroidRouter, HybridRouter):
        with pytest.raises(UsageError, match="vectors is 0"):
            router(vectors=0)
    for share in (-0.1, 1.1):
        with pytest.raises(UsageError, match="share"):
            HybridRouter(share=share)
    with pytest.raises(UsageError, match="most is 0"):
        TreeSystem(path="bounds", most=0)
    with pytest.raises(UsageError, match="k is 0"):
        Scan(k=0)


def test_a_start_beyond_the_corpus_is_a_warning() -> None:
    corpus = planted().corpus_index.corpus
    dataset = Dataset("subjects", corpus, [])
    assert TreeSystem(start=len(corpus)).warnings(dataset, Kit()) == []
    (warning,) = TreeSystem(start=99_999).warnings(dataset, Kit())
    assert warning == "start is 99999, and the corpus has 48 passages: nothing is grown"


# --------------------------------------------------------------------------------------------- bounds


@pytest.mark.parametrize("blend", [Blend(0, 1), Blend(0.05, 1), Blend(1, 0)])
@pytest.mark.parametrize(
    "query", ["tax refund", "captain of the cargo ship", "number7", "nothing of this is there"]
)
def test_bounds_lose_nothing(blend: Blend, query: str) -> None:
    there, every = planted(), np.arange(48)
    found, _, _, scored = BestFirst(there, blend, 10).search(asked(query))
    wanted = top_ranking(every, blend.scores(there.corpus_index, asked(query), every), 10)
    assert found.positions.tolist() == wanted.positions.tolist()
    assert found.scores.tolist() == wanted.scores.tolist()
    assert scored <= 48


def test_bounds_are_never_below_what_they_bound() -> None:
    there, query = planted(), asked("baker sells crust to the captain")
    blend = Blend(0.05, 1.0)
    search = BestFirst(there, blend, 5)
    for level in (1, 2):
        nodes = np.arange(there.tree.size(level))
        bounds = search._bounds(query, level, nodes)
        for node in nodes.tolist():
            below = blend.scores(there.corpus_index, query, there.tree.members(level, node))
            assert below.max() <= bounds[node] + 1e-6


def test_words_open_few_leaves_and_a_cut_off_fewer() -> None:
    there = planted()
    found = BestFirst(there, Blend(1, 0), 1).search(asked("anchor number30"))
    assert found.passages < 24
    assert found.nodes[0] == 4
    assert BestFirst(there, Blend(0, 1), 10, most=1).search(asked("anchor")).passages in {4, 5}


# ------------------------------------------------------------------------------------------ collapsed


def test_a_summary_brings_the_passages_that_fit_best() -> None:
    collapsed = Collapsed(planted(), brings=2)
    pool = Ranking(np.array([48 + 1, 0, 3]), np.array([3.0, 2.0, 1.0]))  # the summary of L1:1, the taxes
    found = collapsed._passages(asked("deduction"), pool)
    subjects = [
        planted().corpus_index.corpus.passages[at].doc_id.split("-")[0] for at in found.positions.tolist()
    ]
    assert subjects == ["tax", "tax", "cat", "cat"]
    assert found.scores.tolist() == [3.0, 3.0, 2.0, 1.0]
    assert collapsed.places[0] == (1, 0)
    assert len(collapsed.places) == 16


def test_the_collapsed_tree_finds_what_is_asked_for() -> None:
    found = Collapsed(planted()).ranked(asked("oven dough"))
    assert planted().corpus_index.corpus.passages[int(found.positions[0])].doc_id.startswith("bread")
    assert len(set(found.positions.tolist())) == len(found.positions)


# ---------------------------------------------------------------------------------------- what is known


def test_means_radii_and_words_follow_from_what_lies_below() -> None:
    there = planted()
    vectors = np.asarray(there.corpus_index.vectors, np.float64)
    for level in (1, 2):
        for node in range(there.tree.size(level)):
            members = there.tree.members(level, node)
            assert there.means[level - 1][node] == pytest.approx(vectors[members].mean(axis=0), abs=1e-6)
            far = np.linalg.norm(vectors[members] - there.means[level - 1][node], axis=1).max()
            assert there.radii[level - 1][node] == pytest.approx(far)
            words = there.corpus_index.words.by_term.toarray()[members].max(axis=0)
            assert np.array_equal(there.words[level - 1].toarray()[node], words)


def test_the_structure_names_every_node_parent_and_passage() -> None:
    structure = planted().structure(None)
    parents = [edge.source for edge in structure.edges if edge.target == "passage:cat-0"]
    assert parents == ["L2:0", "L2:11"]
    assert {node.role for node in structure.nodes} == {"root", "branch", "passage"}
    assert len(structure.nodes) == 1 + 4 + 12 + 48
    assert len(structure.edges) == 4 + 12 + 49
    branch = next(node for node in structure.nodes if node.node_id == "L1:1")
    assert branch.level == 1
    assert branch.about


def test_no_document_is_taken_for_a_node() -> None:
    passages = [Passage(doc_id, f"text {doc_id}") for doc_id in ("root", "L1:0", "L2:0", "entity:ada")]
    ground = CorpusIndex.of(Corpus(passages), StaticEmbedder(), WeightedFusion(weights=(0.8, 0.2)), 20, Kit())
    tree = KMeans(depth=2, leaf=2).build(ground.vectors, 0)
    summaries = Keywords().summarise(tree, passages, ground.vectors, Kit())
    nodes = [node.node_id for node in IndexedTree(ground, tree, summaries).structure(None).nodes]
    assert len(set(nodes)) == len(nodes)


def test_a_route_step_has_its_scores_by_stage() -> None:
    _, walk = walked(HybridRouter())
    assert isinstance(walk.steps[0], Step)
    assert set(walk.steps[0].scores) == {"first", "words", "dense", "score"}


def test_a_small_corpus_has_a_tree_too() -> None:
    ground = CorpusIndex.of(
        Corpus([Passage("one", "alone")]), StaticEmbedder(), WeightedFusion(weights=(0.8, 0.2)), 20, Kit()
    )
    tree = KMeans().build(ground.vectors, 0)
    only = IndexedTree(
        ground, tree, Keywords().summarise(tree, ground.corpus.passages, ground.vectors, Kit())
    )
    beam = Beam(only, WordRouter(), WordRouter().load(only), None)
    leaves = beam.descend(ground.ask("alone", Meter()), Meter()).leaves
    assert tree.below[-1].of_all(leaves).tolist() == [0]
