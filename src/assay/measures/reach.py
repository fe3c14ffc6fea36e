"""Explains where a measure needs more than there is: higher grades than any label, or longer lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import inf

import numpy as np

from assay.core.block import Block
from assay.core.gains import GainMatrix
from assay.core.optional import GradeMeasure
from assay.core.protocols import Measure
from assay.measures.declaration import cutoff_of, view_of
from assay.measures.fallback import IrMeasure
from assay.measures.ranking import RR, P, RankingMeasure, Rprec, Success

MANY = 0.5  # if this share of the lists ends at one length, they were cut there


def explain_inapplicable(measure: Measure, highest: float) -> str:
    """Says why a measure applies to no item if `highest` is the highest grade; empty if it applies."""
    least = measure.least if isinstance(measure, GradeMeasure) else None
    if least is None or highest >= least:
        return ""
    wanted = f"no label reaches {least:g}" if least >= 1 else "no label is above 0"
    fix = "Lower rel, or correct the grades" if least > 1 else "Correct the grades"
    return f"{measure.name} applies to no item: {wanted} (the highest is {highest:g}). {fix}"


def inapplicable_measures(measures: Sequence[Measure], blocks: Sequence[Block]) -> Iterator[str]:
    """Yields why a measure applies to no item of a study, for each measure that needs a higher grade."""
    for measure in measures:
        view = view_of(measure)
        highest = max((block.highest_in(view) for block in blocks), default=inf)
        if highest > -inf and (why := explain_inapplicable(measure, highest)):
            yield why


def describe_cut_lists(
    system: str, measures: Mapping[str, tuple[Measure, GainMatrix]], whole: float = inf
) -> str:
    """Warns of measures that read further down than a system's lists go. Empty if there are none.

    `whole` is the number of documents: a list of all documents is not cut.
    """
    deeper = {name: depth for name, each in measures.items() if (depth := _cut_at(*each)) < whole}
    if not deeper:
        return ""
    depth = max(deeper.values())
    names, verb = ", ".join(deeper), "reads" if len(deeper) == 1 else "read"
    what = f"{system}: its lists end at rank {depth:g} and lack relevant documents, and {names} {verb} on"
    return f"{what}. What is below counts as not found: return longer lists, or cut off at {depth:g} at most"


def _cut_at(measure: Measure, gains: GainMatrix) -> float:
    """Returns the length at which lists were cut. Infinity if this cannot have cost the measure anything."""
    depth, cutoff, least = gains.grades.shape[1], cutoff_of(measure), _least(measure)
    if least is None or (cutoff is None and isinstance(measure, P)) or (cutoff or inf) <= depth:
        return inf
    cut = gains.returned == depth
    if not depth or cut.sum() < max(2, MANY * np.count_nonzero(gains.returned)):
        return inf
    found, there = (np.count_nonzero(each >= least, axis=1) for each in (gains.grades, gains.ideal))
    lacking = cut & (found < there)
    if isinstance(measure, RR | Success):
        lacking &= found == 0  # they look only for the first relevant document
    if isinstance(measure, Rprec):
        lacking &= there > depth
    return depth if lacking.any() else inf


def _least(measure: Measure) -> float | None:
    """Returns the lowest grade that a ranking measure counts as relevant; None for other measures."""
    return measure.least if isinstance(measure, RankingMeasure | IrMeasure) else None


def cut_list_warnings(measures: Sequence[Measure], blocks: Sequence[Block]) -> list[str]:
    """Returns a warning for each arm whose lists end above a rank that a measure reads."""
    found: dict[str, str] = {}
    for block in blocks:
        if block.arm.name not in found and not block.lacks(frozenset({"hits"})):
            read = {
                each.name: (each, block.gains_in(view_of(each)))
                for each in measures
                if _least(each) is not None
            }
            if why := describe_cut_lists(block.arm.name, read, len(block.corpus) or inf):
                found[block.arm.name] = why
    return list(found.values())
