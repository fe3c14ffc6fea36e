"""assay sweep: table, JSON, page, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from small_study import assay
from sweep_grid import write_corpus

PLAIN = """\
data: data
chunk: tokens(size=16)
systems: {keyword: bm25, both: hybrid}
measures: [RR@10, Success@3]
by: [topic]
compare: {resamples: 1000}
"""
GRID = "  grid: {chunk.size: [8, 16], k: [3, 10]}\n"


def test_a_sweep_shows_a_table_and_writes_a_page(tmp_path: Path) -> None:
    folder = write_corpus(tmp_path, GRID, PLAIN)
    done = assay("sweep", folder)
    assert done.code == 0, done.err
    assert "sweep: 48 answered, 0 reused, 0 failed" in done.err  # 12 items, 4 settings
    first, *_, last = done.out.splitlines()
    assert first == "keyword: 4 settings of chunk.size, k; 12 items; ranked by RR@10"
    assert last.endswith(f"report: {folder / 'sweep/sweep.html'}")
    assert "<title>" in (folder / "sweep/sweep.html").read_text()
    rows = (folder / "sweep/sweep.csv").read_text().splitlines()
    assert rows[0].startswith("chunk.size,k,reference,RR@10,")
    assert len(rows) == 1 + 4
    again = assay("sweep", folder)
    assert "sweep: 0 answered, 48 reused, 0 failed" in again.err
    assert again.out == done.out


def test_json_has_every_setting(tmp_path: Path) -> None:
    done = assay("sweep", write_corpus(tmp_path, GRID, PLAIN), "--json", "--where", "topic=odd")
    assert done.code == 0, done.err
    found = done.json
    assert (found["schema"], found["items"], found["where"]) == ("assay/sweep/1", 6, {"topic": ["odd"]})
    assert len(found["settings"]) == 4
    # bm25 finds the only passage that names the word, however it is cut
    assert {each["estimates"][0]["value"] for each in found["settings"]} == {1.0}
    assert [fold["setting"] for fold in found["folds"]] == [found["reference"]] * 2
    # the study itself cuts at 16 tokens and returns 100: no such k in the grid, so the first is the reference
    assert found["reference"] == "chunk.size=8, k=3"


@pytest.mark.parametrize(
    ("section", "options", "code", "told"),
    [
        (GRID, ["--where", "topic=even|od"], 0, ""),
        (GRID, ["--where", "topic=od"], 2, "--where topic=od selects nothing. Did you mean 'odd'"),
        (GRID, ["--where", "topic"], 2, "is not a condition"),
        ("  grid: {kk: [1, 2]}\n", [], 3, "study.yaml:8: sweep.grid.kk: neither the dataset nor any system"),
        (
            "  gird: {k: [1, 2]}\n",
            [],
            3,
            "study.yaml:8: sweep.gird: there is no such field. Did you mean 'grid'",
        ),
        ("  grid: {k: [1, 1]}\n", [], 3, "study.yaml:8: sweep.grid.k: a value is listed twice"),
        ("  grid: {k: [1]}\n", [], 3, "study.yaml:8: sweep.grid: it has only one setting"),
    ],
)
def test_exit_codes(tmp_path: Path, section: str, options: list[str], code: int, told: str) -> None:
    done = assay("sweep", write_corpus(tmp_path, section, PLAIN), *options)
    assert done.code == code, done.err
    assert told in done.err


def test_validate_tells_problems_of_the_sweep_too(tmp_path: Path) -> None:
    done = assay("validate", write_corpus(tmp_path, "  grid: {k: [1, x]}\n", PLAIN))
    assert done.code == 3
    assert "study.yaml:8: sweep.grid.k: 'bm25': k: " in done.err


def test_a_study_without_the_section_says_what_to_add(tmp_path: Path) -> None:
    folder = write_corpus(tmp_path, GRID, PLAIN)
    (folder / "study.yaml").write_text(PLAIN)
    done = assay("sweep", folder)
    assert done.code == 2
    assert "the study has no section `sweep`. Add one, such as" in done.err


def test_a_setting_that_cannot_be_opened_ends_with_4_and_a_table(tmp_path: Path) -> None:
    text = PLAIN.replace("both: hybrid", "both: {use: dense, model: static}")
    nobody = "openai(model=m, url='http://127.0.0.1:9/v1', retries=0)"  # nothing listens at the discard port
    section = f"  system: both\n  grid:\n    model:\n    - static\n    - {nobody}\n"
    done = assay("sweep", write_corpus(tmp_path, section, text))
    assert done.code == 4, done.err
    assert "could not be opened" in done.err
    assert "12 pending" in done.out
