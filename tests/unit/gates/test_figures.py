"""Figures: what a study writes, what comes of it, and what is said where nothing does."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import numpy as np
import pytest

from assay.core.errors import DataError, UsageError
from assay.core.registry import MEASURES, Registry
from assay.gates.decision import decide_clause
from assay.gates.evaluator import Evaluator
from assay.gates.figures import evaluate_figures, figure_clauses
from assay.gates.gate import GateFile
from assay.gates.grammar import parse_clause, parse_expression
from assay.pipeline.evaluate import evaluate
from assay.report.verdicts import clause_sentence
from assay.stats.rows import Rows
from assay.study.study import open_study
from score_rows import Made, MadeTime, decided, items_of, rows_of
from small_study import assay, edited, write_study

PARITY = "parity(A@200(new), A@400(new), A@inf(new), A@inf(old))"


class Answerable(Made):
    """Made-up scores under token budgets."""

    family: ClassVar[str] = "A"
    at: ClassVar[str] = "tokens"
    binary: ClassVar[bool] = True

    @property
    def name(self) -> str:
        return f"A@{self.cutoff or 'inf'}"


REGISTRY = Registry({MEASURES: {"M": Made, "A": Answerable, "T": MadeTime}})


def figures(given: dict[str, str], rows: Rows) -> list[Any]:
    return evaluate_figures(given, Evaluator(rows, REGISTRY, resamples=400))


def only(text: str, rows: Rows) -> Any:
    (found,) = figures({"f": text}, rows)
    return found


def decided_with(text: str, rows: Rows, **rules: Any) -> Any:
    evaluator = Evaluator(rows, REGISTRY, resamples=400)
    return decide_clause(parse_clause(text), GateFile(**rules), evaluator)


def share(mean: float, n: int = 100) -> list[float]:
    return [1.0 if at < round(mean * n) else 0.0 for at in range(n)]


def curve(*means: float, reference: float) -> Rows:
    """A curve of `new` at 200, 400 and without a limit, beside `old` without one."""
    columns: dict[Any, list[float]] = {
        ("new", f"A@{budget}"): share(mean) for budget, mean in zip((200, 400, "inf"), means, strict=True)
    }
    return rows_of({**columns, ("old", "A@inf"): share(reference)})


# ------------------------------------------------------------------------------------ expressions


def test_system_stands_for_each_in_turn() -> None:
    rows = rows_of({("a", "M"): share(0.6), ("b-2 x", "M"): share(0.4)})
    found = figures({"gain": "M({system}) - M(a)", "best": "max(M(a), M('b-2 x'))"}, rows)
    assert [(each.name, each.system, each.n) for each in found] == [
        ("gain", "a", 100),
        ("gain", "b-2 x", 100),
        ("best", None, 100),
    ]
    assert [each.value for each in found] == pytest.approx([0.0, -0.2, 0.6])
    assert (found[0].low, found[0].high) == (0.0, 0.0)
    assert found[1].low < -0.2 < found[1].high < 0
    assert found[1].text == "M({system}) - M(a)"
    assert found[1].reads == ["M"]


def test_a_mean_has_the_interval_of_the_gates() -> None:
    rows = rows_of({("a", "M"): share(0.6)})
    clause, figure = decided("M(a) >= 0", rows, resamples=400), only("M(a)", rows)
    assert (figure.value, figure.low, figure.high) == (clause.value, clause.low, clause.high)


def test_a_slice_is_what_it_is_about() -> None:
    rows = rows_of({("a", "M"): [1.0, 0.0] * 50}, items_of(100, tag=["x", "y"] * 50))
    found = only("M(a) where tag=x", rows)
    assert (found.value, found.n, found.where) == (1.0, 50, "tag=x")
    assert only("M(a)[tag=x]", rows).where == "tag=x"
    assert only("M(a)[tag=x] - M(a)[tag=y]", rows).where is None


def test_factors_that_it_does_not_pick_are_taken_one_by_one() -> None:
    rows = rows_of(
        {
            ("a", "M", "stage=10k"): share(0.6),
            ("a", "M", "stage=50k"): share(0.4),
            ("b", "M"): share(0.5),
        }
    )
    found = figures({"f": "M({system})"}, rows)
    assert [(each.arm, each.value) for each in found] == [
        ("a[stage=10k]", 0.6),
        ("a[stage=50k]", 0.4),
        ("b", 0.5),  # it has no stages
    ]
    assert [each.where for each in found] == ["", "", ""]
    assert [each.value for each in figures({"f": "M(a) - M(b)"}, rows)] == pytest.approx([0.1, -0.1])
    assert only("M(a) where stage=50k", rows).factors == {}
    assert only("M(a)[stage=10k] - M(a)[stage=50k]", rows).value == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        (["pending"] * 2 + share(0.5), "2 items not run yet"),
        (["unjudged", *share(0.5)], "1 item not judged"),
        (["not_applicable"] * 10, "no item applies"),
    ],
)
def test_without_a_value_it_says_why(scores: list[Any], reason: str) -> None:
    found = only("M(a)", rows_of({("a", "M"): scores}))
    assert (found.value, found.low, found.high, found.reason) == (None, None, None, reason)


def test_failed_items_widen_the_interval_and_are_left_out_of_the_value() -> None:
    rows = rows_of({("a", "M"): [*share(0.5), *["failed"] * 25]})
    found = only("M(a)", rows)
    assert (found.value, found.n) == (0.5, 100)
    assert found.low < 50 / 125 < 75 / 125 < found.high  # all failed count 0, or all count 1
    assert found.reason == (
        "25 items failed: left out of the value, and in the interval at both ends of the range"
    )
    without = only("T(a)", rows_of({("a", "T"): [1.0, "failed"]}))
    assert without.reason == "1 failed items, and T has no upper end to count them at"


def test_a_ratio_to_nothing_is_undefined() -> None:
    found = only("M(a) / M(b)", rows_of({("a", "M"): share(0.5), ("b", "M"): share(0.0)}))
    assert (found.value, found.reason) == (None, "the value is undefined")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("M(a) >= 0.5", "column 6: a figure compares nothing"),
        ("M(a) for each tag=x", "expected 'where' or the end of the expression, found 'for'"),
        ("M(a) where tag=x on estimate", "expected the end, found 'on'"),
        ("M({sytem})", "In figures, {system} stands for each system"),
        (" ", "the expression is empty"),
    ],
)
def test_what_is_no_expression(text: str, what: str) -> None:
    with pytest.raises(UsageError, match=what.replace("{", r"\{").replace("(", r"\(")):
        parse_expression(text)


def test_a_name_that_needs_quotes_gets_them() -> None:
    (one,) = figure_clauses("f", "M({system})", ["where"])
    assert str(one.clause.left) == "M('where')"


# ----------------------------------------------------------------------------------------- parity


def test_budget_at_parity() -> None:
    found = only(PARITY, curve(0.2, 0.6, 0.6, reference=0.4))
    assert (found.value, found.low, found.high) == (400, 400, 400)
    assert (found.unit, found.most, found.reason) == ("tokens", 400, "")
    near = only(PARITY, curve(0.37, 0.39, 0.6, reference=0.4))  # 0.37 + 0.02 < 0.4 <= 0.39 + 0.02
    assert (near.value, near.low, near.high) == (400, 200, math.inf)
    assert near.reason == "the upper end is above 400"


def test_parity_that_is_never_reached() -> None:
    found = only(PARITY, curve(0.1, 0.1, 0.2, reference=0.6))
    assert (found.value, found.low, found.high) == (math.inf, math.inf, math.inf)
    assert found.reason == "above 400"
    written = msgspec.json.decode(msgspec.json.encode(found))
    assert (written["value"], written["high"], written["most"]) == (None, None, 400)


@pytest.mark.parametrize("on", ["estimate", "interval"])
@pytest.mark.parametrize(
    ("means", "clause", "holds"),
    [
        ((0.2, 0.6, 0.6), f"{PARITY} <= 400", True),
        ((0.2, 0.6, 0.6), f"{PARITY} < 400", False),
        ((0.1, 0.1, 0.2), f"{PARITY} <= 400", False),
        ((0.1, 0.1, 0.2), f"400 >= {PARITY}", False),
        ((0.1, 0.1, 0.2), f"{PARITY} > 400", True),
        ((0.1, 0.1, 0.2), f"{PARITY} / 2 <= 400", False),
    ],
)
def test_a_clause_on_parity_is_decided(means: Any, clause: str, holds: bool, on: str) -> None:
    rows = curve(*means, reference=0.4)
    assert decided_with(clause, rows, on=on).holds is holds


def test_what_an_infinite_side_is_said_to_be() -> None:
    found = decided_with(f"{PARITY} <= 400", curve(0.1, 0.1, 0.2, reference=0.6))
    assert (found.left, found.value, found.reason) == (math.inf, math.inf, "the left side is above 400")
    assert clause_sentence(found).endswith("is ∞; it needs at most 400; margin +∞ [+∞, +∞], n = 100")
    twice = decided_with(f"{PARITY} <= {PARITY} + 1", curve(0.1, 0.1, 0.2, reference=0.6))
    assert (twice.holds, twice.reason) == (None, "the value is undefined")
    open_end = decided_with(f"{PARITY} <= 400", curve(0.37, 0.39, 0.6, reference=0.4))
    assert (open_end.holds, open_end.value, open_end.low, open_end.high) == (None, 0, -200, math.inf)


# ------------------------------------------------------------------------------------- in a study

FIGURES = """\
figures:
  gain: nDCG@10({system}) - nDCG@10(old)
  only here: Success@1(lexical) where topic=odd
