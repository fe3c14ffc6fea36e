"""Differences that a gate decides: they are declared with it, so that reports decide them as it does.

A clause such as `M(a) >= M(b) + 0.02` decides the difference of two systems in one measure. What a report
says of that difference must be what the clause found, at the level that the gate leaves for the clause.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from assay.core.records import Verdict
from assay.gates.budget import error_families
from assay.gates.clause import decide_clause
from assay.gates.closed_form import linear_form
from assay.gates.decision import is_guarded
from assay.gates.evaluate import Evaluator
from assay.gates.leaf import Mean
from assay.gates.looks import LookHistory
from assay.gates.parts import expand_clause
from assay.gates.syntax import Arithmetic, Clause
from assay.gates.verdict import Gate, next_look
from assay.stats.families import GateDifference


def find_decided_differences(
    gates: Sequence[Gate], verdicts: Sequence[Verdict], evaluator: Evaluator, book: LookHistory
) -> list[GateDifference]:
    """Each difference of two systems that a gate decides; those of deciding gates first.

    Gates that only inform are declared too, and their outcome stands on the same page. A gate that an earlier
    step kept from being reached decides nothing.
    """
    reached = {verdict.gate for verdict in verdicts if verdict.clauses}
    found = [gate for gate in gates if gate.name in reached]
    found.sort(key=lambda gate: not gate.rules.deciding)
    return [each for gate in found for each in _of_gate(gate, evaluator, book)]


def _of_gate(gate: Gate, evaluator: Evaluator, book: LookHistory) -> Iterator[GateDifference]:
    sharing = 0
    for role, levels in gate.levels(evaluator, next_look(gate, evaluator, book)).items():
        tree = expand_clause(gate.groups[role], evaluator.rows.known_values, evaluator.leaves)
        for family in error_families(tree, to_hold=True):
            sharing += 1
            for clause in family:
                pair = _pair(clause, evaluator)
                if pair is None or not is_guarded(clause, gate.rules, evaluator):
                    continue
                (above, below), constant = pair
                found = decide_clause(clause, gate.rules, evaluator, kills=role == "kill", levels=levels)
                if found.value is None:
                    continue
                yield GateDifference(
                    gate.name,
                    above.system,
                    below.system,
                    above.measure.name,
                    evaluator.rows.mask(above.where),
                    math.nan if found.low is None else found.low - constant,
                    math.nan if found.high is None else found.high - constant,
                    levels[clause].holds,
                    sharing,
                )


def _pair(clause: Clause, evaluator: Evaluator) -> tuple[tuple[Mean, Mean], float] | None:
    """The two means whose difference a clause is about, and what it adds to that; None if it is not one."""
    form = linear_form(Arithmetic("-", clause.left, clause.right))
    if form is None or sorted(form[0].values()) != [-1, 1]:
        return None
    calls, leaves = sorted(form[0], key=lambda call: -form[0][call]), evaluator.leaves(clause)
    above, below = (leaves[call] for call in calls)
    if not isinstance(above, Mean) or not isinstance(below, Mean):
        return None
    alike = above.measure.name == below.measure.name and above.where == below.where
    return ((above, below), form[1]) if alike and above.system != below.system else None
