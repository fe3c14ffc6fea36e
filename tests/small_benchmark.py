"""A benchmark of sectioned reports small enough to work out by hand: six reports, five sections each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

SECTIONS = ["SYNOPSIS", "1.7 METEOROLOGICAL INFORMATION", "ANALYSIS", "(b) PROBABLE CAUSE", "RECOMMENDATIONS"]
CAUSES = {
    "R1.pdf": "crew fatigue after a long duty period",
    "R2.pdf": "the master had been awake for twenty hours",
    "R3.pdf": "icing on the wing",
    "R4.pdf": "rime had formed along the leading edge",
    "R5.pdf": "poor maintenance of the clamp",
    "R6.pdf": "fatigue of the metal in the clamp, which no inspection found",
}

GOLDEN = """\
metadata: {version: "1.0", total_queries: 5}
incident_lookup:
  - id: INC-001
    query: the accident of report one
    difficulty: easy
    intent: lookup
    ground_truth:
      verification_sql: "WHERE report_id = 'R1.pdf'"
      expected_report_ids: [R1]
      expected_chunk_count: 5
  - id: INC-002
    query: an accident of another country
    difficulty: easy
    intent: lookup
    ground_truth:
      verification_sql: "WHERE lower(chunk_text) LIKE '%submarine%'"
      expected_report_ids: []
      expected_chunk_count: 0
section_queries:
  - id: SEC-001
    query: what was the probable cause
    difficulty: medium
    intent: lookup
    ground_truth: {primary_sections: [Probable Cause], section_chunk_count: 6, min_section_accuracy: 0.5}
aircraft_queries:
  - id: ACF-001
    query: accidents with clamps
    difficulty: medium
    intent: lookup
    ground_truth: {verification_sql: "WHERE chunk_text ILIKE '%clamp%'", expected_report_count: 2}
conceptual_queries:
  - id: CON-001
    query: tired crews
    difficulty: hard
    intent: exploratory
    ground_truth:
      verification_sql: "WHERE lower(chunk_text) LIKE '%crew fatigue%'"
      relevance_signals: [fatigue, duty, rest]
      min_relevant_reports: 1
"""

STUDY = """\
kind: models
data: sectioned(passages=chunks.parquet, golden=gold.yaml)
systems:
  small: replay(path=small.run)
  large: replay(path=large.run)
baseline: small
judges:
  - human
  - use: rules
    rules:
      incident_lookup: [report]
      section_queries: [section]
      aircraft_queries: [sql]
      conceptual_queries: [report, sql, signals]
measures:
  - RR@10
  - RR(view='document')@10
  - RR(label='review|relevance')@10
  - SectionAccuracy@5
  - Clean@5
  - SemanticLift@5
by: [category, review]
compare: {resamples: 500}
gates:
  large:
    interval: subsets
    min_items: 1
    go: SemanticLift@5(large) > SemanticLift@5(small)
    otherwise: no-go
recommend:
  review first: {large: inconclusive}
  use large: {large: go}
  use small: {large: no-go}
"""


def write_passages(path: Path) -> None:
    """One passage a section: its cause stands in ANALYSIS and PROBABLE CAUSE."""
    rows = [
        {
            "chunk_id": f"{report}#{place}",
            "report_id": report,
            "section_name": section,
            "chunk_text": f"{section} of {report}" + (f": {cause}" if place in (2, 3) else ""),
            "year": 2001 + number,
        }
        for number, (report, cause) in enumerate(CAUSES.items())
        for place, section in enumerate(SECTIONS)
    ]
    pl.DataFrame(rows).write_parquet(path)


def write_run(path: Path, ranked: Mapping[str, Sequence[str]]) -> None:
    """A TREC run that ranks passages as listed."""
    lines = [
        f"{item} Q0 {doc} {rank} {100 - rank} t\n"
        for item, docs in ranked.items()
        for rank, doc in enumerate(docs, 1)
    ]
    path.write_text("".join(lines))


SMALL = {
    "INC-001": ["R2.pdf#0", "R1.pdf#0", "R1.pdf#1"],
    "INC-002": ["R3.pdf#0"],
    "SEC-001": ["R1.pdf#3", "R1.pdf#0", "R2.pdf#2", "R3.pdf#4"],
    "ACF-001": ["R1.pdf#0", "R5.pdf#2"],
    "CON-001": ["R1.pdf#2", "R6.pdf#2", "R5.pdf#0", "R3.pdf#0", "R4.pdf#0"],
}
LARGE = {
    "INC-001": ["R1.pdf#0", "R2.pdf#0"],
    "INC-002": ["R4.pdf#0"],
    "SEC-001": ["R2.pdf#3", "R3.pdf#3"],
    "ACF-001": ["R5.pdf#2", "R6.pdf#3"],
    "CON-001": ["R1.pdf#2", "R2.pdf#2", "R2.pdf#3", "R4.pdf#0", "R6.pdf#0"],
}


def write_benchmark(folder: Path, study: str = STUDY, golden: str = GOLDEN) -> Path:
    """The whole benchmark in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    write_passages(folder / "chunks.parquet")
    (folder / "gold.yaml").write_text(golden)
    (folder / "study.yaml").write_text(study)
    write_run(folder / "small.run", SMALL)
    write_run(folder / "large.run", LARGE)
    return folder
