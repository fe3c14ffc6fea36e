"""The oracle returns what labels, gold and published trees define as right, in the best order. It must pass.

If a gate refuses the oracle, no system can pass that gate with these items and labels. Some measures read
facts that answers do not show, such as their duration or the opinion of people. For such a measure, the
oracle gets the best value of the measure's range.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import msgspec
import numpy as np

from assay.controls.trial import Columns, ControlNotApplicable, Draw, StandIn, Trial, replace_responses
from assay.core.block import Block, View
from assay.core.protocols import Measure, OraclePart
from assay.core.records import FORBIDDEN, IMPOSSIBLE, Context, Hit, Item, Observed, Piece, Response, Step
from assay.core.shown import ItemEvidence, evidence_of
from assay.measures.declaration import view_of
from assay.retrieval.tokens import PACKAGED, load_packaged
from assay.stats.rows import Column


@dataclass(frozen=True)
class Oracle:
    """The labels in the best order, and everything else that the items expect: it must pass."""

    expected: ClassVar[str] = "passes"
    draws: ClassVar[int] = 1

    def mutants(self, trial: Trial) -> Mapping[str, Draw]:
        if not trial.roles.candidates:
            raise ControlNotApplicable("no clause is about a system")
        columns = best_scores(trial)
        return {"": lambda _: StandIn(columns)}


def best_scores(trial: Trial) -> Columns:
    """Returns the scores of the oracle, in place of the candidates' scores."""
    views = {view_of(each) for each in trial.every if "labels" in each.needs}
    labels = sorted({label for view in views for label in view.labels} - {FORBIDDEN})
    made = trial.rescored(
        "oracle", lambda block, _: _answer_best(block, labels or ["relevance"], trial.oracle)
    )
    own = trial.columns
    by_name = {measure.name: measure for measure in trial.measures}
    return {
        key: _best_column(by_name[key[1]], own[key]) if _beyond_answers(by_name[key[1]]) else column
        for key, column in made.items()
    }


def _beyond_answers(measure: Measure) -> bool:
    """Whether a measure reads what answers do not hold: people's marks, or costs."""
    costs = measure.better == "lower" and measure.high is None and "labels" not in measure.needs
    return costs or {"answer", "labels"} <= measure.needs


def _best_column(measure: Measure, own: Column) -> Column:
    best = measure.low if measure.better == "lower" else measure.high
    if best is None:
        return own
    return Column(np.where(own.counted, best, own.values), own.status)


def _answer_best(block: Block, labels: Sequence[str], parts: Sequence[OraclePart]) -> Block:
    right = _labelled_documents(block, labels)
    docs = [right.get(item.item_id, []) for item in block.items]
    traces = [list(part.steps(block, docs)) for part in parts]
    shown = evidence_of(block.items)
    made: list[Response | None] = []
    for at, (item, response) in enumerate(zip(block.items, block.responses, strict=True)):
        steps = [trace[at] for trace in traces]
        if response is None or None in steps:
            made.append(response)
        else:
            walked = [step for each in steps for step in each or ()]
            made.append(_best_response(item, response, docs[at], shown[at], walked))
    return replace_responses(block, made)


def _labelled_documents(block: Block, labels: Sequence[str]) -> dict[str, list[str]]:
    """Returns the labelled documents of each item that can be returned, the best grade first."""
    document_of_unit: dict[str, str] = {}
    for doc_id, units in block.corpus.units.items():
        for unit in units:
            document_of_unit.setdefault(unit, doc_id)
    found: dict[str, dict[str, float]] = {}
    for label in labels:
        for item_id, target, grade in block.graded(View("passage", label)).iter_rows():
            if grade > 0:
                docs = found.setdefault(item_id, {})
                doc = document_of_unit.get(target, target)
                docs[doc] = max(grade, docs.get(doc, 0.0))
    return {item_id: sorted(docs, key=lambda doc: (-docs[doc], doc)) for item_id, docs in found.items()}


def _best_response(
    item: Item, response: Response, docs: Sequence[str], evidence: ItemEvidence | None, trace: list[Step]
) -> Response:
    ranked = item.expects is None or item.expects == "intent"
    hits = [Hit(doc, float(len(docs) - rank)) for rank, doc in enumerate(docs)] if ranked else []
    flags = dict(item.gold.get("flags", {}))
    if impossible := item.gold.get(IMPOSSIBLE):
        flags[IMPOSSIBLE] = impossible
    route = item.gold.get("route") or (response.route if ranked else "nothing")
    contexts = [_context(each, evidence) for each in response.contexts]
    return Response(hits, contexts, route, flags, response.answer, trace, observed=Observed())


def _context(given: Context, evidence: ItemEvidence | None) -> Context:
    """Returns a context of the needed sentences. It has as many of them as the budget allows."""
    if evidence is None:
        return given
    needed = [
        Piece(unit.source, unit.within(need.start, need.end), need)
        for unit in evidence.units
        for need in unit.needed
    ]
    tokens = load_packaged(given.tokenizer if given.tokenizer in PACKAGED else PACKAGED[0])
    for count in range(len(needed), -1, -1):
        shown = msgspec.structs.replace(given, pieces=needed[:count])
        weight = tokens.counts([shown.text])[0]
        if given.budget is None or weight <= given.budget:
            return msgspec.structs.replace(shown, tokens=weight)
    return msgspec.structs.replace(given, pieces=[], tokens=0)
