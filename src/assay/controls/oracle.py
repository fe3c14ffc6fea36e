"""The oracle: what the labels, the gold and the published trees say, in the best order. It must pass.

A gate that refuses it can be passed by nobody, on these items and with these labels. What no answer can show
(how long it took, what people think of it) it has at the best end of the measure's range.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import msgspec
import numpy as np

from assay.controls.trial import Columns, DoesNotApply, Draw, StandIn, Trial, answering
from assay.core.block import Block, View
from assay.core.protocols import Measure
from assay.core.records import FORBIDDEN, IMPOSSIBLE, Context, Hit, Item, Observed, Piece, Response, Step
from assay.core.shown import Wanted, evidence_of
from assay.kinds.hierarchy.measures.tree import PASSAGES, ROUTE, VISITED, Case, cases
from assay.kinds.memory.measures.walk import PATH, REMOVED, SEED, SPREAD, TENSION, Expected, expected
from assay.retrieval.tokens import PACKAGED, packaged
from assay.stats.rows import Column


@dataclass(frozen=True)
class Oracle:
    """The labels in the best order, and whatever else the items expect: it must pass."""

    expected: ClassVar[str] = "passes"
    draws: ClassVar[int] = 1

    def mutants(self, trial: Trial) -> Mapping[str, Draw]:
        if not trial.roles.candidates:
            raise DoesNotApply("no clause is about a system")
        columns = best_scores(trial)
        return {"": lambda _: StandIn(columns)}


def best_scores(trial: Trial) -> Columns:
    """The candidates' scores with the oracle in their place."""
    views = {getattr(each, "seen_in", View()) for each in trial.every if "labels" in each.needs}
    labels = sorted({label for view in views for label in view.labels} - {FORBIDDEN})
    made = trial.rescored("oracle", lambda block, _: _answered(block, labels or ["relevance"]))
    own = trial.columns
    by_name = {measure.name: measure for measure in trial.measures}
    return {
        key: _at_best(by_name[key[1]], own[key]) if _beyond_answers(by_name[key[1]]) else column
        for key, column in made.items()
    }


def _beyond_answers(measure: Measure) -> bool:
    """Whether a measure reads what answers do not hold: people's scores of them, or what they cost."""
    costs = measure.better == "lower" and measure.high is None and "labels" not in measure.needs
    return costs or {"answer", "labels"} <= measure.needs


def _at_best(measure: Measure, own: Column) -> Column:
    best = measure.low if measure.better == "lower" else measure.high
    if best is None:
        return own
    return Column(np.where(own.counted, best, own.values), own.status)


def _answered(block: Block, labels: Sequence[str]) -> Block:
    right = _ranked(block, labels)
    shown = evidence_of(block.items)
    every = zip(block.items, block.responses, expected(block.items), shown, cases(block), strict=True)
    made = [
        None
        if response is None
        else _best(item, response, right.get(item.item_id, []), wanted, evidence, case)
        for item, response, wanted, evidence, case in every
    ]
    return answering(block, made)


def _ranked(block: Block, labels: Sequence[str]) -> dict[str, list[str]]:
    """What is labelled for each item, the best grade first, as documents that can be returned."""
    standing_for: dict[str, str] = {}
    for doc_id, units in block.corpus.units.items():
        for unit in units:
            standing_for.setdefault(unit, doc_id)
    found: dict[str, dict[str, float]] = {}
    for label in labels:
        for item_id, target, grade in block.graded(View("passage", label)).iter_rows():
            if grade > 0:
                docs = found.setdefault(item_id, {})
                doc = standing_for.get(target, target)
                docs[doc] = max(grade, docs.get(doc, 0.0))
    return {item_id: sorted(docs, key=lambda doc: (-docs[doc], doc)) for item_id, docs in found.items()}


def _best(
    item: Item,
    response: Response,
    docs: Sequence[str],
    wanted: Expected,
    evidence: Wanted | None,
    case: Case | None,
) -> Response:
    if wanted.unprimed_of is not None:
        return response  # what a probe is compared with, as it was asked afresh
    wishes = item.expects is None or item.expects == "intent"
    hits = [Hit(doc, float(len(docs) - rank)) for rank, doc in enumerate(docs)] if wishes else []
    flags = dict(item.gold.get("flags", {}))
    if impossible := item.gold.get(IMPOSSIBLE):
        flags[IMPOSSIBLE] = impossible
    route = item.gold.get("route") or (response.route if wishes else "nothing")
    trace = [*_walk(docs, wanted), *_removed(response), *(_descent(case) if case is not None else ())]
    contexts = [_context(each, evidence) for each in response.contexts]
    return Response(hits, contexts, route, flags, response.answer, trace, observed=Observed())


