"""A statistic, a judge or a report that raises late: what it costs, and that it is told by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from assay.cli.terminal import write_reports
from assay.core.block import Block
from assay.core.errors import PluginError
from assay.core.registry import JUDGES, MEASURES, RENDERERS, STATISTICS, Registry
from assay.core.results import Results
from assay.measures.ranking import Success
from assay.pipeline.baselines.gate import compare_with_baseline
from assay.pipeline.baselines.tags import tag_baseline
from assay.pipeline.evaluate import evaluate
from assay.pipeline.evaluation import Evaluation
from assay.pipeline.runner import run_study
from assay.pipeline.validate import validate_study
from assay.study.study import Study, open_study
from small_study import STUDY, edited, write_study

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Odd:
    """A statistic that gives what a test wants of it."""

    reads: ClassVar[str] = "scores"
    gives: ClassVar[Any]

    def values(self, columns: Sequence[Floats], weights: Floats) -> Floats:
        found: Floats = self.gives(len(weights))
        return found


@pytest.mark.parametrize(
    ("gives", "why"),
    [
        (lambda _: {}["late"], "odd broke: KeyError: 'late'"),
        (lambda n: np.zeros(n + 1), "odd broke: ValueError: it did not give one value for each resample"),
    ],
)
def test_a_statistic_that_breaks_leaves_its_own_clauses_open(tmp_path: Path, gives: Any, why: str) -> None:
    broken = type("Broken", (Odd,), {"gives": staticmethod(gives)})
    text = STUDY + '  late: {go: ["odd(RR@5(lexical)) >= 0.5"]}\nfigures: {odd: "odd(RR@5({system}))"}\n'
    results = evaluate(write_study(tmp_path, text), registry=Registry({STATISTICS: {"odd": broken}}))
    assert {each.gate: each.verdict for each in results.verdicts} == {"ship": "go", "late": "inconclusive"}
    assert [each.clauses[0].reason for each in results.verdicts if each.gate == "late"] == [why]
    assert {(figure.value, figure.reason) for figure in results.figures} == {(None, why)}


@dataclass(frozen=True)
class Late(Success):
    """Success that breaks as soon as a test says so."""

    family: ClassVar[str] = "Late"
    breaks: ClassVar[bool] = False

    def values(self, block: Block) -> Floats:
        if type(self).breaks:
            raise KeyError("late")
        return super().values(block)


def late(folder: Path, monkeypatch: pytest.MonkeyPatch, *, breaks: bool) -> Study:
    """A study with a measure that is fine, and one that may break."""
    monkeypatch.setattr(Late, "breaks", breaks)
    text = edited("[nDCG@10, RR@5]", "[Late@1, RR@5]")
    text = edited(
        '["RR@5(lexical) >= RR@5(old) + 0.2"]', '["RR@5(lexical) >= 0.5", "Late@1(lexical) >= 0.5"]', text
    )
    write_study(folder, text + "limits: {worse: {Late@1: 0.1, RR@5: 0.1}}\n")
    (folder / "run" / "scores.parquet").unlink(missing_ok=True)
    study = open_study(folder, registry=Registry({MEASURES: {"Late": Late}}))
    run_study(study)
    return study


WHY = "Late@1 broke on {}: KeyError: 'late'"


def test_a_measure_that_breaks_is_n_a_with_its_reason_and_spares_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = Evaluation(late(tmp_path, monkeypatch, breaks=True)).results
    values = {(one.system, one.measure): one.value for one in found.estimates if not one.where}
    assert values["lexical", "Late@1"] is None
    assert values["lexical", "RR@5"] == 1.0
    (verdict,) = found.verdicts
    assert verdict.verdict == "inconclusive"  # the system did not fail, so that nothing is against it
    assert [(one.holds, one.reason) for one in verdict.clauses] == [(True, ""), (None, WHY.format("lexical"))]
    assert any("Late@1 could not be computed for lexical" in each for each in found.trust.warnings)


def test_a_measure_that_broke_since_the_baseline_is_no_loss(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tag_baseline(late(tmp_path, monkeypatch, breaks=False), "main")
    found = compare_with_baseline(Evaluation(late(tmp_path, monkeypatch, breaks=True)), "main")
    against = found.verdicts[-1]
    assert against.verdict == "inconclusive"
    clauses = {one.text: (one.holds, one.reason) for one in against.clauses}
    for text in ("Late@1(lexical) >= Late@1(main)", "Late@1(lexical) >= Late@1(main) - 0.1"):
        assert clauses[text] == (None, WHY.format("lexical"))
    assert clauses["RR@5(lexical) >= RR@5(main)"][0] is True
    assert clauses["RR@5(lexical) >= RR@5(main) - 0.1"][0] is True


def test_a_baseline_keeps_no_scores_of_a_measure_that_broke(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tag_baseline(late(tmp_path, monkeypatch, breaks=True), "main")
    found = compare_with_baseline(Evaluation(late(tmp_path, monkeypatch, breaks=False)), "main")
    clauses = {one.text: (one.holds, one.reason) for one in found.verdicts[-1].clauses}
    assert clauses["Late@1(lexical) >= Late@1(main)"] == (None, "not in the baseline: Late@1")
    assert clauses["RR@5(lexical) >= RR@5(main)"][0] is True


@dataclass(frozen=True)
class Sulking:
    """A judge that breaks, before a run or after it."""

    early: bool = False
    names: ClassVar[tuple[str, ...]] = ("sulking",)
    closed_labels: ClassVar[frozenset[str]] = frozenset({"relevance"})

    def examine(self, dataset: Any, kit: Any) -> tuple[list[Any], list[str]]:
        return ([], []) if not self.early else {}["early"]

    def judge(self, dataset: Any, blocks: Any, kit: Any) -> list[Any]:
        raise KeyError("late")


@pytest.mark.parametrize("early", [True, False])
def test_a_judge_that_breaks_is_told_by_name(tmp_path: Path, early: bool) -> None:
    text = edited("by: [topic]", f"by: [topic]\njudges: ['sulking(early={str(early).lower()})']")
    folder, registry = write_study(tmp_path, text), Registry({JUDGES: {"sulking": Sulking}})
    if early:
        with pytest.raises(PluginError, match="the judge Sulking broke: KeyError: 'early'"):
            validate_study(folder, registry)
    with pytest.raises(PluginError, match=r"the judge [Ss]ulking broke: KeyError: '(early|late)'"):
        evaluate(folder, registry=registry)


@dataclass(frozen=True)
class Torn:
    """A report that breaks."""

    suffix: ClassVar[str] = ".torn"

    def render(self, results: Results) -> bytes:
        raise KeyError("torn")


def test_a_report_that_breaks_costs_neither_the_others_nor_the_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    registry = Registry({RENDERERS: {"torn": Torn}})
    folder = write_study(tmp_path, edited("by: [topic]", "by: [topic]\nreports: [torn, markdown]"))
    found = write_reports(evaluate(folder, registry=registry), open_study(folder, registry=registry))
    assert found.verdict == "go"
    assert {path.name for path in (folder / "run").glob("report.*")} == {"report.html", "report.md"}
    assert capsys.readouterr().err == "the report torn broke: KeyError: 'torn'. This report is not written.\n"
