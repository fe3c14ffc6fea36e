"""The files of a scoring: the book of marks, columns, cells that spreadsheets would run, the notebook."""

from __future__ import annotations

import csv
import io
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import msgspec
import nbformat
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.kinds.answers.results import ConditionTest as OneTest  # pytest would collect it by its name
from assay.kinds.answers.results import Correlation, PairTokens, ScoringResults, SiteTokens
from assay.kinds.answers.scoring.analysis import AnalysisOptions, ScoredResponse, analyse
from assay.kinds.answers.scoring.marks import Mark, score_book
from assay.kinds.answers.scoring.subgroups import interactions, token_changes
from assay.kinds.answers.scoring_steps.exporting import (
    COLUMNS,
    HallucinationDetail,
    ScoreRow,
    hallucination_details,
    notebook,
    quote_formula,
    raw_data_csv,
    token_efficiency,
    unquote_formula,
)

DESIGN = (
    "response_id,site_id,question_id,complexity,model_id,condition,factual_accuracy,hallucination_count,"
    "hallucination_categories,input_token_count,ref_token_count,output_token_count,content_chars,completeness,"
    "citation_fidelity,scoring_notes,scorer_id,scoring_date"
)
ROW = ScoreRow(
    "R-2", "S001", "S001-Q01", "single-fact", "small-8b", "B", 2, 2, ("H-FAB", "H-FAB"), 400, 410, 30, 1600,
    1, None, "=1+1 is said, and\nnothing of it holds", "anna", "2026-03-02",
)  # fmt: skip


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_columns_are_the_designs() -> None:
    assert ",".join(COLUMNS) == DESIGN
    assert raw_data_csv([]) == DESIGN + "\n"


def test_a_row_reads_back() -> None:
    (row,) = read(raw_data_csv([ROW]))
    assert row["hallucination_categories"] == "H-FAB,H-FAB"  # as many codes as hallucinations
    assert (row["condition"], row["factual_accuracy"], row["input_token_count"]) == ("B", "2", "400")
    assert row["citation_fidelity"] == ""  # it does not apply: no 0
    assert row["scoring_notes"] == "'=1+1 is said, and\nnothing of it holds"
    assert unquote_formula(row["scoring_notes"]) == ROW.scoring_notes


def test_what_tells_conditions_apart_is_blank_while_blinded() -> None:
    (row,) = read(raw_data_csv([ROW], blinded=True))
    blank = {name for name in row if not row[name]}
    assert blank == {
        *("model_id", "condition", "citation_fidelity"),
        *("input_token_count", "ref_token_count", "output_token_count", "content_chars"),
    }
    assert row["factual_accuracy"] == "2"


def test_rows_stand_in_the_order_of_their_ids() -> None:
    first = msgspec.convert({"response_id": "R-1"} | dict.fromkeys(COLUMNS[1:4], ""), ScoreRow)
    assert [row["response_id"] for row in read(raw_data_csv([ROW, first]))] == ["R-1", "R-2"]


@pytest.mark.parametrize(
    "text", ["=HYPERLINK(1)", "+1", "-1", "@SUM(A1)", "\t=1", " =1", "'=1", "＝1", "\rx"]
)
def test_no_cell_is_a_formula(text: str) -> None:
    assert quote_formula(text) == f"'{text}"


@given(st.text(alphabet="'=+-@ \t\nax") | st.text())
def test_quoting_can_be_undone(text: str) -> None:
    assert unquote_formula(quote_formula(text)) == text
    assert quote_formula(text)[:1] not in {"=", "+", "-", "@", "\t", "\r", "\n"}


def test_details_are_keyed_by_response() -> None:
    claim = HallucinationDetail(
        "H-FAB", "up to 100 items", "batches of 100", "only single items are described"
    )
    found = json.loads(hallucination_details({"R-2": [claim], "R-1": []}))
    assert list(found) == ["R-1", "R-2"]
    assert found["R-1"] == {"hallucination_count": 0, "hallucinations": []}
    assert found["R-2"]["hallucinations"] == [
        {
            "category": "H-FAB",
            "model_text_span": "up to 100 items",
            "claim": "batches of 100",
            "note": "only single items are described",
        }
    ]


def test_token_efficiency_has_the_designs_records() -> None:
    # 2103 - 4821 = -2718, of 4821: -56.378 %
    pair = PairTokens("S001-P03", "S001", "llama3", 4821, 2103, -2718, -100 * 2718 / 4821)
    sites = [
        SiteTokens(f"S{at}", "llama3", 1, 100, 100 + by, 100, 100 + by, by, by)
        for at, by in enumerate((-50, 10))
    ]
    found = json.loads(token_efficiency([pair], sites))
    assert found["pairs"] == [
        {
            "content_pair_id": "S001-P03",
            "site_id": "S001",
            "condition_a_tokens": 4821,
            "condition_b_tokens": 2103,
            "tokenizer": "llama3",
            "delta": -2718,
            "delta_pct": -56.4,
        }
    ]
    (spread,) = found["distribution"]
    assert (spread["median"], spread["fewer"]) == (-20.0, 0.5)  # the middle of -50 and 10; one of two


