"""A statistic, a judge or a report that raises late: what it costs, and that it is told by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from assay.cli.showing import write_reports
from assay.errors import PluginError
from assay.operations.pipeline import evaluate
from assay.operations.validate import validate_study
from assay.plugins import JUDGES, RENDERERS, STATISTICS, Registry
from assay.results import Results
from assay.study import open_study
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
    results = evaluate(write_study(tmp_path, text), Registry({STATISTICS: {"odd": broken}}))
    assert {each.gate: each.verdict for each in results.verdicts} == {"ship": "go", "late": "inconclusive"}
    assert [each.clauses[0].reason for each in results.verdicts if each.gate == "late"] == [why]
    assert {(figure.value, figure.reason) for figure in results.figures} == {(None, why)}


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
        evaluate(folder, registry)


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
    found = write_reports(evaluate(folder, registry), open_study(folder, registry=registry))
    assert found.verdict == "go"
    assert {path.name for path in (folder / "run").glob("report.*")} == {"report.html", "report.md"}
    assert capsys.readouterr().err == "the report torn broke: KeyError: 'torn'. This report is not written.\n"
