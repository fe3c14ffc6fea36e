"""The simulation of verdicts: its families are what they declare, and it flags a decision that is wrong."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from bench.calibration import page, power, program, simulate
from bench.calibration.cells import (
    SIZES,
    Cell,
    every_cell,
    fits,
    outside_families,
    pairs,
    quick_cells,
)
from bench.calibration.families import (
    DETERMINISTIC,
    FAMILIES,
    NDCG,
    SECONDS,
    SEEDED,
    SUCCESS,
    DiscreteScores,
    PairedScores,
    check_family,
    jumped,
    raised,
    scaled,
)
from bench.calibration.intervals import IntervalResult
from bench.calibration.shapes import BY_NAME, SHAPES
from bench.calibration.simulate import CellResult, Outcomes, Rate, draw_study, run_cells
from scipy import stats

RANKS = DiscreteScores("ranks", (1.0, 0.5, 0.0), (0.4, 0.2, 0.4), tied=0.5)


# ------------------------------------------------------------------------------------- the families


@pytest.mark.parametrize("family", [*FAMILIES, *SEEDED, *outside_families()], ids=lambda each: each.name)
def test_a_family_has_the_true_means_that_it_declares(family: Any) -> None:
    assert check_family(family) == []


def test_gains_are_planted_exactly() -> None:
    random, scores = np.random.default_rng(1), np.array([0.0, 0.5, 1.0, 0.5])
    # every score moves by 0.1 * (1 - score) / 0.5: 0.2, 0.1, 0, 0.1, on average 0.1
    assert raised(scores, 0.5, 0.1).tolist() == pytest.approx([0.2, 0.6, 1.0, 0.6])
    assert raised(scores, 0.5, -0.1).tolist() == pytest.approx([0.0, 0.4, 0.8, 0.4])
    assert scaled(np.array([1.0, 3.0]), 2.0, 0.5).tolist() == pytest.approx([0.75, 2.25])
    many = np.full(200_000, 0.5)
    up, down = jumped(random, many, 0.5, 0.1), jumped(random, many, 0.5, -0.1)
    # one of five is moved: 0.1 / 0.5
    assert set(up) == {0.5, 1.0}
    assert (up == 1.0).mean() == pytest.approx(0.2, abs=0.005)
    assert (down == 0.0).mean() == pytest.approx(0.2, abs=0.005)


@dataclass(frozen=True)
class WrongFamily:
    """Uniform scores with one thing wrong."""

    wrong: str
    name: str = "wrong"
    measure: str = NDCG
    mean: float = 0.5

    def draw(self, random: np.random.Generator, n: int, gains: Sequence[float]) -> PairedScores:
        if self.wrong == "seed":
            random = np.random.default_rng()
        baseline = random.uniform(0, 1, n) ** (1.02 if self.wrong == "mean" else 1.0)
        own = [random.uniform(0, 1, n) for _ in gains]
        planted = np.array([raised(each, 0.5, gain) for each, gain in zip(own, gains, strict=True)])
        if self.wrong == "gain":  # what is cut off at 0.9 is missing from the mean
            planted = np.minimum(planted, 0.9)
        if self.wrong == "range":
            planted += 0.3
        if self.wrong == "shape":
            planted = planted[:-1]
        if self.wrong == "twin":
            planted[:2] = baseline
        return PairedScores(baseline, planted)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("mean", "the mean of the baseline is 0.49"),
        ("gain", "the mean of a candidate with gain 0 "),
        ("range", "a score is above 1"),
        ("shape", "(5, 500) scores of candidates beside (500,)"),
        ("twin", "a twin equals the baseline in every score"),
        ("seed", "the same seed gives other scores"),
    ],
)
def test_a_wrong_family_is_refused(wrong: str, said: str) -> None:
    assert check_family(WrongFamily("")) == []
    problems = check_family(WrongFamily(wrong))
    assert problems
    assert said in problems[0]


def test_other_measures_are_checked_too() -> None:
    assert "neither 0 nor 1" in check_family(replace(WrongFamily(""), measure=SUCCESS), studies=2)[0]
    assert "is none of" in check_family(replace(WrongFamily(""), measure="nDCG@7"), studies=2)[0]


# ---------------------------------------------------------------------------------------- the cells


def test_every_shape_meets_every_family_and_both_meet_every_size() -> None:
    cells = every_cell()
    assert len({cell.name for cell in cells}) == len(cells) >= 150
    found = [(cell.shape.name, cell.family.name, cell.n) for cell in pairs()]
    wanted = {(shape.name, family.name) for shape in SHAPES for family in FAMILIES if fits(shape, family)}
    assert {(shape, family) for shape, family, _ in found} == wanted
    both = itertools.product((family.name for family in FAMILIES), SIZES)
    assert {(family, n) for _, family, n in found} == set(both)
    shapes = [shape.name for shape in SHAPES if shape.name != "median"]  # of two families only
    assert {(shape, n) for shape, _, n in found} >= set(itertools.product(shapes, SIZES))
    assert {(cell.looks, cell.planned) for cell in cells} >= {(3, True), (10, True), (3, False), (10, False)}


def test_a_cell_travels_between_processes() -> None:
    for cell in every_cell():
        assert pickle.loads(pickle.dumps(cell)) == cell  # noqa: S301 (our own)


def test_gates_ask_what_they_are_named_for() -> None:
    sides = BY_NAME["max of 3"].sides(RANKS)
    clause = "max(nDCG@10(v0), nDCG@10(v1), nDCG@10(v2)) >= nDCG@10(old) + 0.02"
    assert sides["false go"].rules == {"go": [clause]}
    assert sides["false go"].gains == ((0.0, 0.0, 0.0),)
    # one at the edge, the others far below: (1 - 0.5) / 2
    assert sides["false no-go"].gains == ((0.02, -0.25, -0.25),)
    (slow,) = (each for each in FAMILIES if each.name == "mixture")
    one = BY_NAME["one clause + margin"].sides(slow)["false go"]
    assert slow.measure == SECONDS
    # 5 % of a median of 0.187 seconds: of a mean of times the program decides nothing
    assert one.rules == {"go": ["p50(Seconds(v0)) <= p50(Seconds(old)) - 0.00936570610169"]}
    assert one.truth == pytest.approx(0.00936570610169)  # left minus right of twins
    times = slow.draw(np.random.default_rng(5), 400_000, [0.0]).baseline
    assert np.median(times) == pytest.approx(20 * 0.00936570610169, rel=0.005)


def test_slices_have_gains_of_their_own() -> None:
    gains = BY_NAME["for 2 of 5"].sides(RANKS)["false go"].gains
    assert gains == ((0.25,), (0.0,), (0.0,), (0.0,), (0.0,))
    drawn = draw_study(np.random.default_rng(3), RANKS, 100_000, gains)
    differences = drawn.candidates[0] - drawn.baseline
    assert differences[0::5].mean() == pytest.approx(0.25, abs=0.02)
    assert differences[1::5].mean() == pytest.approx(0.0, abs=0.02)
    rows = program.rows_of(drawn, NDCG, 10)
    assert [item.tags["part"] for item in rows.items[4:7]] == [["p4"], ["p0"], ["p1"]]


# --------------------------------------------------------------------------------------- the counts


@pytest.mark.parametrize(("count", "studies"), [(0, 100), (7, 100), (31, 400), (50, 50)])
def test_bounds_are_those_of_an_exact_test(count: int, studies: int) -> None:
    rate = Rate(count, studies)
    for side, end in (("greater", 0), ("less", 1)):
        oracle = stats.binomtest(count, studies, alternative=side).proportion_ci(0.99)[end]
        assert (rate.low, rate.high)[end] == pytest.approx(oracle)


def test_a_rate_is_over_budget_only_if_chance_does_not_explain_it() -> None:
    # with a true rate of 5 %, 32 or more of 400 studies happen in less than 1 % of simulations
    assert stats.binom.sf(31, 400, 0.05) < 0.01 < stats.binom.sf(30, 400, 0.05)
    assert Rate(32, 400).exceeds
    assert not Rate(31, 400).exceeds


def test_only_what_was_asked_and_kept_its_budget_passes() -> None:
    good, bad = Rate(2, 100), Rate(20, 100)
    one = CellResult("a", "s", "f", 30, {"false go": good, "false no-go": good, "power": bad})
    assert one.state == "kept"
    failed = replace(one, rates={"false go": good, "false no-go": bad})
    assert (failed.state, failed.broken) == ("FAILS", ["false no-go"])
    assert replace(one, not_yet="no looks").state == "not yet"
    assert replace(failed, shown_only="not guarded").state == "shown"
    assert CellResult.from_json(failed.as_json()) == failed


CELL = Cell(BY_NAME["one clause"], RANKS, 40)


def test_a_decision_that_is_too_bold_is_flagged() -> None:
    """At a level of 40 % three of ten twins pass, and three of ten fail."""
    (sound,) = run_cells([CELL], 60, processes=1)
    (bold,) = run_cells([CELL], 60, processes=1, level=0.4)
    assert (sound.state, sound.broken) == ("kept", [])
    assert (bold.state, bold.broken) == ("FAILS", ["false go", "false no-go", "coverage"])
    assert bold.rates["false go"].share == pytest.approx(0.3, abs=0.12)
    assert sound.coverage is not None
    assert bold.coverage is not None
    assert bold.coverage.high < 0.93 < sound.coverage.high
    assert bold.width is not None
    assert sound.width is not None
    assert bold.width < 0.5 < sound.width  # 0.52 of 1.96 standard errors


@pytest.mark.slow
def test_a_level_of_80_percent_is_flagged() -> None:
    """One twin of ten passes where one of forty may; 400 studies are enough to see it."""
    (result,) = run_cells([replace(CELL, n=60)], 400, processes=1, level=0.8)
    assert result.broken == ["false go", "false no-go", "coverage"]


def test_a_gate_that_waves_everything_through_is_flagged(monkeypatch: pytest.MonkeyPatch) -> None:
    real = program.verdict_on

    def always_go(*given: Any) -> Any:
        import msgspec

        return msgspec.structs.replace(real(*given), verdict="go")

    monkeypatch.setattr(program, "verdict_on", always_go)
    (result,) = run_cells([CELL], 10, processes=1)
    assert result.broken == ["false go"]
    assert result.rates["false no-go"].count == 0


@pytest.mark.slow
def test_results_do_not_depend_on_processes() -> None:
    cells = quick_cells()[:2]
    alone, shared = ({each.name: each for each in run_cells(cells, 30, processes)} for processes in (1, 2))
    assert alone == shared


def test_outcomes_add_up() -> None:
    one, other = Outcomes(1, 1, 1, 0, 0.2, 0.1), Outcomes(2, 0, 2, 2, 0.3, 0.4)
    assert one + other == Outcomes(3, 1, 3, 2, pytest.approx(0.5), pytest.approx(0.5))


# ---------------------------------------------------------------------------------------- the looks


def test_the_next_look_follows_the_advice_within_reason() -> None:
    assert program.next_size(100, 30, 1_000) == 130
    assert program.next_size(100, 1, 1_000) == 110  # 10 % more at least
    assert program.next_size(100, 5_000, 1_000) == 200  # the double at most
    assert program.next_size(100, None, 1_000) == 200
    assert program.next_size(900, 300, 1_000) == 1_000


@pytest.mark.parametrize(
    ("planned", "words", "sizes"),
    [
        (True, ["inconclusive"] * 3, [20, 40, 60]),
        (True, ["inconclusive", "go"], [20, 40]),
        (False, ["inconclusive"] * 3, [15, 30, 60]),  # to the double, as nothing is advised
    ],
)
def test_looks_go_on_until_one_decides(
    planned: bool, words: list[str], sizes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    books: list[Any] = []

    def verdict_on(gate: Any, rows: Any, level: float = 0.95, book: Any = None) -> Any:
        if book is not None:  # the last one is taken without: as if it were the only look
            seen.append(len(rows.items))
            books.append(book)
        return program.Verdict("ship", words[len(seen) - 1], [], "")

    monkeypatch.setattr(program, "verdict_on", verdict_on)
    scores = RANKS.draw(np.random.default_rng(1), 60, [0.0])
    gate = program.gate_of({"go": ["nDCG@10(v0) >= nDCG@10(old)"]})
    found, _ = program.verdicts_over_looks(gate, scores, NDCG, 3, planned=planned, first=15)
    assert seen == sizes
    assert all(book is books[0] for book in books)
    assert [each.verdict for each in found] == words


# --------------------------------------------------------------------------------- intervals and page


def test_coverage_is_off_if_chance_does_not_explain_it() -> None:
    full, low, fair = Rate(1_000, 1_000), Rate(880, 1_000), Rate(950, 1_000)
    assert IntervalResult("f", 30, low, full, 1.0, 1.0).off == ["estimate", "comparison"]
    assert IntervalResult("f", 30, fair, fair, 1.0, 1.0).off == []
    assert IntervalResult("f", 10, low, full, 1.0, 1.0).off == []  # promised from 30 items on
    assert IntervalResult("f", 30, full, fair, None, 1.0).off == []  # no interval claims nothing
    assert IntervalResult("catastrophes", 30, fair, low, 1.0, 1.0).off == []  # too rare to be seen
    assert IntervalResult("f", 30, Rate(925, 1_000), fair, 1.0, 1.0).off == []  # may be 93 %
    ceiling = IntervalResult("ceiling", 30, full, fair, 1.0, 1.0)
    assert (ceiling.off, ceiling.fails) == (["estimate"], False)  # hardly any item differs: careful is honest


def test_the_page_marks_what_fails(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "RESULTS", tmp_path)
    monkeypatch.setattr(page, "PAGE", tmp_path / "calibration.md")
    kept, bad, *_ = every_cell()
    good = {"false go": Rate(8, 400), "false no-go": Rate(0, 400)}
    results = [
        CellResult(kept.name, "s", "f", kept.n, good, Rate(380, 400), 1.04),
        CellResult(bad.name, "s", "f", bad.n, {**good, "false go": Rate(60, 400)}),
    ]
    page.save("cells", {each.name: each.as_json() for each in results})
    interval = IntervalResult("beta", 30, Rate(880, 1_000), Rate(950, 1_000), 1.16, 1.1)
    page.save("intervals", [interval.as_json()])
    families = {"ties": {"gain": 0.04, "now": 0.50, "then": 0.56}}
    page.save("power", {"skipped": "", "studies": 400, "families": families})
    page.write()
    text = page.PAGE.read_text()
    assert "2 cells: 1 kept, 1 over budget" in text
    assert f"| {kept.name} | 2.0 % (0.7–4.3) | 0.0 % (0.0–1.1) | 95.0 % | 1.04 |  | kept |" in text
    assert f"| {bad.name} | **15.0 % (11.1–19.6)** | 0.0 % (0.0–1.1) |  |  |  | **FAILS** |" in text
    assert "| beta |  | **88.0 %** / 1.16 |" in text
    assert "| ties | 0.04 | 50.0 % | 56.0 % | **FAILS** |" in text
    assert len(page.failing()) == 3


def test_the_page_in_the_docs_has_every_cell() -> None:
    """`make calibration` was run since cells were added; families of others are run at the end."""
    text, own = page.PAGE.read_text(), {family.name for family in (*FAMILIES, *SEEDED, DETERMINISTIC)}
    assert [cell.name for cell in every_cell() if cell.family.name in own and cell.name not in text] == []


def test_without_history_power_is_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(power, "EARLIER", "0" * 40)
    assert "is not in the history" in power.compare_power(1, 1)["skipped"]


@pytest.mark.slow
def test_today_is_compared_with_an_earlier_version() -> None:
    found = power.compare_power(2, 2)
    if found["skipped"]:
        pytest.skip(found["skipped"])
    assert found["families"].keys() == {each.name for each in FAMILIES} - {"catastrophes"}


def test_simulated_rows_are_paired_and_clustered() -> None:
    (clustered,) = (each for each in FAMILIES if each.name == "clusters")
    rows = program.rows_of(clustered.draw(np.random.default_rng(1), 20, [0.0]), NDCG)
    assert rows.clusters.tolist() == [index // 5 for index in range(20)]
    seeded = SEEDED[1].draw(np.random.default_rng(1), 7, [0.0])
    rows = program.rows_of(seeded, NDCG)
    # three seeds, averaged within the row
    assert rows.column("v0", NDCG).values == pytest.approx(seeded.candidates[0].mean(axis=0))
    assert simulate.missing_for(Cell(BY_NAME["one clause"], SEEDED[1], 30)) == ""
