"""What a kind's bluff scores: claims of everything, beams that keep everything, scores that tremble."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
import yaml
from made_trial import block, items, ranked, replace, trial, value_of

from assay.controls.general import Jitter
from assay.controls.trial import ControlNotApplicable, Trial
from assay.core.records import Edge, Item, Node, Response, Step, Structure
from assay.core.registry import Registry, template_of
from assay.gates.evaluator import Evaluator
from assay.gates.gate import Gate, GateFile
from assay.gates.verdict import decide_gates
from assay.kinds.hierarchy.controls import FullBeam
from assay.kinds.hierarchy.measures.routing import RoutingError, VisitedShare
from assay.kinds.memory.controls import BluffedTrace
from assay.kinds.memory.measures.activation import PrimingPull, PrimingShift
from assay.kinds.memory.measures.expectations import CaseHit, ContradictionHit, PathHit, SemanticHit
from walked_block import hits, item, path, value, walked

COUNT = 12


def drawn(control: object, found: Trial, key: tuple[str, str]) -> float:
    draw = control.mutants(found)[""]  # type: ignore[attr-defined]
    return value_of(found, draw(np.random.default_rng(0)).columns, key)


# ------------------------------------------------------------------------------- claims of a memory


def told(n: int) -> Response:
    """A path from the right document, an exception, to its rule, with the tension between them."""
    steps = [*path(f"d{n}:exception", f"exception_to>r{n}:rule"), Step("tension", 0, f"r{n}", f"d{n}")]
    return Response(hits(f"d{n}", f"r{n}", "x", "y", "z"), trace=steps)


def stated(n: int) -> Item:
    gold = {
        "path": {"match_mode": "exact", "steps": [{"node_id": f"r{n}"}, {"node_id": f"d{n}"}]},
        "required_semantic_roles": ["exception"],
        "required_contradiction_pairs": [[f"d{n}", f"r{n}"]],
    }
    return Item(f"q{n}", "a query", gold={"relevant": {f"d{n}": 1.0}, **gold})


def test_claiming_everything_shows_nothing() -> None:
    of = [stated(n) for n in range(COUNT)]
    measures = [SemanticHit(), ContradictionHit(), CaseHit()]
    found = trial([block("memory", of, [told(n) for n in range(COUNT)])], measures, {"memory": None})
    assert value_of(found, {}, ("memory", "SemanticHit")) == 1.0
    assert value_of(found, {}, ("memory", "ContradictionHit")) == 1.0
    # every node has every role; of five hits all ten pairs are at odds, and one of ten is a tenth
    assert drawn(BluffedTrace(), found, ("memory", "SemanticHit")) == 0.0
    assert drawn(BluffedTrace(), found, ("memory", "CaseHit")) == 0.0


def test_a_bluff_needs_words_to_claim() -> None:
    flat = trial([block("new", items(COUNT), ranked(COUNT, 1))], ["R@5"], {"new": None})
    with pytest.raises(
        ControlNotApplicable, match="no trace of the study names the roles or edges of a path"
    ):
        BluffedTrace().mutants(flat)


def test_claims_commit_themselves() -> None:
    role = item("q", "a", required_semantic_roles=["exception"])
    assert value(SemanticHit(), role, walked(*path("a:exception"))) == 1.0
    assert value(SemanticHit(), role, walked(*path("a:exception"), *path("a:remedy"))) == 0.0  # two roles
    assert value(SemanticHit(), role, walked(*path("a"), *path("b:exception"))) == 0.0  # b is no evidence
    edge = item("q", "a", required_edge_types=["causes", "refers_to"])
    again = walked(*path("a", "causes>b", "refers_to>b"))  # b is visited twice
    assert value(SemanticHit(), edge, again) == 0.0
    assert value(SemanticHit(), edge, walked(*path("a", "causes>b", "refers_to>c"))) == 1.0
    pair = item("q", "a", required_contradiction_pairs=[["a", "b"]])
    claims = [Step("tension", 0, "a", "b"), *(Step("tension", 0, "a", f"n{n}") for n in range(9))]
    assert value(ContradictionHit(), pair, walked(*path("a"), *claims)) == 1.0  # 1 of 10
    more = [*claims, Step("tension", 0, "a", "n9")]
    assert value(ContradictionHit(), pair, walked(*path("a"), *more)) == 0.0  # 1 of 11
    assert value(ContradictionHit(precision=0.0), pair, walked(*path("a"), *more)) == 1.0
    way = item("q", "a", path={"match_mode": "exact", "steps": [{"node_id": "a"}, {"node_id": "b"}]})
    many = [step for n in range(10) for step in path(f"n{n}")]
    assert value(PathHit(), way, walked(*path("a", "causes>b"), *many)) == 1.0
    assert value(PathHit(), way, walked(*many, *path("a", "causes>b"))) == 0.0  # the eleventh path
    assert value(PathHit(most=11), way, walked(*many, *path("a", "causes>b"))) == 1.0


# ------------------------------------------------------------------------------------------ priming


def primed(shift: float) -> Trial:
    """Ten sequences: a prime about p, then a probe whose result moves towards p by so much, and its twin."""
    of, moved, still = [], [], []
    for n in range(10):
        name, right = f"s{n}", {"relevant": {f"p{n}": 1.0}}
        of += [
            Item(f"prime{n}", "a query", gold=right, sequence=name),
            Item(f"probe{n}", "a query", gold={"relevant": {f"o{n}": 1.0}}, sequence=name),
            Item(f"fresh{n}", "a query", gold={"unprimed_of": f"probe{n}"}),
        ]
        afresh = [(f"p{n}", 1.0), (f"o{n}", 1.0), ("x", 1.0), ("y", 1.0)]
        result = Response(hits(f"p{n}", f"o{n}", "x", "y"))
        plain = msgspec.structs.replace(result, hits=_scored(afresh))
        toward = msgspec.structs.replace(result, hits=_scored([(f"p{n}", 1.0 + shift), *afresh[1:]]))
        still += [plain, plain, plain]
        moved += [plain, toward, plain]
    blocks = [block("static", of, still), block("dynamic", of, moved)]
    found = trial(blocks, [PrimingShift(), PrimingPull()], {"dynamic": "static"})
    return replace(found)


def _scored(pairs: list[tuple[str, float]]) -> list[object]:
    from assay.core.records import Hit

    return [Hit(doc, score) for doc, score in pairs]


def test_the_pull_is_towards_what_was_asked() -> None:
    # p: 1.4 of 4.4 after, 1 of 4 before: 0.318 - 0.25 = 0.0682, which is the distance too
    found = primed(0.4)
    assert value_of(found, {}, ("dynamic", "PrimingPull")) == pytest.approx(1.4 / 4.4 - 0.25)
    assert value_of(found, {}, ("dynamic", "PrimingShift")) == pytest.approx(1.4 / 4.4 - 0.25)
    away = primed(-0.4)  # 0.6 of 3.6 after: it moved as far, the other way
    assert value_of(away, {}, ("dynamic", "PrimingPull")) == pytest.approx(0.6 / 3.6 - 0.25)
    assert value_of(away, {}, ("dynamic", "PrimingShift")) > 0


def test_jittered_scores_show_no_shift_and_no_pull() -> None:
    gates = {
        "shift": ["PrimingShift(dynamic) - PrimingShift(static) > 0"],
        "pull": ["PrimingPull(dynamic) - PrimingPull(static) > 0"],
    }
    found, passed = primed(0.4), dict.fromkeys(gates, 0)
    draw = Jitter().mutants(found)[""]
    random = np.random.default_rng(3)
    for _ in range(40):
        rows = found.rows.replacing(draw(random).columns)
        evaluator = Evaluator(rows, Registry(), resamples=500)
        for name, go in gates.items():
            (verdict,) = decide_gates([Gate.from_file(name, GateFile(go=go, on="interval"))], evaluator)
            passed[name] += verdict.verdict == "go"
    assert passed["shift"] == 40  # whatever moves, moves
    assert passed["pull"] <= 4  # one in twenty, give or take


# ------------------------------------------------------------------------------------- a tree's beam


def tree() -> Structure:
    """A root, four nodes below it, five passages below each."""
    nodes, edges = [Node("root", 0)], []
    for branch in range(4):
        nodes.append(Node(f"n{branch}", 1))
        edges.append(Edge("root", f"n{branch}"))
        for leaf in range(5):
            doc = f"d{5 * branch + leaf}"
            nodes.append(Node(f"p-{doc}", doc_id=doc))
            edges.append(Edge(f"n{branch}", f"p-{doc}"))
    return Structure(nodes, edges)


def routed(n: int, *, right: bool) -> Response:
    """One branch of four kept, and its five passages of twenty visited."""
    own = n // 5 if right else (n // 5 + 1) % 4
    steps = [
        Step("route", 1, f"n{branch}", "root", {"score": 1.0}, selected=branch == own) for branch in range(4)
    ]
    seen = Step("visited", 0, "passages", scores={"nodes": 5.0, "of": 20.0})
    return Response(hits(f"d{n}"), trace=[*steps, seen])


def test_a_beam_that_keeps_everything_passes_no_gate_that_bounds_what_it_visits() -> None:
    unit = {"source": "s", "start": 0, "end": 4, "text": "fact"}
    of = [Item(f"q{n}", "a query", gold={"evidence": [{"doc_id": f"d{n}", **unit}]}) for n in range(COUNT)]
    made = []
    for name in ("beam", "beam_reranked"):
        answers = [routed(n, right=n != 0) for n in range(COUNT)]
        made.append(replace(block(name, of, answers), structure=tree()))
    found = trial(made, [RoutingError(), VisitedShare()], {"beam": None, "beam_reranked": None})
    assert value_of(found, {}, ("beam", "eps@L1")) == pytest.approx(1 / 12)
    drawn_columns = FullBeam().mutants(found)[""](np.random.default_rng(0)).columns
    assert value_of(found, drawn_columns, ("beam", "eps@L1")) == 0.0
    assert value_of(found, drawn_columns, ("beam", "Visited")) == pytest.approx(0.999)
    text = (template_of("hierarchy") / "gates.yaml").read_text()
    read = yaml.safe_load(text)["epsilon"]
    shipped = GateFile.model_validate({"on" if key is True else key: read[key] for key in read})
    without = shipped.model_copy(update={"go": shipped.go[:1]})  # as it was: the error alone
    evaluator = Evaluator(found.rows.replacing(drawn_columns), Registry(), resamples=500)
    words = [
        decide_gates([Gate.from_file("epsilon", rules)], evaluator)[0].verdict for rules in (without, shipped)
    ]
    assert words == ["go", "inconclusive"]
