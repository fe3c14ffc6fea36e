"""What `validate` warns of, `run`, `gate` and `report` warn of too, in every format that people read."""

from __future__ import annotations

from pathlib import Path

import pytest

from small_benchmark import GOLDEN, STUDY, write_benchmark
from small_study import assay

# The clause of INC-001 matches 5 passages; there are 6 reports with 5 passages and sections each.
DECLARED = (
    ("total_queries: 5}", 'total_queries: 9, corpus_stats: {total_chunks: 28321, total_reports: "510"}}'),
    ("expected_chunk_count: 5", "expected_chunk_count: 7"),
    ("section_chunk_count: 6", "section_chunk_count: 557"),
    ("expected_report_count: 2", "expected_report_count: 76"),
    ("min_relevant_reports: 1", "min_relevant_reports: 10"),
)
SAID = [
    "metadata.total_queries: it says 9, the file has 5",
    "metadata.corpus_stats.total_chunks: it says 28321, the corpus has 30",
    "metadata.corpus_stats.total_reports: it says '510', the corpus has 6",
    "INC-001: expected_chunk_count says 7, its clause matches 5",
    "SEC-001: section_chunk_count says 557, those sections hold 6",
    "ACF-001: expected_report_count says 76, distinct reports match: 2",
    "CON-001: min_relevant_reports says 10, and its clause matches 1 reports",
    "large gives no trace: SemanticHit does not apply to it",
]


def golden(*changes: tuple[str, str]) -> str:
    text = GOLDEN
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    return text


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    study = STUDY.replace("  - Clean@5\n", "  - Clean@5\n  - SemanticHit\n")
    folder = write_benchmark(tmp_path_factory.mktemp("declared") / "models", study, golden(*DECLARED))
    assert assay("run", folder).code == 10
    return folder


def test_results_carry_every_warning_of_validate(ran: Path) -> None:
    warned = assay("validate", ran, "--json").json["warnings"]
    assert [[said in warning for warning in warned].count(True) for said in SAID] == [1] * len(SAID)
    for command in ("run", "gate", "report"):
        found = assay(command, ran, "--json").json["trust"]["warnings"]
        assert [warning for warning in warned if warning not in found] == [], command
        assert len(set(found)) == len(found), command


def test_people_read_them(ran: Path) -> None:
    for command in ("run", "gate"):
        out = " ".join(assay(command, ran).out.split())
        assert [said for said in SAID if said not in out] == [], command
    for form in ("html", "markdown"):
        text = assay("report", ran, "--format", form, "-o", "-").out.replace("&#39;", "'").replace("\\", "")
        assert [said for said in SAID if said not in text] == [], form


def test_declared_counts_that_are_true_warn_of_nothing(tmp_path: Path) -> None:
    stats = (
        "total_queries: 5, corpus_stats: {total_chunks: 30, total_reports: 6, total_sections: 5, a: note}}"
    )
    folder = write_benchmark(tmp_path / "models", golden=golden(("total_queries: 5}", stats)))
    warned = assay("validate", folder, "--json").json["warnings"]
    assert [warning for warning in warned if "says" in warning] == []


def test_a_golden_set_that_went_wrong_after_the_run_is_told_of(tmp_path: Path) -> None:
    folder = write_benchmark(tmp_path / "models")
    assert assay("run", folder).code == 10
    (folder / "gold.yaml").write_text(golden(("expected_report_ids: [R1]", "expected_report_ids: [R1, R99]")))
    found = assay("gate", folder, "--json").json["trust"]["warnings"]
    assert any("INC-001.expected_report_ids: not in the corpus: R99" in warning for warning in found)


@pytest.mark.parametrize(
    ("stats", "said"),
    [
        (
            "{total_chunk: 30}",
            "corpus_stats.total_chunk: there is no such field. Did you mean 'total_chunks'?",
        ),
        ("many", "corpus_stats: expected a mapping, found 'many'"),
    ],
)
def test_stats_that_cannot_be_read_are_a_problem(tmp_path: Path, stats: str, said: str) -> None:
    header = f"total_queries: 5, corpus_stats: {stats}}}"
    folder = write_benchmark(tmp_path / "models", golden=golden(("total_queries: 5}", header)))
    done = assay("validate", folder)
    assert done.code == 3
    assert said in done.err
