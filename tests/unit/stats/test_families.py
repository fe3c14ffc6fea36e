"""Which differences are shown, decided family by family."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import special

from assay.core.records import Comparison
from assay.gates.evaluator import Evaluator
from assay.gates.looks import LookHistory
from assay.gates.verdict import decide_gates, find_decided_differences
from assay.stats.compare import ComparisonSettings, summarise
from assay.stats.families import Contrast, FamilyDecisions, GateDifference, shown_direction
from assay.stats.intervals import Interval
from score_rows import REGISTRY, E, M, gate, items_of, rows_of

RANDOM = np.random.default_rng(7)
ALIKE = RANDOM.normal(size=4_000)


def contrast(
    p: float, moved: NDArray[np.float64], *, name: str = "a", declared: GateDifference | None = None
) -> Contrast[Comparison]:
    """A difference of 1 whose interval leaves zero out at every level below 1 - p."""
    reach = 1 / special.ndtri(1 - p / 2)

    def interval_at(level: float) -> Interval:
        half = float(special.ndtri((1 + level) / 2) * reach)
        return Interval(1 - half, 1 + half, "normal")

    plain = interval_at(0.95)
    figures = (1.0, plain.low, plain.high, p, p, None, 5, 0, 3, 8)
    record = Comparison(name, "base", {}, "M", {}, *figures, family="M", mde=2.0)
    return Contrast(record, True, interval_at, moved, declared)


def shown(correction: str, *contrasts: Contrast[Comparison]) -> list[str]:
    decisions = FamilyDecisions[Comparison](correction, 0.95, len(contrasts))
    for each in contrasts:
        decisions.add(each)
    return [one.shown for one in decisions.records()]


def apart(*p_values: float) -> list[Contrast[Comparison]]:
    """Differences that have nothing to do with each other."""
    return [contrast(p, RANDOM.normal(size=4_000)) for p in p_values]


def test_what_an_interval_shows() -> None:
    assert shown_direction(0.1, 0.3, upward=True) == "better"
    assert shown_direction(0.1, 0.3, upward=False) == "worse"
    assert shown_direction(-0.3, -0.1, upward=True) == "worse"
    assert shown_direction(-0.1, 0.1, upward=True) == ""
    assert shown_direction(float("nan"), float("nan"), upward=True) == ""


def test_a_family_of_one_is_decided_at_the_plain_level() -> None:
    assert shown("holm", *apart(0.049)) == ["better"]
    assert shown("holm", *apart(0.051)) == [""]


def test_differences_that_have_nothing_in_common_share_the_level() -> None:
    # three: 1 - 0.95 ** (1 / 3) = 0.0170 each
    assert shown("holm", *apart(0.014, 0.03, 0.04)) == ["better", "", ""]
    assert shown("none", *apart(0.014, 0.03, 0.04)) == ["better"] * 3


def test_differences_that_move_together_cost_nothing() -> None:
    assert shown("holm", *(contrast(p, ALIKE) for p in (0.04, 0.045, 0.2))) == ["better", "better", ""]


def test_where_nothing_moves_they_share_by_number() -> None:
    still = [contrast(p, np.zeros(9)) for p in (0.016, 0.02, 0.9)]  # 0.05 / 3 = 0.0167
    moving = contrast(0.2, ALIKE)
    assert shown("holm", *still, moving) == ["", "", "", ""]  # now four: 0.0125
    assert shown("holm", *still[1:], contrast(0.016, ALIKE)) == ["", "", "better"]


def test_false_discoveries_go_by_how_many_are_shown() -> None:
    # Benjamini and Hochberg: 0.04 <= 3/3 * 0.05, so all three; without it 0.03 > 2/3 * 0.05 would fail
    assert shown("benjamini-hochberg", *apart(0.01, 0.03, 0.04)) == ["better"] * 3
    # 0.06 > 0.05; 0.03 <= 2/3 * 0.05 = 0.0333
    assert shown("benjamini-hochberg", *apart(0.01, 0.03, 0.06)) == ["better", "better", ""]
    # 0.04 > 2/3 * 0.05; 0.01 <= 1/3 * 0.05
    assert shown("benjamini-hochberg", *apart(0.01, 0.04, 0.06)) == ["better", "", ""]


def test_what_is_shown_needs_no_word_on_what_could_be() -> None:
    decisions = FamilyDecisions[Comparison]("holm", 0.95, 2)
    for each in apart(0.001, 0.4):
        decisions.add(each)
    first, second = decisions.records()
    assert (first.mde, second.mde) == (None, 2.0)
    assert first.level == second.level == pytest.approx(0.95 ** (1 / 2), abs=0.005)
    assert (first.p_adjusted, second.p_adjusted) == (0.002, 0.4)  # Holm: 2 · 0.001


def test_what_a_gate_decides_takes_nothing_from_the_others() -> None:
    declared = GateDifference("ship", "a", "base", "M", np.ones(3, bool), 0.1, 2.0, 0.95, 1)
    decisions = FamilyDecisions[Comparison]("holm", 0.95, 2)
    decisions.add(contrast(0.08, RANDOM.normal(size=4_000), declared=declared))
    decisions.add(contrast(0.045, RANDOM.normal(size=4_000), name="b"))
    of_gate, other = decisions.records()
    assert (of_gate.family, of_gate.shown, of_gate.p_adjusted) == ("gate ship", "better", 0.08)
    assert (other.family, other.shown, other.p_adjusted) == ("M", "better", 0.045)


# ------------------------------------------------------------------------- together with gates


def decided(columns: dict[tuple[str, str], NDArray[np.float64]], clause: str) -> tuple[str, list[Comparison]]:
    rows = rows_of(columns, items_of(len(next(iter(columns.values())))))
    evaluator = Evaluator(rows, REGISTRY, resamples=2_000)
    gates = [gate(go=[clause])]
    verdicts = decide_gates(gates, evaluator)
    declared = find_decided_differences(gates, verdicts, evaluator, LookHistory())
    measure = M if clause.startswith("M") else E
    _, found = summarise(rows, [measure], ComparisonSettings("old", resamples=2_000), declared)
    return verdicts[0].verdict, found


def five_models() -> dict[tuple[str, str], NDArray[np.float64]]:
    """Five models of which one gains 0.1 on average, so little that Holm over four pairs hides it."""
    random = np.random.default_rng(3)
    old = random.random(60).round(1)
    columns = {("old", "M"): old}
    for at in range(4):
        gain = 0.075 if at == 0 else 0.0
        columns[f"new{at}", "M"] = np.clip((old + gain + random.normal(0, 0.25, 60)).round(1), 0, 1)
    return columns


def test_a_go_stands_above_no_word_that_nothing_differs() -> None:
    verdict, found = decided(five_models(), "M(new0) >= M(old)")
    first, *others = found
    assert verdict == "go"
    assert (first.shown, first.family) == ("better", "gate ship")
    assert first.p_adjusted == first.p
    assert {one.family for one in others} == {"M"}
    # by itself, among four, it would not have been shown, which is what a page used to say beneath a go
    _, alone = decided(five_models(), "M(new1) >= M(old)")
    assert alone[0].a == "new0"
    assert (alone[0].shown, alone[0].low is not None and alone[0].low > 0) == ("", True)
    assert alone[0].p_adjusted is not None
    assert alone[0].p_adjusted > 0.05


def test_a_difference_named_the_other_way_round_is_the_same() -> None:
    columns = five_models()
    errors = {(name, "E"): 1 - values for (name, _), values in columns.items()}
    verdict, found = decided(errors, "E(old) >= E(new0)")
    assert verdict == "go"
    assert (found[0].a, found[0].shown) == ("new0", "better")


def test_twins_are_never_shown() -> None:
    old = five_models()["old", "M"]
    _, found = decided({("old", "M"): old, ("twin", "M"): old, ("other", "M"): old}, "M(twin) >= M(old)")
    assert [one.shown for one in found] == ["", ""]


@pytest.mark.slow
def test_ten_twins_of_the_baseline_are_rarely_shown() -> None:
    """Any of ten that differ by chance only: at most 5 % of studies, and not far fewer."""
    random, studies, wrong = np.random.default_rng(3), 400, 0
    for _ in range(studies):
        hard = random.random(60)
        columns = {
            (f"s{at}", "M"): np.clip((hard + random.normal(0, 0.2, 60)).round(1), 0, 1) for at in range(11)
        }
        how = ComparisonSettings("s0", resamples=500)
        _, found = summarise(rows_of(columns), [M], how)
        wrong += any(one.shown for one in found)
    # 400 studies: 5 % is 20, and 99 % of such counts lie below 31
    assert 4 <= wrong <= 31


def test_a_record_can_be_read_back() -> None:
    _, found = decided(five_models(), "M(new0) >= M(old)")
    assert msgspec.json.decode(msgspec.json.encode(found), type=list[Comparison]) == found