gates:
"""


def test_a_study_measures_what_its_figures_read(tmp_path: Path) -> None:
    found = evaluate(write_study(tmp_path, edited("gates:\n", FIGURES)))
    gain, other, here = found.figures
    # the replayed run has each passage on rank 2: nDCG 1 / log2(3) = 0.631
    assert gain.value == pytest.approx(1 - 1 / np.log2(3))
    assert (other.value, here.value, here.n) == (0, 1, 6)
    assert "Success@1" not in [measure.name for measure in found.measures]


def test_figures_are_printed_and_written(tmp_path: Path) -> None:
    folder = write_study(tmp_path, edited("gates:\n", FIGURES))
    text = assay("run", folder)
    assert text.code == 0
    assert "Figures: value [95 % interval] n" in text.out
    page = (folder / "run/report.html").read_text()
    assert "<h3>Figures</h3>" in page
    assert "nDCG@10({system}) - nDCG@10(old)" in page
    written = assay("gate", folder, "--json").json["figures"]
    assert [each["name"] for each in written] == ["gain", "gain", "only here"]


@pytest.mark.parametrize(
    ("figure", "problem"),
    [
        ("nDCG@10({system}) >= 0.4", "a figure compares nothing"),
        ("nDCG@10(newer)", "there is no system 'newer'"),
        ("nDGC@10({system})", "no measure"),
        ("0.5", "this one has only numbers"),
        ("parity(nDCG@5({system}), nDCG@10(old))", "under a token budget"),
    ],
)
def test_problems_are_told_with_their_line(tmp_path: Path, figure: str, problem: str) -> None:
    text = edited("gates:\n", f'figures:\n  good: nDCG@10(old)\n  bad: "{figure}"\ngates:\n')
    with pytest.raises(DataError) as caught:
        open_study(write_study(tmp_path, text))
    (found,) = caught.value.problems
    assert (found.line, found.field) == (text.splitlines().index(f'  bad: "{figure}"') + 1, "figures.bad")
    assert problem in found.what
