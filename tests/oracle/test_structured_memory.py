"""The case files of a public graph memory, as their authors wrote them, met by one set of parameters."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from assay.core.protocols import Kit
from assay.kinds.memory.datasets.cases import Cases
from assay.pipeline.evaluation import Evaluation
from assay.pipeline.runner import run_study
from assay.study.study import open_study

FILES = (
    "contract_exception_priming_benchmark",
    "dynamic_memory_priming_benchmark",
    "example_contract_benchmark",
    "example_runbook_benchmark",
    "exception_override_benchmark",
    "multi_hop_chain_benchmark",
)
FOLDER = "benchmarks/structured_memory"
STUDY = """
kind: memory
data: {{use: cases, path: "{path}"}}
systems:
  structure_only: structure_only
  weighted_graph: weighted_graph
  activation_spreading_v1: activation_spreading_v1
  weighted_graph_static: weighted_graph_static
  weighted_graph_dynamic: weighted_graph_dynamic
  activation_spreading_static: activation_spreading_static
  activation_spreading_dynamic: activation_spreading_dynamic
judges: [ids]
measures: [CaseHit, PrimingShift]
compare: {{resamples: 100}}
"""


@pytest.fixture
def evaluated_file(tmp_path: Path, shared_data: Callable[[str], Path]) -> Callable[[str], Evaluation]:
    folder = shared_data("structured_memory") / FOLDER

    def evaluate(name: str) -> Evaluation:
        (tmp_path / "study.yaml").write_text(STUDY.format(path=folder / name))
        run_study(open_study(tmp_path))
        return Evaluation(open_study(tmp_path))

    return evaluate


def means(evaluation: Evaluation, measure: str) -> dict[str, float | None]:
    return {each.system: each.value for each in evaluation.results.estimates if each.measure == measure}


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_some_graph_mode_meets_every_expectation_and_only_a_dynamic_one_is_primed(
    name: str, evaluated_file: Callable[[str], Evaluation]
) -> None:
    evaluation = evaluated_file(f"{name}.json")
    met, shift = means(evaluation, "CaseHit"), means(evaluation, "PrimingShift")
    assert max(value or 0.0 for value in met.values()) == 1.0, met
    for system, value in shift.items():
        assert (value is None) == ("priming" not in name)
        assert value is None or (value > 0) == system.endswith("_dynamic"), shift


def test_every_file_loads_unchanged(shared_data: Callable[[str], Path]) -> None:
    folder = shared_data("structured_memory") / FOLDER
    dataset = Cases(str(folder)).load(Kit())
    assert len(dataset.items) == 28  # 26 cases, and the two probes once more without their primes
    assert not dataset.warnings
    assert dataset.layer == "structured"