def _context(given: Context, evidence: Wanted | None) -> Context:
    """The sentences that are needed, as far as the budget allows."""
    if evidence is None:
        return given
    needed = [
        Piece(unit.source, unit.within(need.start, need.end), need)
        for unit in evidence.units
        for need in unit.needed
    ]
    tokens = packaged(given.tokenizer if given.tokenizer in PACKAGED else PACKAGED[0])
    for count in range(len(needed), -1, -1):
        shown = msgspec.structs.replace(given, pieces=needed[:count])
        weight = tokens.counts([shown.text])[0]
        if given.budget is None or weight <= given.budget:
            return msgspec.structs.replace(shown, tokens=weight)
    return msgspec.structs.replace(given, pieces=[], tokens=0)


def _walk(docs: Sequence[str], wanted: Expected) -> list[Step]:
    """A walk as the item expects it; none where it expects none."""
    steps: list[Step] = []
    nodes = [(step.node_id, step.via_edge_type) for step in wanted.path.steps] if wanted.path else []
    nodes = nodes or [(doc, None) for doc in docs]
    roles, edges = list(wanted.required_semantic_roles), list(wanted.required_edge_types)
    if not (wanted.path or roles or edges or wanted.required_contradiction_pairs or _spreads(wanted)):
        return []
    while nodes and len(nodes) <= max(len(roles) - 1, len(edges)):
        nodes.append((f"{nodes[-1][0]}+", None))  # a further node, for what the named ones have no room for
    for depth, (node, via) in enumerate(nodes):
        edge = via or (edges.pop(0) if depth and edges else None)
        role = roles.pop(0) if roles else None
        steps.append(Step(PATH, depth, node, nodes[depth - 1][0] if depth else None, edge=edge, role=role))
    rest = [doc for doc in docs if doc not in {node for node, _ in nodes}]
    steps += [Step(PATH, 0, doc) for doc in rest]
    steps += [Step(TENSION, 0, b, a) for a, b in wanted.required_contradiction_pairs]
    return [*steps, *_spread(docs, wanted)]


def _removed(response: Response) -> list[Step]:
    """That the best path carried the whole result, where the candidate tells what carried its own."""
    told = {step.edge for step in response.trace if step.kind == REMOVED}
    return [
        Step(REMOVED, 0, "", edge=edge, scores={"change": float(edge == "path")})
        for edge in sorted(map(str, told))
    ]


def _spreads(wanted: Expected) -> bool:
    return bool(
        wanted.activation_trace
        or wanted.required_trace_stop_reasons
        or wanted.min_activation_trace_length
        or wanted.max_activation_trace_length
    )


def _spread(docs: Sequence[str], wanted: Expected) -> list[Step]:
    steps = [
        Step(
            SEED if event.is_seed or (place == 0 and not event.hop) else SPREAD,
            event.hop if event.hop is not None else place,
            event.node_id,
            edge=event.edge_type,
            stop=event.stopped_reason,
        )
        for place, event in enumerate(wanted.activation_trace.steps if wanted.activation_trace else ())
    ]
    if not steps or steps[0].kind != SEED:
        steps.insert(0, Step(SEED, 0, docs[0] if docs else ""))
    held = {step.stop for step in steps}
    steps += [
        Step(SPREAD, 1, steps[0].target, stop=stop, selected=False)
        for stop in wanted.required_trace_stop_reasons
        if stop not in held
    ]
    while len(steps) < (wanted.min_activation_trace_length or 0):
        steps.append(Step(SPREAD, len(steps), steps[0].target))
    return steps


def _descent(case: Case) -> list[Step]:
    """Only the right branches kept at every level, and only their passages visited."""
    tree = case.tree
    kept = [
        Step(ROUTE, level, node_id, parent, {"score": 1.0})
        for level in range(1, tree.depth + 1)
        for node_id in sorted(case.correct(level))
        for parent in tree.parents.get(node_id, [""])[:1]
    ]
    seen = {"nodes": float(len(case.doc_ids)), "of": float(max(len(tree.passages), 1))}
    return [*kept, Step(VISITED, 0, PASSAGES, scores=seen)] if kept else []
