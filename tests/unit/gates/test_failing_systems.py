"""A system that fails on more items than a gate allows: its clauses are against go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from pydantic import ValidationError

from assay.gates.evaluator import Evaluator
from assay.gates.gate import GateFile
from assay.gates.verdict import decide_gates
from assay.stats.rows import Rows
from score_rows import REGISTRY, decided, gate, items_of, rows_of

N = 66
REASON = "new failed on 53 of 66 items, more than the 5 % that the gate allows"


def scores(value: float, failed: int = 0, n: int = N) -> list[Any]:
    """So many failures, and one value for the rest."""
    return ["failed"] * failed + [value] * (n - failed)


def verdict(rows: Rows, **file: Any) -> tuple[str, str]:
    (found,) = decide_gates([gate(**file)], Evaluator(rows, REGISTRY, resamples=300))
    return found.verdict, found.reason


@pytest.mark.parametrize(
    ("text", "measure"),
    [
        ("M(new) >= 0.5", "M"),
        ("E(new) <= 0.9", "E"),
        ("T(new) <= 9", "T"),
        ("p50(T(new)) <= 9", "T"),
        ("-1 * M(new) <= -0.5", "M"),
        ("-0.5 >= M(new) * (1 - 2)", "M"),
        ("-E(new) >= -0.9", "E"),
    ],
)
def test_a_system_that_fails_on_most_items_fails_its_clauses(text: str, measure: str) -> None:
    # T has no upper end, so that there is no way to count what failed; nothing has to be counted
    rows = rows_of({("new", measure): scores(0.8, 53)})
    result = decided(text, rows)
    assert (result.holds, result.value, result.n) == (False, None, N)
    assert result.reason == REASON
    assert verdict(rows, go=[text]) == ("no-go", "a system failed on more items than the gate allows")


def test_a_kill_condition_is_met() -> None:
    rows = rows_of({("new", "M"): scores(0.9, 53)})
    assert verdict(rows, kill="M(new) < 0.1")[0] == "no-go"
    # the kill is about another system, and would only have made it inconclusive
    both = rows_of({("new", "M"): scores(0.9, 53), ("old", "M"): scores(0.9)})
    assert verdict(both, go=["M(new) >= 0.5"], kill="M(old) < 0.1")[0] == "no-go"
    assert verdict(both, go=["M(new) >= 0.5"], otherwise="inconclusive")[0] == "no-go"


def test_the_share_is_of_the_items_that_a_clause_is_about() -> None:
    # 3 of 66 are 4.5 %, 4 are 6.1 %
    assert decided("M(new) >= 0.5", rows_of({("new", "M"): scores(0.8, 3)})).holds is True
    four = rows_of({("new", "M"): scores(0.8, 4)})
    assert decided("M(new) >= 0.5", four).holds is False
    assert decided("M(new) >= 0.5", four, max_failed=0.07).holds is True
    # two failures are 3 % of all, and a fifth of the ten items of one slice
    items = items_of(N, kind=["rare"] * 10 + ["plain"] * 56)
    sliced = rows_of({("new", "M"): scores(0.8, 2)}, items)
    assert decided("M(new) >= 0.5", sliced).holds is True
    result = decided("M(new) >= 0.5 where kind=rare", sliced)
    assert (result.holds, result.reason[:27]) == (False, "new failed on 2 of 10 items")
    assert decided("M(new) >= 0.5 where kind=plain", sliced).holds is True


def test_what_is_not_asked_yet_cannot_make_it_good() -> None:
    waiting = rows_of({("new", "M"): ["failed"] * 53 + ["pending"] * 13})
    assert decided("M(new) >= 0.5", waiting).reason == REASON
    assert decided("M(new) >= 0.5", rows_of({("new", "M"): ["pending"] * N})).holds is None


@pytest.mark.parametrize(
    "text", ["M(new) >= M(old) - 0.1", "M(old) <= M(new) + 0.1", "M(new) / M(old) >= 0.9"]
)
def test_a_baseline_that_fails_is_no_merit_of_the_candidate(text: str) -> None:
    columns = {("new", "M"): scores(0.9), ("old", "M"): scores(0.2, 4)}
    result = decided(text, rows_of(columns))  # it would hold with the failed items at either end
    assert decided(text, rows_of(columns), max_failed=0.1).holds is True
    assert result.holds is None
    assert result.reason == (
        "old failed on 4 of 66 items, more than the 5 % that the gate allows, so there is too little to "
        "compare with"
    )
    # the other way round it is the candidate that fails
    swapped = rows_of({("new", "M"): scores(0.9, 4), ("old", "M"): scores(0.2)})
    assert decided(text, swapped).holds is False


def test_a_candidate_that_is_worse_all_the_same_still_fails() -> None:
    columns = {("new", "M"): scores(0.1), ("old", "M"): scores(0.9, 4)}
    assert decided("M(new) >= M(old)", rows_of(columns)).holds is False


def test_in_a_kill_the_candidate_is_the_one_that_should_be_better() -> None:
    text = "M(new) < M(old) - 0.05"
    failing = rows_of({("new", "M"): scores(0.9, 10), ("old", "M"): scores(0.2)})
    assert verdict(failing, kill=text)[0] == "no-go"
    reference = rows_of({("new", "M"): scores(0.9), ("old", "M"): scores(0.2, 10)})
    assert verdict(reference, kill=text)[0] == "inconclusive"
    neither = rows_of({("new", "M"): scores(0.9), ("old", "M"): scores(0.2)})
    assert verdict(neither, kill=text)[0] == "go"


def test_another_way_to_go_is_left() -> None:
    rows = rows_of({("a", "M"): scores(0.9, 53), ("b", "M"): scores(0.9)})
    assert verdict(rows, go={"any": ["M(a) >= 0.5", "M(b) >= 0.5"]})[0] == "go"
    assert verdict(rows, go={"all": ["M(a) >= 0.5", "M(b) >= 0.5"]})[0] == "no-go"


def test_a_measure_that_broke_is_no_failure_of_the_system() -> None:
    rows = rows_of({("new", "M"): scores(0.0, N), ("new", "B"): [1.0] * N})
    broken = Evaluator(rows, REGISTRY, resamples=300, broken={("new", "M"): "M broke on new: KeyError: 'x'."})
    (found,) = decide_gates([gate(go=["M(new) >= 0.5", "B(new) >= 0.5"])], broken)
    assert found.verdict == "inconclusive"
    assert [(one.holds, one.reason) for one in found.clauses] == [
        (None, "M broke on new: KeyError: 'x'"),
        (True, ""),
    ]


@pytest.mark.parametrize(
    ("given", "share"), [("5%", 0.05), ("12.5%", 0.125), (0.2, 0.2), (0, 0.0), ("100%", 1)]
)
def test_a_share_is_a_number_or_a_percentage(given: Any, share: float) -> None:
    assert GateFile(max_failed=given).max_failed == pytest.approx(share)


@pytest.mark.parametrize("given", [5, "5", "-1%", "120%", "few", True, None])
def test_what_is_no_share_is_refused(given: Any) -> None:
    with pytest.raises(ValidationError, match=r"expected a share, such as 5% or 0\.05"):
        GateFile(max_failed=given)


def test_nothing_may_fail_where_a_gate_says_so() -> None:
    one: Sequence[Any] = scores(0.9, 1)
    assert decided("M(new) >= 0.5", rows_of({("new", "M"): one}), max_failed=0).holds is False
