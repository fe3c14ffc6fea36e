"""Cross-links on one small tree: what they reach, and whether a context shows it."""

from __future__ import annotations

import dataclasses

import pytest

from assay.core.records import Budget, Context, Edge, Item, Node, Piece, Response, Step, Structure
from assay.kinds.hierarchy.measures.routing import CrossBranchReach, LinkUse
from walked_block import block_of, scored

# Three branches with a leaf each; a and c name Ada, b and d name Bo, and only c is where Ada leads to.
#   L1:0 - L2:0 - a b      L1:1 - L2:1 - c d      L1:2 - L2:2 - e f
#        - L2:3 - g, which no way below keeps
LEAVES = {"L2:0": "ab", "L2:1": "cd", "L2:2": "ef"}
TREE = [Edge("root", f"L1:{n}") for n in range(3)] + [Edge(f"L1:{n}", f"L2:{n}") for n in range(3)]
TREE += [Edge("L1:0", "L2:3"), Edge("L2:3", "g")]
TREE += [Edge(leaf, doc_id) for leaf, doc_ids in LEAVES.items() for doc_id in doc_ids]
LINKS = [
    *(Edge(doc_id, "entity:ada", "mentions") for doc_id in "ac"),
    Edge("entity:ada", "c", "names"),
    *(Edge(doc_id, "entity:bo", "mentions") for doc_id in "bd"),
]
NODES = [
    Node("root", 0, "root"),
    *(Node(f"L{level}:{n}", level, "branch") for level in (1, 2) for n in range(3)),
    Node("L2:3", 2, "branch"),
    *(Node(doc_id, role="passage", doc_id=doc_id) for doc_id in "abcdefg"),
    *(Node(f"entity:{name}", role="entity") for name in ("ada", "bo")),
]


def routed(*kept: int) -> list[Step]:
    """A way on which the first of the branches kept has the best score, and the leaf of each is kept."""
    scores = {n: 1.0 / (1 + kept.index(n)) if n in kept else 0.1 for n in range(3)}
    top = [Step("route", 1, f"L1:{n}", "root", {"score": scores[n]}, n in kept) for n in range(3)]
    return top + [Step("route", 2, f"L2:{n}", f"L1:{n}", {"score": 1.0}) for n in kept]


def reach(gold: str, kept: tuple[int, ...], links: list[Edge] = LINKS) -> float | None:
    asked = Item("q", "?", gold={"evidence": [{"doc_id": doc_id} for doc_id in gold]})
    made = block_of([asked], [Response(trace=routed(*kept))])
    return scored(CrossBranchReach(), dataclasses.replace(made, structure=Structure(NODES, [*TREE, *links])))[
        0
    ][0]


@pytest.mark.parametrize(
    ("gold", "kept", "expected"),
    [
        ("c", (0,), 1),  # a names Ada, and Ada leads to c
        ("c", (1,), 0),  # c lies in the primary branch
        ("c", (1, 0), 0),
        ("c", (0, 1), 1),  # L1:1 is in the beam, but not the primary branch; a leads there all the same
        ("c", (2,), 0),  # nothing that was visited names Ada
        ("d", (0,), 0),  # b and d both name Bo, who leads nowhere
        ("a", (1,), 0),  # Ada leads to c alone
        ("ac", (0,), 1),
        ("ad", (0, 1), 0),  # the beam came to d by itself
    ],
)
def test_cross_reach(gold: str, kept: tuple[int, ...], expected: float) -> None:
    assert reach(gold, kept) == expected
    assert reach(gold, kept, []) == 0


def test_direct_links_between_passages_and_nodes() -> None:
    assert reach("e", (0,), [Edge("b", "e", "link")]) == 1
    assert reach("e", (0,), [Edge("e", "b", "link")]) == 0  # the other way round
    assert reach("e", (0,), [Edge("b", "c", "link"), Edge("c", "e", "link")]) == 0  # two hops
    assert reach("e", (0,), [Edge("L2:0", "L2:2", "link")]) == 1  # to the leaf that holds it
    assert reach("e", (0,), [Edge("L1:0", "e", "link")]) == 1
    assert reach("e", (0,), [Edge("g", "e", "link"), Edge("L2:3", "e", "link")]) == 0  # from a leaf not kept
    assert reach("e", (0,), [Edge("L1:1", "L2:2", "link")]) == 0  # from a branch that was not kept
    assert reach("e", (0,), [Edge("L1:0", "root", "link")]) == 0  # the root is above everything


def test_cross_reach_is_about_routed_answers_with_evidence() -> None:
    items = [Item("q0", "?"), *(Item(f"q{n}", "?", gold={"evidence": [{"doc_id": "c"}]}) for n in (1, 2))]
    made = block_of(items, [Response(trace=routed(0)), Response(trace=[Step("link", 1, "c")]), Response()])
    made = dataclasses.replace(made, structure=Structure(NODES, [*TREE, *LINKS]))
    assert scored(CrossBranchReach(), made) == [(None, "not_applicable")] * 3


def test_link_use() -> None:
    def shown(budget: Budget, *doc_ids: str) -> Context:
        return Context(budget, [Piece(doc_id, "text") for doc_id in doc_ids], len(doc_ids), "words")

    link = [Step("link", 1, "c", "a", {"weight": 0.3, "score": 0.5}, edge="names", role="ada")]
    answers = [
        Response(contexts=[shown(400, "a", "c"), shown(None, "a")], trace=link),
        Response(contexts=[shown(400, "a"), shown(None, "a", "c")], trace=link),
        Response(contexts=[shown(400, "c"), shown(None, "c")]),  # it came in by itself
        Response(contexts=[shown(200, "c")], trace=link),
        Response(trace=link),
    ]
    items = [Item(f"q{n}", "?", gold={"evidence": [{"doc_id": "c"}]}) for n in range(5)] + [Item("q5", "?")]
    made = block_of(items, [*answers, answers[0]])
    outside = [(None, "not_applicable"), (0.0, "missing"), (None, "not_applicable")]
    assert scored(LinkUse(400), made) == [(1.0, "scored"), (0.0, "scored"), (0.0, "scored"), *outside]
    assert scored(LinkUse(None), made)[:3] == [(0.0, "scored"), (1.0, "scored"), (0.0, "scored")]
    silent = dataclasses.replace(made, gives=frozenset({"contexts"}))
    assert {status for _, status in scored(LinkUse(400), silent)} == {"not_applicable"}
