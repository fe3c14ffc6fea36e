"""Whom a gate is about: candidates, and what they are compared with."""

from __future__ import annotations

import pytest

from assay.controls.trial import find_roles
from assay.core.registry import Registry
from assay.gates.grammar import parse_clause
from assay.gates.operand import calls_in, resolve_call

SYSTEMS = ["old", "new", "other"]


def roles(*clauses: str, baseline: str | None = "old") -> tuple[dict[str, str | None], tuple[str, ...]]:
    """The roles in clauses for go; one that begins with "kill:" is a kill."""
    read = []
    for text in clauses:
        role, _, written = text.rpartition("kill: ")
        clause = parse_clause(written)
        found = [*calls_in(clause.left), *calls_in(clause.right)]
        read.append(
            (
                "kill" if role or text.startswith("kill: ") else "go",
                clause,
                {call: resolve_call(call, SYSTEMS, Registry(), clause.where) for call in found},
            )
        )
    found = find_roles(read, baseline)
    return dict(found.pairs), found.references


@pytest.mark.parametrize(
    ("clauses", "pairs", "references"),
    [
        (["R@5(new) >= R@5(old) + 0.02"], {"new": "old"}, ("old",)),
        (["R@5(old) <= R@5(new)"], {"new": "old"}, ("old",)),
        (["R@5(new) >= 80%"], {"new": None}, ()),
        (["R@5(old) >= 80%"], {"old": None}, ()),  # about one system, the baseline or not
        (["Seconds(new) <= 1.2 * Seconds(old)"], {"new": "old"}, ("old",)),  # less is better
        (["kill: R@5(new) < R@5(old)"], {"new": "old"}, ("old",)),  # a kill is against what is worse
        (["max(R@5(new), R@5(other)) >= R@5(old)"], {"new": "old", "other": "old"}, ("old",)),
        (["R@5(new) / max(R@5(old), R@5(other)) >= 1.15"], {"new": "old"}, ("old", "other")),
        (["R@5(old) - R@5(new) > 0"], {"old": "new"}, ("new",)),  # an ablation: the baseline is the candidate
        (["wins(RR@5(new), RR@5(old)) > wins(RR@5(old), RR@5(new))"], {"new": "old"}, ("old",)),
        (["R@5(new) > R@5(old)", "R@5(old) > R@5(new)"], {"new": "old"}, ("old",)),
        (["Effect(of=path)(new) - Effect(of=random)(new) > 0"], {"new": None}, ()),
        (
            ["PrimingShift(new) > PrimingShift(other)", "PrimingShift(other) <= 0"],
            {"new": "other"},
            ("other",),
        ),
    ],
)
def test_the_candidates_are_the_systems_that_a_gate_wants_to_be_better(
    clauses: list[str], pairs: dict[str, str | None], references: tuple[str, ...]
) -> None:
    assert roles(*clauses) == (pairs, references)
