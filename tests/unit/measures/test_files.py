"""Scoring a run file against a qrels file."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.core.errors import DataError, UsageError
from assay.measures.files import score_files

RUN = "q1 Q0 a 1 2.0 t\nq1 Q0 b 2 1.0 t\nq9 Q0 a 1 1.0 t\n"
QRELS = "q1 0 b 1\nq2 0 a 1\nq3 0 a -1\n"


def files(folder: Path, run: str = RUN, qrels: str = QRELS) -> tuple[Path, Path]:
    (folder / "run").write_text(run)
    (folder / "qrels").write_text(qrels)
    return folder / "run", folder / "qrels"


def test_every_judged_query_has_a_score_and_a_status(tmp_path: Path) -> None:
    found = score_files(*files(tmp_path), ["RR@10", "SetP"])
    assert found.scores.select("item", "measure", "value", "status").rows() == [
        ("q1", "RR@10", 0.5, "scored"),
        ("q2", "RR@10", 0.0, "missing"),  # the run has no such query
        ("q3", "RR@10", None, "not_applicable"),  # nothing about it was judged
        ("q1", "SetP", 0.5, "scored"),
        ("q2", "SetP", 0.0, "missing"),
        ("q3", "SetP", None, "not_applicable"),
    ]
    assert found.unjudged == ["q9"]


def test_files_without_a_query_in_common_are_an_error_and_not_zero(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no query id is also in .*qrels: here '1', there 'q1', 'q2', 'q3'"):
        score_files(*files(tmp_path, run="1 Q0 b 1 1.0 t\n"), ["AP"])


def test_files_without_a_document_in_common_are_an_error_and_not_zero(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no document id .* here 'doc-b', there 'b', 'a'"):
        score_files(*files(tmp_path, run="q1 Q0 doc-b 1 1.0 t\n"), ["AP"])


def test_a_run_that_found_nothing_relevant_is_zero(tmp_path: Path) -> None:
    # "a" is known to the qrels, only not for q1: a poor run, not a mistake
    found = score_files(*files(tmp_path, run="q1 Q0 a 1 1.0 t\n"), ["AP"])
    assert found.scores["value"].to_list() == [0.0, 0.0, None]


def test_a_measure_that_needs_more_than_a_ranking_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Seconds cannot be scored from a run file"):
        score_files(*files(tmp_path), ["Seconds"])