# ----------------------------------------------------------------------------------- notebook


def code_cells(made: bytes) -> list[str]:
    parsed = json.loads(made)
    nbformat.validate(parsed)
    return ["".join(cell["source"]) for cell in parsed["cells"] if cell["cell_type"] == "code"]


def write(folder: Path, rows: list[ScoreRow], scoring: ScoringResults) -> None:
    (folder / "raw-data.csv").write_text(raw_data_csv(rows), encoding="utf-8")
    (folder / "results.json").write_bytes(
        msgspec.json.encode({"sections": [{"key": "scoring", "data": scoring}]})
    )


def run(folder: Path, made: bytes, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Executes every code cell in one namespace, as a kernel would, without figures."""
    monkeypatch.chdir(folder)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    space: dict[str, Any] = {}
    for source in code_cells(made):
        exec(compile(source, "analysis.ipynb", "exec"), space)  # noqa: S102 (our own notebook)
    return space


def raw(question: str, condition: str, accuracy: int, complete: int, tokens: int) -> ScoreRow:
    return ScoreRow(
        f"R-{question}{condition}", "S1", question, "single-fact", "m", condition, accuracy, 0,
        input_token_count=tokens, completeness=complete,
    )  # fmt: skip


# accuracy of q1 … q4: A 1 2 2 3, B 2 3 3 3; complete: A 0 0 1 1, B 1 1 1 0
BY_HAND = [
    *(
        raw(f"q{at}", "A", grade, done, 100)
        for at, grade, done in ((1, 1, 0), (2, 2, 0), (3, 2, 1), (4, 3, 1))
    ),
    *(
        raw(f"q{at}", "B", grade, done, 50 + at)
        for at, grade, done in ((1, 2, 1), (2, 3, 1), (3, 3, 1), (4, 3, 0))
    ),
]


def by_hand() -> ScoringResults:
    """Differences of accuracy 1 1 1 0: 3 wins, a tie, delta 3/4, p = 2 / 2^3 = 0.25.

    Hallucinations never differ. Tokens -49 -48 -47 -46: delta -1, p = 2 / 2^4 = 0.125. Holm over 0.25, 1 and
    0.125: 3 × 0.125 = 0.375, 2 × 0.25 = 0.5, 1. Completeness gains 2 and loses 1: p = 1 (all of 2^3 totals
    are 1 or more from zero), odds 2.5 / 1.5. Ranks of the moves of accuracy 3 3 3 1 and of tokens 1 2 3 4:
    each less 2.5, 0.5·-1.5 + 0.5·-0.5 + 0.5·0.5 - 1.5·1.5 = -3, so that rho = -3 / √(3 · 5).
    """
    spread = float(np.exp(1.959963984540054 * np.sqrt(2 / 2.5**2 + 1 / 1.5**2 + 0.5 / 2.5**2 + 0.5 / 1.5**2)))
    return ScoringResults(
        "unblinded", "A", "B", "anna", [], 8, {},
        tests=[
            OneTest("accuracy", "primary", {}, 4, 4, 2.0, 2.75, 0.75, p=0.25, p_adjusted=0.5, effect=0.75,
                   wins=3, ties=1),
            OneTest("hallucinations", "primary", {}, 4, 4, 0.0, 0.0, 0.0, p=1.0, p_adjusted=1.0, effect=0.0,
                   ties=4),
            OneTest("tokens", "primary", {}, 4, 4, 100.0, 52.5, -47.5, p=0.125, p_adjusted=0.375, effect=-1.0,
                   wins=4),
            OneTest("completeness", "secondary", {}, 4, 4, 0.5, 0.75, 0.25, p=1.0, p_adjusted=1.0,
                   effect=2.5 / 1.5, effect_low=2.5 / 1.5 / spread, effect_high=2.5 / 1.5 * spread,
                   wins=2, ties=1, losses=1),
        ],
        correlations=[Correlation("rho", -3 / 15**0.5, None, None, 4)],
    )  # fmt: skip


def test_the_notebook_finds_what_is_worked_out_by_hand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, BY_HAND, by_hand())
    space = run(tmp_path, notebook("formats", by_hand(), correction="holm"), monkeypatch)
    # 3 tests of 12 figures, one of 14, a correlation and its n
    assert "All 52 values are those of results.json." in capsys.readouterr().out
    assert [row["metric"] for row in space["found"]] == [
        "accuracy",
        "hallucinations",
        "tokens",
        "completeness",
    ]


@pytest.mark.parametrize("field", ["p", "difference", "effect", "wins", "p_adjusted"])
def test_the_notebook_tells_where_a_figure_is_another(
    field: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scoring = by_hand()
    wrong = msgspec.structs.replace(scoring.tests[0], **{field: 2})
    write(tmp_path, BY_HAND, msgspec.structs.replace(scoring, tests=[wrong, *scoring.tests[1:]]))
    with pytest.raises(ValueError, match=rf"'accuracy', \(\)\) {field}: .* here, 2 in results.json"):
        run(tmp_path, notebook("formats", scoring, correction="holm"), monkeypatch)


def scored_rows() -> list[ScoredResponse]:
    """Three sites, 30 questions, two models; some citations apply, one response is missing."""
    rng = np.random.default_rng(5)
    levels = ["single-fact", "multi-section-synthesis", "conceptual-relationship"]
    rows = [
        ScoredResponse(
            f"q{item:02d}", model, condition, f"S{item % 3}", levels[item % 3], size, 0,
            float(rng.integers(0, 4)), float(rng.poisson(0.4)), float(rng.integers(0, 2)),
            float(rng.integers(0, 3)) if item % 4 == 0 else None,
            float(rng.integers(200, 900)),
        )
        for item in range(30) for model, size in (("m3", "small"), ("m70", "large")) for condition in "AB"
    ]  # fmt: skip
    return rows[:-1]


def as_raw(row: ScoredResponse, place: int) -> ScoreRow:
    def whole(value: float | None) -> int | None:
        return None if value is None else int(value)

    codes = ("H-FAB",) * int(row.hallucinations or 0)
    return ScoreRow(
        f"R-{place:03d}", row.site, row.item_id, row.complexity, row.model, row.condition,
        whole(row.accuracy), len(codes), codes, whole(row.tokens),
        completeness=whole(row.completeness), citation_fidelity=whole(row.citation),
    )  # fmt: skip


@pytest.mark.parametrize("correction", ["benjamini-hochberg", "holm", "none"])
def test_the_notebook_finds_what_the_analysis_finds(
    correction: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = scored_rows()
    how = AnalysisOptions(correction=correction, resamples=200)
    points, correlations = token_changes(rows, how)
    counts = {
        name: sum(int(row.hallucinations or 0) for row in rows if row.condition == name) for name in "AB"
    }
    pairs = [
        PairTokens(f"S0-P{at}", "S0", "llama3", a, b, b - a, 0.0)
        for at, (a, b) in enumerate([(100, 50), (300, 100)])
    ]
    # means 200 and 75, medians the same: -125, of 200 -62.5 %
    site = SiteTokens("S0", "llama3", 2, 200.0, 75.0, 200.0, 75.0, -125.0, -62.5)
    scoring = ScoringResults(
        "unblinded", "A", "B", "anna", [], len(rows), {},
        tests=[*analyse(rows, how), *interactions(rows, how)], points=points, correlations=correlations,
        categories={name: {"H-FAB": count} for name, count in counts.items()}, pairs=pairs, sites=[site],
    )  # fmt: skip
    write(tmp_path, [as_raw(row, place) for place, row in enumerate(rows)], scoring)
    sizes = {"m3": "small", "m70": "large"}
    space = run(tmp_path, notebook("formats", scoring, correction=correction, sizes=sizes), monkeypatch)
    assert "values are those of results.json" in capsys.readouterr().out
    # five metrics: over all, in 3 complexities, 2 sizes (or models, which say the same), and site by site
    assert len(space["reported"]) == 5 * (1 + 3 + 2 + 1)


@pytest.mark.slow
def test_the_notebook_draws_where_it_can(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    write(tmp_path, BY_HAND, by_hand())
    monkeypatch.chdir(tmp_path)
    space: dict[str, Any] = {}
    for source in code_cells(notebook("formats", by_hand(), correction="holm")):
        exec(compile(source, "analysis.ipynb", "exec"), space)  # noqa: S102 (our own notebook)
    assert [axis.get_title() for axis in space["axes"][0]][:2] == ["accuracy: B - A", "hallucinations: B - A"]
    space["plt"].close("all")


def test_names_of_a_study_cannot_leave_their_strings() -> None:
    scoring = ScoringResults("unblinded", "A'\nraise SystemExit #", "B", "anna", [], 0, {})
    given, *_ = code_cells(notebook("# a\n<script>", scoring, correction="none"))
    space: dict[str, Any] = {}
    exec(compile(given, "analysis.ipynb", "exec"), space)  # noqa: S102 (our own notebook)
    assert space["A"] == "A'\nraise SystemExit #"


def mark(number: int) -> Mark:
    return Mark(f"mark-{number}", "anna", f"R-{number}", "accuracy", 2, time=float(number))


def on_disk(folder: Path) -> list[Mark]:
    return [line for line in score_book(folder).lines if isinstance(line, Mark)]


@pytest.mark.parametrize("all_of_it", [True, False], ids=["the folder", "the last segment"])
def test_what_is_removed_under_it_is_written_again_also_what_earlier_servers_took(
    tmp_path: Path, all_of_it: bool
) -> None:
    folder = tmp_path / "marks"
    earlier = score_book(folder)
    earlier.add(mark(1), mark(2))
    earlier.close()
    book = score_book(folder)
    book.add(mark(3))
    if all_of_it:
        shutil.rmtree(folder)
    else:
        max(folder.iterdir()).unlink()
    book.add(mark(4))
    assert sorted(on_disk(folder), key=lambda each: each.time) == [mark(number) for number in (1, 2, 3, 4)]
    book.close()
