"""The modes as systems: what they return, what their switches do, what a session remembers."""

from __future__ import annotations

from itertools import pairwise

import pytest

from assay.core.dataset import Corpus
from assay.core.errors import UsageError
from assay.core.protocols import Kit
from assay.core.records import Passage, Query, Response, Step
from assay.core.registry import SYSTEMS, Registry
from assay.retrieval.fuse import result_distance

NINE = (
    "lexical_baseline",
    "embedding_baseline",
    "structure_only",
    "weighted_graph",
    "activation_spreading_v1",
    "weighted_graph_static",
    "weighted_graph_dynamic",
    "activation_spreading_static",
    "activation_spreading_dynamic",
)
GRAPH = (*NINE[2:], "pagerank")
RUNBOOK = [
    "When the gate sensor reports ice, stop the north lift.",
    "After the north lift is stopped, call the mountain warden.",
    "If the mountain warden does not answer, sound the valley horn.",
    "Once the valley horn sounds, clear the lower piste.",
    "Wax the rental skis every evening.",
    "Count the rental helmets every Monday.",
]
CORPUS = Corpus(
    [
        Passage(
            f"lift:{number}", text, source="lift", section="Ice", metadata={"pack": "example_runbook_pack"}
        )
        for number, text in enumerate(RUNBOOK, 1)
    ]
)
ASK = Query("q", "The mountain warden does not answer: what sounds?")


def answer(system: str, *queries: Query, corpus: Corpus = CORPUS) -> Response:
    """What a system says to the last of some queries in one session."""
    session = Registry().create(SYSTEMS, system).build(corpus, 0, Kit()).session()
    responses: list[Response] = [session.answer(query, []) for query in queries or (ASK,)]
    return responses[-1]


def paths(response: Response) -> list[list[Step]]:
    found: list[list[Step]] = []
    for step in response.trace:
        if step.kind == "path":
            if step.depth == 0:
                found.append([])
            found[-1].append(step)
    return found


@pytest.mark.parametrize("system", [*NINE, "pagerank"])
def test_every_mode_ranks_and_replays(system: str) -> None:
    response = answer(system)
    assert response.hits[0].doc_id == "lift:3" or system == "pagerank"
    assert all(above.score >= below.score for above, below in pairwise(response.hits))
    walked = paths(response)
    assert walked
    edges = {(edge.source, edge.target, edge.kind) for edge in published(system)}
    for path in walked:
        assert [step.depth for step in path] == list(range(len(path)))
        for before, step in pairwise(path):
            assert step.source == before.target
            both = {(step.source, step.target, step.edge), (step.target, step.source, step.edge)}
            assert both & edges, "a path may only use edges of the graph"
    assert (max(map(len, walked)) > 1) == (system in GRAPH)


def published(system: str) -> list:
    return list(Registry().create(SYSTEMS, system).build(CORPUS, 0, Kit()).structure().edges)


@pytest.mark.parametrize("system", GRAPH)
def test_without_structure_nothing_is_walked(system: str) -> None:
    bare = answer(f"{system}(structure=false)")
    assert {len(path) for path in paths(bare)} == {1}
    assert not [step for step in bare.trace if step.kind in ("spread", "tension")]


def test_without_weights_the_weighted_graph_is_the_plain_one() -> None:
    assert answer("weighted_graph(weights=false)").hits == answer("structure_only").hits
    assert answer("weighted_graph").hits != answer("structure_only").hits


@pytest.mark.parametrize("system", ["structure_only", "weighted_graph", "activation_spreading_v1"])
def test_without_expansion_neighbours_count_but_are_not_walked_to(system: str) -> None:
    still = answer(f"{system}(expand=false)")
    assert {len(path) for path in paths(still)} == {1}
    assert still.hits != answer(f"{system}(structure=false)").hits


@pytest.mark.parametrize("mode", ["weighted_graph", "activation_spreading"])
def test_static_forgets_and_dynamic_learns(mode: str) -> None:
    primes = [Query(f"p{number}", "How often are rental helmets counted?") for number in range(5)]
    plain = {"weighted_graph": "weighted_graph", "activation_spreading": "activation_spreading_v1"}[mode]
    static, dynamic = f"{mode}_static(seeds=1)", f"{mode}_dynamic(seeds=1)"
    alone = answer(static, ASK)
    assert answer(static, *primes, ASK).hits == alone.hits == answer(f"{plain}(seeds=1)", *primes, ASK).hits
    assert answer(dynamic, ASK).hits == alone.hits  # nothing came before
    primed = answer(dynamic, *primes, ASK)
    assert result_distance(primed.hits, alone.hits) > 0
    score = {hit.doc_id: hit.score for hit in primed.hits}
    before = {hit.doc_id: hit.score for hit in alone.hits}
    assert score["lift:6"] - before["lift:6"] > score["lift:3"] - before["lift:3"]  # used against passed by


def test_sessions_do_not_share_what_they_learn() -> None:
    index = Registry().create(SYSTEMS, "weighted_graph_dynamic").build(CORPUS, 0, Kit())
    first = index.session().answer(ASK, []).hits
    other = index.session()
    other.answer(Query("p", "rental skis"), [])
    assert index.session().answer(ASK, []).hits == first != other.answer(ASK, []).hits


def test_removing_the_path_is_reported_beside_removing_others() -> None:
    system = "activation_spreading_v1(seeds=1, counterfactuals=5)"
    told = {step.edge: step.scores for step in answer(system).trace if step.kind == "removed"}
    assert set(told) == {"path", "random", "nearby"}
    assert told["path"]["change"] > 0
    assert {scores["edges"] for scores in told.values()} == {told["path"]["edges"]}
    assert answer(system).trace == answer(system).trace  # what is removed is drawn by seed and item


def test_what_no_node_matches_has_no_hits() -> None:
    nothing = answer("lexical_baseline", Query("q", "zebra quantum"))
    assert (nothing.hits, nothing.trace) == ([], [])
    assert answer("activation_spreading_v1", Query("q", "")).hits == []


@pytest.mark.parametrize("system", [*NINE, "pagerank"])
def test_an_empty_corpus_answers_nothing(system: str) -> None:
    assert answer(system, corpus=Corpus(())).hits == []


@pytest.mark.parametrize(
    "wrong", ["k=0", "seeds=0", "hops=0", "decay=1.5", "threshold=-1", "limit=0", "damping=2"]
)
def test_parameters_out_of_range_are_refused(wrong: str) -> None:
    system = "pagerank" if wrong.startswith("damping") else "activation_spreading_v1"
    with pytest.raises(UsageError, match=wrong.partition("=")[0]):
        Registry().create(SYSTEMS, f"{system}({wrong})")


def test_time_of_counterfactuals_is_not_booked() -> None:
    seen = answer("activation_spreading_v1(counterfactuals=50)").observed.seconds
    assert seen["total"] == pytest.approx(sum(value for stage, value in seen.items() if stage != "total"))
    assert "removals" not in seen
